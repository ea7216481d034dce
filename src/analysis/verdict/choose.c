/* choose.c - which of the late units are needed to explain the cost of lateness: backward elimination.
 *
 * Forward selection would never find equal units that hide each other: each of them alone gains nothing.  The unit
 * needed least is dropped, and the gains of the others are found anew; of very many units the half needed least is
 * dropped at once, so that n units take n log n replays and not n^2.
 */
#include "internal.h"
#include "tlmpi/base/quantile.h"
#include <math.h>
#include <string.h>

typedef struct choosing {
    const tl_baseline *b;
    tl_findings *out;
    tl_costing *costing;
    tl_arena arena;
    bool *chosen;   /* by unit */
    bool *some;     /* by unit, scratch */
    double *share;  /* by unit: needed_ns of its steps */
    double *shares; /* by unit, scratch */
    double least_cost;
} choosing;

/* Returns the length, ns, of all steps that the unit's repair covers; 1 if they have none. */
static double span_of(const choosing *c, const tl_unit *unit)
{
    int64_t ns = 0;
    for (size_t s = 0; s < c->b->nsteps; s++)
        ns += tl_unit_covers(c->b, unit, s) ? c->out->step_ns[s] : 0;
    return ns > 0 ? (double)ns : 1;
}

/* Fills needed_ns of each chosen unit, the loss of gain without its repair, and share, that as a part of its steps. */
static void find_needed(choosing *c)
{
    tl_unit *units = c->out->units.v;
    for (size_t u = 0; u < c->out->units.n; u++) {
        if (!c->chosen[u])
            continue;
        c->chosen[u] = false;
        units[u].needed_ns = c->out->together_ns - tl_cost_of(c->costing, c->chosen);
        c->chosen[u] = true;
        c->share[u] = (double)units[u].needed_ns / span_of(c, &units[u]);
    }
}

bool tl_drop_least_needed(bool *chosen, const double *share, size_t n, double least_cost, double *scratch)
{
    size_t nchosen = 0;
    bool any = false;
    for (size_t u = 0; u < n; u++)
        if (chosen[u])
            scratch[nchosen++] = share[u];
    if (nchosen == 0)
        return false;
    bool many = nchosen > (size_t)TL_CHOICE_MANY;
    tl_real_sort(scratch, nchosen);
    double most = scratch[many ? tl_lower_middle(nchosen) : 0];
    for (size_t u = 0; u < n && (many || !any); u++) {
        if (!chosen[u] || share[u] > most || share[u] >= least_cost)
            continue;
        chosen[u] = false;
        any = true;
    }
    return any;
}

/* Whether no chosen unit is needed, nor will be once others are dropped: any of them gains no more than all together, but
 * for the time that some repairs add to work in which a rank is ahead. */
static bool none_is_needed(const choosing *c)
{
    const double most_ns = (double)c->out->together_ns + 2 * (double)tl_cost_added_ns(c->costing);
    for (size_t u = 0; u < c->out->units.n; u++)
        if (c->chosen[u] && most_ns >= c->least_cost * span_of(c, &c->out->units.v[u]))
            return false;
    return true;
}

static void eliminate(choosing *c)
{
    for (size_t u = 0; u < c->out->units.n; u++)
        c->chosen[u] = true;
    do {
        c->out->together_ns = tl_cost_of(c->costing, c->chosen);
        if (none_is_needed(c)) {
            memset(c->chosen, 0, c->out->units.n * sizeof *c->chosen);
            c->out->together_ns = 0;
            break;
        }
        find_needed(c);
    } while (tl_drop_least_needed(c->chosen, c->share, c->out->units.n, c->least_cost, c->shares));
    for (size_t u = 0; u < c->out->units.n; u++)
        c->out->units.v[u].needed_ns = c->chosen[u] ? c->out->units.v[u].needed_ns : 0;
}

/* The communication part of a repair: the part that falls on links, in units of ranks as well. */
static const tl_cost_part of_links = { TL_NONE, ~0U, 1U << TL_ACTIVITY_COMM, false };

static void cost_ranks(choosing *c)
{
    tl_findings *out = c->out;
    for (size_t u = 0; u < out->units.n; u++) {
        memset(c->some, 0, out->units.n);
        c->some[u] = true;
        out->units.v[u].alone_ns = tl_cost_of(c->costing, c->some);
        out->units.v[u].needed = c->chosen[u];
        if (out->units.v[u].with == TL_NONE)
            continue;
        c->some[out->units.v[u].with] = true;
        out->units.v[u].alone_ns = tl_cost_of_part(c->costing, c->some, &of_links);
    }
    for (size_t u = 0; u < out->units.n; u++)
        c->some[u] = c->chosen[u] && (out->units.v[u].link != TL_NONE || out->units.v[u].with != TL_NONE);
    out->links_ns = tl_cost_of_part(c->costing, c->some, &of_links);
    for (size_t u = 0, to; u < out->units.n && out->units.v[u].rank != TL_NONE; u = to) {
        uint32_t rank = out->units.v[u].rank;
        bool any = false;
        tl_cost_part links = of_links;
        memset(c->some, 0, out->units.n);
        for (to = u; to < out->units.n && out->units.v[to].rank == rank; to++) {
            uint32_t with = out->units.v[to].with;
            c->some[to] = c->chosen[to];
            any = any || c->chosen[to];
            if (with == TL_NONE)
                continue;
            c->some[with] = true;
            links.rank = out->units.v[with].rank;
        }
        if (!any)
            continue;
        out->rank_ns[rank] = tl_cost_of_part(c->costing, c->some, links.rank != TL_NONE ? &links : NULL);
        tl_cost_by_step(c->costing, out->rank_step_ns + rank * c->b->nsteps);
    }
}

