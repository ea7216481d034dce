/* collectives.c - from sorted participants to collectives: kind, size, state, step, span and clock uncertainty of
 * each. */
#include "tlmpi/analysis/collective/match.h"
#include "tlmpi/base/group.h"
#include "tlmpi/base/stats.h"
#include "tlmpi/model/coll.h"
#include <stdlib.h>

/* ----------------------------------------------------------------------------------------------------------- order */

/* The sort key of a participant and its index: sorting keys moves far fewer bytes than sorting participants. */
typedef struct sort_key {
    uint64_t key;
    int64_t start_ns;
    int32_t group, rank;
    uint32_t uid, at;
} sort_key;

TL_SORT_BY(by_key, sort_key, group, key, rank, start_ns, uid)

/* Moves participants into `order` in place, along the cycles of the permutation: a copy would double the memory. */
static void permute(tl_participant *participants, sort_key *order, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (order[i].at == i)
            continue;
        tl_participant held = participants[i];
        size_t hole = i;
        while (order[hole].at != i) {
            size_t next = order[hole].at;
            participants[hole] = participants[next];
            order[hole].at = (uint32_t)hole;
            hole = next;
        }
        participants[hole] = held;
        order[hole].at = (uint32_t)hole;
    }
}

void tl_participants_sort(tl_participant *participants, size_t n)
{
    tl_mem_indexable(n);
    sort_key *order = tl_malloc((n + 1) * sizeof *order);
    bool sorted = true;
    for (size_t i = 0; i < n; i++) {
        const tl_participant *p = &participants[i];
        order[i] = (sort_key){ p->key, p->start_ns, p->group, p->rank, p->uid, (uint32_t)i };
        sorted = sorted && (i == 0 || by_key(&order[i - 1], &order[i]) <= 0);
    }
    if (!sorted) {
        qsort(order, n, sizeof *order, by_key);
        permute(participants, order, n);
    }
    free(order);
}

void tl_runs_make(const tl_participant *participants, size_t n, tl_collective_run **runs, size_t *nruns)
{
    TL_VEC(tl_collective_run) made = { 0 };
    for (size_t from = 0, to; from < n; from = to) {
        to = tl_participants_end(participants, n, from);
        tl_collective_run run = { from, to - from, participants[from].start_ns };
        for (size_t i = from; i < to; i++)
            run.first_arrival_ns = tl_ns_min(run.first_arrival_ns, participants[i].start_ns);
        tl_vec_push(&made, run);
    }
    *runs = made.v;
    *nruns = made.n;
}

/* Ascending by first arrival; ties keep their order, by group and key. */
TL_SORT_BY(by_time, tl_collective_run, first_arrival_ns)

void tl_runs_by_time(tl_collective_run *runs, size_t n)
{
    tl_sort(runs, n, sizeof *runs, by_time);
}

size_t tl_participants_end(const tl_participant *participants, size_t n, size_t from)
{
    size_t to = from + 1;
    while (to < n && participants[to].group == participants[from].group &&
           participants[to].key == participants[from].key)
        to++;
    return to;
}

bool tl_participants_synchronise(const tl_participant *p, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (!tl_is_synchronising((tl_collective)p[i].kind))
            return false;
    return true;
}

/* Whether there are two participants, each the other's peer. */
static bool is_mutual_pair(const tl_participant *p, size_t n)
{
    return n == 2 && p[0].peer == p[1].rank && p[1].peer == p[0].rank;
}

bool tl_participants_meet(const tl_participant *p, size_t n)
{
    return tl_participants_synchronise(p, n) || (is_mutual_pair(p, n) && p[0].kind == p[1].kind);
}

int32_t tl_participants_sender(const tl_participant *p, size_t n)
{
    if (!is_mutual_pair(p, n))
        return -1;
    return p[0].kind == TL_SEND && p[1].kind == TL_RECV ? 0 : p[0].kind == TL_RECV && p[1].kind == TL_SEND ? 1 : -1;
}

/* -------------------------------------------------------------------------------------------------- one collective */

/* Whether the collective is between two known ranks. */
static bool is_pair(const tl_collective_view *c)
{
    return c->by_rank[0].peer >= 0;
}

/* Returns the number of ranks with a trace that should take part. */
static int32_t expected_of(const tl_collective_view *c, const tl_group_fact *group, const tl_job_facts *facts)
{
    if (!is_pair(c))
        return group->seen;
    return 1 + (tl_rank_clock_of(facts, c->by_rank[0].peer) != NULL && c->by_rank[0].peer != c->by_rank[0].rank);
}

