/* side.c - the compared ranks and steps of a result, and the parts of each step of a rank.
 *
 *     mark of the step  |<----------------- step ----------------->|
 *     device work            [ compute ][ comm ][ copy ]  [compute]
 *                       outside                      idle           outside
 *
 * If a result has no marks of steps, or device work lies outside of them, the parts are those of the whole recording,
 * divided by its number of steps.
 */
#include "internal.h"
#include "tlmpi/base/group.h"
#include "tlmpi/model/blame_tables.h"
#include "tlmpi/model/health_table.h"
#include "tlmpi/model/path_tables.h"
#include "tlmpi/model/work_tables.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

static int32_t world_of(const side *s)
{
    int32_t size = -1;
    TL_ROWS (const tl_rank, row, table_of(s, &tl_rank_schema))
        size = row->world_size > size ? row->world_size : size;
    return size;
}

/* Finds the ranks with device work, marks if any rank has them, and a trace that is not cut; all ranks may be cut. */
static void find_own(side *s)
{
    const tl_table *marks = table_of(s, &tl_step_schema);
    bool all_cut = true;
    TL_ROWS (const tl_rank, row, table_of(s, &tl_rank_schema))
        all_cut = all_cut && row->status == TL_RANK_CUT;
    TL_ROWS (const tl_breakdown, row, table_of(s, &tl_breakdown_schema)) {
        if (row->rank < 0 || row->device != -1 || row->step != -1 || row->wall_ns <= 0)
            continue;
        const tl_rank *rank = tl_row_of_rank(table_of(s, &tl_rank_schema), row->rank);
        if ((all_cut || rank == NULL || rank->status != TL_RANK_CUT) &&
            (marks->n == 0 || tl_row_of_rank(marks, row->rank) != NULL))
            tl_vec_push(&s->own, row->rank);
    }
    s->own.n = tl_ns_distinct(s->own.v, s->own.n);
}

/* Sets the role of each own rank as its key: a hash of the families of its compute kernels' names. */
static void find_roles(tl_diff *diff, int which)
{
    side *s = &diff->side[which];
    tl_map seen = { 0 };
    uint32_t nseen = 0;
    TL_ROWS (const tl_kernel_row, row, table_of(s, &tl_kernel_row_schema)) {
        size_t at = place_of(s->own.v, s->own.n, row->rank);
        if (at == s->own.n || row->kind != TL_COMPUTE || row->name == TL_NO_NAME)
            continue;
        uint32_t family = tl_diff_family_of(&diff->names, tl_diff_name_in(diff, which, row->name));
        if (tl_map_number(&seen, (uint64_t)at << 32 | family, nseen) == nseen) {
            nseen++;
            s->key[at] += tl_hash_mix(1, family); /* independent of order */
        }
    }
    tl_map_free(&seen);
}

static bool has_key(const side *s, uint64_t key)
{
    for (size_t i = 0; i < s->own.n; i++)
        if (s->key[i] == key)
            return true;
    return false;
}

/* Chooses the ranks that are compared, so that differences between ranks or roles do not count as differences
 * between jobs: if both jobs have the same size, the ranks of both sides; else the ranks whose role both sides have, or
 * all ranks as one role. */
static void find_ranks(tl_diff *diff)
{
    enum { SAME, BY_ROLE, ALL, NWAYS };
    side *sides = diff->side;
    for (int i = A; i <= B; i++) {
        find_own(&sides[i]);
        sides[i].key = tl_calloc(sides[i].own.n + 1, sizeof *sides[i].key);
        for (size_t r = 0; r < sides[i].own.n; r++)
            sides[i].key[r] = (uint64_t)sides[i].own.v[r];
    }
    const int first = world_of(&sides[A]) == world_of(&sides[B]) ? SAME : BY_ROLE;
    for (int way = first; way < NWAYS && sides[A].ranks.n == 0; way++) {
        diff->basis.by_role = way != SAME;
        for (int i = A; i <= B && way != SAME; i++) {
            memset(sides[i].key, 0, sides[i].own.n * sizeof *sides[i].key);
            if (way == BY_ROLE)
                find_roles(diff, i);
        }
        for (int i = A; i <= B; i++)
            for (size_t r = 0; r < sides[i].own.n; r++)
                if (sides[!i].own.n == 0 || has_key(&sides[!i], sides[i].key[r]))
                    tl_vec_push(&sides[i].ranks, sides[i].own.v[r]);
    }
}

