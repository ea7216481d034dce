/* size.c - how large a message is, by the shapes of the tensors that operators around its launch were given.
 *
 *     c10d::_allgather_base_     [==============]     out and in
 *     nccl:_all_gather_base         [========]        in
 *     launch                           [==]
 *
 * Of an all-to-all of lists PyTorch gives the annotation the first tensor alone: there it tells the type, and no more.
 * An operator that launched several pieces of communication tells of none of them how large it is.
 */
#include "size.h"
#include "tlmpi/base/sort.h"
#include "tlmpi/base/stats.h"
#include <stdlib.h>

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

static void add(tl_comm_size *size, const tl_shape_args *shape, tl_collective kind)
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

tl_comm_size tl_comm_size_of(const tl_comm_evidence *k, const tl_launch *launch, tl_collective kind)
{
    tl_comm_size size = { .in_nelems = -1, .out_nelems = -1, .event = TL_NONE };
    const tl_events *e = &k->trace->events;

    if (launch == NULL || e->shapes.n == 0 || kind == TL_GATHER || kind == TL_SCATTER)
        return size;
    for (uint32_t i = tl_comm_around(k, launch); i != TL_NONE && !is_known(&size, kind); i = k->ops[i].around) {
        const tl_comm_op *op = &k->ops[i];
        const tl_shape_args *shape = op->end_ns > launch->start_ns ? tl_events_shape(e, op->event) : NULL;
        if (shape != NULL && (op->collective == kind || (op->collective == TL_COLL_UNKNOWN && !shape->annotation)))
            add(&size, shape, kind);
    }
    return size;
}

void tl_size_put(tl_coll *c, const tl_comm_size *size, int64_t group_size)
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

bool tl_sizes_part(tl_coll *colls, const tl_comm_size *sizes, size_t n)
{
    uint32_t *order = tl_malloc((n + 1) * sizeof *order);
    size_t found = 0;

    for (size_t i = 0; order != NULL && i < n; i++)
        if (sizes[i].event != TL_NONE)
            order[found++] = (uint32_t)i;
    bool ok = order != NULL && tl_sort_index(order, found, by_event, sizes);
    for (size_t i = 0; ok && i < found; i++) {
        uint32_t event = sizes[order[i]].event;
        if ((i == 0 || sizes[order[i - 1]].event != event) && (i + 1 == found || sizes[order[i + 1]].event != event))
            continue;
        tl_coll *c = &colls[order[i]];
        c->in_nelems = c->out_nelems = c->bytes = -1;
        c->size_from = TL_SIZE_UNKNOWN;
    }
    free(order);
    return ok;
}
