/* units.c - who is late in which phase: found by the owners of ranks, the latest of them known to all. */
#include "internal.h"
#include "tlmpi/base/quantile.h"
#include "tlmpi/base/sort.h"
#include "tlmpi/job/transport/rows.h"
#include "tlmpi/model/parameters.h"
#include "tlmpi/par/par.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* What is known of a series before anybody is judged. */
typedef struct measured {
    uint32_t phase;
    double noise, mean;
} measured;

static int by_phase(const void *a, const void *b)
{
    const measured *x = a, *y = b;
    return TL_COMPARE(x->phase, y->phase);
}

/* The median of one column of v[n]. */
static double median_of(const measured *v, size_t n, size_t offset, double *scratch)
{
    for (size_t i = 0; i < n; i++)
        memcpy(&scratch[i], (const char *)&v[i] + offset, sizeof *scratch);
    return tl_real_median(scratch, n);
}

/* Proc 0: the norm of each phase, from all series. */
static bool find_norms(tl_phasing *p, measured *all, size_t n)
{
    double *scratch = tl_calloc((n > p->nsteps ? n : p->nsteps) + 1, sizeof *scratch), largest = 0;
    if (scratch == NULL)
        return false;
    for (size_t s = 0; s < p->nsteps; s++)
        scratch[s] = (double)p->step_ns[s];
    double least = fmax(1, TL_LATENESS_LEAST_SCALE * tl_real_median(scratch, p->nsteps));
    if (n > 1)
        qsort(all, n, sizeof *all, by_phase);
    for (size_t from = 0, to; from < n; from = to) {
        tl_phase_norm *norm = &p->norms[all[from].phase];
        for (to = from; to < n && all[to].phase == all[from].phase; to++)
            ;
        norm->ranks = to - from;
        norm->noise = fmax(least, median_of(all + from, to - from, offsetof(measured, noise), scratch));
        norm->centre = median_of(all + from, to - from, offsetof(measured, mean), scratch);
        for (size_t i = from; i < to; i++)
            norm->widest = fmax(norm->widest, fabs(all[i].mean - norm->centre));
        largest = fmax(largest, norm->noise);
    }
    tl_phase_norm *outside = &p->norms[tl_phase_outside(p)];
    outside->centre = fmax(0, outside->centre);
    for (uint32_t c = 0; c < tl_phase_outside(p); c++)
        if (tl_phase_is_alone(p, c))
            p->norms[c] = (tl_phase_norm){ .noise = fmax(least, largest), .ranks = 1, .alone = true };
    free(scratch);
    return true;
}

/* Collective.  The norms, from what this proc's series are like. */
static tl_status share_norms(tl_phasing *p, tl_error *err)
{
    measured *mine = tl_calloc(p->nseries + 1, sizeof *mine);
    double *scratch = tl_calloc(4 * p->nsteps + 1, sizeof *scratch);
    void *all = NULL;
    size_t n = 0, nall = 0;
    p->norms = tl_calloc(tl_phase_ncolumns(p), sizeof *p->norms);

    bool ok = mine != NULL && scratch != NULL && p->norms != NULL;
    for (size_t i = 0; ok && i < p->nseries; i++) {
        tl_phase_series *s = &p->series[i];
        tl_phase_series_measure(s, scratch);
        if (isfinite(s->noise) && !tl_phase_is_alone(p, s->phase))
            mine[n++] = (measured){ s->phase, s->noise, s->sum / (double)s->n };
    }
    tl_status st = tl_par_agree(ok ? TL_OK : tl_fail_memory(err, "the noise of phases"), err);
    if (st == TL_OK)
        st = tl_collect_rows(mine, n, sizeof *mine, &all, &nall, NULL, err);
    if (st == TL_OK) {
        ok = tl_par_proc() != 0 || find_norms(p, all, nall);
        st = tl_par_agree(ok ? TL_OK : tl_fail_memory(err, "the noise of phases"), err);
    }
    if (st == TL_OK)
        tl_par_bcast(p->norms, tl_phase_ncolumns(p) * sizeof *p->norms);
    free(mine);
    free(scratch);
    free(all);
    return st;
}

