/* path.c - the critical path of the job as measured.
 *
 *     done = since + work + rest        since: the latest of the nodes waited for, plus the edge's least time (lag)
 *
 * A node adds its work to the path under its activity; its lag and rest count as latency.  For a member of a collective
 * they are transfer: the time from the first end to its own end.
 *
 *     stream    [ a       |- - - ]          until: when the path leaves a
 *                         [ b         ]
 *
 * Where b begins before the node a that it waited for is done (a lag below 0), the path leaves a at the begin of b: so
 * no time is on the path twice, and no part of the path is shorter than 0.
 */
#include "internal.h"
#include "tlmpi/base/mem.h"
#include "tlmpi/base/stats.h"
#include "tlmpi/model/parameters.h"
#include <stdlib.h>

/* ------------------------------------------------------------------------------------------- who holds a rank */

/* The two questions to a rank: BACK asks how paths come to its ports, WALK follows the job's path on the rank. */
enum { PHASE_BACK, PHASE_WALK }; /* BACK is followed by tl_steps_of_path (uint32_t), WALK by the path's visits */

uint32_t tl_last_edge(const tl_open_rank *o, uint32_t v)
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

/* Returns the sum of the rank's work by activity, ns; COMM includes the time from each meeting to the rank's END. */
static tl_activity_ns own_work_of(const tl_open_rank *o)
{
    tl_activity_ns own = { 0 };
    for (uint32_t v = 0; v < o->n; v++) {
        uint32_t port = tl_rank_port_of(o, v);
        own.ns[o->nodes[v].activity] += o->nodes[v].work_ns;
        if (port != TL_NONE)
            own.ns[TL_ACTIVITY_COMM] += o->nodes[v].done_ns - o->of->ports[port].meeting_done_ns - o->nodes[v].work_ns;
    }
    return own;
}

/* How a path comes to a node: the last meeting before it, and when the path leaves that. */
typedef struct approach {
    int64_t until_ns; /* when the path leaves that meeting, after all nodes on the rank in between */
    uint32_t back;    /* the port of that meeting; TL_NONE: the path begins on the rank */
} approach;

/* The last end of a rank: its time, its node, and how the path comes to it. */
typedef struct last_end {
    int64_t ns;
    approach approach;
    uint32_t node;
} last_end;

tl_path_part tl_path_part_of(int64_t from_ns, int64_t lag_ns, int64_t done_ns, int64_t work_ns, int64_t until_ns,
                             int64_t start_ns)
{
    int64_t from = tl_ns_max(start_ns, tl_path_left_at(from_ns, lag_ns, until_ns)), length = until_ns - from;
    int64_t left = tl_ns_min(length, tl_ns_max(0, work_ns - (done_ns - until_ns)));
    return (tl_path_part){ from, left, length - left };
}

static void answer_back(const tl_open_rank *o, tl_bytes *in, tl_bytes *out)
{
    uint32_t steps;
    tl_bytes_get(in, &steps, sizeof steps);
    size_t nports = o->of->graph.ncomms;
    tl_arena arena = { 0 };
    uint32_t *order = tl_arena_take(&arena, o->n, sizeof *order);
    approach *approaches = tl_arena_take(&arena, o->n, sizeof *approaches),
             *of_ports = tl_arena_take(&arena, nports, sizeof *of_ports);
    last_end last = { INT64_MIN, { INT64_MAX, TL_NONE }, TL_NONE };
    tl_open_order(o, order);
    for (uint32_t i = 0; i < o->n; i++) {
        uint32_t v = order[i], port = tl_rank_port_of(o, v), e = tl_last_edge(o, v);
        const tl_edge *edge = e != TL_NONE ? &o->edges[e] : NULL;
        approaches[v] = edge != NULL && edge->from < o->n ? approaches[edge->from] : (approach){ INT64_MAX, TL_NONE };
        if (edge != NULL)
            approaches[v].until_ns = tl_path_left_at(tl_from_ns(o, edge), edge->lag_ns, approaches[v].until_ns);
        if (port != TL_NONE)
            approaches[v].back = port;
    }
    for (uint32_t v = 0; v < o->n; v++)
        if (o->nodes[v].done_ns > last.ns)
            last = (last_end){ o->nodes[v].done_ns, approaches[v], v };
    for (size_t p = 0; p < nports; p++)
        of_ports[p] = approaches[o->of->ports[p].arrival];
    tl_activity_ns own = own_work_of(o);
    tl_bytes_put(out, &own, sizeof own);
    tl_bytes_put(out, &last, sizeof last);
    tl_bytes_put_list(out, of_ports, nports, sizeof *of_ports);
    tl_rank_path_put(o, last.node, (tl_steps_of_path)steps, out);
    tl_arena_free(&arena);
}

