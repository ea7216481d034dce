/* repetition.h - how long does the device work in each repetition of something?
 *
 *     host     [step 0        ]  [step 1        ]
 *     launch    |a |b |c          |a |b |c
 *     device       [a ][b ]   [c]    [a ][b ]   [c ]
 *                  |  span 0   |     kernel = a + b + c, busy = kernel where nothing overlaps, bubble = span - busy
 *
 * A work belongs to the repetition in whose time the host launched it, whenever it ran: a window on the device's clock
 * would take in what was queued before, and cut off what is queued still.  If several threads are in repetitions at
 * once, the work belongs to the repetition of the thread that launched it.
 *
 * From the view of one trace, with what its host did; and the statistics of many.  Uses no other folder.
 */
#ifndef TLMPI_ANALYSIS_RANK_TIME_REPETITION_H
#define TLMPI_ANALYSIS_RANK_TIME_REPETITION_H

#include "tlmpi/analysis/rank/time/repetition_tables.h"
#include "tlmpi/base/mem.h"
#include "tlmpi/base/status.h"
#include "tlmpi/model/view.h"
#include <regex.h>

/* What a repetition is. */
typedef enum tl_repetition_of {
    TL_REPETITION_STEP,       /* a profiler step */
    TL_REPETITION_ANNOTATION, /* a user annotation of that name */
    TL_REPETITION_FILE        /* a whole trace, with works whose launch is not in it */
} tl_repetition_of;

typedef struct tl_repetition_rule {
    tl_repetition_of of;
    const char *name;       /* name of the annotation */
    int64_t skip;           /* number of works, first in order of launch, that are left out of each
                                                * repetition */
    const regex_t *exclude; /* names of works that are left out; NULL: none are */
} tl_repetition_rule;

/* The works of one name in a repetition. */
typedef struct tl_repetition_share {
    uint64_t name;   /* content key */
    int32_t variant; /* 0 */
    uint8_t kind;    /* tl_kind */
    int64_t count, total_ns;
} tl_repetition_share;

/* The repetitions of a trace.  Zero-initialise; tl_repetition_set_free ends it. */
typedef struct tl_repetition_set {
    TL_VEC(tl_repetition) v; /* variant and trace 0, column rep from 0 on, in order of time */
    TL_VEC(tl_repetition_share) shares;
    int64_t nested;     /* annotations of the name that begin within another one on their thread, even if they end after
                       * it */
    int64_t beside;     /* repetitions that begin while one of another thread is open */
    int64_t guessed;    /* works whose thread has no open repetition while several others have: in the one that began
                       * last */
    int64_t unlinked;   /* works whose launch is not in the trace: in no repetition, except of TL_REPETITION_FILE */
    int64_t outside;    /* works launched in no repetition, without works of excluded names */
    int64_t outside_ns; /* sum of the durations of `outside` */
} tl_repetition_set;

void tl_repetition_set_find(const tl_rank_view *view, const tl_repetition_rule *rule, tl_repetition_set *out);
void tl_repetition_set_free(tl_repetition_set *set);

/* Statistics of n > 0 numbers, which are in order afterwards: all columns but keys, `empty` and path. */
void tl_repetition_summarise(int64_t *values, size_t n, tl_repetition_stat *out);

/* How the n > 0 numbers of v lie against the m > 0 of the base (Hodges and Lehmann: the median of all differences, with
 * the confidence interval that goes with the test of Mann and Whitney).  Both are in order.  All columns but keys and
 * path. */
void tl_repetition_compare_with(const int64_t *v, size_t n, const int64_t *base, size_t m, tl_repetition_compare *out);

#endif
