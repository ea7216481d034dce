/* comm.c - what operators say about the communication that they launch.
 *
 *     c10d::allreduce_     [==============================]
 *     record_param_comms      [========================]       its args: group, elements, dtype
 *     nccl:all_reduce            [=================]           its name: the collective
 *     launch                          [==]
 */
#include "internal.h"
#include "tlmpi/base/decimal.h"

/* Largest number of operators that are searched around one launch (real ones nest three or four deep), and in one batch
 * (three or four for each send or receive, nested). */
enum { DEEPEST = 32, BATCH_MOST = 256 };

/* -------------------------------------------------------------------------------------------------------- operators */

TL_SORT_BY(by_track, tl_comm_op, track, start_ns, DOWN(end_ns), event)
TL_SORT_BY(by_moment, struct tl_comm_moment, track, start_ns)

/* Fills the two ranks of "nccl:send 7->15", "nccl:recv 7<-15". */
static void read_ends(tl_text name, tl_comm_op *op)
{
    const size_t verb = strlen("nccl:send ");
    bool sends = tl_text_starts(name, "nccl:send ");

    if (!sends && !tl_text_starts(name, "nccl:recv "))
        return;
    tl_text rest = { name.p + verb, name.n - verb };
    int32_t own = tl_decimal_take(&rest);
    if (own < 0 || !tl_text_starts(rest, sends ? "->" : "<-"))
        return;
    rest = (tl_text){ rest.p + 2, rest.n - 2 };
    op->other = tl_decimal_take(&rest);
    op->own = op->other >= 0 ? own : -1;
}

/* Returns what a name says of its operators; track TL_NONE: they are not communication. */
static tl_comm_op op_of_name(tl_text name)
{
    tl_comm_op op = { .track = TL_NONE, .around = TL_NONE, .own = -1, .other = -1 };

    if (!tl_text_is(name, "record_param_comms") && !tl_text_starts(name, "c10d::") && !tl_text_starts(name, "nccl:") &&
        !tl_text_starts(name, "_c10d_functional::"))
        return op;
    op.track = 0;
    op.coalesced = tl_text_is(name, "nccl:coalesced");
    op.collective = (uint8_t)tl_collective_of(name);
    read_ends(name, &op);
    return op;
}

void tl_comm_find(const tl_events *e, tl_comm *k)
{
    const uint32_t host = TL_CAT_BIT(TL_CAT_USER_ANNOTATION) | TL_CAT_BIT(TL_CAT_CPU_OP);
    tl_comm_op *of_name = tl_malloc((e->names.n + 1) * sizeof *of_name); /* by name: there are few names, and many
                                                                          * events */
    bool any = false;

    k->e = e;
    for (uint32_t i = 0; i < e->names.n; i++) {
        of_name[i] = op_of_name(tl_names_text(&e->names, i));
        any |= of_name[i].track != TL_NONE;
    }
    for (size_t i = 0; any && i < e->n; i++) {
        if (!(TL_CAT_BIT(tl_event_cat(e, i)) & host) || e->name[i] == TL_NO_NAME ||
            of_name[e->name[i]].track == TL_NONE || !(e->flags[i] & TL_EVENT_HAS_TS))
            continue;
        tl_vec_room(&k->ops);
        tl_comm_op *op = &k->ops.v[k->ops.n++];
        *op = of_name[e->name[i]];
        op->start_ns = e->ts_ns[i];
        op->end_ns = tl_ns_sum(e->ts_ns[i], tl_event_dur_ns(e, i));
        op->track = tl_event_track(e, i);
        op->event = (uint32_t)i;
    }
    free(of_name);
    if (k->ops.n > 0)
        qsort(k->ops.v, k->ops.n, sizeof *k->ops.v, by_track);
    for (uint32_t i = 1; i < k->ops.n; i++) { /* the last one on its track that began before it and was still open */
        uint32_t open = k->ops.v[i - 1].track == k->ops.v[i].track ? i - 1 : TL_NONE;
        while (open != TL_NONE && k->ops.v[open].end_ns <= k->ops.v[i].start_ns)
            open = k->ops.v[open].around;
        k->ops.v[i].around = open;
    }
}

void tl_comm_free(tl_comm *k)
{
    free(k->ops.v);
    free(k->launches.v);
    *k = (tl_comm){ 0 };
}

/* -------------------------------------------------------------------------------------------------- around a launch */

