/* breakdown.c - kernels and annotations by name, each rank by itself. */
#include "tally.h"
#include "tlmpi/compat/hta/kernels.h"
#include "tlmpi/base/group.h"
#include <stdlib.h>

/* HTA's default: the number of annotations that keep a line of their own. */
#define ANNOTATION_NAMES 1000

/* In the order of their labels.  The rest is no kernel. */
static const tl_hta_class classes[] = { TL_HTA_COMMUNICATION, TL_HTA_COMPUTATION, TL_HTA_MEMORY };

static int by_name_and_rank(const void *a, const void *b)
{
    const tl_hta_tally *x = a, *y = b;
    int order = tl_text_compare(x->name, y->name);
    return order != 0 ? order : TL_COMPARE(x->frame->rank, y->frame->rank);
}

static tl_hta_tallies tally_job(const tl_hta_job *job, const tl_hta_choice *choice, const tl_hta_rest *rest)
{
    tl_hta_tallies all = { 0 };
    for (size_t i = 0; i < job->frames.n; i++)
        tl_hta_tally_rank(&all, &job->frames.v[i], choice, rest);
    return all;
}

/* The kernels of each class, all ranks. */
static void write_kernels(tl_hta_job *job, const char *table, const tl_hta_rest *rest)
{
    tl_csv csv = tl_csv_open(&job->out, table, TL_HTA_TALLY_HEADER ",kernel_type,rank");

    for (size_t k = 0; k < sizeof classes / sizeof classes[0]; k++) {
        const tl_hta_choice choice = { .symbols = &job->symbols, .by_class = true, .class = classes[k] };
        tl_hta_tallies all = tally_job(job, &choice, rest);
        if (all.n > 0)
            qsort(all.v, all.n, sizeof *all.v, by_name_and_rank);
        for (size_t i = 0; i < all.n; i++) {
            tl_hta_tally_cells(&csv, &all.v[i]);
            TL_ROW(&csv, tl_words(tl_hta_class_labels[classes[k]]), tl_int(all.v[i].frame->rank));
        }
        free(all.v);
    }
    tl_csv_close(&csv);
}

void tl_hta_kernel_breakdown(tl_hta_job *job)
{
    static const tl_hta_rest none = { SIZE_MAX, 1 };
    const tl_hta_rest rest = { (size_t)job->parameters->num_kernels, job->parameters->duration_ratio };

    write_kernels(job, "kernel_breakdown_all.csv", &none);
    write_kernels(job, "kernel_breakdown_default.csv", &rest);
}

/* HTA looks for the category among all texts, names, too; without it there is no table. */
static void write_annotations(tl_hta_job *job, const char *table, tl_text category)
{
    const tl_hta_choice choice = { .symbols = &job->symbols,
                                   .cat = tl_names_find(&job->symbols.texts, category.p, category.n) };
    const tl_hta_rest rest = { ANNOTATION_NAMES, tl_hta_defaults.duration_ratio };
    tl_csv csv = tl_csv_open(&job->out, table, TL_HTA_TALLY_HEADER ",rank");

    if (choice.cat == TL_NO_NAME) {
        tl_csv_drop(&csv);
        tl_hta_note(job, "%.*s: all ranks: no row of this category, where HTA has no table",
                    (int)(strlen(table) - strlen(".csv")), table);
        return;
    }
    tl_hta_tallies all = tally_job(job, &choice, &rest);
    for (size_t i = 0; i < all.n; i++) {
        tl_hta_tally_cells(&csv, &all.v[i]);
        TL_ROW(&csv, tl_int(all.v[i].frame->rank));
    }
    free(all.v);
    tl_csv_close(&csv);
}

void tl_hta_user_annotations(tl_hta_job *job)
{
    write_annotations(job, "cpu_user_annotation_breakdown.csv", TL_TEXT("user_annotation"));
    write_annotations(job, "gpu_user_annotation_breakdown.csv", TL_TEXT("gpu_user_annotation"));
}
