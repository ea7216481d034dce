/* team.c - reads one large plain trace with several procs: each reads a slice and sends it to the leader in messages of
 * about 1 MB.  Structs are sent as in memory: all procs are the same program on machines of one kind. */
#include "tlmpi/job/transport/team.h"
#include "tlmpi/trace/read/reader.h"
#include <stdlib.h>

#define MESSAGE_BYTES ((size_t)1 << 20)

/* ----------------------------------------------------------------------------------------------------------- slices */

typedef struct byte_stream {
    tl_endpoint *endpoint;
    int peer;
    tl_bytes message;
} byte_stream;

static void flush(byte_stream *w)
{
    tl_endpoint_send(w->endpoint, w->peer, TL_MESSAGE_SLICE, w->message.v, w->message.n);
    w->message.n = 0;
}

static void put_bytes(byte_stream *w, const void *bytes, size_t n)
{
    const char *p = bytes;
    while (n > 0) {
        size_t part = MESSAGE_BYTES - w->message.n < n ? MESSAGE_BYTES - w->message.n : n;
        tl_bytes_put(&w->message, p, part);
        p += part;
        n -= part;
        if (w->message.n == MESSAGE_BYTES)
            flush(w);
    }
}

static void get_bytes(byte_stream *w, void *bytes, size_t n)
{
    char *p = bytes;
    while (n > 0) {
        if (w->message.at == w->message.n) {
            free(w->message.v);
            w->message = tl_endpoint_await(w->endpoint, w->peer, TL_MESSAGE_SLICE).message;
        }
        size_t left = w->message.n - w->message.at, part = left < n ? left : n;
        tl_bytes_get(&w->message, p, part);
        p += part;
        n -= part;
    }
}

/* Receives n elements of `size` bytes; the caller frees the array. */
static void *get_array(byte_stream *w, size_t n, size_t size)
{
    void *v = tl_calloc(n + 1, size);
    get_bytes(w, v, n * size);
    return v;
}

/* The arrays of a slice's events: offset in tl_events of address and length, and bytes of an element. */
/* The names of fields have no parentheses.  NOLINTBEGIN(bugprone-macro-parentheses) */
#define LIST(list)                                                                                                     \
    {                                                                                                                  \
        offsetof(tl_events, list.v), offsetof(tl_events, list.n), sizeof *((tl_events *)0)->list.v                     \
    }
#define COLUMN(column)                                                                                                 \
    {                                                                                                                  \
        offsetof(tl_events, column), offsetof(tl_events, n), sizeof *((tl_events *)0)->column                          \
    }
/* NOLINTEND(bugprone-macro-parentheses) */
static const struct {
    size_t at, length_at, size;
} arrays[] = { LIST(tracks),  LIST(lanes),      LIST(categories), LIST(copies),      LIST(colls),
               LIST(waits),   LIST(grids),      LIST(counters),   LIST(memory),      LIST(shapes),
               COLUMN(ts_ns), COLUMN(dur_ns.v), COLUMN(corr.v),   COLUMN(name),      COLUMN(class),
               COLUMN(uid),   COLUMN(flags),    LIST(classes),    LIST(dur_ns.wide), LIST(corr.wide) };
enum { NARRAYS = sizeof arrays / sizeof arrays[0] };

typedef struct slice_head {
    tl_read_report report;
    size_t ndoc, nnames, n[NARRAYS];
} slice_head;

static void send_slice(tl_endpoint *endpoint, int to, const tl_trace *slice)
{
    byte_stream w = { .endpoint = endpoint, .peer = to };
    const char *events = (const char *)&slice->events;
    slice_head head = { .report = slice->report, .ndoc = slice->ndoc, .nnames = slice->events.names.n };

    for (int i = 0; i < NARRAYS; i++)
        memcpy(&head.n[i], events + arrays[i].length_at, sizeof head.n[i]);
    put_bytes(&w, &head, sizeof head);
    put_bytes(&w, slice->doc, slice->ndoc);
    for (uint32_t i = 0; i < head.nnames; i++) {
        tl_text text = tl_names_text(&slice->events.names, i);
        put_bytes(&w, &text.n, sizeof text.n);
        put_bytes(&w, text.p, text.n);
    }
    for (int i = 0; i < NARRAYS; i++) {
        const void *v;
        memcpy(&v, events + arrays[i].at, sizeof v);
        put_bytes(&w, v, head.n[i] * arrays[i].size);
    }
    if (w.message.n > 0)
        flush(&w);
    free(w.message.v);
}

