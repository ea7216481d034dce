/* ways.c - how a rank came from one meeting to the next, by what it did between them without meeting anybody.
 *
 *     meeting p               (p ends)---->(work)---->(m arrives)          way from p to m: the longest over what lies between
 *     meeting q   (q ends)-------------------^                             ... and from q, if it is longer than over p
 *
 * Nodes of a rank are taken in order, each with the longest ways to it from ends of meetings.  A way that is no longer than one by
 * another of them is dropped: who comes from q to p and from there cannot be earlier.
 */
#include "join.h"
#include "tlmpi/base/stats.h"
#include "tlmpi/model/parameters.h"
#include <stdlib.h>

typedef struct going {
    const tl_joining *j;
    tl_ways *out;
    tl_ways_to *at;          /* by node of the rank in hand */
    tl_way *room;
    uint32_t *row_of;  /* by node: whose ARRIVAL or END it is, TL_NONE */
    uint32_t *ordered; /* nodes, rank by rank, in order */
} going;

/* Whether it is no longer than the way over the meeting of another row. */
static bool is_short(const going *g, tl_way way, tl_way over)
{
    const uint32_t *of = g->out->of[over.from];
    for (uint32_t i = of[0]; i < of[0] + of[1]; i++)
        if (g->out->list.v[i].from == way.from && g->out->list.v[i].ns + over.ns >= way.ns)
            return true;
    return false;
}

static void drop_short(const going *g, tl_ways_to *to)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < to->n; i++) {
        bool gone = false;
        for (uint32_t k = 0; !gone && k < to->n; k++)
            gone = k != i && to->v[k].from != TL_NONE && is_short(g, to->v[i], to->v[k]);
        to->v[i].from = gone ? TL_NONE : to->v[i].from;
    }
    for (uint32_t i = 0; i < to->n; i++)
        if (to->v[i].from != TL_NONE)
            to->v[kept++] = to->v[i];
    to->n = kept;
}

/* All ways to a node but those that begin there. */
static void list_ways(const going *g, uint32_t first, uint32_t v)
{
    const tl_graph *graph = g->j->out;
    tl_ways_to *to = &g->at[v - first];
    uint32_t e = graph->nodes[v].first_edge, end = graph->nodes[v + 1].first_edge;
    int64_t own_ns = graph->nodes[v].work_ns + graph->rest_ns[v];
    to->n = 0;
    for (; e < end; e++) {
        const tl_ways_to *from = &g->at[graph->from[e] - first];
        for (uint32_t i = 0; i < from->n; i++)
            tl_way_add(to, (tl_way){ from->v[i].ns + graph->lag_ns[e] + own_ns, from->v[i].from_ns, from->v[i].from });
    }
    if (to->n > 1)
        drop_short(g, to);
}

static bool keep(going *g, uint32_t row, const tl_ways_to *at)
{
    g->out->of[row][0] = (uint32_t)g->out->list.n;
    g->out->of[row][1] = at->n;
    for (uint32_t i = 0; i < at->n; i++) {
        if (!tl_vec_room(&g->out->list))
            return false;
        g->out->list.v[g->out->list.n++] = at->v[i];
    }
    return true;
}

static bool go(going *g, size_t rank)
{
    const tl_graph *graph = g->j->out;
    uint32_t first = graph->first_node[rank];
    bool ok = true;
    for (uint32_t i = first; ok && i < graph->first_node[rank + 1]; i++) {
        uint32_t v = g->ordered[i], meeting = tl_meeting_of(graph, v), row = g->row_of[v];
        if (meeting != TL_NONE) {
            g->at[v - first].n = row != TL_NONE;
            g->at[v - first].v[0] = (tl_way){ graph->nodes[v].done_ns - graph->nodes[meeting].done_ns, graph->nodes[v].done_ns, row };
            continue;
        }
        list_ways(g, first, v);
        if (row != TL_NONE && graph->nodes[v].kind == TL_NODE_ARRIVAL)
            ok = keep(g, row, &g->at[v - first]);
    }
    return ok;
}

static void order_ranks(const going *g, uint32_t *next)
{
    const tl_graph *graph = g->j->out;
    for (size_t i = 0; i < graph->nnodes; i++) {
        size_t rank = tl_graph_rank_of(graph, graph->order[i]);
        if (rank < graph->nranks)
            g->ordered[next[rank]++] = graph->order[i];
    }
}

bool tl_graph_ways(const tl_joining *j, tl_ways *out)
{
    const tl_graph *graph = j->out;
    uint32_t most = 0, *next = tl_malloc((graph->nranks + 1) * sizeof *next);
    for (size_t r = 0; next != NULL && r < graph->nranks; r++) {
        uint32_t n = graph->first_node[r + 1] - graph->first_node[r];
        next[r] = graph->first_node[r];
        most = n > most ? n : most;
    }
    going g = { .j = j,
                .out = out,
                .at = tl_malloc((most + 1) * sizeof *g.at),
                .room = tl_malloc((most + 1) * TL_WAYS_MOST * sizeof *g.room),
                .row_of = tl_malloc((graph->nnodes + 1) * sizeof *g.row_of),
                .ordered = tl_malloc((graph->nnodes + 1) * sizeof *g.ordered) };
    out->of = tl_calloc(j->in->nrows + 1, sizeof *out->of);
    bool ok = next != NULL && g.at != NULL && g.room != NULL && g.row_of != NULL && g.ordered != NULL && out->of != NULL;
    for (size_t v = 0; ok && v < graph->nnodes; v++)
        g.row_of[v] = TL_NONE;
    for (size_t v = 0; ok && v < most; v++)
        g.at[v].v = g.room + v * TL_WAYS_MOST;
    for (uint32_t i = 0; ok && i < j->in->nrows; i++)
        if (j->members[i].arrival != TL_NONE)
            g.row_of[j->members[i].arrival] = g.row_of[j->members[i].arrival + 1] = i;
    if (ok)
        order_ranks(&g, next);
    for (uint32_t r = 0; ok && r < graph->nranks; r++)
        ok = !tl_comers_follow(j->comers, r) || go(&g, r);
    free(next);
    free(g.at);
    free(g.room);
    free(g.row_of);
    free(g.ordered);
    return ok;
}
