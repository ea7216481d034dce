/* rows.c - the rows by their step, the windows of the steps, and the rows on a stream one by one. */
#include "tlmpi/compat/hta/load.h"
#include "tlmpi/base/sort.h"
#include "tlmpi/compat/python.h"
#include "tlmpi/compat/sheet.h"
#include <stdlib.h>

/* What of a rank belongs to a step. */
typedef struct share {
    const tl_hta_frame *frame;
    int64_t step;
    size_t nhost, ndevice;
    double dur; /* of the rows on a stream */
} share;

typedef TL_VEC(share) shares;

/* Ascending, the rows of no value last. */
static int by_step(const void *context, uint32_t a, uint32_t b)
{
    const tl_hta_row *rows = context;
    int64_t x = rows[a].iteration, y = rows[b].iteration;
    if (x == TL_HTA_STEP_UNKNOWN || y == TL_HTA_STEP_UNKNOWN)
        return (x == TL_HTA_STEP_UNKNOWN) - (y == TL_HTA_STEP_UNKNOWN);
    return TL_COMPARE(x, y);
}

/* The n rows of a step; `room` is for a number of each. */
static share share_of(const tl_hta_frame *frame, const uint32_t *rows, size_t n, double *room)
{
    share s = { .frame = frame, .step = frame->rows.v[rows[0]].iteration };

    for (size_t i = 0; i < n; i++) {
        const tl_hta_row *row = &frame->rows.v[rows[i]];
        if (tl_hta_on_stream(row))
            room[s.ndevice++] = row->dur;
        else
            s.nhost++;
    }
    s.dur = tl_numpy_sum(room, s.ndevice, 1);
    return s;
}

/* False: memory is out. */
static bool add_shares(shares *all, const tl_hta_frame *frame)
{
    size_t n = frame->rows.n;
    tl_arena arena = { 0 };
    uint32_t *order = tl_arena_take(&arena, n, sizeof *order);
    double *room = tl_arena_take(&arena, n, sizeof *room);
    bool ok = !arena.failed;

    for (size_t i = 0; i < n && ok; i++)
        order[i] = (uint32_t)i;
    ok = ok && tl_sort_index(order, n, by_step, frame->rows.v);
    for (size_t i = 0, end = 0; i < n && ok; i = end) {
        while (end < n && by_step(frame->rows.v, order[i], order[end]) == 0)
            end++;
        ok = tl_vec_room(all);
        if (ok)
            all->v[all->n++] = share_of(frame, order + i, end - i, room);
    }
    tl_arena_free(&arena);
    return ok;
}

static void write_step(tl_sheet *csv, int64_t step, const tl_hta_frame *frame)
{
    if (step == TL_HTA_STEP_UNKNOWN)
        tl_sheet_blank(csv);
    else if (frame->iteration_whole)
        tl_sheet_int(csv, step);
    else
        tl_sheet_real(csv, (double)step);
}

tl_status tl_hta_events_by_iteration(tl_hta_job *job, const char *dir, tl_error *err)
{
    shares all = { 0 };
    tl_sheet csv;
    tl_status st =
        tl_sheet_open(&csv, dir, "events_by_iteration.csv", "rank,iteration,cpu_events,gpu_events,gpu_dur", err);
    if (st != TL_OK)
        return st;

    for (size_t i = 0; i < job->frames.n && st == TL_OK; i++)
        if (!add_shares(&all, &job->frames.v[i]))
            st = tl_fail_memory(err, "the steps of a rank");
    for (int pass = 0; pass < 2 && st == TL_OK; pass++) {
        (pass == 0 ? tl_sheet_look : tl_sheet_write)(&csv);
        for (size_t i = 0; i < all.n; i++) {
            const share *s = &all.v[i];
            tl_sheet_int(&csv, s->frame->rank);
            write_step(&csv, s->step, s->frame);
            tl_sheet_int(&csv, (int64_t)s->nhost);
            tl_sheet_int(&csv, (int64_t)s->ndevice);
            tl_sheet_number(&csv, s->dur, s->frame->dur_whole);
            tl_sheet_end_row(&csv);
        }
    }
    free(all.v);
    if (st != TL_OK) {
        tl_sheet_abandon(&csv);
        return st;
    }
    return tl_sheet_close(&csv, err);
}

