/* verdict.c - the passes of tl_verdict_find: folded ranks, unchanged replay, candidates, elimination, untraced ranks.
 */
#include "internal.h"
#include "tlmpi/base/mem.h"
#include "tlmpi/base/sort.h"
#include "tlmpi/base/stats.h"
#include <math.h>
#include <stdlib.h>

/* --------------------------------------------------------------------------------------------------- untraced ranks */

/* Ranks without a trace that hold the job up.
 *
 *     rank 0   [ p ]===work===[       m       ]
 *     rank 1   [ p ]====work====[     m       ]
 *     untraced [ p ]- - - - - - - - late ->[m ]     later at m than traced ranks of its role, by `late` at least
 *
 * The arrival of the untraced rank is bounded by the usual transfer time of m (untraced_ranks.h).  A repair subtracts
 * `late` from every edge by which the untraced rank comes to m; the gain is a lower bound of the rank's cost.  The
 * rank's lateness is compared with the noise of traced ranks.
 */

typedef struct searching {
    const tl_baseline *b;
    const tl_verdict_options *options;
    tl_findings *out;
    tl_job_net job_net;
    tl_arena arena;
    int64_t *done_ns, *ends_ns; /* [whole nodes]; [nsteps] unchanged */
    double *full, *column, *x;  /* scratch */
    size_t nfull;               /* steps that are not cut */
    double sigma;
    TL_VEC(int32_t) ranks; /* late untraced ranks, ascending */
} searching;

static bool is_late(const tl_meeting *m, int32_t rank)
{
    return m->late_rank == rank && m->late_ns > 0;
}

static void list_ranks(searching *s)
{
    const tl_job_graph *g = s->b->graph;
    size_t kept = 0;
    for (size_t m = 0; m < g->nmeetings; m++) {
        if (g->meetings[m].late_rank < 0 || g->meetings[m].late_ns <= 0)
            continue;
        tl_vec_push(&s->ranks, g->meetings[m].late_rank);
    }
    tl_int_sort(s->ranks.v, s->ranks.n);
    for (size_t i = 0; i < s->ranks.n; i++)
        if (kept == 0 || s->ranks.v[kept - 1] != s->ranks.v[i])
            s->ranks.v[kept++] = s->ranks.v[i];
    s->ranks.n = kept;
}

static void prepare(searching *s)
{
    const tl_baseline *b = s->b;
    size_t n = b->graph->nranks, at = 0;
    s->done_ns = tl_arena_take(&s->arena, s->job_net.net.n, sizeof *s->done_ns);
    s->ends_ns = tl_arena_take(&s->arena, b->nsteps, sizeof *s->ends_ns);
    s->full = tl_arena_take(&s->arena, n * b->nsteps, sizeof *s->full);
    s->column = tl_arena_take(&s->arena, n * b->nsteps + b->nsteps, sizeof *s->column);
    s->x = tl_arena_take(&s->arena, b->nsteps, sizeof *s->x);
    tl_net_replay(&s->job_net.net, s->done_ns);
    tl_net_step_ends(&s->job_net.net, s->done_ns, s->ends_ns);
    for (size_t r = 0; r < n; r++)
        for (size_t i = 0; i < b->nsteps; i++)
            if (!b->cut[i])
                s->full[at++] = (double)s->out->late_ns[r * b->nsteps + i];
    for (size_t i = 0; i < b->nsteps; i++)
        if (!b->cut[i])
            s->column[s->nfull++] = (double)s->out->step_ns[i];
    double least = s->nfull > 0 ? TL_NOTHING_SHARE * tl_real_median(s->column, s->nfull) : 1;
    if (s->nfull > 0)
        s->sigma = fmax(fmax(1, least), tl_noise_of(s->full, n, s->nfull, s->column, s->x));
}

/* Subtracts (sign -1) or adds (1) an untraced rank's lateness to its edges into the meetings at which it is late. */
static void shift_arrivals(searching *s, int32_t rank, int64_t sign)
{
    const tl_job_graph *g = s->b->graph;
    for (size_t m = 0; m < g->nmeetings; m++) {
        const tl_meeting *meeting = &g->meetings[m];
        uint32_t first = s->job_net.net.first_edge[s->job_net.meetings + m];
        for (uint32_t e = meeting->first_edge; is_late(meeting, rank) && e < meeting[1].first_edge; e++)
            if (g->edges[e].rank == TL_NONE)
                s->job_net.net.lag_ns[first + e - meeting->first_edge] += sign * meeting->late_ns;
    }
}

