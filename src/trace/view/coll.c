/* coll.c - which collective each communication kernel is, from all that the trace says of it.
 *
 * The kernel's own arguments are asked first, then the operator around its launch, fact by fact: a new trace has most
 * on the kernel, and start and stride of the group on the operator alone.  Then the annotation, which names the
 * collective, and last the kernel's name.
 *
 * Sends and receives that are launched together have none of their own around the launch: they stand before it.
 */
#include "coll.h"
#include "group.h"
#include "peer.h"
#include "tlmpi/base/hash.h"
#include "tlmpi/base/mem.h"
#include "tlmpi/base/sort.h"
#include "tlmpi/base/stats.h"
#include "tlmpi/trace/view.h"
#include <stdlib.h>

/* ----------------------------------------------------------------------------------------------------------- sizes
 *
 * How large a message is, by the shapes of the tensors that operators around its launch were given.
 *
 *     c10d::_allgather_base_     [==============]     out and in
 *     nccl:_all_gather_base         [========]        in
 *     launch                           [==]
 *
 * Of an all-to-all of lists PyTorch gives the annotation the first tensor alone: there it tells the type, and no more.
 * An operator that launched several pieces of communication tells of none of them how large it is.
 */

/* What shapes say of a message.  -1 and 0 where they do not. */
typedef struct tl_comm_size {
    int64_t in_nelems, out_nelems;
    uint32_t event; /* of the operator that says it, the outermost of several; TL_NONE */
    uint8_t dtype;  /* tl_dtype */
    uint8_t from;   /* tl_size_from */
} tl_comm_size;

/* Whether all that is sent is received, by each. */
static bool is_one_message(tl_collective kind)
{
    return kind == TL_ALL_REDUCE || kind == TL_BROADCAST || kind == TL_REDUCE || kind == TL_SEND || kind == TL_RECV;
}

/* Whether the size follows from what is known. */
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

/* Sizes of a collective from the operators around its launch (NULL: none is recorded) that name this kind of
 * collective, or none: the innermost operator first, fact by fact, until all are known. */
static tl_comm_size comm_size_of(const tl_comm_evidence *k, const tl_launch *launch, tl_collective kind)
{
    tl_comm_size size = { .in_nelems = -1, .out_nelems = -1, .event = TL_NONE };
    const tl_events *e = &k->trace->events;

    if (launch == NULL || e->shapes.n == 0 || kind == TL_GATHER || kind == TL_SCATTER)
        return size;
    for (uint32_t i = tl_comm_around(k, launch); i != TL_NONE && !is_known(&size, kind); i = k->ops[i].around) {
        const tl_comm_op *op = &k->ops[i];
        const tl_shape_args *shape = op->end_ns > launch->start_ns ? tl_events_shape(e, op->event) : NULL;
        if (shape != NULL && (op->collective == kind || (op->collective == TL_COLL_UNKNOWN && !shape->annotation)))
            add_shape(&size, shape, kind);
    }
    return size;
}

/* Fills in elements, type and bytes.  Of an all-gather each rank of the group, below 1 where that is not known, gives as
 * much as this one. */
static void put_size(tl_coll *c, const tl_comm_size *size, int64_t group_size)
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
    c->bytes = tl_message_bytes((tl_collective)c->kind, size->in_nelems, out, tl_dtype_bytes(dtype));
    c->size_from = c->bytes >= 0 ? size->from : TL_SIZE_UNKNOWN;
}

static int by_event(const void *sizes, uint32_t a, uint32_t b)
{
    const tl_comm_size *v = sizes;
    return v[a].event != v[b].event ? TL_COMPARE(v[a].event, v[b].event) : TL_COMPARE(a, b);
}

/* Drops the sizes that one operator tells of several collectives: they are of all together. */
static void part_sizes(tl_coll *colls, const tl_comm_size *sizes, size_t n)
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

/* -------------------------------------------------------------------------------------------------- collectives */

static const tl_coll_args no_args = {
    .name = TL_NO_NAME,
    .dtype = TL_NO_NAME,
    .pg_name = TL_NO_NAME,
    .pg_desc = TL_NO_NAME,
    .pg_ranks = TL_NO_NAME,
    .in_split = TL_NO_NAME,
    .out_split = TL_NO_NAME,
    .in_nelems = -1,
    .out_nelems = -1,
    .group_size = -1,
    .seq = -1,
    .src_rank = -1,
    .dst_rank = -1,
    .rank_start = -1,
    .rank_stride = -1,
};

static uint32_t text_of(uint32_t first, uint32_t second)
{
    return first != TL_NO_NAME ? first : second;
}

