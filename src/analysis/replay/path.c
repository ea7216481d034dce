/* path.c - the critical path of the job as it was.
 *
 *     done = since + work + rest        since: the latest of what is waited for, with its least time (lag)
 *
 * A node on the path adds its work to what that work is; its lag and rest are latency, but for members of a collective:
 * what one is done later than the first is transfer, too.
 */
#include "tlmpi/analysis/replay.h"
#include "tlmpi/base/mem.h"
#include "tlmpi/model/parameters.h"
#include <stdlib.h>

/* ------------------------------------------------------------------------------------------- who holds a rank */

/* First, where the paths to its ports come from; then, along those on the path of the job. */
enum { PHASE_BACK, PHASE_WALK };

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

/* What it has in all: of members of collectives that waited, what they took after the meeting. */
static tl_activity_ns sum_own(const tl_open_rank *o)
{
    tl_activity_ns own = { 0 };
    for (uint32_t v = 0; v < o->n; v++) {
        uint32_t port = tl_port_of(o, v);
        own.ns[o->nodes[v].activity] += o->nodes[v].work_ns;
        if (port != TL_NONE)
            own.ns[TL_ACTIVITY_COMM] += o->nodes[v].done_ns - o->of->ports[port].met_ns - o->nodes[v].work_ns;
    }
    return own;
}

/* Where a rank ends last: that node, and the port whose END the path to it comes from; TL_NONE: none. */
typedef struct last_end {
    int64_t ns;
    uint32_t node, back;
} last_end;

static bool answer_back(const tl_open_rank *o, tl_bytes *out)
{
    size_t nports = o->of->graph.ncomms;
    tl_arena arena = { 0 };
    uint32_t *order = tl_arena_take(&arena, o->n, sizeof *order), *back = tl_arena_take(&arena, o->n, sizeof *back);
    uint32_t *of_ports = tl_arena_take(&arena, nports, sizeof *of_ports);
    last_end last = { INT64_MIN, TL_NONE, TL_NONE };
    bool ok = !arena.failed && tl_open_order(o, order);
    for (uint32_t i = 0; ok && i < o->n; i++) {
        uint32_t v = order[i], port = tl_port_of(o, v), edge = last_edge(o, v);
        back[v] = port != TL_NONE ? port : edge != TL_NONE ? back[o->edges[edge].from] : TL_NONE;
    }
    for (uint32_t v = 0; ok && v < o->n; v++)
        if (o->nodes[v].done_ns > last.ns)
            last = (last_end){ o->nodes[v].done_ns, v, back[v] };
    for (size_t p = 0; ok && p < nports; p++)
        of_ports[p] = back[o->of->ports[p].arrival];
    tl_activity_ns own = sum_own(o);
    ok = ok && tl_bytes_put(out, &own, sizeof own) && tl_bytes_put(out, &last, sizeof last) &&
         tl_bytes_put_list(out, of_ports, nports, sizeof *of_ports);
    tl_arena_free(&arena);
    return ok;
}

/* What the path goes through on a rank. */
typedef struct walked {
    tl_activity_ns sum;
    int64_t unexplained_ns;
    int64_t begin_ns; /* when that was done from which the path comes, if it begins here; else INT64_MIN */
} walked;

/* From one of its nodes back to the meeting after which it went on, or to its beginning. */
static void walk_back(const tl_open_rank *o, uint32_t v, walked *w)
{
    for (uint32_t edge; (edge = last_edge(o, v)) != TL_NONE; v = o->edges[edge].from) {
        const tl_node *node = &o->nodes[v];
        w->sum.ns[node->activity] += node->work_ns;
        w->sum.ns[node->kind == TL_NODE_END ? TL_ACTIVITY_COMM : TL_ACTIVITY_DEVICE] +=
            o->edges[edge].lag_ns + o->rest_ns[v];
        if (node->kind != TL_NODE_END && o->rest_ns[v] > 2 * TL_ROUNDING_NS)
            w->unexplained_ns += o->rest_ns[v];
        if (o->edges[edge].from >= o->n)
            return;
    }
    w->begin_ns = o->nodes[v].done_ns;
}

