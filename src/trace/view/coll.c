/* coll.c - describes the collective of each communication kernel, from everything in the trace.
 *
 * Sources by precedence, for each property by itself: the kernel's own arguments, then the operator around its launch
 * (recent traces have most properties on the kernel, but start and stride of the group on the operator only), then the
 * annotation, which names the collective, then the kernel's name.
 *
 * Sends and receives that are launched together have no operator around the launch: their operators come before it.
 */
#include "internal.h"
#include "tlmpi/base/hash.h"

/* --------------------------------------------------------------------------------------------------------------- sizes
 *
 * The size of a message, from the shapes of the tensors that operators around its launch were given.
 *
 *     c10d::_allgather_base_     [==============]     out and in
 *     nccl:_all_gather_base         [========]        in
 *     launch                           [==]
 *
 * For an all-to-all of lists, PyTorch gives the annotation only the first tensor: its type is used, but not its size.
 * An operator that launched several pieces of communication does not give the size of any of them.
 */

/* The size of a message from shapes. -1 and 0: unknown. */
typedef struct tl_comm_size {
    int64_t in_nelems, out_nelems;
    uint32_t event; /* the outermost operator that it is taken from; TL_NONE: none */
    uint8_t dtype;  /* tl_dtype */
    uint8_t from;   /* tl_size_from */
} tl_comm_size;

/* Whether each rank receives everything that is sent. */
static bool is_one_message(tl_collective kind)
{
    return kind == TL_ALL_REDUCE || kind == TL_BROADCAST || kind == TL_REDUCE || kind == TL_SEND || kind == TL_RECV;
}

/* Whether the size of the message can be computed. */
static bool is_known(const tl_comm_size *size, tl_collective kind)
{
    return size->dtype != 0 && tl_message_bytes(kind, size->in_nelems, size->out_nelems, 1) >= 0;
}

static void add_shape(tl_comm_size *size, const tl_shape_args *shape, tl_collective kind)
{
    int64_t in = shape->in_nelems, out = shape->out_nelems;

    size->dtype = size->dtype != 0 ? size->dtype : shape->dtype;
    if (shape->annotation && kind == TL_ALL_TO_ALL)
        return;
    if (is_one_message(kind))
        in = out = tl_ns_max(in, out);
    if (!(size->in_nelems < 0 && in >= 0) && !(size->out_nelems < 0 && out >= 0))
        return;
    size->in_nelems = size->in_nelems >= 0 ? size->in_nelems : in;
    size->out_nelems = size->out_nelems >= 0 ? size->out_nelems : out;
    size->from = shape->annotation ? TL_SIZE_FROM_ANNOTATION : TL_SIZE_FROM_OPERATOR;
    size->event = shape->event;
}

/* Returns the size of a collective from the operators around its launch (NULL: no launch is recorded) that name this
 * kind of collective or none: from the innermost operator outwards, property by property, until all are known. */
static tl_comm_size size_around(const tl_comm *k, const tl_launch *launch, tl_collective kind)
{
    tl_comm_size size = { .in_nelems = -1, .out_nelems = -1, .event = TL_NONE };

    if (launch == NULL || k->e->shapes.n == 0 || kind == TL_GATHER || kind == TL_SCATTER)
        return size;
    for (uint32_t i = tl_comm_around(k, launch); i != TL_NONE && !is_known(&size, kind); i = k->ops.v[i].around) {
        const tl_comm_op *op = &k->ops.v[i];
        const tl_shape_args *shape = op->end_ns > launch->start_ns ? tl_events_shape(k->e, op->event) : NULL;
        if (shape != NULL && (op->collective == kind || (op->collective == TL_COLL_UNKNOWN && !shape->annotation)))
            add_shape(&size, shape, kind);
    }
    return size;
}

/* Fills elements, type and bytes.  In an all-gather each rank of the group contributes as much as this rank; group_size
 * below 1: unknown. */
static void fill_size(tl_coll *c, const tl_comm_size *size, int64_t group_size)
{
    int64_t out = size->out_nelems;

    if (c->kind == TL_ALL_GATHER && out < 0 && size->in_nelems >= 0 && group_size > 0 &&
        __builtin_mul_overflow(size->in_nelems, group_size, &out))
        out = -1;
    const char *name = tl_dtype_name(size->dtype);
    const tl_text dtype = { name, strlen(name) };
    c->in_nelems = size->in_nelems;
    c->out_nelems = out;
    if (c->dtype == 0 && dtype.n > 0)
        c->dtype = tl_hash_bytes(dtype.p, dtype.n);
    c->dtype_bytes = (int8_t)tl_dtype_bytes(dtype);
    c->bytes = tl_message_bytes((tl_collective)c->kind, size->in_nelems, out, c->dtype_bytes);
    c->size_from = c->bytes >= 0 ? size->from : TL_SIZE_UNKNOWN;
}

