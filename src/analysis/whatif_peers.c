/* whatif_peers.c - what others of a role needed for the same piece of a step.
 *
 *     rank 0   |  c0  |a|  c1  |b| c2 |      The k-th cells of a step are compared, if the steps of the ranks have the
 * same rank 1   | c0 |a|   c1   |b|  c2  |    collectives in the same order; where a recording begins or ends in the
 * step, rank 2      0 |a| c1 |b| c2 |          those that it has whole.
 */
#include "tlmpi/base/mem.h"
#include "tlmpi/base/sort.h"
#include "whatif_peers.h"
#include <stdlib.h>

typedef struct comparing {
    tl_whatif *w;
    size_t medians_cap;
    tl_block *common; /* scratch, as many as there are blocks */
    struct number {
        int64_t ns;
        size_t of;
    } * numbers; /* scratch, as many as there are cells or blocks */
} comparing;

/* --------------------------------------------------------------------------------------------------------- medians */

static int by_number(const void *a, const void *b)
{
    const struct number *x = a, *y = b;
    if (x->ns != y->ns)
        return x->ns < y->ns ? -1 : 1;
    return TL_COMPARE(x->of, y->of);
}

/* The median of n sorted numbers without the one at `own`; own = n leaves none out. */
static int64_t median_without(const struct number *v, size_t n, size_t own)
{
    size_t others = own < n ? n - 1 : n;
    size_t low = (others - 1) / 2, high = others / 2;
    int64_t a = v[low + (low >= own)].ns, b = v[high + (high >= own)].ns;
    return a + (b - a) / 2;
}

/* Of all, the lower of the middle two: of two ranks the one that is not late. */
static int64_t median_of_all(const struct number *v, size_t n)
{
    return v[(n - 1) / 2].ns;
}

/* The k-th cell of a block, from its end where `back`. */
static tl_cell *cell_at(const comparing *c, const tl_block *b, size_t k, bool back)
{
    return &c->w->cells[back ? b->first + b->n - 1 - k : b->first + k];
}

/* Compares the k-th cells of n blocks. */
static bool compare_cells(comparing *c, const tl_block *v, size_t n, size_t k, bool back)
{
    tl_whatif *w = c->w;
    struct number *x = c->numbers;

    if (!tl_grow((void **)&w->medians, &c->medians_cap, (w->nmedians + 1) * TL_NPARTS, sizeof *w->medians))
        return false;
    for (int host = 0; host < 2; host++) {
        for (size_t i = 0; i < n; i++) {
            const tl_cell *cell = cell_at(c, &v[i], k, back);
            x[i] = (struct number){ host ? cell->host_ns : cell->work_ns, i };
        }
        qsort(x, n, sizeof *x, by_number);
        for (size_t i = 0; i < n; i++) {
            tl_cell *cell = cell_at(c, &v[x[i].of], k, back);
            *(host ? &cell->host_peer_ns : &cell->work_peer_ns) = median_without(x, n, i);
            *(host ? &cell->host_mid_ns : &cell->work_mid_ns) = median_of_all(x, n);
            cell->medians = (uint32_t)w->nmedians;
        }
    }
    for (int kind = 0; kind < TL_ASKED_WAITS; kind++) {
        for (size_t i = 0; i < n; i++)
            x[i] = (struct number){ cell_at(c, &v[i], k, back)->waits[kind], i };
        qsort(x, n, sizeof *x, by_number);
        for (size_t i = 0; i < n; i++)
            cell_at(c, &v[i], k, back)->waits_mid[kind] = (uint32_t)median_of_all(x, n);
    }
    for (int part = 0; part < TL_NPARTS; part++) {
        for (size_t i = 0; i < n; i++) {
            tl_parts sum = { { 0 } };
            tl_whatif_cell_parts(w, v[i].rank, cell_at(c, &v[i], k, back), &sum);
            x[i] = (struct number){ sum.ns[part], i };
        }
        qsort(x, n, sizeof *x, by_number);
        w->medians[w->nmedians * TL_NPARTS + (size_t)part] = median_of_all(x, n);
    }
    w->nmedians++;
    return true;
}

/* Chance makes some cells of a step longer and others shorter.  How much shorter tells how much longer may be chance:
 * what is no more than NOISE times the median of that counts only as far as the shorter ones do not make up for it.
 * Fewer than FEW tell nothing. */
enum { NOISE = 3, FEW = 3 };

static int64_t surplus(const tl_cell *cell, bool host)
{
    return host ? cell->host_ns - cell->host_peer_ns : cell->work_ns - cell->work_peer_ns;
}

