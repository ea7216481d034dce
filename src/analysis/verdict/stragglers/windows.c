/* windows.c - recordings that begin later than others, or end earlier.
 *
 *     rank 0   |4 . . . . . . . . . |5 . . . |6 . . .
 *     rank 1   |4 . . . . . . . . . |5 . . . |6 . . .
 *     rank 2               |4 . . . |5 . . . |6 . . .     waits of others in step 4 need not be for rank 2
 *
 * Even without a late recording, ranks begin a step at different times (clocks, work).  A rank's recording begins late
 * if the rank lags behind the median of all ranks in its leading steps by more than any rank does in any later step.
 * Times are on each rank's own clock.  Each run of consecutive step numbers is one window of the recording, judged by
 * itself.
 */
#include "internal.h"
#include "tlmpi/base/sort.h"
#include "tlmpi/base/stats.h"
#include "tlmpi/model/health_table.h"
#include "tlmpi/model/tables.h"

typedef struct starts {
    const int32_t *ranks;
    size_t nranks, nsteps;
    int32_t first, last; /* range of steps that all ranks mark, in this window */
    int32_t *low, *high; /* [nranks] first and last marked step; low -1: none */
    int64_t *lag_ns;     /* [nranks * nsteps] begin of the step less the median of all ranks */
    int64_t *usual_ns;   /* [nsteps] largest lag in this step and later ones */
    int64_t *scratch;    /* [nranks] */
    tl_arena arena;
} starts;

static void find_range(starts *s, const tl_table *steps, int32_t from, int32_t to)
{
    s->first = -1;
    s->last = INT32_MAX;
    s->nsteps = 0;
    for (size_t r = 0; r < s->nranks; r++)
        s->low[r] = -1;
    TL_ROWS (const tl_step, row, steps) {
        size_t r = tl_index_of(s->ranks, s->nranks, row->rank);
        if (r == s->nranks || row->step < from || row->step > to)
            continue;
        s->low[r] = s->low[r] < 0 || row->step < s->low[r] ? row->step : s->low[r];
        s->high[r] = s->low[r] == row->step || row->step > s->high[r] ? row->step : s->high[r];
    }
    for (size_t r = 0; r < s->nranks; r++) {
        s->first = s->low[r] > s->first ? s->low[r] : s->first;
        s->last = s->low[r] >= 0 && s->high[r] < s->last ? s->high[r] : s->last;
    }
}