/* ----------------------------------------------------------------------------------------------------------- units */

static int by_lateness(const void *units, uint32_t a, uint32_t b)
{
    const tl_phase_unit *x = (const tl_phase_unit *)units + a, *y = (const tl_phase_unit *)units + b;
    if (x->late_ns != y->late_ns)
        return TL_COMPARE(y->late_ns, x->late_ns);
    if (x->rank != y->rank)
        return TL_COMPARE(x->rank, y->rank);
    return x->phase != y->phase ? TL_COMPARE(x->phase, y->phase) : TL_COMPARE(x->first, y->first);
}

/* Leaves the latest of the units: no more than there are ranks; of those that are stalled now and then, who are held
 * against all other ranks, no more than are chosen among. */
static bool keep_latest(const tl_phasing *p, tl_phase_units *u)
{
    const tl_phase_judging judging = tl_phase_judging_of(p);
    const size_t nsteps = p->nsteps, many = (size_t)TL_CHOICE_MANY, most = p->nranks > many ? p->nranks : many;
    size_t n = u->units.n, kept = 0, stalled = 0;
    uint32_t *order = tl_calloc(n + 1, sizeof *order);
    tl_phase_unit *units = tl_calloc(most + 1, sizeof *units);
    uint8_t *up = tl_calloc((n < most ? n : most) + 1, nsteps);
    bool ok = order != NULL && units != NULL && up != NULL;

    for (uint32_t i = 0; ok && i < n; i++)
        order[i] = i;
    ok = ok && tl_sort_index(order, n, by_lateness, u->units.v);
    for (size_t i = 0; ok && i < n && kept < most; i++) {
        const tl_phase_unit *unit = &u->units.v[order[i]];
        bool is_stalled = tl_phase_is_stalled(unit, &judging);
        if (is_stalled && stalled == many)
            continue;
        stalled += is_stalled;
        units[kept] = *unit;
        memcpy(up + kept++ * nsteps, u->up + order[i] * nsteps, nsteps);
    }
    free(order);
    if (!ok) {
        free(units);
        free(up);
        return false;
    }
    free(u->units.v);
    free(u->up);
    u->units.v = units;
    u->units.n = u->units.cap = kept;
    u->up = up;
    u->up_cap = kept * nsteps;
    return true;
}

/* Collective.  The units of all procs, the latest of them, on every proc. */
static tl_status share_units(tl_phasing *p, tl_error *err)
{
    tl_phase_units *u = &p->units;
    void *units = NULL, *up = NULL;
    size_t n = 0, nup = 0;

    tl_status st = tl_par_agree(keep_latest(p, u) ? TL_OK : tl_fail_memory(err, "who is late"), err);
    if (st == TL_OK)
        st = tl_collect_rows(u->units.v, u->units.n, sizeof *u->units.v, &units, &n, NULL, err);
    if (st == TL_OK)
        st = tl_collect_rows(u->up, u->units.n * p->nsteps, 1, &up, &nup, NULL, err);
    free(u->units.v);
    free(u->up);
    *u = (tl_phase_units){ .up = up, .up_cap = nup };
    u->units.v = units;
    u->units.n = u->units.cap = n;
    if (st == TL_OK) {
        bool ok = tl_par_proc() != 0 || keep_latest(p, u);
        st = tl_par_agree(ok ? TL_OK : tl_fail_memory(err, "who is late"), err);
    }
    if (st == TL_OK)
        st = tl_par_share((void **)&u->units.v, &u->units.n, sizeof *u->units.v, err);
    u->units.cap = u->units.n;
    u->up_cap = u->units.n * p->nsteps;
    return st == TL_OK ? tl_par_share((void **)&u->up, &u->up_cap, 1, err) : st;
}

