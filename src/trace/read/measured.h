/* measured.h - what some events have measured: counters of a device, memory of an allocator. */
#ifndef TLMPI_TRACE_READ_MEASURED_H
#define TLMPI_TRACE_READ_MEASURED_H

#include "tlmpi/base/text.h"
#include "tlmpi/trace/event/events.h"

/* Puts what the args of the last event say into a side table, if the event is such a one.  False: memory is out. */
bool tl_measured_take(tl_events *events, tl_text args);

#endif