/* Returns the tl_node_span: of a pair by the hosts of its two ranks, else that of the group. */
static uint8_t span_of(const tl_collective_view *c, const tl_group_fact *group, const tl_job_facts *facts)
{
    if (!is_pair(c))
        return group->span;
    const tl_rank_clock *a = tl_rank_clock_of(facts, c->by_rank[0].rank),
                        *b = tl_rank_clock_of(facts, c->by_rank[0].peer);
    if (a == NULL || b == NULL || a->host < 0 || b->host < 0)
        return TL_SPAN_UNKNOWN;
    return a->host == b->host ? TL_SPAN_INTRA_NODE : TL_SPAN_INTER_NODE;
}

/* Returns the number of ranks that take part; -1: unknown.  A SendRecv kernel in a group with collectives is an
 * all-to-all of the whole group; in other groups it may be with any rank, unless the group has only two. */
static int32_t size_of(const tl_collective_view *c, const tl_group_fact *group)
{
    if (is_pair(c))
        return 2;
    bool known = !tl_is_point_to_point((tl_collective)c->kind) || group->collects;
    return known || (group->size == 2 && !group->inferred) ? group->size : -1;
}

static tl_coll_state state_of(const tl_collective_view *c, const tl_group_fact *group)
{
    if (c->n == 1 && c->size != 1)
        return c->expected > 1 || group->all_traced ? TL_COLL_UNMATCHED : TL_COLL_PARTIAL;
    if (c->n < (size_t)c->expected)
        return TL_COLL_MISSING;
    return c->size < 0 || c->n < (size_t)c->size ? TL_COLL_PARTIAL : TL_COLL_WHOLE;
}

/* Returns the step that more than half of the participants with a step give, else the step of the lowest rank with
 * one; -1: none has one.  A damaged trace may have lost its marks, and a rank may number its steps otherwise than the
 * rest. */
static int32_t step_of(const tl_participant *p, size_t n)
{
    int32_t lowest = -1, most = -1;
    size_t lead = 0, told = 0, count = 0;

    for (size_t i = 0; i < n; i++) {
        if (p[i].step < 0)
            continue;
        lowest = lowest < 0 ? p[i].step : lowest;
        most = lead == 0 ? p[i].step : most;
        lead = p[i].step == most ? lead + 1 : lead - 1; /* majority vote: a step of more than half remains */
        told++;
    }
    for (size_t i = 0; most != lowest && i < n; i++)
        count += p[i].step == most;
    return 2 * count > told ? most : lowest;
}

tl_collective_view tl_collective_of_run(const tl_participant *participants, const tl_collective_run *run,
                                        const tl_job_facts *facts)
{
    const tl_participant *p = participants + run->first;
    static const tl_group_fact nobody = { .size = -1 };
    const tl_group_fact *group =
        p->group >= 0 && (size_t)p->group < facts->ngroups ? &facts->groups[p->group] : &nobody;
    tl_collective_view c = {
        .by_rank = p, .n = run->n, .group = p->group, .kind = p->kind, .rule = p->rule, .step = step_of(p, run->n)
    };

    for (size_t i = 1; i < run->n; i++) {
        if (c.kind == TL_COLL_UNKNOWN || c.kind == TL_SEND_RECV)
            c.kind = p[i].kind != TL_COLL_UNKNOWN ? p[i].kind : c.kind;
        if (p[i].rule < c.rule) /* the lowest rule: participants matched by endtime got the key of another rule */
            c.rule = p[i].rule;
    }
    c.expected = expected_of(&c, group, facts);
    c.size = size_of(&c, group);
    c.state = (uint8_t)state_of(&c, group);
    c.span = span_of(&c, group, facts);
    if (c.n == 1)
        c.rule = TL_BY_NOTHING;
    else if (is_pair(&c))
        c.kind = TL_SEND_RECV;
    tl_clock_doubt doubt = { .clock = -1 };
    for (size_t i = 0; i < c.n; i++)
        tl_clock_doubt_add(&doubt, tl_rank_clock_of(facts, c.by_rank[i].rank));
    c.uncertainty_ns = tl_clock_doubt_of(&doubt);
    c.unsure_ns = doubt.corrected && !doubt.untied ? c.uncertainty_ns : 0;
    c.suspect = (uint8_t)tl_collective_suspect(p, run->n);
    if (c.suspect == TL_SUSPECT_NOTHING)
        c.suspect = (uint8_t)tl_collective_suspect_times(&c);
    return c;
}
