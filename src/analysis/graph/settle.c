/* settle.c - a rank's own graph becomes the job's: on one clock, without what was voted out, with the pauses that were waits and the
 * meetings that its ENDs waited for; and is opened again by those who look at its nodes. */
#include "join.h"
#include "tlmpi/base/sort.h"
#include "tlmpi/base/stats.h"
#include "tlmpi/model/parameters.h"
#include <stdlib.h>

/* Clocks drift alike before the first and behind the last of its collectives; but a nanosecond of rounding must not become more
 * there than that of all times. */
static int64_t on_job_clock(const tl_clock_shift *s, int64_t ns)
{
    if (s->last_ns <= s->first_ns)
        return tl_ns_sum(ns, s->first_by_ns);
    int64_t length = tl_ns_between(s->last_ns, s->first_ns), since = tl_ns_between(ns, s->first_ns);
    int64_t most = length < INT64_MAX / TL_ROUNDING_NS ? length * TL_ROUNDING_NS : INT64_MAX;
    int64_t drift = tl_ns_within(tl_ns_between(s->last_by_ns, s->first_by_ns), length);
    return tl_ns_sum(ns, tl_ns_sum(s->first_by_ns, tl_portion(drift, tl_ns_within(since, most), length)));
}

/* A rank on its way. */
typedef struct settling {
    tl_joining *j;
    size_t rank;
    const tl_rank_graph *from;
    tl_node *nodes;       /* [nnodes + 1] its own */
    tl_edge *edges;
    tl_rank_graph graph;  /* the job's */
    uint32_t *port_of;    /* by node: the port whose END it is, if that waited for its meeting; TL_NONE */
    uint32_t *wait_of;    /* by node: 1 + its pause, if that was a wait; 0 */
    uint32_t *order;
} settling;

static bool start(settling *s)
{
    const tl_rank_graph *g = s->from;
    size_t room = g->nedges + g->npauses + g->ncomms + 1;
    s->nodes = tl_malloc((g->nnodes + 1) * sizeof *s->nodes);
    s->edges = tl_malloc((g->nedges + 1) * sizeof *s->edges);
    s->port_of = tl_malloc((g->nnodes + 1) * sizeof *s->port_of);
    s->wait_of = tl_calloc(g->nnodes + 1, sizeof *s->wait_of);
    s->order = tl_malloc((g->nnodes + 1) * sizeof *s->order);
    s->graph = (tl_rank_graph){ .rank = s->j->in->ranks[s->rank],
                                .nnodes = g->nnodes,
                                .ncomms = g->ncomms,
                                .nodes = tl_malloc((g->nnodes + 1) * sizeof *s->graph.nodes),
                                .edges = tl_malloc(room * sizeof *s->graph.edges) };
    return s->nodes != NULL && s->edges != NULL && s->port_of != NULL && s->wait_of != NULL && s->order != NULL &&
           s->graph.nodes != NULL && s->graph.edges != NULL;
}

static void end(settling *s)
{
    free(s->nodes);
    free(s->edges);
    free(s->port_of);
    free(s->wait_of);
    free(s->order);
}

/* Where the rank's own graph gives way to what all ranks have shown. */
static void mark(const settling *s)
{
    const tl_port *ports = s->j->out->ranks[s->rank].ports;
    const uint32_t *release_of = s->j->release_of[s->rank];
    for (size_t v = 0; v < s->from->nnodes; v++)
        s->port_of[v] = TL_NONE;
    for (uint32_t c = 0; c < s->from->ncomms; c++)
        if (ports[c].meeting != TL_NONE)
            s->port_of[ports[c].arrival + 1] = c;
    for (uint32_t i = 0; i < s->from->npauses; i++)
        if (release_of[i] != TL_NONE)
            s->wait_of[s->from->pauses[i].end] = i + 1;
}

static void put_edge(settling *s, uint32_t from, int64_t lag_ns)
{
    s->graph.edges[s->graph.nedges++] = (tl_edge){ .from = from, .lag_ns = lag_ns };
}

/* An END waits for its meeting alone. */
static void put_end(settling *s, uint32_t port, tl_node *node)
{
    const tl_meeting *met = &s->j->out->meetings[s->j->out->ranks[s->rank].ports[port].meeting];
    bool own = tl_is_loose_of_group((tl_collective)met->kind);
    node->work_ns = own ? tl_ns_max(0, node->done_ns - met->done_ns) : 0;
    node->key = own ? tl_stay_key(met->kind) : 0;
    put_edge(s, (uint32_t)s->from->nnodes + port, tl_ns_min(0, node->done_ns - met->done_ns));
}

/* The edges of its own graph, but for what was voted out. */
static void put_edges(settling *s, uint32_t v, tl_node *node)
{
    const tl_rank_graph *g = s->from;
    uint32_t wait = s->wait_of[v];
    const tl_pause *pause = wait > 0 ? &g->pauses[wait - 1] : NULL;
    for (uint32_t e = s->nodes[v].first_edge; e < s->nodes[v + 1].first_edge; e++) {
        const tl_edge *edge = &s->edges[e];
        if (edge->vote != 0 && tl_map_get(&s->j->false_votes, edge->vote) != TL_MAP_NONE)
            s->j->out->nvoted++;
        else if (pause == NULL)
            put_edge(s, edge->from, edge->lag_ns);
        else if (edge->from == pause->begin) /* what another thread did is no matter then */
            put_edge(s, edge->from, tl_ns_min(pause->ns, TL_WAIT_OWN_NS));
    }
    if (pause == NULL)
        return;
    const tl_pause_release *release = &g->releases[s->j->release_of[s->rank][wait - 1]];
    node->work_ns = 0;
    put_edge(s, release->node, release->lag_ns);
}

