/* spread.c - cells to the owners of their steps, and what comes of them there to the owners of their ranks. */
#include "share.h"
#include "tlmpi/base/sort.h"
#include "tlmpi/base/stats.h"
#include "tlmpi/job/transport/rows.h"
#include "tlmpi/par/par.h"
#include <stdlib.h>
#include <string.h>

/* A row of phase_step on its way to the owner of its rank. */
typedef struct point {
    uint32_t rank, phase, step; /* rank and step are indices */
    int32_t comparable;
    int64_t duration_ns, excess_ns;
} point;

/* Of n things, those with equal owners lie together and in order of procs. */
static int32_t owner_of(size_t index, size_t n)
{
    return (int32_t)(index * (size_t)tl_par_nprocs() / n);
}

/* ----------------------------------------------------------------------------------------------------------- steps */

static tl_status move_cells(tl_phasing *p, tl_error *err)
{
    int32_t *to = tl_malloc((p->cells.n + 1) * sizeof *to);
    void *moved = NULL;
    size_t n = 0;

    for (size_t i = 0; to != NULL && i < p->cells.n; i++)
        to[i] = owner_of(tl_index_of(p->steps, p->nsteps, p->cells.v[i].step), p->nsteps);
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
static void take_waits(tl_phasing *p, tl_phase_step *rows, size_t n, const tl_phase_wait *waits, size_t nwaits)
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
        p->measured[rows[i].phase] = true;
    }
}

