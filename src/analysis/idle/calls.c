/* calls.c - finds the calls of a rank that tell how a device ran dry.
 *
 *     waits      cudaStreamSynchronize and the like, copies that block, cudaFree
 *     holds      cudaStreamWaitEvent
 *     launches   of kernels and graphs, and copies
 *
 * A wait has the stream that it waits for, where the call or the profiler's record of it (cuda_sync) says which.  A
 * hold has the stream that waits; where nothing says which, that of the work its thread queued next.
 */
#include "internal.h"
#include "tlmpi/base/stats.h"
#include <stdlib.h>

/* ---------------------------------------------------------------------------------------------------- waits, holds */

/* The recorded wait with the call's correlation, or NULL. */
static const tl_sync *sync_of(const tl_idle_rank *k, const tl_map *syncs, uint32_t call)
{
    int64_t correlation = k->view->calls.correlation[call];
    uint32_t i = correlation > 0 ? tl_map_get(syncs, (uint64_t)correlation) : TL_MAP_NONE;
    return i != TL_MAP_NONE ? &k->view->syncs[i] : NULL;
}

static void add_wait(tl_idle_rank *k, const tl_map *syncs, uint32_t call, uint8_t kind)
{
    const tl_calls *c = &k->view->calls;
    const tl_sync *sync = sync_of(k, syncs, call);
    const tl_stream_id *stream = &k->view->streams[c->stream[call]];
    tl_idle_wait w = { .start_ns = c->start_ns[call],
                       .end_ns = c->start_ns[call] + c->dur_ns[call],
                       .call = call,
                       .uid = c->uid[call],
                       .device = stream->device,
                       .stream = -1,
                       .kind = kind };

    if (kind == TL_SYNC_H2D || kind == TL_SYNC_D2H) {
        const tl_kernel *copy = tl_idle_copy_of_call(k, call);
        w.device = copy != NULL ? copy->device : w.device;
    } else if (sync != NULL && sync->device >= 0) {
        w.device = sync->device;
    }
    if (kind == TL_SYNC_STREAM)
        w.stream = sync != NULL && sync->stream >= 0 ? sync->stream : stream->stream;
    else if (kind == TL_SYNC_EVENT && sync != NULL)
        w.stream = sync->wait_on_stream;
    tl_vec_room(&k->waits);
    k->waits.v[k->waits.n++] = w;
}

/* A hold whose stream nothing tells. */
typedef struct unplaced {
    int64_t start_ns;
    uint32_t track;
} unplaced;

static int by_start_back(const void *a, const void *b)
{
    const unplaced *x = a, *y = b;
    return x->start_ns > y->start_ns ? -1 : x->start_ns < y->start_ns;
}

static void add_hold(tl_idle_rank *k, int32_t device, int32_t stream, int64_t start_ns)
{
    tl_vec_room(&k->holds);
    k->holds.v[k->holds.n++] = (tl_idle_hold){ device >= 0 ? device : -1, stream, start_ns };
}

/* Gives holds of unknown streams that of the next launch of their thread. */
static void place_holds(tl_idle_rank *k, unplaced *v, size_t n)
{
    tl_map next = { 0 }; /* track -> launch */
    size_t launch = k->view->nlaunches;

    if (n > 0)
        qsort(v, n, sizeof *v, by_start_back);
    for (size_t i = 0; i < n; i++) {
        for (; launch > 0 && k->view->launches[launch - 1].start_ns >= v[i].start_ns; launch--)
            if (k->first_kernel[launch - 1] != TL_NONE)
                tl_map_put(&next, k->view->launches[launch - 1].track, (uint32_t)(launch - 1));
        uint32_t at = tl_map_get(&next, v[i].track);
        if (at == TL_MAP_NONE)
            continue;
        const tl_kernel *work = &k->view->kernels[k->first_kernel[at]];
        add_hold(k, work->device, work->stream, v[i].start_ns);
    }
    tl_map_free(&next);
}

/* ------------------------------------------------------------------------------------------------------- the whole */

/* What the passes below collect. */
typedef struct collected {
    TL_VEC(unplaced) unplaced;
    tl_map syncs; /* correlation -> recorded wait */
} collected;

static void take_hold(tl_idle_rank *k, uint32_t call, uint32_t track, collected *c)
{
    const tl_sync *sync = sync_of(k, &c->syncs, call);
    const tl_stream_id *stream = &k->view->streams[k->view->calls.stream[call]];
    int64_t start = k->view->calls.start_ns[call];

    if (sync != NULL && sync->stream >= 0) {
        add_hold(k, sync->device, sync->stream, start);
        return;
    }
    if (stream->stream >= 0) {
        add_hold(k, stream->device, stream->stream, start);
        return;
    }
    tl_vec_room(&c->unplaced);
    c->unplaced.v[c->unplaced.n++] = (unplaced){ start, track };
}

