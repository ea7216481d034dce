/* critical_path.c - the rows of a region, nodes and edges as HTA lays them, and the heaviest path. */
#include "critical_path.h"
#include "graph.h"
#include "tlmpi/base/group.h"
#include "tlmpi/compat/python.h"
#include <stdio.h>
#include <stdlib.h>

#define NONE UINT32_MAX

/* us from the end of a kernel from which on the next one of its stream is not held to have waited for it. */
#define KERNEL_DELAY_BELOW 1500

/* --------------------------------------------------------------------------------------------------------- the clip
 *
 *     host     ...(a)..[ window                  ].(d)...      b and c, and the work that they launched: work counts by
 *              .........(b)......(c).....................      the start of its launch
 */

/* What is built, and where rows are in it. */
typedef struct builder {
    const tl_hta_rank_calls *calls;
    tl_hta_path_graph *g;
    tl_arena arena;
    uint32_t *clip_at;     /* of an index: position in the clip + 1 */
    uint32_t *start, *end; /* of a position in the clip: its nodes, or NONE */
    bool *is_met;          /* of a node */
} builder;

/* False: HTA gives up. */
static bool find_window(const tl_hta_frame *frame, const tl_hta_region *region, tl_hta_span *window, char *why,
                        size_t size)
{
    int64_t instance = 0;
    size_t n = 0;

    *window = (tl_hta_span){ INFINITY, -INFINITY };
    if (region->annotation[0] == '\0') {
        TL_EACH (const tl_hta_row, row, frame->rows)
            *window = (tl_hta_span){ fmin(window->ts, row->ts), fmax(window->end, row->end) };
        return true;
    }
    TL_EACH (const tl_hta_row, row, frame->rows) {
        if (!tl_text_has(tl_hta_name(frame, row), region->annotation))
            continue;
        if (instance >= region->instances.first && instance <= region->instances.last) {
            *window = (tl_hta_span){ fmin(window->ts, row->ts), fmax(window->end, row->ts + row->dur) };
            n++;
        }
        instance++;
    }
    if (n == 0)
        snprintf(why, size, "instance %lld is asked for, and there are %lld", (long long)region->instances.first,
                 (long long)instance);
    return n > 0;
}

/* Takes the rows into the clip by index.  False: a row would be there twice, where HTA gives up. */
static bool take_rows(builder *b, const tl_hta_region *region)
{
    const tl_hta_rank_calls *c = b->calls;
    const tl_hta_row *rows = c->frame->rows.v;
    tl_hta_path_graph *g = b->g;
    uint8_t *launched =
        tl_arena_zeroed(&b->arena, c->nindices, sizeof *launched);           /* by calls in the window: 2 for more */
    uint8_t *times = tl_arena_zeroed(&b->arena, c->nindices, sizeof *times); /* an index is there: 2 for more */
    tl_hta_span window;

    if (!find_window(c->frame, region, &window, g->why, sizeof g->why))
        return false;
    for (int host = 1; host >= 0; host--)
        TL_EACH (const tl_hta_row, row, c->frame->rows) {
            if (tl_hta_on_stream(row) == host)
                continue;
            bool inside = row->ts >= window.ts && row->ts <= window.end && row->dur > 0;
            uint8_t n = host ? inside : launched[row->index];
            if (host && inside && row->link >= 0 && (uint64_t)row->link < c->nindices)
                launched[row->link] = launched[row->link] > 0 ? 2 : 1;
            if (!host && n == 0 && tl_text_is(tl_hta_name(c->frame, row), "Stream Wait Event"))
                n = 1;
            times[row->index] = (uint8_t)(times[row->index] + n < 2 ? times[row->index] + n : 2);
        }
    b->clip_at = tl_arena_zeroed(&b->arena, c->nindices, sizeof *b->clip_at);
    g->clip = (tl_hta_frame){ .rank = c->frame->rank, .symbols = c->frame->symbols };
    for (uint32_t i = 0; i < c->nindices; i++) {
        if (times[i] > 1) {
            snprintf(g->why, sizeof g->why, "entry %u, on a stream, was launched by several calls", i);
            return false;
        }
        if (times[i] == 0)
            continue;
        tl_vec_push(&g->clip.rows, rows[c->row_at[i] - 1]);
        b->clip_at[i] = (uint32_t)g->clip.rows.n;
    }
    return true;
}

