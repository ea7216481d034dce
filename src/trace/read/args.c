/* args.c - arguments of few events, for the side tables: measurements of a device or an allocator, and, if a trace has
 * shapes ("Input Dims", "Input type"), the number of elements in and out of a communication operator (flop.c: the
 * operations of one that computes).
 *     "nccl:all_reduce"            [[4, 2048, 4096]]                   "c10::Half"      inputs
 *     "record_param_comms"         [[[4, 2048, 4096]], [], ...]        "TensorList"     inputs first
 *     "c10d::_allgather_base_"     [[1073741824], [16777216], []]      "signed char"    outputs first
 *
 * A list of tensors is one argument. [] is a tensor of one element if the type is that of an element; else the number
 * is unknown.
 */
#include "formats.h"
#include "tlmpi/base/decimal.h"
#include "tlmpi/model/coll.h"
#include "tlmpi/trace/event/values.h"
#include "tlmpi/trace/text/json.h"
#include <math.h>

/* --------------------------------------------------------------------------------------------- counters, allocators */

/* Returns a number, also from a string. */
static tl_text number_of(tl_text value)
{
    tl_text text = tl_json_string(value);
    return text.n > 0 ? text : value;
}

/* Adds every number among the args of a range or sample as a counter, of the event's name if it has none; of several
 * with one name, the last.  A range without numbers is added as well: the order of ranges determines whose counters
 * they are. */
static void add_counters(tl_events *e, tl_text args)
{
    tl_text rest = tl_json_inside(args), key, value;
    const uint32_t event = (uint32_t)e->n - 1;
    size_t first = e->counters.n, at;

    while (tl_json_member(&rest, &key, &value)) {
        tl_text text = number_of(value);
        double number;
        if (!tl_decimal_to_double(text.p, text.n, &number) || !isfinite(number))
            continue;
        uint32_t name = key.n > 0 ? tl_value_keep(e, key, TL_TEXT_MAX) : e->name[event];
        for (at = first; at < e->counters.n && e->counters.v[at].name != name; at++)
            ;
        if (at == e->counters.n)
            tl_vec_push(&e->counters, (tl_counter_arg){ event, name, number });
        e->counters.v[at].value = number;
    }
    if (e->counters.n <= first)
        tl_vec_push(&e->counters, (tl_counter_arg){ event, TL_NO_NAME, NAN });
}

void tl_measured_take(tl_events *e, const tl_fields *f)
{
    uint32_t name = e->name[e->n - 1];

    const tl_cat cat = tl_event_cat(e, e->n - 1);

    if (cat == TL_CAT_PROFILER_RANGE || cat == TL_CAT_SAMPLE)
        add_counters(e, f->args);
    else if (name != TL_NO_NAME && tl_text_is(tl_names_text(&e->names, name), "[memory]"))
        tl_vec_push(&e->memory,
                    (tl_memory_args){ .event = (uint32_t)e->n - 1,
                                      .allocated = tl_value_int(tl_fields_get(f, TL_KEY_ALLOCATED), INT64_MIN),
                                      .reserved = tl_value_int(tl_fields_get(f, TL_KEY_RESERVED), INT64_MIN),
                                      .device = tl_value_int(tl_fields_get(f, TL_KEY_DEVICE_ID), INT64_MIN),
                                      .device_type = tl_value_int(tl_fields_get(f, TL_KEY_DEVICE_TYPE), INT64_MIN),
                                      .bytes = tl_value_int(tl_fields_get(f, TL_KEY_MEMORY_BYTES), INT64_MIN) });
}

/* ----------------------------------------------------------------------------------------------------------- shapes */

/* What the shapes of an operator are used for. */
typedef enum use {
    ANNOTATION, /* communication: inputs only */
    SAME,       /* an input that is also the output */
    IN_FIRST,   /* an input; the rest is unknown */
    OUT_FIRST,  /* an output, then an input */
    COMPUTING,  /* floating-point operations */
} use;

