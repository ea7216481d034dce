/* rows.c - the rows of phase, and of phase_verdict: the answer for the job, and the findings, each with its
 * reason. */
#include "internal.h"
#include "tlmpi/base/group.h"
#include "tlmpi/base/quantile.h"
#include "tlmpi/base/sort.h"
#include "tlmpi/base/stats.h"
#include <stdio.h>

/* ------------------------------------------------------------------------------------------------------- candidates */

/* In which steps is a rank late in a phase, and is that significant?  The test of verdict.h. */

typedef struct finding {
    tl_phase_job *j;
    tl_phase_class *class;
    tl_lateness_test t;
    double *x;         /* t.x */
    uint32_t *rank_of; /* [members] */
    double *means;     /* [members] */
} finding;

/* Fills f->x with the excess by member and column, centred on the median of the members' means: medians of skewed
 * durations lie below their means.  Outside of phases the centre is at least 0, since only lateness counts. */
static void fill_excess(finding *f, bool outside)
{
    const size_t n = f->class->columns.n;
    size_t members = 0;
    for (uint32_t r = 0; r < f->j->nranks; r++) {
        double sum = 0, known = 0, *x = f->x + members * n;
        for (size_t k = 0; k < n; k++) {
            x[k] = tl_phase_excess(f->j, f->class, k, r);
            sum += isnan(x[k]) ? 0 : x[k];
            known += !isnan(x[k]);
        }
        if (known == 0)
            continue;
        f->means[members] = f->t.worst[members] = sum / known;
        f->rank_of[members++] = r;
    }
    double middle = tl_real_median(f->t.worst, members);
    middle = outside ? fmax(0, middle) : middle;
    for (size_t m = 0; m < members; m++)
        f->class->widest_ns = fmax(f->class->widest_ns, fabs(f->means[m] - middle));
    for (size_t i = 0; i < members * n; i++)
        f->x[i] -= middle;
    f->t.chance.members = members;
    f->t.chance.nsteps = f->t.nsteps = n;
}

/* Adds the candidate with the columns marked in t.up, unless its excess there is below the least cost. */
static void add_candidate(finding *f, const double *x, tl_phase_candidate u)
{
    tl_phase_job *j = f->j;
    u.excess_ns = tl_arena_take(&j->arena, j->nsteps, sizeof *u.excess_ns);
    for (size_t s = 0; s < j->nsteps; s++)
        u.excess_ns[s] = NAN;
    for (size_t k = 0; k < f->t.nsteps; k++) {
        u.nsteps += isnan(x[k]) ? 0 : 1;
        if (!f->t.up[k])
            continue;
        const uint32_t step = f->class->columns.v[k].step;
        u.excess_ns[step] = fmax(0, x[k]);
        u.time_ns += j->step_ns[step];
        u.late_ns += x[k];
    }
    u.shape.first = f->class->columns.v[u.shape.first].step;
    u.shape.last = f->class->columns.v[u.shape.last].step;
    if (u.late_ns >= j->options->least_cost * u.time_ns)
        tl_vec_push(&j->candidates, u);
}

/* Returns the probability that one member has at least as many of all stalls as this one, if each stall hits a random
 * member.  A stall is a step with at least half of the shape's mean lateness. */
static double chance_by_turns(const finding *f, size_t member, const tl_shape *shape, double late)
{
    size_t own = 0, all = 0;
    for (size_t i = 0; i < f->t.chance.members * f->t.nsteps; i++)
        if (f->x[i] >= late / (double)shape->nup / 2) {
            own += i / f->t.nsteps == member;
            all++;
        }
    return tl_chance_by_turns(&f->t.chance, own, all);
}

/* Finds the shapes in which a member is late, each in steps of its own.  One or two steps are not significant, since
 * any host stalls now and then, except in a phase that only one rank has. */
