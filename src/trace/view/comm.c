/* comm.c - what operators say about the communication that they queue.
 *
 *     c10d::allreduce_     [==============================]
 *     record_param_comms      [========================]       its args: group, elements, dtype
 *     nccl:all_reduce            [=================]           its name: the collective
 *     launch                          [==]
 */
#include "comm.h"
#include "tlmpi/base/decimal.h"
#include "tlmpi/base/sort.h"
#include "tlmpi/base/stats.h"
#include "tlmpi/trace/view.h"
#include <stdlib.h>
#include <string.h>

static int by_track(const void *a, const void *b)
{
    const tl_comm_op *x = a, *y = b;
    if (x->track != y->track)
        return TL_COMPARE(x->track, y->track);
    if (x->start_ns != y->start_ns)
        return TL_COMPARE(x->start_ns, y->start_ns);
    if (x->end_ns != y->end_ns)
        return TL_COMPARE(y->end_ns, x->end_ns);
    return TL_COMPARE(x->event, y->event);
}

static bool is_comm_op(tl_text name)
{
    return tl_text_is(name, "record_param_comms") || tl_text_starts(name, "c10d::") || tl_text_starts(name, "nccl:") ||
           tl_text_starts(name, "_c10d_functional::");
}

/* What a name alone says of its operators. */
typedef struct said {
    bool comm, coalesced;
    uint8_t collective;
    int32_t own, other;
} said;

/* A number of up to nine digits at the start of the text, and what follows it; -1 where there is none. */
static int32_t number_at(tl_text *t)
{
    size_t n = 0;
    int64_t number = -1;

    while (n < t->n && n < 9 && t->p[n] >= '0' && t->p[n] <= '9')
        n++;
    if (n == 0 || (n < t->n && t->p[n] >= '0' && t->p[n] <= '9') || !tl_decimal_to_int(t->p, n, &number))
        return -1;
    t->p += n;
    t->n -= n;
    return (int32_t)number;
}

/* "nccl:send 7->15", "nccl:recv 7<-15" */
static void read_ends(tl_text name, said *out)
{
    bool sends = tl_text_starts(name, "nccl:send "), receives = tl_text_starts(name, "nccl:recv ");

    out->own = out->other = -1;
    if (!sends && !receives)
        return;
    tl_text rest = { name.p + strlen("nccl:send "), name.n - strlen("nccl:send ") };
    int32_t own = number_at(&rest);
    if (own < 0 || !tl_text_starts(rest, sends ? "->" : "<-"))
        return;
    rest.p += 2;
    rest.n -= 2;
    out->other = number_at(&rest);
    out->own = out->other >= 0 ? own : -1;
}

/* A trace has few names and many events.  *any: one of them is that of a communication operator. */
static said *judge_names(const tl_names *names, bool *any)
{
    said *v = tl_calloc(names->n + 1, sizeof *v);
    *any = false;
    for (uint32_t i = 0; i < names->n; i++) {
        tl_text name = tl_names_text(names, i);
        v[i].comm = is_comm_op(name);
        if (!v[i].comm)
            continue;
        *any = true;
        v[i].coalesced = tl_text_is(name, "nccl:coalesced");
        v[i].collective = (uint8_t)tl_collective_of(name);
        read_ends(name, &v[i]);
    }
    return v;
}

static void collect(tl_comm_evidence *k)
{
    const tl_events *e = &k->trace->events;
    const uint32_t host = TL_CAT_BIT(TL_CAT_USER_ANNOTATION) | TL_CAT_BIT(TL_CAT_CPU_OP);
    bool any;
    said *of_name = judge_names(&e->names, &any);

    for (size_t i = 0; any && i < e->n; i++) {
        if (!(TL_CAT_BIT(tl_event_cat(e, i)) & host) || e->name[i] == TL_NO_NAME || !of_name[e->name[i]].comm ||
            !(e->flags[i] & TL_EVENT_HAS_TS))
            continue;
        tl_grow((void **)&k->ops, &k->cap, k->n + 1, sizeof *k->ops);
        const said *name = &of_name[e->name[i]];
        int64_t start = tl_ns_sum(e->ts_ns[i], k->base_ns);
        k->ops[k->n++] = (tl_comm_op){ .start_ns = start,
                                       .end_ns = tl_ns_sum(start, e->dur_ns[i]),
                                       .track = e->track[i],
                                       .event = (uint32_t)i,
                                       .around = TL_NONE,
                                       .collective = name->collective,
                                       .coalesced = name->coalesced,
                                       .own = name->own,
                                       .other = name->other };
    }
    free(of_name);
}

/* Each operator's `around`: the last one on its track that began before it and was still open. */
static void nest(tl_comm_evidence *k)
{
    for (uint32_t i = 1; i < k->n; i++) {
        uint32_t open = k->ops[i - 1].track == k->ops[i].track ? i - 1 : TL_NONE;
        while (open != TL_NONE && k->ops[open].end_ns <= k->ops[i].start_ns)
            open = k->ops[open].around;
        k->ops[i].around = open;
    }
}

/* Operators that are looked at around one launch: real ones nest three or four deep. */
enum { DEEPEST = 32 };

/* The first operator that starts after the call, in its track or after it. */
static size_t first_after(const tl_comm_evidence *k, const tl_launch *launch)
{
    const tl_comm_op *op = k->ops;
    uint32_t track = launch->track;
    size_t low = 0;
    TL_BISECT(low, k->n, i, op[i].track < track || (op[i].track == track && op[i].start_ns <= launch->start_ns));
    return low;
}

