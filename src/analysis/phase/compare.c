/* compare.c - cells to rows of phase_step, each compared with the other ranks; and lateness from outside of phases.
 *
 *     step 7     rank 0     [h2d][training_step      ]
 *                rank 3     ......[h2d][training_step ]       25 ms less in training_step: late, and no phase is longer
 */
#include "internal.h"
#include "tlmpi/model/coll_tables.h"
#include "tlmpi/model/tables.h"
#include <stdlib.h>
#include <string.h>

/* ----------------------------------------------------------------------------------------------------------- waits */

/* Waiting that Kineto traces have measured, in ns, by rank and marked step. */
typedef struct waits {
    tl_map at;
    TL_VEC(int64_t) ns;
} waits;

static uint64_t key_of(int32_t rank, int32_t step)
{
    return (uint64_t)(uint32_t)rank << 32 | (uint32_t)step;
}

static void list_waits(tl_tables *tables, waits *out)
{
    const tl_table *steps = tl_tables_get(tables, &tl_step_schema),
                   *exposed = tl_tables_get(tables, &tl_exposed_schema);
    for (size_t i = 0; i < steps->n; i++) {
        const tl_step *row = tl_table_row(steps, i);
        (void)tl_map_put(&out->at, key_of(row->rank, row->step), (uint32_t)out->ns.n);
        tl_vec_push(&out->ns, 0);
    }
    for (size_t i = 0; i < exposed->n; i++) {
        const tl_exposed *row = tl_table_row(exposed, i);
        uint32_t at = tl_map_get(&out->at, key_of(row->rank, row->step));
        if (at < out->ns.n)
            out->ns.v[at] = tl_ns_sum(out->ns.v[at], row->waiting_ns);
    }
}

/* Returns the wait of the row's rank and step in ns; -1: not measured. */
static int64_t wait_of(const waits *w, const tl_phase_step *row)
{
    uint32_t at = tl_map_get(&w->at, key_of(row->rank, row->step));
    return at != TL_MAP_NONE ? w->ns.v[at] : -1;
}

static size_t end_of_step(const tl_phase_step *rows, size_t n, size_t from)
{
    size_t to = from;
    while (to < n && rows[to].step == rows[from].step)
        to++;
    return to;
}

static size_t end_of_phase(const tl_phase_step *rows, size_t n, size_t from)
{
    size_t to = from;
    while (to < n && rows[to].phase == rows[from].phase)
        to++;
    return to;
}

/* Gives the measured waits of one step to one phase: of the phases most certain to hold collectives, the longest.  Only
 * where the waits of all its ranks are measured. */
static void take_waits(const tl_phase_job *j, tl_phase_step *rows, size_t n, const waits *w)
{
    size_t best = n, best_end = n;
    int64_t most_ns = -1;
    for (size_t from = 0, to; from < n; from = to) {
        int64_t ns = 0;
        to = end_of_phase(rows, n, from);
        for (size_t i = from; i < to; i++)
            ns = tl_ns_add(ns, rows[i].duration_ns);
        tl_phase_holds holds = j->classes[rows[from].phase].holds,
                       most = best < n ? j->classes[rows[best].phase].holds : TL_HOLDS_NONE;
        if (holds > most || (holds == most && holds != TL_HOLDS_NONE && ns > most_ns)) {
            best = from;
            best_end = to;
            most_ns = ns;
        }
    }
    for (size_t i = best; i < best_end; i++)
        if (wait_of(w, &rows[i]) < 0)
            return;
    for (size_t i = best; i < best_end; i++)
        rows[i].wait_ns = tl_ns_min(wait_of(w, &rows[i]), rows[i].duration_ns);
}

/* ---------------------------------------------------------------------------------------------------------- compare */

/* Sets baseline and excess of the rows of one step and class.  Returns the middle of their own time, in ns.
 * scratch[n]. */
static int64_t compare(tl_phase_step *rows, size_t n, bool alone, int64_t *scratch)
{
    for (size_t i = 0; i < n; i++)
        scratch[i] = tl_phase_own_ns(&rows[i]);
    int64_t median = n > 2 ? tl_median(scratch, n) : 0;
    for (size_t i = 0; i < n; i++) {
        rows[i].baseline_ns = n > 2 || alone ? median : tl_phase_own_ns(&rows[n - 1 - i]);
        rows[i].excess_ns = tl_phase_own_ns(&rows[i]) - rows[i].baseline_ns;
    }
    return n == 2 && !alone ? tl_mean_of_two(rows[0].baseline_ns, rows[1].baseline_ns)
           : n > 0          ? rows[0].baseline_ns
                            : 0;
}

