/* link_host.c - what the host did, from the columns of the trace to those of the view.
 *
 *     columns      [k][op][call][op][k][call][k]       all events, as in the file
 *     squeezed     [op][call][op][call]                what the host did; the room of the rest is given back
 *     in order     [call][call][op][op]                calls, then ops, each by thread, start, longer first
 *
 * This is the largest thing of a trace, and it comes when the kernels are there already: so there is never a second set
 * of columns, but one column of room, through which each goes in its turn.
 */
#include "tlmpi/base/sort.h"
#include "tlmpi/trace/link.h"
#include <stdlib.h>
#include <string.h>

/* What stands in the flags of a squeezed event: which of the view's columns it goes to, its tl_op_kind, a copy's kind
 * + 1. */
enum { CALL = 0, OP = 1, SET_BITS = 1, KIND_BITS = 2 };
#define SET_OF(flags)  ((flags)&1u)
#define KIND_OF(flags) ((flags) >> SET_BITS & 3u)
#define COPY_OF(flags) ((int)((flags) >> (SET_BITS + KIND_BITS)) - 1)

static bool host_event(const tl_events *e, size_t i, unsigned *set, unsigned *kind)
{
    *kind = TL_OP;
    *set = OP;
    if ((e->flags[i] & (TL_EVENT_HAS_TS | TL_EVENT_PH_X)) != (TL_EVENT_HAS_TS | TL_EVENT_PH_X))
        return false;
    switch (tl_event_cat(e, i)) {
    case TL_CAT_RUNTIME:
    case TL_CAT_DRIVER:
        *set = CALL;
        return true;
    case TL_CAT_CPU_OP:
        return true;
    case TL_CAT_PYTHON:
        *kind = TL_FRAME;
        return true;
    case TL_CAT_USER_ANNOTATION:
        *kind = TL_ANNOTATION;
        return true;
    default:
        return false;
    }
}

/* Gives back what lies behind the first n elements.  Where that fails the array stays as it is. */
static void shrink(void *array, size_t n, size_t size)
{
    void *old, *smaller;
    memcpy(&old, array, sizeof old);
    smaller = n > 0 ? realloc(old, n * size) : NULL;
    if (n == 0)
        free(old);
    else if (smaller == NULL)
        return;
    memcpy(array, &smaller, sizeof smaller);
}

/* Leaves what the host did, in file order.  Returns the number of calls among it. */
static size_t squeeze(tl_events *e, int64_t base_ns)
{
    size_t n = 0, ncalls = 0, copy = 0;

    for (size_t i = 0; i < e->n; i++) {
        unsigned set, kind, copy_kind = 0;
        while (copy < e->copies.n && e->copies.v[copy].event < i)
            copy++;
        if (!host_event(e, i, &set, &kind))
            continue;
        if (copy < e->copies.n && e->copies.v[copy].event == i)
            copy_kind = (unsigned)(e->copies.v[copy].kind + 1);
        int64_t start;
        if (__builtin_add_overflow(e->ts_ns[i], base_ns, &start))
            start = e->ts_ns[i];
        e->ts_ns[n] = start;
        e->dur_ns[n] = e->dur_ns[i];
        e->corr[n] = e->corr[i];
        e->name[n] = e->name[i];
        e->track[n] = e->track[i];
        e->lane[n] = e->lane[i];
        e->uid[n] = e->uid[i];
        e->flags[n] = (uint16_t)(set | kind << SET_BITS | copy_kind << (SET_BITS + KIND_BITS));
        ncalls += set == CALL;
        n++;
    }
    e->n = n;
    free(e->category);
    free(e->copies.v);
    free(e->grids.v);
    e->category = NULL;
    e->copies.v = NULL;
    e->copies.n = 0;
    e->grids.v = NULL;
    e->grids.n = 0;
    shrink(&e->ts_ns, n, sizeof *e->ts_ns);
    shrink(&e->dur_ns, n, sizeof *e->dur_ns);
    shrink(&e->corr, n, sizeof *e->corr);
    shrink(&e->name, n, sizeof *e->name);
    shrink(&e->track, n, sizeof *e->track);
    shrink(&e->lane, n, sizeof *e->lane);
    shrink(&e->uid, n, sizeof *e->uid);
    shrink(&e->flags, n, sizeof *e->flags);
    return ncalls;
}

