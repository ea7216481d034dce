/* over_ranks.c - idle_summary over all ranks, and the sums of the job.
 *
 *     rank 0  starved CPU_DOMINATED aten::copy_   12 ms
 *     rank 1  starved CPU_DOMINATED aten::copy_   11 ms   ->  rank -1  starved CPU_DOMINATED aten::copy_
 *     rank 2  starved CPU_DOMINATED aten::copy_   40 ms                63 ms, 3 ranks, worst 2
 *
 * Classes of different ranks are matched by their words: names have different numbers on each rank.
 */
#include "internal.h"
#include <string.h>

static int by_class(const void *rows, uint32_t a, uint32_t b)
{
    const tl_idle_summary *x = (const tl_idle_summary *)rows + a, *y = (const tl_idle_summary *)rows + b;
    int order = TL_COMPARE(x->step, y->step);
    order = order != 0 ? order : (x->place > 0) - (y->place > 0); /* a class may have the same words as a sum over
                                                                   * labels */
    order = order != 0 ? order : TL_ORDER(x, y, drain_type, cpu_during_gap);
    return order != 0 ? order : memcmp(x->dominant_op, y->dominant_op, sizeof x->dominant_op);
}

static int by_class_and_rank(const void *rows, uint32_t a, uint32_t b)
{
    const tl_idle_summary *v = rows;
    int order = by_class(rows, a, b);
    return order != 0 ? order : TL_COMPARE(v[a].rank, v[b].rank);
}

/* One rank's part of a class. */
typedef struct share {
    int32_t rank;
    int64_t total_ns;
    const tl_idle_summary *row; /* any row of the rank in the class */
} share;

TL_SORT_BY(by_time, share, DOWN(total_ns), rank)
/* Adds a row to the class; two rows of a rank (long names that were truncated alike) are one share.  Returns the new
 * number of shares. */
static size_t add_row(tl_idle_summary *sum, const tl_idle_summary *row, share *v, size_t n)
{
    if (row->count > 0 && (sum->count == 0 || row->min_ns < sum->min_ns))
        sum->min_ns = row->min_ns;
    sum->max_ns = tl_ns_max(sum->max_ns, row->max_ns);
    sum->count += row->count;
    sum->total_ns = tl_ns_add(sum->total_ns, row->total_ns);
    sum->peer_ns = row->peer_ns < 0 ? -1 : tl_ns_add(sum->peer_ns, row->peer_ns);
    if (row->count == 0)
        return n;
    if (n == 0 || v[n - 1].rank != row->rank)
        v[n++] = (share){ .rank = row->rank, .row = row };
    v[n - 1].total_ns = tl_ns_add(v[n - 1].total_ns, row->total_ns);
    return n;
}

/* Fills the columns of ranks.  nranks: number of ranks with device work. */
static void fill_ranks(tl_idle_summary *sum, share *v, size_t n, size_t nranks, int64_t *scratch)
{
    qsort(v, n, sizeof *v, by_time);
    sum->ranks = (int32_t)n;
    sum->worst_rank = n > 0 ? v[0].rank : -1;
    sum->worst_ns = n > 0 ? v[0].total_ns : 0;
    if (n > 0)
        memcpy(sum->other_op, v[0].row->other_op, sizeof sum->other_op);
    nranks = nranks > n ? nranks : n;
    for (size_t i = 0; i < nranks; i++)
        scratch[i] = i < n ? v[i].total_ns : 0;
    sum->median_rank_ns = nranks > 0 ? tl_median_rounded_up(scratch, nranks) : 0;
}

/* Order by name number, which is the same on all ranks after the merge. */
static int by_name(const void *a, const void *b)
{
    return TL_ORDER(*(const tl_idle_annotation *const *)a, *(const tl_idle_annotation *const *)b, annotation);
}

