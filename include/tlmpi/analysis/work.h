/* work.h - what does the work of a rank consist of?
 *
 * From the view of one rank: its device work by name, and the operators and user annotations of its host with the work
 * that they launched; the calls that launched it, the queues in which it waited, and its copies; and the names over all
 * ranks.  Uses chance, for which of these lie apart.
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
 * How much there is of something over time.  Start each with { 0 }; free(v) ends it.  What fills one appends to it, and
 * is. */

/* Something of that weight, 0 or more, over [from_ns, to_ns), which is not empty. */
typedef struct tl_load {
    int64_t from_ns, to_ns, weight;
} tl_load;

typedef TL_VEC(tl_load) tl_loads;

/* The sum from this instant up to the next point; the last one is 0.  No two that follow upon one another are equal. */
typedef struct tl_point {
    int64_t at_ns, value;
} tl_point;

typedef TL_VEC(tl_point) tl_series;

/* The series of n loads in any order: at an instant what ends goes before what begins comes.  O(n log n). */
void tl_series_add(tl_series *out, const tl_load *loads, size_t n);

/* Of one series: its largest value, 0 for none; how long it is `least` > 0 or more. */
int64_t tl_series_max(const tl_series *series);
int64_t tl_series_ns(const tl_series *series, int64_t least);

/* Weights times ns. */
double tl_loads_integral(const tl_load *loads, size_t n);

/* The n kernels of one stream while they are in its queue: from the start of their launch to their own.  What has no
 * launch, and what seems to start before it, is in none. */
void tl_queue_loads(const tl_kernel *kernels, size_t n, tl_loads *out);

/* byte/s of a copy or memset of the view; -1 when it is not known. */
int64_t tl_copy_bandwidth(const tl_rank_view *view, const tl_kernel *copy);

/* Indices of copies and memsets; by (name, kind, start, uid). */
typedef TL_VEC(uint32_t) tl_copy_order;

void tl_copies_find(const tl_kernel *kernels, size_t n, tl_copy_order *out);

/* How many of the n > 0 that follow are of the name and kind of the first. */
size_t tl_copies_of_name(const tl_kernel *kernels, const uint32_t *order, size_t n);

/* Those whose bandwidth is known while they run, with it as their weight: kernels[order[i]] of the view. */
void tl_copy_loads(const tl_rank_view *view, const tl_kernel *kernels, const uint32_t *order, size_t n, tl_loads *out);

/* One of a device; its points are [first, first + n). */
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

/* Those of a rank. */
void tl_counters_find(tl_counters *counters, const tl_rank_view *view);
void tl_counters_free(tl_counters *counters);

#endif
