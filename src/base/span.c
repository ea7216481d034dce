/* span.c - set operations on sorted, disjoint, half-open spans.
 *
 *     a            [-----)    [-------)  [--)
 *     b        [------)  [------)
 *     without         [--)      [-----)  [--)
 *
 * Each operation first makes room for the largest possible result, and then walks both sets once.
 */
#include "tlmpi/base/sort.h"
#include "tlmpi/base/span.h"
#include "tlmpi/base/mem.h"

#include <stdlib.h>

void tl_spans_free(tl_spans *set)
{
    free(set->v);
    *set = (tl_spans){ 0 };
}

/* Empties the set and makes room for n spans. */
static void start_over(tl_spans *set, size_t n)
{
    set->n = 0;
    tl_grow((void **)&set->v, &set->cap, n, sizeof *set->v);
}

static void add_disjoint(tl_spans *set, int64_t start_ns, int64_t end_ns)
{
    set->v[set->n++] = (tl_span){ start_ns, end_ns };
}

void tl_spans_add(tl_spans *set, int64_t start_ns, int64_t end_ns)
{
    if (start_ns >= end_ns)
        return;
    if (set->n > 0 && start_ns <= set->v[set->n - 1].end_ns) {
        tl_span *last = &set->v[set->n - 1];
        if (last->end_ns < end_ns)
            last->end_ns = end_ns;
        return;
    }
    tl_vec_room(set);
    add_disjoint(set, start_ns, end_ns);
}

TL_SORT_BY(by_start, tl_span, start_ns)

void tl_spans_add_all(tl_spans *set, tl_span *v, size_t n)
{
    if (n > 1)
        qsort(v, n, sizeof *v, by_start);
    for (size_t i = 0; i < n; i++)
        tl_spans_add(set, v[i].start_ns, v[i].end_ns);
}

void tl_spans_subtract(tl_spans *out, const tl_spans *a, const tl_spans *b)
{
    start_over(out, a->n + b->n);

    size_t j = 0;
    for (size_t i = 0; i < a->n; i++) {
        int64_t from_ns = a->v[i].start_ns, to_ns = a->v[i].end_ns;

        /* A span of b that reaches past this one of a is used again for the next one. */
        for (; j < b->n && b->v[j].start_ns < to_ns; j++) {
            if (b->v[j].start_ns > from_ns)
                add_disjoint(out, from_ns, b->v[j].start_ns);
            if (b->v[j].end_ns > from_ns)
                from_ns = b->v[j].end_ns;
            if (from_ns >= to_ns)
                break;
        }
        if (from_ns < to_ns)
            add_disjoint(out, from_ns, to_ns);
    }
}

/* Returns the number of spans of the set that end at or before ns. */
static size_t ended_by(const tl_spans *set, int64_t ns)
{
    size_t low = 0;
    TL_BISECT(low, set->n, mid, set->v[mid].end_ns <= ns);
    return low;
}

void tl_spans_clip(tl_spans *out, const tl_spans *a, int64_t from_ns, int64_t to_ns)
{
    /* Steps clip the same large set repeatedly: only the spans inside the window are read. */
    size_t first = ended_by(a, from_ns), last = first;
    while (last < a->n && a->v[last].start_ns < to_ns)
        last++;
    start_over(out, last - first);

    for (size_t i = first; i < last; i++) {
        int64_t start_ns = a->v[i].start_ns > from_ns ? a->v[i].start_ns : from_ns;
        int64_t end_ns = a->v[i].end_ns < to_ns ? a->v[i].end_ns : to_ns;
        if (start_ns < end_ns)
            add_disjoint(out, start_ns, end_ns);
    }
}

int64_t tl_spans_total(const tl_spans *set)
{
    /* Disjoint spans cover at most 2^64 - 1 instants, which fits unsigned; those of a damaged trace may not fit in
     * int64_t. */
    uint64_t total = 0;
    for (size_t i = 0; i < set->n; i++)
        total += (uint64_t)set->v[i].end_ns - (uint64_t)set->v[i].start_ns;
    return total <= INT64_MAX ? (int64_t)total : INT64_MAX;
}
