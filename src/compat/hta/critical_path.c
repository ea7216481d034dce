/* critical_path.c - the rows of a region, HTA's nodes and edges, and the heaviest path. */
#include "critical_path.h"
#include "graph.h"
#include "tlmpi/base/group.h"
#include "tlmpi/base/hash.h"
#include "tlmpi/compat/python.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NONE UINT32_MAX

/* us; a kernel that starts this long after the previous kernel of its stream did not wait for that kernel. */
#define KERNEL_DELAY_BELOW 1500

/* --------------------------------------------------------------------------------------------------------- the clip
 *
 *     host     ...(a)..[ window                  ].(d)...      clip: b and c, and the device work that they launched,
 *              .........(b)......(c).....................      whenever that work runs
 */

/* State of the construction of a graph. */
typedef struct builder {
    const tl_hta_rank_calls *calls;
    tl_hta_path_graph *g;
    tl_arena arena;
    uint32_t *nodes; /* by 2 * index: start node + 1, by 2 * index + 1: end node + 1; 0: none */
    tl_map edge_at;  /* from << 32 | to -> position in edges */
} builder;

/* Sets b->g->why: no name has the annotation in it; and lists the annotations of the rank, one of each group of names
 * that are equal up to a '#'. */
static void refuse_annotation(builder *b, const char *annotation)
{
    const tl_hta_frame *frame = b->calls->frame;
    tl_map known = { 0 };
    tl_bytes words = { 0 };

    TL_EACH (const tl_hta_row, row, frame->rows) {
        const tl_text name = tl_hta_name(frame, row);
        const char *sign = name.n > 0 ? memchr(name.p, '#', name.n) : NULL;
        const uint64_t stem = tl_hash_bytes(name.p, sign != NULL ? (size_t)(sign - name.p) : name.n);
        if (!tl_text_is(tl_hta_cat(frame, row), "user_annotation") || tl_map_get(&known, stem) != TL_MAP_NONE)
            continue;
        tl_bytes_say(&words, "%s%.*s", known.n > 0 ? ", " : "annotations are ", (int)name.n, name.p);
        tl_map_put(&known, stem, 1);
    }
    tl_bytes_put(&words, "", 1);
    snprintf(b->g->why, sizeof b->g->why, "no name has \"%.60s\" in it, and %.500s", annotation,
             known.n > 0 ? words.v : "the rank has no annotations: '*' is the whole trace");
    tl_bytes_free(&words);
    tl_map_free(&known);
}

typedef struct window {
    double ts, end;
} window;

/* Sets *w to the time of the region's instances, or for the whole trace to all time.  False: no instance, HTA fails. */
static bool find_window(builder *b, const tl_hta_region *region, window *w)
{
    const tl_hta_frame *frame = b->calls->frame;
    int64_t instance = 0;

    *w = (window){ INFINITY, -INFINITY };
    TL_EACH (const tl_hta_row, row, frame->rows) {
        if (!tl_text_has(tl_hta_name(frame, row), region->annotation))
            continue;
        if (instance >= region->instances.first && instance <= region->instances.last)
            *w = (window){ fmin(w->ts, row->ts), fmax(w->end, row->ts + row->dur) };
        instance++;
    }
    if (region->annotation[0] == '\0')
        *w = (window){ -INFINITY, INFINITY };
    else if (instance == 0)
        refuse_annotation(b, region->annotation);
    else if (instance <= region->instances.first)
        snprintf(b->g->why, sizeof b->g->why, "instance %lld is asked for, and there are %lld, counted from 0",
                 (long long)region->instances.first, (long long)instance);
    return b->g->why[0] == '\0';
}

static bool loads_data(const tl_hta_rank_calls *c, const tl_hta_row *row)
{
    return c->loader != NULL && tl_text_has(tl_hta_name(c->frame, row), c->loader);
}

static bool is_stream_wait(const tl_hta_rank_calls *c, const tl_hta_row *row)
{
    return tl_text_is(tl_hta_name(c->frame, row), "Stream Wait Event");
}

TL_SORT_BY(by_index, tl_hta_row, index)

