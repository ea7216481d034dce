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
#include "tlmpi/model/coll.h"

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

/* Reads on in JSON text, as far as it is a list of shapes or of types; what is anything else is bad. */
typedef struct reader {
    const char *p, *end;
    bool bad;
} reader;

enum { DEEPEST = 4 };

static char next(reader *r)
{
    while (r->p < r->end && (*r->p == ' ' || *r->p == '\n' || *r->p == '\r' || *r->p == '\t'))
        r->p++;
    return r->p < r->end ? *r->p : '\0';
}

static bool take(reader *r, char c)
{
    if (next(r) != c)
        return false;
    r->p++;
    return true;
}

/* A number of elements; -1 for any other number. */
static int64_t read_length(reader *r)
{
    int64_t n = 0;
    bool whole = true;
    const char *begin = r->p;

    for (; r->p < r->end && *r->p != ',' && *r->p != ']' && *r->p > ' '; r->p++)
        whole = whole && *r->p >= '0' && *r->p <= '9' && !__builtin_mul_overflow(n, 10, &n) &&
                !__builtin_add_overflow(n, *r->p - '0', &n);
    r->bad = r->bad || r->p == begin || *begin == '"' || *begin == '{';
    return whole ? n : -1;
}

/* A shape, or a list of shapes: the sum of their elements; -1 where that is not known. */
static int64_t read_elements(reader *r, int depth)
{
    int64_t product = 1, sum = 0;
    bool shapes = false, lengths = false, told = true;

    if (depth > DEEPEST || !take(r, '[')) {
        r->bad = true;
        return -1;
    }
    if (take(r, ']'))
        return 1;
    do {
        bool shape = next(r) == '[';
        int64_t n = shape ? read_elements(r, depth + 1) : read_length(r);
        told = told && n >= 0 &&
               (shape ? !__builtin_add_overflow(sum, n, &sum) : !__builtin_mul_overflow(product, n, &product));
        shapes = shapes || shape;
        lengths = lengths || !shape;
    } while (!r->bad && take(r, ','));
    r->bad = r->bad || !take(r, ']');
    return !r->bad && told && shapes != lengths ? (shapes ? sum : product) : -1;
}

static tl_text read_word(reader *r)
{
    if (!take(r, '"')) {
        r->bad = true;
        return TL_TEXT("");
    }
    const char *begin = r->p, *end = memchr(begin, '"', (size_t)(r->end - begin));
    if (end == NULL) {
        r->bad = true;
        return TL_TEXT("");
    }
    r->p = end + 1;
    return (tl_text){ begin, (size_t)(end - begin) };
}

/* One argument: how many elements, -1 unknown; the type of each, 0 unknown. */
typedef struct argument {
    int64_t nelems;
    tl_dtype dtype;
} argument;

static const argument nothing = { -1, 0 };

/* Returns the next argument of the operator; `nothing` after the last.  A list of tensors without recorded shapes
 * counts as empty. */
static argument read_argument(reader *dims, reader *types, bool first)
{
    if (!take(dims, first ? '[' : ',') || !take(types, first ? '[' : ',') || next(dims) == ']')
        return nothing;
    const char *begin = dims->p; /* at its bracket, or what is none */
    int64_t nelems = read_elements(dims, 0);
    reader inside = { begin + 1, dims->p, false };
    bool empty = next(&inside) == ']';
    tl_text type = read_word(types);
    tl_dtype dtype = tl_dtype_of_type(type);
    bool is_list = tl_text_is(type, "TensorList") || tl_text_is(type, "GenericList");
    if (dims->bad || types->bad)
        return nothing;
    return (argument){ dtype != 0 || (is_list && !empty) ? nelems : -1, dtype };
}

/* Returns the sum of all arguments' elements; `nothing` where one is unknown or the types differ. */
static argument read_sum(reader *dims, reader *types)
{
    argument sum = read_argument(dims, types, true);

    while (next(dims) == ',') {
        const argument a = read_argument(dims, types, false);
        if (a.nelems < 0 || sum.nelems < 0 || a.dtype != sum.dtype ||
            __builtin_add_overflow(sum.nelems, a.nelems, &sum.nelems))
            return nothing;
    }
    return dims->bad || types->bad ? nothing : sum;
}

static tl_shape_args read_shape(arguments order, reader *dims, reader *types)
{
    tl_shape_args s = { .in_nelems = -1, .out_nelems = -1, .annotation = order == ANNOTATION };
    const argument first = order == ANNOTATION ? read_sum(dims, types) : read_argument(dims, types, true),
                   second = order == OUT_FIRST ? read_argument(dims, types, false) : nothing;

    s.dtype = (uint8_t)(first.dtype != 0 ? first.dtype : second.dtype);
    s.in_nelems = order == OUT_FIRST ? second.nelems : first.nelems;
    s.out_nelems = order == OUT_FIRST || order == SAME ? first.nelems : -1;
    return s;
}

/* What stands behind the key and its colon; at the end where it is not there.  In a string a quote has a backslash
 * before it, so that nothing in one looks like a key. */
static reader value_of(tl_text args, tl_text key)
{
    const char *end = args.p + args.n, *at = args.p + 2; /* a bracket and a quote */

    while ((at = memchr(at, *key.p, (size_t)(end - at))) != NULL && end - at > (ptrdiff_t)key.n) {
        reader r = { at + key.n + 1, end, false };
        if (at[-1] == '"' && at[-2] != '\\' && memcmp(at, key.p, key.n) == 0 && at[key.n] == '"' && take(&r, ':'))
            return r;
        at++;
    }
    return (reader){ end, end, true };
}

void tl_shapes_take(tl_events *e, tl_text args)
{
    uint32_t event = (uint32_t)e->n - 1;
    const uint32_t host = TL_CAT_BIT(TL_CAT_USER_ANNOTATION) | TL_CAT_BIT(TL_CAT_CPU_OP);
    tl_text name = tl_names_text(&e->names, e->name[event]);
    size_t k = 0;

    while (k < sizeof known / sizeof known[0] && !tl_text_starts(name, known[k].name))
        k++;
    if (k == sizeof known / sizeof known[0] || !(TL_CAT_BIT(tl_event_cat(e, event)) & host))
        return;
    reader dims = value_of(args, TL_TEXT("Input Dims")), types = value_of(args, TL_TEXT("Input type"));
    if (dims.bad || types.bad)
        return;
    tl_shape_args s = read_shape(known[k].order, &dims, &types);
    if (s.in_nelems < 0 && s.out_nelems < 0 && s.dtype == 0)
        return;
    s.event = event;
    tl_vec_room(&e->shapes);
    e->shapes.v[e->shapes.n++] = s;
}
