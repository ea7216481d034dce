/* order.c - an order in which each node comes after all that it waits for (Kahn's), and what of its time nothing explains.
 *
 * Measured times hardly ever make a cycle, and of one that they do an edge runs back in time: such are left out.
 */
#include "join.h"
#include "tlmpi/base/sort.h"
#include <stdlib.h>

typedef struct ordering {
    tl_graph *graph;
    uint32_t *degree;   /* by node: what it waits for that is not in order yet */
    uint32_t *first_to; /* [nnodes + 2]: by node, those that wait for it */
    uint32_t *to;
} ordering;

/* How many are in order. */
static size_t arrange(ordering *o)
{
    const tl_graph *g = o->graph;
    size_t head = 0, tail = 0;

    for (size_t v = 0; v < g->nnodes + 2; v++)
        o->first_to[v] = 0;
    for (size_t e = 0; e < g->nedges; e++)
        o->first_to[g->from[e] + 2]++;
    for (size_t v = 0; v < g->nnodes; v++)
        o->first_to[v + 2] += o->first_to[v + 1];
    for (uint32_t v = 0; v < g->nnodes; v++) {
        for (uint32_t e = g->nodes[v].first_edge; e < g->nodes[v + 1].first_edge; e++)
            o->to[o->first_to[g->from[e] + 1]++] = v;
        o->degree[v] = g->nodes[v + 1].first_edge - g->nodes[v].first_edge;
        if (o->degree[v] == 0)
            g->order[tail++] = v;
    }
    while (head < tail) {
        uint32_t v = g->order[head++];
        for (uint32_t i = o->first_to[v]; i < o->first_to[v + 1]; i++)
            if (--o->degree[o->to[i]] == 0)
                g->order[tail++] = o->to[i];
    }
    return tail;
}

static bool runs_back(const ordering *o, uint32_t from, uint32_t to)
{
    const tl_node *nodes = o->graph->nodes;
    return o->degree[from] > 0 && o->degree[to] > 0 &&
           (nodes[from].done_ns != nodes[to].done_ns ? nodes[from].done_ns > nodes[to].done_ns : from >= to);
}

/* Drops the edges among what is not in order that run back in time: what remains has no cycle. */
static void cut_cycles(ordering *o)
{
    tl_graph *g = o->graph;
    size_t kept = 0;
    for (uint32_t v = 0, e = 0; v < g->nnodes; v++) {
        uint32_t end = g->nodes[v + 1].first_edge;
        g->nodes[v].first_edge = (uint32_t)kept;
        for (; e < end; e++)
            if (!runs_back(o, g->from[e], v)) {
                g->from[kept] = g->from[e];
                g->lag_ns[kept++] = g->lag_ns[e];
            }
    }
    g->nodes[g->nnodes].first_edge = (uint32_t)kept;
    g->ncycled += g->nedges - kept;
    g->nedges = kept;
}

static void find_rest(tl_graph *g)
{
    for (size_t v = 0; v < g->nnodes; v++) {
        tl_node *node = &g->nodes[v];
        uint32_t e = node->first_edge, end = g->nodes[v + 1].first_edge;
        if (e == end) { /* it is where it was, whatever it took */
            node->work_ns = 0;
            g->rest_ns[v] = node->done_ns;
            continue;
        }
        int64_t since = INT64_MIN;
        for (; e < end; e++) {
            int64_t at = g->nodes[g->from[e]].done_ns + g->lag_ns[e];
            since = at > since ? at : since;
        }
        g->rest_ns[v] = node->done_ns - since - node->work_ns;
    }
}

bool tl_graph_order(tl_graph *g)
{
    ordering o = { .graph = g,
                   .degree = tl_malloc((g->nnodes + 1) * sizeof *o.degree),
                   .first_to = tl_malloc((g->nnodes + 2) * sizeof *o.first_to),
                   .to = tl_malloc((g->nedges + 1) * sizeof *o.to) };
    free(g->order);
    free(g->rest_ns);
    g->order = tl_malloc((g->nnodes + 1) * sizeof *g->order);
    g->rest_ns = tl_malloc((g->nnodes + 1) * sizeof *g->rest_ns);
    bool ok = o.degree != NULL && o.first_to != NULL && o.to != NULL && g->order != NULL && g->rest_ns != NULL;

    if (ok && arrange(&o) < g->nnodes) {
        cut_cycles(&o);
        arrange(&o);
    }
    if (ok)
        find_rest(g);
    free(o.degree);
    free(o.first_to);
    free(o.to);
    return ok;
}
