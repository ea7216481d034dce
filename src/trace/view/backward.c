/* backward.c - which operator of the backward pass belongs to which of the forward pass.
 *
 *     thread 1   [aten::addmm ]...............          an arrow of category fwdbwd: it begins as the one operator does,
 *                |--------------------->|               and ends as the other begins
 *     thread 2   .......................[AddmmBackward0]
 *
 * Of operators that begin at one instant it is the innermost.
 */
#include "backward.h"
#include "part.h"
#include "tlmpi/base/sort.h"
#include <stdlib.h>

bool tl_flows_collect(const tl_events *e, int64_t base_ns, tl_flows *flows)
{
    const unsigned ends = TL_EVENT_PH_START | TL_EVENT_PH_END;

    if (!tl_events_have(e, TL_CAT_FWDBWD))
        return true;
    for (size_t i = 0; i < e->n; i++) {
        unsigned flags = e->flags[i];
        if (tl_event_cat(e, i) != TL_CAT_FWDBWD || !(flags & ends) || !(flags & TL_EVENT_HAS_TS) ||
            !(flags & TL_EVENT_HAS_CORR))
            continue;
        if (!tl_vec_room(flows))
            return false;
        flows->v[flows->n++] = (tl_flow){ e->corr[i], tl_since_base(e->ts_ns[i], base_ns), e->track[i], e->uid[i],
                                          (flags & TL_EVENT_PH_END) != 0 };
    }
    return true;
}

/* More that begin at one instant are not looked at: only a trace made for it has so many. */
enum { MOST_AT_ONCE = 256 };

/* The innermost operator of the thread that begins just then; TL_NONE. */
static uint32_t op_at(const tl_ops *ops, uint32_t track, int64_t at_ns)
{
    size_t t = 0, low;
    TL_BISECT(t, ops->nthreads, mid, ops->threads[mid].track < track);
    if (t == ops->nthreads || ops->threads[t].track != track)
        return TL_NONE;
    size_t first = ops->threads[t].first;
    low = first;
    TL_BISECT(low, first + ops->threads[t].n, mid, ops->start_ns[mid] <= at_ns);
    for (size_t n = 0; n < MOST_AT_ONCE && low > first && ops->start_ns[low - 1] == at_ns; n++)
        if (ops->kind[--low] == TL_OP)
            return (uint32_t)low;
    return TL_NONE;
}

static int by_id(const void *a, const void *b)
{
    const tl_flow *x = a, *y = b;
    if (x->id != y->id)
        return TL_COMPARE(x->id, y->id);
    return x->to != y->to ? TL_COMPARE(x->to, y->to) : TL_COMPARE(x->uid, y->uid);
}

static int by_op(const void *a, const void *b)
{
    const tl_backward *x = a, *y = b;
    return x->op != y->op ? TL_COMPARE(x->op, y->op) : TL_COMPARE(x->forward, y->forward);
}

bool tl_backwards_find(tl_flows *flows, tl_linked *out)
{
    const tl_ops *ops = &out->view.ops;
    TL_VEC(tl_backward) found = { 0 };
    uint32_t forward = TL_NONE;
    bool ok = true;

    if (flows->n == 0)
        return true;
    qsort(flows->v, flows->n, sizeof *flows->v, by_id);
    for (size_t i = 0; ok && i < flows->n; i++) {
        const tl_flow *f = &flows->v[i];
        bool first = i == 0 || flows->v[i - 1].id != f->id;
        if (first) /* of several beginnings of one id the first counts */
            forward = f->to ? TL_NONE : op_at(ops, f->track, f->at_ns);
        if (!f->to || forward == TL_NONE)
            continue;
        uint32_t op = op_at(ops, f->track, f->at_ns);
        if (op == TL_NONE || op == forward)
            continue;
        ok = tl_vec_room(&found);
        if (ok)
            found.v[found.n++] = (tl_backward){ op, forward };
    }
    if (found.n > 1)
        qsort(found.v, found.n, sizeof *found.v, by_op);
    out->host.backwards = found.v;
    out->view.backwards = found.v;
    out->view.nbackwards = found.n;
    return ok;
}