static void find_shapes(finding *f, size_t member)
{
    const bool only = f->class->only != TL_NONE;
    const double *x = f->x + member * f->t.nsteps;
    bool more = true;
    for (size_t k = 0; k < f->t.nsteps; k++)
        f->t.excluded[k] = isnan(x[k]);
    while (more) {
        tl_phase_candidate u = { .rank = f->rank_of[member],
                                 .class = (uint32_t)(f->class - f->j->classes),
                                 .in = TL_NONE };
        tl_late_sums sums = tl_late_shape(&f->t, member, &u.shape);
        if (u.shape.nup == 0 || sums.tx <= 0)
            return;
        const bool enough = only || u.shape.nup >= TL_MEDIAN_LEAST;
        u.p = tl_late_chance(&f->t, member, &u.shape, &sums, sums.t1 * sums.t1 / sums.t2, &u.z);
        if (u.shape.pattern == TL_PATTERN_SPORADIC && !only)
            u.p = fmax(u.p, chance_by_turns(f, member, &u.shape, sums.late));
        if (enough && u.p < f->t.alpha)
            add_candidate(f, x, u);
        more = !enough || u.p < f->t.alpha;
        for (size_t k = 0; k < f->t.nsteps; k++)
            f->t.excluded[k] = f->t.excluded[k] || f->t.up[k];
    }
}

/* Skips classes of collectives only, in which ranks wait and are not late. */
static void phase_candidates_find(tl_phase_job *j)
{
    const size_t nsteps = j->nsteps, nranks = j->nranks;
    tl_arena arena = { 0 };
    finding f = { .j = j,
                  .t = { .alpha = j->options->alpha,
                         .chance = { .degrees = TL_TAIL_DEGREES },
                         .excluded = tl_arena_take(&arena, nsteps, sizeof *f.t.excluded),
                         .up = tl_arena_take(&arena, nsteps, sizeof *f.t.up),
                         .rest_up = tl_arena_take(&arena, nsteps, sizeof *f.t.rest_up),
                         .rest = tl_arena_take(&arena, nsteps, sizeof *f.t.rest),
                         .column = tl_arena_take(&arena, nranks * nsteps + nsteps, sizeof *f.t.column),
                         .worst = tl_arena_take(&arena, nranks, sizeof *f.t.worst) },
                  .x = tl_arena_take(&arena, nranks * nsteps, sizeof *f.x),
                  .rank_of = tl_arena_take(&arena, nranks, sizeof *f.rank_of),
                  .means = tl_arena_take(&arena, nranks, sizeof *f.means) };
    f.t.x = f.x;
    for (size_t s = 0; s < nsteps; s++)
        f.t.rest[s] = j->step_ns[s];
    const double least = fmax(1, TL_NOTHING_SHARE * tl_real_median(f.t.rest, nsteps));
    for (size_t c = 0; c < j->nclasses; c++)
        if (j->classes[c].holds != TL_HOLDS_ONLY) {
            f.t.chance.tries += (double)j->classes[c].members;
            f.t.chance.largest += j->classes[c].members > 0;
        }
    for (size_t c = 0; c < j->nclasses; c++) {
        f.class = &j->classes[c];
        fill_excess(&f, c == j->outside);
        if (f.class->holds == TL_HOLDS_ONLY || f.class->members < 2 || f.t.nsteps < 2)
            continue;
        f.t.sigma = fmax(least, tl_noise_of(f.x, f.class->members, f.t.nsteps, f.t.column, f.t.rest));
        for (size_t m = 0; m < f.class->members && isfinite(f.t.sigma); m++)
            find_shapes(&f, m);
    }
    tl_arena_free(&arena);
}

/* ------------------------------------------------------------------------------------------------------------ costs */

/* What the job would gain without the named candidates, and which of them cost enough.
 *
 * In the class where other ranks wait, the late rank is the shortest.  Repaired, the late rank arrives earlier by its
 * excess, and another rank may be the last:
 *
 *     compute      rank 3 [###########]      others [######] [#######] [#####]     5 more than the median
 *     all_reduce   rank 3 [##]               others [#######] [######] [####]      2 shorter than the next: cost 2
 */

typedef struct costing {
    tl_phase_job *j;
    bool *chosen;      /* [candidates] */
    bool *next;        /* [candidates] others wait in the next step: the candidate ends its step late */
    double *arrive_ns; /* [nranks] arrival of the repaired rank; -INFINITY: it does not take part */
    double *gain_ns;   /* [nsteps] */
} costing;

/* Returns whether the candidate is late at the end of its steps: it is shorter by more in the following steps. */
static bool is_late_next(const tl_phase_job *j, const tl_phase_candidate *u)
{
    const tl_phase_class *in = &j->classes[u->in];
    double shorter_ns[2] = { 0 };
    for (size_t k = 0; k < in->columns.n; k++) {
        const size_t step = in->columns.v[k].step;
        if (isnan(tl_phase_own(j, in, k, u->rank)))
            continue;
        shorter_ns[0] -= tl_phase_is_late(u, step) ? tl_phase_excess(j, in, k, u->rank) : 0;
        shorter_ns[1] -= step > 0 && tl_phase_is_late(u, step - 1) ? tl_phase_excess(j, in, k, u->rank) : 0;
    }
    return shorter_ns[1] > shorter_ns[0];
}

