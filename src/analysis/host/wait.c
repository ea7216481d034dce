/* wait.c - which calls held the host, as far as a view can tell. */
#include "tlmpi/analysis/host.h"
#include "tlmpi/analysis/time.h"
#include "tlmpi/base/hash.h"
#include "tlmpi/base/mem.h"
#include "tlmpi/base/sort.h"
#include <stdlib.h>

void tl_host_waits_free(tl_host_waits *waits)
{
    free(waits->v);
    *waits = (tl_host_waits){ 0 };
}

bool tl_wait_kind_of(tl_text name, tl_wait_kind *kind)
{
    static const struct {
        const char *needle;
        tl_wait_kind kind;
    } rules[] = {
        { "DeviceSynchronize", TL_WAIT_DEVICE }, { "CtxSynchronize", TL_WAIT_DEVICE },
        { "Context Sync", TL_WAIT_DEVICE },      { "StreamSynchronize", TL_WAIT_STREAM },
        { "Stream Sync", TL_WAIT_STREAM },       { "EventSynchronize", TL_WAIT_EVENT },
        { "Event Sync", TL_WAIT_EVENT },
    };
    if (tl_text_is(name, "cudaFree") ||
        tl_text_is(name, "hipFree")) { /* not until nothing can use the memory any more */
        *kind = TL_WAIT_FREE;
        return true;
    }
    for (size_t i = 0; i < sizeof rules / sizeof rules[0]; i++) {
        if (tl_text_has(name, rules[i].needle)) {
            *kind = rules[i].kind;
            return true;
        }
    }
    return false;
}

static bool add(tl_host_waits *waits, tl_host_wait wait)
{
    if (wait.end_ns <= wait.start_ns)
        return true;
    if (!tl_vec_room(waits))
        return false;
    waits->v[waits->n++] = wait;
    return true;
}

/* What the device recorded of waits, on its own clock: second best to the calls themselves. */
static bool add_recorded(const tl_rank_view *view, tl_host_waits *waits)
{
    if (view->calls.n > 0)
        return true;
    for (size_t i = 0; i < view->nsyncs; i++) {
        const tl_sync *s = &view->syncs[i];
        tl_wait_kind kind;
        if (s->name == TL_NO_NAME || !tl_wait_kind_of(tl_names_text(view->names, s->name), &kind))
            continue;
        int64_t start = s->call_ns != TL_TIME_UNKNOWN && s->call_ns < s->start_ns ? s->call_ns : s->start_ns;
        if (!add(waits, (tl_host_wait){ start, s->end_ns, s->device, s->stream, kind }))
            return false;
    }
    return true;
}

/* Whether calls of a name wait, looked at once a name. */
typedef struct waiting_names {
    uint8_t *known; /* by name: 0 not yet, 1 it waits, 2 it does not */
    tl_wait_kind *kind;
} waiting_names;

static bool waits_by_name(const tl_rank_view *view, waiting_names *names, uint32_t name, tl_wait_kind *kind)
{
    if (name == TL_NO_NAME)
        return false;
    if (names->known[name] == 0)
        names->known[name] = tl_wait_kind_of(tl_names_text(view->names, name), &names->kind[name]) ? 1 : 2;
    *kind = names->kind[name];
    return names->known[name] == 1;
}

static bool add_thread(const tl_rank_view *view, const tl_thread *thread, waiting_names *names, tl_host_waits *waits)
{
    const tl_calls *calls = &view->calls;
    tl_wait_kind kind;

    for (size_t i = thread->first; i < thread->first + thread->n; i++) {
        if (!waits_by_name(view, names, calls->name[i], &kind))
            continue;
        const tl_place *place = &view->places[calls->place[i]];
        int64_t start = calls->start_ns[i], end = start + calls->dur_ns[i];
        if (!add(waits, (tl_host_wait){ start, end, place->device, place->stream, kind }))
            return false;
    }
    return true;
}

