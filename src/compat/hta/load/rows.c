/* rows.c - the rows by their step, the windows of the steps, and the rows on a stream one by one. */
#include "tlmpi/compat/hta/load.h"
#include "tlmpi/base/group.h"
#include "tlmpi/compat/python.h"
#include <stdlib.h>

/* Ascending, the rows of no value last. */
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
    const size_t n = frame->rows.n;
    uint32_t *order = tl_sorted_index(n, by_step, rows);
    double *durs = tl_malloc(n * sizeof *durs); /* of the rows on a stream */

    for (size_t from = 0, to; from < n; from = to) {
        size_t ndevice = 0;
        to = tl_group_end(order, from, n, by_step, rows);
        for (size_t i = from; i < to; i++)
            if (tl_hta_on_stream(&rows[order[i]]))
                durs[ndevice++] = rows[order[i]].dur;
        TL_ROW(csv, tl_int(frame->rank), tl_hta_step(frame, rows[order[from]].iteration),
               tl_int((int64_t)(to - from - ndevice)), tl_int((int64_t)ndevice),
               tl_number(tl_numpy_sum(durs, ndevice, 1), frame->dur_whole));
    }
    free(order);
    free(durs);
}

void tl_hta_events_by_iteration(tl_hta_job *job)
{
    tl_csv csv = tl_csv_open(&job->out, "events_by_iteration.csv", "rank,iteration,cpu_events,gpu_events,gpu_dur");

    for (size_t i = 0; i < job->frames.n; i++)
        write_steps(&csv, &job->frames.v[i]);
    tl_csv_close(&csv);
}

void tl_hta_gpu_events(tl_hta_job *job)
{
    const tl_hta_symbols *symbols = &job->symbols;
    tl_csv csv = tl_csv_open(&job->out, "gpu_events.csv",
                             "rank,index,ts,dur,stream,correlation,index_correlation,iteration,pid,tid,cat,"
                             "kernel_type,name");

    for (size_t i = 0; i < job->frames.n; i++) {
        const tl_hta_frame *frame = &job->frames.v[i];
        for (size_t k = 0; k < frame->rows.n; k++) {
            const tl_hta_row *row = &frame->rows.v[k];
            if (tl_hta_on_stream(row))
                TL_ROW(&csv, tl_int(frame->rank), tl_int(row->index), tl_number(row->ts, frame->ts_whole),
                       tl_number(row->dur, frame->dur_whole), tl_int(row->stream), tl_int(row->correlation),
                       tl_int(row->link), tl_hta_step(frame, row->iteration), tl_hta_pid(frame, row->track),
                       tl_hta_tid(frame, row->track), tl_string(tl_hta_text(symbols, row->cat)),
                       tl_words(tl_hta_class_labels[symbols->v.v[row->name].class]),
                       tl_string(tl_hta_text(symbols, row->name)));
        }
    }
    tl_csv_close(&csv);
}

/* The rows that are left of those that make the steps, on the host and on the device. */
void tl_hta_profiler_step_windows(tl_hta_job *job)
{
    tl_csv csv = tl_csv_open(&job->out, "profiler_step_windows.csv", "rank,iter,ts,dur,end");

    for (size_t i = 0; i < job->frames.n; i++) {
        const tl_hta_frame *frame = &job->frames.v[i];
        for (size_t k = 0; k < frame->rows.n; k++) {
            const tl_hta_row *row = &frame->rows.v[k];
            int64_t step = job->symbols.v.v[row->name].step;
            if (step >= 0)
                TL_ROW(&csv, tl_int(frame->rank), tl_int(step), tl_number(row->ts, frame->ts_whole),
                       tl_number(row->dur, frame->dur_whole),
                       tl_number(row->ts + row->dur, frame->ts_whole && frame->dur_whole));
        }
    }
    tl_csv_close(&csv);
}
