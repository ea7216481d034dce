/* series.c - time series of a rank's streams: queue lengths and bandwidths of copies; their statistics, the time in
 * which queues were full, and the counters that HTA adds to a trace.
 *
 *     host     [launch a][launch b].................          copies    [ 5 GB/s    ].....
 *     stream   .............[   a   ][ b ]..........                    ....[ 3 GB/s  ]...
 *     length   1.........2..1........0..............          sum       5...8.......3.0
 *
 * The sums are sums of doubles in order of time, without compensation: after the last copy a sum may be 1e-14, not 0.
 *
 * HTA fails if a correlation has several launches, or a launch without a kernel: its counts of launches and of starts
 * then differ.
 */
#include "frame.h"
#include "tlmpi/base/group.h"
#include "tlmpi/compat/python.h"
#include <stdlib.h>

/* A change of a series: a launch call or the start of its kernel; the start or the end of a copy. */
typedef struct change {
    double ts;
    double value;                   /* after the change: kernels in the queue; GB/s of all copies of the kind */
    int64_t stream;                 /* of a queue */
    tl_text kind;                   /* of a copy */
    const tl_hta_row *row, *device; /* row: the call, kernel or copy; device: the kernel or copy */
} change;

TL_SORT_BY(by_row, change, row)

static int by_key(const void *a, const void *b)
{
    const change *x = a, *y = b;
    return x->stream != y->stream ? TL_COMPARE(x->stream, y->stream) : tl_text_compare(x->kind, y->kind);
}

/* Sorted by stream and kind; ties in order of time.  The caller frees series.v. */
typedef TL_VEC(change) series;

/* Sorts by key, ties by time as numpy's sort orders them, and turns each value into the running total of its key. */
static void add_up(series *all)
{
    const size_t n = all->n;
    double *ts = n > 0 ? TL_COLUMN(NULL, n, all->v, ts) : NULL;
    uint32_t *order = tl_malloc(n * sizeof *order);
    change *v = tl_malloc(n * sizeof *v);

    tl_numpy_argsort(order, ts, n);
    for (size_t i = 0; i < n; i++)
        v[i] = all->v[order[i]];
    free(ts);
    free(order);
    free(all->v);
    all->v = v;
    tl_vec_sort(all, by_key);
    for (size_t i = 1; i < n; i++)
        all->v[i].value += by_key(&all->v[i - 1], &all->v[i]) == 0 ? all->v[i - 1].value : 0;
}

/* ----------------------------------------------------------------------------------------------------------- queues */

/* Sets *out to the queue lengths of the streams; before sorting, all launches come before all starts, each in row
 * order.  Returns why HTA cannot compute the rank's queues; NULL: it can. */
static const char *find_queues(series *out, const tl_hta_frame *frame)
{
    tl_map calls = { 0 }; /* correlation -> position of the launch */
    size_t nlaunched = 0, nstarted = 0;

    TL_EACH (const tl_hta_row, row, frame->rows)
        if (tl_hta_is(frame->symbols, row->name, TL_HTA_QUEUES) && row->link > 0) {
            tl_map_put(&calls, (uint64_t)row->correlation, (uint32_t)(row - frame->rows.v));
            nlaunched++;
        }
    for (int start = 0; start < 2; start++) {
        TL_EACH (const tl_hta_row, row, frame->rows) {
            const uint32_t at = tl_hta_on_stream(row) ? tl_map_get(&calls, (uint64_t)row->correlation) : TL_MAP_NONE;
            if (at == TL_MAP_NONE)
                continue;
            const tl_hta_row *cause = start ? row : &frame->rows.v[at];
            tl_vec_push(out, (change){ cause->ts, start ? -1 : 1, row->stream, { NULL, 0 }, cause, row });
        }
        if (start)
            break;
        tl_vec_sort(out, by_row);
        TL_RUNS (from, to, out, by_row)
            nstarted++;
    }
    const char *why = nlaunched == 0 ? "nothing was launched by a call that HTA knows"
                      : calls.n != nlaunched || nstarted != nlaunched
                          ? "a correlation is that of several launches, or of none with a kernel"
                          : NULL;
    tl_map_free(&calls);
    out->n = why == NULL ? out->n : 0;
    add_up(out);
    return why;
}

