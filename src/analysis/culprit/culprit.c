/* culprit.c - the table of culprits: a row per culprit, or one row that says why none is named. */
#include "tlmpi/analysis/culprit.h"

#include "internal.h"
#include "tlmpi/model/parameters.h"
#include "tlmpi/base/quantile.h"
#include "tlmpi/base/sort.h"
#include "tlmpi/base/stats.h"
#include "tlmpi/model/participant.h"
#include "tlmpi/model/health_table.h"
#include "tlmpi/model/work_tables.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* --------------------------------------------------------------------------------------------------------- why none */

static bool has_work(tl_tables *tables)
{
    const tl_table *breakdown = tl_tables_get(tables, &tl_breakdown_schema);
    for (size_t i = 0; i < breakdown->n; i++) {
        const tl_breakdown *row = tl_table_row(breakdown, i);
        if (row->rank == -1 && row->device == -1 && row->step == -1 && row->wall_ns > 0)
            return true;
    }
    return false;
}

/* Whether `row` has stronger findings than `than`: a pattern of its lateness, then a larger gain, then larger blame. */
static bool says_more(const tl_straggler *row, const tl_straggler *than)
{
    bool has = row->pattern != TL_PATTERN_NONE, had = than->pattern != TL_PATTERN_NONE;
    if (has != had)
        return has;
    return row->gain_ns != than->gain_ns ? row->gain_ns > than->gain_ns : row->blame_ns > than->blame_ns;
}

/* Returns the inconclusive straggler row with the strongest findings (says_more); NULL: none is inconclusive. */
static const tl_straggler *most_inconclusive(const tl_table *stragglers, const tl_table *ranks)
{
    const tl_straggler *most = NULL;
    for (size_t i = 0; i < stragglers->n; i++) {
        const tl_straggler *row = tl_table_row(stragglers, i);
        if (row->verdict == TL_VERDICT_INCONCLUSIVE && tl_rank_has_work(ranks, row->rank) &&
            (most == NULL || says_more(row, most)))
            most = row;
    }
    return most;
}

/* Whether clocks hide most arrivals, and no replay outweighs that: clocks are untied, there is no replay, or the clock
 * uncertainty, once a step, reaches the least cost.  A replay compares the ranks' own time. */
static bool clocks_forbid(const tl_facts *f)
{
    double apart_ns = (double)f->trust.clock_uncertainty_ns * (double)f->trust.nsteps;
    return tl_clocks_blur(f) && f->trust.blurred > f->trust.matched / 2 &&
           (f->trust.untied || !f->trust.simulated || apart_ns >= TL_VERDICT_LEAST_COST * (double)f->wall_ns);
}

/* Returns why no culprit is named: the first reason that holds. */
static tl_culprit_kind why_nobody(const tl_judgement *j)
{
    const tl_trust *t = &j->facts.trust;

    return !has_work(j->tables)       ? TL_CULPRIT_NO_WORK
           : t->nranks < 2            ? TL_CULPRIT_ONE_RANK
           : j->open != NULL          ? TL_CULPRIT_INCONCLUSIVE
           : t->collectives == 0      ? TL_CULPRIT_SILENCE
           : t->matched == 0          ? TL_CULPRIT_UNMATCHED
           : clocks_forbid(&j->facts) ? TL_CULPRIT_INCONCLUSIVE
                                      : TL_CULPRIT_NOBODY;
}

/* The excess of each rank over its peers in whole steps, ns, and the rank with the largest. */
static void find_excess(tl_judgement *j)
{
    const tl_table *stragglers = tl_tables_get(j->tables, &tl_straggler_schema),
                   *steps = tl_tables_get(j->tables, &tl_blame_step_schema),
                   *health = tl_tables_get(j->tables, &tl_health_schema);

    j->nexcess = stragglers->n;
    j->excess_ns = tl_calloc(stragglers->n + 1, sizeof *j->excess_ns);
    for (size_t i = 0, at = 0; i < stragglers->n; i++) {
        const tl_straggler *row = tl_table_row(stragglers, i);
        while (at < steps->n && ((const tl_blame_step *)tl_table_row(steps, at))->rank < row->rank)
            at++;
        for (const tl_blame_step *s; at < steps->n && (s = tl_table_row(steps, at))->rank == row->rank; at++)
            j->excess_ns[i] = tl_ns_sum(j->excess_ns[i], tl_step_is_left_out(health, s->step) ? 0 : s->excess_ns);
        if (j->excess_ns[i] > j->most_ns) {
            j->most = row;
            j->most_ns = j->excess_ns[i];
        }
    }
}

