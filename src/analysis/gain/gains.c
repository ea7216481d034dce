/* gains.c - what repairs of all of the recording gain: the rows of table whatif. */
#include "tlmpi/analysis/gain.h"
#include "parts.h"
#include "tlmpi/analysis/whatif.h"
#include "tlmpi/analysis/role.h"
#include "tlmpi/analysis/blame.h"
#include "tlmpi/base/mem.h"
#include "tlmpi/model/blame_tables.h"
#include "tlmpi/model/coll_tables.h"
#include "tlmpi/model/tables.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Beyond this share of the job's time nothing is said of what would have been. */
static const double model_error_most = 0.05;

/* What begins by one clock and ends by another seems to take as much longer as they are apart, and so does the job that
 * is replayed. */
static int64_t clocks_apart(const tl_table *clocks)
{
    int64_t most_ns = 0;
    for (size_t i = 0; i < clocks->n; i++) {
        const tl_clock *row = tl_table_row(clocks, i);
        int64_t ns = row->applied ? 0 : row->offset_ns < 0 ? -row->offset_ns : row->offset_ns;
        most_ns = ns > most_ns ? ns : most_ns;
    }
    return most_ns;
}

static double error_of_clocks(const tl_gains *g)
{
    int64_t took_ns = tl_whatif_facts_of(g->whatif)->simulated_ns;
    return took_ns > 0 ? (double)g->apart_ns / (double)took_ns : 0;
}

/* ------------------------------------------------------------------------------------------------------- scenarios */

static void set_gain(const tl_gains *g, tl_whatif_row *row, int64_t gain_ns)
{
    bool any = row->scenario != TL_SCENARIO_UNCHANGED && g->unchanged_ns > g->ideal_ns;
    row->gain_ns = gain_ns;
    row->time_ns = g->unchanged_ns - gain_ns;
    row->share = any ? (double)gain_ns / (double)(g->unchanged_ns - g->ideal_ns) : NAN;
}

bool tl_gains_add(tl_gains *g, tl_scenario_kind scenario, int32_t rank, int part, int64_t gain_ns, double slowdown)
{
    tl_whatif_row row = { .scenario = (uint8_t)scenario,
                          .rank = rank,
                          .cause = (uint8_t)part,
                          .group = -1,
                          .slowdown = slowdown,
                          .model_error = NAN };
    set_gain(g, &row, gain_ns);
    if (scenario == TL_SCENARIO_UNCHANGED) {
        const tl_whatif_facts *facts = tl_whatif_facts_of(g->whatif);
        row.model_error = facts->measured_ns > 0 ? (double)facts->simulated_ns / (double)facts->measured_ns - 1 : NAN;
        if (error_of_clocks(g) > model_error_most)
            row.model_error = error_of_clocks(g);
    }
    return tl_table_append(tl_tables_get(g->tables, &tl_whatif_row_schema), &row, 1);
}

bool tl_gains_add_kind(tl_gains *g, int32_t group, int64_t gain_ns)
{
    tl_whatif_row row = { .scenario = TL_SCENARIO_GROUPS,
                          .rank = -1,
                          .cause = TL_NPARTS,
                          .group = group,
                          .slowdown = NAN,
                          .model_error = NAN };
    set_gain(g, &row, gain_ns);
    return tl_table_append(tl_tables_get(g->tables, &tl_whatif_row_schema), &row, 1);
}

static bool repair_causes(tl_gains *g)
{
    bool whole = true;
    memset(g->marked, 1, g->in->nranks);
    for (int part = 0; whole && part < TL_NPARTS; part++) {
        const tl_scenario s = { .repaired = g->marked, .parts = 1u << part };
        whole = tl_gains_add(g, TL_SCENARIO_CAUSE, -1, part, tl_whatif_gain(g->whatif, &s, NULL), NAN);
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
    return tl_gains_add(g, TL_SCENARIO_LINKS, -1, TL_NPARTS, gain, NAN);
}

/* All suspects at once. */
static bool repair_suspects(tl_gains *g, tl_verdict_gains *gains)
{
    bool any = false;
    const tl_table *stragglers = tl_tables_get(g->tables, &tl_straggler_schema);
    for (size_t i = 0; i < stragglers->n; i++) {
        const tl_straggler *row = tl_table_row(stragglers, i);
        size_t r = tl_gains_index(g, row->rank);
        if (r < g->in->nranks && tl_verdict_suspects(row, stragglers))
            g->marked[r] = any = true;
    }
    gains->together_ns = any ? tl_whatif_gain(g->whatif, &(tl_scenario){ .repaired = g->marked }, NULL) : 0;
    memset(g->marked, 0, g->in->nranks);
    return !any || tl_gains_add(g, TL_SCENARIO_SUSPECTS, -1, TL_NPARTS, gains->together_ns, NAN);
}

bool tl_gains_together(tl_gains *g)
{
    const tl_table *stragglers = tl_tables_get(g->tables, &tl_straggler_schema);
    tl_table *whatif = tl_tables_get(g->tables, &tl_whatif_row_schema);
    size_t n = 0;

    for (size_t i = 0; i < stragglers->n; i++) {
        const tl_straggler *row = tl_table_row(stragglers, i);
        size_t r = tl_gains_index(g, row->rank);
        if (r < g->in->nranks && row->verdict == TL_VERDICT_STRAGGLER) {
            g->marked[r] = 1;
            n++;
        }
    }
    int64_t gain_ns = n > 1 ? tl_whatif_gain(g->whatif, &(tl_scenario){ .repaired = g->marked }, NULL) : 0;
    memset(g->marked, 0, g->in->nranks);
    if (n < 2)
        return true;
    tl_whatif_row *row = tl_whatif_row_of(whatif, TL_SCENARIO_SUSPECTS, -1);
    if (row != NULL) {
        set_gain(g, row, gain_ns);
        return true;
    }
    return tl_gains_add(g, TL_SCENARIO_SUSPECTS, -1, TL_NPARTS, gain_ns, NAN) && tl_table_sort(whatif);
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
        whole = tl_gains_add(g, TL_SCENARIO_LINKS, links->lowest[l], TL_NPARTS, row->gain_ns, NAN);
    }
    free(cuts);
    return whole;
}

