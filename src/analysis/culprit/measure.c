/* measure.c - the cost of a culprit: its flagged steps, the ranks that wait for it, its part of the critical path. */
#include "internal.h"
#include "tlmpi/base/quantile.h"
#include "tlmpi/base/sort.h"
#include "tlmpi/base/stats.h"
#include "tlmpi/model/health_table.h"
#include "tlmpi/model/parameters.h"
#include "tlmpi/model/participant.h"
#include <math.h>
#include <stdlib.h>

/* ----------------------------------------------------------------------------------------------------------- steps */

void tl_step_costs_begin(tl_judgement *j)
{
    const tl_blame_step *rows = tl_table_row(j->blame_steps, 0);
    size_t n = j->blame_steps->n;

    j->steps = tl_arena_zeroed(&j->arena, n + 1, sizeof *j->steps);
    j->flagged = tl_arena_zeroed(&j->arena, n + 1, sizeof *j->flagged);
    j->lengths = tl_arena_take(&j->arena, n + 1, sizeof *j->lengths);
    j->waits = tl_arena_take(&j->arena, j->ranks->n, sizeof *j->waits);
    j->waiters = tl_arena_take(&j->arena, j->ranks->n, sizeof *j->waiters);
    for (size_t i = 0; i < n && rows[i].rank == rows[0].rank && rows[i].step >= 0; i++)
        j->steps[j->nsteps++] = (tl_step_cost){ .step = rows[i].step, .length_ns = rows[i].step_ns };
    for (size_t s = 0; s < j->nsteps; s++)
        if (j->steps[s].length_ns <= 0)
            j->steps[s].length_ns = j->facts.wall_ns / (int64_t)j->nsteps;
    j->steps[j->nsteps] = (tl_step_cost){ .step = -1, .length_ns = j->facts.wall_ns };
}

/* Returns the cost entry of a step; the last entry for steps that the job does not have. */
static tl_step_cost *step_of(tl_judgement *j, int32_t step)
{
    size_t low = 0;
    TL_BISECT(low, j->nsteps, mid, j->steps[mid].step < step);
    return low < j->nsteps && j->steps[low].step == step ? &j->steps[low] : &j->steps[j->nsteps];
}

/* Whether the step is in the rank's pattern: any rank may exceed its peers a little in other steps as well. */
static bool is_of_pattern(const tl_judgement *j, const tl_blame_step *step)
{
    size_t at = tl_table_from_rank(j->stragglers, step->rank);
    const tl_straggler *row = at < j->stragglers->n ? tl_table_row(j->stragglers, at) : NULL;
    return row == NULL || row->rank != step->rank || row->pattern == TL_PATTERN_NONE ||
           (step->step >= row->first_step && step->step <= row->last_step);
}

/* Adds a member to the cost entries of steps.  cost_ns of a flagged step is the largest excess of a member, at most the
 * step's length.  Returns the member's gain, ns, in its flagged steps. */
static int64_t add_step_costs(tl_judgement *j, int32_t rank)
{
    int64_t gain_ns = 0;
    const tl_blame_step *row;
    for (size_t i = tl_table_from_rank(j->blame_steps, rank);
         i < j->blame_steps->n && (row = tl_table_row(j->blame_steps, i))->rank == rank; i++) {
        tl_step_cost *step = step_of(j, row->step);
        step->late_ns = tl_ns_max(step->late_ns, row->excess_ns);
        step->blame_ns = tl_ns_add(step->blame_ns, row->blame_ns);
        bool of_pattern = row->flagged && is_of_pattern(j, row);
        step->beside |= row->flagged && !of_pattern;
        if (!of_pattern)
            continue;
        int64_t cost_ns = tl_ns_max(0, tl_ns_min(row->excess_ns, step->length_ns));
        step->cost_ns = !step->flagged || cost_ns > step->cost_ns ? cost_ns : step->cost_ns;
        step->flagged = true;
        gain_ns = tl_ns_add(gain_ns, row->gain_ns);
    }
    return gain_ns;
}