static void replay(searching *s, tl_untraced *u)
{
    shift_arrivals(s, u->rank, -1);
    int64_t end_ns = tl_net_replay(&s->job_net.net, s->done_ns);
    u->gain_ns = s->out->whole_ns - tl_net_whole_ns(&s->job_net.net, s->b, s->done_ns, s->out->start_ns, end_ns);
    tl_net_step_ends(&s->job_net.net, s->done_ns, u->step_ns);
    shift_arrivals(s, u->rank, 1);
    tl_step_gains(s->ends_ns, s->b->nsteps, u->step_ns);
}

/* Fills shape, z and p of an untraced rank from the gain of its repair in each full step. */
static void judge(searching *s, tl_untraced *u)
{
    const tl_baseline *b = s->b;
    const tl_chance chance = { .members = b->graph->nranks + 1,
                               .nsteps = s->nfull,
                               .tries = (double)(b->graph->nranks + s->ranks.n) * TL_NFAMILIES,
                               .largest = 1,
                               .degrees = TL_TAIL_DEGREES };
    bool *up = tl_arena_zeroed(&s->arena, b->nsteps, sizeof *up);
    size_t at = 0;
    double sum = 0;
    for (size_t i = 0; i < b->nsteps; i++)
        if (!b->cut[i])
            s->x[at++] = (double)u->step_ns[i];
    u->p = 1;
    if (at == 0)
        return;
    tl_shape_of(s->x, at, s->sigma, &u->shape, up);
    at = 0;
    for (size_t i = 0; i < b->nsteps; i++) {
        u->on[i] = !b->cut[i] && up[at];
        sum += u->on[i] ? s->x[at] : 0;
        at += !b->cut[i];
    }
    if (u->shape.nup == 0)
        return;
    u->z = sum / (s->sigma * sqrt((double)u->shape.nup));
    u->p = tl_chance_of(&chance, u->z, (double)u->shape.nup);
    tl_put_pattern(b, u->on, u->shape.pattern == TL_PATTERN_DRIFTING, &u->shape, &u->share);
}

/* Whether chance does not explain the lateness, and the gain is at least the least cost's share of the job's time. */
static bool is_costly(const searching *s, const tl_untraced *u)
{
    return u->p < s->options->alpha && (double)u->gain_ns >= s->options->least_cost * (double)s->out->whole_ns;
}

static void look_at(searching *s, int32_t rank)
{
    const tl_job_graph *g = s->b->graph;
    size_t n = s->b->nsteps;
    tl_untraced u = { .rank = rank,
                      .on = tl_arena_zeroed(&s->out->arena, n, sizeof *u.on),
                      .late_ns = tl_arena_zeroed(&s->out->arena, n, sizeof *u.late_ns),
                      .step_ns = tl_arena_zeroed(&s->out->arena, n, sizeof *u.step_ns) };
    for (uint32_t m = 0; m < g->nmeetings; m++)
        if (is_late(&g->meetings[m], rank))
            u.late_ns[tl_meeting_step(s->b, m)] += g->meetings[m].late_ns;
    replay(s, &u);
    judge(s, &u);
    if (!is_costly(s, &u))
        return;
    tl_vec_push(&s->out->untraced, u);
}

/* Fills `untraced`, the late ranks without a trace; called last. */
static void untraced_find(const tl_baseline *b, const tl_verdict_options *options, tl_findings *out)
{
    searching s = { .b = b, .options = options, .out = out };
    list_ranks(&s);
    if (s.ranks.n > 0) {
        tl_job_net_make(b, out->folded, NULL, &s.job_net);
        prepare(&s);
    }
    for (size_t i = 0; s.nfull > 0 && i < s.ranks.n; i++)
        look_at(&s, s.ranks.v[i]);
    free(s.ranks.v);
    tl_job_net_free(&s.job_net);
    tl_arena_free(&s.arena);
}

void tl_change_put(tl_asked *asked, size_t rank, tl_change change, const uint32_t *plans, size_t nplans)
{
    tl_bytes_put(&asked->in[rank], &change, sizeof change);
    tl_bytes_put_list(&asked->in[rank], plans, nplans, sizeof *plans);
}

/* Folds a rank without a graph to its origin alone. */
static void empty_folded(size_t nsteps, tl_folded *out)
{
    out->done_ns = tl_calloc(1, sizeof *out->done_ns);
    tl_net_new(1, 0, 0, nsteps, &out->net);
    out->net.own_ns[0] = 0;
    out->net.first_edge[0] = out->net.first_edge[1] = 0;
    out->net.first_end[0] = out->net.first_end[1] = 0;
}

