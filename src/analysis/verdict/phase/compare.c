/* compare.c - from cells to classes, in which ranks are compared step by step.
 *
 *     step 7     rank 0     [h2d][training_step      ]
 *                rank 3     ......[h2d][training_step ]       25 ms less in training_step: late, and no phase is longer
 */
#include "internal.h"
#include "tlmpi/base/quantile.h"
#include "tlmpi/model/coll_tables.h"
#include "tlmpi/model/tables.h"

/* One step of all ranks: its cells, sorted by phase and rank. */
typedef struct comparing {
    tl_phase_job *j;
    const tl_phase_cell *cells; /* [n] */
    size_t n;
    uint32_t step;                 /* index */
    uint32_t waited;               /* phase whose measured waits are subtracted; TL_NONE */
    double *waits;                 /* [nranks * nsteps] waits measured in traces; NAN: not measured; NULL: no traces */
    double *late_ns;               /* [nranks] how much shorter where collectives may be; -INFINITY: no such phase */
    double *longer_ns, *before_ns; /* [nranks] time beyond medians, over all phases; of the previous step */
    int32_t *phases;               /* [nranks] number of phases that other ranks have, too */
    double *scratch;               /* [nranks] */
} comparing;

static uint32_t rank_of(const comparing *c, const tl_phase_cell *cell)
{
    return (uint32_t)tl_index_of(c->j->ranks, c->j->nranks, cell->rank);
}

/* Returns the end of the phase's cells that begin at `from`. */
static size_t phase_end(const comparing *c, size_t from)
{
    size_t to = from + 1;
    while (to < c->n && c->cells[to].phase == c->cells[from].phase)
        to++;
    return to;
}

/* Returns the class's own times in the step, by rank; a new column is filled with `otherwise`. */
static double *column_of(const comparing *c, tl_phase_class *class, double otherwise)
{
    const size_t n = class->columns.n, nranks = c->j->nranks;
    if (n == 0 || class->columns.v[n - 1].step != c->step) {
        tl_vec_push(&class->columns, (tl_phase_column){ .step = c->step });
        for (size_t r = 0; r < nranks; r++)
            tl_vec_push(&class->own_ns, otherwise);
    }
    return class->own_ns.v + (class->columns.n - 1) * nranks;
}

/* Sets the median of the class's last column; returns the number of its ranks. */
static size_t find_middle(const comparing *c, const tl_phase_class *class)
{
    const size_t at = class->columns.n - 1;
    tl_phase_column *column = &class->columns.v[at];
    size_t n = 0;
    for (uint32_t r = 0; r < c->j->nranks; r++)
        if (!isnan(tl_phase_own(c->j, class, at, r)))
            c->scratch[n++] = tl_phase_own(c->j, class, at, r);
    column->pair = n == 2;
    column->middle_ns = tl_real_median(c->scratch, n);
    if (n > 2)
        column->middle_ns = floor(column->middle_ns);
    return n;
}

static void drop_column(const comparing *c, tl_phase_class *class)
{
    class->columns.n--;
    class->own_ns.n -= c->j->nranks;
}

/* Subtracts the measured waits from one phase: among the phases most likely to hold collectives, the longest; only if
 * the waits of all its ranks are measured. */
static void subtract_waits(comparing *c)
{
    tl_phase_job *j = c->j;
    size_t best = 0, best_end = 0;
    tl_phase_holds most = TL_HOLDS_UNKNOWN;
    double most_ns = -1;
    for (size_t from = 0, to; from < c->n; from = to) {
        tl_phase_holds holds = j->classes[c->cells[from].phase].holds;
        double ns = 0;
        to = phase_end(c, from);
        for (size_t i = from; i < to; i++)
            ns += (double)c->cells[i].duration_ns;
        if (holds > most || (holds == most && ns > most_ns)) {
            best = from;
            best_end = to;
            most = holds;
            most_ns = ns;
        }
    }
    bool measured = best < best_end;
    for (size_t i = best; i < best_end; i++)
        measured = measured && c->waits[rank_of(c, &c->cells[i]) * j->nsteps + c->step] >= 0;
    if (!measured)
        return;
    c->waited = (uint32_t)c->cells[best].phase;
    double *own_ns = column_of(c, &j->classes[c->waited], NAN), *wait_ns = column_of(c, &j->classes[j->waits], NAN);
    for (uint32_t r = 0; r < j->nranks; r++) {
        wait_ns[r] = isnan(own_ns[r]) ? NAN : fmin(c->waits[r * j->nsteps + c->step], own_ns[r]);
        own_ns[r] -= wait_ns[r];
    }
    if (find_middle(c, &j->classes[j->waits]) < 2)
        drop_column(c, &j->classes[j->waits]);
}