static int32_t rank_of(int64_t x)
{
    return x >= 0 && x <= INT32_MAX ? (int32_t)x : -1;
}

/* Writes one end down; *several where another was there. */
static void put(int32_t *end, int32_t to, bool *several)
{
    if (to < 0)
        return;
    *several = *several || (*end >= 0 && *end != to);
    *end = to;
}

/* Adds the peer and group that an operator names to *ends.  Returns false for an operator that is no send or receive,
 * or names no peer. */
static bool add_ends(const tl_comm_evidence *k, const tl_comm_op *op, tl_comm_ends *ends)
{
    const tl_coll_args *args = tl_events_coll(&k->trace->events, op->event);
    tl_collective kind = (tl_collective)op->collective;

    if (args != NULL && args->name != TL_NO_NAME)
        kind = tl_collective_of(tl_names_text(&k->trace->events.names, args->name));
    if ((kind != TL_SEND && kind != TL_RECV) || (args == NULL && op->other < 0))
        return false;
    bool sends = kind == TL_SEND;
    ends->sends = ends->sends || sends;
    ends->receives = ends->receives || !sends;
    put(sends ? &ends->to : &ends->from, op->other, &ends->several);
    put(&ends->own, op->own, &ends->several);
    if (args != NULL)
        put(sends ? &ends->dst : &ends->src, rank_of(sends ? args->dst_rank : args->src_rank), &ends->several);
    return true;
}

const tl_comm_call tl_comm_not_launched = { .collective = TL_COLL_UNKNOWN,
                                            .ends = { .src = -1, .dst = -1, .own = -1, .from = -1, .to = -1 } };

void tl_comm_collect(tl_comm_evidence *k)
{
    collect(k);
    if (k->n > 0)
        qsort(k->ops, k->n, sizeof *k->ops, by_track);
    nest(k);
}

uint32_t tl_comm_around(const tl_comm_evidence *k, const tl_launch *launch)
{
    size_t at = first_after(k, launch);
    return at > 0 && k->ops[at - 1].track == launch->track ? (uint32_t)at - 1 : TL_NONE;
}

tl_comm_call tl_comm_launched(const tl_comm_evidence *k, const tl_launch *launch)
{
    tl_comm_call call = tl_comm_not_launched;
    uint32_t i = tl_comm_around(k, launch);
    for (int depth = 0; i != TL_NONE && depth < DEEPEST; i = k->ops[i].around, depth++) {
        const tl_comm_op *op = &k->ops[i];
        if (op->end_ns <= launch->start_ns)
            continue;
        call.in_operator = true;
        if (call.collective == TL_COLL_UNKNOWN)
            call.collective = (tl_collective)op->collective;
        if (call.args == NULL)
            call.args = tl_events_coll(&k->trace->events, op->event);
        call.coalesced = call.coalesced || op->coalesced;
        add_ends(k, op, &call.ends);
    }
    return call;
}

/* --------------------------------------------------------------------------------------------------------- batches */

static int by_moment(const void *a, const void *b)
{
    const struct tl_comm_moment *x = a, *y = b;
    if (x->track != y->track)
        return TL_COMPARE(x->track, y->track);
    return TL_COMPARE(x->start_ns, y->start_ns);
}

void tl_comm_moments(tl_comm_evidence *k, const tl_rank_view *view)
{
    size_t n = 0;
    for (size_t i = 0; i < view->nkernels; i++)
        n += view->kernels[i].kind == TL_COMM;
    k->moments = tl_malloc((n + 1) * sizeof *k->moments);
    for (size_t i = 0; i < view->nkernels; i++) {
        const tl_kernel *kernel = &view->kernels[i];
        if (kernel->kind == TL_COMM && kernel->launch != TL_NONE)
            k->moments[k->nmoments++] = (struct tl_comm_moment){ view->launches[kernel->launch].start_ns,
                                                                 view->launches[kernel->launch].track };
    }
    if (k->nmoments > 1)
        qsort(k->moments, k->nmoments, sizeof *k->moments, by_moment);
}

/* The start of the launch of communication before this one on its thread; INT64_MIN where there is none. */
static int64_t moment_before(const tl_comm_evidence *k, const tl_launch *launch)
{
    const struct tl_comm_moment *m = k->moments;
    uint32_t track = launch->track;
    size_t low = 0;
    TL_BISECT(low, k->nmoments, i, m[i].track < track || (m[i].track == track && m[i].start_ns < launch->start_ns));
    return low > 0 && m[low - 1].track == track ? m[low - 1].start_ns : INT64_MIN;
}

/* Operators of one batch that are looked at: of each send or receive three or four, one inside the other. */
enum { BATCH_MOST = 256 };

void tl_comm_batched(const tl_comm_evidence *k, const tl_launch *launch, tl_comm_call *call)
{
    int64_t from_ns = moment_before(k, launch);
    size_t at = first_after(k, launch);

    for (int n = 0; at-- > 0 && n < BATCH_MOST; n++) {
        const tl_comm_op *op = &k->ops[at];
        if (op->track != launch->track || op->start_ns <= from_ns)
            break;
        if (op->end_ns > launch->start_ns || !add_ends(k, op, &call->ends))
            continue;
        const tl_coll_args *args = tl_events_coll(&k->trace->events, op->event);
        call->args = args != NULL ? args : call->args;
    }
}

void tl_comm_evidence_free(tl_comm_evidence *k)
{
    free(k->ops);
    free(k->moments);
    k->ops = NULL;
    k->moments = NULL;
}
