/* shapes.c - elements of operators of communication, where a trace has shapes ("Input Dims", "Input type").
 *
 *     "nccl:all_reduce"            [[4, 2048, 4096]]                   "c10::Half"      what goes in
 *     "record_param_comms"         [[[4, 2048, 4096]], [], ...]        "TensorList"     what goes in comes first
 *     "c10d::_allgather_base_"     [[1073741824], [16777216], []]      "signed char"    what comes out comes first
 *
 * A list of tensors is one argument.  [] is a tensor of one element where the type is that of an element; else the trace
 * does not say.
 */
#include "shapes.h"
#include "tlmpi/base/decimal.h"
#include "tlmpi/model/coll.h"
#include "tlmpi/trace/text/json.h"

/* What stands first among the arguments. */
typedef enum arguments {
    ANNOTATION, /* all of them go in */
    SAME,       /* what goes in and comes out */
    IN_FIRST,   /* of the rest nothing is known */
    OUT_FIRST,  /* and then what goes in */
} arguments;

static const struct {
    const char *name; /* its beginning */
    arguments order;
} known[] = {
    { "nccl:", ANNOTATION },
    { "record_param_comms", IN_FIRST },
    { "c10d::allreduce_", SAME },
    { "c10d::broadcast_", SAME },
    { "c10d::reduce_scatter_", OUT_FIRST },
    { "c10d::_reduce_scatter_base_", OUT_FIRST },
    { "c10d::reduce_", SAME },
    { "c10d::allgather_", OUT_FIRST },
    { "c10d::_allgather_base_", OUT_FIRST },
    { "c10d::alltoall_", OUT_FIRST },
    { "c10d::send", SAME },
    { "c10d::recv_", SAME },
};

static int64_t product_of(tl_text shape)
{
    tl_text rest = tl_json_inside(shape), value;
    int64_t product = 1, number;

    while (tl_json_element(&rest, &value))
        if (!tl_decimal_to_int(value.p, value.n, &number) || number < 0 ||
            __builtin_mul_overflow(product, number, &product))
            return -1;
    return product;
}

/* A shape, or a list of shapes, however deep: the sum of their elements; -1 where that is not known. */
static int64_t elements_of(tl_text dims, int depth)
{
    tl_text rest = tl_json_inside(dims), value;
    int64_t sum = 0;

    if (dims.n < 2 || *dims.p != '[' || depth > 4)
        return -1;
    if (rest.n == 0 || !tl_json_element(&rest, &value) || *value.p != '[')
        return product_of(dims);
    rest = tl_json_inside(dims);
    while (tl_json_element(&rest, &value)) {
        int64_t n = elements_of(value, depth + 1);
        if (n < 0 || __builtin_add_overflow(sum, n, &sum))
            return -1;
    }
    return sum;
}

/* One argument: how many elements, -1 unknown; the type of each, 0 unknown. */
typedef struct argument {
    int64_t nelems;
    tl_dtype dtype;
} argument;

static argument argument_of(tl_text dims, tl_text type)
{
    argument a = { -1, tl_dtype_of_type(tl_json_string(type)) };
    tl_text inside = tl_json_inside(dims);
    bool empty = inside.n == 0;

    if (a.dtype != 0 || (!empty && tl_text_is(tl_json_string(type), "TensorList")) ||
        (!empty && tl_text_is(tl_json_string(type), "GenericList")))
        a.nelems = elements_of(dims, 0);
    return a;
}

/* All of them together, as far as they are of one type. */
static argument sum_of(tl_text dims, tl_text types)
{
    tl_text dims_rest = tl_json_inside(dims), types_rest = tl_json_inside(types), one, type;
    argument sum = { -1, 0 };

    for (size_t n = 0; tl_json_element(&dims_rest, &one) && tl_json_element(&types_rest, &type); n++) {
        const argument a = argument_of(one, type);
        if (n == 0)
            sum = a;
        else if (a.nelems < 0 || sum.nelems < 0 || a.dtype != sum.dtype ||
                 __builtin_add_overflow(sum.nelems, a.nelems, &sum.nelems))
            return (argument){ -1, 0 };
    }
    return sum;
}

static argument nth_of(tl_text dims, tl_text types, int n)
{
    tl_text dims_rest = tl_json_inside(dims), types_rest = tl_json_inside(types), one, type;
    const argument none = { -1, 0 };

    for (int i = 0; tl_json_element(&dims_rest, &one) && tl_json_element(&types_rest, &type); i++)
        if (i == n)
            return argument_of(one, type);
    return none;
}

static tl_shape_args shape_of(arguments order, tl_text dims, tl_text types)
{
    tl_shape_args s = { .in_nelems = -1, .out_nelems = -1 };
    const argument first = order == ANNOTATION ? sum_of(dims, types) : nth_of(dims, types, 0),
                   second = order == OUT_FIRST ? nth_of(dims, types, 1) : (argument){ -1, 0 };

    if (order == OUT_FIRST)
        s.out_nelems = first.nelems;
    else
        s.in_nelems = first.nelems;
    if (order == OUT_FIRST)
        s.in_nelems = second.nelems;
    if (order == SAME)
        s.out_nelems = first.nelems;
    s.dtype = (uint8_t)(first.dtype != 0 ? first.dtype : second.dtype);
    s.annotation = order == ANNOTATION;
    return s;
}

bool tl_shapes_take(tl_events *e, tl_text args)
{
    uint32_t event = (uint32_t)e->n - 1;
    const uint32_t host = TL_CAT_BIT(TL_CAT_USER_ANNOTATION) | TL_CAT_BIT(TL_CAT_CPU_OP);
    tl_text name = tl_names_text(&e->names, e->name[event]);
    size_t k = 0;

    while (k < sizeof known / sizeof known[0] && !tl_text_starts(name, known[k].name))
        k++;
    if (k == sizeof known / sizeof known[0] || !(TL_CAT_BIT(tl_event_cat(e, event)) & host))
        return true;
    tl_text dims = tl_json_value(args, "Input Dims"), types = tl_json_value(args, "Input type");
    if (dims.n == 0 || types.n == 0)
        return true;
    tl_shape_args s = shape_of(known[k].order, dims, types);
    if (s.in_nelems < 0 && s.out_nelems < 0 && s.dtype == 0)
        return true;
    s.event = event;
    if (!tl_vec_room(&e->shapes))
        return false;
    e->shapes.v[e->shapes.n++] = s;
    return true;
}
