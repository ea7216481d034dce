/* calls.c - lists the calls of a rank that tell how a device ran dry.
 *
 *     waits      cudaStreamSynchronize and similar, blocking copies, cudaFree
 *     holds      cudaStreamWaitEvent
 *     launches   of kernels and graphs, and copies
 *
 * A wait has the stream that the call waits for, if the call or the profiler's record of the wait (cuda_sync) names it.
 * A hold has the stream that is made to wait; if nothing names it, the stream of the work that the thread queued
 * next.
 */
#include "internal.h"
#include <stdlib.h>

static uint8_t direction_named(tl_text name)
{
    if (tl_text_has(name, "DtoH") || tl_text_has(name, "DeviceToHost"))
        return TL_SYNC_D2H;
    return tl_text_has(name, "HtoD") || tl_text_has(name, "HostToDevice") ? TL_SYNC_H2D : TL_SYNC_NONE;
}

const tl_idle_call *tl_idle_classify_call(tl_idle_rank *k, size_t name)
{
    tl_idle_call *call = &k->name[name];
    tl_text text = tl_names_text(k->view->names, (uint32_t)name);
    call->rule = tl_call_rule_of(text);
    call->direction = call->rule->does == TL_DOES_COPY ? direction_named(text) : TL_SYNC_NONE;
    call->captures = tl_text_has(text, "StreamBeginCapture") ? 1 : tl_text_has(text, "StreamEndCapture") ? -1 : 0;
    bool frees = call->rule->does == TL_DOES_FREE && call->rule->after == TL_AFTER_ALL;
    bool allocates = call->rule->does == TL_DOES_ALLOCATE && call->rule->after == TL_AFTER_ALL_IF_LONG;
    bool acts = call->rule->does == TL_DOES_WAIT || call->rule->does == TL_DOES_HOLD ||
                call->rule->does == TL_DOES_COPY || tl_idle_launches(call);
    call->plain = !frees && !allocates && !acts && call->captures == 0;
    return call;
}

/* ----------------------------------------------------------------------------------------------------------- calls */

bool tl_idle_is_later_graph_node(tl_idle_rank *k, const tl_idle_gap *g)
{
    return g->launch != TL_NONE && k->first_kernel[g->launch] != g->next &&
           tl_idle_launches_graph(tl_idle_call_named(k, k->view->launches[g->launch].name));
}

uint32_t tl_idle_launch_of_call(const tl_rank_view *view, size_t call)
{
    const tl_launch *l = view->launches;
    int64_t start_ns = view->calls.start_ns[call];
    uint32_t uid = view->calls.uid[call];
    size_t low = 0;
    TL_BISECT(low, view->nlaunches, i, l[i].start_ns < start_ns || (l[i].start_ns == start_ns && l[i].uid < uid));
    return low < view->nlaunches && l[low].uid == uid ? (uint32_t)low : TL_NONE;
}

/* Returns the copy on the device that the call queued; NULL: there is none. */
static const tl_kernel *copy_of_call(const tl_idle_rank *k, size_t call)
{
    uint32_t launch = tl_idle_launch_of_call(k->view, call);
    if (launch == TL_NONE || k->first_kernel[launch] == TL_NONE)
        return NULL;
    const tl_kernel *copy = &k->view->kernels[k->first_kernel[launch]];
    return copy->kind == TL_MEMCPY ? copy : NULL;
}

/* Returns the direction of a blocking copy; TL_SYNC_NONE: the call does not block.  Direction from the copy itself; if
 * its name has none (ROCm calls a copy to pinned memory one on the device), from the arguments of the HIP call, then
 * from the call's name. */
static uint8_t blocking_direction_of(const tl_idle_rank *k, size_t call, const tl_idle_call *name)
{
    const tl_calls *c = &k->view->calls;
    const tl_kernel *copy = copy_of_call(k, call);
    uint8_t direction = TL_SYNC_NONE;
    bool blocks = name->rule->after != TL_AFTER_PERHAPS;

    if (copy != NULL) {
        tl_text text = tl_names_text(k->view->names, copy->name);
        direction = direction_named(text);
        blocks = tl_text_has(text, "Pageable") || tl_call_end(c, call) >= copy->end_ns;
    }
    if (direction == TL_SYNC_NONE)
        direction = c->copy[call] == 2 ? TL_SYNC_D2H : c->copy[call] == 1 ? TL_SYNC_H2D : name->direction;
    return blocks ? direction : TL_SYNC_NONE;
}

