/* measure.c - what a culprit costs: the steps in which it stands out, who waits for it, its part of the
 * critical path. */
#include "internal.h"
#include "tlmpi/model/health_table.h"
#include "tlmpi/model/parameters.h"

#include "tlmpi/base/quantile.h"
#include "tlmpi/base/sort.h"
#include "tlmpi/base/stats.h"
#include <math.h>
#include <stdlib.h>

static size_t row_of(const tl_table *ranks, int32_t rank)
{
    size_t row = tl_table_from_rank(ranks, rank);
    return row < ranks->n && ((const tl_rank *)tl_table_row(ranks, row))->rank == rank ? row : ranks->n;
}

/* Whether a rank is a member; members are in ascending order. */
static bool is_member(const tl_suspect *c, int32_t rank)
{
    return tl_index_of(c->members, c->nmembers, rank) < c->nmembers;
}

/* ----------------------------------------------------------------------------------------------------------- steps */

/* Lists the job's steps from the first rank's rows; a step of unknown length gets the mean length. */
void tl_measures_begin(tl_measures *m)
{
    const tl_table *table = tl_tables_get(m->of->tables, &tl_blame_step_schema),
                   *ranks = tl_tables_get(m->of->tables, &tl_rank_schema);
    const tl_blame_step *rows = tl_table_row(table, 0);

    m->steps = tl_arena_zeroed(&m->arena, table->n + 1, sizeof *m->steps);
    m->flagged = tl_arena_zeroed(&m->arena, table->n + 1, sizeof *m->flagged);
    m->waits = tl_arena_take(&m->arena, ranks->n, sizeof *m->waits);
    m->waiters = tl_arena_take(&m->arena, ranks->n, sizeof *m->waiters);
    m->lengths = tl_arena_take(&m->arena, table->n + 1, sizeof *m->lengths);
    for (size_t i = 0; i < table->n && rows[i].rank == rows[0].rank && rows[i].step >= 0; i++)
        m->steps[m->nsteps++] = (tl_step_cost){ .step = rows[i].step, .length_ns = rows[i].step_ns };
    for (size_t s = 0; s < m->nsteps; s++)
        if (m->steps[s].length_ns <= 0)
            m->steps[s].length_ns = m->of->facts.wall_ns / (int64_t)m->nsteps;
    m->steps[m->nsteps] = (tl_step_cost){ .step = -1, .length_ns = m->of->facts.wall_ns };
}

void tl_measures_free(tl_measures *m)
{
    tl_arena_free(&m->arena);
}

/* Returns the cost entry of a step; the last entry for steps that the job does not have. */
static tl_step_cost *step_of(tl_measures *m, int32_t step)
{
    size_t low = 0;
    TL_BISECT(low, m->nsteps, mid, m->steps[mid].step < step);
    return low < m->nsteps && m->steps[low].step == step ? &m->steps[low] : &m->steps[m->nsteps];
}

/* Whether the step is one of the rank's pattern: it may stand out a little in others, too, as any rank does. */
static bool is_of_pattern(const tl_measures *m, const tl_blame_step *step)
{
    const tl_table *table = tl_tables_get(m->of->tables, &tl_straggler_schema);
    size_t at = tl_table_from_rank(table, step->rank);
    const tl_straggler *row = at < table->n ? tl_table_row(table, at) : NULL;
    return row == NULL || row->rank != step->rank || row->pattern == TL_PATTERN_NONE ||
           (step->step >= row->first_step && step->step <= row->last_step);
}

/* Adds a member to the cost entries of steps.  cost_ns of a flagged step is the largest excess of a member, at most the
 * step's length. */
static void take_costs(tl_measures *m, int32_t rank)
{
    const tl_table *table = tl_tables_get(m->of->tables, &tl_blame_step_schema);

    for (size_t i = tl_table_from_rank(table, rank); i < table->n; i++) {
        const tl_blame_step *row = tl_table_row(table, i);
        if (row->rank != rank)
            break;
        tl_step_cost *step = step_of(m, row->step);
        step->late_ns = tl_ns_max(step->late_ns, row->excess_ns);
        step->blame_ns = tl_ns_add(step->blame_ns, row->blame_ns);
        if (!row->flagged)
            continue;
        if (!is_of_pattern(m, row)) {
            step->beside = true;
            continue;
        }
        int64_t cost_ns = tl_ns_max(0, tl_ns_min(row->excess_ns, step->length_ns));
        step->cost_ns = !step->flagged || cost_ns > step->cost_ns ? cost_ns : step->cost_ns;
        step->flagged = true;
    }
}