/* Returns the gain, ns, of repairing only the unit's rank, or only its link. */
static int64_t gain_of(const choosing *c, const tl_unit *unit)
{
    return unit->rank != TL_NONE ? c->out->rank_ns[unit->rank] : unit->alone_ns;
}

static bool gains_enough(const choosing *c, const tl_unit *unit, int64_t gain_ns)
{
    return (double)gain_ns >= c->least_cost * span_of(c, unit);
}

/* Drops chosen units whose own repair gains nothing: such a unit is the next bottleneck, and no culprit.  Units that
 * hide each other stay: all chosen units together gain more than twice what the best gains, or the units without a
 * gain of their own gain enough together.  An end of a slow link stays, since its two ends only gain together.
 * Returns whether a unit was dropped. */
static bool drop_next(choosing *c)
{
    tl_unit *units = c->out->units.v;
    int64_t best_ns = 0;
    bool any = false;
    for (size_t u = 0; u < c->out->units.n; u++) {
        if (c->chosen[u])
            best_ns = best_ns > gain_of(c, &units[u]) ? best_ns : gain_of(c, &units[u]);
        c->some[u] = c->chosen[u] && units[u].with == TL_NONE && !gains_enough(c, &units[u], gain_of(c, &units[u]));
        any = any || c->some[u];
    }
    if (!any || c->out->together_ns > 2 * best_ns)
        return false;
    int64_t hidden_ns = tl_cost_of(c->costing, c->some);
    any = false;
    for (size_t u = 0; u < c->out->units.n; u++) {
        if (!c->some[u] || gains_enough(c, &units[u], hidden_ns))
            continue;
        c->chosen[u] = false;
        units[u].needed_ns = 0;
        any = true;
        if (units[u].rank == TL_NONE)
            continue;
        c->out->rank_ns[units[u].rank] = -1;
        memset(c->out->rank_step_ns + units[u].rank * c->b->nsteps, 0, c->b->nsteps * sizeof *c->out->rank_step_ns);
    }
    return any;
}

static void take_in(const choosing *c, tl_unit *whole, tl_unit *unit)
{
    double share;
    bool drifts = whole->shape.pattern == TL_PATTERN_DRIFTING || unit->shape.pattern == TL_PATTERN_DRIFTING;
    for (size_t s = 0; s < c->b->nsteps; s++)
        whole->on[s] = whole->on[s] || unit->on[s];
    tl_put_pattern(c->b, whole->on, drifts, &whole->shape, &share);
    whole->z = fmax(whole->z, unit->z);
    whole->p = fmin(whole->p, unit->p);
    whole->late_ns += unit->late_ns;
    whole->needed_ns += unit->needed_ns;
    unit->needed = false;
}

/* A link that is slow by more in some steps is one slow link: its first chosen unit takes in the others.  All gains are
 * known. */
static void join_links(choosing *c)
{
    tl_unit *units = c->out->units.v;
    size_t n = c->out->units.n;
    for (size_t u = 0; u < n; u++) {
        if (units[u].link == TL_NONE || !units[u].needed)
            continue;
        memset(c->some, 0, n);
        for (size_t v = u; v < n; v++)
            c->some[v] = units[v].link == units[u].link && units[v].needed;
        units[u].alone_ns = tl_cost_of(c->costing, c->some);
        for (size_t v = u + 1; v < n; v++)
            if (c->some[v])
                take_in(c, &units[u], &units[v]);
    }
}

void tl_units_choose(const tl_baseline *b, double least_cost, tl_findings *out)
{
    if (out->units.n == 0)
        return;
    choosing c = { .b = b, .out = out, .costing = tl_costing_new(b, out), .least_cost = least_cost };
    c.chosen = tl_arena_zeroed(&c.arena, out->units.n, sizeof *c.chosen);
    c.some = tl_arena_zeroed(&c.arena, out->units.n, sizeof *c.some);
    c.share = tl_arena_zeroed(&c.arena, out->units.n, sizeof *c.share);
    c.shares = tl_arena_zeroed(&c.arena, out->units.n, sizeof *c.shares);
    eliminate(&c);
    tl_exchanges_find(b, c.chosen, out);
    cost_ranks(&c);
    if (drop_next(&c)) {
        c.out->together_ns = tl_cost_of(c.costing, c.chosen);
        find_needed(&c);
        cost_ranks(&c);
    }
    tl_causes_of_gains(c.costing, c.chosen, c.some, out);
    join_links(&c);
    tl_costing_free(c.costing);
    tl_arena_free(&c.arena);
}
