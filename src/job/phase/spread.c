/* spread.c - cells to the owners of their steps, and what comes of them there to the owners of their ranks. */
#include "internal.h"
#include "tlmpi/base/sort.h"
#include "tlmpi/base/stats.h"
#include "tlmpi/job/transport/rows.h"
#include "tlmpi/par/par.h"
#include <stdlib.h>
#include <string.h>

/* A row of phase_step on its way to the owner of its rank. */
typedef struct point {
    uint32_t rank, column, step;        /* rank and step are indices */
    uint8_t comparable, middle, common; /* common: most ranks have the phase in this step */
    int64_t duration_ns, excess_ns;
} point;

/* ----------------------------------------------------------------------------------------------------------- steps */

static tl_status move_cells(tl_phasing *p, tl_error *err)
{
    int32_t *to = tl_malloc((p->cells.n + 1) * sizeof *to);
    void *moved = NULL;
    size_t n = 0;

    for (size_t i = 0; to != NULL && i < p->cells.n; i++)
        to[i] = tl_phase_owner_of(tl_index_of(p->steps, p->nsteps, p->cells.v[i].step), p->nsteps);
    tl_status st = tl_par_agree(to != NULL ? TL_OK : tl_fail_memory(err, "durations of phases"), err);
    if (st == TL_OK)
        st = tl_par_shuffle(p->cells.v, p->cells.n, sizeof *p->cells.v, to, &moved, &n, err);
    free(to);
    free(p->cells.v);
    p->cells = (tl_phase_cells){ .v = moved };
    if (st != TL_OK)
        return st;
    p->cells.n = p->cells.cap = tl_phase_merge(p->cells.v, n, &p->again);
    return TL_OK;
}

tl_status tl_phases_meet(tl_phasing *p, tl_error *err)
{
    tl_status st = tl_phase_names_share(p, err);
    if (st == TL_OK)
        st = tl_phase_numbers_share(p, err);
    return st == TL_OK && p->nranks > 0 ? move_cells(p, err) : st;
}

/* Rows of one step: the phase that holds collectives and takes longest is the one that holds the waits, where they are
 * measured of all its ranks. */
static void take_waits(const tl_phasing *p, tl_phase_step *rows, size_t n, const tl_phase_wait *waits, size_t nwaits)
{
    size_t best = n, best_end = n;
    int64_t most_ns = -1;
    for (size_t from = 0, to; from < n; from = to) {
        int64_t ns = 0;
        for (to = from; to < n && rows[to].phase == rows[from].phase; to++)
            ns = tl_ns_add(ns, rows[to].duration_ns);
        tl_phase_holds holds = p->holds[rows[from].phase];
        if (holds == TL_HOLDS_NONE || (best < n && holds < p->holds[rows[best].phase]))
            continue;
        if (best == n || holds > p->holds[rows[best].phase] || ns > most_ns) {
            best = from;
            best_end = to;
            most_ns = ns;
        }
    }
    for (size_t i = best; i < best_end; i++)
        if (tl_phase_wait_of(waits, nwaits, rows[i].step, rows[i].rank) < 0)
            return;
    for (size_t i = best; i < best_end; i++) {
        int64_t wait_ns = tl_phase_wait_of(waits, nwaits, rows[i].step, rows[i].rank);
        rows[i].wait_ns = tl_ns_min(wait_ns, rows[i].duration_ns);
    }
}

/* Rows of one step: baselines, and how long the step is. */
static int64_t compare_step(const tl_phasing *p, tl_phase_step *rows, size_t n, int64_t *scratch)
{
    int64_t step_ns = 0;
    for (size_t from = 0, to; from < n; from = to) {
        for (to = from; to < n && rows[to].phase == rows[from].phase; to++)
            ;
        tl_phase_compare(rows + from, to - from, p->alone[rows[from].phase] >= 0, scratch);
        int64_t middle_ns = rows[from].baseline_ns;
        if (to - from == 2)
            middle_ns = tl_mean_of_two(middle_ns, rows[from + 1].baseline_ns);
        step_ns = tl_ns_add(step_ns, middle_ns);
    }
    return step_ns;
}

