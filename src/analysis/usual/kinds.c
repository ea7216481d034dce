/* kinds.c - stages of a pipeline that do different things with the same kernels: which of them needs longer for
 * these?
 *
 *     in one step    kernels      stage 0     stage 1     stage 2
 *     layer          48 of A      1.00 ms     1.10 ms     1.00 ms     comparable: as many in each
 *     layer          48 of B       .50         .55         .50
 *     embedding       1 of C       .20          -           -         not
 *     loss            1 of D        -           -         2.00        not
 *                                             10 % too long
 *
 * Who has mates in its stage is compared with them; what a stage has too much of as a whole, because it is one rank or
 * one slow host, only other stages can tell, two at least: of two that differ nobody knows who is slow.  A kernel of the
 * same name and grid that is run as often takes the same on every stage, but for chance.  More kernels, or others, are how
 * the model was cut: nobody's fault.  So is what several ranks of a stage have too much of alike, if they are no host: no
 * machine is slow in just these.
 */
#include "tlmpi/base/mem.h"
#include "tlmpi/base/sort.h"
#include "tlmpi/base/stats.h"
#include "peers.h"
#include <stdlib.h>

/* What is longer by less than this part is as usual. */
enum { KINDS_SLACK = 32 };
/* So many other stages tell what is usual. */
enum { OTHERS_LEAST = 2 };

/* One kind of kernel of one rank in one step. */
typedef struct timed {
    uint64_t does;
    int64_t ns;
    uint32_t n;
    int32_t step, role;
} timed;

/* One role in one step: all its kinds, those that others have too, and what these take there. */
typedef struct tally {
    int64_t all_ns, own_ns, usual_ns;
    int32_t step, role;
} tally;

typedef struct comparing {
    timed *v;
    tally *tallies;
    size_t n, ntallies;
    int64_t *scratch;
} comparing;

static int by_step(const void *a, const void *b)
{
    const timed *x = a, *y = b;
    int order = TL_COMPARE(x->step, y->step);
    order = order != 0 ? order : TL_COMPARE(x->does, y->does);
    order = order != 0 ? order : TL_COMPARE(x->role, y->role);
    order = order != 0 ? order : TL_COMPARE(x->ns, y->ns);
    return order != 0 ? order : TL_COMPARE(x->n, y->n);
}

static int by_role(const void *a, const void *b)
{
    const tally *x = a, *y = b;
    int order = TL_COMPARE(x->step, y->step);
    return order != 0 ? order : TL_COMPARE(x->role, y->role);
}

static bool list(comparing *c, const tl_whatif *w)
{
    size_t room = 1;
    for (size_t r = 0; r < w->in.nranks; r++)
        room += w->in.programs[r].nkinds;
    c->v = tl_malloc(room * sizeof *c->v);
    c->tallies = tl_malloc(room * sizeof *c->tallies);
    c->scratch = tl_malloc(room * sizeof *c->scratch);
    if (c->v == NULL || c->tallies == NULL || c->scratch == NULL)
        return false;
    for (size_t r = 0; r < w->in.nranks; r++)
        for (size_t i = 0; i < w->in.programs[r].nkinds; i++) {
            const tl_kernel_kind *k = &w->in.programs[r].kinds[i];
            c->v[c->n++] = (timed){ k->does, k->ns, k->n, k->step, w->in.roles[r] };
        }
    if (c->n > 1)
        qsort(c->v, c->n, sizeof *c->v, by_step);
    return true;
}

/* Of each role the middle one of its ranks, the lower of two, to the front; how many. */
static size_t keep_middles(timed *v, size_t n)
{
    size_t kept = 0;
    for (size_t i = 0, to; i < n; i = to) {
        for (to = i; to < n && v[to].role == v[i].role; to++)
            ;
        v[kept++] = v[i + (to - i - 1) / 2];
    }
    return kept;
}

