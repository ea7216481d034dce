/* find.c - assigns ranks to clocks, one per host or one per rank, and finds each clock's offset, drift and step from
 * the ends of collectives, within the bounds. */
#include "internal.h"
#include "tlmpi/base/quantile.h"
#include "tlmpi/base/stats.h"
#include "tlmpi/model/parameters.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ------------------------------------------------------------------------------------------------- offset and drift */

/* Least squares over the graph of clocks and ties. */

/* Conjugate gradients stop when the squared residual has shrunk by this factor: below 1 ns. */
static const double NOTHING = 1e-20;

/* One round of least squares: L x = b, where L is the graph's weighted Laplacian. */
typedef struct rounding {
    const tl_clock_ties *g;
    double *weight;                                /* by end */
    double *diagonal, *b, *x, *rest, *way, *along; /* by node */
} rounding;

/* Returns the squared norm of `rest`, each node divided by its diagonal; nodes without ends are left out. */
static double squared_norm(const rounding *r, const double *rest)
{
    double sum = 0;
    for (size_t i = 0; i < r->g->nnodes; i++)
        sum += r->diagonal[i] > 0 ? rest[i] * rest[i] / r->diagonal[i] : 0;
    return sum;
}

/* Solves L x = b by conjugate gradients, preconditioned by the diagonal.  b sums to 0 over each component, so a
 * solution exists. */
static void solve_system(rounding *r)
{
    size_t n = r->g->nnodes;
    memset(r->x, 0, n * sizeof *r->x);
    memcpy(r->rest, r->b, n * sizeof *r->rest);
    double square = squared_norm(r, r->rest), least = square * NOTHING;

    for (size_t i = 0; i < n; i++)
        r->way[i] = r->diagonal[i] > 0 ? r->rest[i] / r->diagonal[i] : 0;
    for (size_t k = 0; k < 2 * n && square > least; k++) {
        double curve = 0;
        memset(r->along, 0, r->g->nnodes * sizeof *r->along);
        for (size_t e = 0; e < r->g->nends; e++) {
            double flow = r->weight[e] * (r->way[r->g->clock[e]] - r->way[r->g->tie[e]]);
            r->along[r->g->clock[e]] += flow;
            r->along[r->g->tie[e]] -= flow;
        }
        for (size_t i = 0; i < n; i++)
            curve += r->way[i] * r->along[i];
        if (!(curve > 0))
            break;
        for (size_t i = 0; i < n; i++) {
            r->x[i] += square / curve * r->way[i];
            r->rest[i] -= square / curve * r->along[i];
        }
        double next = squared_norm(r, r->rest);
        for (size_t i = 0; i < n; i++)
            r->way[i] = (r->diagonal[i] > 0 ? r->rest[i] / r->diagonal[i] : 0) + next / square * r->way[i];
        square = next;
    }
}

static double residual_of(const tl_clock_ties *g, size_t e, const int64_t *value, const int64_t *out)
{
    return (double)tl_ns_between(value[e], tl_ns_between(out[g->clock[e]], out[g->tie[e]]));
}

/* Sets the weight of each end to 1 / sigma^2, diagonal, and b from the residuals of `out`. */
static void set_weights(rounding *r, const int64_t *value, const double *sigma, const int64_t *out)
{
    memset(r->diagonal, 0, r->g->nnodes * sizeof *r->diagonal);
    memset(r->b, 0, r->g->nnodes * sizeof *r->b);
    for (size_t e = 0; e < r->g->nends; e++) {
        double rest = residual_of(r->g, e, value, out);
        r->weight[e] = isfinite(sigma[e]) ? 1 / (sigma[e] * sigma[e]) : 0;
        r->diagonal[r->g->clock[e]] += r->weight[e];
        r->diagonal[r->g->tie[e]] += r->weight[e];
        r->b[r->g->clock[e]] += r->weight[e] * rest;
        r->b[r->g->tie[e]] -= r->weight[e] * rest;
    }
}

