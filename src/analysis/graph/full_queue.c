/* full_queue.c - launches that found the queue full.
 *
 *     host      [launch a ][launch b ][launch c ]      each comes back when a piece of work has made room: as much is pending
 *     device    ][  s  ][   t   ][   u   ][  v          then as ever is
 *
 * A slow host's launches take long, too, but it loses its lead: little is pending then.  How much is pending at the
 * return is known up to what ends about then, and how much of it a queue counts is not: it may be one stream's, or what
 * has not begun.
 */
#include "build.h"

typedef struct pending {
    size_t least, most; /* pieces of work that have been launched and not done, when the launch returns */
} pending;

/* tl_graph_ended, sought from where the last one was: what comes next is mostly near. */
static size_t ended(const tl_graph_build *b, int64_t at_ns, size_t near)
{
    const tl_kernel *kernels = b->view->kernels;
    const uint32_t *by_end = b->by_end;
    size_t n = b->view->nkernels, low = near, high = near, stride = 1;

    for (; high < n && kernels[by_end[high]].end_ns <= at_ns; stride *= 2) {
        low = high + 1;
        high = stride < n - high ? high + stride : n;
    }
    for (stride = 1; low > 0 && kernels[by_end[low - 1]].end_ns > at_ns; stride *= 2) {
        high = low - 1;
        low -= stride < low ? stride : low;
    }
    TL_BISECT(low, high, mid, kernels[by_end[mid]].end_ns <= at_ns);
    return low;
}

static pending pending_at(const tl_graph_build *b, const tl_graph_kernel *p, int64_t returned_ns, size_t *near)
{
    size_t launched = (size_t)p->turn + 1;
    size_t late = ended(b, returned_ns + TL_WAKE_SPREAD_NS, *near),
           early = ended(b, returned_ns - TL_WAKE_SPREAD_NS, late);
    *near = late;
    return (pending){ launched > late ? launched - late : 0, launched > early ? launched - early : 0 };
}

/* Whether a launch's work began at least TL_WAKE_NS after its return: only then a queue may have been full. */
static bool leads(const tl_graph_build *b, const tl_kernel *k)
{
    return k->launch != TL_NONE &&
           k->start_ns - tl_graph_host_time(b, b->view->launches[k->launch].end_ns) >= TL_WAKE_NS;
}

void tl_graph_find_full_queue(tl_graph_build *b)
{
    const tl_rank_view *view = b->view;
    size_t most = 0, nqueue_full = 0, near = 0;

    for (size_t i = 0; i < view->nkernels; i++)
        if (leads(b, &view->kernels[i])) {
            int64_t returned = tl_graph_host_time(b, view->launches[view->kernels[i].launch].end_ns);
            pending p = pending_at(b, &b->placed[i], returned, &near);
            most = p.least > most ? p.least : most;
        }
    size_t full = most - most / (size_t)TL_QUEUE_PART;
    for (size_t i = 0; i < view->nkernels; i++) {
        const tl_kernel *k = &view->kernels[i];
        if (!leads(b, k))
            continue;
        const tl_launch *l = &view->launches[k->launch];
        if (l->end_ns - l->start_ns <= TL_WAIT_OWN_NS || b->queue_full[k->launch] ||
            pending_at(b, &b->placed[i], tl_graph_host_time(b, l->end_ns), &near).most < full)
            continue;
        b->queue_full[k->launch] = true;
        nqueue_full++;
    }
    for (size_t l = 0; nqueue_full < TL_SPREAD_LEAST && l < view->nlaunches; l++)
        b->queue_full[l] = false;
}