static int by_time(const void *events, uint32_t a, uint32_t b)
{
    const tl_events *e = events;
    if (e->ts_ns[a] != e->ts_ns[b])
        return e->ts_ns[a] < e->ts_ns[b] ? -1 : 1;
    if (e->dur_ns[a] != e->dur_ns[b])
        return e->dur_ns[a] > e->dur_ns[b] ? -1 : 1;
    return 0;
}

/* The order of the view: order[i] is the event that belongs at i.  Fills the threads: those of calls, then those of
 * ops. */
static bool sort(const tl_events *e, uint32_t *order, size_t ncalls, struct tl_linked_host *h, tl_rank_view *view)
{
    size_t nbuckets = 2 * e->tracks.n;
    size_t *end = tl_calloc(nbuckets + 1, sizeof *end);
    h->threads = tl_malloc((nbuckets + 1) * sizeof *h->threads);
    bool whole = end != NULL && h->threads != NULL;

    for (size_t i = 0; whole && i < e->n; i++)
        end[SET_OF(e->flags[i]) * e->tracks.n + e->track[i] + 1]++;
    for (size_t b = 0; whole && b < nbuckets; b++)
        end[b + 1] += end[b];
    for (size_t i = 0; whole && i < e->n; i++) /* end[b] is where b's next event goes, and at last its end */
        order[end[SET_OF(e->flags[i]) * e->tracks.n + e->track[i]]++] = (uint32_t)i;

    size_t n = 0, ncall_threads = 0;
    for (size_t b = 0; whole && b < nbuckets; b++) {
        size_t from = b > 0 ? end[b - 1] : 0, m = end[b] - from;
        if (m == 0)
            continue;
        whole = tl_sort_index(order + from, m, by_time, e);
        bool call = b < e->tracks.n;
        h->threads[n++] = (tl_thread){ (uint32_t)(call ? b : b - e->tracks.n), call ? from : from - ncalls, m };
        ncall_threads += call;
    }
    free(end);
    if (whole) {
        shrink(&h->threads, n, sizeof *h->threads);
        view->calls.threads = h->threads;
        view->calls.nthreads = ncall_threads;
        view->ops.threads = h->threads != NULL ? h->threads + ncall_threads : NULL;
        view->ops.nthreads = n - ncall_threads;
    }
    return whole;
}

/* Brings the first n of a column into the order, by way of *room, which takes its place and leaves it the column's. */
static void gather_64(int64_t **column, void **room, const uint32_t *order, size_t n)
{
    const int64_t *from = *column;
    int64_t *to = *room;
    for (size_t i = 0; i < n; i++)
        to[i] = from[order[i]];
    *room = *column;
    *column = to;
}

static void gather_32(uint32_t **column, void **room, const uint32_t *order, size_t n)
{
    const uint32_t *from = *column;
    uint32_t *to = *room;
    for (size_t i = 0; i < n; i++)
        to[i] = from[order[i]];
    *room = *column;
    *column = to;
}

static int32_t small_int(int64_t x)
{
    return x >= 0 && x <= INT32_MAX ? (int32_t)x : -1;
}

/* From the columns of events to those of the view: what only calls have is cut to them. */
static bool hand_over(tl_events *e, const uint32_t *order, size_t ncalls, struct tl_linked_host *h)
{
    size_t n = e->n, nops = n - ncalls;
    void *room = tl_malloc(n * sizeof *e->ts_ns);
    h->copy = tl_malloc(ncalls);
    h->kind = tl_malloc(nops);
    h->places = tl_malloc(e->lanes.n * sizeof *h->places);
    if (room == NULL || h->copy == NULL || h->kind == NULL || h->places == NULL) {
        free(room);
        return false;
    }

    for (size_t i = 0; i < ncalls; i++)
        h->copy[i] = (int8_t)COPY_OF(e->flags[order[i]]);
    for (size_t i = 0; i < nops; i++)
        h->kind[i] = (uint8_t)KIND_OF(e->flags[order[ncalls + i]]);
    for (size_t i = 0; i < e->lanes.n; i++)
        h->places[i] = (tl_place){ small_int(e->lanes.v[i].device), small_int(e->lanes.v[i].stream) };
    gather_64(&e->ts_ns, &room, order, n);
    gather_64(&e->dur_ns, &room, order, n);
    gather_64(&e->corr, &room, order, ncalls);
    gather_32(&e->name, &room, order, n);
    gather_32(&e->uid, &room, order, n);
    gather_32(&e->lane, &room, order, ncalls);
    free(room);
    shrink(&e->corr, ncalls, sizeof *e->corr);
    shrink(&e->name, n, sizeof *e->name);
    shrink(&e->lane, ncalls, sizeof *e->lane);
    h->start_ns = e->ts_ns;
    h->dur_ns = e->dur_ns;
    h->correlation = e->corr;
    h->name = e->name;
    h->uid = e->uid;
    h->place = e->lane;
    e->ts_ns = e->dur_ns = e->corr = NULL;
    e->name = e->uid = e->lane = NULL;
    return true;
}