TL_ORDER_BY(by_time, tl_hta_moment, ts)

/* By time; of one time by index, the start of a row before its end. */
static void make_nodes(builder *b)
{
    tl_hta_path_graph *g = b->g;
    const tl_hta_row *rows = g->clip.rows.v;
    const uint8_t *traits = b->calls->traits;
    TL_VEC(tl_hta_moment) all = { 0 };

    b->start = tl_arena_take(&b->arena, g->clip.rows.n, sizeof *b->start);
    b->end = tl_arena_take(&b->arena, g->clip.rows.n, sizeof *b->end);
    for (uint32_t i = 0; i < g->clip.rows.n; i++) {
        b->start[i] = b->end[i] = NONE;
        if (!(traits[rows[i].cat] & TL_HTA_HAS_NODES) && !(traits[rows[i].name] & TL_HTA_LOADS_DATA) &&
            (!tl_hta_on_stream(&rows[i]) || rows[i].link < 0))
            continue;
        tl_vec_push(&all, (tl_hta_moment){ rows[i].ts, i, false });
        tl_vec_push(&all, (tl_hta_moment){ rows[i].ts + rows[i].dur, i, true });
    }
    uint32_t *order = tl_sorted_index(all.n, by_time, all.v);
    for (uint32_t n = 0; n < all.n; n++) {
        const tl_hta_moment *moment = &all.v[order[n]];
        (moment->end ? b->end : b->start)[moment->row] = n;
        tl_vec_push(&g->nodes, *moment);
    }
    b->is_met = tl_arena_zeroed(&b->arena, all.n, sizeof *b->is_met);
    free(order);
    free(all.v);
}

/* The start or the end of the row with that index, or NONE. */
static uint32_t node_of(const builder *b, int64_t index, bool end)
{
    uint32_t at = index >= 0 && (uint64_t)index < b->calls->nindices ? b->clip_at[index] : 0;
    return at == 0 ? NONE : (end ? b->end : b->start)[at - 1];
}

static double time_of(const builder *b, uint32_t node)
{
    return b->g->nodes.v[node].ts;
}

/* --------------------------------------------------------------------------------------------------------- edges */

/* A second edge takes the place of the first one; the row that its time counts for stays, unless it gets one, too. */
static tl_hta_edge *put_edge(builder *b, uint32_t from, uint32_t to, tl_hta_edge_kind kind, bool weighs)
{
    tl_hta_path_graph *g = b->g;
    const uint64_t key = (uint64_t)from << 32 | to;
    uint32_t at = tl_map_get(&g->edge_at, key);

    for (uint32_t node = from, i = 0; i < 2; node = to, i++) {
        if (!b->is_met[node])
            tl_vec_push(&g->met, node);
        b->is_met[node] = true;
    }
    if (at == TL_MAP_NONE) {
        at = (uint32_t)g->edges.n;
        tl_map_put(&g->edge_at, key, at);
        tl_vec_push(&g->edges, (tl_hta_edge){ .from = from, .to = to, .event = TL_HTA_NO_EVENT });
    }
    tl_hta_edge *edge = &g->edges.v[at];
    edge->kind = kind;
    edge->weight = weighs ? time_of(b, to) - time_of(b, from) : 0;
    return edge;
}

/* From the start of a row its time counts for that row, to the end for that one; between two rows of the host for the one
 * that the first of them stands in. */