/* Calls that wait, on threads that launch: what other threads wait for keeps nobody. */
static bool add_called(const tl_rank_view *view, tl_host_waits *waits)
{
    if (view->calls.n == 0)
        return true;
    size_t n = view->names->n;
    waiting_names names = { tl_calloc(n + 1, sizeof *names.known), tl_calloc(n + 1, sizeof *names.kind) };
    tl_map launching = { 0 };
    bool ok = names.known != NULL && names.kind != NULL && tl_launching_tracks(view, &launching);

    for (size_t t = 0; ok && t < view->calls.nthreads; t++)
        if (tl_map_get(&launching, view->calls.threads[t].track) != TL_MAP_NONE)
            ok = add_thread(view, &view->calls.threads[t], &names, waits);
    tl_map_free(&launching);
    free(names.known);
    free(names.kind);
    return ok;
}

/* Calls that come back when the copy is done. */
static bool is_blocking_copy(tl_text call)
{
    static const char *const names[] = { "cudaMemcpy", "cudaMemcpy2D", "hipMemcpy", "hipMemcpyWithStream",
                                         "hipMemcpyDtoH" };
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (tl_text_is(call, names[i]))
            return true;
    return tl_text_starts(call, "cuMemcpy") && !tl_text_has(call, "Async");
}

/* Copies that the call itself waited for: by its name, or because it outlasted the copy. */
static bool add_copies(const tl_rank_view *view, tl_host_waits *waits)
{
    for (size_t i = 0; i < view->nkernels; i++) {
        const tl_kernel *k = &view->kernels[i];
        if (k->launch == TL_NONE || k->kind != TL_MEMCPY)
            continue;
        const tl_launch *l = &view->launches[k->launch];
        bool blocks = l->name != TL_NO_NAME && is_blocking_copy(tl_names_text(view->names, l->name));
        /* Who reads a result waits for the stream that computes it; who copies to the device waits for the copy. */
        tl_wait_kind kind = tl_part_of_work(view, k) == TL_PART_H2D ? TL_WAIT_COPY : TL_WAIT_STREAM;
        if (l->nkernels == 1 && (blocks || (k->end_ns > l->start_ns && l->end_ns >= k->end_ns)) &&
            !add(waits, (tl_host_wait){ l->start_ns, l->end_ns, k->device, k->stream, kind }))
            return false;
    }
    return true;
}

tl_status tl_host_waits_find(const tl_rank_view *view, tl_host_waits *waits, tl_error *err)
{
    bool ok = add_recorded(view, waits) && add_called(view, waits) && add_copies(view, waits) &&
              tl_host_waits_held(view, waits) && tl_host_waits_infer(view, waits);
    return ok ? TL_OK : tl_fail_memory(err, "the waits of a host");
}

static int by_time(const void *a, const void *b)
{
    const tl_host_wait *x = a, *y = b;
    if (x->start_ns != y->start_ns)
        return x->start_ns < y->start_ns ? -1 : 1;
    if (x->end_ns != y->end_ns)
        return x->end_ns > y->end_ns ? -1 : 1;
    return TL_COMPARE(x->kind, y->kind);
}

void tl_host_waits_sort(tl_host_waits *waits)
{
    size_t kept = 0;

    if (waits->n > 1)
        qsort(waits->v, waits->n, sizeof *waits->v, by_time);
    for (size_t i = 0; i < waits->n; i++) {
        tl_host_wait *last = kept > 0 ? &waits->v[kept - 1] : NULL;
        if (waits->v[i].end_ns <= waits->v[i].start_ns)
            continue;
        if (last == NULL || waits->v[i].start_ns >= last->end_ns)
            waits->v[kept++] = waits->v[i];
        else if (waits->v[i].end_ns > last->end_ns)
            last->end_ns = waits->v[i].end_ns;
    }
    waits->n = kept;
}