/* --------------------------------------------------------------------------------------------------------- outside */

/* How a rank came to the collectives of a step.
 *
 *     step 7     h2d +3   training_step -8     8 late, 3 explained: 5 for something outside of phases
 *     step 8     training_step 0   metrics +4  4 late, but for the next step
 *     step 9     training_step -4              4 late, all explained
 *
 * Phases may be parts of each other, or run beside each other.  So the phase that is shorter by most tells how late the
 * rank came; the longer phases of this step and the one before together explain at most their sum of it. */
typedef struct arrival {
    int64_t late_ns;   /* shorter than the others where there may be collectives; INT64_MIN: there is no such phase */
    int64_t longer_ns; /* longer than the others, all phases together ... */
    int64_t before_ns; /* ... in the step before */
    int32_t phases;    /* phases of the rank that other ranks have, too */
} arrival;

/* Compares time outside of phases, for the ranks with all common phases of the step and one that may hold collectives.
 * A rank with a phase of its own is left out: no other rank tells its lateness. */
static void find_outside(tl_phase_job *j, const tl_phase_step *rows, size_t n, bool follows, arrival *arrivals,
                         const bool *has_alone, int64_t *scratch)
{
    const size_t first = j->outside.n;
    int32_t most = 0;
    for (size_t r = 0; r < j->nranks; r++)
        arrivals[r] = (arrival){ .late_ns = INT64_MIN, .before_ns = follows ? arrivals[r].longer_ns : 0 };
    for (size_t i = 0; i < n; i++) {
        const tl_phase_class *class = &j->classes[rows[i].phase];
        arrival *a = &arrivals[tl_index_of(j->ranks, j->nranks, rows[i].rank)];
        a->longer_ns = tl_ns_sum(a->longer_ns, tl_ns_max(0, rows[i].excess_ns));
        if (class->alone >= 0)
            continue;
        a->phases++;
        most = a->phases > most ? a->phases : most;
        if (class->holds != TL_HOLDS_NONE && rows[i].wait_ns < 0)
            a->late_ns = tl_ns_max(a->late_ns, -rows[i].excess_ns);
    }
    for (size_t r = 0; r < j->nranks; r++) {
        const arrival *a = &arrivals[r];
        if (a->phases == most && a->late_ns != INT64_MIN && !has_alone[r])
            tl_vec_push(&j->outside,
                        (tl_phase_step){ .step = rows->step,
                                         .phase = (uint32_t)j->nclasses - 1,
                                         .rank = j->ranks[r],
                                         .duration_ns = tl_ns_sum(a->late_ns, -tl_ns_sum(a->longer_ns, a->before_ns)),
                                         .wait_ns = -1 });
    }
    (void)compare(j->outside.v + first, j->outside.n - first, false, scratch);
    for (size_t i = first; i < j->outside.n; i++) { /* who is early is no measure of who is late */
        tl_phase_step *row = &j->outside.v[i];
        row->excess_ns = tl_ns_sum(row->excess_ns, tl_ns_min(0, row->baseline_ns));
        row->baseline_ns = tl_ns_max(0, row->baseline_ns);
    }
}

/* ------------------------------------------------------------------------------------------------------------- all */

/* Finds phases that one rank alone has: work that the others are spared, as a checkpoint.  Where most ranks have such
 * phases, as stages of a pipeline with names of their own, no phase counts as one.  has_alone[nranks]. */
static void find_alone(const tl_phase_cells *cells, tl_phase_job *j, bool *has_alone)
{
    size_t nranks = 0;
    for (size_t c = 0; c < j->nclasses; c++)
        j->classes[c].alone = -1;
    bool *several = tl_arena_zeroed(&j->arena, j->nclasses, sizeof *several);
    for (size_t i = 0; i < cells->n; i++) {
        tl_phase_class *class = &j->classes[cells->v[i].phase];
        several[cells->v[i].phase] |= class->alone >= 0 && class->alone != cells->v[i].rank;
        class->alone = cells->v[i].rank;
    }
    for (size_t c = 0; c < j->nclasses; c++) {
        j->classes[c].alone = several[c] ? -1 : j->classes[c].alone;
        if (j->classes[c].alone >= 0)
            has_alone[tl_index_of(j->ranks, j->nranks, j->classes[c].alone)] = true;
    }
    for (size_t r = 0; r < j->nranks; r++)
        nranks += has_alone[r];
    if (2 * nranks <= j->nranks && j->nranks > 1)
        return;
    for (size_t c = 0; c < j->nclasses; c++)
        j->classes[c].alone = -1;
    memset(has_alone, 0, j->nranks * sizeof *has_alone);
}

