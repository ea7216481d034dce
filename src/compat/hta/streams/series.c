/* series.c - what changes with time on the streams of a rank: how many kernels wait in a queue, and how fast copies go; what
 * describe tells of it, how long queues were full, and the counters that HTA adds to a trace.
 *
 *     host     [launch a][launch b].................          copies    [ 5 GB/s    ].....
 *     stream   .............[   a   ][ b ]..........                    ....[ 3 GB/s  ]...
 *     length   1.........2..1........0..............          sum       5...8.......3.0
 *
 * The sums are those of doubles, in the order of time, and what an addition loses stays: after the last copy the sum may
 * be 1e-14 and not 0.
 *
 * HTA gives up where a correlation is that of several launches, or of one without a kernel: its counts of launches and
 * of starts then differ.
 */
#include "tlmpi/compat/hta/streams.h"
#include "tlmpi/base/group.h"
#include "tlmpi/compat/python.h"
#include <stdlib.h>

/* A launch call or the start of its kernel; the start or the end of a copy. */
typedef struct change {
    double ts;
    double value;   /* from now on: the length of the queue; GB/s of all copies of the kind */
    int64_t key;    /* the stream; the number of the kind */
    uint32_t index; /* of the row */
    uint32_t track; /* of the device row */
} change;

typedef TL_VEC(change) changes;

/* Keys ascending, each in the order of time.  free_series ends it. */
typedef struct series {
    changes changes;
    tl_names kinds;  /* of copies, ascending: their ids are the keys */
    const char *why; /* HTA has no queues of the rank, because ...; NULL: it has */
} series;

static int by_key(const void *context, uint32_t a, uint32_t b)
{
    const change *v = context;
    return TL_COMPARE(v[a].key, v[b].key);
}

/* Returns where the changes with the key of v[from] end. */
static size_t end_of(const changes *all, size_t from)
{
    size_t to = from;
    while (to < all->n && all->v[to].key == all->v[from].key)
        to++;
    return to;
}

static void free_series(series *s)
{
    free(s->changes.v);
    tl_names_free(&s->kinds);
}

/* By key, and of one key by time as numpy sorts it, with running totals. */
static void add_up(changes *all)
{
    const size_t n = all->n;
    double *ts = n > 0 ? TL_COLUMN(NULL, n, all->v, ts) : NULL;
    uint32_t *order = tl_malloc(n * sizeof *order);
    change *v = tl_malloc(n * sizeof *v);

    tl_numpy_argsort(order, ts, n);
    tl_sort_index(order, n, by_key, all->v);
    for (size_t i = 0; i < n; i++) {
        v[i] = all->v[order[i]];
        if (i > 0 && v[i - 1].key == v[i].key)
            v[i].value += v[i - 1].value;
    }
    free(ts);
    free(order);
    free(all->v);
    all->v = v;
}

/* ------------------------------------------------------------------------------------------------------------ queues */

static bool is_launch(tl_text name)
{
    static const char *const names[] = { "cudaLaunchKernel",
                                         "cudaLaunchKernelExC",
                                         "cuLaunchKernel",
                                         "cuLaunchKernelEx",
                                         "cudaMemcpyAsync",
                                         "cudaMemsetAsync",
                                         "runFunction - job_prep_and_submit_for_execution",
                                         "hipLaunchKernel",
                                         "hipExtModuleLaunchKernel",
                                         "hipMemsetAsync",
                                         "hipMemcpyAsync",
                                         "hipMemcpyWithStream" };
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (tl_text_is(name, names[i]))
            return true;
    return false;
}

/* A device row with the number of its launch. */
typedef struct started {
    const tl_hta_row *kernel;
    uint32_t launch;
} started;

static int by_launch(const void *context, uint32_t a, uint32_t b)
{
    const started *v = context;
    return TL_COMPARE(v[a].launch, v[b].launch);
}