const char *tl_hta_queue_lengths(const tl_hta_frame *frame, tl_arena *arena, size_t **first, int64_t **length)
{
    series queues = { 0 };
    const char *why = find_queues(&queues, frame);
    uint32_t *index = tl_malloc(queues.n * sizeof *index), *place = tl_malloc(queues.n * sizeof *place);

    *first = tl_arena_take(arena, frame->nindices + 1, sizeof **first);
    *length = tl_arena_take(arena, queues.n, sizeof **length);
    for (size_t i = 0; i < queues.n; i++)
        index[i] = queues.v[i].row->index;
    tl_group_rows(index, queues.n, frame->nindices, *first, place);
    for (size_t i = 0; i < queues.n; i++)
        (*length)[i] = (int64_t)queues.v[place[i]].value;
    free(index);
    free(place);
    free(queues.v);
    return why;
}

/* ----------------------------------------------------------------------------------------------------------- copies */

/* Length of the beginning of a name that decides the kind. */
#define KIND_CHARACTERS 11

/* Returns the kind of a copy: "Memcpy HtoD" for "Memcpy HtoD (Pageable -> Device)". */
static tl_text kind_of(tl_text name)
{
    if (tl_text_starts(name, "Memset"))
        return TL_TEXT("Memset");
    if (!tl_text_starts(name, "Memcpy"))
        return TL_TEXT("Memcpy Unknown");
    return (tl_text){ name.p, tl_hta_nth_character(name, KIND_CHARACTERS) };
}

/* Returns the bandwidths of copies by kind; before sorting, all starts come before all ends. */
static series bandwidths_of(const tl_hta_frame *frame)
{
    series out = { 0 };

    for (int end = 0; end < 2; end++)
        TL_EACH (const tl_hta_row, row, frame->rows)
            if (tl_hta_on_stream(row) && tl_hta_symbol_of(frame, row)->class == TL_HTA_MEMORY) {
                const double speed = tl_hta_args_of(frame, row->index)->gb_per_s, dur = row->dur != 0 ? row->dur : 1;
                tl_vec_push(&out, (change){ end ? row->ts + dur : row->ts, end ? -speed : speed, 0,
                                            kind_of(tl_hta_name(frame, row)), row, row });
            }
    add_up(&out);
    return out;
}

/* ------------------------------------------------------------------------------------------------- tables of queues */

/* Names of the columns of put_described. */
#define DESCRIBED(name)                                                                                                \
    name "_count," name "_mean," name "_std," name "_min," name "_25%," name "_50%," name "_75%," name "_max"

static void put_described(tl_csv *csv, double *values, size_t n)
{
    double described[TL_NDESCRIBED];

    tl_real_describe(described, values, n);
    for (size_t i = 0; i < TL_NDESCRIBED; i++)
        TL_CELLS(csv, described[i]);
    tl_csv_end_row(csv);
}

/* Default queue lengths, in kernels, from which on a queue counts as full. */
static const int64_t full[] = { 1024, 64, 8 };
enum { NFULL = sizeof full / sizeof full[0] };

/* The time in which a queue of a rank was full; as in HTA, only of the last stream with a full queue. */
typedef struct blocked {
    bool any;
    int64_t stream;
    double us, share; /* share: us over the duration of the trace */
} blocked;

/* The summary has the length after each change, unweighted by time.  A queue is blocked from a change that leaves it
 * full to the next change; the last change counts 0 us. */
static void write_queues(tl_csv *table, tl_csv *summary, const tl_hta_frame *frame, const series *queues,
                         const int64_t *lengths, size_t nlengths, blocked *b)
{
    double whole_us = tl_hta_frame_duration(frame), *room = tl_malloc(queues->n * sizeof *room);

    TL_RUNS (from, to, queues, by_key) {
        for (size_t i = from; i < to; i++) {
            const change *q = &queues->v[i];
            room[i - from] = q->value;
            TL_ROW(table, q->row->index, q->ts, tl_hta_pid(frame, q->device->track),
                   tl_hta_tid(frame, q->device->track), q->stream, tl_int((int64_t)q->value), frame->rank);
        }
        TL_CELLS(summary, frame->rank, queues->v[from].stream);
        put_described(summary, room, to - from);
        for (size_t k = 0; k < nlengths; k++) {
            double us = NAN;
            for (const change *q = &queues->v[from], *last = &queues->v[to - 1]; q <= last; q++)
                if (q->value >= (double)lengths[k])
                    us = fmax(us, 0) + (q < last ? q[1].ts - q->ts : 0);
            if (!isnan(us))
                b[k] = (blocked){ true, queues->v[from].stream, us, us / whole_us };
        }
    }
    free(room);
}

