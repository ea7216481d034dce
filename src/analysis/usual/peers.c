/* peers.c - what others of a role needed for the same piece of a step.
 *
 *     rank 0   |  c0  |a|  c1  |b| c2 |       a step of three ranks of a role; a, b: collectives
 *     rank 1   | c0 |a|   c1   |b|  c2  |     the k-th cells are compared, where the steps have the same collectives in
 *     rank 2        |a| c1 |b| c2 |           the same order; of one that is not whole those that it has whole
 */
#include "compare.h"
#include "tlmpi/base/mem.h"
#include "tlmpi/base/sort.h"
#include <stdlib.h>

static int by_role(const void *a, const void *b)
{
    const tl_block *x = a, *y = b;
    int order = TL_COMPARE(x->role, y->role);
    order = order != 0 ? order : TL_COMPARE(x->step, y->step);
    order = order != 0 ? order : TL_COMPARE(x->structure, y->structure);
    order = order != 0 ? order : TL_COMPARE(x->n, y->n);
    order = order != 0 ? order : TL_COMPARE(x->rank, y->rank);
    return order != 0 ? order : TL_COMPARE(x->first, y->first);
}

static int by_rank(const void *a, const void *b)
{
    const tl_block *x = a, *y = b;
    int order = TL_COMPARE(x->rank, y->rank);
    order = order != 0 ? order : TL_COMPARE(x->structure, y->structure);
    order = order != 0 ? order : TL_COMPARE(x->n, y->n);
    return order != 0 ? order : TL_COMPARE(x->first, y->first);
}

static bool alike(const tl_block *a, const tl_block *b)
{
    return a->structure == b->structure && a->n == b->n;
}

bool tl_blocks_alike(const tl_block *a, const tl_block *b)
{
    return a->rank == b->rank && alike(a, b);
}

/* Ranks of one role in one step: most of them do the same.  A rank alone is put aside: kept[*nkept]. */
static bool compare_role(tl_comparing *c, const tl_block *v, size_t n, tl_block *kept, size_t *nkept)
{
    tl_whatif_facts *facts = &c->w->facts;
    size_t from = 0, most = 0;
    bool cut = false, stepless = v[0].step == INT64_MIN;

    if (n == 1) {
        kept[(*nkept)++] = v[0];
        return true;
    }
    for (size_t i = 0, to; i < n; i = to) {
        for (to = i; to < n && alike(&v[i], &v[to]); to++)
            cut = cut || v[to].no_front || v[to].no_back;
        if (to - i > most) {
            most = to - i;
            from = i;
        }
    }
    if (cut && !stepless)
        return tl_compare_cut(c, v, n);
    /* Without steps the whole recording is one, and not whole on either side. */
    size_t skip = stepless && v[from].n >= 2;
    if (most >= 2 && !tl_compare_blocks(c, v + from, most, skip, v[from].n - skip))
        return false;
    facts->compared += most >= 2 ? most : 0;
    for (size_t i = 0; i < n; i++) {
        if (most >= 2 && i >= from && i < from + most)
            continue;
        if (stepless) {
            facts->uncompared++;
            continue;
        }
        if (most < 2)
            tl_compare_sums(c, &v[i], v, n);
        else if (!tl_whatif_compare_partly(c->w, &v[i], v + from, most))
            return false;
        facts->by_sums++;
    }
    return true;
}

/* So many steps of a rank alone tell what it needs, fewer do not. */
enum { STEPS_ENOUGH = 3 };

/* Steps of a rank that nobody shares its role with. */
static bool compare_lonely(tl_comparing *c, tl_block *v, size_t n)
{
    tl_whatif_facts *facts = &c->w->facts;
    size_t whole = 0, compared = 0;

    for (size_t i = 0; i < n; i++) {
        if (!v[i].no_front && !v[i].no_back)
            v[whole++] = v[i];
        else
            facts->uncompared += v[i].step == INT64_MIN;
    }
    if (whole > 1)
        qsort(v, whole, sizeof *v, by_rank);
    for (size_t i = 0, to; i < whole; i = to) {
        for (to = i; to < whole && tl_blocks_alike(&v[i], &v[to]); to++)
            ;
        bool enough = to - i >= STEPS_ENOUGH;
        if (enough && !tl_compare_blocks(c, v + i, to - i, 0, v[i].n))
            return false;
        *(enough ? &facts->by_steps : &facts->uncompared) += to - i;
        for (size_t k = i; enough && k < to; k++)
            v[compared++] = v[k];
    }
    return tl_whatif_compare_growth(c->w, v, compared);
}

bool tl_whatif_compare(tl_whatif *w)
{
    tl_comparing c = { .w = w };
    size_t nkept = 0, n = 0;
    tl_block *blocks = NULL, *kept = NULL;

    bool whole = tl_whatif_cut(w, &blocks, &n);
    if (whole) {
        c.numbers = tl_malloc((w->ncells + n + 1) * sizeof *c.numbers);
        c.common = tl_malloc((n + 1) * sizeof *c.common);
        kept = tl_malloc((n + 1) * sizeof *kept);
        whole = c.numbers != NULL && c.common != NULL && kept != NULL;
    }
    if (whole && n > 1)
        qsort(blocks, n, sizeof *blocks, by_role);
    for (size_t i = 0, to; whole && i < n; i = to) {
        for (to = i; to < n && blocks[to].role == blocks[i].role && blocks[to].step == blocks[i].step; to++)
            ;
        tl_end_in_turn(&c, blocks + i, to - i);
        whole = compare_role(&c, blocks + i, to - i, kept, &nkept);
    }
    whole = whole && compare_lonely(&c, kept, nkept) && tl_whatif_compare_kinds(w, blocks, n) &&
            tl_whatif_compare_pace(w, blocks, n) &&
            tl_whatif_compare_stages(w, blocks, n);
    if (whole)
        tl_whatif_add_contended(w);
    free(blocks);
    free(c.numbers);
    free(c.common);
    free(kept);
    return whole;
}
