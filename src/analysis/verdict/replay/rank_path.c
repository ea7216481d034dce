/* rank_path.c - the critical path of one rank by itself: from its last instant to its first, each instant once.
 *
 *     host     (launch a)-->(launch p)
 *                  l            l                 l: launch overhead
 *     device        [ a       ]k[ p: - - - -|      ]          k: kernel-kernel overhead
 *                                waits for r| communicates
 *
 * Like the job's path (path.c), but at a collective it continues with the rank's own arrival.  The last arrival is not
 * known on the proc that holds the rank: matched communication is sent to proc 0 piece by piece, other time as sums by
 * step.
 */
#include "internal.h"
#include "tlmpi/base/hash.h"
#include "tlmpi/base/mem.h"
#include "tlmpi/base/sort.h"
#include "tlmpi/model/parameters.h"
#include <stdlib.h>

/* A path, built backwards. */
typedef struct tiling {
    const tl_open_rank *o;
    const tl_rank_graph *g;
    TL_VEC(tl_path_step) steps;
    TL_VEC(tl_path_piece) pieces;
    TL_VEC(tl_node_names) names;
    int64_t until_ns; /* begin of the path so far, on the rank's clock */
    int32_t visit;    /* index of the visit of the job's path; -1: the rank's own path */
    size_t nsteps;    /* number of step windows at which the path is cut; 0: a piece is in the step of the work that it
                       * leads to */
    size_t window;    /* step windows from this index on begin after until_ns */
    tl_map step_of;   /* without windows: number of a step -> its index in `steps` */
} tiling;

/* Adds a piece that is in one step or in none. */
static void add_within(tiling *t, uint32_t node, tl_path_piece piece)
{
    if (piece.port == TL_NONE)
        t->steps.v[piece.step].sum.ns[piece.bound] += piece.end_ns - piece.start_ns;
    if (piece.port == TL_NONE && t->g->labels == NULL)
        return;
    piece.met_ns = tl_on_job_clock(&t->o->of->shift, piece.start_ns);
    tl_vec_push(&t->pieces, piece);
    if (t->g->labels != NULL) {
        uint32_t label = node != TL_NONE ? t->g->labels->of[node] : TL_NONE;
        tl_vec_push(&t->names, label != TL_NONE ? t->g->labels->list.v[label].names
                                                : (tl_node_names){ .device = -1, .stream = -1 });
    }
}

static int32_t step_of_node(tiling *t, uint32_t node)
{
    int32_t number = node != TL_NONE ? t->o->nodes[node].step : -1;
    if (number < 0 || number == TL_STEP_AFTER)
        return 0;
    uint32_t step = tl_map_number(&t->step_of, (uint32_t)number, t->steps.n);
    if (step == t->steps.n)
        tl_vec_push(&t->steps, (tl_path_step){ .step = number, .peer = -1 });
    return (int32_t)step;
}

/* Adds a piece from start_ns, on the rank's clock, to the begin of the path so far; cut at the windows of steps. */
static void add_piece(tiling *t, uint32_t node, uint32_t port, tl_bound bound, int64_t start_ns)
{
    const tl_step_window *steps = t->g->steps;
    tl_path_piece piece = { .port = port, .peer = t->visit, .bound = (uint8_t)bound };
    for (int64_t end_ns; (end_ns = t->until_ns) > start_ns; t->until_ns = piece.start_ns) {
        piece.start_ns = start_ns;
        piece.end_ns = end_ns;
        while (t->window > 0 && steps[t->window - 1].start_ns >= end_ns)
            t->window--;
        const tl_step_window *last = t->window > 0 ? &steps[t->window - 1] : NULL;
        bool within = last != NULL && last->end_ns >= end_ns;
        piece.step = t->nsteps == 0 ? step_of_node(t, node) : within ? (int32_t)t->window : 0;
        if (last != NULL)
            piece.start_ns = tl_ns_max(start_ns, within ? last->start_ns : last->end_ns);
        add_within(t, node, piece);
    }
}

/* Returns what bounds the rank in the ns between `from`, the node that `node` waited for last, and the work of
 * `node`. */
static tl_bound bound_before(const tl_node *node, const tl_node *from, int64_t ns)
{
    if (node->kind == TL_NODE_WAIT_END)
        return TL_BOUND_SYNC;
    if (node->kind == TL_NODE_END)
        return TL_BOUND_COMM;
    if ((node->kind != TL_NODE_WORK && node->kind != TL_NODE_ARRIVAL) || ns > TL_WAKE_NS)
        return TL_BOUND_UNEXPLAINED;
    return from->kind == TL_NODE_WORK || from->kind == TL_NODE_END ? TL_BOUND_KERNEL_KERNEL : TL_BOUND_LAUNCH;
}

/* What bounds the rank while it does work of an activity. */
static const tl_bound bound_of_work[TL_NACTIVITIES + 1] = {
    [TL_ACTIVITY_COMPUTE] = TL_BOUND_COMPUTE, [TL_ACTIVITY_H2D] = TL_BOUND_COPY,    [TL_ACTIVITY_COPY] = TL_BOUND_COPY,
    [TL_ACTIVITY_COMM] = TL_BOUND_COMM,       [TL_ACTIVITY_INPUT] = TL_BOUND_INPUT, [TL_ACTIVITY_SYNC] = TL_BOUND_SYNC,
    /* other activities are the host's: TL_BOUND_CPU, which is 0 */
};

