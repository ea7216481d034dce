/* graph.c - threads; sorting the edges of rows, and the sweep over them; the graph of a rank.
 *
 *     rows        [ a        [ b   ][ c ][ d       ]          ]
 *     sweep       a is opened, b opened, the top (b) closed, c opened, the top closed ...
 *
 * An end takes off whatever was opened last: HTA does so where rows overlap without one being within the other, too.
 *
 * At one time ends come before starts; of ends the shorter row's first, of starts the longer row's.  Rows of no length
 * stand after the starts, and before the ends.  Where there are both, that is a circle: what comes of it depends on the
 * steps of Python's sort, and on the order that the rows come in, and they are therefore the same here.
 */
#include "graph.h"
#include "tlmpi/base/group.h"
#include "tlmpi/compat/python.h"
#include <stdio.h>
#include <stdlib.h>

static int by_number(const void *a, const void *b)
{
    const tl_track *x = ((const tl_hta_thread *)a)->track, *y = ((const tl_hta_thread *)b)->track;
    return TL_ORDER(x, y, pid, tid);
}

static int by_first_row(const void *a, const void *b)
{
    const tl_hta_thread *x = a, *y = b;
    return TL_COMPARE(x->at[0], y->at[0]);
}

/* Numbers and texts have no order in Python: where there are both, threads come in the order of their first rows. */
tl_hta_threads tl_hta_threads_of(const tl_hta_frame *frame)
{
    bool texts = false;
    tl_hta_threads threads = { .groups = tl_hta_groups_of(frame, TL_HTA_BY_TRACK, frame->tracks.n, NULL, NULL) };
    const tl_hta_groups *g = &threads.groups;

    threads.v = tl_malloc(g->n * sizeof *threads.v);
    for (size_t t = 0; t < g->n; t++) {
        const tl_track *track = &frame->tracks.v[t];
        if (g->first[t + 1] == g->first[t])
            continue;
        texts = texts || track->pid_text != TL_NO_NAME || track->tid_text != TL_NO_NAME;
        threads.v[threads.n++] = (tl_hta_thread){ track, g->order + g->first[t], g->first[t + 1] - g->first[t] };
    }
    if (threads.n > 1)
        qsort(threads.v, threads.n, sizeof *threads.v, texts ? by_first_row : by_number);
    return threads;
}

void tl_hta_threads_free(tl_hta_threads *threads)
{
    tl_hta_groups_free(&threads->groups);
    free(threads->v);
}

/* ---------------------------------------------------------------------------------------------------------- nesting */

/* Row at[k] has edge 2k, its start, and 2k + 1, its end. */
typedef struct edges {
    tl_hta_nest *nest;
    const uint32_t *at;
} edges;

/* One edge, as it is compared. */
typedef struct edge {
    const tl_hta_row *row;
    bool end;
    double length, time;
} edge;

static edge edge_of(const edges *e, uint32_t k)
{
    const tl_hta_row *row = &e->nest->rows[e->at[k / 2]];
    double length = row->dur < 0 && e->nest->way == TL_HTA_SIBLINGS ? 0 : row->dur;
    return (edge){ row, k % 2 == 1, length, k % 2 == 1 ? row->ts + length : row->ts };
}

/* Two starts, or two ends, at one time. */
static bool goes_before(const edge *x, const edge *y)
{
    if (x->length != y->length)
        return x->end ? x->length < y->length : x->length > y->length;
    return x->end ? x->row->index > y->row->index : x->row->index < y->row->index;
}

static bool is_before_sibling(void *context, uint32_t a, uint32_t b)
{
    const edge x = edge_of(context, a), y = edge_of(context, b);

    if (x.row->index == y.row->index)
        return !x.end;
    if (x.time != y.time)
        return x.time < y.time;
    if (x.end == y.end)
        return goes_before(&x, &y);
    if (x.length > 0 && y.length > 0)
        return x.end;
    return x.length == 0 && y.length == 0 ? x.row->index < y.row->index : !x.end;
}

