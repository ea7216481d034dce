/* suspects.c - lists the culprits: single ranks, ranks together, links. */
#include "internal.h"
#include "tlmpi/base/quantile.h"
#include "tlmpi/base/sort.h"
#include "tlmpi/base/stats.h"
#include "tlmpi/model/health_table.h"
#include "tlmpi/model/parameters.h"
#include "tlmpi/model/participant.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* --------------------------------------------------------------------------------------------------------- measures */

/* The cost of a culprit: its flagged steps, the ranks that wait for it, its part of the critical path. */

/* ----------------------------------------------------------------------------------------------------------- steps */

/* Fills the steps of the job, from the first rank's rows. */
static void step_costs_begin(tl_judgement *j)
{
    const tl_blame_step *rows = tl_table_row(j->blame_steps, 0);
    size_t n = j->blame_steps->n;

    j->steps = tl_arena_zeroed(&j->arena, n + 1, sizeof *j->steps);
    j->flagged = tl_arena_zeroed(&j->arena, n + 1, sizeof *j->flagged);
    j->lengths = tl_arena_take(&j->arena, n + 1, sizeof *j->lengths);
    j->waits = tl_arena_take(&j->arena, j->ranks->n, sizeof *j->waits);
    j->waiters = tl_arena_take(&j->arena, j->ranks->n, sizeof *j->waiters);
    for (size_t i = 0; i < n && rows[i].rank == rows[0].rank && rows[i].step >= 0; i++)
        j->steps[j->nsteps++] = (tl_step_cost){ .step = rows[i].step, .length_ns = rows[i].step_ns };
    for (size_t s = 0; s < j->nsteps; s++)
        if (j->steps[s].length_ns <= 0)
            j->steps[s].length_ns = j->facts.wall_ns / (int64_t)j->nsteps;
    j->steps[j->nsteps] = (tl_step_cost){ .step = -1, .length_ns = j->facts.wall_ns };
}

/* Returns the cost entry of a step; the last entry for steps that the job does not have. */
static tl_step_cost *step_of(tl_judgement *j, int32_t step)
{
    size_t low = 0;
    TL_BISECT(low, j->nsteps, mid, j->steps[mid].step < step);
    return low < j->nsteps && j->steps[low].step == step ? &j->steps[low] : &j->steps[j->nsteps];
}

/* Whether the step is in the rank's pattern: any rank may exceed its peers a little in other steps as well. */
static bool is_of_pattern(const tl_judgement *j, const tl_blame_step *step)
{
    size_t at = tl_table_from_rank(j->stragglers, step->rank);
    const tl_straggler *row = at < j->stragglers->n ? tl_table_row(j->stragglers, at) : NULL;
    return row == NULL || row->rank != step->rank || row->pattern == TL_PATTERN_NONE ||
           (step->step >= row->first_step && step->step <= row->last_step);
}

/* Adds a member to the cost entries of steps.  cost_ns of a flagged step is the largest excess of a member, at most the
 * step's length.  Returns the member's gain, ns, in its flagged steps. */
static int64_t add_step_costs(tl_judgement *j, int32_t rank)
{
    int64_t gain_ns = 0;
    const tl_blame_step *row;
    for (size_t i = tl_table_from_rank(j->blame_steps, rank);
         i < j->blame_steps->n && (row = tl_table_row(j->blame_steps, i))->rank == rank; i++) {
        tl_step_cost *step = step_of(j, row->step);
        step->late_ns = tl_ns_max(step->late_ns, row->excess_ns);
        step->blame_ns = tl_ns_add(step->blame_ns, row->blame_ns);
        bool of_pattern = row->flagged && is_of_pattern(j, row);
        step->beside |= row->flagged && !of_pattern;
        if (!of_pattern)
            continue;
        int64_t cost_ns = tl_ns_max(0, tl_ns_min(row->excess_ns, step->length_ns));
        step->cost_ns = !step->flagged || cost_ns > step->cost_ns ? cost_ns : step->cost_ns;
        step->flagged = true;
        gain_ns = tl_ns_add(gain_ns, row->gain_ns);
    }
    return gain_ns;
}

TL_SORT_BY(by_step_cost, tl_step_cost, cost_ns, step)

