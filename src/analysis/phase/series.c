/* series.c - when is a rank late in a phase, and could it be chance?  As verdict.h judges units of graphs; here the noise
 * of a phase is the median of its ranks', so that a rank's steps need be in one place, and all ranks' nowhere.
 */
#include "tlmpi/analysis/phase.h"
#include "tlmpi/base/mem.h"
#include "tlmpi/base/quantile.h"
#include "tlmpi/model/parameters.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The standard deviation of normal noise of which |x| has this mean: sqrt(pi / 2) of it. */
static double sigma_of(double sum, size_t n)
{
    return n > 0 ? sqrt(acos(0)) * sum / (double)n : INFINITY;
}

/* The noise of a rank: the least of what its steps are away from their middle, differ by from one to the next, and turn
 * by; levels, ramps and switches, which are no noise, make each of them larger.  Means of a few steps say more than their
 * medians, and a rank that stalls is one among many.  column[n]. */
static double noise_of(const double *x, size_t n, double *column)
{
    double levels = 0, steps = 0, turns = 0;
    memcpy(column, x, n * sizeof *x);
    double middle = tl_real_median(column, n);
    for (size_t i = 0; i < n; i++) {
        levels += fabs(x[i] - middle);
        steps += i > 0 ? fabs(x[i] - x[i - 1]) : 0;
        turns += i > 1 ? fabs(x[i] - 2 * x[i - 1] + x[i - 2]) : 0;
    }
    double least = fmin(sigma_of(levels, n - 1), sigma_of(steps, n - 1) / sqrt(2));
    return n > 2 ? fmin(least, sigma_of(turns, n - 2) / sqrt(1 + 2 * 2 + 1)) : least;
}

void tl_phase_series_measure(tl_phase_series *series, double *scratch)
{
    double *x = scratch, *column = x + series->n;
    size_t n = 0;
    series->sum = 0;
    for (size_t i = 0; i < series->n; i++) {
        series->sum += series->x[i];
        if (!series->middle[i])
            x[n++] = series->x[i];
    }
    series->noise = n > 1 ? noise_of(x, n, column) : NAN;
}

static tl_chance chance_of(const tl_phase_judging *judging, uint32_t phase, size_t nsteps)
{
    /* The noise is a median of the ranks': as sure as a mean of 2 / pi of them. */
    tl_chance chance = {
        .members = judging->norms[phase].ranks, .nsteps = nsteps, .degrees = TL_TAIL_DEGREES, .efficiency = 1 / acos(0)
    };
    for (size_t c = 0; c < judging->ncolumns; c++) {
        chance.tries += (double)judging->norms[c].ranks;
        chance.largest += judging->norms[c].ranks > 0;
    }
    return chance;
}

/* A step counts for no more than it can prove: whoever is held up once is not somebody who is late.  But who does alone
 * what the others are spared does it on purpose. */
static double counted(double x, const tl_phase_norm *norm)
{
    double most = norm->alone ? INFINITY : TL_PHASE_STEP_MOST * norm->noise;
    return fmax(-most, fmin(most, x - norm->centre));
}

/* What is looked at of a series: x less the centre, in the steps that no unit has yet. */
typedef struct rest {
    double *x, *counted;
    uint32_t *at; /* of which place in the series */
    bool *up, *taken;
    size_t n;
} rest;

static void take_rest(rest *r, const tl_phase_series *series, const tl_phase_norm *norm)
{
    r->n = 0;
    for (size_t i = 0; i < series->n; i++) {
        if (r->taken[i])
            continue;
        r->x[r->n] = series->x[i] - norm->centre;
        r->counted[r->n] = counted(series->x[i], norm);
        r->at[r->n++] = (uint32_t)i;
    }
}

/* One run of steps, and little outside of it: the run alone. */
static void keep_run(rest *r, tl_shape *shape)
{
    size_t best = 0, best_at = 0, length = 0;
    for (size_t i = 0; i < r->n; i++) {
        length = r->up[i] ? length + 1 : 0;
        if (length > best) {
            best = length;
            best_at = i + 1 - length;
        }
    }
    if (shape->pattern != TL_PATTERN_SPORADIC || (double)best < TL_PERSISTENT_SHARE * (double)shape->nup ||
        best < (size_t)TL_SPREAD_LEAST)
        return;
    for (size_t i = 0; i < r->n; i++)
        r->up[i] = i >= best_at && i < best_at + best;
    *shape = (tl_shape){ .pattern = TL_PATTERN_BOUNDED, .nup = best, .first = best_at, .last = best_at + best - 1 };
}