static void fold_ranks(const tl_baseline *b, tl_findings *out)
{
    tl_asked asked;
    tl_asked_new(out->nranks, &asked);
    for (size_t r = 0; r < out->nranks; r++)
        if (tl_job_graph_has(b->graph, r))
            tl_change_put(&asked, r, (tl_change){ .kind = TL_CHANGE_NONE }, NULL, 0);
    tl_ask_ranks(b->asker, TL_ASK_CHANGE, &asked);
    for (size_t r = 0; r < out->nranks; r++) {
        uint8_t lane;
        if (tl_job_graph_has(b->graph, r)) {
            tl_bytes_get(&asked.out[r], &lane, sizeof lane);
            tl_changed_get(&out->folded[r], &asked.out[r]);
        } else
            empty_folded(b->nsteps, &out->folded[r]);
        tl_bytes_free(&asked.out[r]);
    }
    tl_asked_free(&asked);
}

/* Returns the largest difference, ns, between a node's time in the unchanged replay and its measured time. */
static int64_t error_of(const tl_job_net *job_net, const int64_t *done_ns)
{
    int64_t most = 0;
    for (size_t v = 1; v < job_net->net.n; v++)
        most = tl_ns_max(most, tl_ns_max(tl_ns_between(done_ns[v], job_net->done_ns[v]),
                                         tl_ns_between(job_net->done_ns[v], done_ns[v])));
    return most;
}

static void time_steps(const tl_baseline *b, tl_findings *out)
{
    tl_job_net job_net = { 0 };
    bool any = false;
    tl_job_net_make(b, out->folded, NULL, &job_net);
    int64_t *done_ns = tl_malloc((job_net.net.n + 1) * sizeof *done_ns);
    out->end_ns = tl_net_replay(&job_net.net, done_ns);
    out->error_ns = error_of(&job_net, done_ns);
    out->start_ns = INT64_MAX;
    for (size_t r = 0; r < out->nranks; r++)
        if (tl_job_graph_has(b->graph, r)) {
            out->start_ns = tl_ns_min(out->start_ns, b->graph->ranks[r].start_ns);
            any = true;
        }
    out->start_ns = any ? out->start_ns : out->end_ns;
    out->time_ns = out->end_ns - out->start_ns;
    out->whole_ns = tl_net_whole_ns(&job_net.net, b, done_ns, out->start_ns, out->end_ns);
    tl_net_step_ends(&job_net.net, done_ns, out->step_ns);
    for (size_t s = b->nsteps; s-- > 0;)
        out->step_ns[s] -= s > 0 ? out->step_ns[s - 1] : out->start_ns;
    free(done_ns);
    tl_job_net_free(&job_net);
}

void tl_verdict_find(const tl_baseline *b, const tl_verdict_options *options, tl_findings *out)
{
    size_t n = b->graph->nranks, cells = n * b->nsteps;
    *out = (tl_findings){ .nsteps = b->nsteps, .nranks = n };
    out->folded = tl_arena_zeroed(&out->arena, n, sizeof *out->folded);
    out->step_ns = tl_arena_zeroed(&out->arena, b->nsteps, sizeof *out->step_ns);
    out->z = tl_arena_zeroed(&out->arena, cells, sizeof *out->z);
    out->late_ns = tl_arena_zeroed(&out->arena, cells, sizeof *out->late_ns);
    out->rank_ns = tl_arena_take(&out->arena, n, sizeof *out->rank_ns);
    out->rank_step_ns = tl_arena_zeroed(&out->arena, cells, sizeof *out->rank_step_ns);
    out->causes = tl_arena_take(&out->arena, n, sizeof *out->causes);

    for (size_t r = 0; r < n; r++) {
        out->rank_ns[r] = -1;
        out->causes[r] = (tl_rank_cause){ TL_CAUSE_UNKNOWN, TL_CAUSE_UNKNOWN, NAN };
    }
    fold_ranks(b, out);
    time_steps(b, out);
    tl_candidates_find(b, options, out);
    tl_backward_elimination(b, options->least_cost, out);
    untraced_find(b, options, out);
}

void tl_findings_free(tl_findings *j)
{
    for (size_t u = 0; u < j->candidates.n; u++)
        free(j->candidates.v[u].on);
    for (size_t u = 0; u < j->slight.n; u++)
        free(j->slight.v[u].on);
    free(j->candidates.v);
    free(j->slight.v);
    free(j->untraced.v);
    for (size_t r = 0; j->folded != NULL && r < j->nranks; r++)
        tl_folded_free(&j->folded[r]);
    tl_arena_free(&j->arena);
    *j = (tl_findings){ 0 };
}
