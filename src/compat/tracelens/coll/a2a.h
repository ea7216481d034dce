/* a2a.h - all-to-all-v of all ranks, measured. */
#ifndef TLMPI_COMPAT_TRACELENS_COLL_A2A_H
#define TLMPI_COMPAT_TRACELENS_COLL_A2A_H

#include "tlmpi/compat/tracelens/coll.h"

/* One collective.  Times in us, NaN where unknown. */
typedef struct tl_coll_exchange {
    size_t collective;
    const tl_coll_row *row; /* the first rank's */
    double mb, nelems, wall, throughput, most, least, imbalance;
    double max_dur, min_dur, mean_dur;
    double first_start, last_end, start_skew, end_skew;
} tl_coll_exchange;

typedef struct tl_coll_exchanges {
    const tl_colls *colls;
    TL_VEC(tl_coll_exchange) v; /* most data first */
    tl_coll_ranks ranks;        /* that take part, ascending */
    bool whole_times;
} tl_coll_exchanges;

/* nccl_summary_all2allv. */
tl_status tl_coll_write_exchange_sums(const tl_coll_exchanges *s, const char *dir, tl_error *err);

#endif
