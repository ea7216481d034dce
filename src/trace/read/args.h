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
           (TL_CAT_BIT(TL_CAT_PROFILER_RANGE) | TL_CAT_BIT(TL_CAT_SAMPLE) | TL_CAT_BIT(TL_CAT_INSTANT));
}

void tl_measured_take(tl_events *events, const tl_fields *fields);

/* By names id: 1: shapes of an operator with that name are not used; else 2 + the index of its rule in args.c.  Start
 * with { 0 }, and with n = 0 for other names; free(v) ends it. */
typedef TL_VEC(uint8_t) tl_shape_rules;

/* Adds the recorded shapes of the last event to the side table, if they are used. */
void tl_shapes_take(tl_events *events, tl_shape_rules *rules, const tl_fields *fields);

/* Adds the args of the last event, whose fields these are, to the side tables; columns_alone: not its shapes. */
static inline void tl_args_take(tl_events *events, const tl_fields *fields, bool columns_alone, tl_shape_rules *rules)
{
    if (tl_measured_is(events))
        tl_measured_take(events, fields);
    else if (fields->seen & TL_KEY_BIT(TL_KEY_INPUT_DIMS) && !columns_alone)
        tl_shapes_take(events, rules, fields);
}

/* The arguments of an operator, as JSON lists without brackets; empty: not recorded. */
typedef struct tl_arguments {
    tl_text dims, types, values; /* "Input Dims", "Input type", "Concrete Inputs" */
} tl_arguments;

typedef enum tl_formula {
    TL_PRODUCT,
    TL_CONVOLUTION,
    TL_CONVOLUTION_BACKWARD,
    TL_ATTENTION,
    TL_ATTENTION_BACKWARD
} tl_formula;

/* Returns the floating-point operations of an operator; -1: unknown.  first, flag: its arguments: the first tensor of
 * the formula; whether it is transposed, or causal.  *precision: of its operands. */
int64_t tl_flop_count(tl_formula formula, size_t first, size_t flag, const tl_arguments *arguments,
                      tl_precision *precision);

#endif