/* Groups the compared ranks by key, and weighs those of B so that the units count on both sides as in A. */
static void find_units(tl_diff *diff)
{
    tl_map units = { 0 };
    for (int i = A; i <= B; i++) {
        side *s = &diff->side[i];
        s->unit = tl_calloc(s->ranks.n + 1, sizeof *s->unit);
        s->weight = tl_calloc(s->ranks.n + 1, sizeof *s->weight);
        for (size_t r = 0; r < s->ranks.n; r++) {
            s->unit[r] = tl_map_number(&units, s->key[place_of(s->own.v, s->own.n, s->ranks.v[r])], diff->units.n);
            if (s->unit[r] == diff->units.n)
                tl_vec_push(&diff->units, (unit){ .ranks = { { 0 } } });
            tl_vec_push(&diff->units.v[s->unit[r]].ranks[i], s->ranks.v[r]);
            s->weight[r] = 1;
        }
    }
    const side *a = &diff->side[A], *b = &diff->side[B];
    for (size_t r = 0; r < b->ranks.n; r++) {
        const unit *u = &diff->units.v[b->unit[r]];
        if (u->ranks[A].n > 0)
            b->weight[r] = (double)(u->ranks[A].n * b->ranks.n) / (double)(u->ranks[B].n * a->ranks.n);
    }
    tl_map_free(&units);
}

static bool is_compared(const side *s, int32_t rank)
{
    return place_of(s->ranks.v, s->ranks.n, rank) < s->ranks.n;
}

/* Returns whether the step may be compared: no defect in the recording of a compared rank hides a part of it. */
static bool is_sound(const side *s, int64_t step)
{
    TL_ROWS (const tl_health, row, table_of(s, &tl_health_schema))
        if (row->step == step && row->rank >= 0 && row->done != TL_REMEDY_TOLD && is_compared(s, row->rank))
            return false;
    return true;
}

/* Returns the first step in which a compared rank whose trace is cut may lack device work, which is recorded behind the
 * marks of steps: the last with any.  INT64_MAX: no such rank. */
static int64_t first_cut_step(const side *s)
{
    int64_t *last = tl_calloc(s->ranks.n + 1, sizeof *last), first = INT64_MAX;
    TL_ROWS (const tl_breakdown, row, table_of(s, &tl_breakdown_schema)) {
        const size_t r = place_of(s->ranks.v, s->ranks.n, row->rank);
        if (r < s->ranks.n && row->wall_ns > 0)
            last[r] = tl_ns_max(last[r], row->step);
    }
    TL_ROWS (const tl_rank, row, table_of(s, &tl_rank_schema)) {
        const size_t r = place_of(s->ranks.v, s->ranks.n, row->rank);
        if (r < s->ranks.n && row->status == TL_RANK_CUT)
            first = tl_ns_min(first, last[r]);
    }
    free(last);
    return first;
}

/* Finds the steps that all compared ranks have completely.  Returns the number of marked steps. */
static size_t find_steps(side *s)
{
    const int64_t cut = first_cut_step(s);
    s->cut = cut < INT64_MAX;
    const tl_table *table = table_of(s, &tl_step_schema);
    TL_ROWS (const tl_step, row, table)
        if (is_compared(s, row->rank))
            tl_vec_push(&s->steps, row->step);
    s->steps.n = tl_ns_distinct(s->steps.v, s->steps.n);
    size_t n = s->steps.n, kept = 0;
    int64_t *have = tl_calloc(n + 1, sizeof *have);
    TL_ROWS (const tl_step, row, table)
        if (is_compared(s, row->rank))
            have[place_of(s->steps.v, n, row->step)]++;
    for (size_t i = 0; i < n; i++)
        if (have[i] == (int64_t)s->ranks.n && s->steps.v[i] < cut && is_sound(s, s->steps.v[i]))
            s->steps.v[kept++] = s->steps.v[i];
    s->steps.n = kept;
    free(have);
    return n;
}

/* Lists the times of the steps of the recording as table blame_step has them. */
static void read_samples(side *s)
{
    int64_t last = -1;
    TL_ROWS (const tl_blame_step, row, table_of(s, &tl_blame_step_schema))
        if (row->step > last) {
            tl_vec_push(&s->samples, (double)row->step_ns);
            last = row->step;
        }
}

static void put_cell(cell *c, const tl_breakdown *row, int64_t devices, double by)
{
    const int64_t ns[] = { row->wall_ns,         row->compute_ns,      row->comm_waiting_ns, row->comm_transfer_ns,
                           row->comm_unknown_ns, row->copy_exposed_ns, row->idle_ns };
    for (size_t i = 0; i < sizeof ns / sizeof ns[0]; i++)
        c->ns[i] = (int64_t)llround((double)ns[i] / (double)devices / by);
}

