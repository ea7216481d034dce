/* scenarios.c - the job's time in scenarios that repair no single rank or link: the rows of whatif beside the rows of
 * ranks and links.
 *
 *     ideal       no rank and no link slower than is usual in the step; also for one activity alone (cause), and for
 *                 transfers on links of one sort alone (groups)
 *     balanced    ranks of all roles compute equally long
 *     host_free   hosts take no time of their own
 */
#include "internal.h"
#include "tlmpi/base/hash.h"
#include "tlmpi/base/mem.h"
#include "tlmpi/base/sort.h"
#include "tlmpi/model/blame_tables.h"
#include <math.h>
#include <stdlib.h>

typedef struct trying {
    const tl_findings *j;
    const tl_baseline *b;
    const tl_verdict_ranks *in;
    TL_VEC(tl_whatif_row) rows;
    TL_VEC(tl_scenario) scenarios; /* one for each row */
    int32_t *groups;               /* [nsorts] the lowest group of each sort; -1: its links have none */
    bool *sorts;                   /* [nsorts] sorts of the current scenario */
    tl_balance balance;
} trying;

static const tl_activity_kind causes[] = { TL_ACTIVITY_COMPUTE, TL_ACTIVITY_H2D, TL_ACTIVITY_COPY, TL_ACTIVITY_HOST,
                                           TL_ACTIVITY_SYNC };

static const tl_whatif_row of_all = {
    .rank = -1, .cause = TL_NACTIVITIES, .group = -1, .share = NAN, .slowdown = NAN, .model_error = NAN
};

static void append(const tl_findings *j, tl_whatif_row row, tl_table *whatif)
{
    row.time_ns = j->time_ns - row.gain_ns;
    row.share = j->whole_ns > 0 ? (double)row.gain_ns / (double)j->whole_ns : NAN;
    tl_table_append(whatif, &row, 1);
}

void tl_whatif_add(const tl_findings *j, tl_scenario_kind kind, int32_t rank, int64_t gain_ns, tl_table *whatif)
{
    tl_whatif_row row = of_all;
    row.scenario = (uint8_t)kind;
    row.rank = rank;
    row.gain_ns = gain_ns;
    append(j, row, whatif);
}

static void add_scenario(trying *t, tl_whatif_row row, tl_scenario scenario)
{
    tl_vec_room(&t->rows);
    tl_vec_room(&t->scenarios);
    t->rows.v[t->rows.n++] = row;
    t->scenarios.v[t->scenarios.n++] = scenario;
}

/* Sorts of links whose lowest group is the same: that group, and the transfer time on their links, ns. */
typedef struct kind {
    int64_t ns;
    int32_t group;
} kind;

TL_SORT_BY(by_most, kind, DOWN(ns), group)

static void find_groups(const tl_baseline *b, int32_t *groups)
{
    for (size_t q = 0; q < b->nsorts; q++)
        groups[q] = -1;
    for (size_t i = 0; i < b->nlinks; i++) {
        int32_t group = b->links[i].group, *lowest = &groups[b->links[i].role - b->nroles];
        if (group >= 0 && (*lowest < 0 || group < *lowest))
            *lowest = group;
    }
}

/* Returns the transfer time, ns, summed over the links of a sort. */
static int64_t transfer_ns_of(const tl_baseline *b, size_t sort)
{
    uint32_t role = (uint32_t)(b->nroles + sort);
    int64_t ns = 0;
    for (uint32_t c = tl_class_first(b, role); c != TL_NONE; c = b->classes[c].next)
        for (size_t i = 0; i < b->roles[role].n * b->classes[c].steps.n; i++)
            ns += b->classes[c].ns[i];
    return ns;
}

/* Lists the kinds with most transfer time, descending; returns their number, at most TL_SCENARIO_GROUPS_MOST. */
static size_t list_kinds(const tl_baseline *b, const int32_t *groups, kind *kinds)
{
    size_t n = 0;
    tl_map number_of = { 0 };
    for (size_t q = 0; q < b->nsorts; q++) {
        if (groups[q] < 0)
            continue;
        uint32_t k = tl_map_get(&number_of, (uint32_t)groups[q]);
        if (k == TL_MAP_NONE) {
            k = (uint32_t)n++;
            kinds[k] = (kind){ 0, groups[q] };
            tl_map_put(&number_of, (uint32_t)groups[q], k);
        }
        kinds[k].ns += transfer_ns_of(b, q);
    }
    tl_map_free(&number_of);
    if (n > 1)
        qsort(kinds, n, sizeof *kinds, by_most);
    return n < TL_SCENARIO_GROUPS_MOST ? n : TL_SCENARIO_GROUPS_MOST;
}