static void take_calls(tl_idle_rank *k, collected *c)
{
    const tl_calls *calls = &k->view->calls;

    for (size_t t = 0; t < calls->nthreads; t++) {
        const tl_thread *thread = &calls->threads[t];
        for (size_t i = thread->first; i < thread->first + thread->n; i++) {
            const tl_idle_call *name = tl_idle_call_named(k, calls->name[i]);
            if (name->plain)
                continue;
            uint32_t call = (uint32_t)i;
            uint8_t kind = tl_idle_wait_kind(k, call, name);
            if (kind != TL_SYNC_NONE)
                add_wait(k, &c->syncs, call, kind);
            if (name->graph || name->kernel || name->copy || name->captures != 0)
                tl_idle_take_launch(k, call);
            if (name->stream_waits)
                take_hold(k, call, thread->track, c);
        }
    }
}

static int by_start(const void *a, const void *b)
{
    const tl_idle_wait *x = a, *y = b;
    if (x->start_ns != y->start_ns)
        return x->start_ns < y->start_ns ? -1 : 1;
    return x->uid < y->uid ? -1 : x->uid > y->uid;
}

static int by_stream(const void *a, const void *b)
{
    const tl_idle_hold *x = a, *y = b;
    if (x->stream != y->stream)
        return x->stream < y->stream ? -1 : 1;
    if (x->device != y->device)
        return x->device < y->device ? -1 : 1;
    return x->start_ns < y->start_ns ? -1 : x->start_ns > y->start_ns;
}

/* The first work of each launch, by (start, uid). */
static void find_first_kernels(tl_idle_rank *k)
{
    const tl_rank_view *v = k->view;

    k->first_kernel = tl_malloc((v->nlaunches + 1) * sizeof *k->first_kernel);
    for (size_t i = 0; i < v->nlaunches; i++)
        k->first_kernel[i] = TL_NONE;
    for (size_t i = 0; i < v->nkernels; i++) {
        const tl_kernel *a = &v->kernels[i], *b;
        if (a->launch == TL_NONE)
            continue;
        uint32_t *first = &k->first_kernel[a->launch];
        b = *first != TL_NONE ? &v->kernels[*first] : NULL;
        if (b == NULL || a->start_ns < b->start_ns || (a->start_ns == b->start_ns && a->uid < b->uid))
            *first = (uint32_t)i;
    }
}

/* The thread that counts where no work has a launch: the one with the most calls, of equals that with the most
 * operators, then the one met first. */
static void find_main_thread(tl_idle_rank *k)
{
    const tl_calls *c = &k->view->calls;
    const tl_ops *o = &k->view->ops;
    size_t most_calls = 0, most_ops = 0, i = 0, j = 0;

    k->main_track = TL_NONE;
    while (i < c->nthreads || j < o->nthreads) {
        uint32_t a = i < c->nthreads ? c->threads[i].track : TL_NONE,
                 b = j < o->nthreads ? o->threads[j].track : TL_NONE;
        uint32_t track = a < b ? a : b;
        size_t calls = a == track ? c->threads[i++].n : 0, ops = b == track ? o->threads[j++].n : 0;
        if (k->main_track == TL_NONE || calls > most_calls || (calls == most_calls && ops > most_ops)) {
            k->main_track = track;
            most_calls = calls;
            most_ops = ops;
        }
    }
}

static void map_syncs(const tl_idle_rank *k, tl_map *syncs)
{
    for (size_t i = 0; i < k->view->nsyncs; i++)
        if (k->view->syncs[i].correlation > 0)
            tl_map_put(syncs, (uint64_t)k->view->syncs[i].correlation, (uint32_t)i);
}

void tl_idle_prepare(tl_idle_rank *k)
{
    collected c = { 0 };
    size_t nnames = k->view->names->n;

    k->name = tl_malloc((nnames + 1) * sizeof *k->name);
    k->name_known = tl_calloc(nnames + 1, 1);
    find_first_kernels(k);
    map_syncs(k, &c.syncs);
    take_calls(k, &c);
    place_holds(k, c.unplaced.v, c.unplaced.n);
    tl_idle_lost_find(k);
    if (k->waits.n > 0)
        qsort(k->waits.v, k->waits.n, sizeof *k->waits.v, by_start);
    if (k->holds.n > 0)
        qsort(k->holds.v, k->holds.n, sizeof *k->holds.v, by_stream);
    find_main_thread(k);
    for (size_t i = 0; i < k->view->ops.n; i++)
        k->nops[k->view->ops.kind[i]]++;
    free(c.unplaced.v);
    tl_map_free(&c.syncs);
    tl_idle_find_ends(k);
    tl_idle_drain_prepare(k);
}

void tl_idle_free(tl_idle_rank *k)
{
    free(k->first_kernel);
    free(k->end_ns);
    free(k->reach_ns);
    free(k->name);
    free(k->name_known);
    free(k->waits.v);
    free(k->of_all.wait);
    free(k->of_device.wait);
    tl_below_free(&k->of_all.latest);
    tl_below_free(&k->of_device.latest);
    free(k->holds.v);
    free(k->launches.v);
    free(k->lost.v);
    free(k->places.v);
    free(k->noise.v);
}
