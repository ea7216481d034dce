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
#include "tlmpi/base/stats.h"
#include "tlmpi/model/blame_tables.h"
#include <math.h>
#include <stdlib.h>

/* ------------------------------------------------------------------------------------------------------------ a run */

/* Gains of scenarios: each rank is asked once for its folded graph in all scenarios; the job is then
 * replayed once per scenario. */

struct tl_scenario_run {
    const tl_findings *j;
    const tl_baseline *b;
    tl_arena arena;
    size_t nranks, next;   /* the next scenario */
    uint8_t *lanes;        /* [scenarios * nranks] lane of the rank's folded graph in the scenario */
    int64_t *meeting_less; /* [nmeetings] reduction of the transfer, ns */
    int64_t **end_less;    /* by rank and port: reduction of the member's end, ns */
    tl_folded *changed;    /* [nranks] folded graphs, with all lanes */
    tl_job_net job_net;    /* of the current scenario */
};

/* ------------------------------------------------------------------------------------------------------------ links */

/* Fills meeting_less and end_less with the larger of two: the ideal's reduction, and that of repairing needed links. */
static void find_transfers(tl_scenario_run *t, const tl_ideal *ideal)
{
    const tl_job_graph *g = t->b->graph;
    tl_transfer_list list = { 0 };
    for (size_t u = 0; u < t->j->candidates.n; u++) {
        const tl_repair repair = tl_repair_of(&t->j->candidates.v[u]);
        if (t->j->candidates.v[u].needed && t->j->candidates.v[u].rank == TL_NONE)
            tl_repair_link(t->b, &repair, &list);
    }
    for (uint32_t m = 0; m < g->nmeetings; m++)
        t->meeting_less[m] = tl_ideal_of_transfer(ideal, m, g->meetings[m].work_ns);
    for (size_t r = 0; r < g->nranks; r++) {
        size_t nports = g->ranks[r].nports;
        t->end_less[r] = tl_arena_zeroed(&t->arena, nports, sizeof **t->end_less);
        for (size_t p = 0; p < nports; p++)
            t->end_less[r][p] =
                tl_ideal_of_transfer(ideal, g->ranks[r].ports[p].meeting, g->ranks[r].ports[p].after_meeting_ns);
    }
    TL_EACH (const tl_transfer_less, less, list) {
        int64_t *ns = less->rank == TL_NONE ? &t->meeting_less[less->of] : &t->end_less[less->rank][less->of];
        *ns = tl_ns_max(*ns, less->ns);
    }
    free(list.v);
}

/* Applies the reductions of transfers on links of the given sorts to the job net. */
static void shorten_transfers(tl_scenario_run *t, const bool *sorts)
{
    const tl_job_graph *g = t->b->graph;
    tl_job_net *job_net = &t->job_net;
    for (uint32_t m = 0; m < g->nmeetings; m++) {
        uint32_t link = tl_link_of(t->b, m);
        if (link != TL_NONE && sorts[t->b->links[link].role - t->b->nroles])
            job_net->net.own_ns[job_net->meetings + m] -= t->meeting_less[m];
    }
    for (size_t r = 0; r < g->nranks; r++) {
        const tl_folded *folded = tl_folded_of(t->j->folded, t->changed, r);
        for (size_t p = 0; p < g->ranks[r].nports; p++) {
            uint32_t link = tl_link_of(t->b, g->ranks[r].ports[p].meeting);
            if (link != TL_NONE && sorts[t->b->links[link].role - t->b->nroles])
                job_net->net.own_ns[job_net->base[r] + folded->end_node[p]] -= t->end_less[r][p];
        }
    }
}

/* ------------------------------------------------------------------------------------------------------------ ranks */

static tl_change change_of(const tl_scenario_run *t, const tl_scenario *s, size_t rank)
{
    const tl_baseline *b = t->b;
    bool late = t->j->rank_ns[rank] >= 0, alone = b->roles[b->role_of[rank]].n < 2;
    tl_change change = { .kind = TL_CHANGE_NONE };
    if (!tl_job_graph_has(b->graph, rank))
        return change;
    if (s->balance != NULL) {
        change.to = s->balance->to[rank];
        change.kind = change.to != 1 ? TL_CHANGE_BALANCE : TL_CHANGE_NONE;
    } else if (s->free_hosts) {
        change.kind = TL_CHANGE_HOST;
    } else if (s->host != 0) {
        change.kind = b->host_of[rank] == s->host && late ? TL_CHANGE_CANDIDATES : TL_CHANGE_NONE;
    } else if (s->activities != 0 &&
               (late || !alone)) { /* a rank that is not late and alone in its role has no ideal */
        change.kind = TL_CHANGE_IDEAL;
        change.activities = s->activities;
    }
    return change;
}

