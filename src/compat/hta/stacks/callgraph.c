/* callgraph.c - the call graph of each rank: a row a row of the host, their sums by depth, and the threads of all ranks; and
 * HTA's older call stacks, by thread alone and without device work.
 */
#include "graph.h"
#include "tlmpi/compat/hta/stacks.h"
#include "tlmpi/base/group.h"
#include <stdlib.h>

/* The rows of the host at one depth. */
typedef struct level {
    int64_t events, nkernels;
    double kernel_dur_sum, dur;
} level;

typedef TL_VEC(level) levels;

/* The level of a depth from -1 on, with that row in it. */
static level *add_row(levels *all, int32_t depth, const tl_hta_row *row)
{
    while (all->n < (size_t)(depth + 2))
        tl_vec_push(all, (level){ 0 });
    level *l = &all->v[depth + 1];
    l->events++;
    l->dur += row->dur;
    return l;
}

/* ------------------------------------------------------------------------------------------------------- call graphs */

static void write_graph(const tl_hta_graph *g, tl_csv_folder *folder)
{
    const tl_hta_frame *frame = g->frame;
    levels all = { 0 };
    tl_csv each = tl_csv_open_rank(folder, "callgraph", frame->rank, "index," TL_HTA_GRAPH_HEADER);
    tl_csv depths =
        tl_csv_open_rank(folder, "callgraph_by_depth", frame->rank, "depth,events,num_kernels,kernel_dur_sum,dur");

    for (size_t i = 0; i < frame->rows.n; i++) {
        const tl_hta_row *row = &frame->rows.v[i];
        if (tl_hta_on_stream(row))
            continue;
        TL_CELLS(&each, row->index);
        tl_hta_graph_cells(g, i, &each);
        tl_csv_end_row(&each);
        level *l = add_row(&all, g->node[i].depth, row);
        l->nkernels += g->node[i].nkernels;
        l->kernel_dur_sum += g->node[i].kernel_dur_sum;
    }
    TL_EACH (const level, l, all)
        if (l->events > 0)
            TL_ROW(&depths, l - all.v - 1, l->events, l->nkernels, l->kernel_dur_sum,
                   tl_number(l->dur, frame->dur_whole));
    free(all.v);
    tl_csv_close(&each);
    tl_csv_close(&depths);
}

/* Writes a row for each stack of the rank.  The last cell numbers the stacks with one root, from 1 on. */
static void write_threads(tl_csv *csv, const tl_hta_graph *g, const tl_hta_symbols *symbols, int64_t *nstacks)
{
    tl_map count = { 0 };

    for (size_t i = 0; i < g->nstacks; i++) {
        const tl_hta_stack *stack = &g->stack[i];
        const tl_hta_row *row = &g->frame->rows.v[stack->label_row];
        uint32_t before = tl_map_get(&count, (uint64_t)stack->root);
        before = before == TL_MAP_NONE ? 0 : before;

        TL_ROW(csv, g->frame->rank, tl_hta_pid(g->frame, row->track), tl_hta_tid(g->frame, row->track),
               stack->main       ? tl_words("main")
               : stack->backward ? tl_words("bwd")
                                 : tl_string(tl_hta_text(symbols, row->name)),
               (*nstacks)++, stack->root, (int64_t)before + 1);
        tl_map_put(&count, (uint64_t)stack->root, before + 1);
    }
    tl_map_free(&count);
}

void tl_hta_call_graphs(tl_hta_job *job)
{
    int64_t nstacks = 0;
    bool any = false;
    tl_csv threads = tl_csv_open(&job->out, "callgraph_threads.csv", "rank,pid,tid,label,stack_index,stack_root,count");

    TL_EACH (const tl_hta_frame, frame, job->frames) {
        tl_hta_graph g = tl_hta_graph_of(frame, &job->symbols);
        if (g.why[0] != '\0') {
            tl_hta_note(job, "callgraph: rank %lld: none: %s; HTA gives up all ranks", (long long)g.frame->rank, g.why);
        } else {
            any = true;
            write_graph(&g, &job->out);
            write_threads(&threads, &g, &job->symbols, &nstacks);
        }
        tl_hta_graph_free(&g);
    }
    tl_csv_end(&threads, any);
}

/* ------------------------------------------------------------------------------------------------- older call stacks */

static bool has_device_work(const tl_hta_thread *thread, const tl_hta_row *rows)
{
    for (size_t i = 0; i < thread->n; i++)
        if (rows[thread->at[i]].stream > 0)
            return true;
    return false;
}

/* What each row of the host stands in, and how deep: -1 where its thread has no stack. */
static void find_stacks(const tl_hta_frame *frame, uint32_t *parent, int32_t *depth)
{
    const size_t n = frame->rows.n;
    tl_hta_threads threads = tl_hta_threads_of(frame);
    tl_hta_nest nest = { .rows = frame->rows.v, .way = TL_HTA_SIBLINGS, .parent = parent };

    nest.opened = tl_malloc(n * sizeof *nest.opened);
    for (size_t t = 0; t < threads.n; t++)
        if (!has_device_work(&threads.v[t], frame->rows.v))
            tl_hta_nest_rows(&nest, threads.v[t].at, threads.v[t].n);
    for (size_t i = 0; i < n; i++)
        depth[i] = -1;
    for (size_t i = 0; i < nest.nopened; i++) {
        uint32_t at = nest.opened[i];
        depth[at] = parent[at] == TL_HTA_TOP ? 0 : depth[parent[at]] + 1;
    }
    free(nest.opened);
    tl_hta_threads_free(&threads);
}

/* Where a row of the host has no stack, the depths are doubles. */
void tl_hta_call_stacks(tl_hta_job *job)
{
    TL_EACH (const tl_hta_frame, frame, job->frames) {
        const tl_hta_row *rows = frame->rows.v;
        uint32_t *parent = tl_malloc(frame->rows.n * sizeof *parent);
        int32_t *depth = tl_malloc(frame->rows.n * sizeof *depth);
        levels all = { 0 };
        tl_csv each = tl_csv_open_rank(&job->out, "callstack_old", frame->rank, "index,depth,parent");
        tl_csv depths = tl_csv_open_rank(&job->out, "callstack_old_by_depth", frame->rank, "depth,events,dur");

        find_stacks(frame, parent, depth);
        for (size_t i = 0; i < frame->rows.n; i++) {
            if (tl_hta_on_stream(&rows[i]))
                continue;
            int64_t in = depth[i] <= 0 ? -1 : (int64_t)rows[parent[i]].index;
            TL_ROW(&each, rows[i].index, depth[i] >= 0 ? tl_int(depth[i]) : tl_blank(),
                   depth[i] >= 0 ? tl_int(in) : tl_blank());
            (void)add_row(&all, depth[i], &rows[i]);
        }
        for (size_t k = 1; k < all.n; k++)
            if (all.v[k].events > 0)
                TL_ROW(&depths, tl_number((double)k - 1, all.v[0].events == 0), all.v[k].events,
                       tl_number(all.v[k].dur, frame->dur_whole));
        free(parent);
        free(depth);
        free(all.v);
        tl_csv_close(&each);
        tl_csv_close(&depths);
    }
}
