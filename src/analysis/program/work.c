/* work.c - the device's work in stretches.
 *
 * A kernel starts when the work before it has ended, a collective that it waits for has ended, and its launch has
 * arrived; what is left between the last of these and its start (g) belongs to it:
 *
 *     host     ....[launch].........                    end of a stretch of kernels =
 *     work     [k1].........g[ k2 ]g[k3]                    max(end before it + all g and durations,
 *                           |<- tail ->|                        launch of one of them + its tail)
 *
 * Of all launches of a stretch the one that leaves least room is kept.  A stretch ends where something else depends on
 * it, where a segment ends, before work that waits for a collective, and before work whose late launch left the device
 * idle for SPLIT_NS: the pauses of a host are kept apart, so that one may go and the others stay.
 *
 * A copy beside the work (beside.c) is in no stretch: what waits for its end has that wait in its own g.
 */
#include "compose.h"
#include "tlmpi/base/stats.h"

#define US           INT64_C(1000)
#define JOIN_NS      (50 * US) /* from the end of a collective to the start of what waited for it */
#define USUAL_GAP_NS (3 * US)  /* between two kernels of a stream, if nothing keeps the second */
#define SPLIT_NS     (20 * US)
enum { SPLITS = 8 }; /* of a segment; beyond them only what is four times as long as any before */

static bool close_stretch(tl_composing *c)
{
    if (!c->open)
        return true;
    if (!tl_vec_room(&c->works))
        return false;
    c->now.entry.gate_ns = c->now.launch_ns != TL_TIME_UNKNOWN ? c->now.tail_ns - c->now.launch_ns : 0;
    c->works.v[c->works.n++] = c->now;
    c->open = false;
    return true;
}

static void open_stretch(tl_composing *c, uint32_t comm, int64_t at_ns, uint32_t until)
{
    c->now = (tl_stretch){ .entry = { .on = TL_NONE, .comm = comm, .segment = c->segment, .chain = TL_CHAIN_WORK },
                           .launch_ns = TL_TIME_UNKNOWN,
                           .tail_ns = INT64_MIN,
                           .end_ns = at_ns,
                           .until = until };
    c->open = true;
}

static bool close_segment(tl_composing *c)
{
    if (!close_stretch(c))
        return false;
    c->splits = 0;
    c->longest_split_ns = 0;
    c->segment++;
    return true;
}

uint32_t tl_comm_waited_for(const tl_building *b, const tl_kernel *k, size_t ended, int64_t before_ns)
{
    enum { TRIES = 16 };
    for (int tries = 0; ended > 0 && tries < TRIES; tries++) {
        uint32_t comm = b->ended[--ended];
        const tl_kernel *other = &b->view->kernels[b->comm[comm]];
        if (other->end_ns <= before_ns + USUAL_GAP_NS || k->start_ns - other->end_ns > JOIN_NS)
            return TL_NONE;
        if (k != other && (tl_launch_of(b, k) == TL_TIME_UNKNOWN || tl_launch_of(b, other) <= tl_launch_of(b, k)))
            return comm;
    }
    return TL_NONE;
}

static bool worth_a_split(tl_composing *c, int64_t late_ns)
{
    if (late_ns < SPLIT_NS || (c->splits >= SPLITS && late_ns / 4 < c->longest_split_ns))
        return false;
    c->splits++;
    c->longest_split_ns = tl_ns_max(c->longest_split_ns, late_ns);
    return true;
}

/* A copy beside the work takes none of the chain's time; who stands behind it stands behind the work before it. */
static bool pass_by(tl_composing *c, uint32_t i)
{
    if (c->open)
        c->now.until = i + 1;
    else if (c->works.n > 0)
        c->works.v[c->works.n - 1].until = i + 1;
    return !c->b->cut[i] || close_stretch(c);
}

