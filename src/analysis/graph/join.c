/* join.c - the graphs of all ranks made one: where they meet, on one clock, without what was voted out.
 *
 *     rank 0   (arrival)------+                +-->(end)       meeting: the first of those who are done
 *     rank 1        (arrival)-+-->(meeting)----+-->(end)       transfer: from the last arrival to the meeting
 *     rank 2   (arrival)--(end)                                left before the last had come, by more than the clock error: it
 *                                                              waited for nobody, and stays as long as it did
 */
#include "join.h"
#include "tlmpi/base/hash.h"
#include "tlmpi/base/sort.h"
#include "tlmpi/base/stats.h"
#include "tlmpi/model/parameters.h"
#include <stdlib.h>
#include <string.h>

static const tl_rank_graph no_graph = { .rank = -1, .pauses = &(tl_pause){ 0 } };

static uint64_t comm_key(size_t rank, uint32_t uid)
{
    return (uint64_t)rank << 32 | uid;
}

/* ------------------------------------------------------------------------------------------------------------- ranks */

static bool list_graphs(tl_joining *j)
{
    const tl_rank_graphs *all = j->in->graphs;
    size_t at = 0, nnodes = 0;

    for (size_t r = 0; r < j->in->nranks; r++) {
        while (at < all->of.n && all->of.v[at].rank < j->in->ranks[r])
            at++;
        bool found = at < all->of.n && all->of.v[at].rank == j->in->ranks[r] && all->of.v[at].nnodes > 0;
        const tl_rank_graph *g = j->graphs[r] = found ? &all->of.v[at] : &no_graph;
        j->out->first_node[r] = (uint32_t)nnodes;
        nnodes += g->nnodes;
        j->first_comm[r + 1] = j->first_comm[r] + g->ncomms;
        if (nnodes >= TL_NONE / 2)
            return false;
        j->release_of[r] = tl_malloc((g->npauses + 1) * sizeof **j->release_of);
        if (j->release_of[r] == NULL)
            return false;
        for (size_t i = 0; i < g->nfalse; i++)
            if (tl_map_put(&j->false_votes, g->false_votes[i], 1) != 0)
                return false;
    }
    j->out->first_node[j->in->nranks] = (uint32_t)nnodes;
    j->meeting_of = tl_malloc((j->first_comm[j->in->nranks] + 1) * sizeof *j->meeting_of);
    for (size_t c = 0; j->meeting_of != NULL && c < j->first_comm[j->in->nranks]; c++)
        j->meeting_of[c] = TL_NONE;
    if (j->meeting_of == NULL)
        return false;
    return tl_graph_untold(j->graphs, j->in->nranks, j->release_of, j->out);
}

/* By rank and kernel. */
static bool map_comms(const tl_joining *j, tl_map *comms)
{
    for (size_t r = 0; r < j->in->nranks; r++)
        for (size_t c = 0; c < j->graphs[r]->ncomms; c++) {
            const tl_node_comm *comm = &j->graphs[r]->comms[c];
            if (tl_map_put(comms, comm_key(r, comm->uid), (uint32_t)c) != 0)
                return false;
        }
    return true;
}

static bool find_members(tl_joining *j)
{
    tl_map comms = { 0 };
    j->members = tl_malloc((j->in->nrows + 1) * sizeof *j->members);
    bool ok = j->members != NULL && map_comms(j, &comms);
    for (size_t i = 0; ok && i < j->in->nrows; i++) {
        size_t rank = tl_index_of(j->in->ranks, j->in->nranks, j->in->rows[i].rank);
        uint32_t c = rank < j->in->nranks ? tl_map_get(&comms, comm_key(rank, j->in->rows[i].uid)) : TL_MAP_NONE;
        const tl_node_comm *comm = c != TL_MAP_NONE ? &j->graphs[rank]->comms[c] : NULL;
        j->members[i] = (tl_member){ .rank = (uint32_t)rank, .arrival = TL_NONE };
        if (comm != NULL)
            j->members[i] = (tl_member){ comm->start_ns, j->first_comm[rank] + c, (uint32_t)rank,
                                         j->out->first_node[rank] + comm->arrival };
    }
    tl_map_free(&comms);
    return ok;
}

/* ------------------------------------------------------------------------------------------------------------ clocks */

