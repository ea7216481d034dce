/* device_work.c - what one device did, as sets of instants.
 *
 *     compute   ..[====]....[===========]......
 *     comm      .....[=======]....[==]..[==]...
 *     edges     . ^  ^ ^     ^^   ^  ^  ^  ^ ^ .     between two of them nothing changes
 */
#include "device_work.h"
#include "tlmpi/base/group.h"
#include "tlmpi/base/stats.h"
#include <stdlib.h>

static int set_of(uint8_t kind)
{
    return kind == TL_COMM ? TL_WORK_COMM : kind == TL_COMPUTE ? TL_WORK_COMPUTE : TL_WORK_COPY;
}

void tl_work_free(tl_work *w)
{
    for (int s = 0; s < TL_WORK_SETS; s++)
        tl_spans_free(&w->set[s]);
    free(w->empty.v);
    *w = (tl_work){ 0 };
}

void tl_work_collect(tl_work *w, const tl_kernel *kernels, size_t n)
{
    uint32_t *order = tl_sorted_index(n, tl_kernel_by_start, kernels);

    *w = (tl_work){ .first_ns = INT64_MAX, .last_ns = INT64_MIN };
    for (size_t i = 0; i < n; i++) {
        const tl_kernel *k = &kernels[order[i]];
        w->first_ns = k->start_ns < w->first_ns ? k->start_ns : w->first_ns;
        w->last_ns = k->end_ns > w->last_ns ? k->end_ns : w->last_ns;
        if (k->end_ns > k->start_ns) {
            tl_spans_add(&w->set[set_of(k->kind)], k->start_ns, k->end_ns);
            continue;
        }
        tl_vec_room(&w->empty);
        w->empty.v[w->empty.n++] = k->start_ns;
    }
    free(order);
}

/* Index of the first instant at or after at_ns. */
static size_t first_from(const tl_work *w, int64_t at_ns)
{
    size_t low = 0;
    TL_BISECT(low, w->empty.n, mid, w->empty.v[mid] < at_ns);
    return low;
}

/* The first start and last end of work in [from, to), cut to it. */
static void extent(const tl_work *w, const tl_work_scratch *c, int64_t from_ns, int64_t to_ns, int64_t *first,
                   int64_t *last)
{
    size_t i = first_from(w, from_ns), j = first_from(w, to_ns);

    *first = i < j ? w->empty.v[i] : INT64_MAX;
    *last = i < j ? w->empty.v[j - 1] : INT64_MIN;
    for (int s = 0; s < TL_WORK_SETS; s++) {
        const tl_spans *set = &c->clipped[s];
        if (set->n == 0)
            continue;
        *first = set->v[0].start_ns < *first ? set->v[0].start_ns : *first;
        *last = set->v[set->n - 1].end_ns > *last ? set->v[set->n - 1].end_ns : *last;
    }
}

/* The definition: the measures of three sets and the time they lie in. */
static void measure(const tl_spans *compute, const tl_spans *comm, const tl_spans *copy, int64_t wall_ns,
                    tl_work_scratch *c, tl_breakdown *row)
{
    tl_spans_subtract(&c->exposed, comm, compute);
    tl_spans_union(&c->either, compute, comm);
    tl_spans_subtract(&c->exposed_copy, copy, &c->either);
    row->wall_ns = wall_ns;
    row->compute_ns = tl_spans_total(compute);
    row->comm_ns = tl_spans_total(comm);
    row->comm_exposed_ns = tl_spans_total(&c->exposed);
    row->copy_ns = tl_spans_total(copy);
    row->copy_exposed_ns = tl_spans_total(&c->exposed_copy);
    row->busy_ns = row->compute_ns + row->comm_exposed_ns + row->copy_exposed_ns;
    row->idle_ns = row->wall_ns - row->busy_ns;
}

void tl_work_measure(const tl_work *w, tl_work_scratch *c, tl_breakdown *row)
{
    measure(&w->set[TL_WORK_COMPUTE], &w->set[TL_WORK_COMM], &w->set[TL_WORK_COPY],
            w->first_ns <= w->last_ns ? w->last_ns - w->first_ns : 0, c, row);
}