/* What the last copy beside the work takes longer than that: the recording waits for it. */
static void append_rest(tl_composing *c)
{
    const tl_building *b = c->b;
    int64_t free_ns = b->nlocal > 0 ? b->busy_until[b->nlocal - 1] : b->end_ns, until = free_ns;

    for (size_t i = 0; i < b->nlocal; i++)
        until = tl_ns_max(until, b->view->kernels[b->local[i]].end_ns);
    if (until == free_ns)
        return;
    if (!c->open)
        open_stretch(c, TL_NONE, free_ns, (uint32_t)b->nlocal);
    tl_shares_work(&c->shares, c->segment, free_ns, until);
    c->now.entry.ns += until - free_ns;
    c->now.tail_ns += c->now.launch_ns != TL_TIME_UNKNOWN ? until - free_ns : 0;
    c->now.end_ns = until;
}

/* Appends one kernel; free_ns is when all work before it had ended. */
static bool append_kernel(tl_composing *c, uint32_t i, int64_t free_ns)
{
    tl_building *b = c->b;
    const tl_kernel *k = &b->view->kernels[b->local[i]];
    int64_t arrival = tl_arrival_of(b, k), ready = free_ns, add = 0, room;
    uint32_t same = b->same[b->local[i]];

    while (c->ended < b->ncomm && b->view->kernels[b->comm[b->ended[c->ended]]].end_ns <= k->start_ns + TL_ROUNDING_NS)
        c->ended++;
    uint32_t comm = tl_comm_waited_for(b, k, c->ended, tl_ns_max(free_ns, arrival));
    if (same != TL_NONE && b->view->kernels[b->comm[same]].end_ns > k->start_ns + TL_ROUNDING_NS)
        same = TL_NONE;
    if (same != TL_NONE && comm != TL_NONE && same != comm) { /* an entry of its own for the one that ended first */
        if (!close_stretch(c))
            return false;
        open_stretch(c, same, tl_ns_max(free_ns, b->view->kernels[b->comm[same]].end_ns), i);
    }
    comm = comm != TL_NONE ? comm : same;
    if (comm != TL_NONE)
        ready = tl_ns_max(ready, b->view->kernels[b->comm[comm]].end_ns);
    if (comm != TL_NONE || !c->open || worth_a_split(c, arrival != TL_TIME_UNKNOWN ? arrival - ready : 0)) {
        if (!close_stretch(c))
            return false;
        open_stretch(c, comm, free_ns, i);
    }
    if (k->start_ns >= free_ns) {
        int64_t base = tl_ns_max(ready, arrival);
        if (!tl_shares_late(&c->shares, ready, base))
            return false;
        tl_shares_work(&c->shares, c->segment, base, k->end_ns);
        add = tl_ns_max(0, k->end_ns - base);
        room = add;
    } else {
        add = tl_ns_max(0, k->end_ns - free_ns);
        tl_shares_work(&c->shares, c->segment, free_ns, free_ns + add);
        room = k->end_ns - k->start_ns;
    }
    tl_stretch *s = &c->now;
    c->out->segments[c->segment].does += tl_kernel_does(b->view, k);
    c->out->segments[c->segment].nkernels += k->kind == TL_COMPUTE;
    s->entry.ns += add;
    s->tail_ns = s->launch_ns != TL_TIME_UNKNOWN ? s->tail_ns + add : INT64_MIN;
    if (arrival != TL_TIME_UNKNOWN && arrival + room > s->tail_ns) {
        s->tail_ns = arrival + room;
        s->launch_ns = tl_launch_of(b, k);
    }
    s->end_ns = tl_ns_max(free_ns, k->end_ns);
    s->until = i + 1;
    return !b->cut[i] || close_stretch(c);
}

bool tl_compose_work(tl_composing *c)
{
    const tl_building *b = c->b;
    size_t next = 0;

    for (uint32_t i = 0; i <= b->nlocal; i++) {
        for (; next < b->nboundaries && (b->boundaries[next].at <= i || i == b->nlocal); next++)
            if (!close_segment(c))
                return false;
        if (i == b->nlocal)
            break;
        if (c->step_of != NULL)
            c->step_of[i] = c->out->segments[c->segment].step;
        if (b->beside[i] ? !pass_by(c, i) : !append_kernel(c, i, i > 0 ? b->busy_until[i - 1] : b->start_ns))
            return false;
    }
    append_rest(c);
    if (!close_segment(c))
        return false;
    for (size_t i = 0; i < c->works.n; i++)
        c->out->segments[c->works.v[i].entry.segment].work_ns += c->works.v[i].entry.ns;
    return true;
}
