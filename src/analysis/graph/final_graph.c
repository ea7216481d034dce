/* final_graph.c - a rank's own graph becomes the job's: on one clock, without what was voted out, with the pauses that
 * were waits and the meetings that its ENDs waited for; and is opened again by those who look at its nodes. */
#include "job_graph.h"
#include "tlmpi/base/sort.h"
#include "tlmpi/base/stats.h"
#include "tlmpi/model/parameters.h"
#include <stdlib.h>

/* The drift continues before the first and after the last collective, but
 * only as far as a nanosecond of rounding stays within TL_ROUNDING_NS. */
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
    for (int i = 0; i < 2; i++) /* what a drift of 1 in 1000 leaves of a second is a nanosecond the third time */
        ns = tl_ns_sum(ns, tl_ns_between(job_ns, tl_on_job_clock(s, ns)));
    return ns;
}

/* --------------------------------------------------------------------------------------------------- what is told */

void tl_finalize_question_put(const tl_finalize_question *s, tl_bytes *out)
{
    tl_bytes_put(out, &s->shift, sizeof s->shift);
    tl_bytes_put_list(out, s->ports, s->nports, sizeof *s->ports);
    tl_bytes_put_list(out, s->release_of, s->npauses, sizeof *s->release_of);
    tl_bytes_put_list(out, s->step_of, s->nsegments, sizeof *s->step_of);
    tl_bytes_put_list(out, s->false_votes, s->nfalse, sizeof *s->false_votes);
}

/* A rank on its way: what it is told, its own graph, and the job's. */
typedef struct finalizing {
    tl_clock_shift shift;
    tl_rank_port *ports;
    uint32_t *release_of;
    int32_t *step_of;
    uint64_t *votes;
    size_t nports, npauses, nsegments, nvotes;
    tl_map false_votes;
    const tl_rank_graph *from;
    tl_arena arena;
    const tl_node *nodes; /* [nnodes + 1] its own */
    const tl_edge *edges;
    tl_rank_graph graph;
    uint32_t *port_of; /* by node: the port whose END it is, if that waited for its meeting; TL_NONE */
    uint32_t *wait_of; /* by node: 1 + its pause, if that was a wait; 0 */
    uint32_t *order;
    int32_t *steps; /* of its nodes, ascending */
    size_t nsteps, nvoted, ndropped;
    int64_t start_ns; /* when the first of its nodes is done */
} finalizing;

static void get_finalize_question(finalizing *s, tl_bytes *in)
{
    tl_bytes_get(in, &s->shift, sizeof s->shift);
    tl_bytes_get_list(in, (void **)&s->ports, &s->nports, sizeof *s->ports);
    tl_bytes_get_list(in, (void **)&s->release_of, &s->npauses, sizeof *s->release_of);
    tl_bytes_get_list(in, (void **)&s->step_of, &s->nsegments, sizeof *s->step_of);
    tl_bytes_get_list(in, (void **)&s->votes, &s->nvotes, sizeof *s->votes);
    for (size_t i = 0; i < s->nvotes; i++)
        tl_map_put(&s->false_votes, s->votes[i], 1);
}

static void unpack(finalizing *s)
{
    tl_node *nodes = tl_arena_take(&s->arena, s->from->nnodes + 1, sizeof *nodes);
    tl_edge *edges = tl_arena_take(&s->arena, s->from->nedges, sizeof *edges);
    tl_rank_graph_unpack(s->from, nodes, edges);
    s->nodes = nodes;
    s->edges = edges;
}