uint8_t tl_idle_wait_kind(const tl_idle_rank *k, size_t call, const tl_idle_call *name)
{
    uint8_t after = name->rule->after;
    switch (name->rule->does) {
    case TL_DOES_COPY:
        return blocking_direction_of(k, call, name);
    case TL_DOES_WAIT:
        return after == TL_AFTER_STREAM ? TL_SYNC_STREAM : after == TL_AFTER_EVENT ? TL_SYNC_EVENT : TL_SYNC_DEVICE;
    case TL_DOES_FREE:
        return after == TL_AFTER_ALL ? TL_SYNC_IMPLICIT : TL_SYNC_NONE;
    case TL_DOES_ALLOCATE:
        return after == TL_AFTER_ALL_IF_LONG && k->view->calls.dur_ns[call] > k->config->implicit_ns ? TL_SYNC_IMPLICIT
                                                                                                     : TL_SYNC_NONE;
    default:
        return TL_SYNC_NONE;
    }
}

/* ---------------------------------------------------------------------------------------------------- waits, holds */

/* A hold of an unknown stream. */
typedef struct unplaced {
    int64_t start_ns;
    uint32_t track;
} unplaced;

typedef struct collecting {
    tl_idle_rank *k;
    TL_VEC(unplaced) unplaced;
    tl_map syncs; /* correlation -> recorded wait */
} collecting;

/* Returns the recorded wait with the call's correlation; NULL: there is none. */
static const tl_sync *sync_of(const collecting *c, uint32_t call)
{
    int64_t correlation = c->k->view->calls.correlation[call];
    uint32_t i = correlation > 0 ? tl_map_get(&c->syncs, (uint64_t)correlation) : TL_MAP_NONE;
    return i != TL_MAP_NONE ? &c->k->view->syncs[i] : NULL;
}

static void add_wait(collecting *c, uint32_t call, uint8_t kind)
{
    const tl_rank_view *view = c->k->view;
    const tl_sync *sync = sync_of(c, call);
    const tl_stream_id *stream = &view->streams[view->calls.stream[call]];
    tl_idle_wait w = { .start_ns = view->calls.start_ns[call],
                       .end_ns = tl_call_end(&view->calls, call),
                       .call = call,
                       .uid = view->calls.uid[call],
                       .device = stream->device,
                       .stream = -1,
                       .kind = kind };

    if (kind == TL_SYNC_H2D || kind == TL_SYNC_D2H) {
        const tl_kernel *copy = copy_of_call(c->k, call);
        w.device = copy != NULL ? copy->device : w.device;
    } else if (sync != NULL && sync->device >= 0) {
        w.device = sync->device;
    }
    if (kind == TL_SYNC_STREAM)
        w.stream = sync != NULL && sync->stream >= 0 ? sync->stream : stream->stream;
    else if (kind == TL_SYNC_EVENT && sync != NULL)
        w.stream = sync->wait_on_stream;
    tl_vec_push(&c->k->waits, w);
}

static void add_event_wait(tl_idle_rank *k, int32_t device, int32_t stream, int64_t start_ns)
{
    tl_vec_push(&k->holds, (tl_idle_event_wait){ device >= 0 ? device : -1, stream, start_ns });
}

static void add_hold(collecting *c, uint32_t call, uint32_t track)
{
    const tl_sync *sync = sync_of(c, call);
    const tl_stream_id *stream = &c->k->view->streams[c->k->view->calls.stream[call]];
    int64_t start_ns = c->k->view->calls.start_ns[call];

    if (sync != NULL && sync->stream >= 0)
        add_event_wait(c->k, sync->device, sync->stream, start_ns);
    else if (stream->stream >= 0)
        add_event_wait(c->k, stream->device, stream->stream, start_ns);
    else
        tl_vec_push(&c->unplaced, (unplaced){ start_ns, track });
}

TL_SORT_BY(by_start_descending, unplaced, DOWN(start_ns))

/* Gives event waits of unknown streams the stream of the next launch of their thread. */
static void assign_event_waits(collecting *c)
{
    const tl_rank_view *view = c->k->view;
    tl_map next = { 0 }; /* track -> first work of its next launch */
    size_t launch = view->nlaunches;

    tl_vec_sort(&c->unplaced, by_start_descending);
    TL_EACH (const unplaced, hold, c->unplaced) {
        for (; launch > 0 && view->launches[launch - 1].start_ns >= hold->start_ns; launch--)
            if (c->k->first_kernel[launch - 1] != TL_NONE)
                tl_map_put(&next, view->launches[launch - 1].track, c->k->first_kernel[launch - 1]);
        uint32_t work = tl_map_get(&next, hold->track);
        if (work != TL_MAP_NONE)
            add_event_wait(c->k, view->kernels[work].device, view->kernels[work].stream, hold->start_ns);
    }
    tl_map_free(&next);
}

