/* step.h - the profiler's step marks to step windows. */
#ifndef TLMPI_TRACE_VIEW_STEP_H
#define TLMPI_TRACE_VIEW_STEP_H

#include "tlmpi/model/view.h"
#include "tlmpi/trace/read/reader.h"
#include <stdbool.h>

/* The steps of the host's ProfilerStep#k marks, by start; base_ns is added to their times.  Marks of one number
 * (several threads) are one step.  The caller frees *steps.  *nlost: marks left out, whose numbers are larger than a
 * step's may be.  False when memory is out. */
bool tl_steps_collect(const tl_trace *trace, int64_t base_ns, tl_step_window **steps, size_t *n, size_t *nlost);

#endif