/* Returns the queue lengths of the streams.  Before sorting, all launches stand before all starts. */
static series queues_of(const tl_hta_frame *frame, const tl_hta_symbols *symbols)
{
    series out = { .why = NULL };
    bool *launches = tl_hta_symbols_that(symbols, is_launch), paired = true;
    tl_map by_correlation = { 0 };               /* -> number of the launch */
    TL_VEC(const tl_hta_row *) launched = { 0 }; /* in row order, as the next */
    TL_VEC(started) kernels = { 0 };
    size_t nstarted = 0;

    TL_EACH (const tl_hta_row, row, frame->rows) {
        if (!launches[row->name] || row->link <= 0)
            continue;
        paired = paired && tl_map_get(&by_correlation, (uint64_t)row->correlation) == TL_MAP_NONE;
        tl_map_put(&by_correlation, (uint64_t)row->correlation, (uint32_t)launched.n);
        tl_vec_push(&launched, row);
    }
    bool *has_kernel = tl_calloc(launched.n, sizeof *has_kernel);
    for (size_t i = 0; i < frame->rows.n && launched.n > 0; i++) {
        const tl_hta_row *row = &frame->rows.v[i];
        uint32_t launch = tl_hta_on_stream(row) ? tl_map_get(&by_correlation, (uint64_t)row->correlation) : TL_MAP_NONE;
        if (launch == TL_MAP_NONE)
            continue;
        nstarted += !has_kernel[launch];
        has_kernel[launch] = true;
        tl_vec_push(&kernels, (started){ row, launch });
    }
    out.why = launched.n == 0 ? "nothing was launched by a call that HTA knows"
              : !paired || nstarted != launched.n
                  ? "a correlation is that of several launches, or of none with a kernel"
                  : NULL;
    if (out.why == NULL) {
        uint32_t *order = tl_sorted_index(kernels.n, by_launch, kernels.v);
        for (size_t i = 0; i < kernels.n; i++) {
            const started *s = &kernels.v[order[i]];
            const tl_hta_row *launch = launched.v[s->launch];
            tl_vec_push(&out.changes, (change){ launch->ts, 1, s->kernel->stream, launch->index, s->kernel->track });
        }
        TL_EACH (const started, s, kernels)
            tl_vec_push(&out.changes,
                        (change){ s->kernel->ts, -1, s->kernel->stream, s->kernel->index, s->kernel->track });
        free(order);
        add_up(&out.changes);
    }
    tl_map_free(&by_correlation);
    free(has_kernel);
    free(launches);
    free(launched.v);
    free(kernels.v);
    return out;
}

/* ------------------------------------------------------------------------------------------------------------ copies */

/* The characters of a name that tell kinds apart. */
#define KIND_CHARACTERS 11

/* The kind of a copy by its name: "Memcpy HtoD" of "Memcpy HtoD (Pageable -> Device)". */
static tl_text kind_of(tl_text name)
{
    size_t n = 0;

    if (tl_text_starts(name, "Memset"))
        return TL_TEXT("Memset");
    if (!tl_text_starts(name, "Memcpy"))
        return TL_TEXT("Memcpy Unknown");
    for (size_t characters = 0; n < name.n; n++) {
        bool begins = ((unsigned char)name.p[n] & 0xc0) != 0x80;
        if (begins && characters++ == KIND_CHARACTERS)
            break;
    }
    return (tl_text){ name.p, n };
}

static bool is_copy(const tl_hta_row *row, const tl_hta_symbols *symbols)
{
    return tl_hta_on_stream(row) && symbols->v.v[row->name].class == TL_HTA_MEMORY;
}

static double gb_per_s_of(const tl_hta_frame *frame, const tl_hta_row *row)
{
    size_t at = 0;
    TL_BISECT(at, frame->copies.n, mid, frame->copies.v[mid].index < row->index);
    return at < frame->copies.n && frame->copies.v[at].index == row->index ? frame->copies.v[at].gb_per_s : 0;
}

static int by_text(const void *context, uint32_t a, uint32_t b)
{
    return tl_text_compare(tl_names_text(context, a), tl_names_text(context, b));
}

/* The kinds of the copies, ascending. */
static void find_kinds(tl_names *kinds, const tl_hta_frame *frame, const tl_hta_symbols *symbols)
{
    tl_names found = { 0 };

    TL_EACH (const tl_hta_row, row, frame->rows)
        if (is_copy(row, symbols)) {
            tl_text kind = kind_of(tl_hta_text(symbols, row->name));
            tl_names_intern(&found, kind.p, kind.n);
        }
    uint32_t *order = tl_sorted_index(found.n, by_text, &found);
    for (size_t i = 0; i < found.n; i++) {
        tl_text kind = tl_names_text(&found, order[i]);
        tl_names_intern(kinds, kind.p, kind.n);
    }
    free(order);
    tl_names_free(&found);
}

