/* shapes.h - how many elements an operator of communication gives and takes, by the shapes of its tensors. */
#ifndef TLMPI_TRACE_READ_SHAPES_H
#define TLMPI_TRACE_READ_SHAPES_H

#include "tlmpi/base/text.h"
#include "tlmpi/trace/event/events.h"
#include "tlmpi/trace/event/fields.h"

/* Whether the entry may be such an operator, by the beginning of its name: most are none. */
static inline bool tl_shapes_may_be(const tl_fields *f)
{
    const tl_text name = f->value[TL_KEY_NAME].text;
    return f->args.n > 0 && f->seen >> TL_KEY_NAME & 1 && name.n > 5 &&
           ((name.p[0] == 'n' && name.p[1] == 'c') || (name.p[0] == 'c' && name.p[1] == '1') ||
            (name.p[0] == 'r' && name.p[5] == 'd'));
}

/* Puts the shapes in args, those of the last event, into the side table, where the event is an operator with recorded
 * shapes. */
void tl_shapes_take(tl_events *events, tl_text args);

#endif
