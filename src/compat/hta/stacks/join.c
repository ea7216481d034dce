/* join.c - the thread of the backward pass goes under the steps of the main one.
 *
 *     main       [ ProfilerStep#5             ][ ProfilerStep#6             ]
 *     backward      [ autograd:: ][ autograd:: ]   [ autograd:: ]     [ autograd:: ]      the last one stays outside
 *
 * Of several steps that a row lies in the first in file order takes it.  For all rows at once: by their starts steps
 * enter a tree that is ordered by their ends, and a row asks it for the first of those that end with it or later.
 */
#include "graph.h"
#include "tlmpi/base/quantile.h"
#include "tlmpi/base/group.h"

static int by_start(const void *context, uint32_t a, uint32_t b)
{
    const tl_hta_row *rows = context;
    return TL_COMPARE(rows[a].ts, rows[b].ts);
}

/* Smallest number entered so far among steps that end at or after a time: a Fenwick tree of minima. */
typedef struct tree {
    double *ends; /* of all steps, ascending */
    uint32_t *first;
    size_t n;
} tree;

/* The larger the end the smaller the place, from 1 on; the steps that end at or after `end` have places up to it. */
static size_t place_of(const tree *t, double end)
{
    size_t i = 0;
    TL_BISECT(i, t->n, mid, t->ends[mid] < end);
    return t->n - i;
}

static void enter(tree *t, double end, uint32_t number)
{
    for (size_t i = place_of(t, end); i <= t->n; i += i & -i)
        t->first[i] = number < t->first[i] ? number : t->first[i];
}

static uint32_t ask(const tree *t, double end)
{
    uint32_t number = UINT32_MAX;
    for (size_t i = place_of(t, end); i > 0; i -= i & -i)
        number = t->first[i] < number ? t->first[i] : number;
    return number;
}

static bool is_step(const tl_hta_symbol *symbol, bool backward_pass)
{
    return backward_pass ? symbol->backward_mark : symbol->step_mark;
}

/* Positions of the rows that the backward thread may go under, in file order. */
static size_t find_steps(uint32_t *steps, const tl_hta_graph *g, const tl_hta_thread *main,
                         const tl_hta_symbols *symbols)
{
    size_t n = 0;
    for (int backward_pass = 1; backward_pass >= 0 && n == 0; backward_pass--)
        for (size_t i = 0; i < main->n; i++)
            if (g->node[main->at[i]].depth >= 0 &&
                is_step(&symbols->v.v[g->frame->rows.v[main->at[i]].name], backward_pass))
                steps[n++] = main->at[i];
    return n;
}

void tl_hta_graph_join(tl_hta_graph *g, tl_hta_stack *main, tl_hta_stack *backward, const tl_hta_symbols *symbols)
{
    const tl_hta_row *rows = g->frame->rows.v;
    size_t most = backward->to - backward->from, nouter = 0, nmoved = 0;
    tl_arena arena = { 0 };
    uint32_t *started = tl_arena_take(&arena, main->thread->n, sizeof *started);
    uint32_t *outer = tl_arena_take(&arena, most, sizeof *outer);
    tree t = { .n = find_steps(started, g, main->thread, symbols) };

    t.ends = tl_arena_take(&arena, t.n, sizeof *t.ends);
    t.first = tl_arena_take(&arena, t.n + 1, sizeof *t.first);
    for (size_t i = backward->from; i < backward->to; i++)
        if (g->node[g->opened[i]].parent == TL_HTA_TOP)
            outer[nouter++] = g->opened[i];
    for (size_t i = 0; i < t.n; i++) {
        t.ends[i] = rows[started[i]].end;
        t.first[i + 1] = UINT32_MAX;
    }
    (void)tl_sort_index(started, t.n, by_start, rows);
    (void)tl_sort_index(outer, nouter, by_start, rows);
    tl_real_sort(t.ends, t.n);
    for (size_t i = 0, next = 0; i < nouter; i++) {
        for (; next < t.n && rows[started[next]].ts <= rows[outer[i]].ts; next++)
            enter(&t, rows[started[next]].end, started[next]);
        uint32_t step = ask(&t, rows[outer[i]].end);
        if (step != UINT32_MAX) {
            g->node[outer[i]].parent = step;
            nmoved++;
        }
    }
    if (nmoved > 0 && nmoved == nouter)
        backward->root = main->own_root;
    tl_arena_free(&arena);
}
