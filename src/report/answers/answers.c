/* answers.c - the four questions, answered: who it is, and what speaks against that. */
#include "tlmpi/report/answers/answers.h"

#include "doubt.h"
#include "find.h"
#include "tlmpi/base/stats.h"
#include <math.h>
#include <stdlib.h>

const char *const tl_finding_labels[] = {
    [TL_FOUND_NO_WORK] = "no_device_work",
    [TL_FOUND_ONE_RANK] = "one_rank",
    [TL_FOUND_SILENCE] = "no_communication",
    [TL_FOUND_UNMATCHED] = "unmatched",
    [TL_FOUND_NO_VERDICT] = "inconclusive",
    [TL_FOUND_NOBODY] = "none",
    [TL_FOUND_LINK] = "slow_link",
    [TL_FOUND_STRAGGLER] = "straggler",
    NULL,
};

const char *const tl_confidence_labels[] = { "high", "medium", "low", NULL };

const char *const tl_doubt_labels[] = {
    [TL_DOUBT_ONE_STEP] = "one_step",
    [TL_DOUBT_FEW_STEPS] = "few_steps",
    [TL_DOUBT_CHANCE] = "chance",
    [TL_DOUBT_ELSEWHERE] = "gain_in_other_steps",
    [TL_DOUBT_HARDLY_MATCHED] = "hardly_matched",
    [TL_DOUBT_PARTLY_MATCHED] = "partly_matched",
    [TL_DOUBT_OUTSIDE] = "outside_steps",
    [TL_DOUBT_CLOCKS] = "clocks",
    [TL_DOUBT_HIDDEN] = "waits_hidden",
    [TL_DOUBT_MISSING] = "ranks_missing",
    [TL_DOUBT_DAMAGED] = "traces_damaged",
    [TL_DOUBT_UNTIMED] = "events_without_duration",
    [TL_DOUBT_SIZES] = "sizes_differ",
    [TL_DOUBT_DUPLICATES] = "duplicate_ranks",
    [TL_DOUBT_NO_WORK] = "ranks_without_device_work",
    [TL_DOUBT_NO_LAUNCHES] = "ranks_without_launches",
    [TL_DOUBT_UNMARKED] = "steps_unmarked",
    [TL_DOUBT_FOLLOWING] = "steps_of_others",
    [TL_DOUBT_LEFT_OUT] = "step_left_out",
    [TL_DOUBT_NOT_REPLAYED] = "not_replayed",
    [TL_DOUBT_UNNAMED] = "gain_unnamed",
    [TL_DOUBT_GAIN] = "gain_below_wait",
    [TL_DOUBT_MIXED] = "mixed_cause",
    [TL_DOUBT_UNKNOWN] = "unknown_cause",
    [TL_DOUBT_NO_PLACE] = "no_place",
    [TL_DOUBT_CHARGES] = "other_charges",
    [TL_DOUBT_NO_VERDICT] = "no_verdict",
    NULL,
};

const tl_schema *const *tl_answer_tables(size_t *required)
{
    static const tl_schema *const tables[] = {
        &tl_rank_schema,          &tl_breakdown_schema, &tl_straggler_schema,  &tl_quality_schema,
        &tl_step_schema,          &tl_blame_schema,     &tl_blame_step_schema, &tl_whatif_row_schema,
        &tl_slow_link_row_schema, &tl_clock_schema,     &tl_path_row_schema,   NULL,
    };
    *required = 4;
    return tables;
}

double tl_answers_share(const tl_answers *a, int64_t ns)
{
    return a->wall_ns > 0 && ns > 0 ? (double)ns / (double)a->wall_ns : 0;
}

/* ----------------------------------------------------------------------------------------------------------- trust */

static const tl_quality *check_of(const tl_table *quality, tl_quality_check check)
{
    static const tl_quality none;
    for (size_t i = 0; i < quality->n; i++) {
        const tl_quality *row = tl_table_row(quality, i);
        if (row->check == check)
            return row;
    }
    return &none;
}

static void count_ranks(tl_tables *tables, tl_trust *t)
{
    const tl_table *ranks = tl_tables_get(tables, &tl_rank_schema);
    int64_t world = 0, inside = 0;

    t->world = t->other_world = -1;
    for (size_t i = 0; i < ranks->n; i++) {
        const tl_rank *row = tl_table_row(ranks, i);
        world = row->world_size > world ? row->world_size : world;
        if (row->world_size >= 0) {
            t->other_world = t->world < 0 || row->world_size < t->other_world ? row->world_size : t->other_world;
            t->world = row->world_size > t->world ? row->world_size : t->world;
        }
        t->untimed = tl_ns_add(t->untimed, row->untimed);
        t->events = tl_ns_add(t->events, row->kept);
        t->damaged += row->status == TL_RANK_DAMAGED || row->status == TL_RANK_CUT;
        t->workless += row->status == TL_RANK_NO_GPU;
        t->launchless += row->intervals > 0 && row->no_launch == row->intervals;
        t->duplicates += row->duplicates > 0;
    }
    for (size_t i = 0; i < ranks->n; i++) {
        const tl_rank *row = tl_table_row(ranks, i);
        inside += row->rank >= 0 && row->rank < world && row->status != TL_RANK_UNREADABLE;
    }
    t->missing = world > inside ? (size_t)(world - inside) : 0;
}

