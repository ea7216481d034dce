#include "measured.h"
#include "tlmpi/base/decimal.h"
#include "tlmpi/trace/event/values.h"
#include "tlmpi/trace/text/json.h"
#include <math.h>

/* A number, also as a text. */
static tl_text number_of(tl_text value)
{
    tl_text text = tl_json_string(value);
    return text.n > 0 ? text : value;
}

static void put_counter(tl_events *e, size_t first, uint32_t name, double value)
{
    size_t at = first;
    tl_vec_room(&e->counters);
    while (at < e->counters.n && e->counters.v[at].name != name)
        at++;
    e->counters.n += at == e->counters.n;
    e->counters.v[at] = (tl_counter_arg){ (uint32_t)e->n - 1, name, value };
}

/* Every number among the args of a range is a counter; of several of one name the last.  A range without any is there all
 * the same: the order of ranges tells whose they are. */
static void take_counters(tl_events *e, tl_text args)
{
    tl_text rest = tl_json_inside(args), key, value;
    size_t first = e->counters.n;

    while (tl_json_member(&rest, &key, &value)) {
        tl_text text = number_of(value);
        double number;
        if (!tl_decimal_to_double(text.p, text.n, &number) || !isfinite(number))
            continue;
        uint32_t name = tl_value_keep(e, key, TL_TEXT_MAX);
        put_counter(e, first, name, number);
    }
    if (e->counters.n <= first)
        put_counter(e, first, TL_NO_NAME, NAN);
}

static void take_memory(tl_events *e, const tl_fields *f)
{
    tl_vec_room(&e->memory);
    e->memory.v[e->memory.n++] = (tl_memory_args){
        .event = (uint32_t)e->n - 1,
        .allocated = tl_value_int(tl_fields_get(f, TL_KEY_ALLOCATED), INT64_MIN),
        .reserved = tl_value_int(tl_fields_get(f, TL_KEY_RESERVED), INT64_MIN),
        .device = tl_value_int(tl_fields_get(f, TL_KEY_DEVICE_ID), INT64_MIN),
        .device_type = tl_value_int(tl_fields_get(f, TL_KEY_DEVICE_TYPE), INT64_MIN),
        .bytes = tl_value_int(tl_fields_get(f, TL_KEY_MEMORY_BYTES), INT64_MIN),
    };
}

void tl_measured_take(tl_events *e, const tl_fields *f)
{
    uint32_t name = e->name[e->n - 1];

    if (tl_event_cat(e, e->n - 1) == TL_CAT_PROFILER_RANGE) {
        take_counters(e, f->args);
        return;
    }
    bool of_memory = name != TL_NO_NAME && tl_text_is(tl_names_text(&e->names, name), "[memory]");
    if (of_memory)
        take_memory(e, f);
}
