/* shared.c - transfers that have the wires of their ranks to themselves.
 *
 *     ranks 0-1   |====|      |===|           what goes on at one rank at a time shares its wires: each takes
 *     ranks 1-2      |=====|        |===|     longer, as long as another lasts.  A slow link is slow also where
 *                                             nothing else is on it.
 */
#include "shared.h"
#include "tlmpi/base/mem.h"
#include "tlmpi/base/sort.h"
#include "tlmpi/base/stats.h"
#include <stdlib.h>

typedef struct busy {
    int64_t start_ns, end_ns;
    uint32_t rank, collective;
} busy;

static int by_rank(const void *a, const void *b)
{
    const busy *x = a, *y = b;
    int order = TL_COMPARE(x->rank, y->rank);
    order = order != 0 ? order : TL_COMPARE(x->start_ns, y->start_ns);
    return order != 0 ? order : TL_COMPARE(x->collective, y->collective);
}

/* From when the last of its ranks had come, each until it was done. */
static size_t list(const tl_link_input *in, busy *v)
{
    size_t n = 0;
    for (uint32_t i = 0; i < in->ncollectives; i++) {
        const tl_link_collective *c = &in->collectives[i];
        int64_t start_ns = INT64_MIN;
        for (uint32_t k = c->first; k < c->first + c->n; k++)
            start_ns = tl_ns_max(start_ns, in->ends[k].start_ns);
        for (uint32_t k = c->first; k < c->first + c->n; k++)
            v[n++] = (busy){ start_ns, in->ends[k].end_ns, in->ends[k].rank, i };
    }
    return n;
}

bool tl_link_find_shared(const tl_link_input *in, bool *shared)
{
    size_t n = 0;
    for (uint32_t i = 0; i < in->ncollectives; i++)
        n += in->collectives[i].n;
    busy *v = tl_malloc((n + 1) * sizeof *v);
    if (v == NULL)
        return false;
    n = list(in, v);
    if (n > 1)
        qsort(v, n, sizeof *v, by_rank);
    for (size_t i = 1, longest = 0; i < n; i++) {
        if (v[i].rank == v[longest].rank && v[i].start_ns < v[longest].end_ns)
            shared[v[i].collective] = shared[v[longest].collective] = true;
        if (v[i].rank != v[longest].rank || v[i].end_ns > v[longest].end_ns)
            longest = i;
    }
    free(v);
    return true;
}
