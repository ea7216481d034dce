/* backward_elimination.c - which late candidates are needed to explain the cost of lateness: backward elimination.
 *
 * Forward selection would never find equal candidates that hide each other: repairing one of them alone gains nothing.
 * Each round drops the candidate with the smallest marginal gain, and replays the gains of the remaining ones; among
 * very many candidates a round drops half of them, so that n candidates take n log n replays and not n^2.
 */
#include "internal.h"
#include "tlmpi/base/quantile.h"
#include <math.h>
#include <string.h>

/* -------------------------------------------------------------------------------------------------------- the cause */

/* Why a chosen rank is late: the gain of repairing each part of its work alone.
 *
 *     repaired                 gains     share
 *     all late work            10.0 ms
 *     compute                   0.4      0.04
 *     garbage collections       9.5      0.95     gc
 *
 * If other ranks hide the rank, or one of its candidates hides another, repairing the part alone gains little: then the
 * loss counts, the joint gain of all chosen candidates less their gain without the part.
 */

#define FAMILY(name)   (1U << TL_FAMILY_##name)
#define ACTIVITY(name) (1U << TL_ACTIVITY_##name)

/* Causes, and the work that each one repairs; of equal gains the first wins.  Additional kernels and launches count as
 * MORE_WORK by their family, whatever their activity.  A wait for a copy from the device drains the device. */
static const struct thing {
    tl_cause cause;
    unsigned families, activities;
} things[] = {
    { TL_CAUSE_COPY, FAMILY(COPY), ACTIVITY(COPY) },
    { TL_CAUSE_UNKNOWN, FAMILY(DEVICE), ACTIVITY(COMM) },
    { TL_CAUSE_COMPUTE_SLOW, FAMILY(DEVICE), ACTIVITY(COMPUTE) },
    { TL_CAUSE_H2D, FAMILY(COPY) | FAMILY(WAIT), ACTIVITY(H2D) },
    { TL_CAUSE_MORE_WORK, FAMILY(ADDITIONAL) | FAMILY(HOST), ACTIVITY(COMPUTE) | ACTIVITY(COMM) },
    { TL_CAUSE_INPUT, FAMILY(HOST), ACTIVITY(INPUT) },
    { TL_CAUSE_GC, FAMILY(HOST), ACTIVITY(GC) },
    { TL_CAUSE_ALLOCATOR, FAMILY(HOST) | FAMILY(WAIT), ACTIVITY(ALLOCATOR) },
    { TL_CAUSE_SYNC_DRAIN, FAMILY(WAIT) | FAMILY(HOST), ACTIVITY(SYNC) | ACTIVITY(COPY) },
    { TL_CAUSE_HOST_LATE, FAMILY(HOST), ACTIVITY(HOST) },
};

typedef struct weighing {
    tl_costing *costing;
    const bool *repaired;  /* by candidate */
    int64_t joint_gain_ns; /* gain of repairing the candidates in `repaired` */
    bool without;
} weighing;

/* Returns the gain, ns, of repairing one part of a rank; 0, without a replay, where nothing of the part is repaired. */
static int64_t gain_of_part(const weighing *w, uint32_t rank, unsigned families, unsigned activities)
{
    const tl_cost_part part = { rank, families, activities, w->without };
    if (!tl_cost_has_part(w->costing, w->repaired, &part))
        return 0;
    int64_t ns = tl_cost_of_part(w->costing, w->repaired, &part);
    return w->without ? w->joint_gain_ns - ns : ns;
}

static tl_rank_cause find_cause(const weighing *w, uint32_t rank, int64_t all_ns)
{
    const struct thing *best = &things[0];
    int64_t most_ns = INT64_MIN;
    for (size_t i = 0; i < sizeof things / sizeof *things; i++) {
        int64_t ns = gain_of_part(w, rank, things[i].families, things[i].activities);
        if (ns > most_ns) {
            best = &things[i];
            most_ns = ns;
        }
    }
    const double all = all_ns > 0 ? (double)all_ns : 1;
    tl_rank_cause found = { best->cause, best->cause, fmin(1, (double)most_ns / all) };
    if (found.cause == TL_CAUSE_UNKNOWN) {
        found.share = NAN;
    } else if (found.share < TL_MOST_SHARE) {
        double more = (double)gain_of_part(w, rank, FAMILY(DEVICE) | FAMILY(ADDITIONAL), ~0U) / all;
        bool is_more = more >= TL_MOST_SHARE; /* more work also needs more input on the device */
        found = is_more ? (tl_rank_cause){ TL_CAUSE_MORE_WORK, TL_CAUSE_MORE_WORK, fmin(1, more) }
                        : (tl_rank_cause){ TL_CAUSE_MIXED, found.largest, found.share };
    }
    return found;
}