/* Ranks on the critical path that have no trace; both tables are in order of ranks. */
static int64_t count_stood_in(tl_tables *tables)
{
    const tl_table *path = tl_tables_get(tables, &tl_path_row_schema), *ranks = tl_tables_get(tables, &tl_rank_schema);
    int64_t n = 0;
    for (size_t i = 0, r = 0; i < path->n; i++) {
        const tl_path_row *row = tl_table_row(path, i);
        if (row->rank < 0 || (i > 0 && row[-1].rank == row->rank))
            continue;
        while (r < ranks->n && (((const tl_rank *)tl_table_row(ranks, r))->rank < row->rank ||
                                ((const tl_rank *)tl_table_row(ranks, r))->status == TL_RANK_UNREADABLE))
            r++;
        n += r == ranks->n || ((const tl_rank *)tl_table_row(ranks, r))->rank != row->rank;
    }
    return n;
}

/* Of clocks that can be compared: as far as the worst of several is off, or may be. */
static void look_at_clocks(tl_tables *tables, tl_trust *t)
{
    const tl_table *clocks = tl_tables_get(tables, &tl_clock_schema);

    for (size_t i = 0; t->clocks > 1 && i < clocks->n; i++) {
        const tl_clock *row = tl_table_row(clocks, i);
        int64_t offset = row->applied ? 0 : row->offset_ns < 0 ? tl_ns_between(0, row->offset_ns) : row->offset_ns;
        int64_t error = tl_ns_max(row->sigma_ns, offset);
        t->clock_uncertainty_ns = error > t->clock_uncertainty_ns ? error : t->clock_uncertainty_ns;
        t->untied |= row->component > 0 && row->host[0] != '\0';
    }
}

/* Of traces without device work the doubts tell. */
static bool has_work(const tl_table *ranks, int32_t rank)
{
    for (size_t i = tl_table_from_rank(ranks, rank); i < ranks->n; i++) {
        const tl_rank *row = tl_table_row(ranks, i);
        bool damaged = row->status == TL_RANK_DAMAGED || row->status == TL_RANK_CUT;
        if (row->rank != rank)
            break;
        if (row->status == TL_RANK_NO_GPU || (damaged && row->intervals == 0))
            return false;
    }
    return true;
}

/* Ranks that communicate, but have no marks of steps, where others have: those whose steps others tell, and the rest. */
static void count_unmarked(tl_tables *tables, tl_trust *t)
{
    const tl_table *steps = tl_tables_get(tables, &tl_step_schema),
                   *ranks = tl_tables_get(tables, &tl_straggler_schema), *all = tl_tables_get(tables, &tl_rank_schema);
    size_t at = 0;

    for (size_t i = 0; steps->n > 0 && i < ranks->n; i++) {
        const tl_straggler *row = tl_table_row(ranks, i);
        int32_t rank = row->rank;
        while (at < steps->n && ((const tl_step *)tl_table_row(steps, at))->rank < rank)
            at++;
        if (!has_work(all, rank))
            continue;
        bool marks = at < steps->n && ((const tl_step *)tl_table_row(steps, at))->rank == rank,
             meets = row->steps_from == TL_STEPS_MET;
        t->following += meets;
        t->misnumbered += meets && marks;
        t->unmarked += !meets && !marks;
    }
}

static void look_at_replay(tl_tables *tables, tl_answers *out)
{
    const tl_table *whatif = tl_tables_get(tables, &tl_whatif_row_schema);
    int64_t unchanged_ns = 0;

    out->trust.model_error = NAN;
    for (size_t i = 0; i < whatif->n; i++) {
        const tl_whatif_row *row = tl_table_row(whatif, i);
        out->trust.simulated |= row->scenario == TL_SCENARIO_IDEAL;
        if (row->scenario == TL_SCENARIO_UNCHANGED) {
            unchanged_ns = row->time_ns;
            out->trust.model_error = row->model_error;
        }
        if (row->scenario == TL_SCENARIO_SUSPECTS)
            out->together_gain_ns = row->gain_ns;
    }
    if (out->trust.simulated && unchanged_ns > 0)
        out->wall_ns = unchanged_ns;
}

