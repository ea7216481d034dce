/* candidates.c - when is a rank late in a phase, and could it be chance?  The test is that of verdict.h. */
#include "internal.h"
#include <math.h>

typedef struct finding {
    tl_phase_job *j;
    tl_lateness_test t;
    double *x;           /* t.x */
    uint32_t *member_of; /* [nranks] TL_NONE: the rank is not compared in the class */
    uint32_t *rank_of;   /* [members] */
    uint32_t *steps;     /* [t.nsteps] indices */
    double *means;       /* [members] */
    double least;        /* the least scale of noise */
} finding;

/* Fills f->x, the excess by rank and step, for class c.  Of a phase that one rank alone has, the excess is 0 for every
 * other rank and step. */
static void take_class(finding *f, uint32_t c)
{
    tl_phase_job *j = f->j;
    tl_phase_class *class = &j->classes[c];
    const tl_phase_group *first = j->groups + class->first, *end = first + class->n;
    const bool alone = class->alone >= 0;
    size_t at = 0;

    class->members = 0;
    f->t.nsteps = alone ? j->nsteps : 0;
    for (size_t r = 0; r < j->nranks; r++)
        f->member_of[r] = TL_NONE;
    for (uint32_t s = 0; alone && s < j->nsteps; s++)
        f->steps[s] = s;
    for (const tl_phase_group *g = first; g < end && !alone; g++) {
        if (!tl_phase_is_compared(j, g))
            continue;
        f->steps[f->t.nsteps++] = (uint32_t)g->step;
        for (size_t i = 0; i < g->n; i++)
            f->member_of[g->rows[i].rank] = 0;
    }
    for (uint32_t r = 0; r < j->nranks; r++)
        if (alone || f->member_of[r] != TL_NONE) {
            f->rank_of[class->members] = r;
            f->member_of[r] = (uint32_t) class->members++;
        }
    f->t.chance.members = class->members;
    f->t.chance.nsteps = f->t.nsteps;
    for (size_t i = 0; i < class->members * f->t.nsteps; i++)
        f->x[i] = alone ? 0 : NAN;
    for (const tl_phase_group *g = first; g < end; g++) {
        if (!tl_phase_is_compared(j, g))
            continue;
        for (size_t i = 0; i < g->n; i++)
            f->x[f->member_of[g->rows[i].rank] * f->t.nsteps + (alone ? g->step : at)] = (double)g->rows[i].excess_ns;
        at++;
    }
}

/* Centres the excess on the median of the ranks' means (medians of skewed durations lie below their means); outside of
 * phases on 0 at least, where only lateness counts. */
static void centre(finding *f, tl_phase_class *class, bool outside)
{
    for (size_t m = 0; m < class->members; m++) {
        double sum = 0, n = 0;
        for (size_t s = 0; s < f->t.nsteps; s++) {
            double x = f->x[m * f->t.nsteps + s];
            sum += isnan(x) ? 0 : x;
            n += !isnan(x);
        }
        f->means[m] = f->t.worst[m] = sum / n;
    }
    double middle = class->members > 0 && class->alone < 0 ? tl_real_median(f->t.worst, class->members) : 0;
    middle = outside ? fmax(0, middle) : middle;
    for (size_t m = 0; m < class->members; m++)
        class->widest = fmax(class->widest, fabs(f->means[m] - middle));
    for (size_t i = 0; i < class->members * f->t.nsteps; i++)
        f->x[i] -= middle;
}

/* The candidate of the steps that are up. */
static void add(finding *f, uint32_t c, size_t member, tl_phase_candidate candidate)
{
    tl_phase_job *j = f->j;
    double late = 0;
    candidate.on = tl_arena_zeroed(&j->arena, j->nsteps, sizeof *candidate.on);
    candidate.excess_ns = tl_arena_zeroed(&j->arena, j->nsteps, sizeof *candidate.excess_ns);
    candidate.rank = f->rank_of[member];
    candidate.class = c;
    candidate.in = UINT32_MAX;
    candidate.shape.nup = 0;
    for (size_t s = 0; s < f->t.nsteps; s++) {
        double x = f->x[member * f->t.nsteps + s];
        size_t step = f->steps[s];
        candidate.nsteps += isnan(x) ? 0 : 1;
        if (!f->t.up[s])
            continue;
        candidate.shape.first = candidate.shape.nup++ == 0 ? step : candidate.shape.first;
        candidate.shape.last = step;
        candidate.on[step] = true;
        candidate.excess_ns[step] = (int64_t)fmax(0, fmin(x, 0x1p62));
        candidate.time_ns = tl_ns_add(candidate.time_ns, j->step_ns[step]);
        late += x;
    }
    candidate.late_ns = (int64_t)fmin(late, 0x1p62); /* of durations of months it may be more than an integer holds */
    if (late >= j->options->least_cost * (double)candidate.time_ns)
        tl_vec_push(&j->candidates, candidate);
}

