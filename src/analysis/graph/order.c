/* order.c - an order in which each node of a rank comes after all that it waits for (Kahn's).
 *
 * Measured times hardly ever make a cycle, and of one that they do an edge runs back in time: such are left out.
 */
#include "join.h"
#include <stdlib.h>

typedef struct ordering {
    const tl_node *nodes;
    const tl_edge *edges;
    size_t n;
    uint32_t *degree;   /* by node: what it waits for that is not in order yet */
    uint32_t *first_to; /* [n + 2]: by node, those that wait for it */
    uint32_t *to;
    uint32_t *order;
} ordering;

/* Who waits for a meeting waits for its own ARRIVAL, the node before. */
static uint32_t from_of(const ordering *o, uint32_t v, uint32_t edge)
{
    return o->edges[edge].from < o->n ? o->edges[edge].from : v - 1;
}

/* How many are in order. */
static size_t arrange(ordering *o)
{
    size_t head = 0, tail = 0;

    for (size_t v = 0; v < o->n + 2; v++)
        o->first_to[v] = 0;
    for (uint32_t v = 0; v < o->n; v++)
        for (uint32_t e = o->nodes[v].first_edge; e < o->nodes[v + 1].first_edge; e++)
            o->first_to[from_of(o, v, e) + 2]++;
    for (size_t v = 0; v < o->n; v++)
        o->first_to[v + 2] += o->first_to[v + 1];
    for (uint32_t v = 0; v < o->n; v++) {
        for (uint32_t e = o->nodes[v].first_edge; e < o->nodes[v + 1].first_edge; e++)
            o->to[o->first_to[from_of(o, v, e) + 1]++] = v;
        o->degree[v] = o->nodes[v + 1].first_edge - o->nodes[v].first_edge;
        if (o->degree[v] == 0)
            o->order[tail++] = v;
    }
    while (head < tail) {
        uint32_t v = o->order[head++];
        for (uint32_t i = o->first_to[v]; i < o->first_to[v + 1]; i++)
            if (--o->degree[o->to[i]] == 0)
                o->order[tail++] = o->to[i];
    }
    return tail;
}

static bool runs_back(const ordering *o, uint32_t from, uint32_t to)
{
    return o->degree[from] > 0 && o->degree[to] > 0 &&
           (o->nodes[from].done_ns != o->nodes[to].done_ns ? o->nodes[from].done_ns > o->nodes[to].done_ns : from >= to);
}

/* Drops the edges among what is not in order that run back in time: what remains has no cycle. */
static void cut_cycles(const ordering *o, tl_rank_graph *g)
{
    size_t kept = 0;
    for (uint32_t v = 0, e = 0; v < g->nnodes; v++) {
        uint32_t end = g->nodes[v + 1].first_edge;
        g->nodes[v].first_edge = (uint32_t)kept;
        for (; e < end; e++)
            if (!runs_back(o, from_of(o, v, e), v))
                g->edges[kept++] = g->edges[e];
    }
    g->nodes[g->nnodes].first_edge = (uint32_t)kept;
    g->nedges = kept;
}

static bool start(ordering *o, size_t nedges)
{
    o->degree = tl_malloc((o->n + 1) * sizeof *o->degree);
    o->first_to = tl_malloc((o->n + 2) * sizeof *o->first_to);
    o->to = tl_malloc((nedges + 1) * sizeof *o->to);
    return o->degree != NULL && o->first_to != NULL && o->to != NULL;
}

static void end(ordering *o)
{
    free(o->degree);
    free(o->first_to);
    free(o->to);
}

bool tl_graph_order(tl_rank_graph *g, uint32_t *order, size_t *ndropped)
{
    ordering o = { .nodes = g->nodes, .edges = g->edges, .n = g->nnodes, .order = order };
    size_t nedges = g->nedges;
    bool ok = start(&o, nedges);
    if (ok && arrange(&o) < o.n) {
        cut_cycles(&o, g);
        arrange(&o);
    }
    *ndropped = nedges - g->nedges;
    end(&o);
    return ok;
}

bool tl_open_order(const tl_open_rank *open, uint32_t *order)
{
    ordering o = { .nodes = open->nodes, .edges = open->edges, .n = open->n, .order = order };
    bool ok = start(&o, open->nodes[open->n].first_edge);
    if (ok)
        arrange(&o);
    end(&o);
    return ok;
}
