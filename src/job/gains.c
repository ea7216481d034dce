/* gains.c - what repairs of all of the recording gain: the rows of table whatif. */
#include "gains.h"
#include "gains_parts.h"
#include "path.h"
#include "tlmpi/base/hash.h"
#include "tlmpi/base/sort.h"
#include "tlmpi/base/stats.h"
#include "tlmpi/model/blame_tables.h"
#include "tlmpi/model/coll_tables.h"
#include "tlmpi/model/tables.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Beside those that stand out, so many ranks are repaired one by one; so few tell little of chance. */
enum { REPAIRED_MOST = 16, FEW = 3 };

static size_t index_of(const tl_gains *g, int32_t rank)
{
    return tl_index_of(g->in->ranks, g->in->nranks, rank);
}

/* ------------------------------------------------------------------------------------------------------- scenarios */

static bool add_row(tl_gains *g, tl_scenario_kind scenario, int32_t rank, int part, int64_t gain_ns, double slowdown)
{
    tl_whatif_row row = { .scenario = (uint8_t)scenario,
                          .rank = rank,
                          .cause = (uint8_t)part,
                          .time_ns = g->unchanged_ns - gain_ns,
                          .gain_ns = gain_ns,
                          .slowdown = slowdown,
                          .model_error = NAN };
    if (scenario == TL_SCENARIO_UNCHANGED) {
        const tl_whatif_facts *facts = tl_whatif_facts_of(g->whatif);
        row.model_error = facts->measured_ns > 0 ? (double)facts->simulated_ns / (double)facts->measured_ns - 1 : NAN;
    }
    return tl_table_append(tl_tables_get(g->tables, &tl_whatif_row_schema), &row, 1);
}

static double over(int64_t a, int64_t b)
{
    return b > 0 ? (double)a / (double)b : NAN;
}

static int by_blame(const void *rows, uint32_t a, uint32_t b)
{
    const tl_straggler *r = rows;
    if ((r[a].pattern != TL_PATTERN_NONE) != (r[b].pattern != TL_PATTERN_NONE))
        return r[a].pattern != TL_PATTERN_NONE ? -1 : 1;
    return (r[a].blame_ns < r[b].blame_ns) - (r[a].blame_ns > r[b].blame_ns);
}

/* What a repair of the marked rank would gain if nothing was wrong with it: chance makes every rank late now and then,
 * and that would stay.  The last of n ranks comes 1/n of a mean delay later than the last of n - 1, where lateness has a
 * tail.  What the same repair of another of its role, no suspect, gains on top of this one is the next of these: 1/(n - 1)
 * of it, and so n/(n - 1) times what is asked for.  Of three ranks and fewer the late one is half of what others are
 * compared with, or all: what their repair gains is too little as it is. */
static int64_t by_chance(tl_gains *g, const tl_table *stragglers, size_t rank, const tl_scenario *repaired,
                         int64_t gain_ns)
{
    size_t nranks = g->in->nranks, tried = 0, alike = 1;
    int64_t sum = 0;

    for (size_t i = 1; i < nranks; i++) {
        size_t r = (rank + i) % nranks;
        bool same = g->in->roles[r] == g->in->roles[rank];
        alike += same;
        if (!same || tried == TL_OTHERS_MOST || tl_verdict_suspects(tl_table_row(stragglers, r), stragglers))
            continue;
        g->marked[r] = 1;
        sum += tl_whatif_gain(g->whatif, repaired, NULL) - gain_ns;
        g->marked[r] = 0;
        tried++;
    }
    int64_t mean_ns = tried > 0 && sum > 0 ? sum / (int64_t)tried : 0;
    return alike > FEW ? tl_portion(mean_ns, (int64_t)alike - 1, (int64_t)alike) : mean_ns;
}

/* What it gains.  Where it stands out in the smaller part of the steps alone, what it has more in the others is chance,
 * unless it is more than half as much again; a step may be late for what was done in the one before. */