static bool is_before_nested(void *context, uint32_t a, uint32_t b)
{
    tl_hta_nest *nest = ((edges *)context)->nest;
    const edge x = edge_of(context, a), y = edge_of(context, b);

    if (x.time != y.time)
        return x.time < y.time;
    if (x.row->index == y.row->index)
        return !x.end;
    if ((x.length == 0 && y.length < 0) || (x.length < 0 && y.length == 0)) {
        nest->clash = true;
        nest->clash_of = x.length == 0 ? x.row->index : y.row->index;
        nest->clash_with = x.length == 0 ? y.row->index : x.row->index;
    }
    if (x.length == 0 && y.length != 0)
        return y.end;
    if (x.length != 0 && y.length == 0)
        return !x.end;
    if (x.end == y.end)
        return goes_before(&x, &y);
    return x.length == 0 ? !x.end : x.end;
}

void tl_hta_nest_rows(tl_hta_nest *nest, const uint32_t *at, size_t n)
{
    edges e = { nest, at };
    uint32_t *v = tl_malloc(2 * n * sizeof *v), *stack = tl_malloc(n * sizeof *stack);
    size_t depth = 0;

    for (uint32_t i = 0; i < 2 * n; i++)
        v[i] = i;
    if (nest->way == TL_HTA_NESTED) { /* by time as numpy does, from an order of all starts, then all ends */
        double *times = tl_malloc(2 * n * sizeof *times);
        for (uint32_t i = 0; i < 2 * n; i++)
            times[i % 2 * n + i / 2] = edge_of(&e, i).time;
        tl_numpy_argsort(v, times, 2 * n);
        for (size_t i = 0; i < 2 * n; i++)
            v[i] = v[i] < n ? 2 * v[i] : (uint32_t)(2 * (v[i] - n) + 1);
        free(times);
    }
    tl_python_sort(v, 2 * n, nest->way == TL_HTA_NESTED ? is_before_nested : is_before_sibling, &e);
    for (size_t i = 0; i < 2 * n; i++) {
        uint32_t row = at[v[i] / 2];
        if (v[i] % 2 == 1) {
            depth -= depth > 0;
            continue;
        }
        nest->parent[row] = depth > 0 ? stack[depth - 1] : TL_HTA_TOP;
        nest->opened[nest->nopened++] = row;
        stack[depth++] = row;
    }
    free(v);
    free(stack);
}

/* ---------------------------------------------------------------------------------------------- the graph of a rank */

static bool is_of_device(const tl_hta_thread *thread, const tl_hta_row *rows)
{
    const tl_track *track = thread->track;
    bool on_streams = true;

    for (size_t i = 0; i < thread->n && on_streams; i++)
        on_streams = rows[thread->at[i]].stream > 0;
    return on_streams || (track->pid == 0 && track->pid_text == TL_NO_NAME) ||
           (track->tid == 0 && track->tid_text == TL_NO_NAME);
}

static int64_t root_of(const tl_track *track)
{
    return track->tid > 0 ? -track->tid : track->tid;
}

/* Nests the rows of the host, thread by thread. */
static void nest_threads(tl_hta_graph *g)
{
    const tl_hta_row *rows = g->frame->rows.v;
    tl_hta_nest nest = { .rows = rows, .way = TL_HTA_NESTED, .opened = g->opened };
    uint32_t *host = tl_malloc(g->frame->rows.n * sizeof *host);

    nest.parent = tl_malloc(g->frame->rows.n * sizeof *nest.parent);
    TL_EACH (const tl_hta_thread, t, g->threads) {
        size_t n = 0;
        if (is_of_device(t, rows))
            continue;
        if (t->track->tid_text != TL_NO_NAME) {
            snprintf(g->why, sizeof g->why, "the thread id of entry %u is a text", rows[t->at[0]].index);
            break;
        }
        tl_hta_stack stack = {
            .thread = t, .label_row = t->at[0], .from = nest.nopened, .own_root = root_of(t->track)
        };
        for (size_t i = 0; i < t->n; i++) {
            const tl_hta_symbol *symbol = tl_hta_symbol_of(g->frame, &rows[t->at[i]]);
            stack.main |= symbol->step_mark;
            stack.backward |= symbol->autograd;
            if (!tl_hta_on_stream(&rows[t->at[i]]))
                host[n++] = t->at[i];
        }
        tl_hta_nest_rows(&nest, host, n);
        stack.backward = stack.backward && !stack.main;
        stack.root = stack.own_root;
        stack.to = nest.nopened;
        g->stack[g->nstacks++] = stack;
        if (nest.clash) {
            snprintf(g->why, sizeof g->why, "entries %u, of no length, and %u, of a negative one, meet at one time",
                     nest.clash_of, nest.clash_with);
            break;
        }
    }
    g->nopened = nest.nopened;
    for (size_t i = 0; i < g->nopened; i++) {
        g->node[g->opened[i]].parent = nest.parent[g->opened[i]];
        g->node[g->opened[i]].depth = 0;
    }
    free(nest.parent);
    free(host);
}