/* Returns the index of the first operator that starts after the call on its track, or lies on a later track. */
static size_t first_after(const tl_comm *k, const tl_launch *launch)
{
    const tl_comm_op *op = k->ops.v;
    uint32_t track = launch->track;
    size_t low = 0;
    TL_BISECT(low, k->ops.n, i, op[i].track < track || (op[i].track == track && op[i].start_ns <= launch->start_ns));
    return low;
}

/* Sets one end; sets *several if it had another value. */
static void set_end(int32_t *end, int32_t to, bool *several)
{
    if (to < 0)
        return;
    *several = *several || (*end >= 0 && *end != to);
    *end = to;
}

/* Adds the peer and group that an operator names to *ends.  Returns false if the operator is no send or receive, or
 * names no peer. */
static bool add_ends(const tl_comm *k, const tl_comm_op *op, tl_comm_ends *ends)
{
    const tl_coll_args *args = tl_events_coll(k->e, op->event);
    tl_collective kind = (tl_collective)op->collective;

    if (args != NULL && args->name != TL_NO_NAME)
        kind = tl_collective_of(tl_names_text(&k->e->names, args->name));
    if ((kind != TL_SEND && kind != TL_RECV) || (args == NULL && op->other < 0))
        return false;
    bool sends = kind == TL_SEND;
    ends->sends = ends->sends || sends;
    ends->receives = ends->receives || !sends;
    set_end(sends ? &ends->to : &ends->from, op->other, &ends->several);
    set_end(&ends->own, op->own, &ends->several);
    if (args != NULL)
        set_end(sends ? &ends->dst : &ends->src, tl_small_int(sends ? args->dst_rank : args->src_rank), &ends->several);
    return true;
}

uint32_t tl_comm_around(const tl_comm *k, const tl_launch *launch)
{
    size_t at = first_after(k, launch);
    return at > 0 && k->ops.v[at - 1].track == launch->track ? (uint32_t)at - 1 : TL_NONE;
}

tl_comm_call tl_comm_launched(const tl_comm *k, const tl_launch *launch)
{
    tl_comm_call call = { .collective = TL_COLL_UNKNOWN,
                          .ends = { .src = -1, .dst = -1, .own = -1, .from = -1, .to = -1 } };
    uint32_t i = launch != NULL ? tl_comm_around(k, launch) : TL_NONE;

    for (int depth = 0; i != TL_NONE && depth < DEEPEST; i = k->ops.v[i].around, depth++) {
        const tl_comm_op *op = &k->ops.v[i];
        if (op->end_ns <= launch->start_ns)
            continue;
        call.in_operator = true;
        if (call.collective == TL_COLL_UNKNOWN)
            call.collective = (tl_collective)op->collective;
        if (call.args == NULL)
            call.args = tl_events_coll(k->e, op->event);
        call.coalesced = call.coalesced || op->coalesced;
        add_ends(k, op, &call.ends);
    }
    return call;
}

/* ---------------------------------------------------------------------------------------------------------- batches */

void tl_comm_note_launches(tl_comm *k, const tl_rank_view *view)
{
    for (size_t i = 0; i < view->nkernels; i++) {
        const tl_kernel *kernel = &view->kernels[i];
        if (kernel->kind != TL_COMM || kernel->launch == TL_NONE)
            continue;
        const tl_launch *launch = &view->launches[kernel->launch];
        tl_vec_push(&k->launches, (struct tl_comm_moment){ launch->start_ns, launch->track });
    }
    if (k->launches.n > 1)
        qsort(k->launches.v, k->launches.n, sizeof *k->launches.v, by_moment);
}

void tl_comm_batched(const tl_comm *k, const tl_launch *launch, tl_comm_call *call)
{
    const struct tl_comm_moment *v = k->launches.v;
    size_t at = first_after(k, launch), before = 0; /* before: number of launches of communication before this one */
    uint32_t track = launch->track;

    TL_BISECT(before, k->launches.n, i,
              v[i].track < track || (v[i].track == track && v[i].start_ns < launch->start_ns));
    int64_t from_ns = before > 0 && v[before - 1].track == track ? v[before - 1].start_ns : INT64_MIN;
    for (int n = 0; at-- > 0 && n < BATCH_MOST; n++) {
        const tl_comm_op *op = &k->ops.v[at];
        if (op->track != track || op->start_ns <= from_ns)
            break;
        if (op->end_ns > launch->start_ns || !add_ends(k, op, &call->ends))
            continue;
        const tl_coll_args *args = tl_events_coll(k->e, op->event);
        call->args = args != NULL ? args : call->args;
    }
}
