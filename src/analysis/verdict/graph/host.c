/* host.c - nodes of the host: launches, and begins and ends of waits; with edges from the nodes before, and host work
 * as the time between. */
#include "build.h"
#include "tlmpi/base/group.h"
#include "tlmpi/base/stats.h"
#include <stdlib.h>

/* A wait of the host in a call, or in a blocking launch; times are on the device's clock. */
typedef struct host_wait {
    int64_t start_ns, end_ns;
    const tl_waiting_call *call; /* NULL: a blocking launch */
    uint32_t release;            /* kernel whose end released the wait; TL_NONE */
    uint32_t begin, end;         /* nodes */
} host_wait;

typedef enum instant_kind {
    AT_WAIT_END,
    AT_MARK,
    AT_LAUNCH,
    AT_WAIT_BEGIN
} instant_kind; /* the order of instants at one time */

typedef struct instant {
    int64_t ns;
    uint32_t track;
    uint32_t wait;   /* TL_NONE: a launch that does not block, or a step mark */
    uint32_t launch; /* TL_NONE */
    uint8_t kind;
} instant;

struct tl_graph_hosts {
    TL_VEC(host_wait) waits;
    TL_VEC(instant) instants;
};

/* ------------------------------------------------------------------------------------------------------------ waits */

static void add_wait(tl_graph_hosts *h, host_wait wait, uint32_t track, uint32_t launch)
{
    uint32_t number = (uint32_t)h->waits.n;
    tl_vec_push(&h->waits, wait);
    tl_vec_push(&h->instants, (instant){ wait.start_ns, track, number, launch, AT_WAIT_BEGIN });
    tl_vec_push(&h->instants, (instant){ wait.end_ns, track, number, launch, AT_WAIT_END });
}

/* Adds a call as a wait.  A call that frees memory waits until the last kernel has ended, and is left out if kernels
 * run on. */
static void add_call(tl_graph_build *b, tl_graph_hosts *h, const tl_waiting_call *call)
{
    host_wait w = { .start_ns = tl_graph_host_time(b, call->start_ns),
                    .end_ns = tl_graph_host_time(b, call->end_ns),
                    .call = call,
                    .release = TL_NONE };
    if (!tl_may_have_waited(call))
        w.release = tl_graph_release_of(b, call, w.start_ns, w.end_ns);
    if (call->kind == TL_CALL_FREES) {
        if (w.release == TL_NONE || b->view->kernels[w.release].end_ns <= w.start_ns ||
            tl_graph_runs_on(b, w.start_ns, w.end_ns))
            return;
        w.end_ns = b->view->kernels[w.release].end_ns;
    }
    add_wait(h, w, call->track, TL_NONE);
}

static void add_launch(tl_graph_build *b, tl_graph_hosts *h, uint32_t launch)
{
    if (b->handed_ns[launch] == INT64_MAX)
        return;
    if (b->blocking[launch] == TL_NONE && !b->queue_full[launch]) {
        tl_vec_push(&h->instants, (instant){ b->handed_ns[launch], b->tracks[launch], TL_NONE, launch, AT_LAUNCH });
        return;
    }
    const tl_launch *l = &b->view->launches[launch];
    host_wait w = { .start_ns = tl_graph_host_time(b, l->start_ns),
                    .end_ns = tl_graph_host_time(b, tl_ns_max(l->end_ns, l->start_ns + 1)),
                    .release = b->blocking[launch] };
    if (w.release == TL_NONE)
        w.release = tl_graph_release_of(
            b, &(tl_waiting_call){ .device = -1, .stream = -1, .kind = TL_CALL_WAITS_DEVICE }, w.start_ns, w.end_ns);
    add_wait(h, w, l->track, launch);
}

/* ------------------------------------------------------------------------------------------------------------ nodes */

TL_SORT_BY(by_time, instant, ns, kind, wait, launch)

/* The last node of the host, and of each thread. */
typedef struct recent {
    uint32_t last, last_track;
    tl_map of_track; /* track -> its last node */
} recent;

static uint32_t segment_at(const tl_graph_build *b, int64_t ns)
{
    size_t turn = 0, n = b->view->nkernels;
    TL_BISECT(turn, n, mid, b->latest_ns[mid] <= ns);
    if (turn < n)
        return b->placed[b->by_turn[turn]].segment;
    return n > 0 ? b->placed[b->by_turn[n - 1]].segment + (b->view->kernels[b->by_turn[n - 1]].kind == TL_COMM) : 0;
}

static int32_t step_at(const tl_graph_build *b, int64_t ns)
{
    return tl_graph_step(b->view, ns + b->lag_ns);
}

/* Adds a node with edges from the last node of its thread, and from the last node of any other thread if that is later;
 * the time since the later of them is host work, unless a seam of the recording lies between.  Returns the node. */