/* Compares the ranks in the phase of cells [from, to), and adds their rows. */
static void compare_phase(comparing *c, size_t from, size_t to, tl_table *rows)
{
    tl_phase_job *j = c->j;
    const uint32_t phase = (uint32_t)c->cells[from].phase;
    tl_phase_class *class = &j->classes[phase];
    const size_t n = find_middle(c, class), column = class->columns.n - 1;

    j->step_ns[c->step] += class->columns.v[column].middle_ns;
    for (const tl_phase_cell *cell = c->cells + from; cell < c->cells + to; cell++) {
        const uint32_t r = rank_of(c, cell);
        const double own_ns = tl_phase_own(j, class, column, r), excess_ns = tl_phase_excess(j, class, column, r);
        *(tl_phase_step *)tl_table_add(rows) =
            (tl_phase_step){ .step = cell->step,
                             .phase = class->name,
                             .rank = cell->rank,
                             .duration_ns = cell->duration_ns,
                             .records = (int32_t)cell->records,
                             .wait_ns = phase == c->waited ? cell->duration_ns - tl_phase_ns(own_ns) : -1,
                             .baseline_ns = tl_phase_ns(own_ns - excess_ns),
                             .excess_ns = tl_phase_ns(excess_ns) };
        c->longer_ns[r] += fmax(0, excess_ns);
        c->phases[r] += class->only == TL_NONE;
        if (class->only == TL_NONE && class->holds != TL_HOLDS_NONE && phase != c->waited)
            c->late_ns[r] = fmax(c->late_ns[r], -excess_ns);
    }
    if (n < 2)
        drop_column(c, class);
}

/* Compares when the ranks arrived at the collectives of the step.
 *
 *     step 7     h2d +3   training_step -8     8 late, 3 explained: 5 from outside of phases
 *     step 8     training_step 0   metrics +4  longer by 4: explains lateness in the next step
 *     step 9     training_step -4              4 late, all explained
 *
 * Phases may be parts of each other, or run beside each other.  So a rank's lateness is the largest amount by which one
 * of its phases is shorter; its longer phases of this step and the previous step explain at most their sum of the
 * lateness.  Only ranks with all common phases are compared.  The median is at least 0: early ranks make no other rank
 * late. */
static void compare_outside(const comparing *c)
{
    tl_phase_class *outside = &c->j->classes[c->j->outside];
    double *own_ns = column_of(c, outside, NAN);
    int32_t most = 0;
    for (size_t r = 0; r < c->j->nranks; r++)
        most = c->phases[r] > most ? c->phases[r] : most;
    for (size_t r = 0; r < c->j->nranks; r++)
        if (c->phases[r] == most && isfinite(c->late_ns[r]))
            own_ns[r] = c->late_ns[r] - c->longer_ns[r] - c->before_ns[r];
    const size_t n = find_middle(c, outside);
    tl_phase_column *column = &outside->columns.v[outside->columns.n - 1];
    column->pair = false;
    column->middle_ns = fmax(0, column->middle_ns);
    if (n < 2)
        drop_column(c, outside);
}

static void compare_step(comparing *c, tl_tables *tables)
{
    tl_phase_job *j = c->j;
    const bool follows = c->step > 0 && j->steps[c->step] == j->steps[c->step - 1] + 1;
    for (size_t r = 0; r < j->nranks; r++) {
        c->before_ns[r] = follows ? c->longer_ns[r] : 0;
        c->longer_ns[r] = 0;
        c->late_ns[r] = -INFINITY;
        c->phases[r] = 0;
    }
    for (size_t k = 0; k < j->outside; k++)
        if (j->classes[k].only != TL_NONE)
            column_of(c, &j->classes[k], 0);
    for (size_t i = 0; i < c->n; i++)
        column_of(c, &j->classes[c->cells[i].phase], NAN)[rank_of(c, &c->cells[i])] = (double)c->cells[i].duration_ns;
    c->waited = TL_NONE;
    if (c->waits != NULL)
        subtract_waits(c);
    for (size_t from = 0, to; from < c->n; from = to) {
        to = phase_end(c, from);
        compare_phase(c, from, to, tl_tables_get(tables, &tl_phase_step_schema));
    }
    compare_outside(c);
}

