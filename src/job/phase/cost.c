/* cost.c - what the job would gain without those that are named, and by how much these are later than their peers.
 *
 * A rank costs no more than another one is earlier in the phase itself, and no more than another one comes earlier to where
 * the others wait: the second also knows of what the others do late meanwhile.  Delays that pile up over steps in which
 * nobody waits come to a little more than the second.
 *
 *     compute      rank 3 [###########]      others [######] [#######] [#####]     4 later than the next
 *     all_reduce   rank 3 [##]               others [#######] [######] [####]      2 shorter than the next: it costs 2
 */
#include "internal.h"
#include "tlmpi/base/mem.h"
#include "tlmpi/base/quantile.h"
#include "tlmpi/base/sort.h"
#include "tlmpi/base/stats.h"
#include "tlmpi/job/transport/rows.h"
#include "tlmpi/model/parameters.h"
#include <string.h>

/* In the phase, and where the others wait. */
enum { IN_PHASE, AT_ARRIVAL, NCOSTS };

typedef struct costing {
    tl_phasing *p;
    tl_phase_found *found;
    uint32_t *rank_of; /* [units] index of its rank */
    bool *marked;      /* [nranks] */
    int64_t *costs;    /* [NCOSTS * (units + 1)] the last: of all together */
    int64_t *of_rank;  /* [NCOSTS * nranks] of the step at hand */
    size_t step;       /* that one; SIZE_MAX: none yet */
    double *shares;    /* [units] */
    int64_t *peers;    /* [2 * units] what it is later than those that nobody names, and shorter where these wait */
    int64_t *scratch;  /* [nranks] */
} costing;

static size_t index_of_rank(const costing *a, int32_t rank)
{
    return tl_index_of(a->p->ranks, a->p->nranks, rank);
}

static bool is_named(const costing *a, size_t unit)
{
    return a->found->readings[unit].answer == TL_PHASE_STRAGGLER;
}

static int64_t *costs_of(costing *a, size_t cost)
{
    return a->costs + cost * (a->p->units.units.n + 1);
}

/* The step is over: of each cost what the latest rank has. */
static void end_step(costing *a)
{
    for (size_t cost = 0; cost < NCOSTS; cost++) {
        int64_t most_ns = 0;
        for (size_t i = 0; i < a->p->nranks; i++)
            most_ns = tl_ns_max(most_ns, a->of_rank[cost * a->p->nranks + i]);
        int64_t *all = &costs_of(a, cost)[a->p->units.units.n];
        *all = tl_ns_add(*all, most_ns);
    }
    memset(a->of_rank, 0, NCOSTS * a->p->nranks * sizeof *a->of_rank);
}

/* What counts in a group: in the phase, or where the others wait. */
static bool counts(const costing *a, size_t unit, const tl_phase_group *g, size_t cost)
{
    const tl_phase_unit *u = &a->p->units.units.v[unit];
    if (!is_named(a, unit) || g->n == 0)
        return false;
    if (cost == IN_PHASE)
        return u->phase == g->column && tl_phase_is_up(a->p, unit, g->step);
    uint32_t in = a->found->readings[unit].in;
    bool measured = in == tl_phase_ncolumns(a->p) && g->rows[0].wait_ns >= 0;
    return (in == g->column || measured) && tl_phase_is_after(a->p, unit, g->step);
}

/* How late a rank is in the phase, or came to where the others wait. */
static int64_t lateness(const tl_phase_step *row, size_t cost)
{
    return cost == IN_PHASE ? tl_phase_own_ns(row) : row->wait_ns >= 0 ? -row->wait_ns : -row->duration_ns;
}

