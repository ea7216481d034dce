/* copy_tables.c - the bandwidth of copies in the course of time, and what describe tells of it. */
#include "series.h"
#include "tlmpi/compat/hta/streams.h"
#include <stdlib.h>

typedef struct copy_tables {
    const tl_hta_job *job;
    tl_sheet series, summary;
    bool any, any_speed; /* a copy; one that is above 0 */
    bool ts_whole;       /* in all ranks, for a column has one type */
} copy_tables;

static void write_series(copy_tables *t, const tl_hta_frame *frame, const tl_hta_bandwidth *bandwidth)
{
    for (size_t i = 0; i < bandwidth->n; i++) {
        const tl_hta_copied *b = &bandwidth->v[i];
        tl_sheet_number(&t->series, b->ts, t->ts_whole);
        tl_hta_write_pid(&t->series, frame, b->track);
        tl_sheet_text(&t->series, tl_names_text(&bandwidth->kinds, b->kind));
        tl_sheet_real(&t->series, b->gb_per_s);
        tl_sheet_int(&t->series, frame->rank);
        tl_sheet_end_row(&t->series);
    }
}

/* A row of names; the first is another one where no rows follow. */
static void write_header(tl_sheet *csv, const char *first)
{
    tl_sheet_head(csv, first);
    tl_sheet_head(csv, TL_HTA_DESCRIBED("memory_bw_gbps"));
    tl_sheet_end_row(csv);
}

/* What is above 0 counts, at each change. */
static void write_summary(copy_tables *t, const tl_hta_frame *frame, const tl_hta_bandwidth *bandwidth, double *room)
{
    for (size_t from = 0, to; from < bandwidth->n; from = to) {
        size_t n = 0;
        for (to = from; to < bandwidth->n && bandwidth->v[to].kind == bandwidth->v[from].kind; to++)
            if (bandwidth->v[to].gb_per_s > 0)
                room[n++] = bandwidth->v[to].gb_per_s;
        if (n == 0)
            continue;
        if (!t->any_speed)
            write_header(&t->summary, "rank,name");
        t->any_speed = true;
        tl_sheet_int(&t->summary, frame->rank);
        tl_sheet_text(&t->summary, tl_names_text(&bandwidth->kinds, bandwidth->v[from].kind));
        tl_hta_write_described(&t->summary, room, n);
        tl_sheet_end_row(&t->summary);
    }
}

static tl_status take_rank(copy_tables *t, const tl_hta_frame *frame, tl_error *err)
{
    tl_hta_bandwidth bandwidth = { .n = 0 };

    tl_status st = tl_hta_bandwidth_of(&bandwidth, frame, &t->job->symbols, err);
    double *room = tl_malloc(bandwidth.n * sizeof *room);
    if (st == TL_OK && room != NULL) {
        t->any = t->any || bandwidth.n > 0;
        write_series(t, frame, &bandwidth);
        write_summary(t, frame, &bandwidth, room);
    } else if (st == TL_OK) {
        st = tl_fail_memory(err, "the bandwidth of a rank");
    }
    free(room);
    tl_hta_bandwidth_free(&bandwidth);
    return st;
}

tl_status tl_hta_bandwidths(tl_hta_job *job, const char *dir, tl_error *err)
{
    copy_tables t = { .job = job, .ts_whole = true };

    tl_status st = tl_sheet_open(&t.series, dir, "memory_bw_time_series.csv", "ts,pid,name,memory_bw_gbps,rank", err);
    if (st == TL_OK)
        st = tl_sheet_open(&t.summary, dir, "memory_bw_summary.csv", NULL, err);
    for (size_t i = 0; i < job->frames.n; i++)
        t.ts_whole = t.ts_whole && tl_hta_copy_ts_whole(&job->frames.v[i]);
    for (size_t i = 0; i < job->frames.n && st == TL_OK; i++)
        st = take_rank(&t, &job->frames.v[i], err);
    if (st == TL_OK && !t.any)
        st = tl_hta_job_note(job, err, "memory_bw: no memory is copied or set on a stream");
    if (st == TL_OK && t.any)
        st = tl_sheet_close(&t.series, err);
    if (st == TL_OK && t.any) {
        if (!t.any_speed)
            write_header(&t.summary, "index");
        st = tl_sheet_close(&t.summary, err);
    }
    tl_sheet_drop(&t.series);
    tl_sheet_drop(&t.summary);
    return st;
}