/* Fills the largest annotation of a class over all ranks; rows[index[n]]: the class's rows of idle_summary. */
static void fill_largest_annotation(const tl_table *annotations, const tl_idle_summary *rows, const uint32_t *index,
                                    size_t n, tl_idle_summary *sum)
{
    const tl_idle_annotation *v = tl_table_row(annotations, 0);
    TL_VEC(const tl_idle_annotation *) found = { 0 };

    for (size_t i = 0; i < n; i++) {
        const tl_idle_summary *class = &rows[index[i]];
        size_t at = 0;
        TL_BISECT(at, annotations->n, k, TL_ORDER(&v[k], class, rank, place) < 0);
        for (; at < annotations->n && TL_ORDER(&v[at], class, rank, place) == 0; at++)
            tl_vec_push(&found, &v[at]);
    }
    tl_vec_sort(&found, by_name);
    for (size_t from = 0, to; from < found.n; from = to) {
        int64_t ns = 0;
        for (to = from; to < found.n && found.v[to]->annotation == found.v[from]->annotation; to++)
            ns = tl_ns_add(ns, found.v[to]->total_ns);
        if (ns > sum->annotation_ns) {
            sum->annotation = found.v[from]->annotation;
            sum->annotation_ns = ns;
        }
    }
    free(found.v);
}

TL_ORDER_BY(by_total, tl_idle_summary, DOWN(total_ns))

/* Numbers the classes by time, descending; ties in key order. */
static void number_classes(const tl_table *sums)
{
    uint32_t *order = tl_sorted_index(sums->n, by_total, sums->rows);
    int32_t place = 0;
    for (size_t i = 0; i < sums->n; i++) {
        tl_idle_summary *row = tl_table_row(sums, order[i]);
        row->place = row->place > 0 ? ++place : row->place;
    }
    free(order);
}

static void reduce_classes(tl_tables *tables, size_t nranks)
{
    tl_table *summary = tl_tables_get(tables, &tl_idle_summary_schema), sums = { .schema = &tl_idle_summary_schema };
    const tl_idle_summary *rows = tl_table_row(summary, 0);
    uint32_t *order = tl_sorted_index(summary->n, by_class_and_rank, rows);
    share *shares = tl_malloc((summary->n + 1) * sizeof *shares);
    int64_t *scratch = tl_malloc((summary->n + nranks + 1) * sizeof *scratch);
    int64_t all_ns = 0; /* time of the step: its row ALL comes first */
    size_t n = 0;

    for (size_t i = 0; i < summary->n; i++)
        if (rows[order[i]].device == -1)
            order[n++] = order[i];
    TL_GROUPS (from, to, order, n, by_class, rows) {
        tl_idle_summary *sum = tl_table_add(&sums);
        size_t m = 0;

        *sum = rows[order[from]];
        sum->rank = -1;
        sum->count = sum->total_ns = sum->peer_ns = sum->min_ns = sum->max_ns = sum->annotation_ns = 0;
        sum->median_ns = sum->std_ns = sum->longest_id = -1;
        sum->annotation = TL_NO_NAME;
        for (size_t i = from; i < to; i++)
            m = add_row(sum, &rows[order[i]], shares, m);
        fill_ranks(sum, shares, m, nranks, scratch);
        if (sum->drain_type == TL_DRAIN_ALL && sum->place == 0)
            all_ns = sum->total_ns;
        sum->idle_pct = tl_idle_pct(sum->total_ns, sum->drain_type == TL_DRAIN_NOISE ? 0 : all_ns);
        if (sum->place != 0)
            fill_largest_annotation(tl_tables_get(tables, &tl_idle_annotation_schema), rows, order + from, to - from,
                                    sum);
    }
    number_classes(&sums);
    tl_table_append(summary, sums.rows, sums.n);
    tl_table_free(&sums);
    free(order);
    free(shares);
    free(scratch);
    tl_table_sort(summary);
}

void tl_idle_reduce(tl_tables *job)
{
    tl_table *table = tl_tables_get(job, &tl_idle_schema);
    tl_idle sum = { .rank = -1, .device = -1, .utilization_pct = tl_idle_pct(0, 0) };
    size_t nranks = 0; /* ranks with device work */
    TL_ROWS (const tl_idle, row, table)
        if (row->device == -1) {
            tl_idle_add(&sum, row);
            nranks += row->busy_ns > 0;
        }
    tl_table_append(table, &sum, 1);
    tl_table_sort(table);
    reduce_classes(job, nranks);
}
