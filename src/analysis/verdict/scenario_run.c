/* scenario_run.c - gains of scenarios: each rank is asked once for its folded graph in all scenarios; the job is then
 * replayed once per scenario. */
#include "internal.h"
#include "tlmpi/base/mem.h"
#include "tlmpi/base/stats.h"
#include <stdlib.h>

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
        change.to = s->balance->to[b->role_of[rank]];
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

tl_scenario_run *tl_scenario_run_new(const tl_findings *findings, const tl_baseline *b, const tl_scenario *scenarios,
                                     size_t n)
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

void tl_scenario_run_free(tl_scenario_run *t)
{
    if (t == NULL)
        return;
    for (size_t r = 0; r < t->nranks; r++)
        tl_folded_free(&t->changed[r]);
    tl_arena_free(&t->arena);
    tl_job_net_free(&t->job_net);
    free(t);
}

int64_t tl_scenario_run_gain(tl_scenario_run *t, const bool *sorts)
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
