/* over_ranks.h - rows by name of all ranks, name by name. */
#ifndef ANALYSIS_WORK_OVER_RANKS_H
#define ANALYSIS_WORK_OVER_RANKS_H

#include "tlmpi/model/table.h"

/* The rows of one name, and of one kind where the table has a column kind: row i is that of the i-th rank with such a
 * row. */
typedef struct tl_over_ranks {
    const void *const *rows;
    int32_t ranks;
    int64_t count;
    double median_ns;                   /* of the ranks' mean_ns */
    int32_t slowest_rank, fastest_rank; /* by mean_ns; of equals the lower.  -1: no rank has a mean_ns */
    double slowest_ns, fastest_ns;      /* NaN without one */
    double std_ns;                      /* standard deviation of the ranks' mean_ns; NaN of less than two */
    int32_t apart;                      /* ranks whose mean_ns lies apart from that of the others (apart.h) */
    char apart_ranks[64];               /* which, as 3,7-9; the end in dots where they do not fit */
    int64_t *room;                      /* for a number of each rank */
} tl_over_ranks;

/* The columns of a row that are alike in each such table. */
#define TL_OF_ALL_RANKS(of)                                                                                            \
    .ranks = (of)->ranks, .count = (of)->count, .median_rank_ns = (of)->median_ns, .slowest_rank = (of)->slowest_rank, \
    .slowest_ns = (of)->slowest_ns, .fastest_rank = (of)->fastest_rank, .fastest_ns = (of)->fastest_ns

/* Adds the row of that name to the table of the job. */
typedef void tl_add_over_ranks(void *arg, const tl_over_ranks *of, tl_table *out);

/* Calls `add` for each name of the rows, which have the columns rank, name, count, mean_ns and std_ns, and numbers what
 * it adds by these measures (places.h); names: of the job. */
void tl_over_ranks_add(const tl_table *rows, const tl_names *names, tl_add_over_ranks *add, void *arg,
                       const char *const *measures, tl_table *out);

#endif
