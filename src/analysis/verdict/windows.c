/* windows.c - recordings that begin later than others, or end earlier.
 *
 *     rank 0   |4 . . . . . . . . . |5 . . . |6 . . .
 *     rank 1   |4 . . . . . . . . . |5 . . . |6 . . .
 *     rank 2               |4 . . . |5 . . . |6 . . .     what the others wait in step 4 is not known to be for rank 2
 *
 * Marks of one step begin at different times, by clocks and by what ranks do: in any other step no later behind the
 * median of all ranks than one that begins late.  Times are of each rank's own clock.
 */
#include "internal.h"
#include "tlmpi/base/sort.h"
#include "tlmpi/base/stats.h"
#include "tlmpi/model/health_table.h"
#include "tlmpi/model/tables.h"
#include <stdlib.h>

typedef struct starts {
    const int32_t *ranks;
    size_t nranks, nsteps;
    int32_t first, last; /* the steps that all ranks mark */
    int32_t *low, *high; /* [nranks] the first and last that each does; low -1: it marks none */
    int64_t *lag_ns;     /* [nranks * nsteps] behind the median of all */
    int64_t *scratch;    /* [nranks] */
    tl_arena arena;
} starts;

static void find_range(starts *s, const tl_table *steps)
{
    s->last = INT32_MAX;
    for (size_t r = 0; r < s->nranks; r++)
        s->low[r] = -1;
    for (size_t i = 0; i < steps->n; i++) {
        const tl_step *row = tl_table_row(steps, i);
        size_t r = tl_index_of(s->ranks, s->nranks, row->rank);
        if (r == s->nranks)
            continue;
        s->low[r] = s->low[r] < 0 || row->step < s->low[r] ? row->step : s->low[r];
        s->high[r] = s->low[r] == row->step || row->step > s->high[r] ? row->step : s->high[r];
    }
    for (size_t r = 0; r < s->nranks; r++) {
        s->first = s->low[r] > s->first ? s->low[r] : s->first;
        s->last = s->low[r] >= 0 && s->high[r] < s->last ? s->high[r] : s->last;
    }
}

/* Fills lag_ns of the steps first to last: each rank's begin of the step less the median of all ranks.  Returns false
 * where a rank with marks lacks one of these steps. */
static bool find_lags(starts *s, const tl_table *steps)
{
    size_t known = 0, marked = 0;
    for (size_t i = 0; i < steps->n; i++) {
        const tl_step *row = tl_table_row(steps, i);
        size_t r = tl_index_of(s->ranks, s->nranks, row->rank);
        if (r == s->nranks || row->step < s->first || row->step > s->last)
            continue;
        s->lag_ns[r * s->nsteps + (size_t)(row->step - s->first)] = row->start_ns;
        known++;
    }
    for (size_t r = 0; r < s->nranks; r++)
        marked += s->low[r] >= 0;
    if (known != marked * s->nsteps)
        return false;
    for (size_t at = 0; at < s->nsteps; at++) {
        size_t n = 0;
        for (size_t r = 0; r < s->nranks; r++)
            if (s->low[r] >= 0)
                s->scratch[n++] = s->lag_ns[r * s->nsteps + at];
        int64_t middle = tl_baseline_median(s->scratch, n);
        for (size_t r = 0; r < s->nranks; r++)
            s->lag_ns[r * s->nsteps + at] -= middle;
    }
    return marked > 1;
}

/* Returns the largest lag of any rank in any step but the first, ns. */
static int64_t usual_lag(const starts *s)
{
    int64_t most = 0;
    for (size_t r = 0; r < s->nranks; r++)
        for (size_t at = 1; s->low[r] >= 0 && at < s->nsteps; at++)
            most = tl_ns_max(most, s->lag_ns[r * s->nsteps + at]);
    return most;
}

/* Returns the time, ns, from the begin of the first compared step to the end of the last, on the slowest rank. */
static int64_t span_of(const starts *s, const tl_table *steps)
{
    int64_t begin = 0, most = 0;
    for (size_t i = 0; i < steps->n; i++) {
        const tl_step *row = tl_table_row(steps, i);
        begin = row->step == s->first ? row->start_ns : begin;
        most = row->step == s->last ? tl_ns_max(most, tl_ns_between(row->end_ns, begin)) : most;
    }
    return most;
}