/* Fills plans with the indices of a rank's needed candidates among the rank's own; returns their number. */
static size_t list_chosen(const tl_scenario_run *t, size_t rank, uint32_t *plans)
{
    size_t n = 0;
    uint32_t number = 0;
    TL_EACH (const tl_candidate, candidate, t->j->candidates) {
        if (candidate->rank != rank)
            continue;
        if (candidate->needed)
            plans[n++] = number;
        number++;
    }
    return n;
}

static void put_changes(const tl_scenario_run *t, const tl_scenario *scenarios, size_t n, tl_asked *asked)
{
    uint32_t *plans = tl_malloc((t->j->candidates.n + 1) * sizeof *plans);
    for (size_t r = 0; r < t->nranks; r++)
        for (size_t s = 0; s < n; s++) {
            tl_change change = change_of(t, &scenarios[s], r);
            bool repaired = change.kind == TL_CHANGE_CANDIDATES || change.kind == TL_CHANGE_IDEAL;
            if (change.kind != TL_CHANGE_NONE)
                tl_change_put(asked, r, change, plans, repaired ? list_chosen(t, r, plans) : 0);
        }
    free(plans);
}

static void get_ends(tl_scenario_run *t, size_t rank, tl_bytes *in)
{
    tl_end_less *ends = NULL;
    size_t n = 0;
    tl_bytes_get_list(in, (void **)&ends, &n, sizeof *ends);
    for (size_t i = 0; i < n; i++)
        t->end_less[rank][ends[i].port] = tl_ns_max(t->end_less[rank][ends[i].port], ends[i].ns);
    free(ends);
}

/* Reads the rank's lane in each scenario, and the rank's folded graph. */
static void get_changed(tl_scenario_run *t, const tl_scenario *scenarios, size_t n, size_t rank, tl_bytes *in)
{
    for (size_t s = 0; s < n; s++) {
        tl_change change = change_of(t, &scenarios[s], rank);
        if (change.kind != TL_CHANGE_NONE)
            tl_bytes_get(in, &t->lanes[s * t->nranks + rank], sizeof *t->lanes);
        if (change.kind == TL_CHANGE_IDEAL)
            get_ends(t, rank, in);
    }
    if (in->n > 0)
        tl_changed_get(&t->changed[rank], in);
}

/* -------------------------------------------------------------------------------------------------------- scenarios */

static void tell_ideal(tl_scenario_run *t)
{
    size_t nranks = t->b->graph->nranks;
    tl_asked asked = { 0 };
    tl_ideal *ideal = tl_ideal_new(t->b);
    find_transfers(t, ideal);
    tl_asked_new(nranks, &asked);
    for (size_t r = 0; r < nranks; r++)
        if (tl_job_graph_has(t->b->graph, r))
            tl_ideal_put(ideal, r, &asked.in[r]);
    tl_ask_ranks(t->b->asker, TL_ASK_IDEAL, &asked);
    tl_asked_free(&asked);
    tl_ideal_free(ideal);
}

static tl_scenario_run *scenario_run_new(const tl_findings *findings, const tl_baseline *b,
                                         const tl_scenario *scenarios, size_t n)
{
    size_t nranks = b->graph->nranks;
    tl_scenario_run *t = tl_calloc(1, sizeof *t);
    tl_asked asked;
    *t = (tl_scenario_run){ .j = findings, .b = b, .nranks = nranks };
    t->meeting_less = tl_arena_zeroed(&t->arena, b->graph->nmeetings, sizeof *t->meeting_less);
    t->end_less = tl_arena_zeroed(&t->arena, nranks, sizeof *t->end_less);
    t->changed = tl_arena_zeroed(&t->arena, nranks, sizeof *t->changed);
    t->lanes = tl_arena_zeroed(&t->arena, n * nranks, sizeof *t->lanes);
    tell_ideal(t);
    tl_asked_new(nranks, &asked);
    put_changes(t, scenarios, n, &asked);
    tl_ask_ranks(b->asker, TL_ASK_CHANGE, &asked);
    for (size_t r = 0; r < nranks; r++) {
        get_changed(t, scenarios, n, r, &asked.out[r]);
        tl_bytes_free(&asked.out[r]);
    }
    tl_asked_free(&asked);
    return t;
}

