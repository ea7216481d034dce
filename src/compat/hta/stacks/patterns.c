/* patterns.c - tables of the sequences of kernels that common operators launch, and of what a trace with them marked in it
 * would mark.
 *
 * Of a list of operators the first two that the job has, of a large job the first; of its ranks the first two.
 */
#include "find.h"
#include "tlmpi/compat/hta/stacks.h"
#include <stdio.h>
#include <stdlib.h>

#define LARGE_ENTRIES 80000 /* of all ranks */
#define MOST_RANKS    2
#define MARKED        5 /* patterns */

static const char *const ops[] = { "aten::linear", "aten::conv2d", "aten::convolution", "aten::addmm",
                                   "aten::mm",     "aten::matmul", "aten::add",         "aten::copy_" };
static const uint32_t min_kernels[] = { 3, 1 };

/* What the tables of one operator and smallest length have in common. */
typedef struct family {
    char words[48]; /* of the names of its files: "aten_linear_min3" */
    const char *op;
    uint32_t min;
} family;

static tl_status write_overlay(const family *of, const tl_hta_frame *frame, uint64_t marked, const char *dir,
                               tl_error *err)
{
    char name[128];
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
    tl_hta_patterns patterns[MOST_RANKS] = { { .n = 0 } };
    char name[128];
    bool any = false, whole = true; /* a column has one type, for all ranks */
    tl_sheet csv;
    tl_status st = TL_OK;

    for (size_t i = 0; i < n && st == TL_OK; i++) {
        if (graphs[i].why[0] != '\0')
            continue;
        if (!tl_hta_patterns_find(&patterns[i], &graphs[i], symbols, of->op, of->min, MARKED))
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
    return st;
}

/* "aten::mm", 3 -> "aten_mm_min3" */
static family family_of(const char *op, uint32_t min)
{
    family f = { .op = op, .min = min };
    const char *colons = strstr(op, "::");
    snprintf(f.words, sizeof f.words, "%.*s_%s_min%u", (int)(colons - op), op, colons + 2, min);
    return f;
}

tl_status tl_hta_frequent_patterns(tl_hta_job *job, const char *dir, tl_error *err)
{
    tl_hta_graph graphs[MOST_RANKS] = { { .frame = NULL } };
    size_t n = job->frames.n < MOST_RANKS ? job->frames.n : MOST_RANKS, nrefused = 0, nops = 0;
    uint64_t entries = 0;
    tl_status st = TL_OK;

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
    for (size_t i = 0; i < sizeof ops / sizeof ops[0] && nrefused < n; i++) {
        if (nops == (entries < LARGE_ENTRIES ? 2 : 1) ||
            tl_names_find(&job->symbols.texts, ops[i], strlen(ops[i])) == TL_NO_NAME)
            continue;
        nops++;
        for (size_t k = 0; k < sizeof min_kernels / sizeof min_kernels[0] && st == TL_OK; k++) {
            const family of = family_of(ops[i], min_kernels[k]);
            st = write_family(&of, graphs, n, &job->symbols, dir, err);
        }
    }
    for (size_t i = 0; i < n; i++)
        tl_hta_graph_free(&graphs[i]);
    return st;
}
