/* fold.c - the same replay from far fewer nodes.
 *
 *     (u)--->(a)--->(b)--->(v)            v = max(u + path over a and b, w + path over b) + work + rest
 *                    ^
 *     (w)------------+                    (u)--->(v), (w)--->(v)
 *
 * Where no change touches the work of a and b, or what they wait for, only the longest path over them matters.  So
 * nodes are taken in order, and a node is folded into the nodes that wait for it if that makes no more edges.
 * Sums and maxima of whole numbers: times are the same to the nanosecond.
 *
 * A net may be changed in several ways at once, each a lane: its nodes have a time of their own in each lane, and so
 * has each path.  Which nodes stay is the same in all lanes.
 */
#include "tlmpi/analysis/replay.h"
#include "tlmpi/base/mem.h"
#include "tlmpi/base/stats.h"
#include <stdlib.h>
#include <string.h>

enum { MOST_PATHS = 4 };

/* The length of a path over an edge that is gone: never the longest, and far enough from the end of the numbers. */
#define NEVER_NS (INT64_MIN / 4)

/* Paths from nodes that stay, by their numbers; the longest of each in lane k is ns.v[path * nlanes + k]. */
typedef struct paths {
    TL_VEC(uint32_t) from;
    TL_VEC(int64_t) ns;
} paths;

/* Where the paths to a folded node stand: at `room` * MOST_PATHS. */
typedef struct slot {
    uint32_t n, next_free;
} slot;

/* The time from a node until the last node of a step that depends on it is done. */
typedef struct end_after {
    uint32_t step, next; /* the next of the same node, TL_NONE */
} end_after;

typedef struct staying {
    uint32_t first_edge;
    uint32_t at;        /* where its path stands in the list, if it does */
    uint32_t first_end; /* TL_NONE */
    bool changes;
} staying;

typedef struct folding {
    const tl_net *net;
    const tl_lanes *lanes;
    size_t nlanes;
    const uint8_t *marks;
    uint32_t *number_of; /* by node: its number among nodes that stay; TL_NONE: folded */
    uint32_t *slot_of;   /* by folded node: the slot of its paths; TL_NONE: none waits for it */
    uint32_t *awaited;   /* by node: how many nodes still to be taken wait for it */
    int64_t zero[TL_LANES_MOST], own[TL_LANES_MOST]; /* [nlanes]; own: of the node in hand */
    uint64_t gone;                                   /* a bit for each lane in which its last edge is gone */
    paths folded;
    TL_VEC(slot) slots;
    uint32_t free; /* the first slot that is not needed any longer, TL_NONE */
    paths list;    /* those to the node in hand */
    TL_VEC(staying) nodes;
    TL_VEC(int64_t) own_ns; /* [nodes * nlanes] */
    paths edges;
    TL_VEC(end_after) ends;
    TL_VEC(int64_t) ends_ns; /* [ends * nlanes] */
} folding;

/* ------------------------------------------------------------------------------------------------------------ paths */

/* Room for the path `at`; returns its lengths. */
static int64_t *path_room(const folding *f, paths *w, size_t at)
{
    tl_grow((void **)&w->from.v, &w->from.cap, at + 1, sizeof *w->from.v);
    tl_grow((void **)&w->ns.v, &w->ns.cap, (at + 1) * f->nlanes, sizeof *w->ns.v);
    return w->ns.v + at * f->nlanes;
}

/* Adds a path that goes on from the paths ns[nlanes] over an edge, which is gone in some lanes. */
static void add_path(folding *f, uint32_t from, const int64_t *ns, int64_t lag_ns, uint64_t gone)
{
    uint32_t at = f->nodes.v[from].at;
    bool is_new = at >= f->list.from.n || f->list.from.v[at] != from;
    if (is_new) {
        f->nodes.v[from].at = at = (uint32_t)f->list.from.n++;
        path_room(f, &f->list, at);
        f->list.from.v[at] = from;
    }
    int64_t *to = f->list.ns.v + at * f->nlanes;
    for (size_t k = 0; k < f->nlanes; k++) {
        int64_t more_ns = (gone >> k & 1) != 0 || ns[k] < NEVER_NS / 2 ? NEVER_NS : ns[k] + lag_ns;
        to[k] = is_new ? more_ns : tl_ns_max(to[k], more_ns);
    }
}

static void add_paths_over(folding *f, uint32_t node, int64_t lag_ns, uint64_t gone)
{
    uint32_t at = f->slot_of[node];
    if (f->number_of[node] != TL_NONE) {
        add_path(f, f->number_of[node], f->zero, lag_ns, gone);
        return;
    }
    for (size_t i = 0, first = (size_t)at * MOST_PATHS; i < f->slots.v[at].n; i++)
        add_path(f, f->folded.from.v[first + i], f->folded.ns.v + (first + i) * f->nlanes, lag_ns, gone);
    if (--f->awaited[node] == 0) {
        f->slots.v[at].next_free = f->free;
        f->free = at;
    }
}