/* One kind in one step, n roles of which have it. */
static void tell_apart(comparing *c, const timed *v, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        size_t others = 0;
        tally t = { .all_ns = v[i].ns, .step = v[i].step, .role = v[i].role };
        for (size_t k = 0; k < n; k++)
            if (k != i && v[k].n == v[i].n)
                c->scratch[others++] = v[k].ns;
        if (others >= OTHERS_LEAST) {
            tl_ns_sort(c->scratch, others);
            t.own_ns = t.all_ns;
            t.usual_ns = c->scratch[(others - 1) / 2];
        }
        c->tallies[c->ntallies++] = t;
    }
}

/* One for each role and step. */
static void add_up(comparing *c)
{
    size_t kept = 0;
    if (c->ntallies > 1)
        qsort(c->tallies, c->ntallies, sizeof *c->tallies, by_role);
    for (size_t i = 0; i < c->ntallies; i++) {
        const tally *t = &c->tallies[i];
        if (kept > 0 && c->tallies[kept - 1].step == t->step && c->tallies[kept - 1].role == t->role) {
            c->tallies[kept - 1].all_ns += t->all_ns;
            c->tallies[kept - 1].own_ns += t->own_ns;
            c->tallies[kept - 1].usual_ns += t->usual_ns;
        } else {
            c->tallies[kept++] = *t;
        }
    }
    c->ntallies = kept;
}

/* By how much the kernels of a role take too long in a step; 0 where too few of them can be compared. */
static int64_t surplus_of(const comparing *c, const tl_block *b)
{
    const tally key = { .step = (int32_t)b->step, .role = b->role };
    const tally *t = (const tally *)bsearch(&key, c->tallies, c->ntallies, sizeof key, by_role);
    if (t == NULL || 2 * t->own_ns < t->all_ns || t->own_ns - t->usual_ns <= t->usual_ns / KINDS_SLACK)
        return 0;
    return t->own_ns - t->usual_ns;
}

static void expect_less(tl_whatif *w, const tl_block *b, int64_t less_ns)
{
    int64_t all_ns = 0;
    for (size_t i = b->first; i < b->first + b->n; i++)
        all_ns += w->cells[i].work_peer_ns;
    less_ns = less_ns < all_ns ? less_ns : all_ns;
    for (size_t i = b->first; i < b->first + b->n; i++) {
        tl_cell *cell = &w->cells[i];
        cell->work_peer_ns -= tl_portion(cell->work_peer_ns, less_ns, all_ns);
        cell->work_mid_ns -= tl_portion(cell->work_mid_ns, less_ns, all_ns);
    }
}

/* Whether what all ranks of the role have too much of may be that of a machine: they are one rank, or one whole host. */
static bool is_machine(const tl_whatif *w, int32_t role)
{
    size_t n = 0, first = 0, here = 0, others = 0;
    for (size_t r = w->in.nranks; r-- > 0;) {
        n += w->in.roles[r] == role;
        first = w->in.roles[r] == role ? r : first;
    }
    for (size_t r = 0; w->in.hosts != NULL && r < w->in.nranks; r++) {
        bool same = w->in.hosts[r] == w->in.hosts[first];
        here += same && w->in.roles[r] == role;
        others += same && w->in.roles[r] != role;
    }
    return n == 1 || (here == n && others == 0);
}

bool tl_whatif_compare_kinds(tl_whatif *w, const tl_block *blocks, size_t n)
{
    comparing c = { 0 };
    bool whole = list(&c, w);

    for (size_t i = 0, to; whole && i < c.n; i = to) {
        for (to = i; to < c.n && c.v[to].step == c.v[i].step && c.v[to].does == c.v[i].does; to++)
            ;
        tell_apart(&c, c.v + i, keep_middles(c.v + i, to - i));
    }
    add_up(&c);
    for (size_t i = 0; whole && c.ntallies > 0 && i < n; i++)
        if (blocks[i].step >= 0 && blocks[i].step <= INT32_MAX && !blocks[i].no_front && !blocks[i].no_back) {
            int64_t less_ns = surplus_of(&c, &blocks[i]);
            if (less_ns > 0 && is_machine(w, blocks[i].role))
                expect_less(w, &blocks[i], less_ns);
        }
    free(c.v);
    free(c.tallies);
    free(c.scratch);
    return whole;
}
