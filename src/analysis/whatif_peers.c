/* whatif_peers.c - what others of a role needed for the same piece of a step.
 *
 *     rank 0   |  c0  |a|  c1  |b| c2 |      a, b: collectives that others take part in too.  c0, c1, c2: cells.
 *     rank 1   | c0 |a|   c1   |b|  c2  |    The k-th cells of a step are compared, if the steps of the two ranks
 *     rank 2   |  c0 |a| c1 |b| c2 |         have the same collectives in the same order.
 */
#include "tlmpi/base/mem.h"
#include "whatif_graph.h"
#include <stdlib.h>
#include <string.h>

/* One step of one rank: cells [first, first + n). */
typedef struct block {
    int32_t role, step;
    uint64_t structure; /* which collectives in which order */
    uint32_t rank;
    size_t first, n;
    int64_t work_ns, host_ns;
} block;

typedef struct comparing {
    tl_whatif *w;
    block *blocks;
    size_t nblocks;
    size_t medians_cap;
    struct number {
        int64_t ns;
        size_t block;
    } *numbers; /* as many as there are cells or blocks */
} comparing;

/* ------------------------------------------------------------------------------------------------------------- cells */

static bool shared(const tl_whatif *w, uint32_t comm)
{
    uint32_t c = w->collective_of[comm];
    return c < w->in.ncollectives && w->in.collectives[c].n >= 2;
}

static int ascending(const void *a, const void *b)
{
    int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;
    return (x > y) - (x < y);
}

/* The numbers of all steps, each once. */
static bool collect_steps(tl_whatif *w)
{
    size_t n = 0, kept = 0, room = 1;

    for (size_t r = 0; r < w->in.nranks; r++)
        for (size_t s = 0; s < w->in.programs[r].nsegments; s++)
            room += s == 0 || w->in.programs[r].segments[s].step != w->in.programs[r].segments[s - 1].step;
    int32_t *steps = tl_malloc(room * sizeof *steps);
    if (steps == NULL)
        return false;
    for (size_t r = 0; r < w->in.nranks; r++) {
        const tl_segment *v = w->in.programs[r].segments;
        for (size_t s = 0; s < w->in.programs[r].nsegments; s++)
            if (v[s].step >= 0 && (s == 0 || v[s].step != v[s - 1].step))
                steps[n++] = v[s].step;
    }
    if (n > 1)
        qsort(steps, n, sizeof *steps, ascending);
    for (size_t i = 0; i < n; i++)
        if (kept == 0 || steps[i] != steps[kept - 1])
            steps[kept++] = steps[i];
    w->facts.steps = w->steps = steps;
    w->facts.nsteps = kept;
    return true;
}

static uint32_t step_index(const tl_whatif *w, int32_t step)
{
    if (step < 0)
        return 0;
    const int32_t *found = (const int32_t *)bsearch(&step, w->facts.steps, w->facts.nsteps, sizeof step, ascending);
    return (uint32_t)(found - w->facts.steps) + 1;
}

/* FNV-1a, a byte at a time. */
static uint64_t hash(uint64_t h, uint8_t byte)
{
    return (h ^ byte) * UINT64_C(1099511628211);
}

/* The cells and blocks of one rank; `comm_of` by segment: the shared comm that ends it. */
static void cut_cells(comparing *c, uint32_t rank, const uint32_t *comm_of)
{
    tl_whatif *w = c->w;
    const tl_program *p = &w->in.programs[rank];
    bool new_cell = true;

    for (uint32_t s = 0; s < p->nsegments; s++) {
        const tl_segment *segment = &p->segments[s];
        if (s == 0 || segment->step != p->segments[s - 1].step) {
            c->blocks[c->nblocks++] = (block){ w->in.roles[rank], segment->step, UINT64_C(14695981039346656037), rank,
                                               w->ncells, 0, 0, 0 };
            new_cell = true;
        }
        block *b = &c->blocks[c->nblocks - 1];
        if (new_cell) {
            w->cells[w->ncells++] =
                (tl_cell){ .first_segment = s, .medians = TL_NONE, .step = step_index(w, segment->step) };
            b->n++;
        }
        w->cells[w->ncells - 1].work_ns += segment->work_ns;
        w->cells[w->ncells - 1].host_ns += segment->host_ns;
        b->work_ns += segment->work_ns;
        b->host_ns += segment->host_ns;
        w->cell_of[rank][s] = (uint32_t)(w->ncells - 1);
        new_cell = comm_of[s] != TL_NONE;
        if (new_cell)
            b->structure = hash(b->structure, p->comms[comm_of[s]].kind);
    }
}

