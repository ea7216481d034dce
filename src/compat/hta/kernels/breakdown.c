/* breakdown.c - kernels and annotations by name, each rank by itself: sum, extremes, mean and scatter of their durations; and
 * what HTA calls "others".
 *
 *     names by their sum, the largest first     a   b   c   d   e   f
 *     running total                             5   8  10  11  12  12.5
 *     0.8-quantile of these totals, by default                  |
 *     others                                                     [ f ]      total above it, or beyond names_max
 *
 * Then HTA groups by name once more and takes the sums for durations: the largest, the least and the mean of a name are
 * its sum, and those of the others are of their sums.
 */
#include "tlmpi/base/group.h"
#include "tlmpi/base/quantile.h"
#include "tlmpi/compat/hta/kernels.h"
#include "tlmpi/compat/python.h"
#include <stdlib.h>

#define OTHERS TL_TEXT("others")

typedef struct tally {
    const tl_hta_frame *frame;
    tl_text name; /* of the symbols, or "others" */
    tl_group_stats durs;
} tally;

typedef TL_VEC(tally) tallies;

/* Selects rows: on a stream and of a class; or of a category. */
typedef struct choice {
    const tl_hta_symbols *symbols;
    bool by_class;
    tl_hta_class class;
    uint32_t cat; /* a symbol */
} choice;

/* What becomes "others" where there are more names than names_max. */
typedef struct rest {
    size_t names_max;
    double quantile; /* of the running totals */
} rest;

static bool is_chosen(const void *context, const tl_hta_row *row)
{
    const choice *c = context;
    return c->by_class ? tl_hta_on_stream(row) && c->symbols->v.v[row->name].class == c->class : row->cat == c->cat;
}

static int by_name_and_rank(const void *a, const void *b)
{
    const tally *x = a, *y = b;
    int order = tl_text_compare(x->name, y->name);
    return order != 0 ? order : TL_COMPARE(x->frame->rank, y->frame->rank);
}

/* Names of the tallies by their sum, the largest first: pandas sorts the reversed column upwards and reverses what comes out. */
static void sort_by_sum(uint32_t *order, double *sums, const tally *v, size_t n)
{
    for (size_t i = 0; i < n; i++)
        sums[i] = v[n - 1 - i].durs.sum;
    tl_numpy_argsort(order, sums, n);
    for (size_t i = 0; i < (n + 1) / 2; i++) {
        uint32_t kept = order[i];
        order[i] = (uint32_t)(n - 1 - order[n - 1 - i]);
        order[n - 1 - i] = (uint32_t)(n - 1 - kept);
    }
}

/* Makes one of the names that are others; returns how many are left. */
static size_t lump(tally *v, size_t n, const rest *r)
{
    tl_arena arena = { 0 };
    uint32_t *order = tl_arena_take(&arena, n, sizeof *order);
    double *totals = tl_arena_take(&arena, n, sizeof *totals);
    double *sorted = tl_arena_take(&arena, n, sizeof *sorted); /* the totals; the sums, first and last */
    tally *left = tl_arena_take(&arena, n, sizeof *left);
    size_t nleft = 0, nothers = 0;
    double total = 0;

    sort_by_sum(order, sorted, v, n);
    for (size_t i = 0; i < n; i++)
        sorted[i] = totals[i] = total += v[order[i]].durs.sum;
    tl_real_sort(sorted, n);
    double limit = tl_numpy_quantile(sorted, n, r->quantile);

    for (size_t i = 0; i < n; i++) {
        const tally *t = &v[order[i]];
        if (totals[i] > limit || i >= r->names_max || tl_text_compare(t->name, OTHERS) == 0)
            sorted[nothers++] = t->durs.sum;
        else
            left[nleft++] = (tally){ t->frame, t->name, tl_pandas_stats(&t->durs.sum, 1) };
    }
    if (nothers > 0)
        left[nleft++] = (tally){ v->frame, OTHERS, tl_pandas_stats(sorted, nothers) };
    memcpy(v, left, nleft * sizeof *left);
    tl_arena_free(&arena);
    return nleft;
}

