/* inter_collective_path.c - the longest paths of a rank from each meeting to its next ones, over work with no meeting
 * in between.
 *
 *     meeting p               (p ends)---->(work)---->(m arrives)  path from p to m
 *     meeting q   (q ends)-------------------^                     path from q to m, if longer than q to p to m
 *
 * Nodes of a rank are taken in topological order, each with the longest paths to it from ends of meetings.  A path from
 * q to m that is no longer than from q over p never decides the arrival at m, and is dropped.
 */
#include "job_graph.h"
#include "tlmpi/model/parameters.h"
#include <stdlib.h>

typedef struct going {
    const tl_open_rank *open;
    tl_arena arena;
    tl_paths_to_node *at; /* by node: the paths to it, from ports */
    tl_inter_collective_path *room;
    uint32_t *order;   /* topological order of the nodes */
    uint32_t *port_of; /* by ARRIVAL and END: its port, if that has a row; TL_NONE */
    uint32_t *row_of;  /* by port: its row; TL_NONE */
    size_t nports;
    tl_inter_collective_path_list list; /* paths found so far, from ports */
    uint32_t (*of)[2];                  /* by port: index and number of the paths to its ARRIVAL */
} going;

/* Whether `path` is no longer than the path from the same meeting over `over` and its meeting. */
static bool is_dominated(const going *g, tl_inter_collective_path path, tl_inter_collective_path over)
{
    const uint32_t *of = g->of[over.from];
    for (uint32_t i = of[0]; g->list.v != NULL && i < of[0] + of[1]; i++)
        if (g->list.v[i].from == path.from && g->list.v[i].ns + over.ns >= path.ns)
            return true;
    return false;
}

static void drop_dominated(const going *g, tl_paths_to_node *to)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < to->n; i++) {
        bool gone = false;
        for (uint32_t k = 0; !gone && k < to->n; k++)
            gone = k != i && to->v[k].from != TL_NONE && is_dominated(g, to->v[i], to->v[k]);
        to->v[i].from = gone ? TL_NONE : to->v[i].from;
    }
    for (uint32_t i = 0; i < to->n; i++)
        if (to->v[i].from != TL_NONE)
            to->v[kept++] = to->v[i];
    to->n = kept;
}

/* Fills the paths to node v from the nodes before; a path that begins at v itself is not among them. */
static void list_paths(const going *g, uint32_t v)
{
    const tl_open_rank *o = g->open;
    tl_paths_to_node *to = &g->at[v];
    int64_t own_ns = o->nodes[v].work_ns + o->rest_ns[v];
    to->n = 0;
    for (uint32_t e = o->nodes[v].first_edge; e < o->nodes[v + 1].first_edge; e++) {
        const tl_paths_to_node *from = &g->at[o->edges[e].from];
        for (uint32_t i = 0; i < from->n; i++)
            tl_paths_to_node_add(to, (tl_inter_collective_path){ from->v[i].ns + o->edges[e].lag_ns + own_ns,
                                                                 from->v[i].from_ns, from->v[i].from });
    }
    if (to->n > 1)
        drop_dominated(g, to);
}

static void append_paths(going *g, uint32_t port, const tl_paths_to_node *at)
{
    g->of[port][0] = (uint32_t)g->list.n;
    g->of[port][1] = at->n;
    for (uint32_t i = 0; i < at->n; i++) {
        tl_vec_push(&g->list, at->v[i]);
    }
}

static void find_paths(going *g)
{
    const tl_open_rank *o = g->open;
    tl_open_order(o, g->order);
    for (uint32_t v = 0; v < o->n; v++) {
        g->at[v].v = g->room + (size_t)v * TL_WAYS_MOST;
        g->port_of[v] = TL_NONE;
    }
    for (uint32_t p = 0; p < g->nports; p++)
        if (g->row_of[p] != TL_NONE)
            g->port_of[o->of->ports[p].arrival] = g->port_of[o->of->ports[p].arrival + 1] = p;
    for (uint32_t i = 0; i < o->n; i++) {
        uint32_t v = g->order[i], met = tl_rank_port_of(o, v), port = g->port_of[v];
        if (met != TL_NONE) {
            g->at[v].n = port != TL_NONE;
            g->at[v].v[0] = (tl_inter_collective_path){ o->nodes[v].done_ns - o->of->ports[met].meeting_done_ns,
                                                        o->nodes[v].done_ns, port };
            continue;
        }
        list_paths(g, v);
        if (port != TL_NONE && o->nodes[v].kind == TL_NODE_ARRIVAL)
            append_paths(g, port, &g->at[v]);
    }
}

