/* stragglers.c - the ranks that HTA takes for stragglers: who starts last in a collective.
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
 *     candidates      two, or as many as are asked for: in each step those that start as late as the second latest or
 *                     later; the two ranks that are candidates most often
 *
 * So a rank that comes last, and whose kernel is short because it waits for nobody, is left out by the first test; and
 * of kernels that are called otherwise, as ncclDevKernel..., none is long.
 */
#include "tlmpi/compat/hta/kernels.h"
#include "tlmpi/base/hash.h"
#include "tlmpi/base/sort.h"
#include "tlmpi/compat/python.h"
#include "tlmpi/compat/sheet.h"
#include <math.h>
#include <stdlib.h>

#define LONG_SHARE 0.01 /* of the step time */

typedef struct kernel {
    size_t frame;
    int64_t stream, iteration;
    uint32_t name;
    double ts, dur; /* in step times */
} kernel;

/* Zero-initialise; end_search ends it. */
typedef struct search {
    const tl_hta_job *job;
    size_t ncandidates;
    tl_map steps; /* those that are asked for and have a window */
    double first_ts, step_us;
    TL_VEC(kernel) kernels; /* long; of find_last on the last ones: by stream, name, step, rank */
    size_t from, to;        /* those of the collective that decides */
    double scatter;         /* its mean */
    tl_arena arena;
    double *times; /* of each frame: how often it is a candidate; -1: its rank is not in the collective */
} search;

static void end_search(search *s)
{
    tl_map_free(&s->steps);
    free(s->kernels.v);
    tl_arena_free(&s->arena);
}

/* False: memory is out. */
static bool find_steps(search *s)
{
    for (size_t i = 0; i < s->job->frames.n; i++)
        for (size_t k = 0; k < s->job->frames.v[i].rows.n; k++) {
            int64_t step = s->job->symbols.v.v[s->job->frames.v[i].rows.v[k].name].step;
            if (step >= 0 && tl_ranges_has(&s->job->parameters->profiler_steps, step) &&
                tl_map_put(&s->steps, (uint64_t)step, 0) != 0)
                return false;
        }
    return true;
}

static bool in_steps(const search *s, const tl_hta_row *row)
{
    return row->iteration >= 0 && tl_map_get(&s->steps, (uint64_t)row->iteration) != TL_MAP_NONE;
}

/* A step that no row is in does not count.  False: memory is out. */
static bool measure_steps(search *s)
{
    tl_map seen = { 0 };
    double last_end = -INFINITY;
    bool ok = true;

    s->first_ts = INFINITY;
    for (size_t i = 0; i < s->job->frames.n; i++)
        for (size_t k = 0; k < s->job->frames.v[i].rows.n && ok; k++) {
            const tl_hta_row *row = &s->job->frames.v[i].rows.v[k];
            if (!in_steps(s, row))
                continue;
            s->first_ts = fmin(s->first_ts, row->ts);
            last_end = fmax(last_end, row->ts + row->dur);
            ok = tl_map_put(&seen, (uint64_t)row->iteration, 0) == 0;
        }
    s->step_us = (last_end - s->first_ts) / (double)seen.n;
    tl_map_free(&seen);
    return ok;
}

/* False: memory is out. */
static bool find_long(search *s)
{
    bool *collective = tl_arena_take(&s->arena, s->job->symbols.v.n, sizeof *collective);
    double least_us = s->step_us * LONG_SHARE;

    if (collective == NULL)
        return false;
    for (size_t i = 0; i < s->job->symbols.v.n; i++)
        collective[i] = tl_text_starts(tl_names_text(&s->job->symbols.texts, (uint32_t)i), "ncclKernel");
    for (size_t i = 0; i < s->job->frames.n; i++)
        for (size_t k = 0; k < s->job->frames.v[i].rows.n; k++) {
            const tl_hta_row *row = &s->job->frames.v[i].rows.v[k];
            if (row->stream <= 0 || row->iteration <= 0 || !(row->dur >= least_us) || !collective[row->name] ||
                !in_steps(s, row))
                continue;
            if (!tl_vec_room(&s->kernels))
                return false;
            s->kernels.v[s->kernels.n++] = (kernel){
                i, row->stream, row->iteration, row->name, (row->ts - s->first_ts) / s->step_us, row->dur / s->step_us
            };
        }
    return true;
}

