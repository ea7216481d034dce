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

/* ------------------------------------------------------------------------------------------------------- call graphs
 */

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
        level *l = add_to_level(&all, g->node[i].depth, row);
        l->nkernels += g->node[i].nkernels;
        l->kernel_dur_sum += g->node[i].kernel_dur_sum;
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
        const tl_hta_row *row = &g->frame->rows.v[stack->label_row];
        uint32_t before = tl_map_get(&count, (uint64_t)stack->root), n = before == TL_MAP_NONE ? 1 : before + 1;
        tl_text label = stack->main ? TL_TEXT("main") : stack->backward ? TL_TEXT("bwd") : tl_hta_name(g->frame, row);

        TL_ROW(csv, g->frame->rank, tl_hta_pid(g->frame, row->track), tl_hta_tid(g->frame, row->track), label,
               (*nstacks)++, stack->root, n);
        tl_map_put(&count, (uint64_t)stack->root, n);
    }
    tl_map_free(&count);
}

void tl_hta_call_graphs(tl_hta_job *job)
{
    int64_t nstacks = 0;
    bool any = false;
    tl_csv threads = tl_csv_open(&job->out, "callgraph_threads.csv", "rank,pid,tid,label,stack_index,stack_root,count");

    TL_EACH (const tl_hta_frame, frame, job->frames) {
        tl_hta_graph g = tl_hta_graph_of(frame);
        if (g.why[0] != '\0') {
            tl_hta_note_rank(job, "callgraph", frame, "none: %s; HTA gives up all ranks", g.why);
        } else {
            any = true;
            write_graph(&g, &job->out);
            write_threads(&threads, &g, &nstacks);
        }
        tl_hta_graph_free(&g);
    }
    tl_csv_end(&threads, any);
}

/* ------------------------------------------------------------------------------------------------- older call stacks
 */

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
            const int32_t depth = nest.depth[i];
            if (tl_hta_on_stream(&rows[i]))
                continue;
            (void)add_to_level(&all, depth, &rows[i]);
            if (depth < 0)
                TL_ROW(&each, rows[i].index, "", "");
            else
                TL_ROW(&each, rows[i].index, depth, depth > 0 ? (int64_t)rows[nest.parent[i]].index : -1);
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

/* Parameters of the tables of one operator and minimum length. */
typedef struct family {
    char words[WORDS + 32]; /* part of the files' names: "aten_linear_min3" */
    bool *is_op;            /* by symbol: whether it has the operator's name in it */
    uint32_t min;           /* fewest kernels of a pattern */
    size_t marked;          /* number of most frequent patterns that are marked */
} family;

typedef struct pattern {
    uint64_t count;
    double kernel_dur_sum, dur; /* sums over the occurrences, us */
} pattern;

/* An outermost row of the operator, with the kernels launched within. */
typedef struct occurrence {
    uint32_t at;      /* position of the row */
    uint32_t pattern; /* id of the pattern's text */
} occurrence;

/* The patterns of one rank. */
typedef struct finding {
    const tl_hta_graph *graph;
    const tl_hta_frame *frame;
    const family *family;
    tl_arena arena;
    uint32_t *of; /* by position of a row: the occurrence that contains the row; NONE */
    TL_VEC(occurrence) occurrences;
    uint32_t *kernels; /* positions of kernels in occurrences */
    size_t nkernels;
    tl_names texts; /* "operator|kernel|kernel" */
    TL_VEC(pattern) patterns;
} finding;

/* Sets the row's occurrence: its parent's, or a new occurrence for a row of the operator at `depth`. */
static void set_occurrence(finding *f, uint32_t at, int32_t depth)
{
    const tl_hta_node *node = &f->graph->node[at];

    if (node->parent != TL_HTA_TOP && f->of[node->parent] != NONE) {
        f->of[at] = f->of[node->parent];
    } else if (node->depth == depth && node->nkernels >= f->family->min &&
               f->family->is_op[f->frame->rows.v[at].name]) {
        f->of[at] = (uint32_t)f->occurrences.n;
        tl_vec_push(&f->occurrences, (occurrence){ .at = at });
    }
}

static void find_occurrences(finding *f)
{
    const tl_hta_graph *g = f->graph;
    const size_t n = f->frame->rows.n;
    int32_t depth = INT32_MAX;

    f->of = tl_arena_take(&f->arena, n, sizeof *f->of);
    f->kernels = tl_arena_take(&f->arena, n, sizeof *f->kernels);
    for (uint32_t i = 0; i < n; i++) {
        f->of[i] = NONE;
        if (g->node[i].depth < depth && f->family->is_op[f->frame->rows.v[i].name])
            depth = g->node[i].depth;
    }
    for (size_t i = 0; i < g->nopened && depth >= 0; i++) /* depth -1, a candidate outside the graph: no pattern */
        set_occurrence(f, g->opened[i], depth);
    for (uint32_t i = 0; i < n && depth >= 0; i++)
        if (g->node[i].depth >= 0 && tl_hta_on_stream(&f->frame->rows.v[i])) {
            set_occurrence(f, i, depth);
            if (f->of[i] != NONE)
                f->kernels[f->nkernels++] = i;
        }
}

static int by_occurrence(const void *context, uint32_t a, uint32_t b)
{
    const finding *f = context;
    const tl_hta_row *x = &f->frame->rows.v[a], *y = &f->frame->rows.v[b];
    return f->of[a] != f->of[b] ? TL_COMPARE(f->of[a], f->of[b]) : TL_ORDER(x, y, ts, index);
}