bool tl_gains_known(const tl_gains *g)
{
    return g != NULL && tl_whatif_facts_of(g->whatif)->state == TL_WHATIF_OK && error_of_clocks(g) <= model_error_most;
}

/* ------------------------------------------------------------------------------------------------------------- all */

/* What of the path is no work, transfer or known wait. */
static void tell_unexplained(const tl_gains *g)
{
    const tl_table *path = tl_tables_get(g->tables, &tl_path_row_schema);
    tl_whatif_row *row = tl_whatif_row_of(tl_tables_get(g->tables, &tl_whatif_row_schema), TL_SCENARIO_UNCHANGED, -1);
    for (size_t i = 0; row != NULL && i < path->n; i++) {
        const tl_path_row *of = tl_table_row(path, i);
        if (of->rank < 0 && (of->activity == TL_PART_DEVICE || of->activity == TL_NPARTS))
            row->unexplained_ns += of->path_ns;
    }
}
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
    if (st == TL_OK)
        tell_unexplained(g);
    return st;
}

tl_status tl_gains_find(tl_gains *g, tl_verdict_gains *found, tl_error *err)
{
    *found = (tl_verdict_gains){ 0 };
    if (g == NULL)
        return TL_OK;
    const tl_whatif_facts *facts = tl_whatif_facts_of(g->whatif);
    g->unchanged_ns = facts->simulated_ns;
    found->simulated = tl_gains_known(g);
    if (!found->simulated)
        return tl_gains_add(g, TL_SCENARIO_UNCHANGED, -1, TL_NPARTS, 0, NAN)
                   ? TL_OK
                   : tl_fail_memory(err, "what would have been");
    g->ideal_ns = tl_whatif_run(g->whatif, &(tl_scenario){ .ideal = true }, NULL);
    bool whole =
        tl_gains_add(g, TL_SCENARIO_UNCHANGED, -1, TL_NPARTS, 0, tl_gains_over(g->unchanged_ns, g->ideal_ns)) &&
        tl_gains_add(g, TL_SCENARIO_IDEAL, -1, TL_NPARTS, g->unchanged_ns - g->ideal_ns, NAN) && repair_links(g) &&
        repair_slow_links(g) && tl_gains_of_ranks(g) && tl_gains_of_hosts(g) && tl_gains_of_groups(g) &&
        repair_causes(g) && repair_suspects(g, found) && tl_table_sort(tl_tables_get(g->tables, &tl_whatif_row_schema));
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
                                     .hosts = g->nhosts > 0 ? g->host_of : NULL,
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
    g->host_of = tl_malloc((input->nranks + 1) * sizeof *g->host_of);
    g->nhosts = SIZE_MAX;
    if (g->host_of != NULL)
        g->nhosts = tl_hosts_of(tl_tables_get(tables, &tl_rank_schema), input->ranks, input->nranks, g->host_of);
    if (g->marked == NULL || g->nhosts == SIZE_MAX)
        return tl_fail_memory(err, "what would have been");
    g->apart_ns = clocks_apart(tl_tables_get(tables, &tl_clock_schema));
    tl_status st = put_together(g, TL_STAND_IN_ALWAYS, err);
    /* Where stand-ins for ranks without a trace spoil the replay it does without, first in steps that are not whole. */
    for (int less = TL_STAND_IN_WHOLE_STEPS; less <= TL_STAND_IN_NEVER; less++)
        if (st == TL_OK && g->job.absent.n > 0 && !tl_gains_known(g))
            st = put_together(g, (tl_standing_in)less, err);
    return st;
}

const uint32_t *tl_gains_hosts(const tl_gains *g, size_t *n)
{
    *n = g->nhosts;
    return g->host_of;
}

void tl_gains_close(tl_gains *g)
{
    if (g == NULL)
        return;
    tl_whatif_free(g->whatif);
    tl_gain_job_free(&g->job);
    free(g->marked);
    free(g->host_of);
    free(g);
}