TL_SORT_BY(by_cost, tl_step_cost, cost_ns, step)

/* Returns the number of other ranks, of those with device work. */
static int64_t count_others(const tl_judgement *j, const tl_suspect *c)
{
    return (int64_t)(j->facts.trust.nranks > c->nmembers ? j->facts.trust.nranks - c->nmembers : 0);
}

/* Sums the lateness over steps, ns, in each step at most the mean wait of other ranks or, if larger, the excess over
 * the usual step length: the median of steps that are not flagged. */
static int64_t late_in_steps(tl_judgement *j, const tl_suspect *c)
{
    size_t n = 0;
    for (size_t s = 0; s < j->nsteps; s++)
        if (!j->steps[s].flagged)
            j->lengths[n++] = j->steps[s].length_ns;
    int64_t usual_ns = n > 0 ? tl_median(j->lengths, n) : INT64_MAX, others = tl_ns_max(1, count_others(j, c)),
            sum_ns = 0;
    for (size_t s = 0; s <= j->nsteps; s++) {
        const tl_step_cost *step = &j->steps[s];
        int64_t longer_ns = s < j->nsteps ? tl_ns_between(step->length_ns, usual_ns) : 0;
        sum_ns = tl_ns_add(sum_ns, tl_ns_min(step->late_ns, tl_ns_max(step->blame_ns / others, longer_ns)));
    }
    return sum_ns;
}

static void measure_steps(tl_judgement *j, tl_suspect *c)
{
    int64_t sum_ns = 0, in_steps_ns = 0, n = 0;
    tl_culprit *row = &c->row;

    for (size_t s = 0; s <= j->nsteps; s++)
        j->steps[s] = (tl_step_cost){ .step = j->steps[s].step, .length_ns = j->steps[s].length_ns };
    for (size_t i = 0; i < c->nmembers; i++)
        in_steps_ns = add_step_costs(j, c->members[i]);
    for (size_t s = 0; s <= j->nsteps; s++) {
        row->steps_not_counted += j->steps[s].beside && !j->steps[s].flagged;
        if (!j->steps[s].flagged)
            continue;
        j->flagged[n++] = j->steps[s];
        sum_ns = tl_ns_add(sum_ns, j->steps[s].length_ns);
        row->excess_ns = tl_ns_add(row->excess_ns, j->steps[s].cost_ns);
    }
    row->steps_flagged = n;
    c->late_ns = late_in_steps(j, c);
    if (n == 0)
        return;
    qsort(j->flagged, (size_t)n, sizeof *j->flagged, by_cost);
    const tl_step_cost *middle = &j->flagged[tl_lower_middle((size_t)n)];
    row->step_cost_ns = middle->cost_ns;
    row->step_ns = middle->length_ns;
    if (row->gain_ns >= 0) { /* of a single rank, a part of the gain may lie in other steps */
        bool alone = c->nmembers == 1 && j->nsteps > 0;
        c->in_steps_ns = alone ? in_steps_ns : 0;
        bool elsewhere = alone && in_steps_ns > 0 && in_steps_ns < row->gain_ns;
        row->step_cost_ns = (elsewhere ? in_steps_ns : row->gain_ns) / n;
        row->step_ns = sum_ns / n;
    }
    if (row->step_ns > 0)
        row->step_cost_ns = tl_ns_min(row->step_cost_ns, row->step_ns);
}

/* --------------------------------------------------------------------------------------------------------- waiting */

/* Adds the waits for one member, except those of other members.  Returns the largest number of waiters of a row that
 * does not name them. */
