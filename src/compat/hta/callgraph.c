/* callgraph.c - tables of the call graph of each rank (host rows, sums by depth), of the threads of all ranks, of HTA's
 * older call stacks, which have no device work, and of frequent patterns.
 */
#include "graph.h"
#include "tlmpi/base/group.h"
#include <stdio.h>
#include <stdlib.h>

/* Sums over the host rows at one depth. */
typedef struct level {
    int64_t events, nkernels;
    double kernel_dur_sum, dur;
} level;

typedef TL_VEC(level) levels;

/* Adds the row to the level of a depth, -1 or more, and returns the level. */
static level *add_to_level(levels *all, int32_t depth, const tl_hta_row *row)
{
    const size_t at = (size_t)(depth + 1);

    while (all->v == NULL || all->n <= at)
        tl_vec_push(all, (level){ 0 });
    level *l = &all->v[at];
    l->events++;
    l->dur += row->dur;
    return l;
}

/* ------------------------------------------------------------------------------------------------------ call graphs */

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
        level *l = add_to_level(&all, g->nest.node[i].depth, row);
        l->nkernels += g->nest.node[i].nkernels;
        l->kernel_dur_sum += g->nest.node[i].kernel_dur_sum;
    }
    TL_EACH (const level, l, all)
        if (l->events > 0)
            TL_ROW(&depths, l - all.v - 1, l->events, l->nkernels, l->kernel_dur_sum, l->dur);
    free(all.v);
    tl_csv_close(&each);
    tl_csv_close(&depths);
}

/* Writes a line for each thread of the rank.  The cell "count" numbers the threads with the same root, from 1. */
static void write_threads(tl_csv *csv, const tl_hta_graph *g, int64_t *nstacks)
{
    tl_map count = { 0 };

    for (size_t i = 0; i < g->nstacks; i++) {
        const tl_hta_stack *stack = &g->stack[i];
        const tl_hta_row *row = &g->frame->rows.v[stack->thread->at[0]];
        tl_text label = stack->main ? TL_TEXT("main") : stack->backward ? TL_TEXT("bwd") : tl_hta_name(g->frame, row);

        TL_ROW(csv, g->frame->rank, tl_hta_pid(g->frame, row->track), tl_hta_tid(g->frame, row->track), label,
               (*nstacks)++, stack->root, tl_map_count(&count, (uint64_t)stack->root) + 1);
    }
    tl_map_free(&count);
}

void tl_hta_call_graphs(tl_hta_job *job)
{
    int64_t nstacks = 0;
    tl_csv threads = tl_csv_open(&job->out, "callgraph_threads.csv", "rank,pid,tid,label,stack_index,stack_root,count");

    TL_EACH (const tl_hta_frame, frame, job->frames) {
        tl_hta_graph g = tl_hta_graph_of(frame);
        if (g.why[0] != '\0') {
            tl_hta_note_rank(&job->out, "callgraph", frame, "none: %s; HTA gives up all ranks", g.why);
        } else {
            write_graph(&g, &job->out);
            write_threads(&threads, &g, &nstacks);
        }
        tl_hta_graph_free(&g);
    }
    tl_csv_close_rows(&threads);
}

/* ------------------------------------------------------------------------------------------------ older call stacks */

/* Returns the nesting of the rows of all threads without device work. */
static tl_hta_nest nest_of(const tl_hta_frame *frame)
{
    tl_hta_threads threads = tl_hta_threads_of(frame);
    tl_hta_nest nest = tl_hta_nest_make(frame, TL_HTA_SIBLINGS);

    TL_EACH (const tl_hta_thread, t, threads) {
        bool device_work = false;
        for (size_t i = 0; i < t->n && !device_work; i++)
            device_work = frame->rows.v[t->at[i]].stream > 0;
        if (!device_work)
            tl_hta_nest_rows(&nest, t->at, t->n);
    }
    tl_hta_threads_free(&threads);
    return nest;
}

void tl_hta_call_stacks(tl_hta_job *job)
{
    TL_EACH (const tl_hta_frame, frame, job->frames) {
        const tl_hta_row *rows = frame->rows.v;
        tl_hta_nest nest = nest_of(frame);
        levels all = { 0 };
        tl_csv each = tl_csv_open_rank(&job->out, "callstack_old", frame->rank, "index,depth,parent");
        tl_csv depths = tl_csv_open_rank(&job->out, "callstack_old_by_depth", frame->rank, "depth,events,dur");

        for (size_t i = 0; i < frame->rows.n; i++) {
            const int32_t depth = nest.node[i].depth;
            if (tl_hta_on_stream(&rows[i]))
                continue;
            (void)add_to_level(&all, depth, &rows[i]);
            if (depth < 0)
                TL_ROW(&each, rows[i].index, "", "");
            else
                TL_ROW(&each, rows[i].index, depth, depth > 0 ? (int64_t)rows[nest.node[i].parent].index : -1);
        }
        for (size_t k = 1; k < all.n; k++)
            if (all.v[k].events > 0)
                TL_ROW(&depths, k - 1, all.v[k].events, all.v[k].dur);
        tl_hta_nest_free(&nest);
        free(all.v);
        tl_csv_close(&each);
        tl_csv_close(&depths);
    }
}