/* Sets apart[], by node, to the square root of the least sum of sigma^2 + residual^2 over paths of ends from the
 * component's lowest clock. */
static void find_sigmas(const tl_clock_ties *g, const int64_t *component, const int64_t *value, const double *sigma,
                        const int64_t *out, double *apart)
{
    bool changed = true;
    for (size_t i = 0; i < g->nnodes; i++)
        apart[i] = component[i] == (int64_t)i ? 0 : INFINITY;
    while (changed) {
        changed = false;
        for (size_t e = 0; e < g->nends; e++) {
            double *a = &apart[g->clock[e]], *b = &apart[g->tie[e]], rest = residual_of(g, e, value, out);
            double open = sigma[e] * sigma[e] + rest * rest;
            changed = changed || *a > *b + open || *b > *a + open;
            *a = fmin(*a, *b + open);
            *b = fmin(*b, *a + open);
        }
    }
    for (size_t i = 0; i < g->nnodes; i++)
        apart[i] = sqrt(apart[i]);
}

/* value[] and sigma[], by end: the measured difference of its two nodes and its error; INFINITY: ignored.  Sets out[],
 * by node, to the solution less that of component[], the lowest clock connected with the node; and apart[], by node, to
 * the error of out[], accumulated over the path of ends with the least error; INFINITY: no path. */
static void clock_ties_solve(const tl_clock_ties *g, const int64_t *component, const int64_t *value,
                             const double *sigma, int64_t *out, double *apart)
{
    double *room = tl_calloc(g->nends + 6 * g->nnodes + 1, sizeof *room);
    double *by_node = room + g->nends;
    rounding r = { .g = g, .weight = room, .diagonal = by_node };
    r.b = by_node + g->nnodes;
    r.x = r.b + g->nnodes;
    r.rest = r.x + g->nnodes;
    r.way = r.rest + g->nnodes;
    r.along = r.way + g->nnodes;

    memset(out, 0, g->nnodes * sizeof *out);
    for (int64_t most = INT64_MAX, last = 0;
         most > 0 && most != last;) { /* clocks years apart have more digits than x */
        last = most;
        most = 0;
        set_weights(&r, value, sigma, out);
        solve_system(&r);
        for (size_t i = 0; i < g->nnodes; i++) {
            int64_t by_ns = llround(r.x[i]);
            out[i] = tl_ns_sum(out[i], by_ns);
            most = tl_ns_max(most, llabs(by_ns));
        }
        most = most < last ? most : last;
    }
    free(room);
    for (size_t i = g->nnodes; i-- > 0;) /* descending: a component's lowest clock is subtracted last */
        out[i] = tl_ns_between(out[i], out[component[i]]);
    find_sigmas(g, component, value, sigma, out, apart);
}

/* Sets component[], by node, to the lowest clock that ties connect it with. */
static void clock_ties_label(const tl_clock_ties *g, int64_t *component)
{
    bool changed = true;
    for (size_t i = 0; i < g->nnodes; i++)
        component[i] = (int64_t)i;
    while (changed) {
        changed = false;
        for (size_t e = 0; e < g->nends; e++) {
            int64_t *a = &component[g->clock[e]], *b = &component[g->tie[e]], least = tl_ns_min(*a, *b);
            changed = changed || *a != *b;
            *a = *b = least;
        }
    }
}

typedef struct search {
    const tl_clock_bounds *b;
    const tl_clock_procs *procs;
    const tl_clock_end *ends;
    tl_rank_clock *found, *tried; /* by rank */
    size_t nranks, nends, nties;
    bool cut;                          /* some end has a step at the cut */
    int64_t first_ns, last_ns;         /* first and last of the bounds' last arrivals, over all procs */
    uint32_t *rank, *clock, *tie;      /* by end */
    int64_t *component, *solved;       /* by node */
    int64_t *low, *high, *offset;      /* by clock; high[nclocks]: 1 if the last pass changed nothing */
    int64_t *low_from, *own;           /* by clock: the clock that set low; this proc's low, or scratch */
    int64_t *value, *values;           /* by end; by rank */
    double *sigma, *apart, *uncertain; /* sigma by end; of solved, by node; of the corrected time, ns, by clock */
    tl_clock_ties g;
} search;

