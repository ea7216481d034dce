/* patterns.c - what an operator launches, and how often the same; and what a trace with the most frequent of it marked would
 * mark.
 *
 *     host    [ aten::linear      ]   [ aten::linear     ]      the operator, at the smallest depth it is found at
 *              [ launch ][ launch ]    [ launch ][ launch]
 *     streams      [ memset ][ gemm ]      [ memset ][ gemm ]     aten::linear|memset|gemm, twice
 *
 * All rows whose name has the operator's in it are candidates, in the graph or not.
 *
 * Of the operator that is asked for, on all ranks; else of a list the first two that the job has, of a large job the
 * first, and with a length of 1, too, on the first two ranks.
 */
#include "graph.h"
#include "tlmpi/compat/hta/stacks.h"
#include "tlmpi/base/group.h"
#include <stdio.h>
#include <stdlib.h>

#define LARGE_ENTRIES 80000 /* of all ranks */
#define COMMON_RANKS  2
#define WORDS         96 /* of a file's name */
#define NONE          UINT32_MAX

static const char *const ops[] = { "aten::linear", "aten::conv2d", "aten::convolution", "aten::addmm",
                                   "aten::mm",     "aten::matmul", "aten::add",         "aten::copy_" };

/* What the tables of one operator and smallest length have in common. */
typedef struct family {
    char words[WORDS + 32]; /* of the names of its files: "aten_linear_min3" */
    const char *op;
    uint32_t min;
    size_t marked; /* patterns */
} family;

typedef struct pattern {
    uint64_t count;
    double kernel_dur_sum, dur; /* of all its occurrences */
} pattern;

/* A row of the operator, with its kernels. */
typedef struct occurrence {
    uint32_t at;      /* position of the row */
    uint32_t pattern; /* id of its text */
} occurrence;

/* The patterns of one rank. */
typedef struct finding {
    const tl_hta_graph *graph;
    const tl_hta_symbols *symbols;
    const family *family;
    tl_arena arena;
    uint32_t *of; /* of a row at its position: the occurrence that it is in, or NONE */
    TL_VEC(occurrence) occurrences;
    uint32_t *kernels; /* positions */
    size_t nkernels;
    tl_names texts; /* "operator|kernel|kernel" */
    TL_VEC(pattern) patterns;
    uint8_t *known; /* of a symbol: whether it has the operator's name in it */
} finding;

/* ---------------------------------------------------------------------------------------------------- occurrences */

/* Each symbol is looked at once, where a row has it. */
static bool has_op(const finding *f, uint32_t at)
{
    enum { UNKNOWN, NO, YES };
    uint32_t name = f->graph->frame->rows.v[at].name;
    if (f->known[name] == UNKNOWN)
        f->known[name] = tl_text_has(tl_hta_text(f->symbols, name), f->family->op) ? YES : NO;
    return f->known[name] == YES;
}

/* Gives the row its occurrence: that of what it stands in, or a new one. */
static void take_row(finding *f, uint32_t at, int32_t depth)
{
    const tl_hta_node *node = &f->graph->node[at];

    if (node->parent != TL_HTA_TOP && f->of[node->parent] != NONE) {
        f->of[at] = f->of[node->parent];
    } else if (node->depth == depth && node->nkernels >= f->family->min && has_op(f, at)) {
        f->of[at] = (uint32_t)f->occurrences.n;
        tl_vec_push(&f->occurrences, (occurrence){ .at = at });
    }
}

