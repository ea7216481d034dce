/* usual.c - what transfers usually take, and how long ranks stay in what they may leave early. */
#include "tlmpi/base/mem.h"
#include "tlmpi/base/sort.h"
#include "tlmpi/base/stats.h"
#include "tlmpi/analysis/usual.h"
#include <stdlib.h>

static int by_like(const void *graph, uint32_t x, uint32_t y)
{
    const tl_whatif *w = graph;
    uint32_t a = w->in.collectives[x].like, b = w->in.collectives[y].like;
    if (a != b)
        return a < b ? -1 : 1;
    return w->took_ns[x] != w->took_ns[y] ? TL_COMPARE(w->took_ns[x], w->took_ns[y]) : TL_COMPARE(x, y);
}

/* What a transfer usually takes, of n in order: the median, the lower of the middle two; but where a good part of them
 * took much less than that, what those took: then it is the median that is slow. */
static int64_t usual_transfer(const tl_whatif *w, const uint32_t *order, size_t n)
{
    int64_t median = w->took_ns[order[tl_lower_middle(n)]], quarter = w->took_ns[order[tl_lower_quarter(n)]];
    return median - quarter > quarter / 5 ? quarter : median;
}

bool tl_whatif_compare_links(tl_whatif *w)
{
    size_t n = 0;
    uint32_t *order = tl_malloc((w->in.ncollectives + 1) * sizeof *order);

    for (size_t i = 0; order != NULL && i < w->in.ncollectives; i++)
        if (!w->dissolved[i] && w->in.collectives[i].n >= 2)
            order[n++] = (uint32_t)i;
    if (order == NULL || !tl_sort_index(order, n, by_like, w)) {
        free(order);
        return false;
    }
    for (size_t i = 0, to; i < n; i = to) {
        for (to = i; to < n && w->in.collectives[order[to]].like == w->in.collectives[order[i]].like; to++)
            ;
        for (size_t k = i; k < to; k++)
            w->like_ns[order[k]] = usual_transfer(w, order + i, to - i);
    }
    free(order);
    return true;
}

static int by_transfer(const void *graph, uint32_t x, uint32_t y)
{
    const tl_whatif *w = graph;
    return TL_COMPARE(w->transfer_ns[x], w->transfer_ns[y]);
}

/* Ranks of several roles do not send each other equal amounts: what seems one collective of stages of a pipeline is what
 * each sends to the next, as nobody tells to whom. */
static bool of_one_role(const tl_whatif *w, const tl_whatif_collective *c)
{
    uint32_t first = w->in.members[c->first].rank;
    for (uint32_t i = 1; i < c->n; i++) {
        uint32_t rank = w->in.members[c->first + i].rank;
        if (first < w->in.nranks && rank < w->in.nranks && w->in.roles[rank] != w->in.roles[first])
            return false;
    }
    return true;
}

/* How much longer than the others each stayed in collectives of three and more that one may leave early: an all-to-all
 * takes whoever is sent more a longer time. */
bool tl_whatif_find_tails(tl_whatif *w)
{
    uint32_t *order = tl_malloc((w->ncomms + 1) * sizeof *order);

    for (size_t c = 0; order != NULL && c < w->in.ncollectives; c++) {
        const tl_whatif_collective *v = &w->in.collectives[c];
        size_t n = v->n;
        if (!v->loose || w->dissolved[c] || n < 3 || !of_one_role(w, v))
            continue;
        for (size_t i = 0; i < n; i++)
            order[i] = (uint32_t)(w->comm_base[w->in.members[v->first + i].rank] + w->in.members[v->first + i].comm);
        if (!tl_sort_index(order, n, by_transfer, w)) {
            free(order);
            return false;
        }
        for (size_t i = 0; i < n; i++) {
            size_t low = tl_other_place(tl_lower_middle(n - 1), i), high = tl_other_place(tl_upper_middle(n - 1), i);
            int64_t others_ns = tl_mean_of_two(w->transfer_ns[order[low]], w->transfer_ns[order[high]]);
            w->tail_ns[order[i]] = tl_ns_max(0, w->transfer_ns[order[i]] - others_ns);
        }
    }
    free(order);
    return order != NULL;
}
