/* scenarios.c - what the job would have taken otherwise, whoever is at fault: rows of whatif beside those of ranks and
 * links.
 *
 *     ideal       no rank and no link slower than is usual in the step; of that, one part of the time alone (cause), and transfers on
 *                 links of one sort alone (groups)
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
    tl_trial *trial;
    bool *sorts; /* [nsorts] */
    tl_table *whatif;
    int64_t ideal_ns; /* what the ideal gains */
} trying;

static const tl_activity_kind causes[] = { TL_ACTIVITY_COMPUTE, TL_ACTIVITY_H2D, TL_ACTIVITY_COPY, TL_ACTIVITY_HOST,
                                           TL_ACTIVITY_SYNC };

static const tl_whatif_row of_all = {
    .rank = -1, .cause = TL_NACTIVITIES, .group = -1, .share = NAN, .slowdown = NAN, .model_error = NAN
};

static bool append(const tl_findings *j, tl_whatif_row row, tl_table *whatif)
{
    row.time_ns = j->time_ns - row.gain_ns;
    row.share = j->whole_ns > 0 ? (double)row.gain_ns / (double)j->whole_ns : NAN;
    return tl_table_append(whatif, &row, 1);
}

bool tl_whatif_add(const tl_findings *j, tl_scenario_kind kind, int32_t rank, int64_t gain_ns, tl_table *whatif)
{
    tl_whatif_row row = of_all;
    row.scenario = (uint8_t)kind;
    row.rank = rank;
    row.gain_ns = gain_ns;
    return append(j, row, whatif);
}

static bool add(trying *t, tl_whatif_row row)
{
    if (row.scenario == TL_SCENARIO_IDEAL)
        t->ideal_ns = row.gain_ns;
    return append(t->j, row, t->whatif);
}

/* A part of the ideal. */
static bool add_ideal(trying *t, tl_whatif_row row, unsigned activities, const bool *sorts)
{
    const tl_scenario s = { .activities = activities, .sorts = sorts };
    return tl_trial_gain(t->trial, &s, &row.gain_ns) && add(t, row);
}

/* Groups that are alike, and what moves between two of their ranks: the sorts that begin with one group. */
typedef struct kind {
    int64_t ns;
    int32_t group;
} kind;

static int by_most(const void *a, const void *b)
{
    const kind *x = a, *y = b;
    return x->ns != y->ns ? -TL_COMPARE(x->ns, y->ns) : TL_COMPARE(x->group, y->group);
}

/* groups[nsorts]: the lowest group of each sort; -1: its links have none. */
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

/* How long the transfers on links of a sort are together. */
static int64_t moved_by(const tl_baseline *b, size_t sort)
{
    uint32_t role = (uint32_t)(b->nroles + sort);
    int64_t ns = 0;
    for (uint32_t c = tl_class_first(b, role); c != TL_NONE; c = b->classes[c].next)
        for (size_t i = 0; i < b->roles[role].n * b->classes[c].steps.n; i++)
            ns += b->classes[c].ns[i];
    return ns;
}

/* Those that move most: how many.  *ok is false when memory is out. */
static size_t list_kinds(const tl_baseline *b, const int32_t *groups, kind *kinds, bool *ok)
{
    size_t n = 0;
    tl_map number_of = { 0 };
    for (size_t q = 0; *ok && q < b->nsorts; q++) {
        if (groups[q] < 0)
            continue;
        uint32_t k = tl_map_get(&number_of, (uint32_t)groups[q]);
        if (k == TL_MAP_NONE) {
            k = (uint32_t)n++;
            kinds[k] = (kind){ 0, groups[q] };
            *ok = tl_map_put(&number_of, (uint32_t)groups[q], k) == 0;
        }
        kinds[k].ns += moved_by(b, q);
    }
    tl_map_free(&number_of);
    if (n > 1)
        qsort(kinds, n, sizeof *kinds, by_most);
    return n < TL_SCENARIO_GROUPS_MOST ? n : TL_SCENARIO_GROUPS_MOST;
}