static void count_patterns(finding *f)
{
    const tl_hta_row *rows = f->frame->rows.v;
    tl_bytes text = { 0 };
    size_t k = 0;

    tl_sort_index(f->kernels, f->nkernels, by_occurrence, f);
    TL_EACH (occurrence, o, f->occurrences) {
        tl_text name = tl_hta_name(f->frame, &rows[o->at]);
        text.n = 0;
        tl_bytes_put(&text, name.p, name.n);
        for (; k < f->nkernels && f->of[f->kernels[k]] == o - f->occurrences.v; k++) {
            name = tl_hta_name(f->frame, &rows[f->kernels[k]]);
            tl_bytes_put(&text, "|", 1);
            tl_bytes_put(&text, name.p, name.n);
        }
        o->pattern = tl_names_intern(&f->texts, tl_bytes_text(&text).p, text.n);
        if (o->pattern == f->patterns.n)
            tl_vec_push(&f->patterns, (pattern){ 0 });
        pattern *p = &f->patterns.v[o->pattern];
        p->count++;
        p->kernel_dur_sum += f->graph->node[o->at].kernel_dur_sum;
        p->dur += rows[o->at].dur;
    }
    tl_bytes_free(&text);
}

/* Sorted by count, descending; ties by text, ascending. */
static int by_count(const void *context, uint32_t a, uint32_t b)
{
    const finding *f = context;
    return f->patterns.v[a].count != f->patterns.v[b].count
               ? TL_COMPARE(f->patterns.v[b].count, f->patterns.v[a].count)
               : tl_text_compare(tl_names_text(&f->texts, a), tl_names_text(&f->texts, b));
}

/* Writes the patterns of a rank and the number of rows in occurrences of the marked patterns.  False: no pattern. */
static bool write_rank(tl_csv *csv, const family *of, const tl_hta_graph *graph, tl_csv_folder *folder)
{
    finding f = { .graph = graph, .frame = graph->frame, .family = of };
    char name[WORDS + 80];
    uint64_t nmarked = 0;

    find_occurrences(&f);
    count_patterns(&f);
    const size_t n = f.patterns.n;
    uint32_t *order = tl_sorted_index(n, by_count, &f);
    bool *marked = tl_arena_zeroed(&f.arena, n, sizeof *marked);
    for (size_t i = 0; i < n; i++) {
        const pattern *p = &f.patterns.v[order[i]];
        marked[order[i]] = i < of->marked;
        TL_ROW(csv, tl_names_text(&f.texts, order[i]), p->count, p->kernel_dur_sum, p->dur, f.frame->rank);
    }
    for (size_t i = 0; i < f.frame->rows.n; i++)
        nmarked += f.of[i] != NONE && marked[f.occurrences.v[f.of[i]].pattern];
    if (n > 0) {
        snprintf(name, sizeof name, "patterns_overlay_%s", of->words);
        tl_csv overlay = tl_csv_open_rank(folder, name, f.frame->rank, "events,marked");
        TL_ROW(&overlay, f.frame->nentries, nmarked);
        tl_csv_close(&overlay);
    }
    free(order);
    tl_names_free(&f.texts);
    free(f.occurrences.v);
    free(f.patterns.v);
    tl_arena_free(&f.arena);
    return n > 0;
}

/* ---------------------------------------------------------------------------------------------------------- tables */

static void write_family(tl_hta_job *job, const char *op, int64_t min, const tl_hta_graph *graphs, size_t n)
{
    family of = { .is_op = tl_malloc(job->symbols->v.n * sizeof *of.is_op),
                  .min = min < UINT32_MAX ? (uint32_t)min : UINT32_MAX,
                  .marked = (size_t)job->parameters->top_k };
    char name[WORDS + 80];
    bool any = false;

    for (uint32_t i = 0; i < job->symbols->v.n; i++)
        of.is_op[i] = tl_text_has(tl_hta_text(job->symbols, i), op);
    size_t nwords = tl_hta_file_words(of.words, WORDS, op); /* "aten::mm", 3 -> "aten_mm_min3" */
    snprintf(of.words + nwords, sizeof of.words - nwords, "_min%u", of.min);
    snprintf(name, sizeof name, "frequent_patterns_%s.csv", of.words);
    tl_csv csv = tl_csv_open(&job->out, name, "pattern,count,GPU kernel duration (us),CPU op duration (us),rank");
    for (size_t i = 0; i < n; i++)
        any |= graphs[i].why[0] == '\0' && write_rank(&csv, &of, &graphs[i], &job->out);
    if (!any) {
        tl_csv_end(&csv, false);
        csv = tl_csv_open(&job->out, name, "none");
    }
    tl_csv_close(&csv);
    free(of.is_op);
}

/* Writes the tables of the operator in the parameters; without one, of the first `most` operators in `ops` that the job
 * has, also with a minimum length of 1. */
static void write_operators(tl_hta_job *job, const tl_hta_graph *graphs, size_t n, size_t most)
{
    const int64_t min = job->parameters->min_pattern_len;

    if (job->parameters->operator_name != NULL) {
        write_family(job, job->parameters->operator_name, min, graphs, n);
        return;
    }
    for (size_t i = 0; i < sizeof ops / sizeof ops[0] && most > 0; i++)
        if (tl_names_find(&job->symbols->texts, ops[i], strlen(ops[i])) != TL_NO_NAME) {
            most--;
            write_family(job, ops[i], min, graphs, n);
            if (min != 1)
                write_family(job, ops[i], 1, graphs, n);
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
            tl_hta_note_rank(job, "frequent_patterns", graphs[i].frame, "%s", "none, for there is no call graph of it");
        }
    }
    if (nrefused < n)
        write_operators(job, graphs, n, entries < LARGE_ENTRIES ? 2 : 1);
    for (size_t i = 0; i < n; i++)
        tl_hta_graph_free(&graphs[i]);
    free(graphs);
}
