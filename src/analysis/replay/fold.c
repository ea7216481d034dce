/* fold.c - the same replay from far fewer nodes.
 *
 *     (u)--->(a)--->(b)--->(v)            v = max(u + way over a and b, w + way over b) + work + rest
 *                    ^
 *     (w)------------+                    (u)--->(v), (w)--->(v)
 *
 * Where no change touches the work of a and b, or what they wait for, only the longest way over them matters.  So nodes
 * are taken in order, and a node is folded into the nodes that wait for it if that makes no more edges.
 * Sums and maxima of whole numbers: times are the same to the nanosecond.
 */
#include "tlmpi/analysis/replay.h"
#include "tlmpi/base/mem.h"
#include "tlmpi/base/stats.h"
#include <stdlib.h>

enum { MOST_WAYS = 4 };

/* The longest way from a node that stays, by its number. */
typedef struct way {
    int64_t ns;
    uint32_t from;
} way;

/* The ways to a folded node. */
typedef struct ways {
    way v[MOST_WAYS];
    uint32_t n, next_free;
} ways;

/* The time from a node until the last node of a step that depends on it is done. */
typedef struct end_after {
    int64_t ns;
    uint32_t step, next; /* the next of the same node, TL_NONE */
} end_after;

typedef struct staying {
    int64_t own_ns;
    uint32_t first_edge;
    uint32_t at;        /* where its way stands in the list, if it does */
    uint32_t first_end; /* TL_NONE */
    bool changes;
} staying;

typedef struct folding {
    const tl_net *net;
    const uint8_t *marks;
    uint32_t *number_of; /* by node: its number among nodes that stay; TL_NONE: folded */
    uint32_t *ways_of;   /* by folded node: the index of its ways; TL_NONE: none waits for it */
    uint32_t *awaited;   /* by node: how many nodes still to be taken wait for it */
    TL_VEC(ways) folded;
    uint32_t free;    /* the first of them that is not needed any longer, TL_NONE */
    TL_VEC(way) list; /* those to the node in hand */
    TL_VEC(staying) nodes;
    TL_VEC(way) edges;
    TL_VEC(end_after) ends;
} folding;

/* ------------------------------------------------------------------------------------------------------------- ways */

static void add_way(folding *f, uint32_t from, int64_t ns)
{
    uint32_t at = f->nodes.v[from].at;
    if (at < f->list.n && f->list.v[at].from == from) {
        f->list.v[at].ns = tl_ns_max(f->list.v[at].ns, ns);
        return;
    }
    tl_vec_room(&f->list);
    f->nodes.v[from].at = (uint32_t)f->list.n;
    f->list.v[f->list.n++] = (way){ ns, from };
}

static void add_ways_over(folding *f, uint32_t node, int64_t lag_ns)
{
    uint32_t at = f->ways_of[node];
    if (f->number_of[node] != TL_NONE) {
        add_way(f, f->number_of[node], lag_ns);
        return;
    }
    for (uint32_t i = 0; i < f->folded.v[at].n; i++)
        add_way(f, f->folded.v[at].v[i].from, f->folded.v[at].v[i].ns + lag_ns);
    if (--f->awaited[node] == 0) {
        f->folded.v[at].next_free = f->free;
        f->free = at;
    }
}

/* Whether a way is never the longest: from its node another way, as long or longer, leads over a node of the list. */
static bool is_short(const folding *f, const way *w)
{
    for (size_t i = 0; i < f->list.n; i++) {
        const way *over = &f->list.v[i];
        const staying *node = &f->nodes.v[over->from];
        if (over->from <= w->from || node->changes)
            continue;
        for (uint32_t e = node->first_edge; e < node[1].first_edge; e++)
            if (f->edges.v[e].from == w->from && f->edges.v[e].ns + node->own_ns + over->ns >= w->ns)
                return true;
    }
    return false;
}

static void drop_short(folding *f)
{
    size_t kept = 0;
    for (size_t i = 0; i < f->list.n; i++) {
        way w = f->list.v[i];
        if (!is_short(f, &w))
            f->list.v[kept++] = w;
    }
    f->list.n = kept;
}

/* What the node in hand waits for, as a list of ways; in the order of its edges, where they may go. */
static void list_ways(folding *f, uint32_t v)
{
    f->list.n = 0;
    for (uint32_t e = f->net->first_edge[v]; e < f->net->first_edge[v + 1]; e++)
        add_ways_over(f, f->net->from[e], f->net->lag_ns[e]);
    if (f->marks[v] != TL_FOLD_EDGES && f->list.n > 1 && f->list.n <= 2 * MOST_WAYS)
        drop_short(f);
}

/* ------------------------------------------------------------------------------------------------------------- ends */

/* Notes that a node of `step` is done ns after node `number`, which stays.  The latest step stands first in the list:
 * nodes come by time, so its place is found at once however many steps there are. */
