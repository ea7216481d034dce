/* load.h - tables of what was loaded: rows by category, by step, one by one, and through filters; and of how busy each
 * rank was. */
#ifndef TLMPI_COMPAT_HTA_LOAD_H
#define TLMPI_COMPAT_HTA_LOAD_H

#include "tlmpi/compat/hta/frame/job.h"

tl_hta_table tl_hta_load_summary, tl_hta_events_by_category, tl_hta_profiler_steps;
tl_hta_table tl_hta_events_by_iteration, tl_hta_gpu_events, tl_hta_profiler_step_windows, tl_hta_filter_counts;
tl_hta_table tl_hta_temporal_breakdown, tl_hta_comm_comp_overlap;

#endif
