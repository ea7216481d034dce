/* measured.h - what some events have measured: counters of a device, memory of an allocator. */
#ifndef TLMPI_TRACE_READ_MEASURED_H
#define TLMPI_TRACE_READ_MEASURED_H

#include "tlmpi/trace/event/events.h"
#include "tlmpi/trace/event/fields.h"

/* Whether the last event may be such a one. */
static inline bool tl_measured_is(const tl_events *events)
{
    return TL_CAT_BIT(tl_event_cat(events, events->n - 1)) &
           (TL_CAT_BIT(TL_CAT_PROFILER_RANGE) | TL_CAT_BIT(TL_CAT_INSTANT));
}

/* Puts what its fields say into a side table, if it is one. */
void tl_measured_take(tl_events *events, const tl_fields *fields);

#endif