static void show(const struct tl_linked_host *h, size_t ncalls, size_t n, tl_rank_view *view)
{
    tl_calls *c = &view->calls;
    tl_ops *o = &view->ops;

    c->n = ncalls;
    c->start_ns = h->start_ns;
    c->dur_ns = h->dur_ns;
    c->correlation = h->correlation;
    c->name = h->name;
    c->uid = h->uid;
    c->place = h->place;
    c->copy = h->copy;
    o->n = n - ncalls;
    if (o->n > 0) {
        o->start_ns = h->start_ns + ncalls;
        o->dur_ns = h->dur_ns + ncalls;
        o->name = h->name + ncalls;
        o->uid = h->uid + ncalls;
        o->kind = h->kind;
    }
    view->places = h->places;
}

/* ------------------------------------------------------------------------------------------------------- names */

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
    bool whole = true;

    for (uint32_t id = 0; whole && id < n; id++) {
        tl_text text = tl_names_text(names, id);
        if (!tl_text_has(text, "0x"))
            continue;
        whole = tl_grow((void **)&room, &cap, 2 * text.n + 8, 1);
        size_t length = whole ? without_addresses(text, room) : 0;
        if (length == 0)
            continue;
        if (h->name_key == NULL) {
            h->name_key = tl_malloc(n * sizeof *h->name_key);
            for (uint32_t i = 0; h->name_key != NULL && i < n; i++)
                h->name_key[i] = i;
        }
        uint32_t key = h->name_key != NULL ? tl_names_intern(names, room, length) : TL_NO_NAME;
        whole = key != TL_NO_NAME;
        if (whole)
            h->name_key[id] = key;
    }
    free(room);
    if (!whole || h->name_key == NULL || names->n == n)
        return whole;
    uint32_t *more = realloc(h->name_key, names->n * sizeof *more);
    if (more == NULL)
        return false;
    h->name_key = more;
    for (uint32_t id = (uint32_t)n; id < names->n; id++) /* a key is its own */
        more[id] = id;
    return true;
}

/* ---------------------------------------------------------------------------------------------------- the whole */

tl_status tl_link_host(tl_trace *trace, tl_linked *out, tl_error *err)
{
    tl_events *e = &trace->events;
    struct tl_linked_host *h = &out->host;

    free(e->colls.v);
    free(e->waits.v);
    e->colls.v = NULL;
    e->waits.v = NULL;
    e->colls.n = e->waits.n = 0;
    size_t ncalls = squeeze(e, trace->meta.has_base ? trace->meta.base_ns : 0), n = e->n;
    uint32_t *order = tl_malloc((n + 1) * sizeof *order);
    bool whole = order != NULL && sort(e, order, ncalls, h, &out->view);
    free(e->track);
    e->track = NULL;
    whole = whole && hand_over(e, order, ncalls, h) && make_keys(&e->names, h);
    free(order);
    tl_events_free_columns(e);
    if (!whole) {
        tl_linked_free_host(out);
        return tl_fail_memory(err, "what the host did");
    }
    show(h, ncalls, n, &out->view);
    out->view.name_key = h->name_key;
    return TL_OK;
}

void tl_linked_free_host(tl_linked *linked)
{
    struct tl_linked_host *h = &linked->host;

    free(h->start_ns);
    free(h->dur_ns);
    free(h->correlation);
    free(h->name);
    free(h->uid);
    free(h->place);
    free(h->name_key);
    free(h->copy);
    free(h->kind);
    free(h->threads);
    free(h->places);
    *h = (struct tl_linked_host){ 0 };
    linked->view.calls = (tl_calls){ 0 };
    linked->view.ops = (tl_ops){ 0 };
    linked->view.places = NULL;
    linked->view.name_key = NULL;
}