static int compare_places(const search *s, const kernel *a, const kernel *b)
{
    int order = TL_COMPARE(a->stream, b->stream);
    if (order == 0 && a->name != b->name)
        order = tl_text_compare(tl_names_text(&s->job->symbols.texts, a->name),
                                tl_names_text(&s->job->symbols.texts, b->name));
    return order;
}

static int by_place(const void *context, uint32_t a, uint32_t b)
{
    const search *s = context;
    const kernel *x = &s->kernels.v[a], *y = &s->kernels.v[b];
    int order = compare_places(s, x, y);
    order = order != 0 ? order : TL_COMPARE(x->iteration, y->iteration);
    return order != 0 ? order : TL_COMPARE(x->frame, y->frame);
}

/* False: memory is out. */
static bool find_last(search *s)
{
    size_t n = s->kernels.n, nlast = 0;
    uint32_t *order = tl_arena_take(&s->arena, n, sizeof *order);
    kernel *last = tl_arena_take(&s->arena, n, sizeof *last);

    if (s->arena.failed)
        return false;
    for (size_t i = 0; i < n; i++)
        order[i] = (uint32_t)i;
    if (!tl_sort_index(order, n, by_place, s))
        return false;
    for (size_t i = 0; i < n; i++)
        if (i + 1 == n || by_place(s, order[i], order[i + 1]) != 0)
            last[nlast++] = s->kernels.v[order[i]];
    if (nlast > 0)
        memcpy(s->kernels.v, last, nlast * sizeof *last);
    s->kernels.n = nlast;
    return true;
}

/* Where the kernels of the same collective that follow end; *scatter: their mean over the steps, NaN where no step has
 * two ranks.  `room` is for twice as many numbers as there are kernels. */
static size_t measure_collective(const search *s, size_t from, double *scatter, double *room)
{
    const kernel *v = s->kernels.v;
    double *durs = room + s->kernels.n;
    size_t n = 0, at = from;

    while (at < s->kernels.n && compare_places(s, &v[from], &v[at]) == 0) {
        size_t nranks = 0;
        for (int64_t step = v[at].iteration;
             at < s->kernels.n && compare_places(s, &v[from], &v[at]) == 0 && v[at].iteration == step; at++)
            durs[nranks++] = v[at].dur;
        if (nranks > 1)
            room[n++] = tl_pandas_std(durs, nranks);
    }
    *scatter = tl_pandas_mean(room, n);
    return at;
}

/* Of equal ones the first is taken, by stream and name.  False: memory is out. */
static bool choose_collective(search *s)
{
    double *room = tl_arena_take(&s->arena, 2 * s->kernels.n, sizeof *room);

    s->scatter = NAN;
    for (size_t from = 0, to; room != NULL && from < s->kernels.n; from = to) {
        double scatter;
        to = measure_collective(s, from, &scatter, room);
        if (!(isnan(scatter) || scatter <= s->scatter)) {
            s->from = from;
            s->to = to;
            s->scatter = scatter;
        }
    }
    return room != NULL;
}

static int by_time(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return TL_COMPARE(y, x);
}