/* Whether an edge, and a path on from its node, are as long as another path, or longer, in all lanes. */
static bool is_as_long(const folding *f, size_t edge, uint32_t over, const int64_t *on_ns, const int64_t *ns)
{
    const int64_t *edge_ns = f->edges.ns.v + edge * f->nlanes, *own_ns = f->own_ns.v + over * f->nlanes;
    for (size_t k = 0; k < f->nlanes; k++)
        if (edge_ns[k] + own_ns[k] + on_ns[k] < ns[k])
            return false;
    return true;
}

/* Whether a path is never the longest: from its node another path, as long or longer, leads over a node of the list. */
static bool is_short(const folding *f, uint32_t from, const int64_t *ns)
{
    for (size_t i = 0; i < f->list.from.n; i++) {
        uint32_t over = f->list.from.v[i];
        const staying *node = &f->nodes.v[over];
        if (over <= from || node->changes)
            continue;
        for (uint32_t e = node->first_edge; e < node[1].first_edge; e++)
            if (f->edges.from.v[e] == from && is_as_long(f, e, over, f->list.ns.v + i * f->nlanes, ns))
                return true;
    }
    return false;
}

static void drop_short(folding *f)
{
    size_t kept = 0;
    for (size_t i = 0; i < f->list.from.n; i++) {
        const int64_t *ns = f->list.ns.v + i * f->nlanes;
        if (is_short(f, f->list.from.v[i], ns))
            continue;
        f->list.from.v[kept] = f->list.from.v[i];
        memmove(f->list.ns.v + kept++ * f->nlanes, ns, f->nlanes * sizeof *ns);
    }
    f->list.from.n = kept;
}

/* What the node in hand waits for, as a list of paths; in the order of its edges, where they may go. */
static void list_ways(folding *f, uint32_t v)
{
    uint32_t end = f->net->first_edge[v + 1];
    f->list.from.n = 0;
    for (uint32_t e = f->net->first_edge[v]; e < end; e++)
        add_paths_over(f, f->net->from[e], f->net->lag_ns[e], e + 1 == end ? f->gone : 0);
    if (f->marks[v] != TL_FOLD_EDGES && f->list.from.n > 1 && f->list.from.n <= 2 * MOST_PATHS)
        drop_short(f);
}

/* Notes that a node of `step` is done ns[nlanes] and after_ns later than node `number`, which stays.  The latest step
 * stands first in the list: nodes come by time, so its place is found at once however many steps there are. */
static void add_end(folding *f, uint32_t number, uint32_t step, const int64_t *ns, int64_t after_ns)
{
    uint32_t before = TL_NONE, i = f->nodes.v[number].first_end;
    for (; i != TL_NONE && f->ends.v[i].step > step; i = f->ends.v[i].next)
        before = i;
    bool is_new = i == TL_NONE || f->ends.v[i].step != step;
    if (is_new) {
        tl_vec_push(&f->ends, (end_after){ step, i });
        i = (uint32_t)f->ends.n - 1;
        *(before == TL_NONE ? &f->nodes.v[number].first_end : &f->ends.v[before].next) = i;
        tl_grow((void **)&f->ends_ns.v, &f->ends_ns.cap, f->ends.n * f->nlanes, sizeof *f->ends_ns.v);
    }
    int64_t *to = f->ends_ns.v + i * f->nlanes;
    for (size_t k = 0; k < f->nlanes; k++)
        to[k] = is_new ? ns[k] + after_ns : tl_ns_max(to[k], ns[k] + after_ns);
}

/* ------------------------------------------------------------------------------------------------------------ nodes */

/* Adds a node with the list as its edges, and an entry behind it whose first_edge ends these. */
static void keep(folding *f, uint32_t v)
{
    const tl_net *net = f->net;
    const size_t n = f->list.from.n;
    uint32_t number = (uint32_t)f->nodes.n - 1;
    tl_vec_room(&f->nodes);
    f->nodes.v[number] = (staying){ (uint32_t)f->edges.from.n, TL_NONE, TL_NONE, f->marks[v] >= TL_FOLD_WORK };
    tl_grow((void **)&f->own_ns.v, &f->own_ns.cap, f->nodes.n * f->nlanes, sizeof *f->own_ns.v);
    memcpy(f->own_ns.v + number * f->nlanes, f->own, f->nlanes * sizeof *f->own_ns.v);
    if (n > 0) {
        path_room(f, &f->edges, f->edges.from.n + n - 1);
        memcpy(f->edges.from.v + f->edges.from.n, f->list.from.v, n * sizeof *f->edges.from.v);
        memcpy(f->edges.ns.v + f->edges.from.n * f->nlanes, f->list.ns.v, n * f->nlanes * sizeof *f->edges.ns.v);
    }
    f->edges.from.n += n;
    f->nodes.v[f->nodes.n++] = (staying){ .first_edge = (uint32_t)f->edges.from.n };
    f->number_of[v] = number;
    for (uint32_t i = net->first_end[v]; i < net->first_end[v + 1]; i++)
        add_end(f, number, net->end_step[i], f->zero, net->end_ns[i]);
}