/* From what its collectives were shifted by. */
static void find_shifts(tl_joining *j)
{
    for (size_t r = 0; r < j->in->nranks; r++)
        j->shifts[r] = (tl_clock_shift){ INT64_MAX, INT64_MIN, 0, 0 };
    for (size_t i = 0; i < j->in->nrows; i++) {
        const tl_late_row *row = &j->in->rows[i];
        uint32_t r = j->members[i].rank, arrival = j->members[i].arrival;
        if (arrival == TL_NONE)
            continue;
        tl_clock_shift *s = &j->shifts[r];
        int64_t at = j->members[i].start_ns;
        if (at < s->first_ns) {
            s->first_ns = at;
            s->first_by_ns = tl_ns_between(row->start_ns, at);
        }
        if (at > s->last_ns) {
            s->last_ns = at;
            s->last_by_ns = tl_ns_between(row->start_ns, at);
        }
    }
}

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

/* ------------------------------------------------------------------------------------------------------ nodes, edges */

static void put_edge(tl_graph *g, uint32_t from, int64_t lag_ns)
{
    g->from[g->nedges] = from;
    g->lag_ns[g->nedges++] = lag_ns;
}

/* One rank in hand, and room for it. */
typedef struct putting {
    tl_joining *j;
    size_t rank;
    tl_rank_graph graph;
    tl_node *nodes;       /* what was packed */
    tl_edge *edges;
    uint32_t *meeting_of; /* by node: the meeting that it is the END of, TL_NONE */
    uint32_t *wait_of;    /* by node: 1 + its pause, if that was a wait; 0 */
} putting;

/* The edges of one node of a rank: those of its own graph, but for what was voted out; the meeting's in place of an END's. */
static void put_edges(const putting *p, uint32_t v, tl_node *node)
{
    tl_joining *j = p->j;
    const tl_rank_graph *g = &p->graph;
    uint32_t base = j->out->first_node[p->rank], meeting = p->meeting_of[v], wait = p->wait_of[v];

    node->first_edge = (uint32_t)j->out->nedges;
    if (meeting != TL_NONE) {
        const tl_node *met = &j->meetings.v[meeting - j->out->first_node[j->in->nranks]];
        bool own = tl_is_loose_of_group((tl_collective)met->segment);
        node->work_ns = own ? tl_ns_max(0, node->done_ns - met->done_ns) : 0;
        node->key = own ? tl_stay_key((uint8_t)met->segment) : 0;
        put_edge(j->out, meeting, tl_ns_min(0, node->done_ns - met->done_ns));
        return;
    }
    for (uint32_t e = g->nodes[v].first_edge; e < g->nodes[v + 1].first_edge; e++) {
        tl_edge edge = g->edges[e];
        if (edge.vote != 0 && tl_map_get(&j->false_votes, edge.vote) != TL_MAP_NONE) {
            j->out->nvoted++;
            continue;
        }
        if (wait > 0 && edge.from != g->pauses[wait - 1].begin) /* what another thread did is no matter then */
            continue;
        if (wait > 0)
            edge.lag_ns = tl_ns_min(g->pauses[wait - 1].ns, TL_WAIT_OWN_NS);
        put_edge(j->out, base + edge.from, edge.lag_ns);
    }
    if (wait > 0) {
        const tl_pause_release *release = &g->releases[j->release_of[p->rank][wait - 1]];
        node->work_ns = 0;
        put_edge(j->out, base + release->node, release->lag_ns);
    }
}

/* Where the rank's own graph gives way to what all ranks have shown. */
static void mark(putting *p)
{
    const tl_joining *j = p->j;
    const tl_rank_graph *g = &p->graph;
    for (size_t v = 0; v < g->nnodes; v++) {
        p->meeting_of[v] = TL_NONE;
        p->wait_of[v] = 0;
    }
    for (size_t c = 0; c < g->ncomms; c++)
        p->meeting_of[g->comms[c].arrival + 1] = j->meeting_of[j->first_comm[p->rank] + c];
    for (uint32_t i = 0; i < g->npauses; i++)
        if (j->release_of[p->rank][i] != TL_NONE)
            p->wait_of[g->pauses[i].end] = i + 1;
}