/* *few: a step has fewer ranks than there are to be candidates.  False: memory is out. */
static bool count_times(search *s, bool *few)
{
    const kernel *v = s->kernels.v;
    double *starts = tl_arena_take(&s->arena, s->to - s->from, sizeof *starts);

    s->times = tl_arena_take(&s->arena, s->job->frames.n, sizeof *s->times);
    *few = false;
    if (s->arena.failed)
        return false;
    for (size_t i = 0; i < s->job->frames.n; i++)
        s->times[i] = -1;
    for (size_t i = s->from, to; i < s->to && !*few; i = to) {
        for (to = i; to < s->to && v[to].iteration == v[i].iteration; to++)
            starts[to - i] = v[to].ts;
        *few = to - i < s->ncandidates;
        if (*few)
            break;
        qsort(starts, to - i, sizeof *starts, by_time);
        for (size_t k = i; k < to; k++)
            s->times[v[k].frame] = fmax(s->times[v[k].frame], 0) + (v[k].ts >= starts[s->ncandidates - 1]);
    }
    return true;
}

/* Pandas sorts the reversed column upwards and reverses what comes out.  False: memory is out. */
static bool write_candidates(tl_sheet *csv, search *s)
{
    size_t n = 0, nframes = s->job->frames.n;
    const kernel *first = &s->kernels.v[s->from];
    size_t *ranks = tl_arena_take(&s->arena, nframes, sizeof *ranks); /* in the collective, the last first */
    double *times = tl_arena_take(&s->arena, nframes, sizeof *times);
    uint32_t *order = tl_arena_take(&s->arena, nframes, sizeof *order);

    if (s->arena.failed)
        return false;
    for (size_t i = nframes; i-- > 0;)
        if (s->times[i] >= 0) {
            ranks[n] = i;
            times[n++] = s->times[i];
        }
    tl_numpy_argsort(order, times, n);
    for (size_t i = 0; i < n && i < s->ncandidates; i++) {
        size_t frame = ranks[order[n - 1 - i]];
        tl_sheet_int(csv, s->job->frames.v[frame].rank);
        tl_sheet_int(csv, (int64_t)s->times[frame]);
        tl_sheet_int(csv, first->stream);
        tl_sheet_text(csv, tl_names_text(&s->job->symbols.texts, first->name));
        tl_sheet_real(csv, s->scatter);
        tl_sheet_end_row(csv);
    }
    return true;
}

/* Finds them; *why: what HTA stumbles over, NULL where there are some.  False: memory is out. */
static bool find_candidates(search *s, const char **why)
{
    bool few;

    *why = NULL;
    if (!find_steps(s))
        return false;
    if (s->steps.n == 0) {
        *why = "no profiler step is left, or none that is asked for";
        return true;
    }
    if (!measure_steps(s) || !find_long(s) || !find_last(s) || !choose_collective(s))
        return false;
    if (s->kernels.n == 0) {
        *why = "no ncclKernel is as long as 1 % of a step";
        return true;
    }
    if (isnan(s->scatter)) {
        *why = s->job->frames.n == 1 ? "there is a single rank" : "no long ncclKernel is on two ranks";
        return true;
    }
    if (!count_times(s, &few))
        return false;
    if (few)
        *why = "in a step there are fewer ranks with the kernel than candidates are asked for";
    return true;
}

tl_status tl_hta_potential_stragglers(tl_hta_job *job, const char *dir, tl_error *err)
{
    int64_t asked = job->parameters->num_candidates;
    search s = { .job = job, .ncandidates = asked > 0 ? (size_t)asked : 1 };
    const char *why;
    tl_sheet csv;
    tl_status st = tl_sheet_open(&csv, dir, "potential_stragglers.csv", "rank,count,stream,name,mean_std", err);
    if (st != TL_OK)
        return st;

    bool ok = find_candidates(&s, &why);
    if (ok && why != NULL) {
        tl_sheet_drop(&csv);
        st = tl_hta_job_note(job, err, "potential_stragglers: all ranks: %s; HTA gives up", why);
        end_search(&s);
        return st;
    }
    ok = ok && write_candidates(&csv, &s);
    end_search(&s);
    if (!ok) {
        tl_sheet_abandon(&csv);
        return tl_fail_memory(err, "the stragglers of a job");
    }
    return tl_sheet_close(&csv, err);
}