/* The rows of this proc's steps, whose phases have their numbers, and step_ns[] of its steps. */
static bool make_rows(tl_phasing *p, const tl_phase_wait *waits, size_t nwaits, int64_t *step_ns)
{
    tl_table *table = tl_tables_get(p->tables, &tl_phase_step_schema);
    int64_t *scratch = tl_malloc((p->nranks + 1) * sizeof *scratch);
    bool ok = scratch != NULL && tl_table_reserve(table, p->cells.n);

    for (size_t i = 0; ok && i < p->cells.n; i++) {
        const tl_phase_cell *c = &p->cells.v[i];
        tl_phase_step *row = tl_table_add(table);
        *row = (tl_phase_step){ .step = c->step,
                                .phase = c->phase,
                                .rank = c->rank,
                                .duration_ns = c->duration_ns,
                                .records = (int32_t)c->records,
                                .wait_ns = -1 };
    }
    tl_phase_step *rows = ok ? tl_table_row(table, 0) : NULL;
    for (size_t from = 0, to; ok && from < table->n; from = to) {
        for (to = from; to < table->n && rows[to].step == rows[from].step; to++)
            ;
        if (nwaits > 0)
            take_waits(p, rows + from, to - from, waits, nwaits);
        step_ns[tl_index_of(p->steps, p->nsteps, rows[from].step)] = compare_step(p, rows + from, to - from, scratch);
    }
    free(p->cells.v);
    p->cells = (tl_phase_cells){ 0 };
    free(scratch);
    return ok;
}

/* Collective.  Rows of phase_step, and what all have to know of them. */
static tl_status compare_ranks(tl_phasing *p, tl_error *err)
{
    tl_phase_wait *waits = NULL;
    size_t nwaits = 0;
    p->step_ns = tl_calloc(p->nsteps + 1, sizeof *p->step_ns);

    tl_status st = tl_par_agree(p->step_ns != NULL ? TL_OK : tl_fail_memory(err, "durations of phases"), err);
    if (st == TL_OK)
        st = tl_phase_waits_share(p, &waits, &nwaits, err);
    if (st == TL_OK && p->step_ns != NULL) {
        bool ok = make_rows(p, waits, nwaits, p->step_ns);
        st = tl_par_agree(ok ? TL_OK : tl_fail_memory(err, "durations of phases"), err);
    }
    if (st == TL_OK)
        st = tl_reduce_sum(p->step_ns, p->nsteps, err);
    if (st == TL_OK)
        st = tl_phase_before_share(p, err);
    free(waits);
    return st;
}

/* ----------------------------------------------------------------------------------------------------------- ranks */

static int by_column(const void *a, const void *b)
{
    const point *x = a, *y = b;
    if (x->rank != y->rank)
        return TL_COMPARE(x->rank, y->rank);
    return x->column != y->column ? TL_COMPARE(x->column, y->column) : TL_COMPARE(x->step, y->step);
}

typedef struct pointing {
    tl_phasing *p;
    TL_VEC(point) points;
    bool failed;
} pointing;

/* The row next to the baseline, of which each is one of more than two. */
static size_t nearest(const tl_phase_group *g)
{
    size_t best = g->n;
    for (size_t i = 0; g->n > 2 && i < g->n; i++)
        if (best == g->n || llabs(g->rows[i].excess_ns) < llabs(g->rows[best].excess_ns))
            best = i;
    return best;
}

static void see_points(const tl_phase_group *g, void *arg)
{
    pointing *to = arg;
    tl_phasing *p = to->p;
    size_t middle = nearest(g);
    bool common = 2 * g->n > p->nranks && g->column != tl_phase_outside(p);
    if (common)
        p->common_steps[g->column % p->nphases]++;
    for (size_t i = 0; i < g->n && !to->failed; i++) {
        to->failed = !tl_vec_room(&to->points);
        if (to->failed)
            break;
        to->points.v[to->points.n++] = (point){ .rank = (uint32_t)tl_index_of(p->ranks, p->nranks, g->rows[i].rank),
                                                .column = g->column,
                                                .step = (uint32_t)g->step,
                                                .comparable = g->n > 1 || tl_phase_is_alone(p, g->column),
                                                .middle = i == middle,
                                                .common = common,
                                                .duration_ns = g->rows[i].duration_ns,
                                                .excess_ns = g->rows[i].excess_ns };
    }
}

