/* stragglers.c - HTA's stragglers: the ranks that start last in a collective.
 *
 *     rank 0   ...[   all-reduce   ]...      the last kernel of a step, of one stream and name
 *     rank 1   ..........[  the same ]..     a candidate
 *     rank 2   .............[ same  ]..      a candidate
 *
 *     over all ranks and the profiler steps left after the cut (of these, the steps in the parameters):
 *     step time       from the first start to the last end, over the number of steps
 *     long kernels    ncclKernel..., at least 1 % of the step time, on a stream above 0 in a step above 0
 *     last kernels    the last long kernel, in row order, of each rank, stream, step and name
 *     one collective  the stream and name with the largest standard deviation of durations over ranks, in the mean
 *                     of the steps
 *     candidates      in each step the num_candidates (default: two) ranks that start last, and ranks that start with
 *                     them; the result is the num_candidates ranks that are candidates in most steps
 *
 * So the test for long kernels leaves out a rank that arrives last and has a short kernel, because it waits for no
 * other rank; and kernels with other names, as ncclDevKernel..., never count.
 */
#include "frame.h"
#include "tlmpi/base/group.h"
#include "tlmpi/base/quantile.h"
#include "tlmpi/compat/python.h"
#include <stdlib.h>

#define LONG_SHARE 0.01 /* of the step time */

typedef struct kernel {
    size_t frame; /* position in job->frames, which ascend by rank */
    int64_t stream, iteration;
    uint32_t name;
    double ts, dur; /* in units of the step time */
} kernel;

TL_SORT_BY(by_collective, kernel, stream, name)
TL_SORT_BY(by_step, kernel, stream, name, iteration)
TL_SORT_BY(by_rank, kernel, stream, name, iteration, frame)

typedef struct search {
    const tl_hta_job *job;
    size_t ncandidates;
    tl_map steps; /* the chosen steps that have a step row */
    double first_ts, step_us;
    TL_VEC(kernel) kernels; /* long kernels; in the end one of each collective, step and rank */
    size_t from, to;        /* kernels.v[from .. to) belong to the chosen collective */
    double scatter;         /* mean standard deviation of its durations, step times; NaN: no collective on two ranks */
    double *times;          /* by frame: number of steps as a candidate; -1: not in the collective */
} search;

static bool in_steps(const search *s, const tl_hta_row *row)
{
    return row->iteration >= 0 && tl_map_get(&s->steps, (uint64_t)row->iteration) != TL_MAP_NONE;
}

/* Sets `steps` and the step time: from the first start to the last end, over the number of steps with rows. */
static void measure_steps(search *s)
{
    tl_map seen = { 0 };
    double last_end = -INFINITY;

    TL_EACH (const tl_hta_frame, frame, s->job->frames)
        TL_EACH (const tl_hta_row, row, frame->rows) {
            int64_t step = tl_hta_symbol_of(frame, row)->step;
            if (step >= 0 && tl_ranges_has(&s->job->parameters->profiler_steps, step))
                tl_map_put(&s->steps, (uint64_t)step, 0);
        }
    s->first_ts = INFINITY;
    TL_EACH (const tl_hta_frame, frame, s->job->frames)
        TL_EACH (const tl_hta_row, row, frame->rows) {
            if (!in_steps(s, row))
                continue;
            s->first_ts = fmin(s->first_ts, row->ts);
            last_end = fmax(last_end, row->ts + row->dur);
            tl_map_put(&seen, (uint64_t)row->iteration, 0);
        }
    s->step_us = (last_end - s->first_ts) / (double)seen.n;
    tl_map_free(&seen);
}

/* Finds the long kernels, and keeps the last, in row order, of each stream, name, step and rank. */
static void find_long_kernels(search *s)
{
    size_t n = 0;

    for (size_t i = 0; i < s->job->frames.n; i++)
        TL_EACH (const tl_hta_row, row, s->job->frames.v[i].rows)
            if (row->stream > 0 && row->iteration > 0 && row->dur >= s->step_us * LONG_SHARE &&
                tl_hta_is(s->job->symbols, row->name, TL_HTA_IS_NCCL) && in_steps(s, row))
                tl_vec_push(&s->kernels, (kernel){ i, row->stream, row->iteration, row->name,
                                                   (row->ts - s->first_ts) / s->step_us, row->dur / s->step_us });
    tl_vec_sort(&s->kernels, by_rank);
    TL_RUNS (from, to, &s->kernels, by_rank)
        s->kernels.v[n++] = s->kernels.v[to - 1];
    s->kernels.n = n;
}

