/* order.c - an order in which each node of a rank comes after all that it waits for, and an END after its ARRIVAL. */
#include "tlmpi/base/order.h"
#include "join.h"
#include <stdlib.h>

/* A graph as that order wants it. */
typedef struct plain {
    uint32_t *first_edge, *from;
    int64_t *done_ns;
    bool *dropped;
} plain;

static bool make_plain(uint32_t n, const tl_node *nodes, const tl_edge *edges, plain *out)
{
    uint32_t nedges = nodes[n].first_edge;
    *out = (plain){ .first_edge = tl_malloc((n + (size_t)1) * sizeof *out->first_edge),
                    .from = tl_malloc((nedges + (size_t)1) * sizeof *out->from),
                    .done_ns = tl_malloc((n + (size_t)1) * sizeof *out->done_ns),
                    .dropped = tl_malloc(nedges + (size_t)1) };
    if (out->first_edge == NULL || out->from == NULL || out->done_ns == NULL || out->dropped == NULL)
        return false;
    for (uint32_t v = 0; v < n; v++) {
        out->first_edge[v] = nodes[v].first_edge;
        out->done_ns[v] = nodes[v].done_ns;
        for (uint32_t e = nodes[v].first_edge; e < nodes[v + 1].first_edge; e++)
            out->from[e] =
                edges[e].from < n ? edges[e].from : v - 1; /* who waits for a meeting waits for its own ARRIVAL */
    }
    out->first_edge[n] = nedges;
    return true;
}

static void free_plain(plain *p)
{
    free(p->first_edge);
    free(p->from);
    free(p->done_ns);
    free(p->dropped);
}

static void drop(tl_rank_graph *g, const bool *dropped)
{
    size_t kept = 0;
    for (uint32_t v = 0, e = 0; v < g->nnodes; v++) {
        uint32_t end = g->nodes[v + 1].first_edge;
        g->nodes[v].first_edge = (uint32_t)kept;
        for (; e < end; e++)
            if (!dropped[e])
                g->edges[kept++] = g->edges[e];
    }
    g->nodes[g->nnodes].first_edge = (uint32_t)kept;
    g->nedges = kept;
}

bool tl_graph_order(tl_rank_graph *g, uint32_t *order, size_t *ndropped)
{
    plain p;
    bool ok = make_plain((uint32_t)g->nnodes, g->nodes, g->edges, &p) &&
              tl_order_nodes(g->nnodes, p.first_edge, p.from, p.done_ns, order, p.dropped, ndropped);
    if (ok && *ndropped > 0)
        drop(g, p.dropped);
    free_plain(&p);
    return ok;
}

bool tl_open_order(const tl_open_rank *o, uint32_t *order)
{
    plain p;
    size_t ndropped; /* none: it has settled */
    bool ok = make_plain(o->n, o->nodes, o->edges, &p) &&
              tl_order_nodes(o->n, p.first_edge, p.from, p.done_ns, order, p.dropped, &ndropped);
    free_plain(&p);
    return ok;
}