/* Appends a group for each step and class of rows[n], which are in that order, behind the *ngroups groups of the job.
 */
static void add_groups(tl_phase_job *j, tl_phase_step *rows, size_t n, size_t *ngroups)
{
    for (size_t from = 0, to; from < n; from = to) {
        size_t end = end_of_step(rows, n, from);
        to = end_of_phase(rows, end, from);
        j->groups[(*ngroups)++] = (tl_phase_group){ .rows = rows + from,
                                                    .n = to - from,
                                                    .step = tl_index_of(j->steps, j->nsteps, rows[from].step),
                                                    .class = rows[from].phase };
    }
}

static int by_class(const void *groups, uint32_t a, uint32_t b)
{
    const tl_phase_group *x = (const tl_phase_group *)groups + a, *y = (const tl_phase_group *)groups + b;
    return x->class != y->class ? TL_COMPARE(x->class, y->class) : TL_COMPARE(x->step, y->step);
}

static void make_groups(tl_phase_job *j, tl_table *table)
{
    const size_t room = table->n + j->outside.n;
    tl_phase_group *unsorted = j->groups = tl_arena_take(&j->arena, room, sizeof *j->groups);
    size_t n = 0;
    add_groups(j, tl_table_row(table, 0), table->n, &n);
    add_groups(j, j->outside.v, j->outside.n, &n);
    uint32_t *order = tl_sorted_index(n, by_class, unsorted);
    j->groups = tl_arena_take(&j->arena, n, sizeof *j->groups);
    for (size_t i = 0; i < n; i++) {
        j->groups[i] = unsorted[order[i]];
        tl_phase_class *class = &j->classes[j->groups[i].class];
        class->n++;
        class->common += 2 * j->groups[i].n > j->nranks;
    }
    for (size_t c = 1; c < j->nclasses; c++)
        j->classes[c].first = j->classes[c - 1].first + j->classes[c - 1].n;
    free(order);
}

void tl_phases_compare(const tl_phase_cells *cells, tl_phase_job *j, tl_tables *tables)
{
    tl_table *table = tl_tables_get(tables, &tl_phase_step_schema);
    waits w = { 0 };
    bool *has_alone = tl_arena_zeroed(&j->arena, j->nranks, sizeof *has_alone);
    arrival *arrivals = tl_arena_zeroed(&j->arena, j->nranks, sizeof *arrivals);
    int64_t *scratch = tl_arena_take(&j->arena, j->nranks, sizeof *scratch);

    list_waits(tables, &w);
    find_alone(cells, j, has_alone);
    tl_table_reserve(table, cells->n);
    for (size_t i = 0; i < cells->n; i++) {
        const tl_phase_cell *c = &cells->v[i];
        *(tl_phase_step *)tl_table_add(table) = (tl_phase_step){ .step = c->step,
                                                                 .phase = c->phase,
                                                                 .rank = c->rank,
                                                                 .duration_ns = c->duration_ns,
                                                                 .records = (int32_t)c->records,
                                                                 .wait_ns = -1 };
    }
    tl_phase_step *rows = tl_table_row(table, 0);
    for (size_t from = 0, to, step = 0; from < table->n; from = to, step++) {
        to = end_of_step(rows, table->n, from);
        if (w.ns.n > 0)
            take_waits(j, rows + from, to - from, &w);
        for (size_t i = from, end; i < to; i = end) {
            end = end_of_phase(rows, to, i);
            int64_t ns = compare(rows + i, end - i, j->classes[rows[i].phase].alone >= 0, scratch);
            j->step_ns[step] = tl_ns_add(j->step_ns[step], ns);
        }
        bool follows = step > 0 && j->steps[step] == j->steps[step - 1] + 1;
        find_outside(j, rows + from, to - from, follows, arrivals, has_alone, scratch);
    }
    make_groups(j, table);
    tl_map_free(&w.at);
    free(w.ns.v);
}
