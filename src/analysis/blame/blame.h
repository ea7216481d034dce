/* blame.h - which rank made which wait: every nanosecond of waiting in collectives is charged to the ranks that came
 * late, and on from them to the ranks that they themselves had to wait for.
 *
 *     rank 0   [ x ]wwwwwwww|====|              w: 0 waits for 1 and 2, then for 2 alone
 *     rank 1   [   x    ]www|====|              the slice in which 0 alone waits is charged to 1 and 2, half each;
 *     rank 2   [    x      ]|====|              the next, in which 0 and 1 wait, to 2
 *              slices  |1 | 2 |
 *
 * Why was 2 late?  Its time since its previous collective with the same ranks is compared with theirs, activity by
 * activity (time.h); its delay cost is spread over the activities in which it has an excess.  What falls on
 * TL_ACTIVITY_COMM it spent waiting in collectives of other groups: it is passed on to those who were late there, and
 * so on backwards in time; at the end it falls on a rank's own work, or stays `unknown`.  Direct: charged by the ranks
 * that waited for this one itself; indirect: passed on.
 *
 * To which step does a delay cost belong?  To that in which the late rank had its excess: what it did after the last
 * collective of a step is waited for in the next, and charged to the one in which it was done.
 *
 * The sum of all delay costs is the sum of all waits, to the nanosecond.
 */
#ifndef ANALYSIS_BLAME_BLAME_H
#define ANALYSIS_BLAME_BLAME_H

#include "tlmpi/analysis/wait.h"
#include "tlmpi/base/status.h"
#include "tlmpi/model/view.h"
#include <stdbool.h>

/* One rank in one collective.  Times on the clock of the job. */
typedef struct tl_blame_arrival {
    int64_t start_ns, end_ns;
    uint32_t rank;     /* index, not number */
    uint32_t previous; /* the rank's arrival in its previous collective with the same ranks, TL_NONE */
    uint32_t uid;      /* of the kernel: among arrivals of one instant the lower is the earlier */
    uint16_t share[TL_NACTIVITIES];
    uint16_t after_last; /* share of its excess from the step before the collective's */
} tl_blame_arrival;

typedef enum tl_blame_how {
    TL_BLAME_IGNORED, /* nothing rests on it */
    TL_BLAME_PASSES,  /* its waits are no delay cost (bubbles of a pipeline), but its arrivals pass delay costs on */
    TL_BLAME_CHARGES
} tl_blame_how;

/* One matched collective: arrivals[first .. first + n). */
typedef struct tl_blame_collective {
    uint32_t first, n;
    int32_t step;
    uint8_t how;   /* tl_blame_how */
    uint8_t loose; /* ranks may leave before all have come: they waited for the last who came until then */
} tl_blame_collective;

/* In larger groups the ranks that wait are not told apart. */
enum { TL_BLAME_PAIRS_MAX = 32 };

/* Waiting charged to the activities of one rank in one step (Scalasca: delay cost). */
typedef struct tl_delay_cost {
    uint32_t from, to; /* indices: the rank that waited (TL_NONE: several), the rank that was late */
    uint32_t waiters;  /* 1, or how many the several are */
    int32_t step; /* in which `to` had what made it late: of the collective in which it came late, or the one before */
    bool direct;
    int64_t ns[TL_NACTIVITIES + 1]; /* by activity; the last is unknown */
} tl_delay_cost;

typedef struct tl_blame_input {
    const tl_blame_arrival *arrivals;
    size_t narrivals;
    const tl_blame_collective *collectives;
    size_t ncollectives;
    size_t nranks;
} tl_blame_input;

/* Calls take(arg, cost) for every delay cost that is not 0, in an order that depends on the input alone.  TL_EINPUT: the
 * waits are no times. */
tl_status tl_delay_cost_each(const tl_blame_input *input, void (*take)(void *, const tl_delay_cost *), void *arg,
                             tl_error *err);

#endif
