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
    tl_open_rank open; /* the rank in hand */
    tl_ways_to *at;    /* by node of it */
    tl_way *room;
    uint32_t *order;   /* its nodes */
    uint32_t *row_of;  /* by node: whose ARRIVAL or END it is, TL_NONE */
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
static void list_ways(const going *g, uint32_t v)
{
    const tl_open_rank *o = &g->open;
    tl_ways_to *to = &g->at[v];
    int64_t own_ns = o->nodes[v].work_ns + o->rest_ns[v];
    to->n = 0;
    for (uint32_t e = o->nodes[v].first_edge; e < o->nodes[v + 1].first_edge; e++) {
        const tl_ways_to *from = &g->at[o->edges[e].from];
        for (uint32_t i = 0; i < from->n; i++)
            tl_way_add(to, (tl_way){ from->v[i].ns + o->edges[e].lag_ns + own_ns, from->v[i].from_ns, from->v[i].from });
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

static bool go(going *g, size_t rank, const uint32_t *rows, size_t nrows)
{
    const tl_open_rank *o = &g->open;
    bool ok = tl_open_order(o, g->order);
    for (uint32_t v = 0; v < o->n; v++) {
        g->at[v].v = g->room + (size_t)v * TL_WAYS_MOST;
        g->row_of[v] = TL_NONE;
    }
    for (size_t i = 0; i < nrows; i++) {
        uint32_t arrival = g->j->out->ranks[rank].ports[g->j->members[rows[i]].port].arrival;
        g->row_of[arrival] = g->row_of[arrival + 1] = rows[i];
    }
    for (uint32_t i = 0; ok && i < o->n; i++) {
        uint32_t v = g->order[i], port = tl_port_of(o, v), row = g->row_of[v];
        if (port != TL_NONE) {
            g->at[v].n = row != TL_NONE;
            g->at[v].v[0] = (tl_way){ o->nodes[v].done_ns - o->of->ports[port].met_ns, o->nodes[v].done_ns, row };
            continue;
        }
        list_ways(g, v);
        if (row != TL_NONE && o->nodes[v].kind == TL_NODE_ARRIVAL)
            ok = keep(g, row, &g->at[v]);
    }
    return ok;
}

static bool go_all(going *g, const uint32_t *rows, const size_t *first)
{
    bool ok = true;
    for (uint32_t r = 0; ok && r < g->j->in->nranks; r++) {
        if (!tl_comers_follow(g->j->comers, r))
            continue;
        size_t n = g->j->out->ranks[r].graph.nnodes + 1;
        g->at = tl_malloc(n * sizeof *g->at);
        g->room = tl_malloc(n * TL_WAYS_MOST * sizeof *g->room);
        g->order = tl_malloc(n * sizeof *g->order);
        g->row_of = tl_malloc(n * sizeof *g->row_of);
        ok = g->at != NULL && g->room != NULL && g->order != NULL && g->row_of != NULL &&
             tl_graph_open(g->j->out, r, &g->open) && go(g, r, rows + first[r], first[r + 1] - first[r]);
        free(g->at);
        free(g->room);
        free(g->order);
        free(g->row_of);
    }
    return ok;
}

bool tl_graph_ways(const tl_joining *j, tl_ways *out)
{
    size_t nranks = j->in->nranks, *first = tl_calloc(nranks + 2, sizeof *first); /* by rank: its rows */
    uint32_t *rows = tl_malloc((j->in->nrows + 1) * sizeof *rows);
    going g = { .j = j, .out = out };
    out->of = tl_calloc(j->in->nrows + 1, sizeof *out->of);
    bool ok = first != NULL && rows != NULL && out->of != NULL;
    for (size_t i = 0; ok && i < j->in->nrows; i++)
        if (j->members[i].port != TL_NONE)
            first[j->members[i].rank + 2]++;
    for (size_t r = 0; ok && r < nranks; r++)
        first[r + 2] += first[r + 1];
    for (uint32_t i = 0; ok && i < j->in->nrows; i++)
        if (j->members[i].port != TL_NONE)
            rows[first[j->members[i].rank + 1]++] = i;
    ok = ok && go_all(&g, rows, first);
    tl_open_free(&g.open);
    free(first);
    free(rows);
    return ok;
}
