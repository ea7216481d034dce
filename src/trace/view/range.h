/* range.h - user annotations as the profiler mirrors them on the device. */
#ifndef TLMPI_TRACE_VIEW_RANGE_H
#define TLMPI_TRACE_VIEW_RANGE_H

#include "tlmpi/trace/view.h"

/* Fills `ranges` of the view while the events have their columns.  False when memory is out. */
bool tl_ranges_collect(const tl_events *events, int64_t base_ns, tl_linked *out);

#endif
