/* cost.c - what the job would gain were some units repaired: one replay each, of the graph folded to what their repairs
 * change. */
#include "internal.h"
#include <stdlib.h>
#include <string.h>

/* The time, ns, that a unit's repair takes off the work of a node; TL_GONE: the node's second edge is dropped. */
typedef struct taken {
    uint32_t node;     /* of the folded rank, of the whole, and of what is folded of that, in turn */
    uint32_t activity; /* tl_activity_kind; of a link COMM */
    int64_t ns;
} taken;

/* Taken off the lag of an edge that is dropped: the edge then never delays its node. */
#define GONE_NS (INT64_MAX / 2)

typedef struct taken_list {
    TL_VEC(taken) of;
} taken_list;

struct tl_costing {
    const tl_baseline *b;
    const tl_findings *findings;
    size_t nunits;
    tl_arena arena;
    taken_list *taken; /* by unit */
    tl_net net;
    bool *repaired;     /* by unit: in the net as it is */
    int64_t *done_ns;   /* [net.n] of the last replay */
    int64_t *ends_ns;   /* [nsteps] unchanged */
    int64_t *step_ends; /* [nsteps] scratch */
    int64_t end_ns;     /* of the job, unchanged */
};

static void put(taken_list *list, uint32_t node, uint32_t activity, int64_t ns)
{
    tl_vec_room(&list->of);
    list->of.v[list->of.n++] = (taken){ node, activity, ns };
}

tl_repair tl_repair_of(const tl_unit *u)
{
    return (tl_repair){ .rank = u->link != TL_NONE ? u->link : u->rank,
                        .family = u->family,
                        .against = u->against,
                        .drifts = u->shape.pattern == TL_PATTERN_DRIFTING,
                        .lasts = u->shape.pattern == TL_PATTERN_PERSISTENT,
                        .on = u->on };
}

/* ------------------------------------------------------------------------------------------------------------ ranks */

/* Returns the end of the units of the rank whose first unit is `first`. */
static size_t units_end(const tl_costing *c, size_t first)
{
    size_t to = first;
    while (to < c->nunits && c->findings->units.v[to].rank == c->findings->units.v[first].rank)
        to++;
    return to;
}

static void put_plans(const tl_costing *c, size_t first, size_t end, tl_bytes *out)
{
    size_t n = end - first;
    tl_bytes_put(out, &n, sizeof n);
    for (size_t u = first; u < end; u++) {
        const tl_repair repair = tl_repair_of(&c->findings->units.v[u]);
        tl_repair_plan plan;
        tl_repair_plan_make(c->b, &repair, &plan);
        tl_repair_plan_put(&plan, out);
        tl_repair_plan_free(&plan);
    }
}

static unsigned families_of(const tl_costing *c, size_t first)
{
    unsigned families = 0;
    for (size_t u = first; u < units_end(c, first); u++)
        families |= 1U << c->findings->units.v[u].family;
    return families;
}

/* Returns the activity that host time counts as: time around extra waits or launches counts as theirs only if the rank
 * has a late unit of that family, too. */
static uint32_t activity_of(const tl_unit *unit, uint32_t activity, unsigned families)
{
    bool host = unit->family == TL_FAMILY_HOST;
    if (host && activity == TL_ACTIVITY_SYNC && (families >> TL_FAMILY_WAIT & 1U) == 0)
        return TL_ACTIVITY_HOST;
    if (host && activity == TL_ACTIVITY_COMPUTE && (families >> TL_FAMILY_ADDITIONAL & 1U) == 0)
        return TL_ACTIVITY_HOST;
    return activity;
}

static void get_taken(tl_costing *c, size_t first, tl_bytes *in, tl_folded *folded)
{
    const unsigned families = families_of(c, first);
    tl_taken *list = NULL;
    size_t n;
    tl_bytes_get_list(in, (void **)&list, &n, sizeof *list);
    for (size_t i = 0; i < n; i++) {
        size_t u = first + list[i].unit;
        put(&c->taken[u], list[i].node, activity_of(&c->findings->units.v[u], list[i].activity, families), list[i].ns);
    }
    free(list);
    tl_folded_get(folded, in);
}

/* What units take off their ranks, which are folded so that it stays.  Units take off different nodes and edges, so
 * each one's part is found once. */