/* Returns the ns by which a candidate's repair makes it arrive earlier in a step; 0: it is not chosen, or others do not
 * wait for it in the class. */
static double repair_ns(const costing *a, size_t i, uint32_t class, size_t step)
{
    const tl_phase_candidate *u = &a->j->candidates.v[i];
    const double *ns = !a->next[i] ? &u->excess_ns[step] : step > 0 ? &u->excess_ns[step - 1] : NULL;
    return a->chosen[i] && u->in == class && ns != NULL && !isnan(*ns) ? *ns : 0;
}

/* Repairs all chosen candidates in one column.  Adds to each candidate's cost how much later the last rank would arrive
 * without that candidate's repair. */
static void add_column_cost(costing *a, uint32_t class, size_t column)
{
    tl_phase_job *j = a->j;
    const size_t step = j->classes[class].columns.v[column].step;
    double before_ns = -INFINITY, after_ns = -INFINITY;
    for (uint32_t r = 0; r < j->nranks; r++) {
        double own_ns = tl_phase_own(j, &j->classes[class], column, r);
        a->arrive_ns[r] = isnan(own_ns) ? -INFINITY : -own_ns;
        before_ns = fmax(before_ns, a->arrive_ns[r]);
    }
    for (size_t i = 0; i < j->candidates.n; i++)
        a->arrive_ns[j->candidates.v[i].rank] -= repair_ns(a, i, class, step);
    for (size_t r = 0; r < j->nranks; r++)
        after_ns = fmax(after_ns, a->arrive_ns[r]);
    a->gain_ns[step] = fmax(a->gain_ns[step], before_ns - after_ns);
    for (size_t i = 0; i < j->candidates.n; i++) {
        tl_phase_candidate *u = &j->candidates.v[i];
        u->cost_ns += fmax(0, a->arrive_ns[u->rank] + repair_ns(a, i, class, step) - after_ns);
    }
}

/* Sets the gain of repairing all chosen candidates (j->cost_ns), and the part of this gain that needs each candidate
 * (cost_ns). */
static void cost_all(costing *a)
{
    tl_phase_job *j = a->j;
    for (size_t s = 0; s < j->nsteps; s++)
        a->gain_ns[s] = 0;
    for (uint32_t c = 0; c < j->nclasses; c++) {
        bool any = false;
        for (size_t i = 0; i < j->candidates.n; i++) {
            j->candidates.v[i].cost_ns = c == 0 ? 0 : j->candidates.v[i].cost_ns;
            any = any || (a->chosen[i] && j->candidates.v[i].in == c);
        }
        for (size_t k = 0; any && k < j->classes[c].columns.n; k++)
            add_column_cost(a, c, k);
    }
    j->cost_ns = 0;
    for (size_t s = 0; s < j->nsteps; s++)
        j->cost_ns += a->gain_ns[s];
}

/* Sets the cost of each named candidate, and of all together; a candidate with too little cost becomes
 * CHEAP. */
static void phase_candidates_cost(tl_phase_job *j)
{
    const size_t n = j->candidates.n;
    tl_arena arena = { 0 };
    costing a = { .j = j,
                  .chosen = tl_arena_zeroed(&arena, n, sizeof *a.chosen),
                  .next = tl_arena_zeroed(&arena, n, sizeof *a.next),
                  .arrive_ns = tl_arena_take(&arena, j->nranks, sizeof *a.arrive_ns),
                  .gain_ns = tl_arena_take(&arena, j->nsteps, sizeof *a.gain_ns) };
    double *share = tl_arena_zeroed(&arena, n, sizeof *share), *scratch = tl_arena_take(&arena, n, sizeof *scratch);
    for (size_t i = 0; i < n; i++) {
        a.chosen[i] = j->candidates.v[i].answer == TL_PHASE_STRAGGLER;
        a.next[i] = a.chosen[i] && is_late_next(j, &j->candidates.v[i]);
    }
    do {
        cost_all(&a);
        for (size_t i = 0; i < n; i++)
            share[i] = j->candidates.v[i].cost_ns / fmax(1, j->candidates.v[i].time_ns);
    } while (tl_eliminate_least_needed(a.chosen, share, n, j->options->least_cost, scratch));
    for (size_t i = 0; i < n; i++)
        if (j->candidates.v[i].answer == TL_PHASE_STRAGGLER && !a.chosen[i])
            j->candidates.v[i].answer = TL_PHASE_CHEAP;
    tl_arena_free(&arena);
}