static void put_operator(builder *b, uint32_t from, uint32_t to, bool weighs, int64_t parent)
{
    const tl_hta_moment *nodes = b->g->nodes.v;
    tl_hta_edge *edge = put_edge(b, from, to, TL_HTA_OPERATOR, weighs);
    edge->event = !nodes[from].end ? tl_hta_row_of_node(b->g, from)->index
                  : nodes[to].end  ? tl_hta_row_of_node(b->g, to)->index
                                   : parent;
}

/* ---------------------------------------------------------------------------------------------- (a) the runtime's lock
 *
 *     thread 1   [ launch a      )             a's end pops all that are open: a's time counts, b's does not, and
 *     thread 2      [ launch b        )        b's end comes after a's
 */

static bool holds_lock(const builder *b, uint32_t node)
{
    return b->calls->traits[tl_hta_row_of_node(b->g, node)->name] & TL_HTA_LOCKS;
}

static void add_locks(builder *b)
{
    const tl_hta_moment *nodes = b->g->nodes.v;
    TL_VEC(uint32_t) open = { 0 };
    uint32_t last = NONE;

    for (uint32_t n = 0; n < b->g->nodes.n; n++) {
        if (!holds_lock(b, n))
            continue;
        if (!nodes[n].end) {
            tl_vec_push(&open, n);
        } else {
            while (open.n > 0) {
                uint32_t start = open.v[--open.n];
                if (nodes[start].row == nodes[n].row)
                    put_operator(b, start, n, true, TL_HTA_NO_EVENT);
                else
                    put_edge(b, start, n, TL_HTA_DEPENDENCY, false);
            }
            if (last != NONE && nodes[last].end)
                put_edge(b, last, n, TL_HTA_DEPENDENCY, false);
        }
        last = n;
    }
    free(open.v);
}

/* ---------------------------------------------------------------------------------------------------- (b) call stacks
 *
 *     [ mm                       )  [ add  )
 *       [ launch )   [ sync    )
 *     1-2--------3---4---------5-6--7------8        1-2, 2-3, ... are of the host's time, 6-7 a dependency; 4-5 weighs
 *                                                   nothing, for it is what the device did that matters
 */

/* The only thread id of rows whose names tell so; false: there is none, or several. */
static bool only_thread(const builder *b, uint8_t trait, tl_track *only)
{
    const tl_hta_frame *clip = &b->g->clip;
    const uint8_t *traits = b->calls->traits;
    bool any = false;

    TL_EACH (const tl_hta_row, row, clip->rows) {
        if (!(traits[row->name] & trait) || !(traits[row->cat] & TL_HTA_NAMES_THREAD))
            continue;
        const tl_track *track = &clip->tracks.v[row->track];
        if (any && TL_ORDER(track, only, tid, tid_text) != 0)
            return false;
        *only = *track;
        any = true;
    }
    return any;
}

/* Rows of the backward pass's thread become rows of the forward pass's. */
static void join_passes(builder *b)
{
    tl_hta_frame *clip = &b->g->clip;
    tl_track forward, backward;

    if (!only_thread(b, TL_HTA_IS_FORWARD, &forward) || !only_thread(b, TL_HTA_IS_AUTOGRAD, &backward) ||
        TL_ORDER(&forward, &backward, tid, tid_text) == 0)
        return;
    uint32_t *joined = tl_arena_take(&b->arena, clip->tracks.n, sizeof *joined);
    for (uint32_t i = 0; i < clip->tracks.n; i++) {
        tl_track *track = &clip->tracks.v[i];
        joined[i] = i;
        if (TL_ORDER(track, &backward, tid, tid_text) != 0)
            continue;
        track->tid = forward.tid;
        track->tid_text = forward.tid_text;
        for (uint32_t k = 0; k < clip->tracks.n && joined[i] == i; k++)
            if (k != i && TL_ORDER(&clip->tracks.v[k], track, pid, pid_text, tid, tid_text) == 0)
                joined[i] = k;
    }
    TL_EACH (tl_hta_row, row, clip->rows)
        row->track = joined[row->track];
}

