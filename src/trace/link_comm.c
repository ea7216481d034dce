/* link_comm.c - see link_comm.h. */
#include "link_comm.h"
#include "tlmpi/trace/classify.h"
#include <stdlib.h>

static int by_track(const void *a, const void *b)
{
    const tl_comm_op *x = a, *y = b;
    if (x->track != y->track)
        return x->track < y->track ? -1 : 1;
    return x->start_ns < y->start_ns ? -1 : x->start_ns > y->start_ns;
}

static bool is_comm_op(tl_text name)
{
    return tl_text_is(name, "record_param_comms") || tl_text_starts(name, "c10d::") || tl_text_starts(name, "nccl:") ||
           tl_text_starts(name, "_c10d_functional::");
}

static bool make(tl_comm_evidence *k)
{
    const tl_events *e = &k->trace->events;
    const uint32_t host = TL_CAT_BIT(TL_CAT_USER_ANNOTATION) | TL_CAT_BIT(TL_CAT_CPU_OP);
    size_t kept = 0;

    for (size_t i = 0; i < e->n; i++) {
        tl_text name = tl_names_text(&e->names, e->name[i]);
        if (!(TL_CAT_BIT(tl_event_cat(e, i)) & host) || !is_comm_op(name))
            continue;
        if (!tl_grow((void **)&k->ops, &k->cap, k->n + 1, sizeof *k->ops))
            return false;
        int64_t start = e->ts_ns[i] + k->base_ns;
        k->ops[k->n++] = (tl_comm_op){ e->track[i], (uint8_t)tl_collective_of(name), start, start + e->dur_ns[i] };
    }
    if (k->n == 0)
        return true;
    qsort(k->ops, k->n, sizeof *k->ops, by_track);
    for (size_t i = 1; i < k->n; i++) {
        tl_comm_op *last = &k->ops[kept], *op = &k->ops[i];
        if (op->track != last->track || op->start_ns >= last->end_ns) {
            k->ops[++kept] = *op;
            continue;
        }
        if (op->end_ns > last->end_ns)
            last->end_ns = op->end_ns;
        if (last->collective == TL_COLL_UNKNOWN)
            last->collective = op->collective;
    }
    k->n = kept + 1;
    return true;
}

tl_collective tl_comm_launched(tl_comm_evidence *k, const tl_launch *launch)
{
    if (!k->made) {
        k->no_memory = !make(k);
        k->made = true;
    }
    size_t low = 0, high = k->n;
    while (low < high) {                /* the first operator that starts after the call, in its track or behind it */
        size_t mid = low + (high - low) / 2;
        const tl_comm_op *op = &k->ops[mid];
        if (op->track < launch->track || (op->track == launch->track && op->start_ns <= launch->start_ns))
            low = mid + 1;
        else
            high = mid;
    }
    const tl_comm_op *op = low > 0 ? &k->ops[low - 1] : NULL;
    return op != NULL && op->track == launch->track && launch->start_ns < op->end_ns ? (tl_collective)op->collective
                                                                                     : TL_COLL_NONE;
}

void tl_comm_evidence_free(tl_comm_evidence *k)
{
    free(k->ops);
    k->ops = NULL;
}
