/* memory.c - the profiler's raw memory timelines that lie beside the traces, or alone: each proc reads every nprocs-th. */
#include "stages.h"
#include "tlmpi/analysis/measured.h"
#include "tlmpi/trace/read/memory.h"
#include <stdio.h>
#include <string.h>

_Static_assert((int)TL_MEMORY_KINDS == (int)TL_MEMORY_SUMS, "a row for each category of the file, and the total");

typedef struct reading {
    tl_memory_file *file;
    tl_memory_category rows[TL_MEMORY_KINDS];
    tl_table *timeline;
    int64_t n;
} reading;

static void take(void *arg, const tl_memory_state *s)
{
    reading *r = arg;
    const int64_t *b = s->bytes;
    const tl_memory_timeline row = { r->file->file, r->n++, s->time_ns, b[0], b[1], b[2],
                                     b[3],          b[4],   b[5],       b[6], b[7], b[8] };

    tl_memory_peaks_add(r->rows, s->time_ns, b);
    tl_table_append(r->timeline, &row, 1);
}

/* Returns the time to show: memory allocated before the recording has a time below 0 and is shown at the earliest
 * time. */
static int64_t shown_at(int64_t time_ns, int64_t earliest_ns)
{
    return time_ns >= 0 ? time_ns : earliest_ns != INT64_MAX ? earliest_ns : TL_TIME_UNKNOWN;
}

static void read_file(const char *path, int32_t number, tl_tables *tables)
{
    tl_table *timeline = tl_tables_get(tables, &tl_memory_timeline_schema);
    int64_t named = tl_rank_of_name(path);
    tl_memory_file file = { .file = number,
                            .rank = named >= 0 && named <= INT32_MAX ? (int32_t)named : -1,
                            .first_ns = TL_TIME_UNKNOWN,
                            .last_ns = TL_TIME_UNKNOWN };
    reading r = { .file = &file, .timeline = timeline };
    tl_memory_report report;
    tl_error why = { 0 };
    size_t first = timeline->n;

    tl_memory_peaks_begin(r.rows, number, file.rank);
    tl_status st = tl_memory_timeline_read(path, take, &r, &report, &why);
    file.entries = report.entries;
    file.status = st == TL_OK           ? (report.entries > 0 ? TL_MEMORY_FILE_OK : TL_MEMORY_FILE_EMPTY)
                  : report.entries == 0 ? TL_MEMORY_FILE_UNREADABLE
                  : report.cut          ? TL_MEMORY_FILE_CUT
                                        : TL_MEMORY_FILE_DAMAGED;
    const char *words = tl_error_reason(&why, path);
    tl_cell_text(file.error, sizeof file.error, words, strlen(words));
    tl_cell_path(file.path, sizeof file.path, path);

    for (size_t i = first; i < timeline->n; i++) {
        tl_memory_timeline *row = tl_table_row(timeline, i);
        row->time_ns = shown_at(row->time_ns, report.earliest_ns);
        file.last_ns = row->time_ns;
    }
    file.first_ns = report.earliest_ns != INT64_MAX ? report.earliest_ns : TL_TIME_UNKNOWN;
    for (int i = 0; i < TL_MEMORY_KINDS; i++)
        r.rows[i].peak_ns = shown_at(r.rows[i].peak_ns, report.earliest_ns);
    tl_table_append(tl_tables_get(tables, &tl_memory_file_schema), &file, 1);
    if (report.entries != 0)
        tl_table_append(tl_tables_get(tables, &tl_memory_category_schema), r.rows, TL_MEMORY_KINDS);
}

/* A timeline of a rank that is left out is left out, too. */
static bool is_asked(const tl_options *options, const char *path)
{
    int64_t named = tl_rank_of_name(path);
    return named < 0 || tl_ranges_has(&options->ranks, named);
}

void tl_job_read_memory(tl_job *j)
{
    for (size_t i = 0; i < j->plan.nsides; i++) {
        const tl_plan_side *side = &j->plan.sides[i];
        if (tl_plan_is_mine(side, TL_INPUT_MEMORY) && is_asked(j->options, side->path))
            read_file(side->path, side->number, &j->tables);
    }
}
