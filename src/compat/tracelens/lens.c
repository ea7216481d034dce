/* lens.c - the events that TraceLens uses, the properties of their names, the runtime call that launched each event,
 * and the operator of each host event.
 */
#include "lens.h"
#include "tlmpi/base/group.h"
#include <ctype.h>
#include <fnmatch.h>
#include <stdlib.h>

/* ----------------------------------------------------------------------------------------------------------- names */

/* The text that a pattern is matched with: the name; what follows "hip" or "cuda"; the name in lower case; the name
 * without ".kd" at its end. */
enum { NAME, CALL, LOWER, BARE, NTEXTS };

/* Properties of names, by patterns as in fnmatch. */
static const struct {
    int of;
    const char *pattern;
    unsigned says;
} marks[] = {
    { CALL, "DeviceSynchronize", TL_LENS_DEVICE_SYNC },
    { CALL, "StreamSynchronize", TL_LENS_STREAM_SYNC },
    { CALL, "EventSynchronize", TL_LENS_EVENT_SYNC },
    { CALL, "MemcpyDtoH", TL_LENS_COPY_CALL },
    { CALL, "MemcpyAsync", TL_LENS_COPY_CALL },
    { CALL, "Memcpy", TL_LENS_COPY_CALL },
    { CALL, "MemcpyWithStream", TL_LENS_COPY_CALL },
    { CALL, "Memcpy2DAsync", TL_LENS_COPY_CALL },
    { CALL, "Malloc", TL_LENS_ALLOC },
    { CALL, "Free", TL_LENS_ALLOC },
    { CALL, "MallocAsync", TL_LENS_ALLOC },
    { CALL, "FreeAsync", TL_LENS_ALLOC },
    { CALL, "LaunchKernel", TL_LENS_LAUNCH_CALL },
    { CALL, "GraphLaunch", TL_LENS_LAUNCH_CALL | TL_LENS_GRAPH_LAUNCH },
    { NAME, "hipHostMalloc", TL_LENS_ALLOC },
    { NAME, "cudaHostAlloc", TL_LENS_ALLOC },
    { NAME, "hipHostFree", TL_LENS_ALLOC },
    { NAME, "cudaFreeHost", TL_LENS_ALLOC },
    { NAME, "hipExtModuleLaunchKernel", TL_LENS_LAUNCH_CALL },
    { NAME, "cuLaunchKernel", TL_LENS_LAUNCH_CALL },
    { NAME, "cudaLaunchKernelExC", TL_LENS_LAUNCH_CALL },
    { NAME, "*DtoH*", TL_LENS_DTOH },
    { NAME, "*HtoD*", TL_LENS_HTOD },
    { LOWER, "*launch*", TL_LENS_SAYS_LAUNCH },
    { LOWER, "*cudagraph*", TL_LENS_SAYS_GRAPH },
    { LOWER, "*graphlaunch*", TL_LENS_SAYS_GRAPH },
    { LOWER, "*rccl*", TL_LENS_COMM },
    { LOWER, "*nccl*", TL_LENS_COMM },
    { LOWER, "*cross_device_reduce*", TL_LENS_CUSTOM_REDUCE | TL_LENS_COMM },
    { BARE, "MEMORY_COPY_HOST_TO_DEVICE", TL_LENS_COPY_KERNEL },
    { BARE, "MEMORY_COPY_DEVICE_TO_HOST", TL_LENS_COPY_KERNEL },
    { BARE, "MEMORY_COPY_DEVICE_TO_DEVICE", TL_LENS_COPY_KERNEL },
    { BARE, "__amd_rocclr_copyBuffer", TL_LENS_COPY_KERNEL },
    { BARE, "__amd_rocclr_copyBufferAligned", TL_LENS_COPY_KERNEL },
    { BARE, "__amd_rocclr_copyBufferRect", TL_LENS_COPY_KERNEL },
    { BARE, "__amd_rocclr_copyBufferRectAligned", TL_LENS_COPY_KERNEL },
};

static uint16_t bits_of_name(tl_text name)
{
    const size_t nplatform = tl_text_starts(name, "hip") ? 3 : tl_text_starts(name, "cuda") ? 4 : name.n;
    char *lower = tl_strndup(name.p, name.n);
    char *bare = tl_strndup(name.p, name.n - (name.n > 3 && strcmp(name.p + name.n - 3, ".kd") == 0 ? 3 : 0));
    const char *const texts[NTEXTS] = { name.p, name.p + nplatform, lower, bare };
    unsigned says = TL_LENS_LOOKED_AT;

    for (size_t i = 0; i < name.n; i++)
        lower[i] = (char)tolower((unsigned char)lower[i]);
    for (size_t i = 0; i < sizeof marks / sizeof *marks; i++)
        says |= fnmatch(marks[i].pattern, texts[marks[i].of], 0) == 0 ? marks[i].says : 0;
    free(lower);
    free(bare);
    return (uint16_t)says;
}