/* Steps of the job, ascending by number; longer_ns: excess over the median step where that is a large cost, else 0. */
typedef struct long_steps {
    int32_t *step;
    int64_t *longer_ns, *scratch;
    size_t n;
} long_steps;

static void find_long_steps(const tl_judgement *j, long_steps *out)
{
    const tl_table *steps = tl_tables_get(j->tables, &tl_blame_step_schema),
                   *health = tl_tables_get(j->tables, &tl_health_schema);
    const tl_blame_step *rows = tl_table_row(steps, 0);
    for (size_t i = 0; i < steps->n && rows[i].rank == rows[0].rank; i++)
        if (rows[i].step >= 0 && !tl_step_is_left_out(health, rows[i].step)) {
            out->step[out->n] = rows[i].step;
            out->scratch[out->n] = out->longer_ns[out->n] = rows[i].step_ns;
            out->n++;
        }
    int64_t usual_ns = out->n > 0 ? tl_median(out->scratch, out->n) : 0;
    for (size_t s = 0; s < out->n; s++) {
        int64_t longer_ns = tl_ns_between(out->longer_ns[s], usual_ns);
        bool large = longer_ns > 0 && (double)longer_ns >= TL_VERDICT_LARGE_COST * (double)out->longer_ns[s];
        out->longer_ns[s] = large ? longer_ns : 0;
    }
}

/* Whether the rank whose rows of breakdown begin at *at exceeds its median time outside of exposed communication, in
 * a long step, by at least half of the step's excess.  Moves *at behind the rank's rows. */
static bool spends_more(const tl_table *breakdown, size_t *at, const long_steps *steps)
{
    const tl_breakdown *first = tl_table_row(breakdown, *at), *row;
    size_t n = 0, begin = *at;
    for (; *at < breakdown->n && (row = tl_table_row(breakdown, *at))->rank == first->rank; ++*at)
        if (row->device == -1 && tl_index_of(steps->step, steps->n, row->step) < steps->n && n < steps->n)
            steps->scratch[n++] = row->wall_ns - row->comm_exposed_ns;
    const int64_t usual_ns = n > 0 ? tl_median(steps->scratch, n) : 0;
    for (size_t i = begin; n > 0 && i < *at; i++) {
        row = tl_table_row(breakdown, i);
        size_t s = row->device == -1 ? tl_index_of(steps->step, steps->n, row->step) : steps->n;
        if (s < steps->n && steps->longer_ns[s] > 0 &&
            row->wall_ns - row->comm_exposed_ns - usual_ns >= steps->longer_ns[s] / 2)
            return true;
    }
    return false;
}

/* Whether a step exceeds the median step by a large cost, and a rank spends more time there outside of exposed
 * communication.  All ranks of a stage may do so, without a peer that shows their excess. */
static bool one_step_is_long(const tl_judgement *j)
{
    const tl_table *breakdown = tl_tables_get(j->tables, &tl_breakdown_schema);
    const size_t n = tl_tables_get(j->tables, &tl_blame_step_schema)->n;
    tl_arena arena = { 0 };
    long_steps steps = { tl_arena_take(&arena, n + 1, sizeof *steps.step),
                         tl_arena_take(&arena, n + 1, sizeof *steps.longer_ns),
                         tl_arena_take(&arena, n + 1, sizeof *steps.scratch), 0 };
    bool found = false;
    find_long_steps(j, &steps);
    for (size_t at = 0; !found && at < breakdown->n;)
        found = spends_more(breakdown, &at, &steps);
    tl_arena_free(&arena);
    return found;
}

/* ------------------------------------------------------------------------------------------------------------- rows */

