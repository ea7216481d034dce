/* verdict.c - who is waited for, from what the owners of steps say of the units. */
#include "internal.h"
#include "tlmpi/base/sort.h"
#include "tlmpi/base/stats.h"
#include "tlmpi/job/transport/rows.h"
#include "tlmpi/model/parameters.h"
#include <stdlib.h>
#include <string.h>

typedef struct answering {
    tl_phasing *p;
    tl_phase_found found;
    int64_t *sums;    /* [units * (ncolumns + 1) * NSUMS] */
    int64_t *scratch; /* [nranks] */
    int64_t *longer;  /* [units * nranks] what each rank is longer than the unit's where others may wait */
} answering;

static bool is_named(const answering *a, size_t unit)
{
    return a->found.readings[unit].answer == TL_PHASE_STRAGGLER;
}

/* -------------------------------------------------------------------------------------------------------- evidence */

enum { SHORTER, IN, NIN, OUT, NOUT, NSUMS };

static int64_t *sums_of(answering *a, size_t unit, size_t column)
{
    return a->sums + (unit * (tl_phase_ncolumns(a->p) + 1) + column) * NSUMS;
}

/* The middle of the measured waits of the group. */
static int64_t median_wait(answering *a, const tl_phase_group *g)
{
    for (size_t i = 0; i < g->n; i++)
        a->scratch[i] = g->rows[i].wait_ns;
    return tl_median(a->scratch, g->n);
}

static void see_evidence(const tl_phase_group *g, void *arg)
{
    answering *a = arg;
    if (g->n < 2 && !(g->n > 0 && tl_phase_is_alone(a->p, g->column)))
        return;
    int64_t wait_ns = g->rows[0].wait_ns >= 0 ? median_wait(a, g) : -1;
    for (size_t u = 0; u < a->p->units.units.n; u++) {
        const tl_phase_step *row = tl_phase_row_of(g, a->p->units.units.v[u].rank);
        bool up = tl_phase_is_up(a->p, u, g->step), after = tl_phase_is_after(a->p, u, g->step);
        if (row == NULL)
            continue;
        int64_t *sums = sums_of(a, u, g->column);
        sums[up ? IN : OUT] = tl_ns_sum(sums[up ? IN : OUT], row->baseline_ns);
        sums[up ? NIN : NOUT]++;
        if (after)
            sums[SHORTER] = tl_ns_sum(sums[SHORTER], -row->excess_ns);
        if (after && wait_ns >= 0)
            *sums_of(a, u, tl_phase_ncolumns(a->p)) += wait_ns - row->wait_ns;
    }
}

/* Of two groups of ranks, as two ranks are, each is longer where the other one is shorter: where one of both readings is open
 * the other is, too. */
static void open_mirrored(answering *a)
{
    const tl_phase_unit *units = a->p->units.units.v;
    tl_phase_reading *r = a->found.readings;
    for (size_t u = 0; u < a->p->units.units.n; u++)
        for (size_t v = 0; v < a->p->units.units.n; v++)
            if (r[u].answer == TL_PHASE_STRAGGLER && r[v].answer == TL_PHASE_OPEN && units[u].rank != units[v].rank &&
                r[u].in == units[v].phase && r[v].in == units[u].phase)
                r[u].answer = TL_PHASE_OPEN;
}

/* Every proc, alike.  That others are longer outside of phases nobody has measured: there they may as well be idle while
 * phases of theirs run beside each other. */
static bool explain(answering *a)
{
    const tl_phasing *p = a->p;
    const size_t ncolumns = tl_phase_ncolumns(p);
    int64_t *v = tl_calloc(2 * (ncolumns + 1), sizeof *v), *longer = v + ncolumns + 1;
    if (v == NULL)
        return false;
    for (size_t u = 0; u < p->units.units.n; u++) {
        for (size_t c = 0; c <= ncolumns; c++) {
            const int64_t *sums = sums_of(a, u, c);
            v[c] = sums[SHORTER];
            longer[c] = sums[NIN] > 0 && sums[NOUT] > 0 ? sums[IN] / sums[NIN] - sums[OUT] / sums[NOUT] : 0;
        }
        v[tl_phase_outside(p)] = tl_ns_min(0, v[tl_phase_outside(p)]);
        longer[tl_phase_outside(p)] = 0;
        const tl_phase_evidence evidence = { v, longer };
        tl_phase_reading *r = &a->found.readings[u];
        const tl_phase_unit *unit = &p->units.units.v[u];
        r->answer = tl_phase_explain(unit, p->column_holds, ncolumns, &evidence, &r->in);
        r->shorter_ns = r->in <= ncolumns ? v[r->in] : 0;
        r->by_history = r->answer == TL_PHASE_STRAGGLER && r->in < ncolumns &&
                        tl_phase_holds_compare(p->column_holds[r->in], p->column_holds[unit->phase]) == 0;
    }
    free(v);
    open_mirrored(a);
    return true;
}

/* --------------------------------------------------------------------------------------------------------- waiters */

