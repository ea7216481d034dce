/* cause.c - compares a rank with its peers, name by name, and derives the cause from the differences. */
#include "internal.h"
#include "tlmpi/base/quantile.h"
#include "tlmpi/base/sort.h"
#include <stdlib.h>

TL_SORT_BY(by_key, tl_cause_row, kind, name, rank)

static bool same_key(const tl_cause_row *x, const tl_cause_row *y)
{
    return x->kind == y->kind && x->name == y->name;
}

/* Returns the median of npeers values: v[n], and 0 for the rest. */
static double median(double *v, size_t n, size_t npeers)
{
    while (n < npeers)
        v[n++] = 0;
    return n > 0 ? tl_real_median(v, n) : 0;
}

/* One name's values of the peers. */
typedef struct of_peers {
    double *ns, *count, *size; /* [npeers] */
} of_peers;

/* Returns the comparison of one name: the rank's own values, and the medians and maxima of its peers. */
static tl_cause_entry entry_of(const tl_cause_row *rows, size_t n, const tl_cause_question *q, const of_peers *of)
{
    tl_cause_entry e = { .name = rows->name, .kind = rows->kind, .activity = rows->activity, .frame = rows->frame };
    size_t m = 0, sized = 0;
    double shortest_ns = 0;

    for (size_t i = 0; i < n; i++) {
        const tl_cause_row *row = &rows[i];
        double each = row->count > 0 ? (double)row->size / row->count : 0;
        double mean_ns = row->count > 0 ? (double)row->ns / row->count : 0;
        if (row->rank == q->rank) {
            e.ns = (double)row->ns;
            e.count = row->count;
            e.size = each;
            e.depth = row->depth;
        } else if (m < q->npeers) {
            of->ns[m] = (double)row->ns;
            e.peers_most_ns = of->ns[m] > e.peers_most_ns ? of->ns[m] : e.peers_most_ns;
            of->count[m++] = row->count;
            e.peers_most = each > e.peers_most ? each : e.peers_most;
            e.longest_ns = mean_ns > e.longest_ns ? mean_ns : e.longest_ns;
            shortest_ns = m == 1 || mean_ns < shortest_ns ? mean_ns : shortest_ns;
            if (each > 0)
                of->size[sized++] = each;
        }
    }
    e.apart_ns = e.longest_ns - shortest_ns;
    e.peers_ns = median(of->ns, m, q->npeers);
    e.peers_count = median(of->count, m, q->npeers);
    e.peers_size = median(of->size, sized, sized);
    return e;
}

/* Counts compute kernels of any name: a library may pick a different kernel on each rank. */
static void count_kernels(const tl_cause_row *rows, size_t n, int32_t rank, size_t npeers, int32_t *peers,
                          const of_peers *of, tl_cause_entries *all)
{
    size_t m = 0;
    for (size_t i = 0; i < n; i++) {
        const tl_cause_row *row = &rows[i];
        size_t at = 0;
        if (row->kind != TL_NAMED_WORK || row->activity != TL_ACTIVITY_COMPUTE)
            continue;
        while (at < m && peers[at] != row->rank)
            at++;
        if (row->rank == rank) {
            all->count += row->count;
        } else if (at < npeers) {
            of->count[at] = (at < m ? of->count[at] : 0) + row->count;
            peers[at] = row->rank;
            m += at == m;
        }
    }
    all->peers_count = median(of->count, m, npeers);
}

/* ------------------------------------------------------------------------------------------------------------- all */

/* Returns the activity of the host for a cause of the host. */
static tl_activity_kind activity_of(tl_cause cause)
{
    return cause == TL_CAUSE_INPUT        ? TL_ACTIVITY_INPUT
           : cause == TL_CAUSE_GC         ? TL_ACTIVITY_GC
           : cause == TL_CAUSE_ALLOCATOR  ? TL_ACTIVITY_ALLOCATOR
           : cause == TL_CAUSE_SYNC_DRAIN ? TL_ACTIVITY_SYNC
                                          : TL_ACTIVITY_HOST;
}

static tl_cause_found cause_of(const tl_cause_entries *all, tl_cause cause)
{
    if (tl_cause_is_of_host(cause))
        return (tl_cause_found){ .cause = cause, .dominant_work = tl_cause_of_host(all, activity_of(cause)) };
    if (cause == TL_CAUSE_H2D)
        return (tl_cause_found){ .cause = cause, .dominant_work = tl_cause_largest_of(all, TL_ACTIVITY_H2D) };
    if (cause == TL_CAUSE_COPY)
        return (tl_cause_found){ .cause = cause, .dominant_work = tl_cause_largest_of(all, TL_ACTIVITY_COPY) };
    if (cause == TL_CAUSE_COMPUTE_SLOW)
        cause = tl_cause_of_compute(all);
    else if (cause == TL_CAUSE_MORE_WORK && !tl_cause_has_more(all))
        cause = TL_CAUSE_MIXED;
    bool named = cause == TL_CAUSE_COMPUTE_SLOW || cause == TL_CAUSE_MORE_WORK;
    return (tl_cause_found){ .cause = cause,
                             .dominant_work = named ? tl_cause_largest_of(all, TL_ACTIVITY_COMPUTE) : 0 };
}

void tl_cause_find(tl_cause_row *rows, size_t n, const tl_cause_question *q, tl_cause_found *found)
{
    tl_arena arena = { 0 };
    const of_peers of = { tl_arena_take(&arena, q->npeers, sizeof *of.ns),
                          tl_arena_take(&arena, q->npeers, sizeof *of.count),
                          tl_arena_take(&arena, q->npeers, sizeof *of.size) };
    int32_t *peers = tl_arena_take(&arena, q->npeers, sizeof *peers);
    tl_cause_entries all = { .v = tl_arena_take(&arena, n, sizeof *all.v) };

    *found = (tl_cause_found){ .cause = q->cause };
    if (n > 1)
        qsort(rows, n, sizeof *rows, by_key);
    for (size_t i = 0, to; i < n; i = to) {
        for (to = i + 1; to < n && same_key(&rows[i], &rows[to]); to++)
            ;
        all.v[all.n++] = entry_of(rows + i, to - i, q, &of);
    }
    count_kernels(rows, n, q->rank, q->npeers, peers, &of, &all);
    if (q->npeers > 0) {
        *found = cause_of(&all, q->cause);
        tl_cause_dominant_work(&all, q->least_ns, found);
    }
    tl_arena_free(&arena);
}
