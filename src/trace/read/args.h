/* args.h - copies arguments of few events from the entry to the side tables. */
#ifndef TLMPI_TRACE_READ_ARGS_H
#define TLMPI_TRACE_READ_ARGS_H

#include "tlmpi/base/text.h"
#include "tlmpi/model/coll.h"
#include "tlmpi/trace/event/events.h"
#include "tlmpi/trace/event/fields.h"

/* Whether the last event may have counters of a device or the memory of an allocator. */
static inline bool tl_measured_is(const tl_events *events)
{
    return TL_CAT_BIT(tl_event_cat(events, events->n - 1)) &
           (TL_CAT_BIT(TL_CAT_PROFILER_RANGE) | TL_CAT_BIT(TL_CAT_INSTANT));
}

void tl_measured_take(tl_events *events, const tl_fields *fields);

/* By names id, what the shapes of an operator with that name are for: 0: not looked up yet; SHAPES_UNUSED; else a row of
 * a table in args.c or flop.c.  Start with { 0 }, and with n = 0 for other names; free(v) ends it. */
typedef TL_VEC(uint8_t) tl_shape_uses;

enum { TL_SHAPES_UNUSED = 1, TL_SHAPES_USED };

/* Whether it is known that the last event's shapes are not used: most are not. */
static inline bool tl_shapes_unused(const tl_events *events, const tl_shape_uses *uses)
{
    const uint32_t name = events->name[events->n - 1];
    return name < uses->n && uses->v[name] == TL_SHAPES_UNUSED;
}

/* Adds the shapes in args, those of the last event, to the side table, if they are used and recorded. */
void tl_shapes_take(tl_events *events, tl_shape_uses *uses, tl_text args);

/* The arguments of an operator, as JSON lists without brackets; empty: not recorded. */
typedef struct tl_arguments {
    tl_text dims, types, values;
} tl_arguments;

/* Returns the arguments "Input Dims", "Input type" and "Concrete Inputs" in args. */
tl_arguments tl_arguments_of(tl_text args);

/* Returns the number of the formula for an operator with that name; TL_NONE_COMPUTES: none. */
#define TL_NONE_COMPUTES UINT8_MAX
uint8_t tl_flop_formula(tl_text name);

/* Returns the floating-point operations of an operator with that formula; -1: unknown.  *precision: of its operands. */
int64_t tl_flop_count(uint8_t formula, const tl_arguments *arguments, tl_precision *precision);

#endif
