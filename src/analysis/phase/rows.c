/* rows.c - the rows of phase, and of phase_verdict: the answer for the job, and what was found, each with its
 * reason. */
#include "internal.h"
#include <math.h>
#include <stdio.h>

#define TL_NS_IN_MS 1000000

/* Writes a sentence of printf into the row's reason. */
#define SAY(row, ...) ((void)snprintf((row)->reason, sizeof(row)->reason, __VA_ARGS__))

static bool is_outside(const tl_phase_job *j, uint32_t class)
{
    return class == j->nclasses - 1;
}

/* Returns the class's name, which a sentence cuts. */
static tl_text name_of(const tl_phase_job *j, uint32_t class)
{
    return class < j->nclasses - 1 ? tl_names_text(j->names, class)
           : is_outside(j, class)  ? TL_TEXT("time outside of phases")
           : class == j->nclasses  ? TL_TEXT("waits in Kineto traces")
                                   : TL_TEXT("");
}

static void explain(const tl_phase_job *j, const tl_phase_candidate *u, tl_phase_verdict *row)
{
    const double steps = (double)u->shape.nup * TL_NS_IN_MS, longer = (double)u->late_ns / steps,
                 shorter = (double)u->shorter_ns / steps;
    char in[sizeof row->waits_in + 1] = "";
    memcpy(in, row->waits_in, sizeof row->waits_in);
    switch (u->answer) {
    case TL_PHASE_STRAGGLER:
        if (u->in == j->nclasses)
            SAY(row, "%.3g ms a step longer, waits taken off; the others wait %.3g ms longer", longer, shorter);
        else if (u->by_history)
            SAY(row,
                "%.3g ms a step longer; as long as that lasts, the others are longer in %.120s, and as short as it "
                "elsewhere",
                longer, in);
        else
            SAY(row, "%.3g ms a step longer here, %.3g ms shorter in %.120s, where collectives level the ranks", longer,
                shorter, in);
        break;
    case TL_PHASE_WAITING:
        SAY(row, "%.3g ms a step longer here, %.3g ms shorter in %.120s: it is early, and waits for the others", longer,
            shorter, in);
        break;
    case TL_PHASE_OPEN:
        SAY(row,
            "%.3g ms a step longer here, %.3g ms shorter in %.90s: durations do not tell in which of both it, or the "
            "others, wait; capture a Kineto window",
            longer, shorter, in);
        break;
    case TL_PHASE_CHEAP:
        SAY(row, "%.3g ms a step longer, but another rank is nearly as late", longer);
        break;
    case TL_PHASE_LONGER:
        SAY(row,
            "%.3g ms a step longer, and in no phase as much shorter: nothing recorded shows that others wait for it",
            longer);
        break;
    case TL_PHASE_NOBODY:
    case TL_PHASE_ONE_RANK:
        break;
    }
}

static tl_confidence confidence_of(const tl_phase_job *j, const tl_phase_candidate *u)
{
    if (u->answer == TL_PHASE_OPEN || u->answer == TL_PHASE_LONGER)
        return TL_CONFIDENCE_LOW;
    bool doubt = u->nsteps < (size_t)TL_PATTERN_LEAST_STEPS || j->nranks < (size_t)TL_SPREAD_LEAST || u->by_history;
    return doubt ? TL_CONFIDENCE_MEDIUM : TL_CONFIDENCE_HIGH;
}

/* Outside of phases only a rank that is waited for is told: that ranks wait there is nothing new. */
static bool is_told(const tl_phase_job *j, const tl_phase_candidate *u)
{
    return !is_outside(j, u->class) || u->answer == TL_PHASE_STRAGGLER || u->answer == TL_PHASE_CHEAP;
}

static tl_phase_verdict row_of(const tl_phase_job *j, const tl_phase_candidate *u)
{
    tl_phase_verdict row = { .rank = j->ranks[u->rank],
                             .verdict = (uint8_t)u->answer,
                             .excess_ns = u->late_ns,
                             .nwaiters = u->nwaiters,
                             .waited_ns = u->waited_ns,
                             .pattern = (uint8_t)u->shape.pattern,
                             .first_step = j->steps[u->shape.first],
                             .last_step = j->steps[u->shape.last],
                             .steps_flagged = (int64_t)u->shape.nup,
                             .steps = (int64_t)u->nsteps,
                             .z = u->z,
                             .p_value = u->p,
                             .cost_ns = u->cost_ns,
                             .time_ns = u->time_ns,
                             .confidence = (uint8_t)confidence_of(j, u) };
    int64_t all_ns = 0;
    for (size_t i = 0; i < j->candidates.n; i++) {
        const tl_phase_candidate *other = &j->candidates.v[i];
        all_ns = tl_ns_sum(all_ns, other->rank == u->rank && is_told(j, other) ? other->late_ns : 0);
    }
    row.share = all_ns > 0 ? (double)u->late_ns / (double)all_ns : 0;
    tl_cell_put(row.phase, sizeof row.phase, name_of(j, u->class));
    tl_cell_put(row.waits_in, sizeof row.waits_in, name_of(j, u->in));
    explain(j, u, &row);
    return row;
}

