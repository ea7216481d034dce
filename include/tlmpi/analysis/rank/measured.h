/* measured.h - what did hardware counters and allocators measure, and what do the nodes of an execution trace cost?
 *
 * From the view of one rank: counters by operator and kernel, memory by device.  Few traces have either; others have no
 * rows.  Uses no other folder.
 */
#ifndef TLMPI_ANALYSIS_RANK_MEASURED_H
#define TLMPI_ANALYSIS_RANK_MEASURED_H

#include "tlmpi/analysis/analysis.h"
#include "tlmpi/model/measured_tables.h"

extern const tl_analysis tl_counter_analysis, tl_memory_analysis;

/* Categories of a memory timeline, the last of them the total. */
enum { TL_MEMORY_KINDS = 9 };

/* The rows of one timeline.  tl_memory_peaks_begin starts them, tl_memory_peaks_add adds the states in the order of the
 * file; a time below 0 is of memory that was there before.  Without states peak_bytes is INT64_MIN. */
void tl_memory_peaks_begin(tl_memory_category rows[TL_MEMORY_KINDS], int32_t file, int32_t rank);
void tl_memory_peaks_add(tl_memory_category rows[TL_MEMORY_KINDS], int64_t time_ns,
                         const int64_t bytes[TL_MEMORY_KINDS]);

/* Sums up the costs of events into the n rows of the nodes of an execution trace.  node_of: by op of the view,
 * parent_of: by row; both the index of a row, or TL_NONE. */
void tl_execution_sum_up(const tl_rank_view *view, const uint32_t *node_of, const uint32_t *parent_of,
                         tl_execution_node *rows, size_t n);

#endif