/* Sets the clip's rows.  HTA joins device work with its calls, so a row with several calls is repeated, and HTA fails
 * ("cannot reindex on an axis with duplicate labels"); for a Stream Wait Event with several calls too, even outside the
 * window.  False: HTA fails. */
static bool clip_rows(builder *b, const tl_hta_region *region)
{
    const tl_hta_rank_calls *c = b->calls;
    tl_hta_path_graph *g = b->g;
    uint32_t *ncalls = tl_arena_zeroed(&b->arena, c->frame->nindices, sizeof *ncalls);
    window w;

    if (!find_window(b, region, &w))
        return false;
    g->clip = (tl_hta_frame){ .rank = c->frame->rank, .symbols = c->frame->symbols };
    TL_EACH (const tl_hta_row, row, c->frame->rows) {
        if (tl_hta_on_stream(row))
            continue;
        const tl_hta_row *work = tl_hta_row_at(c->frame, row->link);
        const bool inside = row->ts >= w.ts && row->ts <= w.end && row->dur > 0;
        if (inside)
            tl_vec_push(&g->clip.rows, *row);
        if (work != NULL && (inside || is_stream_wait(c, work)))
            ncalls[row->link]++;
    }
    TL_EACH (const tl_hta_row, row, c->frame->rows) {
        if (!tl_hta_on_stream(row))
            continue;
        const bool alone = ncalls[row->index] == 0 && is_stream_wait(c, row);
        for (uint32_t k = 0; k < (alone ? 1 : ncalls[row->index]) && k < 2; k++)
            tl_vec_push(&g->clip.rows, *row);
    }
    tl_vec_sort(&g->clip.rows, by_index);
    for (size_t i = 1; i < g->clip.rows.n; i++)
        if (g->clip.rows.v[i].index == g->clip.rows.v[i - 1].index) {
            snprintf(g->why, sizeof g->why, "entry %u, on a stream, is linked to several calls",
                     g->clip.rows.v[i].index);
            return false;
        }
    TL_EACH (const tl_track, track, c->frame->tracks)
        tl_vec_push(&g->clip.tracks, *track);
    return true;
}

TL_SORT_BY(by_time, tl_hta_moment, ts)

/* Makes the nodes, sorted by time; ties by index, the start of a row before its end. */
static void make_nodes(builder *b)
{
    const tl_hta_rank_calls *c = b->calls;
    tl_hta_path_graph *g = b->g;

    for (uint32_t i = 0; i < g->clip.rows.n; i++) {
        const tl_hta_row *row = &g->clip.rows.v[i];
        if (tl_hta_is(c->frame->symbols, row->cat, TL_HTA_HAS_NODES) || loads_data(c, row) ||
            (tl_hta_on_stream(row) && row->link >= 0)) {
            tl_vec_push(&g->nodes, (tl_hta_moment){ row->ts, i, false });
            tl_vec_push(&g->nodes, (tl_hta_moment){ row->ts + row->dur, i, true });
        }
    }
    tl_vec_sort(&g->nodes, by_time);
    b->nodes = tl_arena_zeroed(&b->arena, 2 * c->frame->nindices, sizeof *b->nodes);
    for (uint32_t n = 0; n < g->nodes.n; n++)
        b->nodes[2 * (size_t)tl_hta_row_of_node(g, n)->index + g->nodes.v[n].end] = n + 1;
}

/* Returns the start or the end node of the row with this index; NONE: no such node. */
static uint32_t node_of(const builder *b, int64_t index, bool end)
{
    return index >= 0 && (uint64_t)index < b->calls->frame->nindices ? b->nodes[2 * (size_t)index + end] - 1 : NONE;
}

static bool holds_lock(const builder *b, uint32_t node)
{
    return tl_hta_is(b->calls->frame->symbols, tl_hta_row_of_node(b->g, node)->name, TL_HTA_LOCKS);
}

/* --------------------------------------------------------------------------------------------------------- edges */

