/* drain.c - how did the device run dry?
 *
 *     host     [launch A]..[synchronize           ]....[launch B]
 *     device         [          A              ]                  [ B ]
 *                                               |<---- gap ---->|
 *                          |<-- the wait -->|
 *
 * The call to blame is the last to begin before the gap of those that wait for the device, ended at most sync_ns before
 * it, and had ended when the work after the gap was launched.  When it waited for more than drain_ns of the work
 * before the gap, it drained the device; else the queue was empty already, and the device starved.
 */
#include "internal.h"
#include "tlmpi/base/sort.h"
#include <stdlib.h>

/* A tree over the waits, which are by start: leaf nleaves + i has the end of the i-th, each node the latest of its two. */
static void make_tree(tl_idle_rank *k)
{
    for (k->nleaves = 1; k->nleaves <= k->waits.n; k->nleaves *= 2)
        ;
    k->latest_ns = tl_malloc(2 * k->nleaves * sizeof *k->latest_ns);
    for (size_t i = 0; i < k->nleaves; i++)
        k->latest_ns[k->nleaves + i] = i < k->waits.n ? k->waits.v[i].end_ns : INT64_MIN;
    for (size_t i = k->nleaves - 1; i > 0; i--)
        k->latest_ns[i] = tl_ns_max(k->latest_ns[2 * i], k->latest_ns[2 * i + 1]);
}

/* Of the waits before the `bound`-th the last that ends at or after the instant; TL_NONE. */
static uint32_t last_lasting(const tl_idle_rank *k, size_t bound, int64_t ns)
{
    size_t i = k->nleaves + bound;
    while (i > 1 && (i % 2 == 0 || k->latest_ns[i - 1] < ns))
        i /= 2;
    if (i <= 1)
        return TL_NONE;
    for (i--; i < k->nleaves;)
        i = 2 * i + (k->latest_ns[2 * i + 1] >= ns);
    return (uint32_t)(i - k->nleaves);
}

/* How many waits begin before the instant. */
static size_t begun_before(const tl_idle_rank *k, int64_t ns)
{
    size_t low = 0;
    TL_BISECT(low, k->waits.n, mid, k->waits.v[mid].start_ns < ns);
    return low;
}

/* Of the waits that may be for the device, those for no device that is known among them, the last to begin before the
 * gap at lo of those that end in [from_ns, to_ns]; TL_NONE.  What is passed over still runs at the gap: few threads wait
 * at once. */
static uint32_t last_ending(const tl_idle_rank *k, const tl_idle_device *d, int64_t lo, int64_t from_ns, int64_t to_ns)
{
    uint32_t i = last_lasting(k, begun_before(k, lo), from_ns);
    for (; i != TL_NONE; i = last_lasting(k, i, from_ns)) {
        const tl_idle_wait *w = &k->waits.v[i];
        if (w->end_ns <= to_ns && (d->device < 0 || w->device < 0 || w->device == d->device))
            break;
    }
    return i;
}

void tl_idle_drain_prepare(tl_idle_rank *k)
{
    bool streams = false;
    for (size_t i = 0; i < k->waits.n; i++)
        streams |= k->waits.v[i].stream >= 0;
    make_tree(k);
    if (!streams)
        return;
    k->reach_ns = tl_malloc((k->view->nkernels + 1) * sizeof *k->reach_ns);
    for (size_t i = 0; i < k->view->nkernels; i++) {
        const tl_kernel *a = &k->view->kernels[i];
        int64_t end = tl_idle_end(k, (uint32_t)i);
        bool same = i > 0 && a[-1].device == a->device && a[-1].stream == a->stream;
        k->reach_ns[i] = same && k->reach_ns[i - 1] > end ? k->reach_ns[i - 1] : end;
    }
}

/* The last end before the gap on a stream of the device; TL_TIME_UNKNOWN when nothing began on it before. */
static int64_t stream_end(const tl_idle_rank *k, const tl_idle_device *d, int32_t stream, int64_t before_ns)
{
    const tl_kernel *a = k->view->kernels;
    size_t low = d->first; /* to the first that is not on the stream before the instant, nor on an earlier one */
    TL_BISECT(low, d->first + d->n, i, a[i].stream < stream || (a[i].stream == stream && a[i].start_ns < before_ns));
    return low > d->first && a[low - 1].stream == stream ? k->reach_ns[low - 1] : TL_TIME_UNKNOWN;
}

/* The end of the work that the call waited for, TL_TIME_UNKNOWN for none.  Where no stream is known: of what stands
 * before the gap. */
static int64_t waited_for(const tl_idle_rank *k, const tl_idle_device *d, const tl_idle_gap *g, const tl_idle_wait *w,
                          int64_t lo)
{
    return w->stream >= 0 && d->device >= 0 ? stream_end(k, d, w->stream, lo) : tl_idle_end(k, g->prev);
}

void tl_idle_drain(const tl_idle_rank *k, tl_idle_device *d, const tl_idle_gap *g, tl_gap *row)
{
    const tl_calls *c = &k->view->calls;
    int64_t lo = row->start_ns;
    int64_t launch = g->launch != TL_NONE ? k->view->launches[g->launch].start_ns : INT64_MAX;

    row->drain_type = TL_DRAIN_STARVED;
    row->sync_event = TL_NO_NAME;
    row->sync_correlation = row->sync_uid = -1;
    uint32_t last = last_ending(k, d, lo, lo - k->config->sync_ns, launch);
    if (last == TL_NONE)
        return;
    const tl_idle_wait *w = &k->waits.v[last];
    int64_t end = waited_for(k, d, g, w, lo);
    row->sync_type = w->kind;
    row->sync_event = c->name[w->call];
    row->sync_dur_ns = c->dur_ns[w->call];
    row->sync_correlation = c->correlation[w->call];
    row->sync_uid = w->uid <= INT32_MAX ? (int32_t)w->uid : -1;
    if (end != TL_TIME_UNKNOWN && end - w->start_ns > k->config->drain_ns)
        row->drain_type = TL_DRAIN_SYNC;
}

static bool holds_before(const tl_idle_hold *h, int32_t device, int32_t stream, int64_t ns)
{
    if (h->stream != stream)
        return h->stream < stream;
    return h->device != device ? h->device < device : h->start_ns < ns;
}

/* Whether the stream of the device was made to wait within (from_ns, to_ns). */
static bool held_between(const tl_idle_rank *k, int32_t device, int32_t stream, int64_t from_ns, int64_t to_ns)
{
    size_t low = 0; /* to the first hold of the stream at or after the launch, or of a later stream */
    TL_BISECT(low, k->holds.n, mid, holds_before(&k->holds.v[mid], device, stream, to_ns));
    const tl_idle_hold *last = low > 0 ? &k->holds.v[low - 1] : NULL;
    return last != NULL && last->stream == stream && last->device == device && last->start_ns > from_ns;
}

bool tl_idle_held(const tl_idle_rank *k, const tl_idle_device *d, const tl_idle_gap *g)
{
    const tl_kernel *next = &k->view->kernels[g->next], *before = next - 1;
    if (g->launch == TL_NONE)
        return false;
    bool follows = g->next > d->first && before->device == next->device && before->stream == next->stream;
    int64_t from = !follows ? INT64_MIN : before->launch != TL_NONE ? before->launch_ns : before->start_ns;
    int64_t to = k->view->launches[g->launch].start_ns;
    /* Streams of two devices may have one number. */
    return held_between(k, -1, next->stream, from, to) ||
           (next->device >= 0 && held_between(k, next->device, next->stream, from, to));
}
