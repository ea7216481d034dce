/* measured.h - what only some traces have measured: counters, memory, annotations on the device. */
#ifndef TLMPI_TRACE_VIEW_MEASURED_H
#define TLMPI_TRACE_VIEW_MEASURED_H

#include "tlmpi/trace/view.h"

/* Fills `counted`, `memory` and `ranges` of the view while the events have their columns. */
void tl_measured_collect(const tl_events *events, int64_t base_ns, tl_linked *out);

#endif
