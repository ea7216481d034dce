/* series_tables.c - queues and copies in the course of time, what describe tells of them, how long queues were full; and
 * the counters that HTA adds to a trace, which are both at the times that the trace has.
 */
#include "series.h"
#include "tlmpi/compat/hta/streams.h"
#include "tlmpi/compat/python.h"
#include <stdlib.h>

/* The columns of what describe tells of a column. */
#define DESCRIBED(name)                                                                                                \
    name "_count," name "_mean," name "_std," name "_min," name "_25%," name "_50%," name "_75%," name "_max"

static void put_described(tl_csv *csv, double *values, size_t n)
{
    double described[TL_NDESCRIBED];

    tl_pandas_describe(described, values, n);
    for (size_t i = 0; i < TL_NDESCRIBED; i++)
        TL_CELLS(csv, tl_real(described[i]));
    tl_csv_end_row(csv);
}

/* ------------------------------------------------------------------------------------------------------------ queues */

/* Lengths from which on a queue counts as full, where none is asked for. */
static const int64_t full[] = { 1024, 64, 8 };
enum { NFULL = sizeof full / sizeof full[0] };

/* How long a queue of a rank was full.  HTA keeps one stream a rank: the last that was ever full. */
typedef struct blocked {
    bool any;
    int64_t stream;
    double us, share; /* of the time of the trace */
} blocked;

typedef struct queue_tables {
    tl_csv series, summary;
    bool any;
    const int64_t *full;
    size_t nfull;
    blocked (*blocked)[NFULL]; /* by rank */
} queue_tables;

/* The time from each change at which the queue is at least `length` long to the next; behind the last there is none. */
static void find_blocked(blocked *b, const tl_hta_change *v, size_t n, int64_t length, double whole_us, double *room)
{
    size_t nfull = 0;

    for (size_t i = 0; i < n; i++)
        if (v[i].value >= (double)length)
            room[nfull++] = i + 1 < n ? v[i + 1].ts - v[i].ts : 0;
    if (nfull == 0)
        return;
    double us = tl_numpy_sum(room, nfull, 1);
    *b = (blocked){ true, v[0].key, us, us / whole_us };
}

/* The length counts at each change, however long it lasted. */
static void write_queues(queue_tables *t, const tl_hta_frame *frame, const tl_hta_series *queues, blocked *b)
{
    double whole_us = tl_hta_frame_duration(frame), *room = tl_malloc(queues->n * sizeof *room);

    for (size_t from = 0, to; from < queues->n; from = to) {
        to = tl_hta_series_end(queues, from);
        for (size_t i = from; i < to; i++) {
            const tl_hta_change *q = &queues->v[i];
            room[i - from] = q->value;
            TL_ROW(&t->series, tl_int(q->index), tl_number(q->ts, frame->ts_whole), tl_hta_pid(frame, q->track),
                   tl_hta_tid(frame, q->track), tl_int(q->key), tl_int((int64_t)q->value), tl_int(frame->rank));
        }
        TL_CELLS(&t->summary, tl_int(frame->rank), tl_int(queues->v[from].key));
        put_described(&t->summary, room, to - from);
        for (size_t i = 0; i < t->nfull; i++)
            find_blocked(&b[i], &queues->v[from], to - from, t->full[i], whole_us, room);
    }
    free(room);
}

/* HTA writes this table even where it has no queues: then nothing was ever blocked. */
static void write_blocked(const queue_tables *t, tl_hta_job *job)
{
    tl_csv csv =
        tl_csv_open(&job->out, "time_blocked_on_full_queue.csv",
                    "max_queue_length,rank,stream,duration_at_max_queue_length,relative_duration_at_max_queue_length");

    for (size_t i = 0; i < t->nfull; i++)
        for (size_t k = 0; k < job->frames.n; k++) {
            const blocked *b = &t->blocked[k][i];
            if (b->any)
                TL_ROW(&csv, tl_int(t->full[i]), tl_int(job->frames.v[k].rank), tl_int(b->stream), tl_real(b->us),
                       tl_real(b->share));
        }
    tl_csv_close(&csv);
}

void tl_hta_queues(tl_hta_job *job)
{
    bool asked = job->parameters->max_queue_length > 0;
    queue_tables t = {
        .series = tl_csv_open(&job->out, "queue_length_time_series.csv", "index,ts,pid,tid,stream,queue_length,rank"),
        .summary = tl_csv_open(&job->out, "queue_length_summary.csv", "rank,stream," DESCRIBED("queue_length")),
        .full = asked ? &job->parameters->max_queue_length : full,
        .nfull = asked ? 1 : NFULL,
        .blocked = tl_calloc(job->frames.n, sizeof *t.blocked)
    };

    for (size_t i = 0; i < job->frames.n; i++) {
        const tl_hta_frame *frame = &job->frames.v[i];
        tl_hta_series queues = tl_hta_queues_of(frame, &job->symbols);
        if (queues.why != NULL)
            tl_hta_note(job, "queue_length: rank %lld: %s; HTA gives up all ranks", (long long)frame->rank, queues.why);
        else
            write_queues(&t, frame, &queues, t.blocked[i]);
        t.any = t.any || queues.why == NULL;
        tl_hta_series_free(&queues);
    }
    (t.any ? tl_csv_close : tl_csv_drop)(&t.series);
    (t.any ? tl_csv_close : tl_csv_drop)(&t.summary);
    write_blocked(&t, job);
    free(t.blocked);
}