/* A walk through the stack of a thread. */
typedef struct walk {
    uint32_t last;  /* node */
    int64_t parent; /* index of the row that the row of `last` stands in */
    int64_t depth;  /* rows with nodes that are open */
} walk;

/* Comes to the start or the end of a row. */
static void visit(builder *b, walk *w, uint32_t row, const uint32_t *parent, bool end)
{
    const tl_hta_path_graph *g = b->g;
    uint32_t node = (end ? b->end : b->start)[row];

    if (node == NONE)
        return;
    bool locked = w->last != NONE && holds_lock(b, w->last) && holds_lock(b, node) && (!g->nodes.v[w->last].end || end);
    if (w->last != NONE && !locked) {
        if (!end && w->depth == 0)
            put_edge(b, w->last, node, TL_HTA_DEPENDENCY, false);
        else
            put_operator(b, w->last, node, !end || !(b->calls->traits[g->clip.rows.v[row].name] & TL_HTA_BLOCKS),
                         w->parent);
    }
    *w = (walk){ node, parent[row] == TL_HTA_TOP ? TL_HTA_NO_EVENT : g->clip.rows.v[parent[row]].index,
                 w->depth + (end ? -1 : 1) };
}

/* Rows are opened each after what it stands in: so before a row is, those that it does not stand in are left. */
static void add_stacks(builder *b)
{
    tl_hta_frame *clip = &b->g->clip;
    tl_hta_nest nest = { .rows = clip->rows.v, .way = TL_HTA_SIBLINGS };
    uint32_t *open = tl_arena_take(&b->arena, clip->rows.n, sizeof *open);

    join_passes(b);
    nest.parent = tl_arena_take(&b->arena, clip->rows.n, sizeof *nest.parent);
    nest.opened = tl_arena_take(&b->arena, clip->rows.n, sizeof *nest.opened);
    tl_hta_threads threads = tl_hta_threads_of(clip);
    TL_EACH (const tl_hta_thread, t, threads) {
        walk w = { .last = NONE, .parent = TL_HTA_NO_EVENT };
        size_t nopen = 0, nhost = 0, i = nest.nopened;
        while (nhost < t->n && clip->rows.v[t->at[nhost]].stream < 0)
            nhost++;
        if (nhost < t->n)
            continue;
        tl_hta_nest_rows(&nest, t->at, t->n);
        for (; i < nest.nopened; i++) {
            while (nopen > 0 && open[nopen - 1] != nest.parent[nest.opened[i]])
                visit(b, &w, open[--nopen], nest.parent, true);
            visit(b, &w, nest.opened[i], nest.parent, false);
            open[nopen++] = nest.opened[i];
        }
        while (nopen > 0)
            visit(b, &w, open[--nopen], nest.parent, true);
    }
    tl_hta_threads_free(&threads);
}

/* ------------------------------------------------------------------------------------------------- (e) device work
 *
 *     host     [launch a][launch b]....[launch c]....[ cudaStreamSynchronize     )
 *     stream   ....|----->[  a   ]-->[  b   ].|-------->[   c   ]-----------------|
 *                  launch         kernel      launch             synchronisation
 */

/* A device row, with the lengths of its queue at its launch and at its start, -1 where there is none: once for each pair. */
typedef struct step {
    const tl_hta_row *row;
    int64_t at_launch, at_start;
} step;

typedef struct last_of_stream {
    int64_t stream;
    uint32_t end; /* node */
} last_of_stream;

/* What has come so far. */
typedef struct device {
    TL_VEC(last_of_stream) last; /* as the streams came first */
    tl_map last_at;              /* stream -> place in `last` */
    uint32_t *waits_for;         /* of the index of a kernel: index of one that it waits for; 0: none */
} device;

