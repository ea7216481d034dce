/* work.h - what does the work of a rank consist of?
 *
 * From the view of one rank: its device work by name, and the operators and user annotations of its host with the work
 * that they launched; the calls that launched it, the queues in which it waited, and its copies; and the names over all
 * ranks.  Uses chance, to find names in which ranks lie apart.
 */
#ifndef TLMPI_ANALYSIS_WORK_H
#define TLMPI_ANALYSIS_WORK_H

#include "tlmpi/analysis/analysis.h"
#include "tlmpi/base/mem.h"
#include "tlmpi/model/work_tables.h"

extern const tl_analysis tl_kernel_analysis, tl_operator_analysis, tl_operator_ranks_analysis,
    tl_annotation_device_analysis, tl_launch_analysis, tl_queue_analysis, tl_copy_analysis;
extern const tl_analysis tl_series_analysis; /* with config.series */

/* ----------------------------------------------------------------------------------------------------------- series
 *
 * An amount over time.  Start each with { 0 }; free(v) ends it.  A function that fills one appends to it. */

/* A weight, 0 or more, over [from_ns, to_ns), which is not empty. */
typedef struct tl_load {
    int64_t from_ns, to_ns, weight;
} tl_load;

typedef TL_VEC(tl_load) tl_loads;

/* The sum of weights from this instant up to the next point; that of the last point is 0.  Neighbours
 * differ. */
typedef struct tl_point {
    int64_t at_ns, value;
} tl_point;

typedef TL_VEC(tl_point) tl_series;

/* Appends the series of n loads in any order: at an instant, loads that end go before loads that begin come.
 * O(n log n). */
void tl_series_add(tl_series *out, const tl_load *loads, size_t n);

/* tl_series_max: the largest value of a series, 0 if empty.  tl_series_ns: how long the series is `least` > 0 or more,
 * ns. */
int64_t tl_series_max(const tl_series *series);
int64_t tl_series_ns(const tl_series *series, int64_t least);

/* Returns the sum of weight times length, in ns. */
double tl_loads_integral(const tl_load *loads, size_t n);

/* Appends the n kernels of one stream as loads while they are in its queue: from the start of their launch to their own
 * start.  Kernels without a launch, and kernels that seem to start before it, are left out. */
void tl_queue_loads(const tl_kernel *kernels, size_t n, tl_loads *out);

/* Returns byte/s of a copy or memset of the view; -1: unknown. */
int64_t tl_copy_bandwidth(const tl_rank_view *view, const tl_kernel *copy);

/* Indices of copies and memsets; by (name, kind, start, uid). */
typedef TL_VEC(uint32_t) tl_copy_order;

void tl_copies_find(const tl_kernel *kernels, size_t n, tl_copy_order *out);

/* Returns how many of the n > 0 copies from order[0] on have the name and kind of the first. */
size_t tl_copies_of_name(const tl_kernel *kernels, const uint32_t *order, size_t n);

/* Appends the copies kernels[order[i]] of the view as loads while they run, weighted with their bandwidth, if it is
 * known. */
void tl_copy_loads(const tl_rank_view *view, const tl_kernel *kernels, const uint32_t *order, size_t n, tl_loads *out);

/* One series of a device; its points are [first, first + n). */
typedef struct tl_counter {
    int32_t device, stream;
    uint32_t name; /* of copies; TL_NO_NAME: the queue of the stream */
    uint8_t kind;  /* of copies: tl_kind */
    size_t first, n;
} tl_counter;

/* Zero-initialise; tl_counters_free ends it. */
typedef struct tl_counters {
    TL_VEC(tl_counter) v; /* by device */
    tl_series points;
} tl_counters;

/* Finds the series of a rank. */
void tl_counters_find(tl_counters *counters, const tl_rank_view *view);
void tl_counters_free(tl_counters *counters);

#endif
