/* step.h - the profiler's step marks to step windows. */
#ifndef TLMPI_TRACE_VIEW_STEP_H
#define TLMPI_TRACE_VIEW_STEP_H

#include "tlmpi/trace/view.h"
#include <stdbool.h>

/* Makes out->steps of the host's ProfilerStep#k marks, by start, and their part of the view; base_ns is added to their
 * times.  Marks of one number (several threads) are one step. */
void tl_steps_collect(const tl_trace *trace, int64_t base_ns, tl_linked *out);

#endif
