/* cost.c - what the job would gain were some units repaired: one replay each, of the graph folded to what their repairs change. */
#include "parts.h"
#include <stdlib.h>
#include <string.h>

/* What a unit's repair takes off the work of a node; GONE: its second edge. */
typedef struct taken {
    uint32_t node;
    int64_t ns;
} taken;

#define GONE INT64_MIN

/* Off the least time of an edge, so that nothing is waited for there. */
#define GONE_NS (INT64_MAX / 2)

typedef struct taken_list {
    TL_VEC(taken) of;
} taken_list;

struct tl_costing {
    const tl_baseline *b;
    size_t nunits;
    taken_list *taken;  /* by unit */
    tl_fold fold;
    int64_t *ends_ns;   /* [nsteps] unchanged */
    int64_t *step_ends; /* [nsteps] of the last replay */
    int64_t end_ns;     /* of the job, unchanged */
};

/* ------------------------------------------------------------------------------------------------------------- units */

static bool put(taken_list *list, uint32_t node, int64_t ns)
{
    if (!tl_vec_room(&list->of))
        return false;
    list->of.v[list->of.n++] = (taken){ node, ns };
    return true;
}

/* What is changed in [first, end), which becomes unchanged. */
static bool list_taken(const tl_graph *g, tl_changes *changes, uint32_t first, uint32_t end, taken_list *out)
{
    bool ok = true;
    for (uint32_t v = first; v < end; v++) {
        int64_t ns = g->nodes[v].work_ns - changes->work_ns[v];
        ok = ok && (ns == 0 || put(out, v, ns)) && (!changes->gone[v] || put(out, v, GONE));
        changes->work_ns[v] = g->nodes[v].work_ns;
        changes->gone[v] = false;
    }
    return ok;
}

tl_repair tl_repair_of(const tl_unit *u)
{
    return (tl_repair){ .rank = u->link != TL_NONE ? u->link : u->rank,
                        .family = u->family,
                        .drifts = u->shape.pattern == TL_PATTERN_DRIFTING,
                        .lasts = u->shape.pattern == TL_PATTERN_PERSISTENT,
                        .on = u->on };
}

/* Units take off different nodes and edges, so each one's part is found once. */
static bool find_taken(tl_costing *c, size_t unit, const tl_unit *u, tl_changes *changes)
{
    const tl_graph *g = c->b->graph;
    bool link = u->link != TL_NONE;
    const tl_repair repair = tl_repair_of(u);
    uint32_t first = link ? 0 : g->first_node[u->rank], end = link ? (uint32_t)g->nnodes : g->first_node[u->rank + 1];

    return tl_repair_apply(c->b, &repair, changes) && list_taken(g, changes, first, end, &c->taken[unit]);
}

static bool find_all_taken(tl_costing *c, const tl_findings *findings)
{
    tl_changes changes = { 0 };
    bool ok = tl_changes_new(c->b->graph, &changes);
    for (size_t u = 0; ok && u < c->nunits; u++)
        ok = find_taken(c, u, &findings->units.v[u], &changes);
    tl_changes_free(&changes);
    return ok;
}

/* -------------------------------------------------------------------------------------------------------------- fold */

static void mark(uint8_t *marks, uint32_t node, tl_fold_mark mark)
{
    if (marks[node] < mark)
        marks[node] = (uint8_t)mark;
}

static void mark_taken(const tl_graph *g, const taken *t, uint8_t *marks)
{
    mark(marks, t->node, t->ns != GONE ? TL_FOLD_WORK : TL_FOLD_EDGES);
    for (uint32_t e = g->nodes[t->node].first_edge; t->ns == GONE && e < g->nodes[t->node + 1].first_edge; e++)
        mark(marks, g->from[e], TL_FOLD_KEEP);
}

static bool fold(tl_costing *c)
{
    uint8_t *marks = tl_calloc(c->b->graph->nnodes + 1, sizeof *marks);
    for (size_t u = 0; marks != NULL && u < c->nunits; u++)
        for (size_t i = 0; i < c->taken[u].of.n; i++)
            mark_taken(c->b->graph, &c->taken[u].of.v[i], marks);
    bool ok = marks != NULL && tl_fold_make(c->b, marks, &c->fold);
    free(marks);
    return ok;
}

tl_costing *tl_costing_new(const tl_baseline *b, const tl_findings *findings)
{
    tl_costing *c = tl_calloc(1, sizeof *c);
    if (c == NULL)
        return NULL;
    c->b = b;
    c->nunits = findings->units.n;
    c->taken = tl_calloc(c->nunits + 1, sizeof *c->taken);
    c->ends_ns = tl_malloc((b->nsteps + 1) * sizeof *c->ends_ns);
    c->step_ends = tl_malloc((b->nsteps + 1) * sizeof *c->step_ends);
    if (c->taken != NULL && c->ends_ns != NULL && c->step_ends != NULL && find_all_taken(c, findings) && fold(c)) {
        c->end_ns = tl_fold_replay(&c->fold, c->ends_ns);
        return c;
    }
    tl_costing_free(c);
    return NULL;
}

void tl_costing_free(tl_costing *c)
{
    if (c == NULL)
        return;
    for (size_t u = 0; c->taken != NULL && u < c->nunits; u++)
        free(c->taken[u].of.v);
    free(c->taken);
    tl_fold_free(&c->fold);
    free(c->ends_ns);
    free(c->step_ends);
    free(c);
}

/* -------------------------------------------------------------------------------------------------------------- cost */

static void take(tl_fold *f, const taken *t, int64_t sign)
{
    uint32_t number = f->number_of[t->node];
    if (t->ns == GONE)
        f->lag_ns[f->first_edge[number] + 1] -= sign * GONE_NS;
    else
        f->own_ns[number] -= sign * t->ns;
}

static void apply(tl_costing *c, const bool *chosen, int64_t sign)
{
    for (size_t u = 0; u < c->nunits; u++)
        for (size_t i = 0; chosen[u] && i < c->taken[u].of.n; i++)
            take(&c->fold, &c->taken[u].of.v[i], sign);
}

int64_t tl_cost_of(tl_costing *c, const bool *chosen)
{
    apply(c, chosen, 1);
    int64_t end = tl_fold_replay(&c->fold, c->step_ends);
    apply(c, chosen, -1);
    return c->end_ns - end;
}

void tl_cost_by_step(const tl_costing *c, int64_t *step_ns)
{
    int64_t before = 0;
    for (size_t s = 0; s < c->b->nsteps; s++) {
        int64_t gained = c->ends_ns[s] - c->step_ends[s];
        step_ns[s] = gained - before;
        before = gained;
    }
}
