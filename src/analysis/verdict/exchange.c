/* exchange.c - in an all-to-all a slow link holds up its two ends alone.
 *
 *     rank 0   [ waits |  transfer  ]
 *     rank 1   [ waits |  transfer  ]---------]     the only two of their group that are late alike in the same
 *     rank 2   [ waits |  transfer  ]               steps: the data between them are slow
 *     rank 3   [ waits |  transfer  ]---------]
 *
 * One of the two may be late for something else, too.  A rank that is late alone is sent more data than the others; of
 * three or more late ranks the slow pairs cannot be told.
 */
#include "internal.h"
#include "tlmpi/base/mem.h"
#include "tlmpi/base/stats.h"
#include "tlmpi/model/parameters.h"

/* Whether that is a class of members that stay, of the kind of collective. */
static bool is_stay(const tl_work_class *class, uint8_t *kind)
{
    for (*kind = 0; *kind < TL_NCOLLECTIVES; ++*kind)
        if (class->key == tl_stay_key(*kind))
            return true;
    return false;
}

static int64_t pieces_of(const tl_baseline *b, const tl_work_class *class, uint32_t rank, const bool *on)
{
    int64_t n = 0;
    for (size_t k = 0, cell = b->index_in_role[rank] * class->steps.n; k < class->steps.n; k++, cell++)
        n += on == NULL || on[class->steps.v[k]] ? class->pieces[cell] : 0;
    return n;
}

tl_stay tl_stay_of(const tl_baseline *b, const tl_candidate *candidate, int64_t *scratch)
{
    tl_stay stay = { 0 };
    if (candidate->rank == TL_NONE || candidate->family != TL_FAMILY_DEVICE)
        return stay;
    for (uint32_t c = 0; c < b->nclasses; c++) {
        const tl_work_class *class = &b->classes[c];
        uint8_t kind;
        int64_t own_ns;
        if (class->role != candidate->role || class->family != TL_FAMILY_DEVICE || !is_stay(class, &kind) ||
            pieces_of(b, class, candidate->rank, NULL) == 0)
            continue;
        stay.baseline_ns +=
            tl_baseline_of(b, class, b->index_in_role[candidate->rank], candidate->on, &own_ns, scratch);
        stay.own_ns += own_ns;
        stay.kind = kind;
        stay.pieces += pieces_of(b, class, candidate->rank, candidate->on);
    }
    return stay;
}

size_t tl_link_of_both(const tl_baseline *b, uint32_t x, uint32_t y)
{
    for (size_t l = 0; l < b->nlinks; l++) {
        size_t has = 0;
        for (uint32_t i = 0; b->links[l].n > 2 && i < b->links[l].n; i++) {
            uint32_t member = b->link_members[b->links[l].first + i];
            has += member == x || member == y;
        }
        if (has == 2)
            return l;
    }
    return b->nlinks;
}

typedef struct pairing {
    const tl_baseline *b;
    const tl_candidate *candidates;
    int64_t *late_ns; /* by candidate: by how much it stays longer than usual */
    bool *for_it;     /* by candidate: that is what it is late for */
    bool *both;       /* [nsteps] */
    int64_t *scratch;
} pairing;

/* Whether x is late for the most part in steps in which y is. */
static bool is_late_with(const pairing *p, const tl_candidate *x, const tl_candidate *y, int64_t x_ns)
{
    tl_candidate part = *x;
    part.on = p->both;
    for (size_t s = 0; s < p->b->nsteps; s++)
        p->both[s] = x->on[s] && y->on[s];
    tl_stay stay = tl_stay_of(p->b, &part, p->scratch);
    return (double)(stay.own_ns - stay.baseline_ns) >= TL_CAUSE_SHARE * (double)x_ns;
}

static bool alike(const pairing *p, const tl_candidate *x, const tl_candidate *y, int64_t x_ns, int64_t y_ns)
{
    return (p->for_it[x - p->candidates] || p->for_it[y - p->candidates]) &&
           (double)tl_ns_min(x_ns, y_ns) >= TL_CAUSE_SHARE * (double)tl_ns_max(x_ns, y_ns) &&
           is_late_with(p, x, y, x_ns) && is_late_with(p, y, x, y_ns) &&
           tl_link_of_both(p->b, x->rank, y->rank) < p->b->nlinks;
}

void tl_exchanges_find(const tl_baseline *b, const bool *chosen, tl_findings *out)
{
    size_t n = out->candidates.n;
    tl_candidate *candidates = out->candidates.v;
    tl_arena arena = { 0 };
    pairing p = { .b = b,
                  .candidates = candidates,
                  .late_ns = tl_arena_zeroed(&arena, n, sizeof *p.late_ns),
                  .for_it = tl_arena_zeroed(&arena, n, sizeof *p.for_it),
                  .both = tl_arena_take(&arena, b->nsteps, sizeof *p.both),
                  .scratch = tl_arena_take(&arena, b->graph->nranks + b->nsteps, sizeof *p.scratch) };
    uint32_t *one = tl_arena_take(&arena, n, sizeof *one); /* the only candidate like a candidate; TL_NONE: not one */

    for (size_t u = 0; u < n; u++) {
        tl_stay stay = chosen[u] ? tl_stay_of(b, &candidates[u], p.scratch) : (tl_stay){ 0 };
        int64_t ns = stay.own_ns - stay.baseline_ns;
        p.late_ns[u] = tl_ns_max(0, ns);
        p.for_it[u] = ns > 0 && (double)ns >= TL_CAUSE_SHARE * (double)candidates[u].late_ns;
    }
    for (uint32_t u = 0; u < n; u++) {
        size_t nlike = 0;
        one[u] = TL_NONE;
        for (uint32_t v = 0; p.late_ns[u] > 0 && v < n; v++)
            if (v != u && p.late_ns[v] > 0 && alike(&p, &candidates[u], &candidates[v], p.late_ns[u], p.late_ns[v])) {
                one[u] = v;
                nlike++;
            }
        one[u] = nlike == 1 ? one[u] : TL_NONE;
    }
    for (uint32_t u = 0; u < n; u++)
        candidates[u].with = one[u] != TL_NONE && one[one[u]] == u ? one[u] : TL_NONE;
    tl_arena_free(&arena);
}
