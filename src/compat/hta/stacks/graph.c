/* graph.c - threads nested, work put under its launches, and what a row holds summed up. */
#include "graph.h"
#include "tlmpi/base/group.h"
#include "tlmpi/compat/hta/frame/peaks.h"
#include <stdio.h>
#include <stdlib.h>

static bool is_of_device(const tl_hta_thread *thread, const tl_hta_row *rows)
{
    const tl_track *track = thread->track;
    bool on_streams = true;

    if ((track->pid == 0 && track->pid_text == TL_NO_NAME) || (track->tid == 0 && track->tid_text == TL_NO_NAME))
        return true;
    for (size_t i = 0; i < thread->n && on_streams; i++)
        on_streams = rows[thread->at[i]].stream > 0;
    return on_streams;
}

static int64_t root_of(const tl_track *track)
{
    return track->tid > 0 ? -track->tid : track->tid;
}

static void name_stack(tl_hta_stack *stack, const tl_hta_row *rows, const tl_hta_symbols *symbols)
{
    stack->label_row = stack->thread->at[0];
    for (size_t i = 0; i < stack->thread->n; i++) {
        const tl_hta_symbol *symbol = &symbols->v.v[rows[stack->thread->at[i]].name];
        stack->main |= symbol->step_mark;
        stack->backward |= symbol->autograd;
    }
    stack->backward = stack->backward && !stack->main;
}

