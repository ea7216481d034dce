/* call.c - a call of the runtime or driver: what it is, by its name; what it queued, and what it waits for.
 *
 *     cuMemFree_v2  =  prefix cu | MemFree | version _v2
 *
 * The same call has a name in each runtime, in the driver's interface, for the stream of each thread and for each
 * version of its arguments: so it is known by what is left without prefix and version.
 */
#include "parts.h"
#include "tlmpi/base/sort.h"

/* ----------------------------------------------------------------------------------------------------------- names */

static bool ends(tl_text t, const char *word)
{
    size_t n = strlen(word);
    return t.n >= n && memcmp(t.p + t.n - n, word, n) == 0;
}

static bool one_of(tl_text t, const char *const *words)
{
    for (; *words != NULL; words++)
        if (tl_text_is(t, *words))
            return true;
    return false;
}

/* Takes off cuda, hip or cu, where a capital follows; false for other names. */
static bool strip_prefix(tl_text *t)
{
    static const char *const prefixes[] = { "cuda", "hip", "cu" };
    for (size_t i = 0; i < sizeof prefixes / sizeof prefixes[0]; i++) {
        size_t n = strlen(prefixes[i]);
        if (!tl_text_starts(*t, prefixes[i]) || t->n == n || t->p[n] < 'A' || t->p[n] > 'Z')
            continue;
        t->p += n;
        t->n -= n;
        return true;
    }
    return false;
}

/* Takes off _v2, _v11060, _ptsz, _ptds, _spt, as many as there are. */
static void strip_versions(tl_text *t)
{
    for (size_t before = 0; before != t->n;) {
        before = t->n;
        size_t digits = 0;
        while (digits < t->n && t->p[t->n - 1 - digits] >= '0' && t->p[t->n - 1 - digits] <= '9')
            digits++;
        if (digits > 0 && ends((tl_text){ t->p, t->n - digits }, "_v"))
            t->n -= digits + 2;
        else if (ends(*t, "_ptsz") || ends(*t, "_ptds"))
            t->n -= 5;
        else if (ends(*t, "_spt"))
            t->n -= 4;
    }
}

/* "Launch" with "Kernel" somewhere behind it. */
static bool launches_kernel(tl_text t)
{
    for (size_t i = 0; i + 6 <= t.n; i++)
        if (memcmp(t.p + i, "Launch", 6) == 0)
            return tl_text_has((tl_text){ t.p + i + 6, t.n - i - 6 }, "Kernel");
    return false;
}

static bool allocates(tl_text t)
{
    return tl_text_has(t, "Malloc") || tl_text_has(t, "Alloc") || tl_text_has(t, "Free") ||
           tl_text_has(t, "HostRegister") || tl_text_has(t, "HostUnregister");
}

static uint8_t direction_named(tl_text name)
{
    if (tl_text_has(name, "DtoH") || tl_text_has(name, "DeviceToHost"))
        return TL_SYNC_D2H;
    return tl_text_has(name, "HtoD") || tl_text_has(name, "HostToDevice") ? TL_SYNC_H2D : TL_SYNC_NONE;
}

static uint8_t synchronizes(tl_text t)
{
    static const char *const device[] = { "DeviceSynchronize", "CtxSynchronize", "ThreadSynchronize", NULL };
    if (one_of(t, device))
        return TL_SYNC_DEVICE;
    return tl_text_is(t, "StreamSynchronize")  ? TL_SYNC_STREAM
           : tl_text_is(t, "EventSynchronize") ? TL_SYNC_EVENT
                                               : TL_SYNC_NONE;
}

static tl_idle_call call_named(tl_text t)
{
    static const char *const implicit[] = { "Free",        "MemFree",        "FreeHost",          "HostFree",
                                            "MemFreeHost", "HostUnregister", "MemHostUnregister", NULL };
    static const char *const long_ones[] = { "Malloc", "MemAlloc", NULL };
    tl_idle_call out = { .call = TL_CALL_OTHER };

    strip_versions(&t);
    if (!strip_prefix(&t))
        return out;
    out.graph = ends(t, "GraphLaunch");
    out.stream_waits = tl_text_is(t, "StreamWaitEvent");
    out.copy = tl_text_starts(t, "Memcpy");
    out.async = tl_text_has(t, "Async");
    out.direction = out.copy ? direction_named(t) : TL_SYNC_NONE;
    out.implicit_if_long = one_of(t, long_ones);
    out.wait = one_of(t, implicit) ? TL_SYNC_IMPLICIT : synchronizes(t);
    if (out.graph || launches_kernel(t))
        out.call = TL_CALL_LAUNCH;
    else if (!out.copy && allocates(t))
        out.call = TL_CALL_ALLOC;
    return out;
}