/* Asks each rank for its folded graph in each of the n scenarios.  If any scenario has activities, the first has all.
 */
static void scenario_run_free(tl_scenario_run *t)
{
    if (t == NULL)
        return;
    for (size_t r = 0; r < t->nranks; r++)
        tl_folded_free(&t->changed[r]);
    tl_arena_free(&t->arena);
    tl_job_net_free(&t->job_net);
    free(t);
}

/* Returns the gain of the next scenario, ns; called once per scenario, in order.  sorts: those of the scenario. */
static int64_t scenario_run_gain(tl_scenario_run *t, const bool *sorts)
{
    const uint8_t *lanes = t->lanes + t->next++ * t->nranks;
    bool any = sorts != NULL;
    for (size_t r = 0; r < t->nranks; r++) {
        t->changed[r].lane = lanes[r];
        any = any || lanes[r] > 0;
    }
    if (!any)
        return 0;
    tl_job_net_make(t->b, t->j->folded, t->changed, &t->job_net);
    if (sorts != NULL)
        shorten_transfers(t, sorts);
    int64_t end_ns = tl_net_replay(&t->job_net.net, t->job_net.done_ns); /* in place of the measured times */
    return t->j->whole_ns - tl_net_whole_ns(&t->job_net.net, t->b, t->job_net.done_ns, t->j->start_ns, end_ns);
}

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
        const uint32_t k = tl_map_number(&number_of, (uint32_t)groups[q], n);
        if (k == n)
            kinds[n++] = (kind){ 0, groups[q] };
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
        row.rank = t->in->ranks[t->balance.most];
        row.slowdown = t->balance.times;
        add_scenario(t, row, (tl_scenario){ .balance = &t->balance });
    }
}

static void add_all(trying *t)
{
    tl_whatif_row row = of_all;
    row.scenario = TL_SCENARIO_IDEAL; /* the whole ideal comes first: scenario_run_new */
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

/* Replays each scenario, and appends its row with the gain.  latency_ns: of the job's critical path, which no scenario
 * shortens: where it may hide all that a balance saves, the row tells how much more that may be. */
static void replay_all(trying *t, int64_t latency_ns, tl_table *whatif)
{
    tl_scenario_run *run = scenario_run_new(t->j, t->b, t->scenarios.v, t->scenarios.n);
    for (size_t i = 0; i < t->rows.n; i++) {
        tl_whatif_row *row = &t->rows.v[i];
        for (size_t q = 0; q < t->b->nsorts; q++)
            t->sorts[q] = row->scenario == TL_SCENARIO_IDEAL || t->groups[q] == row->group;
        row->gain_ns = scenario_run_gain(run, t->scenarios.v[i].sorts);
        if (row->scenario == TL_SCENARIO_BALANCED && t->balance.most_gain_ns <= latency_ns)
            row->unexplained_ns = tl_ns_max(0, t->balance.most_gain_ns - row->gain_ns);
        append(t->j, *row, whatif);
    }
    scenario_run_free(run);
}

static void compare_with_ideal(const tl_findings *j, int64_t ideal_ns, tl_whatif_row *row)
{
    if (row->scenario == TL_SCENARIO_UNCHANGED)
        row->slowdown = tl_slowdown_of(j, ideal_ns);
}

void tl_scenario_rows(const tl_findings *findings, const tl_baseline *baseline, const tl_verdict_ranks *ranks,
                      tl_tables *tables)
{
    tl_table *whatif = tl_tables_get(tables, &tl_whatif_row_schema);
    int64_t latency_ns = 0;
    size_t before = whatif->n;
    trying t = { .j = findings,
                 .b = baseline,
                 .in = ranks,
                 .groups = tl_malloc((baseline->nsorts + 1) * sizeof *t.groups),
                 .sorts = tl_malloc(baseline->nsorts + 1) };
    add_all(&t);
    TL_ROWS (const tl_path_row, row, tl_tables_get(tables, &tl_path_row_schema))
        latency_ns += row->rank < 0 && row->activity == TL_ACTIVITY_DEVICE ? row->path_ns : 0;
    replay_all(&t, latency_ns, whatif);
    for (size_t i = 0; i < before; i++)
        compare_with_ideal(findings, t.rows.v[0].gain_ns, tl_table_row(whatif, i));
    free(t.rows.v);
    free(t.scenarios.v);
    free(t.groups);
    free(t.sorts);
    free(t.balance.to);
}
