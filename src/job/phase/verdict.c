/* verdict.c - who is waited for, from what the owners of steps say of the units. */
#include "internal.h"
#include "tlmpi/base/sort.h"
#include "tlmpi/base/stats.h"
#include "tlmpi/job/transport/rows.h"
#include "tlmpi/model/parameters.h"
#include "tlmpi/par/par.h"
#include "tlmpi/analysis/phase/rows.h"
#include <stdlib.h>
#include <string.h>

static const tl_phase_step *row_of(const tl_phase_group *g, int32_t rank)
{
    size_t at = 0;
    TL_BISECT(at, g->n, mid, g->rows[mid].rank < rank);
    return at < g->n && g->rows[at].rank == rank ? &g->rows[at] : NULL;
}

typedef struct answering {
    tl_phasing *p;
    tl_phase_found found;
    int64_t *sums;    /* [units * (ncolumns + 1) * NSUMS] */
    int64_t *scratch; /* [nranks] */
    int64_t *costs;   /* [units] */
    int64_t *longer;  /* [units * nranks] what each rank is longer than the unit's where others may wait */
} answering;

static bool is_up(const answering *a, size_t unit, size_t step)
{
    return a->p->units.up[unit * a->p->nsteps + step] != 0;
}

/* Collective.  What this proc's groups say. */
static tl_status look_at(answering *a, void (*see)(const tl_phase_group *g, void *arg), tl_error *err)
{
    bool ok = tl_phase_walk(a->p, see, a);
    return tl_par_agree(ok ? TL_OK : tl_fail_memory(err, "who is waited for"), err);
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
    if (g->n < 2)
        return;
    int64_t wait_ns = g->rows[0].wait_ns >= 0 ? median_wait(a, g) : -1;
    for (size_t u = 0; u < a->p->units.units.n; u++) {
        const tl_phase_step *row = row_of(g, a->p->units.units.v[u].rank);
        bool up = is_up(a, u, g->step);
        bool after = up || (g->step > 0 && is_up(a, u, g->step - 1)); /* who ends a step late begins the next one so */
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

/* Every proc, alike. */
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
        const tl_phase_evidence evidence = { v, longer };
        tl_phase_reading *r = &a->found.readings[u];
        const tl_phase_unit *unit = &p->units.units.v[u];
        r->answer = tl_phase_explain(unit, p->column_holds, ncolumns, &evidence, &r->in);
        r->shorter_ns = r->in <= ncolumns ? v[r->in] : 0;
        r->by_history = r->answer == TL_PHASE_STRAGGLER && r->in < ncolumns &&
                        tl_phase_holds_compare(p->column_holds[r->in], p->column_holds[unit->phase]) == 0;
    }
    free(v);
    return true;
}

/* ------------------------------------------------------------------------------------------------------------ cost */

static bool is_named(const answering *a, size_t unit)
{
    return a->found.readings[unit].answer == TL_PHASE_STRAGGLER;
}

/* All that are named are repaired: who then is latest decides how early the step may be. */
static void see_cost(const tl_phase_group *g, void *arg)
{
    answering *a = arg;
    const tl_phase_units *units = &a->p->units;
    int64_t others_ns = 0;
    bool any = false;

    for (size_t u = 0; u < units->units.n; u++)
        any = any || (is_named(a, u) && units->units.v[u].phase == g->column && is_up(a, u, g->step));
    for (size_t i = 0; any && i < g->n; i++) {
        bool repaired = false;
        if (g->rows[i].excess_ns <= others_ns)
            continue;
        for (size_t u = 0; u < units->units.n; u++)
            repaired = repaired || (is_named(a, u) && units->units.v[u].rank == g->rows[i].rank &&
                                    units->units.v[u].phase == g->column && is_up(a, u, g->step));
        others_ns = repaired ? others_ns : g->rows[i].excess_ns;
    }
    for (size_t u = 0; any && u < units->units.n; u++) {
        if (!is_named(a, u) || units->units.v[u].phase != g->column || !is_up(a, u, g->step))
            continue;
        const tl_phase_step *row = row_of(g, units->units.v[u].rank);
        if (row != NULL)
            a->costs[u] = tl_ns_sum(a->costs[u], tl_ns_max(0, row->excess_ns - others_ns));
    }
}