static void put_rank(putting *p)
{
    tl_joining *j = p->j;
    p->graph = *j->graphs[p->rank];
    if (p->graph.nodes == NULL && p->graph.nnodes > 0) {
        tl_rank_graph_unpack(&p->graph, p->nodes, p->edges);
        p->graph.nodes = p->nodes;
        p->graph.edges = p->edges;
    }
    mark(p);
    for (uint32_t v = 0; v < p->graph.nnodes; v++) {
        tl_node *node = &j->out->nodes[j->out->first_node[p->rank] + v];
        *node = p->graph.nodes[v];
        node->done_ns = on_job_clock(&j->shifts[p->rank], node->done_ns);
        put_edges(p, v, node);
    }
}

static bool put_ranks(tl_joining *j)
{
    size_t nnodes = 0, nedges = 0;
    for (size_t r = 0; r < j->in->nranks; r++) {
        nnodes = j->graphs[r]->nnodes > nnodes ? j->graphs[r]->nnodes : nnodes;
        nedges = j->graphs[r]->nedges > nedges ? j->graphs[r]->nedges : nedges;
    }
    putting p = { .j = j,
                  .nodes = tl_malloc((nnodes + 1) * sizeof *p.nodes),
                  .edges = tl_malloc((nedges + 1) * sizeof *p.edges),
                  .meeting_of = tl_malloc((nnodes + 1) * sizeof *p.meeting_of),
                  .wait_of = tl_malloc((nnodes + 1) * sizeof *p.wait_of) };
    bool ok = p.nodes != NULL && p.edges != NULL && p.meeting_of != NULL && p.wait_of != NULL;
    for (; ok && p.rank < j->in->nranks; p.rank++)
        put_rank(&p);
    free(p.nodes);
    free(p.edges);
    free(p.meeting_of);
    free(p.wait_of);
    return ok;
}

static bool put_nodes(tl_joining *j)
{
    tl_graph *out = j->out;
    size_t room = j->arrivals.n;
    for (size_t r = 0; r < j->in->nranks; r++)
        room += j->graphs[r]->nedges + j->graphs[r]->npauses;
    out->nodes = tl_malloc((out->nnodes + 1) * sizeof *out->nodes);
    out->from = tl_malloc((room + 1) * sizeof *out->from);
    out->lag_ns = tl_malloc((room + 1) * sizeof *out->lag_ns);
    if (out->nodes == NULL || out->from == NULL || out->lag_ns == NULL || !put_ranks(j))
        return false;
    for (size_t m = 0; m < j->meetings.n; m++) {
        tl_node *node = &out->nodes[out->first_node[j->in->nranks] + m];
        uint32_t end = m + 1 < j->meetings.n ? j->meetings.v[m + 1].first_edge : (uint32_t)j->arrivals.n;
        *node = j->meetings.v[m];
        node->first_edge = (uint32_t)out->nedges;
        for (uint32_t e = j->meetings.v[m].first_edge; e < end; e++)
            put_edge(out, j->arrivals.v[e].from, j->arrivals.v[e].lag_ns);
    }
    out->nodes[out->nnodes] = (tl_node){ .first_edge = (uint32_t)out->nedges };
    return true;
}

/* ------------------------------------------------------------------------------------------------------------- steps */

/* A segment whose collective nobody knows the step of. */
enum { STEP_UNKNOWN = -2 };

/* The step of each segment of a rank: that of the collective that ends it, or of the next that has one; of the last that of the one
 * before.  What ends in collectives of none lies before all steps, or behind them.  step_of[ncomms + 1] has the steps of those
 * that are known. */
static void complete_steps(int32_t *step_of, size_t ncomms)
{
    size_t before = 0, last = ncomms;
    for (size_t s = 0; s <= ncomms && step_of[s] < 0; s++)
        before = step_of[s] != STEP_UNKNOWN ? s + 1 : before;
    while (last > 0 && step_of[last] == STEP_UNKNOWN)
        last--;
    int32_t next = step_of[last] >= 0 ? step_of[last] : TL_STEP_BEHIND;
    for (size_t s = ncomms + 1; s-- > 0;) {
        next = step_of[s] >= 0 ? step_of[s] : next;
        step_of[s] = s < before ? -1 : next;
    }
}

