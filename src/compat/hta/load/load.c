/* load.c - what was loaded, by rank, category and step, and row by row. */
#include "tlmpi/compat/hta/load.h"
#include "tlmpi/base/quantile.h"
#include "tlmpi/base/group.h"
#include "tlmpi/compat/python.h"
#include <stdlib.h>

static const char *const vendor_labels[] = {
    [TL_HTA_NO_LAUNCH] = "UNKNOWN GPU", [TL_HTA_NVIDIA] = "NVIDIA GPU", [TL_HTA_AMD] = "AMD GPU", [TL_HTA_MTIA] = "MTIA"
};

typedef TL_VEC(int64_t) numbers;

/* Adds a step that is not below 0 and not the last one added. */
static void add_step(numbers *steps, int64_t step)
{
    if (step >= 0 && (steps->n == 0 || steps->v[steps->n - 1] != step))
        tl_vec_push(steps, step);
}

/* The steps that rows belong to, ascending, with a blank between. */
static void list_iterations(tl_bytes *cell, const tl_hta_frame *frame)
{
    numbers steps = { 0 };

    for (size_t i = 0; i < frame->rows.n; i++)
        add_step(&steps, frame->rows.v[i].iteration);
    steps.n = steps.n > 0 ? tl_ns_distinct(steps.v, steps.n) : 0;
    for (size_t i = 0; i < steps.n; i++) {
        char number[TL_PYTHON_REPR_SIZE];
        if (frame->iteration_whole)
            snprintf(number, sizeof number, "%lld", (long long)steps.v[i]);
        else
            tl_python_repr(number, (double)steps.v[i]);
        tl_bytes_put(cell, " ", i > 0);
        tl_bytes_put(cell, number, strlen(number));
    }
    free(steps.v);
}

/* Unix time of ts 0 in ns: the base plus the zero in ns, cut to an integer.  HTA raises KeyError without a base. */
static tl_cell start_cell(const tl_hta_job *job, const tl_hta_frame *frame)
{
    const double limit = 4e18; /* two such numbers still add up in an int64_t */

    if (!frame->has_base)
        return tl_words("KeyError");
    if (!(fabs(job->zero) < limit / 1000) || !(fabs((double)frame->base_ns) < limit))
        return tl_blank();
    return tl_int(frame->base_ns + (job->zero_whole ? (int64_t)job->zero * 1000 : (int64_t)(job->zero * 1000)));
}

void tl_hta_load_summary(tl_hta_job *job)
{
    tl_csv csv = tl_csv_open(&job->out, "load_summary.csv",
                             "rank,file,device_type,rows_parsed,raw_min_ts,raw_max_ts,rows_after_filter,global_min_ts,"
                             "ts_dtype,duration,iterations,world_size,base_time_ns,start_unix_ns,symbols");

    csv.as_is = true;
    TL_EACH (const tl_hta_frame, frame, job->frames) {
        const char *slash = strrchr(frame->path, '/');
        tl_bytes steps = { 0 };

        list_iterations(&steps, frame);
        TL_ROW(&csv, frame->rank, slash != NULL ? slash + 1 : frame->path, vendor_labels[job->frames.v[0].vendor],
               frame->nloaded, frame->raw_min_ts, frame->raw_max_ts, frame->rows.n,
               tl_number(job->zero, job->zero_whole), frame->ts_whole ? "int64" : "float64",
               tl_number(tl_hta_frame_duration(frame), frame->ts_whole), &steps,
               frame->world_size >= 0 ? tl_int(frame->world_size) : tl_blank(),
               frame->has_base ? tl_int(frame->base_ns) : tl_blank(), start_cell(job, frame), job->symbols.v.n);
        tl_bytes_free(&steps);
    }
    tl_csv_close(&csv);
}

typedef struct category {
    int64_t negative, zero, no_stream, stream_0, linked, unlinked, not_linkable, no_step, step_unknown;
    double min_ts, max_ts, max_end;
} category;

static void count_row(category *c, const tl_hta_row *row)
{
    c->min_ts = fmin(c->min_ts, row->ts);
    c->max_ts = fmax(c->max_ts, row->ts);
    c->max_end = fmax(c->max_end, row->ts + row->dur);
    c->negative += row->dur < 0;
    c->zero += row->dur == 0;
    c->no_stream += row->stream == -1;
    c->stream_0 += row->stream == 0;
    c->linked += row->link > 0;
    c->unlinked += row->link == 0;
    c->not_linkable += row->link == -1;
    c->no_step += row->iteration == TL_HTA_NO_STEP;
    c->step_unknown += row->iteration == TL_HTA_STEP_UNKNOWN;
}

static int by_text(const void *context, uint32_t a, uint32_t b)
{
    return tl_text_compare(tl_hta_text(context, a), tl_hta_text(context, b));
}