/* Collective.  Of those that cost too little the least goes, until none does. */
static tl_status cost(answering *a, tl_error *err)
{
    tl_phasing *p = a->p;
    size_t n = p->units.units.n, least = 0;

    while (least < n) {
        memset(a->costs, 0, n * sizeof *a->costs);
        tl_status st = look_at(a, see_cost, err);
        if (st == TL_OK)
            st = tl_reduce_sum(a->costs, n, err);
        if (st != TL_OK)
            return st;
        least = n;
        double least_share = p->options->judge.least_cost;
        for (size_t u = 0; u < n; u++) {
            tl_phase_unit *unit = &p->units.units.v[u];
            unit->cost_ns = is_named(a, u) ? a->costs[u] : 0;
            double share = unit->time_ns > 0 ? (double)a->costs[u] / (double)unit->time_ns : 0;
            if (is_named(a, u) && share < least_share) {
                least = u;
                least_share = share;
            }
        }
        if (least < n)
            a->found.readings[least].answer = TL_PHASE_CHEAP;
    }
    return TL_OK;
}

/* --------------------------------------------------------------------------------------------------------- waiters */

static void see_waiters(const tl_phase_group *g, void *arg)
{
    answering *a = arg;
    const tl_phasing *p = a->p;
    for (size_t u = 0; u < p->units.units.n; u++) {
        const tl_phase_unit *unit = &p->units.units.v[u];
        bool after = is_up(a, u, g->step) || (g->step > 0 && is_up(a, u, g->step - 1));
        const tl_phase_step *own = is_named(a, u) && after ? row_of(g, unit->rank) : NULL;
        if (own == NULL)
            continue;
        bool waits = tl_phase_holds_compare(p->column_holds[g->column], p->column_holds[unit->phase]) > 0 ||
                     g->column == a->found.readings[u].in;
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
            if (!is_named(a, u) || (double)longer_ns < enough)
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

tl_status tl_phases_answer(tl_phasing *p, tl_error *err)
{
    size_t n = p->units.units.n, nsums = n * (tl_phase_ncolumns(p) + 1) * NSUMS;
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
                    .sums = tl_arena_zeroed(&arena, nsums, sizeof *a.sums),
                    .scratch = tl_arena_zeroed(&arena, p->nranks, sizeof *a.scratch),
                    .costs = tl_arena_zeroed(&arena, n, sizeof *a.costs),
                    .longer = tl_arena_zeroed(&arena, n * p->nranks, sizeof *a.longer) };

    tl_status st = tl_par_agree(arena.failed ? tl_fail_memory(err, "who is waited for") : TL_OK, err);
    if (st == TL_OK && n > 0) {
        st = look_at(&a, see_evidence, err);
        if (st == TL_OK)
            st = tl_reduce_sum(a.sums, nsums, err);
    }
    if (st == TL_OK)
        st = tl_par_agree(explain(&a) ? TL_OK : tl_fail_memory(err, "who is waited for"), err);
    if (st == TL_OK)
        st = cost(&a, err);
    if (st == TL_OK && n > 0) {
        st = look_at(&a, see_waiters, err);
        if (st == TL_OK)
            st = tl_reduce_sum(a.longer, n * p->nranks, err);
    }
    if (st == TL_OK && tl_par_proc() == 0) {
        count_waiters(&a);
        count_late_steps(p);
        if (!tl_phase_verdict_rows(&a.found, tl_tables_get(p->tables, &tl_phase_verdict_schema)))
            st = tl_fail_memory(err, "who is waited for");
    }
    tl_arena_free(&arena);
    return tl_par_agree(st, err);
}
