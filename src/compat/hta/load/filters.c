/* filters.c - how many rows each of HTA's filters lets through, and how long they are.
 *
 *     GPUKernelFilter      device work, by its stream and correlation or its name
 *     CPUOperatorFilter    the rest
 *     FirstIterationFilter the first step of the rank
 *     TimeRangeFilter      within the quartiles of all starts, cut to whole microseconds
 *     NameFilter           the beginning of the name
 *     ZeroDurationFilter   longer than 0
 *     IterationFilter      the lowest step of the rank; no line where it has none
 */
#include "tlmpi/compat/hta/load.h"
#include "tlmpi/base/quantile.h"
#include "tlmpi/base/group.h"
#include "tlmpi/compat/python.h"
#include <stdlib.h>

typedef enum filter { DEVICE, HOST, FIRST_STEP, TIME_RANGE, ATEN, CUDA, LONG, STEP, NFILTERS } filter;

/* The numbers that the filters of a rank go by. */
typedef struct limits {
    double from, to;
    int64_t first_step;  /* TL_HTA_STEP_UNKNOWN: no row is of it */
    int64_t lowest_step; /* TL_HTA_NO_STEP: there is none */
} limits;

/* A row of no value is neither before nor after another: what comes of the sort depends on Python's steps. */
static bool is_before(void *context, uint32_t a, uint32_t b)
{
    const int64_t *steps = context;
    return steps[a] != TL_HTA_STEP_UNKNOWN && steps[b] != TL_HTA_STEP_UNKNOWN && steps[a] < steps[b];
}

/* HTA sorts the steps of the rows, those outside of steps (-1) among them, and takes the second where the first is that
 * -1.  Rows of no value are a step, too; where they come to stand first, no row is of the first step. */
static int64_t first_of(int64_t *steps, size_t n)
{
    uint32_t *order = tl_malloc(n * sizeof *order);

    for (size_t i = 0; i < n; i++)
        order[i] = (uint32_t)i;
    tl_python_sort(order, n, is_before, steps);
    int64_t first = steps[order[n > 1 && steps[order[0]] == TL_HTA_NO_STEP]];
    free(order);
    return first;
}

static void find_steps(limits *l, const tl_hta_frame *frame)
{
    TL_VEC(int64_t) steps = { 0 }; /* in order of first sight */
    tl_map seen = { 0 };

    l->lowest_step = TL_HTA_NO_STEP;
    for (size_t i = 0; i < frame->rows.n; i++) {
        int64_t step = frame->rows.v[i].iteration;
        if (tl_map_get(&seen, (uint64_t)step) != TL_MAP_NONE)
            continue;
        tl_map_put(&seen, (uint64_t)step, 0);
        tl_vec_push(&steps, step);
        if (step >= 0 && (l->lowest_step < 0 || step < l->lowest_step))
            l->lowest_step = step;
    }
    l->first_step = first_of(steps.v, steps.n);
    free(steps.v);
    tl_map_free(&seen);
}

/* `room` is for a number of each row. */
static limits limits_of(const tl_hta_frame *frame, double *room)
{
    size_t n = frame->rows.n;
    limits l = { 0 };

    for (size_t i = 0; i < n; i++)
        room[i] = frame->rows.v[i].ts;
    tl_real_sort(room, n);
    l.from = trunc(tl_numpy_quantile(room, n, 0.25));
    l.to = trunc(tl_numpy_quantile(room, n, 0.75));
    find_steps(&l, frame);
    return l;
}

static bool passes(filter f, const tl_hta_row *row, const limits *l, const tl_hta_symbols *symbols)
{
    switch (f) {
    case DEVICE:
        return tl_hta_on_device(row, symbols);
    case HOST:
        return !tl_hta_on_device(row, symbols);
    case FIRST_STEP:
        return l->first_step != TL_HTA_STEP_UNKNOWN && row->iteration == l->first_step;
    case TIME_RANGE:
        return row->ts >= l->from && row->ts + row->dur <= l->to;
    case ATEN:
        return tl_text_starts(tl_hta_text(symbols, row->name), "aten::");
    case CUDA:
        return tl_text_starts(tl_hta_text(symbols, row->name), "cuda");
    case LONG:
        return row->dur > 0;
    case STEP:
        return row->iteration == l->lowest_step;
    case NFILTERS:
        break;
    }
    return false;
}

static void name_filter(char name[96], filter f, const limits *l)
{
    static const char *const names[] = { "GPUKernelFilter",   "CPUOperatorFilter", "FirstIterationFilter", "",
                                         "NameFilter:aten::", "NameFilter:^cuda",  "ZeroDurationFilter",   "" };

    if (f == TIME_RANGE)
        snprintf(name, 96, "TimeRangeFilter:%.0f:%.0f", l->from + 0.0, l->to + 0.0);
    else if (f == STEP)
        snprintf(name, 96, "IterationFilter:%lld", (long long)l->lowest_step);
    else
        snprintf(name, 96, "%s", names[f]);
}

static void write_rank(tl_csv *csv, tl_hta_job *job, const tl_hta_frame *frame)
{
    if (frame->rows.n == 0) {
        tl_hta_note(job, "filter_counts: rank %lld: no row is left, where HTA finds no first step",
                    (long long)frame->rank);
        return;
    }
    double *room = tl_malloc(frame->rows.n * sizeof *room);
    const limits l = limits_of(frame, room);
    for (filter f = DEVICE; f < NFILTERS; f++) {
        size_t n = 0;
        char name[96];
        if (f == STEP && l.lowest_step == TL_HTA_NO_STEP)
            continue;
        TL_EACH (const tl_hta_row, row, frame->rows)
            if (passes(f, row, &l, &job->symbols))
                room[n++] = row->dur;
        name_filter(name, f, &l);
        TL_ROW(csv, frame->rank, name, n, tl_number(tl_numpy_sum(room, n, 1), frame->dur_whole));
    }
    free(room);
}

void tl_hta_filter_counts(tl_hta_job *job)
{
    tl_hta_write_ranks(job, "filter_counts.csv", "rank,filter,events,sum_dur", write_rank);
}