TL_ORDER_BY(by_event, tl_comm_size, event)

/* Drops sizes from one operator that several collectives share: they are the total of these. */
static void drop_shared_sizes(tl_coll *colls, const tl_comm_size *sizes, size_t n)
{
    uint32_t *order = tl_malloc((n + 1) * sizeof *order);
    size_t found = 0;

    for (size_t i = 0; i < n; i++)
        if (sizes[i].event != TL_NONE)
            order[found++] = (uint32_t)i;
    tl_sort_index(order, found, by_event, sizes);
    for (size_t i = 0; i < found; i++) {
        uint32_t event = sizes[order[i]].event;
        if ((i == 0 || sizes[order[i - 1]].event != event) && (i + 1 == found || sizes[order[i + 1]].event != event))
            continue;
        tl_coll *c = &colls[order[i]];
        c->in_nelems = c->out_nelems = c->bytes = -1;
        c->size_from = TL_SIZE_UNKNOWN;
    }
    free(order);
}

/* ------------------------------------------------------------------------------------------------------ collectives */

static uint32_t first_text(uint32_t first, uint32_t second)
{
    return first != TL_NO_NAME ? first : second;
}

static int64_t first_number(int64_t first, int64_t second)
{
    return first >= 0 ? first : second;
}

/* Returns the arguments of both; where both have one, a's. */
static tl_coll_args merge(const tl_coll_args *a, const tl_coll_args *b)
{
    static const tl_coll_args none = { 0,          TL_NO_NAME, TL_NO_NAME, TL_NO_NAME, TL_NO_NAME, TL_NO_NAME,
                                       TL_NO_NAME, TL_NO_NAME, -1,         -1,         -1,         -1,
                                       -1,         -1,         -1,         -1 };
    a = a != NULL ? a : &none;
    b = b != NULL ? b : &none;
    return (tl_coll_args){
        .name = first_text(a->name, b->name),
        .dtype = first_text(a->dtype, b->dtype),
        .pg_name = first_text(a->pg_name, b->pg_name),
        .pg_desc = first_text(a->pg_desc, b->pg_desc),
        .pg_ranks = first_text(a->pg_ranks, b->pg_ranks),
        .in_nelems = first_number(a->in_nelems, b->in_nelems),
        .out_nelems = first_number(a->out_nelems, b->out_nelems),
        .group_size = first_number(a->group_size, b->group_size),
        .seq = first_number(a->seq, b->seq),
        .src_rank = first_number(a->src_rank, b->src_rank),
        .dst_rank = first_number(a->dst_rank, b->dst_rank),
        .rank_start = first_number(a->rank_start, b->rank_start),
        .rank_stride = first_number(a->rank_stride, b->rank_stride),
    };
}

/* Returns the kind of a collective that no operator around the launch names: that of the batch of sends and receives
 * before the launch; by_name if there is no batch. */
static tl_collective kind_of_batch(const tl_comm *k, const tl_launch *launch, tl_collective by_name, tl_comm_call *call)
{
    if (launch == NULL || (by_name != TL_SEND_RECV && by_name != TL_COLL_UNKNOWN))
        return by_name;
    tl_comm_batched(k, launch, call);
    if (call->ends.sends && call->ends.receives)
        return TL_SEND_RECV;
    return call->ends.sends ? TL_SEND : call->ends.receives ? TL_RECV : by_name;
}

/* Returns the kind of a transfer whose arguments name two ranks: a send for the source, a receive for the
 * destination. */
static tl_collective kind_between(tl_collective kind, const tl_coll_args *args, int32_t rank)
{
    if ((kind != TL_SEND_RECV && kind != TL_COLL_UNKNOWN) || args->src_rank < 0 || args->dst_rank < 0 ||
        args->src_rank == args->dst_rank)
        return kind;
    return args->src_rank == rank ? TL_SEND : args->dst_rank == rank ? TL_RECV : kind;
}

/* Returns the collective of one kernel, without its group.  own: the kernel's arguments or NULL; by_name: the kind from
 * the kernel's name.  Completes *call; *args: all arguments. */