static int by_cost(const void *a, const void *b)
{
    const tl_step_cost *x = a, *y = b;
    if (x->cost_ns != y->cost_ns)
        return x->cost_ns < y->cost_ns ? -1 : 1;
    return TL_COMPARE(x->step, y->step);
}

/* Returns the gain, ns, of a single rank in its flagged steps: a part of gain_ns may lie in other steps.  Several
 * members: all of gain_ns. */
static int64_t gain_in_steps(const tl_measures *m, tl_suspect *c)
{
    const tl_table *steps = tl_tables_get(m->of->tables, &tl_blame_step_schema);
    int64_t sum = 0;

    if (c->nmembers != 1 || m->nsteps == 0)
        return c->gain_ns;
    for (size_t i = tl_table_from_rank(steps, c->members[0]); i < steps->n; i++) {
        const tl_blame_step *row = tl_table_row(steps, i);
        if (row->rank != c->members[0])
            break;
        sum = tl_ns_add(sum, row->flagged && is_of_pattern(m, row) ? row->gain_ns : 0);
    }
    c->in_steps_ns = sum;
    return sum > 0 && sum < c->gain_ns ? sum : c->gain_ns;
}

/* Returns the median length, ns, of steps that are not flagged; INT64_MAX: all are. */
static int64_t usual_length(tl_measures *m)
{
    size_t n = 0;
    for (size_t s = 0; s < m->nsteps; s++)
        if (!m->steps[s].flagged)
            m->lengths[n++] = m->steps[s].length_ns;
    return n > 0 ? tl_median(m->lengths, n) : INT64_MAX;
}

/* Sums the lateness over steps, ns, in each step at most the mean wait of other ranks or, if larger, the excess over
 * the usual step length. */
static int64_t late_in_steps(tl_measures *m, const tl_suspect *c)
{
    const size_t nranks = m->of->facts.trust.nranks;
    const int64_t others = nranks > c->nmembers ? (int64_t)(nranks - c->nmembers) : 1, usual_ns = usual_length(m);
    int64_t sum_ns = 0;
    for (size_t s = 0; s <= m->nsteps; s++) {
        const tl_step_cost *step = &m->steps[s];
        int64_t longer_ns = s < m->nsteps ? tl_ns_between(step->length_ns, usual_ns) : 0;
        sum_ns = tl_ns_add(sum_ns, tl_ns_min(step->late_ns, tl_ns_max(step->blame_ns / others, longer_ns)));
    }
    return sum_ns;
}

static void measure_steps(tl_measures *m, tl_suspect *c)
{
    int64_t sum_ns = 0;

    for (size_t s = 0; s <= m->nsteps; s++)
        m->steps[s] = (tl_step_cost){ .step = m->steps[s].step, .length_ns = m->steps[s].length_ns };
    for (size_t i = 0; i < c->nmembers; i++)
        take_costs(m, c->members[i]);
    for (size_t s = 0; s <= m->nsteps; s++) {
        c->nbeside += m->steps[s].beside && !m->steps[s].flagged;
        if (!m->steps[s].flagged)
            continue;
        m->flagged[c->nflagged++] = m->steps[s];
        sum_ns = tl_ns_add(sum_ns, m->steps[s].length_ns);
        c->excess_ns = tl_ns_add(c->excess_ns, m->steps[s].cost_ns);
    }
    c->late_ns = late_in_steps(m, c);
    if (c->nflagged == 0)
        return;
    qsort(m->flagged, c->nflagged, sizeof *m->flagged, by_cost);
    const tl_step_cost *middle = &m->flagged[tl_lower_middle(c->nflagged)];
    c->step_cost_ns = c->gain_ns >= 0 ? gain_in_steps(m, c) / (int64_t)c->nflagged : middle->cost_ns;
    c->step_ns = c->gain_ns >= 0 ? sum_ns / (int64_t)c->nflagged : middle->length_ns;
    if (c->step_ns > 0 && c->step_cost_ns > c->step_ns)
        c->step_cost_ns = c->step_ns;
}

/* --------------------------------------------------------------------------------------------------------- waiting */

/* Adds the waits for one member, except waits of other members.  Returns the largest number of waiters in a row that
 * does not name them. */