static void fold(folding *f, uint32_t v)
{
    const tl_net *net = f->net;
    const size_t n = f->list.from.n;
    for (size_t i = 0; i < n; i++) {
        int64_t *ns = f->list.ns.v + i * f->nlanes;
        for (size_t k = 0; k < f->nlanes; k++)
            ns[k] += f->own[k];
        for (uint32_t k = net->first_end[v]; k < net->first_end[v + 1]; k++)
            add_end(f, f->list.from.v[i], net->end_step[k], ns, net->end_ns[k]);
    }
    if (f->awaited[v] == 0)
        return;
    uint32_t at = f->free;
    if (at != TL_NONE) {
        f->free = f->slots.v[at].next_free;
    } else {
        tl_vec_room(&f->slots);
        at = (uint32_t)f->slots.n++;
        path_room(f, &f->folded, f->slots.n * MOST_PATHS - 1);
    }
    memcpy(f->folded.from.v + at * MOST_PATHS, f->list.from.v, n * sizeof *f->list.from.v);
    memcpy(f->folded.ns.v + at * MOST_PATHS * f->nlanes, f->list.ns.v, n * f->nlanes * sizeof *f->list.ns.v);
    f->slots.v[at].n = (uint32_t)n;
    f->slot_of[v] = at;
}

static void take(folding *f, uint32_t v)
{
    f->gone = 0;
    for (size_t k = 0; k < f->nlanes; k++)
        f->own[k] = f->net->own_ns[v];
    for (uint32_t i = v < f->lanes->nnodes ? f->lanes->first[v] : TL_NONE; i != TL_NONE;) {
        const tl_node_change *change = &f->lanes->changes[i];
        f->own[change->lane] -= change->less_ns;
        f->gone |= (uint64_t)change->gone << change->lane;
        i = change->next;
    }
    list_ways(f, v);
    size_t in = f->list.from.n, out = f->awaited[v];
    if (f->marks[v] == TL_FOLD_AWAY && in > 0 && in <= MOST_PATHS && in * out <= in + out)
        fold(f, v);
    else
        keep(f, v);
}

/* The ends in the order of their nodes; the arrays of the folding become those of the net. */
static void hand_out(folding *f, tl_net *out)
{
    size_t n = f->nodes.n - 1, at = 0;
    *out = (tl_net){ .n = n,
                     .nedges = f->edges.from.n,
                     .nends = f->ends.n,
                     .nsteps = f->net->nsteps,
                     .nlanes = f->nlanes,
                     .own_ns = f->own_ns.v,
                     .from = f->edges.from.v,
                     .lag_ns = f->edges.ns.v,
                     .first_edge = tl_malloc((n + 1) * sizeof *out->first_edge),
                     .first_end = tl_malloc((n + 1) * sizeof *out->first_end),
                     .end_step = tl_malloc((f->ends.n + 1) * sizeof *out->end_step),
                     .end_ns = tl_malloc((f->ends.n * f->nlanes + 1) * sizeof *out->end_ns) };
    for (size_t v = 0; v < n; v++) {
        out->first_edge[v] = f->nodes.v[v].first_edge;
        out->first_end[v] = (uint32_t)at;
        for (uint32_t i = f->nodes.v[v].first_end; i != TL_NONE; i = f->ends.v[i].next) {
            memcpy(out->end_ns + at * f->nlanes, f->ends_ns.v + i * f->nlanes, f->nlanes * sizeof *out->end_ns);
            out->end_step[at++] = f->ends.v[i].step;
        }
    }
    out->first_edge[n] = (uint32_t)f->edges.from.n;
    out->first_end[n] = (uint32_t)at;
}

void tl_net_fold(const tl_net *net, const uint8_t *marks, const tl_lanes *lanes, tl_net *out, uint32_t *number_of)
{
    const tl_lanes as_is = { .n = 1 };
    folding f = { .net = net, .marks = marks, .number_of = number_of, .free = TL_NONE };
    f.lanes = lanes != NULL ? lanes : &as_is;
    f.nlanes = f.lanes->n;
    f.slot_of = tl_malloc_none(net->n);
    f.awaited = tl_calloc(net->n + 1, sizeof *f.awaited);
    memset(number_of, 0xff, net->n * sizeof *number_of); /* TL_NONE */
    tl_vec_push(&f.nodes, (staying){ .first_edge = 0 });
    for (size_t e = 0; e < net->nedges; e++)
        f.awaited[net->from[e]]++;
    for (uint32_t i = 0; i < net->n; i++)
        take(&f, net->order != NULL ? net->order[i] : i);
    hand_out(&f, out);
    free(f.slot_of);
    free(f.awaited);
    free(f.folded.from.v);
    free(f.folded.ns.v);
    free(f.slots.v);
    free(f.list.from.v);
    free(f.list.ns.v);
    free(f.nodes.v);
    free(f.ends.v);
    free(f.ends_ns.v);
}