static int64_t gain_of(tl_gains *g, const tl_table *stragglers, const tl_straggler *row, size_t rank)
{
    const tl_scenario always = { .repaired = g->marked };
    tl_scenario repaired = always;
    int64_t all_ns = tl_whatif_gain(g->whatif, &repaired, NULL);
    int64_t window = (int64_t)row->last_step - row->first_step + 1;
    if (row->pattern == TL_PATTERN_NONE)
        return all_ns;
    if (2 * window > (int64_t)tl_whatif_facts_of(g->whatif)->nsteps)
        return all_ns - by_chance(g, stragglers, rank, &always, all_ns);
    repaired.in_steps = true;
    repaired.first_step = row->first_step - 1;
    repaired.last_step = row->last_step;
    int64_t ns = tl_whatif_gain(g->whatif, &repaired, NULL);
    return all_ns > ns + ns / 2 ? all_ns - by_chance(g, stragglers, rank, &always, all_ns)
                                : ns - by_chance(g, stragglers, rank, &repaired, ns);
}

static bool repair_ranks(tl_gains *g)
{
    tl_table *stragglers = tl_tables_get(g->tables, &tl_straggler_schema);
    uint32_t *order = tl_malloc((stragglers->n + 1) * sizeof *order);
    bool whole = order != NULL;

    for (uint32_t i = 0; whole && i < stragglers->n; i++)
        order[i] = i;
    whole = whole && tl_sort_index(order, stragglers->n, by_blame, stragglers->rows);
    for (size_t i = 0; whole && i < stragglers->n && i < REPAIRED_MOST; i++) {
        tl_straggler *row = tl_table_row(stragglers, order[i]);
        size_t r = index_of(g, row->rank);
        if (r == g->in->nranks || (row->blame_ns == 0 && row->pattern == TL_PATTERN_NONE))
            continue;
        g->marked[r] = 1;
        row->gain_ns = gain_of(g, stragglers, row, r);
        int64_t own_ns = tl_whatif_run(g->whatif, &(tl_scenario){ .ideal = true, .own = g->marked }, NULL);
        g->marked[r] = 0;
        row->gain_ns = row->gain_ns > 0 ? row->gain_ns : 0;
        row->slowdown = over(g->unchanged_ns, g->unchanged_ns - row->gain_ns);
        whole = add_row(g, TL_SCENARIO_RANK, row->rank, TL_NPARTS, row->gain_ns, over(own_ns, g->ideal_ns));
    }
    free(order);
    return whole;
}

/* Ranks of each host together, where there are several hosts. */
static bool repair_hosts(tl_gains *g)
{
    const tl_table *ranks = tl_tables_get(g->tables, &tl_rank_schema);
    bool whole = true, several = false;

    for (size_t i = 1; i < ranks->n; i++) {
        const tl_rank *a = tl_table_row(ranks, i - 1), *b = tl_table_row(ranks, i);
        several |= memcmp(a->host, b->host, sizeof a->host) != 0;
    }
    for (size_t i = 0, hosts = 0; whole && several && i < ranks->n && hosts < REPAIRED_MOST; i++) {
        const tl_rank *first = tl_table_row(ranks, i);
        size_t marked = 0;
        bool seen = false;
        for (size_t k = 0; k < ranks->n; k++) {
            const tl_rank *row = tl_table_row(ranks, k);
            size_t r = index_of(g, row->rank);
            if (memcmp(row->host, first->host, sizeof row->host) != 0 || r == g->in->nranks ||
                g->in->ranks[r] != row->rank)
                continue;
            seen |= k < i;
            g->marked[r] = 1;
            marked++;
        }
        if (!seen && marked > 0 && marked < g->in->nranks && first->host[0] != 0) {
            int64_t gain = tl_whatif_gain(g->whatif, &(tl_scenario){ .repaired = g->marked }, NULL);
            whole = add_row(g, TL_SCENARIO_HOST, first->rank, TL_NPARTS, gain, NAN);
            hosts++;
        }
        memset(g->marked, 0, g->in->nranks);
    }
    return whole;
}

static bool repair_causes(tl_gains *g)
{
    bool whole = true;
    memset(g->marked, 1, g->in->nranks);
    for (int part = 0; whole && part < TL_NPARTS; part++) {
        const tl_scenario s = { .repaired = g->marked, .parts = 1u << part };
        whole = add_row(g, TL_SCENARIO_CAUSE, -1, part, tl_whatif_gain(g->whatif, &s, NULL), NAN);
    }
    memset(g->marked, 0, g->in->nranks);
    return whole;
}

