/* final_graph.c - turns a rank's own graph into a part of the job's: on the job's clock, without edges voted out, with
 * edges from meetings to ENDs and from releases to pauses that were waits; and opens final graphs for reading. */
#include "job_graph.h"
#include "tlmpi/base/sort.h"
#include "tlmpi/base/stats.h"
#include "tlmpi/base/topological_order.h"
#include "tlmpi/model/parameters.h"
#include <stdlib.h>
#include <string.h>

/* Drift is extrapolated before the first and after the last collective, as far as 1 ns of rounding stays within
 * TL_ROUNDING_NS. */
int64_t tl_on_job_clock(const tl_clock_shift *s, int64_t ns)
{
    int64_t by_ns = tl_ns_sum(s->first_by_ns, ns >= s->step_at_ns ? s->step_ns : 0);
    if (s->last_ns <= s->first_ns)
        return tl_ns_sum(ns, by_ns);
    int64_t length = tl_ns_between(s->last_ns, s->first_ns), since = tl_ns_between(ns, s->first_ns);
    int64_t most = length < INT64_MAX / TL_ROUNDING_NS ? length * TL_ROUNDING_NS : INT64_MAX;
    int64_t drift = tl_ns_within(tl_ns_between(s->last_by_ns, tl_ns_sum(s->first_by_ns, s->step_ns)), length);
    return tl_ns_sum(ns, tl_ns_sum(by_ns, tl_portion(drift, tl_ns_within(since, most), length)));
}

int64_t tl_on_own_clock(const tl_clock_shift *s, int64_t job_ns)
{
    int64_t ns = tl_ns_between(job_ns, s->first_by_ns);
    if (s->first_by_ns == s->last_by_ns && s->step_ns == 0)
        return ns;
    for (int i = 0; i < 2; i++) /* fixed point: with a drift of 1/1000, 1 s is exact to 1 ns after the third value */
        ns = tl_ns_sum(ns, tl_ns_between(job_ns, tl_on_job_clock(s, ns)));
    return ns;
}

/* ------------------------------------------------------------------------------------------------------------ order */

/* Fills order[n] with a topological order, an END after its ARRIVAL; marks in dropped[] the edges of cycles that run
 * back in time, and returns their number. */
static size_t order_nodes(uint32_t n, const tl_node *nodes, const tl_edge *edges, uint32_t *order, bool *dropped)
{
    uint32_t nedges = nodes[n].first_edge;
    tl_arena arena = { 0 };
    uint32_t *first_edge = tl_arena_take(&arena, n + (size_t)1, sizeof *first_edge);
    uint32_t *from = tl_arena_take(&arena, nedges, sizeof *from);
    int64_t *done_ns = tl_arena_take(&arena, n, sizeof *done_ns);
    size_t ndropped;
    for (uint32_t v = 0; v < n; v++) {
        first_edge[v] = nodes[v].first_edge;
        done_ns[v] = nodes[v].done_ns;
        for (uint32_t e = nodes[v].first_edge; e < nodes[v + 1].first_edge; e++)
            from[e] = edges[e].from < n ? edges[e].from : v - 1; /* a meeting: the own ARRIVAL */
    }
    first_edge[n] = nedges;
    tl_topological_order(n, first_edge, from, done_ns, order, dropped, &ndropped);
    tl_arena_free(&arena);
    return ndropped;
}

/* Fills order[] for the unpacked graph, and removes the edges of cycles that run back in time; returns their number. */
static size_t order_graph(tl_rank_graph *g, uint32_t *order)
{
    bool *dropped = tl_malloc(g->nedges + 1);
    size_t kept = 0, ndropped = order_nodes((uint32_t)g->nnodes, g->nodes, g->edges, order, dropped);
    for (uint32_t v = 0, e = 0; ndropped > 0 && v <= g->nnodes; v++) {
        uint32_t end = v < g->nnodes ? g->nodes[v + 1].first_edge : e;
        g->nodes[v].first_edge = (uint32_t)kept;
        for (; e < end; e++)
            if (!dropped[e])
                g->edges[kept++] = g->edges[e];
    }
    g->nedges = ndropped > 0 ? kept : g->nedges;
    free(dropped);
    return ndropped;
}

