/* sync.h - collectives in which each rank waits for the last one to come. */
#ifndef TLMPI_COMPAT_TRACELENS_COLL_SYNC_H
#define TLMPI_COMPAT_TRACELENS_COLL_SYNC_H

#include "tlmpi/compat/tracelens/coll.h"

/* One collective.  Times in us; NaN where unknown. */
typedef struct tl_coll_sync {
    size_t collective;
    const tl_coll_row *row; /* the first rank's */
    double last;            /* when the last rank came */
    double latency, start_skew, mean_wait, end_skew;
    double mb, algo, bus; /* 2^20 bytes; 2^30 bytes a second */
    int64_t earliest;     /* the rank that waited longest; of several the largest */
} tl_coll_sync;

typedef struct tl_coll_syncs {
    const tl_colls *colls;
    TL_VEC(tl_coll_sync) v; /* in order of first appearance */
    tl_coll_ranks ranks;    /* that take part, ascending */
    bool whole_times;       /* ts and dur are integers */
    bool has_bandwidth;
} tl_coll_syncs;

static inline double tl_coll_wait(const tl_coll_sync *s, const tl_coll_row *row)
{
    return s->last - row->ts;
}

/* nccl_straggler_summary. */
void tl_coll_write_stragglers(const tl_coll_syncs *s, tl_csv_folder *folder);

#endif