static const struct {
    const char *name; /* of communication its beginning */
    use use;
    tl_formula formula; /* this and below: as in tl_flop_count */
    uint8_t first, flag;
} known[] = {
    { "nccl:", ANNOTATION, 0, 0, 0 },
    { "record_param_comms", IN_FIRST, 0, 0, 0 },
    { "c10d::allreduce_", SAME, 0, 0, 0 },
    { "c10d::broadcast_", SAME, 0, 0, 0 },
    { "c10d::reduce_scatter_", OUT_FIRST, 0, 0, 0 },
    { "c10d::_reduce_scatter_base_", OUT_FIRST, 0, 0, 0 },
    { "c10d::reduce_", SAME, 0, 0, 0 },
    { "c10d::allgather_", OUT_FIRST, 0, 0, 0 },
    { "c10d::_allgather_base_", OUT_FIRST, 0, 0, 0 },
    { "c10d::alltoall_", OUT_FIRST, 0, 0, 0 },
    { "c10d::send", SAME, 0, 0, 0 },
    { "c10d::recv_", SAME, 0, 0, 0 },
    { "aten::mm", COMPUTING, TL_PRODUCT, 0, 0 }, /* also in aten::linear and aten::matmul */
    { "aten::bmm", COMPUTING, TL_PRODUCT, 0, 0 },
    { "aten::mv", COMPUTING, TL_PRODUCT, 0, 0 },
    { "aten::_scaled_mm", COMPUTING, TL_PRODUCT, 0, 0 },
    { "aten::addmm", COMPUTING, TL_PRODUCT, 1, 0 },
    { "aten::baddbmm", COMPUTING, TL_PRODUCT, 1, 0 },
    { "aten::addmv", COMPUTING, TL_PRODUCT, 1, 0 },
    { "aten::_addmm_activation", COMPUTING, TL_PRODUCT, 1, 0 },
    { "aten::convolution", COMPUTING, TL_CONVOLUTION, 0, 6 },
    { "aten::convolution_backward", COMPUTING, TL_CONVOLUTION_BACKWARD, 0, 7 },
    { "aten::_scaled_dot_product_flash_attention", COMPUTING, TL_ATTENTION, 0, 4 },
    { "aten::_scaled_dot_product_efficient_attention", COMPUTING, TL_ATTENTION, 0, 6 },
    { "aten::_scaled_dot_product_cudnn_attention", COMPUTING, TL_ATTENTION, 0, 6 },
    { "aten::_scaled_dot_product_flash_attention_backward", COMPUTING, TL_ATTENTION_BACKWARD, 1, 11 },
    { "aten::_scaled_dot_product_efficient_attention_backward", COMPUTING, TL_ATTENTION_BACKWARD, 1, 11 },
    { "aten::_scaled_dot_product_cudnn_attention_backward", COMPUTING, TL_ATTENTION_BACKWARD, 1, 14 },
};

enum { NKNOWN = sizeof known / sizeof known[0], DEEPEST = 4 };

/* Returns the number of elements of a shape, or of a list of shapes; -1: unknown.  *bad: the text is neither. */
static int64_t count_elements(tl_text value, int depth, bool *bad)
{
    tl_text rest = tl_json_inside(value), item;
    int64_t product = 1, sum = 0;
    bool shapes = false, lengths = false, told = true;

    *bad = *bad || depth > DEEPEST || value.n < 2 || *value.p != '[';
    while (!*bad && tl_json_element(&rest, &item)) {
        bool shape = *item.p == '[';
        int64_t n = -1;
        *bad = *item.p == '"' || *item.p == '{';
        if (shape)
            n = count_elements(item, depth + 1, bad);
        else if (!tl_decimal_to_int(item.p, item.n, &n))
            n = -1;
        told = told && n >= 0 &&
               (shape ? !__builtin_add_overflow(sum, n, &sum) : !__builtin_mul_overflow(product, n, &product));
        shapes |= shape;
        lengths |= !shape;
    }
    return *bad || !told || (shapes && lengths) ? -1 : shapes ? sum : product;
}

/* One argument: number of elements, -1: unknown; type of an element, 0: unknown. */
typedef struct argument {
    int64_t nelems;
    tl_dtype dtype;
} argument;

static const argument nothing = { -1, 0 };

/* Removes the next argument of the operator from both lists; false after the last.  A list of tensors without recorded
 * shapes counts as empty.  Text that is not a list of shapes or types ends both. */