static const tl_hta_wait *wait_of(const tl_hta_frame *frame, uint32_t index)
{
    size_t i = 0;
    TL_BISECT(i, frame->waits.n, mid, frame->waits.v[mid].index < index);
    return i < frame->waits.n && frame->waits.v[i].index == index ? &frame->waits.v[i] : NULL;
}

/* Work that comes after what was there: the end of a runtime call, if it is in the graph. */
static void add_sync(builder *b, uint32_t from, int64_t call)
{
    uint32_t to = node_of(b, call, true);
    if (from != NONE && to != NONE)
        put_edge(b, from, to, TL_HTA_SYNC, false);
}

/* False: HTA does not know the kind. */
static bool take_sync(builder *b, device *d, const tl_hta_row *row)
{
    const tl_hta_rank_calls *c = b->calls;
    tl_text name = tl_hta_name(c->frame, row);
    bool stream_wait = tl_text_is(name, "Stream Wait Event");

    if (stream_wait || tl_text_is(name, "Event Sync")) {
        const tl_hta_wait *wait = wait_of(c->frame, row->index);
        uint32_t source = tl_map_get(&c->source, (uint64_t)(wait != NULL ? wait->record : INT64_C(-1)));
        uint32_t target = stream_wait && row->link >= 0 ? tl_map_get(&c->target, (uint64_t)row->link) : TL_MAP_NONE;
        if (source == TL_MAP_NONE || source == 0)
            return true;
        if (!stream_wait)
            add_sync(b, node_of(b, source, true), row->link);
        else if (target != TL_MAP_NONE)
            d->waits_for[target] = source;
    } else if (tl_text_is(name, "Context Sync")) {
        TL_EACH (const last_of_stream, last, d->last)
            add_sync(b, last->end, row->link);
    } else if (tl_text_is(name, "Stream Sync")) {
        uint32_t at = tl_map_get(&d->last_at, (uint64_t)row->stream);
        add_sync(b, at < d->last.n ? d->last.v[at].end : NONE, row->link);
    } else {
        return false;
    }
    return true;
}

/* False: HTA gives up, for the launch that a kernel waited for has no node. */
static bool take_kernel(builder *b, device *d, const step *s, bool launch_edges)
{
    const tl_hta_row *row = s->row, *called = tl_hta_rank_row(b->calls, row->link);
    const uint32_t start = node_of(b, row->index, false), end = node_of(b, row->index, true);
    const uint32_t call = node_of(b, row->link, false);
    uint32_t at = tl_map_get(&d->last_at, (uint64_t)row->stream), last = NONE, waited = NONE;
    bool delayed = false;

    if (start == NONE)
        return true;
    put_operator(b, start, end, true, TL_HTA_NO_EVENT);
    if (at < d->last.n)
        last = d->last.v[at].end;
    if (d->waits_for[row->index] > 0)
        waited = node_of(b, d->waits_for[row->index], true);
    d->waits_for[row->index] = 0;
    if (waited != NONE)
        put_edge(b, waited, start, TL_HTA_SYNC, false);
    if (s->at_launch == 1 && s->at_start == 0 && called != NULL && (last == NONE || time_of(b, last) < called->ts) &&
        (waited == NONE || time_of(b, waited) < called->ts)) {
        if (call == NONE)
            return false;
        put_edge(b, call, start, TL_HTA_LAUNCH_DELAY, true);
        delayed = true;
    } else if (last != NONE && time_of(b, start) - time_of(b, last) < KERNEL_DELAY_BELOW &&
               (waited == NONE || time_of(b, waited) < time_of(b, last))) {
        put_edge(b, last, start, TL_HTA_KERNEL_DELAY, true)->event = tl_hta_row_of_node(b->g, last)->index;
    }
    if (launch_edges && !delayed && call != NONE)
        put_edge(b, call, start, TL_HTA_LAUNCH_DELAY, false);
    if (at < d->last.n) {
        d->last.v[at].end = end;
    } else {
        tl_map_put(&d->last_at, (uint64_t)row->stream, (uint32_t)d->last.n);
        tl_vec_push(&d->last, (last_of_stream){ row->stream, end });
    }
    return true;
}