int64_t tl_diff_devices_of(const side *s, int32_t rank)
{
    const tl_rank *row = tl_row_of_rank(table_of(s, &tl_rank_schema), rank);
    return row != NULL ? tl_ns_max(row->devices, 1) : 1;
}

/* Fills the cells of the compared steps; false if the steps contain too little of the work, since the device runs
 * behind. */
static bool fill_steps(side *s)
{
    int64_t all_ns = 0, held_ns = 0;
    s->cells = tl_calloc(s->ranks.n * s->steps.n + 1, sizeof *s->cells);
    TL_ROWS (const tl_breakdown, row, table_of(s, &tl_breakdown_schema)) {
        size_t rank = place_of(s->ranks.v, s->ranks.n, row->rank), step = place_of(s->steps.v, s->steps.n, row->step);
        if (rank == s->ranks.n || row->device != -1)
            continue;
        all_ns = tl_ns_add(all_ns, row->step == -1 ? row->busy_ns : 0);
        held_ns = tl_ns_add(held_ns, row->step >= 0 ? row->busy_ns : 0);
        if (step < s->steps.n)
            put_cell(&s->cells[rank * s->steps.n + step], row, tl_diff_devices_of(s, row->rank), 1);
    }
    TL_ROWS (const tl_step, row, table_of(s, &tl_step_schema)) {
        size_t rank = place_of(s->ranks.v, s->ranks.n, row->rank), step = place_of(s->steps.v, s->steps.n, row->step);
        if (rank == s->ranks.n || step == s->steps.n)
            continue;
        cell *c = &s->cells[rank * s->steps.n + step];
        int64_t window_ns = tl_ns_between(row->end_ns, row->start_ns);
        c->ns[TL_DIFF_OUTSIDE] = window_ns - c->ns[TL_DIFF_STEP];
        c->ns[TL_DIFF_STEP] = window_ns;
    }
    return s->steps.n > 0 && 2 * (double)held_ns >= (double)all_ns;
}

/* Fills one cell per rank: the whole recording divided by its number of steps, from the first step, operator or launch
 * to the last device work or wait for it, as tables path_sum and whatif_step have it. */
static void fill_whole(side *s, double by)
{
    size_t at;
    free(s->cells);
    s->steps.n = 0;
    tl_vec_push(&s->steps, -1);
    s->cells = tl_calloc(s->ranks.n + 1, sizeof *s->cells);
    TL_ROWS (const tl_breakdown, row, table_of(s, &tl_breakdown_schema))
        if (row->device == -1 && row->step == -1 && (at = place_of(s->ranks.v, s->ranks.n, row->rank)) < s->ranks.n)
            put_cell(&s->cells[at], row, tl_diff_devices_of(s, row->rank), by);
    TL_ROWS (const tl_path_sum, row, table_of(s, &tl_path_sum_schema))
        if (row->step == -1 && (at = place_of(s->ranks.v, s->ranks.n, row->rank)) < s->ranks.n) {
            cell *c = &s->cells[at];
            c->ns[TL_DIFF_OUTSIDE] = tl_ns_max(0, llround((double)row->wall_ns / by) - c->ns[TL_DIFF_STEP]);
            c->ns[TL_DIFF_STEP] += c->ns[TL_DIFF_OUTSIDE];
        }
}

/* Finds the long steps, and of the others the median and the middle ones. */
static void find_middle(side *s)
{
    size_t n = s->steps.n, typical = 0;
    s->samples.n = s->marked ? 0 : s->samples.n;
    int64_t *order = tl_calloc(n + 1, sizeof *order);
    s->step_ns = tl_calloc(n + 1, sizeof *s->step_ns);
    s->middle = tl_calloc(n + 1, sizeof *s->middle);
    s->is_long = tl_calloc(n + 1, sizeof *s->is_long);
    for (size_t i = 0; i < n; i++) {
        for (size_t r = 0; r < s->ranks.n; r++)
            s->step_ns[i] = tl_ns_sum(s->step_ns[i], weighted(s, r, s->cells[r * n + i].ns[TL_DIFF_STEP]));
        s->step_ns[i] /= (int64_t)tl_ns_max((int64_t)s->ranks.n, 1);
        order[i] = s->step_ns[i];
    }
    /* The distance from the median to the lower quartile, 0.67 sigma, measures the noise of steps even if half of them
     * are long, if the lower half has enough of them. */
    double median = n > 0 ? (double)tl_median(order, n) : 0,
           below = n > 0 ? median - (double)order[tl_lower_quarter(n)] : 0;
    for (size_t i = 0; i < n; i++) {
        s->is_long[i] =
            n >= 2 * TL_MEDIAN_LEAST &&
            (double)s->step_ns[i] > median + fmax(TL_SURE_SIGMAS * (below + below / 2), TL_DIFF_LEAST * median);
        typical += !s->is_long[i]; /* long steps are the last of the sorted ones */
        if (s->marked)
            tl_vec_push(&s->samples, s->is_long[i] ? NAN : (double)s->step_ns[i]);
    }
    s->median_ns = typical > 0 ? tl_median(order, typical) : 0;
    /* Of three or four steps one at each end, which may be the first of a recording, is not in the middle. */
    const size_t off = typical > 0 ? (size_t)tl_ns_max((int64_t)tl_lower_quarter(typical), typical > 2) : 0;
    for (size_t i = 0; i < n; i++)
        s->middle[i] = s->step_ns[i] >= order[off] && s->step_ns[i] <= order[typical - 1 - off];
    free(order);
}

