/* candidates.c - in which steps is a rank late in a phase, and is that significant?  The test of verdict.h. */
#include "internal.h"
#include "tlmpi/base/quantile.h"
#include "tlmpi/base/sort.h"

typedef struct finding {
    tl_phase_job *j;
    tl_phase_class *class;
    tl_lateness_test t;
    double *x;         /* t.x */
    uint32_t *rank_of; /* [members] */
    double *means;     /* [members] */
} finding;

/* Fills f->x with the excess by member and column, centred on the median of the members' means: medians of skewed
 * durations lie below their means.  Outside of phases the centre is at least 0, since only lateness counts. */
static void fill_excess(finding *f, bool outside)
{
    const size_t n = f->class->columns.n;
    size_t members = 0;
    for (uint32_t r = 0; r < f->j->nranks; r++) {
        double sum = 0, known = 0, *x = f->x + members * n;
        for (size_t k = 0; k < n; k++) {
            x[k] = tl_phase_excess(f->j, f->class, k, r);
            sum += isnan(x[k]) ? 0 : x[k];
            known += !isnan(x[k]);
        }
        if (known == 0)
            continue;
        f->means[members] = f->t.worst[members] = sum / known;
        f->rank_of[members++] = r;
    }
    double middle = tl_real_median(f->t.worst, members);
    middle = outside ? fmax(0, middle) : middle;
    for (size_t m = 0; m < members; m++)
        f->class->widest_ns = fmax(f->class->widest_ns, fabs(f->means[m] - middle));
    for (size_t i = 0; i < members * n; i++)
        f->x[i] -= middle;
    f->t.chance.members = members;
    f->t.chance.nsteps = f->t.nsteps = n;
}

/* Adds the candidate with the columns marked in t.up, unless its excess there is below the least cost. */
static void add_candidate(finding *f, const double *x, tl_phase_candidate u)
{
    tl_phase_job *j = f->j;
    u.excess_ns = tl_arena_take(&j->arena, j->nsteps, sizeof *u.excess_ns);
    for (size_t s = 0; s < j->nsteps; s++)
        u.excess_ns[s] = NAN;
    for (size_t k = 0; k < f->t.nsteps; k++) {
        u.nsteps += isnan(x[k]) ? 0 : 1;
        if (!f->t.up[k])
            continue;
        const uint32_t step = f->class->columns.v[k].step;
        u.excess_ns[step] = fmax(0, x[k]);
        u.time_ns += j->step_ns[step];
        u.late_ns += x[k];
    }
    u.shape.first = f->class->columns.v[u.shape.first].step;
    u.shape.last = f->class->columns.v[u.shape.last].step;
    if (u.late_ns >= j->options->least_cost * u.time_ns)
        tl_vec_push(&j->candidates, u);
}

/* Returns the probability that one member has at least as many of all stalls as this one, if each stall hits a random
 * member.  A stall is a step with at least half of the shape's mean lateness. */
static double chance_by_turns(const finding *f, size_t member, const tl_shape *shape, double late)
{
    size_t own = 0, all = 0;
    for (size_t i = 0; i < f->t.chance.members * f->t.nsteps; i++)
        if (f->x[i] >= late / (double)shape->nup / 2) {
            own += i / f->t.nsteps == member;
            all++;
        }
    return tl_chance_by_turns(&f->t.chance, own, all);
}

/* Finds the shapes in which a member is late, each in steps of its own.  One or two steps are not significant, since
 * any host stalls now and then, except in a phase that only one rank has. */
static void find_shapes(finding *f, size_t member)
{
    const bool only = f->class->only != TL_NONE;
    const double *x = f->x + member * f->t.nsteps;
    bool more = true;
    for (size_t k = 0; k < f->t.nsteps; k++)
        f->t.excluded[k] = isnan(x[k]);
    while (more) {
        tl_phase_candidate u = { .rank = f->rank_of[member],
                                 .class = (uint32_t)(f->class - f->j->classes),
                                 .in = TL_NONE };
        tl_late_sums sums = tl_late_shape(&f->t, member, &u.shape);
        if (u.shape.nup == 0 || sums.tx <= 0)
            return;
        const bool enough = only || u.shape.nup >= TL_MEDIAN_LEAST;
        u.p = tl_late_chance(&f->t, member, &u.shape, &sums, sums.t1 * sums.t1 / sums.t2, &u.z);
        if (u.shape.pattern == TL_PATTERN_SPORADIC && !only)
            u.p = fmax(u.p, chance_by_turns(f, member, &u.shape, sums.late));
        if (enough && u.p < f->t.alpha)
            add_candidate(f, x, u);
        more = !enough || u.p < f->t.alpha;
        for (size_t k = 0; k < f->t.nsteps; k++)
            f->t.excluded[k] = f->t.excluded[k] || f->t.up[k];
    }
}

/* Skips classes of collectives only, in which ranks wait and are not late. */
void tl_phase_candidates_find(tl_phase_job *j)
{
    const size_t nsteps = j->nsteps, nranks = j->nranks;
    tl_arena arena = { 0 };
    finding f = { .j = j,
                  .t = { .alpha = j->options->alpha,
                         .chance = { .efficiency = 1, .degrees = TL_TAIL_DEGREES },
                         .excluded = tl_arena_take(&arena, nsteps, sizeof *f.t.excluded),
                         .up = tl_arena_take(&arena, nsteps, sizeof *f.t.up),
                         .rest_up = tl_arena_take(&arena, nsteps, sizeof *f.t.rest_up),
                         .rest = tl_arena_take(&arena, nsteps, sizeof *f.t.rest),
                         .column = tl_arena_take(&arena, nranks * nsteps + nsteps, sizeof *f.t.column),
                         .worst = tl_arena_take(&arena, nranks, sizeof *f.t.worst) },
                  .x = tl_arena_take(&arena, nranks * nsteps, sizeof *f.x),
                  .rank_of = tl_arena_take(&arena, nranks, sizeof *f.rank_of),
                  .means = tl_arena_take(&arena, nranks, sizeof *f.means) };
    f.t.x = f.x;
    for (size_t s = 0; s < nsteps; s++)
        f.t.rest[s] = j->step_ns[s];
    const double least = fmax(1, TL_NOTHING_SHARE * tl_real_median(f.t.rest, nsteps));
    for (size_t c = 0; c < j->nclasses; c++)
        if (j->classes[c].holds != TL_HOLDS_ONLY) {
            f.t.chance.tries += (double)j->classes[c].members;
            f.t.chance.largest += j->classes[c].members > 0;
        }
    for (size_t c = 0; c < j->nclasses; c++) {
        f.class = &j->classes[c];
        fill_excess(&f, c == j->outside);
        if (f.class->holds == TL_HOLDS_ONLY || f.class->members < 2 || f.t.nsteps < 2)
            continue;
        f.t.sigma = fmax(least, tl_noise_of(f.x, f.class->members, f.t.nsteps, f.t.column, f.t.rest));
        for (size_t m = 0; m < f.class->members && isfinite(f.t.sigma); m++)
            find_shapes(&f, m);
    }
    tl_arena_free(&arena);
}
