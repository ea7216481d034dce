/* facts.c - counts and sums over tables. */
#include "tlmpi/model/facts.h"
#include "tlmpi/model/parameters.h"

#include "tlmpi/base/hash.h"
#include "tlmpi/base/sort.h"
#include "tlmpi/base/stats.h"
#include "tlmpi/model/coll_tables.h"
#include "tlmpi/model/health_table.h"
#include <math.h>
#include <string.h>

/* ------------------------------------------------------------------------------------------------------------ ranks */

const tl_rank *tl_rank_row(tl_tables *tables, int32_t rank)
{
    return tl_row_of_rank(tl_tables_get(tables, &tl_rank_schema), rank);
}

const tl_group_row *tl_group_of(const tl_table *groups, int32_t group)
{
    const tl_group_row *rows = tl_table_row(groups, 0);
    size_t at = 0;
    TL_BISECT(at, groups->n, i, rows[i].group < group);
    return at < groups->n && rows[at].group == group ? &rows[at] : NULL;
}

uint64_t tl_host_key(const tl_rank *row)
{
    return row->host[0] != 0 ? tl_hash_bytes(row->host, strnlen(row->host, sizeof row->host)) | 1 : 0;
}

bool tl_is_host_of_pids(const char *name, size_t size)
{
    static const char start[] = "pids ";
    return size >= sizeof start && strncmp(name, start, sizeof start - 1) == 0;
}

void tl_delay_costs_by_activity(const tl_table *blame, const int32_t *ranks, size_t n,
                                int64_t activities[TL_NACTIVITIES + 1])
{
    memset(activities, 0, (TL_NACTIVITIES + 1) * sizeof *activities);
    for (size_t k = 0; k < n; k++) {
        for (size_t i = tl_table_from_rank(blame, ranks[k]); i < blame->n; i++) {
            const tl_blame *row = tl_table_row(blame, i);
            if (row->to_rank != ranks[k])
                break;
            if (row->cause > TL_NACTIVITIES || (row->from_rank >= 0 && tl_index_of(ranks, n, row->from_rank) < n))
                continue;
            activities[row->cause] = tl_ns_add(activities[row->cause], tl_ns_add(row->direct_ns, row->indirect_ns));
        }
    }
}

/* ------------------------------------------------------------------------------------------------------------ trust */

static const tl_quality *quality_row(const tl_table *quality, tl_quality_check check)
{
    static const tl_quality none;
    TL_ROWS (const tl_quality, row, quality)
        if (row->check == check)
            return row;
    return &none;
}

static void count_ranks(tl_tables *tables, tl_trust *t)
{
    const tl_table *ranks = tl_tables_get(tables, &tl_rank_schema);
    int64_t world = 0, inside = 0;

    t->world = t->other_world = -1;
    TL_ROWS (const tl_rank, row, ranks) {
        world = row->world_size > world ? row->world_size : world;
        if (row->world_size >= 0) {
            t->other_world = t->world < 0 || row->world_size < t->other_world ? row->world_size : t->other_world;
            t->world = row->world_size > t->world ? row->world_size : t->world;
        }
        t->untimed = tl_ns_add(t->untimed, row->untimed);
        t->events = tl_ns_add(t->events, row->kept);
        t->damaged += row->status == TL_RANK_DAMAGED || row->status == TL_RANK_CUT;
        t->workless += row->status == TL_RANK_NO_GPU;
        t->duplicates += row->duplicates > 0;
    }
    TL_ROWS (const tl_rank, row, ranks)
        inside += row->rank >= 0 && row->rank < world && row->status != TL_RANK_UNREADABLE;
    t->missing = world > inside ? (size_t)(world - inside) : 0;
}

/* Returns the largest uncorrected offset, ns, if it exceeds the uncertainty of the clocks, else 0. */
static int64_t surely_off(const tl_table *clocks)
{
    int64_t off_ns = 0, sigma_ns = 0;
    TL_ROWS (const tl_clock, row, clocks) {
        int64_t offset_ns = row->applied ? 0 : tl_ns_within(row->offset_ns, INT64_MAX);
        off_ns = tl_ns_max(off_ns, offset_ns < 0 ? -offset_ns : offset_ns);
        sigma_ns = row->sigma_ns < INT64_MAX ? tl_ns_max(sigma_ns, row->sigma_ns) : sigma_ns;
    }
    return (double)off_ns > fmax(TL_SURE_SIGMAS * (double)sigma_ns, TL_CLOCK_ERROR_NS) ? off_ns : 0;
}

