/* counters.h - what changes over time, as counters of a trace: the work that waits in each stream's queue, and how much
 * copies move.
 *
 *     Queue (stream 7)                        length    1 2 3 2 1 0
 *     Memcpy HtoD (Pinned -> Device)          GB/s      0 23.4 0
 */
#ifndef JOB_AUGMENT_COUNTERS_H
#define JOB_AUGMENT_COUNTERS_H

#include "tlmpi/analysis/work.h"
#include "tlmpi/trace_out/process.h"

/* Writes those of the device that the process shows.  names: those of the trace; base_ns: what the points have over the
 * times of the trace. */
void tl_counters_put(const tl_counters *counters, tl_out_writer *writer, const tl_out_process *process,
                     const tl_names *names, int64_t base_ns);

#endif