/* By start, synchronisations by their end.  False: HTA gives up. */
static bool add_device(builder *b, bool launch_edges)
{
    const tl_hta_rank_calls *c = b->calls;
    tl_hta_path_graph *g = b->g;
    TL_VEC(step) steps = { 0 };
    TL_VEC(double) times = { 0 };
    device d = { .waits_for = tl_arena_zeroed(&b->arena, c->nindices, sizeof *d.waits_for) };

    TL_EACH (const tl_hta_row, row, g->clip.rows) {
        if ((!tl_hta_on_stream(row) && !tl_hta_symbol_of(&g->clip, row)->sync) || row->link < 0 ||
            (uint64_t)row->link >= c->nindices)
            continue;
        const size_t *at_launch = &c->first[row->link], *at_start = &c->first[row->index];
        double time = tl_text_is(tl_hta_cat(&g->clip, row), "cuda_sync") ? row->ts + row->dur : row->ts;
        for (size_t i = at_launch[0]; i < at_launch[1] || i == at_launch[0]; i++)
            for (size_t k = at_start[0]; k < at_start[1] || k == at_start[0]; k++) {
                tl_vec_push(&steps,
                            (step){ row, i < at_launch[1] ? c->length[i] : -1, k < at_start[1] ? c->length[k] : -1 });
                tl_vec_push(&times, time);
            }
    }
    uint32_t *order = tl_malloc(steps.n * sizeof *order);
    tl_numpy_argsort(order, times.v, steps.n);
    for (size_t i = 0; i < steps.n && g->why[0] == '\0'; i++) {
        const step *s = &steps.v[order[i]];
        if (!tl_text_is(tl_hta_cat(&g->clip, s->row), "cuda_sync")) {
            if (!take_kernel(b, &d, s, launch_edges))
                snprintf(g->why, sizeof g->why, "entry %lld, which launched entry %u, is no node of the graph",
                         (long long)s->row->link, s->row->index);
        } else if (!take_sync(b, &d, s->row)) {
            snprintf(g->why, sizeof g->why, "entry %u is a synchronisation of a kind that HTA does not know",
                     s->row->index);
        }
    }
    free(order);
    free(steps.v);
    free(times.v);
    free(d.last.v);
    tl_map_free(&d.last_at);
    return g->why[0] == '\0';
}

/* ----------------------------------------------------------------------------------------------------------- the path */

/* First the nodes that nothing comes before, as they were met, then what only comes after these, and so on, each by the edge
 * that freed it. */
static void order_nodes(tl_hta_path_graph *g)
{
    const size_t n = g->nodes.n;
    uint32_t *from = tl_arena_take(&g->arena, g->edges.n, sizeof *from);
    uint32_t *to = tl_arena_take(&g->arena, g->edges.n, sizeof *to);
    uint32_t *before = tl_arena_take(&g->arena, n, sizeof *before); /* edges of a node that are still to come */
    size_t norder = 0;

    for (size_t i = 0; i < g->edges.n; i++) {
        from[i] = g->edges.v[i].from;
        to[i] = g->edges.v[i].to;
    }
    g->first_in = tl_arena_take(&g->arena, n + 1, sizeof *g->first_in);
    g->first_out = tl_arena_take(&g->arena, n + 1, sizeof *g->first_out);
    g->in = tl_arena_take(&g->arena, g->edges.n, sizeof *g->in);
    g->out = tl_arena_take(&g->arena, g->edges.n, sizeof *g->out);
    tl_group_rows(to, g->edges.n, n, g->first_in, g->in);
    tl_group_rows(from, g->edges.n, n, g->first_out, g->out);
    g->order = tl_arena_take(&g->arena, g->met.n, sizeof *g->order);
    TL_EACH (const uint32_t, node, g->met) {
        before[*node] = (uint32_t)(g->first_in[*node + 1] - g->first_in[*node]);
        if (before[*node] == 0)
            g->order[norder++] = *node;
    }
    for (size_t i = 0; i < norder; i++)
        for (size_t k = g->first_out[g->order[i]]; k < g->first_out[g->order[i] + 1]; k++)
            if (--before[to[g->out[k]]] == 0)
                g->order[norder++] = to[g->out[k]];
    if (norder < g->met.n)
        g->order = NULL;
}

