/* tables.c - the repetitions of all traces to the tables that are printed. */
#include "samples.h"
#include "tlmpi/base/sort.h"
#include "tlmpi/base/stats.h"
#include <stdlib.h>
#include <string.h>

TL_TABLE_DEFINE(rep_work, TL_REP_WORK_FIELDS, TL_SCOPE_JOB, "work in repetitions",
                "Which kernels take the time of a repetition?");

void tl_samples_each(const tl_samples *samples, tl_table *out)
{
    for (size_t i = 0; i < samples->v.n; i++)
        tl_table_append(out, samples->v.v[i].reps.v.v, samples->v.v[i].reps.v.n);
    tl_table_sort(out);
}

/* A variant: each measure of its n repetitions, in order. */
typedef struct measured {
    int64_t *v[TL_NREP_MEASURES]; /* one piece */
    size_t n, nempty;
} measured;

/* The caller frees v[0]. */
static void measure(const tl_samples *samples, int32_t variant, measured *out)
{
    size_t most = 0;
    for (size_t i = 0; i < samples->v.n; i++)
        most += samples->v.v[i].variant == variant ? samples->v.v[i].reps.v.n : 0;
    *out = (measured){ .v[0] = tl_malloc((most + 1) * TL_NREP_MEASURES * sizeof *out->v[0]) };
    for (int m = 0; m < TL_NREP_MEASURES; m++) {
        out->v[m] = out->v[0] + (size_t)m * most;
        out->n = out->nempty = 0;
        for (size_t i = 0; i < samples->v.n; i++)
            for (size_t k = 0; samples->v.v[i].variant == variant && k < samples->v.v[i].reps.v.n; k++) {
                const tl_rep *rep = &samples->v.v[i].reps.v.v[k];
                out->v[m][out->n++] = tl_rep_value(rep, (tl_rep_measure)m);
                out->nempty += rep->works == 0;
            }
        if (out->n > 1)
            tl_ns_sort(out->v[m], out->n);
    }
}

void tl_samples_summarise(const tl_samples *samples, tl_table *out)
{
    for (int32_t v = 0; v < samples->nvariants; v++) {
        measured of;
        measure(samples, v, &of);
        for (int m = 0; of.n > 0 && m < TL_NREP_MEASURES; m++) {
            tl_rep_stat *row = tl_table_add(out);
            tl_rep_summarise(of.v[m], of.n, row);
            row->variant = v;
            row->measure = (uint8_t)m;
            row->empty = (int64_t)of.nempty;
        }
        free(of.v[0]);
    }
}

void tl_samples_compare(const tl_samples *samples, tl_table *out)
{
    measured base;
    measure(samples, 0, &base);
    for (int32_t v = 1; v < samples->nvariants; v++) {
        measured of;
        measure(samples, v, &of);
        for (int m = 0; of.n > 0 && base.n > 0 && m < TL_NREP_MEASURES; m++) {
            tl_rep_compare *row = tl_table_add(out);
            tl_rep_compare_with(of.v[m], of.n, base.v[m], base.n, row);
            row->variant = v;
            row->measure = (uint8_t)m;
        }
        free(of.v[0]);
    }
    free(base.v[0]);
}

/* ---- kernels ---- */

/* A share, and whose. */
typedef struct owned_share {
    int32_t variant;
    const tl_rep_share *share;
} owned_share;

static int by_name(const void *a, const void *b)
{
    const owned_share *x = a, *y = b;
    if (x->variant != y->variant)
        return TL_COMPARE(x->variant, y->variant);
    return x->share->name != y->share->name ? TL_COMPARE(x->share->name, y->share->name)
                                            : TL_COMPARE(x->share->total_ns, y->share->total_ns);
}

static owned_share *collect(const tl_samples *samples, size_t *n)
{
    size_t most = 0;
    for (size_t i = 0; i < samples->v.n; i++)
        most += samples->v.v[i].reps.shares.n;
    owned_share *all = tl_malloc((most + 1) * sizeof *all);
    *n = 0;
    for (size_t i = 0; i < samples->v.n; i++)
        for (size_t k = 0; k < samples->v.v[i].reps.shares.n; k++)
            all[(*n)++] = (owned_share){ samples->v.v[i].variant, &samples->v.v[i].reps.shares.v[k] };
    if (*n > 1)
        qsort(all, *n, sizeof *all, by_name);
    return all;
}

/* Returns the median of `all` numbers: n > 0 ascending ones in v, and zeros. */
static double median_with_zeros(const int64_t *v, size_t n, size_t all)
{
    size_t zeros = all - n, low = tl_lower_middle(all), high = tl_upper_middle(all);
    double a = low < zeros ? 0 : (double)v[low - zeros], b = high < zeros ? 0 : (double)v[high - zeros];
    return (a + b) / 2;
}

/* Adds the row of one name in one variant: from n > 0 shares, over `all` repetitions. */
static void add_work(const tl_samples *samples, const owned_share *v, size_t n, size_t all, tl_table *out)
{
    int64_t *ns = tl_malloc(2 * n * sizeof *ns), *counts = ns + n;
    tl_rep_work *row = tl_table_add(out);
    int64_t total = 0;
    for (size_t i = 0; i < n; i++) {
        ns[i] = v[i].share->total_ns;
        counts[i] = v[i].share->count;
        total = tl_ns_add(total, ns[i]);
    }
    tl_ns_sort(counts, n);
    tl_text name = tl_names_text(&samples->names, v[0].share->name);
    row->variant = v[0].variant;
    row->kind = v[0].share->kind;
    row->reps = (int64_t)n;
    row->count = median_with_zeros(counts, n, all);
    row->median_ns = median_with_zeros(ns, n, all);
    row->mean_ns = (double)total / (double)all;
    row->max_ns = ns[n - 1];
    tl_cell_text(row->name, sizeof row->name, name.p, name.n);
    free(ns);
}

static int by_median(const void *a, const void *b)
{
    const tl_rep_work *x = a, *y = b;
    if (x->variant != y->variant)
        return TL_COMPARE(x->variant, y->variant);
    if (x->median_ns < y->median_ns || x->median_ns > y->median_ns)
        return x->median_ns > y->median_ns ? -1 : 1;
    if (x->mean_ns < y->mean_ns || x->mean_ns > y->mean_ns)
        return x->mean_ns > y->mean_ns ? -1 : 1;
    return memcmp(x->name, y->name, sizeof x->name);
}

void tl_samples_works(const tl_samples *samples, tl_table *out)
{
    size_t n, all = 0;
    owned_share *v = collect(samples, &n);
    for (size_t from = 0, to; from < n; from = to) {
        if (from == 0 || v[from].variant != v[from - 1].variant) {
            all = 0;
            for (size_t i = 0; i < samples->v.n; i++)
                all += samples->v.v[i].variant == v[from].variant ? samples->v.v[i].reps.v.n : 0;
        }
        for (to = from; to < n && v[to].variant == v[from].variant && v[to].share->name == v[from].share->name; to++)
            ;
        add_work(samples, v + from, to - from, all, out);
    }
    free(v);
    if (out->n > 1)
        qsort(out->rows, out->n, sizeof(tl_rep_work), by_median);
    for (size_t i = 0; i < out->n; i++) {
        tl_rep_work *row = tl_table_row(out, i), *before = i > 0 ? tl_table_row(out, i - 1) : NULL;
        row->place = before != NULL && before->variant == row->variant ? before->place + 1 : 1;
    }
}
