/* surplus.c - by how much were transfers too long, and does it last? */
#include "parts.h"
#include "tlmpi/base/mem.h"
#include "tlmpi/base/sort.h"
#include "tlmpi/base/stats.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A surplus counts from this part of what should have been. */
enum { PART_USUAL = 4, PART_LOOSE = 3 };
/* Where steps hardly differ: from a twentieth of those of its own on, and a sixth of those of others, whose wires may
 * be a little better; what matters of the step, and so many times as much as steps differ by. */
enum { STEADY_STEPS = 6, TIMES_NOISE = 8, PART_STEADY = 20, PART_OF_OTHERS = 6 };
/* Or, where they are less than half of the steps, so many times as far from all others as these are from each other: of
 * six steps that differ by chance alone one set in a hundred looks so, of more fewer. */
enum { TIMES_APART = 3 };
static const double matters = 0.04;
/* Nothing takes three years; four times that is a number. */
#define MOST_NS 1e17

static int by_step(const void *context, uint32_t a, uint32_t b)
{
    const tl_link_finding *f = context;
    if (f->class_of[a] != f->class_of[b])
        return f->class_of[a] < f->class_of[b] ? -1 : 1;
    if (f->unit[a] != f->unit[b])
        return f->unit[a] < f->unit[b] ? -1 : 1;
    uint32_t x = f->in->collectives[a].step, y = f->in->collectives[b].step;
    return TL_COMPARE(x, y);
}

/* The middle surplus of a cell's collectives of the step of order[i]; *next: behind them.  Of those alone that shared no
 * wires, where there are any: on a slow link they are as slow. */
static int64_t middle_surplus(tl_link_finding *f, size_t i, size_t to, size_t *next)
{
    uint32_t step = f->in->collectives[f->order[i]].step;
    size_t alone = 0, n = 0;
    for (*next = i; *next < to && f->in->collectives[f->order[*next]].step == step; (*next)++)
        alone += !f->shared[f->order[*next]];
    for (size_t k = i; k < *next; k++)
        if (alone == 0 || !f->shared[f->order[k]])
            f->scratch[n++] = tl_ns_between(f->took_ns[f->order[k]], f->should_ns[f->order[k]]);
    return tl_lower_median(f->scratch, n);
}

static int64_t part_of(const tl_link_finding *f, uint32_t collective)
{
    return f->should_ns[collective] / (tl_link_is_loose(&f->in->collectives[collective]) ? PART_LOOSE : PART_USUAL);
}

/* By place: what a group's transfers took too long of which it counts by themselves; from what on that of all counts;
 * and that of those that are compared with the same, and from what on it does where steps hardly differ. */
enum { WITH_STEPS, WITH_GROUPS, NWITH };
typedef struct counting {
    double *alone, *least, *of[NWITH], *least_of[NWITH];
} counting;

/* What a cell's collectives of one step took too long: as many times the middle one as there are, so that one that had
 * a hiccup does not stand for all.  What clocks leave open is the same in all steps. */
static void charge_cell(tl_link_finding *f, size_t from, size_t to, const counting *sum)
{
    uint8_t evidence = f->evidence[f->order[from]];
    bool groups = evidence == TL_LINK_BY_GROUPS && !tl_link_is_loose(&f->in->collectives[f->order[from]]);
    int with = evidence == TL_LINK_BY_STEPS ? WITH_STEPS : groups ? WITH_GROUPS : NWITH;
    for (size_t i = from, next; i < to; i = next) {
        uint32_t c = f->order[i];
        size_t place = tl_link_place(f, c);
        double surplus = (double)middle_surplus(f, i, to, &next), part = 0, small_part = 0;
        size_t n = next - i;
        surplus *= (double)n;
        for (size_t k = i; k < next; k++) {
            int64_t part_ns = part_of(f, f->order[k]);
            int64_t small_ns = f->should_ns[f->order[k]] / (with == WITH_STEPS ? PART_STEADY : PART_OF_OTHERS);
            f->long_ns[f->order[k]] = with < NWITH && small_ns < part_ns ? small_ns : part_ns;
            int64_t apart_ns = evidence == TL_LINK_BY_GROUPS ? f->apart_ns[f->order[k]] : 0;
            small_part += (double)(small_ns + apart_ns);
            part += (double)(part_ns + apart_ns);
        }
        double doubt = 2 * (double)n * (double)f->in->collectives[c].uncertainty_ns;
        double least = part > doubt ? part : doubt + 1;
        f->charge[place] += surplus;
        sum->least[place] += least;
        sum->alone[place] += surplus >= least ? surplus : 0;
        if (with < NWITH) {
            sum->of[with][place] += surplus;
            sum->least_of[with][place] += with == WITH_STEPS || small_part > doubt ? small_part : doubt + 1;
        }
    }
}