#define TL_NS_IN_MS 1000000

/* Formats the row's reason. */
#define SAY(row, ...) ((void)snprintf((row)->reason, sizeof(row)->reason, __VA_ARGS__))

static void put_name(const tl_phase_job *j, uint32_t class, char *cell, size_t size)
{
    tl_cell_put(cell, size,
                class < j->outside    ? tl_names_text(j->names, class)
                : class == j->outside ? TL_TEXT("time outside of phases")
                : class == j->waits   ? TL_TEXT("waits in Kineto traces")
                                      : TL_TEXT(""));
}

/* Sets the reason: by how much the candidate is longer and shorter per step (means), and what follows from that. */
static void explain(const tl_phase_job *j, const tl_phase_candidate *u, tl_phase_verdict *row)
{
    const double steps = (double)u->shape.nup * TL_NS_IN_MS, longer = u->late_ns / steps,
                 shorter = u->shorter_ns / steps;
    const bool named = u->answer == TL_PHASE_STRAGGLER;
    char in[sizeof row->waits_in + 1] = "";
    put_name(j, u->in, in, sizeof row->waits_in);
    if (named && u->in == j->waits)
        SAY(row, "%.3g ms a step longer, waits taken off; the others wait %.3g ms longer", longer, shorter);
    else if (named && u->by_history)
        SAY(row,
            "%.3g ms a step longer; as long as that lasts, the others are longer in %.120s, and as short as it "
            "elsewhere",
            longer, in);
    else if (named || u->answer == TL_PHASE_WAITING || u->answer == TL_PHASE_OPEN)
        SAY(row, "%.3g ms a step longer here, %.3g ms shorter in %.90s%s", longer, shorter, in,
            named                           ? ", where collectives level the ranks"
            : u->answer == TL_PHASE_WAITING ? ": it is early, and waits for the others"
                                            : ": durations do not tell in which of both it, or the others, wait; "
                                              "capture a Kineto window");
    else
        SAY(row, "%.3g ms a step longer, %s", longer,
            u->answer == TL_PHASE_CHEAP
                ? "but another rank is nearly as late"
                : "and in no phase as much shorter: nothing recorded shows that others wait for it");
}

static tl_confidence confidence_of(const tl_phase_job *j, const tl_phase_candidate *u)
{
    if (u->answer == TL_PHASE_OPEN || u->answer == TL_PHASE_LONGER)
        return TL_CONFIDENCE_LOW;
    bool doubt = u->nsteps < TL_PATTERN_LEAST || j->nranks < TL_MEDIAN_LEAST || u->by_history;
    return doubt ? TL_CONFIDENCE_MEDIUM : TL_CONFIDENCE_HIGH;
}

static tl_phase_verdict row_of(const tl_phase_job *j, const tl_phase_candidate *u)
{
    tl_phase_verdict row = { .rank = j->ranks[u->rank],
                             .verdict = (uint8_t)u->answer,
                             .excess_ns = tl_phase_ns(u->late_ns),
                             .nwaiters = u->nwaiters,
                             .waited_ns = tl_phase_ns(u->waited_ns),
                             .pattern = (uint8_t)u->shape.pattern,
                             .first_step = j->steps[u->shape.first],
                             .last_step = j->steps[u->shape.last],
                             .steps_flagged = (int64_t)u->shape.nup,
                             .steps = (int64_t)u->nsteps,
                             .z = u->z,
                             .p_value = u->p,
                             .cost_ns = tl_phase_ns(u->cost_ns),
                             .time_ns = tl_phase_ns(u->time_ns),
                             .confidence = (uint8_t)confidence_of(j, u) };
    double all_ns = 0;
    TL_EACH (const tl_phase_candidate, other, j->candidates)
        all_ns += other->rank == u->rank ? other->late_ns : 0;
    row.share = all_ns > 0 ? u->late_ns / all_ns : 0;
    put_name(j, u->class, row.phase, sizeof row.phase);
    put_name(j, u->in, row.waits_in, sizeof row.waits_in);
    explain(j, u, &row);
    return row;
}