static bool answer_walk(const tl_open_rank *o, tl_bytes *in, tl_bytes *out)
{
    walked w = { .begin_ns = INT64_MIN };
    uint32_t *nodes = NULL;
    size_t n;
    bool ok = tl_bytes_get_list(in, (void **)&nodes, &n, sizeof *nodes);
    for (size_t i = 0; ok && i < n; i++)
        walk_back(o, nodes[i], &w);
    free(nodes);
    return ok && tl_bytes_put(out, &w, sizeof w);
}

bool tl_path_answer(const tl_open_rank *rank, tl_bytes *in, tl_bytes *out)
{
    uint32_t phase;
    return tl_bytes_get(in, &phase, sizeof phase) &&
           (phase == PHASE_BACK ? answer_back(rank, out) : answer_walk(rank, in, out));
}

/* --------------------------------------------------------------------------------------------------------- who asks */

typedef TL_VEC(uint32_t) node_list;

typedef struct walking {
    const tl_graph *g;
    const tl_asker *asker;
    int64_t start_ns;
    tl_path *out;
    tl_asked asked;
    uint32_t **back; /* by rank and port: the port whose END the path to its ARRIVAL comes from; TL_NONE: none */
    uint32_t last_rank, last_node, last_back; /* where the job ends; of a meeting TL_NONE, its number */
    node_list *nodes;                         /* by rank: where the path comes to it, from after */
} walking;

static bool look_at_ranks(walking *w)
{
    const uint32_t phase = PHASE_BACK;
    int64_t last_ns = INT64_MIN;
    bool ok = true;
    for (size_t r = 0; ok && r < w->g->nranks; r++)
        ok = !tl_graph_has(w->g, r) || tl_bytes_put(&w->asked.in[r], &phase, sizeof phase);
    ok = ok && tl_ask_ranks(w->asker, TL_ASK_PATH, &w->asked);
    for (size_t r = 0; ok && r < w->g->nranks; r++) {
        last_end last;
        size_t n;
        if (!tl_graph_has(w->g, r))
            continue;
        ok = tl_bytes_get(&w->asked.out[r], &w->out->own[r], sizeof *w->out->own) &&
             tl_bytes_get(&w->asked.out[r], &last, sizeof last) &&
             tl_bytes_get_list(&w->asked.out[r], (void **)&w->back[r], &n, sizeof **w->back);
        tl_bytes_free(&w->asked.out[r]);
        if (!ok || last.ns <= last_ns)
            continue;
        last_ns = last.ns;
        w->last_rank = (uint32_t)r;
        w->last_node = last.node;
        w->last_back = last.back;
    }
    for (uint32_t m = 0; m < w->g->nmeetings; m++)
        if (w->g->meetings[m].done_ns > last_ns) {
            last_ns = w->g->meetings[m].done_ns;
            w->last_rank = TL_NONE;
            w->last_node = m;
        }
    return ok;
}

/* A member's transfer is that of the meeting, too. */
static void add_transfers(const walking *w)
{
    for (size_t r = 0; r < w->g->nranks; r++)
        for (size_t p = 0; p < w->g->ranks[r].nports; p++) {
            uint32_t meeting = w->g->ranks[r].ports[p].meeting;
            w->out->own[r].ns[TL_ACTIVITY_COMM] += meeting != TL_NONE ? w->g->meetings[meeting].work_ns : 0;
        }
}

static void add(walking *w, uint32_t rank, tl_activity_kind activity, int64_t ns)
{
    w->out->sum.ns[activity] += ns;
    if (rank != TL_NONE)
        w->out->by_rank[rank].ns[activity] += ns;
}

static void step_over_meeting(walking *w, uint32_t rank, uint32_t meeting, const tl_meeting_edge *edge)
{
    int64_t rest = tl_meeting_rest_ns(w->g, meeting);
    add(w, rank, TL_ACTIVITY_COMM, w->g->meetings[meeting].work_ns);
    add(w, rank, TL_ACTIVITY_DEVICE, edge->lag_ns + rest);
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
        int64_t at = tl_meeting_from_ns(g, edge) + edge->lag_ns;
        if (last == NULL || at > since) {
            last = edge;
            since = at;
        }
    }
    return last;
}

