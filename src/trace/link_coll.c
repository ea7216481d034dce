/* link_coll.c - see link_coll.h.
 *
 * The kernel's own arguments are asked first, then the operator around its launch, fact by fact: a new trace has most
 * on the kernel, and start and stride of the group on the operator alone.  Then the annotation, which names the
 * collective, and last the kernel's name.
 */
#include "link_coll.h"
#include "link_group.h"
#include "tlmpi/base/hash.h"
#include "tlmpi/base/mem.h"
#include "tlmpi/trace/classify.h"

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

static int32_t rank_of(int64_t x)
{
    return x >= 0 && x <= INT32_MAX ? (int32_t)x : -1;
}

static tl_collective named(const tl_names *names, const tl_coll_args *args)
{
    return args->name != TL_NO_NAME ? tl_collective_of(tl_names_text(names, args->name)) : TL_COLL_UNKNOWN;
}

/* One kernel; `by_name` is what its name says of the collective. */
static tl_coll describe(const tl_names *names, const tl_coll_args *own, const tl_comm_call *call, tl_collective by_name,
                        tl_coll_args *args)
{
    *args = merge(own, call->args);
    tl_collective kind = named(names, args);
    tl_coll_from from = own != NULL                           ? TL_COLL_FROM_KERNEL
                        : call->args != NULL                  ? TL_COLL_FROM_OPERATOR
                        : call->collective != TL_COLL_UNKNOWN ? TL_COLL_FROM_ANNOTATION
                                                              : TL_COLL_FROM_NAME;
    if (kind == TL_COLL_UNKNOWN)
        kind = call->collective != TL_COLL_UNKNOWN ? call->collective : by_name;

    tl_text dtype = tl_names_text(names, args->dtype);
    return (tl_coll){
        .seq = args->seq,
        .in_nelems = args->in_nelems,
        .out_nelems = args->out_nelems,
        .bytes = tl_message_bytes(kind, args->in_nelems, args->out_nelems, tl_dtype_bytes(dtype)),
        .dtype = args->dtype != TL_NO_NAME ? tl_hash_bytes(dtype.p, dtype.n) : 0,
        .src = kind == TL_RECV ? rank_of(args->src_rank) : -1,
        .dst = kind == TL_SEND ? rank_of(args->dst_rank) : -1,
        .group = TL_NONE,
        .kind = (uint8_t)kind,
        .from = (uint8_t)from,
    };
}

bool tl_colls_collect(tl_comm_evidence *evidence, const uint32_t *events, tl_linked *out)
{
    const tl_trace *trace = evidence->trace;
    tl_group_book book = { .meta = &trace->meta, .names = &trace->events.names };
    bool no_memory = false;
    size_t n = 0;

    for (size_t i = 0; i < out->view.nkernels; i++) {
        out->kernels[i].coll = TL_NONE;
        n += out->kernels[i].kind == TL_COMM;
    }
    out->colls = tl_calloc(n + 1, sizeof *out->colls);
    if (out->colls == NULL)
        return false;
    for (size_t i = 0; i < out->view.nkernels && !no_memory; i++) {
        tl_kernel *k = &out->kernels[i];
        if (k->kind != TL_COMM)
            continue;
        tl_comm_call call = { .collective = TL_COLL_UNKNOWN };
        if (k->launch != TL_NONE)
            call = tl_comm_launched(evidence, &out->launches[k->launch]);
        tl_coll_args args;
        tl_coll *c = &out->colls[out->view.ncolls];
        *c =
            describe(book.names, tl_events_coll(&trace->events, events[i]), &call, (tl_collective)k->collective, &args);
        const tl_group_words words = { args.pg_name,    args.pg_desc,    args.pg_ranks,
                                       args.group_size, args.rank_start, args.rank_stride };
        c->group = tl_group_find(&book, &words, &no_memory);
        k->collective = c->kind;
        k->coll = (uint32_t)out->view.ncolls++;
    }
    out->groups = book.groups.v;
    out->view.ngroups = book.groups.n;
    book.groups.v = NULL;
    book.groups.n = 0;
    tl_group_book_free(&book);
    out->view.colls = out->colls;
    out->view.groups = out->groups;
    return !no_memory && !evidence->no_memory;
}