/* --------------------------------------------------------------------------------------------------------- patterns */

/* Patterns: the sequences of kernels that an operator launches, with their counts; and the number of rows that HTA's
 * trace would mark for the most frequent patterns.
 *
 *     host    [ aten::linear      ]   [ aten::linear     ]      the operator, at the smallest depth it is found at
 *              [ launch ][ launch ]    [ launch ][ launch]
 *     streams      [ memset ][ gemm ]      [ memset ][ gemm ]     aten::linear|memset|gemm, twice
 *
 * All rows with the operator's name in their names are candidates, in the graph or not.
 *
 * The tables are of the operator in the parameters, on all ranks; without one, of the first two operators of a list
 * that the job has (of a large job: the first), on the first two ranks, and also with a minimum length of 1. */

#define LARGE_ENTRIES 80000 /* entries of all ranks from which on a job is large */
#define COMMON_RANKS  2
#define WORDS         96 /* most characters of an operator in a file's name */
#define NONE          UINT32_MAX

static const char *const ops[] = { "aten::linear", "aten::conv2d", "aten::convolution", "aten::addmm",
                                   "aten::mm",     "aten::matmul", "aten::add",         "aten::copy_" };

/* An outermost row of the operator, with the kernels launched within. */
typedef struct occurrence {
    uint32_t at;   /* position of the row */
    tl_bytes text; /* "operator|kernel|kernel" */
    bool marked;
} occurrence;

/* The occurrences with one text. */
typedef struct pattern {
    const uint32_t *occurrences;
    size_t n;
    tl_text text;
    double kernel_dur_sum, dur; /* sums over the occurrences, us */
} pattern;

/* The patterns of one rank. */
typedef struct finding {
    const tl_hta_graph *graph;
    const char *op;
    uint32_t min;  /* fewest kernels of a pattern */
    int32_t depth; /* the smallest depth of a row of the operator, -1: outside the graph */
    uint32_t *of;  /* by position of a row: the occurrence that contains the row; NONE */
    TL_VEC(occurrence) occurrences;
    uint32_t *order; /* occurrences by text */
    TL_VEC(pattern) patterns;
} finding;

static bool is_op(const finding *f, uint32_t at)
{
    return tl_text_has(tl_hta_name(f->graph->frame, &f->graph->frame->rows.v[at]), f->op);
}

/* Sets the row's occurrence: its parent's, or a new occurrence for a row of the operator at the smallest depth.
 * Returns the occurrence; NULL: none. */
static occurrence *set_occurrence(finding *f, uint32_t at)
{
    const tl_hta_node *node = &f->graph->nest.node[at];

    if (node->parent != TL_HTA_TOP && f->of[node->parent] != NONE) {
        f->of[at] = f->of[node->parent];
    } else if (node->depth == f->depth && node->nkernels >= f->min && is_op(f, at)) {
        tl_text name = tl_hta_name(f->graph->frame, &f->graph->frame->rows.v[at]);
        f->of[at] = (uint32_t)f->occurrences.n;
        tl_vec_push(&f->occurrences, (occurrence){ .at = at });
        tl_bytes_put(&f->occurrences.v[f->of[at]].text, name.p, name.n);
    }
    return f->of[at] != NONE ? &f->occurrences.v[f->of[at]] : NULL;
}

TL_ORDER_BY(by_time, tl_hta_row, ts, index)

static void find_occurrences(finding *f)
{
    const tl_hta_graph *g = f->graph;
    const tl_hta_row *rows = g->frame->rows.v;
    TL_VEC(uint32_t) kernels = { 0 };

    f->of = tl_malloc_none(g->frame->rows.n);
    f->depth = INT32_MAX;
    for (uint32_t i = 0; i < g->frame->rows.n; i++) {
        if (g->nest.node[i].depth < f->depth && is_op(f, i))
            f->depth = g->nest.node[i].depth;
        if (g->nest.node[i].depth >= 0 && tl_hta_on_stream(&rows[i]))
            tl_vec_push(&kernels, i);
    }
    for (size_t i = 0; i < g->nest.nopened && f->depth >= 0; i++)
        (void)set_occurrence(f, g->nest.opened[i]);
    tl_sort_index(kernels.v, kernels.n, by_time, rows);
    for (size_t i = 0; i < kernels.n && f->depth >= 0; i++) {
        occurrence *o = set_occurrence(f, kernels.v[i]);
        if (o != NULL)
            tl_bytes_join(&o->text, "|", tl_hta_name(g->frame, &rows[kernels.v[i]]));
    }
    free(kernels.v);
}

static int by_text(const void *occurrences, uint32_t a, uint32_t b)
{
    const occurrence *v = occurrences;
    return tl_text_compare(tl_bytes_text(&v[a].text), tl_bytes_text(&v[b].text));
}

TL_SORT_BY(by_count, pattern, DOWN(n)) /* ties stay in the order of their texts */