static void tell_doubts(const tl_judgement *j, const tl_suspect *c, tl_culprit *row)
{
    tl_doubts doubts = tl_doubts_of(j, c);

    row->confidence = (uint8_t)tl_confidence_with(doubts.who);
    row->cause_confidence = (uint8_t)tl_confidence_with(doubts.cause);
    row->waiting_confidence = (uint8_t)tl_confidence_with(doubts.waiting);
    row->steps_confidence = (uint8_t)tl_confidence_with(doubts.steps);
    tl_doubts_text(doubts.who, row->doubts, sizeof row->doubts);
    tl_doubts_text(doubts.cause, row->cause_doubts, sizeof row->cause_doubts);
    tl_doubts_text(doubts.waiting, row->waiting_doubts, sizeof row->waiting_doubts);
    tl_doubts_text(doubts.steps, row->steps_doubts, sizeof row->steps_doubts);
}

/* Returns a row with the job's numbers, and "unknown" in all other columns. */
static tl_culprit empty_row(const tl_judgement *j, tl_culprit_kind kind)
{
    return (tl_culprit){ .kind = (uint8_t)kind,
                         .rank = -1,
                         .peer = -1,
                         .link = -1,
                         .device = -1,
                         .pattern = TL_PATTERN_NONE,
                         .first_step = -1,
                         .last_step = -1,
                         .steps = (int64_t)j->facts.trust.nsteps,
                         .share_steps = NAN,
                         .gain_ns = -1,
                         .wall_ns = j->facts.wall_ns,
                         .cost_share = NAN,
                         .path_share = NAN,
                         .p_value = NAN,
                         .z = NAN,
                         .cause_share = NAN };
}

static void tell_rank(const tl_suspect *c, tl_culprit *row)
{
    const tl_straggler *from = c->rank;

    row->rank = from->rank;
    row->device = c->of != NULL && c->nmembers == 1 ? c->of->device : -1;
    row->share_steps = from->share_steps;
    row->z = from->z;
    row->cause = from->cause;
    row->largest_cause = from->largest_cause;
    row->cause_share = from->cause_share;
    row->cause_from = from->cause_from;
    memcpy(row->place, from->place, sizeof row->place);
}

static void tell_link(const tl_suspect *c, tl_culprit *row)
{
    row->link = c->link->link;
    row->rank = c->link->rank;
    row->peer = c->link->peer;
    row->z = c->link->z;
    row->cause = row->largest_cause = TL_CAUSE_SLOW_LINK;
    row->cause_share = 1;
    if (c->peer != NULL)
        memcpy(row->peer_host, c->peer->host, sizeof row->peer_host);
    if (c->nmembers == 0)
        memcpy(row->ranks, c->link->ranks, sizeof c->link->ranks);
}

/* Returns the cost of a culprit, ns: the gain of its repair.  A rank whose repair gains nothing is named for its excess
 * time, unless culprits that hide each other gain something together. */
static int64_t cost_of(const tl_judgement *j, const tl_suspect *c)
{
    bool in_turn = j->nculprits > 1 && j->facts.together_gain_ns > 0;
    return c->gain_ns > 0 || (c->gain_ns == 0 && (c->rank == NULL || in_turn)) ? c->gain_ns : c->excess_ns;
}

static tl_culprit row_of(const tl_judgement *j, tl_measures *measures, const tl_suspect *c)
{
    tl_culprit row = empty_row(j, c->rank == NULL    ? TL_CULPRIT_LINK
                                  : c->nmembers == 1 ? c->of != NULL ? TL_CULPRIT_RANK : TL_CULPRIT_UNTRACED
                                  : c->whole_host    ? TL_CULPRIT_HOST
                                                     : TL_CULPRIT_SEVERAL);

    tl_ranks_text(c->members, c->nmembers, row.ranks, sizeof row.ranks);
    row.nranks = (int32_t)c->nmembers;
    if (c->of != NULL)
        memcpy(row.host, c->of->host, sizeof row.host);
    if (c->rank != NULL)
        tell_rank(c, &row);
    else
        tell_link(c, &row);
    row.same_cause = c->rank == NULL || c->same_cause;
    row.pattern = (uint8_t)c->pattern;
    row.first_step = c->first_step;
    row.last_step = c->last_step;
    row.steps_flagged = (int64_t)c->nflagged;
    row.steps_not_counted = (int64_t)c->nbeside;
    row.gain_ns = c->gain_ns;
    row.excess_ns = c->excess_ns;
    row.cost_ns = cost_of(j, c);
    row.cost_share = row.wall_ns > 0 && row.cost_ns > 0 ? (double)row.cost_ns / (double)row.wall_ns : 0;
    row.step_cost_ns = c->step_cost_ns;
    row.step_ns = c->step_ns;
    row.in_steps_ns = c->in_steps_ns;
    row.late_count = c->late_count;
    row.blame_ns = c->blame_ns;
    row.indirect_ns = c->indirect_ns;
    row.waited_ns = tl_waited_for(j, c);
    row.nwaiters = (int64_t)c->nwaiters;
    tl_ranks_text(measures->waiters, tl_culprit_waiters(measures, c), row.waiters, sizeof row.waiters);
    row.path_share = c->path_share;
    row.p_value = c->p_value;
    row.untimed = c->untimed;
    row.events = c->events;
    tell_doubts(j, c, &row);
    return row;
}

