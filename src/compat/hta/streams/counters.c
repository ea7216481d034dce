/* counters.c - the counters that HTA adds to a trace: queues and copies, at the times that the trace has. */
#include "series.h"
#include "tlmpi/compat/hta/streams.h"
#include <stdlib.h>

typedef struct counters {
    const tl_hta_job *job;
    tl_sheet csv;
    bool any_queue;
    bool any_copy; /* the values of all counters are then doubles */
} counters;

static void write_queue(counters *c, const tl_hta_frame *frame, const tl_hta_queue *queue)
{
    for (size_t i = 0; i < queue->n; i++) {
        const tl_hta_queued *q = &queue->v[i];
        tl_sheet_int(&c->csv, frame->rank);
        tl_sheet_words(&c->csv, "Queue Length");
        tl_sheet_number(&c->csv, q->ts + c->job->zero, frame->ts_whole);
        tl_hta_write_pid(&c->csv, frame, q->track);
        tl_sheet_int(&c->csv, q->stream);
        tl_sheet_words(&c->csv, "Queue Length");
        tl_sheet_number(&c->csv, (double)q->length, !c->any_copy);
        tl_sheet_end_row(&c->csv);
    }
}

static void write_bandwidth(counters *c, const tl_hta_frame *frame, const tl_hta_bandwidth *bandwidth)
{
    for (size_t i = 0; i < bandwidth->n; i++) {
        const tl_hta_copied *b = &bandwidth->v[i];
        tl_sheet_int(&c->csv, frame->rank);
        tl_sheet_text(&c->csv, tl_names_text(&bandwidth->kinds, b->kind));
        tl_sheet_number(&c->csv, b->ts + c->job->zero, tl_hta_copy_ts_whole(frame));
        tl_hta_write_pid(&c->csv, frame, b->track);
        tl_sheet_blank(&c->csv);
        tl_sheet_words(&c->csv, "Memcpy BW");
        tl_sheet_real(&c->csv, b->gb_per_s);
        tl_sheet_end_row(&c->csv);
    }
}

/* A rank without queues has no counters at all. */
static tl_status take_rank(counters *c, const tl_hta_frame *frame, tl_error *err)
{
    tl_hta_queue queue = { .n = 0 };
    tl_hta_bandwidth bandwidth = { .n = 0 };
    const char *why;

    tl_status st = tl_hta_queue_of(&queue, &why, frame, &c->job->symbols, err);
    if (st == TL_OK && why == NULL)
        st = tl_hta_bandwidth_of(&bandwidth, frame, &c->job->symbols, err);
    if (st == TL_OK && why == NULL) {
        c->any_queue = true;
        write_queue(c, frame, &queue);
        write_bandwidth(c, frame, &bandwidth);
    }
    free(queue.v);
    tl_hta_bandwidth_free(&bandwidth);
    return st;
}

static bool has_copies(const tl_hta_job *job)
{
    for (size_t i = 0; i < job->frames.n; i++)
        for (size_t k = 0; k < job->frames.v[i].rows.n; k++)
            if (tl_hta_is_copy(&job->frames.v[i].rows.v[k], &job->symbols))
                return true;
    return false;
}

tl_status tl_hta_counter_events(tl_hta_job *job, const char *dir, tl_error *err)
{
    counters c = { .job = job, .any_copy = has_copies(job) };

    tl_status st = tl_sheet_open(&c.csv, dir, "counter_events.csv", "rank,name,ts,pid,id,counter,value", err);
    for (size_t i = 0; i < job->frames.n && st == TL_OK; i++)
        st = take_rank(&c, &job->frames.v[i], err);
    if (st == TL_OK && c.any_queue)
        return tl_sheet_close(&c.csv, err);
    tl_sheet_drop(&c.csv);
    return st == TL_OK ? tl_hta_job_note(job, err, "counter_events: no rank has queues, and so none has counters") : st;
}