/* ------------------------------------------------------------------------------------------------------------ copies */

/* HTA's times of starts and ends of copies have a duration in them. */
static bool is_ts_whole(const tl_hta_frame *frame)
{
    return frame->ts_whole && frame->dur_whole;
}

typedef struct copy_tables {
    tl_csv series, summary;
    bool any, any_speed; /* a copy; one that is above 0 */
} copy_tables;

/* A row of names; the first is another one where no rows follow. */
static void put_header(tl_csv *csv, const char *first)
{
    tl_csv_head(csv, first);
    tl_csv_head(csv, DESCRIBED("memory_bw_gbps"));
    tl_csv_end_head(csv);
}

/* In the summary what is above 0 counts, at each change. */
static void write_copies(copy_tables *t, const tl_hta_frame *frame, const tl_hta_series *copies)
{
    double *room = tl_malloc(copies->n * sizeof *room);

    for (size_t from = 0, to; from < copies->n; from = to) {
        tl_text kind = tl_names_text(&copies->kinds, (uint32_t)copies->v[from].key);
        size_t n = 0;
        to = tl_hta_series_end(copies, from);
        for (size_t i = from; i < to; i++) {
            const tl_hta_change *b = &copies->v[i];
            if (b->value > 0)
                room[n++] = b->value;
            TL_ROW(&t->series, tl_number(b->ts, is_ts_whole(frame)), tl_hta_pid(frame, b->track), tl_string(kind),
                   tl_real(b->value), tl_int(frame->rank));
        }
        if (n == 0)
            continue;
        if (!t->any_speed)
            put_header(&t->summary, "rank,name");
        t->any_speed = true;
        TL_CELLS(&t->summary, tl_int(frame->rank), tl_string(kind));
        put_described(&t->summary, room, n);
    }
    t->any = t->any || copies->n > 0;
    free(room);
}

void tl_hta_bandwidths(tl_hta_job *job)
{
    copy_tables t = {
        .series = tl_csv_open(&job->out, "memory_bw_time_series.csv", "ts,pid,name,memory_bw_gbps,rank"),
        .summary = tl_csv_open(&job->out, "memory_bw_summary.csv", NULL),
    };

    for (size_t i = 0; i < job->frames.n; i++) {
        tl_hta_series copies = tl_hta_bandwidths_of(&job->frames.v[i], &job->symbols);
        write_copies(&t, &job->frames.v[i], &copies);
        tl_hta_series_free(&copies);
    }
    if (!t.any)
        tl_hta_note(job, "memory_bw: no memory is copied or set on a stream");
    if (!t.any_speed)
        put_header(&t.summary, "index");
    (t.any ? tl_csv_close : tl_csv_drop)(&t.series);
    (t.any ? tl_csv_close : tl_csv_drop)(&t.summary);
}

/* ---------------------------------------------------------------------------------------------------------- counters */

/* The values of all counters are doubles as soon as one is the speed of a copy. */
static void write_counters(tl_csv *csv, const tl_hta_job *job, const tl_hta_frame *frame, const tl_hta_series *queues,
                           bool any_copy)
{
    tl_hta_series copies = tl_hta_bandwidths_of(frame, &job->symbols);

    for (size_t i = 0; i < queues->n; i++) {
        const tl_hta_change *q = &queues->v[i];
        TL_ROW(csv, tl_int(frame->rank), tl_words("Queue Length"), tl_number(q->ts + job->zero, frame->ts_whole),
               tl_hta_pid(frame, q->track), tl_int(q->key), tl_words("Queue Length"), tl_number(q->value, !any_copy));
    }
    for (size_t i = 0; i < copies.n; i++) {
        const tl_hta_change *b = &copies.v[i];
        TL_ROW(csv, tl_int(frame->rank), tl_string(tl_names_text(&copies.kinds, (uint32_t)b->key)),
               tl_number(b->ts + job->zero, is_ts_whole(frame)), tl_hta_pid(frame, b->track), tl_blank(),
               tl_words("Memcpy BW"), tl_real(b->value));
    }
    tl_hta_series_free(&copies);
}

static bool has_copies(const tl_hta_job *job)
{
    for (size_t i = 0; i < job->frames.n; i++)
        for (size_t k = 0; k < job->frames.v[i].rows.n; k++)
            if (tl_hta_is_copy(&job->frames.v[i].rows.v[k], &job->symbols))
                return true;
    return false;
}

/* A rank without queues has no counters at all. */
void tl_hta_counter_events(tl_hta_job *job)
{
    tl_csv csv = tl_csv_open(&job->out, "counter_events.csv", "rank,name,ts,pid,id,counter,value");
    bool any = false, any_copy = has_copies(job);

    csv.as_is = true;
    for (size_t i = 0; i < job->frames.n; i++) {
        tl_hta_series queues = tl_hta_queues_of(&job->frames.v[i], &job->symbols);
        if (queues.why == NULL)
            write_counters(&csv, job, &job->frames.v[i], &queues, any_copy);
        any = any || queues.why == NULL;
        tl_hta_series_free(&queues);
    }
    (any ? tl_csv_close : tl_csv_drop)(&csv);
    if (!any)
        tl_hta_note(job, "counter_events: no rank has queues, and so none has counters");
}