static int64_t number_of(int64_t first, int64_t second)
{
    return first >= 0 ? first : second;
}

/* What either says; the first counts. */
static tl_coll_args merge(const tl_coll_args *a, const tl_coll_args *b)
{
    a = a != NULL ? a : &no_args;
    b = b != NULL ? b : &no_args;
    return (tl_coll_args){
        .name = text_of(a->name, b->name),
        .dtype = text_of(a->dtype, b->dtype),
        .pg_name = text_of(a->pg_name, b->pg_name),
        .pg_desc = text_of(a->pg_desc, b->pg_desc),
        .pg_ranks = text_of(a->pg_ranks, b->pg_ranks),
        .in_nelems = number_of(a->in_nelems, b->in_nelems),
        .out_nelems = number_of(a->out_nelems, b->out_nelems),
        .group_size = number_of(a->group_size, b->group_size),
        .seq = number_of(a->seq, b->seq),
        .src_rank = number_of(a->src_rank, b->src_rank),
        .dst_rank = number_of(a->dst_rank, b->dst_rank),
        .rank_start = number_of(a->rank_start, b->rank_start),
        .rank_stride = number_of(a->rank_stride, b->rank_stride),
    };
}

static tl_collective named(const tl_names *names, const tl_coll_args *args)
{
    return args->name != TL_NO_NAME ? tl_collective_of(tl_names_text(names, args->name)) : TL_COLL_UNKNOWN;
}

static bool is_p2p(tl_collective kind)
{
    return kind == TL_SEND || kind == TL_RECV;
}

/* Arguments of the kernel itself tell of the direction that they name. */
static void add_own_end(const tl_coll_args *args, tl_collective kind, tl_comm_ends *ends)
{
    if (kind == TL_SEND && args->dst_rank >= 0 && args->dst_rank <= INT32_MAX)
        ends->dst = (int32_t)args->dst_rank;
    if (kind == TL_RECV && args->src_rank >= 0 && args->src_rank <= INT32_MAX)
        ends->src = (int32_t)args->src_rank;
}

/* Returns the kind of a collective that no operator around the launch names: that of the batch of sends and receives
 * before the launch; by_name without one. */
static tl_collective batch(const tl_comm_evidence *evidence, const tl_launch *launch, tl_collective by_name,
                           tl_comm_call *call)
{
    if (launch == NULL || (by_name != TL_SEND_RECV && by_name != TL_COLL_UNKNOWN))
        return by_name;
    tl_comm_batched(evidence, launch, call);
    if (call->ends.sends && call->ends.receives)
        return TL_SEND_RECV;
    return call->ends.sends ? TL_SEND : call->ends.receives ? TL_RECV : by_name;
}

/* Returns the kind of a transfer whose arguments name two ranks: a send for the one, a receive for the other. */
static tl_collective between(tl_collective kind, const tl_coll_args *args, int32_t rank)
{
    if ((kind != TL_SEND_RECV && kind != TL_COLL_UNKNOWN) || args->src_rank < 0 || args->dst_rank < 0 ||
        args->src_rank == args->dst_rank)
        return kind;
    return args->src_rank == rank ? TL_SEND : args->dst_rank == rank ? TL_RECV : kind;
}

/* Whether arguments of the kernel or of its operator tell how many elements go in or come out. */
static tl_size_from size_from_of(const tl_coll_args *own, const tl_coll_args *args)
{
    bool by_own = own != NULL && (own->in_nelems >= 0 || own->out_nelems >= 0);
    bool told = args->in_nelems >= 0 || args->out_nelems >= 0;
    return by_own ? TL_SIZE_FROM_KERNEL : told ? TL_SIZE_FROM_OPERATOR : TL_SIZE_UNKNOWN;
}

