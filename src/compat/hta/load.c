/* load.c - tables of the loaded rows: by rank, by category, by step, row by row, and by filter. */
#include "frame.h"
#include "tlmpi/base/group.h"
#include "tlmpi/base/quantile.h"
#include "tlmpi/compat/python.h"
#include <stdlib.h>

static const char *const vendor_labels[] = {
    [TL_HTA_NO_LAUNCH] = "UNKNOWN GPU", [TL_HTA_NVIDIA] = "NVIDIA GPU", [TL_HTA_AMD] = "AMD GPU", [TL_HTA_MTIA] = "MTIA"
};

/* Returns the Unix time of ts 0, ns: base_ns plus the job's zero, truncated.  HTA raises KeyError without a base. */
static tl_cell start_cell(const tl_hta_job *job, const tl_hta_frame *frame)
{
    const double limit = 4e18; /* the sum of two such numbers fits an int64_t */

    if (!frame->has_base)
        return tl_words("KeyError");
    if (!(fabs(job->zero) < limit / 1000) || !(fabs((double)frame->base_ns) < limit))
        return tl_blank();
    return tl_int(frame->base_ns + (job->zero_whole ? (int64_t)job->zero * 1000 : (int64_t)(job->zero * 1000)));
}

/* Adds a step unless it is negative or equal to the last added step. */
typedef TL_VEC(int64_t) numbers;
static void add_step(numbers *steps, int64_t step)
{
    if (step >= 0 && (steps->n == 0 || steps->v[steps->n - 1] != step))
        tl_vec_push(steps, step);
}

/* The cell "iterations" lists the steps of the rows, ascending, separated by blanks. */
void tl_hta_load_summary(tl_hta_job *job)
{
    tl_csv csv = tl_csv_open(&job->out, "load_summary.csv",
                             "rank,file,device_type,rows_parsed,raw_min_ts,raw_max_ts,rows_after_filter,global_min_ts,"
                             "ts_dtype,duration,iterations,world_size,base_time_ns,start_unix_ns,symbols");

    TL_EACH (const tl_hta_frame, frame, job->frames) {
        const char *slash = strrchr(frame->path, '/');
        numbers steps = { 0 };
        tl_bytes listed = { 0 };
        TL_EACH (const tl_hta_row, row, frame->rows)
            add_step(&steps, row->iteration);
        steps.n = tl_ns_distinct(steps.v, steps.n);
        TL_EACH (const int64_t, step, steps) {
            char number[TL_PYTHON_REPR_SIZE];
            tl_python_repr(number, (double)*step);
            if (frame->iteration_whole)
                snprintf(number, sizeof number, "%lld", (long long)*step);
            tl_bytes_put(&listed, " ", listed.n > 0);
            tl_bytes_put(&listed, number, strlen(number));
        }
        TL_ROW(&csv, frame->rank, slash != NULL ? slash + 1 : frame->path, vendor_labels[job->frames.v[0].vendor],
               frame->nloaded, frame->raw_min_ts, frame->raw_max_ts, frame->rows.n, job->zero,
               frame->ts_whole ? "int64" : "float64", tl_hta_frame_duration(frame), &listed,
               frame->world_size >= 0 ? tl_int(frame->world_size) : tl_blank(),
               frame->has_base ? tl_int(frame->base_ns) : tl_blank(), start_cell(job, frame), job->symbols->v.n);
        free(steps.v);
        tl_bytes_free(&listed);
    }
    tl_csv_close(&csv);
}

typedef struct category {
    int64_t negative, zero, no_stream, stream_0, linked, unlinked, not_linkable, no_step, step_unknown;
    double min_ts, max_ts, max_end;
} category;

static int by_category(const void *context, uint32_t a, uint32_t b)
{
    const tl_hta_frame *frame = context;
    return tl_hta_by_text(frame->symbols, frame->rows.v[a].cat, frame->rows.v[b].cat);
}

static void write_categories(tl_csv *csv, const tl_hta_frame *frame)
{
    const tl_hta_row *rows = frame->rows.v;
    uint32_t *order = tl_sorted_index(frame->rows.n, by_category, frame);

    TL_GROUPS (from, to, order, frame->rows.n, by_category, frame) {
        category c = { .min_ts = INFINITY, .max_ts = -INFINITY, .max_end = -INFINITY };
        for (size_t i = from; i < to; i++) {
            const tl_hta_row *row = &rows[order[i]];
            c.min_ts = fmin(c.min_ts, row->ts);
            c.max_ts = fmax(c.max_ts, row->ts);
            c.max_end = fmax(c.max_end, row->ts + row->dur);
            c.negative += row->dur < 0;
            c.zero += row->dur == 0;
            c.no_stream += row->stream == -1;
            c.stream_0 += row->stream == 0;
            c.linked += row->link > 0;
            c.unlinked += row->link == 0;
            c.not_linkable += row->link == -1;
            c.no_step += row->iteration == TL_HTA_NO_STEP;
            c.step_unknown += row->iteration == TL_HTA_STEP_UNKNOWN;
        }
        TL_ROW(csv, frame->rank, tl_hta_cat(frame, &rows[order[from]]), to - from,
               TL_STATS(order + from, to - from, rows, dur).sum, c.negative, c.zero, c.min_ts, c.max_ts, c.max_end,
               c.no_stream, c.stream_0, c.linked, c.unlinked, c.not_linkable, c.no_step, c.step_unknown);
    }
    free(order);
}