static bool add_groups(trying *t)
{
    kind *kinds = tl_malloc((t->b->nsorts + 1) * sizeof *kinds);
    int32_t *groups = tl_malloc((t->b->nsorts + 1) * sizeof *groups);
    bool ok = kinds != NULL && groups != NULL;
    if (ok)
        find_groups(t->b, groups);
    size_t n = ok ? list_kinds(t->b, groups, kinds, &ok) : 0;
    for (size_t i = 0; ok && i < n; i++) {
        tl_whatif_row row = of_all;
        row.scenario = TL_SCENARIO_GROUPS;
        row.group = kinds[i].group;
        for (size_t q = 0; q < t->b->nsorts; q++)
            t->sorts[q] = groups[q] == kinds[i].group;
        ok = add_ideal(t, row, 0, t->sorts);
    }
    free(groups);
    free(kinds);
    return ok;
}

static bool add_host(trying *t, uint64_t host, int32_t lowest)
{
    const tl_scenario s = { .host = host };
    tl_whatif_row row = of_all;
    row.scenario = TL_SCENARIO_HOST;
    row.rank = lowest;
    return tl_trial_gain(t->trial, &s, &row.gain_ns) && add(t, row);
}

/* Hosts of several ranks, one of which is a straggler, where there are several hosts: the lowest of them. */
static bool add_hosts(trying *t)
{
    const tl_baseline *b = t->b;
    size_t nranks = b->graph->nranks;
    bool ok = true;
    for (size_t r = 0, n = 0; ok && b->host_of != NULL && r < nranks && n < TL_SCENARIO_HOSTS_MOST; r++) {
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
        ok = add_host(t, b->host_of[r], t->in->ranks[r]);
        n++;
    }
    return ok;
}

static bool add_balanced(trying *t)
{
    tl_balance balance;
    const tl_scenario s = { .balance = &balance };
    tl_whatif_row row = of_all;
    bool ok = tl_balance_find(t->b, &balance);
    if (ok && balance.most != TL_NONE) {
        row.scenario = TL_SCENARIO_BALANCED;
        row.rank = t->in->ranks[t->b->members[t->b->roles[balance.most].first]];
        row.slowdown = balance.times;
        ok = tl_trial_gain(t->trial, &s, &row.gain_ns) && add(t, row);
    }
    free(balance.to);
    return ok;
}

static bool add_free_hosts(trying *t)
{
    const tl_scenario s = { .free_hosts = true };
    tl_whatif_row row = of_all;
    row.scenario = TL_SCENARIO_HOST_FREE;
    return tl_trial_gain(t->trial, &s, &row.gain_ns) && add(t, row);
}

static bool try_all(trying *t)
{
    tl_whatif_row row = of_all;
    row.scenario = TL_SCENARIO_IDEAL; /* all of it, before any part */
    for (size_t q = 0; q < t->b->nsorts; q++)
        t->sorts[q] = true;
    bool ok = add_ideal(t, row, ~0U, t->sorts);
    for (size_t i = 0; ok && i < sizeof causes / sizeof *causes; i++) {
        row = of_all;
        row.scenario = TL_SCENARIO_CAUSE;
        row.cause = (uint8_t)causes[i];
        ok = add_ideal(t, row, 1U << causes[i], NULL);
    }
    return ok && add_groups(t) && add_hosts(t) && add_balanced(t) && add_free_hosts(t);
}

static void compare_with_ideal(const trying *t, tl_whatif_row *row)
{
    if (row->scenario == TL_SCENARIO_UNCHANGED && t->ideal_ns < t->j->whole_ns)
        row->slowdown = (double)t->j->whole_ns / (double)(t->j->whole_ns - t->ideal_ns);
}

bool tl_scenario_rows(const tl_findings *findings, const tl_baseline *baseline, const tl_verdict_ranks *ranks,
                      tl_table *whatif)
{
    size_t before = whatif->n;
    trying t = { .j = findings,
                 .b = baseline,
                 .in = ranks,
                 .trial = tl_trial_new(findings, baseline),
                 .sorts = tl_malloc(baseline->nsorts + 1),
                 .whatif = whatif };
    bool ok = t.trial != NULL && t.sorts != NULL && try_all(&t);
    for (size_t i = 0; ok && i < before; i++)
        compare_with_ideal(&t, tl_table_row(whatif, i));
    tl_trial_free(t.trial);
    free(t.sorts);
    return ok;
}