/* Returns the phase that most likely hides slow ranks: it holds, or may hold, collectives, and has no candidate.
 * TL_NONE: none, or collectives are phases of their own. */
static uint32_t hiding_phase(const tl_phase_job *j)
{
    uint32_t best = TL_NONE;
    for (uint32_t c = 0; c < j->outside; c++) {
        const tl_phase_class *class = &j->classes[c];
        bool hides = class->members > 1 && class->holds != TL_HOLDS_NONE;
        if (hides && class->holds == TL_HOLDS_ONLY)
            return TL_NONE;
        TL_EACH (const tl_phase_candidate, u, j->candidates)
            hides = hides && u->class != c;
        if (hides && (best == TL_NONE || class->holds > j->classes[best].holds))
            best = c;
    }
    return best;
}

static void say_hidden(const tl_phase_job *j, uint32_t class, double step_ns, tl_phase_verdict *row)
{
    const double widest_ns = j->classes[class].widest_ns;
    char name[sizeof row->phase + 1] = "";
    put_name(j, class, name, sizeof row->phase);
    if (widest_ns >= TL_VERDICT_LEAST_COST * step_ns)
        SAY(row,
            "ranks differ by up to %.3g ms a step in %.100s, and nothing recorded shows that others wait for one of "
            "them; capture a Kineto window",
            widest_ns / TL_NS_IN_MS, name);
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

/* Returns the answer for the job if no rank is named. */
static tl_phase_verdict row_without_rank(const tl_phase_job *j, double time_ns)
{
    tl_phase_verdict row = {
        .rank = -1, .first_step = -1, .last_step = -1, .z = NAN, .p_value = NAN, .confidence = TL_CONFIDENCE_LOW
    };
    const uint32_t hides = hiding_phase(j);
    bool open = false;
    TL_EACH (const tl_phase_candidate, u, j->candidates)
        open = open || u->answer == TL_PHASE_OPEN;
    row.verdict = (uint8_t)(j->nranks < 2 ? TL_PHASE_ONE_RANK : open ? TL_PHASE_OPEN : TL_PHASE_NONE);
    if (j->nranks < 2)
        SAY(&row, "one rank alone: there is none to compare with");
    else if (j->nsteps < 2)
        SAY(&row, "one step: a delay cannot be told from chance");
    else if (open)
        SAY(&row,
            "a rank is longer in one phase and shorter in another, and durations do not tell who waits; capture a "
            "Kineto window");
    else if (hides != TL_NONE)
        say_hidden(j, hides, time_ns / (double)j->nsteps, &row);
    else /* two ranks may alternate */
        row.confidence = j->nranks < TL_MEDIAN_LEAST ? TL_CONFIDENCE_MEDIUM : TL_CONFIDENCE_HIGH;
    return row;
}

static int by_weight(const void *a, const void *b)
{
    const tl_phase_verdict *x = a, *y = b;
    int order = (y->verdict == TL_PHASE_STRAGGLER) - (x->verdict == TL_PHASE_STRAGGLER);
    return order != 0 ? order : TL_ORDER(y, x, cost_ns, excess_ns);
}

static void add_verdicts(const tl_phase_job *j, tl_table *table)
{
    TL_VEC(tl_phase_verdict) rows = { 0 };
    double time_ns = 0;
    for (size_t s = 0; s < j->nsteps; s++)
        time_ns += j->step_ns[s];
    TL_EACH (const tl_phase_candidate, u, j->candidates)
        tl_vec_push(&rows, row_of(j, u));
    tl_vec_sort(&rows, by_weight);
    tl_phase_verdict job =
        rows.n > 0 && rows.v[0].verdict == TL_PHASE_STRAGGLER ? rows.v[0] : row_without_rank(j, time_ns);
    job.cost_ns = tl_phase_ns(j->cost_ns);
    job.steps = (int64_t)j->nsteps;
    job.time_ns = tl_phase_ns(time_ns);
    tl_table_append(table, &job, 1);
    for (size_t i = 0; i < rows.n; i++)
        rows.v[i].place = (int32_t)i + 1;
    tl_table_append(table, rows.v, rows.n);
    free(rows.v);
}

/* ------------------------------------------------------------------------------------------------------------ phase */

TL_ORDER_BY(by_rank_and_phase, tl_phase_cell, rank, phase)

/* Returns the number of steps in which most ranks have the phase, but this rank does not. */
static int64_t count_missing(const tl_phase_job *j, const tl_phase_class *class, uint32_t rank)
{
    int64_t missing = 0;
    for (size_t k = 0; k < class->columns.n; k++) {
        size_t n = 0;
        for (uint32_t r = 0; r < j->nranks; r++)
            n += isnan(tl_phase_own(j, class, k, r)) ? 0 : 1;
        missing += 2 * n > j->nranks && isnan(tl_phase_own(j, class, k, rank));
    }
    return missing;
}

void tl_phase_rows(const tl_phase_job *j, const tl_phase_cells *cells, tl_tables *tables)
{
    const tl_phase_step *steps = tl_table_row(tl_tables_get(tables, &tl_phase_step_schema), 0);
    uint32_t *order = tl_sorted_index(cells->n, by_rank_and_phase, cells->v);
    int64_t *scratch = tl_malloc(j->nsteps * sizeof *scratch);
    TL_GROUPS (from, to, order, cells->n, by_rank_and_phase, cells->v) {
        const tl_phase_cell *first = &cells->v[order[from]];
        const tl_phase_class *class = &j->classes[first->phase];
        const uint32_t rank = (uint32_t)tl_index_of(j->ranks, j->nranks, first->rank);
        tl_phase row = { .rank = first->rank,
                         .phase = class->name,
                         .collectives = (uint8_t) class->holds,
                         .steps = (int64_t)(to - from),
                         .missing = count_missing(j, class, rank) };
        for (size_t i = from; i < to; i++) {
            row.excess_ns = tl_ns_sum(row.excess_ns, steps[order[i]].excess_ns);
            scratch[i - from] = cells->v[order[i]].duration_ns;
        }
        TL_EACH (const tl_phase_candidate, u, j->candidates)
            row.late_steps += u->rank == rank && u->class == first->phase ? (int64_t)u->shape.nup : 0;
        tl_spread spread = tl_spread_of(scratch, to - from);
        row.total_ns = spread.total;
        row.mean_ns = spread.mean;
        row.min_ns = spread.min;
        row.median_ns = spread.median;
        row.max_ns = spread.max;
        tl_table_append(tl_tables_get(tables, &tl_phase_schema), &row, 1);
    }
    free(order);
    free(scratch);
    add_verdicts(j, tl_tables_get(tables, &tl_phase_verdict_schema));
}

/* -------------------------------------------------------------------------------------------------------------- all */

void tl_phases_judge(const tl_phase_cells *cells, const tl_names *names, const tl_verdict_options *options,
                     tl_tables *tables)
{
    tl_phase_job j = {
        .names = names, .options = options, .outside = names->n, .waits = names->n + 1, .nclasses = names->n + 2
    };
    if (cells->n == 0)
        return;
    j.steps = tl_arena_take(&j.arena, cells->n, sizeof *j.steps);
    j.ranks = tl_arena_take(&j.arena, cells->n, sizeof *j.ranks);
    for (size_t i = 0; i < cells->n; i++) {
        j.steps[i] = cells->v[i].step;
        j.ranks[i] = cells->v[i].rank;
    }
    j.nsteps = tl_int_unique(j.steps, cells->n);
    j.nranks = tl_int_unique(j.ranks, cells->n);
    j.step_ns = tl_arena_zeroed(&j.arena, j.nsteps, sizeof *j.step_ns);
    j.classes = tl_arena_take(&j.arena, j.nclasses, sizeof *j.classes);
    for (uint32_t c = 0; c < names->n; c++) {
        const tl_text name = tl_names_text(names, c);
        j.classes[c] = (tl_phase_class){ .name = tl_names_intern(tables->names, name.p, name.n),
                                         .holds = tl_phase_holds_of(name),
                                         .only = TL_NONE };
    }
    j.classes[j.outside] = (tl_phase_class){ .holds = TL_HOLDS_UNKNOWN, .only = TL_NONE };
    j.classes[j.waits] = (tl_phase_class){ .holds = TL_HOLDS_ONLY, .only = TL_NONE };
    tl_phases_compare(&j, cells, tables);
    phase_candidates_find(&j);
    tl_phase_candidates_explain(&j);
    phase_candidates_cost(&j);
    tl_phase_rows(&j, cells, tables);
    for (size_t c = 0; c < j.nclasses; c++) {
        free(j.classes[c].columns.v);
        free(j.classes[c].own_ns.v);
    }
    free(j.candidates.v);
    tl_arena_free(&j.arena);
}
