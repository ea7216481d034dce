/* rank_waits.c - how long each rank of a collective waited, and for which rank. */
#include "tlmpi/analysis/collective/wait.h"
#include "tlmpi/base/mem.h"
#include "tlmpi/base/sort.h"
#include "tlmpi/base/stats.h"
#include "tlmpi/model/parameters.h"
#include <stdlib.h>

bool tl_clocks_hide(const tl_collective_view *c, int64_t first_ns, int64_t last_ns, int64_t wait_ns, int64_t kernel_ns)
{
    double doubt = 2 * (double)c->uncertainty_ns;
    return (double)tl_ns_between(last_ns, first_ns) < doubt &&
           (double)wait_ns + doubt * (double)c->n >= (1 - TL_MOST_SHARE) * (double)kernel_ns;
}

/* Returns the wait state of a point-to-point pair: whether the last arrival is sender, receiver or both. */
static tl_wait_state state_of_pair(const tl_participant *p)
{
    const tl_participant *late = p[1].start_ns > p[0].start_ns ? &p[1] : &p[0], *other = late == p ? &p[1] : &p[0];
    bool sends = late->kind == TL_SEND || (other->kind == TL_RECV && late->kind != TL_RECV);
    bool receives = late->kind == TL_RECV || (other->kind == TL_SEND && late->kind != TL_SEND);
    return sends == receives ? TL_WAIT_LATE_PARTNER : sends ? TL_WAIT_LATE_SENDER : TL_WAIT_LATE_RECEIVER;
}

tl_wait_state tl_wait_state_of(const tl_collective_view *c)
{
    int64_t first = INT64_MAX, last = INT64_MIN;
    for (size_t i = 0; i < c->n; i++) {
        first = tl_ns_min(first, c->by_rank[i].start_ns);
        last = tl_ns_max(last, c->by_rank[i].start_ns);
    }
    if (c->n < 2 || c->state == TL_COLL_UNMATCHED)
        return TL_WAIT_NONE;
    if (c->suspect != TL_SUSPECT_NOTHING)
        return TL_WAIT_SUSPECT;
    if (tl_ns_between(last, first) / 2 < c->uncertainty_ns)
        return TL_WAIT_INCONCLUSIVE;
    if (c->n == 2 && tl_is_point_to_point((tl_collective)c->kind))
        return state_of_pair(c->by_rank);
    return TL_WAIT_LATE_RANK;
}

tl_comm_doubt tl_comm_doubt_of(const tl_collective_view *c)
{
    static const uint8_t of_state[] = { [TL_COLL_WHOLE] = TL_COMM_DOUBT_NONE,
                                        [TL_COLL_PARTIAL] = TL_COMM_DOUBT_NO_TRACE,
                                        [TL_COLL_MISSING] = TL_COMM_DOUBT_MISSING,
                                        [TL_COLL_UNMATCHED] = TL_COMM_DOUBT_UNMATCHED };
    if (c->suspect != TL_SUSPECT_NOTHING)
        return TL_COMM_DOUBT_SUSPECT;
    if (tl_is_point_to_point((tl_collective)c->kind) && c->size < 0)
        return TL_COMM_DOUBT_PARTNER;
    if (c->state == TL_COLL_WHOLE && c->uncertainty_ns >= TL_CLOCK_UNTIED_NS)
        return TL_COMM_DOUBT_CLOCKS;
    return (tl_comm_doubt)of_state[c->state];
}

/* An arrival up to TL_CLOCK_ERROR_NS after end_ns counts as before, since the clocks of two devices differ. */
int64_t tl_wait_end(const int64_t *starts, size_t n, int64_t end_ns)
{
    int64_t until_ns = tl_ns_sum(end_ns, TL_CLOCK_ERROR_NS);
    size_t come = 0;
    TL_BISECT(come, n, mid, starts[mid] <= until_ns);
    return come > 0 ? tl_ns_min(starts[come - 1], end_ns) : end_ns;
}

void tl_wait_each(const tl_collective_view *c, int64_t *waits_ns)
{
    int64_t last_ns = INT64_MIN, *starts = &last_ns;
    size_t n = 1;

    if (tl_is_loose((tl_collective)c->kind)) {
        n = c->n;
        starts = tl_malloc((n + 1) * sizeof *starts);
        for (size_t i = 0; i < n; i++)
            starts[i] = c->by_rank[i].start_ns;
        tl_ns_sort(starts, n);
    } else {
        for (size_t i = 0; i < c->n; i++)
            last_ns = tl_ns_max(last_ns, c->by_rank[i].start_ns);
    }
    for (size_t i = 0; i < c->n; i++) {
        const tl_participant *p = &c->by_rank[i];
        waits_ns[i] = tl_ns_between(tl_ns_max(tl_wait_end(starts, n, p->end_ns), p->start_ns), p->start_ns);
    }
    if (starts != &last_ns)
        free(starts);
}