static void balance(comparing *c, const tl_block *b, bool host)
{
    tl_cell *cells = c->w->cells + b->first;
    int64_t longer = 0, shorter = 0;
    size_t n = 0;

    for (size_t i = 0; i < b->n; i++)
        if (surplus(&cells[i], host) < 0)
            c->numbers[n++] = (struct number){ -surplus(&cells[i], host), i };
    if (n < FEW)
        return;
    qsort(c->numbers, n, sizeof *c->numbers, by_number);
    int64_t chance = median_of_all(c->numbers, n) * NOISE;
    for (size_t i = 0; i < b->n; i++) {
        int64_t more = surplus(&cells[i], host);
        longer += more > 0 && more <= chance ? more : 0;
        shorter += more < 0 && -more <= chance ? -more : 0;
    }
    int64_t left = longer > shorter ? longer - shorter : 0;
    for (size_t i = 0; i < b->n; i++) {
        int64_t more = surplus(&cells[i], host);
        if (more > 0 && more <= chance)
            *(host ? &cells[i].host_peer_ns : &cells[i].work_peer_ns) += more - tl_portion(more, left, longer);
    }
}

static void balance_all(comparing *c, const tl_block *v, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        balance(c, &v[i], false);
        balance(c, &v[i], true);
    }
}

/* Blocks of one structure, cells [from, to). */
static bool compare_blocks(comparing *c, const tl_block *v, size_t n, size_t from, size_t to)
{
    for (size_t k = from; k < to; k++)
        if (!compare_cells(c, v, n, k, false))
            return false;
    balance_all(c, v, n);
    return true;
}

static size_t whole_cells(const tl_block *b)
{
    size_t cut = (size_t)b->no_front + (size_t)b->no_back;
    return b->n > cut ? b->n - cut : 0;
}

static bool is_sent(uint8_t kind)
{
    return kind == TL_SEND || kind == TL_RECV || kind == TL_SEND_RECV;
}

/* What was launched before the recording may have no kind, or that of its kernel's name: any send or receive. */
static bool may_be_same(uint8_t a, uint8_t b)
{
    return a == b || a == TL_COLL_UNKNOWN || b == TL_COLL_UNKNOWN ||
           (is_sent(a) && is_sent(b) && (a == TL_SEND_RECV || b == TL_SEND_RECV));
}

/* Whether the cells that both have whole end with the same collectives. */
static bool agree(const comparing *c, const tl_block *a, const tl_block *b, bool back)
{
    size_t n = whole_cells(a) < whole_cells(b) ? whole_cells(a) : whole_cells(b);
    for (size_t k = 0; k < n; k++)
        if (!may_be_same(cell_at(c, a, k, back)->kind, cell_at(c, b, k, back)->kind))
            return false;
    return true;
}

/* Whether a has no more cells than b, and all but the last, which may be cut, end with the same collectives. */
static bool is_beginning(const comparing *c, const tl_block *a, const tl_block *b)
{
    for (size_t k = 0; k + 1 < a->n; k++)
        if (!may_be_same(cell_at(c, a, k, false)->kind, cell_at(c, b, k, false)->kind))
            return false;
    return a->n <= b->n;
}

/* Recordings that end in turn end in a step, whatever its mark says: of n ranks of a role some have less of their last
 * one than others, and what they have is the beginning of it. */
static void end_in_turn(const comparing *c, tl_block *v, size_t n)
{
    size_t longest = 0;
    bool differ = false;

    for (size_t i = 0; i < n; i++) {
        differ = differ || v[i].n != v[0].n;
        longest = v[i].n > v[longest].n ? i : longest;
    }
    for (size_t i = 0; i < n; i++)
        if (!differ || (!v[i].last && v[i].n < v[longest].n) || v[i].step == INT64_MIN ||
            !is_beginning(c, &v[i], &v[longest]))
            return;
    for (size_t i = 0; i < n; i++)
        v[i].no_back = v[i].last;
}

/* Where the recording of a block's rank begins (so much less is earlier) or ends (more is later). */
static int64_t reach(const comparing *c, const tl_block *b, bool back)
{
    const tl_program *p = &c->w->in.programs[b->rank];
    return back ? -(p->start_ns + tl_whatif_offset(c->w, b->rank)) : p->end_ns + tl_whatif_offset(c->w, b->rank);
}

/* A cell in which the recording begins or ends is shorter than it was: what it still has more than any other is a
 * surplus, but for what it was recorded longer than any other. */