void tl_work_measure_in(const tl_work *w, int64_t from_ns, int64_t to_ns, tl_work_scratch *c, tl_breakdown *row)
{
    int64_t first, last;
    for (int s = 0; s < TL_WORK_SETS; s++)
        tl_spans_clip(&c->clipped[s], &w->set[s], from_ns, to_ns);
    extent(w, c, from_ns, to_ns, &first, &last);
    measure(&c->clipped[TL_WORK_COMPUTE], &c->clipped[TL_WORK_COMM], &c->clipped[TL_WORK_COPY],
            first <= last ? last - first : 0, c, row);
}

/* --------------------------------------------------------------------------------------------------- between edges */

void tl_mix_measure(unsigned mix, int64_t ns, tl_breakdown *row)
{
    bool compute = mix & 1u << TL_WORK_COMPUTE, comm = mix & 1u << TL_WORK_COMM, copy = mix & 1u << TL_WORK_COPY;
    row->wall_ns = row->busy_ns = ns;
    row->compute_ns = compute ? ns : 0;
    row->comm_ns = comm ? ns : 0;
    row->comm_exposed_ns = comm && !compute ? ns : 0;
    row->copy_ns = copy ? ns : 0;
    row->copy_exposed_ns = copy && !compute && !comm ? ns : 0;
}

/* The first span that ends at or after the instant; NULL without one. */
static const tl_span *span_from(const tl_spans *set, int64_t at_ns)
{
    size_t low = 0;
    TL_BISECT(low, set->n, mid, set->v[mid].end_ns < at_ns);
    return low < set->n ? &set->v[low] : NULL;
}

int64_t tl_work_next_edge(const tl_work *w, int64_t at_ns)
{
    size_t i = first_from(w, at_ns);
    int64_t edge = i < w->empty.n ? w->empty.v[i] : INT64_MAX;
    for (int s = 0; s < TL_WORK_SETS; s++) {
        const tl_span *span = span_from(&w->set[s], at_ns);
        int64_t next = span == NULL ? INT64_MAX : span->start_ns >= at_ns ? span->start_ns : span->end_ns;
        edge = next < edge ? next : edge;
    }
    return edge;
}

unsigned tl_work_mix_at(const tl_work *w, int64_t at_ns)
{
    unsigned mix = 0;
    for (int s = 0; s < TL_WORK_SETS; s++) {
        const tl_span *span = span_from(&w->set[s], at_ns);
        if (span != NULL && span->start_ns <= at_ns)
            mix |= 1u << s;
    }
    return mix;
}

/* The n-th bound of a set: starts and ends by turns; INT64_MAX past the last. */
static int64_t bound_of(const tl_spans *set, size_t n)
{
    if (n / 2 == set->n)
        return INT64_MAX;
    return n % 2 == 0 ? set->v[n / 2].start_ns : set->v[n / 2].end_ns;
}

void tl_work_add_mixes(const tl_work *w, int64_t ns[TL_WORK_MIXES])
{
    size_t passed[TL_WORK_SETS] = { 0 };
    int64_t next[TL_WORK_SETS], now_ns = w->first_ns;
    unsigned mix = 0;

    for (int s = 0; s < TL_WORK_SETS; s++)
        next[s] = bound_of(&w->set[s], 0);
    while (now_ns < w->last_ns) {
        int64_t next_ns = w->last_ns;
        for (int s = 0; s < TL_WORK_SETS; s++)
            next_ns = tl_ns_min(next_ns, next[s]);
        ns[mix] = tl_ns_add(ns[mix], next_ns - now_ns);
        now_ns = next_ns;
        for (int s = 0; s < TL_WORK_SETS; s++) {
            if (next[s] != now_ns)
                continue;
            next[s] = bound_of(&w->set[s], ++passed[s]);
            mix ^= 1u << s;
        }
    }
}

void tl_work_scratch_free(tl_work_scratch *scratch)
{
    for (int s = 0; s < TL_WORK_SETS; s++)
        tl_spans_free(&scratch->clipped[s]);
    tl_spans_free(&scratch->exposed);
    tl_spans_free(&scratch->either);
    tl_spans_free(&scratch->exposed_copy);
}
