/* load.c - what was loaded: a row a rank, a row a category, a row a profiler step. */
#include "tlmpi/compat/hta/load.h"
#include "tlmpi/compat/hta/frame/spans.h"
#include "tlmpi/base/sort.h"
#include "tlmpi/compat/python.h"
#include "tlmpi/compat/sheet.h"
#include <math.h>
#include <stdlib.h>

static const char *const vendor_labels[] = {
    [TL_HTA_NO_LAUNCH] = "UNKNOWN GPU",
    [TL_HTA_NVIDIA] = "NVIDIA GPU",
    [TL_HTA_AMD] = "AMD GPU",
    [TL_HTA_MTIA] = "MTIA",
};

static int by_number(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return TL_COMPARE(x, y);
}

static size_t sort_distinct(int64_t *v, size_t n)
{
    size_t k = 0;

    if (n > 0)
        qsort(v, n, sizeof *v, by_number);
    for (size_t i = 0; i < n; i++)
        if (k == 0 || v[i] != v[k - 1])
            v[k++] = v[i];
    return k;
}

/* The steps that rows belong to, ascending, with a blank between: a single cell. */
static tl_status write_iterations(tl_sheet *csv, const tl_hta_frame *frame, tl_error *err)
{
    TL_VEC(int64_t) steps = { 0 };
    TL_VEC(char) cell = { 0 };
    tl_status st = TL_OK;

    for (size_t i = 0; i < frame->rows.n; i++) {
        int64_t step = frame->rows.v[i].iteration;
        if (step < 0 || (steps.n > 0 && steps.v[steps.n - 1] == step))
            continue;
        if (!tl_vec_room(&steps)) {
            st = tl_fail_memory(err, "the steps of a rank");
            goto done;
        }
        steps.v[steps.n++] = step;
    }
    steps.n = steps.v != NULL ? sort_distinct(steps.v, steps.n) : 0;
    for (size_t i = 0; steps.v != NULL && i < steps.n; i++) {
        if (!tl_grow((void **)&cell.v, &cell.cap, cell.n + TL_PYTHON_REPR_SIZE + 1, 1)) {
            st = tl_fail_memory(err, "the steps of a rank");
            goto done;
        }
        if (i > 0)
            cell.v[cell.n++] = ' ';
        if (frame->iteration_whole)
            snprintf(cell.v + cell.n, TL_PYTHON_REPR_SIZE, "%lld", (long long)steps.v[i]);
        else
            tl_python_repr(cell.v + cell.n, (double)steps.v[i]);
        cell.n += strlen(cell.v + cell.n);
    }
    tl_sheet_text(csv, (tl_text){ cell.n > 0 ? cell.v : "", cell.n });
done:
    free(steps.v);
    free(cell.v);
    return st;
}

/* Unix time of ts 0 in ns: the base plus the zero in ns, cut to an integer.  HTA raises KeyError without a base. */
static void write_start(tl_sheet *csv, const tl_hta_job *job, const tl_hta_frame *frame)
{
    const double limit = 4e18; /* two such numbers still add up in an int64_t */
    int64_t zero_ns;

    if (!frame->has_base) {
        tl_sheet_text(csv, TL_TEXT("KeyError"));
        return;
    }
    if (!(fabs(job->zero) < limit / 1000) || !(fabs((double)frame->base_ns) < limit)) {
        tl_sheet_blank(csv);
        return;
    }
    zero_ns = job->zero_whole ? (int64_t)job->zero * 1000 : (int64_t)(job->zero * 1000);
    tl_sheet_int(csv, frame->base_ns + zero_ns);
}

static const char *file_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash != NULL ? slash + 1 : path;
}

