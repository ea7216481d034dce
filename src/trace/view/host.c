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
static void find_order(const tl_columns *c, size_t ntracks, uint32_t *order, tl_thread **threads, size_t *nthreads)
{
    size_t *end = tl_calloc(ntracks + 1, sizeof *end);

    *nthreads = 0;
    for (size_t i = 0; i < c->n; i++)
        end[c->track[i] + 1]++;
    for (size_t t = 0; t < ntracks; t++) {
        *nthreads += end[t + 1] > 0;
        end[t + 1] += end[t];
    }
    *threads = tl_malloc(*nthreads * sizeof **threads);
    for (size_t i = 0; i < c->n; i++) {
        /* end[t] is where t's next event goes, and at last its end */
        order[end[c->track[i]]++] = (uint32_t)i;
    }
    for (size_t t = 0, n = 0; t < ntracks; t++) {
        size_t from = t > 0 ? end[t - 1] : 0, m = end[t] - from;
        if (m == 0)
            continue;
        (*threads)[n++] = (tl_thread){ (uint32_t)t, from, m };
        tl_sort_index(order + from, m, by_time, c);
    }
    free(end);
}

/* Puts the columns in the order of the view. */
static void put_in_order(tl_columns *c, size_t ntracks, tl_thread **threads, size_t *nthreads)
{
    uint32_t *order = tl_malloc(c->n * sizeof *order);
    find_order(c, ntracks, order, threads, nthreads);

    free(c->track); /* the threads say it */
    c->track = NULL;
    tl_columns_order(c, order);
    free(order);
}

static void list_streams(const tl_events *e, struct tl_linked_host *h)
{
    h->streams = tl_malloc(e->lanes.n * sizeof *h->streams);
    for (size_t i = 0; i < e->lanes.n; i++)
        h->streams[i] = (tl_stream_id){ tl_small_int(e->lanes.v[i].device), tl_small_int(e->lanes.v[i].stream) };
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

/* Gives every name its key: the name without addresses.  Adds the keys that are new to the names. */
static bool make_keys(tl_names *names, struct tl_linked_host *h)
{
    size_t n = names->n, cap = 0;
    char *room = NULL;
    bool ok = true;

    for (uint32_t id = 0; ok && id < n; id++) {
        tl_text text = tl_names_text(names, id);
        if (!tl_text_has(text, "0x"))
            continue;
        tl_grow((void **)&room, &cap, 2 * text.n + 8, 1);
        size_t length = without_addresses(text, room);
        if (length == 0)
            continue;
        if (h->name_key == NULL) {
            h->name_key = tl_malloc(n * sizeof *h->name_key);
            for (uint32_t i = 0; i < n; i++)
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
    uint32_t *more = tl_realloc(h->name_key, names->n * sizeof *more);
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

    put_in_order(&h->ops, e->tracks.n, &h->op_threads, &view->ops.nthreads);
    put_in_order(&h->calls, e->tracks.n, &h->call_threads, &view->calls.nthreads);
    list_streams(e, h);
    if (!make_keys(&e->names, h))
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

/* -------------------------------------------------------------------------------------------------------- backward
 *
 * Which operator of the backward pass belongs to which of the forward pass.
 *
 *     thread 1   [aten::addmm ]...............          an arrow of category fwdbwd: it begins as the one operator does,
 *                |--------------------->|               and ends as the other begins
 *     thread 2   .......................[AddmmBackward0]
 *
 * Of operators that begin at one instant it is the innermost.
 */

void tl_flows_collect(const tl_events *e, int64_t base_ns, tl_flows *flows)
{
    const unsigned ends = TL_EVENT_PH_START | TL_EVENT_PH_END;

    if (!tl_events_have(e, TL_CAT_FWDBWD))
        return;
    for (size_t i = 0; i < e->n; i++) {
        unsigned flags = e->flags[i];
        if (tl_event_cat(e, i) != TL_CAT_FWDBWD || !(flags & ends) || !(flags & TL_EVENT_HAS_TS) ||
            !(flags & TL_EVENT_HAS_CORR))
            continue;
        tl_vec_room(flows);
        flows->v[flows->n++] = (tl_flow){ e->corr[i], tl_since_base(e->ts_ns[i], base_ns), e->track[i], e->uid[i],
                                          (flags & TL_EVENT_PH_END) != 0 };
    }
}

/* Operators looked at, at most, that begin at one instant: more occur only in a made trace. */
enum { MOST_AT_ONCE = 256 };

/* The innermost operator of the thread that begins just then; TL_NONE. */
static uint32_t op_at(const tl_ops *ops, uint32_t track, int64_t at_ns)
{
    size_t t = 0, low;
    TL_BISECT(t, ops->nthreads, mid, ops->threads[mid].track < track);
    if (t == ops->nthreads || ops->threads[t].track != track)
        return TL_NONE;
    size_t first = ops->threads[t].first;
    low = first;
    TL_BISECT(low, first + ops->threads[t].n, mid, ops->start_ns[mid] <= at_ns);
    for (size_t n = 0; n < MOST_AT_ONCE && low > first && ops->start_ns[low - 1] == at_ns; n++)
        if (ops->kind[--low] == TL_OP)
            return (uint32_t)low;
    return TL_NONE;
}

static int flow_by_id(const void *a, const void *b)
{
    const tl_flow *x = a, *y = b;
    if (x->id != y->id)
        return TL_COMPARE(x->id, y->id);
    return x->to != y->to ? TL_COMPARE(x->to, y->to) : TL_COMPARE(x->uid, y->uid);
}

static int by_op(const void *a, const void *b)
{
    const tl_backward *x = a, *y = b;
    return x->op != y->op ? TL_COMPARE(x->op, y->op) : TL_COMPARE(x->forward, y->forward);
}

void tl_backwards_find(tl_flows *flows, tl_linked *out)
{
    const tl_ops *ops = &out->view.ops;
    TL_VEC(tl_backward) found = { 0 };
    uint32_t forward = TL_NONE;

    if (flows->n == 0)
        return;
    qsort(flows->v, flows->n, sizeof *flows->v, flow_by_id);
    for (size_t i = 0; i < flows->n; i++) {
        const tl_flow *f = &flows->v[i];
        bool first = i == 0 || flows->v[i - 1].id != f->id;
        if (first) /* of several beginnings of one id the first counts */
            forward = f->to ? TL_NONE : op_at(ops, f->track, f->at_ns);
        if (!f->to || forward == TL_NONE)
            continue;
        uint32_t op = op_at(ops, f->track, f->at_ns);
        if (op == TL_NONE || op == forward)
            continue;
        tl_vec_room(&found);
        found.v[found.n++] = (tl_backward){ op, forward };
    }
    if (found.n > 1)
        qsort(found.v, found.n, sizeof *found.v, by_op);
    out->host.backwards = found.v;
    out->view.backwards = found.v;
    out->view.nbackwards = found.n;
}
