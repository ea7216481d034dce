/* tables.c - the tables printed from the repetitions of all traces. */
#include "internal.h"
#include "tlmpi/base/group.h"
#include "tlmpi/base/stats.h"
#include <string.h>

TL_TABLE_DEFINE_AS(repetition_work, "rep_work", TL_REPETITION_WORK_FIELDS, TL_SCOPE_JOB, "work in repetitions",
                   "Which kernels take the time of a repetition?");

void tl_repeated_each(const tl_repeated *r, const tl_options *options, tl_table *out)
{
    (void)options;
    tl_table_append(out, r->v.v, r->v.n);
    tl_table_sort(out);
}

/* Fills values with a measure of the variant's repetitions, in order; returns their number. */
static size_t values_of(const tl_repeated *r, int32_t variant, int measure, int64_t *values)
{
    size_t n = 0;
    TL_EACH (const tl_repetition, row, r->v)
        if (row->variant == variant)
            values[n++] = measure == TL_REPETITION_KERNEL     ? row->kernel_ns
                          : measure == TL_REPETITION_FORWARD  ? row->forward_ns
                          : measure == TL_REPETITION_BACKWARD ? row->backward_ns
                          : measure == TL_REPETITION_BUSY     ? row->busy_ns
                          : measure == TL_REPETITION_SPAN     ? row->span_ns
                                                              : row->bubble_ns;
    tl_ns_sort(values, n);
    return n;
}

void tl_repeated_summarise(const tl_repeated *r, const tl_options *options, tl_table *out)
{
    int64_t *values = tl_malloc((r->v.n + 1) * sizeof *values);
    for (int32_t v = 0; v < (int32_t)options->npaths; v++) {
        int64_t empty = 0;
        TL_EACH (const tl_repetition, row, r->v)
            empty += row->variant == v && row->works == 0;
        for (int m = 0; m < TL_NREPETITION_MEASURES; m++) {
            const size_t n = values_of(r, v, m, values);
            if (n == 0)
                continue;
            tl_repetition_stat *row = tl_table_add(out);
            tl_repetition_summarise(values, n, row);
            row->variant = v;
            row->measure = (uint8_t)m;
            row->empty = empty;
            tl_cell_path(row->path, sizeof row->path, options->paths[v]);
        }
    }
    free(values);
}

void tl_repeated_compare(const tl_repeated *r, const tl_options *options, tl_table *out)
{
    int64_t *values = tl_malloc((r->v.n + 1) * sizeof *values), *base = tl_malloc((r->v.n + 1) * sizeof *base);
    for (int32_t v = 1; v < (int32_t)options->npaths; v++)
        for (int m = 0; m < TL_NREPETITION_MEASURES; m++) {
            const size_t n = values_of(r, v, m, values), nbase = values_of(r, 0, m, base);
            if (n == 0 || nbase == 0)
                continue;
            tl_repetition_compare *row = tl_table_add(out);
            tl_repetition_compare_with(values, n, base, nbase, row);
            row->variant = v;
            row->measure = (uint8_t)m;
            tl_cell_path(row->path, sizeof row->path, options->paths[v]);
        }
    free(values);
    free(base);
}

/* ---- kernels ---- */

/* Returns the median of `all` numbers: the n > 0 ascending numbers in v, and all - n zeros. */
static double median_with_zeros(const int64_t *v, size_t n, size_t all)
{
    size_t zeros = all - n, low = tl_lower_middle(all), high = tl_upper_middle(all);
    double a = low < zeros ? 0 : (double)v[low - zeros], b = high < zeros ? 0 : (double)v[high - zeros];
    return (a + b) / 2;
}

TL_ORDER_BY(by_name, tl_repetition_share, variant, name, total_ns)
TL_ORDER_BY(by_variant_and_name, tl_repetition_share, variant, name)

static int by_median(const void *a, const void *b)
{
    const tl_repetition_work *x = a, *y = b;
    int order = TL_ORDER(x, y, variant, DOWN(median_ns), DOWN(mean_ns));
    return order != 0 ? order : memcmp(x->name, y->name, sizeof x->name);
}

void tl_repeated_works(const tl_repeated *r, const tl_options *options, tl_table *out)
{
    const tl_repetition_share *shares = r->shares.v;
    uint32_t *order = tl_sorted_index(r->shares.n, by_name, shares);
    int64_t *ns = tl_malloc((r->v.n + 1) * sizeof *ns), *counts = tl_malloc((r->v.n + 1) * sizeof *counts);
    size_t *all = tl_calloc(options->npaths, sizeof *all); /* number of repetitions by variant */

    TL_EACH (const tl_repetition, row, r->v)
        all[row->variant]++;
    TL_GROUPS (from, to, order, r->shares.n, by_variant_and_name, shares) {
        const tl_repetition_share *first = &shares[order[from]];
        tl_repetition_work *row = tl_table_add(out);
        const size_t n = to - from;
        int64_t total = 0;
        for (size_t i = 0; i < n; i++) {
            ns[i] = shares[order[from + i]].total_ns;
            counts[i] = shares[order[from + i]].count;
            total = tl_ns_add(total, ns[i]);
        }
        tl_ns_sort(counts, n);
        row->variant = first->variant;
        row->kind = first->kind;
        row->reps = (int64_t)n;
        row->count = median_with_zeros(counts, n, all[first->variant]);
        row->median_ns = median_with_zeros(ns, n, all[first->variant]);
        row->mean_ns = (double)total / (double)all[first->variant];
        row->max_ns = ns[n - 1];
        tl_cell_put(row->name, sizeof row->name, tl_names_text(&r->names, tl_map_get(&r->names.map, first->name)));
    }
    tl_sort(out->rows, out->n, sizeof(tl_repetition_work), by_median);
    TL_ROWS (tl_repetition_work, row, out)
        row->place = row != tl_table_row(out, 0) && row[-1].variant == row->variant ? row[-1].place + 1 : 1;
    free(order);
    free(ns);
    free(counts);
    free(all);
}
