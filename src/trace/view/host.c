/* host.c - calls, operators and annotations of the host, thread by thread.
 *
 *     in the file   [op][op][call][op]      calls and ops each by themselves
 *     in the view   [1: op][1: op][2: op]   each by thread, start, longer first
 */
#include "host.h"
#include "part.h"
#include "stream_order.h"
#include "tlmpi/base/sort.h"
#include <stdlib.h>
#include <string.h>

static int by_time(const void *columns, uint32_t a, uint32_t b)
{
    const tl_columns *c = columns;
    if (c->start_ns[a] != c->start_ns[b])
        return TL_COMPARE(c->start_ns[a], c->start_ns[b]);
    return TL_COMPARE(c->dur_ns[b], c->dur_ns[a]);
}

/* The order of the view: order[i] is the event that belongs at i.  The threads, which the caller frees, come with it.
 */
static bool find_order(const tl_columns *c, size_t ntracks, uint32_t *order, tl_thread **threads, size_t *nthreads)
{
    size_t *end = tl_calloc(ntracks + 1, sizeof *end);
    bool ok = end != NULL;

    *nthreads = 0;
    for (size_t i = 0; ok && i < c->n; i++)
        end[c->track[i] + 1]++;
    for (size_t t = 0; ok && t < ntracks; t++) {
        *nthreads += end[t + 1] > 0;
        end[t + 1] += end[t];
    }
    *threads = tl_malloc(*nthreads * sizeof **threads);
    ok = ok && *threads != NULL;
    for (size_t i = 0; ok && i < c->n; i++) /* end[t] is where t's next event goes, and at last its end */
        order[end[c->track[i]]++] = (uint32_t)i;
    for (size_t t = 0, n = 0; ok && t < ntracks; t++) {
        size_t from = t > 0 ? end[t - 1] : 0, m = end[t] - from;
        if (m == 0)
            continue;
        (*threads)[n++] = (tl_thread){ (uint32_t)t, from, m };
        ok = tl_sort_index(order + from, m, by_time, c);
    }
    free(end);
    return ok;
}

/* Puts the columns in the order of the view. */
static bool put_in_order(tl_columns *c, size_t ntracks, tl_thread **threads, size_t *nthreads)
{
    uint32_t *order = tl_malloc(c->n * sizeof *order);
    bool ok = order != NULL && find_order(c, ntracks, order, threads, nthreads);

    free(c->track); /* the threads say it */
    c->track = NULL;
    ok = ok && tl_columns_order(c, order);
    free(order);
    return ok;
}

static bool list_streams(const tl_events *e, struct tl_linked_host *h)
{
    h->streams = tl_malloc(e->lanes.n * sizeof *h->streams);
    for (size_t i = 0; h->streams != NULL && i < e->lanes.n; i++)
        h->streams[i] = (tl_stream_id){ tl_small_int(e->lanes.v[i].device), tl_small_int(e->lanes.v[i].stream) };
    return h->streams != NULL;
}

/* The kind of a copy, as the view has it, at that and 1. */
static const int8_t *copies_of(tl_columns *calls)
{
    for (size_t i = 0; i < calls->n; i++)
        calls->kind[i]--;
    return (const int8_t *)calls->kind;
}

static void show(struct tl_linked_host *h, tl_rank_view *view)
{
    tl_calls *c = &view->calls;
    tl_ops *o = &view->ops;

    c->n = h->calls.n;
    c->start_ns = h->calls.start_ns;
    c->dur_ns = h->calls.dur_ns;
    c->correlation = h->calls.corr;
    c->name = h->calls.name;
    c->uid = h->calls.uid;
    c->stream = h->calls.lane;
    c->copy = copies_of(&h->calls);
    c->threads = h->call_threads;
    o->n = h->ops.n;
    o->start_ns = h->ops.start_ns;
    o->dur_ns = h->ops.dur_ns;
    o->name = h->ops.name;
    o->uid = h->ops.uid;
    o->kind = h->ops.kind;
    o->threads = h->op_threads;
    view->streams = h->streams;
    view->name_key = h->name_key;
}

/* ----------------------------------------------------------------------------------------------------------- names */

static bool is_hex(char c)
{
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
}

/* The text with every address made "0x" and an ellipsis, in *out (room for twice the text); its length, 0 without any.
 */
static size_t without_addresses(tl_text text, char *out)
{
    size_t n = 0;
    bool any = false;

    for (size_t i = 0; i < text.n;) {
        if (i + 2 < text.n && text.p[i] == '0' && text.p[i + 1] == 'x' && is_hex(text.p[i + 2])) {
            for (i += 2; i < text.n && is_hex(text.p[i]); i++)
                ;
            memcpy(out + n, "0x\xe2\x80\xa6", 5);
            n += 5;
            any = true;
        } else {
            out[n++] = text.p[i++];
        }
    }
    return any ? n : 0;
}

/* Gives every name its key.  The names become more by those that they did not have. */
static bool make_keys(tl_names *names, struct tl_linked_host *h)
{
    size_t n = names->n, cap = 0;
    char *room = NULL;
    bool ok = true;

    for (uint32_t id = 0; ok && id < n; id++) {
        tl_text text = tl_names_text(names, id);
        if (!tl_text_has(text, "0x"))
            continue;
        ok = tl_grow((void **)&room, &cap, 2 * text.n + 8, 1);
        size_t length = ok ? without_addresses(text, room) : 0;
        if (length == 0)
            continue;
        if (h->name_key == NULL) {
            h->name_key = tl_malloc(n * sizeof *h->name_key);
            for (uint32_t i = 0; h->name_key != NULL && i < n; i++)
                h->name_key[i] = i;
        }
        uint32_t key = h->name_key != NULL ? tl_names_intern(names, room, length) : TL_NO_NAME;
        ok = key != TL_NO_NAME;
        if (ok)
            h->name_key[id] = key;
    }
    free(room);
    if (!ok || h->name_key == NULL || names->n == n)
        return ok;
    uint32_t *more = realloc(h->name_key, names->n * sizeof *more);
    if (more == NULL)
        return false;
    h->name_key = more;
    for (uint32_t id = (uint32_t)n; id < names->n; id++) /* a key is its own */
        more[id] = id;
    return true;
}

/* ------------------------------------------------------------------------------------------------------- the whole */

bool tl_host_link(tl_events *e, tl_linked *out)
{
    struct tl_linked_host *h = &out->host;
    tl_rank_view *view = &out->view;

    if (!put_in_order(&h->ops, e->tracks.n, &h->op_threads, &view->ops.nthreads) ||
        !put_in_order(&h->calls, e->tracks.n, &h->call_threads, &view->calls.nthreads) || !list_streams(e, h) ||
        !make_keys(&e->names, h))
        return false;
    show(h, view);
    return true;
}

void tl_linked_free_host(tl_linked *linked)
{
    struct tl_linked_host *h = &linked->host;

    tl_columns_free(&h->calls);
    tl_columns_free(&h->ops);
    free(h->call_threads);
    free(h->op_threads);
    free(h->streams);
    free(h->backwards);
    free(h->name_key);
    *h = (struct tl_linked_host){ 0 };
    linked->view.calls = (tl_calls){ 0 };
    linked->view.ops = (tl_ops){ 0 };
    linked->view.backwards = NULL;
    linked->view.nbackwards = 0;
    linked->view.streams = NULL;
    linked->view.name_key = NULL;
}