/* Returns the bandwidths of copies by kind.  Before sorting, all starts stand before all ends. */
static series bandwidths_of(const tl_hta_frame *frame, const tl_hta_symbols *symbols)
{
    series out = { .why = NULL };

    find_kinds(&out.kinds, frame, symbols);
    for (int end = 0; end < 2; end++)
        TL_EACH (const tl_hta_row, row, frame->rows) {
            if (!is_copy(row, symbols))
                continue;
            tl_text kind = kind_of(tl_hta_text(symbols, row->name));
            uint32_t key = tl_names_find(&out.kinds, kind.p, kind.n);
            double speed = gb_per_s_of(frame, row), dur = row->dur != 0 ? row->dur : 1;
            tl_vec_push(&out.changes,
                        (change){ end ? row->ts + dur : row->ts, end ? -speed : speed, key, row->index, row->track });
        }
    add_up(&out.changes);
    return out;
}

/* -------------------------------------------------------------------------------------------------- tables of queues */

/* The columns of what describe tells of a column. */
#define DESCRIBED(name)                                                                                                \
    name "_count," name "_mean," name "_std," name "_min," name "_25%," name "_50%," name "_75%," name "_max"

static void put_described(tl_csv *csv, double *values, size_t n)
{
    double described[TL_NDESCRIBED];

    tl_pandas_describe(described, values, n);
    for (size_t i = 0; i < TL_NDESCRIBED; i++)
        TL_CELLS(csv, described[i]);
    tl_csv_end_row(csv);
}

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
    const int64_t *full;
    size_t nfull;
} queue_tables;

/* The time from each change at which the queue is at least `length` long to the next; behind the last there is none. */
static void find_blocked(blocked *b, const change *v, size_t n, int64_t length, double whole_us, double *room)
{
    size_t nfull = 0;

    for (size_t i = 0; i < n; i++)
        if (v[i].value >= (double)length)
            room[nfull++] = i + 1 < n ? v[i + 1].ts - v[i].ts : 0;
    double us = tl_numpy_sum(room, nfull, 1);
    if (nfull > 0)
        *b = (blocked){ true, v[0].key, us, us / whole_us };
}

/* The length counts at each change, however long it lasted. */
static void write_queues(queue_tables *t, const tl_hta_frame *frame, const changes *queues, blocked *b)
{
    double whole_us = tl_hta_frame_duration(frame), *room = tl_malloc(queues->n * sizeof *room);

    for (size_t from = 0, to; from < queues->n; from = to) {
        to = end_of(queues, from);
        for (size_t i = from; i < to; i++) {
            const change *q = &queues->v[i];
            room[i - from] = q->value;
            TL_ROW(&t->series, q->index, tl_number(q->ts, frame->ts_whole), tl_hta_pid(frame, q->track),
                   tl_hta_tid(frame, q->track), q->key, tl_int((int64_t)q->value), frame->rank);
        }
        TL_CELLS(&t->summary, frame->rank, queues->v[from].key);
        put_described(&t->summary, room, to - from);
        for (size_t i = 0; i < t->nfull; i++)
            find_blocked(&b[i], &queues->v[from], to - from, t->full[i], whole_us, room);
    }
    free(room);
}

/* HTA writes time_blocked_on_full_queue even where it has no queues: then nothing was ever blocked. */
void tl_hta_queues(tl_hta_job *job)
{
    const bool asked = job->parameters->max_queue_length > 0;
    queue_tables t = {
        .series = tl_csv_open(&job->out, "queue_length_time_series.csv", "index,ts,pid,tid,stream,queue_length,rank"),
        .summary = tl_csv_open(&job->out, "queue_length_summary.csv", "rank,stream," DESCRIBED("queue_length")),
        .full = asked ? &job->parameters->max_queue_length : full,
        .nfull = asked ? 1 : NFULL,
    };
    blocked(*of)[NFULL] = tl_calloc(job->frames.n, sizeof *of);
    bool any = false;

    for (size_t i = 0; i < job->frames.n; i++) {
        const tl_hta_frame *frame = &job->frames.v[i];
        series queues = queues_of(frame, &job->symbols);
        if (queues.why != NULL)
            tl_hta_note(job, "queue_length: rank %lld: %s; HTA gives up all ranks", (long long)frame->rank, queues.why);
        else
            write_queues(&t, frame, &queues.changes, of[i]);
        any = any || queues.why == NULL;
        free_series(&queues);
    }
    tl_csv_end(&t.series, any);
    tl_csv_end(&t.summary, any);
    tl_csv csv =
        tl_csv_open(&job->out, "time_blocked_on_full_queue.csv",
                    "max_queue_length,rank,stream,duration_at_max_queue_length,relative_duration_at_max_queue_length");
    for (size_t i = 0; i < t.nfull; i++)
        for (size_t k = 0; k < job->frames.n; k++)
            if (of[k][i].any)
                TL_ROW(&csv, t.full[i], job->frames.v[k].rank, of[k][i].stream, of[k][i].us, of[k][i].share);
    tl_csv_close(&csv);
    free(of);
}

