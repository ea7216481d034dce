/* pause.c - what may have ended a pause of the host: the last work of each name that ended right before, launched
 * before it. */
#include "build.h"
#include "tlmpi/base/stats.h"

/* Returns how many kernels of a name ended in the pause. */
static uint32_t ends_in(const tl_graph_build *b, uint64_t name, int64_t start_ns, size_t until)
{
    uint32_t n = 0;
    for (size_t i = until; i > 0 && b->view->kernels[b->by_end[i - 1]].end_ns > start_ns; i--)
        n += b->placed[b->by_end[i - 1]].name == name;
    return n;
}

void tl_graph_pause(tl_graph_build *b, tl_pause pause, int64_t start_ns, int64_t end_ns)
{
    size_t first = b->releases.n, ended = tl_graph_ended(b, end_ns + TL_WAKE_SPREAD_NS);
    int64_t since = tl_ns_max(start_ns, end_ns - TL_WAKE_NS);

    for (size_t i = ended; i > 0; i--) {
        uint32_t kernel = b->by_end[i - 1];
        const tl_kernel *k = &b->view->kernels[kernel];
        uint64_t name = b->placed[kernel].name;
        bool seen = false;
        if (k->end_ns < since)
            break;
        for (size_t r = first; r < b->releases.n; r++)
            seen = seen || b->releases.v[r].name == name;
        if (seen || b->placed[kernel].launch_ns >= start_ns) /* TL_TIME_UNKNOWN: before all of them */
            continue;
        tl_vec_room(&b->releases);
        b->releases.v[b->releases.n++] = (tl_pause_release){ .name = name,
                                                             .lag_ns = end_ns - k->end_ns,
                                                             .node = b->placed[kernel].end,
                                                             .nends = ends_in(b, name, start_ns, ended) };
    }
    tl_vec_room(&b->pauses);
    pause.first_release = (uint32_t)first;
    b->pauses.v[b->pauses.n++] = pause;
}
