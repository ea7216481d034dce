/* suspects.c - lists the culprits: single ranks, ranks together, links. */
#include "internal.h"
#include "tlmpi/base/sort.h"
#include "tlmpi/model/parameters.h"
#include "tlmpi/model/participant.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Returns the gain of repairing this rank or (by its lowest rank) this host in a replay, ns; -1: not tried. */
static int64_t simulated_gain(tl_judgement *j, tl_scenario_kind scenario, int32_t rank)
{
    const tl_whatif_row *row = tl_whatif_row_of(tl_tables_get(j->tables, &tl_whatif_row_schema), scenario, rank);
    return row == NULL ? -1 : row->gain_ns > 0 ? row->gain_ns : 0;
}

/* Fills the columns that identify the culprit, and measures its cost. */
static void fill_identity(tl_judgement *j, tl_suspect *c)
{
    tl_culprit *row = &c->row;
    tl_ranks_text(c->members, c->nmembers, row->ranks, sizeof row->ranks);
    row->nranks = (int32_t)c->nmembers;
    if (c->trace != NULL)
        memcpy(row->host, c->trace->host, sizeof row->host);
    tl_culprit_measure(j, c);
}

/* -------------------------------------------------------------------------------------------------------- one rank */

/* Fills the columns of a rank; for several ranks, of the rank with the largest gain alone. */
static void copy_straggler(const tl_straggler *from, tl_culprit *row)
{
    row->rank = from->rank;
    row->share_steps = from->share_steps;
    row->z = from->z;
    row->cause = from->cause;
    row->largest_cause = from->largest_cause;
    row->cause_share = from->cause_share;
    memcpy(row->place, from->place, sizeof row->place);
}

static void add_rank(tl_judgement *j, int32_t *member, const tl_straggler *from)
{
    tl_suspect *c = &j->culprits[j->nculprits++];
    const tl_rank *of = tl_rank_row(j->tables, from->rank);

    *member = from->rank;
    *c = (tl_suspect){ .rank = from, .members = member, .nmembers = 1, .trace = of };
    c->row = tl_culprit_empty(j, of != NULL ? TL_CULPRIT_RANK : TL_CULPRIT_UNTRACED);
    copy_straggler(from, &c->row);
    c->row.device = of != NULL ? of->device : -1;
    c->row.same_cause = 1;
    c->row.pattern = from->pattern;
    c->row.first_step = from->first_step;
    c->row.last_step = from->last_step;
    c->row.p_value = from->p_value;
    c->row.late_count = from->late_count;
    c->row.gain_ns = simulated_gain(j, TL_SCENARIO_RANK, from->rank);
    fill_identity(j, c);
}

/* --------------------------------------------------------------------------------------------------- several ranks */

/* Finds whether all members lie on one host, among several.  Returns whether they are all ranks of that host. */
static bool find_host(tl_judgement *j, tl_suspect *c)
{
    const tl_rank *first = tl_rank_row(j->tables, c->members[0]);
    uint64_t host = first != NULL ? tl_host_key(first) : 0;
    size_t here = 0;

    for (size_t i = 1; host != 0 && i < c->nmembers; i++) {
        const tl_rank *next = tl_rank_row(j->tables, c->members[i]);
        if (next == NULL || tl_host_key(next) != host)
            return false;
    }
    for (size_t i = 0; host != 0 && i < j->ranks->n; i++)
        here += tl_host_key(tl_table_row(j->ranks, i)) == host;
    if (here == 0 || here == j->ranks->n)
        return false;
    c->trace = first;
    return here == c->nmembers;
}

/* Returns the pattern of all members' flagged steps together.  drift: each member drifts. */
static tl_pattern pattern_of(const tl_judgement *j, const tl_culprit *row, bool drift)
{
    int64_t run = (int64_t)row->last_step - row->first_step + 1;
    if (row->steps_flagged == 0 || drift)
        return row->steps_flagged == 0 ? TL_PATTERN_NONE : TL_PATTERN_DRIFTING;
    if ((double)row->steps_flagged >= TL_MOST_SHARE * (double)j->facts.trust.nsteps)
        return TL_PATTERN_PERSISTENT;
    if (row->steps_flagged == 1)
        return TL_PATTERN_ONE_OFF;
    return run == row->steps_flagged ? TL_PATTERN_BOUNDED : TL_PATTERN_SPORADIC;
}

/* Merges all ranks found so far into one culprit if repairing all of them gains at least twice as much as repairing the
 * best one: ranks that are late in turn, or alike, mask each other. */