/* -------------------------------------------------------------------------------------------------- tables of copies */

/* HTA's times of starts and ends of copies have a duration in them. */
static tl_cell copy_ts(const tl_hta_frame *frame, double ts)
{
    return tl_number(ts, frame->ts_whole && frame->dur_whole);
}

/* In the summary what is above 0 counts, at each change; *any: something is. */
static void write_copies(tl_csv *table, tl_csv *summary, const tl_hta_frame *frame, const series *copies, bool *any)
{
    const changes *all = &copies->changes;
    double *room = tl_malloc(all->n * sizeof *room);

    for (size_t from = 0, to; from < all->n; from = to) {
        tl_text kind = tl_names_text(&copies->kinds, (uint32_t)all->v[from].key);
        size_t n = 0;
        to = end_of(all, from);
        for (size_t i = from; i < to; i++) {
            const change *b = &all->v[i];
            if (b->value > 0)
                room[n++] = b->value;
            TL_ROW(table, copy_ts(frame, b->ts), tl_hta_pid(frame, b->track), kind, b->value, frame->rank);
        }
        if (n == 0)
            continue;
        *any = true;
        TL_CELLS(summary, frame->rank, kind);
        put_described(summary, room, n);
    }
    free(room);
}

/* The summary's first column has another name where no rows follow. */
void tl_hta_bandwidths(tl_hta_job *job)
{
    tl_csv table = tl_csv_open(&job->out, "memory_bw_time_series.csv", "ts,pid,name,memory_bw_gbps,rank");
    tl_csv summary = tl_csv_open(&job->out, "memory_bw_summary.csv", "rank,name," DESCRIBED("memory_bw_gbps"));
    bool any = false, any_speed = false;

    TL_EACH (const tl_hta_frame, frame, job->frames) {
        series copies = bandwidths_of(frame, &job->symbols);
        write_copies(&table, &summary, frame, &copies, &any_speed);
        any = any || copies.changes.n > 0;
        free_series(&copies);
    }
    if (!any)
        tl_hta_note(job, "memory_bw: no memory is copied or set on a stream");
    tl_csv_end(&table, any);
    tl_csv_end(&summary, any_speed);
    if (any && !any_speed) {
        summary = tl_csv_open(&job->out, "memory_bw_summary.csv", "index," DESCRIBED("memory_bw_gbps"));
        tl_csv_close(&summary);
    }
}

/* ---------------------------------------------------------------------------------------------------------- counters */

/* The counters of a rank, at the times that the trace has; their values are doubles as soon as one is the speed of a
 * copy. */
static void write_counters(tl_csv *csv, const tl_hta_job *job, const tl_hta_frame *frame, const changes *queues,
                           bool any_copy)
{
    series copies = bandwidths_of(frame, &job->symbols);

    TL_EACH (const change, q, *queues)
        TL_ROW(csv, frame->rank, "Queue Length", tl_number(q->ts + job->zero, frame->ts_whole),
               tl_hta_pid(frame, q->track), q->key, "Queue Length", tl_number(q->value, !any_copy));
    TL_EACH (const change, b, copies.changes)
        TL_ROW(csv, frame->rank, tl_names_text(&copies.kinds, (uint32_t)b->key), copy_ts(frame, b->ts + job->zero),
               tl_hta_pid(frame, b->track), tl_blank(), "Memcpy BW", b->value);
    free_series(&copies);
}

/* A rank without queues has no counters at all. */
void tl_hta_counter_events(tl_hta_job *job)
{
    tl_csv csv = tl_csv_open(&job->out, "counter_events.csv", "rank,name,ts,pid,id,counter,value");
    bool any = false, any_copy = false;

    csv.as_is = true;
    TL_EACH (const tl_hta_frame, frame, job->frames)
        TL_EACH (const tl_hta_row, row, frame->rows)
            any_copy = any_copy || is_copy(row, &job->symbols);
    TL_EACH (const tl_hta_frame, frame, job->frames) {
        series queues = queues_of(frame, &job->symbols);
        if (queues.why == NULL)
            write_counters(&csv, job, frame, &queues.changes, any_copy);
        any = any || queues.why == NULL;
        free_series(&queues);
    }
    tl_csv_end(&csv, any);
    if (!any)
        tl_hta_note(job, "counter_events: no rank has queues, and so none has counters");
}
