#include "tlmpi/compat/verbatim.h"
#include "tlmpi/trace/event/values.h"
#include <stdlib.h>

#define BIT(key) (UINT64_C(1) << (key))

/* Keys of args that the columns of the trace do not use. */
#define KEY_EXTERNAL_ID   TL_KEY_HOOK
#define KEY_LABELS        ((tl_key)(TL_KEY_HOOK + 1))
#define KEY_INPUT_STRIDES ((tl_key)(TL_KEY_HOOK + 2))

static tl_key key_of(const char *p, size_t n)
{
    switch (n) {
    case 6:
        return memcmp(p, "labels", 6) == 0 ? KEY_LABELS : TL_KEY_UNKNOWN;
    case 11:
        return memcmp(p, "External id", 11) == 0 ? KEY_EXTERNAL_ID : TL_KEY_UNKNOWN;
    case 13:
        return memcmp(p, "Input Strides", 13) == 0 ? KEY_INPUT_STRIDES : TL_KEY_UNKNOWN;
    default:
        return TL_KEY_UNKNOWN;
    }
}

/* Returns the value as a tl_ref; adds the text of a value that is no small integer to the names. */
static tl_ref ref_of(tl_events *e, const tl_value *v)
{
    int64_t x;

    if (v == NULL || v->type == TL_VALUE_OTHER)
        return TL_REF_NONE;
    bool number = v->type == TL_VALUE_NUMBER;
    if (number && tl_decimal_to_int(v->text.p, v->text.n, &x) && x < TL_REF_NUMBER && x > -TL_REF_NUMBER)
        return x;
    uint32_t text = tl_value_keep(e, v->text, TL_TEXT_MAX);
    return TL_REF_TEXT | (number ? TL_REF_NUMBER : 0) | text;
}

/* Returns the names id of the value's JSON, or of a string's text; TL_NO_NAME for a bare word or an absent value. */
static uint32_t json_of(tl_events *e, const tl_value *v)
{
    return v == NULL || (v->type == TL_VALUE_OTHER && v->text.n == 0) ? TL_NO_NAME
                                                                      : tl_value_keep(e, v->text, TL_LIST_MAX);
}

static bool is_there(const tl_fields *f, tl_key key)
{
    const tl_value *v = tl_fields_get(f, key);
    return v != NULL && v->type != TL_VALUE_OTHER;
}

static bool is_whole(const tl_fields *f, tl_key key)
{
    const tl_value *v = tl_fields_get(f, key);
    return v != NULL && v->type == TL_VALUE_NUMBER && !tl_value_has_fraction(v);
}

static tl_more more_of(tl_events *e, const tl_fields *f)
{
    return (tl_more){
        .correlation = ref_of(e, tl_fields_get(f, TL_KEY_CORRELATION)),
        .external_id = ref_of(e, tl_fields_get(f, KEY_EXTERNAL_ID)),
        .id = ref_of(e, tl_fields_get(f, TL_KEY_ID)),
        .kind = tl_value_name(e, tl_fields_get(f, TL_KEY_KIND)),
        .labels = json_of(e, tl_fields_get(f, KEY_LABELS)),
        .input_dims = json_of(e, tl_fields_get(f, TL_KEY_INPUT_DIMS)),
        .input_strides = json_of(e, tl_fields_get(f, KEY_INPUT_STRIDES)),
        .concrete_inputs = json_of(e, tl_fields_get(f, TL_KEY_CONCRETE_INPUTS)),
        .has = (f->args.n > 0 ? TL_MORE_ARGS : 0) | (is_there(f, TL_KEY_PH) ? TL_MORE_PH : 0) |
               (is_there(f, TL_KEY_PID) ? TL_MORE_PID : 0) | (is_there(f, TL_KEY_TID) ? TL_MORE_TID : 0) |
               (f->seen & BIT(TL_KEY_CORRELATION) ? TL_MORE_CORRELATION : 0) |
               (is_whole(f, TL_KEY_TS) ? TL_MORE_WHOLE_TS : 0) | (is_whole(f, TL_KEY_DUR) ? TL_MORE_WHOLE_DUR : 0),
    };
}

/* ---------------------------------------------------------------------------------------------------- the columns */

/* Grows the columns to room for n events. */
static void reserve_events(tl_verbatim *words, size_t n, bool more)
{
    if (n <= words->cap)
        return;
    words->ts = tl_realloc(words->ts, n * sizeof *words->ts);
    words->dur = tl_realloc(words->dur, n * sizeof *words->dur);
    words->stream = tl_realloc(words->stream, n * sizeof *words->stream);
    words->more = more ? tl_realloc(words->more, n * sizeof *words->more) : NULL;
    words->cap = n;
}

static void keep_times(void *arg, tl_events *events, const tl_fields *fields, uint32_t i)
{
    tl_verbatim *words = arg;
    const tl_value *cat = tl_fields_get(fields, TL_KEY_CAT);

    reserve_events(words, events->cap, false);
    while (words->ranges.n > 0 && words->ranges.v[words->ranges.n - 1].event >= i) /* taken back */
        words->ranges.n--;
    if (cat != NULL && fields->args.n > 0 && tl_text_is(cat->text, "cuda_profiler_range"))
        tl_vec_push(&words->ranges, (tl_range_args){ i, tl_value_keep(events, fields->args, TL_LIST_MAX) });
    words->ts[i] = tl_value_double(tl_fields_get(fields, TL_KEY_TS));
    words->dur[i] = tl_value_double(tl_fields_get(fields, TL_KEY_DUR));
    words->stream[i] = tl_value_int(tl_fields_get(fields, TL_KEY_STREAM), -1);
}

static void keep_all(void *arg, tl_events *events, const tl_fields *fields, uint32_t i)
{
    tl_verbatim *words = arg;

    reserve_events(words, events->cap, true);
    words->more[i] = more_of(events, fields);
    keep_times(arg, events, fields, i);
}

tl_entry_hook tl_verbatim_hook(tl_verbatim *words, bool more)
{
    return (tl_entry_hook){
        .any_ph = true, .key_of = more ? key_of : NULL, .keep = more ? keep_all : keep_times, .arg = words
    };
}

void tl_verbatim_free(tl_verbatim *words)
{
    free(words->ts);
    free(words->dur);
    free(words->stream);
    free(words->more);
    free(words->ranges.v);
    *words = (tl_verbatim){ 0 };
}