static tiling tiling_of(const tl_open_rank *o, tl_steps_of_path steps)
{
    size_t nsteps = steps == TL_STEPS_OF_MARKS ? o->of->graph.nsteps : 0;
    tiling t = { .o = o, .g = &o->of->graph, .visit = -1, .nsteps = nsteps, .window = nsteps };
    tl_vec_push(&t.steps, (tl_path_step){ .step = -1, .peer = -1 });
    for (size_t s = 0; s < nsteps; s++)
        tl_vec_push(&t.steps, (tl_path_step){ .step = t.g->steps[s].number, .peer = -1 });
    return t;
}

static void tiling_free(tiling *t)
{
    free(t->steps.v);
    free(t->pieces.v);
    free(t->names.v);
    tl_map_free(&t->step_of);
}

/* Follows the path back from node v, which it leaves at until_ns, to start_ns at most.  The job's path (with `sums`)
 * ends at the next meeting.  Returns the last node, whose own time has no piece. */
static uint32_t follow_back(tiling *t, uint32_t v, int64_t until_ns, int64_t start_ns, tl_path_walked *sums)
{
    const tl_open_rank *o = t->o;
    const tl_clock_shift *shift = &o->of->shift;
    for (uint32_t e; (e = tl_last_edge(o, v)) != TL_NONE;) {
        const tl_node *node = &o->nodes[v];
        const tl_edge *edge = &o->edges[e];
        uint32_t port = tl_rank_port_of(o, v);
        if (port != TL_NONE && sums == NULL) {
            uint32_t arrival = o->of->ports[port].arrival;
            int64_t from_ns = tl_path_left_at(o->nodes[arrival].done_ns, 0, until_ns);
            add_piece(t, v, port, TL_BOUND_COMM, tl_on_own_clock(shift, from_ns));
            until_ns = from_ns;
            v = arrival;
            continue;
        }
        tl_path_part p =
            tl_path_part_of(tl_from_ns(o, edge), edge->lag_ns, node->done_ns, node->work_ns, until_ns, start_ns);
        if (sums != NULL) {
            bool comm = node->kind == TL_NODE_END;
            sums->sum.ns[node->activity] += p.work_ns;
            sums->sum.ns[comm ? TL_ACTIVITY_COMM : TL_ACTIVITY_DEVICE] += p.latency_ns;
            if (!comm && o->rest_ns[v] > 2 * TL_ROUNDING_NS)
                sums->unexplained_ns += tl_ns_min(o->rest_ns[v], p.latency_ns);
        }
        if (port != TL_NONE)
            return v;
        if (p.work_ns > 0)
            add_piece(t, v, TL_NONE, bound_of_work[node->activity], tl_on_own_clock(shift, until_ns - p.work_ns));
        if (p.latency_ns > 0) /* a wait belongs to the kernel that released it */
            add_piece(t, node->kind == TL_NODE_WAIT_END ? edge->from : v, TL_NONE,
                      bound_before(node, &o->nodes[edge->from], p.latency_ns), tl_on_own_clock(shift, p.from_ns));
        until_ns = p.from_ns;
        v = edge->from;
    }
    if (sums != NULL)
        sums->begin_ns = until_ns;
    return v;
}

void tl_rank_path_put(const tl_open_rank *o, uint32_t last, tl_steps_of_path steps, tl_bytes *out)
{
    tiling t = tiling_of(o, steps);
    int64_t begin_ns = INT64_MAX, last_ns = tl_on_own_clock(&o->of->shift, o->nodes[last].done_ns);
    for (uint32_t v = 0; v < o->n; v++)
        begin_ns = tl_ns_min(begin_ns, o->nodes[v].done_ns);
    begin_ns = tl_on_own_clock(&o->of->shift, begin_ns);
    t.until_ns = last_ns;
    if (t.nsteps > 0) {
        begin_ns = tl_ns_min(begin_ns, t.g->steps[0].start_ns);
        t.until_ns = tl_ns_max(last_ns, t.g->steps[t.nsteps - 1].end_ns);
        add_piece(&t, TL_NONE, TL_NONE, TL_BOUND_CPU, last_ns);
    }
    follow_back(&t, last, o->nodes[last].done_ns, INT64_MIN, NULL);
    add_piece(&t, TL_NONE, TL_NONE, TL_BOUND_UNEXPLAINED, begin_ns);
    tl_bytes_put_list(out, t.steps.v, t.steps.n, sizeof *t.steps.v);
    tl_bytes_put_list(out, t.pieces.v, t.pieces.n, sizeof *t.pieces.v);
    tl_bytes_put_list(out, t.names.v, t.names.n, sizeof *t.names.v);
    tiling_free(&t);
}