/* Fills in the uncertainty, offset and step of the worst clock, if the job has several clocks. */
static void find_clock_trust(tl_tables *tables, tl_trust *t)
{
    const tl_table *clocks = tl_tables_get(tables, &tl_clock_schema);

    t->clock_off_ns = t->clocks > 1 ? surely_off(clocks) : 0;
    for (size_t i = 0; t->clocks > 1 && i < clocks->n; i++) {
        const tl_clock *row = tl_table_row(clocks, i);
        int64_t offset = row->applied ? 0 : row->offset_ns < 0 ? tl_ns_between(0, row->offset_ns) : row->offset_ns;
        int64_t error = tl_ns_max(row->sigma_ns, offset), step = tl_ns_within(row->step_ns, INT64_MAX);
        t->clock_step_ns = tl_ns_max(t->clock_step_ns, step < 0 ? -step : step);
        t->clock_uncertainty_ns = error > t->clock_uncertainty_ns ? error : t->clock_uncertainty_ns;
        t->untied |= row->component > 0 && row->host[0] != '\0';
    }
}

/* A rank without device work in an intact trace counts as having work: the doubts report that. */
bool tl_rank_has_work(const tl_table *ranks, int32_t rank)
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

/* Counts the ranks that communicate but mark no steps, in a job where other ranks do: `following` those whose steps
 * come from other ranks, `unmarked` the rest. */
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
        if (tl_rank_row(tables, rank) == NULL || !tl_rank_has_work(all, rank))
            continue;
        bool marks = at < steps->n && ((const tl_step *)tl_table_row(steps, at))->rank == rank,
             meets = row->steps_from == TL_STEPS_MET;
        t->following += meets;
        t->unmarked += !meets && !marks;
    }
}

static void find_replay_trust(tl_tables *tables, tl_facts *out)
{
    const tl_table *whatif = tl_tables_get(tables, &tl_whatif_row_schema);
    int64_t unchanged_ns = 0;

    out->trust.model_error = NAN;
    TL_ROWS (const tl_whatif_row, row, whatif) {
        out->trust.simulated |= row->scenario == TL_SCENARIO_IDEAL || row->model_error == 0;
        if (row->scenario == TL_SCENARIO_UNCHANGED) {
            unchanged_ns = row->time_ns;
            out->unexplained_ns = row->unexplained_ns;
            out->trust.model_error = row->model_error;
        }
        if (row->scenario == TL_SCENARIO_SUSPECTS)
            out->together_gain_ns = row->gain_ns;
        if (row->scenario == TL_SCENARIO_LINKS && row->rank == -1)
            out->links_gain_ns = row->gain_ns;
    }
    out->trust.apart = out->trust.untied && unchanged_ns / 2 >= out->measured_ns;
    if (out->trust.simulated && unchanged_ns > 0 && !out->trust.apart)
        out->wall_ns = unchanged_ns;
}

/* Returns whether the rank's trace lacks the launches of a tenth of its device work; or of as many pieces in the middle
 * of streams as are a tenth of the steps, since one piece in a step may delay the step. */
static bool lacks_launches(const tl_rank *rank, const tl_table *health, size_t nsteps)
{
    bool lacks = rank->no_launch > rank->intervals / TL_LITTLE_PART;
    TL_ROWS (const tl_health, row, health)
        lacks = lacks || (row->rank == rank->rank && row->defect == TL_DEFECT_NO_LAUNCH &&
                          row->count > (int64_t)nsteps / TL_LITTLE_PART);
    return lacks;
}