/* Device work under its launch.  A row that the cut has repeated counts once. */
static void place_kernels(tl_hta_graph *g)
{
    const tl_hta_row *rows = g->frame->rows.v;
    const size_t nindices = tl_hta_nindices(g->frame);
    uint32_t *at_of = tl_calloc(nindices, sizeof *at_of); /* index -> position + 1 */

    for (size_t i = 0; i < g->nopened; i++)
        at_of[rows[g->opened[i]].index] = g->opened[i] + 1;
    for (size_t i = 0; i < g->frame->rows.n; i++) {
        const tl_hta_row *row = &rows[i];
        if (row->stream <= 0 || row->link <= 0 || (uint64_t)row->link >= nindices || at_of[row->link] == 0 ||
            (i > 0 && rows[i - 1].index == row->index))
            continue;
        g->node[i] = (tl_hta_node){ .parent = at_of[row->link] - 1,
                                    .depth = 0,
                                    .nkernels = 1,
                                    .kernel_dur_sum = row->dur,
                                    .first_kernel_start = row->ts,
                                    .last_kernel_end = row->end };
    }
    free(at_of);
}

/* --------------------------------------------------------------------------------- the backward pass under the steps
 *
 *     main       [ ProfilerStep#5             ][ ProfilerStep#6             ]
 *     backward      [ autograd:: ][ autograd:: ]   [ autograd:: ]     [ autograd:: ]      the last one stays outside
 *
 * Of several steps that a row lies in the first in file order takes it. */

TL_ORDER_BY(by_start, tl_hta_row, ts)

/* Positions of the rows that the backward thread may go under, the last in file order first. */
static size_t find_steps(uint32_t *steps, const tl_hta_graph *g, const tl_hta_thread *main)
{
    size_t n = 0;
    for (int backward_pass = 1; backward_pass >= 0 && n == 0; backward_pass--)
        for (size_t i = main->n; i-- > 0;) {
            const tl_hta_symbol *symbol = tl_hta_symbol_of(g->frame, &g->frame->rows.v[main->at[i]]);
            if (g->node[main->at[i]].depth >= 0 && (backward_pass ? symbol->backward_mark : symbol->step_mark))
                steps[n++] = main->at[i];
        }
    return n;
}

/* By their starts steps enter the list of ends, each at its place, and a row asks for the last that ends with it or later.
 * The backward stack's rows then stand behind all others in `opened`. */
static void join_stacks(tl_hta_graph *g, const tl_hta_stack *main, tl_hta_stack *backward)
{
    const tl_hta_row *rows = g->frame->rows.v;
    const size_t n = backward->to - backward->from, after = g->nopened - backward->to;
    uint32_t *first = g->opened + backward->from;
    tl_arena arena = { 0 };
    uint32_t *steps = tl_arena_take(&arena, main->thread->n, sizeof *steps);
    uint32_t *outer = tl_arena_take(&arena, n, sizeof *outer), *moved = tl_arena_take(&arena, n, sizeof *moved);
    size_t nsteps = find_steps(steps, g, main->thread), nouter = 0, nmoved = 0;
    tl_hta_peaks ends = { 0 };

    tl_hta_peaks_make(&ends, nsteps);
    uint32_t *started = tl_arena_take(&arena, nsteps, sizeof *started);
    memcpy(started, steps, nsteps * sizeof *started);
    tl_sort_index(started, nsteps, by_start, rows);
    for (size_t i = 0; i < n; i++)
        if (g->node[first[i]].parent == TL_HTA_TOP)
            outer[nouter++] = first[i];
    tl_sort_index(outer, nouter, by_start, rows);
    for (size_t i = 0, next = 0; i < nouter; i++) {
        for (; next < nsteps && rows[started[next]].ts <= rows[outer[i]].ts; next++) {
            size_t place = 0; /* positions descend in `steps` */
            TL_BISECT(place, nsteps, mid, steps[mid] > started[next]);
            tl_hta_peaks_set(&ends, place, rows[started[next]].end);
        }
        size_t step = tl_hta_peaks_last(&ends, nsteps, rows[outer[i]].end);
        if (step != TL_HTA_NO_PEAK) {
            g->node[outer[i]].parent = steps[step];
            nmoved++;
        }
    }
    if (nmoved > 0 && nmoved == nouter)
        backward->root = main->own_root;
    memcpy(moved, first, n * sizeof *moved);
    memmove(first, first + n, after * sizeof *moved);
    memcpy(first + after, moved, n * sizeof *moved);
    tl_hta_peaks_free(&ends);
    tl_arena_free(&arena);
}