/* The phase that hides most: it holds, or may hold, collectives, and no rank is found in it; UINT32_MAX: none, or
 * collectives are phases of their own. */
static uint32_t hiding(const tl_phase_job *j)
{
    uint32_t best = UINT32_MAX;
    for (uint32_t c = 0; c < j->nclasses - 1; c++) {
        bool compared = j->classes[c].members > 1;
        if (compared && j->classes[c].holds == TL_HOLDS_ONLY)
            return UINT32_MAX;
        bool found = !compared || j->classes[c].holds == TL_HOLDS_NONE;
        for (size_t u = 0; u < j->candidates.n; u++)
            found = found || j->candidates.v[u].class == c;
        if (!found && (best == UINT32_MAX || j->classes[c].holds > j->classes[best].holds))
            best = c;
    }
    return best;
}

static void say_hidden(const tl_phase_job *j, uint32_t class, double step_ns, tl_phase_verdict *row)
{
    const double widest = j->classes[class].widest;
    char name[sizeof row->phase + 1] = "";
    tl_cell_put(name, sizeof row->phase, name_of(j, class));
    if (widest >= TL_VERDICT_LEAST_COST * step_ns)
        SAY(row,
            "ranks differ by up to %.3g ms a step in %.100s, and nothing recorded shows that others wait for one of "
            "them; capture a Kineto window",
            widest / TL_NS_IN_MS, name);
    else if (j->classes[class].holds == TL_HOLDS_SOME)
        SAY(row,
            "%.120s equal on all ranks: collectives in it, of which its name speaks, hide who is slow; capture a "
            "Kineto window",
            name);
    else
        SAY(row,
            "%.120s takes no rank longer: should it hold a collective, that hides who is slow; then capture a Kineto "
            "window",
            name);
}

/* The answer for the job; first: the first straggler's row, NULL without one. */
static tl_phase_verdict job_row(const tl_phase_job *j, const tl_phase_verdict *first, bool open)
{
    tl_phase_verdict row = { .rank = -1, .first_step = -1, .last_step = -1, .z = NAN, .p_value = NAN };
    const uint32_t hides = hiding(j);

    if (first != NULL)
        row = *first;
    row.place = 0;
    row.cost_ns = j->cost_ns;
    row.steps = (int64_t)j->nsteps;
    row.time_ns = 0;
    for (size_t s = 0; s < j->nsteps; s++)
        row.time_ns = tl_ns_add(row.time_ns, j->step_ns[s]);
    if (first != NULL)
        return row;
    row.verdict = (uint8_t)(j->nranks < 2 ? TL_PHASE_ONE_RANK : open ? TL_PHASE_OPEN : TL_PHASE_NOBODY);
    bool blind = open || j->nranks < 2 || j->nsteps < 2 || hides != UINT32_MAX;
    bool few = j->nranks < (size_t)TL_SPREAD_LEAST; /* of two any may have its turn */
    row.confidence = (uint8_t)(blind ? TL_CONFIDENCE_LOW : few ? TL_CONFIDENCE_MEDIUM : TL_CONFIDENCE_HIGH);
    if (j->nranks < 2)
        SAY(&row, "one rank alone: there is none to compare with");
    else if (j->nsteps < 2)
        SAY(&row, "one step: nobody can be told from chance");
    else if (open)
        SAY(&row,
            "a rank is longer in one phase and shorter in another, and durations do not tell who waits; capture a "
            "Kineto window");
    else if (hides != UINT32_MAX)
        say_hidden(j, hides, (double)row.time_ns / (double)j->nsteps, &row);
    return row;
}

static int by_weight(const void *rows, uint32_t a, uint32_t b)
{
    const tl_phase_verdict *x = (const tl_phase_verdict *)rows + a, *y = (const tl_phase_verdict *)rows + b;
    int order = (y->verdict == TL_PHASE_STRAGGLER) - (x->verdict == TL_PHASE_STRAGGLER);
    return order != 0 ? order : TL_ORDER(y, x, cost_ns, excess_ns);
}