static void apply_health(tl_tables *tables, tl_facts *out)
{
    static const tl_table none;
    const tl_table *health = tl_tables_get(tables, &tl_health_schema);
    health = health != NULL ? health : &none;
    out->wall_ns = tl_whole_steps_ns(health, out->wall_ns);
    TL_ROWS (const tl_health, row, health)
        out->trust.left_out += row->defect == TL_DEFECT_NOT_WHOLE;
    TL_ROWS (const tl_rank, rank, tl_tables_get(tables, &tl_rank_schema))
        out->trust.launchless += lacks_launches(rank, health, out->trust.nsteps);
}

static void find_trust(tl_tables *tables, tl_facts *out)
{
    const tl_table *quality = tl_tables_get(tables, &tl_quality_schema),
                   *steps = tl_tables_get(tables, &tl_blame_step_schema),
                   *ranks = tl_tables_get(tables, &tl_straggler_schema);
    const tl_quality *matched = quality_row(quality, TL_CHECK_MATCHED),
                     *ends = quality_row(quality, TL_CHECK_END_TOGETHER);
    tl_trust *t = &out->trust;

    count_ranks(tables, t);
    count_unmarked(tables, t);
    for (size_t i = 0; i < steps->n; i++) {
        const tl_blame_step *row = tl_table_row(steps, i), *first = tl_table_row(steps, 0);
        t->nsteps += row->rank == first->rank && row->step >= 0;
    }
    TL_ROWS (const tl_straggler, row, ranks)
        t->judged = tl_ns_sum(t->judged, row->late_count);
    t->collectives = matched->of;
    t->matched = matched->count;
    t->clocks = quality_row(quality, TL_CHECK_CLOCKS)->count;
    t->shifted = quality_row(quality, TL_CHECK_SHIFTED)->count;
    t->blurred = quality_row(quality, TL_CHECK_INCONCLUSIVE)->count;
    t->hidden_wait_ns = quality_row(quality, TL_CHECK_UNCHARGED)->count;
    t->known_wait_ns = quality_row(quality, TL_CHECK_CHARGED)->count;
    t->outside = quality_row(quality, TL_CHECK_UNSTEPPED)->count;
    t->ends_ns = ends->count > 0 ? ends->worst_ns : -1;
    find_clock_trust(tables, t);
    find_replay_trust(tables, out);
}

/* ------------------------------------------------------------------------------------------------------------- all */

/* Finds wall_ns and measured_ns, and the mean of the communication that may be waiting or transfer; if steps are left
 * out, from the steps that all ranks have whole. */
static void find_wall_times(tl_tables *tables, tl_facts *out)
{
    const tl_table *breakdown = tl_tables_get(tables, &tl_breakdown_schema);
    int64_t whole_ns = 0;
    bool left_out = false;

    TL_ROWS (const tl_breakdown, row, breakdown) {
        if (row->rank == -1 || row->device != -1 || row->wall_ns <= 0)
            continue;
        left_out = left_out || row->step == TL_WHOLE_STEPS;
        if (row->step == TL_WHOLE_STEPS)
            whole_ns = tl_ns_add(whole_ns, row->comm_unknown_ns);
        if (row->step != -1)
            continue;
        out->trust.nranks++;
        out->comm_unknown_ns = tl_ns_add(out->comm_unknown_ns, row->comm_unknown_ns);
        out->measured_ns = row->wall_ns > out->measured_ns ? row->wall_ns : out->measured_ns;
    }
    out->comm_unknown_ns = left_out ? whole_ns : out->comm_unknown_ns;
    out->wall_ns = out->measured_ns;
    out->comm_unknown_ns /= out->trust.nranks > 0 ? (int64_t)out->trust.nranks : 1;
}

void tl_facts_find(tl_tables *tables, tl_facts *out)
{
    *out = (tl_facts){ .together_gain_ns = -1, .links_gain_ns = -1 };
    find_wall_times(tables, out);
    find_trust(tables, out);
    apply_health(tables, out);
    TL_ROWS (const tl_straggler, row, tl_tables_get(tables, &tl_straggler_schema))
        out->wait_ns = tl_ns_add(out->wait_ns, row->blame_ns);
    TL_ROWS (const tl_path_row, row, tl_tables_get(tables, &tl_path_row_schema))
        if (row->rank == -1 && row->activity != TL_PATH_BEFORE)
            out->path_ns = tl_ns_add(out->path_ns, row->path_ns);
}
