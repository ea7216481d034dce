/* stragglers.c - the ranks that HTA takes for stragglers: they start last in a collective.
 *
 *     rank 0   ...[   all-reduce   ]...      of one stream and name, the last of a step
 *     rank 1   ..........[  the same ]..     a candidate
 *     rank 2   .............[ same  ]..      a candidate
 *
 *     of the profiler steps that are left, or those of them that are asked for, all ranks:
 *     step time       from the first start to the last end, over the number of steps
 *     long kernels    ncclKernel..., of 1 % of the step time or more, on a stream above 0 in a step above 0
 *     the last one    of each rank, stream, step and name, in the order of the rows
 *     one collective  the stream and name whose durations scatter most over the ranks, in the mean of the steps
 *     candidates      two, or as many as are asked for: in each step the ranks that start as late as the second latest
 *                     or later; the two ranks that are candidates most often
 *
 * So a rank that comes last, and whose kernel is short because no other rank keeps it waiting, is left out by the first test; and
 * of kernels that are called otherwise, as ncclDevKernel..., none is long.
 */
#include "frame.h"
#include "tlmpi/base/group.h"
#include "tlmpi/base/quantile.h"
#include "tlmpi/compat/python.h"
#include <stdlib.h>

#define LONG_SHARE 0.01 /* of the step time */

typedef struct kernel {
    size_t frame;
    int64_t stream, iteration;
    tl_text name;
    double ts, dur; /* in step times */
} kernel;

typedef struct search {
    const tl_hta_job *job;
    size_t ncandidates;
    tl_map steps; /* steps asked for that have a window */
    double first_ts, step_us;
    TL_VEC(kernel) kernels; /* long; of find_last on the last ones: by stream, name, step, rank */
    size_t from, to;        /* kernels.v[from .. to) are of the collective that decides */
    double scatter;         /* its mean; NaN: no collective is on two ranks */
    double *times;          /* of each frame: how often it is a candidate; -1: its rank is not in the collective */
} search;

/* Orders of kernels for qsort, each within the one before: by stream and the name's text, by step, by rank. */
static int by_collective(const void *a, const void *b)
{
    const kernel *x = a, *y = b;
    return x->stream != y->stream ? TL_COMPARE(x->stream, y->stream) : tl_text_compare(x->name, y->name);
}

static int by_step(const void *a, const void *b)
{
    const int order = by_collective(a, b);
    return order != 0 ? order : TL_ORDER((const kernel *)a, (const kernel *)b, iteration);
}

static int by_rank(const void *a, const void *b)
{
    const int order = by_step(a, b);
    return order != 0 ? order : TL_ORDER((const kernel *)a, (const kernel *)b, frame);
}

static bool in_steps(const search *s, const tl_hta_row *row)
{
    return row->iteration >= 0 && tl_map_get(&s->steps, (uint64_t)row->iteration) != TL_MAP_NONE;
}

/* The steps, and how long one is.  A step that no row is in does not count. */
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

static void find_long(search *s)
{
    for (size_t i = 0; i < s->job->frames.n; i++)
        TL_EACH (const tl_hta_row, row, s->job->frames.v[i].rows)
            if (row->stream > 0 && row->iteration > 0 && row->dur >= s->step_us * LONG_SHARE &&
                tl_hta_is(s->job->symbols, row->name, TL_HTA_IS_NCCL) && in_steps(s, row))
                tl_vec_push(&s->kernels,
                            (kernel){ i, row->stream, row->iteration, tl_hta_text(s->job->symbols, row->name),
                                      (row->ts - s->first_ts) / s->step_us, row->dur / s->step_us });
}

/* Leaves the last kernel of each rank, stream, step and name, in this order. */
static void find_last(search *s)
{
    size_t n = 0;

    tl_vec_sort(&s->kernels, by_rank);
    TL_RUNS (from, to, &s->kernels, by_rank)
        s->kernels.v[n++] = s->kernels.v[to - 1];
    s->kernels.n = n;
}

/* Chooses the collective with the most scatter of durations over ranks, in the mean of its steps with two ranks or more;
 * of equal ones the first by stream and name. */
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
        double scatter = tl_pandas_stats(scatters, n).mean;
        if (!(isnan(scatter) || scatter <= s->scatter)) {
            s->from = from;
            s->to = to;
            s->scatter = scatter;
        }
    }
    free(scatters);
}

/* False: a step has fewer ranks than there are to be candidates. */
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

/* The most frequent first, of equal ones the lowest rank. */
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
        TL_ROW(csv, s->job->frames.v[order[i]].rank, s->times[order[i]], first->stream, first->name, s->scatter);
    free(order);
}

/* Finds them; else what HTA stumbles over. */
static const char *find_candidates(search *s)
{
    measure_steps(s);
    if (s->steps.n == 0)
        return "no profiler step is left, or none that is asked for";
    find_long(s);
    find_last(s);
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
        tl_hta_note(job, "potential_stragglers: all ranks: %s; HTA gives up", why);
    tl_csv_end(&csv, why == NULL);
    tl_map_free(&s.steps);
    free(s.kernels.v);
    free(s.times);
}