/* Fills lag_ns of the steps first to last.  Returns false if a rank with marks lacks one of these steps. */
static bool fill_lags(starts *s, const tl_table *steps)
{
    size_t known = 0, marked = 0;
    TL_ROWS (const tl_step, row, steps) {
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

/* Fills usual_ns: by step, the largest lag of any rank in that step and later ones. */
static void fill_usual_lags(starts *s)
{
    for (size_t at = s->nsteps; at-- > 0;) {
        s->usual_ns[at] = at + 1 < s->nsteps ? s->usual_ns[at + 1] : 0;
        for (size_t r = 0; r < s->nranks; r++)
            s->usual_ns[at] = tl_ns_max(s->usual_ns[at], s->low[r] >= 0 ? s->lag_ns[r * s->nsteps + at] : 0);
    }
}

/* Returns the number of leading steps in which the rank's lag exceeds every rank's lag in later steps by least_ns or
 * more: before its recording begins, hosts of other ranks may run ahead.  *later_ns: the excess; 0: no such steps. */
static size_t count_late_steps(const starts *s, size_t rank, int64_t least_ns, int64_t *later_ns)
{
    int64_t lag_ns = INT64_MAX;
    for (size_t n = 1; n < s->nsteps && lag_ns > 0; n++) {
        lag_ns = tl_ns_min(lag_ns, s->lag_ns[rank * s->nsteps + n - 1]);
        *later_ns = tl_ns_between(lag_ns, s->usual_ns[n]);
        if (*later_ns >= least_ns && *later_ns > 0)
            return n;
    }
    return 0;
}

/* Returns the time, ns, from the begin of the first compared step to the end of the last, on the slowest rank. */
static int64_t span_of(const starts *s, const tl_table *steps)
{
    int64_t begin = 0, most = 0;
    TL_ROWS (const tl_step, row, steps) {
        begin = row->step == s->first ? row->start_ns : begin;
        most = row->step == s->last ? tl_ns_max(most, tl_ns_between(row->end_ns, begin)) : most;
    }
    return most;
}

/* Finds the ranks that begin late in the steps from `from` to `to`. */
static void find_late_recordings(starts *s, const tl_table *steps, int32_t from, int32_t to, tl_job_graph *graph,
                                 tl_table *health)
{
    find_range(s, steps, from, to);
    if (s->first < 0 || s->first >= s->last || (size_t)(s->last - s->first) >= steps->n)
        return;
    s->nsteps = (size_t)(s->last - s->first) + 1;
    s->lag_ns = tl_arena_zeroed(&s->arena, s->nranks * s->nsteps, sizeof *s->lag_ns);
    s->usual_ns = tl_arena_take(&s->arena, s->nsteps, sizeof *s->usual_ns);
    if (!fill_lags(s, steps))
        return;
    fill_usual_lags(s);
    int64_t later_ns = 0, least_ns = (int64_t)(TL_VERDICT_LEAST_COST * (double)span_of(s, steps));
    for (size_t r = 0; r < s->nranks; r++) {
        size_t late = s->low[r] == s->first ? count_late_steps(s, r, least_ns, &later_ns) : 0;
        for (size_t at = 0; at < late; at++) {
            tl_vec_push(&graph->late, s->first + (int32_t)at);
            tl_health_add(health, (tl_health){ .rank = s->ranks[r],
                                               .defect = TL_DEFECT_BEGINS_LATER,
                                               .step = s->first + (int32_t)at,
                                               .count = 1,
                                               .of = (int64_t)s->nsteps,
                                               .time_ns = later_ns });
        }
    }
}

void tl_windows_open(const tl_table *steps, const int32_t *ranks, tl_job_graph *graph, tl_table *health)
{
    starts s = { .ranks = ranks, .nranks = graph->nranks };
    int32_t *numbers = tl_arena_take(&s.arena, steps->n, sizeof *numbers);
    s.low = tl_arena_take(&s.arena, s.nranks, sizeof *s.low);
    s.high = tl_arena_take(&s.arena, s.nranks, sizeof *s.high);
    s.scratch = tl_arena_take(&s.arena, s.nranks, sizeof *s.scratch);
    for (size_t i = 0; i < steps->n; i++)
        numbers[i] = ((const tl_step *)tl_table_row(steps, i))->step;
    size_t n = tl_int_unique(numbers, steps->n);
    for (size_t from = 0, to; from < n; from = to) {
        to = tl_consecutive_end(numbers, n, from);
        find_late_recordings(&s, steps, numbers[from], numbers[to - 1], graph, health);
    }
    graph->late.n = tl_int_unique(graph->late.v, graph->late.n);
    tl_arena_free(&s.arena);
}

/* ------------------------------------------------------------------------------------------------------------ rows */

/* Returns the time, ns, that is left out with a step: the step, and time before or after all steps next to it. */
static int64_t left_out_ns(const tl_baseline *b, const int64_t *step_ns, size_t s)
{
    int64_t ns = step_ns[s];
    if (s > 0 && b->left_out[s - 1] && !tl_step_is_numbered(b->steps[s - 1]))
        ns = tl_ns_add(ns, step_ns[s - 1]);
    if (s + 1 < b->nsteps && b->left_out[s + 1] && !tl_step_is_numbered(b->steps[s + 1]))
        ns = tl_ns_add(ns, step_ns[s + 1]);
    return ns;
}

/* Adds rows of the ranks whose recording begins after steps[s] or ends before it, within the window steps[from, to).  A
 * rank without any step of the window has a damaged trace. */
static void add_ranks(const tl_baseline *b, const int32_t *ranks, const tl_table *rank_table, size_t s, size_t from,
                      size_t to, const int64_t *step_ns, tl_health row, tl_table *health)
{
    int64_t begin = INT64_MAX, end = INT64_MIN;
    const bool first = from == 0 || !tl_step_is_numbered(b->steps[from - 1]),
               last = to == b->nsteps || !tl_step_is_numbered(b->steps[to]);
    for (size_t r = 0; r < b->graph->nranks; r++)
        if (tl_job_graph_has(b->graph, r))
            begin = tl_ns_min(begin, b->graph->ranks[r].start_ns);
    for (size_t i = 0; i < rank_table->n; i++)
        end = tl_ns_max(end, ((const tl_rank *)tl_table_row(rank_table, i))->last_ns);
    for (size_t r = 0; r < b->graph->nranks; r++) {
        int32_t low, high;
        size_t at = tl_table_from_rank(rank_table, ranks[r]);
        if (!tl_steps_between(&b->graph->ranks[r], b->steps[from], b->steps[to - 1], &low, &high) ||
            (low <= row.step && row.step <= high) || at == rank_table->n)
            continue;
        row.rank = ranks[r];
        row.defect = row.step < low ? TL_DEFECT_BEGINS_LATER : TL_DEFECT_ENDS_EARLIER;
        row.time_ns = row.step < low && first ? tl_ns_between(b->graph->ranks[r].start_ns, begin)
                      : row.step > high && last
                          ? tl_ns_between(end, ((const tl_rank *)tl_table_row(rank_table, at))->last_ns)
                          : step_ns[s];
        tl_health_add(health, row);
    }
}

void tl_windows_rows(const tl_baseline *b, const int64_t *step_ns, const int32_t *ranks, const tl_table *rank_table,
                     tl_table *health)
{
    int64_t numbered = 0;
    for (size_t s = 0; s < b->nsteps; s++)
        numbered += tl_step_is_numbered(b->steps[s]);
    for (size_t s = 0, from = 0, to = 0; s < b->nsteps; s++) {
        from = s >= to ? s : from;
        to = s >= to ? tl_consecutive_end(b->steps, b->nsteps, s) : to;
        if (!b->cut[s] || !tl_step_is_numbered(b->steps[s]))
            continue;
        tl_health row = { .rank = -1,
                          .defect = TL_DEFECT_NOT_WHOLE,
                          .step = b->steps[s],
                          .count = 1,
                          .of = numbered,
                          .time_ns = left_out_ns(b, step_ns, s) };
        tl_health_add(health, row);
        add_ranks(b, ranks, rank_table, s, from, to, step_ns, row, health);
    }
    tl_table_sort(health);
}