static bool come_to(walking *w, uint32_t rank, uint32_t node)
{
    node_list *nodes = &w->nodes[rank];
    if (!tl_vec_room(nodes))
        return false;
    nodes->v[nodes->n++] = node;
    return true;
}

/* The path comes from before: what nobody explains. */
static void begin(walking *w, int64_t done_ns)
{
    w->out->before_ns = done_ns - w->start_ns;
    w->out->unexplained_ns += w->out->before_ns;
}

/* From meeting to meeting; what lies between them on ranks is noted.  Measured times that make a circle are followed
 * once. */
static bool walk(walking *w)
{
    uint32_t rank = w->last_rank, meeting = w->last_node;
    bool *seen = tl_calloc(w->g->nmeetings + 1, sizeof *seen), ok = seen != NULL;
    if (ok && rank != TL_NONE) {
        ok = come_to(w, rank, w->last_node);
        meeting = w->last_back != TL_NONE ? w->g->ranks[rank].ports[w->last_back].meeting : TL_NONE;
    }
    while (ok && meeting != TL_NONE && !seen[meeting]) {
        const tl_meeting_edge *edge = last_to_meet(w, meeting);
        seen[meeting] = true;
        step_over_meeting(w, rank, meeting, edge);
        if (edge->rank == TL_NONE) {
            meeting = edge->of;
            continue;
        }
        const tl_port *ports = w->g->ranks[edge->rank].ports;
        uint32_t back = w->back[edge->rank][edge->of];
        rank = edge->rank;
        ok = come_to(w, rank, ports[edge->of].arrival);
        meeting = back != TL_NONE ? ports[back].meeting : TL_NONE;
    }
    if (ok && meeting != TL_NONE)
        begin(w, w->g->meetings[meeting].done_ns);
    free(seen);
    return ok;
}

static bool walk_ranks(walking *w)
{
    const uint32_t phase = PHASE_WALK;
    bool ok = true;
    for (size_t r = 0; ok && r < w->g->nranks; r++)
        ok = w->nodes[r].n == 0 ||
             (tl_bytes_put(&w->asked.in[r], &phase, sizeof phase) &&
              tl_bytes_put_list(&w->asked.in[r], w->nodes[r].v, w->nodes[r].n, sizeof *w->nodes[r].v));
    ok = ok && tl_ask_ranks(w->asker, TL_ASK_PATH, &w->asked);
    for (uint32_t r = 0; ok && r < w->g->nranks; r++) {
        walked on;
        if (w->nodes[r].n == 0)
            continue;
        ok = tl_bytes_get(&w->asked.out[r], &on, sizeof on);
        for (int activity = 0; ok && activity < TL_NACTIVITIES; activity++)
            add(w, r, (tl_activity_kind)activity, on.sum.ns[activity]);
        w->out->unexplained_ns += ok ? on.unexplained_ns : 0;
        if (!ok || on.begin_ns == INT64_MIN)
            continue;
        begin(w, on.begin_ns);
    }
    return ok;
}

bool tl_path_of(const tl_graph *g, const tl_asker *asker, int64_t start_ns, tl_path *out)
{
    size_t n = g->nranks;
    *out = (tl_path){ .by_rank = tl_calloc(n + 1, sizeof *out->by_rank), .own = tl_calloc(n + 1, sizeof *out->own) };
    walking w = { .g = g,
                  .asker = asker,
                  .start_ns = start_ns,
                  .out = out,
                  .back = tl_calloc(n + 1, sizeof *w.back),
                  .last_rank = TL_NONE,
                  .last_node = TL_NONE,
                  .nodes = tl_calloc(n + 1, sizeof *w.nodes) };
    bool there = tl_asked_new(n, &w.asked) && w.back != NULL && w.nodes != NULL;
    bool ok = there && out->by_rank != NULL && out->own != NULL && look_at_ranks(&w);
    if (ok)
        add_transfers(&w);
    ok = ok && walk(&w) && walk_ranks(&w);
    for (size_t r = 0; there && r < n; r++) {
        free(w.back[r]);
        free(w.nodes[r].v);
    }
    tl_asked_free(&w.asked);
    free(w.back);
    free(w.nodes);
    return ok;
}

void tl_path_end(tl_path *path)
{
    free(path->by_rank);
    free(path->own);
    *path = (tl_path){ 0 };
}