static bool repair_links(tl_gains *g)
{
    uint8_t *all = tl_malloc(g->job.ncollectives + 1);
    if (all == NULL)
        return false;
    memset(all, 1, g->job.ncollectives);
    int64_t gain = tl_whatif_gain(g->whatif, &(tl_scenario){ .links = all }, NULL);
    free(all);
    return add_row(g, TL_SCENARIO_LINKS, -1, TL_NPARTS, gain, NAN);
}

/* All suspects at once. */
static bool repair_suspects(tl_gains *g, tl_verdict_gains *gains)
{
    bool any = false;
    const tl_table *stragglers = tl_tables_get(g->tables, &tl_straggler_schema);
    for (size_t i = 0; i < stragglers->n; i++) {
        const tl_straggler *row = tl_table_row(stragglers, i);
        size_t r = index_of(g, row->rank);
        if (r < g->in->nranks && tl_verdict_suspects(row, stragglers))
            g->marked[r] = any = true;
    }
    gains->together_ns = any ? tl_whatif_gain(g->whatif, &(tl_scenario){ .repaired = g->marked }, NULL) : 0;
    memset(g->marked, 0, g->in->nranks);
    return !any || add_row(g, TL_SCENARIO_SUSPECTS, -1, TL_NPARTS, gains->together_ns, NAN);
}

bool tl_gains_together(tl_gains *g)
{
    const tl_table *stragglers = tl_tables_get(g->tables, &tl_straggler_schema);
    tl_table *whatif = tl_tables_get(g->tables, &tl_whatif_row_schema);
    size_t n = 0;

    for (size_t i = 0; i < stragglers->n; i++) {
        const tl_straggler *row = tl_table_row(stragglers, i);
        size_t r = index_of(g, row->rank);
        if (r < g->in->nranks && row->verdict == TL_VERDICT_STRAGGLER) {
            g->marked[r] = 1;
            n++;
        }
    }
    int64_t gain_ns = n > 1 ? tl_whatif_gain(g->whatif, &(tl_scenario){ .repaired = g->marked }, NULL) : 0;
    memset(g->marked, 0, g->in->nranks);
    if (n < 2)
        return true;
    for (size_t i = 0; i < whatif->n; i++) {
        tl_whatif_row *row = tl_table_row(whatif, i);
        if (row->scenario != TL_SCENARIO_SUSPECTS)
            continue;
        row->gain_ns = gain_ns;
        row->time_ns = g->unchanged_ns - gain_ns;
        return true;
    }
    return add_row(g, TL_SCENARIO_SUSPECTS, -1, TL_NPARTS, gain_ns, NAN) && tl_table_sort(whatif);
}

/* Each slow link, by what its transfers took too long. */
static bool repair_slow_links(tl_gains *g)
{
    const tl_job_links *links = g->in->links;
    tl_table *table = tl_tables_get(g->tables, &tl_slow_link_row_schema);
    int64_t *cuts = tl_malloc((g->job.ncollectives + 1) * sizeof *cuts);
    bool whole = cuts != NULL;

    for (size_t l = 0; whole && l < links->n; l++) {
        tl_slow_link_row *row = tl_table_row(table, l);
        for (size_t c = 0; c < g->job.ncollectives; c++)
            cuts[c] = links->link_of[g->job.row_of[c]] == l ? links->surplus_ns[g->job.row_of[c]] : 0;
        int64_t gain = tl_whatif_gain(g->whatif, &(tl_scenario){ .cuts_ns = cuts }, NULL);
        row->gain_ns = gain > 0 ? gain : 0;
        whole = add_row(g, TL_SCENARIO_LINKS, links->lowest[l], TL_NPARTS, row->gain_ns, NAN);
    }
    free(cuts);
    return whole;
}

bool tl_gains_known(const tl_gains *g)
{
    return g != NULL && tl_whatif_facts_of(g->whatif)->state == TL_WHATIF_OK;
}

/* ------------------------------------------------------------------------------------------------------------- all */

