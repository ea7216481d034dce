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

static void write_overlay(const family *of, const tl_hta_frame *frame, uint64_t marked, tl_csv_folder *folder)
{
    char name[WORDS + 80];
    snprintf(name, sizeof name, "patterns_overlay_%s", of->words);
    tl_csv csv = tl_csv_open_rank(folder, name, frame->rank, "events,marked");
    TL_ROW(&csv, tl_int((int64_t)frame->nentries), tl_int((int64_t)marked));
    tl_csv_close(&csv);
}

static void write_patterns(tl_csv *csv, const tl_hta_patterns *patterns, const tl_hta_frame *frame)
{
    tl_bytes text = { 0 };

    for (size_t i = 0; i < patterns->n; i++) {
        const tl_hta_pattern *p = &patterns->v[i];
        text.n = 0;
        for (size_t k = 0; k <= p->nkernels; k++) {
            tl_text name = tl_hta_text(patterns->symbols, k == 0 ? p->name : p->kernels[k - 1]);
            tl_bytes_put(&text, "|", k > 0);
            tl_bytes_put(&text, name.p, name.n);
        }
        TL_ROW(csv, tl_bytes_cell(&text), tl_int((int64_t)p->count), tl_real(p->kernel_dur_sum),
               tl_number(p->dur, frame->dur_whole), tl_int(frame->rank));
    }
    tl_bytes_free(&text);
}

static void write_family(const family *of, const tl_hta_graph *graphs, size_t n, tl_hta_job *job)
{
    tl_hta_patterns *patterns = tl_calloc(n, sizeof *patterns);
    char name[WORDS + 80];
    bool any = false;

    snprintf(name, sizeof name, "frequent_patterns_%s.csv", of->words);
    for (size_t i = 0; i < n; i++) {
        if (graphs[i].why[0] != '\0')
            continue;
        patterns[i] = tl_hta_patterns_find(&graphs[i], &job->symbols, of->op, of->min, of->marked);
        if (patterns[i].n > 0)
            write_overlay(of, graphs[i].frame, patterns[i].marked, &job->out);
        any = any || patterns[i].n > 0;
    }
    tl_csv csv =
        tl_csv_open(&job->out, name, any ? "pattern,count,GPU kernel duration (us),CPU op duration (us),rank" : "none");
    for (size_t i = 0; i < n; i++) {
        write_patterns(&csv, &patterns[i], graphs[i].frame);
        tl_hta_patterns_free(&patterns[i]);
    }
    free(patterns);
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

    for (size_t i = 0; i < job->frames.n; i++)
        entries += job->frames.v[i].nentries;
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
