/* compare.c - cells to rows of phase_step, each compared with the other ranks; lateness from outside of phases; and the
 * steps from there to verdicts, one after the other.
 *
 *     step 7     rank 0     [h2d][training_step      ]
 *                rank 3     ......[h2d][training_step ]       25 ms less in training_step: late, and no phase is longer
 */
#include "internal.h"
#include "tlmpi/model/coll_tables.h"
#include "tlmpi/model/tables.h"
#include <string.h>

/* Where the rows from `from` on end that are of its step and, if `phase`, of its phase. */
static size_t group_end(const tl_phase_step *rows, size_t n, size_t from, bool phase)
{
    size_t to = from + 1;
    while (to < n && rows[to].step == rows[from].step && (!phase || rows[to].phase == rows[from].phase))
        to++;
    return to;
}

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
    TL_ROWS (const tl_step, row, tl_tables_get(tables, &tl_step_schema)) {
        tl_map_put(&out->at, key_of(row->rank, row->step), (uint32_t)out->ns.n);
        tl_vec_push(&out->ns, 0);
    }
    TL_ROWS (const tl_exposed, row, tl_tables_get(tables, &tl_exposed_schema)) {
        uint32_t at = tl_map_get(&out->at, key_of(row->rank, row->step));
        if (at < out->ns.n)
            out->ns.v[at] = tl_ns_sum(out->ns.v[at], row->waiting_ns);
    }
}

/* Gives the measured waits of one step to one phase: of the phases most certain to hold collectives, the longest.  Only
 * where the waits of all its ranks are measured; scratch[n]. */
static void take_waits(const tl_phase_job *j, tl_phase_step *rows, size_t n, const waits *w, int64_t *scratch)
{
    size_t best = n, best_end = n;
    tl_phase_holds most = TL_HOLDS_NONE;
    int64_t most_ns = -1;
    for (size_t from = 0, to; from < n; from = to) {
        tl_phase_holds holds = j->classes[rows[from].phase].holds;
        int64_t ns = 0;
        to = group_end(rows, n, from, true);
        for (size_t i = from; i < to; i++)
            ns = tl_ns_add(ns, rows[i].duration_ns);
        if (holds > most || (holds == most && holds != TL_HOLDS_NONE && ns > most_ns)) {
            best = from;
            best_end = to;
            most = holds;
            most_ns = ns;
        }
    }
    for (size_t i = best; i < best_end; i++) {
        uint32_t at = tl_map_get(&w->at, key_of(j->ranks[rows[i].rank], j->steps[rows[i].step]));
        if (at == TL_MAP_NONE || w->ns.v[at] < 0)
            return;
        scratch[i - best] = w->ns.v[at];
    }
    for (size_t i = best; i < best_end; i++)
        rows[i].wait_ns = tl_ns_min(scratch[i - best], rows[i].duration_ns);
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
    return n == 0             ? 0
           : n == 2 && !alone ? tl_mean_of_two(rows[0].baseline_ns, rows[1].baseline_ns)
                              : rows[0].baseline_ns;
}

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
        arrival *a = &arrivals[rows[i].rank];
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
                                         .rank = (int32_t)r,
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
static void find_alone(tl_phase_job *j, const tl_table *table, bool *has_alone)
{
    size_t nranks = 0;
    bool *several = tl_arena_zeroed(&j->arena, j->nclasses, sizeof *several);
    TL_ROWS (const tl_phase_step, row, table) {
        tl_phase_class *class = &j->classes[row->phase];
        several[row->phase] |= class->alone >= 0 && class->alone != row->rank;
        class->alone = row->rank;
    }
    for (size_t c = 0; c < j->nclasses; c++) {
        j->classes[c].alone = several[c] ? -1 : j->classes[c].alone;
        if (j->classes[c].alone >= 0)
            has_alone[j->classes[c].alone] = true;
    }
    for (size_t r = 0; r < j->nranks; r++)
        nranks += has_alone[r];
    if (2 * nranks <= j->nranks && j->nranks > 1)
        return;
    for (size_t c = 0; c < j->nclasses; c++)
        j->classes[c].alone = -1;
    memset(has_alone, 0, j->nranks * sizeof *has_alone);
}

/* The groups of n rows, which are in order of steps and classes, behind the groups that are there. */
static void add_groups(tl_phase_group *groups, size_t *ngroups, tl_phase_step *rows, size_t n)
{
    for (size_t from = 0, to; from < n; from = to) {
        to = group_end(rows, n, from, true);
        groups[(*ngroups)++] = (tl_phase_group){ rows + from, to - from, (size_t)rows[from].step, rows[from].phase };
    }
}