/* ---------------------------------------------------------------------------------------------------------- launches
 *     runtime     [r, args[key] = k]
 *     ac2g         s, id = k ......... f, id = k, pid p, tid t
 *     device                           [the last event of pid p, tid t with args[key] = k]
 *
 * A link needs both ends of the flow; equal keys alone link nothing.  A graph launch is the launch of all device work
 * with its key, no flow needed.  If several calls match one event, the last in the file counts.
 */

typedef struct linking {
    tl_lens *lens;
    bool by_correlation; /* the key: args.correlation; else args["External id"] */
    tl_map starts, ends; /* flow id -> the last event of ph s, of ph f */
    tl_map graphs;       /* key -> the last graph launch with it */
    uint32_t *target;    /* by the event that ends a flow: the event where the flow ends; TL_NONE: none */
} linking;

static tl_ref key_of(const linking *k, uint32_t i)
{
    const tl_more *more = &k->lens->words->more[i];
    return k->by_correlation ? more->correlation : more->external_id;
}

static uint32_t event_of_key(const tl_map *map, tl_ref key)
{
    return key != TL_REF_NONE ? tl_map_get(map, (uint64_t)key) : TL_NONE;
}

/* Fills starts and ends, and sets by_correlation, which the first launch call of the file decides. */
static void collect_flows(linking *k)
{
    const tl_events *e = k->lens->e;
    const tl_more *more = k->lens->words->more;
    bool decided = false;

    for (uint32_t i = 0; i < e->n; i++) {
        if (!decided && k->lens->set[i] == TL_LENS_RUNTIME && (tl_lens_says(k->lens, i) & TL_LENS_SAYS_LAUNCH)) {
            k->by_correlation = more[i].has & TL_MORE_CORRELATION;
            decided = true;
        }
        if (k->lens->set[i] == TL_LENS_FLOW && more[i].id != TL_REF_NONE) {
            if (e->flags[i] & TL_EVENT_PH_START)
                tl_map_put(&k->starts, (uint64_t)more[i].id, i);
            else if (e->flags[i] & TL_EVENT_PH_END)
                tl_map_put(&k->ends, (uint64_t)more[i].id, i);
        }
    }
}

/* Fills `target`.  A target may be any event but a flow; only the launches of device work are used. */
static void collect_targets(linking *k)
{
    const tl_events *e = k->lens->e;
    const tl_more *more = k->lens->words->more;
    const uint32_t placed = TL_MORE_PID | TL_MORE_TID;

    for (uint32_t i = 0; i < e->n; i++) {
        if (k->lens->set[i] == TL_LENS_FLOW || (more[i].has & placed) != placed)
            continue;
        uint32_t flow = event_of_key(&k->ends, key_of(k, i));
        if (flow != TL_NONE && tl_event_track(e, flow) == tl_event_track(e, i) && (more[flow].has & placed) == placed)
            k->target[flow] = i;
    }
}

static void link_launches(tl_lens *lens)
{
    linking k = { .lens = lens, .target = tl_malloc_none(lens->e->n) };

    lens->launch = tl_malloc_none(lens->e->n);
    collect_flows(&k);
    collect_targets(&k);
    for (uint32_t i = 0; i < lens->e->n; i++) {
        tl_ref key = key_of(&k, i);
        if (lens->set[i] != TL_LENS_RUNTIME || key == TL_REF_NONE || isnan(tl_lens_ts(lens, i)))
            continue;
        uint32_t flow = event_of_key(&k.ends, key);
        if (tl_lens_says(lens, i) & TL_LENS_GRAPH_LAUNCH)
            tl_map_put(&k.graphs, (uint64_t)key, i);
        else if (flow != TL_NONE && event_of_key(&k.starts, key) != TL_NONE && k.target[flow] != TL_NONE)
            lens->launch[k.target[flow]] = i;
    }
    for (uint32_t i = 0; i < lens->e->n; i++) {
        uint32_t graph = tl_lens_is_device(lens, i) ? event_of_key(&k.graphs, key_of(&k, i)) : TL_NONE;
        if (graph != TL_NONE && (lens->launch[i] == TL_NONE || lens->launch[i] < graph))
            lens->launch[i] = graph;
    }
    tl_map_free(&k.starts);
    tl_map_free(&k.ends);
    tl_map_free(&k.graphs);
    free(k.target);
}

/* ------------------------------------------------------------------------------------------------------------ sets */

