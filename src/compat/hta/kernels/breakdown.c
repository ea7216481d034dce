/* breakdown.c - kernels and annotations by name, each rank by itself. */
#include "tlmpi/compat/hta/kernels.h"
#include "tlmpi/base/sort.h"
#include "tally.h"
#include <stdio.h>
#include <stdlib.h>

/* HTA's default: so many names of annotations keep their own line. */
#define ANNOTATION_NAMES 1000

/* In the order of their labels.  The rest is no kernel. */
static const tl_hta_class classes[] = { TL_HTA_COMMUNICATION, TL_HTA_COMPUTATION, TL_HTA_MEMORY };

static int by_name_and_rank(const void *a, const void *b)
{
    const tl_hta_tally *x = a, *y = b;
    int order = tl_text_compare(x->name, y->name);
    return order != 0 ? order : TL_COMPARE(x->frame->rank, y->frame->rank);
}

/* The kernels of a class, all ranks. */
static tl_status write_class(tl_sheet *csv, const tl_hta_job *job, tl_hta_class class, const tl_hta_rest *rest,
                             tl_error *err)
{
    const tl_hta_choice choice = { .by_class = true, .class = class };
    tl_hta_tallies all = { 0 };
    tl_status st = TL_OK;

    for (size_t i = 0; i < job->frames.n && st == TL_OK; i++)
        if (!tl_hta_tally_rank(&all, &job->frames.v[i], &job->symbols, &choice, rest))
            st = tl_fail_memory(err, "the kernels of a rank");
    if (st == TL_OK && all.n > 0)
        qsort(all.v, all.n, sizeof *all.v, by_name_and_rank);
    for (size_t i = 0; i < all.n && st == TL_OK; i++) {
        tl_hta_tally_cells(csv, &all.v[i]);
        tl_sheet_words(csv, tl_hta_class_labels[class]);
        tl_sheet_int(csv, all.v[i].frame->rank);
        tl_sheet_end_row(csv);
    }
    free(all.v);
    return st;
}

static tl_status write_kernels(tl_hta_job *job, const char *dir, const char *table, const tl_hta_rest *rest,
                               tl_error *err)
{
    tl_sheet csv;
    tl_status st = tl_sheet_open(&csv, dir, table, TL_HTA_TALLY_HEADER ",kernel_type,rank", err);
    if (st != TL_OK)
        return st;

    for (int pass = 0; pass < 2; pass++) {
        (pass == 0 ? tl_sheet_look : tl_sheet_write)(&csv);
        for (size_t i = 0; i < sizeof classes / sizeof classes[0] && st == TL_OK; i++)
            st = write_class(&csv, job, classes[i], rest, err);
    }
    if (st != TL_OK) {
        tl_sheet_abandon(&csv);
        return st;
    }
    return tl_sheet_close(&csv, err);
}

tl_status tl_hta_kernel_breakdown(tl_hta_job *job, const char *dir, tl_error *err)
{
    const tl_hta_rest rest = { (size_t)job->parameters->num_kernels, job->parameters->duration_ratio };
    tl_status st = write_kernels(job, dir, "kernel_breakdown_all.csv", &tl_hta_no_rest, err);
    if (st == TL_OK)
        st = write_kernels(job, dir, "kernel_breakdown_default.csv", &rest, err);
    return st;
}

/* HTA looks for the category among all texts, names, too; without it there is no table. */
static tl_status write_annotations(tl_hta_job *job, const char *dir, const char *table, tl_text category, tl_error *err)
{
    const tl_hta_choice choice = { .cat = tl_names_find(&job->symbols.texts, category.p, category.n) };
    const tl_hta_rest rest = { ANNOTATION_NAMES, tl_hta_defaults.duration_ratio };
    tl_hta_tallies all = { 0 };
    char name[64];
    tl_sheet csv;

    snprintf(name, sizeof name, "%s.csv", table);
    tl_status st = tl_sheet_open(&csv, dir, name, TL_HTA_TALLY_HEADER ",rank", err);
    if (st != TL_OK)
        return st;
    if (choice.cat == TL_NO_NAME) {
        tl_sheet_drop(&csv);
        return tl_hta_job_note(job, err, "%s: all ranks: no row of this category, where HTA has no table", table);
    }

    for (size_t i = 0; i < job->frames.n && st == TL_OK; i++)
        if (!tl_hta_tally_rank(&all, &job->frames.v[i], &job->symbols, &choice, &rest))
            st = tl_fail_memory(err, "the annotations of a rank");
    for (int pass = 0; pass < 2 && st == TL_OK; pass++) {
        (pass == 0 ? tl_sheet_look : tl_sheet_write)(&csv);
        for (size_t i = 0; i < all.n; i++) {
            tl_hta_tally_cells(&csv, &all.v[i]);
            tl_sheet_int(&csv, all.v[i].frame->rank);
            tl_sheet_end_row(&csv);
        }
    }
    free(all.v);
    if (st != TL_OK) {
        tl_sheet_abandon(&csv);
        return st;
    }
    return tl_sheet_close(&csv, err);
}

tl_status tl_hta_user_annotations(tl_hta_job *job, const char *dir, tl_error *err)
{
    tl_status st = write_annotations(job, dir, "cpu_user_annotation_breakdown", TL_TEXT("user_annotation"), err);
    if (st == TL_OK)
        st = write_annotations(job, dir, "gpu_user_annotation_breakdown", TL_TEXT("gpu_user_annotation"), err);
    return st;
}