/* Returns the number of other ranks, of those with device work. */
static int64_t count_others(const tl_judgement *j, const tl_suspect *c)
{
    return (int64_t)(j->facts.trust.nranks > c->nmembers ? j->facts.trust.nranks - c->nmembers : 0);
}

/* Sums the lateness over steps, ns, in each step at most the mean wait of other ranks or, if larger, the excess over
 * the usual step length: the median of steps that are not flagged. */
static int64_t late_in_steps(tl_judgement *j, const tl_suspect *c)
{
    size_t n = 0;
    for (size_t s = 0; s < j->nsteps; s++)
        if (!j->steps[s].flagged)
            j->lengths[n++] = j->steps[s].length_ns;
    int64_t usual_ns = n > 0 ? tl_median(j->lengths, n) : INT64_MAX, others = tl_ns_max(1, count_others(j, c)),
            sum_ns = 0;
    for (size_t s = 0; s <= j->nsteps; s++) {
        const tl_step_cost *step = &j->steps[s];
        int64_t longer_ns = s < j->nsteps ? tl_ns_between(step->length_ns, usual_ns) : 0;
        sum_ns = tl_ns_add(sum_ns, tl_ns_min(step->late_ns, tl_ns_max(step->blame_ns / others, longer_ns)));
    }
    return sum_ns;
}

static void measure_steps(tl_judgement *j, tl_suspect *c)
{
    int64_t sum_ns = 0, in_steps_ns = 0, n = 0;
    tl_culprit *row = &c->row;

    for (size_t s = 0; s <= j->nsteps; s++)
        j->steps[s] = (tl_step_cost){ .step = j->steps[s].step, .length_ns = j->steps[s].length_ns };
    for (size_t i = 0; i < c->nmembers; i++)
        in_steps_ns = add_step_costs(j, c->members[i]);
    for (size_t s = 0; s <= j->nsteps; s++) {
        row->steps_not_counted += j->steps[s].beside && !j->steps[s].flagged;
        if (!j->steps[s].flagged)
            continue;
        j->flagged[n++] = j->steps[s];
        sum_ns = tl_ns_add(sum_ns, j->steps[s].length_ns);
        row->excess_ns = tl_ns_add(row->excess_ns, j->steps[s].cost_ns);
    }
    row->steps_flagged = n;
    c->late_ns = late_in_steps(j, c);
    if (n == 0)
        return;
    qsort(j->flagged, (size_t)n, sizeof *j->flagged, by_step_cost);
    const tl_step_cost *middle = &j->flagged[tl_lower_middle((size_t)n)];
    row->step_cost_ns = middle->cost_ns;
    row->step_ns = middle->length_ns;
    if (row->gain_ns >= 0) { /* of a single rank, a part of the gain may lie in other steps */
        bool alone = c->nmembers == 1 && j->nsteps > 0;
        c->in_steps_ns = alone ? in_steps_ns : 0;
        bool elsewhere = alone && in_steps_ns > 0 && in_steps_ns < row->gain_ns;
        row->step_cost_ns = (elsewhere ? in_steps_ns : row->gain_ns) / n;
        row->step_ns = sum_ns / n;
    }
    if (row->step_ns > 0)
        row->step_cost_ns = tl_ns_min(row->step_cost_ns, row->step_ns);
}

/* --------------------------------------------------------------------------------------------------------- waiting */

/* Adds the waits for one member, except those of other members.  Returns the largest number of waiters of a row that
 * does not name them. */
static int64_t add_waits(tl_judgement *j, tl_suspect *c, int32_t to_rank)
{
    int64_t unnamed = 0;
    const tl_blame *row;

    for (size_t i = tl_table_from_rank(j->blame, to_rank);
         i < j->blame->n && (row = tl_table_row(j->blame, i))->to_rank == to_rank; i++) {
        if (tl_index_of(c->members, c->nmembers, row->from_rank) < c->nmembers ||
            tl_step_is_left_out(j->health, row->step))
            continue;
        int64_t ns = tl_ns_add(row->direct_ns, row->indirect_ns);
        const tl_rank *from = row->from_rank >= 0 ? tl_rank_row(j->tables, row->from_rank) : NULL;
        c->row.blame_ns = tl_ns_add(c->row.blame_ns, ns);
        if (c->row.steps_flagged == 0 || step_of(j, row->step)->flagged)
            c->steps_blame_ns = tl_ns_add(c->steps_blame_ns, ns);
        c->row.indirect_ns = tl_ns_add(c->row.indirect_ns, row->indirect_ns);
        if (from != NULL) {
            int64_t *wait_ns = &j->waits[from - (const tl_rank *)tl_table_row(j->ranks, 0)];
            *wait_ns = tl_ns_add(*wait_ns, ns);
        } else if (ns > 0) {
            unnamed = tl_ns_max(unnamed, row->waiters);
        }
    }
    return unnamed;
}