static bool next_argument(tl_text *dims, tl_text *types, argument *out)
{
    tl_text shape, type;
    bool bad = false;

    *out = nothing;
    if (!tl_json_element(dims, &shape))
        return false;
    if (!tl_json_element(types, &type))
        return true;
    int64_t nelems = count_elements(shape, 0, &bad);
    tl_text word = tl_json_string(type), inside = tl_json_inside(shape), first;
    tl_dtype dtype = tl_dtype_of_type(word);
    bool is_list = tl_text_is(word, "TensorList") || tl_text_is(word, "GenericList");
    if (bad || *type.p != '"')
        dims->n = types->n = 0;
    else
        *out = (argument){ dtype != 0 || (is_list && tl_json_element(&inside, &first)) ? nelems : -1, dtype };
    return true;
}

/* Returns the sum of all arguments' elements; `nothing` if one is unknown or the types differ. */
static argument sum_arguments(tl_text *dims, tl_text *types)
{
    argument sum, a;

    (void)next_argument(dims, types, &sum);
    while (next_argument(dims, types, &a))
        if (a.nelems < 0 || sum.nelems < 0 || a.dtype != sum.dtype ||
            __builtin_add_overflow(sum.nelems, a.nelems, &sum.nelems))
            return nothing;
    return sum;
}

/* Fills the numbers of elements of a communication operator; false: nothing is known. */
static bool count_message(use order, tl_arguments a, tl_shape_args *s)
{
    argument first, second = nothing;

    if (order == ANNOTATION)
        first = sum_arguments(&a.dims, &a.types);
    else
        (void)next_argument(&a.dims, &a.types, &first);
    if (order == OUT_FIRST)
        (void)next_argument(&a.dims, &a.types, &second);
    s->dtype = first.dtype != 0 ? first.dtype : second.dtype;
    s->annotation = order == ANNOTATION;
    s->in_nelems = order == OUT_FIRST ? second.nelems : first.nelems;
    s->out_nelems = order == OUT_FIRST || order == SAME ? first.nelems : -1;
    return s->in_nelems >= 0 || s->out_nelems >= 0 || s->dtype != 0;
}

static uint8_t rule_of(tl_text name)
{
    size_t k = name.n > 6 && (name.p[4] == ':' || name.p[6] == '_') ? 0 : NKNOWN; /* as all have it, and few others */
    while (k < NKNOWN &&
           !(known[k].use == COMPUTING ? tl_text_is(name, known[k].name) : tl_text_starts(name, known[k].name)))
        k++;
    return (uint8_t)(k < NKNOWN ? 2 + k : 1);
}

/* Returns the list without its brackets; empty: none. */
static tl_text list_of(const tl_value *value)
{
    return value != NULL && value->type == TL_VALUE_OTHER ? tl_json_inside(value->text) : (tl_text){ "", 0 };
}

void tl_shapes_take(tl_events *e, tl_shape_rules *rules, const tl_fields *f)
{
    const uint32_t host = TL_CAT_BIT(TL_CAT_USER_ANNOTATION) | TL_CAT_BIT(TL_CAT_CPU_OP), name = e->name[e->n - 1];

    if (name == TL_NO_NAME || (name < rules->n && rules->v[name] == 1))
        return;
    for (; rules->n <= name; rules->n++) {
        tl_vec_room(rules);
        rules->v[rules->n] = rule_of(tl_names_text(&e->names, (uint32_t)rules->n));
    }
    if (rules->v[name] == 1 || !(TL_CAT_BIT(tl_event_cat(e, e->n - 1)) & host))
        return;
    const size_t k = rules->v[name] - 2u;
    const tl_arguments a = { list_of(tl_fields_get(f, TL_KEY_INPUT_DIMS)),
                             list_of(tl_fields_get(f, TL_KEY_INPUT_TYPES)),
                             list_of(tl_fields_get(f, TL_KEY_CONCRETE_INPUTS)) };
    tl_shape_args s = { .event = (uint32_t)e->n - 1, .computes = known[k].use == COMPUTING };
    tl_precision precision;
    if (s.computes) {
        s.flop = tl_flop_count(known[k].formula, known[k].first, known[k].flag, &a, &precision);
        s.dtype = (uint8_t)precision;
    }
    if (s.computes ? s.flop >= 0 : count_message(known[k].use, a, &s))
        tl_vec_push(&e->shapes, s);
}
