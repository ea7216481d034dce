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
#include "tlmpi/base/sort.h"
#include <stdlib.h>

/* The device whose waits it is among. */
static int32_t device_of(const tl_idle_wait *w, bool apart)
{
    return apart && w->device >= 0 ? w->device : -1;
}

typedef struct ordering {
    const tl_idle_wait *waits;
    bool apart;
} ordering;

static int by_end(const void *context, uint32_t a, uint32_t b)
{
    const ordering *o = context;
    const tl_idle_wait *x = &o->waits[a], *y = &o->waits[b];
    int32_t dx = device_of(x, o->apart), dy = device_of(y, o->apart);
    if (dx != dy)
        return dx < dy ? -1 : 1;
    return TL_COMPARE(x->end_ns, y->end_ns);
}

static void order_by_end(const tl_idle_rank *k, bool apart, tl_idle_ends *ends)
{
    ordering o = { k->waits.v, apart };
    ends->apart = apart;
    ends->wait = tl_malloc((k->waits.n + 1) * sizeof *ends->wait);
    for (size_t i = 0; i < k->waits.n; i++)
        ends->wait[i] = (uint32_t)i;
    tl_sort_index(ends->wait, k->waits.n, by_end, &o);
    tl_below_make(&ends->latest, ends->wait, k->waits.n);
}

/* Whether the i-th wait is of a lower device, or of this device and ends before ns; `after`: before or at ns. */
static bool ends_before(const tl_idle_rank *k, const tl_idle_ends *ends, size_t i, int32_t device, int64_t ns,
                        bool after)
{
    const tl_idle_wait *w = &k->waits.v[ends->wait[i]];
    int32_t other = device_of(w, ends->apart);
    return other < device || (other == device && (w->end_ns < ns || (after && w->end_ns == ns)));
}

/* Returns the number of waits for which ends_before holds. */
static size_t ending_before(const tl_idle_rank *k, const tl_idle_ends *ends, int32_t device, int64_t ns, bool after)
{
    size_t low = 0;
    TL_BISECT(low, k->waits.n, mid, ends_before(k, ends, mid, device, ns, after));
    return low;
}

/* Returns the place of the device's first wait that ends at or after ns, else the place behind its waits.  Successive
 * calls must not go back in time. */
static size_t first_ending(const tl_idle_rank *k, const tl_idle_ends *ends, int32_t device, int64_t ns,
                           tl_idle_cursor *cursor)
{
    if (!cursor->begun)
        cursor->at = ending_before(k, ends, device, ns, false);
    cursor->begun = true;
    for (; cursor->at < k->waits.n; cursor->at++) {
        const tl_idle_wait *w = &k->waits.v[ends->wait[cursor->at]];
        if (device_of(w, ends->apart) != device || w->end_ns >= ns)
            break;
    }
    return cursor->at;
}

/* How many waits begin before the instant. */
static size_t begun_before(const tl_idle_rank *k, int64_t ns)
{
    size_t low = 0;
    TL_BISECT(low, k->waits.n, mid, k->waits.v[mid].start_ns < ns);
    return low;
}

/* Of the device's waits that end in [from_ns, to_ns] the last to begin before the gap at lo; TL_BELOW_NONE.  Most gaps
 * have none at all. */
static uint32_t last_ending(const tl_idle_rank *k, const tl_idle_ends *ends, int32_t device, int64_t lo,
                            int64_t from_ns, int64_t to_ns, tl_idle_cursor *cursor)
{
    size_t low = first_ending(k, ends, device, from_ns, cursor);
    const tl_idle_wait *first = low < k->waits.n ? &k->waits.v[ends->wait[low]] : NULL;
    if (first == NULL || device_of(first, ends->apart) != device || first->end_ns > to_ns)
        return TL_BELOW_NONE;
    return tl_below_find(&ends->latest, low, ending_before(k, ends, device, to_ns, true),
                         (uint32_t)begun_before(k, lo));
}

/* The same, of the waits for device d and of the waits whose device is not known. */
static uint32_t last_ending_for(const tl_idle_rank *k, tl_idle_device *d, int64_t lo, int64_t from_ns, int64_t to_ns)
{
    if (d->device < 0 || k->of_device.wait == NULL)
        return last_ending(k, &k->of_all, -1, lo, from_ns, to_ns, &d->of_any);
    uint32_t a = last_ending(k, &k->of_device, -1, lo, from_ns, to_ns, &d->of_any),
             b = last_ending(k, &k->of_device, d->device, lo, from_ns, to_ns, &d->of_own);
    return a == TL_BELOW_NONE || (b != TL_BELOW_NONE && b > a) ? b : a;
}

void tl_idle_drain_prepare(tl_idle_rank *k)
{
    bool streams = false, devices = false;
    for (size_t i = 0; i < k->waits.n; i++) {
        streams |= k->waits.v[i].stream >= 0;
        devices |= k->waits.v[i].device >= 0;
    }
    order_by_end(k, false, &k->of_all);
    if (devices)
        order_by_end(k, true, &k->of_device);
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
    uint32_t last = last_ending_for(k, d, lo, lo - k->config->sync_ns, launch);
    if (last == TL_BELOW_NONE)
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