void tl_path_answer(const tl_open_rank *rank, tl_bytes *in, tl_bytes *out)
{
    tl_path_visit *visits = NULL;
    int64_t start_ns;
    uint32_t phase;
    size_t n;
    tl_bytes_get(in, &phase, sizeof phase);
    if (phase == PHASE_BACK) {
        answer_back(rank, in, out);
        return;
    }
    tl_bytes_get(in, &start_ns, sizeof start_ns);
    tl_bytes_get_list(in, (void **)&visits, &n, sizeof *visits);
    tl_path_visits_put(rank, visits, n, start_ns, out);
    free(visits);
}

/* --------------------------------------------------------------------------------------------------------- who asks */

typedef TL_VEC(tl_path_visit) path_visits;

typedef struct walking {
    const tl_job_graph *g;
    const tl_asker *asker;
    int64_t start_ns;
    tl_path *out;
    tl_asked asked;
    approach **approaches; /* by rank and port: how a path comes to the port's ARRIVAL */
    uint32_t last_rank;    /* the rank with the job's last end; TL_NONE: a meeting, numbered last.node */
    last_end last;
    path_visits *visits;    /* by rank */
    TL_VEC(uint32_t) ranks; /* rank of each visit, from the last to the first */
    tl_rank_path *on_ranks; /* by rank: pieces and names of the job's path there */
} walking;

static void ask_back(walking *w, tl_steps_of_path of)
{
    const uint32_t question[] = { PHASE_BACK, of };
    for (size_t r = 0; r < w->g->nranks; r++)
        if (tl_job_graph_has(w->g, r))
            tl_bytes_put(&w->asked.in[r], question, sizeof question);
    tl_ask_ranks(w->asker, TL_ASK_PATH, &w->asked);
    for (size_t r = 0; r < w->g->nranks; r++) {
        last_end last;
        size_t n;
        if (!tl_job_graph_has(w->g, r))
            continue;
        tl_bytes_get(&w->asked.out[r], &w->out->own[r], sizeof *w->out->own);
        tl_bytes_get(&w->asked.out[r], &last, sizeof last);
        tl_bytes_get_list(&w->asked.out[r], (void **)&w->approaches[r], &n, sizeof **w->approaches);
        tl_rank_path_get(w->g, (uint32_t)r, &w->asked.out[r], &w->out->ranks[r]);
        tl_bytes_free(&w->asked.out[r]);
        if (last.ns <= w->last.ns)
            continue;
        w->last = last;
        w->last_rank = (uint32_t)r;
    }
    for (uint32_t m = 0; m < w->g->nmeetings; m++)
        if (w->g->meetings[m].done_ns > w->last.ns) {
            w->last = (last_end){ .ns = w->g->meetings[m].done_ns, .node = m };
            w->last_rank = TL_NONE;
        }
}

/* Adds the transfer of each meeting to the own work of its members. */
static void add_transfers(const walking *w)
{
    for (size_t r = 0; r < w->g->nranks; r++)
        for (size_t p = 0; p < w->g->ranks[r].nports; p++) {
            uint32_t meeting = w->g->ranks[r].ports[p].meeting;
            w->out->own[r].ns[TL_ACTIVITY_COMM] += meeting != TL_NONE ? w->g->meetings[meeting].work_ns : 0;
        }
}

static void add_time(walking *w, uint32_t rank, tl_activity_kind activity, int64_t ns)
{
    w->out->sum.ns[activity] += ns;
    if (rank != TL_NONE)
        w->out->by_rank[rank].ns[activity] += ns;
}

/* Adds a meeting, which the path leaves at until_ns.  Returns when the path leaves the node that the meeting waited for
 * last. */