/* Reads the row of each port; writes the paths from row to row, and by port the index and number of its paths. */
void tl_inter_collective_paths_answer(const tl_open_rank *rank, tl_bytes *in, tl_bytes *out)
{
    size_t n = rank->n;
    going g = { .open = rank };
    g.at = tl_arena_take(&g.arena, n, sizeof *g.at);
    g.room = tl_arena_take(&g.arena, n * TL_WAYS_MOST, sizeof *g.room);
    g.order = tl_arena_take(&g.arena, n, sizeof *g.order);
    g.port_of = tl_arena_take(&g.arena, n, sizeof *g.port_of);
    g.of = tl_arena_zeroed(&g.arena, rank->of->graph.ncomms, sizeof *g.of);
    tl_bytes_get_list(in, (void **)&g.row_of, &g.nports, sizeof *g.row_of);
    find_paths(&g);
    for (size_t i = 0; i < g.list.n; i++)
        g.list.v[i].from = g.row_of[g.list.v[i].from];
    tl_bytes_put_list(out, g.list.v, g.list.n, sizeof *g.list.v);
    tl_bytes_put_list(out, g.of, g.nports, sizeof *g.of);
    tl_arena_free(&g.arena);
    free(g.row_of);
    free(g.list.v);
}

/* -------------------------------------------------------------------------------------------------------- all ranks */

/* Fills row_of[rank][port] for ranks in a role with untraced ranks; NULL for other ranks. */
static void fill_row_of(const tl_job_graph_draft *j, tl_arena *arena, uint32_t **row_of)
{
    for (uint32_t r = 0; r < j->in->nranks; r++) {
        size_t n = j->out->ranks[r].nports;
        if (!tl_untraced_arrivals_has_role(j->arrivals, r) || j->out->ranks[r].nnodes == 0)
            continue;
        row_of[r] = tl_arena_none(arena, n);
    }
    for (uint32_t i = 0; i < j->in->nrows; i++)
        if (j->members[i].port != TL_NONE && row_of[j->members[i].rank] != NULL)
            row_of[j->members[i].rank][j->members[i].port] = i;
}

static void append_answer(const uint32_t *row_of, size_t nrows, tl_bytes *in, tl_inter_collective_paths *out)
{
    tl_inter_collective_path *list = NULL;
    uint32_t(*of)[2] = NULL;
    size_t n, nports, first = out->list.n;
    tl_bytes_get_list(in, (void **)&list, &n, sizeof *list);
    tl_bytes_get_list(in, (void **)&of, &nports, sizeof *of);
    tl_grow((void **)&out->list.v, &out->list.cap, first + n, sizeof *out->list.v);
    for (size_t i = 0; i < n; i++)
        out->list.v[out->list.n++] = list[i];
    for (size_t p = 0; p < nports; p++)
        if (row_of[p] < nrows) {
            out->of[row_of[p]][0] = (uint32_t)first + of[p][0];
            out->of[row_of[p]][1] = of[p][1];
        }
    free(list);
    free(of);
}

void tl_job_graph_find_paths(const tl_job_graph_draft *j, tl_inter_collective_paths *out)
{
    size_t n = j->in->nranks;
    tl_arena arena = { 0 };
    uint32_t **row_of = tl_arena_zeroed(&arena, n, sizeof *row_of);
    tl_asked asked;
    out->of = tl_calloc(j->in->nrows + 1, sizeof *out->of);
    tl_asked_new(n, &asked);
    fill_row_of(j, &arena, row_of);
    for (size_t r = 0; r < n; r++)
        if (row_of[r] != NULL)
            tl_bytes_put_list(&asked.in[r], row_of[r], j->out->ranks[r].nports, sizeof **row_of);
    tl_ask_ranks(j->asker, TL_ASK_INTER_COLLECTIVE_PATHS, &asked);
    for (size_t r = 0; r < n; r++)
        if (row_of[r] != NULL)
            append_answer(row_of[r], j->in->nrows, &asked.out[r], out);
    tl_arena_free(&arena);
    tl_asked_free(&asked);
}