/* Finds who waited for the culprit.  A rank that waits less than 1 / TL_LITTLE_PART of the mean wait counts as not
 * waiting. */
static void measure_waits(tl_judgement *j, tl_suspect *c)
{
    size_t n = 0;
    int64_t unnamed = 0, sum = 0, others = count_others(j, c);

    for (size_t i = 0; i < j->ranks->n; i++)
        j->waits[i] = 0;
    for (size_t i = 0; i < c->nmembers; i++)
        unnamed = tl_ns_max(unnamed, add_waits(j, c, c->members[i]));
    for (size_t i = 0; i < j->ranks->n; i++)
        sum = tl_ns_add(sum, j->waits[i]);
    for (size_t i = 0; i < j->ranks->n; i++)
        if (j->waits[i] >= sum / (int64_t)j->ranks->n / TL_LITTLE_PART + 1)
            j->waiters[n++] = ((const tl_rank *)tl_table_row(j->ranks, i))->rank;
    tl_ranks_text(j->waiters, n, c->row.waiters, sizeof c->row.waiters);
    /* Large groups only count their waiters, which may include members. */
    c->row.nwaiters = unnamed > (int64_t)n ? tl_ns_min(unnamed, others) : (int64_t)n;
    c->row.waited_ns = others > 0 ? c->row.blame_ns / others : 0;
}

/* ------------------------------------------------------------------------------------------------------------ path */

static int64_t path_ns_of(tl_judgement *j, int32_t rank)
{
    const tl_table *path = tl_tables_get(j->tables, &tl_path_row_schema);
    const tl_path_row *row;
    int64_t ns = 0;
    for (size_t i = tl_table_from_rank(path, rank); i < path->n && (row = tl_table_row(path, i))->rank == rank; i++)
        ns = tl_ns_add(ns, row->activity != TL_PATH_BEFORE ? row->path_ns : 0);
    return ns;
}

/* Fills the cost of a culprit from its members: steps (for ranks), waits, and its part of the critical path.
 * row.gain_ns is set already. */
static void culprit_measure(tl_judgement *j, tl_suspect *c)
{
    int64_t path_ns = 0;

    if (c->rank != NULL)
        measure_steps(j, c);
    for (size_t i = 0; i < c->nmembers; i++) {
        const tl_rank *row = tl_rank_row(j->tables, c->members[i]);
        c->untimed = tl_ns_add(c->untimed, row != NULL ? row->untimed : 0);
        c->events = tl_ns_add(c->events, row != NULL ? row->kept : 0);
        path_ns = tl_ns_add(path_ns, path_ns_of(j, c->members[i]));
    }
    bool known = c->nmembers > 0 && (c->rank == NULL || c->trace != NULL || c->nmembers > 1); /* it has a trace */
    c->row.path_share = j->facts.path_ns > 0 && known ? (double)path_ns / (double)j->facts.path_ns : NAN;
    measure_waits(j, c);
}

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
    culprit_measure(j, c);
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
    if ((double)row->steps_flagged >= TL_MOST_SHARE * (double)(j->facts.trust.nsteps - j->facts.trust.left_out))
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
    step_costs_begin(j);
    TL_ROWS (const tl_straggler, row, j->stragglers)
        if (row->verdict == TL_VERDICT_STRAGGLER && !has_link(row, links))
            add_rank(j, &j->members[j->nculprits], row);
    merge_ranks(j);
    for (size_t i = 0; i < links->n; i++)
        add_link(j, &j->members[j->stragglers->n + 2 * i], tl_table_row(links, i));
    if (j->nculprits > 1)
        qsort(j->culprits, j->nculprits, sizeof *j->culprits, by_cost);
}