static void count_patterns(finding *f)
{
    const occurrence *v = f->occurrences.v;

    f->order = tl_sorted_index(f->occurrences.n, by_text, v);
    TL_GROUPS (from, to, f->order, f->occurrences.n, by_text, v) {
        pattern p = { f->order + from, to - from, tl_bytes_text(&v[f->order[from]].text), 0, 0 };
        for (size_t i = from; i < to; i++) {
            p.kernel_dur_sum += f->graph->nest.node[v[f->order[i]].at].kernel_dur_sum;
            p.dur += f->graph->frame->rows.v[v[f->order[i]].at].dur;
        }
        tl_vec_push(&f->patterns, p);
    }
    tl_vec_sort(&f->patterns, by_count);
}

/* Writes the patterns of a rank, and to the table `overlay` the number of rows in occurrences of the `nmarked` most
 * frequent patterns. */
static void write_patterns(tl_csv *csv, finding *f, size_t nmarked, const char *overlay, tl_csv_folder *folder)
{
    const tl_hta_frame *frame = f->graph->frame;
    size_t nrows = 0;

    find_occurrences(f);
    count_patterns(f);
    TL_EACH (const pattern, p, f->patterns) {
        TL_ROW(csv, p->text, p->n, p->kernel_dur_sum, p->dur, frame->rank);
        for (size_t i = 0; i < p->n && p < f->patterns.v + nmarked; i++)
            f->occurrences.v[p->occurrences[i]].marked = true;
    }
    for (size_t i = 0; i < frame->rows.n; i++)
        nrows += f->of[i] != NONE && f->occurrences.v[f->of[i]].marked;
    if (f->patterns.n > 0) {
        tl_csv table = tl_csv_open_rank(folder, overlay, frame->rank, "events,marked");
        TL_ROW(&table, frame->nentries, nrows);
        tl_csv_close(&table);
    }
    TL_EACH (occurrence, o, f->occurrences)
        tl_bytes_free(&o->text);
    free(f->of);
    free(f->occurrences.v);
    free(f->order);
    free(f->patterns.v);
}

/* Writes the tables of an operator and a minimum length; without a pattern, a table with the header "none". */
static void write_operator(tl_hta_job *job, const char *op, int64_t min, const tl_hta_graph *graphs, size_t n)
{
    char words[WORDS + 1], file[WORDS + 80], overlay[WORDS + 80];
    const uint32_t least = min < UINT32_MAX ? (uint32_t)min : UINT32_MAX;

    tl_hta_file_words(words, WORDS, op); /* "aten::mm": aten_mm */
    snprintf(file, sizeof file, "frequent_patterns_%s_min%u.csv", words, least);
    snprintf(overlay, sizeof overlay, "patterns_overlay_%s_min%u", words, least);
    tl_csv csv = tl_csv_open(&job->out, file, "pattern,count,GPU kernel duration (us),CPU op duration (us),rank");
    for (size_t i = 0; i < n; i++)
        if (graphs[i].why[0] == '\0')
            write_patterns(&csv, &(finding){ .graph = &graphs[i], .op = op, .min = least },
                           (size_t)job->parameters->top_k, overlay, &job->out);
    if (!tl_csv_has_rows(&csv)) {
        tl_csv_end(&csv, false);
        csv = tl_csv_open(&job->out, file, "none");
    }
    tl_csv_close(&csv);
}

/* Writes the tables of the operator in the parameters; without one, of the first `most` operators in `ops` that the job
 * has, also with a minimum length of 1. */
static void write_operators(tl_hta_job *job, const tl_hta_graph *graphs, size_t n, size_t most)
{
    const int64_t min = job->parameters->min_pattern_len;

    if (job->parameters->operator_name != NULL) {
        write_operator(job, job->parameters->operator_name, min, graphs, n);
        return;
    }
    for (size_t i = 0; i < sizeof ops / sizeof ops[0] && most > 0; i++)
        if (tl_names_find(&job->symbols->texts, ops[i], strlen(ops[i])) != TL_NO_NAME) {
            most--;
            write_operator(job, ops[i], min, graphs, n);
            if (min != 1)
                write_operator(job, ops[i], 1, graphs, n);
        }
}

void tl_hta_frequent_patterns(tl_hta_job *job)
{
    const bool asked = job->parameters->operator_name != NULL;
    size_t n = asked || job->frames.n < COMMON_RANKS ? job->frames.n : COMMON_RANKS, nrefused = 0;
    tl_hta_graph *graphs = tl_calloc(n, sizeof *graphs);
    uint64_t entries = 0;

    TL_EACH (const tl_hta_frame, frame, job->frames)
        entries += frame->nentries;
    for (size_t i = 0; i < n; i++) {
        graphs[i] = tl_hta_graph_of(&job->frames.v[i]);
        if (graphs[i].why[0] != '\0') {
            nrefused++;
            tl_hta_note_rank(&job->out, "frequent_patterns", graphs[i].frame, "%s",
                             "none, for there is no call graph of it");
        }
    }
    if (nrefused < n)
        write_operators(job, graphs, n, entries < LARGE_ENTRIES ? 2 : 1);
    for (size_t i = 0; i < n; i++)
        tl_hta_graph_free(&graphs[i]);
    free(graphs);
}