TL_HTA_TABLE(tl_hta_events_by_category, "events_by_category",
             "rank,cat,count,sum_dur,negative_dur,zero_dur,min_ts,max_ts,max_end,stream_minus_1,stream_0,"
             "linked,unlinked,not_linkable,iteration_minus_1,iteration_nan",
             write_categories)

/* Writes the step numbers of the step rows left after the cut, of any category and rank. */
void tl_hta_profiler_steps(tl_hta_job *job)
{
    numbers steps = { 0 };
    tl_csv csv = tl_csv_open(&job->out, "profiler_steps.csv", "step");

    TL_EACH (const tl_hta_frame, frame, job->frames)
        TL_EACH (const tl_hta_row, row, frame->rows)
            add_step(&steps, tl_hta_symbol_of(frame, row)->step);
    steps.n = tl_ns_distinct(steps.v, steps.n);
    TL_EACH (const int64_t, step, steps)
        TL_ROW(&csv, *step);
    free(steps.v);
    tl_csv_close(&csv);
}

/* ------------------------------------------------------------------------------------------------------- row by row */

/* Sorted by step, ascending; rows with an unknown step last. */
static int by_step(const void *context, uint32_t a, uint32_t b)
{
    const tl_hta_row *rows = context;
    int64_t x = rows[a].iteration, y = rows[b].iteration;
    if (x == TL_HTA_STEP_UNKNOWN || y == TL_HTA_STEP_UNKNOWN)
        return (x == TL_HTA_STEP_UNKNOWN) - (y == TL_HTA_STEP_UNKNOWN);
    return TL_COMPARE(x, y);
}

static void write_steps(tl_csv *csv, const tl_hta_frame *frame)
{
    const tl_hta_row *rows = frame->rows.v;
    uint32_t *order = tl_sorted_index(frame->rows.n, by_step, rows);

    TL_GROUPS (from, to, order, frame->rows.n, by_step, rows) {
        size_t ndevice = 0;
        double us = 0;
        for (size_t i = from; i < to; i++)
            if (tl_hta_on_stream(&rows[order[i]])) {
                ndevice++;
                us += rows[order[i]].dur;
            }
        TL_ROW(csv, frame->rank, tl_hta_step(rows[order[from]].iteration), to - from - ndevice, ndevice, us);
    }
    free(order);
}

TL_HTA_TABLE(tl_hta_events_by_iteration, "events_by_iteration", "rank,iteration,cpu_events,gpu_events,gpu_dur",
             write_steps)

static void write_device(tl_csv *csv, const tl_hta_frame *frame)
{
    TL_EACH (const tl_hta_row, row, frame->rows)
        if (tl_hta_on_stream(row))
            TL_ROW(csv, frame->rank, row->index, row->ts, row->dur, row->stream, row->correlation, row->link,
                   tl_hta_step(row->iteration), tl_hta_pid(frame, row->track), tl_hta_tid(frame, row->track),
                   tl_hta_cat(frame, row), tl_hta_class_labels[tl_hta_symbol_of(frame, row)->class],
                   tl_hta_name(frame, row));
}

TL_HTA_TABLE(tl_hta_gpu_events, "gpu_events",
             "rank,index,ts,dur,stream,correlation,index_correlation,iteration,pid,tid,cat,kernel_type,name",
             write_device)

/* Writes the window of each profiler step row, on the host and on the device. */
static void write_windows(tl_csv *csv, const tl_hta_frame *frame)
{
    TL_EACH (const tl_hta_row, row, frame->rows) {
        int64_t step = tl_hta_symbol_of(frame, row)->step;
        if (step >= 0)
            TL_ROW(csv, frame->rank, step, row->ts, row->dur, row->ts + row->dur);
    }
}

TL_HTA_TABLE(tl_hta_profiler_step_windows, "profiler_step_windows", "rank,iter,ts,dur,end", write_windows)

/* ---------------------------------------------------------------------------------------------------------- filters */

typedef enum filter { DEVICE, HOST, FIRST_STEP, TIME_RANGE, ATEN, CUDA, LONG, STEP, NFILTERS } filter;