/* Collective.  *out[*n]: all points of the ranks that this proc owns, by rank, column and step. */
static tl_status move_points(tl_phasing *p, point **out, size_t *n, tl_error *err)
{
    pointing mine = { .p = p };
    p->common_steps = tl_calloc(p->nphases + 1, sizeof *p->common_steps);
    bool ok = p->common_steps != NULL && tl_phase_walk(p, see_points, &mine) && !mine.failed;
    int32_t *to = ok ? tl_malloc((mine.points.n + 1) * sizeof *to) : NULL;

    for (size_t i = 0; to != NULL && i < mine.points.n; i++)
        to[i] = tl_phase_owner_of(mine.points.v[i].rank, p->nranks);
    tl_status st = tl_par_agree(to != NULL ? TL_OK : tl_fail_memory(err, "durations of phases"), err);
    if (st == TL_OK)
        st = tl_par_shuffle(mine.points.v, mine.points.n, sizeof *mine.points.v, to, (void **)out, n, err);
    free(mine.points.v);
    free(to);
    if (st == TL_OK)
        st = tl_reduce_sum(p->common_steps, p->nphases, err);
    if (st == TL_OK && *n > 1)
        qsort(*out, *n, sizeof **out, by_column);
    return st;
}

/* The series of points[0, n), of one rank and column.  What a rank has alone it takes no time for in its other steps. */
static void add_series(tl_phasing *p, const point *points, size_t n, const bool *has_step)
{
    const bool alone = tl_phase_is_alone(p, points->column);
    tl_phase_series *s = &p->series[p->nseries++];
    *s = (tl_phase_series){ .rank = p->ranks[points->rank],
                            .phase = points->column,
                            .steps = p->series_steps + p->nseries_steps,
                            .x = p->series_x + p->nseries_steps,
                            .middle = p->series_middle + p->nseries_steps };
    for (uint32_t step = 0, i = 0; alone && step < p->nsteps; step++) {
        if (!has_step[step])
            continue;
        bool at_it = i < n && points[i].step == step;
        s->steps[s->n] = step;
        s->x[s->n++] = at_it ? (double)points[i].excess_ns : 0;
        i += at_it;
    }
    for (size_t i = 0; i < n && !alone; i++) {
        if (!points[i].comparable)
            continue;
        s->steps[s->n] = points[i].step;
        s->middle[s->n] = points[i].middle != 0;
        s->x[s->n++] = (double)points[i].excess_ns;
    }
    p->nseries_steps += s->n;
}

/* A rank's points of one column. */
typedef struct run {
    const point *points;
    size_t n;
} run;

/* The row of table phase for a phase of a rank: for what is less measured waits, and the rest. */
static bool add_row(const tl_phasing *p, const run *runs, uint32_t phase, tl_table *rows, int64_t *scratch)
{
    const run *of[] = { &runs[phase], &runs[p->nphases + phase] };
    size_t n = 0;

    if (of[0]->n + of[1]->n == 0)
        return true;
    tl_phase *row = tl_table_add(rows);
    if (row == NULL)
        return false;
    *row = (tl_phase){ .collectives = (uint8_t)p->holds[phase], .missing = p->common_steps[phase] };
    memcpy(row->phase, p->titles[phase].text, sizeof row->phase);
    for (size_t k = 0; k < 2; k++)
        for (size_t i = 0; i < of[k]->n; i++) {
            row->rank = p->ranks[of[k]->points[i].rank];
            row->excess_ns = tl_ns_sum(row->excess_ns, of[k]->points[i].excess_ns);
            row->missing -= of[k]->points[i].common;
            scratch[n++] = of[k]->points[i].duration_ns;
        }
    tl_spread spread = tl_spread_of(scratch, n);
    row->steps = (int64_t)n;
    row->total_ns = spread.total;
    row->mean_ns = spread.mean;
    row->min_ns = spread.min;
    row->p25_ns = spread.p25;
    row->median_ns = spread.median;
    row->p75_ns = spread.p75;
    row->max_ns = spread.max;
    return true;
}