/* Returns whether the amounts are of the compared steps, not of all marked steps. */
static bool is_by_step(int k)
{
    return k == KERNELS || k == COLLECTIVES;
}

void tl_diff_sides_init(tl_diff *diff)
{
    bool marked = true, known = true;
    for (int i = A; i <= B; i++)
        diff->side[i].in = &diff->input.side[i];
    find_ranks(diff);
    for (int i = A; i <= B; i++) {
        side *s = &diff->side[i];
        const size_t marks = find_steps(s);
        read_samples(s);
        s->recorded = marks > 0 ? (double)marks : s->samples.n > 1 ? (double)s->samples.n : 0;
        marked = fill_steps(s) && marked;
        known = known && s->recorded > 0;
    }
    for (int i = A; i <= B; i++) {
        diff->side[i].marked = marked;
        diff->side[i].recorded = known ? diff->side[i].recorded : 1;
        if (!marked)
            fill_whole(&diff->side[i], diff->side[i].recorded);
    }
    find_units(diff);
    bool all_marks = true;
    for (int i = A; i <= B; i++) {
        side *s = &diff->side[i];
        const size_t nranks = s->ranks.n > 0 ? s->ranks.n : 1, nsteps = s->steps.n > 0 ? s->steps.n : 1;
        find_middle(s);
        diff->basis.steps[i] = marked ? s->steps.n : 0;
        for (size_t k = 0; k < s->steps.n; k++) {
            diff->basis.mean_ns[i] = tl_ns_sum(diff->basis.mean_ns[i], s->step_ns[k]);
            diff->basis.nlong[i] += s->is_long[k];
        }
        diff->basis.mean_ns[i] /= (int64_t)nsteps;
        diff->basis.ranks[i] = s->ranks.n;
        TL_ROWS (const tl_step, row, table_of(s, &tl_step_schema)) {
            size_t r = place_of(s->ranks.v, s->ranks.n, row->rank);
            s->marks += r < s->ranks.n ? s->weight[r] / (double)nranks : 0;
        }
        s->marks = marked ? s->marks : s->recorded;
        all_marks = all_marks && llround(s->marks) <= (int64_t)s->steps.n;
        for (int k = 0; k < NWORKS; k++)
            diff->of[k].rate[i] = (!is_by_step(k) ? s->marks
                                   : marked       ? (double)nsteps
                                                  : s->recorded) *
                                  (k == COLLECTIVES ? (double)s->own.n : (double)nranks);
    }
    const side *a = &diff->side[A], *b = &diff->side[B];
    /* A whole recording, and a step that is not compared, may begin or end within a step. */
    for (int k = 0; k < NWORKS; k++)
        diff->of[k].least_more = !known || (marked && (all_marks || is_by_step(k)))
                                     ? TL_DIFF_LEAST
                                     : fmax(TL_DIFF_LEAST, 2 / fmin(a->recorded, b->recorded));
    diff->basis.whole = !known;
    diff->same_steps =
        marked && a->steps.n == b->steps.n && memcmp(a->steps.v, b->steps.v, a->steps.n * sizeof *a->steps.v) == 0;
}

void tl_diff_side_free(side *s)
{
    free(s->own.v);
    free(s->key);
    free(s->unit);
    free(s->weight);
    free(s->ranks.v);
    free(s->steps.v);
    free(s->cells);
    free(s->step_ns);
    free(s->middle);
    free(s->is_long);
    free(s->samples.v);
}