tl_status tl_hta_load_summary(tl_hta_job *job, const char *dir, tl_error *err)
{
    tl_sheet csv;
    tl_status st =
        tl_sheet_open(&csv, dir, "load_summary.csv",
                      "rank,file,device_type,rows_parsed,raw_min_ts,raw_max_ts,rows_after_filter,"
                      "global_min_ts,ts_dtype,duration,iterations,world_size,base_time_ns,start_unix_ns,symbols",
                      err);
    if (st != TL_OK)
        return st;

    for (size_t i = 0; i < job->frames.n; i++) {
        const tl_hta_frame *frame = &job->frames.v[i];
        const char *name = file_name(frame->path), *vendor = vendor_labels[job->frames.v[0].vendor];

        tl_sheet_int(&csv, frame->rank);
        tl_sheet_text(&csv, (tl_text){ name, strlen(name) });
        tl_sheet_text(&csv, (tl_text){ vendor, strlen(vendor) });
        tl_sheet_int(&csv, (int64_t)frame->nloaded);
        tl_sheet_real(&csv, frame->raw_min_ts);
        tl_sheet_real(&csv, frame->raw_max_ts);
        tl_sheet_int(&csv, (int64_t)frame->rows.n);
        tl_sheet_number(&csv, job->zero, job->zero_whole);
        tl_sheet_text(&csv, frame->ts_whole ? TL_TEXT("int64") : TL_TEXT("float64"));
        tl_sheet_number(&csv, tl_hta_frame_duration(frame), frame->ts_whole);
        st = write_iterations(&csv, frame, err);
        if (st != TL_OK) {
            tl_sheet_abandon(&csv);
            return st;
        }
        if (frame->world_size >= 0)
            tl_sheet_int(&csv, frame->world_size);
        else
            tl_sheet_blank(&csv);
        if (frame->has_base)
            tl_sheet_int(&csv, frame->base_ns);
        else
            tl_sheet_blank(&csv);
        write_start(&csv, job, frame);
        tl_sheet_int(&csv, (int64_t)job->symbols.v.n);
        tl_sheet_end_row(&csv);
    }
    return tl_sheet_close(&csv, err);
}

typedef struct category {
    tl_text text;
    size_t n;
    double *durs; /* of its rows, in their order */
    uint64_t negative, zero, no_stream, stream_0, linked, unlinked, not_linkable, no_step, step_unknown;
    double min_ts, max_ts, max_end;
} category;