static tl_status find_path(const tl_gains *g, tl_error *err)
{
    size_t nranks = g->in->nranks, nabsent = g->job.absent.n;
    int32_t *ranks = tl_malloc((nranks + nabsent + 1) * sizeof *ranks);
    if (ranks == NULL)
        return tl_fail_memory(err, "the critical path");
    memcpy(ranks, g->in->ranks, nranks * sizeof *ranks);
    if (nabsent > 0)
        memcpy(ranks + nranks, g->job.absent.ranks, nabsent * sizeof *ranks);
    tl_status st = tl_path_find(g->whatif, ranks, nranks + nabsent, tl_tables_get(g->tables, &tl_path_row_schema), err);
    free(ranks);
    return st;
}

tl_status tl_gains_find(tl_gains *g, tl_verdict_gains *found, tl_error *err)
{
    *found = (tl_verdict_gains){ 0 };
    if (g == NULL)
        return TL_OK;
    const tl_whatif_facts *facts = tl_whatif_facts_of(g->whatif);
    g->unchanged_ns = facts->simulated_ns;
    found->simulated = facts->state == TL_WHATIF_OK;
    if (!found->simulated)
        return add_row(g, TL_SCENARIO_UNCHANGED, -1, TL_NPARTS, 0, NAN) ? TL_OK
                                                                        : tl_fail_memory(err, "what would have been");
    g->ideal_ns = tl_whatif_run(g->whatif, &(tl_scenario){ .ideal = true }, NULL);
    bool whole = add_row(g, TL_SCENARIO_UNCHANGED, -1, TL_NPARTS, 0, over(g->unchanged_ns, g->ideal_ns)) &&
                 add_row(g, TL_SCENARIO_IDEAL, -1, TL_NPARTS, g->unchanged_ns - g->ideal_ns, NAN) && repair_links(g) &&
                 repair_slow_links(g) && repair_ranks(g) && repair_hosts(g) && repair_causes(g) &&
                 repair_suspects(g, found) && tl_table_sort(tl_tables_get(g->tables, &tl_whatif_row_schema));
    if (!whole)
        return tl_fail_memory(err, "what would have been");
    return find_path(g, err);
}

static tl_status put_together(tl_gains *g, tl_standing_in standing_in, tl_error *err)
{
    const tl_gain_input *in = g->in;
    tl_gain_job *job = &g->job;

    tl_whatif_free(g->whatif);
    g->whatif = NULL;
    tl_gain_job_free(job);
    tl_status st = tl_gain_job_make(in, g->tables, standing_in, job, err);
    const tl_whatif_input whatif = { .programs = job->programs,
                                     .offset_ns = job->offsets,
                                     .roles = in->roles,
                                     .nranks = in->nranks,
                                     .stand_in = job->absent.stand_in,
                                     .nabsent = job->absent.n,
                                     .members = job->members,
                                     .nmembers = job->nmembers,
                                     .collectives = job->collectives,
                                     .ncollectives = job->ncollectives };
    return st == TL_OK ? tl_whatif_new(&whatif, &g->whatif, err) : st;
}

tl_status tl_gains_open(const tl_gain_input *input, tl_tables *tables, tl_gains **out, tl_error *err)
{
    tl_gains *g = input->nranks > 1 ? tl_calloc(1, sizeof *g) : NULL;

    *out = g;
    if (g == NULL)
        return input->nranks > 1 ? tl_fail_memory(err, "what would have been") : TL_OK;
    g->in = input;
    g->tables = tables;
    g->marked = tl_calloc(input->nranks + 1, 1);
    if (g->marked == NULL)
        return tl_fail_memory(err, "what would have been");
    tl_status st = put_together(g, TL_STAND_IN_ALWAYS, err);
    /* Where stand-ins for ranks without a trace spoil the replay it does without, first in steps that are not whole. */
    for (int less = TL_STAND_IN_WHOLE_STEPS; less <= TL_STAND_IN_NEVER; less++)
        if (st == TL_OK && g->job.absent.n > 0 && !tl_gains_known(g))
            st = put_together(g, (tl_standing_in)less, err);
    return st;
}

void tl_gains_close(tl_gains *g)
{
    if (g == NULL)
        return;
    tl_whatif_free(g->whatif);
    tl_gain_job_free(&g->job);
    free(g->marked);
    free(g);
}