static void take_ranks(tl_costing *c, tl_folded *folded)
{
    const tl_unit *units = c->findings->units.v;
    tl_asked asked;
    tl_asked_new(c->b->graph->nranks, &asked);
    for (size_t u = 0; u < c->nunits && units[u].rank != TL_NONE; u = units_end(c, u))
        put_plans(c, u, units_end(c, u), &asked.in[units[u].rank]);
    tl_ask_ranks(c->b->asker, TL_ASK_UNITS, &asked);
    for (size_t u = 0; u < c->nunits && units[u].rank != TL_NONE; u = units_end(c, u)) {
        get_taken(c, u, &asked.out[units[u].rank], &folded[units[u].rank]);
        tl_bytes_free(&asked.out[units[u].rank]);
    }
    tl_asked_free(&asked);
}

/* ------------------------------------------------------------------------------------------------------------ whole */

static void take_link(tl_costing *c, size_t unit, const tl_folded *changed, const tl_whole *whole)
{
    const tl_repair repair = tl_repair_of(&c->findings->units.v[unit]);
    tl_transfer_list list = { 0 };
    tl_repair_link(c->b, &repair, &list);
    for (size_t i = 0; i < list.n; i++) {
        const tl_transfer_less *less = &list.v[i];
        uint32_t node = whole->meetings + less->of;
        if (less->rank != TL_NONE) {
            const tl_folded *folded = tl_folded_of(c->findings->folded, changed, less->rank);
            node = whole->base[less->rank] + folded->met[less->of];
        }
        put(&c->taken[unit], node, TL_ACTIVITY_COMM, less->ns);
    }
    free(list.v);
}

static void take_whole(tl_costing *c, const tl_folded *changed, const tl_whole *whole)
{
    const tl_unit *units = c->findings->units.v;
    for (size_t u = 0; u < c->nunits; u++) {
        if (units[u].rank == TL_NONE) {
            take_link(c, u, changed, whole);
            continue;
        }
        for (size_t i = 0; i < c->taken[u].of.n; i++)
            c->taken[u].of.v[i].node += whole->base[units[u].rank];
    }
}

static void mark_taken(const tl_net *net, const taken *t, uint8_t *marks)
{
    tl_fold_mark_put(&marks[t->node], t->ns != TL_GONE ? TL_FOLD_WORK : TL_FOLD_EDGES);
    for (uint32_t e = net->first_edge[t->node]; t->ns == TL_GONE && e < net->first_edge[t->node + 1]; e++)
        tl_fold_mark_put(&marks[net->from[e]], TL_FOLD_KEEP);
}

/* Folds the net to the nodes that repairs may change. */
static void fold(tl_costing *c, const tl_whole *whole)
{
    uint8_t *marks = tl_calloc(whole->net.n + 1, sizeof *marks);
    uint32_t *number_of = tl_malloc((whole->net.n + 1) * sizeof *number_of);
    for (size_t u = 0; u < c->nunits; u++)
        for (size_t i = 0; i < c->taken[u].of.n; i++)
            mark_taken(&whole->net, &c->taken[u].of.v[i], marks);
    tl_net_fold(&whole->net, marks, NULL, &c->net, number_of);
    for (size_t u = 0; u < c->nunits; u++)
        for (size_t i = 0; i < c->taken[u].of.n; i++)
            c->taken[u].of.v[i].node = number_of[c->taken[u].of.v[i].node];
    free(marks);
    free(number_of);
}

static void make_net(tl_costing *c)
{
    size_t nranks = c->b->graph->nranks;
    tl_folded *changed = tl_calloc(nranks + 1, sizeof *changed);
    tl_whole whole = { 0 };
    take_ranks(c, changed);
    tl_whole_make(c->b, c->findings->folded, changed, &whole);
    take_whole(c, changed, &whole);
    fold(c, &whole);
    for (size_t r = 0; r < nranks; r++)
        tl_folded_free(&changed[r]);
    free(changed);
    tl_whole_free(&whole);
}