/* Chooses the collective with the largest standard deviation of durations over ranks, mean of its steps with at
 * least two ranks. */
static void choose_collective(search *s)
{
    const kernel *v = s->kernels.v;
    double *scatters = tl_malloc(s->kernels.n * sizeof *scatters);

    s->scatter = NAN;
    TL_RUNS (from, to, &s->kernels, by_collective) {
        size_t n = 0;
        for (size_t at = from, next; at < to; at = next) {
            next = tl_run_end(v, at, to, sizeof *v, by_step);
            if (next - at > 1)
                scatters[n++] = TL_STATS(NULL, next - at, &v[at], dur).std;
        }
        double scatter = tl_stats_of(NULL, n, scatters, sizeof *scatters).mean;
        if (!(isnan(scatter) || scatter <= s->scatter)) {
            s->from = from;
            s->to = to;
            s->scatter = scatter;
        }
    }
    free(scatters);
}

/* Counts for each rank the steps in which it is a candidate.  False: a step has fewer ranks than ncandidates. */
static bool count_times(search *s)
{
    const kernel *v = s->kernels.v;
    bool enough = true;

    s->times = tl_malloc(s->job->frames.n * sizeof *s->times);
    for (size_t i = 0; i < s->job->frames.n; i++)
        s->times[i] = -1;
    for (size_t i = s->from, to; i < s->to && enough; i = to) {
        to = tl_run_end(v, i, s->to, sizeof *v, by_step);
        enough = to - i >= s->ncandidates;
        double *starts = TL_COLUMN(NULL, to - i, &v[i], ts);
        tl_real_sort(starts, to - i);
        for (size_t k = i; k < to && enough; k++)
            s->times[v[k].frame] = fmax(s->times[v[k].frame], 0) + (v[k].ts >= starts[to - i - s->ncandidates]);
        free(starts);
    }
    return enough;
}

/* Sorted by count, descending; ties by rank. */
static int by_times(const void *context, uint32_t a, uint32_t b)
{
    const double *times = context;
    return TL_COMPARE(times[b], times[a]);
}

static void write_candidates(tl_csv *csv, const search *s)
{
    const size_t n = s->job->frames.n;
    const kernel *first = &s->kernels.v[s->from];
    uint32_t *order = tl_sorted_index(n, by_times, s->times);

    for (size_t i = 0; i < n && i < s->ncandidates && s->times[order[i]] >= 0; i++)
        TL_ROW(csv, s->job->frames.v[order[i]].rank, s->times[order[i]], first->stream,
               tl_hta_text(s->job->symbols, first->name), s->scatter);
    free(order);
}

/* Finds the candidates; returns why HTA fails, NULL: it does not. */
static const char *find_candidates(search *s)
{
    measure_steps(s);
    if (s->steps.n == 0)
        return "no profiler step is left, or none that is asked for";
    find_long_kernels(s);
    choose_collective(s);
    if (s->kernels.n == 0)
        return "no ncclKernel is as long as 1 % of a step";
    if (isnan(s->scatter))
        return s->job->frames.n == 1 ? "there is a single rank" : "no long ncclKernel is on two ranks";
    return count_times(s) ? NULL : "in a step there are fewer ranks with the kernel than candidates are asked for";
}

void tl_hta_potential_stragglers(tl_hta_job *job)
{
    int64_t asked = job->parameters->num_candidates;
    search s = { .job = job, .ncandidates = asked > 0 ? (size_t)asked : 1 };
    tl_csv csv = tl_csv_open(&job->out, "potential_stragglers.csv", "rank,count,stream,name,mean_std");
    const char *why = find_candidates(&s);

    if (why == NULL)
        write_candidates(&csv, &s);
    else
        tl_hta_note(&job->out, "potential_stragglers: all ranks: %s; HTA gives up", why);
    tl_csv_end(&csv, why == NULL);
    tl_map_free(&s.steps);
    free(s.kernels.v);
    free(s.times);
}
