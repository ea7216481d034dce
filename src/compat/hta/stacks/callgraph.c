/* callgraph.c - the call graph of each rank: a row a row of the host, their sums by depth, and the threads of all ranks. */
#include "graph.h"
#include "tlmpi/compat/hta/stacks.h"
#include <stdlib.h>

static void write_rows(const tl_hta_graph *g, tl_csv_folder *folder)
{
    tl_csv csv = tl_csv_open_rank(
        folder, "callgraph", g->frame->rank,
        "index,depth,height,parent,num_kernels,kernel_dur_sum,kernel_span,first_kernel_start,last_kernel_end");

    for (size_t i = 0; i < g->frame->rows.n; i++)
        if (!tl_hta_on_stream(&g->frame->rows.v[i])) {
            TL_CELLS(&csv, tl_int(g->frame->rows.v[i].index));
            tl_hta_graph_cells(g, i, &csv);
            tl_csv_end_row(&csv);
        }
    tl_csv_close(&csv);
}

/* The rows at one depth. */
typedef struct level {
    int64_t events, nkernels;
    double kernel_dur_sum, dur;
} level;

static void write_depths(const tl_hta_graph *g, tl_csv_folder *folder)
{
    const tl_hta_frame *frame = g->frame;
    int32_t deepest = -1;
    tl_csv csv =
        tl_csv_open_rank(folder, "callgraph_by_depth", frame->rank, "depth,events,num_kernels,kernel_dur_sum,dur");

    for (size_t i = 0; i < g->nopened; i++)
        deepest = g->node[g->opened[i]].depth > deepest ? g->node[g->opened[i]].depth : deepest;
    level *levels = tl_calloc((size_t)deepest + 2, sizeof *levels);
    for (size_t i = 0; i < frame->rows.n; i++) {
        level *l = &levels[g->node[i].depth + 1];
        if (tl_hta_on_stream(&frame->rows.v[i]))
            continue;
        l->events++;
        l->nkernels += g->node[i].nkernels;
        l->kernel_dur_sum += g->node[i].kernel_dur_sum;
        l->dur += frame->rows.v[i].dur;
    }
    for (int32_t depth = -1; depth <= deepest; depth++) {
        const level *l = &levels[depth + 1];
        if (l->events > 0)
            TL_ROW(&csv, tl_int(depth), tl_int(l->events), tl_int(l->nkernels), tl_real(l->kernel_dur_sum),
                   tl_number(l->dur, frame->dur_whole));
    }
    free(levels);
    tl_csv_close(&csv);
}

/* The count is that of the threads of the rank that have come to this root so far. */
static void write_threads(tl_csv *csv, const tl_hta_graph *g, const tl_hta_symbols *symbols, int64_t *nstacks)
{
    tl_map count = { 0 };

    for (size_t i = 0; i < g->nstacks; i++) {
        const tl_hta_stack *stack = &g->stack[i];
        const tl_hta_row *row = &g->frame->rows.v[stack->label_row];
        uint32_t before = tl_map_get(&count, (uint64_t)stack->root);
        before = before == TL_MAP_NONE ? 0 : before;

        TL_ROW(csv, tl_int(g->frame->rank), tl_hta_pid(g->frame, row->track), tl_hta_tid(g->frame, row->track),
               stack->main       ? tl_words("main")
               : stack->backward ? tl_words("bwd")
                                 : tl_string(tl_hta_text(symbols, row->name)),
               tl_int((*nstacks)++), tl_int(stack->root), tl_int((int64_t)before + 1));
        tl_map_put(&count, (uint64_t)stack->root, before + 1);
    }
    tl_map_free(&count);
}

void tl_hta_call_graphs(tl_hta_job *job)
{
    int64_t nstacks = 0;
    bool any = false;
    tl_csv threads = tl_csv_open(&job->out, "callgraph_threads.csv", "rank,pid,tid,label,stack_index,stack_root,count");

    for (size_t i = 0; i < job->frames.n; i++) {
        tl_hta_graph g = tl_hta_graph_of(&job->frames.v[i], &job->symbols);
        if (g.why[0] != '\0') {
            tl_hta_note(job, "callgraph: rank %lld: none: %s; HTA gives up all ranks", (long long)g.frame->rank, g.why);
        } else {
            any = true;
            write_rows(&g, &job->out);
            write_depths(&g, &job->out);
            write_threads(&threads, &g, &job->symbols, &nstacks);
        }
        tl_hta_graph_free(&g);
    }
    (any ? tl_csv_close : tl_csv_drop)(&threads);
}