/* Numbers the clocks: with by_host, one for each known host, and one for each other rank; resets offsets, drifts and
 * steps. */
static void number_clocks(search *s, bool by_host)
{
    s->g = (tl_clock_ties){ .nends = s->nends, .clock = s->clock, .tie = s->tie };
    for (size_t i = 0; i < s->nranks; i++) {
        size_t k = by_host && s->tried[i].host >= 0 ? 0 : i;
        while (k < i && s->tried[k].host != s->tried[i].host)
            k++;
        s->tried[i].clock = k < i ? s->tried[k].clock : (int32_t)s->g.nclocks++;
        s->tried[i].drift_ppb = s->tried[i].step_ns = 0;
        s->tried[i].step_at_ns = INT64_MAX;
        s->tried[i].middle_ns = s->first_ns + tl_ns_between(s->last_ns, s->first_ns) / 2;
    }
    for (size_t e = 0, tie = 0; e < s->nends; e++) {
        tie += e > 0 && s->ends[e].tie != s->ends[e - 1].tie;
        s->clock[e] = (uint32_t)s->tried[s->rank[e]].clock;
        s->tie[e] = (uint32_t)(s->g.nclocks + tie);
    }
    s->g.nnodes = s->g.nclocks + s->nties;
    clock_ties_label(&s->g, s->component);
    for (size_t c = 0; c < s->g.nclocks; c++)
        s->offset[c] = 0;
    for (size_t c = 0; c < s->g.nclocks; c++)
        s->uncertain[c] = 0;
}

/* Returns the number of bounds, over all procs, that the offsets break. */
static int64_t count_broken(const search *s)
{
    int64_t broken = tl_clock_bounds_broken(s->b, s->tried, s->offset);
    s->procs->sum(&broken, 1);
    return broken;
}

/* ----------------------------------------------------------------------------------------------------------- solve */

/* Sets the drifts of all clocks; all 0 unless one drift exceeds the clock error and its own uncertainty over half the
 * recording. */
static void solve_drifts(search *s)
{
    double half_s = (double)tl_ns_between(s->last_ns, s->first_ns) / 2e9;
    bool shows = false;

    for (size_t e = 0; e < s->nends; e++) {
        s->value[e] = s->ends[e].drift_ppb;
        s->sigma[e] = isfinite(s->ends[e].sigma_ns) ? s->ends[e].drift_sigma_ppb : INFINITY;
    }
    clock_ties_solve(&s->g, s->component, s->value, s->sigma, s->solved, s->apart);
    for (size_t c = 0; c < s->g.nclocks; c++)
        shows |= half_s * fabs((double)s->solved[c]) > fmax(TL_CLOCK_ERROR_NS, TL_SURE_SIGMAS * half_s * s->apart[c]);
    for (size_t i = 0; i < s->g.nnodes; i++)
        s->solved[i] = shows && isfinite(s->apart[i]) ? s->solved[i] : 0;
    for (size_t c = 0; shows && c < s->g.nclocks; c++)
        s->uncertain[c] = isfinite(s->apart[c]) ? half_s * s->apart[c] : 0;
    for (size_t i = 0; i < s->nranks; i++)
        s->tried[i].drift_ppb = s->solved[s->tried[i].clock];
}

