/* program_beside.c - copies that run beside the rank's work.
 *
 *     compute   [ k1 ][ k2 ][ k3 ]..........[ k4 ]
 *     copies       [       the next batch     ]
 *
 * Copy engines work beside the kernels, and a stream that carries nothing but copies waits for no kernel's end: k2 and k3 do
 * not come after the copy, and what they end would end then without it, too.  Only who waits for its end is held up by it,
 * as k4 is.  A copy that the host waits for stays where it is: the host goes on when it is done.
 */
#include "program_build.h"
#include "tlmpi/base/mem.h"
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
    size_t low = 0, high = waits->n;
    while (low < high) {
        size_t mid = (low + high) / 2;
        if (tl_on_device(b, waits->v[mid].end_ns) < k->end_ns - WAKE_NS)
            low = mid + 1;
        else
            high = mid;
    }
    for (; low < waits->n && tl_on_device(b, waits->v[low].end_ns) <= k->end_ns + WAKE_NS; low++)
        if (waits->v[low].kind != TL_WAIT_QUEUE && tl_on_device(b, waits->v[low].start_ns) < k->end_ns)
            return true;
    return false;
}

static bool device_computes(const tl_building *b, int32_t device)
{
    for (size_t i = 0; i < b->view->nkernels; i++)
        if (b->view->kernels[i].device == device && b->view->kernels[i].kind == TL_COMPUTE)
            return true;
    return false;
}

bool tl_building_find_beside(tl_building *b, const tl_host_waits *waits)
{
    const tl_kernel *k = b->view->kernels;
    size_t n = b->view->nkernels;

    b->beside = tl_calloc(b->nlocal + 1, sizeof *b->beside);
    if (b->beside == NULL)
        return false;
    for (size_t from = 0, to; from < n; from = to) {
        bool copies = true;
        for (to = from; to < n && tl_same_stream(&k[from], &k[to]); to++)
            copies = copies && is_copy(&k[to]);
        if (!copies || !device_computes(b, k[from].device))
            continue;
        for (size_t i = from; i < to; i++)
            b->beside[b->comm_of[i]] = !was_waited_for(b, waits, &k[i]);
    }
    return true;
}