static tl_culprit row_of_nobody(const tl_judgement *j)
{
    tl_culprit row = empty_row(j, j->nobody);
    const tl_straggler *of = j->nobody == TL_CULPRIT_NOBODY         ? j->most
                             : j->nobody == TL_CULPRIT_INCONCLUSIVE ? j->open
                                                                    : NULL;
    if (of != NULL) {
        row.rank = of->rank;
        row.p_value = of->p_value;
        row.gain_ns = of->gain_ns;
        row.excess_ns = j->nobody == TL_CULPRIT_NOBODY ? j->most_ns : 0;
    }
    tell_doubts(j, NULL, &row);
    return row;
}

static void fill(const tl_judgement *j, tl_measures *measures)
{
    bool some = j->nculprits > 0 && j->nobody != TL_CULPRIT_NO_WORK && j->nobody != TL_CULPRIT_ONE_RANK;
    size_t n = some ? j->nculprits : 1;
    tl_table made = { .schema = &tl_culprit_schema };

    tl_table_reserve(&made, n);
    for (size_t i = 0; i < n; i++) {
        tl_culprit row = some ? row_of(j, measures, &j->culprits[i]) : row_of_nobody(j);
        row.culprit = (int32_t)i;
        tl_table_append(&made, &row, 1);
    }
    tl_table *out = tl_tables_get(j->tables, &tl_culprit_schema);
    tl_table_free(out);
    *out = made;
}

/* -------------------------------------------------------------------------------------------------------------- all */

/* Whether launches of any rank have no work in its trace. */
static bool work_is_lost(tl_tables *tables)
{
    const tl_table *health = tl_tables_get(tables, &tl_health_schema);
    for (size_t i = 0; i < health->n; i++)
        if (((const tl_health *)tl_table_row(health, i))->defect == TL_DEFECT_LOST)
            return true;
    return false;
}

/* Whether kernels that no rule names communicate. */
static bool kernels_are_taken(tl_tables *tables)
{
    const tl_table *kernels = tl_tables_get(tables, &tl_kernel_ranks_schema);
    for (size_t i = 0; kernels != NULL && i < kernels->n; i++) {
        const tl_kernel_ranks *row = tl_table_row(kernels, i);
        if (row->unclassified && row->kind == TL_COMM)
            return true;
    }
    return false;
}

void tl_culprits_find(tl_tables *tables)
{
    tl_judgement j = { .tables = tables };
    tl_measures measures = { .of = &j };

    tl_facts_find(tables, &j.facts);
    find_excess(&j);
    j.open = most_inconclusive(tl_tables_get(tables, &tl_straggler_schema), tl_tables_get(tables, &tl_rank_schema));
    j.nobody = why_nobody(&j);
    j.one_is_long = one_step_is_long(&j);
    j.work_lost = work_is_lost(tables);
    j.comm_unnamed = kernels_are_taken(tables);
    tl_suspects_find(&j, &measures);
    fill(&j, &measures);
    tl_measures_free(&measures);
    free(j.culprits);
    free(j.members);
    free(j.excess_ns);
}

static const tl_schema *const tables[] = { &tl_culprit_schema, NULL };

const tl_analysis tl_culprit_analysis = {
    .name = "culprit",
    .question = "Which rank, host, link, or which ranks together hold the job up, and how sure is that?",
    .tables = tables,
    .reduce = tl_culprits_find,
};