static void solve_steps(search *s)
{
    for (size_t e = 0; e < s->nends; e++) {
        s->value[e] = s->ends[e].step_ns;
        s->sigma[e] = s->ends[e].step_sigma_ns;
    }
    clock_ties_solve(&s->g, s->component, s->value, s->sigma, s->solved, s->apart);
    /* Steps are relative: the median rank's clock is taken to have none, as most clocks do. */
    for (size_t i = 0; i < s->nranks; i++)
        s->values[i] = s->solved[s->tried[i].clock];
    int64_t middle_ns = tl_lower_median(s->values, s->nranks);
    for (size_t i = 0; i < s->nranks; i++) {
        int32_t c = s->tried[i].clock;
        int64_t step_ns = tl_ns_between(s->solved[c], middle_ns);
        if (isfinite(s->apart[c]) && fabs((double)step_ns) > TL_SURE_SIGMAS * fmax(s->apart[c], TL_CLOCK_ERROR_NS)) {
            /* The step follows the rank's last end before the cut. */
            tl_rank_clock *t = &s->tried[i];
            t->step_ns = step_ns;
            t->step_at_ns = INT64_MIN;
            for (size_t e = 0; e < s->nends; e++)
                if (s->rank[e] == i && isfinite(s->sigma[e]))
                    t->step_at_ns = tl_ns_max(t->step_at_ns, s->ends[e].step_at_ns);
        }
    }
    for (size_t c = 0; c < s->g.nclocks; c++)
        s->uncertain[c] = isfinite(s->apart[c]) ? hypot(s->uncertain[c], s->apart[c]) : s->uncertain[c];
}

/* Sets the offsets in the middle of the recording; s->solved holds the drifts of clocks and ties. */
static void solve_offsets(search *s)
{
    for (size_t e = 0; e < s->nends; e++) {
        const tl_clock_end *end = &s->ends[e];
        int64_t drift_ppb = s->solved[s->clock[e]] - s->solved[s->tie[e]];
        int64_t since_ns = tl_ns_between(end->at_ns, s->tried[s->rank[e]].middle_ns);
        s->value[e] = tl_ns_between(end->late_ns, tl_ns_of_drift(drift_ppb, since_ns));
        s->sigma[e] = end->sigma_ns;
    }
    clock_ties_solve(&s->g, s->component, s->value, s->sigma, s->solved, s->apart);
    memcpy(s->offset, s->solved, s->g.nclocks * sizeof *s->offset);
    for (size_t c = 0; c < s->g.nclocks; c++)
        s->uncertain[c] = hypot(s->uncertain[c], s->apart[c]);
}

static void solve_clocks(search *s)
{
    solve_drifts(s);
    solve_offsets(s);
    if (s->cut)
        solve_steps(s);
    /* A further clock step is not corrected: it adds to the uncertainty of the clocks whose ends show it. */
    for (size_t e = 0; e < s->nends; e++)
        if (isfinite(s->ends[e].sigma_ns))
            s->uncertain[s->clock[e]] = fmax(s->uncertain[s->clock[e]], fabs((double)s->ends[e].found_ns));
}

/* Whether low_from has a cycle: the bounds along it contradict each other, and passes would lower low without end.
 * scratch: [nclocks]. */
static bool has_cycle(const search *s, int64_t *scratch)
{
    bool round = false;
    for (size_t c = 0; c < s->g.nclocks; c++)
        scratch[c] = -1;
    for (size_t c = 0; c < s->g.nclocks && !round; c++) {
        int64_t at = (int64_t)c;
        for (; at >= 0 && scratch[at] < 0; at = s->low_from[at])
            scratch[at] = (int64_t)c;
        round = at >= 0 && scratch[at] == (int64_t)c;
    }
    return round;
}