/* Rooms for as many cells and blocks as there are segments, filled rank by rank. */
static bool make_cells(comparing *c)
{
    tl_whatif *w = c->w;
    size_t nsegments = 0, most = 0;

    for (size_t r = 0; r < w->in.nranks; r++) {
        nsegments += w->in.programs[r].nsegments;
        most = w->in.programs[r].nsegments > most ? w->in.programs[r].nsegments : most;
    }
    uint32_t *comm_of = tl_malloc((most + 1) * sizeof *comm_of);
    w->cells = tl_malloc((nsegments + 1) * sizeof *w->cells);
    c->blocks = tl_malloc((nsegments + 1) * sizeof *c->blocks);
    bool whole = comm_of != NULL && w->cells != NULL && c->blocks != NULL;
    for (uint32_t r = 0; whole && r < w->in.nranks; r++) {
        const tl_program *p = &w->in.programs[r];
        w->cell_base[r] = w->ncells;
        w->cell_of[r] = tl_malloc((p->nsegments + 1) * sizeof **w->cell_of);
        whole = w->cell_of[r] != NULL;
        memset(comm_of, 0xff, (most + 1) * sizeof *comm_of); /* TL_NONE */
        for (uint32_t i = 0; i < p->ncomms; i++)
            if (shared(w, (uint32_t)(w->comm_base[r] + i)))
                comm_of[p->comms[i].segment] = i;
        if (whole)
            cut_cells(c, r, comm_of);
    }
    w->cell_base[w->in.nranks] = w->ncells;
    free(comm_of);
    for (size_t i = 0; whole && i < w->ncells; i++) {
        tl_cell *cell = &w->cells[i];
        cell->work_peer_ns = cell->work_mid_ns = cell->work_ns;
        cell->host_peer_ns = cell->host_mid_ns = cell->host_ns;
    }
    return whole;
}

void tl_whatif_cell_parts(const tl_whatif *w, uint32_t rank, const tl_cell *cell, tl_parts *sum)
{
    const tl_program *p = &w->in.programs[rank];
    size_t at = (size_t)(cell - w->cells) + 1;
    uint32_t end = at < w->cell_base[rank + 1] ? w->cells[at].first_segment : (uint32_t)p->nsegments;
    for (uint32_t s = cell->first_segment; s < end; s++)
        tl_program_parts(p, s, sum);
}

/* ----------------------------------------------------------------------------------------------------------- medians */