/* Rows of one step: baselines, and how long the step is. */
static int64_t compare_step(tl_phase_step *rows, size_t n, int64_t *scratch)
{
    int64_t step_ns = 0;
    for (size_t from = 0, to; from < n; from = to) {
        for (to = from; to < n && rows[to].phase == rows[from].phase; to++)
            ;
        tl_phase_compare(rows + from, to - from, scratch);
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
        step_ns[tl_index_of(p->steps, p->nsteps, rows[from].step)] = compare_step(rows + from, to - from, scratch);
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
    int64_t *measured = tl_calloc(p->nphases + 1, sizeof *measured);
    p->step_ns = tl_calloc(p->nsteps + 1, sizeof *p->step_ns);
    p->measured = tl_calloc(p->nphases + 1, sizeof *p->measured);

    bool ok = measured != NULL && p->step_ns != NULL && p->measured != NULL;
    tl_status st = tl_par_agree(ok ? TL_OK : tl_fail_memory(err, "durations of phases"), err);
    if (st == TL_OK)
        st = tl_phase_waits_share(p, &waits, &nwaits, err);
    if (st == TL_OK) {
        ok = make_rows(p, waits, nwaits, p->step_ns);
        st = tl_par_agree(ok ? TL_OK : tl_fail_memory(err, "durations of phases"), err);
    }
    if (st == TL_OK)
        st = tl_reduce_sum(p->step_ns, p->nsteps, err);
    for (size_t i = 0; st == TL_OK && measured != NULL && i < p->nphases; i++)
        measured[i] = p->measured[i];
    if (st == TL_OK)
        st = tl_reduce_sum(measured, p->nphases, err);
    for (size_t i = 0; st == TL_OK && measured != NULL && i < p->nphases; i++)
        p->measured[i] = measured[i] > 0;
    free(waits);
    free(measured);
    return st;
}

/* ----------------------------------------------------------------------------------------------------------- ranks */

static int by_rank(const void *a, const void *b)
{
    const point *x = a, *y = b;
    if (x->rank != y->rank)
        return TL_COMPARE(x->rank, y->rank);
    return x->phase != y->phase ? TL_COMPARE(x->phase, y->phase) : TL_COMPARE(x->step, y->step);
}

/* Collective.  *out[*n]: all rows of the ranks that this proc owns. */
static tl_status move_points(tl_phasing *p, point **out, size_t *n, tl_error *err)
{
    const tl_table *table = tl_tables_get(p->tables, &tl_phase_step_schema);
    const tl_phase_step *rows = tl_table_row(table, 0);
    point *points = tl_malloc((table->n + 1) * sizeof *points);
    int32_t *to = tl_malloc((table->n + 1) * sizeof *to);
    bool ok = points != NULL && to != NULL;

    for (size_t from = 0, end; ok && from < table->n; from = end) {
        uint32_t step = (uint32_t)tl_index_of(p->steps, p->nsteps, rows[from].step);
        for (end = from; end < table->n && rows[end].step == rows[from].step && rows[end].phase == rows[from].phase;
             end++)
            ;
        for (size_t i = from; i < end; i++) {
            size_t rank = tl_index_of(p->ranks, p->nranks, rows[i].rank);
            points[i] = (point){ .rank = (uint32_t)rank,
                                 .phase = rows[i].phase,
                                 .step = step,
                                 .comparable = end - from > 1 && (!p->measured[rows[i].phase] || rows[i].wait_ns >= 0),
                                 .duration_ns = rows[i].duration_ns,
                                 .excess_ns = rows[i].excess_ns };
            to[i] = owner_of(rank, p->nranks);
        }
    }
    tl_status st = tl_par_agree(ok ? TL_OK : tl_fail_memory(err, "durations of phases"), err);
    if (st == TL_OK)
        st = tl_par_shuffle(points, table->n, sizeof *points, to, (void **)out, n, err);
    free(points);
    free(to);
    if (st == TL_OK && *n > 1)
        qsort(*out, *n, sizeof **out, by_rank);
    return st;
}

/* The series of points[from, to), and its row of table phase. */
static void add_series(tl_phasing *p, const point *points, size_t n, size_t at, tl_phase *row, int64_t *scratch)
{
    tl_phase_series *s = &p->series[p->nseries++];
    *s = (tl_phase_series){
        .rank = p->ranks[points->rank], .phase = points->phase, .steps = p->series_steps + at, .x = p->series_x + at
    };
    *row = (tl_phase){ .rank = s->rank, .collectives = (uint8_t)p->holds[s->phase], .steps = (int64_t)n };
    memcpy(row->phase, p->titles[s->phase].text, sizeof row->phase);
    for (size_t i = 0; i < n; i++) {
        scratch[i] = points[i].duration_ns;
        row->excess_ns = tl_ns_sum(row->excess_ns, points[i].excess_ns);
        if (!points[i].comparable)
            continue;
        s->steps[s->n] = points[i].step;
        s->x[s->n++] = (double)points[i].excess_ns;
    }
    tl_spread spread = tl_spread_of(scratch, n);
    row->total_ns = spread.total;
    row->mean_ns = spread.mean;
    row->min_ns = spread.min;
    row->p25_ns = spread.p25;
    row->median_ns = spread.median;
    row->p75_ns = spread.p75;
    row->max_ns = spread.max;
}

static bool make_series(tl_phasing *p, const point *points, size_t n, tl_table *rows)
{
    size_t nseries = 0;
    for (size_t i = 0; i < n; i++)
        nseries += i == 0 || points[i].rank != points[i - 1].rank || points[i].phase != points[i - 1].phase;
    p->series = tl_calloc(nseries + 1, sizeof *p->series);
    p->series_steps = tl_calloc(n + 1, sizeof *p->series_steps);
    p->series_x = tl_calloc(n + 1, sizeof *p->series_x);
    int64_t *scratch = tl_calloc(p->nsteps + 1, sizeof *scratch);
    bool ok = p->series != NULL && p->series_steps != NULL && p->series_x != NULL && scratch != NULL;

    for (size_t from = 0, to; ok && from < n; from = to) {
        for (to = from; to < n && points[to].rank == points[from].rank && points[to].phase == points[from].phase; to++)
            ;
        tl_phase *row = tl_table_add(rows);
        ok = row != NULL;
        if (ok)
            add_series(p, points + from, to - from, from, row, scratch);
    }
    free(scratch);
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

tl_status tl_phases_spread(tl_phasing *p, tl_error *err)
{
    tl_status st = compare_ranks(p, err);
    return st == TL_OK ? make_ranks(p, err) : st;
}