/* Describes the collective of one kernel; `by_name` is what the kernel's name tells. */
static tl_coll describe(const tl_comm_evidence *evidence, int32_t rank, const tl_launch *launch,
                        const tl_coll_args *own, tl_comm_call *call, tl_collective by_name, tl_coll_args *args)
{
    const tl_names *names = &evidence->trace->events.names;
    *args = merge(own, call->args);
    tl_collective kind = named(names, args);
    tl_coll_from from = own != NULL                           ? TL_COLL_FROM_KERNEL
                        : call->args != NULL                  ? TL_COLL_FROM_OPERATOR
                        : call->collective != TL_COLL_UNKNOWN ? TL_COLL_FROM_ANNOTATION
                                                              : TL_COLL_FROM_NAME;
    if (kind == TL_COLL_UNKNOWN)
        kind = call->collective;
    kind = between(kind, args, rank);
    bool batched = kind == TL_COLL_UNKNOWN;
    if (batched) {
        kind = batch(evidence, launch, by_name, call);
        *args = merge(own, call->args);
        from = own == NULL && call->args != NULL ? TL_COLL_FROM_OPERATOR : from;
        if (from == TL_COLL_FROM_NAME && (call->ends.sends || call->ends.receives))
            from = TL_COLL_FROM_ANNOTATION;
    }
    batched = batched && (kind == TL_SEND_RECV || kind == TL_COLL_UNKNOWN);
    if (is_p2p(kind))
        add_own_end(args, kind, &call->ends);

    tl_text dtype = tl_names_text(names, args->dtype);
    return (tl_coll){
        .seq = args->seq,
        .in_nelems = args->in_nelems,
        .out_nelems = args->out_nelems,
        .bytes = tl_message_bytes(kind, args->in_nelems, args->out_nelems, tl_dtype_bytes(dtype)),
        .dtype = args->dtype != TL_NO_NAME ? tl_hash_bytes(dtype.p, dtype.n) : 0,
        .src = -1,
        .dst = -1,
        .group = TL_NONE,
        .kind = (uint8_t)kind,
        .from = (uint8_t)from,
        .size_from = (uint8_t)size_from_of(own, args),
        .p2p = is_p2p(kind) || (batched && (call->coalesced || call->ends.sends || call->ends.receives)),
    };
}

/* The size where no arguments tell it. */
static tl_comm_size find_size(const tl_comm_evidence *evidence, const tl_launch *launch, const tl_group_book *book,
                              tl_coll *c)
{
    tl_comm_size size = { .in_nelems = -1, .out_nelems = -1, .event = TL_NONE };

    if (c->in_nelems >= 0 || c->out_nelems >= 0)
        return size;
    size = comm_size_of(evidence, launch, (tl_collective)c->kind);
    if (size.event != TL_NONE)
        put_size(c, &size, c->group != TL_NONE ? book->groups.v[c->group].size : -1);
    return size;
}

bool tl_colls_collect(tl_comm_evidence *evidence, tl_linked *out)
{
    const tl_trace *trace = evidence->trace;
    tl_group_book book = { .meta = &trace->meta, .names = &trace->events.names };
    tl_comm_ends *ends = NULL;
    tl_comm_size *sizes = NULL;
    bool no_memory = false;
    size_t n = 0;

    for (size_t i = 0; i < out->view.nkernels; i++)
        n += out->kernels[i].kind == TL_COMM;
    out->colls = tl_calloc(n + 1, sizeof *out->colls);
    ends = tl_calloc(n + 1, sizeof *ends);
    sizes = tl_calloc(n + 1, sizeof *sizes);
    tl_comm_moments(evidence, &out->view);
    for (size_t i = 0; i < out->view.nkernels && !no_memory; i++) {
        tl_kernel *k = &out->kernels[i];
        if (k->kind != TL_COMM)
            continue;
        const tl_coll_args *own = k->coll != TL_NONE ? &trace->events.colls.v[k->coll] : NULL;
        const tl_launch *launch = k->launch != TL_NONE ? &out->launches[k->launch] : NULL;
        tl_comm_call call = launch != NULL ? tl_comm_launched(evidence, launch) : tl_comm_not_launched;
        tl_coll_args args;
        tl_coll *c = &out->colls[out->view.ncolls];
        *c = describe(evidence, out->view.rank, launch, own, &call, (tl_collective)k->collective, &args);
        ends[out->view.ncolls] = call.ends;
        const tl_group_words words = { args.pg_name,    args.pg_desc,    args.pg_ranks,
                                       args.group_size, args.rank_start, args.rank_stride };
        c->group = tl_group_find(&book, &words, &no_memory);
        c->group_size =
            c->group == TL_NONE && args.group_size > 0 && args.group_size <= INT32_MAX ? (int32_t)args.group_size : -1;
        sizes[out->view.ncolls] = find_size(evidence, launch, &book, c);
        k->collective = c->kind;
        k->coll = (uint32_t)out->view.ncolls++;
    }
    if (!no_memory)
        part_sizes(out->colls, sizes, out->view.ncolls);
    free(sizes);
    tl_peers_find(&book, out->view.rank, out->colls, ends, out->view.ncolls, &no_memory);
    free(ends);
    out->groups = book.groups.v;
    out->view.ngroups = book.groups.n;
    book.groups.v = NULL;
    book.groups.n = 0;
    tl_group_book_free(&book);
    out->view.colls = out->colls;
    out->view.groups = out->groups;
    return !no_memory;
}