/* All that are named are repaired: who then is latest decides how early the step may be. */
static void add_cost(costing *a, const tl_phase_group *g, size_t cost)
{
    const size_t nunits = a->p->units.units.n;
    size_t any = nunits;
    int64_t others_ns = INT64_MIN;

    for (size_t u = 0; u < nunits; u++) {
        if (!counts(a, u, g, cost))
            continue;
        any = u;
        a->marked[a->rank_of[u]] = true;
    }
    if (any == nunits)
        return;
    for (size_t i = 0; i < g->n; i++)
        if (!a->marked[index_of_rank(a, g->rows[i].rank)])
            others_ns = tl_ns_max(others_ns, lateness(&g->rows[i], cost));
    if (cost == IN_PHASE && others_ns == INT64_MIN) /* nobody else has the phase, or all are named */
        others_ns = g->rows[0].baseline_ns;
    for (size_t u = 0; u < nunits; u++) {
        if (!counts(a, u, g, cost))
            continue;
        const tl_phase_step *row = tl_phase_row_of(g, a->p->units.units.v[u].rank);
        a->marked[a->rank_of[u]] = false;
        if (row == NULL || others_ns == INT64_MIN)
            continue;
        int64_t ns = tl_ns_max(0, tl_ns_sum(lateness(row, cost), -others_ns));
        int64_t *of_rank = &a->of_rank[cost * a->p->nranks + a->rank_of[u]];
        costs_of(a, cost)[u] = tl_ns_add(costs_of(a, cost)[u], ns);
        *of_rank = cost == IN_PHASE ? tl_ns_add(*of_rank, ns) : tl_ns_max(*of_rank, ns);
    }
}

static void see_cost(const tl_phase_group *g, void *arg)
{
    costing *a = arg;
    if (g->step != a->step)
        end_step(a);
    a->step = g->step;
    for (size_t cost = 0; cost < NCOSTS; cost++)
        add_cost(a, g, cost);
}

/* Whether the one phase in which the others wait makes up for all. */
static bool arrival_tells(const costing *a, size_t unit)
{
    double late_ns = (double)a->p->units.units.v[unit].late_ns;
    return (double)a->found->readings[unit].shorter_ns >= TL_CAUSE_SHARE * late_ns;
}

/* Each leaves out something that another rank is late by. */
static int64_t least_cost(costing *a, size_t unit)
{
    int64_t in_phase_ns = costs_of(a, IN_PHASE)[unit], at_arrival_ns = costs_of(a, AT_ARRIVAL)[unit];
    return arrival_tells(a, unit) ? tl_ns_min(in_phase_ns, at_arrival_ns) : in_phase_ns;
}

/* Of all that are named together. */
static int64_t cost_of_all(costing *a)
{
    const size_t n = a->p->units.units.n;
    int64_t alone_ns = 0;
    bool told = true;
    for (size_t u = 0; u < n; u++) {
        alone_ns = tl_ns_add(alone_ns, is_named(a, u) ? least_cost(a, u) : 0);
        told = told && (!is_named(a, u) || arrival_tells(a, u));
    }
    int64_t together_ns = costs_of(a, IN_PHASE)[n];
    if (told)
        together_ns = tl_ns_min(together_ns, costs_of(a, AT_ARRIVAL)[n]);
    return tl_ns_min(alone_ns, together_ns);
}

static double share_of(costing *a, size_t unit)
{
    int64_t time_ns = a->p->units.units.v[unit].time_ns;
    return time_ns > 0 ? (double)least_cost(a, unit) / (double)time_ns : 0;
}

/* Of those that are named and cost too little the least goes; of many as many at once as cost less than the middle of
 * them.  False: there are none. */
static bool drop_cheapest(costing *a)
{
    double *shares = a->shares;
    const double least = a->p->options->judge.least_cost;
    size_t n = 0;
    for (size_t u = 0; u < a->p->units.units.n; u++)
        if (is_named(a, u) && share_of(a, u) < least)
            shares[n++] = share_of(a, u);
    if (n == 0)
        return false;
    tl_real_sort(shares, n);
    double enough = shares[n > (size_t)TL_CHOICE_MANY ? n / 2 : 0];
    for (size_t u = 0; u < a->p->units.units.n; u++)
        if (is_named(a, u) && share_of(a, u) <= enough)
            a->found->readings[u].answer = TL_PHASE_CHEAP;
    return true;
}

/* Collective.  Until nobody is named whose repair gains too little. */
static tl_status drop_cheap(costing *a, tl_error *err)
{
    tl_phasing *p = a->p;
    size_t n = p->units.units.n, ncosts = NCOSTS * (n + 1);

    do {
        memset(a->costs, 0, ncosts * sizeof *a->costs);
        a->step = SIZE_MAX;
        tl_status st = tl_phase_look(a->p, see_cost, a, err);
        end_step(a);
        if (st == TL_OK)
            st = tl_reduce_sum(a->costs, ncosts, err);
        if (st != TL_OK)
            return st;
        for (size_t u = 0; u < n; u++)
            p->units.units.v[u].cost_ns = is_named(a, u) ? least_cost(a, u) : 0;
        a->found->cost_ns = cost_of_all(a);
    } while (drop_cheapest(a));
    return TL_OK;
}

