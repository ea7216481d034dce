/* streams.h - tables of what the streams of a device did between launches: idle time and why, how full their queues
 * were, how fast copies went, under which annotation and operator kernels ran; and of the profiler's memory timeline.
 */
#ifndef TLMPI_COMPAT_HTA_STREAMS_H
#define TLMPI_COMPAT_HTA_STREAMS_H

#include "tlmpi/compat/hta/frame/job.h"

tl_hta_table tl_hta_idle_time, tl_hta_queues, tl_hta_bandwidths, tl_hta_counter_events;
tl_hta_table tl_hta_kernels_of_annotations, tl_hta_op_delays;

/* memory_timeline.csv and memory_timeline_summary.csv of a raw memory timeline, as export_memory_timeline writes it.
 * TL_EINPUT: it is none. */
void tl_hta_memory_timeline(const char *path, tl_csv_folder *folder);

#endif