static void verdict_rows(const tl_phase_job *j, tl_table *table)
{
    TL_VEC(tl_phase_verdict) rows = { 0 };
    bool open = false;
    TL_EACH (const tl_phase_candidate, u, j->candidates)
        if (is_told(j, u)) {
            tl_vec_push(&rows, row_of(j, u));
            open = open || u->answer == TL_PHASE_OPEN;
        }
    uint32_t *order = tl_sorted_index(rows.n, by_weight, rows.v);
    const tl_phase_verdict *first = rows.n > 0 ? &rows.v[order[0]] : NULL;
    const tl_phase_verdict job = job_row(j, first != NULL && first->verdict == TL_PHASE_STRAGGLER ? first : NULL, open);
    tl_table_append(table, &job, 1);
    for (size_t i = 0; i < rows.n; i++) {
        rows.v[order[i]].place = (int32_t)i + 1;
        tl_table_append(table, &rows.v[order[i]], 1);
    }
    free(rows.v);
    free(order);
}

/* ------------------------------------------------------------------------------------------------------------ phase */

static int by_rank_and_phase(const void *rows, uint32_t a, uint32_t b)
{
    return TL_ORDER((const tl_phase_step *)rows + a, (const tl_phase_step *)rows + b, rank, phase);
}

/* Whether most ranks have a row of the phase in the step. */
static bool is_common(const tl_phase_job *j, const tl_phase_step *row)
{
    const tl_phase_class *class = &j->classes[row->phase];
    size_t at = class->first;
    TL_BISECT(at, class->first + class->n, mid, j->groups[mid].step < (size_t)row->step);
    return 2 * j->groups[at].n > j->nranks;
}

/* Returns the row of table phase for one rank and phase, from rows[order[0 .. n)]. */
static tl_phase phase_row(const tl_phase_job *j, const tl_phase_step *rows, const uint32_t *order, size_t n,
                          int64_t *scratch)
{
    const uint32_t class = rows[order[0]].phase;
    tl_phase row = { .rank = j->ranks[rows[order[0]].rank],
                     .phase = class,
                     .collectives = (uint8_t)j->classes[class].holds,
                     .steps = (int64_t)n,
                     .missing = j->classes[class].common };
    for (size_t i = 0; i < n; i++) {
        row.excess_ns = tl_ns_sum(row.excess_ns, rows[order[i]].excess_ns);
        row.missing -= is_common(j, &rows[order[i]]);
        scratch[i] = rows[order[i]].duration_ns;
    }
    for (size_t u = 0; u < j->candidates.n; u++)
        if (j->candidates.v[u].class == class && (int32_t)j->candidates.v[u].rank == rows[order[0]].rank)
            row.late_steps += (int64_t)j->candidates.v[u].shape.nup;
    tl_spread spread = tl_spread_of(scratch, n);
    row.total_ns = spread.total;
    row.mean_ns = spread.mean;
    row.min_ns = spread.min;
    row.p25_ns = spread.p25;
    row.median_ns = spread.median;
    row.p75_ns = spread.p75;
    row.max_ns = spread.max;
    return row;
}

void tl_phase_rows(tl_phase_job *j, tl_tables *tables)
{
    tl_table *steps = tl_tables_get(tables, &tl_phase_step_schema), *phases = tl_tables_get(tables, &tl_phase_schema);
    const tl_phase_step *rows = tl_table_row(steps, 0);
    uint32_t *order = tl_sorted_index(steps->n, by_rank_and_phase, rows);
    int64_t *scratch = tl_malloc(j->nsteps * sizeof *scratch);
    uint32_t *name_rows = tl_calloc(j->nclasses, sizeof *name_rows);

    TL_GROUPS (from, to, order, steps->n, by_rank_and_phase, rows) {
        tl_phase row = phase_row(j, rows, order + from, to - from, scratch);
        tl_table_append(phases, &row, 1);
    }
    verdict_rows(j, tl_tables_get(tables, &tl_phase_verdict_schema));
    TL_ROWS (tl_phase_step, row, steps) {
        row->step = j->steps[row->step];
        row->rank = j->ranks[row->rank];
    }
    for (uint32_t c = 0; c + 1 < j->nclasses && tables->names != NULL; c++) {
        tl_text name = tl_names_text(j->names, c);
        name_rows[c] = tl_names_intern(tables->names, name.p, name.n);
    }
    tl_table_set_name_rows(steps, name_rows);
    tl_table_set_name_rows(phases, name_rows);
    free(order);
    free(scratch);
    free(name_rows);
}
