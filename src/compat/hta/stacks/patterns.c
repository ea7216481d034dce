/* patterns.c - tables of the sequences of kernels that common operators launch, and of what a trace with them marked in it
 * would mark.
 *
 * Of the operator that is asked for, on all ranks; else of a list the first two that the job has, of a large job the
 * first, and with a length of 1, too, on the first two ranks.
 */
#include "find.h"
#include "tlmpi/compat/hta/stacks.h"
#include <stdio.h>
#include <stdlib.h>

#define LARGE_ENTRIES 80000 /* of all ranks */
#define COMMON_RANKS  2
#define WORDS         96 /* of a file's name */

static const char *const ops[] = { "aten::linear", "aten::conv2d", "aten::convolution", "aten::addmm",
                                   "aten::mm",     "aten::matmul", "aten::add",         "aten::copy_" };

/* What the tables of one operator and smallest length have in common. */
typedef struct family {
    char words[WORDS + 32]; /* of the names of its files: "aten_linear_min3" */
    const char *op;
    uint32_t min;
    size_t marked; /* patterns */
} family;

static tl_status write_overlay(const family *of, const tl_hta_frame *frame, uint64_t marked, const char *dir,
                               tl_error *err)
{
    char name[WORDS + 80];
    tl_sheet csv;

    snprintf(name, sizeof name, "patterns_overlay_%s_rank%lld.csv", of->words, (long long)frame->rank);
    tl_status st = tl_sheet_open(&csv, dir, name, "events,marked", err);
    if (st != TL_OK)
        return st;
    tl_sheet_int(&csv, (int64_t)frame->nentries);
    tl_sheet_int(&csv, (int64_t)marked);
    tl_sheet_end_row(&csv);
    return tl_sheet_close(&csv, err);
}

static void write_patterns(tl_sheet *csv, const tl_hta_patterns *patterns, const tl_hta_frame *frame, bool whole)
{
    TL_VEC(tl_text) parts = { 0 };

    for (size_t i = 0; i < patterns->n; i++) {
        const tl_hta_pattern *p = &patterns->v[i];
        if (!tl_grow((void **)&parts.v, &parts.cap, p->nkernels + 1, sizeof *parts.v)) {
            tl_sheet_no_memory(csv);
            break;
        }
        parts.v[0] = tl_names_text(&patterns->symbols->texts, p->name);
        for (size_t k = 0; k < p->nkernels; k++)
            parts.v[k + 1] = tl_names_text(&patterns->symbols->texts, p->kernels[k]);
        tl_sheet_joined(csv, parts.v, p->nkernels + 1, '|');
        tl_sheet_int(csv, (int64_t)p->count);
        tl_sheet_real(csv, p->kernel_dur_sum);
        tl_sheet_number(csv, p->dur, whole);
        tl_sheet_int(csv, frame->rank);
        tl_sheet_end_row(csv);
    }
    free(parts.v);
}

static tl_status write_family(const family *of, const tl_hta_graph *graphs, size_t n, const tl_hta_symbols *symbols,
                              const char *dir, tl_error *err)
{
    tl_hta_patterns *patterns = tl_calloc(n, sizeof *patterns);
    char name[WORDS + 80];
    bool any = false, whole = true; /* a column has one type, for all ranks */
    tl_sheet csv;
    tl_status st = TL_OK;

    if (patterns == NULL)
        return tl_fail_memory(err, "the patterns of the ranks");
    for (size_t i = 0; i < n && st == TL_OK; i++) {
        if (graphs[i].why[0] != '\0')
            continue;
        if (!tl_hta_patterns_find(&patterns[i], &graphs[i], symbols, of->op, of->min, of->marked))
            st = tl_fail_memory(err, "the patterns of an operator");
        else if (patterns[i].n > 0)
            st = write_overlay(of, graphs[i].frame, patterns[i].marked, dir, err);
        any = any || patterns[i].n > 0;
        whole = whole && (patterns[i].n == 0 || graphs[i].frame->dur_whole);
    }
    if (st == TL_OK) {
        snprintf(name, sizeof name, "frequent_patterns_%s.csv", of->words);
        st = tl_sheet_open(&csv, dir, name,
                           any ? "pattern,count,GPU kernel duration (us),CPU op duration (us),rank" : "none", err);
    }
    if (st == TL_OK) {
        for (size_t i = 0; i < n; i++)
            write_patterns(&csv, &patterns[i], graphs[i].frame, whole);
        st = tl_sheet_close(&csv, err);
    }
    for (size_t i = 0; i < n; i++)
        tl_hta_patterns_free(&patterns[i]);
    free(patterns);
    return st;
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

static tl_status write_operator(const tl_hta_job *job, const char *op, const tl_hta_graph *graphs, size_t n,
                                const char *dir, tl_error *err)
{
    const tl_hta_parameters *parameters = job->parameters;
    const family of = family_of(op, parameters->min_pattern_len, parameters);
    const family shortest = family_of(op, 1, parameters);
    tl_status st = write_family(&of, graphs, n, &job->symbols, dir, err);
    if (st == TL_OK && parameters->operator_name == NULL && of.min != 1)
        st = write_family(&shortest, graphs, n, &job->symbols, dir, err);
    return st;
}

/* The first of the list that the job has. */
static tl_status write_common(const tl_hta_job *job, size_t most, const tl_hta_graph *graphs, size_t n, const char *dir,
                              tl_error *err)
{
    tl_status st = TL_OK;
    for (size_t i = 0; i < sizeof ops / sizeof ops[0] && most > 0 && st == TL_OK; i++) {
        if (tl_names_find(&job->symbols.texts, ops[i], strlen(ops[i])) == TL_NO_NAME)
            continue;
        most--;
        st = write_operator(job, ops[i], graphs, n, dir, err);
    }
    return st;
}

tl_status tl_hta_frequent_patterns(tl_hta_job *job, const char *dir, tl_error *err)
{
    const char *op = job->parameters->operator_name;
    size_t n = op != NULL || job->frames.n < COMMON_RANKS ? job->frames.n : COMMON_RANKS, nrefused = 0;
    tl_hta_graph *graphs = tl_calloc(n, sizeof *graphs);
    uint64_t entries = 0;
    tl_status st = TL_OK;

    if (graphs == NULL)
        return tl_fail_memory(err, "the call graphs of the ranks");
    for (size_t i = 0; i < job->frames.n; i++)
        entries += job->frames.v[i].nentries;
    for (size_t i = 0; i < n && st == TL_OK; i++) {
        st = tl_hta_graph_of(&graphs[i], &job->frames.v[i], &job->symbols, err);
        if (st == TL_OK && graphs[i].why[0] != '\0') {
            nrefused++;
            st = tl_hta_job_note(job, err, "frequent_patterns: rank %lld: none, for there is no call graph of it",
                                 (long long)job->frames.v[i].rank);
        }
    }
    if (st == TL_OK && nrefused < n)
        st = op != NULL ? write_operator(job, op, graphs, n, dir, err)
                        : write_common(job, entries < LARGE_ENTRIES ? 2 : 1, graphs, n, dir, err);
    for (size_t i = 0; i < n; i++)
        tl_hta_graph_free(&graphs[i]);
    free(graphs);
    return st;
}