/* The scatter of n values around their middle, around the one before, or around the line through their neighbours,
 * whichever is least: what begins, ends or grows is no noise.  work: as many. */
static double scatter(int64_t *values, size_t n, int64_t *work)
{
    for (size_t i = 1; i + 1 < n; i++)
        work[i - 1] = llabs(values[i - 1] - 2 * values[i] + values[i + 1]);
    double least = (double)tl_median(work, n - 2) / sqrt(6);
    for (size_t i = 0; i + 1 < n; i++)
        work[i] = llabs(values[i + 1] - values[i]);
    least = fmin(least, (double)tl_median(work, n - 1) / sqrt(2));
    return tl_sigma_of_mad(fmin(least, (double)tl_mad(values, n, tl_median(values, n))));
}

/* From what on values stand apart: INT64_MAX if none do.  Puts them in order. */
static int64_t apart_from(int64_t *values, size_t n)
{
    tl_ns_sort(values, n);
    for (size_t k = n / 2 + 1; k < n; k++)
        if (tl_ns_between(values[k], values[k - 1]) / TIMES_APART >= tl_ns_between(values[k - 1], values[0]))
            return values[k];
    return INT64_MAX;
}

/* What a surplus must be to be more than what steps differ by; infinite where there are few. */
static double noise_of(tl_link_finding *f, size_t unit, const double *of, const double *least)
{
    size_t n = 0, nsteps = f->in->nsteps;
    for (size_t s = 0; s < nsteps; s++)
        if (least[unit * nsteps + s] > 0)
            f->scratch[n++] = llround(fmax(-MOST_NS, fmin(of[unit * nsteps + s], MOST_NS)));
    if (n < STEADY_STEPS)
        return INFINITY;
    double noise = TIMES_NOISE * scatter(f->scratch, n, f->scratch + n);
    return fmin(noise, (double)apart_from(f->scratch, n));
}

/* What counts of a group's surplus, step by step. */
static void keep_what_counts(tl_link_finding *f, size_t unit, const counting *sum)
{
    double noise[NWITH];
    for (int with = 0; with < NWITH; with++)
        noise[with] = noise_of(f, unit, sum->of[with], sum->least_of[with]);
    for (size_t s = 0; s < f->in->nsteps; s++) {
        size_t place = unit * f->in->nsteps + s;
        if (f->charge[place] >= sum->least[place])
            continue;
        f->charge[place] = sum->alone[place];
        for (int with = 0; with < NWITH; with++) {
            double least = fmax(noise[with], matters * f->in->step_ns[s]), of = sum->of[with][place];
            if (of >= fmax(sum->least_of[with][place], least) && of > f->charge[place])
                f->charge[place] = of;
        }
    }
}

/* A dummy that never has a surplus keeps a group alone company. */
tl_status tl_link_test(tl_link_finding *f, tl_error *err)
{
    size_t nsteps = f->in->nsteps, cells = f->nunits * nsteps;
    double *sums = tl_calloc((2 + 2 * NWITH) * cells + 1, sizeof *sums);
    if (sums == NULL || !tl_sort_index(f->order, f->n, by_step, f)) {
        free(sums);
        return tl_fail_memory(err, "slow links");
    }
    const counting sum = { .alone = sums,
                           .least = sums + cells,
                           .of = { sums + 2 * cells, sums + 3 * cells },
                           .least_of = { sums + 4 * cells, sums + 5 * cells } };
    memset(f->charge, 0, (cells + nsteps) * sizeof *f->charge);
    for (size_t i = 0, to; i < f->n; i = to) {
        to = tl_link_cell_end(f, i);
        charge_cell(f, i, to, &sum);
    }
    for (size_t u = 0; u < f->nunits; u++)
        keep_what_counts(f, u, &sum);
    free(sums);
    const tl_charges charges = { f->charge, f->in->step_ns, f->nunits > 1 ? f->nunits : 2, nsteps };
    return tl_persistence_of(&charges, f->found, NULL, f->flagged, err);
}