/* The only stack that is the main one, or the one of the backward pass; NULL: there is none, or more than one. */
static tl_hta_stack *only_stack(tl_hta_graph *g, bool main)
{
    tl_hta_stack *only = NULL;
    for (size_t i = 0; i < g->nstacks; i++)
        if (main ? g->stack[i].main : g->stack[i].backward) {
            if (only != NULL)
                return NULL;
            only = &g->stack[i];
        }
    return only;
}

/* ------------------------------------------------------------------------------------------------------- the graph */

static void add_to_parent(tl_hta_graph *g, const tl_hta_node *node)
{
    if (node->parent == TL_HTA_TOP)
        return;
    tl_hta_node *parent = &g->node[node->parent];
    if (node->nkernels > 0) {
        bool first = parent->nkernels == 0;
        parent->first_kernel_start =
            first ? node->first_kernel_start : fmin(parent->first_kernel_start, node->first_kernel_start);
        parent->last_kernel_end = first ? node->last_kernel_end : fmax(parent->last_kernel_end, node->last_kernel_end);
    }
    parent->nkernels += node->nkernels;
    parent->kernel_dur_sum += node->kernel_dur_sum;
    parent->height = parent->height > node->height + 1 ? parent->height : node->height + 1;
}

tl_hta_graph tl_hta_graph_of(const tl_hta_frame *frame)
{
    const size_t n = frame->rows.n;
    tl_hta_graph g = { .frame = frame, .threads = tl_hta_threads_of(frame) };

    g.node = tl_calloc(n, sizeof *g.node);
    g.opened = tl_malloc(n * sizeof *g.opened);
    g.stack = tl_malloc(frame->tracks.n * sizeof *g.stack);
    for (size_t i = 0; i < n; i++)
        g.node[i].depth = -1;
    nest_threads(&g);
    if (g.why[0] != '\0')
        return g;
    place_kernels(&g);
    tl_hta_stack *main = only_stack(&g, true), *backward = only_stack(&g, false);
    if (main != NULL && backward != NULL)
        join_stacks(&g, main, backward);
    for (size_t i = 0; i < g.nopened; i++) {
        tl_hta_node *node = &g.node[g.opened[i]];
        node->height = 1;
        node->depth = node->parent == TL_HTA_TOP ? 0 : g.node[node->parent].depth + 1;
    }
    for (size_t i = 0; i < n; i++)
        if (g.node[i].depth >= 0 && tl_hta_on_stream(&frame->rows.v[i])) {
            g.node[i].depth = g.node[g.node[i].parent].depth + 1;
            add_to_parent(&g, &g.node[i]);
        }
    for (size_t i = g.nopened; i-- > 0;)
        add_to_parent(&g, &g.node[g.opened[i]]);
    return g;
}

/* The parent is the index of what the row stands in, or the number of its thread's root. */
void tl_hta_graph_cells(const tl_hta_graph *g, size_t at, tl_csv *csv)
{
    const tl_hta_row *rows = g->frame->rows.v;
    const tl_hta_node *node = &g->node[at];
    bool any = node->nkernels > 0;
    int64_t parent = node->depth < 0              ? -1
                     : node->parent != TL_HTA_TOP ? rows[node->parent].index
                                                  : root_of(&g->frame->tracks.v[rows[at].track]);

    TL_CELLS(csv, node->depth, node->depth < 0 ? -1 : (int64_t)node->height, parent, node->nkernels,
             node->kernel_dur_sum, any ? node->last_kernel_end - node->first_kernel_start : 0,
             any ? node->first_kernel_start : -1, any ? node->last_kernel_end : -1);
}

void tl_hta_graph_free(tl_hta_graph *g)
{
    tl_hta_threads_free(&g->threads);
    free(g->node);
    free(g->opened);
    free(g->stack);
}
