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
#include "tlmpi/base/hash.h"
#include "tlmpi/base/quantile.h"
#include "tlmpi/base/sort.h"
#include "tlmpi/compat/python.h"
#include "tlmpi/compat/sheet.h"
#include <math.h>
#include <stdlib.h>

typedef enum filter { DEVICE, HOST, FIRST_STEP, TIME_RANGE, ATEN, CUDA, LONG, STEP, NFILTERS } filter;

/* The numbers that the filters of a rank go by. */
typedef struct limits {
    bool any_rows;
    double from, to;
    int64_t first_step;  /* TL_HTA_STEP_UNKNOWN: no row is of it */
    int64_t lowest_step; /* TL_HTA_NO_STEP: there is none */
} limits;

static bool is_less(int64_t a, int64_t b)
{
    return a != TL_HTA_STEP_UNKNOWN && b != TL_HTA_STEP_UNKNOWN && a < b;
}

static int by_number(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return TL_COMPARE(x, y);
}

/* Python's sort of a short list.  No value is less than it or more, so that what comes out depends on the way: the run
 * at the beginning, turned round where it descends, and insertion of what follows. */
#define SHORT 63
static void sort_as_python(int64_t *v, size_t n)
{
    size_t run = 1;
    bool descends = is_less(v[1], v[0]);

    while (run < n && is_less(v[run], v[run - 1]) == descends)
        run++;
    for (size_t i = 0; descends && i < run / 2; i++) {
        int64_t kept = v[i];
        v[i] = v[run - 1 - i];
        v[run - 1 - i] = kept;
    }
    for (; run < n; run++) {
        int64_t step = v[run];
        size_t at = 0;
        TL_BISECT(at, run, mid, !is_less(step, v[mid]));
        memmove(v + at + 1, v + at, (run - at) * sizeof *v);
        v[at] = step;
    }
}

/* HTA sorts the steps of the rows, those outside of steps (-1) among them, and takes the second where the first is that
 * -1.  Rows of no value are a step, too; where they come to stand first, no row is of the first step. */
static int64_t first_of(int64_t *steps, size_t n)
{
    if (n > SHORT)
        qsort(steps, n, sizeof *steps, by_number);
    else if (n > 1)
        sort_as_python(steps, n);
    return n > 1 && steps[0] == TL_HTA_NO_STEP ? steps[1] : steps[0];
}

/* False: memory is out. */
static bool find_steps(limits *l, const tl_hta_frame *frame)
{
    TL_VEC(int64_t) steps = { 0 }; /* in order of first sight */
    tl_map seen = { 0 };
    bool ok = true;

    l->lowest_step = TL_HTA_NO_STEP;
    for (size_t i = 0; i < frame->rows.n && ok; i++) {
        int64_t step = frame->rows.v[i].iteration;
        if (tl_map_get(&seen, (uint64_t)step) != TL_MAP_NONE)
            continue;
        ok = tl_vec_room(&steps) && tl_map_put(&seen, (uint64_t)step, 0) == 0;
        if (ok)
            steps.v[steps.n++] = step;
        if (step >= 0 && (l->lowest_step < 0 || step < l->lowest_step))
            l->lowest_step = step;
    }
    if (ok && steps.n > 0)
        l->first_step = first_of(steps.v, steps.n);
    free(steps.v);
    tl_map_free(&seen);
    return ok;
}

/* `room` is for a number of each row. */
static bool find_limits(limits *l, const tl_hta_frame *frame, double *room)
{
    size_t n = frame->rows.n;

    *l = (limits){ .any_rows = n > 0 };
    for (size_t i = 0; i < n; i++)
        room[i] = frame->rows.v[i].ts;
    if (n > 0) {
        tl_real_sort(room, n);
        l->from = trunc(tl_numpy_quantile(room, n, 0.25));
        l->to = trunc(tl_numpy_quantile(room, n, 0.75));
    }
    return find_steps(l, frame);
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
        return tl_text_starts(tl_names_text(&symbols->texts, row->name), "aten::");
    case CUDA:
        return tl_text_starts(tl_names_text(&symbols->texts, row->name), "cuda");
    case LONG:
        return row->dur > 0;
    case STEP:
        return row->iteration == l->lowest_step;
    case NFILTERS:
        break;
    }
    return false;
}

static void write_name(tl_sheet *csv, filter f, const limits *l)
{
    static const char *const names[] = { "GPUKernelFilter",   "CPUOperatorFilter", "FirstIterationFilter", NULL,
                                         "NameFilter:aten::", "NameFilter:^cuda",  "ZeroDurationFilter",   NULL };
    char name[96];

    if (f == TIME_RANGE)
        snprintf(name, sizeof name, "TimeRangeFilter:%.0f:%.0f", l->from + 0.0, l->to + 0.0);
    else if (f == STEP)
        snprintf(name, sizeof name, "IterationFilter:%lld", (long long)l->lowest_step);
    tl_sheet_words(csv, names[f] != NULL ? names[f] : name);
}

static void write_filters(tl_sheet *csv, const tl_hta_frame *frame, const limits *l, const tl_hta_symbols *symbols,
                          double *room)
{
    for (filter f = DEVICE; f < NFILTERS; f++) {
        size_t n = 0;
        if (f == STEP && l->lowest_step == TL_HTA_NO_STEP)
            continue;
        for (size_t i = 0; i < frame->rows.n; i++)
            if (passes(f, &frame->rows.v[i], l, symbols))
                room[n++] = frame->rows.v[i].dur;
        tl_sheet_int(csv, frame->rank);
        write_name(csv, f, l);
        tl_sheet_int(csv, (int64_t)n);
        tl_sheet_number(csv, tl_numpy_sum(room, n, 1), frame->dur_whole);
        tl_sheet_end_row(csv);
    }
}

static tl_status write_rank(tl_sheet *csv, bool looking, tl_hta_job *job, const tl_hta_frame *frame, tl_error *err)
{
    double *room = tl_malloc(frame->rows.n * sizeof *room);
    tl_status st = TL_OK;
    limits l;

    if (room == NULL || !find_limits(&l, frame, room))
        st = tl_fail_memory(err, "the filters of a rank");
    else if (l.any_rows)
        write_filters(csv, frame, &l, &job->symbols, room);
    else if (!looking)
        st = tl_hta_job_note(job, err, "filter_counts: rank %lld: no row is left, where HTA finds no first step",
                             (long long)frame->rank);
    free(room);
    return st;
}

tl_status tl_hta_filter_counts(tl_hta_job *job, const char *dir, tl_error *err)
{
    tl_sheet csv;
    tl_status st = tl_sheet_open(&csv, dir, "filter_counts.csv", "rank,filter,events,sum_dur", err);
    if (st != TL_OK)
        return st;

    for (int pass = 0; pass < 2; pass++) {
        (pass == 0 ? tl_sheet_look : tl_sheet_write)(&csv);
        for (size_t i = 0; i < job->frames.n && st == TL_OK; i++)
            st = write_rank(&csv, pass == 0, job, &job->frames.v[i], err);
    }
    if (st != TL_OK) {
        tl_sheet_abandon(&csv);
        return st;
    }
    return tl_sheet_close(&csv, err);
}