/* Adds an edge, or replaces the edge between the same nodes, whose `event` stays unless the new edge sets one.
 * `event` of an operator edge: the row that starts at `from`; else the row that ends at `to`; else `parent`, the
 * parent of the row of `from`.  Of a kernel delay: the first kernel.  The weight is 0 unless `weighs`. */
static void put_edge(builder *b, uint32_t from, uint32_t to, tl_hta_edge_kind kind, bool weighs, int64_t parent)
{
    tl_hta_path_graph *g = b->g;
    const tl_hta_moment *nodes = g->nodes.v;
    const uint32_t at = tl_map_number(&b->edge_at, (uint64_t)from << 32 | to, g->edges.n);

    if (at == g->edges.n)
        tl_vec_push(&g->edges, (tl_hta_edge){ .from = from, .to = to, .event = TL_HTA_NO_EVENT });
    tl_hta_edge *edge = &g->edges.v[at];
    edge->kind = kind;
    edge->weight = weighs ? nodes[to].ts - nodes[from].ts : 0;
    if (kind == TL_HTA_KERNEL_DELAY || (kind == TL_HTA_OPERATOR && !nodes[from].end))
        edge->event = tl_hta_row_of_node(g, from)->index;
    else if (kind == TL_HTA_OPERATOR)
        edge->event = nodes[to].end ? tl_hta_row_of_node(g, to)->index : parent;
}

/* (a) the runtime's lock
 *
 *     thread 1   [ launch a      )             a's end pops all open launches: edges to it from the start of a,
 *     thread 2      [ launch b        )        which weighs, and of b, which does not; and from a's end to b's end
 */
static void add_locks(builder *b)
{
    const tl_hta_moment *nodes = b->g->nodes.v;
    TL_VEC(uint32_t) open = { 0 };
    uint32_t last = NONE;

    for (uint32_t n = 0; n < b->g->nodes.n; n++) {
        if (!holds_lock(b, n))
            continue;
        if (!nodes[n].end)
            tl_vec_push(&open, n);
        for (; nodes[n].end && open.n > 0; open.n--) {
            const uint32_t start = open.v[open.n - 1];
            const bool own = nodes[start].row == nodes[n].row;
            put_edge(b, start, n, own ? TL_HTA_OPERATOR : TL_HTA_DEPENDENCY, own, TL_HTA_NO_EVENT);
        }
        if (nodes[n].end && last != NONE && nodes[last].end)
            put_edge(b, last, n, TL_HTA_DEPENDENCY, false, TL_HTA_NO_EVENT);
        last = n;
    }
    free(open.v);
}

/* ---------------------------------------------------------------------------------------------------- (b) call stacks
 *
 *     [ mm                       )  [ add  )
 *       [ launch )   [ sync    )
 *     1-2--------3---4---------5-6--7------8        1-2, 2-3, ... are time of the host, 6-7 is a dependency; 4-5 weighs
 *                                                   0: the call waits for the device
 */

/* Moves the rows of the backward pass's thread to the forward pass's thread, if names identify exactly one thread of
 * each pass. */
static void join_passes(builder *b)
{
    static const unsigned passes[] = { TL_HTA_IS_FORWARD, TL_HTA_IS_AUTOGRAD };
    tl_hta_frame *clip = &b->g->clip;
    const tl_track *only[2] = { NULL, NULL };

    for (int k = 0; k < 2; k++)
        TL_EACH (const tl_hta_row, row, clip->rows) {
            const tl_track *track = &clip->tracks.v[row->track];
            if (!tl_hta_is(clip->symbols, row->name, passes[k]) ||
                !tl_hta_is(clip->symbols, row->cat, TL_HTA_NAMES_THREAD))
                continue;
            if (only[k] != NULL && TL_ORDER(track, only[k], tid, tid_text) != 0)
                return;
            only[k] = track;
        }
    if (only[0] == NULL || only[1] == NULL)
        return;
    const tl_track forward = *only[0], backward = *only[1];
    uint32_t *joined = tl_arena_zeroed(&b->arena, clip->tracks.n, sizeof *joined);
    TL_EACH (tl_track, track, clip->tracks)
        if (TL_ORDER(track, &backward, tid, tid_text) == 0) {
            track->tid = forward.tid;
            track->tid_text = forward.tid_text;
        }
    for (uint32_t i = 0; i < clip->tracks.n; i++)
        while (TL_ORDER(&clip->tracks.v[joined[i]], &clip->tracks.v[i], pid, pid_text, tid, tid_text) != 0)
            joined[i]++;
    TL_EACH (tl_hta_row, row, clip->rows)
        row->track = joined[row->track];
}