/* ----------------------------------------------------------------------------------------------------------- calls */

const tl_idle_call *tl_idle_look_at(tl_idle_rank *k, uint32_t name)
{
    static const tl_idle_call nameless = { .call = TL_CALL_OTHER, .plain = true };
    if (name == TL_NO_NAME)
        return &nameless;
    tl_idle_call *call = &k->name[name];
    *call = call_named(tl_names_text(k->view->names, name));
    call->plain =
        call->wait == TL_SYNC_NONE && !call->implicit_if_long && !call->copy && !call->graph && !call->stream_waits;
    k->name_known[name] = 1;
    return call;
}

bool tl_idle_is_graph(tl_idle_rank *k, uint32_t launch)
{
    return tl_idle_call_named(k, k->view->launches[launch].name)->graph;
}

bool tl_idle_is_later_node(tl_idle_rank *k, const tl_idle_gap *g)
{
    return g->launch != TL_NONE && k->first_kernel[g->launch] != g->next && tl_idle_is_graph(k, g->launch);
}

static bool is_before(const tl_launch *l, int64_t start_ns, uint32_t uid)
{
    return l->start_ns < start_ns || (l->start_ns == start_ns && l->uid < uid);
}

uint32_t tl_idle_launch_of_call(const tl_rank_view *view, uint32_t call)
{
    uint32_t uid = view->calls.uid[call];
    size_t low = 0;
    TL_BISECT(low, view->nlaunches, mid, is_before(&view->launches[mid], view->calls.start_ns[call], uid));
    return low < view->nlaunches && view->launches[low].uid == uid ? (uint32_t)low : TL_NONE;
}

const tl_kernel *tl_idle_copy_of_call(const tl_idle_rank *k, uint32_t call)
{
    uint32_t launch = tl_idle_launch_of_call(k->view, call);
    if (launch == TL_NONE || k->first_kernel[launch] == TL_NONE)
        return NULL;
    const tl_kernel *copy = &k->view->kernels[k->first_kernel[launch]];
    return copy->kind == TL_MEMCPY ? copy : NULL;
}

/* The direction as the arguments of a HIP call say. */
static uint8_t direction_of_args(const tl_idle_rank *k, uint32_t call)
{
    int8_t kind = k->view->calls.copy[call];
    return kind == 2 ? TL_SYNC_D2H : kind == 1 ? TL_SYNC_H2D : TL_SYNC_NONE;
}

/* By the copy itself.  Where that says nothing (ROCm calls a copy to pinned memory one on the device) by the call. */
static uint8_t blocking_copy(const tl_idle_rank *k, uint32_t call, const tl_idle_call *name)
{
    const tl_calls *c = &k->view->calls;
    const tl_kernel *copy = tl_idle_copy_of_call(k, call);
    uint8_t direction = TL_SYNC_NONE;
    bool blocks = !name->async;

    if (copy != NULL) {
        tl_text text = tl_names_text(k->view->names, copy->name);
        direction = direction_named(text);
        blocks = tl_text_has(text, "Pageable") || c->start_ns[call] + c->dur_ns[call] >= copy->end_ns;
    }
    if (direction == TL_SYNC_NONE)
        direction = direction_of_args(k, call);
    if (direction == TL_SYNC_NONE)
        direction = name->direction;
    return blocks ? direction : TL_SYNC_NONE;
}

uint8_t tl_idle_wait_kind(const tl_idle_rank *k, uint32_t call, const tl_idle_call *name)
{
    if (name->copy)
        return blocking_copy(k, call, name);
    if (name->implicit_if_long && k->view->calls.dur_ns[call] > k->config->implicit_ns)
        return TL_SYNC_IMPLICIT;
    return name->wait;
}
