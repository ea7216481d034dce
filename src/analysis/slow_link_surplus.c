/* slow_link_surplus.c - by how much were transfers too long, and does it last? */
#include "slow_link_parts.h"
#include "tlmpi/base/mem.h"
#include "tlmpi/base/sort.h"
#include "tlmpi/base/stats.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A surplus counts from this part of what should have been. */
enum { PART_USUAL = 4, PART_LOOSE = 3 };
/* Against its own other steps, where these hardly differ: so many times as much as they do, a twentieth at least, and
 * what matters of the step. */
enum { STEADY_STEPS = 6, TIMES_NOISE = 8, PART_STEADY = 20 };
static const double matters = 0.04, to_deviation = 1.4826;

static int by_step(const void *context, uint32_t a, uint32_t b)
{
    const tl_link_finding *f = context;
    if (f->class_of[a] != f->class_of[b])
        return f->class_of[a] < f->class_of[b] ? -1 : 1;
    if (f->unit[a] != f->unit[b])
        return f->unit[a] < f->unit[b] ? -1 : 1;
    uint32_t x = f->in->collectives[a].step, y = f->in->collectives[b].step;
    return (x > y) - (x < y);
}

static int by_length(const void *a, const void *b)
{
    const int64_t *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

/* The middle surplus of a cell's collectives of the step of order[i]; *next: behind them. */
static int64_t middle_surplus(tl_link_finding *f, size_t i, size_t to, size_t *next)
{
    uint32_t step = f->in->collectives[f->order[i]].step;
    for (*next = i; *next < to && f->in->collectives[f->order[*next]].step == step; (*next)++)
        f->scratch[*next - i] = tl_ns_between(f->took_ns[f->order[*next]], f->should_ns[f->order[*next]]);
    qsort(f->scratch, *next - i, sizeof *f->scratch, by_length);
    return f->scratch[(*next - i - 1) / 2];
}

/* By how much a cell's steps differ from each other, for a collective; INT64_MAX where that is not known.  It is asked
 * of the rest of scratch, as steps are fewer than collectives. */
static int64_t noise_of(tl_link_finding *f, size_t from, size_t to)
{
    int64_t *of_steps = f->scratch + (to - from);
    size_t n = 0;
    for (size_t i = from, next; i < to; i = next)
        of_steps[n++] = middle_surplus(f, i, to, &next);
    if (n < STEADY_STEPS || f->evidence[f->order[from]] != TL_LINK_BY_STEPS)
        return INT64_MAX;
    return llround(to_deviation * (double)tl_mad(of_steps, n, tl_median(of_steps, n)));
}

static int64_t part_of(const tl_link_finding *f, uint32_t collective)
{
    return f->should_ns[collective] / (tl_link_is_loose(&f->in->collectives[collective]) ? PART_LOOSE : PART_USUAL);
}

/* Where its steps are so steady. */
static int64_t steady_part_of(const tl_link_finding *f, uint32_t collective, int64_t noise_ns)
{
    int64_t part_ns = part_of(f, collective);
    double least = fmax((double)f->should_ns[collective] / PART_STEADY, TIMES_NOISE * (double)noise_ns);
    return least < (double)part_ns ? (int64_t)least : part_ns;
}

/* By place: from what on a surplus of all of a group's transfers counts, and what those took too long of which it
 * counts by themselves. */
typedef struct counting {
    double *least, *steady, *alone;
} counting;

/* Where steps hardly differ, what matters of the step counts as well. */
static bool counts(double surplus, double least, double steady, double step_ns)
{
    return surplus >= fmin(least, fmax(steady, matters * step_ns));
}

/* What a cell's collectives of one step took too long: as many times the middle one as there are, so that one that had
 * a hiccup does not stand for all. */
static void charge_cell(tl_link_finding *f, size_t from, size_t to, const counting *sum)
{
    int64_t noise_ns = noise_of(f, from, to);
    for (size_t i = from, next; i < to; i = next) {
        uint32_t c = f->order[i];
        size_t place = tl_link_place(f, c);
        double middle = (double)middle_surplus(f, i, to, &next), part = 0, steady_part = 0;
        size_t n = next - i;
        for (size_t k = i; k < next; k++) {
            f->long_ns[f->order[k]] = steady_part_of(f, f->order[k], noise_ns);
            steady_part += (double)f->long_ns[f->order[k]];
            part += (double)part_of(f, f->order[k]);
        }
        double surplus = (double)n * middle, doubt = 2 * (double)n * (double)f->in->collectives[c].uncertainty_ns;
        double least = part > doubt ? part : doubt + 1, steady = steady_part > doubt ? steady_part : doubt + 1;
        f->charge[place] += surplus;
        sum->least[place] += least;
        sum->steady[place] += steady;
        if (surplus > 0 && counts(surplus, least, steady, f->in->step_ns[f->in->collectives[c].step]))
            sum->alone[place] += surplus;
    }
}

/* A dummy that never has a surplus keeps a group alone company. */
tl_status tl_link_test(tl_link_finding *f, tl_error *err)
{
    size_t nsteps = f->in->nsteps, cells = f->nunits * nsteps;
    double *sums = tl_calloc(3 * cells + 1, sizeof *sums);
    if (sums == NULL || !tl_sort_index(f->order, f->n, by_step, f)) {
        free(sums);
        return tl_fail_memory(err, "slow links");
    }
    const counting sum = { sums, sums + cells, sums + 2 * cells };
    memset(f->charge, 0, (cells + nsteps) * sizeof *f->charge);
    for (size_t i = 0, to; i < f->n; i = to) {
        to = tl_link_cell_end(f, i);
        charge_cell(f, i, to, &sum);
    }
    for (size_t i = 0; i < cells; i++)
        if (!counts(f->charge[i], sum.least[i], sum.steady[i], f->in->step_ns[i % nsteps]))
            f->charge[i] = sum.alone[i];
    free(sums);
    const tl_charges charges = { f->charge, f->in->step_ns, f->nunits > 1 ? f->nunits : 2, nsteps };
    return tl_persistence_of(&charges, f->found, NULL, f->flagged, err);
}
