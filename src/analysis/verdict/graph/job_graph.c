/* job_graph.c - joins the graphs of all ranks: meetings, one clock, and no edges that were voted out.
 *
 *     rank 0   (arrival)------+                +-->(end)       meeting: the first end of its members
 *     rank 1        (arrival)-+-->(meeting)----+-->(end)       transfer: from the last arrival to the meeting
 *     rank 2   (arrival)--(end)                                left before the last arrival, by more than the clock
 *                                                              error: waited for no rank, and keeps its length
 */
#include "job_graph.h"
#include "tlmpi/base/sort.h"
#include "tlmpi/base/stats.h"
#include "tlmpi/model/parameters.h"
#include <stdlib.h>

static const tl_rank_graph no_graph = { .rank = -1, .pauses = &(tl_pause){ 0 } };

static uint64_t comm_key(size_t rank, uint32_t uid)
{
    return (uint64_t)rank << 32 | uid;
}

static void list_graphs(tl_job_graph_draft *j)
{
    const tl_rank_graphs *all = j->in->graphs;
    size_t at = 0;

    for (size_t r = 0; r < j->in->nranks; r++) {
        while (at < all->of.n && all->of.v[at].rank < j->in->ranks[r])
            at++;
        bool found = at < all->of.n && all->of.v[at].rank == j->in->ranks[r] && all->of.v[at].nnodes > 0;
        const tl_rank_graph *g = j->graphs[r] = found ? &all->of.v[at] : &no_graph;
        tl_job_rank *rank = &j->out->ranks[r];
        *rank = (tl_job_rank){ .nnodes = g->nnodes, .nports = g->ncomms };
        rank->ports = tl_calloc(g->ncomms + 1, sizeof *rank->ports);
        j->release_of[r] = tl_arena_take(&j->arena, g->npauses, sizeof **j->release_of);
        for (size_t c = 0; c < g->ncomms; c++)
            rank->ports[c] =
                (tl_rank_port){ .arrival = g->comms[c].arrival, .meeting = TL_NONE, .segment = g->comms[c].turn };
        for (size_t i = 0; i < g->nfalse; i++)
            tl_vec_push(&j->false_votes, g->false_votes[i]);
    }
    tl_job_graph_find_unrecorded_waits(j->graphs, j->in->nranks, j->release_of, j->out);
}

static void fill_members(tl_job_graph_draft *j)
{
    tl_map comms = { 0 };
    j->members = tl_arena_take(&j->arena, j->in->nrows, sizeof *j->members);
    for (size_t r = 0; r < j->in->nranks; r++)
        for (uint32_t c = 0; c < j->graphs[r]->ncomms; c++)
            tl_map_put(&comms, comm_key(r, j->graphs[r]->comms[c].uid), c);
    for (size_t i = 0; i < j->in->nrows; i++) {
        size_t rank = tl_index_of(j->in->ranks, j->in->nranks, j->in->rows[i].rank);
        uint32_t c = rank < j->in->nranks ? tl_map_get(&comms, comm_key(rank, j->in->rows[i].uid)) : TL_MAP_NONE;
        const tl_node_comm *comm = c != TL_MAP_NONE ? &j->graphs[rank]->comms[c] : NULL;
        j->members[i] = (tl_member){ comm != NULL ? comm->start_ns : 0, (uint32_t)rank, comm != NULL ? c : TL_NONE };
    }
    tl_map_free(&comms);
}

/* Extends a rank's clock shift by its next collective, which is shifted by by_ns.  A change of the shift larger than
 * clock drift is a step of the clock; the largest one is kept. */
static void extend_shift(tl_clock_shift *s, int64_t at_ns, int64_t by_ns)
{
    if (at_ns < s->first_ns) {
        s->first_ns = at_ns;
        s->first_by_ns = by_ns;
    }
    if (at_ns <= s->last_ns)
        return;
    int64_t since_ns = s->last_ns > INT64_MIN ? tl_ns_between(at_ns, s->last_ns) : INT64_MAX;
    int64_t step_ns = s->last_ns > INT64_MIN ? tl_ns_between(by_ns, s->last_by_ns) : 0;
    if (llabs(step_ns) > tl_ns_sum(TL_ROUNDING_NS, tl_ns_of_drift(TL_CLOCK_MOST_DRIFT_PPB, since_ns)) &&
        llabs(step_ns) > llabs(s->step_ns)) {
        s->step_ns = step_ns;
        s->step_at_ns = at_ns;
    }
    s->last_ns = at_ns;
    s->last_by_ns = by_ns;
}

/* ------------------------------------------------------------------------------------------------------------ steps */

/* The step of a segment whose collective has no known step. */
enum { STEP_UNKNOWN = -2 };

/* Completes step_of[ncomms + 1], the step of each segment of a rank: the step of the collective that ends the segment,
 * else of the next segment with a known step; the last segment has the step of the segment before.  Segments that end
 * in collectives outside all steps lie before or after all steps. */
static void complete_steps(int32_t *step_of, size_t ncomms)
{
    size_t before = 0, last = ncomms;
    for (size_t s = 0; s <= ncomms && step_of[s] < 0; s++)
        before = step_of[s] != STEP_UNKNOWN ? s + 1 : before;
    while (last > 0 && step_of[last] == STEP_UNKNOWN)
        last--;
    int32_t next = step_of[last] >= 0 ? step_of[last] : TL_STEP_AFTER;
    for (size_t s = ncomms + 1; s-- > 0;) {
        next = step_of[s] >= 0 ? step_of[s] : next;
        step_of[s] = s < before ? -1 : next;
    }
}