void tl_path_visits_put(const tl_open_rank *o, const tl_path_visit *visits, size_t n, int64_t start_ns, tl_bytes *out)
{
    tiling t = tiling_of(o, TL_STEPS_OF_MARKS);
    tl_path_walked sums = { .begin_ns = INT64_MIN };
    for (size_t i = 0; i < n; i++) {
        t.visit = (int32_t)i;
        t.until_ns = tl_on_own_clock(&o->of->shift, visits[i].until_ns);
        uint32_t last = follow_back(&t, visits[i].node, visits[i].until_ns, start_ns, &sums);
        add_piece(&t, last, TL_NONE, tl_rank_port_of(o, last) != TL_NONE ? TL_BOUND_COMM : TL_BOUND_UNEXPLAINED,
                  tl_on_own_clock(&o->of->shift, visits[i].since_ns));
    }
    TL_EACH (tl_path_piece, piece, t.pieces)
        piece->step = t.steps.v[piece->step].step;
    tl_bytes_put(out, &sums, sizeof sums);
    tl_bytes_put_list(out, t.pieces.v, t.pieces.n, sizeof *t.pieces.v);
    tl_bytes_put_list(out, t.names.v, t.names.n, sizeof *t.names.v);
    tiling_free(&t);
}

/* ----------------------------------------------------------------------------------------------------- on proc 0 */

/* The time for which a rank waited for one other rank in a step. */
typedef struct peer_wait {
    int32_t step, peer;
    int64_t ns;
} peer_wait;

/* Sets met_ns and peer of a piece of matched communication: the end of its waiting, and the last rank to arrive. */
static void split_at_meeting(const tl_job_graph *g, uint32_t rank, tl_path_piece *piece)
{
    uint32_t meeting = g->ranks[rank].ports[piece->port].meeting;
    const tl_meeting_edge *edge = meeting != TL_NONE ? tl_last_to_meet(g, meeting) : NULL;
    int64_t since_ns = piece->met_ns;
    piece->met_ns = piece->start_ns;
    if (edge == NULL || edge->rank == rank)
        return;
    int64_t wait_ns = tl_ns_between(tl_ns_sum(tl_meeting_from_ns(g, edge), edge->lag_ns), since_ns);
    piece->met_ns += tl_ns_max(0, tl_ns_min(wait_ns, piece->end_ns - piece->start_ns));
    piece->peer = edge->rank != TL_NONE && piece->met_ns > piece->start_ns ? (int32_t)edge->rank : -1;
}

TL_SORT_BY(by_wait, peer_wait, step, peer)

/* Sets the peer of each step: the rank waited for longest; ties go to the lower index. */
static void fill_peers(peer_wait *waits, size_t n, tl_path_step *steps)
{
    int64_t most_ns = 0;
    if (n > 1)
        qsort(waits, n, sizeof *waits, by_wait);
    for (size_t i = 0, to; i < n; i = to) {
        int64_t ns = 0;
        for (to = i; to < n && by_wait(&waits[i], &waits[to]) == 0; to++)
            ns += waits[to].ns;
        most_ns = i == 0 || waits[i].step != waits[i - 1].step ? 0 : most_ns;
        if (ns <= most_ns)
            continue;
        most_ns = ns;
        steps[waits[i].step].peer = waits[i].peer;
    }
}

void tl_rank_path_get(const tl_job_graph *g, uint32_t rank, tl_bytes *in, tl_rank_path *out)
{
    TL_VEC(peer_wait) waits = { 0 };
    tl_bytes_get_list(in, (void **)&out->steps, &out->nsteps, sizeof *out->steps);
    tl_bytes_get_list(in, (void **)&out->pieces, &out->npieces, sizeof *out->pieces);
    tl_bytes_get_list(in, (void **)&out->names, &out->nnames, sizeof *out->names);
    for (size_t i = 0; i < out->npieces; i++) {
        tl_path_piece *piece = &out->pieces[i];
        if (piece->port == TL_NONE)
            continue;
        split_at_meeting(g, rank, piece);
        tl_bound_ns *sum = &out->steps[piece->step].sum;
        sum->ns[TL_BOUND_PEER] += piece->met_ns - piece->start_ns;
        sum->ns[TL_BOUND_COMM] += piece->end_ns - piece->met_ns;
        if (piece->peer < 0)
            continue;
        tl_vec_push(&waits, (peer_wait){ 0, piece->peer, piece->met_ns - piece->start_ns });
        if (piece->step > 0)
            tl_vec_push(&waits, (peer_wait){ piece->step, piece->peer, piece->met_ns - piece->start_ns });
    }
    fill_peers(waits.v, waits.n, out->steps);
    free(waits.v);
    for (size_t s = 1; s < out->nsteps; s++)
        for (int bound = 0; bound < TL_NBOUNDS; bound++)
            out->steps[0].sum.ns[bound] += out->steps[s].sum.ns[bound];
    for (size_t i = 0; i < out->nnames; i++)
        out->pieces[i].step = out->pieces[i].step > 0 ? out->steps[out->pieces[i].step].step : -1;
    if (out->nnames > 0)
        return;
    free(out->pieces); /* pieces are counted in the sums */
    out->pieces = NULL;
    out->npieces = 0;
}
