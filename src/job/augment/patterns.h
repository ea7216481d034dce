/* patterns.h - the sequences of work that take most of a rank's device time, wherever they run: a track each.
 *
 *     Pattern 1: aten::batch_norm        [pattern 1]  [pattern 1]     [pattern 1]
 */
#ifndef JOB_AUGMENT_PATTERNS_H
#define JOB_AUGMENT_PATTERNS_H

#include "tlmpi/analysis/pattern.h"
#include "tlmpi/trace_out/process.h"

/* Writes those of the device that the process shows, on tracks behind those of its idle time.  names: those of the
 * trace; base_ns: what the occurrences have over the times of the trace. */
void tl_patterns_put(const tl_occurrences *occurrences, tl_out_writer *writer, const tl_out_process *process,
                     const tl_names *names, int64_t base_ns);

#endif