static int64_t step_over_meeting(walking *w, uint32_t rank, uint32_t meeting, const tl_meeting_edge *edge,
                                 int64_t until_ns)
{
    const tl_meeting *of = &w->g->meetings[meeting];
    int64_t rest = tl_meeting_rest_ns(w->g, meeting);
    tl_path_part p =
        tl_path_part_of(tl_meeting_from_ns(w->g, edge), edge->lag_ns, of->done_ns, of->work_ns, until_ns, w->start_ns);
    const bool untraced = edge->rank == TL_NONE;
    add_time(w, rank, TL_ACTIVITY_COMM, p.work_ns);
    add_time(w, rank, untraced ? TL_ACTIVITY_COMM : TL_ACTIVITY_DEVICE, p.latency_ns);
    if (untraced)
        w->out->untraced_ns += tl_ns_max(0, tl_ns_min(edge->lag_ns, p.latency_ns));
    if (rest > 2 * TL_ROUNDING_NS)
        w->out->unexplained_ns += tl_ns_min(rest, p.latency_ns);
    return p.from_ns;
}

const tl_meeting_edge *tl_last_to_meet(const tl_job_graph *g, uint32_t meeting)
{
    const tl_meeting_edge *last = NULL;
    int64_t since = INT64_MIN;
    for (uint32_t e = g->meetings[meeting].first_edge; e < g->meetings[meeting + 1].first_edge; e++) {
        const tl_meeting_edge *edge = &g->edges[e];
        int64_t at = tl_meeting_from_ns(g, edge) + edge->lag_ns;
        if (last == NULL || at > since) {
            last = edge;
            since = at;
        }
    }
    return last;
}

/* Adds a visit to a rank, whose `node` the path leaves at *until_ns; sets *until_ns to when the path leaves the meeting
 * before. */
static void visit_node(walking *w, uint32_t rank, uint32_t node, const approach *of, int64_t *until_ns)
{
    path_visits *of_rank = &w->visits[rank];
    tl_vec_push(of_rank, (tl_path_visit){ .until_ns = *until_ns, .since_ns = w->start_ns, .node = node });
    tl_vec_push(&w->ranks, rank);
    *until_ns = tl_ns_max(w->start_ns, tl_ns_min(*until_ns, of->until_ns));
}

/* Ends the path at its first node, which it leaves at left_ns; the time before that is unexplained. */
static void end_path(walking *w, int64_t left_ns)
{
    w->out->before_ns = left_ns - w->start_ns;
    w->out->unexplained_ns += w->out->before_ns;
}

static uint32_t meeting_before(const walking *w, uint32_t rank, const approach *of)
{
    return of->back != TL_NONE ? w->g->ranks[rank].ports[of->back].meeting : TL_NONE;
}

/* Follows the path from meeting to meeting, and lists the visits to ranks in between.  A cycle of measured times is
 * followed once. */
static void follow_meetings(walking *w)
{
    uint32_t rank = w->last_rank, meeting = w->last.node;
    int64_t until_ns = w->last.ns;
    bool *seen = tl_calloc(w->g->nmeetings + 1, sizeof *seen);
    if (rank != TL_NONE) {
        visit_node(w, rank, w->last.node, &w->last.approach, &until_ns);
        meeting = meeting_before(w, rank, &w->last.approach);
    }
    while (meeting != TL_NONE && !seen[meeting]) {
        const tl_meeting_edge *edge = tl_last_to_meet(w->g, meeting);
        seen[meeting] = true;
        until_ns = step_over_meeting(w, rank, meeting, edge, until_ns);
        if (rank != TL_NONE)
            w->visits[rank].v[w->visits[rank].n - 1].since_ns = until_ns;
        if (edge->rank == TL_NONE) {
            meeting = edge->of;
            continue;
        }
        rank = edge->rank;
        const approach *of = &w->approaches[rank][edge->of];
        visit_node(w, rank, w->g->ranks[rank].ports[edge->of].arrival, of, &until_ns);
        meeting = meeting_before(w, rank, of);
    }
    if (meeting != TL_NONE)
        end_path(w, until_ns);
    free(seen);
}

