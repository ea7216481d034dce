/* internal.h - shared in this folder: rows by name, sorted by time and over all ranks (by_name.c); amounts over time
 * (series.c). */
#ifndef ANALYSIS_WORK_INTERNAL_H
#define ANALYSIS_WORK_INTERNAL_H

#include "tlmpi/analysis/rank/work.h"
#include "tlmpi/base/group.h"
#include "tlmpi/base/stats.h"

/* ---------------------------------------------------------------------------------------------------------- by name */

/* Sorts the named rows of a rank, from `first` on, and numbers them from 1 in column place: by one or two measures,
 * descending (I64 columns; `second` may be NULL), then by name (no name last), then by kind if the table has one. */
void tl_rows_sort_and_number(tl_table *table, size_t first, const tl_names *names, const char *measure,
                             const char *second);

/* One rank's row for a name, for the comparison of ranks. */
typedef struct tl_named_row {
    const void *row;
    uint32_t name;
    int32_t rank;
    uint8_t kind;
    int64_t count;
    double mean_ns, std_ns; /* NaN: unknown */
} tl_named_row;

/* The rows of one name and kind over all ranks that have one. */
typedef struct tl_over_ranks {
    const tl_named_row *rows;
    int32_t ranks;
    int64_t count;
    double median_ns;                   /* of the ranks' mean_ns */
    int32_t slowest_rank, fastest_rank; /* by mean_ns; ties go to the lower rank; -1: no rank has a mean_ns */
    double slowest_ns, fastest_ns;      /* NaN: no rank has a mean_ns */
    int32_t noutliers;                  /* number of ranks whose mean_ns is an outlier */
    char outlier_ranks[64];             /* the outliers, as 3,7-9; ends with dots if they do not fit */
} tl_over_ranks;

/* The columns that all tables over ranks share, except apart_ranks. */
#define TL_OF_ALL_RANKS(of)                                                                                            \
    .ranks = (of)->ranks, .count = (of)->count, .median_rank_ns = (of)->median_ns, .slowest_rank = (of)->slowest_rank, \
    .slowest_ns = (of)->slowest_ns, .apart = (of)->noutliers

/* Calls add(arg, of, out) for each name and kind of the rows, which are sorted. */
void tl_over_ranks_each(tl_named_row *rows, size_t n, void (*add)(void *arg, const tl_over_ranks *of, tl_table *out),
                        void *arg, tl_table *out);

/* ------------------------------------------------------------------------------------------------- amounts over time
 *
 * Start each with { 0 }; free(v) ends it.  A function that fills one appends to it. */

/* A weight, 0 or more, over [from_ns, to_ns), which is not empty. */
typedef struct tl_load {
    int64_t from_ns, to_ns, weight;
} tl_load;

typedef TL_VEC(tl_load) tl_loads;

/* Appends the series of n loads in any order: at an instant, ends count before begins.  O(n log n). */
void tl_series_add(tl_series *out, const tl_load *loads, size_t n);

/* tl_series_max: the largest value of a series, 0 if empty.  tl_series_ns: the time in which the series is above 0,
 * ns. */
int64_t tl_series_max(const tl_series *series);
int64_t tl_series_ns(const tl_series *series);

/* Appends the n kernels of one stream as loads while they are queued: from the start of their launch to their own
 * start.  Kernels without a launch, or that seem to start before it, are left out. */
void tl_queue_loads(const tl_kernel *kernels, size_t n, tl_loads *out);

/* Returns the bandwidth of a copy or memset, byte/s; -1: unknown. */
int64_t tl_copy_bandwidth(const tl_rank_view *view, const tl_kernel *copy);

/* Comparison for tl_sort_index, context: the kernels.  Groups copies and memsets by name and kind. */
int tl_copy_by_name(const void *kernels, uint32_t a, uint32_t b);

/* Returns the indices of the copies and memsets among n kernels, *ncopies of them, in order of (name, kind, start,
 * uid).  The caller frees them. */
uint32_t *tl_copies_find(const tl_kernel *kernels, size_t n, size_t *ncopies);

/* Appends the copies kernels[order[i]] of the view as loads while they run, weighted with their bandwidth; unknown ones
 * are left out. */
void tl_copy_loads(const tl_rank_view *view, const tl_kernel *kernels, const uint32_t *order, size_t n, tl_loads *out);

#endif
