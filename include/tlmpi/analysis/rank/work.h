/* work.h - what does the work of a rank consist of?
 *
 * Input: the view of one rank.  Results: its device work by name; the operators and user annotations of its host with
 * the work that they launched; its call tree; the calls that launched work, the queues in which it waited, and its
 * copies; and names over all ranks.  Uses chance, to find names in which some ranks are outliers, and time, to find
 * exposed communication.
 */
#ifndef TLMPI_ANALYSIS_RANK_WORK_H
#define TLMPI_ANALYSIS_RANK_WORK_H

#include "tlmpi/analysis/analysis.h"
#include "tlmpi/base/mem.h"
#include "tlmpi/model/work_tables.h"

extern const tl_analysis tl_kernel_analysis, tl_operator_analysis, tl_operator_ranks_analysis, tl_tree_analysis,
    tl_annotation_device_analysis, tl_launch_analysis, tl_queue_analysis, tl_copy_analysis;
extern const tl_analysis tl_series_analysis; /* with config.series */

/* An amount over time: `value` holds from at_ns to the next point; the last point has value 0.  Neighbouring values
 * differ. */
typedef struct tl_point {
    int64_t at_ns, value;
} tl_point;

typedef TL_VEC(tl_point) tl_series; /* start with { 0 }; free(v) ends it */

/* One series of a device; its points are [first, first + n) of tl_counters.points. */
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

/* Finds all series of a rank. */
void tl_counters_find(tl_counters *counters, const tl_rank_view *view);
void tl_counters_free(tl_counters *counters);

#endif