/* Returns the chance that one member has as many of all stalls as this one, if each stall may hit any member.  A stall:
 * a step that is late by half of the shape's mean lateness or more. */
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

/* Finds the shapes in which a member is late, each in steps of its own.  One step or two prove nothing, since any host
 * stalls now and then; but a phase that one rank alone has counts even then. */
static void look_at(finding *f, uint32_t c, size_t member)
{
    const bool alone = f->j->classes[c].alone >= 0;
    bool more = true;
    for (size_t s = 0; s < f->t.nsteps; s++)
        f->t.excluded[s] = isnan(f->x[member * f->t.nsteps + s]);
    while (more) {
        tl_phase_candidate candidate = { 0 };
        tl_late_sums sums = tl_late_shape(&f->t, member, &candidate.shape);
        if (candidate.shape.nup == 0 || sums.tx <= 0)
            return;
        bool enough = alone || candidate.shape.nup >= (size_t)TL_SPREAD_LEAST;
        candidate.p = tl_late_chance(&f->t, member, &candidate.shape, &sums, sums.t1 * sums.t1 / sums.t2, &candidate.z);
        if (candidate.shape.pattern == TL_PATTERN_SPORADIC && !alone)
            candidate.p = fmax(candidate.p, chance_by_turns(f, member, &candidate.shape, sums.late));
        if (enough && candidate.p < f->t.alpha)
            add(f, c, member, candidate);
        more = !enough || candidate.p < f->t.alpha;
        for (size_t s = 0; s < f->t.nsteps; s++)
            f->t.excluded[s] = f->t.excluded[s] || f->t.up[s];
    }
}

void tl_phase_candidates_find(tl_phase_job *j)
{
    tl_arena arena = { 0 };
    size_t most = 0, nsteps = j->nsteps, nranks = j->nranks;
    for (size_t c = 0; c < j->nclasses; c++)
        if (j->classes[c].alone >= 0 || j->classes[c].n > most)
            most = j->classes[c].alone >= 0 ? nsteps : j->classes[c].n;
    finding f = { .j = j,
                  .t = { .alpha = j->options->alpha,
                         .chance = { .efficiency = 1, .degrees = TL_TAIL_DEGREES },
                         .excluded = tl_arena_take(&arena, nsteps, sizeof *f.t.excluded),
                         .up = tl_arena_take(&arena, nsteps, sizeof *f.t.up),
                         .rest_up = tl_arena_take(&arena, nsteps, sizeof *f.t.rest_up),
                         .rest = tl_arena_take(&arena, nsteps, sizeof *f.t.rest),
                         .column = tl_arena_take(&arena, nranks * most + nsteps, sizeof *f.t.column),
                         .worst = tl_arena_take(&arena, nranks, sizeof *f.t.worst) },
                  .x = tl_arena_take(&arena, nranks * most, sizeof *f.x),
                  .member_of = tl_arena_take(&arena, nranks, sizeof *f.member_of),
                  .rank_of = tl_arena_take(&arena, nranks, sizeof *f.rank_of),
                  .steps = tl_arena_take(&arena, nsteps, sizeof *f.steps),
                  .means = tl_arena_take(&arena, nranks, sizeof *f.means) };
    f.t.x = f.x;
    for (size_t s = 0; s < nsteps; s++)
        f.t.rest[s] = (double)j->step_ns[s];
    f.least = fmax(1, TL_LATENESS_LEAST_SCALE * tl_real_median(f.t.rest, nsteps));
    for (uint32_t c = 0; c < j->nclasses; c++) {
        take_class(&f, c);
        if (j->classes[c].holds == TL_HOLDS_ONLY) /* in a class of collectives alone ranks wait: none is late */
            continue;
        f.t.chance.tries += (double)j->classes[c].members;
        f.t.chance.largest += j->classes[c].members > 0;
    }
    for (uint32_t c = 0; c < j->nclasses; c++) {
        tl_phase_class *class = &j->classes[c];
        take_class(&f, c);
        centre(&f, class, c == j->nclasses - 1);
        if (class->holds == TL_HOLDS_ONLY || class->members < 2 || f.t.nsteps < 2)
            continue;
        f.t.sigma = fmax(f.least, tl_noise_of(f.x, class->members, f.t.nsteps, f.t.column, f.t.rest));
        for (size_t m = 0; m < class->members && isfinite(f.t.sigma); m++)
            look_at(&f, c, m);
    }
    tl_arena_free(&arena);
}