static int32_t add_waits(tl_measures *m, tl_suspect *c, int32_t to_rank)
{
    const tl_table *blame = tl_tables_get(m->of->tables, &tl_blame_schema),
                   *ranks = tl_tables_get(m->of->tables, &tl_rank_schema),
                   *health = tl_tables_get(m->of->tables, &tl_health_schema);
    int32_t unnamed = 0;

    for (size_t i = tl_table_from_rank(blame, to_rank); i < blame->n; i++) {
        const tl_blame *row = tl_table_row(blame, i);
        if (row->to_rank != to_rank)
            break;
        if ((row->from_rank >= 0 && is_member(c, row->from_rank)) || tl_step_is_left_out(health, row->step))
            continue;
        int64_t ns = tl_ns_add(row->direct_ns, row->indirect_ns);
        size_t at = row->from_rank >= 0 ? row_of(ranks, row->from_rank) : ranks->n;
        c->blame_ns = tl_ns_add(c->blame_ns, ns);
        if (c->nflagged == 0 || step_of(m, row->step)->flagged)
            c->steps_blame_ns = tl_ns_add(c->steps_blame_ns, ns);
        c->indirect_ns = tl_ns_add(c->indirect_ns, row->indirect_ns);
        if (at < ranks->n)
            m->waits[at] = tl_ns_add(m->waits[at], ns);
        else if (ns > 0 && row->waiters > unnamed)
            unnamed = row->waiters;
    }
    return unnamed;
}

/* Returns the least wait by which a rank counts as one that waits. */
static int64_t count_waiters(tl_measures *m, tl_suspect *c)
{
    size_t nranks = tl_tables_get(m->of->tables, &tl_rank_schema)->n;
    int32_t unnamed = 0;
    int64_t sum = 0;

    for (size_t i = 0; i < nranks; i++)
        m->waits[i] = 0;
    for (size_t i = 0; i < c->nmembers; i++) {
        int32_t more = add_waits(m, c, c->members[i]);
        unnamed = more > unnamed ? more : unnamed;
    }
    for (size_t i = 0; i < nranks; i++)
        sum = tl_ns_add(sum, m->waits[i]);
    /* A rank that waits less than 1 / TL_LITTLE_PART of the mean wait counts as not waiting. */
    int64_t least = nranks > 0 ? sum / (int64_t)nranks / TL_LITTLE_PART + 1 : 1;
    for (size_t i = 0; i < nranks; i++)
        c->nwaiters += m->waits[i] >= least;
    /* Large groups only count their waiters, and members may be among these. */
    size_t others = m->of->facts.trust.nranks > c->nmembers ? m->of->facts.trust.nranks - c->nmembers : 0;
    if (unnamed > 0 && (size_t)unnamed > c->nwaiters)
        c->nwaiters = (size_t)unnamed < others ? (size_t)unnamed : others;
    return least;
}

/* ------------------------------------------------------------------------------------------------------------ path */

static int64_t path_of(tl_measures *m, int32_t rank)
{
    const tl_table *path = tl_tables_get(m->of->tables, &tl_path_row_schema);
    int64_t ns = 0;

    for (size_t i = tl_table_from_rank(path, rank); i < path->n; i++) {
        const tl_path_row *row = tl_table_row(path, i);
        if (row->rank != rank)
            break;
        ns = tl_ns_add(ns, row->activity != TL_PATH_BEFORE ? row->path_ns : 0);
    }
    return ns;
}

void tl_culprit_measure(tl_measures *m, tl_suspect *c)
{
    int64_t path_ns = 0;

    if (c->rank != NULL)
        measure_steps(m, c);
    for (size_t i = 0; i < c->nmembers; i++) {
        const tl_rank *row = tl_rank_row(m->of->tables, c->members[i]);
        c->untimed = tl_ns_add(c->untimed, row != NULL ? row->untimed : 0);
        c->events = tl_ns_add(c->events, row != NULL ? row->kept : 0);
    }
    for (size_t i = 0; i < c->nmembers; i++)
        path_ns = tl_ns_add(path_ns, path_of(m, c->members[i]));
    bool known = c->nmembers > 0 && (c->rank == NULL || c->of != NULL || c->nmembers > 1); /* it has a trace */
    c->path_share = m->of->facts.path_ns > 0 && known ? (double)path_ns / (double)m->of->facts.path_ns : NAN;
    count_waiters(m, c);
}

size_t tl_culprit_waiters(tl_measures *m, const tl_suspect *c)
{
    const tl_table *ranks = tl_tables_get(m->of->tables, &tl_rank_schema);
    tl_suspect again = { .rank = c->rank, .link = c->link, .members = c->members, .nmembers = c->nmembers };
    size_t n = 0;

    int64_t least = count_waiters(m, &again);
    for (size_t i = 0; i < ranks->n; i++)
        if (m->waits[i] >= least)
            m->waiters[n++] = ((const tl_rank *)tl_table_row(ranks, i))->rank;
    return n;
}

int64_t tl_waited_for(const tl_judgement *j, const tl_suspect *c)
{
    size_t nranks = j->facts.trust.nranks;
    return nranks > c->nmembers ? c->blame_ns / (int64_t)(nranks - c->nmembers) : 0;
}
