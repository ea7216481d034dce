/* drain.c - how did the device run dry?
 *
 *     host     [launch A]..[synchronize           ]....[launch B]
 *     device         [          A              ]                  [ B ]
 *                                               |<---- gap ---->|
 *                          |<-- the wait -->|
 *
 * The call to blame is the last one to begin before the gap that waited for the device, ended no earlier than sync_ns
 * before the gap, and had ended when the work after the gap was launched.  If it waited for more than drain_ns of the
 * work before the gap, it drained the device; else the queue was empty already, and the device starved.
 */
#include "internal.h"
#include <stdlib.h>

/* The device whose waits it is among: -1 where that is unknown, or devices make no difference. */
static int32_t device_of(const tl_idle_rank *k, uint32_t wait)
{
    return k->apart && k->waits.v[wait].device >= 0 ? k->waits.v[wait].device : -1;
}

static int by_end(const void *context, uint32_t a, uint32_t b)
{
    const tl_idle_rank *k = context;
    int order = TL_COMPARE(device_of(k, a), device_of(k, b));
    return order != 0 ? order : TL_COMPARE(k->waits.v[a].end_ns, k->waits.v[b].end_ns);
}

void tl_idle_drain_prepare(tl_idle_rank *k)
{
    bool streams = false, devices = k->view->nkernels > 0 && k->view->kernels[0].device >= 0;
    TL_EACH (const tl_idle_wait, w, k->waits) {
        streams |= w->stream >= 0;
        k->apart |= devices && w->device >= 0;
    }
    k->by_end = tl_sorted_index(k->waits.n, by_end, k);
    tl_largest_below_make(&k->latest, k->by_end, k->waits.n);
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

/* Returns the place of the device's first wait that ends at or after ns, else the place behind its waits. */
static size_t first_ending(const tl_idle_rank *k, int32_t device, int64_t ns)
{
    size_t low = 0;
    TL_BISECT(low, k->waits.n, i,
              device_of(k, k->by_end[i]) < device ||
                  (device_of(k, k->by_end[i]) == device && k->waits.v[k->by_end[i]].end_ns < ns));
    return low;
}

/* Of the device's waits that end in [from_ns, to_ns] the last to begin before the gap at lo; TL_LARGEST_BELOW_NONE. */
static uint32_t last_ending(const tl_idle_rank *k, int32_t device, int64_t lo, int64_t from_ns, int64_t to_ns)
{
    size_t from = first_ending(k, device, from_ns);
    bool any = from < k->waits.n && device_of(k, k->by_end[from]) == device &&
               k->waits.v[k->by_end[from]].end_ns <= to_ns; /* most gaps have none at all */
    if (!any)
        return TL_LARGEST_BELOW_NONE;
    size_t to = first_ending(k, device, to_ns < INT64_MAX ? to_ns + 1 : to_ns), begun = 0;
    TL_BISECT(begun, k->waits.n, i, k->waits.v[i].start_ns < lo);
    return tl_largest_below_find(&k->latest, from, to, (uint32_t)begun);
}

/* The last end before the gap on a stream of the device; TL_TIME_UNKNOWN when nothing began on it before. */
static int64_t stream_end(const tl_idle_rank *k, const tl_idle_device *d, int32_t stream, int64_t before_ns)
{
    const tl_kernel *a = k->view->kernels;
    size_t low = d->first; /* to the first that is not on the stream before the instant, nor on an earlier one */
    TL_BISECT(low, d->first + d->n, i, a[i].stream < stream || (a[i].stream == stream && a[i].start_ns < before_ns));
    return low > d->first && a[low - 1].stream == stream ? k->reach_ns[low - 1] : TL_TIME_UNKNOWN;
}

void tl_idle_drain(const tl_idle_rank *k, const tl_idle_device *d, const tl_idle_gap *g, tl_gap *row)
{
    const tl_calls *c = &k->view->calls;
    int64_t lo = row->start_ns, from_ns = lo - k->config->sync_ns,
            launch_ns = g->launch != TL_NONE ? k->view->launches[g->launch].start_ns : INT64_MAX;

    row->drain_type = TL_DRAIN_STARVED;
    row->sync_event = TL_NO_NAME;
    row->sync_correlation = row->sync_uid = -1;
    uint32_t last = last_ending(k, -1, lo, from_ns, launch_ns),
             own = k->apart ? last_ending(k, d->device, lo, from_ns, launch_ns) : TL_LARGEST_BELOW_NONE;
    if (last == TL_LARGEST_BELOW_NONE || (own != TL_LARGEST_BELOW_NONE && own > last))
        last = own;
    if (last == TL_LARGEST_BELOW_NONE)
        return;
    const tl_idle_wait *w = &k->waits.v[last];
    /* The end of the work that the call waited for: of the stream, or, where none is known, of what stands before. */
    int64_t end = w->stream >= 0 && d->device >= 0 ? stream_end(k, d, w->stream, lo) : tl_idle_end(k, g->prev);
    row->sync_type = w->kind;
    row->sync_event = c->name[w->call];
    row->sync_dur_ns = c->dur_ns[w->call];
    row->sync_correlation = c->correlation[w->call];
    row->sync_uid = w->uid <= INT32_MAX ? (int32_t)w->uid : -1;
    if (end != TL_TIME_UNKNOWN && end - w->start_ns > k->config->drain_ns)
        row->drain_type = TL_DRAIN_SYNC;
}

/* Whether the stream of the device was made to wait within (from_ns, to_ns). */
static bool held_between(const tl_idle_rank *k, int32_t device, int32_t stream, int64_t from_ns, int64_t to_ns)
{
    const tl_idle_event_wait end = { device, stream, to_ns }, *v = k->holds.v;
    size_t low = 0; /* to the first hold of the stream at or after the launch, or of a later stream */
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
    /* Streams of two devices may have one number. */
    return held_between(k, -1, next->stream, from, to) ||
           (next->device >= 0 && held_between(k, next->device, next->stream, from, to));
}