TL_SORT_BY(by_start, tl_idle_wait, start_ns, uid)
TL_SORT_BY(by_stream, tl_idle_event_wait, stream, device, start_ns)

static void list_calls(tl_idle_rank *k)
{
    const tl_calls *calls = &k->view->calls;
    collecting c = { .k = k };

    for (uint32_t i = 0; i < k->view->nsyncs; i++)
        if (k->view->syncs[i].correlation > 0)
            tl_map_put(&c.syncs, (uint64_t)k->view->syncs[i].correlation, i);
    for (size_t t = 0; t < calls->nthreads; t++)
        for (size_t i = calls->threads[t].first; i < calls->threads[t].first + calls->threads[t].n; i++) {
            const tl_idle_call *name = tl_idle_call_named(k, calls->name[i]);
            if (name->plain)
                continue;
            uint32_t call = (uint32_t)i;
            uint8_t kind = tl_idle_wait_kind(k, call, name);
            if (kind != TL_SYNC_NONE)
                add_wait(&c, call, kind);
            if (tl_idle_launches(name) || name->rule->does == TL_DOES_COPY || name->captures != 0)
                tl_idle_take_launch(k, call);
            if (name->rule->does == TL_DOES_HOLD)
                add_hold(&c, call, calls->threads[t].track);
        }
    assign_event_waits(&c);
    tl_vec_sort(&k->waits, by_start);
    tl_vec_sort(&k->holds, by_stream);
    free(c.unplaced.v);
    tl_map_free(&c.syncs);
}

/* ------------------------------------------------------------------------------------------------------- the whole */

/* Fills the first work of each launch, by (start, uid). */
static void find_first_kernels(tl_idle_rank *k)
{
    const tl_rank_view *v = k->view;

    k->first_kernel = tl_malloc_none(v->nlaunches);
    for (size_t i = 0; i < v->nlaunches; i++)
        k->ntracks = v->launches[i].track >= k->ntracks ? v->launches[i].track + 1 : k->ntracks;
    for (uint32_t i = 0; i < v->nkernels; i++) {
        if (v->kernels[i].launch == TL_NONE)
            continue;
        uint32_t *first = &k->first_kernel[v->kernels[i].launch];
        if (*first == TL_NONE || tl_kernel_by_start_uid(v->kernels, i, *first) < 0)
            *first = i;
    }
}

/* Finds the thread for gaps whose work has no launch: the one with the most calls; ties by operators, descending, then
 * by track, ascending. */
static void find_main_thread(tl_idle_rank *k)
{
    const tl_calls *c = &k->view->calls;
    const tl_ops *o = &k->view->ops;
    size_t most_calls = 0, most_ops = 0, i = 0, j = 0;

    k->main_track = TL_NONE;
    while (i < c->nthreads || j < o->nthreads) {
        uint32_t a = i < c->nthreads ? c->threads[i].track : TL_NONE,
                 b = j < o->nthreads ? o->threads[j].track : TL_NONE;
        size_t calls = a <= b ? c->threads[i++].n : 0, ops = b <= a ? o->threads[j++].n : 0;
        if (k->main_track == TL_NONE || calls > most_calls || (calls == most_calls && ops > most_ops)) {
            k->main_track = a < b ? a : b;
            most_calls = calls;
            most_ops = ops;
        }
    }
}

void tl_idle_prepare(tl_idle_rank *k)
{
    k->name = tl_calloc(k->view->names->n + 1, sizeof *k->name);
    find_first_kernels(k);
    list_calls(k);
    tl_idle_lost_find(k);
    find_main_thread(k);
    for (size_t i = 0; i < k->view->ops.n; i++)
        k->nops[k->view->ops.kind[i]]++;
    tl_idle_find_ends(k);
    tl_idle_drain_prepare(k);
}

void tl_idle_free(tl_idle_rank *k)
{
    free(k->first_kernel);
    free(k->end_ns);
    free(k->reach_ns);
    free(k->name);
    free(k->waits.v);
    free(k->by_end);
    free(k->holds.v);
    free(k->launches.v);
    free(k->lost.v);
    free(k->gap_annotations.v);
    free(k->noise.v);
}
