/* graph.c - threads; nesting by a sweep over the sorted starts and ends of rows; the call graph of a rank.
 *
 *     rows        [ a        [ b   ][ c ][ d       ]          ]
 *     sweep       a is opened, b opened, the top (b) closed, c opened, the top closed ...
 *
 * An end closes the row opened last, as in HTA, even if rows overlap without nesting.
 *
 * At one time, ends come before starts, the ends of shorter rows first, the starts of longer rows first.  Rows of
 * length 0 come after starts and before ends.  If one time has ends, starts and rows of length 0, this relation is a
 * cycle: the result then depends on the steps of Python's sort and on the input order, so both are reproduced here.
 */
#include "graph.h"
#include "tlmpi/base/group.h"
#include "tlmpi/compat/python.h"
#include <stdio.h>
#include <stdlib.h>

TL_SORT_BY(by_number, tl_hta_thread, track->pid, track->tid)
TL_SORT_BY(by_first_row, tl_hta_thread, at[0])
TL_ORDER_BY(by_track, tl_hta_row, track)

/* Python cannot order numbers and texts: if a pid or tid is a text, threads are in the order of their first rows. */
tl_hta_threads tl_hta_threads_of(const tl_hta_frame *frame)
{
    const tl_hta_row *rows = frame->rows.v;
    tl_hta_threads threads = { .order = tl_sorted_index(frame->rows.n, by_track, rows) };
    bool texts = false;

    TL_GROUPS (from, to, threads.order, frame->rows.n, by_track, rows) {
        const tl_track *track = &frame->tracks.v[rows[threads.order[from]].track];
        texts = texts || track->pid_text != TL_NO_NAME || track->tid_text != TL_NO_NAME;
        tl_vec_push(&threads, (tl_hta_thread){ track, threads.order + from, to - from });
    }
    tl_vec_sort(&threads, texts ? by_first_row : by_number);
    return threads;
}

void tl_hta_threads_free(tl_hta_threads *threads)
{
    free(threads->order);
    free(threads->v);
}

/* ---------------------------------------------------------------------------------------------------------- nesting */

/* The edges of the rows at[0 .. n): edge 2k is the start, edge 2k + 1 the end of row at[k]. */
typedef struct edges {
    tl_hta_nest *nest;
    const uint32_t *at;
} edges;

/* The values of an edge that decide its order; us. */
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

/* Order of two starts, or of two ends, at one time: starts of longer rows, ends of shorter rows first; ties by
 * index. */
static bool is_before_at_one_time(const edge *x, const edge *y)
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
        return is_before_at_one_time(&x, &y);
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
        return is_before_at_one_time(&x, &y);
    return x.length == 0 ? !x.end : x.end;
}

tl_hta_nest tl_hta_nest_make(const tl_hta_frame *frame, tl_hta_nesting way)
{
    const size_t n = frame->rows.n;
    tl_hta_nest nest = { .rows = frame->rows.v, .way = way };

    nest.node = tl_malloc(n * sizeof *nest.node);
    nest.opened = tl_malloc(n * sizeof *nest.opened);
    for (size_t i = 0; i < n; i++)
        nest.node[i] = (tl_hta_node){ TL_HTA_TOP, -1, .first_kernel_start = INFINITY, .last_kernel_end = -INFINITY };
    return nest;
}

void tl_hta_nest_free(tl_hta_nest *nest)
{
    free(nest->node);
    free(nest->opened);
}