/* The unit of the steps that are up. */
static tl_phase_unit unit_of(const rest *r, const tl_shape *shape, const tl_phase_series *series,
                             const tl_phase_judging *judging)
{
    tl_phase_unit unit = {
        .rank = series->rank, .phase = series->phase, .pattern = (uint8_t)shape->pattern, .n = (uint32_t)series->n
    };
    double tx = 0, t1 = 0, t2 = 0, late = 0;
    for (size_t i = 0; i < r->n; i++) {
        if (!r->up[i])
            continue;
        uint32_t step = series->steps[r->at[i]];
        double t = shape->pattern == TL_PATTERN_DRIFTING ? (double)(i - shape->first + 1) : 1;
        tx += t * r->counted[i];
        t1 += t;
        t2 += t * t;
        late += r->x[i];
        unit.first = unit.nup == 0 ? step : unit.first;
        unit.last = step;
        unit.nup++;
        unit.time_ns += judging->step_ns[step];
    }
    unit.late_ns = (int64_t)fmin(late, 0x1p62); /* of durations of months it may be more than an integer holds */
    if (unit.nup == 0)
        return unit;
    const tl_chance chance = chance_of(judging, series->phase, series->n);
    unit.z = tx / (judging->norms[series->phase].noise * sqrt(t2));
    unit.p = tl_chance_of(&chance, unit.z, t1 * t1 / t2);
    return unit;
}

static bool add(const tl_phase_unit *unit, const rest *r, const tl_phase_series *series, size_t nsteps,
                tl_phase_units *out)
{
    if (!tl_vec_room(&out->units) || !tl_grow((void **)&out->up, &out->up_cap, (out->units.n + 1) * nsteps, 1))
        return false;
    uint8_t *up = out->up + out->units.n * nsteps;
    memset(up, 0, nsteps);
    for (size_t i = 0; i < r->n; i++)
        if (r->up[i])
            up[series->steps[r->at[i]]] = 1;
    out->units.v[out->units.n++] = *unit;
    return true;
}

bool tl_phase_units_find(const tl_phase_series *series, const tl_phase_judging *judging, tl_phase_units *out)
{
    const tl_phase_norm *norm = &judging->norms[series->phase];
    tl_arena arena = { 0 };
    rest r = { .x = tl_arena_take(&arena, series->n, sizeof *r.x),
               .counted = tl_arena_take(&arena, series->n, sizeof *r.counted),
               .at = tl_arena_take(&arena, series->n, sizeof *r.at),
               .up = tl_arena_zeroed(&arena, series->n, sizeof *r.up),
               .taken = tl_arena_zeroed(&arena, series->n, sizeof *r.taken) };
    bool ok = !arena.failed, some = series->n > 1 && (norm->ranks > 1 || norm->alone);

    for (int64_t round = 0; ok && some && round < TL_PHASE_UNITS_MOST; round++) {
        tl_shape shape = { 0 };
        take_rest(&r, series, norm);
        ok = r.n == 0 || tl_shape_of(r.x, r.n, norm->noise, &shape, r.up);
        if (!ok || r.n == 0)
            break;
        keep_run(&r, &shape);
        tl_phase_unit unit = unit_of(&r, &shape, series, judging);
        some = unit.nup > 0;
        if (some && unit.p < judging->alpha && (double)unit.late_ns >= judging->least_cost * (double)unit.time_ns)
            ok = add(&unit, &r, series, judging->nsteps, out);
        for (size_t i = 0; i < r.n; i++)
            r.taken[r.at[i]] = r.taken[r.at[i]] || r.up[i];
    }
    tl_arena_free(&arena);
    return ok;
}

size_t tl_phase_stalls(const tl_phase_series *series, const tl_phase_unit *unit, const tl_phase_judging *judging)
{
    const double centre = judging->norms[series->phase].centre, least = (double)unit->late_ns / unit->nup / 2;
    size_t n = 0;
    for (size_t i = 0; i < series->n; i++)
        n += series->x[i] - centre >= least;
    return n;
}

bool tl_phase_is_stalled(const tl_phase_unit *unit, const tl_phase_judging *judging)
{
    return unit->pattern == TL_PATTERN_SPORADIC && !judging->norms[unit->phase].alone;
}

double tl_phase_by_turns(const tl_phase_unit *unit, const tl_phase_judging *judging, size_t own, size_t all)
{
    const tl_chance chance = chance_of(judging, unit->phase, unit->n);
    return tl_chance_by_turns(&chance, own, all);
}
