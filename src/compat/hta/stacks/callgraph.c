/* callgraph.c - the call graph of each rank: a row a row of the host, their sums by depth, and the threads of all ranks. */
#include "graph.h"
#include "tlmpi/compat/hta/stacks.h"
#include "tlmpi/compat/sheet.h"
#include <stdlib.h>

static tl_status open_of_rank(tl_sheet *csv, const char *dir, const char *table, int64_t rank, const char *header,
                              tl_error *err)
{
    char name[64];
    snprintf(name, sizeof name, "%s_rank%lld.csv", table, (long long)rank);
    return tl_sheet_open(csv, dir, name, header, err);
}

static tl_status write_rows(const tl_hta_graph *g, const char *dir, tl_error *err)
{
    tl_sheet csv;
    tl_status st = open_of_rank(
        &csv, dir, "callgraph", g->frame->rank,
        "index,depth,height,parent,num_kernels,kernel_dur_sum,kernel_span,first_kernel_start,last_kernel_end", err);
    if (st != TL_OK)
        return st;
    for (size_t i = 0; i < g->frame->rows.n; i++) {
        if (tl_hta_on_stream(&g->frame->rows.v[i]))
            continue;
        tl_sheet_int(&csv, g->frame->rows.v[i].index);
        tl_hta_graph_cells(g, i, &csv);
        tl_sheet_end_row(&csv);
    }
    return tl_sheet_close(&csv, err);
}

/* Of the rows at one depth. */
typedef struct level {
    uint64_t events, nkernels;
    double kernel_dur_sum, dur;
} level;

static tl_status write_depths(const tl_hta_graph *g, const char *dir, tl_error *err)
{
    const tl_hta_frame *frame = g->frame;
    tl_sheet csv;
    int32_t deepest = -1;

    for (size_t i = 0; i < g->nopened; i++)
        deepest = g->node[g->opened[i]].depth > deepest ? g->node[g->opened[i]].depth : deepest;
    level *levels = tl_calloc((size_t)deepest + 2, sizeof *levels);
    if (levels == NULL)
        return tl_fail_memory(err, "the depths of a call graph");
    for (size_t i = 0; i < frame->rows.n; i++) {
        const tl_hta_node *node = &g->node[i];
        if (tl_hta_on_stream(&frame->rows.v[i]))
            continue;
        level *l = &levels[node->depth + 1];
        l->events++;
        l->nkernels += node->nkernels;
        l->kernel_dur_sum += node->kernel_dur_sum;
        l->dur += frame->rows.v[i].dur;
    }

    tl_status st =
        open_of_rank(&csv, dir, "callgraph_by_depth", frame->rank, "depth,events,num_kernels,kernel_dur_sum,dur", err);
    for (int32_t depth = -1; st == TL_OK && depth <= deepest; depth++) {
        const level *l = &levels[depth + 1];
        if (l->events == 0)
            continue;
        tl_sheet_int(&csv, depth);
        tl_sheet_int(&csv, (int64_t)l->events);
        tl_sheet_int(&csv, (int64_t)l->nkernels);
        tl_sheet_real(&csv, l->kernel_dur_sum);
        tl_sheet_number(&csv, l->dur, frame->dur_whole);
        tl_sheet_end_row(&csv);
    }
    free(levels);
    return st == TL_OK ? tl_sheet_close(&csv, err) : st;
}

static void put_id(tl_sheet *csv, const tl_hta_frame *frame, int64_t number, uint32_t text)
{
    if (text != TL_NO_NAME)
        tl_sheet_text(csv, tl_names_text(&frame->track_names, text));
    else
        tl_sheet_int(csv, number);
}

/* The count is that of the threads of the rank that have come to this root so far. */
static void write_threads(tl_sheet *csv, const tl_hta_graph *g, const tl_hta_symbols *symbols, int64_t *nstacks)
{
    tl_map count = { 0 };

    for (size_t i = 0; i < g->nstacks; i++) {
        const tl_hta_stack *stack = &g->stack[i];
        const tl_track *track = stack->thread->track;
        uint32_t before = tl_map_get(&count, (uint64_t)stack->root);
        before = before == TL_MAP_NONE ? 0 : before;

        tl_sheet_int(csv, g->frame->rank);
        put_id(csv, g->frame, track->pid, track->pid_text);
        put_id(csv, g->frame, track->tid, track->tid_text);
        if (stack->main || stack->backward)
            tl_sheet_words(csv, stack->main ? "main" : "bwd");
        else
            tl_sheet_text(csv, tl_names_text(&symbols->texts, g->frame->rows.v[stack->label_row].name));
        tl_sheet_int(csv, (*nstacks)++);
        tl_sheet_int(csv, stack->root);
        tl_sheet_int(csv, (int64_t)before + 1);
        tl_sheet_end_row(csv);
        if (tl_map_put(&count, (uint64_t)stack->root, before + 1) != 0)
            tl_sheet_no_memory(csv);
    }
    tl_map_free(&count);
}

tl_status tl_hta_call_graphs(tl_hta_job *job, const char *dir, tl_error *err)
{
    int64_t nstacks = 0;
    size_t nrefused = 0;
    tl_sheet threads;
    tl_status st =
        tl_sheet_open(&threads, dir, "callgraph_threads.csv", "rank,pid,tid,label,stack_index,stack_root,count", err);
    if (st != TL_OK)
        return st;

    for (size_t i = 0; i < job->frames.n && st == TL_OK; i++) {
        tl_hta_graph g;
        st = tl_hta_graph_of(&g, &job->frames.v[i], &job->symbols, err);
        if (st != TL_OK)
            break;
        if (g.why[0] != '\0') {
            nrefused++;
            st = tl_hta_job_note(job, err, "callgraph: rank %lld: none: %s; HTA gives up all ranks",
                                 (long long)job->frames.v[i].rank, g.why);
        } else {
            st = write_rows(&g, dir, err);
            if (st == TL_OK)
                st = write_depths(&g, dir, err);
            if (st == TL_OK)
                write_threads(&threads, &g, &job->symbols, &nstacks);
        }
        tl_hta_graph_free(&g);
    }
    if (st != TL_OK || nrefused == job->frames.n) {
        tl_sheet_abandon(&threads);
        return st;
    }
    return tl_sheet_close(&threads, err);
}