/* As in HTA, time_blocked_on_full_queue is written, without rows, even if no rank has queues. */
void tl_hta_queues(tl_hta_job *job)
{
    const bool asked = job->parameters->max_queue_length > 0;
    const int64_t *lengths = asked ? &job->parameters->max_queue_length : full;
    const size_t nlengths = asked ? 1 : NFULL;
    tl_csv table = tl_csv_open(&job->out, "queue_length_time_series.csv", "index,ts,pid,tid,stream,queue_length,rank");
    tl_csv summary = tl_csv_open(&job->out, "queue_length_summary.csv", "rank,stream," DESCRIBED("queue_length"));
    blocked(*of)[NFULL] = tl_calloc(job->frames.n, sizeof *of);

    for (size_t i = 0; i < job->frames.n; i++) {
        const tl_hta_frame *frame = &job->frames.v[i];
        series queues = { 0 };
        const char *why = find_queues(&queues, frame);
        if (why != NULL)
            tl_hta_note_rank(&job->out, "queue_length", frame, "%s; HTA gives up all ranks", why);
        else
            write_queues(&table, &summary, frame, &queues, lengths, nlengths, of[i]);
        free(queues.v);
    }
    tl_csv_close_rows(&table);
    tl_csv_close_rows(&summary);
    tl_csv csv =
        tl_csv_open(&job->out, "time_blocked_on_full_queue.csv",
                    "max_queue_length,rank,stream,duration_at_max_queue_length,relative_duration_at_max_queue_length");
    for (size_t i = 0; i < nlengths; i++)
        for (size_t k = 0; k < job->frames.n; k++)
            if (of[k][i].any)
                TL_ROW(&csv, lengths[i], job->frames.v[k].rank, of[k][i].stream, of[k][i].us, of[k][i].share);
    tl_csv_close(&csv);
    free(of);
}

/* ------------------------------------------------------------------------------------------------- tables of copies */

/* The summary has the bandwidths above 0, one for each change.  As in HTA, the header of an empty summary differs. */
void tl_hta_bandwidths(tl_hta_job *job)
{
    tl_csv table = tl_csv_open(&job->out, "memory_bw_time_series.csv", "ts,pid,name,memory_bw_gbps,rank");
    tl_csv summary = tl_csv_open(&job->out, "memory_bw_summary.csv", "rank,name," DESCRIBED("memory_bw_gbps"));

    TL_EACH (const tl_hta_frame, frame, job->frames) {
        series copies = bandwidths_of(frame);
        double *speeds = tl_malloc(copies.n * sizeof *speeds);
        TL_RUNS (from, to, &copies, by_key) {
            size_t n = 0;
            for (const change *b = &copies.v[from]; b < &copies.v[to]; b++) {
                if (b->value > 0)
                    speeds[n++] = b->value;
                TL_ROW(&table, b->ts, tl_hta_pid(frame, b->device->track), b->kind, b->value, frame->rank);
            }
            if (n == 0)
                continue;
            TL_CELLS(&summary, frame->rank, copies.v[from].kind);
            put_described(&summary, speeds, n);
        }
        free(speeds);
        free(copies.v);
    }
    const bool any = tl_csv_close_rows(&table), any_speed = tl_csv_close_rows(&summary);
    if (!any)
        tl_hta_note(&job->out, "memory_bw: no memory is copied or set on a stream");
    if (any && !any_speed) {
        summary = tl_csv_open(&job->out, "memory_bw_summary.csv", "index," DESCRIBED("memory_bw_gbps"));
        tl_csv_close(&summary);
    }
}

/* Writes the counters, at unaligned times.  A rank without queues has no counters. */
void tl_hta_counter_events(tl_hta_job *job)
{
    tl_csv csv = tl_csv_open(&job->out, "counter_events.csv", "rank,name,ts,pid,id,counter,value");

    TL_EACH (const tl_hta_frame, frame, job->frames) {
        series queues = { 0 }, copies = { 0 };
        if (find_queues(&queues, frame) == NULL)
            copies = bandwidths_of(frame);
        TL_EACH (const change, q, queues)
            TL_ROW(&csv, frame->rank, "Queue Length", q->ts + job->zero, tl_hta_pid(frame, q->device->track), q->stream,
                   "Queue Length", q->value);
        TL_EACH (const change, b, copies)
            TL_ROW(&csv, frame->rank, b->kind, b->ts + job->zero, tl_hta_pid(frame, b->device->track), tl_blank(),
                   "Memcpy BW", b->value);
        free(queues.v);
        free(copies.v);
    }
    if (!tl_csv_close_rows(&csv))
        tl_hta_note(&job->out, "counter_events: no rank has queues, and so none has counters");
}
