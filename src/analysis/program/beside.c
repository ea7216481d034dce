/* beside.c - copies that run beside the rank's work.
 *
 *     compute   [ k1 ][ k2 ][ k3 ]..........[ k4 ]
 *     copies       [       the next batch     ]
 *
 * Copy engines work beside the kernels, and a stream that carries nothing but copies waits for no kernel's end: k2 and
 * k3 do not come after the copy, and what they end would end then without it, too.  Only who waits for its end is held
 * up by it, as k4 is.  A copy that the host waits for stays where it is: the host goes on when it is done.
 */
#include "build.h"
#include "tlmpi/base/mem.h"
#include "tlmpi/base/sort.h"
#include <stdlib.h>

#define US      INT64_C(1000)
#define WAKE_NS (20 * US) /* a host that waited for a copy goes on so soon after it */

static bool is_copy(const tl_kernel *k)
{
    return k->kind == TL_MEMCPY || k->kind == TL_MEMSET;
}

/* Whether some wait of the host ended with it. */
static bool was_waited_for(const tl_building *b, const tl_host_waits *waits, const tl_kernel *k)
{
    size_t low = 0;
    TL_BISECT(low, waits->n, mid, tl_on_device(b, waits->v[mid].end_ns) < k->end_ns - WAKE_NS);
    for (; low < waits->n && tl_on_device(b, waits->v[low].end_ns) <= k->end_ns + WAKE_NS; low++)
        if (waits->v[low].kind != TL_WAIT_QUEUE && tl_on_device(b, waits->v[low].start_ns) < k->end_ns)
            return true;
    return false;
}

/* The kernels of one device stand together: where those end, and whether any of them computes. */
static size_t end_of_device(const tl_rank_view *view, size_t from, bool *computes)
{
    size_t to = from;
    for (*computes = false; to < view->nkernels && view->kernels[to].device == view->kernels[from].device; to++)
        *computes = *computes || view->kernels[to].kind == TL_COMPUTE;
    return to;
}

bool tl_building_find_beside(tl_building *b, const tl_host_waits *waits)
{
    const tl_kernel *k = b->view->kernels;
    size_t n = b->view->nkernels, end = 0;
    bool computes = false;

    b->beside = tl_calloc(b->nlocal + 1, sizeof *b->beside);
    if (b->beside == NULL)
        return false;
    for (size_t from = 0, to; from < n; from = to) {
        bool copies = true;
        if (from == end)
            end = end_of_device(b->view, from, &computes);
        for (to = from; to < n && tl_same_stream(&k[from], &k[to]); to++)
            copies = copies && is_copy(&k[to]);
        if (!copies || !computes)
            continue;
        for (size_t i = from; i < to; i++)
            b->beside[b->comm_of[i]] = !was_waited_for(b, waits, &k[i]);
    }
    return true;
}