static void find_trust(tl_tables *tables, tl_answers *out)
{
    const tl_table *quality = tl_tables_get(tables, &tl_quality_schema),
                   *steps = tl_tables_get(tables, &tl_blame_step_schema),
                   *ranks = tl_tables_get(tables, &tl_straggler_schema);
    const tl_quality *matched = check_of(quality, TL_CHECK_MATCHED), *ends = check_of(quality, TL_CHECK_END_TOGETHER);
    tl_trust *t = &out->trust;

    count_ranks(tables, t);
    count_unmarked(tables, t);
    t->stood_in = t->missing > 0 ? count_stood_in(tables) : 0;
    for (size_t i = 0; i < steps->n; i++) {
        const tl_blame_step *row = tl_table_row(steps, i), *first = tl_table_row(steps, 0);
        t->nsteps += row->rank == first->rank && row->step >= 0;
    }
    for (size_t i = 0; i < ranks->n; i++)
        t->judged += ((const tl_straggler *)tl_table_row(ranks, i))->late_count;
    t->collectives = matched->of;
    t->matched = matched->count;
    t->clocks = check_of(quality, TL_CHECK_CLOCKS)->count;
    t->shifted = check_of(quality, TL_CHECK_SHIFTED)->count;
    t->blurred = check_of(quality, TL_CHECK_INCONCLUSIVE)->count;
    t->hidden_wait_ns = check_of(quality, TL_CHECK_UNCHARGED)->count;
    t->known_wait_ns = check_of(quality, TL_CHECK_CHARGED)->count;
    t->outside = check_of(quality, TL_CHECK_UNSTEPPED)->count;
    t->ends_ns = ends->count > 0 ? ends->worst_ns : -1;
    look_at_clocks(tables, t);
    look_at_replay(tables, out);
}

/* ---------------------------------------------------------------------------------------------------------- losses */

static tl_loss loss_of(const tl_breakdown *row)
{
    tl_loss loss = { "idle", row->rank, row->idle_ns, row->wall_ns };
    if (row->comm_exposed_ns > loss.ns)
        loss = (tl_loss){ "exposed comm", row->rank, row->comm_exposed_ns, row->wall_ns };
    if (row->copy_exposed_ns > loss.ns)
        loss = (tl_loss){ "exposed copy", row->rank, row->copy_exposed_ns, row->wall_ns };
    return loss;
}

static void find_losses(tl_tables *tables, tl_answers *out)
{
    const tl_table *breakdown = tl_tables_get(tables, &tl_breakdown_schema);

    for (size_t i = 0; i < breakdown->n; i++) {
        const tl_breakdown *row = tl_table_row(breakdown, i);
        if (row->device != -1 || row->step != -1 || row->wall_ns <= 0)
            continue;
        tl_loss loss = loss_of(row);
        if (row->rank == -1) {
            out->job = loss;
            out->wall_sum_ns = row->wall_ns;
            out->idle_ns = row->idle_ns;
            out->comm_exposed_ns = row->comm_exposed_ns;
            continue;
        }
        out->trust.nranks++;
        if (out->worst.name == NULL || loss.ns > out->worst.ns)
            out->worst = loss;
        out->measured_ns = row->wall_ns > out->measured_ns ? row->wall_ns : out->measured_ns;
        out->wall_ns = out->measured_ns;
    }
}

/* Rows of one rank lie together; those of all ranks are the first. */
static void find_path(tl_tables *tables, tl_answers *out)
{
    const tl_table *table = tl_tables_get(tables, &tl_path_row_schema);
    tl_path_facts *path = &out->path;
    int64_t rank_ns = 0, most_rank_ns = -1, most_ns = -1, imbalance_ns = 0;

    for (size_t i = 0; i < table->n; i++) {
        const tl_path_row *row = tl_table_row(table, i), *before = i > 0 ? tl_table_row(table, i - 1) : row;
        if (row->rank == -1) {
            path->ns = tl_ns_add(path->ns, row->path_ns);
            imbalance_ns = tl_ns_add(imbalance_ns, row->imbalance_ns);
            if (row->path_ns > most_ns) {
                most_ns = row->path_ns;
                path->activity = tl_path_labels[row->activity];
            }
            continue;
        }
        rank_ns = tl_ns_add(row->rank == before->rank ? rank_ns : 0, row->path_ns);
        if (rank_ns > most_rank_ns) {
            most_rank_ns = rank_ns;
            path->rank = row->rank;
        }
    }
    if (path->ns <= 0)
        return;
    path->rank_share = (double)most_rank_ns / (double)path->ns;
    path->activity_share = (double)most_ns / (double)path->ns;
    path->imbalance_share = (double)imbalance_ns / (double)path->ns;
}

