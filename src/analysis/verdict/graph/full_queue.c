/* full_queue.c - marks launches that waited for room in a full launch queue; with room they would take as long as other
 * launches do.
 *
 *     host      [launch a ][launch b ][launch c ]      a launch returns when the end of a kernel makes room:
 *     device    ][  s  ][   t   ][   u   ][  v          the number of pending kernels is then at its maximum
 *
 * Launches of a slow host take long, too, but then few kernels are pending.  The number pending at the return of a
 * launch is known only within bounds (`pending`), since kernels may end at about that time, and since a queue may count
 * the kernels of one stream, or kernels that have not begun.
 */
#include "build.h"
#include "tlmpi/base/quantile.h"
#include "tlmpi/base/stats.h"
#include <stdlib.h>

typedef struct pending {
    size_t least, most; /* bounds of the number of kernels launched and not ended when the launch returns */
} pending;

/* Returns tl_graph_ended, searched outwards from the index `near`. */
static size_t count_ended_near(const tl_graph_build *b, int64_t at_ns, size_t near)
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
    size_t late = count_ended_near(b, returned_ns + TL_WAKE_SPREAD_NS, *near),
           early = count_ended_near(b, returned_ns - TL_WAKE_SPREAD_NS, late);
    *near = late;
    return (pending){ launched > late ? launched - late : 0, launched > early ? launched - early : 0 };
}

/* Whether the kernel began at least TL_WAKE_NS after the return of its launch, as every kernel in a full queue does. */
static bool begins_long_after_launch(const tl_graph_build *b, const tl_kernel *k)
{
    return k->launch != TL_NONE &&
           k->start_ns - tl_graph_host_time(b, b->view->launches[k->launch].end_ns) >= TL_WAKE_NS;
}

void tl_graph_find_full_queue(tl_graph_build *b)
{
    const tl_rank_view *view = b->view;
    size_t most = 0, nqueue_full = 0, near = 0;

    for (size_t i = 0; i < view->nkernels; i++)
        if (begins_long_after_launch(b, &view->kernels[i])) {
            int64_t returned = tl_graph_host_time(b, view->launches[view->kernels[i].launch].end_ns);
            pending p = pending_at(b, &b->placed[i], returned, &near);
            most = p.least > most ? p.least : most;
        }
    size_t full = most - most / (size_t)TL_LITTLE_PART;
    for (size_t i = 0; i < view->nkernels; i++) {
        const tl_kernel *k = &view->kernels[i];
        if (!begins_long_after_launch(b, k))
            continue;
        const tl_launch *l = &view->launches[k->launch];
        if (l->end_ns - l->start_ns <= TL_CLOCK_ERROR_NS || b->queue_full[k->launch] ||
            pending_at(b, &b->placed[i], tl_graph_host_time(b, l->end_ns), &near).most < full)
            continue;
        b->queue_full[k->launch] = true;
        nqueue_full++;
    }
    for (size_t l = 0; nqueue_full < TL_MEDIAN_LEAST && l < view->nlaunches; l++)
        b->queue_full[l] = false;

    int64_t *call_ns = tl_malloc((view->nlaunches + 1) * sizeof *call_ns);
    size_t ncalls = 0;
    for (size_t l = 0; l < view->nlaunches; l++)
        if (!b->queue_full[l] && view->launches[l].nkernels > 0)
            call_ns[ncalls++] = view->launches[l].end_ns - view->launches[l].start_ns;
    b->call_ns = ncalls > 0 ? tl_ns_min(tl_median(call_ns, ncalls), TL_CLOCK_ERROR_NS) : TL_CLOCK_ERROR_NS;
    free(call_ns);
}