static void ask_walk(walking *w)
{
    const uint32_t phase = PHASE_WALK;
    for (size_t r = 0; r < w->g->nranks; r++)
        if (w->visits[r].n != 0) {
            tl_bytes_put(&w->asked.in[r], &phase, sizeof phase);
            tl_bytes_put(&w->asked.in[r], &w->start_ns, sizeof w->start_ns);
            tl_bytes_put_list(&w->asked.in[r], w->visits[r].v, w->visits[r].n, sizeof *w->visits[r].v);
        }
    tl_ask_ranks(w->asker, TL_ASK_PATH, &w->asked);
    for (uint32_t r = 0; r < w->g->nranks; r++) {
        tl_path_walked on;
        if (w->visits[r].n == 0)
            continue;
        tl_bytes_get(&w->asked.out[r], &on, sizeof on);
        for (int activity = 0; activity < TL_NACTIVITIES; activity++)
            add_time(w, r, (tl_activity_kind)activity, on.sum.ns[activity]);
        tl_rank_path *here = &w->on_ranks[r];
        tl_bytes_get_list(&w->asked.out[r], (void **)&here->pieces, &here->npieces, sizeof *here->pieces);
        tl_bytes_get_list(&w->asked.out[r], (void **)&here->names, &here->nnames, sizeof *here->names);
        w->out->unexplained_ns += on.unexplained_ns;
        if (on.begin_ns == INT64_MIN)
            continue;
        end_path(w, on.begin_ns);
    }
}

/* Fills out->job with the pieces of all visits in the order of the path. */
static void join_visits(walking *w)
{
    TL_VEC(tl_path_piece) pieces = { 0 };
    TL_VEC(tl_node_names) names = { 0 };
    size_t *next = tl_calloc(w->g->nranks + 1, sizeof *next);
    int32_t *visit = tl_calloc(w->g->nranks + 1, sizeof *visit);
    TL_EACH (const uint32_t, rank, w->ranks) {
        const tl_rank_path *here = &w->on_ranks[*rank];
        for (size_t *i = &next[*rank]; *i < here->npieces && here->pieces[*i].peer == visit[*rank]; (*i)++) {
            tl_vec_push(&pieces, here->pieces[*i]);
            pieces.v[pieces.n - 1].peer = (int32_t)*rank;
            tl_vec_push(&names, here->names[*i]);
        }
        visit[*rank]++;
    }
    w->out->job = (tl_rank_path){ .pieces = pieces.v, .npieces = pieces.n, .names = names.v, .nnames = names.n };
    free(next);
    free(visit);
}

static void rank_path_free(tl_rank_path *path)
{
    free(path->steps);
    free(path->pieces);
    free(path->names);
}

void tl_path_of(const tl_job_graph *g, const tl_asker *asker, int64_t start_ns, tl_steps_of_path of, tl_path *out)
{
    size_t n = g->nranks;
    *out = (tl_path){ .by_rank = tl_calloc(n + 1, sizeof *out->by_rank),
                      .own = tl_calloc(n + 1, sizeof *out->own),
                      .ranks = tl_calloc(n + 1, sizeof *out->ranks),
                      .nranks = n };
    walking w = { .g = g,
                  .asker = asker,
                  .start_ns = start_ns,
                  .out = out,
                  .approaches = tl_calloc(n + 1, sizeof *w.approaches),
                  .last_rank = TL_NONE,
                  .last = { .ns = INT64_MIN, .node = TL_NONE },
                  .visits = tl_calloc(n + 1, sizeof *w.visits),
                  .on_ranks = tl_calloc(n + 1, sizeof *w.on_ranks) };
    tl_asked_new(n, &w.asked);
    ask_back(&w, of);
    add_transfers(&w);
    follow_meetings(&w);
    ask_walk(&w);
    join_visits(&w);
    for (size_t r = 0; r < n; r++) {
        free(w.approaches[r]);
        free(w.visits[r].v);
        rank_path_free(&w.on_ranks[r]);
    }
    tl_asked_free(&w.asked);
    free(w.approaches);
    free(w.visits);
    free(w.ranks.v);
    free(w.on_ranks);
}

void tl_path_end(tl_path *path)
{
    free(path->by_rank);
    free(path->own);
    for (size_t r = 0; r < path->nranks; r++)
        rank_path_free(&path->ranks[r]);
    rank_path_free(&path->job);
    free(path->ranks);
    *path = (tl_path){ 0 };
}
