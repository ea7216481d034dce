/* scenarios.c - what the job would have taken otherwise, whoever is at fault: rows of whatif beside those of ranks and links.
 *
 *     ideal       no rank and no link slower than is usual in the step; of that, one part of the time alone (cause), and transfers on
 *                 links of one sort alone (groups)
 *     balanced    ranks of all roles compute equally long
 *     host_free   hosts take no time of their own
 */
#include "parts.h"
#include "tlmpi/base/mem.h"
#include "tlmpi/base/sort.h"
#include "tlmpi/base/stats.h"
#include "tlmpi/model/blame_tables.h"
#include <math.h>
#include <stdlib.h>

/* What is changed. */
typedef struct scenario {
    unsigned parts;            /* of the ideal, bits 1 << tl_part (TL_PART_SYNC: waits) */
    const bool *sorts;         /* [nsorts] of the ideal, transfers on links of these; NULL: none */
    uint64_t host;             /* the chosen units of its ranks are repaired; 0: none */
    const tl_balance *balance; /* NULL: as it is */
    bool free_hosts;
} scenario;

typedef struct trying {
    const tl_findings *j;
    const tl_baseline *b;
    const tl_verdict_ranks *in;
    tl_changes changes;     /* of one rank at a time */
    tl_ideal *ideal;
    unsigned *parts_of;     /* [nranks] parts in which the ideal changes anything */
    unsigned parts;         /* of all, and COMM if it changes transfers */
    int64_t *meeting_less;  /* [nmeetings] what the ideal takes off it */
    int64_t **end_less;     /* by rank and port: off a member of a collective on a link */
    tl_piece *changed;      /* [nranks] of the scenario in hand; empty: unchanged */
    bool *sorts;            /* [nsorts] */
    int64_t end_ns;         /* when the job ended */
    tl_table *whatif;
    int64_t ideal_ns;       /* what the ideal gains */
} trying;

static const tl_part causes[] = { TL_PART_COMPUTE, TL_PART_H2D, TL_PART_COPY, TL_PART_HOST, TL_PART_SYNC };

static const tl_whatif_row of_all = { .rank = -1, .cause = TL_NPARTS, .group = -1, .share = NAN, .slowdown = NAN, .model_error = NAN };

