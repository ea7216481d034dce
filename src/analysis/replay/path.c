/* path.c - the critical path of the job as it was.
 *
 *     done = since + work + rest        since: the latest of what is waited for, with its least time (lag)
 *
 * A node on the path adds its work to what that work is; its lag and rest are latency, but for members of a collective: what one
 * is done later than the first is transfer, too.
 */
#include "tlmpi/analysis/replay.h"
#include "tlmpi/base/stats.h"
#include "tlmpi/model/parameters.h"
#include <stdlib.h>

typedef struct walking {
    const tl_graph *g;
    tl_path *out;
    size_t rank; /* that the path is on */
} walking;

/* What was waited for last; TL_NONE for what waits for nothing. */
static uint32_t last_edge(const tl_graph *g, uint32_t v)
{
    uint32_t last = TL_NONE;
    int64_t since = INT64_MIN;
    for (uint32_t e = g->nodes[v].first_edge; e < g->nodes[v + 1].first_edge; e++) {
        int64_t at = g->nodes[g->from[e]].done_ns + g->lag_ns[e];
        if (last == TL_NONE || at > since) {
            last = e;
            since = at;
        }
    }
    return last;
}

static void add(walking *w, tl_part part, int64_t ns)
{
    w->out->sum.ns[part] += ns;
    if (w->rank < w->g->nranks)
        w->out->by_rank[w->rank].ns[part] += ns;
}

static void step_over(walking *w, uint32_t v, uint32_t edge)
{
    const tl_node *node = &w->g->nodes[v];
    int64_t rest = w->g->rest_ns[v], late = w->g->lag_ns[edge] + rest;

    add(w, (tl_part)node->part, node->work_ns);
    add(w, node->kind == TL_NODE_END ? TL_PART_COMM : TL_PART_DEVICE, late);
    if (node->kind != TL_NODE_END && rest > 2 * TL_ROUNDING_NS)
        w->out->unexplained_ns += rest;
}

static void walk(walking *w, int64_t start_ns)
{
    const tl_graph *g = w->g;
    uint32_t v = 0;
    for (uint32_t i = 1; i < g->nnodes; i++)
        v = g->nodes[i].done_ns > g->nodes[v].done_ns ? i : v;
    for (uint32_t edge;; v = g->from[edge]) {
        size_t rank = tl_graph_rank_of(g, v);
        w->rank = rank < g->nranks ? rank : w->rank;
        edge = last_edge(g, v);
        if (edge == TL_NONE)
            break;
        step_over(w, v, edge);
    }
    w->out->before_ns = g->nodes[v].done_ns - start_ns;
    w->out->unexplained_ns += w->out->before_ns;
}

/* Transfers of a member: from the last arrival to its own end. */
static void sum_own(const tl_graph *g, tl_path *out)
{
    for (size_t r = 0; r < g->nranks; r++)
        for (uint32_t v = g->first_node[r]; v < g->first_node[r + 1]; v++) {
            const tl_node *node = &g->nodes[v];
            out->own[r].ns[node->part] += node->work_ns;
            if (node->kind != TL_NODE_END || node->first_edge == g->nodes[v + 1].first_edge)
                continue;
            uint32_t from = g->from[node->first_edge];
            if (g->nodes[from].kind == TL_NODE_MEETING)
                out->own[r].ns[TL_PART_COMM] += node->done_ns - g->nodes[from].done_ns + g->nodes[from].work_ns - node->work_ns;
        }
}

bool tl_path_of(const tl_graph *g, int64_t start_ns, tl_path *out)
{
    *out = (tl_path){ .by_rank = tl_calloc(g->nranks + 1, sizeof *out->by_rank),
                      .own = tl_calloc(g->nranks + 1, sizeof *out->own) };
    walking w = { .g = g, .out = out, .rank = g->nranks };
    if (out->by_rank == NULL || out->own == NULL)
        return false;
    if (g->nnodes > 0)
        walk(&w, start_ns);
    sum_own(g, out);
    return true;
}

void tl_path_end(tl_path *path)
{
    free(path->by_rank);
    free(path->own);
    *path = (tl_path){ 0 };
}