/* --------------------------------------------------------------------------------------------------------- finding */

/* The one that something was found of, and most; else the first. */
static const tl_straggler *most_inconclusive(const tl_table *stragglers, const tl_table *ranks)
{
    const tl_straggler *most = NULL;
    for (size_t i = 0; i < stragglers->n; i++) {
        const tl_straggler *row = tl_table_row(stragglers, i);
        if (row->verdict == TL_VERDICT_INCONCLUSIVE && has_work(ranks, row->rank) &&
            (most == NULL ||
             (row->pattern != TL_PATTERN_NONE && (most->pattern == TL_PATTERN_NONE || row->gain_ns > most->gain_ns))))
            most = row;
    }
    return most;
}

/* Whether clocks hide most arrivals, and with them what matters; a replay compares the ranks' own time, which no more in
 * a step can be wrong in than the clocks are apart. */
static bool clocks_forbid(const tl_answers *a)
{
    double apart_ns = (double)a->trust.clock_uncertainty_ns * (double)a->trust.nsteps;
    return tl_answers_blurred(a) && a->trust.blurred > a->trust.matched / 2 &&
           (a->trust.untied || !a->trust.simulated || apart_ns >= 0.01 * (double)a->wall_ns);
}

static void find_finding(tl_tables *tables, tl_answers *out)
{
    const tl_straggler *open =
        most_inconclusive(tl_tables_get(tables, &tl_straggler_schema), tl_tables_get(tables, &tl_rank_schema));

    if (out->job.name == NULL)
        out->finding = TL_FOUND_NO_WORK;
    else if (out->trust.nranks < 2)
        out->finding = TL_FOUND_ONE_RANK;
    else if (out->nculprits > 0)
        out->finding = out->culprits[0].rank != NULL ? TL_FOUND_STRAGGLER : TL_FOUND_LINK;
    else if (open != NULL)
        out->finding = TL_FOUND_NO_VERDICT;
    else if (out->trust.collectives == 0)
        out->finding = TL_FOUND_SILENCE;
    else if (out->trust.matched == 0)
        out->finding = TL_FOUND_UNMATCHED;
    else if (clocks_forbid(out))
        out->finding = TL_FOUND_NO_VERDICT;
    else
        out->finding = TL_FOUND_NOBODY;
    out->why = out->finding == TL_FOUND_NO_VERDICT && open != NULL ? open->reason : NULL;
}

/* The rank that others waited for most, and that with the largest loss that nobody is named for. */
static void find_most(tl_tables *tables, tl_answers *out)
{
    const tl_table *stragglers = tl_tables_get(tables, &tl_straggler_schema),
                   *steps = tl_tables_get(tables, &tl_blame_step_schema);

    size_t at = 0;
    int64_t most_blame_ns = 0;

    for (size_t i = 0; i < stragglers->n; i++) {
        const tl_straggler *row = tl_table_row(stragglers, i);
        int64_t in_steps_ns = 0;
        while (at < steps->n && ((const tl_blame_step *)tl_table_row(steps, at))->rank < row->rank)
            at++;
        for (const tl_blame_step *s; at < steps->n && (s = tl_table_row(steps, at))->rank == row->rank; at++)
            in_steps_ns = tl_ns_add(in_steps_ns, s->blame_ns);
        out->wait_ns = tl_ns_add(out->wait_ns, row->blame_ns);
        if (in_steps_ns > most_blame_ns) {
            out->most = row;
            most_blame_ns = in_steps_ns;
        }
        if (row->left_out_ns > 0 && (out->left_out == NULL || row->left_out_ns > out->left_out->left_out_ns))
            out->left_out = row;
    }
    out->most_ns = stragglers->n > 1 ? most_blame_ns / (int64_t)(stragglers->n - 1) : 0;
}

tl_status tl_answers_find(tl_tables *tables, tl_answers *out, tl_error *err)
{
    *out = (tl_answers){ .together_gain_ns = -1 };
    find_losses(tables, out);
    find_path(tables, out);
    find_trust(tables, out);
    find_most(tables, out);
    tl_status st = tl_culprits_find(tables, out, err);
    if (st != TL_OK) {
        tl_answers_free(out);
        return st;
    }
    find_finding(tables, out);
    tl_answers_doubt(out);
    return TL_OK;
}

void tl_answers_free(tl_answers *answers)
{
    free(answers->culprits);
    free(answers->members);
    free(answers->waiters);
    *answers = (tl_answers){ 0 };
}