static uint32_t add_node_after(tl_graph_build *b, const recent *r, const instant *at, tl_node node)
{
    uint32_t own = tl_map_get(&r->of_track, at->track);
    uint32_t other = r->last_track != at->track ? r->last : TL_NONE;
    uint32_t before[2] = { own == TL_MAP_NONE ? TL_NONE : own, other };
    int64_t since = INT64_MIN;

    for (int i = 0; i < 2; i++)
        if (before[i] != TL_NONE)
            since = tl_ns_max(since, b->nodes.v[before[i]].done_ns);
    node.done_ns = at->ns;
    const bool seam = since != INT64_MIN && tl_is_seam(b->view, since + b->lag_ns, at->ns + b->lag_ns);
    node.work_ns = since != INT64_MIN && !seam ? tl_ns_max(0, at->ns - since) : 0;
    node.activity = (uint8_t)(node.work_ns > 0 ? tl_host_activity_in(b->spans, since + b->lag_ns, at->ns + b->lag_ns)
                                               : TL_ACTIVITY_HOST);
    uint32_t number = tl_graph_node(b, node);
    for (int i = 0; i < 2; i++)
        if (before[i] != TL_NONE)
            tl_graph_edge(b, before[i], number, 0, 0);
    return number;
}

static uint32_t add_begin_node(tl_graph_build *b, const recent *r, const instant *at, uint32_t kernel)
{
    return add_node_after(b, r, at,
                          (tl_node){ .key = kernel != TL_NONE ? b->placed[kernel].key : 0,
                                     .segment = kernel != TL_NONE ? b->placed[kernel].segment : segment_at(b, at->ns),
                                     .step = step_at(b, at->ns),
                                     .kind = at->kind == AT_LAUNCH ? TL_NODE_LAUNCH : TL_NODE_WAIT_BEGIN });
}

/* Returns the activity of a host's wait: SYNC or ALLOCATOR in a call, that of the copy in a blocking copy, DEVICE in a
 * launch that waits for room in the queue. */
static tl_activity_kind activity_of_wait(const tl_graph_build *b, const host_wait *w, uint32_t launch)
{
    if (w->call != NULL)
        return w->call->kind == TL_CALL_FREES ? TL_ACTIVITY_ALLOCATOR : TL_ACTIVITY_SYNC;
    uint32_t copy = b->blocking[launch];
    return copy != TL_NONE ? tl_activity_of_work(b->view, &b->view->kernels[copy]) : TL_ACTIVITY_DEVICE;
}

/* Adds the end of a wait.  A pause is host work until unrecorded_waits.c finds it to be a wait; it is in the step and
 * segment of the instant before its end, since a peer's pause may be too short to be one. */
static uint32_t add_end_node(tl_graph_build *b, const recent *r, host_wait *w, const instant *at)
{
    int64_t ns = at->ns - b->nodes.v[w->begin].done_ns;
    bool pause = tl_may_have_waited(w->call);
    tl_node node = { .done_ns = at->ns,
                     .segment = segment_at(b, pause ? at->ns - 1 : at->ns),
                     .step = step_at(b, pause ? at->ns - 1 : w->start_ns),
                     .kind = TL_NODE_WAIT_END,
                     .activity = (uint8_t)activity_of_wait(b, w, at->launch) };
    if (pause)
        return w->end = add_node_after(b, r, at, node);
    w->end = tl_graph_node(b, node);
    int64_t least_ns = at->launch != TL_NONE && b->queue_full[at->launch] ? b->call_ns : TL_CLOCK_ERROR_NS;
    tl_graph_edge(b, w->begin, w->end, w->release == TL_NONE ? ns : tl_ns_min(ns, least_ns), 0);
    return w->end;
}

/* Adds the mark of a step.  Host work before a mark belongs to the step that ends there; before the first mark it is
 * unknown. */
static uint32_t add_mark_node(tl_graph_build *b, const recent *r, const instant *at)
{
    const bool seam = tl_is_seam(b->view, at->ns - 1 + b->lag_ns, at->ns + b->lag_ns);
    if (r->last == TL_NONE)
        return tl_graph_node(b, (tl_node){ .done_ns = at->ns, .step = step_at(b, at->ns), .kind = TL_NODE_BEGIN });
    return add_node_after(
        b, r, at,
        (tl_node){ .segment = segment_at(b, at->ns), .step = step_at(b, at->ns - !seam), .kind = TL_NODE_WAIT_BEGIN });
}

