/* memory.c - the profiler's memory timeline, summed up.
 *
 * A row for each time, with what all categories have after the last change at that time; what was there before is shown
 * at the earliest time.  The file is read twice: for the earliest time and the extremes, then for the rows.
 */
#include "tlmpi/trace/read/memory.h"
#include "tlmpi/compat/hta/streams.h"

static const char *const names[TL_MEMORY_SUMS] = { "Parameter", "Optimizer state", "Input",   "Temporary", "Activation",
                                                   "Gradient",  "Autograd",        "Unknown", "total" };

typedef struct timeline {
    tl_csv *csv;         /* for the rows; NULL: the first reading */
    int64_t earliest_ns; /* of the first reading */
    int64_t last[TL_MEMORY_SUMS], max[TL_MEMORY_SUMS], min[TL_MEMORY_SUMS];
} timeline;

static void take(void *arg, const tl_memory_state *state)
{
    timeline *t = arg;

    for (size_t i = 0; i < TL_MEMORY_SUMS; i++) {
        t->max[i] = state->bytes[i] > t->max[i] ? state->bytes[i] : t->max[i];
        t->min[i] = state->bytes[i] < t->min[i] ? state->bytes[i] : t->min[i];
        t->last[i] = state->bytes[i];
    }
    if (t->csv == NULL)
        return;
    TL_CELLS(t->csv, state->time_ns < 0 ? t->earliest_ns : state->time_ns);
    for (size_t i = 0; i < TL_MEMORY_CATEGORIES; i++)
        TL_CELLS(t->csv, state->bytes[i]);
    tl_csv_end_row(t->csv);
}

static void write_rows(timeline *t, const char *path, tl_csv_folder *folder)
{
    tl_memory_report report;
    tl_csv csv = tl_csv_open(folder, "memory_timeline.csv", NULL);

    tl_csv_head(&csv, "time");
    for (size_t i = 0; i < TL_MEMORY_CATEGORIES; i++)
        tl_csv_head(&csv, names[i]);
    tl_csv_end_head(&csv);
    t->csv = &csv;
    if (!tl_csv_failed(folder))
        (void)tl_memory_timeline_read(path, take, t, &report, &folder->error);
    tl_csv_close(&csv);
}

void tl_hta_memory_timeline(const char *path, tl_csv_folder *folder)
{
    timeline t = { .csv = NULL };
    tl_memory_report report;

    for (size_t i = 0; i < TL_MEMORY_SUMS; i++) {
        t.max[i] = INT64_MIN;
        t.min[i] = INT64_MAX;
    }
    if (tl_csv_failed(folder) || tl_memory_timeline_read(path, take, &t, &report, &folder->error) != TL_OK)
        return;
    t.earliest_ns =
        report.earliest_ns != INT64_MAX ? report.earliest_ns : -1; /* nothing is later than what was there */
    write_rows(&t, path, folder);
    tl_csv csv = tl_csv_open(folder, "memory_timeline_summary.csv", "category,max_bytes,min_bytes,last_bytes");
    for (size_t i = 0; i < TL_MEMORY_SUMS && report.entries > 0; i++)
        TL_ROW(&csv, names[i], t.max[i], t.min[i], t.last[i]);
    tl_csv_close(&csv);
}