static void see_waiters(const tl_phase_group *g, void *arg)
{
    answering *a = arg;
    const tl_phasing *p = a->p;
    for (size_t u = 0; u < p->units.units.n; u++) {
        const tl_phase_unit *unit = &p->units.units.v[u];
        bool waits = g->column == a->found.readings[u].in;
        bool measured = g->n > 0 && g->rows[0].wait_ns >= 0;
        bool asked = is_named(a, u) && (waits || measured) && tl_phase_is_after(a->p, u, g->step);
        const tl_phase_step *own = asked ? tl_phase_row_of(g, unit->rank) : NULL;
        if (own == NULL)
            continue;
        for (size_t i = 0; i < g->n; i++) {
            int64_t *longer = &a->longer[u * p->nranks + tl_index_of(p->ranks, p->nranks, g->rows[i].rank)];
            if (waits)
                *longer = tl_ns_sum(*longer, tl_phase_own_ns(&g->rows[i]) - tl_phase_own_ns(own));
            if (own->wait_ns >= 0)
                *longer = tl_ns_sum(*longer, g->rows[i].wait_ns - own->wait_ns);
        }
    }
}

static void count_waiters(answering *a)
{
    const tl_phasing *p = a->p;
    for (size_t u = 0; u < p->units.units.n; u++) {
        tl_phase_reading *r = &a->found.readings[u];
        double enough = TL_PHASE_MAKES_UP * (double)p->units.units.v[u].late_ns;
        int64_t sum_ns = 0;
        for (size_t i = 0; i < p->nranks; i++) {
            int64_t longer_ns = a->longer[u * p->nranks + i];
            if (!is_named(a, u) || longer_ns <= 0 || (double)longer_ns < enough)
                continue;
            r->nwaiters++;
            sum_ns = tl_ns_sum(sum_ns, longer_ns);
        }
        r->waited_ns = r->nwaiters > 0 ? sum_ns / r->nwaiters : 0;
    }
}

/* ------------------------------------------------------------------------------------------------------------- all */

/* Proc 0: how many steps of each rank and phase are late, in table phase. */
static void count_late_steps(const tl_phasing *p)
{
    tl_table *table = tl_tables_get(p->tables, &tl_phase_schema);
    for (size_t i = 0; i < table->n; i++) {
        tl_phase *row = tl_table_row(table, i);
        for (size_t u = 0; u < p->units.units.n; u++) {
            const tl_phase_unit *unit = &p->units.units.v[u];
            if (unit->phase != tl_phase_outside(p) && unit->rank == row->rank &&
                memcmp(p->titles[unit->phase % p->nphases].text, row->phase, sizeof row->phase) == 0)
                row->late_steps += unit->nup;
        }
    }
}

/* Collective.  What is said of the units. */
static tl_status read_units(answering *a, tl_error *err)
{
    tl_phasing *p = a->p;
    size_t n = p->units.units.n;
    if (n == 0)
        return TL_OK;
    tl_status st = tl_phase_look(p, see_evidence, a, err);
    if (st == TL_OK)
        st = tl_reduce_sum(a->sums, n * (tl_phase_ncolumns(p) + 1) * NSUMS, err);
    if (st == TL_OK)
        st = tl_par_agree(explain(a) ? TL_OK : tl_fail_memory(err, "who is waited for"), err);
    if (st == TL_OK)
        st = tl_phase_costs(p, &a->found, err);
    if (st == TL_OK)
        st = tl_phase_look(p, see_waiters, a, err);
    return st == TL_OK ? tl_reduce_sum(a->longer, n * p->nranks, err) : st;
}

tl_status tl_phases_answer(tl_phasing *p, tl_error *err)
{
    const size_t n = p->units.units.n;
    tl_arena arena = { 0 };
    answering a = { .p = p,
                    .found = { .titles = p->titles,
                               .steps = p->steps,
                               .nsteps = p->nsteps,
                               .nranks = p->nranks,
                               .nphases = p->nphases,
                               .step_ns = p->step_ns,
                               .ncolumns = tl_phase_ncolumns(p),
                               .holds = p->column_holds,
                               .norms = p->norms,
                               .units = p->units.units.v,
                               .nunits = n,
                               .readings = tl_arena_zeroed(&arena, n, sizeof *a.found.readings) },
                    .sums = tl_arena_zeroed(&arena, n * (tl_phase_ncolumns(p) + 1) * NSUMS, sizeof *a.sums),
                    .scratch = tl_arena_take(&arena, p->nranks, sizeof *a.scratch),
                    .longer = tl_arena_zeroed(&arena, n * p->nranks, sizeof *a.longer) };

    tl_status st = tl_par_agree(arena.failed ? tl_fail_memory(err, "who is waited for") : TL_OK, err);
    if (st == TL_OK)
        st = read_units(&a, err);
    if (st == TL_OK && tl_par_proc() == 0) {
        count_waiters(&a);
        count_late_steps(p);
        if (!tl_phase_verdict_rows(&a.found, tl_tables_get(p->tables, &tl_phase_verdict_schema)))
            st = tl_fail_memory(err, "who is waited for");
    }
    tl_arena_free(&arena);
    return tl_par_agree(st, err);
}