/* Fills causes of the ranks of chosen candidates; joint_gain_ns is known.  some: [candidates] scratch. */
static void causes_of_gains(tl_costing *costing, const bool *chosen, bool *some, tl_findings *out)
{
    const tl_candidate *candidates = out->candidates.v;
    for (size_t u = 0, to; u < out->candidates.n && candidates[u].rank != TL_NONE; u = to) {
        uint32_t rank = candidates[u].rank;
        memset(some, 0, out->candidates.n);
        for (to = u; to < out->candidates.n && candidates[to].rank == rank; to++)
            some[to] = chosen[to];
        if (out->rank_ns[rank] < 0)
            continue;
        const weighing among = { costing, chosen, out->joint_gain_ns, true };
        const weighing alone = { costing, some, 0, false };
        int64_t among_ns = gain_of_part(&among, rank, ~0U, ~0U), solo_gain_ns = out->rank_ns[rank];
        out->causes[rank] =
            among_ns > solo_gain_ns ? find_cause(&among, rank, among_ns) : find_cause(&alone, rank, solo_gain_ns);
    }
}

typedef struct elimination {
    const tl_baseline *b;
    tl_findings *out;
    tl_costing *costing;
    tl_arena arena;
    bool *chosen;   /* by candidate */
    bool *some;     /* by candidate, scratch */
    double *share;  /* by candidate: marginal_gain_ns of its steps */
    double *shares; /* by candidate, scratch */
    double least_cost;
} elimination;

/* Returns the total length, ns, of the steps in which the candidate is late; 1 if that is 0. */
static double late_steps_ns(const elimination *c, const tl_candidate *candidate)
{
    int64_t ns = 0;
    for (size_t s = 0; s < c->b->nsteps; s++)
        ns += candidate->on[s] ? c->out->step_ns[s] : 0;
    return ns > 0 ? (double)ns : 1;
}

/* Fills marginal_gain_ns of each chosen candidate (the loss of gain without the candidate's repair), and share:
 * marginal_gain_ns over the length of the candidate's steps. */
static void find_marginal_gains(elimination *c)
{
    tl_candidate *candidates = c->out->candidates.v;
    for (size_t u = 0; u < c->out->candidates.n; u++) {
        if (!c->chosen[u])
            continue;
        c->chosen[u] = false;
        candidates[u].marginal_gain_ns = c->out->joint_gain_ns - tl_cost_of(c->costing, c->chosen);
        c->chosen[u] = true;
        c->share[u] = (double)candidates[u].marginal_gain_ns / late_steps_ns(c, &candidates[u]);
    }
}

bool tl_eliminate_least_needed(bool *chosen, const double *share, size_t n, double least_cost, double *scratch)
{
    size_t nchosen = 0;
    bool any = false;
    for (size_t u = 0; u < n; u++)
        if (chosen[u])
            scratch[nchosen++] = share[u];
    if (nchosen == 0)
        return false;
    bool many = nchosen > (size_t)TL_SAMPLES;
    tl_real_sort(scratch, nchosen);
    double most = scratch[many ? tl_lower_middle(nchosen) : 0];
    for (size_t u = 0; u < n && (many || !any); u++) {
        if (!chosen[u] || share[u] > most || share[u] >= least_cost)
            continue;
        chosen[u] = false;
        any = true;
    }
    return any;
}

static void eliminate(elimination *c)
{
    for (size_t u = 0; u < c->out->candidates.n; u++)
        c->chosen[u] = true;
    do {
        c->out->joint_gain_ns = tl_cost_of(c->costing, c->chosen);
        find_marginal_gains(c);
    } while (tl_eliminate_least_needed(c->chosen, c->share, c->out->candidates.n, c->least_cost, c->shares));
    for (size_t u = 0; u < c->out->candidates.n; u++)
        c->out->candidates.v[u].marginal_gain_ns = c->chosen[u] ? c->out->candidates.v[u].marginal_gain_ns : 0;
}

static void find_rank_gains(elimination *c)
{
    tl_findings *out = c->out;
    for (size_t u = 0; u < out->candidates.n; u++) {
        memset(c->some, 0, out->candidates.n);
        c->some[u] = true;
        out->candidates.v[u].solo_gain_ns = tl_cost_of(c->costing, c->some);
        out->candidates.v[u].needed = c->chosen[u];
    }
    for (size_t u = 0; u < out->candidates.n; u++)
        c->some[u] = c->chosen[u] && out->candidates.v[u].link != TL_NONE;
    out->links_ns = tl_cost_of(c->costing, c->some);
    for (size_t u = 0, to; u < out->candidates.n && out->candidates.v[u].rank != TL_NONE; u = to) {
        uint32_t rank = out->candidates.v[u].rank;
        bool any = false;
        memset(c->some, 0, out->candidates.n);
        for (to = u; to < out->candidates.n && out->candidates.v[to].rank == rank; to++) {
            c->some[to] = c->chosen[to];
            any = any || c->chosen[to];
        }
        if (!any)
            continue;
        out->rank_ns[rank] = tl_cost_of(c->costing, c->some);
        tl_cost_by_step(c->costing, out->rank_step_ns + rank * c->b->nsteps);
    }
}

