/* fold.c - folds a net to far fewer nodes with the same times in every replay.
 *
 *     (u)--->(a)--->(b)--->(v)            v = max(u + path over a and b, w + path over b) + work + rest
 *                    ^
 *     (w)------------+                    (u)--->(v), (w)--->(v)
 *
 * If no change touches the work or the edges of a and b, only the longest path over them matters.  Nodes are taken in
 * order, and a node is folded into the nodes that wait for it if that makes no more edges.  Sums and maxima are of
 * integers, so times are exact.
 *
 * A net may be changed in several ways at once, each a lane: nodes and paths have a time of their own in each lane.
 * All lanes keep the same nodes.
 */
#include "tlmpi/analysis/verdict/replay.h"
#include "tlmpi/base/mem.h"
#include "tlmpi/base/stats.h"
#include <stdlib.h>
#include <string.h>

enum { MOST_PATHS = 4 };

/* The length of a path over an edge that is gone: below all other lengths, and far from overflow. */
#define NEVER_NS (INT64_MIN / 4)

/* Paths from kept nodes, by number; the longest path in lane k is ns.v[path * nlanes + k]. */
typedef struct paths {
    TL_VEC(uint32_t) from;
    TL_VEC(int64_t) ns;
} paths;

/* The paths to a folded node: n of them from index slot * MOST_PATHS on; next_free links unused slots. */
typedef struct slot {
    uint32_t n, next_free;
} slot;

/* The end of a step that depends on a node; its time after the node is in ends_ns. */
typedef struct end_after {
    uint32_t step, next; /* next entry of the same node; TL_NONE */
} end_after;

typedef struct staying {
    uint32_t first_edge;
    uint32_t at;        /* index of the path from this node in `list`, if any */
    uint32_t first_end; /* TL_NONE */
    bool changes;
} staying;

typedef struct folding {
    const tl_net *net;
    const tl_lanes *lanes;
    size_t nlanes;
    const uint8_t *marks;
    uint32_t *number_of; /* by node: its number among kept nodes; TL_NONE: folded */
    uint32_t *slot_of;   /* by folded node: the slot of its paths; TL_NONE: no node waits for it */
    uint32_t *awaited;   /* by node: number of nodes not yet taken that wait for it */
    int64_t zero[TL_LANES_MOST], own[TL_LANES_MOST]; /* [nlanes]; own: own time of the current node */
    uint64_t gone;                                   /* bit k: in lane k the last edge of the current node is gone */
    paths folded;
    TL_VEC(slot) slots;
    uint32_t free; /* first unused slot; TL_NONE */
    paths list;    /* paths to the current node */
    TL_VEC(staying) nodes;
    TL_VEC(int64_t) own_ns; /* [nodes * nlanes] */
    paths edges;
    TL_VEC(end_after) ends;
    TL_VEC(int64_t) ends_ns; /* [ends * nlanes] */
} folding;

/* ------------------------------------------------------------------------------------------------------------ paths */

/* Makes room for path number `at`; returns its lengths, one per lane. */
static int64_t *path_room(const folding *f, paths *w, size_t at)
{
    tl_grow((void **)&w->from.v, &w->from.cap, at + 1, sizeof *w->from.v);
    tl_grow((void **)&w->ns.v, &w->ns.cap, (at + 1) * f->nlanes, sizeof *w->ns.v);
    return w->ns.v + at * f->nlanes;
}

/* Adds a path from kept node `from` to the current node: ns[nlanes] plus an edge, which is gone in the lanes of
 * `gone`. */
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

/* Whether in all lanes an edge to node `over`, plus the path on_ns from there, is no shorter than ns. */
static bool is_as_long(const folding *f, size_t edge, uint32_t over, const int64_t *on_ns, const int64_t *ns)
{
    const int64_t *edge_ns = f->edges.ns.v + edge * f->nlanes, *own_ns = f->own_ns.v + over * f->nlanes;
    for (size_t k = 0; k < f->nlanes; k++)
        if (edge_ns[k] + own_ns[k] + on_ns[k] < ns[k])
            return false;
    return true;
}

/* Whether a path from node `from` is never the longest: another one leads over a node of the list, and is no
 * shorter. */
static bool is_dominated(const folding *f, uint32_t from, const int64_t *ns)
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

static void drop_dominated(folding *f)
{
    size_t kept = 0;
    for (size_t i = 0; i < f->list.from.n; i++) {
        const int64_t *ns = f->list.ns.v + i * f->nlanes;
        if (is_dominated(f, f->list.from.v[i], ns))
            continue;
        f->list.from.v[kept] = f->list.from.v[i];
        memmove(f->list.ns.v + kept++ * f->nlanes, ns, f->nlanes * sizeof *ns);
    }
    f->list.from.n = kept;
}

/* Fills `list` with the paths to the current node; in the order of its edges, if single edges may change. */
static void list_paths(folding *f, uint32_t v)
{
    uint32_t end = f->net->first_edge[v + 1];
    f->list.from.n = 0;
    for (uint32_t e = f->net->first_edge[v]; e < end; e++)
        add_paths_over(f, f->net->from[e], f->net->lag_ns[e], e + 1 == end ? f->gone : 0);
    if (f->marks[v] != TL_FOLD_EDGES && f->list.from.n > 1 && f->list.from.n <= 2 * MOST_PATHS)
        drop_dominated(f);
}

/* Adds an end of `step` ns[nlanes] + after_ns later than kept node `number`.  The list of ends starts with the latest
 * step: nodes come by time, so its place is found at once for any number of steps. */
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

/* Keeps the current node, with the paths of `list` as its edges; nodes gets an end entry behind it. */
static void keep_node(folding *f, uint32_t v)
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

static void fold_node(folding *f, uint32_t v)
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

static void keep_or_fold(folding *f, uint32_t v)
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
    list_paths(f, v);
    size_t in = f->list.from.n, out = f->awaited[v];
    if (f->marks[v] == TL_FOLD_AWAY && in > 0 && in <= MOST_PATHS && in * out <= in + out)
        fold_node(f, v);
    else
        keep_node(f, v);
}

/* Moves the arrays of the folding into *out, with the ends in the order of their nodes. */
static void move_to_net(folding *f, tl_net *out)
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
        keep_or_fold(&f, net->order != NULL ? net->order[i] : i);
    move_to_net(&f, out);
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
