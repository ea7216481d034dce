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
#include "tlmpi/model/work_tables.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Returns whether the rank's trace is not cut; true for all ranks if all traces are cut. */
static bool is_own(const side *s, int32_t rank)
{
    const tl_rank *row = tl_row_of_rank(table_of(s, &tl_rank_schema), rank);
    return s->all_cut || row == NULL || row->status != TL_RANK_CUT;
}

/* Returns whether the rank may be compared. */
static bool is_whole(const side *s, int32_t rank)
{
    return is_own(s, rank) &&
           (s->common == NULL || place_of(s->common->own.v, s->common->own.n, rank) < s->common->own.n);
}

static int32_t world_of(const side *s)
{
    int32_t size = -1;
    TL_ROWS (const tl_rank, row, table_of(s, &tl_rank_schema))
        size = row->world_size > size ? row->world_size : size;
    return size;
}

/* Finds each side's ranks with device work and a trace that is not cut.  If both jobs have the same size, only ranks of
 * both sides are compared, so that differences between ranks do not count as differences between jobs. */
static void find_ranks(tl_diff *diff)
{
    side *a = &diff->side[A], *b = &diff->side[B];
    bool any = false;
    for (int i = A; i <= B; i++) {
        side *s = &diff->side[i];
        s->all_cut = true;
        TL_ROWS (const tl_rank, row, table_of(s, &tl_rank_schema))
            s->all_cut = s->all_cut && row->status == TL_RANK_CUT;
        TL_ROWS (const tl_breakdown, row, table_of(s, &tl_breakdown_schema))
            if (row->rank >= 0 && row->device == -1 && row->step == -1 && row->wall_ns > 0 && is_own(s, row->rank))
                tl_vec_push(&s->own, row->rank);
        s->own.n = tl_ns_distinct(s->own.v, s->own.n);
    }
    TL_EACH (const int64_t, rank, a->own)
        any |= place_of(b->own.v, b->own.n, *rank) < b->own.n;
    if (any && world_of(a) == world_of(b)) {
        a->common = b;
        b->common = a;
    }
}

/* Returns whether the step may be compared: no defect in the recording of a compared rank hides a part of it. */
static bool is_sound(const side *s, int64_t step)
{
    TL_ROWS (const tl_health, row, table_of(s, &tl_health_schema))
        if (row->step == step && row->rank >= 0 && row->done != TL_REMEDY_TOLD && is_whole(s, row->rank))
            return false;
    return true;
}

/* Finds the compared ranks, and the steps that all of them have completely.  Returns the number of marked steps. */
static size_t find_steps(side *s)
{
    const tl_table *table = table_of(s, &tl_step_schema);
    TL_ROWS (const tl_step, row, table)
        if (is_whole(s, row->rank)) {
            tl_vec_push(&s->ranks, row->rank);
            tl_vec_push(&s->steps, row->step);
        }
    s->ranks.n = tl_ns_distinct(s->ranks.v, s->ranks.n);
    s->steps.n = tl_ns_distinct(s->steps.v, s->steps.n);
    size_t n = s->steps.n, kept = 0;
    int64_t *have = tl_calloc(n + 1, sizeof *have);
    TL_ROWS (const tl_step, row, table)
        if (is_whole(s, row->rank))
            have[place_of(s->steps.v, n, row->step)]++;
    for (size_t i = 0; i < n; i++)
        if (have[i] == (int64_t)s->ranks.n && is_sound(s, s->steps.v[i]))
            s->steps.v[kept++] = s->steps.v[i];
    s->steps.n = kept;
    free(have);
    return n;
}