/* State of the walk over a thread. */
typedef struct walk {
    const tl_hta_nest *nest;
    uint32_t last;  /* the last visited node; NONE */
    int64_t parent; /* index of the parent of the row of `last` */
    int64_t depth;  /* number of open rows */
} walk;

/* Visits the start of the row at a position, or with `leaves` its end. */
static void visit(builder *b, walk *w, uint32_t at, bool leaves)
{
    const tl_hta_row *row = &w->nest->rows[at];
    const uint32_t node = node_of(b, row->index, leaves), last = w->last, parent = w->nest->node[at].parent;

    if (node == NONE)
        return;
    const bool locked =
        last != NONE && holds_lock(b, last) && holds_lock(b, node) && (leaves || !b->g->nodes.v[last].end);
    const bool blocks = leaves && tl_hta_is(b->calls->frame->symbols, row->name, TL_HTA_BLOCKS);
    if (last != NONE && !locked && !leaves && w->depth == 0)
        put_edge(b, last, node, TL_HTA_DEPENDENCY, false, TL_HTA_NO_EVENT);
    else if (last != NONE && !locked)
        put_edge(b, last, node, TL_HTA_OPERATOR, !blocks, w->parent);
    w->last = node;
    w->parent = parent == TL_HTA_TOP ? TL_HTA_NO_EVENT : w->nest->rows[parent].index;
    w->depth += leaves ? -1 : 1;
}

/* Adds the edges of the call stacks, for threads without rows on streams.  Parents are opened before their children, so
 * before a row is entered, all open rows but its ancestors are left. */
static void add_stacks(builder *b)
{
    tl_hta_frame *clip = &b->g->clip;
    uint32_t *open = tl_arena_take(&b->arena, clip->rows.n, sizeof *open);

    join_passes(b);
    tl_hta_nest nest = tl_hta_nest_make(clip, TL_HTA_SIBLINGS);
    tl_hta_threads threads = tl_hta_threads_of(clip);
    TL_EACH (const tl_hta_thread, t, threads) {
        walk w = { &nest, NONE, TL_HTA_NO_EVENT, 0 };
        size_t nopen = 0, nhost = 0, i = nest.nopened;
        while (nhost < t->n && nest.rows[t->at[nhost]].stream < 0)
            nhost++;
        if (nhost < t->n)
            continue;
        tl_hta_nest_rows(&nest, t->at, t->n);
        for (; i < nest.nopened; i++) {
            while (nopen > 0 && open[nopen - 1] != nest.node[nest.opened[i]].parent)
                visit(b, &w, open[--nopen], true);
            visit(b, &w, nest.opened[i], false);
            open[nopen++] = nest.opened[i];
        }
        while (nopen > 0)
            visit(b, &w, open[--nopen], true);
    }
    tl_hta_threads_free(&threads);
    tl_hta_nest_free(&nest);
}

/* ------------------------------------------------------------------------------------------------- (e) device work
 *
 *     host     [launch a][launch b]....[launch c]....[ cudaStreamSynchronize     )
 *     stream   ....|----->[  a   ]-->[  b   ].|-------->[   c   ]-----------------|
 *                  launch         kernel      launch             synchronisation
 */

/* A device row with a length of its queue at its launch and at its start, -1: none; one step for each pair of
 * lengths. */
typedef struct step {
    const tl_hta_row *row;
    int64_t at_launch, at_start;
} step;

/* State of the walk over the device rows. */
typedef struct device {
    TL_VEC(uint32_t) last; /* end node of each stream's last row; streams in order of first sight */
    tl_map last_at;        /* stream -> position in `last` */
    uint32_t *waits_for;   /* by index of a kernel: index of a kernel that it waits for; 0: none */
} device;

