/* link_comm.c - see link_comm.h.
 *
 *     c10d::allreduce_     [==============================]
 *     record_param_comms      [========================]       its args: group, elements, dtype
 *     nccl:all_reduce            [=================]           its name: the collective
 *     launch                          [==]
 */
#include "link_comm.h"
#include "tlmpi/base/stats.h"
#include "tlmpi/trace/classify.h"
#include <stdlib.h>

#define COMPARE(x, y) (((x) > (y)) - ((x) < (y)))

static int by_track(const void *a, const void *b)
{
    const tl_comm_op *x = a, *y = b;
    if (x->track != y->track)
        return COMPARE(x->track, y->track);
    if (x->start_ns != y->start_ns)
        return COMPARE(x->start_ns, y->start_ns);
    if (x->end_ns != y->end_ns)
        return COMPARE(y->end_ns, x->end_ns);
    return COMPARE(x->event, y->event);
}

static bool is_comm_op(tl_text name)
{
    return tl_text_is(name, "record_param_comms") || tl_text_starts(name, "c10d::") || tl_text_starts(name, "nccl:") ||
           tl_text_starts(name, "_c10d_functional::");
}

/* Whether each name is one of a communication operator: a trace has few names and many events. */
static bool *judge_names(const tl_names *names)
{
    bool *comm = tl_calloc(names->n + 1, sizeof *comm);
    for (uint32_t i = 0; comm != NULL && i < names->n; i++)
        comm[i] = is_comm_op(tl_names_text(names, i));
    return comm;
}

static bool collect(tl_comm_evidence *k)
{
    const tl_events *e = &k->trace->events;
    const uint32_t host = TL_CAT_BIT(TL_CAT_USER_ANNOTATION) | TL_CAT_BIT(TL_CAT_CPU_OP);
    bool *comm = judge_names(&e->names), whole = comm != NULL;

    for (size_t i = 0; whole && i < e->n; i++) {
        if (!(TL_CAT_BIT(tl_event_cat(e, i)) & host) || e->name[i] == TL_NO_NAME || !comm[e->name[i]] ||
            !(e->flags[i] & TL_EVENT_HAS_TS))
            continue;
        whole = tl_grow((void **)&k->ops, &k->cap, k->n + 1, sizeof *k->ops);
        if (!whole)
            break;
        int64_t start = tl_ns_sum(e->ts_ns[i], k->base_ns);
        tl_collective collective = tl_collective_of(tl_names_text(&e->names, e->name[i]));
        k->ops[k->n++] =
            (tl_comm_op){ start, tl_ns_sum(start, e->dur_ns[i]), e->track[i], (uint32_t)i, TL_NONE, (uint8_t)collective };
    }
    free(comm);
    return whole;
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

tl_comm_call tl_comm_launched(tl_comm_evidence *k, const tl_launch *launch)
{
    tl_comm_call call = { .collective = TL_COLL_UNKNOWN };

    if (!k->made) {
        k->no_memory = !collect(k);
        k->made = true;
        if (k->n > 0)
            qsort(k->ops, k->n, sizeof *k->ops, by_track);
        nest(k);
    }
    size_t low = 0, high = k->n;
    while (low < high) { /* the first operator that starts after the call, in its track or behind it */
        size_t mid = low + (high - low) / 2;
        const tl_comm_op *op = &k->ops[mid];
        if (op->track < launch->track || (op->track == launch->track && op->start_ns <= launch->start_ns))
            low = mid + 1;
        else
            high = mid;
    }
    uint32_t i = low > 0 && k->ops[low - 1].track == launch->track ? (uint32_t)low - 1 : TL_NONE;
    for (int depth = 0; i != TL_NONE && depth < DEEPEST; i = k->ops[i].around, depth++) {
        const tl_comm_op *op = &k->ops[i];
        if (op->end_ns <= launch->start_ns)
            continue;
        call.in_operator = true;
        if (call.collective == TL_COLL_UNKNOWN)
            call.collective = (tl_collective)op->collective;
        if (call.args == NULL)
            call.args = tl_events_coll(&k->trace->events, op->event);
    }
    return call;
}

void tl_comm_evidence_free(tl_comm_evidence *k)
{
    free(k->ops);
    k->ops = NULL;
}