static bool append(const tl_findings *j, tl_whatif_row row, tl_table *whatif)
{
    row.time_ns = j->time_ns - row.gain_ns;
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

/* ------------------------------------------------------------------------------------------------------------ ranks */

/* All chosen units of the rank that is open repaired together. */
static bool repair_rank(trying *t)
{
    bool ok = true;
    for (size_t u = 0; ok && u < t->j->units.n; u++) {
        const tl_unit *unit = &t->j->units.v[u];
        const tl_repair repair = tl_repair_of(unit);
        if (unit->needed && unit->rank == t->changes.rank)
            ok = tl_repair_apply(&repair, &t->changes);
    }
    return ok;
}

/* What the ideal takes off the members of collectives on links is theirs. */
static void move_ends(trying *t)
{
    tl_changes *c = &t->changes;
    for (size_t p = 0; p < c->open.of->graph.ncomms; p++) {
        uint32_t end = c->open.of->ports[p].arrival + 1;
        if (tl_link_of(t->b, c->open.of->ports[p].meeting) == TL_NONE || c->less_ns[end] == 0)
            continue;
        t->end_less[c->rank][p] = tl_ns_max(t->end_less[c->rank][p], c->less_ns[end]);
        c->less_ns[end] = 0;
    }
}

/* Of the ideal only those parts. */
static unsigned mask(tl_changes *c, unsigned parts)
{
    unsigned left = 0;
    for (uint32_t v = 0; v < c->open.n; v++) {
        unsigned part = 1U << c->open.nodes[v].part;
        c->less_ns[v] = (part & parts) != 0 ? c->less_ns[v] : 0;
        c->gone[v] = c->gone[v] && (parts >> TL_PART_SYNC & 1U) != 0;
        left |= (c->less_ns[v] != 0 ? part : 0) | (c->gone[v] ? 1U << TL_PART_SYNC : 0);
    }
    return left;
}

static bool make_ideal(trying *t, unsigned parts)
{
    if (!repair_rank(t) || !tl_ideal_of_rank(t->ideal, &t->changes))
        return false;
    move_ends(t);
    t->parts_of[t->changes.rank] &= mask(&t->changes, parts) | ~parts;
    return true;
}

/* Whether anything of the rank is changed. */
static bool is_changed(const trying *t, const scenario *s, size_t rank)
{
    if (s->balance != NULL)
        return s->balance->to[t->b->role_of[rank]] != 1;
    if (s->host != 0)
        return t->b->host_of[rank] == s->host && t->j->rank_ns[rank] >= 0;
    return s->free_hosts || (s->parts & t->parts_of[rank]) != 0;
}

static bool change(trying *t, const scenario *s, size_t rank)
{
    if (!tl_changes_open(t->b, rank, &t->changes))
        return false;
    if (s->balance != NULL)
        tl_balance_rank(s->balance, &t->changes);
    else if (s->free_hosts)
        tl_free_host(&t->changes);
    else if (!(s->host != 0 ? repair_rank(t) : make_ideal(t, s->parts)))
        return false;
    return tl_piece_make(&t->changes, NULL, &t->changed[rank], NULL);
}

/* ------------------------------------------------------------------------------------------------------------- links */

/* What of the ideal transfers on links of some sorts become shorter by. */
static void shorten_transfers(const trying *t, const bool *sorts, tl_whole *whole)
{
    const tl_graph *g = t->b->graph;
    for (uint32_t m = 0; m < g->nmeetings; m++) {
        uint32_t link = tl_link_of(t->b, m);
        if (link != TL_NONE && sorts[t->b->links[link].role - t->b->nroles])
            whole->net.own_ns[whole->meetings + m] -= t->meeting_less[m];
    }
    for (size_t r = 0; r < g->nranks; r++) {
        const tl_piece *piece = tl_piece_is(&t->changed[r]) ? &t->changed[r] : &t->j->pieces[r];
        for (size_t p = 0; p < g->ranks[r].graph.ncomms; p++) {
            uint32_t link = tl_link_of(t->b, g->ranks[r].ports[p].meeting);
            if (link != TL_NONE && sorts[t->b->links[link].role - t->b->nroles])
                whole->net.own_ns[whole->base[r] + piece->met[p]] -= t->end_less[r][p];
        }
    }
}

/* As the ideal has it, and with what the repair of chosen links takes off, where that is more. */
static bool find_transfers(trying *t)
{
    const tl_graph *g = t->b->graph;
    tl_transfer_list list = { 0 };
    bool ok = true;
    for (size_t u = 0; ok && u < t->j->units.n; u++) {
        const tl_repair repair = tl_repair_of(&t->j->units.v[u]);
        if (t->j->units.v[u].needed && t->j->units.v[u].rank == TL_NONE)
            ok = tl_repair_link(t->b, &repair, &list);
    }
    for (uint32_t m = 0; m < g->nmeetings; m++)
        t->meeting_less[m] = tl_ideal_of_transfer(t->ideal, m, g->meetings[m].work_ns);
    for (size_t r = 0; ok && r < g->nranks; r++) {
        size_t nports = g->ranks[r].graph.ncomms;
        t->end_less[r] = tl_calloc(nports + 1, sizeof **t->end_less);
        ok = t->end_less[r] != NULL;
        for (size_t p = 0; ok && p < nports; p++)
            t->end_less[r][p] = tl_ideal_of_transfer(t->ideal, g->ranks[r].ports[p].meeting, g->ranks[r].ports[p].tail_ns);
    }
    for (size_t i = 0; ok && i < list.n; i++) {
        const tl_transfer_less *less = &list.v[i];
        int64_t *ns = less->rank == TL_NONE ? &t->meeting_less[less->of] : &t->end_less[less->rank][less->of];
        *ns = tl_ns_max(*ns, less->ns);
    }
    free(list.v);
    return ok;
}

static void list_parts(trying *t)
{
    const tl_graph *g = t->b->graph;
    bool any = false;
    t->parts = 0;
    for (uint32_t m = 0; m < g->nmeetings; m++)
        any = any || t->meeting_less[m] != 0;
    for (size_t r = 0; r < g->nranks; r++) {
        t->parts |= t->parts_of[r];
        for (size_t p = 0; p < g->ranks[r].graph.ncomms; p++)
            any = any || t->end_less[r][p] != 0;
    }
    t->parts |= any ? 1U << TL_PART_COMM : 0;
}

/* -------------------------------------------------------------------------------------------------------- scenarios */

/* What a scenario gains. */
static bool gain_of(trying *t, const scenario *s, int64_t *gain_ns)
{
    size_t nranks = t->b->graph->nranks;
    bool ok = true;
    for (size_t r = 0; ok && r < nranks; r++)
        ok = !is_changed(t, s, r) || change(t, s, r);
    tl_whole whole = { 0 };
    ok = ok && tl_whole_make(t->b, t->j->pieces, t->changed, &whole);
    int64_t *done_ns = ok ? tl_malloc((whole.net.n + 1) * sizeof *done_ns) : NULL;
    if (done_ns != NULL) {
        if (s->sorts != NULL)
            shorten_transfers(t, s->sorts, &whole);
        *gain_ns = t->end_ns - tl_net_replay(&whole.net, done_ns);
    }
    free(done_ns);
    tl_whole_free(&whole);
    for (size_t r = 0; r < nranks; r++)
        tl_piece_free(&t->changed[r]);
    return done_ns != NULL;
}

static bool add(trying *t, tl_whatif_row row)
{
    if (row.scenario == TL_SCENARIO_IDEAL)
        t->ideal_ns = row.gain_ns;
    row.share = t->ideal_ns > 0 ? (double)row.gain_ns / (double)t->ideal_ns : NAN;
    return append(t->j, row, t->whatif);
}

/* A part of the ideal. */
static bool add_ideal(trying *t, tl_whatif_row row, unsigned parts, const bool *sorts)
{
    const scenario s = { .parts = parts, .sorts = sorts };
    unsigned all = parts | (sorts != NULL ? 1U << TL_PART_COMM : 0);
    return ((all & t->parts) == 0 || gain_of(t, &s, &row.gain_ns)) && add(t, row);
}

/* How long the transfers on links of a sort are together. */
static int64_t moved_by(const tl_baseline *b, size_t sort)
{
    int64_t ns = 0;
    for (size_t c = 0; c < b->nclasses; c++)
        for (size_t i = 0; b->classes[c].role == b->nroles + sort && i < b->roles[b->nroles + sort].n * b->nsteps; i++)
            ns += b->classes[c].ns[i];
    return ns;
}

/* The lowest group of the sort; -1: its links have none. */
static int32_t group_of(const tl_baseline *b, size_t sort)
{
    int32_t group = -1;
    for (size_t i = 0; i < b->nlinks; i++)
        if (b->links[i].role == b->nroles + sort && b->links[i].group >= 0 && (group < 0 || b->links[i].group < group))
            group = b->links[i].group;
    return group;
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

static size_t list_kinds(const tl_baseline *b, kind *kinds)
{
    size_t n = 0;
    for (size_t q = 0; q < b->nsorts; q++) {
        int32_t group = group_of(b, q);
        size_t k = 0;
        while (k < n && kinds[k].group != group)
            k++;
        if (k == n && group >= 0)
            kinds[n++] = (kind){ 0, group };
        if (k < n)
            kinds[k].ns += moved_by(b, q);
    }
    if (n > 1)
        qsort(kinds, n, sizeof *kinds, by_most);
    return n < TL_SCENARIO_GROUPS_MOST ? n : TL_SCENARIO_GROUPS_MOST;
}

static bool add_groups(trying *t)
{
    kind *kinds = tl_malloc((t->b->nsorts + 1) * sizeof *kinds);
    size_t n = kinds != NULL ? list_kinds(t->b, kinds) : 0;
    bool ok = kinds != NULL;
    for (size_t i = 0; ok && i < n; i++) {
        tl_whatif_row row = of_all;
        row.scenario = TL_SCENARIO_GROUPS;
        row.group = kinds[i].group;
        for (size_t q = 0; q < t->b->nsorts; q++)
            t->sorts[q] = group_of(t->b, q) == kinds[i].group;
        ok = add_ideal(t, row, 0, t->sorts);
    }
    free(kinds);
    return ok;
}

static bool add_host(trying *t, uint64_t host, int32_t lowest)
{
    const scenario s = { .host = host };
    tl_whatif_row row = of_all;
    row.scenario = TL_SCENARIO_HOST;
    row.rank = lowest;
    return gain_of(t, &s, &row.gain_ns) && add(t, row);
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
    const scenario s = { .balance = &balance };
    tl_whatif_row row = of_all;
    bool ok = tl_balance_find(t->b, &balance);
    if (ok && balance.most != TL_NONE) {
        row.scenario = TL_SCENARIO_BALANCED;
        row.rank = t->in->ranks[t->b->members[t->b->roles[balance.most].first]];
        row.slowdown = balance.times;
        ok = gain_of(t, &s, &row.gain_ns) && add(t, row);
    }
    free(balance.to);
    return ok;
}

static bool add_free_hosts(trying *t)
{
    const scenario s = { .free_hosts = true };
    tl_whatif_row row = of_all;
    row.scenario = TL_SCENARIO_HOST_FREE;
    return gain_of(t, &s, &row.gain_ns) && add(t, row);
}

/* All of the ideal, before any part of it. */
static bool add_whole_ideal(trying *t)
{
    const scenario s = { .parts = ~0U, .sorts = t->sorts };
    tl_whatif_row row = of_all;
    row.scenario = TL_SCENARIO_IDEAL;
    for (size_t q = 0; q < t->b->nsorts; q++)
        t->sorts[q] = true;
    for (size_t r = 0; r < t->b->graph->nranks; r++)
        t->parts_of[r] = ~0U;
    if (!find_transfers(t) || !gain_of(t, &s, &row.gain_ns))
        return false;
    list_parts(t);
    return add(t, row);
}

static bool try_all(trying *t)
{
    tl_whatif_row row;
    bool ok = add_whole_ideal(t);
    for (size_t i = 0; ok && i < sizeof causes / sizeof *causes; i++) {
        row = of_all;
        row.scenario = TL_SCENARIO_CAUSE;
        row.cause = (uint8_t)causes[i];
        ok = add_ideal(t, row, 1U << causes[i], NULL);
    }
    return ok && add_groups(t) && add_hosts(t) && add_balanced(t) && add_free_hosts(t);
}

static void share_of_ideal(const trying *t, tl_whatif_row *row)
{
    row->share = t->ideal_ns > 0 ? (double)row->gain_ns / (double)t->ideal_ns : NAN;
    if (row->scenario == TL_SCENARIO_UNCHANGED && t->ideal_ns < t->j->time_ns)
        row->slowdown = (double)t->j->time_ns / (double)(t->j->time_ns - t->ideal_ns);
}

bool tl_scenario_rows(const tl_findings *findings, const tl_baseline *baseline, const tl_verdict_ranks *ranks, tl_table *whatif)
{
    size_t nranks = baseline->graph->nranks, before = whatif->n;
    trying t = { .j = findings,
                 .b = baseline,
                 .in = ranks,
                 .ideal = tl_ideal_new(baseline),
                 .parts_of = tl_calloc(nranks + 1, sizeof *t.parts_of),
                 .meeting_less = tl_calloc(baseline->graph->nmeetings + 1, sizeof *t.meeting_less),
                 .end_less = tl_calloc(nranks + 1, sizeof *t.end_less),
                 .changed = tl_calloc(nranks + 1, sizeof *t.changed),
                 .sorts = tl_malloc(baseline->nsorts + 1),
                 .end_ns = findings->end_ns,
                 .whatif = whatif };
    bool ok = t.ideal != NULL && t.parts_of != NULL && t.meeting_less != NULL && t.end_less != NULL && t.changed != NULL &&
              t.sorts != NULL && try_all(&t);
    for (size_t i = 0; ok && i < before; i++)
        share_of_ideal(&t, tl_table_row(whatif, i));
    tl_changes_free(&t.changes);
    tl_ideal_free(t.ideal);
    for (size_t r = 0; t.end_less != NULL && r < nranks; r++)
        free(t.end_less[r]);
    free(t.end_less);
    free(t.meeting_less);
    free(t.parts_of);
    free(t.changed);
    free(t.sorts);
    return ok;
}