static const struct {
    const char *cat;
    tl_lens_set set;
} cats[] = {
    { "kernel", TL_LENS_KERNEL },          { "gpu_memcpy", TL_LENS_MEMCPY },   { "gpu_memset", TL_LENS_MEMSET },
    { "cuda_runtime", TL_LENS_RUNTIME },   { "cuda_driver", TL_LENS_RUNTIME }, { "cpu_op", TL_LENS_CPU_OP },
    { "python_function", TL_LENS_PYTHON }, { "ac2g", TL_LENS_FLOW },
};

tl_lens tl_lens_open(const tl_trace *trace, const tl_verbatim *words)
{
    const tl_events *e = &trace->events;
    uint8_t *set_of = tl_calloc(e->categories.n, sizeof *set_of);
    tl_lens lens = { .e = e, .words = words };

    for (size_t i = 0; i < e->categories.n; i++)
        for (size_t k = 0; k < sizeof cats / sizeof cats[0]; k++)
            if (e->categories.v[i].text != TL_NO_NAME &&
                tl_text_is(tl_names_text(&e->names, e->categories.v[i].text), cats[k].cat))
                set_of[i] = (uint8_t)cats[k].set;
    lens.set = tl_calloc(e->n, sizeof *lens.set);
    lens.says = tl_calloc(e->names.n, sizeof *lens.says);
    for (size_t i = 0; i < e->n; i++) {
        uint32_t name = e->name[i];
        lens.set[i] = set_of[e->classes.v[e->class[i]].category];
        if (name != TL_NO_NAME && lens.says[name] == 0)
            lens.says[name] = bits_of_name(tl_names_text(&e->names, name));
    }
    free(set_of);
    link_launches(&lens);
    return lens;
}

void tl_lens_free(tl_lens *lens)
{
    free(lens->set);
    free(lens->launch);
    free(lens->says);
}

static int by_ts(const void *context, uint32_t a, uint32_t b)
{
    const double *ts = ((const tl_lens *)context)->words->ts;
    return TL_COMPARE(ts[a], ts[b]);
}

static int by_ts_and_length(const void *context, uint32_t a, uint32_t b)
{
    int order = by_ts(context, a, b);
    double x = tl_lens_dur(context, a), y = tl_lens_dur(context, b);
    return order != 0 ? order : TL_COMPARE(y, x);
}

uint32_t *tl_lens_pick(const tl_lens *lens, bool (*is)(const tl_lens *, uint32_t), bool longest_first, size_t *n)
{
    TL_VEC(uint32_t) index = { 0 };

    for (uint32_t i = 0; i < lens->e->n; i++)
        if (is(lens, i))
            tl_vec_push(&index, i);
    tl_sort_index(index.v, index.n, longest_first ? by_ts_and_length : by_ts, lens);
    *n = index.n;
    return index.v;
}

/* ------------------------------------------------------------------------------------------ the call tree of the host
 *
 *     cpu_op     [ a                    ]
 *     cpu_op       [ b        ]
 *     runtime         [ call ]              its parent is b
 *
 * One stack for each thread.  At an event, all events that have ended are popped; the top is then the event's parent.
 * An event that ends later than the top is skipped; but if the top ends less than OVERRUN_US after the event's start
 * and is not the bottom of the stack, the top is popped instead.  Python frames are not on the stack.
 */

#define OVERRUN_US 1.0

static bool is_host(const tl_lens *lens, uint32_t i)
{
    return (lens->set[i] == TL_LENS_CPU_OP || lens->set[i] == TL_LENS_RUNTIME) && !isnan(tl_lens_ts(lens, i));
}

uint32_t *tl_lens_parent_ops(const tl_lens *lens)
{
    size_t n = 0, nevents = lens->e->n;
    uint32_t *index = tl_lens_pick(lens, is_host, false, &n);
    uint32_t *tops = tl_malloc_none(lens->e->tracks.n);
    uint32_t *below = tl_malloc(nevents * sizeof *below); /* by event on the stack: the event under it */
    uint32_t *op = tl_malloc_none(nevents);

    for (size_t i = 0; i < n; i++) {
        uint32_t event = index[i], *top = &tops[tl_event_track(lens->e, event)];
        while (*top != TL_NONE && tl_lens_ts(lens, event) >= tl_lens_end(lens, *top))
            *top = below[*top];
        if (*top != TL_NONE && tl_lens_end(lens, event) > tl_lens_end(lens, *top)) {
            if (!(tl_lens_end(lens, *top) - tl_lens_ts(lens, event) < OVERRUN_US) || below[*top] == TL_NONE)
                continue;
            *top = below[*top];
        }
        if (*top != TL_NONE)
            op[event] = lens->set[*top] == TL_LENS_CPU_OP ? *top : op[*top];
        below[event] = *top;
        *top = event;
    }
    free(index);
    free(tops);
    free(below);
    return op;
}