static int by_number(const void *a, const void *b)
{
    const struct number *x = a, *y = b;
    if (x->ns != y->ns)
        return x->ns < y->ns ? -1 : 1;
    return (x->block > y->block) - (x->block < y->block);
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

static bool outside(const tl_whatif *w, const block *b, size_t cell)
{
    return b->step < 0 && (cell == w->cell_base[b->rank] || cell + 1 == w->cell_base[b->rank + 1]);
}

/* Compares the k-th cells of n blocks that have the same structure. */
static bool compare_cells(comparing *c, const block *v, size_t n, size_t k)
{
    tl_whatif *w = c->w;
    struct number *x = c->numbers;

    /* What lies outside all steps and before the first, or after the last, collective that others know is as long as
     * the recording happens to be. */
    for (size_t i = 0; i < n; i++)
        if (outside(w, &v[i], v[i].first + k))
            return true;
    if (!tl_grow((void **)&w->medians, &c->medians_cap, (w->nmedians + 1) * TL_NPARTS, sizeof *w->medians))
        return false;
    for (int host = 0; host < 2; host++) {
        for (size_t i = 0; i < n; i++) {
            const tl_cell *cell = &w->cells[v[i].first + k];
            x[i] = (struct number){ host ? cell->host_ns : cell->work_ns, i };
        }
        qsort(x, n, sizeof *x, by_number);
        for (size_t i = 0; i < n; i++) {
            tl_cell *cell = &w->cells[v[x[i].block].first + k];
            *(host ? &cell->host_peer_ns : &cell->work_peer_ns) = median_without(x, n, i);
            *(host ? &cell->host_mid_ns : &cell->work_mid_ns) = median_of_all(x, n);
            cell->medians = (uint32_t)w->nmedians;
        }
    }
    for (int part = 0; part < TL_NPARTS; part++) {
        for (size_t i = 0; i < n; i++) {
            tl_parts sum = { { 0 } };
            tl_whatif_cell_parts(w, v[i].rank, &w->cells[v[i].first + k], &sum);
            x[i] = (struct number){ sum.ns[part], i };
        }
        qsort(x, n, sizeof *x, by_number);
        w->medians[w->nmedians * TL_NPARTS + (size_t)part] = median_of_all(x, n);
    }
    w->nmedians++;
    return true;
}

/* Chance makes some cells of a step longer and others shorter.  How much shorter tells how much longer may be chance: what
 * is no more than NOISE times the median of that counts only as far as the shorter ones do not make up for it.  Fewer than
 * FEW tell nothing. */
enum { NOISE = 3, FEW = 3 };

static int64_t surplus(const tl_cell *cell, bool host)
{
    return host ? cell->host_ns - cell->host_peer_ns : cell->work_ns - cell->work_peer_ns;
}

static void balance(comparing *c, const block *b, bool host)
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

static bool compare_blocks(comparing *c, const block *v, size_t n)
{
    for (size_t k = 0; k < v[0].n; k++)
        if (!compare_cells(c, v, n, k))
            return false;
    for (size_t i = 0; i < n; i++) {
        balance(c, &v[i], false);
        balance(c, &v[i], true);
    }
    return true;
}

/* One block against the sums of n others, itself left out where it is among them. */
static void compare_sums(comparing *c, const block *b, const block *v, size_t n)
{
    for (int host = 0; host < 2; host++) {
        size_t own = n;
        for (size_t i = 0; i < n; i++)
            c->numbers[i] = (struct number){ host ? v[i].host_ns : v[i].work_ns, i };
        qsort(c->numbers, n, sizeof *c->numbers, by_number);
        for (size_t i = 0; i < n; i++)
            if (&v[c->numbers[i].block] == b)
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

/* ------------------------------------------------------------------------------------------------------ who with whom */

#define ORDER(x, y) (((x) > (y)) - ((x) < (y)))

static int by_role(const void *a, const void *b)
{
    const block *x = a, *y = b;
    int order = ORDER(x->role, y->role);
    order = order != 0 ? order : ORDER(x->step, y->step);
    order = order != 0 ? order : ORDER(x->structure, y->structure);
    order = order != 0 ? order : ORDER(x->n, y->n);
    order = order != 0 ? order : ORDER(x->rank, y->rank);
    return order != 0 ? order : ORDER(x->first, y->first);
}

static int by_rank(const void *a, const void *b)
{
    const block *x = a, *y = b;
    int order = ORDER(x->rank, y->rank);
    order = order != 0 ? order : ORDER(x->structure, y->structure);
    order = order != 0 ? order : ORDER(x->n, y->n);
    return order != 0 ? order : ORDER(x->first, y->first);
}

static bool alike(const block *a, const block *b)
{
    return a->structure == b->structure && a->n == b->n;
}

/* What lies outside all steps counts only where there are none. */
static size_t counted(const comparing *c, const block *b)
{
    return b->step >= 0 || c->w->facts.nsteps == 0;
}

/* Ranks of one role in one step: most of them do the same.  A rank alone is put aside: kept[*nkept]. */
static bool compare_role(comparing *c, const block *v, size_t n, block *kept, size_t *nkept)
{
    tl_whatif_facts *facts = &c->w->facts;
    size_t from = 0, most = 0;

    if (n == 1) {
        kept[(*nkept)++] = v[0];
        return true;
    }
    for (size_t i = 0, to; i < n; i = to) {
        for (to = i; to < n && alike(&v[i], &v[to]); to++)
            ;
        if (to - i > most) {
            most = to - i;
            from = i;
        }
    }
    if (most >= 2 && !compare_blocks(c, v + from, most))
        return false;
    facts->compared += most >= 2 ? most * counted(c, v) : 0;
    for (size_t i = 0; i < n; i++) {
        if (most >= 2 && i >= from && i < from + most)
            continue;
        if (v[i].step < 0) { /* recordings begin and end where they happen to */
            facts->uncompared += counted(c, &v[i]);
            continue;
        }
        if (most >= 2)
            compare_sums(c, &v[i], v + from, most);
        else
            compare_sums(c, &v[i], v, n);
        facts->by_sums++;
    }
    return true;
}

/* Steps of a rank that nobody shares its role with. */
static bool compare_lonely(comparing *c, block *v, size_t n)
{
    if (n > 1)
        qsort(v, n, sizeof *v, by_rank);
    for (size_t i = 0, to; i < n; i = to) {
        size_t inside = i;
        for (to = i; to < n && v[i].rank == v[to].rank && alike(&v[i], &v[to]); to++) {
            if (v[to].step < 0) {
                block swap = v[to];
                v[to] = v[inside];
                v[inside++] = swap;
            }
        }
        bool enough = to - inside >= 3;
        if (enough && !compare_blocks(c, v + inside, to - inside))
            return false;
        *(enough ? &c->w->facts.by_steps : &c->w->facts.uncompared) += to - inside;
        c->w->facts.uncompared += (inside - i) * (c->w->facts.nsteps == 0);
    }
    return true;
}

bool tl_whatif_compare(tl_whatif *w)
{
    comparing c = { .w = w };
    size_t nkept = 0;
    block *kept = NULL;

    bool whole = collect_steps(w) && make_cells(&c);
    if (whole) {
        c.numbers = tl_malloc((w->ncells + c.nblocks + 1) * sizeof *c.numbers);
        kept = tl_malloc((c.nblocks + 1) * sizeof *kept);
        whole = c.numbers != NULL && kept != NULL;
    }
    if (whole && c.nblocks > 1)
        qsort(c.blocks, c.nblocks, sizeof *c.blocks, by_role);
    for (size_t i = 0, to; whole && i < c.nblocks; i = to) {
        for (to = i; to < c.nblocks && c.blocks[to].role == c.blocks[i].role && c.blocks[to].step == c.blocks[i].step;
             to++)
            ;
        whole = compare_role(&c, c.blocks + i, to - i, kept, &nkept);
    }
    whole = whole && compare_lonely(&c, kept, nkept);
    free(c.blocks);
    free(c.numbers);
    free(kept);
    return whole;
}
