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

static const tl_rank_graph no_graph = { .rank = -1, .nodes = &(tl_node){ 0 }, .pauses = &(tl_pause){ 0 } };

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
        bool found = at < all->of.n && all->of.v[at].rank == j->in->ranks[r] && all->of.v[at].nodes != NULL;
        const tl_rank_graph *g = j->graphs[r] = found ? &all->of.v[at] : &no_graph;
        j->out->first_node[r] = (uint32_t)nnodes;
        nnodes += g->nnodes;
        if (nnodes >= TL_NONE / 2)
            return false;
        j->release_of[r] = tl_malloc((g->npauses + 1) * sizeof **j->release_of);
        if (j->release_of[r] == NULL)
            return false;
        for (uint32_t c = 0; c < g->ncomms; c++)
            if (tl_map_put(&j->comm_of, comm_key(r, g->comms[c].uid), c) != 0)
                return false;
        for (size_t i = 0; i < g->nfalse; i++)
            if (tl_map_put(&j->false_votes, g->false_votes[i], 1) != 0)
                return false;
    }
    j->out->first_node[j->in->nranks] = (uint32_t)nnodes;
    j->meeting_of = tl_malloc((nnodes + 1) * sizeof *j->meeting_of);
    j->wait_of = tl_calloc(nnodes + 1, sizeof *j->wait_of);
    if (j->meeting_of == NULL || j->wait_of == NULL)
        return false;
    memset(j->meeting_of, 0xff, (nnodes + 1) * sizeof *j->meeting_of);
    return tl_graph_untold(j->graphs, j->in->nranks, j->release_of, j->out);
}

static void list_waits(tl_joining *j)
{
    for (size_t r = 0; r < j->in->nranks; r++)
        for (uint32_t p = 0; p < j->graphs[r]->npauses; p++)
            if (j->release_of[r][p] != TL_NONE)
                j->wait_of[j->out->first_node[r] + j->graphs[r]->pauses[p].end] = p + 1;
}

uint32_t tl_arrival_of(const tl_joining *j, const tl_late_row *row, size_t *rank)
{
    *rank = tl_index_of(j->in->ranks, j->in->nranks, row->rank);
    uint32_t comm = *rank < j->in->nranks ? tl_map_get(&j->comm_of, comm_key(*rank, row->uid)) : TL_MAP_NONE;
    return comm != TL_MAP_NONE ? j->out->first_node[*rank] + j->graphs[*rank]->comms[comm].arrival : TL_NONE;
}

/* ------------------------------------------------------------------------------------------------------------ clocks */

/* From what its collectives were shifted by. */
static void find_shifts(tl_joining *j)
{
    for (size_t r = 0; r < j->in->nranks; r++)
        j->shifts[r] = (tl_clock_shift){ INT64_MAX, INT64_MIN, 0, 0 };
    for (size_t i = 0; i < j->in->nrows; i++) {
        const tl_late_row *row = &j->in->rows[i];
        size_t r;
        uint32_t arrival = tl_arrival_of(j, row, &r);
        if (arrival == TL_NONE)
            continue;
        tl_clock_shift *s = &j->shifts[r];
        int64_t at = j->graphs[r]->nodes[arrival - j->out->first_node[r]].done_ns;
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

/* The edges of one node of a rank: those of its own graph, but for what was voted out; the meeting's in place of an END's. */
static void put_edges(tl_joining *j, size_t r, uint32_t v, tl_node *node)
{
    const tl_rank_graph *g = j->graphs[r];
    uint32_t base = j->out->first_node[r], meeting = j->meeting_of[base + v], wait = j->wait_of[base + v];

    node->first_edge = (uint32_t)j->out->nedges;
    if (meeting != TL_NONE) {
        const tl_node *met = &j->meetings.v[meeting - j->out->first_node[j->in->nranks]];
        bool own = !tl_is_synchronising((tl_collective)met->segment) && !tl_is_point_to_point((tl_collective)met->segment);
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
        const tl_pause_release *release = &g->releases[j->release_of[r][wait - 1]];
        node->work_ns = 0;
        put_edge(j->out, base + release->node, release->lag_ns);
    }
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
    if (out->nodes == NULL || out->from == NULL || out->lag_ns == NULL)
        return false;
    for (size_t r = 0; r < j->in->nranks; r++) {
        const tl_rank_graph *g = j->graphs[r];
        for (uint32_t v = 0; v < g->nnodes; v++) {
            tl_node *node = &out->nodes[out->first_node[r] + v];
            *node = g->nodes[v];
            node->done_ns = on_job_clock(&j->shifts[r], node->done_ns);
            put_edges(j, r, v, node);
        }
    }
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
        size_t r;
        uint32_t arrival = tl_arrival_of(j, &j->in->rows[i], &r);
        if (arrival != TL_NONE && first[r + 1] > first[r])
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
                  .release_of = tl_calloc(n + 1, sizeof *j.release_of),
                  .shifts = tl_calloc(n + 1, sizeof *j.shifts) };
    bool ok = out->first_node != NULL && j.graphs != NULL && j.release_of != NULL && j.shifts != NULL && list_graphs(&j);

    if (ok) {
        list_waits(&j);
        tl_graph_meet(&j);
        find_shifts(&j);
    }
    ok = ok && !j.failed && put_nodes(&j) && number_steps(&j) && tl_graph_order(out);
    for (size_t r = 0; j.release_of != NULL && r < n; r++)
        free(j.release_of[r]);
    free(j.graphs);
    free(j.release_of);
    free(j.shifts);
    free(j.meeting_of);
    free(j.wait_of);
    free(j.meetings.v);
    free(j.arrivals.v);
    tl_map_free(&j.comm_of);
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