/* Makes one pass over the bounds of all procs; returns whether low and high are unchanged. */
static bool follow_bounds(search *s)
{
    size_t n = s->g.nclocks;
    s->high[n] = tl_clock_bounds_pass(s->b, s->tried, s->low, s->high, s->low_from) ? 1 : 0;
    memcpy(s->own, s->low, n * sizeof *s->own);
    for (size_t i = 0; i < n; i++)
        s->high[i] = -s->high[i];
    s->procs->least(s->low, 2 * n + 1);
    for (size_t i = 0; i < n; i++) {
        s->high[i] = -s->high[i];
        s->low_from[i] = s->own[i] == s->low[i] ? s->low_from[i] : INT64_MAX; /* another proc has it */
    }
    s->procs->least(s->low_from, n);
    return s->high[n] != 0;
}

/* Moves each offset to the mean of the low and high that repeated passes over the bounds reach from it.  Offsets stay
 * as they are if the bounds contradict each other: passes then do not converge. */
static void keep_bounds(search *s)
{
    size_t n = s->g.nclocks;
    bool endless = false, settled = false;

    s->high = s->low + n;
    memcpy(s->low, s->offset, n * sizeof *s->low);
    memcpy(s->high, s->offset, n * sizeof *s->high);
    for (size_t c = 0; c < n; c++)
        s->low_from[c] = -1;
    for (size_t k = 0; !settled && !endless && k <= n; k++) {
        settled = follow_bounds(s);
        endless = has_cycle(s, s->own) && !settled;
        for (size_t i = 0; i < n; i++)
            endless |= s->low[i] <= -TL_CLOCK_FAR || s->high[i] >= TL_CLOCK_FAR;
    }
    for (size_t c = 0; settled && !endless && c < n; c++)
        s->offset[c] = tl_mean_of_two(s->low[c], s->high[c]);
}

/* ------------------------------------------------------------------------------------------------------------ keep */

/* Subtracts from the values of each component's clocks their median over ranks.  The lower median is some rank's own
 * value: of two hosts of equal size, one keeps its clock. */
static void subtract_medians(search *s, int64_t *value)
{
    for (size_t component = 0; component < s->g.nclocks; component++) {
        size_t n = 0;
        for (size_t i = 0; i < s->nranks; i++)
            if (s->component[s->tried[i].clock] == (int64_t)component)
                s->values[n++] = value[s->tried[i].clock];
        if (n == 0)
            continue;
        int64_t middle = tl_lower_median(s->values, n);
        for (size_t c = 0; c < s->g.nclocks; c++)
            if (s->component[c] == (int64_t)component)
                value[c] = tl_ns_between(value[c], middle);
    }
}

/* Whether a clock difference of apart_ns exceeds its uncertainty and the clock error. */
static bool is_surely_apart(int64_t apart_ns, double sigma_ns)
{
    return fabs((double)apart_ns) > fmax(TL_SURE_SIGMAS * sigma_ns, TL_CLOCK_ERROR_NS);
}

/* Copies the tried clocks to the found ones; shift: times are corrected by them. */
static void store_clocks(search *s, bool shift)
{
    bool stepped = false;
    double unsure_ns = 0;
    for (size_t i = 0; i < s->nranks; i++) {
        double sigma_ns = s->uncertain[s->tried[i].clock];
        stepped |= s->tried[i].step_ns != 0;
        unsure_ns = sigma_ns < (double)TL_CLOCK_FAR ? fmax(unsure_ns, sigma_ns) : unsure_ns;
    }
    for (size_t i = 0; i < s->nranks; i++)
        s->low[s->tried[i].clock] = s->tried[i].drift_ppb;
    subtract_medians(s, s->low);
    subtract_medians(s, s->offset);
    for (size_t i = 0; i < s->nranks; i++) {
        tl_rank_clock *t = &s->tried[i];
        t->drift_ppb = s->low[t->clock];
        t->offset_ns = s->offset[t->clock];
        t->component = (int32_t)s->component[t->clock];
        t->sigma_ns = s->uncertain[t->clock] < (double)TL_CLOCK_FAR ? llround(s->uncertain[t->clock]) : INT64_MAX;
        t->applied = shift && (t->offset_ns != 0 || t->drift_ppb != 0 || t->step_ns != 0);
        /* Ranks of unknown hosts, whose recorded times break no bound, may share one clock: offset 0, unless a clock
         * steps or the offset exceeds its uncertainty. */
        if (!shift && t->host < 0 && !stepped && !is_surely_apart(t->offset_ns, unsure_ns))
            t->drift_ppb = t->offset_ns = t->sigma_ns = 0;
        s->found[i] = *t;
    }
}