static void start(finalizing *s)
{
    const tl_rank_graph *g = s->from;
    size_t room = g->nedges + g->npauses + g->ncomms + 1;
    s->nodes = g->nodes;
    s->edges = g->edges;
    s->port_of = tl_arena_take(&s->arena, g->nnodes, sizeof *s->port_of);
    s->wait_of = tl_arena_zeroed(&s->arena, g->nnodes, sizeof *s->wait_of);
    s->order = tl_malloc((g->nnodes + 1) * sizeof *s->order);
    s->graph = (tl_rank_graph){ .rank = g->rank,
                                .nnodes = g->nnodes,
                                .ncomms = g->ncomms,
                                .nodes = tl_malloc((g->nnodes + 1) * sizeof *s->graph.nodes),
                                .edges = tl_malloc(room * sizeof *s->graph.edges) };
    if (s->nodes == NULL)
        unpack(s);
}

static void end(finalizing *s)
{
    free(s->release_of);
    free(s->step_of);
    free(s->votes);
    tl_map_free(&s->false_votes);
    tl_arena_free(&s->arena);
    free(s->steps);
}

/* ------------------------------------------------------------------------------------------------------------ nodes */

/* Marks the nodes that get new edges from what all ranks have shown: ENDs with a meeting, pauses that were waits. */
static void mark(const finalizing *s)
{
    for (size_t v = 0; v < s->from->nnodes; v++)
        s->port_of[v] = TL_NONE;
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

/* Makes an END wait for its meeting alone. */
static void put_end(finalizing *s, uint32_t port, tl_node *node)
{
    const tl_rank_port *met = &s->ports[port];
    bool own = tl_is_loose_of_group((tl_collective)met->kind);
    node->work_ns = own ? tl_ns_max(0, node->done_ns - met->meeting_done_ns) : 0;
    node->key = own ? tl_stay_key(met->kind) : 0;
    put_edge(s, (uint32_t)s->from->nnodes + port, tl_ns_min(0, node->done_ns - met->meeting_done_ns));
}

static bool is_voted_out(const finalizing *s, uint64_t vote)
{
    return tl_map_get(&s->false_votes, vote) != TL_MAP_NONE ||
           ((vote & TL_VOTE_OF_KIND) != 0 && tl_map_get(&s->false_votes, tl_vote_shown(vote)) == TL_MAP_NONE);
}

/* Copies the edges of the rank's own graph, without edges that were voted out. */
static void put_edges(finalizing *s, uint32_t v, tl_node *node)
{
    const tl_rank_graph *g = s->from;
    uint32_t wait = s->wait_of[v];
    const tl_pause *pause = wait > 0 ? &g->pauses[wait - 1] : NULL;
    for (uint32_t e = s->nodes[v].first_edge; e < s->nodes[v + 1].first_edge; e++) {
        const tl_edge *edge = &s->edges[e];
        uint64_t vote = edge->vote != 0 ? g->votes[edge->vote - 1] : 0;
        if (vote != 0 && is_voted_out(s, vote))
            s->nvoted += (vote & TL_VOTE_OF_KIND) == 0;
        else if (pause == NULL)
            put_edge(s, edge->from, edge->lag_ns);
        else if (edge->from == pause->begin) /* what another thread did is no matter then */
            put_edge(s, edge->from, tl_ns_min(pause->ns, TL_WAIT_OWN_NS));
    }
    if (pause == NULL)
        return;
    const tl_pause_release *release = &g->releases[s->release_of[wait - 1]];
    node->work_ns = 0;
    /* Nothing that it was called: of a pause no call tells what it waited for. */
    node->activity = pause->called ? TL_ACTIVITY_SYNC : TL_ACTIVITY_HOST;
    put_edge(s, release->node, release->lag_ns);
}

static void put_nodes(finalizing *s)
{
    for (uint32_t v = 0; v < s->from->nnodes; v++) {
        tl_node *node = &s->graph.nodes[v];
        *node = s->nodes[v];
        node->first_edge = (uint32_t)s->graph.nedges;
        node->done_ns = tl_on_job_clock(&s->shift, node->done_ns);
        if (s->nsegments > 0)
            node->step = s->step_of[node->segment];
        if (s->port_of[v] != TL_NONE)
            put_end(s, s->port_of[v], node);
        else
            put_edges(s, v, node);
    }
    s->graph.nodes[s->from->nnodes] = (tl_node){ .first_edge = (uint32_t)s->graph.nedges };
}

/* Hands on what is known of the rank besides its nodes: names and steps. */
static void take_over(finalizing *s, tl_rank_graph *from)
{
    s->graph.steps = from->steps;
    s->graph.nsteps = from->nsteps;
    s->graph.names = from->names;
    from->steps = NULL;
    from->names = NULL;
}

static void note_step(finalizing *s, int32_t step, size_t *room)
{
    size_t at = 0;
    TL_BISECT(at, s->nsteps, mid, s->steps[mid] < step);
    if (at < s->nsteps && s->steps[at] == step)
        return;
    tl_grow((void **)&s->steps, room, s->nsteps + 1, sizeof *s->steps);
    for (size_t i = s->nsteps++; i > at; i--)
        s->steps[i] = s->steps[i - 1];
    s->steps[at] = step;
}

/* Notes what the job needs of the rank without its nodes: start, steps, ports. */
static void note(finalizing *s)
{
    tl_node *nodes = s->graph.nodes;
    size_t room = 0;
    s->start_ns = INT64_MAX;
    for (uint32_t v = 0; v < s->graph.nnodes; v++) {
        if (nodes[v].first_edge == nodes[v + 1].first_edge) /* it is where it was, whatever it took */
            nodes[v].work_ns = 0;
        s->start_ns = tl_ns_min(s->start_ns, nodes[v].done_ns);
        if (v <= 0 || nodes[v].step != nodes[v - 1].step)
            note_step(s, nodes[v].step, &room);
    }
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

static void put_answer(const finalizing *s, tl_bytes *out)
{
    const size_t counts[] = { s->nvoted, s->ndropped };
    tl_bytes_put(out, counts, sizeof counts);
    tl_bytes_put(out, &s->start_ns, sizeof s->start_ns);
    tl_bytes_put_list(out, s->ports, s->nports, sizeof *s->ports);
    tl_bytes_put_list(out, s->steps, s->nsteps, sizeof *s->steps);
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
    get_finalize_question(&s, in);
    start(&s);
    mark(&s);
    put_nodes(&s);
    take_over(&s, &rank->graph);
    tl_graph_order(&s.graph, s.order, &s.ndropped);
    note(&s);
    put_answer(&s, out);
    if (s.ndropped > 0) { /* of what is left there is another */
        free(s.order);
        s.order = NULL;
    }
    end(&s);
    s.graph.labels = rank->graph.labels;
    rank->graph.labels = NULL;
    tl_final_graph_free(rank);
    *rank = (tl_final_graph){ s.graph, s.ports, s.order, s.shift };
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

static void open_packed(tl_open_rank *o)
{
    const tl_rank_graph *g = &o->of->graph;
    tl_grow((void **)&o->own_nodes, &o->node_room, g->nnodes + 1, sizeof *o->own_nodes);
    tl_grow((void **)&o->own_edges, &o->edge_room, g->nedges + 1, sizeof *o->own_edges);
    tl_rank_graph_unpack(g, o->own_nodes, o->own_edges);
    o->nodes = o->own_nodes;
    o->edges = o->own_edges;
}

void tl_rank_open(const tl_final_graph *rank, tl_open_rank *o)
{
    const tl_rank_graph *g = &rank->graph;
    o->of = rank;
    o->n = (uint32_t)g->nnodes;
    o->nodes = g->nodes;
    o->edges = g->edges;
    tl_grow((void **)&o->rest_ns, &o->rest_room, g->nnodes + 1, sizeof *o->rest_ns);
    if (o->nodes == NULL)
        open_packed(o);
    find_rest(o);
}

void tl_open_free(tl_open_rank *o)
{
    free(o->own_nodes);
    free(o->own_edges);
    free(o->rest_ns);
    *o = (tl_open_rank){ 0 };
}
