/* rows.c - the rows by their step, the windows of the steps, and the rows on a stream one by one. */
#include "tlmpi/compat/hta/load.h"
#include "tlmpi/base/hash.h"
#include "tlmpi/base/sort.h"
#include "tlmpi/compat/python.h"
#include "tlmpi/compat/sheet.h"
#include <stdlib.h>

/* What of a rank belongs to a step. */
typedef struct share {
    const tl_hta_frame *frame;
    int64_t step;
    size_t nhost, ndevice;
    double *durs; /* of the rows on a stream */
    double dur;   /* their sum */
} share;

typedef TL_VEC(share) shares;

/* Ascending, the rows of no value last. */
static int by_step(const void *a, const void *b)
{
    int64_t x = ((const share *)a)->step, y = ((const share *)b)->step;
    if (x == TL_HTA_STEP_UNKNOWN || y == TL_HTA_STEP_UNKNOWN)
        return (x == TL_HTA_STEP_UNKNOWN) - (y == TL_HTA_STEP_UNKNOWN);
    return TL_COMPARE(x, y);
}

/* Appends the steps of a rank; place[step] becomes where one stands after those before. */
static bool count_rows(shares *all, tl_map *place, const tl_hta_frame *frame)
{
    size_t first = all->n;

    for (size_t i = 0; i < frame->rows.n; i++) {
        const tl_hta_row *row = &frame->rows.v[i];
        uint32_t k = tl_map_get(place, (uint64_t)row->iteration);
        if (k == TL_MAP_NONE) {
            k = (uint32_t)(all->n - first);
            if (!tl_vec_room(all) || tl_map_put(place, (uint64_t)row->iteration, k) != 0)
                return false;
            all->v[all->n++] = (share){ .frame = frame, .step = row->iteration };
        }
        if (tl_hta_on_stream(row))
            all->v[first + k].ndevice++;
        else
            all->v[first + k].nhost++;
    }
    return true;
}

/* The sums of a rank's shares, added up as numpy does it. */
static bool add_up(share *of, size_t n, const tl_map *place, const tl_hta_frame *frame)
{
    double *durs = tl_malloc(frame->rows.n * sizeof *durs);
    size_t at = 0;

    if (durs == NULL)
        return false;
    for (size_t i = 0; i < n; i++) {
        of[i].durs = durs + at;
        at += of[i].ndevice;
    }
    for (size_t i = 0; i < frame->rows.n; i++)
        if (tl_hta_on_stream(&frame->rows.v[i]))
            *of[tl_map_get(place, (uint64_t)frame->rows.v[i].iteration)].durs++ = frame->rows.v[i].dur;
    for (size_t i = 0; i < n; i++)
        of[i].dur = tl_numpy_sum(of[i].durs - of[i].ndevice, of[i].ndevice, 1);
    free(durs);
    return true;
}

/* False: memory is out, here and above. */
static bool add_shares(shares *all, const tl_hta_frame *frame)
{
    tl_map place = { 0 };
    size_t first = all->n;
    bool ok;

    if (frame->rows.n == 0)
        return true;
    ok = count_rows(all, &place, frame) && add_up(all->v + first, all->n - first, &place, frame);

    tl_map_free(&place);
    if (ok && all->n > first)
        qsort(all->v + first, all->n - first, sizeof *all->v, by_step);
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
