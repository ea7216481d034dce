/* args.h - copies arguments of few events from the entry to the side tables. */
#ifndef TLMPI_TRACE_READ_ARGS_H
#define TLMPI_TRACE_READ_ARGS_H

#include "tlmpi/base/text.h"
#include "tlmpi/trace/event/events.h"
#include "tlmpi/trace/event/fields.h"

/* Whether the last event may have counters of a device or the memory of an allocator. */
static inline bool tl_measured_is(const tl_events *events)
{
    return TL_CAT_BIT(tl_event_cat(events, events->n - 1)) &
           (TL_CAT_BIT(TL_CAT_PROFILER_RANGE) | TL_CAT_BIT(TL_CAT_INSTANT));
}

void tl_measured_take(tl_events *events, const tl_fields *fields);

/* Whether the entry may be a communication operator, by the beginning of its name: most are not. */
static inline bool tl_shapes_may_be(const tl_fields *f)
{
    const tl_text name = f->value[TL_KEY_NAME].text;
    return f->args.n > 0 && f->seen >> TL_KEY_NAME & 1 && name.n > 5 &&
           ((name.p[0] == 'n' && name.p[1] == 'c') || (name.p[0] == 'c' && name.p[1] == '1') ||
            (name.p[0] == 'r' && name.p[5] == 'd'));
}

/* Adds the shapes in args, those of the last event, to the side table, if the event is an operator with recorded
 * shapes. */
void tl_shapes_take(tl_events *events, tl_text args);

#endif