static void count_row(category *c, const tl_hta_row *row)
{
    if (c->n == 0) {
        c->min_ts = c->max_ts = row->ts;
        c->max_end = row->ts + row->dur;
    }
    c->durs[c->n++] = row->dur;
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

static int by_text(const void *a, const void *b)
{
    const tl_text *x = &((const category *)a)->text, *y = &((const category *)b)->text;
    size_t n = x->n < y->n ? x->n : y->n;
    int order = n > 0 ? memcmp(x->p, y->p, n) : 0;
    return order != 0 ? order : TL_COMPARE(x->n, y->n);
}

static void write_category(tl_sheet *csv, const tl_hta_frame *frame, const category *c)
{
    tl_sheet_int(csv, frame->rank);
    tl_sheet_text(csv, c->text);
    tl_sheet_int(csv, (int64_t)c->n);
    tl_sheet_number(csv, tl_numpy_sum(c->durs, c->n, 1), frame->dur_whole);
    tl_sheet_int(csv, (int64_t)c->negative);
    tl_sheet_int(csv, (int64_t)c->zero);
    tl_sheet_number(csv, c->min_ts, frame->ts_whole);
    tl_sheet_number(csv, c->max_ts, frame->ts_whole);
    tl_sheet_number(csv, c->max_end, frame->ts_whole && frame->dur_whole);
    tl_sheet_int(csv, (int64_t)c->no_stream);
    tl_sheet_int(csv, (int64_t)c->stream_0);
    tl_sheet_int(csv, (int64_t)c->linked);
    tl_sheet_int(csv, (int64_t)c->unlinked);
    tl_sheet_int(csv, (int64_t)c->not_linkable);
    tl_sheet_int(csv, (int64_t)c->no_step);
    tl_sheet_int(csv, (int64_t)c->step_unknown);
    tl_sheet_end_row(csv);
}

typedef TL_VEC(category) categories;

/* The categories of a rank, each with room for the durations of its rows: a share of *durs.  slot[symbol] becomes the
 * place of a category, plus one. */
static bool find_categories(categories *all, double *durs, uint32_t *slot, const tl_hta_job *job,
                            const tl_hta_frame *frame)
{
    for (size_t i = 0; i < frame->rows.n; i++) {
        uint32_t cat = frame->rows.v[i].cat;
        if (slot[cat] == 0) {
            if (!tl_vec_room(all))
                return false;
            all->v[all->n++] = (category){ .text = tl_names_text(&job->symbols.texts, cat) };
            slot[cat] = (uint32_t)all->n;
        }
        all->v[slot[cat] - 1].n++;
    }
    for (size_t i = 0; i < all->n; i++) {
        all->v[i].durs = durs;
        durs += all->v[i].n;
        all->v[i].n = 0;
    }
    return true;
}

static tl_status write_categories(tl_sheet *csv, const tl_hta_job *job, const tl_hta_frame *frame, tl_error *err)
{
    categories all = { 0 };
    double *durs = tl_malloc(frame->rows.n * sizeof *durs);
    uint32_t *slot = tl_calloc(job->symbols.v.n, sizeof *slot);
    tl_status st = TL_OK;

    if (durs == NULL || slot == NULL || !find_categories(&all, durs, slot, job, frame)) {
        st = tl_fail_memory(err, "the categories of a rank");
        goto done;
    }
    for (size_t i = 0; i < frame->rows.n; i++)
        count_row(&all.v[slot[frame->rows.v[i].cat] - 1], &frame->rows.v[i]);
    if (all.n > 0)
        qsort(all.v, all.n, sizeof *all.v, by_text);
    for (size_t i = 0; i < all.n; i++)
        write_category(csv, frame, &all.v[i]);
done:
    free(all.v);
    free(durs);
    free(slot);
    return st;
}

tl_status tl_hta_events_by_category(tl_hta_job *job, const char *dir, tl_error *err)
{
    tl_sheet csv;
    tl_status st = tl_sheet_open(&csv, dir, "events_by_category.csv",
                                 "rank,cat,count,sum_dur,negative_dur,zero_dur,min_ts,max_ts,max_end,stream_minus_1,"
                                 "stream_0,linked,unlinked,not_linkable,iteration_minus_1,iteration_nan",
                                 err);
    if (st != TL_OK)
        return st;

    for (size_t i = 0; i < job->frames.n; i++) {
        st = write_categories(&csv, job, &job->frames.v[i], err);
        if (st != TL_OK) {
            tl_sheet_abandon(&csv);
            return st;
        }
    }
    return tl_sheet_close(&csv, err);
}

/* The numbers of the step rows that are left, of any category and rank. */
tl_status tl_hta_profiler_steps(tl_hta_job *job, const char *dir, tl_error *err)
{
    TL_VEC(int64_t) steps = { 0 };
    tl_sheet csv;
    tl_status st = tl_sheet_open(&csv, dir, "profiler_steps.csv", "step", err);
    if (st != TL_OK)
        return st;

    for (size_t i = 0; i < job->frames.n; i++)
        for (size_t k = 0; k < job->frames.v[i].rows.n; k++) {
            int64_t step = job->symbols.v.v[job->frames.v[i].rows.v[k].name].step;
            if (step < 0)
                continue;
            if (!tl_vec_room(&steps)) {
                free(steps.v);
                tl_sheet_abandon(&csv);
                return tl_fail_memory(err, "the profiler steps");
            }
            steps.v[steps.n++] = step;
        }
    steps.n = sort_distinct(steps.v, steps.n);
    for (size_t i = 0; i < steps.n; i++) {
        tl_sheet_int(&csv, steps.v[i]);
        tl_sheet_end_row(&csv);
    }
    free(steps.v);
    return tl_sheet_close(&csv, err);
}