void tl_open_order(const tl_open_rank *o, uint32_t *order)
{
    if (o->of->order != NULL) {
        memcpy(order, o->of->order, o->n * sizeof *order);
        return;
    }
    bool *dropped = tl_malloc(o->nodes[o->n].first_edge + (size_t)1); /* all false: a final graph has no cycles */
    order_nodes(o->n, o->nodes, o->edges, order, dropped);
    free(dropped);
}

void tl_finalize_question_put(const tl_job_graph_draft *j, size_t rank, tl_bytes *out)
{
    const tl_rank_graph *g = j->graphs[rank];
    tl_bytes_put(out, &j->shifts[rank], sizeof *j->shifts);
    tl_bytes_put_list(out, j->out->ranks[rank].ports, g->ncomms, sizeof(tl_rank_port));
    tl_bytes_put_list(out, j->release_of[rank], g->npauses, sizeof **j->release_of);
    tl_bytes_put_list(out, j->step_of[rank], j->step_of[rank] != NULL ? g->ncomms + 1 : 0, sizeof **j->step_of);
    tl_bytes_put_list(out, j->false_votes.v, j->false_votes.n, sizeof *j->false_votes.v);
}

/* A rank whose graph is made final: the question's data, its own graph `from`, and the new graph. */
typedef struct finalizing {
    tl_clock_shift shift;
    tl_rank_port *ports;
    uint32_t *release_of; /* by pause */
    int32_t *step_of;     /* by segment; nsegments 0: nodes keep their own steps */
    uint64_t *votes;
    size_t nports, npauses, nsegments, nvotes;
    tl_map false_votes;
    const tl_rank_graph *from;
    tl_arena arena;
    const tl_node *nodes; /* [nnodes + 1] of its own graph */
    const tl_edge *edges;
    tl_rank_graph graph;
    uint32_t *port_of; /* by node: the port of this END, if the END waited for its meeting; TL_NONE */
    uint32_t *wait_of; /* by node: 1 + index of the pause that ends there, if that was a wait; 0 */
    int32_t *steps;    /* of the nodes, ascending */
    size_t nsteps, nvoted;
    int64_t start_ns; /* earliest done_ns of the nodes */
} finalizing;

static void read_question(finalizing *s, tl_bytes *in)
{
    const tl_rank_graph *g = s->from;
    size_t room = g->nedges + g->npauses + g->ncomms + 1;
    tl_bytes_get(in, &s->shift, sizeof s->shift);
    tl_bytes_get_list(in, (void **)&s->ports, &s->nports, sizeof *s->ports);
    tl_bytes_get_list(in, (void **)&s->release_of, &s->npauses, sizeof *s->release_of);
    tl_bytes_get_list(in, (void **)&s->step_of, &s->nsegments, sizeof *s->step_of);
    tl_bytes_get_list(in, (void **)&s->votes, &s->nvotes, sizeof *s->votes);
    for (size_t i = 0; i < s->nvotes; i++)
        tl_map_put(&s->false_votes, s->votes[i], 1);
    s->nodes = g->nodes;
    s->edges = g->edges;
    s->port_of = tl_arena_none(&s->arena, g->nnodes);
    s->wait_of = tl_arena_zeroed(&s->arena, g->nnodes, sizeof *s->wait_of);
    s->graph = (tl_rank_graph){ .rank = g->rank,
                                .nnodes = g->nnodes,
                                .ncomms = g->ncomms,
                                .nodes = tl_malloc((g->nnodes + 1) * sizeof *s->graph.nodes),
                                .edges = tl_malloc(room * sizeof *s->graph.edges) };
    if (s->nodes == NULL) {
        tl_node *nodes = tl_arena_take(&s->arena, g->nnodes + 1, sizeof *nodes);
        tl_edge *edges = tl_arena_take(&s->arena, g->nedges, sizeof *edges);
        tl_rank_graph_unpack(g, nodes, edges);
        s->nodes = nodes;
        s->edges = edges;
    }
}

/* ------------------------------------------------------------------------------------------------------------ nodes */

/* Fills port_of and wait_of: the nodes whose edges are replaced. */
static void mark_replaced(const finalizing *s)
{
    for (uint32_t c = 0; c < s->nports; c++)
        if (s->ports[c].meeting != TL_NONE)
            s->port_of[s->ports[c].arrival + 1] = c;
    for (uint32_t i = 0; i < s->npauses; i++)
        if (s->release_of[i] != TL_NONE)
            s->wait_of[s->from->pauses[i].end] = i + 1;
}