/* Appends the names of the rank's rows in the order of their texts. */
static void tally_rank(tallies *out, const tl_hta_frame *frame, const choice *c, const rest *r)
{
    const size_t before = out->n;
    tl_hta_groups g = tl_hta_groups_of(frame, TL_HTA_BY_NAME, c->symbols->v.n, is_chosen, c);

    for (size_t name = 0; name < g.n; name++) {
        size_t from = g.first[name], n = g.first[name + 1] - from;
        if (n > 0)
            tl_vec_push(out, (tally){ frame, tl_hta_text(c->symbols, (uint32_t)name),
                                      TL_STATS(g.order + from, n, frame->rows.v, dur) });
    }
    tl_hta_groups_free(&g);
    size_t n = out->n - before;
    if (n > 0)
        qsort(out->v + before, n, sizeof *out->v, by_name_and_rank);
    if (n > r->names_max) {
        n = lump(out->v + before, n, r);
        qsort(out->v + before, n, sizeof *out->v, by_name_and_rank);
    }
    out->n = before + n;
}

static tallies tally_job(const tl_hta_job *job, const choice *c, const rest *r)
{
    tallies all = { 0 };
    TL_EACH (const tl_hta_frame, frame, job->frames)
        tally_rank(&all, frame, c, r);
    return all;
}

#define HEADER "name,sum (us),max (us),min (us),stddev,mean (us)"
static void put_tally(tl_csv *csv, const tally *t)
{
    const bool whole = t->frame->dur_whole;

    TL_CELLS(csv, t->name, tl_number(t->durs.sum, whole), tl_number(t->durs.max, whole), tl_number(t->durs.min, whole),
             t->durs.n > 1 ? t->durs.std : 0, t->durs.mean);
}

/* The kernels of each class, all ranks; the classes in the order of their labels.  The rest is no kernel. */
static void write_kernels(tl_hta_job *job, const char *table, const rest *r)
{
    static const tl_hta_class classes[] = { TL_HTA_COMMUNICATION, TL_HTA_COMPUTATION, TL_HTA_MEMORY };
    tl_csv csv = tl_csv_open(&job->out, table, HEADER ",kernel_type,rank");

    for (size_t k = 0; k < sizeof classes / sizeof classes[0]; k++) {
        const choice c = { .symbols = &job->symbols, .by_class = true, .class = classes[k] };
        tallies all = tally_job(job, &c, r);
        if (all.n > 0)
            qsort(all.v, all.n, sizeof *all.v, by_name_and_rank);
        TL_EACH (const tally, t, all) {
            put_tally(&csv, t);
            TL_ROW(&csv, tl_hta_class_labels[classes[k]], t->frame->rank);
        }
        free(all.v);
    }
    tl_csv_close(&csv);
}

void tl_hta_kernel_breakdown(tl_hta_job *job)
{
    static const rest none = { SIZE_MAX, 1 };
    const rest r = { (size_t)job->parameters->num_kernels, job->parameters->duration_ratio };

    write_kernels(job, "kernel_breakdown_all.csv", &none);
    write_kernels(job, "kernel_breakdown_default.csv", &r);
}

/* HTA's default: the number of annotations that keep a line of their own. */
#define ANNOTATION_NAMES 1000

/* HTA looks for the category among all texts, names, too; without it there is no table. */
static void write_annotations(tl_hta_job *job, const char *table, tl_text category)
{
    const choice c = { .symbols = &job->symbols, .cat = tl_names_find(&job->symbols.texts, category.p, category.n) };
    const rest r = { ANNOTATION_NAMES, tl_hta_defaults.duration_ratio };
    tl_csv csv = tl_csv_open(&job->out, table, HEADER ",rank");

    if (c.cat != TL_NO_NAME) {
        tallies all = tally_job(job, &c, &r);
        TL_EACH (const tally, t, all) {
            put_tally(&csv, t);
            TL_ROW(&csv, t->frame->rank);
        }
        free(all.v);
    } else {
        tl_hta_note(job, "%.*s: all ranks: no row of this category, where HTA has no table",
                    (int)(strlen(table) - strlen(".csv")), table);
    }
    tl_csv_end(&csv, c.cat != TL_NO_NAME);
}

void tl_hta_user_annotations(tl_hta_job *job)
{
    write_annotations(job, "cpu_user_annotation_breakdown.csv", TL_TEXT("user_annotation"));
    write_annotations(job, "gpu_user_annotation_breakdown.csv", TL_TEXT("gpu_user_annotation"));
}
