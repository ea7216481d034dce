/* release.c - the kernel whose end released a waiting call, and the kernels that may have ended a pause of the host.
 *
 *     host     [launch a][launch b][ synchronize        ]
 *     device       [    a    ][        b         ]           b released the call: the last kernel that ends before
 *                                                            the return, among the kernels launched before the call
 *                                                            (on its stream, if the call names one and its
 *                                                            work ended in the call)
 */
#include "build.h"
#include "tlmpi/base/sort.h"
#include "tlmpi/base/stats.h"

size_t tl_graph_ended(const tl_graph_build *b, int64_t at_ns)
{
    size_t low = 0;
    TL_BISECT(low, b->view->nkernels, mid, b->view->kernels[b->by_end[mid]].end_ns <= at_ns);
    return low;
}

/* Whether the kernel was launched by at_ns; true for a kernel without a launch in the trace. */
static bool launched_by(const tl_graph_build *b, uint32_t kernel, int64_t at_ns)
{
    return b->placed[kernel].launch_ns == TL_TIME_UNKNOWN || b->placed[kernel].launch_ns <= at_ns;
}

uint32_t tl_graph_release_of(const tl_graph_build *b, const tl_waiting_call *call, int64_t start_ns, int64_t end_ns)
{
    int64_t since = tl_ns_max(start_ns, end_ns - TL_WAKE_NS);
    uint32_t other = TL_NONE; /* on a stream that the asked one waits for by an event */
    for (size_t i = tl_graph_ended(b, end_ns + TL_WAKE_SPREAD_NS); i > 0; i--) {
        uint32_t kernel = b->by_end[i - 1];
        const tl_kernel *k = &b->view->kernels[kernel];
        if (k->end_ns < since)
            break;
        bool asked = call->stream < 0 || call->kind != TL_CALL_WAITS_STREAM || k->stream == call->stream;
        if (asked && launched_by(b, kernel, start_ns))
            return kernel;
        if (other == TL_NONE && k->end_ns >= end_ns - TL_WAKE_SPREAD_NS && launched_by(b, kernel, start_ns))
            other = kernel;
    }
    return other;
}

bool tl_graph_runs_on(const tl_graph_build *b, int64_t start_ns, int64_t end_ns)
{
    for (size_t s = 0; s < b->nstreams; s++) {
        size_t at = b->streams[s].first;
        TL_BISECT(at, b->streams[s].end, mid, b->view->kernels[mid].start_ns < end_ns);
        if (at == b->streams[s].first)
            continue;
        const tl_kernel *k = &b->view->kernels[at - 1]; /* only the last kernel begun on a stream can still run */
        if (k->end_ns > end_ns + TL_CLOCK_ERROR_NS && launched_by(b, (uint32_t)(at - 1), start_ns))
            return true;
    }
    return false;
}

/* Appends the pause, and its possible releases: the last kernel of each name that ended right before the end of the
 * pause and was launched before its begin. */
void tl_graph_pause(tl_graph_build *b, tl_pause pause, int64_t start_ns, int64_t end_ns)
{
    size_t first = b->releases.n, ended = tl_graph_ended(b, end_ns + TL_WAKE_SPREAD_NS);
    int64_t since = tl_ns_max(start_ns, end_ns - TL_WAKE_NS);

    for (size_t i = ended; i > 0; i--) {
        uint32_t kernel = b->by_end[i - 1];
        const tl_kernel *k = &b->view->kernels[kernel];
        uint64_t name = b->placed[kernel].name;
        uint32_t nends = 0; /* number of ends of that name's kernels within the pause */
        bool seen = false;
        if (k->end_ns < since)
            break;
        for (size_t r = first; r < b->releases.n; r++)
            seen = seen || b->releases.v[r].name == name;
        if (seen || b->placed[kernel].launch_ns >= start_ns) /* TL_TIME_UNKNOWN is below all times */
            continue;
        for (size_t e = ended; e > 0 && b->view->kernels[b->by_end[e - 1]].end_ns > start_ns; e--)
            nends += b->placed[b->by_end[e - 1]].name == name;
        tl_vec_push(&b->releases, (tl_pause_release){ name, end_ns - k->end_ns, b->placed[kernel].end, nends });
    }
    pause.first_release = (uint32_t)first;
    tl_vec_push(&b->pauses, pause);
}