static void compare_edge(comparing *c, const tl_block *own, const tl_block *v, size_t n, bool back)
{
    size_t k = whole_cells(own);
    int64_t work = -1, host = -1, longest = INT64_MIN;

    if (own->n <= k)
        return;
    tl_cell *cell = cell_at(c, own, k, back);
    for (size_t i = 0; i < n; i++) {
        if (v[i].first == own->first || v[i].n <= k || !may_be_same(cell_at(c, &v[i], k, back)->kind, cell->kind))
            continue;
        const tl_cell *other = cell_at(c, &v[i], k, back);
        work = other->work_ns > work ? other->work_ns : work;
        host = other->host_ns > host ? other->host_ns : host;
        longest = tl_ns_max(longest, reach(c, &v[i], back));
    }
    if (work >= 0) {
        int64_t longer = tl_ns_max(0, reach(c, own, back) - longest);
        work += longer;
        host += longer;
        cell->work_peer_ns = cell->work_mid_ns = work < cell->work_ns ? work : cell->work_ns;
        cell->host_peer_ns = cell->host_mid_ns = host < cell->host_ns ? host : cell->host_ns;
    }
}

/* A step in which some recordings begin, or end: compared from the other side, as far as each has it.  Those that do
 * not agree with the longest are left out. */
static bool compare_cut(comparing *c, const tl_block *v, size_t n)
{
    size_t fronts = 0, backs = 0, ncommon = 0;
    const tl_block *longest = NULL;

    for (size_t i = 0; i < n; i++) {
        fronts += v[i].no_front;
        backs += v[i].no_back;
    }
    bool back = fronts >= backs;
    for (size_t i = 0; i < n; i++)
        if (!(back ? v[i].no_back : v[i].no_front) && (longest == NULL || whole_cells(&v[i]) > whole_cells(longest)))
            longest = &v[i];
    for (size_t i = 0; longest != NULL && i < n; i++)
        if (!(back ? v[i].no_back : v[i].no_front) && agree(c, &v[i], longest, back))
            c->common[ncommon++] = v[i];
    for (size_t i = 0; i < ncommon; i++)
        compare_edge(c, &c->common[i], c->common, ncommon, back);
    for (size_t k = 0; longest != NULL && k < whole_cells(longest); k++) {
        size_t have = 0;
        for (size_t i = 0; i < ncommon; i++)
            if (whole_cells(&c->common[i]) > k)
                c->common[have++] = c->common[i]; /* those with fewer cells are done */
        ncommon = have;
        if (ncommon >= 2 && !compare_cells(c, c->common, ncommon, k, back))
            return false;
    }
    balance_all(c, v, n);
    return true;
}

/* One block against the sums of n others, itself left out where it is among them. */
static void compare_sums(comparing *c, const tl_block *b, const tl_block *v, size_t n)
{
    for (int host = 0; host < 2; host++) {
        size_t own = n;
        for (size_t i = 0; i < n; i++)
            c->numbers[i] = (struct number){ host ? v[i].host_ns : v[i].work_ns, i };
        qsort(c->numbers, n, sizeof *c->numbers, by_number);
        for (size_t i = 0; i < n; i++)
            if (&v[c->numbers[i].of] == b)
                own = i;
        int64_t median = median_without(c->numbers, n, own), sum = host ? b->host_ns : b->work_ns;
        int64_t less = sum < median ? sum : median;
        for (size_t i = b->first; i < b->first + b->n; i++) {
            tl_cell *cell = &c->w->cells[i];
            int64_t ns = host ? cell->host_ns : cell->work_ns;
            *(host ? &cell->host_peer_ns : &cell->work_peer_ns) = tl_portion(ns, less, sum);
            *(host ? &cell->host_mid_ns : &cell->work_mid_ns) = tl_portion(ns, median, sum);
        }
    }
}

/* --------------------------------------------------------------------------------------------------- who with whom */

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
static bool compare_role(comparing *c, const tl_block *v, size_t n, tl_block *kept, size_t *nkept)
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
        return compare_cut(c, v, n);
    /* Without steps the whole recording is one, and not whole on either side. */
    size_t skip = stepless && v[from].n >= 2;
    if (most >= 2 && !compare_blocks(c, v + from, most, skip, v[from].n - skip))
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
            compare_sums(c, &v[i], v, n);
        else if (!tl_whatif_compare_partly(c->w, &v[i], v + from, most))
            return false;
        facts->by_sums++;
    }
    return true;
}

/* Steps of a rank that nobody shares its role with. */
static bool compare_lonely(comparing *c, tl_block *v, size_t n)
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
        bool enough = to - i >= FEW;
        if (enough && !compare_blocks(c, v + i, to - i, 0, v[i].n))
            return false;
        *(enough ? &facts->by_steps : &facts->uncompared) += to - i;
        for (size_t k = i; enough && k < to; k++)
            v[compared++] = v[k];
    }
    return tl_whatif_compare_growth(c->w, v, compared);
}

bool tl_whatif_compare(tl_whatif *w)
{
    comparing c = { .w = w };
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
        end_in_turn(&c, blocks + i, to - i);
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