static void put_sync(builder *b, uint32_t from, uint32_t to)
{
    if (from != NONE && to != NONE)
        put_edge(b, from, to, TL_HTA_SYNC, false, TL_HTA_NO_EVENT);
}

static bool is_sync(const tl_hta_rank_calls *c, const tl_hta_row *row)
{
    return tl_text_is(tl_hta_cat(c->frame, row), "cuda_sync");
}

/* Adds the edges of a synchronisation: from the end of the awaited work to the end of the waiting call. */
static void add_sync(builder *b, device *d, const tl_hta_row *row)
{
    const tl_hta_rank_calls *c = b->calls;
    const tl_text name = tl_hta_name(c->frame, row);
    const bool of_event = tl_text_is(name, "Event Sync"), of_all = tl_text_is(name, "Context Sync");

    if (of_event || is_stream_wait(c, row)) {
        const uint32_t source = tl_map_get(&c->source, (uint64_t)tl_hta_args_of(c->frame, row->index)->wait_record);
        const uint32_t target = tl_map_get(&c->target, (uint64_t)row->link);
        if (source == TL_MAP_NONE || source == 0)
            return;
        if (of_event)
            put_sync(b, node_of(b, source, true), node_of(b, row->link, true));
        else if (target != TL_MAP_NONE)
            d->waits_for[target] = source;
    } else if (of_all || tl_text_is(name, "Stream Sync")) {
        TL_EACH (const uint32_t, last, d->last)
            if (of_all || tl_hta_row_of_node(b->g, *last)->stream == row->stream)
                put_sync(b, *last, node_of(b, row->link, true));
    } else {
        snprintf(b->g->why, sizeof b->g->why, "entry %u is a synchronisation of a kind that HTA does not know",
                 row->index);
    }
}

/* Adds the edges of a kernel.  HTA fails if the launch of a kernel that found its stream idle has no node. */
static void add_kernel(builder *b, device *d, const step *s, bool launch_edges)
{
    const tl_hta_moment *nodes = b->g->nodes.v;
    const tl_hta_row *row = s->row, *called = tl_hta_row_at(b->calls->frame, row->link);
    const uint32_t start = node_of(b, row->index, false), end = node_of(b, row->index, true);
    const uint32_t call = node_of(b, row->link, false);
    const uint32_t at = tl_map_number(&d->last_at, (uint64_t)row->stream, d->last.n);
    uint32_t last = NONE, waited = NONE;

    put_edge(b, start, end, TL_HTA_OPERATOR, true, TL_HTA_NO_EVENT);
    if (at == d->last.n)
        tl_vec_push(&d->last, end);
    else if (d->last.v != NULL) {
        last = d->last.v[at];
        d->last.v[at] = end;
    }
    if (d->waits_for[row->index] > 0)
        waited = node_of(b, d->waits_for[row->index], true);
    d->waits_for[row->index] = 0;
    put_sync(b, waited, start);
    const bool found_idle = s->at_launch == 1 && s->at_start == 0 && called != NULL &&
                            (last == NONE || nodes[last].ts < called->ts) &&
                            (waited == NONE || nodes[waited].ts < called->ts);
    if (found_idle && call == NONE)
        snprintf(b->g->why, sizeof b->g->why, "entry %lld, which launched entry %u, is no node of the graph",
                 (long long)row->link, row->index);
    else if (found_idle)
        put_edge(b, call, start, TL_HTA_LAUNCH_DELAY, true, TL_HTA_NO_EVENT);
    else if (last != NONE && nodes[start].ts - nodes[last].ts < KERNEL_DELAY_BELOW &&
             (waited == NONE || nodes[waited].ts < nodes[last].ts))
        put_edge(b, last, start, TL_HTA_KERNEL_DELAY, true, TL_HTA_NO_EVENT);
    if (launch_edges && !found_idle && call != NONE)
        put_edge(b, call, start, TL_HTA_LAUNCH_DELAY, false, TL_HTA_NO_EVENT);
}