/* What nobody else is in tells of no step. */
static bool is_alone(const tl_graph_input *in, size_t row)
{
    int64_t collective = in->rows[row].collective;
    return (row == 0 || in->rows[row - 1].collective != collective) &&
           (row + 1 == in->nrows || in->rows[row + 1].collective != collective);
}

/* Ranks whose marks do not tell the job's steps have those of their collectives. */
static bool number_steps(tl_joining *j)
{
    size_t n = j->in->nranks;
    size_t *first = tl_calloc(n + 2, sizeof *first); /* by rank: its segments among all */
    if (first == NULL)
        return false;
    for (size_t r = 0; r < n; r++) {
        bool marked = tl_index_of(j->in->marked, j->in->nmarked, j->in->ranks[r]) < j->in->nmarked;
        first[r + 1] = first[r] + (marked ? 0 : j->graphs[r]->ncomms + 1);
    }
    int32_t *step_of = tl_malloc((first[n] + 1) * sizeof *step_of);
    for (size_t s = 0; step_of != NULL && s < first[n]; s++)
        step_of[s] = STEP_UNKNOWN;
    for (size_t i = 0; step_of != NULL && first[n] > 0 && i < j->in->nrows; i++) {
        uint32_t r = j->members[i].rank, arrival = j->members[i].arrival;
        if (arrival != TL_NONE && first[r + 1] > first[r] && (j->in->rows[i].step >= 0 || !is_alone(j->in, i)))
            step_of[first[r] + j->out->nodes[arrival].segment] = j->in->rows[i].step;
    }
    for (size_t r = 0; step_of != NULL && r < n; r++) {
        if (first[r + 1] == first[r])
            continue;
        complete_steps(step_of + first[r], first[r + 1] - first[r] - 1);
        for (uint32_t v = j->out->first_node[r]; v < j->out->first_node[r + 1]; v++)
            j->out->nodes[v].step = step_of[first[r] + j->out->nodes[v].segment];
    }
    free(first);
    free(step_of);
    return step_of != NULL;
}

/* --------------------------------------------------------------------------------------------------------------- all */

tl_status tl_graph_make(const tl_graph_input *input, tl_graph *out, tl_error *err)
{
    size_t n = input->nranks;
    *out = (tl_graph){ .nranks = n, .first_node = tl_calloc(n + 2, sizeof *out->first_node) };
    tl_joining j = { .in = input,
                  .out = out,
                  .graphs = tl_calloc(n + 1, sizeof *j.graphs),
                  .first_comm = tl_calloc(n + 1, sizeof *j.first_comm),
                  .release_of = tl_calloc(n + 1, sizeof *j.release_of),
                  .shifts = tl_calloc(n + 1, sizeof *j.shifts) };
    bool ok = out->first_node != NULL && j.graphs != NULL && j.first_comm != NULL && j.release_of != NULL &&
              j.shifts != NULL && list_graphs(&j) && find_members(&j);

    if (ok) {
        tl_graph_meet(&j);
        find_shifts(&j);
    }
    ok = ok && !j.failed && put_nodes(&j) && number_steps(&j) && tl_graph_order(out);
    if (ok && tl_comers_any(j.comers))
        ok = tl_graph_come(&j) && tl_graph_order(out);
    tl_comers_free(j.comers);
    for (size_t r = 0; j.release_of != NULL && r < n; r++)
        free(j.release_of[r]);
    free(j.graphs);
    free(j.release_of);
    free(j.shifts);
    free(j.meeting_of);
    free(j.first_comm);
    free(j.meetings.v);
    free(j.arrivals.v);
    free(j.members);
    tl_map_free(&j.false_votes);
    return ok ? TL_OK : tl_fail_memory(err, "the graph of the job");
}

void tl_graph_free(tl_graph *g)
{
    free(g->first_node);
    free(g->nodes);
    free(g->from);
    free(g->lag_ns);
    free(g->rest_ns);
    free(g->order);
    *g = (tl_graph){ 0 };
}

uint64_t tl_stay_key(uint8_t kind)
{
    return tl_hash_mix(TL_NODE_END, kind);
}

size_t tl_graph_rank_of(const tl_graph *g, uint32_t node)
{
    size_t low = 0;
    TL_BISECT(low, g->nranks, mid, g->first_node[mid + 1] <= node);
    return low;
}