static void add_groups(trying *t)
{
    kind *kinds = tl_malloc((t->b->nsorts + 1) * sizeof *kinds);
    find_groups(t->b, t->groups);
    size_t n = list_kinds(t->b, t->groups, kinds);
    for (size_t i = 0; i < n; i++) {
        tl_whatif_row row = of_all;
        row.scenario = TL_SCENARIO_GROUPS;
        row.group = kinds[i].group;
        add_scenario(t, row, (tl_scenario){ .sorts = t->sorts });
    }
    free(kinds);
}

/* Adds a scenario per host that has two ranks or more and a straggler, unless it is the only host; the row's rank is
 * the host's lowest. */
static void add_hosts(trying *t)
{
    const tl_baseline *b = t->b;
    size_t nranks = b->graph->nranks;
    for (size_t r = 0, n = 0; b->host_of != NULL && r < nranks && n < TL_SCENARIO_HOSTS_MOST; r++) {
        size_t first = nranks, named = 0, ranks = 0;
        for (size_t q = 0; b->host_of[r] != 0 && q < nranks; q++) {
            if (b->host_of[q] != b->host_of[r])
                continue;
            first = q < first ? q : first;
            named += t->j->rank_ns[q] >= 0;
            ranks++;
        }
        if (first != r || named == 0 || ranks < 2 || ranks == nranks)
            continue;
        tl_whatif_row row = of_all;
        row.scenario = TL_SCENARIO_HOST;
        row.rank = t->in->ranks[r];
        add_scenario(t, row, (tl_scenario){ .host = b->host_of[r] });
        n++;
    }
}

static void add_balanced(trying *t)
{
    tl_whatif_row row = of_all;
    tl_balance_find(t->b, &t->balance);
    if (t->balance.most != TL_NONE) {
        row.scenario = TL_SCENARIO_BALANCED;
        row.rank = t->in->ranks[t->b->members[t->b->roles[t->balance.most].first]];
        row.slowdown = t->balance.times;
        add_scenario(t, row, (tl_scenario){ .balance = &t->balance });
    }
}

static void add_all(trying *t)
{
    tl_whatif_row row = of_all;
    row.scenario = TL_SCENARIO_IDEAL; /* the whole ideal comes first: tl_scenario_run_new */
    add_scenario(t, row, (tl_scenario){ .activities = ~0U, .sorts = t->sorts });
    for (size_t i = 0; i < sizeof causes / sizeof *causes; i++) {
        row.scenario = TL_SCENARIO_CAUSE;
        row.cause = (uint8_t)causes[i];
        add_scenario(t, row, (tl_scenario){ .activities = 1U << causes[i] });
    }
    add_groups(t);
    add_hosts(t);
    add_balanced(t);
    row = of_all;
    row.scenario = TL_SCENARIO_HOST_FREE;
    add_scenario(t, row, (tl_scenario){ .free_hosts = true });
}

/* Replays each scenario, and appends its row with the gain. */
static void replay_all(trying *t, tl_table *whatif)
{
    tl_scenario_run *run = tl_scenario_run_new(t->j, t->b, t->scenarios.v, t->scenarios.n);
    for (size_t i = 0; i < t->rows.n; i++) {
        tl_whatif_row *row = &t->rows.v[i];
        for (size_t q = 0; q < t->b->nsorts; q++)
            t->sorts[q] = row->scenario == TL_SCENARIO_IDEAL || t->groups[q] == row->group;
        row->gain_ns = tl_scenario_run_gain(run, t->scenarios.v[i].sorts);
        append(t->j, *row, whatif);
    }
    tl_scenario_run_free(run);
}

static void compare_with_ideal(const tl_findings *j, int64_t ideal_ns, tl_whatif_row *row)
{
    if (row->scenario == TL_SCENARIO_UNCHANGED)
        row->slowdown = tl_slowdown_of(j, ideal_ns);
}

void tl_scenario_rows(const tl_findings *findings, const tl_baseline *baseline, const tl_verdict_ranks *ranks,
                      tl_table *whatif)
{
    size_t before = whatif->n;
    trying t = { .j = findings,
                 .b = baseline,
                 .in = ranks,
                 .groups = tl_malloc((baseline->nsorts + 1) * sizeof *t.groups),
                 .sorts = tl_malloc(baseline->nsorts + 1) };
    add_all(&t);
    replay_all(&t, whatif);
    for (size_t i = 0; i < before; i++)
        compare_with_ideal(findings, t.rows.v[0].gain_ns, tl_table_row(whatif, i));
    free(t.rows.v);
    free(t.scenarios.v);
    free(t.groups);
    free(t.sorts);
    free(t.balance.to);
}