static void merge_ranks(tl_judgement *j)
{
    tl_suspect all = { .members = j->members, .nmembers = j->nculprits };
    const tl_suspect *worst = &j->culprits[0];
    bool drift = true;

    if (j->nculprits < 2)
        return;
    all.row = tl_culprit_empty(j, TL_CULPRIT_SEVERAL);
    all.row.same_cause = 1;
    all.row.first_step = INT32_MAX;
    all.row.last_step = INT32_MIN;
    for (size_t i = 0; i < j->nculprits; i++) {
        const tl_suspect *c = &j->culprits[i];
        worst = c->row.gain_ns > worst->row.gain_ns ? c : worst;
        all.row.late_count += c->row.late_count;
        all.row.same_cause &= c->rank->cause == j->culprits[0].rank->cause;
        drift &= c->row.pattern == TL_PATTERN_DRIFTING;
        if (c->row.steps_flagged > 0) {
            all.row.first_step = c->row.first_step < all.row.first_step ? c->row.first_step : all.row.first_step;
            all.row.last_step = c->row.last_step > all.row.last_step ? c->row.last_step : all.row.last_step;
        }
        bool less = isnan(all.row.p_value) || c->row.p_value < all.row.p_value;
        all.row.p_value = less ? c->row.p_value : all.row.p_value;
    }
    all.rank = worst->rank;
    copy_straggler(all.rank, &all.row);
    all.row.kind = find_host(j, &all) ? TL_CULPRIT_HOST : TL_CULPRIT_SEVERAL;
    bool host = all.row.kind == TL_CULPRIT_HOST;
    int64_t host_gain_ns = host ? simulated_gain(j, TL_SCENARIO_HOST, all.members[0]) : -1;
    all.row.gain_ns = host_gain_ns >= 0 ? host_gain_ns : j->facts.together_gain_ns;
    if (all.row.gain_ns <= 0 || worst->row.gain_ns > all.row.gain_ns / 2)
        return;
    fill_identity(j, &all);
    all.row.pattern = (uint8_t)pattern_of(j, &all.row, drift);
    if (all.row.steps_flagged == 0)
        all.row.first_step = all.row.last_step = -1;
    j->culprits[0] = all;
    j->nculprits = 1;
}

/* ----------------------------------------------------------------------------------------------------------- links */

static void add_link(tl_judgement *j, int32_t *members, const tl_slow_link_row *from)
{
    tl_suspect *c = &j->culprits[j->nculprits++];
    bool known = from->rank >= 0 && from->peer >= 0;

    members[0] = from->rank < from->peer ? from->rank : from->peer;
    members[1] = from->rank < from->peer ? from->peer : from->rank;
    *c = (tl_suspect){ .link = from,
                       .members = members,
                       .nmembers = known ? 2 : 0,
                       .trace = tl_rank_row(j->tables, from->rank),
                       .peer_trace = tl_rank_row(j->tables, from->peer) };
    c->row = tl_culprit_empty(j, TL_CULPRIT_LINK);
    c->row.link = from->link;
    c->row.rank = from->rank;
    c->row.peer = from->peer;
    c->row.z = from->z;
    c->row.cause = c->row.largest_cause = TL_CAUSE_SLOW_LINK;
    c->row.cause_share = 1;
    c->row.same_cause = 1;
    c->row.pattern = from->pattern;
    c->row.first_step = from->first_step;
    c->row.last_step = from->last_step;
    c->row.p_value = from->p_value;
    c->row.gain_ns = j->facts.trust.simulated ? from->gain_ns : -1;
    c->row.excess_ns = from->excess_ns;
    if (c->peer_trace != NULL)
        memcpy(c->row.peer_host, c->peer_trace->host, sizeof c->row.peer_host);
    fill_identity(j, c);
    if (!known)
        memcpy(c->row.ranks, from->ranks, sizeof from->ranks);
}

/* Whether a row of table link already explains the rank's delay. */
static bool has_link(const tl_straggler *row, const tl_table *links)
{
    for (size_t i = 0; row->cause == TL_CAUSE_SLOW_LINK && i < links->n; i++) {
        const tl_slow_link_row *link = tl_table_row(links, i);
        if (row->rank == link->rank || row->rank == link->peer)
            return true;
    }
    return false;
}

TL_SORT_BY(by_cost, tl_suspect, DOWN(row.gain_ns), DOWN(row.excess_ns), row.rank)

void tl_suspects_find(tl_judgement *j)
{
    const tl_table *links = tl_tables_get(j->tables, &tl_slow_link_row_schema);

    j->culprits = tl_arena_zeroed(&j->arena, j->stragglers->n + links->n, sizeof *j->culprits);
    j->members = tl_arena_zeroed(&j->arena, j->stragglers->n + 2 * links->n, sizeof *j->members);
    tl_step_costs_begin(j);
    TL_ROWS (const tl_straggler, row, j->stragglers)
        if (row->verdict == TL_VERDICT_STRAGGLER && !has_link(row, links))
            add_rank(j, &j->members[j->nculprits], row);
    merge_ranks(j);
    for (size_t i = 0; i < links->n; i++)
        add_link(j, &j->members[j->stragglers->n + 2 * i], tl_table_row(links, i));
    if (j->nculprits > 1)
        qsort(j->culprits, j->nculprits, sizeof *j->culprits, by_cost);
}