static void make_groups(tl_phase_job *j, tl_table *table)
{
    const size_t room = table->n + j->outside.n;
    tl_phase_group *unsorted = tl_arena_take(&j->arena, room, sizeof *unsorted);
    uint32_t *class_of = tl_arena_take(&j->arena, room, sizeof *class_of),
             *order = tl_arena_take(&j->arena, room, sizeof *order);
    size_t *first = tl_arena_take(&j->arena, j->nclasses + 1, sizeof *first);

    add_groups(unsorted, &j->ngroups, tl_table_row(table, 0), table->n);
    add_groups(unsorted, &j->ngroups, j->outside.v, j->outside.n);
    for (size_t i = 0; i < j->ngroups; i++)
        class_of[i] = unsorted[i].class;
    tl_group_rows(class_of, j->ngroups, j->nclasses, first, order);
    j->groups = tl_arena_take(&j->arena, j->ngroups, sizeof *j->groups);
    for (size_t i = 0; i < j->ngroups; i++) {
        j->groups[i] = unsorted[order[i]];
        j->classes[j->groups[i].class].common += 2 * j->groups[i].n > j->nranks;
    }
    for (size_t c = 0; c < j->nclasses; c++) {
        j->classes[c].first = first[c];
        j->classes[c].n = first[c + 1] - first[c];
    }
}

static void compare_all(const tl_phase_cells *cells, tl_phase_job *j, tl_tables *tables)
{
    tl_table *table = tl_tables_get(tables, &tl_phase_step_schema);
    waits w = { 0 };
    bool *has_alone = tl_arena_zeroed(&j->arena, j->nranks, sizeof *has_alone);
    arrival *arrivals = tl_arena_zeroed(&j->arena, j->nranks, sizeof *arrivals);
    int64_t *scratch = tl_arena_take(&j->arena, j->nranks, sizeof *scratch);

    list_waits(tables, &w);
    tl_table_reserve(table, cells->n);
    TL_EACH (const tl_phase_cell, c, *cells)
        *(tl_phase_step *)tl_table_add(table) =
            (tl_phase_step){ .step = (int32_t)tl_index_of(j->steps, j->nsteps, c->step),
                             .phase = c->phase,
                             .rank = (int32_t)tl_index_of(j->ranks, j->nranks, c->rank),
                             .duration_ns = c->duration_ns,
                             .records = (int32_t)c->records,
                             .wait_ns = -1 };
    find_alone(j, table, has_alone);
    tl_phase_step *rows = tl_table_row(table, 0);
    for (size_t from = 0, to, step = 0; from < table->n; from = to, step++) {
        to = group_end(rows, table->n, from, false);
        if (w.ns.n > 0)
            take_waits(j, rows + from, to - from, &w, scratch);
        for (size_t i = from, end; i < to; i = end) {
            end = group_end(rows, to, i, true);
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

/* The distinct of n numbers, ascending; *nout: how many. */
static int32_t *distinct(tl_arena *arena, const int32_t *first, size_t stride, size_t n, size_t *nout)
{
    int32_t *v = tl_arena_take(arena, n, sizeof *v);
    for (size_t i = 0; i < n; i++)
        v[i] = *(const int32_t *)(const void *)((const char *)first + i * stride);
    tl_int_sort(v, n);
    *nout = 0;
    for (size_t i = 0; i < n; i++)
        if (*nout == 0 || v[i] != v[*nout - 1])
            v[(*nout)++] = v[i];
    return v;
}

void tl_phases_judge(const tl_phase_cells *cells, const tl_names *names, const tl_verdict_options *options,
                     tl_tables *tables)
{
    tl_phase_job j = { .names = names, .options = options, .nclasses = names->n + 1 };
    if (cells->n == 0)
        return;
    j.steps = distinct(&j.arena, &cells->v[0].step, sizeof *cells->v, cells->n, &j.nsteps);
    j.ranks = distinct(&j.arena, &cells->v[0].rank, sizeof *cells->v, cells->n, &j.nranks);
    j.step_ns = tl_arena_zeroed(&j.arena, j.nsteps, sizeof *j.step_ns);
    j.classes = tl_arena_take(&j.arena, j.nclasses, sizeof *j.classes);
    for (uint32_t c = 0; c < j.nclasses; c++) /* outside of phases there may be anything */
        j.classes[c] =
            (tl_phase_class){ .holds = c < names->n ? tl_phase_holds_of(tl_names_text(names, c)) : TL_HOLDS_UNKNOWN,
                              .alone = -1 };
    compare_all(cells, &j, tables);
    tl_phase_candidates_find(&j);
    tl_phase_candidates_explain(&j);
    tl_phase_candidates_measure(&j);
    tl_phase_candidates_cost(&j);
    tl_phase_candidates_measure(&j);
    tl_phase_waiters_find(&j);
    tl_phase_rows(&j, tables);
    free(j.outside.v);
    free(j.candidates.v);
    tl_arena_free(&j.arena);
}