static void put_nodes(settling *s)
{
    const int32_t *step_of = s->j->step_of[s->rank];
    for (uint32_t v = 0; v < s->from->nnodes; v++) {
        tl_node *node = &s->graph.nodes[v];
        *node = s->nodes[v];
        node->first_edge = (uint32_t)s->graph.nedges;
        node->done_ns = on_job_clock(&s->j->shifts[s->rank], node->done_ns);
        if (step_of != NULL)
            node->step = step_of[node->segment];
        if (s->port_of[v] != TL_NONE)
            put_end(s, s->port_of[v], node);
        else
            put_edges(s, v, node);
    }
    s->graph.nodes[s->from->nnodes] = (tl_node){ .first_edge = (uint32_t)s->graph.nedges };
}

static bool note_step(tl_job_rank *rank, int32_t step, size_t *room)
{
    size_t at = 0;
    TL_BISECT(at, rank->nsteps, mid, rank->steps[mid] < step);
    if (at < rank->nsteps && rank->steps[at] == step)
        return true;
    if (!tl_grow((void **)&rank->steps, room, rank->nsteps + 1, sizeof *rank->steps))
        return false;
    for (size_t i = rank->nsteps++; i > at; i--)
        rank->steps[i] = rank->steps[i - 1];
    rank->steps[at] = step;
    return true;
}

/* What the job has to know of it without its nodes. */
static bool note(settling *s)
{
    tl_job_rank *rank = &s->j->out->ranks[s->rank];
    tl_node *nodes = s->graph.nodes;
    size_t room = 0;
    bool ok = true;
    rank->start_ns = INT64_MAX;
    for (uint32_t v = 0; ok && v < s->graph.nnodes; v++) {
        if (nodes[v].first_edge == nodes[v + 1].first_edge) /* it is where it was, whatever it took */
            nodes[v].work_ns = 0;
        rank->start_ns = tl_ns_min(rank->start_ns, nodes[v].done_ns);
        ok = (v > 0 && nodes[v].step == nodes[v - 1].step) || note_step(rank, nodes[v].step, &room);
    }
    for (size_t c = 0; c < s->graph.ncomms; c++) {
        tl_port *port = &rank->ports[c];
        const tl_node *done = &nodes[port->arrival + 1];
        port->came_ns = nodes[port->arrival].done_ns;
        port->segment = nodes[port->arrival].segment;
        port->step = nodes[port->arrival].step;
        if (done->first_edge == done[1].first_edge)
            port->meeting = TL_NONE;
        if (port->meeting == TL_NONE)
            continue;
        port->met_ns = s->j->out->meetings[port->meeting].done_ns;
        port->tail_ns = done->done_ns - port->met_ns - s->graph.edges[done->first_edge].lag_ns - done->work_ns;
    }
    return ok;
}

bool tl_graph_settle(tl_joining *j, size_t rank)
{
    settling s = { .j = j, .rank = rank, .from = j->graphs[rank] };
    size_t ndropped = 0;
    if (s.from->nnodes == 0)
        return true;
    bool ok = start(&s);
    if (ok) {
        tl_rank_graph_unpack(s.from, s.nodes, s.edges);
        mark(&s);
        put_nodes(&s);
        ok = tl_graph_order(&s.graph, s.order, &ndropped) && note(&s) && tl_rank_graph_pack(&s.graph);
    }
    end(&s);
    j->out->ncycled += ndropped;
    j->out->ranks[rank].graph = s.graph;
    return ok;
}

/* -------------------------------------------------------------------------------------------------------------- open */

static void find_rest(tl_open_rank *o)
{
    for (uint32_t v = 0; v < o->n; v++) {
        uint32_t e = o->nodes[v].first_edge, last = o->nodes[v + 1].first_edge;
        int64_t since = e == last ? 0 : INT64_MIN;
        for (; e < last; e++)
            since = tl_ns_max(since, tl_from_ns(o, &o->edges[e]) + o->edges[e].lag_ns);
        o->rest_ns[v] = o->nodes[v].done_ns - since - o->nodes[v].work_ns;
    }
}

bool tl_graph_open(const tl_graph *graph, size_t rank, tl_open_rank *o)
{
    const tl_rank_graph *g = &graph->ranks[rank].graph;
    o->of = &graph->ranks[rank];
    o->n = (uint32_t)g->nnodes;
    if (!tl_grow((void **)&o->rest_ns, &o->rest_room, g->nnodes + 1, sizeof *o->rest_ns) ||
        !tl_grow((void **)&o->nodes, &o->node_room, g->nnodes + 1, sizeof *o->nodes) ||
        !tl_grow((void **)&o->edges, &o->edge_room, g->nedges + 1, sizeof *o->edges))
        return false;
    tl_rank_graph_unpack(g, o->nodes, o->edges);
    find_rest(o);
    return true;
}

void tl_open_free(tl_open_rank *o)
{
    free(o->nodes);
    free(o->edges);
    free(o->rest_ns);
    *o = (tl_open_rank){ 0 };
}
