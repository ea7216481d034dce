/* wire.c - see wire.h.  Both ends are the same program on the same kind of machine: structs travel as they are. */
#include "wire.h"
#include <stdlib.h>

#define LETTER ((size_t)1 << 20)

typedef struct wire {
    tl_post *post;
    int peer;
    tl_letter letter;
} wire;

static void flush(wire *w)
{
    tl_post_send(w->post, w->peer, TL_LETTER_PIECE, w->letter.v, w->letter.n);
    w->letter.n = 0;
}

static void put(wire *w, const void *bytes, size_t n)
{
    const char *p = bytes;
    while (n > 0) {
        size_t part = LETTER - w->letter.n < n ? LETTER - w->letter.n : n;
        if (!tl_letter_put(&w->letter, p, part))
            tl_post_give_up();
        p += part;
        n -= part;
        if (w->letter.n == LETTER)
            flush(w);
    }
}

static void get(wire *w, void *bytes, size_t n)
{
    char *p = bytes;
    while (n > 0) {
        if (w->letter.at == w->letter.n) {
            free(w->letter.v);
            w->letter = tl_post_await(w->post, w->peer, TL_LETTER_PIECE).letter;
        }
        size_t left = w->letter.n - w->letter.at, part = left < n ? left : n;
        if (!tl_letter_get(&w->letter, p, part) || part == 0)
            tl_post_give_up();
        p += part;
        n -= part;
    }
}

/* An array of n elements of `size` bytes, new on this side. */
static void *get_array(wire *w, size_t n, size_t size)
{
    void *v = tl_calloc(n + 1, size);
    if (v == NULL)
        tl_post_give_up();
    get(w, v, n * size);
    return v;
}

typedef struct wire_head {
    tl_read_report report;
    uint64_t ndoc, n, nnames, ntracks, nlanes, ncategories, ncopies, ncolls, nwaits, ngrids;
} wire_head;

void tl_wire_send(tl_post *post, int to, const tl_trace *piece)
{
    wire w = { .post = post, .peer = to };
    const tl_events *e = &piece->events;
    wire_head head = { piece->report, piece->ndoc, e->n, e->names.n, e->tracks.n, e->lanes.n, e->categories.n,
                       e->copies.n, e->colls.n, e->waits.n, e->grids.n };

    put(&w, &head, sizeof head);
    put(&w, piece->doc, piece->ndoc);
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
    put(&w, e->ts_ns, e->n * sizeof *e->ts_ns);
    put(&w, e->dur_ns, e->n * sizeof *e->dur_ns);
    put(&w, e->corr, e->n * sizeof *e->corr);
    put(&w, e->name, e->n * sizeof *e->name);
    put(&w, e->track, e->n * sizeof *e->track);
    put(&w, e->lane, e->n * sizeof *e->lane);
    put(&w, e->uid, e->n * sizeof *e->uid);
    put(&w, e->category, e->n * sizeof *e->category);
    put(&w, e->flags, e->n * sizeof *e->flags);
    if (w.letter.n > 0)
        flush(&w);
    free(w.letter.v);
}

static void get_names(wire *w, tl_names *names, uint64_t n)
{
    for (uint64_t i = 0; i < n; i++) {
        uint64_t length;
        get(w, &length, sizeof length);
        char *text = get_array(w, length, 1);
        if (tl_names_intern(names, text, length) != i)     /* texts differ, so ids stay as they were */
            tl_post_give_up();
        free(text);
    }
}

void tl_wire_receive(tl_post *post, int from, tl_trace *piece)
{
    wire w = { .post = post, .peer = from };
    tl_events *e = &piece->events;
    wire_head head;

    *piece = (tl_trace){ .meta = TL_META_INIT };
    get(&w, &head, sizeof head);
    piece->report = head.report;
    piece->ndoc = head.ndoc;
    piece->doc = get_array(&w, head.ndoc, 1);
    get_names(&w, &e->names, head.nnames);
    e->tracks.v = get_array(&w, e->tracks.n = head.ntracks, sizeof *e->tracks.v);
    e->lanes.v = get_array(&w, e->lanes.n = head.nlanes, sizeof *e->lanes.v);
    e->categories.v = get_array(&w, e->categories.n = head.ncategories, sizeof *e->categories.v);
    e->copies.v = get_array(&w, e->copies.n = head.ncopies, sizeof *e->copies.v);
    e->colls.v = get_array(&w, e->colls.n = head.ncolls, sizeof *e->colls.v);
    e->waits.v = get_array(&w, e->waits.n = head.nwaits, sizeof *e->waits.v);
    e->grids.v = get_array(&w, e->grids.n = head.ngrids, sizeof *e->grids.v);
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
    free(w.letter.v);
}