/* Nests the rows of the host, thread by thread. */
static void nest_threads(tl_hta_graph *g, const tl_hta_symbols *symbols)
{
    const tl_hta_row *rows = g->frame->rows.v;
    tl_hta_nest nest = { .rows = rows, .way = TL_HTA_NESTED, .opened = g->opened };
    uint32_t *host = tl_malloc(g->frame->rows.n * sizeof *host);

    nest.parent = tl_malloc(g->frame->rows.n * sizeof *nest.parent);
    for (size_t t = 0; t < g->threads.n && g->why[0] == '\0'; t++) {
        const tl_hta_thread *thread = &g->threads.v[t];
        size_t n = 0;
        if (is_of_device(thread, rows))
            continue;
        if (thread->track->tid_text != TL_NO_NAME) {
            snprintf(g->why, sizeof g->why, "the thread id of entry %u is a text", rows[thread->at[0]].index);
            break;
        }
        tl_hta_stack *stack = &g->stack[g->nstacks++];
        *stack = (tl_hta_stack){ .thread = thread, .from = nest.nopened, .own_root = root_of(thread->track) };
        stack->root = stack->own_root;
        name_stack(stack, rows, symbols);
        for (size_t i = 0; i < thread->n; i++)
            if (!tl_hta_on_stream(&rows[thread->at[i]]))
                host[n++] = thread->at[i];
        tl_hta_nest_rows(&nest, host, n);
        stack->to = nest.nopened;
        if (nest.clash)
            snprintf(g->why, sizeof g->why, "entries %u, of no length, and %u, of a negative one, meet at one time",
                     nest.clash_of, nest.clash_with);
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
    uint32_t last = 0;

    for (size_t i = 0; i < g->nopened; i++)
        last = rows[g->opened[i]].index > last ? rows[g->opened[i]].index : last;
    uint32_t *at_of = tl_calloc((size_t)last + 1, sizeof *at_of); /* index -> position + 1 */
    for (size_t i = 0; i < g->nopened; i++)
        at_of[rows[g->opened[i]].index] = g->opened[i] + 1;

    for (size_t i = 0; i < g->frame->rows.n; i++) {
        const tl_hta_row *row = &rows[i];
        if (row->stream <= 0 || row->link <= 0 || row->link > last || at_of[row->link] == 0 ||
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

static int by_start(const void *context, uint32_t a, uint32_t b)
{
    const tl_hta_row *rows = context;
    return TL_COMPARE(rows[a].ts, rows[b].ts);
}

/* Positions of the rows that the backward thread may go under, the last in file order first. */
static size_t find_steps(uint32_t *steps, const tl_hta_graph *g, const tl_hta_thread *main,
                         const tl_hta_symbols *symbols)
{
    size_t n = 0;
    for (int backward_pass = 1; backward_pass >= 0 && n == 0; backward_pass--)
        for (size_t i = main->n; i-- > 0;) {
            const tl_hta_symbol *symbol = &symbols->v.v[g->frame->rows.v[main->at[i]].name];
            if (g->node[main->at[i]].depth >= 0 && (backward_pass ? symbol->backward_mark : symbol->step_mark))
                steps[n++] = main->at[i];
        }
    return n;
}

/* By their starts steps enter the list of ends, each at its place, and a row asks for the last that ends with it or later. */
static void join_stacks(tl_hta_graph *g, const tl_hta_stack *main, tl_hta_stack *backward,
                        const tl_hta_symbols *symbols)
{
    const tl_hta_row *rows = g->frame->rows.v;
    const size_t most = backward->to - backward->from;
    tl_arena arena = { 0 };
    uint32_t *steps = tl_arena_take(&arena, main->thread->n, sizeof *steps);
    uint32_t *outer = tl_arena_take(&arena, most, sizeof *outer);
    size_t nsteps = find_steps(steps, g, main->thread, symbols), nouter = 0, nmoved = 0;
    tl_hta_peaks ends = { 0 };

    tl_hta_peaks_make(&ends, nsteps);
    uint32_t *started = tl_arena_take(&arena, nsteps, sizeof *started);
    memcpy(started, steps, nsteps * sizeof *started);
    tl_sort_index(started, nsteps, by_start, rows);
    for (size_t i = backward->from; i < backward->to; i++)
        if (g->node[g->opened[i]].parent == TL_HTA_TOP)
            outer[nouter++] = g->opened[i];
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
    tl_hta_peaks_free(&ends);
    tl_arena_free(&arena);
}

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

/* Moves the rows of the stack behind all others. */
static void open_last(tl_hta_graph *g, const tl_hta_stack *stack)
{
    size_t n = stack->to - stack->from, after = g->nopened - stack->to;
    uint32_t *moved = tl_malloc(n * sizeof *moved);

    memcpy(moved, g->opened + stack->from, n * sizeof *moved);
    memmove(g->opened + stack->from, g->opened + stack->to, after * sizeof *moved);
    memcpy(g->opened + stack->from + after, moved, n * sizeof *moved);
    free(moved);
}

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

static void sum_up(tl_hta_graph *g)
{
    size_t n = g->frame->rows.n;

    for (size_t i = 0; i < g->nopened; i++) {
        tl_hta_node *node = &g->node[g->opened[i]];
        node->height = 1;
        node->depth = node->parent == TL_HTA_TOP ? 0 : g->node[node->parent].depth + 1;
    }
    for (size_t i = 0; i < n; i++)
        if (g->node[i].depth >= 0 && tl_hta_on_stream(&g->frame->rows.v[i])) {
            g->node[i].depth = g->node[g->node[i].parent].depth + 1;
            add_to_parent(g, &g->node[i]);
        }
    for (size_t i = g->nopened; i-- > 0;)
        add_to_parent(g, &g->node[g->opened[i]]);
}

tl_hta_graph tl_hta_graph_of(const tl_hta_frame *frame, const tl_hta_symbols *symbols)
{
    size_t n = frame->rows.n;
    tl_hta_graph g = { .frame = frame, .threads = tl_hta_threads_of(frame) };

    g.node = tl_calloc(n, sizeof *g.node);
    g.opened = tl_malloc(n * sizeof *g.opened);
    g.stack = tl_malloc(frame->tracks.n * sizeof *g.stack);
    for (size_t i = 0; i < n; i++)
        g.node[i].depth = -1;
    nest_threads(&g, symbols);
    if (g.why[0] != '\0')
        return g;
    tl_hta_stack *main = only_stack(&g, true), *backward = only_stack(&g, false);
    place_kernels(&g);
    if (main != NULL && backward != NULL) {
        join_stacks(&g, main, backward, symbols);
        open_last(&g, backward);
    }
    sum_up(&g);
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