static void add_end(folding *f, uint32_t number, uint32_t step, int64_t ns)
{
    uint32_t before = TL_NONE, i = f->nodes.v[number].first_end;
    for (; i != TL_NONE && f->ends.v[i].step > step; i = f->ends.v[i].next)
        before = i;
    if (i != TL_NONE && f->ends.v[i].step == step) {
        f->ends.v[i].ns = tl_ns_max(f->ends.v[i].ns, ns);
        return;
    }
    tl_vec_room(&f->ends);
    uint32_t at = (uint32_t)f->ends.n++;
    f->ends.v[at] = (end_after){ ns, step, i };
    *(before == TL_NONE ? &f->nodes.v[number].first_end : &f->ends.v[before].next) = at;
}

/* ------------------------------------------------------------------------------------------------------------ nodes */

/* Adds a node, and an entry behind it whose first_edge ends the node's edges. */
static void add_node(folding *f, int64_t own_ns, bool changes)
{
    tl_vec_room(&f->nodes);
    f->nodes.v[f->nodes.n - 1] = (staying){ own_ns, (uint32_t)f->edges.n, TL_NONE, TL_NONE, changes };
    f->nodes.n++;
}

static void keep(folding *f, uint32_t v)
{
    const tl_net *net = f->net;
    uint32_t number = (uint32_t)f->nodes.n - 1;
    add_node(f, net->own_ns[v], f->marks[v] >= TL_FOLD_WORK);
    for (size_t i = 0; i < f->list.n; i++) {
        tl_vec_room(&f->edges);
        f->edges.v[f->edges.n++] = f->list.v[i];
    }
    f->nodes.v[number + 1] = (staying){ .first_edge = (uint32_t)f->edges.n };
    f->number_of[v] = number;
    for (uint32_t i = net->first_end[v]; i < net->first_end[v + 1]; i++)
        add_end(f, number, net->ends[i].step, net->ends[i].ns);
}

static void fold(folding *f, uint32_t v)
{
    const tl_net *net = f->net;
    uint32_t at = f->free, n = (uint32_t)f->list.n;
    for (uint32_t i = 0; i < n; i++) {
        f->list.v[i].ns += net->own_ns[v];
        for (uint32_t k = net->first_end[v]; k < net->first_end[v + 1]; k++)
            add_end(f, f->list.v[i].from, net->ends[k].step, f->list.v[i].ns + net->ends[k].ns);
    }
    if (f->awaited[v] == 0)
        return;
    if (at != TL_NONE) {
        f->free = f->folded.v[at].next_free;
    } else {
        tl_vec_room(&f->folded);
        at = (uint32_t)f->folded.n++;
    }
    for (size_t i = 0; i < n; i++)
        f->folded.v[at].v[i] = f->list.v[i];
    f->folded.v[at].n = n;
    f->ways_of[v] = at;
}

static void take(folding *f, uint32_t v)
{
    list_ways(f, v);
    size_t in = f->list.n, out = f->awaited[v];
    if (f->marks[v] == TL_FOLD_AWAY && in > 0 && in <= MOST_WAYS && in * out <= in + out)
        fold(f, v);
    else
        keep(f, v);
}

/* -------------------------------------------------------------------------------------------------------------- all */

static void start(folding *f)
{
    const tl_net *net = f->net;
    f->ways_of = tl_malloc((net->n + 1) * sizeof *f->ways_of);
    f->awaited = tl_calloc(net->n + 1, sizeof *f->awaited);
    tl_vec_room(&f->nodes);
    f->nodes.v[f->nodes.n++] = (staying){ .first_edge = 0 };
    for (size_t e = 0; e < net->nedges; e++)
        f->awaited[net->from[e]]++;
    for (size_t v = 0; v < net->n; v++)
        f->number_of[v] = f->ways_of[v] = TL_NONE;
}

/* From the parts of the folding to arrays of their own. */
static void hand_out(const folding *f, tl_net *out)
{
    size_t n = f->nodes.n > 0 ? f->nodes.n - 1 : 0, at = 0;
    tl_net_new(n, f->edges.n, f->ends.n, f->net->nsteps, out);
    for (size_t v = 0; v < n; v++) {
        out->own_ns[v] = f->nodes.v[v].own_ns;
        out->first_edge[v] = f->nodes.v[v].first_edge;
        out->first_end[v] = (uint32_t)at;
        for (uint32_t i = f->nodes.v[v].first_end; i != TL_NONE; i = f->ends.v[i].next)
            out->ends[at++] = (tl_net_end){ f->ends.v[i].ns, f->ends.v[i].step };
    }
    out->first_edge[n] = (uint32_t)f->edges.n;
    out->first_end[n] = (uint32_t)at;
    for (size_t e = 0; e < f->edges.n; e++) {
        out->from[e] = f->edges.v[e].from;
        out->lag_ns[e] = f->edges.v[e].ns;
    }
}

void tl_net_fold(const tl_net *net, const uint8_t *marks, tl_net *out, uint32_t *number_of)
{
    folding f = { .net = net, .marks = marks, .number_of = number_of, .free = TL_NONE };
    *out = (tl_net){ 0 };
    start(&f);
    for (uint32_t i = 0; i < net->n; i++)
        take(&f, net->order != NULL ? net->order[i] : i);
    hand_out(&f, out);
    free(f.ways_of);
    free(f.awaited);
    free(f.folded.v);
    free(f.list.v);
    free(f.nodes.v);
    free(f.edges.v);
    free(f.ends.v);
}
