/* path.c - the critical path of the job as it was.
 *
 *     done = since + work + rest        since: the latest of what is waited for, with its least time (lag)
 *
 * A node on the path adds its work to what that work is; its lag and rest are latency, but for members of a collective: what one
 * is done later than the first is transfer, too.
 */
#include "tlmpi/analysis/replay.h"
#include "tlmpi/base/mem.h"
#include "tlmpi/base/sort.h"
#include "tlmpi/model/parameters.h"
#include <stdlib.h>

/* The path goes over a rank from one of its nodes back to the meeting after which it went on there, or to its beginning. */
typedef struct stretch {
    uint32_t rank, node; /* index; the later end */
} stretch;

typedef struct walking {
    const tl_graph *g;
    int64_t start_ns;
    tl_path *out;
    tl_open_rank open; /* one rank at a time */
    uint32_t **back;   /* by rank and port: the port whose END the path to its ARRIVAL comes from; TL_NONE: none */
    stretch last;      /* where the job ends; of a meeting TL_NONE, its number */
    uint32_t last_back;
    TL_VEC(stretch) stretches;
} walking;

/* What was waited for last; TL_NONE for what waits for nothing. */
static uint32_t last_edge(const tl_open_rank *o, uint32_t v)
{
    uint32_t last = TL_NONE;
    int64_t since = INT64_MIN;
    for (uint32_t e = o->nodes[v].first_edge; e < o->nodes[v + 1].first_edge; e++) {
        int64_t at = tl_from_ns(o, &o->edges[e]) + o->edges[e].lag_ns;
        if (last == TL_NONE || at > since) {
            last = e;
            since = at;
        }
    }
    return last;
}

/* ------------------------------------------------------------------------------------------------- all ranks, once */

/* Transfers of a member: from the last arrival to its own end. */
static void sum_own(const walking *w, size_t rank)
{
    const tl_open_rank *o = &w->open;
    tl_parts *own = &w->out->own[rank];
    for (uint32_t v = 0; v < o->n; v++) {
        const tl_node *node = &o->nodes[v];
        uint32_t port = tl_port_of(o, v);
        own->ns[node->part] += node->work_ns;
        if (port != TL_NONE)
            own->ns[TL_PART_COMM] += node->done_ns - o->of->ports[port].met_ns +
                                     w->g->meetings[o->of->ports[port].meeting].work_ns - node->work_ns;
    }
}

/* From which END the path to each node of the rank comes. */
static void find_back(walking *w, size_t rank, const uint32_t *order, uint32_t *back, int64_t *last_ns)
{
    const tl_open_rank *o = &w->open;
    for (uint32_t i = 0; i < o->n; i++) {
        uint32_t v = order[i], port = tl_port_of(o, v), edge = last_edge(o, v);
        back[v] = port != TL_NONE ? port : edge != TL_NONE ? back[o->edges[edge].from] : TL_NONE;
    }
    for (size_t p = 0; p < o->of->graph.ncomms; p++)
        w->back[rank][p] = back[o->of->ports[p].arrival];
    for (uint32_t v = 0; v < o->n; v++)
        if (o->nodes[v].done_ns > *last_ns) {
            *last_ns = o->nodes[v].done_ns;
            w->last = (stretch){ (uint32_t)rank, v };
            w->last_back = back[v];
        }
}

static bool look_at_ranks(walking *w)
{
    int64_t last_ns = INT64_MIN;
    bool ok = true;
    for (size_t r = 0; ok && r < w->g->nranks; r++) {
        size_t n = w->g->ranks[r].graph.nnodes + 1;
        uint32_t *order = tl_malloc(n * sizeof *order), *back = tl_malloc(n * sizeof *back);
        w->back[r] = tl_malloc((w->g->ranks[r].graph.ncomms + 1) * sizeof **w->back);
        ok = order != NULL && back != NULL && w->back[r] != NULL && tl_graph_open(w->g, r, &w->open) &&
             tl_open_order(&w->open, order);
        if (ok) {
            find_back(w, r, order, back, &last_ns);
            sum_own(w, r);
        }
        free(order);
        free(back);
    }
    for (uint32_t m = 0; m < w->g->nmeetings; m++)
        if (w->g->meetings[m].done_ns > last_ns) {
            last_ns = w->g->meetings[m].done_ns;
            w->last = (stretch){ TL_NONE, m };
        }
    return ok;
}

/* -------------------------------------------------------------------------------------------------- the path itself */

static void add(walking *w, uint32_t rank, tl_part part, int64_t ns)
{
    w->out->sum.ns[part] += ns;
    if (rank != TL_NONE)
        w->out->by_rank[rank].ns[part] += ns;
}

static void step_over_meeting(walking *w, uint32_t rank, uint32_t meeting, const tl_meeting_edge *edge)
{
    int64_t rest = tl_meeting_rest_ns(w->g, meeting);
    add(w, rank, TL_PART_COMM, w->g->meetings[meeting].work_ns);
    add(w, rank, TL_PART_DEVICE, edge->lag_ns + rest);
    if (rest > 2 * TL_ROUNDING_NS)
        w->out->unexplained_ns += rest;
}