/* Whether the row is the only one of its collective, whose step is then unknown. */
static bool is_alone(const tl_job_graph_input *in, size_t row)
{
    int64_t collective = in->rows[row].collective;
    return (row == 0 || in->rows[row - 1].collective != collective) &&
           (row + 1 == in->nrows || in->rows[row + 1].collective != collective);
}

/* Fills step_of of ranks without marks of the job's steps, from the steps of their collectives. */
static void number_steps(tl_job_graph_draft *j)
{
    for (size_t r = 0; r < j->in->nranks; r++) {
        size_t nsegments = j->graphs[r]->ncomms + 1;
        if (tl_index_of(j->in->marked, j->in->nmarked, j->in->ranks[r]) < j->in->nmarked)
            continue;
        j->step_of[r] = tl_arena_take(&j->arena, nsegments, sizeof **j->step_of);
        for (size_t s = 0; s < nsegments; s++)
            j->step_of[r][s] = STEP_UNKNOWN;
    }
    for (size_t i = 0; i < j->in->nrows; i++) {
        uint32_t r = j->members[i].rank, port = j->members[i].port;
        if (port != TL_NONE && j->step_of[r] != NULL && (j->in->rows[i].step >= 0 || !is_alone(j->in, i)))
            j->step_of[r][j->out->ranks[r].ports[port].segment] = j->in->rows[i].step;
    }
    for (size_t r = 0; r < j->in->nranks; r++)
        if (j->step_of[r] != NULL)
            complete_steps(j->step_of[r], j->graphs[r]->ncomms);
}

/* -------------------------------------------------------------------------------------------------------------- all */

static void finalize_ranks(tl_job_graph_draft *j)
{
    tl_job_graph *out = j->out;
    tl_asked asked;
    out->nmeetings = j->meetings.n;
    tl_asked_new(j->in->nranks, &asked);
    tl_vec_room(&j->meetings);
    j->meetings.v[out->nmeetings] = (tl_meeting){ .first_edge = (uint32_t)j->edges.n };
    j->meetings.v = tl_realloc(j->meetings.v, (out->nmeetings + 1) * sizeof *j->meetings.v);
    j->edges.v = tl_realloc(j->edges.v, (j->edges.n + 1) * sizeof *j->edges.v);
    j->meetings.cap = out->nmeetings + 1;
    j->edges.cap = j->edges.n + 1;
    out->meetings = j->meetings.v;
    out->edges = j->edges.v;
    j->false_votes.n = tl_key_unique(j->false_votes.v, j->false_votes.n); /* many ranks cast the same votes */
    for (size_t r = 0; r < asked.n; r++)
        if (tl_job_graph_has(out, r))
            tl_finalize_question_put(j, r, &asked.in[r]);
    tl_ask_ranks(j->asker, TL_ASK_FINAL_GRAPH, &asked);
    for (size_t r = 0; r < asked.n; r++)
        if (tl_job_graph_has(out, r))
            tl_final_graph_get(out, r, &asked.out[r]);
    tl_asked_free(&asked);
}

void tl_job_graph_make(const tl_job_graph_input *input, const tl_asker *asker, tl_job_graph *out)
{
    size_t n = input->nranks;
    *out = (tl_job_graph){ .nranks = n, .ranks = tl_calloc(n + 1, sizeof *out->ranks) };
    tl_job_graph_draft j = { .in = input, .asker = asker, .out = out };
    j.graphs = tl_arena_zeroed(&j.arena, n, sizeof *j.graphs);
    j.release_of = tl_arena_zeroed(&j.arena, n, sizeof *j.release_of);
    j.step_of = tl_arena_zeroed(&j.arena, n, sizeof *j.step_of);
    j.shifts = tl_arena_zeroed(&j.arena, n, sizeof *j.shifts);
    list_graphs(&j);
    fill_members(&j);

    tl_job_graph_match_ranks(&j);
    /* The clock shift of each rank follows from the shifts of its collectives. */
    for (size_t r = 0; r < j.in->nranks; r++)
        j.shifts[r] = (tl_clock_shift){ .first_ns = INT64_MAX, .last_ns = INT64_MIN, .step_at_ns = INT64_MAX };
    for (size_t i = 0; i < j.in->nrows; i++)
        if (j.members[i].port != TL_NONE)
            extend_shift(&j.shifts[j.members[i].rank], j.members[i].start_ns,
                         tl_ns_between(j.in->rows[i].start_ns, j.members[i].start_ns));
    number_steps(&j);
    finalize_ranks(&j);
    if (tl_untraced_arrivals_any(j.arrivals))
        tl_job_graph_add_untraced(&j);
    out->meetings = j.meetings.v;
    out->edges = j.edges.v;
    tl_untraced_arrivals_free(j.arrivals);
    tl_arena_free(&j.arena);
    free(j.false_votes.v);
}

void tl_job_graph_free(tl_job_graph *g)
{
    for (size_t r = 0; g->ranks != NULL && r < g->nranks; r++) {
        free(g->ranks[r].ports);
        free(g->ranks[r].steps);
    }
    free(g->ranks);
    free(g->meetings);
    free(g->edges);
    free(g->late.v);
    *g = (tl_job_graph){ 0 };
}

uint64_t tl_stay_key(uint8_t kind)
{
    return tl_hash_mix(TL_NODE_END, kind);
}

int64_t tl_meeting_rest_ns(const tl_job_graph *g, uint32_t meeting)
{
    const tl_meeting *m = &g->meetings[meeting];
    int64_t since = INT64_MIN;
    for (uint32_t i = m->first_edge; i < m[1].first_edge; i++)
        since = tl_ns_max(since, tl_meeting_from_ns(g, &g->edges[i]) + g->edges[i].lag_ns);
    return m->done_ns - since - m->work_ns;
}