/* Adds the edges of device rows in order of their starts, synchronisations in order of their ends. */
static void add_device(builder *b, bool launch_edges)
{
    const tl_hta_rank_calls *c = b->calls;
    tl_hta_path_graph *g = b->g;
    TL_VEC(step) steps = { 0 };
    TL_VEC(double) times = { 0 };
    device d = { .waits_for = tl_arena_zeroed(&b->arena, c->frame->nindices, sizeof *d.waits_for) };

    TL_EACH (const tl_hta_row, row, g->clip.rows) {
        if ((!tl_hta_on_stream(row) && !tl_hta_is(g->clip.symbols, row->name, TL_HTA_IS_SYNC)) || row->link < 0 ||
            (uint64_t)row->link >= c->frame->nindices)
            continue;
        const size_t *at_launch = &c->first[row->link], *at_start = &c->first[row->index];
        for (size_t i = at_launch[0]; i < at_launch[1] || i == at_launch[0]; i++)
            for (size_t k = at_start[0]; k < at_start[1] || k == at_start[0]; k++) {
                tl_vec_push(&steps,
                            (step){ row, i < at_launch[1] ? c->length[i] : -1, k < at_start[1] ? c->length[k] : -1 });
                tl_vec_push(&times, row->ts + (is_sync(c, row) ? row->dur : 0));
            }
    }
    uint32_t *order = tl_malloc(steps.n * sizeof *order);
    tl_numpy_argsort(order, times.v, steps.n);
    for (size_t i = 0; i < steps.n && g->why[0] == '\0'; i++) {
        const step *s = &steps.v[order[i]];
        if (is_sync(c, s->row))
            add_sync(b, &d, s->row);
        else if (node_of(b, s->row->index, false) != NONE)
            add_kernel(b, &d, s, launch_edges);
    }
    free(order);
    free(steps.v);
    free(times.v);
    free(d.last.v);
    tl_map_free(&d.last_at);
}

/* --------------------------------------------------------------------------------------------------------- the path */

/* Topological order: first the nodes without incoming edges, in the order of g->met; a node follows when all its
 * predecessors have been taken. */
double tl_hta_longest_path(const tl_hta_path_graph *g, double collectives, double others, uint32_t *path, size_t *npath)
{
    const tl_hta_edge *edges = g->edges.v;
    tl_arena arena = { 0 };
    double *length = tl_arena_zeroed(&arena, g->nodes.n, sizeof *length), longest = -1;
    uint32_t *by = tl_arena_take(&arena, g->nodes.n, sizeof *by);           /* by node: last edge of its heaviest way */
    uint32_t *before = tl_arena_zeroed(&arena, g->nodes.n, sizeof *before); /* by node: incoming edges not yet taken */
    uint32_t *order = tl_arena_take(&arena, g->met.n, sizeof *order), end = NONE;
    size_t norder = 0, n = 0;

    for (size_t i = 0; i < g->edges.n; i++)
        before[edges[i].to]++;
    TL_EACH (const uint32_t, node, g->met) {
        by[*node] = NONE;
        if (before[*node] == 0)
            order[norder++] = *node;
    }
    for (size_t i = 0; i < norder; i++) {
        const uint32_t node = order[i];
        if (length[node] < 0) {
            length[node] = 0;
            by[node] = NONE;
        }
        if (length[node] > longest) {
            longest = length[node];
            end = node;
        }
        for (size_t k = g->first_out[node]; k < g->first_out[node + 1]; k++) {
            const uint32_t edge = g->out[k], to = edges[edge].to;
            const double share = edges[edge].binding == TL_HTA_BY_COMMUNICATION ? collectives
                                 : edges[edge].binding == TL_HTA_BY_COMPUTE     ? others
                                                                                : 1;
            const double here = length[node] + tl_hta_edge_counts(&edges[edge]) * share;
            if (by[to] == NONE || here > length[to] || (!(here < length[to]) && edge < by[to])) {
                length[to] = here;
                by[to] = edge;
            }
            if (--before[to] == 0)
                order[norder++] = to;
        }
    }
    if (path != NULL) {
        for (uint32_t node = end; node != NONE && by[node] != NONE; node = edges[by[node]].from)
            n++;
        *npath = n;
        for (uint32_t node = end; n > 0; node = edges[path[n]].from)
            path[--n] = by[node];
    }
    tl_arena_free(&arena);
    return norder == g->met.n ? longest : NAN;
}

