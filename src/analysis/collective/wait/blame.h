/* blame.h - charges every nanosecond of waiting in collectives to the ranks that arrived late, and passes it on to the
 * ranks that these had to wait for themselves.
 *
 *     rank 0   [ x ]wwwwwwww|====|              w: rank 0 waits for 1 and 2, then for 2 alone
 *     rank 1   [   x    ]www|====|              the slice in which 0 alone waits is charged to 1 and 2, half each;
 *     rank 2   [    x      ]|====|              the next, in which 0 and 1 wait, to 2
 *              slices  |1 | 2 |
 *
 * Why was rank 2 late?  Its time since its previous collective with the same ranks is compared with that of the other
 * ranks, activity by activity (time.h), and its delay cost is divided over the activities in which it has an excess.
 * The part of TL_ACTIVITY_COMM was waiting in collectives of other groups: it is passed on to the ranks that were late
 * there, and so on backwards in time, until it falls on a rank's own work or stays `unknown`.  Direct delay cost:
 * charged by the ranks that waited for this rank itself; indirect: passed on.
 *
 * A delay cost belongs to the step in which the late rank had its excess: work after the last collective of a step
 * makes others wait in the next step, and is charged to the step of the work.
 *
 * The sum of all delay costs is the sum of all waits, to the nanosecond.
 */
#ifndef ANALYSIS_BLAME_BLAME_H
#define ANALYSIS_BLAME_BLAME_H

#include "tlmpi/analysis/collective/wait.h"
#include "tlmpi/base/status.h"
#include "tlmpi/model/view.h"
#include <stdbool.h>

/* One rank in one collective.  Times on the clock of the job. */
typedef struct tl_blame_arrival {
    int64_t start_ns, end_ns;
    uint32_t rank;     /* index, not number */
    uint32_t previous; /* the rank's arrival in its previous collective with the same ranks, TL_NONE */
    uint32_t uid;      /* of the kernel: ties of start by uid, ascending */
    uint16_t share[TL_NACTIVITIES];
    uint16_t after_last; /* share of its excess that arose in the step before the collective's */
} tl_blame_arrival;

typedef enum tl_blame_how {
    TL_BLAME_IGNORED, /* is not processed */
    TL_BLAME_PASSES,  /* its waits are not charged (bubbles of a pipeline), but its arrivals pass delay costs on */
    TL_BLAME_CHARGES
} tl_blame_how;

/* One matched collective: arrivals[first .. first + n). */
typedef struct tl_blame_collective {
    uint32_t first, n;
    int32_t step;
    uint8_t how;   /* tl_blame_how */
    uint8_t loose; /* ranks may leave before all have arrived: each waited for the last arrival before its own end */
} tl_blame_collective;

/* Largest group in which waiting ranks are named one by one. */
enum { TL_BLAME_PAIRS_MAX = 32 };

/* Waiting charged to the activities of one rank in one step (Scalasca: delay cost). */
typedef struct tl_delay_cost {
    uint32_t from, to; /* indices: the rank that waited (TL_NONE: several), the rank that was late */
    uint32_t waiters;  /* 1, or the number of ranks if several */
    int32_t step;      /* step of `to`'s excess: that of the collective in which it was late, or the previous one */
    bool direct;
    int64_t ns[TL_NACTIVITIES + 1]; /* by activity; the last entry: unknown */
} tl_delay_cost;

typedef struct tl_blame_input {
    const tl_blame_arrival *arrivals;
    size_t narrivals;
    const tl_blame_collective *collectives;
    size_t ncollectives;
    size_t nranks;
} tl_blame_input;

/* Calls take(arg, cost) for every delay cost that is not 0, in an order that depends on the input alone.  TL_EINPUT:
 * the sum of waits overflows. */
tl_status tl_delay_cost_each(const tl_blame_input *input, void (*take)(void *, const tl_delay_cost *), void *arg,
                             tl_error *err);

#endif
