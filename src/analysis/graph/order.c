/* order.c - an order in which each node of a rank comes after all that it waits for, and an END after its ARRIVAL. */
#include "tlmpi/base/topological_order.h"
#include "job_graph.h"
#include <string.h>

/* A graph as that order wants it. */
typedef struct plain {
    tl_arena arena;
    uint32_t *first_edge, *from;
    int64_t *done_ns;
    bool *dropped;
} plain;

static void make_plain(uint32_t n, const tl_node *nodes, const tl_edge *edges, plain *out)
{
    uint32_t nedges = nodes[n].first_edge;
    *out = (plain){ 0 };
    out->first_edge = tl_arena_take(&out->arena, n + (size_t)1, sizeof *out->first_edge);
    out->from = tl_arena_take(&out->arena, nedges, sizeof *out->from);
    out->done_ns = tl_arena_take(&out->arena, n, sizeof *out->done_ns);
    out->dropped = tl_arena_take(&out->arena, nedges, sizeof *out->dropped);
    for (uint32_t v = 0; v < n; v++) {
        out->first_edge[v] = nodes[v].first_edge;
        out->done_ns[v] = nodes[v].done_ns;
        for (uint32_t e = nodes[v].first_edge; e < nodes[v + 1].first_edge; e++)
            out->from[e] =
                edges[e].from < n ? edges[e].from : v - 1; /* who waits for a meeting waits for its own ARRIVAL */
    }
    out->first_edge[n] = nedges;
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

void tl_graph_order(tl_rank_graph *g, uint32_t *order, size_t *ndropped)
{
    plain p;
    make_plain((uint32_t)g->nnodes, g->nodes, g->edges, &p);
    tl_topological_order(g->nnodes, p.first_edge, p.from, p.done_ns, order, p.dropped, ndropped);
    if (*ndropped > 0)
        drop(g, p.dropped);
    tl_arena_free(&p.arena);
}

void tl_open_order(const tl_open_rank *o, uint32_t *order)
{
    plain p;
    size_t ndropped; /* none: the graph is final */
    if (o->of->order != NULL) {
        memcpy(order, o->of->order, o->n * sizeof *order);
        return;
    }
    make_plain(o->n, o->nodes, o->edges, &p);
    tl_topological_order(o->n, p.first_edge, p.from, p.done_ns, order, p.dropped, &ndropped);
    tl_arena_free(&p.arena);
}