void tl_hta_nest_rows(tl_hta_nest *nest, const uint32_t *at, size_t n)
{
    edges e = { nest, at };
    uint32_t *v = tl_malloc(2 * n * sizeof *v), *stack = tl_malloc(n * sizeof *stack);
    size_t depth = 0;

    for (uint32_t i = 0; i < 2 * n; i++)
        v[i] = i;
    if (nest->way == TL_HTA_NESTED) { /* by time with numpy's sort, whose input is all starts, then all ends */
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
        nest->node[row].parent = depth > 0 ? stack[depth - 1] : TL_HTA_TOP;
        nest->node[row].depth = (int32_t)depth;
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

/* Returns -|tid|, the number that HTA gives the root of a thread. */
static int64_t root_of(const tl_track *track)
{
    return track->tid > 0 ? -track->tid : track->tid;
}

/* Nests the host rows, thread by thread. */
static void nest_threads(tl_hta_graph *g)
{
    const tl_hta_row *rows = g->frame->rows.v;
    tl_hta_nest *nest = &g->nest;
    uint32_t *host = tl_malloc(g->frame->rows.n * sizeof *host);

    TL_EACH (const tl_hta_thread, t, g->threads) {
        size_t n = 0;
        if (is_of_device(t, rows))
            continue;
        if (t->track->tid_text != TL_NO_NAME) {
            snprintf(g->why, sizeof g->why, "the thread id of entry %u is a text", rows[t->at[0]].index);
            break;
        }
        tl_hta_stack stack = { .thread = t, .from = nest->nopened, .root = root_of(t->track) };
        for (size_t i = 0; i < t->n; i++) {
            stack.main |= tl_hta_is(g->frame->symbols, rows[t->at[i]].name, TL_HTA_STEP_MARK);
            stack.backward |= tl_hta_is(g->frame->symbols, rows[t->at[i]].name, TL_HTA_BACKWARD);
            if (!tl_hta_on_stream(&rows[t->at[i]]))
                host[n++] = t->at[i];
        }
        tl_hta_nest_rows(nest, host, n);
        stack.backward = stack.backward && !stack.main;
        stack.to = nest->nopened;
        g->stack[g->nstacks++] = stack;
        if (nest->clash) {
            snprintf(g->why, sizeof g->why, "entries %u, of no length, and %u, of a negative one, meet at one time",
                     nest->clash_of, nest->clash_with);
            break;
        }
    }
    free(host);
}

/* Makes device rows children of their launches.  A row that the cut has repeated counts once. */
static void place_kernels(tl_hta_graph *g)
{
    const tl_hta_row *rows = g->frame->rows.v;

    for (size_t i = 0; i < g->frame->rows.n; i++) {
        const tl_hta_row *row = &rows[i];
        const tl_hta_row *launch = row->stream > 0 && row->link > 0 ? tl_hta_row_at(g->frame, row->link) : NULL;
        if (launch == NULL || tl_hta_on_stream(launch) || g->nest.node[launch - rows].depth < 0 ||
            (i > 0 && rows[i - 1].index == row->index))
            continue;
        g->nest.node[i] = (tl_hta_node){ .parent = (uint32_t)(launch - rows),
                                         .depth = 0,
                                         .nkernels = 1,
                                         .kernel_dur_sum = row->dur,
                                         .first_kernel_start = row->ts,
                                         .last_kernel_end = row->end };
    }
}

/* --------------------------------------------------------------------------------- the backward pass under the steps
 *
 *     main       [ ProfilerStep#5             ][ ProfilerStep#6             ]
 *     backward      [ autograd:: ][ autograd:: ]   [ autograd:: ]     [ autograd:: ]      the last row lies in no step
 *
 * If a row lies in several steps, the first in file order becomes its parent. */

/* Sets `steps` to the positions, in file order, of the main thread's backward passes, or without these of its steps.
 * Returns their number. */
static size_t find_steps(uint32_t *steps, const tl_hta_graph *g, const tl_hta_thread *main)
{
    static const unsigned marks[] = { TL_HTA_BACKWARD_MARK, TL_HTA_STEP_MARK };
    size_t n = 0;
    for (size_t k = 0; k < 2 && n == 0; k++)
        for (size_t i = 0; i < main->n; i++)
            if (g->nest.node[main->at[i]].depth >= 0 &&
                tl_hta_is(g->frame->symbols, g->frame->rows.v[main->at[i]].name, marks[k]))
                steps[n++] = main->at[i];
    return n;
}

/* Moves the outermost rows of the backward thread under the steps of the main thread, and all rows of the backward
 * thread to the end of `opened`. */
static void join_stacks(tl_hta_graph *g, const tl_hta_stack *main, tl_hta_stack *backward)
{
    const tl_hta_row *rows = g->frame->rows.v;
    const size_t n = backward->to - backward->from, after = g->nest.nopened - backward->to;
    uint32_t *first = g->nest.opened + backward->from, *moved = tl_malloc(n * sizeof *moved);
    uint32_t *steps = tl_malloc(main->thread->n * sizeof *steps);
    size_t nsteps = find_steps(steps, g, main->thread), noutside = 0, nmoved = 0;

    for (size_t i = 0; i < n; i++) {
        const tl_hta_row *row = &rows[first[i]];
        size_t k = 0;
        if (g->nest.node[first[i]].parent != TL_HTA_TOP)
            continue;
        while (k < nsteps && !(rows[steps[k]].ts <= row->ts && rows[steps[k]].end >= row->end))
            k++;
        if (k < nsteps)
            g->nest.node[first[i]].parent = steps[k];
        *(k < nsteps ? &nmoved : &noutside) += 1;
    }
    if (nmoved > 0 && noutside == 0)
        backward->root = main->root;
    memcpy(moved, first, n * sizeof *moved);
    memmove(first, first + n, after * sizeof *moved);
    memcpy(first + after, moved, n * sizeof *moved);
    free(steps);
    free(moved);
}

/* Returns the only main stack, or the only backward stack; NULL: none, or several. */
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

/* Adds the kernels and the height of a node to its parent. */
static void add_to_parent(tl_hta_graph *g, const tl_hta_node *node)
{
    if (node->parent == TL_HTA_TOP)
        return;
    tl_hta_node *parent = &g->nest.node[node->parent];
    parent->first_kernel_start = fmin(parent->first_kernel_start, node->first_kernel_start);
    parent->last_kernel_end = fmax(parent->last_kernel_end, node->last_kernel_end);
    parent->nkernels += node->nkernels;
    parent->kernel_dur_sum += node->kernel_dur_sum;
    parent->height = parent->height > node->height + 1 ? parent->height : node->height + 1;
}

tl_hta_graph tl_hta_graph_of(const tl_hta_frame *frame)
{
    const size_t n = frame->rows.n;
    tl_hta_graph g = { .frame = frame, .threads = tl_hta_threads_of(frame) };

    g.nest = tl_hta_nest_make(frame, TL_HTA_NESTED);
    g.stack = tl_malloc(frame->tracks.n * sizeof *g.stack);
    nest_threads(&g);
    if (g.why[0] != '\0')
        return g;
    place_kernels(&g);
    tl_hta_stack *main = only_stack(&g, true), *backward = only_stack(&g, false);
    if (main != NULL && backward != NULL)
        join_stacks(&g, main, backward);
    for (size_t i = 0; i < g.nest.nopened; i++) {
        tl_hta_node *node = &g.nest.node[g.nest.opened[i]];
        node->height = 1;
        node->depth = node->parent == TL_HTA_TOP ? 0 : g.nest.node[node->parent].depth + 1;
    }
    for (size_t i = 0; i < n; i++)
        if (g.nest.node[i].depth >= 0 && tl_hta_on_stream(&frame->rows.v[i])) {
            g.nest.node[i].depth = g.nest.node[g.nest.node[i].parent].depth + 1;
            add_to_parent(&g, &g.nest.node[i]);
        }
    for (size_t i = g.nest.nopened; i-- > 0;)
        add_to_parent(&g, &g.nest.node[g.nest.opened[i]]);
    return g;
}

/* The cell of the parent is the parent's index, or of an outermost row the number of the thread's root. */
void tl_hta_graph_cells(const tl_hta_graph *g, size_t at, tl_csv *csv)
{
    const tl_hta_row *rows = g->frame->rows.v;
    const tl_hta_node *node = &g->nest.node[at];
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
    tl_hta_nest_free(&g->nest);
    free(g->stack);
}
