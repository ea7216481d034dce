/* queue_tables.c - the queues of all streams in the course of time, what describe tells of them, and how long they were
 * full.
 */
#include "series.h"
#include "tlmpi/compat/hta/streams.h"
#include <stdlib.h>

/* Lengths from which on a queue counts as full, where none is asked for. */
static const int64_t full[] = { 1024, 64, 8 };
enum { NFULL = sizeof full / sizeof full[0] };

/* How long a queue of a rank was full.  HTA keeps one stream a rank: the last that ever was. */
typedef struct blocked {
    bool any;
    int64_t stream;
    double us, share; /* of the time of the trace */
} blocked;

typedef struct queue_tables {
    tl_hta_job *job;
    tl_sheet series, summary;
    bool any, ts_whole; /* ts_whole: in all ranks, for a column has one type */
    const int64_t *full;
    size_t nfull;
    blocked (*blocked)[NFULL]; /* by rank */
} queue_tables;

static void write_series(queue_tables *t, const tl_hta_frame *frame, const tl_hta_queue *queue)
{
    for (size_t i = 0; i < queue->n; i++) {
        const tl_hta_queued *q = &queue->v[i];
        tl_sheet_int(&t->series, q->index);
        tl_sheet_number(&t->series, q->ts, t->ts_whole);
        tl_hta_write_pid(&t->series, frame, q->track);
        tl_hta_write_tid(&t->series, frame, q->track);
        tl_sheet_int(&t->series, q->stream);
        tl_sheet_int(&t->series, q->length);
        tl_sheet_int(&t->series, frame->rank);
        tl_sheet_end_row(&t->series);
    }
}

/* The time from each row that is at least `length` long to the next; behind the last row there is none. */
static void find_blocked(blocked *b, const tl_hta_queued *v, size_t n, int64_t length, double whole_us, double *room)
{
    size_t nfull = 0;

    for (size_t i = 0; i < n; i++)
        if (v[i].length >= length)
            room[nfull++] = i + 1 < n ? v[i + 1].ts - v[i].ts : 0;
    if (nfull == 0)
        return;
    double us = tl_numpy_sum(room, nfull, 1);
    *b = (blocked){ true, v[0].stream, us, us / whole_us };
}

/* The length counts at each change, however long it lasted. */
static void write_summary(queue_tables *t, size_t rank, const tl_hta_queue *queue, double *room)
{
    const tl_hta_frame *frame = &t->job->frames.v[rank];
    double whole_us = tl_hta_frame_duration(frame);

    for (size_t from = 0, to; from < queue->n; from = to) {
        for (to = from; to < queue->n && queue->v[to].stream == queue->v[from].stream; to++)
            room[to - from] = (double)queue->v[to].length;
        tl_sheet_int(&t->summary, frame->rank);
        tl_sheet_int(&t->summary, queue->v[from].stream);
        tl_hta_write_described(&t->summary, room, to - from);
        tl_sheet_end_row(&t->summary);
        for (size_t i = 0; i < t->nfull; i++)
            find_blocked(&t->blocked[rank][i], &queue->v[from], to - from, t->full[i], whole_us, room);
    }
}

static tl_status take_rank(queue_tables *t, size_t rank, tl_error *err)
{
    const tl_hta_frame *frame = &t->job->frames.v[rank];
    tl_hta_queue queue = { .n = 0 };
    const char *why;

    tl_status st = tl_hta_queue_of(&queue, &why, frame, &t->job->symbols, err);
    if (st == TL_OK && why != NULL) {
        st = tl_hta_job_note(t->job, err, "queue_length: rank %lld: %s; HTA gives up all ranks", (long long)frame->rank,
                             why);
    } else if (st == TL_OK) {
        double *room = tl_malloc(queue.n * sizeof *room);
        if (room == NULL) {
            st = tl_fail_memory(err, "the queues of a rank");
        } else {
            t->any = true;
            write_series(t, frame, &queue);
            write_summary(t, rank, &queue, room);
        }
        free(room);
    }
    free(queue.v);
    return st;
}

/* HTA writes this table even where it has no queues: then nothing was ever blocked. */
static tl_status write_blocked(const queue_tables *t, const char *dir, tl_error *err)
{
    tl_sheet csv;
    tl_status st = tl_sheet_open(
        &csv, dir, "time_blocked_on_full_queue.csv",
        "max_queue_length,rank,stream,duration_at_max_queue_length,relative_duration_at_max_queue_length", err);
    if (st != TL_OK)
        return st;
    for (size_t i = 0; i < t->nfull; i++)
        for (size_t k = 0; k < t->job->frames.n; k++) {
            const blocked *b = &t->blocked[k][i];
            if (!b->any)
                continue;
            tl_sheet_int(&csv, t->full[i]);
            tl_sheet_int(&csv, t->job->frames.v[k].rank);
            tl_sheet_int(&csv, b->stream);
            tl_sheet_real(&csv, b->us);
            tl_sheet_real(&csv, b->share);
            tl_sheet_end_row(&csv);
        }
    return tl_sheet_close(&csv, err);
}

tl_status tl_hta_queues(tl_hta_job *job, const char *dir, tl_error *err)
{
    bool asked = job->parameters->max_queue_length > 0;
    queue_tables t = { .job = job,
                       .ts_whole = true,
                       .full = asked ? &job->parameters->max_queue_length : full,
                       .nfull = asked ? 1 : NFULL,
                       .blocked = tl_calloc(job->frames.n, sizeof *t.blocked) };
    tl_status st = t.blocked != NULL ? TL_OK : tl_fail_memory(err, "the queues of the ranks");

    if (st == TL_OK)
        st = tl_sheet_open(&t.series, dir, "queue_length_time_series.csv", "index,ts,pid,tid,stream,queue_length,rank",
                           err);
    if (st == TL_OK)
        st = tl_sheet_open(&t.summary, dir, "queue_length_summary.csv", "rank,stream," TL_HTA_DESCRIBED("queue_length"),
                           err);
    for (size_t i = 0; i < job->frames.n; i++)
        t.ts_whole = t.ts_whole && job->frames.v[i].ts_whole;
    for (size_t i = 0; i < job->frames.n && st == TL_OK; i++)
        st = take_rank(&t, i, err);
    if (st == TL_OK && t.any)
        st = tl_sheet_close(&t.series, err);
    if (st == TL_OK && t.any)
        st = tl_sheet_close(&t.summary, err);
    if (st == TL_OK)
        st = write_blocked(&t, dir, err);
    tl_sheet_drop(&t.series);
    tl_sheet_drop(&t.summary);
    free(t.blocked);
    return st;
}