static const char *const names[] = {
    "GPUKernelFilter",      /* rows of tl_hta_on_device */
    "CPUOperatorFilter",    /* all other rows */
    "FirstIterationFilter", /* the first step of the rank */
    "TimeRangeFilter",      /* within the quartiles of all starts, cut to whole microseconds */
    "NameFilter:aten::",    /* names that begin with aten:: */
    "NameFilter:^cuda",     /* names that begin with cuda */
    "ZeroDurationFilter",   /* longer than 0 */
    "IterationFilter",      /* the lowest step of the rank; no line for a rank without steps */
};

/* Parameters of the filters of a rank. */
typedef struct limits {
    double from, to;     /* TIME_RANGE, us */
    int64_t first_step;  /* FIRST_STEP; TL_HTA_STEP_UNKNOWN: no row passes */
    int64_t lowest_step; /* STEP; TL_HTA_NO_STEP: none */
} limits;

/* An unknown step (NaN) is neither before nor after another step, so the result depends on the steps of Python's
 * sort. */
static bool is_before(void *context, uint32_t a, uint32_t b)
{
    const int64_t *steps = context;
    return steps[a] != TL_HTA_STEP_UNKNOWN && steps[b] != TL_HTA_STEP_UNKNOWN && steps[a] < steps[b];
}

/* Sets first_step and lowest_step.  HTA sorts the distinct steps of the rows, including -1 (outside of steps) and NaN
 * (unknown), and takes the first, or the second if the first is -1.  No row equals a first step of NaN. */
static void find_steps(limits *l, const tl_hta_frame *frame)
{
    numbers steps = { 0 }; /* in order of first sight */
    tl_map seen = { 0 };

    TL_EACH (const tl_hta_row, row, frame->rows)
        if (tl_map_count(&seen, (uint64_t)row->iteration) == 0)
            tl_vec_push(&steps, row->iteration);
    uint32_t *order = tl_malloc(steps.n * sizeof *order);
    l->lowest_step = TL_HTA_NO_STEP;
    for (uint32_t i = 0; i < steps.n; i++) {
        order[i] = i;
        if (steps.v[i] >= 0 && (l->lowest_step < 0 || steps.v[i] < l->lowest_step))
            l->lowest_step = steps.v[i];
    }
    tl_python_sort(order, steps.n, is_before, steps.v);
    if (steps.n > 0)
        l->first_step = steps.v[order[steps.n > 1 && steps.v[order[0]] == TL_HTA_NO_STEP]];
    free(steps.v);
    free(order);
    tl_map_free(&seen);
}

static bool passes(filter f, const tl_hta_frame *frame, const tl_hta_row *row, const limits *l)
{
    switch (f) {
    case DEVICE:
        return tl_hta_on_device(frame, row);
    case HOST:
        return !tl_hta_on_device(frame, row);
    case FIRST_STEP:
        return l->first_step != TL_HTA_STEP_UNKNOWN && row->iteration == l->first_step;
    case TIME_RANGE:
        return row->ts >= l->from && row->ts + row->dur <= l->to;
    case ATEN:
        return tl_text_starts(tl_hta_name(frame, row), "aten::");
    case CUDA:
        return tl_text_starts(tl_hta_name(frame, row), "cuda");
    case LONG:
        return row->dur > 0;
    case STEP:
        return row->iteration == l->lowest_step;
    case NFILTERS:
        break;
    }
    return false;
}

static void write_rank(tl_csv *csv, const tl_hta_frame *frame)
{
    const size_t nrows = frame->rows.n;
    limits l = { 0 };

    if (nrows == 0) {
        tl_hta_note_rank(csv->folder, "filter_counts", frame, "%s", "no row is left, where HTA finds no first step");
        return;
    }
    double *starts = TL_COLUMN(NULL, nrows, frame->rows.v, ts);
    tl_real_sort(starts, nrows);
    l.from = trunc(tl_real_quantile(starts, nrows, 0.25)) + 0.0;
    l.to = trunc(tl_real_quantile(starts, nrows, 0.75)) + 0.0;
    free(starts);
    find_steps(&l, frame);
    for (filter f = DEVICE; f < NFILTERS; f++) {
        size_t n = 0;
        double us = 0;
        char name[96];
        if (f == STEP && l.lowest_step == TL_HTA_NO_STEP)
            continue;
        TL_EACH (const tl_hta_row, row, frame->rows)
            if (passes(f, frame, row, &l)) {
                n++;
                us += row->dur;
            }
        snprintf(name, sizeof name, "%s", names[f]);
        if (f == TIME_RANGE)
            snprintf(name, sizeof name, "%s:%.0f:%.0f", names[f], l.from, l.to);
        else if (f == STEP)
            snprintf(name, sizeof name, "%s:%lld", names[f], (long long)l.lowest_step);
        TL_ROW(csv, frame->rank, name, n, us);
    }
}

TL_HTA_TABLE(tl_hta_filter_counts, "filter_counts", "rank,filter,events,sum_dur", write_rank)