/* Whether some clock's offset exceeds its uncertainty, or some clock steps.  Offsets count only with two ranks per
 * clock on average: the ends of one rank may differ persistently by its own transfer.  Steps leave transfers
 * unchanged. */
static bool exceeds_scatter(const search *s)
{
    bool beyond = false;
    for (size_t c = 0; 2 * s->g.nclocks <= s->nranks && c < s->g.nclocks; c++)
        beyond |= is_surely_apart(tl_ns_between(s->offset[c], s->offset[s->component[c]]), s->uncertain[c]);
    for (size_t i = 0; i < s->nranks; i++)
        beyond |= s->tried[i].step_ns != 0;
    return beyond;
}

/* Solves one numbering of clocks and stores it, with its corrections if they break fewer than *least bounds.  The first
 * call sets *least to the bounds that recorded clocks break, and is stored in any case. */
static void try_clocks(search *s, tl_clock_mode mode, bool by_host, bool first, int64_t *least)
{
    bool shift = false;
    number_clocks(s, by_host);
    *least = first ? count_broken(s) : *least;
    if (s->g.nclocks > 1) {
        solve_clocks(s);
        bool beyond = first && exceeds_scatter(s);
        keep_bounds(s);
        int64_t broken = count_broken(s);
        shift = broken < *least || (first && broken == *least && (beyond || mode == TL_CLOCK_FORCE));
        *least = shift ? broken : *least;
    }
    if (first || shift)
        store_clocks(s, shift && mode != TL_CLOCK_NONE);
}

/* Sets all guessed hosts to unknown if two ranks on one of them have clocks that are surely apart. */
static void drop_wrong_hosts(search *s)
{
    bool guessed = false, apart = false;
    for (size_t i = 0; i < s->nranks; i++)
        guessed |= s->tried[i].guessed != 0;
    if (!guessed)
        return;
    number_clocks(s, false);
    solve_clocks(s);
    for (size_t i = 0; i < s->nranks; i++)
        for (size_t k = 0; s->tried[i].guessed != 0 && k < i; k++)
            apart |=
                s->tried[k].host == s->tried[i].host && s->component[i] == s->component[k] &&
                is_surely_apart(tl_ns_between(s->offset[i], s->offset[k]), hypot(s->uncertain[i], s->uncertain[k]));
    for (size_t i = 0; apart && i < s->nranks; i++)
        s->tried[i].host = s->tried[i].guessed != 0 ? -1 : s->tried[i].host;
}