static void add_nodes(tl_graph_build *b, tl_graph_hosts *h)
{
    recent r = { .last = TL_NONE, .last_track = UINT32_MAX };
    uint32_t *first = tl_malloc_none(b->nlaunches); /* by launch: its first kernel by turn */

    for (size_t i = b->view->nkernels; i-- > 0;)
        if (b->placed[b->by_turn[i]].launch != TL_NONE)
            first[b->placed[b->by_turn[i]].launch] = b->by_turn[i];

    TL_EACH (const instant, at, h->instants) {
        uint32_t node;
        if (at->kind == AT_MARK)
            node = add_mark_node(b, &r, at);
        else if (at->kind == AT_WAIT_END) {
            node = add_end_node(b, &r, &h->waits.v[at->wait], at);
            if (at->launch != TL_NONE && b->queue_full[at->launch]) /* the work is handed over at the end of the wait */
                b->launched[at->launch] = node;
        } else {
            node = add_begin_node(b, &r, at, at->launch != TL_NONE ? first[at->launch] : TL_NONE);
            if (at->launch != TL_NONE)
                b->launched[at->launch] = node;
            if (at->wait != TL_NONE)
                h->waits.v[at->wait].begin = node;
        }
        r.last = node;
        r.last_track = at->track;
        tl_map_put(&r.of_track, at->track, node);
    }
    free(first);
    tl_map_free(&r.of_track);
}

/* -------------------------------------------------------------------------------------------------------------- all */

/* Whether rounding put the instant into a wait that it follows: a step mark, or the next call of the thread, in the
 * last TL_ROUNDING_NS of the wait. */
static bool is_rounded_into(const instant *at, const instant *end)
{
    return at->kind != AT_WAIT_END && at->wait != end->wait && end->ns - at->ns <= TL_ROUNDING_NS &&
           (at->kind == AT_MARK || at->track == end->track);
}

/* Moves what rounding puts into a wait behind the wait: the time before a mark or call is host work, and the wait is
 * not. */
static void end_waits_first(tl_graph_hosts *h)
{
    for (size_t i = 1; i < h->instants.n; i++) {
        instant *at = &h->instants.v[i];
        const instant end = *at;
        for (; end.kind == AT_WAIT_END && at > h->instants.v && is_rounded_into(at - 1, &end); at--) {
            at[0] = at[-1];
            at[0].ns = end.ns;
            at[-1] = end;
        }
    }
}

tl_graph_hosts *tl_graph_host(tl_graph_build *b)
{
    tl_graph_hosts *h = tl_calloc(1, sizeof *h);
    for (size_t i = 0; i < b->calls->waits.n; i++)
        add_call(b, h, &b->calls->waits.v[i]);
    for (uint32_t l = 0; l < b->nlaunches; l++)
        add_launch(b, h, l);
    int64_t last = INT64_MIN; /* last known instant of the host; later step marks are left out */
    TL_EACH (const instant, at, h->instants)
        last = tl_ns_max(last, at->ns);
    for (size_t s = 0; s < b->view->nsteps; s++) {
        int64_t mark = tl_graph_host_time(b, b->view->steps[s].start_ns);
        if (mark <= last)
            tl_vec_push(&h->instants, (instant){ mark, TL_NONE, TL_NONE, TL_NONE, AT_MARK });
    }
    if (b->calls->begin_ns < last)
        tl_vec_push(&h->instants,
                    (instant){ tl_graph_host_time(b, b->calls->begin_ns), TL_NONE, TL_NONE, TL_NONE, AT_MARK });
    tl_vec_sort(&h->instants, by_time);
    end_waits_first(h);
    tl_grow((void **)&b->nodes.v, &b->nodes.cap, h->instants.n + b->view->nkernels + b->view->ncolls + 1,
            sizeof *b->nodes.v);
    add_nodes(b, h);
    free(h->instants.v);
    h->instants.v = NULL;
    return h;
}

void tl_graph_released(tl_graph_build *b, const tl_graph_hosts *hosts)
{
    TL_EACH (const host_wait, w, hosts->waits) {
        if (w->release != TL_NONE)
            tl_graph_edge(b, b->placed[w->release].end, w->end, w->end_ns - b->view->kernels[w->release].end_ns, 0);
        else if (tl_may_have_waited(w->call))
            tl_graph_pause(b,
                           (tl_pause){ .calls = w->call->calls,
                                       .ns = w->end_ns - w->start_ns,
                                       .begin = w->begin,
                                       .end = w->end,
                                       .called = w->call->kind == TL_CALL_UNKNOWN },
                           w->start_ns, w->end_ns);
    }
}

void tl_graph_label_waits(const tl_graph_hosts *hosts, tl_labelling *labelling)
{
    TL_EACH (const host_wait, w, hosts->waits)
        if (w->call != NULL)
            tl_graph_label(labelling, w->begin, w->end, w->call->name, w->call->op, w->call->annotation,
                           (tl_node_label){ .names = { .device = -1, .stream = -1 }, .kind = TL_SYNC });
}

void tl_graph_hosts_free(tl_graph_hosts *hosts)
{
    if (hosts == NULL)
        return;
    free(hosts->waits.v);
    free(hosts->instants.v);
    free(hosts);
}