/* Receives the slice that proc `from` sends.  tl_trace_free ends *slice.  It has no index maps: it can
 * be read and appended to another trace, but not added to. */
static void receive_slice(tl_endpoint *endpoint, int from, tl_trace *slice)
{
    byte_stream w = { .endpoint = endpoint, .peer = from };
    slice_head head;

    *slice = (tl_trace){ .meta = TL_META_INIT };
    get_bytes(&w, &head, sizeof head);
    slice->report = head.report;
    slice->ndoc = head.ndoc;
    slice->doc = get_array(&w, head.ndoc, 1);
    for (size_t i = 0; i < head.nnames; i++) {
        tl_text text;
        get_bytes(&w, &text.n, sizeof text.n);
        char *bytes = get_array(&w, text.n, 1);
        tl_names_intern(&slice->events.names, bytes, text.n); /* texts differ, so ids are those of the sender */
        free(bytes);
    }
    for (int i = 0; i < NARRAYS; i++) {
        void *v = get_array(&w, head.n[i], arrays[i].size);
        memcpy((char *)&slice->events + arrays[i].at, &v, sizeof v);
        memcpy((char *)&slice->events + arrays[i].length_at, &head.n[i], sizeof head.n[i]);
    }
    free(w.message.v);
}

/* ------------------------------------------------------------------------------------------------------------- team */

/* Returns the byte range of a slice: equal shares of the file. */
static tl_read_range range_of(const tl_plan_item *item, int32_t slice)
{
    uint64_t n = (uint64_t)item->nslices, k = (uint64_t)slice, share = item->bytes / n;
    return (tl_read_range){ k * share, k + 1 == n ? UINT64_MAX : (k + 1) * share };
}

void tl_team_help(tl_endpoint *endpoint, const tl_plan_item *item, const tl_task *task, const tl_read_options *options)
{
    tl_read_options mine = *options;
    const tl_read_range range = range_of(item, task->slice);
    tl_trace slice;
    tl_error err;

    mine.range = &range;
    tl_status st = tl_trace_read(item->path, &mine, &slice, &err);
    if (st != TL_OK)
        slice.report.dropped++; /* so tl_trace_append refuses the slice */
    tl_endpoint_send(endpoint, task->leader, TL_MESSAGE_READY, &task->slice, sizeof task->slice);
    free(tl_endpoint_await(endpoint, task->leader, TL_MESSAGE_GO).message.v);
    send_slice(endpoint, task->leader, &slice);
    tl_trace_free(&slice);
}

/* Appends slices 1, 2 ... in order; returns false if one is not proven.  All slices are received in any case, since
 * their senders wait. */
static bool append_slices(tl_endpoint *endpoint, int32_t nslices, tl_trace *whole, bool proven)
{
    int *owner = tl_calloc((size_t)nslices, sizeof *owner);

    for (int32_t i = 1; i < nslices; i++) {
        tl_received ready = tl_endpoint_await(endpoint, -1, TL_MESSAGE_READY);
        int32_t slice;
        tl_bytes_get(&ready.message, &slice, sizeof slice);
        owner[slice] = ready.from;
        free(ready.message.v);
    }
    for (int32_t i = 1; i < nslices; i++) {
        tl_trace slice;
        tl_endpoint_send(endpoint, owner[i], TL_MESSAGE_GO, NULL, 0);
        receive_slice(endpoint, owner[i], &slice);
        proven = proven && tl_trace_append(whole, &slice);
        tl_trace_free(&slice);
    }
    free(owner);
    return proven;
}

tl_status tl_team_read(void *arg, const tl_plan_item *item, const tl_read_options *options, tl_trace *out,
                       tl_error *err)
{
    if (item->nslices <= 1)
        return tl_trace_read(item->path, options, out, err);

    tl_read_options mine = *options;
    const tl_read_range range = range_of(item, 0);
    mine.range = &range;
    bool proven = tl_trace_read(item->path, &mine, out, err) == TL_OK;
    if (append_slices(arg, item->nslices, out, proven)) {
        tl_trace_complete(out);
        return TL_OK;
    }
    tl_trace_free(out);
    return tl_trace_read(item->path, options, out, err);
}