static void find_occurrences(finding *f)
{
    const tl_hta_graph *g = f->graph;
    const size_t n = g->frame->rows.n;
    int32_t depth = INT32_MAX;

    f->known = tl_arena_zeroed(&f->arena, f->symbols->v.n, sizeof *f->known);
    f->of = tl_arena_take(&f->arena, n, sizeof *f->of);
    f->kernels = tl_arena_take(&f->arena, n, sizeof *f->kernels);
    for (uint32_t i = 0; i < n; i++) {
        f->of[i] = NONE;
        if (g->node[i].depth < depth && has_op(f, i))
            depth = g->node[i].depth;
    }
    for (size_t i = 0; i < g->nopened && depth >= 0; i++) /* below 0 the shallowest candidate launches nothing */
        take_row(f, g->opened[i], depth);
    for (uint32_t i = 0; i < n && depth >= 0; i++)
        if (g->node[i].depth >= 0 && tl_hta_on_stream(&g->frame->rows.v[i])) {
            take_row(f, i, depth);
            if (f->of[i] != NONE)
                f->kernels[f->nkernels++] = i;
        }
}

static int by_occurrence(const void *context, uint32_t a, uint32_t b)
{
    const finding *f = context;
    const tl_hta_row *x = &f->graph->frame->rows.v[a], *y = &f->graph->frame->rows.v[b];
    return f->of[a] != f->of[b] ? TL_COMPARE(f->of[a], f->of[b]) : TL_ORDER(x, y, ts, index);
}

/* ------------------------------------------------------------------------------------------------------- patterns */

static void count_patterns(finding *f)
{
    const tl_hta_row *rows = f->graph->frame->rows.v;
    tl_bytes text = { 0 };
    size_t k = 0;

    tl_sort_index(f->kernels, f->nkernels, by_occurrence, f);
    TL_EACH (occurrence, o, f->occurrences) {
        tl_text name = tl_hta_text(f->symbols, rows[o->at].name);
        text.n = 0;
        tl_bytes_put(&text, name.p, name.n);
        for (; k < f->nkernels && f->of[f->kernels[k]] == o - f->occurrences.v; k++) {
            name = tl_hta_text(f->symbols, rows[f->kernels[k]].name);
            tl_bytes_put(&text, "|", 1);
            tl_bytes_put(&text, name.p, name.n);
        }
        o->pattern = tl_names_intern(&f->texts, text.n > 0 ? text.v : "", text.n);
        if (o->pattern == f->patterns.n)
            tl_vec_push(&f->patterns, (pattern){ 0 });
        pattern *p = &f->patterns.v[o->pattern];
        p->count++;
        p->kernel_dur_sum += f->graph->node[o->at].kernel_dur_sum;
        p->dur += rows[o->at].dur;
    }
    tl_bytes_free(&text);
}

/* The most frequent first, then by text. */
static int by_count(const void *context, uint32_t a, uint32_t b)
{
    const finding *f = context;
    return f->patterns.v[a].count != f->patterns.v[b].count
               ? TL_COMPARE(f->patterns.v[b].count, f->patterns.v[a].count)
               : tl_text_compare(tl_names_text(&f->texts, a), tl_names_text(&f->texts, b));
}

/* How many rows are in occurrences of the first few patterns. */
static uint64_t count_marked(finding *f, const uint32_t *order)
{
    const size_t n = f->graph->frame->rows.n;
    bool *marked = tl_arena_zeroed(&f->arena, f->patterns.n, sizeof *marked);
    uint64_t nmarked = 0;

    for (size_t i = 0; i < f->patterns.n && i < f->family->marked; i++)
        marked[order[i]] = true;
    for (size_t i = 0; i < n; i++)
        nmarked += f->of[i] != NONE && marked[f->occurrences.v[f->of[i]].pattern];
    return nmarked;
}