/* The series and rows of one rank, of points[0, n).  runs: room for all columns; has_step: for all steps. */
static bool add_rank(tl_phasing *p, const point *points, size_t n, tl_table *rows, int64_t *scratch, run *runs,
                     bool *has_step)
{
    bool ok = true;
    memset(runs, 0, tl_phase_ncolumns(p) * sizeof *runs);
    memset(has_step, 0, p->nsteps * sizeof *has_step);
    for (size_t i = 0; i < n; i++)
        has_step[points[i].step] = true;
    for (size_t from = 0, to; from < n; from = to) {
        for (to = from; to < n && points[to].column == points[from].column; to++)
            ;
        runs[points[from].column] = (run){ points + from, to - from };
        add_series(p, points + from, to - from, has_step);
    }
    for (uint32_t phase = 0; ok && phase < p->nphases; phase++)
        ok = add_row(p, runs, phase, rows, scratch);
    return ok;
}

static bool make_series(tl_phasing *p, const point *points, size_t n, tl_table *rows)
{
    size_t nseries = 0, room = n;
    tl_arena arena = { 0 };
    for (size_t i = 0; i < n; i++) {
        if (i > 0 && points[i].rank == points[i - 1].rank && points[i].column == points[i - 1].column)
            continue;
        nseries++;
        room += tl_phase_is_alone(p, points[i].column) ? p->nsteps : 0;
    }
    p->series = tl_calloc(nseries + 1, sizeof *p->series);
    p->series_steps = tl_calloc(room + 1, sizeof *p->series_steps);
    p->series_x = tl_calloc(room + 1, sizeof *p->series_x);
    p->series_middle = tl_calloc(room + 1, sizeof *p->series_middle);
    int64_t *scratch = tl_arena_take(&arena, p->nsteps, sizeof *scratch);
    run *runs = tl_arena_take(&arena, tl_phase_ncolumns(p), sizeof *runs);
    bool *has_step = tl_arena_take(&arena, p->nsteps, sizeof *has_step);
    bool ok = p->series != NULL && p->series_steps != NULL && p->series_x != NULL && p->series_middle != NULL &&
              !arena.failed;

    for (size_t from = 0, to; ok && from < n; from = to) {
        for (to = from; to < n && points[to].rank == points[from].rank; to++)
            ;
        ok = add_rank(p, points + from, to - from, rows, scratch, runs, has_step);
    }
    tl_arena_free(&arena);
    return ok;
}

/* Collective.  The series of this proc's ranks; the rows of table phase, on proc 0. */
static tl_status make_ranks(tl_phasing *p, tl_error *err)
{
    tl_table here = { .schema = &tl_phase_schema };
    point *points = NULL;
    void *all = NULL;
    size_t n = 0, nall = 0;

    tl_status st = move_points(p, &points, &n, err);
    if (st == TL_OK) {
        bool ok = make_series(p, points, n, &here);
        st = tl_par_agree(ok ? TL_OK : tl_fail_memory(err, "durations of phases"), err);
    }
    free(points);
    if (st == TL_OK)
        st = tl_collect_rows(here.rows, here.n, sizeof(tl_phase), &all, &nall, NULL, err);
    tl_table *rows = tl_tables_get(p->tables, &tl_phase_schema);
    if (st == TL_OK && tl_par_proc() == 0 && !(tl_table_append(rows, all, nall) && tl_table_sort(rows)))
        st = tl_fail_memory(err, "durations of phases");
    free(all);
    tl_table_free(&here);
    return tl_par_agree(st, err);
}

/* What the names say; less its waits a phase holds none, and outside there may be anything. */
static bool hold_columns(tl_phasing *p)
{
    p->column_holds = tl_calloc(tl_phase_ncolumns(p), sizeof *p->column_holds);
    for (size_t i = 0; p->column_holds != NULL && i < p->nphases; i++) {
        p->column_holds[i] = p->holds[i];
        p->column_holds[p->nphases + i] = TL_HOLDS_NONE;
    }
    if (p->column_holds != NULL)
        p->column_holds[tl_phase_outside(p)] = TL_HOLDS_UNKNOWN;
    return p->column_holds != NULL;
}

tl_status tl_phases_spread(tl_phasing *p, tl_error *err)
{
    tl_status st = compare_ranks(p, err);
    if (st == TL_OK)
        st = tl_par_agree(hold_columns(p) ? TL_OK : tl_fail_memory(err, "durations of phases"), err);
    return st == TL_OK ? make_ranks(p, err) : st;
}