static void put_edge(finalizing *s, uint32_t from, int64_t lag_ns)
{
    s->graph.edges[s->graph.nedges++] = (tl_edge){ .from = from, .lag_ns = lag_ns };
}

/* Copies the edges of the rank's own graph, without edges that were voted out. */
static void copy_edges(finalizing *s, uint32_t v, tl_node *node)
{
    const tl_rank_graph *g = s->from;
    uint32_t wait = s->wait_of[v];
    const tl_pause *pause = wait > 0 ? &g->pauses[wait - 1] : NULL;
    for (uint32_t e = s->nodes[v].first_edge; e < s->nodes[v + 1].first_edge; e++) {
        const tl_edge *edge = &s->edges[e];
        uint64_t vote = edge->vote != 0 ? g->votes[edge->vote - 1] : 0;
        bool is_false =
            tl_map_get(&s->false_votes, vote) != TL_MAP_NONE ||
            ((vote & TL_VOTE_OF_KIND) != 0 && tl_map_get(&s->false_votes, tl_vote_shown(vote)) == TL_MAP_NONE);
        if (vote != 0 && is_false)
            s->nvoted += (vote & TL_VOTE_OF_KIND) == 0;
        else if (pause == NULL)
            put_edge(s, edge->from, edge->lag_ns);
        else if (edge->from == pause->begin) /* a wait keeps no edge from another thread */
            put_edge(s, edge->from, tl_ns_min(pause->ns, TL_CLOCK_ERROR_NS));
    }
    if (pause == NULL)
        return;
    const tl_pause_release *release = &g->releases[s->release_of[wait - 1]];
    node->work_ns = 0;
    /* An unrecorded wait has no name of its own. */
    node->activity = pause->called ? TL_ACTIVITY_SYNC : TL_ACTIVITY_HOST;
    put_edge(s, release->node, release->lag_ns);
}

static void make_nodes(finalizing *s)
{
    for (uint32_t v = 0; v < s->from->nnodes; v++) {
        tl_node *node = &s->graph.nodes[v];
        *node = s->nodes[v];
        node->first_edge = (uint32_t)s->graph.nedges;
        node->done_ns = tl_on_job_clock(&s->shift, node->done_ns);
        if (s->nsegments > 0)
            node->step = s->step_of[node->segment];
        if (s->port_of[v] != TL_NONE) {
            uint32_t port = s->port_of[v]; /* an END has one edge, from its meeting */
            const tl_rank_port *met = &s->ports[port];
            bool own = tl_is_loose_of_group((tl_collective)met->kind);
            node->work_ns = own ? tl_ns_max(0, node->done_ns - met->meeting_done_ns) : 0;
            node->key = own ? tl_stay_key(met->kind) : 0;
            put_edge(s, (uint32_t)s->from->nnodes + port, tl_ns_min(0, node->done_ns - met->meeting_done_ns));
        } else
            copy_edges(s, v, node);
    }
    s->graph.nodes[s->from->nnodes] = (tl_node){ .first_edge = (uint32_t)s->graph.nedges };
}

/* Fills what proc 0 needs of the rank: start, steps, ports. */
static void summarize(finalizing *s)
{
    tl_node *nodes = s->graph.nodes;
    s->start_ns = INT64_MAX;
    s->steps = tl_malloc((s->graph.nnodes + 1) * sizeof *s->steps);
    for (uint32_t v = 0; v < s->graph.nnodes; v++) {
        if (nodes[v].first_edge == nodes[v + 1].first_edge) /* its time is fixed */
            nodes[v].work_ns = 0;
        s->start_ns = tl_ns_min(s->start_ns, nodes[v].done_ns);
        if (v <= 0 || nodes[v].step != nodes[v - 1].step)
            s->steps[s->nsteps++] = nodes[v].step;
    }
    s->nsteps = tl_int_unique(s->steps, s->nsteps);
    for (size_t c = 0; c < s->nports; c++) {
        tl_rank_port *port = &s->ports[c];
        const tl_node *done = &nodes[port->arrival + 1];
        port->arrived_ns = nodes[port->arrival].done_ns;
        port->segment = nodes[port->arrival].segment;
        port->step = nodes[port->arrival].step;
        if (done->first_edge == done[1].first_edge)
            port->meeting = TL_NONE;
        if (port->meeting != TL_NONE)
            port->after_meeting_ns =
                done->done_ns - port->meeting_done_ns - s->graph.edges[done->first_edge].lag_ns - done->work_ns;
    }
}

