/* drain.c - how did the device run dry?
 *
 *     host     [launch A]..[synchronize           ]....[launch B]
 *     device         [          A              ]                  [ B ]
 *                                               |<---- gap ---->|
 *                          |<-- the wait -->|
 *
 * The call to blame for a gap waited for the device, is the last one to begin before the gap, ended at most sync_ns
 * before the gap, and before the launch of the work after the gap.  If the call waited for more than drain_ns of the
 * work before the gap, it drained the device; else the queue was empty already, and the device starved.
 */
#include "internal.h"
#include <stdlib.h>

TL_ORDER_BY(by_end, tl_idle_wait, end_ns)

void tl_idle_drain_prepare(tl_idle_rank *k)
{
    bool streams = false;
    TL_EACH (const tl_idle_wait, w, k->waits)
        streams |= w->stream >= 0;
    k->by_end = tl_sorted_index(k->waits.n, by_end, k->waits.v);
    if (!streams)
        return;
    k->reach_ns = tl_malloc((k->view->nkernels + 1) * sizeof *k->reach_ns);
    for (size_t i = 0; i < k->view->nkernels; i++) {
        const tl_kernel *a = &k->view->kernels[i];
        k->reach_ns[i] = tl_idle_end(k, i);
        if (i > 0 && tl_same_stream(&a[-1], a))
            k->reach_ns[i] = tl_ns_max(k->reach_ns[i - 1], k->reach_ns[i]);
    }
}

/* Whether the call may have waited for the device: the call's device is this one or unknown, or the view has no
 * devices. */
static bool waits_for(const tl_idle_rank *k, const tl_idle_device *d, uint32_t wait)
{
    int32_t device = k->waits.v[wait].device;
    return device < 0 || device == d->device || k->view->nkernels == 0 || k->view->kernels[0].device < 0;
}

/* Returns the last of the first nbegun waits for the device that ends in [from_ns, to_ns]; TL_NONE: there is none. */
static uint32_t last_ending(const tl_idle_rank *k, const tl_idle_device *d, uint32_t nbegun, int64_t from_ns,
                            int64_t to_ns)
{
    uint32_t last = TL_NONE;
    size_t at = 0;
    TL_BISECT(at, k->waits.n, i, k->waits.v[k->by_end[i]].end_ns < from_ns);
    for (; at < k->waits.n && k->waits.v[k->by_end[at]].end_ns <= to_ns; at++) {
        uint32_t wait = k->by_end[at];
        if (wait < nbegun && (last == TL_NONE || wait > last) && waits_for(k, d, wait))
            last = wait;
    }
    return last;
}

/* Returns the last end, ns, of work that began on a stream of the device before before_ns; TL_TIME_UNKNOWN: there is
 * none. */
static int64_t last_end_on_stream(const tl_idle_rank *k, const tl_idle_device *d, int32_t stream, int64_t before_ns)
{
    const tl_kernel *a = k->view->kernels;
    size_t low = d->first; /* index of the first kernel that is not on the stream before before_ns, nor on an earlier
                            * stream */
    TL_BISECT(low, d->first + d->n, i, a[i].stream < stream || (a[i].stream == stream && a[i].start_ns < before_ns));
    return low > d->first && a[low - 1].stream == stream ? k->reach_ns[low - 1] : TL_TIME_UNKNOWN;
}

/* Fills drain_type and the sync columns.  last: the wait to blame; TL_NONE: none. */
static void fill_wait(const tl_idle_rank *k, const tl_idle_device *d, const tl_idle_gap *g, uint32_t last, tl_gap *row)
{
    const tl_calls *c = &k->view->calls;
    row->drain_type = TL_DRAIN_STARVED;
    row->sync_event = TL_NO_NAME;
    row->sync_uid = -1;
    if (last == TL_NONE)
        return;
    const tl_idle_wait *w = &k->waits.v[last];
    /* End of the work that the call waited for: of its stream, or, if that is unknown, of the work before the gap. */
    int64_t end =
        w->stream >= 0 && d->device >= 0 ? last_end_on_stream(k, d, w->stream, row->start_ns) : tl_idle_end(k, g->prev);
    row->sync_type = w->kind;
    row->sync_event = c->name[w->call];
    row->sync_uid = w->uid <= INT32_MAX ? (int32_t)w->uid : -1;
    if (end != TL_TIME_UNKNOWN && end - w->start_ns > k->config->drain_ns)
        row->drain_type = TL_DRAIN_SYNC;
}

/* Gaps come in order of time, so a wait that ended too early for one gap is too early for all later gaps, and leaves
 * the stack.  If the wait on top of the stack ends after the launch of the work after the gap, the waits that end in
 * between are searched one by one. */
void tl_idle_drain(const tl_idle_rank *k, const tl_idle_device *d, tl_gap *rows)
{
    TL_VEC(uint32_t) begun = { 0 }; /* waits for the device that began before the gap, in order of their start */
    uint32_t nbegun = 0;            /* number of waits, for any device, that began before the gap */

    for (size_t i = 0; i < d->gaps.n; i++) {
        const tl_idle_gap *g = &d->gaps.v[i];
        int64_t from_ns = rows[i].start_ns - k->config->sync_ns;
        int64_t launch_ns = g->launch != TL_NONE ? k->view->launches[g->launch].start_ns : INT64_MAX;
        for (; nbegun < k->waits.n && k->waits.v[nbegun].start_ns < rows[i].start_ns; nbegun++)
            if (waits_for(k, d, nbegun))
                tl_vec_push(&begun, nbegun);
        while (begun.n > 0 && k->waits.v[begun.v[begun.n - 1]].end_ns < from_ns)
            begun.n--;
        uint32_t last = begun.n > 0 ? begun.v[begun.n - 1] : TL_NONE;
        if (last != TL_NONE && k->waits.v[last].end_ns > launch_ns)
            last = last_ending(k, d, nbegun, from_ns, launch_ns);
        fill_wait(k, d, g, last, &rows[i]);
    }
    free(begun.v);
}

/* Whether the stream of the device was made to wait by a call in (from_ns, to_ns). */
static bool is_held_between(const tl_idle_rank *k, int32_t device, int32_t stream, int64_t from_ns, int64_t to_ns)
{
    const tl_idle_event_wait end = { device, stream, to_ns }, *v = k->holds.v;
    size_t low = 0; /* index of the first hold of the stream at or after to_ns, or of a later stream */
    TL_BISECT(low, k->holds.n, i, TL_ORDER(&v[i], &end, stream, device, start_ns) < 0);
    const tl_idle_event_wait *last = low > 0 ? &v[low - 1] : NULL;
    return last != NULL && last->stream == stream && last->device == device && last->start_ns > from_ns;
}

bool tl_idle_held_by_event(const tl_idle_rank *k, const tl_idle_device *d, const tl_idle_gap *g)
{
    const tl_kernel *next = &k->view->kernels[g->next], *before = next - 1;
    if (g->launch == TL_NONE)
        return false;
    bool follows = g->next > d->first && tl_same_stream(before, next);
    int64_t from = !follows ? INT64_MIN : before->launch != TL_NONE ? before->launch_ns : before->start_ns;
    int64_t to = k->view->launches[g->launch].start_ns;
    /* Streams of two devices may have the same number. */
    return is_held_between(k, -1, next->stream, from, to) ||
           (next->device >= 0 && is_held_between(k, next->device, next->stream, from, to));
}