static const tl_meeting_edge *last_to_meet(const walking *w, uint32_t meeting)
{
    const tl_graph *g = w->g;
    const tl_meeting_edge *last = NULL;
    int64_t since = INT64_MIN;
    for (uint32_t e = g->meetings[meeting].first_edge; e < g->meetings[meeting + 1].first_edge; e++) {
        const tl_meeting_edge *edge = &g->edges[e];
        int64_t from = edge->rank != TL_NONE ? g->ranks[edge->rank].ports[edge->of].came_ns : g->meetings[edge->of].done_ns;
        if (last == NULL || from + edge->lag_ns > since) {
            last = edge;
            since = from + edge->lag_ns;
        }
    }
    return last;
}

/* From meeting to meeting; what lies between them on ranks is noted. */
static bool walk(walking *w)
{
    uint32_t rank = TL_NONE, meeting = w->last.node;
    size_t left = w->g->nmeetings; /* measured times that make a cycle end there */
    if (w->last.rank != TL_NONE) {
        if (!tl_vec_room(&w->stretches))
            return false;
        w->stretches.v[w->stretches.n++] = w->last;
        rank = w->last.rank;
        meeting = w->last_back != TL_NONE ? w->g->ranks[rank].ports[w->last_back].meeting : TL_NONE;
    }
    for (; meeting != TL_NONE && left > 0; left--) {
        const tl_meeting_edge *edge = last_to_meet(w, meeting);
        step_over_meeting(w, rank, meeting, edge);
        if (edge->rank == TL_NONE) {
            meeting = edge->of;
            continue;
        }
        const tl_port *ports = w->g->ranks[edge->rank].ports;
        uint32_t back = w->back[edge->rank][edge->of];
        rank = edge->rank;
        if (!tl_vec_room(&w->stretches))
            return false;
        w->stretches.v[w->stretches.n++] = (stretch){ rank, ports[edge->of].arrival };
        meeting = back != TL_NONE ? ports[back].meeting : TL_NONE;
    }
    return true;
}

static void walk_rank(walking *w, stretch s)
{
    const tl_open_rank *o = &w->open;
    uint32_t v = s.node;
    for (uint32_t edge; (edge = last_edge(o, v)) != TL_NONE; v = o->edges[edge].from) {
        const tl_node *node = &o->nodes[v];
        add(w, s.rank, (tl_part)node->part, node->work_ns);
        add(w, s.rank, node->kind == TL_NODE_END ? TL_PART_COMM : TL_PART_DEVICE, o->edges[edge].lag_ns + o->rest_ns[v]);
        if (node->kind != TL_NODE_END && o->rest_ns[v] > 2 * TL_ROUNDING_NS)
            w->out->unexplained_ns += o->rest_ns[v];
        if (o->edges[edge].from >= o->n)
            return;
    }
    w->out->before_ns = o->nodes[v].done_ns - w->start_ns;
    w->out->unexplained_ns += w->out->before_ns;
}

static int by_rank(const void *a, const void *b)
{
    const stretch *x = a, *y = b;
    return x->rank != y->rank ? TL_COMPARE(x->rank, y->rank) : TL_COMPARE(x->node, y->node);
}

static bool walk_ranks(walking *w)
{
    bool ok = true;
    if (w->stretches.n > 1)
        qsort(w->stretches.v, w->stretches.n, sizeof *w->stretches.v, by_rank);
    for (size_t i = 0; ok && i < w->stretches.n; i++) {
        stretch s = w->stretches.v[i];
        ok = (i > 0 && w->stretches.v[i - 1].rank == s.rank) || tl_graph_open(w->g, s.rank, &w->open);
        if (ok)
            walk_rank(w, s);
    }
    return ok;
}

bool tl_path_of(const tl_graph *g, int64_t start_ns, tl_path *out)
{
    *out = (tl_path){ .by_rank = tl_calloc(g->nranks + 1, sizeof *out->by_rank),
                      .own = tl_calloc(g->nranks + 1, sizeof *out->own) };
    walking w = { .g = g,
                  .start_ns = start_ns,
                  .out = out,
                  .last = { TL_NONE, TL_NONE },
                  .back = tl_calloc(g->nranks + 1, sizeof *w.back) };
    bool ok = out->by_rank != NULL && out->own != NULL && w.back != NULL && look_at_ranks(&w) && walk(&w) && walk_ranks(&w);
    for (size_t r = 0; w.back != NULL && r < g->nranks; r++)
        free(w.back[r]);
    free(w.back);
    free(w.stretches.v);
    tl_open_free(&w.open);
    return ok;
}

void tl_path_end(tl_path *path)
{
    free(path->by_rank);
    free(path->own);
    *path = (tl_path){ 0 };
}
