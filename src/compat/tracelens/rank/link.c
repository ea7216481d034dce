/* link.c - which runtime call launched which event, and which operator an event of the host belongs to.
 *
 *     runtime     [r, args[key] = k]
 *     ac2g         s, id = k ......... f, id = k, pid p, tid t
 *     device                           [the last event of pid p, tid t with args[key] = k]
 *
 * Both ends of the flow must be there; equal numbers alone link nothing.  A graph launch is the launch of all device
 * work with its number, no flow needed.  Where several calls claim an event, the last in the file has it.
 */
#include "tlmpi/compat/tracelens/rank.h"
#include <stdlib.h>

typedef struct linking {
    tl_lens *lens;
    bool by_correlation; /* the key: args.correlation; else args["External id"] */
    tl_map starts, ends; /* flow id -> the last event of ph s, of ph f */
    tl_map graphs;       /* key -> the last graph launch with it */
    uint32_t *target;    /* flow end -> the event it points to; TL_NONE: none */
} linking;

static tl_ref key_of(const linking *k, uint32_t i)
{
    const tl_more *more = &k->lens->words->more[i];
    return k->by_correlation ? more->correlation : more->external_id;
}

static uint32_t find(const tl_map *map, tl_ref key)
{
    return key != TL_REF_NONE ? tl_map_get(map, (uint64_t)key) : TL_NONE;
}

/* The ends of flows, and the key, a property of the file: the first runtime call that launches decides. */
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

/* Any event but a flow may stand where a flow ends; if it is no device work, its launch is never asked for. */
static void collect_targets(linking *k)
{
    const tl_events *e = k->lens->e;
    const tl_more *more = k->lens->words->more;
    const uint32_t placed = TL_MORE_PID | TL_MORE_TID;

    for (uint32_t i = 0; i < e->n; i++) {
        if (k->lens->set[i] == TL_LENS_FLOW || (more[i].has & placed) != placed)
            continue;
        uint32_t flow = find(&k->ends, key_of(k, i));
        if (flow != TL_NONE && e->track[flow] == e->track[i] && (more[flow].has & placed) == placed)
            k->target[flow] = i;
    }
}

void tl_lens_link(tl_lens *lens)
{
    linking k = { .lens = lens, .target = tl_malloc(lens->e->n * sizeof *k.target) };

    for (size_t i = 0; i < lens->e->n; i++)
        lens->launch[i] = k.target[i] = TL_NONE;
    collect_flows(&k);
    collect_targets(&k);
    for (uint32_t i = 0; i < lens->e->n; i++) {
        tl_ref key = key_of(&k, i);
        if (lens->set[i] != TL_LENS_RUNTIME || key == TL_REF_NONE || isnan(tl_lens_ts(lens, i)))
            continue;
        uint32_t flow = find(&k.ends, key);
        if (tl_lens_says(lens, i) & TL_LENS_GRAPH_LAUNCH)
            tl_map_put(&k.graphs, (uint64_t)key, i);
        else if (flow != TL_NONE && find(&k.starts, key) != TL_NONE && k.target[flow] != TL_NONE)
            lens->launch[k.target[flow]] = i;
    }
    for (uint32_t i = 0; i < lens->e->n; i++) {
        uint32_t graph = tl_lens_is_device(lens, i) ? find(&k.graphs, key_of(&k, i)) : TL_NONE;
        if (graph != TL_NONE && (lens->launch[i] == TL_NONE || lens->launch[i] < graph))
            lens->launch[i] = graph;
    }
    tl_map_free(&k.starts);
    tl_map_free(&k.ends);
    tl_map_free(&k.graphs);
    free(k.target);
}

/* ------------------------------------------------------------------------------------------ the call tree of the host
 *
 *     cpu_op     [ a                    ]
 *     cpu_op       [ b        ]
 *     runtime         [ call ]              its parent is b
 *
 * A stack for each thread: whatever has ended is popped; what is left on top is the parent.  An event that ends later
 * than the top is left out; where the top ends less than 1 us after its start, and is not the only one, the top goes
 * instead. Frames of Python take no part.
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
    uint32_t *tops = tl_malloc(lens->e->tracks.n * sizeof *tops);
    uint32_t *below = tl_malloc(nevents * sizeof *below); /* an event on the stack -> the one under it */
    uint32_t *op = tl_malloc(nevents * sizeof *op);

    for (size_t i = 0; i < nevents; i++)
        op[i] = TL_NONE;
    for (size_t i = 0; i < lens->e->tracks.n; i++)
        tops[i] = TL_NONE;
    for (size_t i = 0; i < n; i++) {
        uint32_t event = index[i], *top = &tops[lens->e->track[event]];
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
