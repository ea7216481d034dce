/* memory.c - the profiler's memory timeline, summed up.
 *
 * A row for each time, with what all categories have after the last change at that time; what was there before is shown
 * at the earliest time.  The file is read twice: for the earliest time and the extremes, then for the rows.
 */
#include "tlmpi/trace/read/memory.h"
#include "tlmpi/compat/hta/streams.h"
#include "tlmpi/compat/sheet.h"

static const char *const names[TL_MEMORY_SUMS] = { "Parameter", "Optimizer state", "Input",   "Temporary", "Activation",
                                                   "Gradient",  "Autograd",        "Unknown", "total" };

typedef struct timeline {
    const char *path;
    tl_sheet *csv; /* for the rows; NULL: they are only looked at */
    tl_memory_report report;
    int64_t last[TL_MEMORY_SUMS], max[TL_MEMORY_SUMS], min[TL_MEMORY_SUMS];
    int64_t earliest; /* of the first reading */
} timeline;

static bool take(void *arg, const tl_memory_state *state)
{
    timeline *t = arg;

    for (size_t i = 0; i < TL_MEMORY_SUMS; i++) {
        t->max[i] = state->bytes[i] > t->max[i] ? state->bytes[i] : t->max[i];
        t->min[i] = state->bytes[i] < t->min[i] ? state->bytes[i] : t->min[i];
        t->last[i] = state->bytes[i];
    }
    if (t->csv == NULL)
        return true;
    tl_sheet_int(t->csv, state->time_ns < 0 ? t->earliest : state->time_ns);
    for (size_t i = 0; i < TL_MEMORY_CATEGORIES; i++)
        tl_sheet_int(t->csv, state->bytes[i]);
    tl_sheet_end_row(t->csv);
    return true;
}

/* Goes through the file once. */
static tl_status sum_up(timeline *t, tl_error *err)
{
    for (size_t i = 0; i < TL_MEMORY_SUMS; i++) {
        t->max[i] = INT64_MIN;
        t->min[i] = INT64_MAX;
    }
    return tl_memory_timeline_read(t->path, take, t, &t->report, err);
}

static tl_status write_rows(timeline *t, const char *dir, tl_error *err)
{
    tl_sheet csv;
    tl_status st = tl_sheet_open(&csv, dir, "memory_timeline.csv", NULL, err);
    if (st != TL_OK)
        return st;
    tl_sheet_head(&csv, "time");
    for (size_t i = 0; i < TL_MEMORY_CATEGORIES; i++)
        tl_sheet_head(&csv, names[i]);
    tl_sheet_end_row(&csv);
    t->csv = &csv;
    st = sum_up(t, err);
    if (st == TL_OK)
        return tl_sheet_close(&csv, err);
    tl_sheet_abandon(&csv);
    return st;
}

static tl_status write_summary(const timeline *t, const char *dir, tl_error *err)
{
    tl_sheet csv;
    tl_status st =
        tl_sheet_open(&csv, dir, "memory_timeline_summary.csv", "category,max_bytes,min_bytes,last_bytes", err);
    if (st != TL_OK)
        return st;
    for (size_t i = 0; i < TL_MEMORY_SUMS && t->report.entries > 0; i++) {
        tl_sheet_words(&csv, names[i]);
        tl_sheet_int(&csv, t->max[i]);
        tl_sheet_int(&csv, t->min[i]);
        tl_sheet_int(&csv, t->last[i]);
        tl_sheet_end_row(&csv);
    }
    return tl_sheet_close(&csv, err);
}

tl_status tl_hta_memory_timeline(const char *path, const char *dir, tl_error *err)
{
    timeline t = { .path = path };

    tl_status st = sum_up(&t, err);
    t.earliest = t.report.earliest_ns != INT64_MAX ? t.report.earliest_ns : -1; /* nothing is later than what was there */
    if (st == TL_OK)
        st = write_rows(&t, dir, err);
    return st == TL_OK ? write_summary(&t, dir, err) : st;
}