/* Returns the number of steps of the recording: of marks, else of collectives; 0: unknown. */
static size_t recorded_steps(const side *s, size_t marks)
{
    TL_VEC(int64_t) told = { 0 };
    TL_ROWS (const tl_blame_step, row, table_of(s, &tl_blame_step_schema))
        if (row->step >= 0)
            tl_vec_push(&told, row->step);
    told.n = tl_ns_distinct(told.v, told.n);
    free(told.v);
    return marks > 0 ? marks : told.n > 1 ? told.n : 0;
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

/* Fills one cell per rank: the whole recording divided by its number of steps. */
static void fill_whole(side *s, double by)
{
    size_t at;
    free(s->cells);
    s->ranks.n = s->steps.n = 0;
    tl_vec_push(&s->steps, -1);
    TL_ROWS (const tl_breakdown, row, table_of(s, &tl_breakdown_schema))
        if (row->rank >= 0 && row->device == -1 && row->step == -1 && row->wall_ns > 0 && is_whole(s, row->rank))
            tl_vec_push(&s->ranks, row->rank);
    s->cells = tl_calloc(s->ranks.n + 1, sizeof *s->cells);
    TL_ROWS (const tl_breakdown, row, table_of(s, &tl_breakdown_schema))
        if (row->device == -1 && row->step == -1 && (at = place_of(s->ranks.v, s->ranks.n, row->rank)) < s->ranks.n)
            put_cell(&s->cells[at], row, tl_diff_devices_of(s, row->rank), by);
    int64_t last = INT64_MIN;
    TL_ROWS (const tl_blame_step, row, table_of(s, &tl_blame_step_schema))
        if (row->step >= 0 && row->step > last) {
            tl_vec_push(&s->samples, (double)row->step_ns);
            last = row->step;
        }
}

/* Finds the long steps, and of the others the median and the middle ones. */
static void find_middle(side *s)
{
    size_t n = s->steps.n, typical = 0;
    int64_t *order = tl_calloc(n + 1, sizeof *order);
    s->step_ns = tl_calloc(n + 1, sizeof *s->step_ns);
    s->middle = tl_calloc(n + 1, sizeof *s->middle);
    s->is_long = tl_calloc(n + 1, sizeof *s->is_long);
    for (size_t i = 0; i < n; i++) {
        for (size_t r = 0; r < s->ranks.n; r++)
            s->step_ns[i] = tl_ns_sum(s->step_ns[i], s->cells[r * n + i].ns[TL_DIFF_STEP]);
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
    for (size_t i = 0; i < n; i++)
        s->middle[i] = s->step_ns[i] >= order[tl_lower_quarter(typical)] &&
                       s->step_ns[i] <= order[typical - 1 - tl_lower_quarter(typical)];
    free(order);
}

void tl_diff_sides_init(tl_diff *diff)
{
    bool marked = true, known = true;
    for (int i = A; i <= B; i++)
        diff->side[i].in = &diff->input.side[i];
    find_ranks(diff);
    for (int i = A; i <= B; i++) {
        side *s = &diff->side[i];
        s->recorded = (double)recorded_steps(s, find_steps(s));
        marked = fill_steps(s) && marked;
        known = known && s->recorded > 0;
    }
    for (int i = A; i <= B; i++) {
        side *s = &diff->side[i];
        s->marked = marked;
        s->recorded = known ? s->recorded : 1;
        if (!marked)
            fill_whole(s, s->recorded);
        find_middle(s);
        diff->basis.steps[i] = marked ? s->steps.n : 0;
        for (size_t k = 0; k < s->steps.n; k++) {
            diff->basis.mean_ns[i] = tl_ns_sum(diff->basis.mean_ns[i], s->step_ns[k]);
            diff->basis.nlong[i] += s->is_long[k];
        }
        diff->basis.mean_ns[i] /= s->steps.n > 0 ? (int64_t)s->steps.n : 1;
        diff->basis.ranks[i] = s->ranks.n;
    }
    const side *a = &diff->side[A], *b = &diff->side[B];
    for (int k = 0; k < NWORKS; k++) {
        works *w = &diff->of[k];
        bool by_step = k == KERNELS && marked;
        for (int i = A; i <= B; i++)
            w->rate[i] = (by_step ? (double)diff->side[i].steps.n : diff->side[i].recorded) *
                         (double)tl_ns_max((int64_t)diff->side[i].ranks.n, 1);
        /* A whole recording may begin and end within a step. */
        w->least_more = by_step || !known ? TL_DIFF_LEAST : fmax(TL_DIFF_LEAST, 2 / fmin(a->recorded, b->recorded));
    }
    diff->basis.whole = !known;
    diff->same_steps =
        marked && a->steps.n == b->steps.n && memcmp(a->steps.v, b->steps.v, a->steps.n * sizeof *a->steps.v) == 0;
}

void tl_diff_side_free(side *s)
{
    free(s->own.v);
    free(s->ranks.v);
    free(s->steps.v);
    free(s->cells);
    free(s->step_ns);
    free(s->middle);
    free(s->is_long);
    free(s->samples.v);
}