void tl_windows_open(const tl_table *steps, const int32_t *ranks, tl_job_graph *graph, tl_table *health)
{
    size_t n = graph->nranks;
    starts s = { .ranks = ranks, .nranks = n, .first = -1 };
    s.low = tl_arena_take(&s.arena, n, sizeof *s.low);
    s.high = tl_arena_take(&s.arena, n, sizeof *s.high);
    s.scratch = tl_arena_take(&s.arena, n, sizeof *s.scratch);
    if (steps->n > 0)
        find_range(&s, steps);
    if (s.first >= 0 && s.first < s.last && (size_t)(s.last - s.first) < steps->n) {
        s.nsteps = (size_t)(s.last - s.first) + 1;
        s.lag_ns = tl_arena_zeroed(&s.arena, n * s.nsteps, sizeof *s.lag_ns);
    }
    if (s.nsteps > 0 && find_lags(&s, steps)) {
        int64_t usual = usual_lag(&s), least = (int64_t)(TL_VERDICT_LEAST_COST * (double)span_of(&s, steps));
        for (size_t r = 0; r < n; r++) {
            int64_t later = tl_ns_between(s.lag_ns[r * s.nsteps], usual);
            if (s.low[r] != s.first || later < least || later <= 0)
                continue;
            graph->first_is_late = true;
            tl_health_add(health, (tl_health){ .rank = ranks[r],
                                               .defect = TL_DEFECT_BEGINS_LATER,
                                               .step = s.first,
                                               .count = 1,
                                               .of = (int64_t)s.nsteps,
                                               .time_ns = later });
        }
    }
    tl_arena_free(&s.arena);
}

/* ------------------------------------------------------------------------------------------------------------ rows */

static bool is_numbered(int32_t step)
{
    return step >= 0 && step != TL_STEP_AFTER;
}

/* The first and the last numbered step of a rank; false: it has none. */
static bool range_of(const tl_job_rank *rank, int32_t *low, int32_t *high)
{
    *low = *high = -1;
    for (size_t s = 0; s < rank->nsteps; s++) {
        if (!is_numbered(rank->steps[s]))
            continue;
        *low = *low < 0 ? rank->steps[s] : *low;
        *high = rank->steps[s];
    }
    return *low >= 0;
}

void tl_windows_rows(const tl_baseline *b, const int32_t *ranks, const tl_table *rank_table, tl_table *health)
{
    int64_t begin = INT64_MAX, end = INT64_MIN, numbered = 0;
    for (size_t r = 0; r < b->graph->nranks; r++)
        if (tl_job_graph_has(b->graph, r))
            begin = tl_ns_min(begin, b->graph->ranks[r].start_ns);
    for (size_t i = 0; i < rank_table->n; i++)
        end = tl_ns_max(end, ((const tl_rank *)tl_table_row(rank_table, i))->last_ns);
    for (size_t s = 0; s < b->nsteps; s++)
        numbered += is_numbered(b->steps[s]);
    for (size_t s = 0; s < b->nsteps; s++) {
        if (!b->cut[s] || !is_numbered(b->steps[s]))
            continue;
        tl_health row = { .rank = -1, .defect = TL_DEFECT_NOT_WHOLE, .step = b->steps[s], .count = 1, .of = numbered };
        tl_health_add(health, row);
        for (size_t r = 0; r < b->graph->nranks; r++) {
            int32_t low, high;
            size_t at = tl_table_from_rank(rank_table, ranks[r]);
            if (!range_of(&b->graph->ranks[r], &low, &high) || (low <= row.step && row.step <= high) ||
                at == rank_table->n)
                continue;
            row.rank = ranks[r];
            row.defect = row.step < low ? TL_DEFECT_BEGINS_LATER : TL_DEFECT_ENDS_EARLIER;
            row.time_ns = row.step < low ? tl_ns_between(b->graph->ranks[r].start_ns, begin)
                                         : tl_ns_between(end, ((const tl_rank *)tl_table_row(rank_table, at))->last_ns);
            tl_health_add(health, row);
        }
    }
    tl_table_sort(health);
}