/* The stalls of a rank that are like a unit's. */
typedef struct stalls {
    uint32_t unit;
    int32_t rank;
    size_t n;
} stalls;

static int by_unit(const void *a, const void *b)
{
    const stalls *x = a, *y = b;
    return TL_COMPARE(x->unit, y->unit);
}

/* This proc's ranks beside each unit that is stalled now and then. */
static bool list_stalls(const tl_phasing *p, stalls **out, size_t *n)
{
    const tl_phase_units *u = &p->units;
    const tl_phase_judging judging = tl_phase_judging_of(p);
    TL_VEC(stalls) list = { 0 };

    for (size_t i = 0; i < u->units.n; i++)
        for (size_t k = 0; tl_phase_is_stalled(&u->units.v[i], &judging) && k < p->nseries; k++) {
            const tl_phase_series *s = &p->series[k];
            if (s->phase != u->units.v[i].phase || s->n < 2)
                continue;
            if (!tl_vec_room(&list)) {
                free(list.v);
                return false;
            }
            list.v[list.n++] = (stalls){ (uint32_t)i, s->rank, tl_phase_stalls(s, &u->units.v[i], &judging) };
        }
    *out = list.v;
    *n = list.n;
    return true;
}

/* Proc 0. */
static void judge_stalls(tl_phasing *p, stalls *v, size_t n)
{
    const tl_phase_judging judging = tl_phase_judging_of(p);
    if (n > 1)
        qsort(v, n, sizeof *v, by_unit);
    for (size_t from = 0, to; from < n; from = to) {
        tl_phase_unit *unit = &p->units.units.v[v[from].unit];
        size_t own = 0, all = 0;
        for (to = from; to < n && v[to].unit == v[from].unit; to++) {
            own += v[to].rank == unit->rank ? v[to].n : 0;
            all += v[to].n;
        }
        unit->p = fmax(unit->p, tl_phase_by_turns(unit, &judging, own, all));
    }
}

/* Collective.  Units that chance explains beside the other ranks go. */
static tl_status drop_chance(tl_phasing *p, tl_error *err)
{
    tl_phase_units *u = &p->units;
    stalls *mine = NULL;
    void *all = NULL;
    size_t n = 0, nall = 0, kept = 0;

    tl_status st = tl_par_agree(list_stalls(p, &mine, &n) ? TL_OK : tl_fail_memory(err, "who is late"), err);
    if (st == TL_OK)
        st = tl_collect_rows(mine, n, sizeof *mine, &all, &nall, NULL, err);
    if (st == TL_OK && tl_par_proc() == 0)
        judge_stalls(p, all, nall);
    free(mine);
    free(all);
    if (st != TL_OK || u->units.n == 0)
        return st;
    tl_par_bcast(u->units.v, u->units.n * sizeof *u->units.v);
    for (size_t i = 0; i < u->units.n; i++) {
        if (u->units.v[i].p >= p->options->judge.alpha)
            continue;
        u->units.v[kept] = u->units.v[i];
        memmove(u->up + kept * p->nsteps, u->up + i * p->nsteps, p->nsteps);
        kept++;
    }
    u->units.n = kept;
    return TL_OK;
}

tl_status tl_phases_judge(tl_phasing *p, tl_error *err)
{
    tl_status st = share_norms(p, err);
    bool ok = true;
    if (st != TL_OK)
        return st;
    const tl_phase_judging judging = tl_phase_judging_of(p);
    for (size_t i = 0; ok && i < p->nseries; i++)
        if (p->column_holds[p->series[i].phase] != TL_HOLDS_ONLY)
            ok = tl_phase_units_find(&p->series[i], &judging, &p->units);
    st = tl_par_agree(ok ? TL_OK : tl_fail_memory(err, "who is late"), err);
    if (st == TL_OK)
        st = share_units(p, err);
    return st == TL_OK ? drop_chance(p, err) : st;
}