static void write_categories(tl_csv *csv, tl_hta_job *job, const tl_hta_frame *frame)
{
    const bool ts = frame->ts_whole, dur = frame->dur_whole;
    tl_hta_groups g = tl_hta_groups_of(frame, TL_HTA_BY_CATEGORY, job->symbols.v.n, NULL, NULL);
    uint32_t *cats = tl_sorted_index(g.n, by_text, &job->symbols);

    for (size_t k = 0; k < g.n; k++) {
        const uint32_t *rows = g.order + g.first[cats[k]];
        const size_t n = g.first[cats[k] + 1] - g.first[cats[k]];
        category c = { .min_ts = INFINITY, .max_ts = -INFINITY, .max_end = -INFINITY };
        for (size_t i = 0; i < n; i++)
            count_row(&c, &frame->rows.v[rows[i]]);
        if (n > 0)
            TL_ROW(csv, frame->rank, tl_hta_text(&job->symbols, cats[k]), n,
                   tl_number(TL_SUM(rows, n, frame->rows.v, dur), dur), c.negative, c.zero, tl_number(c.min_ts, ts),
                   tl_number(c.max_ts, ts), tl_number(c.max_end, ts && dur), c.no_stream, c.stream_0, c.linked,
                   c.unlinked, c.not_linkable, c.no_step, c.step_unknown);
    }
    free(cats);
    tl_hta_groups_free(&g);
}

void tl_hta_events_by_category(tl_hta_job *job)
{
    tl_hta_write_ranks(job, "events_by_category.csv",
                       "rank,cat,count,sum_dur,negative_dur,zero_dur,min_ts,max_ts,max_end,stream_minus_1,stream_0,"
                       "linked,unlinked,not_linkable,iteration_minus_1,iteration_nan",
                       write_categories);
}

/* The numbers of the step rows that are left, of any category and rank. */
void tl_hta_profiler_steps(tl_hta_job *job)
{
    numbers steps = { 0 };
    tl_csv csv = tl_csv_open(&job->out, "profiler_steps.csv", "step");

    TL_EACH (const tl_hta_frame, frame, job->frames)
        TL_EACH (const tl_hta_row, row, frame->rows)
            add_step(&steps, job->symbols.v.v[row->name].step);
    steps.n = steps.n > 0 ? tl_ns_distinct(steps.v, steps.n) : 0;
    for (size_t i = 0; i < steps.n; i++)
        TL_ROW(&csv, steps.v[i]);
    free(steps.v);
    tl_csv_close(&csv);
}

/* ---------------------------------------------------------------------------------------------------------- row by row */

/* Ascending, the rows of no value last. */
static int by_step(const void *context, uint32_t a, uint32_t b)
{
    const tl_hta_row *rows = context;
    int64_t x = rows[a].iteration, y = rows[b].iteration;
    if (x == TL_HTA_STEP_UNKNOWN || y == TL_HTA_STEP_UNKNOWN)
        return (x == TL_HTA_STEP_UNKNOWN) - (y == TL_HTA_STEP_UNKNOWN);
    return TL_COMPARE(x, y);
}

static void write_steps(tl_csv *csv, tl_hta_job *job, const tl_hta_frame *frame)
{
    const tl_hta_row *rows = frame->rows.v;
    const size_t n = frame->rows.n;
    uint32_t *order = tl_sorted_index(n, by_step, rows);
    double *durs = tl_malloc(n * sizeof *durs); /* of the rows on a stream */

    (void)job;
    TL_GROUPS (from, to, order, n, by_step, rows) {
        size_t ndevice = 0;
        for (size_t i = from; i < to; i++)
            if (tl_hta_on_stream(&rows[order[i]]))
                durs[ndevice++] = rows[order[i]].dur;
        TL_ROW(csv, frame->rank, tl_hta_step(frame, rows[order[from]].iteration), to - from - ndevice, ndevice,
               tl_number(tl_numpy_sum(durs, ndevice, 1), frame->dur_whole));
    }
    free(order);
    free(durs);
}

void tl_hta_events_by_iteration(tl_hta_job *job)
{
    tl_hta_write_ranks(job, "events_by_iteration.csv", "rank,iteration,cpu_events,gpu_events,gpu_dur", write_steps);
}

static void write_device(tl_csv *csv, tl_hta_job *job, const tl_hta_frame *frame)
{
    const tl_hta_symbols *symbols = &job->symbols;

    TL_EACH (const tl_hta_row, row, frame->rows)
        if (tl_hta_on_stream(row))
            TL_ROW(csv, frame->rank, row->index, tl_number(row->ts, frame->ts_whole),
                   tl_number(row->dur, frame->dur_whole), row->stream, row->correlation, row->link,
                   tl_hta_step(frame, row->iteration), tl_hta_pid(frame, row->track), tl_hta_tid(frame, row->track),
                   tl_hta_text(symbols, row->cat), tl_hta_class_labels[symbols->v.v[row->name].class],
                   tl_hta_text(symbols, row->name));
}

void tl_hta_gpu_events(tl_hta_job *job)
{
    tl_hta_write_ranks(job, "gpu_events.csv",
                       "rank,index,ts,dur,stream,correlation,index_correlation,iteration,pid,tid,cat,kernel_type,name",
                       write_device);
}

/* Writes the window of each profiler step, on the host and on the device, from the rows that the load has kept. */
static void write_windows(tl_csv *csv, tl_hta_job *job, const tl_hta_frame *frame)
{
    TL_EACH (const tl_hta_row, row, frame->rows) {
        int64_t step = job->symbols.v.v[row->name].step;
        if (step >= 0)
            TL_ROW(csv, frame->rank, step, tl_number(row->ts, frame->ts_whole), tl_number(row->dur, frame->dur_whole),
                   tl_number(row->ts + row->dur, frame->ts_whole && frame->dur_whole));
    }
}

void tl_hta_profiler_step_windows(tl_hta_job *job)
{
    tl_hta_write_ranks(job, "profiler_step_windows.csv", "rank,iter,ts,dur,end", write_windows);
}