static int64_t add_waits(tl_judgement *j, tl_suspect *c, int32_t to_rank)
{
    int64_t unnamed = 0;
    const tl_blame *row;

    for (size_t i = tl_table_from_rank(j->blame, to_rank);
         i < j->blame->n && (row = tl_table_row(j->blame, i))->to_rank == to_rank; i++) {
        if (tl_index_of(c->members, c->nmembers, row->from_rank) < c->nmembers ||
            tl_step_is_left_out(j->health, row->step))
            continue;
        int64_t ns = tl_ns_add(row->direct_ns, row->indirect_ns);
        const tl_rank *from = row->from_rank >= 0 ? tl_rank_row(j->tables, row->from_rank) : NULL;
        c->row.blame_ns = tl_ns_add(c->row.blame_ns, ns);
        if (c->row.steps_flagged == 0 || step_of(j, row->step)->flagged)
            c->steps_blame_ns = tl_ns_add(c->steps_blame_ns, ns);
        c->row.indirect_ns = tl_ns_add(c->row.indirect_ns, row->indirect_ns);
        if (from != NULL) {
            int64_t *wait_ns = &j->waits[from - (const tl_rank *)tl_table_row(j->ranks, 0)];
            *wait_ns = tl_ns_add(*wait_ns, ns);
        } else if (ns > 0) {
            unnamed = tl_ns_max(unnamed, row->waiters);
        }
    }
    return unnamed;
}

/* Finds who waited for the culprit.  A rank that waits less than 1 / TL_LITTLE_PART of the mean wait counts as not
 * waiting. */
static void measure_waits(tl_judgement *j, tl_suspect *c)
{
    size_t n = 0;
    int64_t unnamed = 0, sum = 0, others = count_others(j, c);

    for (size_t i = 0; i < j->ranks->n; i++)
        j->waits[i] = 0;
    for (size_t i = 0; i < c->nmembers; i++)
        unnamed = tl_ns_max(unnamed, add_waits(j, c, c->members[i]));
    for (size_t i = 0; i < j->ranks->n; i++)
        sum = tl_ns_add(sum, j->waits[i]);
    for (size_t i = 0; i < j->ranks->n; i++)
        if (j->waits[i] >= sum / (int64_t)j->ranks->n / TL_LITTLE_PART + 1)
            j->waiters[n++] = ((const tl_rank *)tl_table_row(j->ranks, i))->rank;
    tl_ranks_text(j->waiters, n, c->row.waiters, sizeof c->row.waiters);
    /* Large groups only count their waiters, which may include members. */
    c->row.nwaiters = unnamed > (int64_t)n ? tl_ns_min(unnamed, others) : (int64_t)n;
    c->row.waited_ns = others > 0 ? c->row.blame_ns / others : 0;
}

/* ------------------------------------------------------------------------------------------------------------ path */

static int64_t path_ns_of(tl_judgement *j, int32_t rank)
{
    const tl_table *path = tl_tables_get(j->tables, &tl_path_row_schema);
    const tl_path_row *row;
    int64_t ns = 0;
    for (size_t i = tl_table_from_rank(path, rank); i < path->n && (row = tl_table_row(path, i))->rank == rank; i++)
        ns = tl_ns_add(ns, row->activity != TL_PATH_BEFORE ? row->path_ns : 0);
    return ns;
}

void tl_culprit_measure(tl_judgement *j, tl_suspect *c)
{
    int64_t path_ns = 0;

    if (c->rank != NULL)
        measure_steps(j, c);
    for (size_t i = 0; i < c->nmembers; i++) {
        const tl_rank *row = tl_rank_row(j->tables, c->members[i]);
        c->untimed = tl_ns_add(c->untimed, row != NULL ? row->untimed : 0);
        c->events = tl_ns_add(c->events, row != NULL ? row->kept : 0);
        path_ns = tl_ns_add(path_ns, path_ns_of(j, c->members[i]));
    }
    bool known = c->nmembers > 0 && (c->rank == NULL || c->trace != NULL || c->nmembers > 1); /* it has a trace */
    c->row.path_share = j->facts.path_ns > 0 && known ? (double)path_ns / (double)j->facts.path_ns : NAN;
    measure_waits(j, c);
}