/* Finds phases that only one rank has, such as a checkpoint: work that other ranks do not do.  If most ranks have such
 * phases, as pipeline stages with names of their own, no phase counts as one. */
static void find_only(tl_phase_job *j, const tl_phase_cells *cells)
{
    size_t n = 0;
    bool *several = tl_arena_zeroed(&j->arena, j->nclasses, sizeof *several),
         *has = tl_arena_zeroed(&j->arena, j->nranks, sizeof *has);
    TL_EACH (const tl_phase_cell, cell, *cells) {
        uint32_t *only = &j->classes[cell->phase].only, rank = (uint32_t)tl_index_of(j->ranks, j->nranks, cell->rank);
        several[cell->phase] |= *only != TL_NONE && *only != rank;
        *only = rank;
    }
    for (size_t k = 0; k < j->outside; k++) {
        j->classes[k].only = several[k] ? TL_NONE : j->classes[k].only;
        if (j->classes[k].only == TL_NONE || has[j->classes[k].only])
            continue;
        has[j->classes[k].only] = true;
        n++;
    }
    for (size_t k = 0; k < j->outside && 2 * n > j->nranks; k++)
        j->classes[k].only = TL_NONE;
}

/* Adds waiting to that of a rank in a step, if both have phases. */
static void add_wait(const tl_phase_job *j, double *waits, int32_t rank, int32_t step, double ns)
{
    const size_t r = tl_index_of(j->ranks, j->nranks, rank), s = tl_index_of(j->steps, j->nsteps, step);
    if (r < j->nranks && s < j->nsteps)
        waits[r * j->nsteps + s] = fmax(0, waits[r * j->nsteps + s]) + ns;
}

/* Returns the exposed waiting by rank and step; NAN: the step is not in the rank's trace; NULL: there are no traces. */
static double *list_waits(tl_phase_job *j, tl_tables *tables)
{
    const tl_table *steps = tl_tables_get(tables, &tl_step_schema);
    if (steps->n == 0)
        return NULL;
    double *waits = tl_arena_take(&j->arena, j->nranks * j->nsteps, sizeof *waits);
    for (size_t i = 0; i < j->nranks * j->nsteps; i++)
        waits[i] = NAN;
    TL_ROWS (const tl_step, row, steps)
        add_wait(j, waits, row->rank, row->step, 0);
    TL_ROWS (const tl_exposed, row, tl_tables_get(tables, &tl_exposed_schema))
        add_wait(j, waits, row->rank, row->step, (double)row->waiting_ns);
    return waits;
}

void tl_phases_compare(tl_phase_job *j, const tl_phase_cells *cells, tl_tables *tables)
{
    comparing c = { .j = j,
                    .waits = list_waits(j, tables),
                    .late_ns = tl_arena_take(&j->arena, j->nranks, sizeof *c.late_ns),
                    .longer_ns = tl_arena_take(&j->arena, j->nranks, sizeof *c.longer_ns),
                    .before_ns = tl_arena_take(&j->arena, j->nranks, sizeof *c.before_ns),
                    .phases = tl_arena_take(&j->arena, j->nranks, sizeof *c.phases),
                    .scratch = tl_arena_take(&j->arena, j->nranks, sizeof *c.scratch) };
    find_only(j, cells);
    for (size_t from = 0, to; from < cells->n; from = to, c.step++) {
        for (to = from + 1; to < cells->n && cells->v[to].step == cells->v[from].step; to++)
            ;
        c.cells = cells->v + from;
        c.n = to - from;
        compare_step(&c, tables);
    }
    for (size_t k = 0; k < j->nclasses; k++)
        for (uint32_t r = 0; r < j->nranks; r++) {
            const tl_phase_class *class = &j->classes[k];
            size_t at = 0;
            while (at < class->columns.n && isnan(tl_phase_own(j, class, at, r)))
                at++;
            j->classes[k].members += at < class->columns.n;
        }
}