/* Returns the bottleneck that an edge counts for; a kernel's class follows from its name without parameters. */
static tl_hta_binding binding_of(const builder *b, const tl_hta_edge *edge)
{
    const tl_hta_row *row = edge->event != TL_HTA_NO_EVENT ? tl_hta_row_at(b->calls->frame, edge->event) : NULL;
    tl_bytes name = { 0 };

    if (edge->kind == TL_HTA_KERNEL_DELAY)
        return TL_HTA_BY_KERNEL_DELAY;
    if (edge->kind == TL_HTA_LAUNCH_DELAY)
        return TL_HTA_BY_LAUNCH_DELAY;
    if (edge->kind != TL_HTA_OPERATOR || row == NULL)
        return TL_HTA_BY_NOTHING;
    if (row->stream < 0)
        return loads_data(b->calls, row) ? TL_HTA_BY_LOADING : TL_HTA_BY_HOST;
    tl_hta_short_name(&name, tl_hta_name(&b->g->clip, row));
    const tl_hta_class class = tl_hta_rule_of(tl_bytes_text(&name))->class;
    tl_bytes_free(&name);
    return class == TL_HTA_COMMUNICATION ? TL_HTA_BY_COMMUNICATION : TL_HTA_BY_COMPUTE;
}

static void find_path(builder *b)
{
    tl_hta_path_graph *g = b->g;
    uint32_t *from = tl_arena_take(&g->arena, g->edges.n, sizeof *from);
    bool *is_met = tl_arena_zeroed(&g->arena, g->nodes.n, sizeof *is_met);

    for (size_t i = 0; i < g->edges.n; i++) {
        tl_hta_edge *edge = &g->edges.v[i];
        const int64_t stream = tl_hta_row_of_node(g, edge->from)->stream;
        edge->binding = binding_of(b, edge);
        from[i] = edge->from;
        for (int k = 0; k < 2; k++) {
            const uint32_t node = k == 0 ? edge->from : edge->to;
            if (!is_met[node])
                tl_vec_push(&g->met, node);
            is_met[node] = true;
        }
        if (edge->kind == TL_HTA_SYNC && stream != -1 && stream == tl_hta_row_of_node(g, edge->to)->stream)
            g->invalid = "work waits for other work of the same stream";
    }
    g->first_out = tl_arena_take(&g->arena, g->nodes.n + 1, sizeof *g->first_out);
    g->out = tl_arena_take(&g->arena, g->edges.n, sizeof *g->out);
    tl_group_rows(from, g->edges.n, g->nodes.n, g->first_out, g->out);
    g->path = tl_arena_take(&g->arena, g->met.n, sizeof *g->path);
    g->length = tl_hta_longest_path(g, 1, 1, g->path, &g->npath);
    if (g->invalid == NULL && isnan(g->length))
        g->invalid = "edges make a circle";
    if (g->invalid != NULL)
        g->npath = 0;
    else if (g->npath == 0)
        snprintf(g->why, sizeof g->why, "no edge has a weight");
}

tl_hta_path_graph tl_hta_path_graph_of(const tl_hta_rank_calls *calls, const tl_hta_region *region)
{
    tl_hta_path_graph g = { .frame = calls->frame };
    builder b = { .calls = calls, .g = &g };

    if (clip_rows(&b, region)) {
        make_nodes(&b);
        add_locks(&b);
        add_stacks(&b);
        add_device(&b, region->launch_edges);
    }
    if (g.why[0] == '\0')
        find_path(&b);
    tl_map_free(&b.edge_at);
    tl_arena_free(&b.arena);
    return g;
}

void tl_hta_path_graph_free(tl_hta_path_graph *g)
{
    tl_hta_frame_free(&g->clip);
    free(g->nodes.v);
    free(g->edges.v);
    free(g->met.v);
    tl_arena_free(&g->arena);
}
