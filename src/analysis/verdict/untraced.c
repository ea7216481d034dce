/* untraced.c - ranks without a trace that hold the job up.
 *
 *     rank 0   [ p ]===work===[       m       ]
 *     rank 1   [ p ]====work====[     m       ]
 *     untraced [ p ]- - - - - - - - late ->[m ]     later at m than traced ranks of its role, by `late` at least
 *
 * The arrival of the untraced rank is bounded by the usual transfer time of m (untraced_ranks.h).  A repair subtracts
 * `late` from every edge by which the untraced rank comes to m; the gain is a lower bound of the rank's cost.  The
 * rank's lateness is compared with the noise of traced ranks.
 */
#include "internal.h"
#include "tlmpi/base/mem.h"
#include "tlmpi/base/sort.h"
#include "tlmpi/base/stats.h"
#include <math.h>
#include <stdlib.h>

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
                               .efficiency = 1,
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

void tl_untraced_find(const tl_baseline *b, const tl_verdict_options *options, tl_findings *out)
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