tl_costing *tl_costing_new(const tl_baseline *b, const tl_findings *findings)
{
    tl_costing *c = tl_calloc(1, sizeof *c);
    c->b = b;
    c->findings = findings;
    c->nunits = findings->units.n;
    c->taken = tl_arena_zeroed(&c->arena, c->nunits, sizeof *c->taken);
    c->repaired = tl_arena_zeroed(&c->arena, c->nunits, sizeof *c->repaired);
    c->ends_ns = tl_arena_take(&c->arena, b->nsteps, sizeof *c->ends_ns);
    c->step_ends = tl_arena_take(&c->arena, b->nsteps, sizeof *c->step_ends);
    make_net(c);
    c->done_ns = tl_arena_take(&c->arena, c->net.n, sizeof *c->done_ns);
    c->end_ns = tl_net_replay(&c->net, c->done_ns);
    tl_net_step_ends(&c->net, c->done_ns, c->ends_ns);
    return c;
}

void tl_costing_free(tl_costing *c)
{
    if (c == NULL)
        return;
    for (size_t u = 0; c->taken != NULL && u < c->nunits; u++)
        free(c->taken[u].of.v);
    tl_arena_free(&c->arena);
    tl_net_free(&c->net);
    free(c);
}

/* ------------------------------------------------------------------------------------------------------------- cost */

static void take(tl_net *net, const taken *t, int64_t sign)
{
    if (t->ns == TL_GONE)
        net->lag_ns[net->first_edge[t->node] + 1] -= sign * GONE_NS;
    else
        net->own_ns[t->node] -= sign * t->ns;
}

static bool is_of(const tl_unit *unit, const taken *t, const tl_cost_part *part)
{
    if (part == NULL || (part->rank != TL_NONE && unit->rank != part->rank))
        return true;
    bool in = (part->families >> unit->family & 1U) != 0 && (part->activities >> t->activity & 1U) != 0;
    return in != part->without;
}

bool tl_cost_has_part(const tl_costing *c, const bool *chosen, const tl_cost_part *part)
{
    const tl_cost_part within = { part->rank, part->families, part->activities, false };
    for (size_t u = 0; u < c->nunits; u++)
        for (size_t i = 0; chosen[u] && c->findings->units.v[u].rank == part->rank && i < c->taken[u].of.n; i++)
            if (is_of(&c->findings->units.v[u], &c->taken[u].of.v[i], &within))
                return true;
    return false;
}

/* Repairs the chosen units in the net, by changing only the units that differ from the last question. */
static void repair(tl_costing *c, const bool *chosen)
{
    for (size_t u = 0; u < c->nunits; u++) {
        for (size_t i = 0; chosen[u] != c->repaired[u] && i < c->taken[u].of.n; i++)
            take(&c->net, &c->taken[u].of.v[i], chosen[u] ? 1 : -1);
        c->repaired[u] = chosen[u];
    }
}

/* Takes off (sign 1) or restores (-1) what repaired units take off outside of the part. */
static void take_rest(tl_costing *c, const tl_cost_part *part, int64_t sign)
{
    for (size_t u = 0; part != NULL && u < c->nunits; u++) {
        const tl_unit *unit = &c->findings->units.v[u];
        bool whole = !c->repaired[u] || (part->rank != TL_NONE && unit->rank != part->rank);
        for (size_t i = 0; !whole && i < c->taken[u].of.n; i++)
            if (!is_of(unit, &c->taken[u].of.v[i], part))
                take(&c->net, &c->taken[u].of.v[i], sign);
    }
}

int64_t tl_cost_of_part(tl_costing *c, const bool *chosen, const tl_cost_part *part)
{
    repair(c, chosen);
    take_rest(c, part, -1);
    int64_t end = tl_net_replay(&c->net, c->done_ns);
    take_rest(c, part, 1);
    return c->end_ns - end;
}

int64_t tl_cost_added_ns(const tl_costing *c)
{
    int64_t ns = 0;
    for (size_t u = 0; u < c->nunits; u++)
        for (size_t i = 0; i < c->taken[u].of.n; i++)
            if (c->taken[u].of.v[i].ns < 0 && c->taken[u].of.v[i].ns != TL_GONE)
                ns -= c->taken[u].of.v[i].ns;
    return ns;
}

int64_t tl_cost_of(tl_costing *c, const bool *chosen)
{
    return tl_cost_of_part(c, chosen, NULL);
}

void tl_cost_by_step(const tl_costing *c, int64_t *step_ns)
{
    int64_t before = 0;
    tl_net_step_ends(&c->net, c->done_ns, c->step_ends);
    for (size_t s = 0; s < c->b->nsteps; s++) {
        int64_t gained = c->ends_ns[s] - c->step_ends[s];
        step_ns[s] = gained - before;
        before = gained;
    }
}