void tl_final_graph_free(tl_final_graph *rank)
{
    tl_rank_graph_free(&rank->graph);
    free(rank->ports);
    free(rank->order);
    *rank = (tl_final_graph){ .ports = NULL };
}

void tl_final_graph_pack(tl_final_graph *rank)
{
    free(rank->order);
    rank->order = NULL;
    tl_rank_graph_pack(&rank->graph);
}

void tl_finalize_rank_graph(tl_final_graph *rank, tl_bytes *in, tl_bytes *out)
{
    finalizing s = { .from = &rank->graph };
    size_t counts[2];
    read_question(&s, in);
    mark_replaced(&s);
    make_nodes(&s);
    uint32_t *order = tl_malloc((s.graph.nnodes + 1) * sizeof *order);
    counts[1] = order_graph(&s.graph, order);
    summarize(&s);
    counts[0] = s.nvoted;
    tl_bytes_put(out, counts, sizeof counts);
    tl_bytes_put(out, &s.start_ns, sizeof s.start_ns);
    tl_bytes_put_list(out, s.ports, s.nports, sizeof *s.ports);
    tl_bytes_put_list(out, s.steps, s.nsteps, sizeof *s.steps);
    if (counts[1] > 0) { /* the remaining edges need a new order */
        free(order);
        order = NULL;
    }
    free(s.release_of);
    free(s.step_of);
    free(s.votes);
    free(s.steps);
    tl_map_free(&s.false_votes);
    tl_arena_free(&s.arena);
    /* Steps and labels move to the new graph. */
    s.graph.steps = rank->graph.steps;
    s.graph.nsteps = rank->graph.nsteps;
    s.graph.labels = rank->graph.labels;
    rank->graph.steps = NULL;
    rank->graph.labels = NULL;
    tl_final_graph_free(rank);
    *rank = (tl_final_graph){ s.graph, s.ports, order, s.shift };
}

void tl_final_graph_get(tl_job_graph *g, size_t rank, tl_bytes *in)
{
    tl_job_rank *r = &g->ranks[rank];
    size_t counts[2];
    free(r->ports);
    r->ports = NULL;
    tl_bytes_get(in, counts, sizeof counts);
    tl_bytes_get(in, &r->start_ns, sizeof r->start_ns);
    tl_bytes_get_list(in, (void **)&r->ports, &r->nports, sizeof *r->ports);
    tl_bytes_get_list(in, (void **)&r->steps, &r->nsteps, sizeof *r->steps);
    g->nvoted += counts[0];
    g->ncycled += counts[1];
}

/* ------------------------------------------------------------------------------------------------------------- open */

void tl_rank_open(const tl_final_graph *rank, tl_open_rank *o)
{
    const tl_rank_graph *g = &rank->graph;
    o->of = rank;
    o->n = (uint32_t)g->nnodes;
    o->nodes = g->nodes;
    o->edges = g->edges;
    tl_grow((void **)&o->rest_ns, &o->rest_room, g->nnodes + 1, sizeof *o->rest_ns);
    if (o->nodes == NULL) {
        tl_grow((void **)&o->own_nodes, &o->node_room, g->nnodes + 1, sizeof *o->own_nodes);
        tl_grow((void **)&o->own_edges, &o->edge_room, g->nedges + 1, sizeof *o->own_edges);
        tl_rank_graph_unpack(g, o->own_nodes, o->own_edges);
        o->nodes = o->own_nodes;
        o->edges = o->own_edges;
    }
    for (uint32_t v = 0; v < o->n; v++) {
        uint32_t e = o->nodes[v].first_edge, last = o->nodes[v + 1].first_edge;
        int64_t since = e == last ? 0 : INT64_MIN;
        for (; e < last; e++)
            since = tl_ns_max(since, tl_from_ns(o, &o->edges[e]) + o->edges[e].lag_ns);
        o->rest_ns[v] = o->nodes[v].done_ns - since - o->nodes[v].work_ns;
    }
}

void tl_open_free(tl_open_rank *o)
{
    free(o->own_nodes);
    free(o->own_edges);
    free(o->rest_ns);
    *o = (tl_open_rank){ 0 };
}