/* Returns the gain, ns, of repairing all chosen candidates of the candidate's rank, or the candidate's link alone. */
static int64_t gain_of(const elimination *c, const tl_candidate *candidate)
{
    return candidate->rank != TL_NONE ? c->out->rank_ns[candidate->rank] : candidate->solo_gain_ns;
}

static bool gains_enough(const elimination *c, const tl_candidate *candidate, int64_t gain_ns)
{
    return (double)gain_ns >= c->least_cost * late_steps_ns(c, candidate);
}

/* Drops chosen candidates whose own repair gains less than the least cost: such a candidate is the next bottleneck, and
 * no culprit.  All stay if candidates hide each other: all chosen candidates together gain more than twice the gain of
 * the best one, or the candidates with too small a gain of their own gain enough together.  Returns whether a candidate
 * was dropped. */
static bool drop_next_bottlenecks(elimination *c)
{
    tl_candidate *candidates = c->out->candidates.v;
    int64_t best_ns = 0;
    bool any = false;
    for (size_t u = 0; u < c->out->candidates.n; u++) {
        if (c->chosen[u])
            best_ns = best_ns > gain_of(c, &candidates[u]) ? best_ns : gain_of(c, &candidates[u]);
        c->some[u] = c->chosen[u] && !gains_enough(c, &candidates[u], gain_of(c, &candidates[u]));
        any = any || c->some[u];
    }
    if (!any || c->out->joint_gain_ns > 2 * best_ns)
        return false;
    int64_t hidden_ns = tl_cost_of(c->costing, c->some);
    any = false;
    for (size_t u = 0; u < c->out->candidates.n; u++) {
        if (!c->some[u] || gains_enough(c, &candidates[u], hidden_ns))
            continue;
        c->chosen[u] = false;
        candidates[u].marginal_gain_ns = 0;
        any = true;
        if (candidates[u].rank == TL_NONE)
            continue;
        c->out->rank_ns[candidates[u].rank] = -1;
        memset(c->out->rank_step_ns + candidates[u].rank * c->b->nsteps, 0,
               c->b->nsteps * sizeof *c->out->rank_step_ns);
    }
    return any;
}

static void merge_candidate(const elimination *c, tl_candidate *whole, tl_candidate *candidate)
{
    double share;
    bool drifts = whole->shape.pattern == TL_PATTERN_DRIFTING || candidate->shape.pattern == TL_PATTERN_DRIFTING;
    for (size_t s = 0; s < c->b->nsteps; s++)
        whole->on[s] = whole->on[s] || candidate->on[s];
    tl_put_pattern(c->b, whole->on, drifts, &whole->shape, &share);
    whole->z = fmax(whole->z, candidate->z);
    whole->p = fmin(whole->p, candidate->p);
    whole->late_ns += candidate->late_ns;
    whole->marginal_gain_ns += candidate->marginal_gain_ns;
    candidate->needed = false;
}

/* Merges all chosen candidates of a link (a link may be slow by unlike amounts in unlike steps) into the first of them.
 * All gains are known. */
static void merge_link_candidates(elimination *c)
{
    tl_candidate *candidates = c->out->candidates.v;
    size_t n = c->out->candidates.n;
    for (size_t u = 0; u < n; u++) {
        if (candidates[u].link == TL_NONE || !candidates[u].needed)
            continue;
        memset(c->some, 0, n);
        for (size_t v = u; v < n; v++)
            c->some[v] = candidates[v].link == candidates[u].link && candidates[v].needed;
        candidates[u].solo_gain_ns = tl_cost_of(c->costing, c->some);
        for (size_t v = u + 1; v < n; v++)
            if (c->some[v])
                merge_candidate(c, &candidates[u], &candidates[v]);
    }
}

void tl_backward_elimination(const tl_baseline *b, double least_cost, tl_findings *out)
{
    if (out->candidates.n == 0)
        return;
    elimination c = { .b = b, .out = out, .costing = tl_costing_new(b, out), .least_cost = least_cost };
    c.chosen = tl_arena_zeroed(&c.arena, out->candidates.n, sizeof *c.chosen);
    c.some = tl_arena_zeroed(&c.arena, out->candidates.n, sizeof *c.some);
    c.share = tl_arena_zeroed(&c.arena, out->candidates.n, sizeof *c.share);
    c.shares = tl_arena_zeroed(&c.arena, out->candidates.n, sizeof *c.shares);
    eliminate(&c);
    find_rank_gains(&c);
    if (drop_next_bottlenecks(&c)) {
        c.out->joint_gain_ns = tl_cost_of(c.costing, c.chosen);
        find_marginal_gains(&c);
        find_rank_gains(&c);
    }
    causes_of_gains(c.costing, c.chosen, c.some, out);
    merge_link_candidates(&c);
    tl_costing_free(c.costing);
    tl_arena_free(&c.arena);
}
