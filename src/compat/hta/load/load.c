/* load.c - what was loaded: a row a rank, a row a category, a row a profiler step. */
#include "tlmpi/compat/hta/load.h"
#include "tlmpi/base/quantile.h"
#include "tlmpi/base/group.h"
#include "tlmpi/compat/python.h"
#include <stdlib.h>

static const char *const vendor_labels[] = {
    [TL_HTA_NO_LAUNCH] = "UNKNOWN GPU",
    [TL_HTA_NVIDIA] = "NVIDIA GPU",
    [TL_HTA_AMD] = "AMD GPU",
    [TL_HTA_MTIA] = "MTIA",
};

typedef TL_VEC(int64_t) numbers;

/* Adds a step that is not below 0 and not the last one added. */
static void add_step(numbers *steps, int64_t step)
{
    if (step >= 0 && (steps->n == 0 || steps->v[steps->n - 1] != step))
        tl_vec_push(steps, step);
}

static void sort_distinct(numbers *steps)
{
    size_t n = 0;

    tl_ns_sort(steps->v, steps->n);
    for (size_t i = 0; i < steps->n; i++)
        if (n == 0 || steps->v[i] != steps->v[n - 1])
            steps->v[n++] = steps->v[i];
    steps->n = n;
}

/* The steps that rows belong to, ascending, with a blank between. */
static void list_iterations(tl_bytes *cell, const tl_hta_frame *frame)
{
    numbers steps = { 0 };

    for (size_t i = 0; i < frame->rows.n; i++)
        add_step(&steps, frame->rows.v[i].iteration);
    sort_distinct(&steps);
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
    for (size_t i = 0; i < job->frames.n; i++) {
        const tl_hta_frame *frame = &job->frames.v[i];
        const char *slash = strrchr(frame->path, '/');
        tl_bytes steps = { 0 };

        list_iterations(&steps, frame);
        TL_ROW(&csv, tl_int(frame->rank), tl_words(slash != NULL ? slash + 1 : frame->path),
               tl_words(vendor_labels[job->frames.v[0].vendor]), tl_int((int64_t)frame->nloaded),
               tl_real(frame->raw_min_ts), tl_real(frame->raw_max_ts), tl_int((int64_t)frame->rows.n),
               tl_number(job->zero, job->zero_whole), tl_words(frame->ts_whole ? "int64" : "float64"),
               tl_number(tl_hta_frame_duration(frame), frame->ts_whole), tl_bytes_cell(&steps),
               frame->world_size >= 0 ? tl_int(frame->world_size) : tl_blank(),
               frame->has_base ? tl_int(frame->base_ns) : tl_blank(), start_cell(job, frame),
               tl_int((int64_t)job->symbols.v.n));
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

static void write_category(tl_csv *csv, const tl_hta_frame *frame, tl_text name, const uint32_t *rows, size_t n)
{
    const bool ts = frame->ts_whole, dur = frame->dur_whole;
    category c = { .min_ts = INFINITY, .max_ts = -INFINITY, .max_end = -INFINITY };
    double *durs = tl_malloc(n * sizeof *durs);

    for (size_t i = 0; i < n; i++) {
        durs[i] = frame->rows.v[rows[i]].dur;
        count_row(&c, &frame->rows.v[rows[i]]);
    }
    TL_ROW(csv, tl_int(frame->rank), tl_string(name), tl_int((int64_t)n), tl_number(tl_numpy_sum(durs, n, 1), dur),
           tl_int(c.negative), tl_int(c.zero), tl_number(c.min_ts, ts), tl_number(c.max_ts, ts),
           tl_number(c.max_end, ts && dur), tl_int(c.no_stream), tl_int(c.stream_0), tl_int(c.linked),
           tl_int(c.unlinked), tl_int(c.not_linkable), tl_int(c.no_step), tl_int(c.step_unknown));
    free(durs);
}

static void write_categories(tl_csv *csv, const tl_hta_frame *frame, const tl_hta_symbols *symbols)
{
    tl_hta_groups g = tl_hta_groups_of(frame, TL_HTA_BY_CATEGORY, symbols->v.n, NULL, NULL);
    uint32_t *cats = tl_malloc(g.n * sizeof *cats);
    size_t n = 0;

    for (size_t k = 0; k < g.n; k++)
        if (g.first[k + 1] > g.first[k])
            cats[n++] = (uint32_t)k;
    (void)tl_sort_index(cats, n, by_text, symbols);
    for (size_t i = 0; i < n; i++)
        write_category(csv, frame, tl_hta_text(symbols, cats[i]), g.order + g.first[cats[i]],
                       g.first[cats[i] + 1] - g.first[cats[i]]);
    free(cats);
    tl_hta_groups_free(&g);
}

void tl_hta_events_by_category(tl_hta_job *job)
{
    tl_csv csv = tl_csv_open(&job->out, "events_by_category.csv",
                             "rank,cat,count,sum_dur,negative_dur,zero_dur,min_ts,max_ts,max_end,stream_minus_1,"
                             "stream_0,linked,unlinked,not_linkable,iteration_minus_1,iteration_nan");

    for (size_t i = 0; i < job->frames.n; i++)
        write_categories(&csv, &job->frames.v[i], &job->symbols);
    tl_csv_close(&csv);
}

/* The numbers of the step rows that are left, of any category and rank. */
void tl_hta_profiler_steps(tl_hta_job *job)
{
    numbers steps = { 0 };
    tl_csv csv = tl_csv_open(&job->out, "profiler_steps.csv", "step");

    for (size_t i = 0; i < job->frames.n; i++)
        for (size_t k = 0; k < job->frames.v[i].rows.n; k++)
            add_step(&steps, job->symbols.v.v[job->frames.v[i].rows.v[k].name].step);
    sort_distinct(&steps);
    for (size_t i = 0; i < steps.n; i++)
        TL_ROW(&csv, tl_int(steps.v[i]));
    free(steps.v);
    tl_csv_close(&csv);
}