/* A pid or tid. */
static void write_id(tl_sheet *csv, int64_t number, uint32_t text, const tl_hta_frame *frame)
{
    if (text == TL_NO_NAME)
        tl_sheet_int(csv, number);
    else
        tl_sheet_text(csv, tl_names_text(&frame->track_names, text));
}

static void write_row(tl_sheet *csv, const tl_hta_row *row, const tl_hta_frame *frame, const tl_hta_symbols *symbols)
{
    const tl_track *track = &frame->tracks.v[row->track];

    tl_sheet_int(csv, frame->rank);
    tl_sheet_int(csv, row->index);
    tl_sheet_number(csv, row->ts, frame->ts_whole);
    tl_sheet_number(csv, row->dur, frame->dur_whole);
    tl_sheet_int(csv, row->stream);
    tl_sheet_int(csv, row->correlation);
    tl_sheet_int(csv, row->link);
    write_step(csv, row->iteration, frame);
    write_id(csv, track->pid, track->pid_text, frame);
    write_id(csv, track->tid, track->tid_text, frame);
    tl_sheet_text(csv, tl_names_text(&symbols->texts, row->cat));
    tl_sheet_words(csv, tl_hta_class_labels[symbols->v.v[row->name].class]);
    tl_sheet_text(csv, tl_names_text(&symbols->texts, row->name));
    tl_sheet_end_row(csv);
}

tl_status tl_hta_gpu_events(tl_hta_job *job, const char *dir, tl_error *err)
{
    tl_sheet csv;
    tl_status st = tl_sheet_open(&csv, dir, "gpu_events.csv",
                                 "rank,index,ts,dur,stream,correlation,index_correlation,iteration,pid,tid,cat,"
                                 "kernel_type,name",
                                 err);
    if (st != TL_OK)
        return st;

    for (int pass = 0; pass < 2; pass++) {
        (pass == 0 ? tl_sheet_look : tl_sheet_write)(&csv);
        for (size_t i = 0; i < job->frames.n; i++) {
            const tl_hta_frame *frame = &job->frames.v[i];
            for (size_t k = 0; k < frame->rows.n; k++)
                if (tl_hta_on_stream(&frame->rows.v[k]))
                    write_row(&csv, &frame->rows.v[k], frame, &job->symbols);
        }
    }
    return tl_sheet_close(&csv, err);
}

/* The rows that are left of those that make the steps, on the host and on the device. */
tl_status tl_hta_profiler_step_windows(tl_hta_job *job, const char *dir, tl_error *err)
{
    tl_sheet csv;
    tl_status st = tl_sheet_open(&csv, dir, "profiler_step_windows.csv", "rank,iter,ts,dur,end", err);
    if (st != TL_OK)
        return st;

    for (int pass = 0; pass < 2; pass++) {
        (pass == 0 ? tl_sheet_look : tl_sheet_write)(&csv);
        for (size_t i = 0; i < job->frames.n; i++) {
            const tl_hta_frame *frame = &job->frames.v[i];
            for (size_t k = 0; k < frame->rows.n; k++) {
                const tl_hta_row *row = &frame->rows.v[k];
                int64_t step = job->symbols.v.v[row->name].step;
                if (step < 0)
                    continue;
                tl_sheet_int(&csv, frame->rank);
                tl_sheet_int(&csv, step);
                tl_sheet_number(&csv, row->ts, frame->ts_whole);
                tl_sheet_number(&csv, row->dur, frame->dur_whole);
                tl_sheet_number(&csv, row->ts + row->dur, frame->ts_whole && frame->dur_whole);
                tl_sheet_end_row(&csv);
            }
        }
    }
    return tl_sheet_close(&csv, err);
}