size_t tl_hta_longest_path(const tl_hta_path_graph *g, const double *weight, uint32_t *path)
{
    tl_arena arena = { 0 };
    double *length = tl_arena_take(&arena, g->nodes.n, sizeof *length);
    uint32_t *from = tl_arena_take(&arena, g->nodes.n, sizeof *from);
    uint32_t end = NONE;
    size_t n = 0;

    for (size_t i = 0; i < g->met.n; i++) {
        const uint32_t node = g->order[i];
        bool any = false;
        length[node] = 0;
        from[node] = node;
        for (size_t k = g->first_in[node]; k < g->first_in[node + 1]; k++) {
            uint32_t before = g->edges.v[g->in[k]].from;
            double here = length[before] + weight[g->in[k]];
            if (any && here <= length[node])
                continue;
            any = true;
            length[node] = here;
            from[node] = before;
        }
        if (length[node] < 0) {
            length[node] = 0;
            from[node] = node;
        }
        if (end == NONE || length[node] > length[end])
            end = node;
    }
    for (uint32_t node = end; node != NONE; node = from[node] != node ? from[node] : NONE)
        n++;
    for (size_t i = n; i-- > 0; end = from[end])
        path[i] = end;
    tl_arena_free(&arena);
    return n;
}

static void find_path(tl_hta_path_graph *g)
{
    double *weight = tl_arena_take(&g->arena, g->edges.n, sizeof *weight);

    order_nodes(g);
    if (g->order == NULL)
        g->invalid = "edges make a circle";
    for (size_t i = 0; i < g->edges.n; i++) {
        const tl_hta_edge *edge = &g->edges.v[i];
        int64_t from = tl_hta_row_of_node(g, edge->from)->stream, to = tl_hta_row_of_node(g, edge->to)->stream;
        weight[i] = tl_hta_edge_counts(edge);
        if (edge->kind == TL_HTA_SYNC && from != -1 && from == to)
            g->invalid = "work waits for other work of the same stream";
    }
    if (g->invalid != NULL)
        return;
    g->path = tl_arena_take(&g->arena, g->met.n, sizeof *g->path);
    g->npath = tl_hta_longest_path(g, weight, g->path);
    if (g->npath < 2)
        snprintf(g->why, sizeof g->why, "no edge has a weight");
}

tl_hta_path_graph tl_hta_path_graph_of(const tl_hta_rank_calls *calls, const tl_hta_region *region)
{
    tl_hta_path_graph g = { .npath = 0 };
    builder b = { .calls = calls, .g = &g };

    if (take_rows(&b, region)) {
        TL_EACH (const tl_track, track, calls->frame->tracks)
            tl_vec_push(&g.clip.tracks, *track);
        make_nodes(&b);
        add_locks(&b);
        add_stacks(&b);
        if (add_device(&b, region->launch_edges))
            find_path(&g);
    }
    tl_arena_free(&b.arena);
    return g;
}

void tl_hta_path_graph_free(tl_hta_path_graph *g)
{
    tl_hta_frame_free(&g->clip);
    free(g->nodes.v);
    free(g->edges.v);
    free(g->met.v);
    tl_map_free(&g->edge_at);
    tl_arena_free(&g->arena);
}
