/* slice.c - a slice of a trace, from one proc to another.  Both ends are the same program on the same kind of machine:
 * structs travel as they are. */
#include "slice.h"
#include <stdlib.h>

#define MESSAGE_BYTES ((size_t)1 << 20)

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

static void put(byte_stream *w, const void *bytes, size_t n)
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

static void get(byte_stream *w, void *bytes, size_t n)
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

/* An array of n elements of `size` bytes, new on this side. */
static void *get_array(byte_stream *w, size_t n, size_t size)
{
    void *v = tl_calloc(n + 1, size);
    get(w, v, n * size);
    return v;
}

typedef struct slice_head {
    tl_read_report report;
    uint64_t ndoc, n, nnames, ntracks, nlanes, ncategories, ncopies, ncolls, nwaits, ngrids, ncounters, nmemory,
        nshapes;
} slice_head;

void tl_slice_send(tl_endpoint *endpoint, int to, const tl_trace *slice)
{
    byte_stream w = { .endpoint = endpoint, .peer = to };
    const tl_events *e = &slice->events;
    slice_head head = { slice->report, slice->ndoc, e->n,       e->names.n, e->tracks.n,   e->lanes.n, e->categories.n,
                        e->copies.n,   e->colls.n,  e->waits.n, e->grids.n, e->counters.n, e->memory.n,
                        e->shapes.n };

    put(&w, &head, sizeof head);
    put(&w, slice->doc, slice->ndoc);
    for (uint32_t i = 0; i < e->names.n; i++) {
        tl_text text = tl_names_text(&e->names, i);
        uint64_t n = text.n;
        put(&w, &n, sizeof n);
        put(&w, text.p, text.n);
    }
    put(&w, e->tracks.v, e->tracks.n * sizeof *e->tracks.v);
    put(&w, e->lanes.v, e->lanes.n * sizeof *e->lanes.v);
    put(&w, e->categories.v, e->categories.n * sizeof *e->categories.v);
    put(&w, e->copies.v, e->copies.n * sizeof *e->copies.v);
    put(&w, e->colls.v, e->colls.n * sizeof *e->colls.v);
    put(&w, e->waits.v, e->waits.n * sizeof *e->waits.v);
    put(&w, e->grids.v, e->grids.n * sizeof *e->grids.v);
    put(&w, e->counters.v, e->counters.n * sizeof *e->counters.v);
    put(&w, e->memory.v, e->memory.n * sizeof *e->memory.v);
    put(&w, e->shapes.v, e->shapes.n * sizeof *e->shapes.v);
    put(&w, e->ts_ns, e->n * sizeof *e->ts_ns);
    put(&w, e->dur_ns, e->n * sizeof *e->dur_ns);
    put(&w, e->corr, e->n * sizeof *e->corr);
    put(&w, e->name, e->n * sizeof *e->name);
    put(&w, e->track, e->n * sizeof *e->track);
    put(&w, e->lane, e->n * sizeof *e->lane);
    put(&w, e->uid, e->n * sizeof *e->uid);
    put(&w, e->category, e->n * sizeof *e->category);
    put(&w, e->flags, e->n * sizeof *e->flags);
    if (w.message.n > 0)
        flush(&w);
    free(w.message.v);
}

static void get_names(byte_stream *w, tl_names *names, uint64_t n)
{
    for (uint64_t i = 0; i < n; i++) {
        uint64_t length;
        get(w, &length, sizeof length);
        char *text = get_array(w, length, 1);
        tl_names_intern(names, text, length); /* texts differ, so ids stay as they were */
        free(text);
    }
}

void tl_slice_receive(tl_endpoint *endpoint, int from, tl_trace *slice)
{
    byte_stream w = { .endpoint = endpoint, .peer = from };
    tl_events *e = &slice->events;
    slice_head head;

    *slice = (tl_trace){ .meta = TL_META_INIT };
    get(&w, &head, sizeof head);
    slice->report = head.report;
    slice->ndoc = head.ndoc;
    slice->doc = get_array(&w, head.ndoc, 1);
    get_names(&w, &e->names, head.nnames);
    e->tracks.v = get_array(&w, e->tracks.n = head.ntracks, sizeof *e->tracks.v);
    e->lanes.v = get_array(&w, e->lanes.n = head.nlanes, sizeof *e->lanes.v);
    e->categories.v = get_array(&w, e->categories.n = head.ncategories, sizeof *e->categories.v);
    e->copies.v = get_array(&w, e->copies.n = head.ncopies, sizeof *e->copies.v);
    e->colls.v = get_array(&w, e->colls.n = head.ncolls, sizeof *e->colls.v);
    e->waits.v = get_array(&w, e->waits.n = head.nwaits, sizeof *e->waits.v);
    e->grids.v = get_array(&w, e->grids.n = head.ngrids, sizeof *e->grids.v);
    e->counters.v = get_array(&w, e->counters.n = head.ncounters, sizeof *e->counters.v);
    e->memory.v = get_array(&w, e->memory.n = head.nmemory, sizeof *e->memory.v);
    e->shapes.v = get_array(&w, e->shapes.n = head.nshapes, sizeof *e->shapes.v);
    e->n = head.n;
    e->ts_ns = get_array(&w, e->n, sizeof *e->ts_ns);
    e->dur_ns = get_array(&w, e->n, sizeof *e->dur_ns);
    e->corr = get_array(&w, e->n, sizeof *e->corr);
    e->name = get_array(&w, e->n, sizeof *e->name);
    e->track = get_array(&w, e->n, sizeof *e->track);
    e->lane = get_array(&w, e->n, sizeof *e->lane);
    e->uid = get_array(&w, e->n, sizeof *e->uid);
    e->category = get_array(&w, e->n, sizeof *e->category);
    e->flags = get_array(&w, e->n, sizeof *e->flags);
    free(w.message.v);
}