/* ----------------------------------------------------------------------------------------------------------- peers */

/* Those that are named apart, who is a peer?  The middle of what these take; without any that of all. */
static int64_t middle_of_peers(const costing *a, const tl_phase_group *g)
{
    size_t n = 0;
    for (size_t i = 0; i < g->n; i++)
        if (!a->marked[index_of_rank(a, g->rows[i].rank)])
            a->scratch[n++] = tl_phase_own_ns(&g->rows[i]);
    return n > 0 ? tl_median(a->scratch, n) : g->rows[0].baseline_ns;
}

static void see_peers(const tl_phase_group *g, void *arg)
{
    costing *a = arg;
    const tl_phasing *p = a->p;
    bool known = false;
    int64_t middle_ns = 0;
    for (size_t u = 0; u < p->units.units.n; u++) {
        bool late = counts(a, u, g, IN_PHASE),
             shorter = a->found->readings[u].in == g->column && counts(a, u, g, AT_ARRIVAL);
        const tl_phase_step *row = late || shorter ? tl_phase_row_of(g, p->units.units.v[u].rank) : NULL;
        if (row == NULL)
            continue;
        if (!known)
            middle_ns = tl_phase_is_alone(p, g->column) ? 0 : middle_of_peers(a, g);
        known = true;
        int64_t later_ns = tl_ns_between(tl_phase_own_ns(row), middle_ns);
        if (late)
            a->peers[2 * u] = tl_ns_sum(a->peers[2 * u], later_ns);
        if (shorter)
            a->peers[2 * u + 1] = tl_ns_sum(a->peers[2 * u + 1], -later_ns);
    }
}

/* Collective.  How much later than its peers a rank is that is named: these are the ranks that nobody names. */
static tl_status compare_with_peers(costing *a, tl_error *err)
{
    tl_phasing *p = a->p;
    for (size_t u = 0; u < p->units.units.n; u++)
        a->marked[a->rank_of[u]] = a->marked[a->rank_of[u]] || is_named(a, u);
    size_t nmarked = 0;
    for (size_t i = 0; i < p->nranks; i++)
        nmarked += a->marked[i];
    tl_status st = tl_phase_look(a->p, see_peers, a, err);
    memset(a->marked, 0, p->nranks * sizeof *a->marked);
    if (st == TL_OK)
        st = tl_reduce_sum(a->peers, 2 * p->units.units.n, err);
    for (size_t u = 0; st == TL_OK && u < p->units.units.n; u++) {
        tl_phase_reading *r = &a->found->readings[u];
        if (!is_named(a, u) || nmarked == p->nranks) /* no peers are left to compare with */
            continue;
        p->units.units.v[u].late_ns = a->peers[2 * u];
        if (r->in < tl_phase_ncolumns(p))
            r->shorter_ns = a->peers[2 * u + 1];
    }
    return st;
}

tl_status tl_phase_costs(tl_phasing *p, tl_phase_found *found, tl_error *err)
{
    const size_t n = p->units.units.n, nranks = p->nranks;
    tl_arena arena = { 0 };
    costing a = { .p = p,
                  .found = found,
                  .rank_of = tl_arena_take(&arena, n, sizeof *a.rank_of),
                  .marked = tl_arena_zeroed(&arena, nranks, sizeof *a.marked),
                  .costs = tl_arena_take(&arena, NCOSTS * (n + 1), sizeof *a.costs),
                  .of_rank = tl_arena_zeroed(&arena, NCOSTS * nranks, sizeof *a.of_rank),
                  .shares = tl_arena_take(&arena, n, sizeof *a.shares),
                  .peers = tl_arena_zeroed(&arena, 2 * n, sizeof *a.peers),
                  .scratch = tl_arena_take(&arena, nranks, sizeof *a.scratch) };
    for (size_t u = 0; !arena.failed && u < n; u++)
        a.rank_of[u] = (uint32_t)index_of_rank(&a, p->units.units.v[u].rank);
    tl_status st = tl_par_agree(arena.failed ? tl_fail_memory(err, "what late ranks cost") : TL_OK, err);
    if (st == TL_OK)
        st = drop_cheap(&a, err);
    if (st == TL_OK)
        st = compare_with_peers(&a, err);
    tl_arena_free(&arena);
    return st;
}
