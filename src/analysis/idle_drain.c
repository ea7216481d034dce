/* idle_drain.c - how did the device run dry?
 *
 *     host     [launch A]..[synchronize           ]....[launch B]
 *     device         [          A              ]                  [ B ]
 *                                               |<---- gap ---->|
 *                          |<-- the wait -->|
 *
 * The call to blame is the last to begin before the gap of those that wait for the device, ended at most sync_ns before
 * it, and had ended when the work behind the gap was launched.  When it waited for more than drain_ns of the work
 * before the gap, it drained the device; else the queue was empty already, and the device starved.
 */
#include "idle.h"
#include <stdlib.h>

/* Ends of waits as a tree: leaf i stands at leaves + i, and a node has the larger of its two. */
static bool make_tree(tl_idle_rank *k)
{
    size_t leaves = 1;
    while (leaves <= k->waits.n) /* one more than there are: a search may begin behind the last */
        leaves *= 2;
    k->wait_leaves = leaves;
    k->wait_ends = tl_malloc(2 * leaves * sizeof *k->wait_ends);
    if (k->wait_ends == NULL)
        return false;
    for (size_t i = 0; i < leaves; i++)
        k->wait_ends[leaves + i] = i < k->waits.n ? k->waits.v[i].end_ns : INT64_MIN;
    for (size_t i = leaves; i-- > 1;) {
        int64_t a = k->wait_ends[2 * i], b = k->wait_ends[2 * i + 1];
        k->wait_ends[i] = a > b ? a : b;
    }
    return true;
}

/* The last wait before the n-th that ends at or after the instant; SIZE_MAX for none. */
static size_t last_ending(const tl_idle_rank *k, size_t n, int64_t from_ns)
{
    size_t at = k->wait_leaves + n;
    if (n == 0)
        return SIZE_MAX;
    /* Up while there is nothing to the left of the way, then down to the right. */
    while (at > 1 && ((at & 1) == 0 || k->wait_ends[at - 1] < from_ns))
        at /= 2;
    if (at <= 1)
        return SIZE_MAX;
    at--;
    while (at < k->wait_leaves)
        at = k->wait_ends[2 * at + 1] >= from_ns ? 2 * at + 1 : 2 * at;
    return at - k->wait_leaves;
}

bool tl_idle_drain_prepare(tl_idle_rank *k)
{
    bool streams = false;
    for (size_t i = 0; i < k->waits.n; i++)
        streams |= k->waits.v[i].stream >= 0;
    if (!make_tree(k))
        return false;
    if (!streams)
        return true;
    k->reach_ns = tl_malloc((k->view->nkernels + 1) * sizeof *k->reach_ns);
    for (size_t i = 0; k->reach_ns != NULL && i < k->view->nkernels; i++) {
        const tl_kernel *a = &k->view->kernels[i];
        int64_t end = tl_idle_end(k, i);
        bool same = i > 0 && a[-1].device == a->device && a[-1].stream == a->stream;
        k->reach_ns[i] = same && k->reach_ns[i - 1] > end ? k->reach_ns[i - 1] : end;
    }
    return k->reach_ns != NULL;
}

/* How many waits begin before the instant. */
static size_t begun_before(const tl_idle_rank *k, int64_t ns)
{
    size_t low = 0, high = k->waits.n;
    while (low < high) {
        size_t mid = low + (high - low) / 2;
        if (k->waits.v[mid].start_ns < ns)
            low = mid + 1;
        else
            high = mid;
    }
    return low;
}

/* The last end before the gap on a stream of the device; TL_TIME_UNKNOWN when nothing began on it before. */
static int64_t stream_end(const tl_idle_rank *k, const tl_idle_device *d, int32_t stream, int64_t before_ns)
{
    size_t low = d->first, high = d->first + d->n;
    while (low < high) { /* the first that is not on the stream before the instant, nor on an earlier one */
        size_t mid = low + (high - low) / 2;
        const tl_kernel *a = &k->view->kernels[mid];
        if (a->stream < stream || (a->stream == stream && a->start_ns < before_ns))
            low = mid + 1;
        else
            high = mid;
    }
    return low > d->first && k->view->kernels[low - 1].stream == stream ? k->reach_ns[low - 1] : TL_TIME_UNKNOWN;
}

/* The end of the work that the call waited for, TL_TIME_UNKNOWN for none. */
static int64_t waited_for(tl_idle_rank *k, const tl_idle_device *d, const tl_idle_gap *g, const tl_idle_wait *w,
                          int64_t lo)
{
    if (tl_idle_holds(k, TL_IDLE_ENDED) && w->stream >= 0 && d->device >= 0)
        return stream_end(k, d, w->stream, lo);
    return g->prev != TL_NONE ? tl_idle_end(k, g->prev) : TL_TIME_UNKNOWN;
}

void tl_idle_drain(tl_idle_rank *k, const tl_idle_device *d, const tl_idle_gap *g, tl_gap *row)
{
    const tl_calls *c = &k->view->calls;
    int64_t lo = row->start_ns, from = lo - k->config->sync_ns;
    int64_t launch = g->launch != TL_NONE ? k->view->launches[g->launch].start_ns : INT64_MAX;
    size_t i = begun_before(k, lo);

    row->drain_type = TL_DRAIN_STARVED;
    row->sync_event = TL_NO_NAME;
    row->sync_correlation = row->sync_uid = -1;
    while ((i = last_ending(k, i, from)) != SIZE_MAX) {
        const tl_idle_wait *w = &k->waits.v[i];
        bool elsewhere =
            tl_idle_holds(k, TL_IDLE_DEVICES) && w->device >= 0 && d->device >= 0 && w->device != d->device;
        if (w->end_ns > launch || elsewhere)
            continue;
        int64_t end = waited_for(k, d, g, w, lo);
        row->sync_type = w->kind;
        row->sync_event = c->name[w->call];
        row->sync_dur_ns = c->dur_ns[w->call];
        row->sync_correlation = c->correlation[w->call];
        row->sync_uid = w->uid <= INT32_MAX ? (int32_t)w->uid : -1;
        if (end != TL_TIME_UNKNOWN && end - w->start_ns > k->config->drain_ns)
            row->drain_type = TL_DRAIN_SYNC;
        return;
    }
}

bool tl_idle_held(const tl_idle_rank *k, const tl_idle_device *d, const tl_idle_gap *g)
{
    const tl_kernel *next = &k->view->kernels[g->next], *before = next - 1;
    if (g->launch == TL_NONE)
        return false;
    bool follows = g->next > d->first && before->device == next->device && before->stream == next->stream;
    int64_t from = !follows ? INT64_MIN : before->launch != TL_NONE ? before->launch_ns : before->start_ns;
    int64_t to = k->view->launches[g->launch].start_ns;
    size_t low = 0, high = k->holds.n;

    while (low < high) { /* the first hold of the stream at or after the launch, or of a later stream */
        size_t mid = low + (high - low) / 2;
        const tl_idle_hold *h = &k->holds.v[mid];
        if (h->stream < next->stream || (h->stream == next->stream && h->start_ns < to))
            low = mid + 1;
        else
            high = mid;
    }
    /* Streams of two devices may have one number. */
    for (; low > 0 && k->holds.v[low - 1].stream == next->stream && k->holds.v[low - 1].start_ns > from; low--)
        if (k->holds.v[low - 1].device < 0 || k->holds.v[low - 1].device == next->device)
            return true;
    return false;
}