/* Allocates the arrays and fills rank[] and cut; every end is of a rank that has a clock. */
static void allocate_search(search *s, tl_arena *arena)
{
    const tl_job_facts facts = { .ranks = s->found, .nranks = s->nranks };
    for (size_t e = 0; e < s->nends; e++)
        s->nties += e == 0 || s->ends[e].tie != s->ends[e - 1].tie;
    size_t nnodes = s->nranks + s->nties;
    s->tried = tl_arena_take(arena, s->nranks + 1, sizeof *s->tried);
    s->rank = tl_arena_take(arena, 3 * s->nends + 1, sizeof *s->rank);
    s->component = tl_arena_take(arena, 2 * nnodes + 3 * s->nranks + 2, sizeof *s->component);
    s->offset = tl_arena_take(arena, 2 * s->nranks + s->nends + 1, sizeof *s->offset);
    s->low_from = tl_arena_take(arena, s->nranks, sizeof *s->low_from);
    s->own = tl_arena_take(arena, s->nranks, sizeof *s->own);
    s->sigma = tl_arena_take(arena, s->nends + nnodes + s->nranks + 1, sizeof *s->sigma);
    memcpy(s->tried, s->found, s->nranks * sizeof *s->tried);
    s->clock = s->rank + s->nends;
    s->tie = s->clock + s->nends;
    s->solved = s->component + nnodes;
    s->low = s->solved + nnodes;
    s->values = s->offset + s->nranks;
    s->value = s->values + s->nranks;
    s->apart = s->sigma + s->nends;
    s->uncertain = s->apart + nnodes;
    for (size_t e = 0; e < s->nends; e++) {
        const tl_rank_clock *clock = tl_rank_clock_of(&facts, s->ends[e].rank);
        s->rank[e] = clock != NULL ? (uint32_t)(clock - s->found) : 0;
        s->cut = s->cut || s->ends[e].step_ns != 0;
    }
}

void tl_clocks_find(const tl_participant *participants, size_t n, const tl_clock_end *ends, size_t nends,
                    tl_clock_mode mode, const tl_clock_procs *procs, const tl_group_fact *groups, size_t ngroups,
                    tl_rank_clock *rank_clocks, size_t nrank_clocks)
{
    const tl_job_facts job = { .groups = groups, .ngroups = ngroups, .ranks = rank_clocks, .nranks = nrank_clocks };
    tl_clock_bounds b = { 0 };
    search s = { .b = &b, .procs = procs, .ends = ends, .nends = nends, .found = rank_clocks, .nranks = nrank_clocks };
    tl_arena arena = { 0 };
    allocate_search(&s, &arena);
    tl_clock_bounds_make(participants, n, &job, &b);
    int64_t extent[] = { b.first_ns, -b.last_ns }, least = 0;
    procs->least(extent, 2);
    s.first_ns = extent[0] <= -extent[1] ? extent[0] : 0;
    s.last_ns = extent[0] <= -extent[1] ? -extent[1] : 0;
    drop_wrong_hosts(&s);
    try_clocks(&s, mode, true, true, &least);
    if (least > 0 && s.g.nclocks < s.nranks) /* else the first call gave each rank its own clock */
        try_clocks(&s, mode, false, false, &least);
    tl_clock_bounds_free(&b);
    tl_arena_free(&arena);
}

int64_t tl_clock_steady(const tl_rank_clock *clock, int64_t ns)
{
    int64_t step_ns = clock->step_ns != 0 && ns > clock->step_at_ns ? clock->step_ns : 0;
    if (clock->drift_ppb == 0 && step_ns == 0)
        return ns;
    return tl_ns_between(ns, tl_ns_sum(step_ns, tl_ns_of_drift(clock->drift_ppb, tl_ns_between(ns, clock->middle_ns))));
}

int64_t tl_clock_correct(const tl_rank_clock *clock, int64_t ns)
{
    return !clock->applied || ns == TL_TIME_UNKNOWN ? ns : tl_ns_between(tl_clock_steady(clock, ns), clock->offset_ns);
}

void tl_clocks_correct(tl_participant *participants, size_t n, const tl_job_facts *job)
{
    for (size_t i = 0; i < n; i++) {
        tl_participant *p = &participants[i];
        const tl_rank_clock *rank_clock = tl_rank_clock_of(job, p->rank);
        if (rank_clock == NULL || !rank_clock->applied)
            continue;
        int64_t end_ns = tl_clock_correct(rank_clock, p->end_ns);
        p->start_ns = tl_clock_correct(rank_clock, p->start_ns);
        p->end_ns = end_ns > p->start_ns ? end_ns : p->start_ns;
        p->launch_ns = tl_clock_correct(rank_clock, p->launch_ns);
        p->done_ns = tl_clock_correct(rank_clock, p->done_ns);
    }
}