/* False: the rank has none. */
static bool write_rank(tl_csv *csv, const family *of, const tl_hta_graph *graph, tl_hta_job *job)
{
    finding f = { .graph = graph, .symbols = &job->symbols, .family = of };
    const tl_hta_frame *frame = graph->frame;
    char name[WORDS + 80];

    find_occurrences(&f);
    count_patterns(&f);
    const size_t n = f.patterns.n;
    uint32_t *order = tl_sorted_index(n, by_count, &f);
    for (size_t i = 0; i < n; i++) {
        const pattern *p = &f.patterns.v[order[i]];
        TL_ROW(csv, tl_names_text(&f.texts, order[i]), p->count, p->kernel_dur_sum, tl_number(p->dur, frame->dur_whole),
               frame->rank);
    }
    if (n > 0) {
        snprintf(name, sizeof name, "patterns_overlay_%s", of->words);
        tl_csv overlay = tl_csv_open_rank(&job->out, name, frame->rank, "events,marked");
        TL_ROW(&overlay, frame->nentries, count_marked(&f, order));
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

static void write_family(const family *of, const tl_hta_graph *graphs, size_t n, tl_hta_job *job)
{
    char name[WORDS + 80];
    bool any = false;

    snprintf(name, sizeof name, "frequent_patterns_%s.csv", of->words);
    tl_csv csv = tl_csv_open(&job->out, name, "pattern,count,GPU kernel duration (us),CPU op duration (us),rank");
    for (size_t i = 0; i < n; i++)
        any |= graphs[i].why[0] == '\0' && write_rank(&csv, of, &graphs[i], job);
    if (!any) {
        tl_csv_drop(&csv);
        csv = tl_csv_open(&job->out, name, "none");
    }
    tl_csv_close(&csv);
}

/* "aten::mm", 3 -> "aten_mm_min3"; what is no letter or digit is no part of a file's name, and what is too long is cut. */
static family family_of(const char *op, int64_t min, const tl_hta_parameters *parameters)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-";
    family f = { .op = op, .min = min < UINT32_MAX ? (uint32_t)min : UINT32_MAX, .marked = (size_t)parameters->top_k };
    size_t n = 0;

    for (const char *p = op; *p != '\0' && n < WORDS; p++) {
        p += strncmp(p, "::", 2) == 0;
        f.words[n++] = strchr(plain, *p) != NULL ? *p : '_';
    }
    snprintf(f.words + n, sizeof f.words - n, "_min%u", f.min);
    return f;
}

static void write_operator(tl_hta_job *job, const char *op, const tl_hta_graph *graphs, size_t n)
{
    const tl_hta_parameters *parameters = job->parameters;
    const family of = family_of(op, parameters->min_pattern_len, parameters);
    const family shortest = family_of(op, 1, parameters);

    write_family(&of, graphs, n, job);
    if (parameters->operator_name == NULL && of.min != 1)
        write_family(&shortest, graphs, n, job);
}

/* The first of the list that the job has. */
static void write_common(tl_hta_job *job, size_t most, const tl_hta_graph *graphs, size_t n)
{
    for (size_t i = 0; i < sizeof ops / sizeof ops[0] && most > 0; i++)
        if (tl_names_find(&job->symbols.texts, ops[i], strlen(ops[i])) != TL_NO_NAME) {
            most--;
            write_operator(job, ops[i], graphs, n);
        }
}

void tl_hta_frequent_patterns(tl_hta_job *job)
{
    const char *op = job->parameters->operator_name;
    size_t n = op != NULL || job->frames.n < COMMON_RANKS ? job->frames.n : COMMON_RANKS, nrefused = 0;
    tl_hta_graph *graphs = tl_calloc(n, sizeof *graphs);
    uint64_t entries = 0;

    TL_EACH (const tl_hta_frame, frame, job->frames)
        entries += frame->nentries;
    for (size_t i = 0; i < n; i++) {
        graphs[i] = tl_hta_graph_of(&job->frames.v[i], &job->symbols);
        if (graphs[i].why[0] != '\0') {
            nrefused++;
            tl_hta_note(job, "frequent_patterns: rank %lld: none, for there is no call graph of it",
                        (long long)job->frames.v[i].rank);
        }
    }
    if (nrefused < n && op != NULL)
        write_operator(job, op, graphs, n);
    else if (nrefused < n)
        write_common(job, entries < LARGE_ENTRIES ? 2 : 1, graphs, n);
    for (size_t i = 0; i < n; i++)
        tl_hta_graph_free(&graphs[i]);
    free(graphs);
}
