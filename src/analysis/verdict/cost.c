/* cost.c - what the job would gain were some units repaired: one replay each. */
#include "parts.h"
#include <stdlib.h>
#include <string.h>

/* What a unit's repair takes off one node or edge. */
typedef struct taken {
    uint32_t at;
    int64_t ns;
} taken;

typedef struct taken_list {
    taken *v;
    size_t n;
} taken_list;

struct tl_costing {
    const tl_baseline *b;
    size_t nunits;
    taken_list *work;   /* by unit: of nodes */
    taken_list *waits;  /* by unit: of edges */
    tl_changes scenario;
    int64_t *done_ns;   /* [nodes] of the last replay */
    int64_t *ends_ns;   /* [nsteps] unchanged */
    int64_t *step_ends; /* [nsteps] scratch */
    int64_t end_ns;     /* of the job, unchanged */
};

/* Where now differs from before in [first, end), which becomes as before. */
static bool list_taken(const int64_t *before, int64_t *now, uint32_t first, uint32_t end, taken_list *out)
{
    size_t n = 0;
    for (uint32_t i = first; i < end; i++)
        n += now[i] != before[i];
    out->v = tl_malloc((n + 1) * sizeof *out->v);
    if (out->v == NULL)
        return false;
    for (uint32_t i = first; i < end; i++) {
        if (now[i] != before[i])
            out->v[out->n++] = (taken){ i, before[i] - now[i] };
        now[i] = before[i];
    }
    return true;
}

/* Units take off different nodes and edges, so each one's part is found once. */
static bool find_taken(tl_costing *c, size_t unit, const tl_unit *u, const int64_t *work_ns)
{
    const tl_graph *g = c->b->graph;
    bool link = u->link != TL_NONE;
    const tl_repair repair = { link ? u->link : u->rank, u->family, u->shape.pattern == TL_PATTERN_DRIFTING, u->on };
    uint32_t first = link ? 0 : g->first_node[u->rank], end = link ? (uint32_t)g->nnodes : g->first_node[u->rank + 1];

    return tl_repair_apply(c->b, &repair, &c->scenario) &&
           list_taken(work_ns, c->scenario.work_ns, first, end, &c->work[unit]) &&
           list_taken(g->lag_ns, c->scenario.lag_ns, g->nodes[first].first_edge, g->nodes[end].first_edge, &c->waits[unit]);
}

tl_costing *tl_costing_new(const tl_baseline *b, const tl_findings *findings)
{
    const tl_graph *g = b->graph;
    tl_costing *c = tl_calloc(1, sizeof *c);
    if (c == NULL)
        return NULL;
    c->b = b;
    c->nunits = findings->units.n;
    c->work = tl_calloc(c->nunits + 1, sizeof *c->work);
    c->waits = tl_calloc(c->nunits + 1, sizeof *c->waits);
    int64_t *work_ns = tl_malloc((g->nnodes + 1) * sizeof *work_ns);
    c->done_ns = tl_malloc((g->nnodes + 1) * sizeof *c->done_ns);
    c->ends_ns = tl_malloc((b->nsteps + 1) * sizeof *c->ends_ns);
    c->step_ends = tl_malloc((b->nsteps + 1) * sizeof *c->step_ends);
    bool ok = c->work != NULL && c->waits != NULL && work_ns != NULL && c->done_ns != NULL && c->ends_ns != NULL &&
              c->step_ends != NULL && tl_changes_new(g, &c->scenario);

    for (size_t v = 0; ok && v < g->nnodes; v++)
        work_ns[v] = g->nodes[v].work_ns;
    if (ok) {
        c->end_ns = tl_replay(g, NULL, c->done_ns);
        tl_replay_step_ends(b, c->done_ns, c->ends_ns);
    }
    for (size_t u = 0; ok && u < c->nunits; u++)
        ok = find_taken(c, u, &findings->units.v[u], work_ns);
    free(work_ns);
    if (ok)
        return c;
    tl_costing_free(c);
    return NULL;
}

void tl_costing_free(tl_costing *c)
{
    if (c == NULL)
        return;
    for (size_t u = 0; c->work != NULL && c->waits != NULL && u < c->nunits; u++) {
        free(c->work[u].v);
        free(c->waits[u].v);
    }
    free(c->work);
    free(c->waits);
    tl_changes_free(&c->scenario);
    free(c->done_ns);
    free(c->ends_ns);
    free(c->step_ends);
    free(c);
}

static void take(int64_t *ns, const taken_list *list, int64_t sign)
{
    for (size_t i = 0; i < list->n; i++)
        ns[list->v[i].at] -= sign * list->v[i].ns;
}

static void apply(tl_costing *c, const bool *chosen, int64_t sign)
{
    for (size_t u = 0; u < c->nunits; u++) {
        if (!chosen[u])
            continue;
        take(c->scenario.work_ns, &c->work[u], sign);
        take(c->scenario.lag_ns, &c->waits[u], sign);
    }
}

int64_t tl_cost_of(tl_costing *c, const bool *chosen)
{
    apply(c, chosen, 1);
    int64_t end = tl_replay(c->b->graph, &c->scenario, c->done_ns);
    apply(c, chosen, -1);
    return c->end_ns - end;
}

void tl_cost_by_step(const tl_costing *c, int64_t *step_ns)
{
    int64_t before = 0;
    tl_replay_step_ends(c->b, c->done_ns, c->step_ends);
    for (size_t s = 0; s < c->b->nsteps; s++) {
        int64_t gained = c->ends_ns[s] - c->step_ends[s];
        step_ns[s] = gained - before;
        before = gained;
    }
}