static tl_coll describe_kernel(const tl_comm *k, int32_t rank, const tl_launch *launch, const tl_coll_args *own,
                               tl_collective by_name, tl_comm_call *call, tl_coll_args *args)
{
    const tl_names *names = &k->e->names;
    *args = merge(own, call->args);
    tl_collective kind =
        args->name != TL_NO_NAME ? tl_collective_of(tl_names_text(names, args->name)) : TL_COLL_UNKNOWN;
    tl_coll_from from = own != NULL                           ? TL_COLL_FROM_KERNEL
                        : call->args != NULL                  ? TL_COLL_FROM_OPERATOR
                        : call->collective != TL_COLL_UNKNOWN ? TL_COLL_FROM_ANNOTATION
                                                              : TL_COLL_FROM_NAME;
    kind = kind_between(kind == TL_COLL_UNKNOWN ? call->collective : kind, args, rank);
    bool batched = kind == TL_COLL_UNKNOWN;
    if (batched) {
        kind = kind_of_batch(k, launch, by_name, call);
        *args = merge(own, call->args);
        from = own == NULL && call->args != NULL ? TL_COLL_FROM_OPERATOR : from;
        if (from == TL_COLL_FROM_NAME && (call->ends.sends || call->ends.receives))
            from = TL_COLL_FROM_ANNOTATION;
        batched = kind == TL_SEND_RECV || kind == TL_COLL_UNKNOWN;
    }
    if (kind == TL_SEND && args->dst_rank >= 0 && args->dst_rank <= INT32_MAX)
        call->ends.dst = (int32_t)args->dst_rank;
    if (kind == TL_RECV && args->src_rank >= 0 && args->src_rank <= INT32_MAX)
        call->ends.src = (int32_t)args->src_rank;

    tl_text dtype = tl_names_text(names, args->dtype);
    bool own_size = own != NULL && (own->in_nelems >= 0 || own->out_nelems >= 0);
    bool any_size = args->in_nelems >= 0 || args->out_nelems >= 0;
    return (tl_coll){
        .seq = args->seq,
        .in_nelems = args->in_nelems,
        .out_nelems = args->out_nelems,
        .bytes = tl_message_bytes(kind, args->in_nelems, args->out_nelems, tl_dtype_bytes(dtype)),
        .dtype_bytes = (int8_t)tl_dtype_bytes(dtype),
        .dtype = args->dtype != TL_NO_NAME ? tl_hash_bytes(dtype.p, dtype.n) : 0,
        .src = -1,
        .dst = -1,
        .group = TL_NONE,
        .kind = (uint8_t)kind,
        .from = (uint8_t)from,
        .size_from = own_size   ? TL_SIZE_FROM_KERNEL
                     : any_size ? TL_SIZE_FROM_OPERATOR
                                : TL_SIZE_UNKNOWN,
        .p2p = kind == TL_SEND || kind == TL_RECV ||
               (batched && (call->coalesced || call->ends.sends || call->ends.receives)),
    };
}

void tl_colls_collect(const tl_meta *meta, tl_comm *k, tl_kernel *kernels, tl_linked *out)
{
    tl_group_book book = { .meta = meta, .names = &k->e->names, .arena = &out->rest };
    tl_rank_view *view = &out->view;
    size_t most = 0;

    for (size_t i = 0; i < view->nkernels; i++)
        most += kernels[i].kind == TL_COMM;
    tl_coll *colls = tl_arena_zeroed(&out->rest, most, sizeof *colls);
    tl_comm_ends *ends = tl_calloc(most + 1, sizeof *ends);
    tl_comm_size *sizes = tl_calloc(most + 1, sizeof *sizes);
    tl_comm_note_launches(k, view);
    for (size_t i = 0; i < view->nkernels; i++) {
        tl_kernel *kernel = &kernels[i];
        if (kernel->kind != TL_COMM)
            continue;
        const tl_launch *launch = kernel->launch != TL_NONE ? &view->launches[kernel->launch] : NULL;
        tl_comm_call call = tl_comm_launched(k, launch);
        tl_coll_args args;
        tl_coll *c = &colls[view->ncolls];
        *c = describe_kernel(k, view->rank, launch, kernel->coll != TL_NONE ? &k->e->colls.v[kernel->coll] : NULL,
                             (tl_collective)kernel->collective, &call, &args);
        c->group = tl_group_find(&book, &(tl_group_words){ args.pg_name, args.pg_desc, args.pg_ranks, args.group_size,
                                                           args.rank_start, args.rank_stride });
        c->group_size = c->group == TL_NONE && args.group_size > 0 ? tl_small_int(args.group_size) : -1;
        ends[view->ncolls] = call.ends;
        tl_comm_size *size = &sizes[view->ncolls];
        *size = (tl_comm_size){ .event = TL_NONE };
        if (c->in_nelems < 0 && c->out_nelems < 0)
            *size = size_around(k, launch, (tl_collective)c->kind);
        if (size->event != TL_NONE)
            fill_size(c, size, c->group != TL_NONE ? book.groups.v[c->group].size : -1);
        kernel->collective = c->kind;
        kernel->coll = (uint32_t)view->ncolls++;
    }
    drop_shared_sizes(colls, sizes, view->ncolls);
    tl_peers_find(&book, view->rank, colls, ends, view->ncolls);
    free(sizes);
    free(ends);
    view->colls = colls;
    view->groups = tl_arena_move(&out->rest, book.groups.v, book.groups.n, sizeof *book.groups.v);
    view->ngroups = book.groups.n;
    tl_group_book_free(&book);
}
