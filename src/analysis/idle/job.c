/* job.c - idle_summary over all ranks, and the sums of the job.
 *
 *     rank 0  starved CPU_DOMINATED aten::copy_   12 ms
 *     rank 1  starved CPU_DOMINATED aten::copy_   11 ms   ->  rank -1  starved CPU_DOMINATED aten::copy_
 *     rank 2  starved CPU_DOMINATED aten::copy_   40 ms                63 ms, 3 ranks, worst 2
 *
 * A class is known by its words: names have other numbers on every rank.
 */
#include "scope.h"
#include "tlmpi/base/group.h"
#include <stdlib.h>
#include <string.h>

static tl_idle_summary *row_at(const tl_table *table, uint32_t i)
{
    return tl_table_row(table, i);
}

/* A class may have the word of a sum by axes. */
static int by_class(const void *table, uint32_t a, uint32_t b)
{
    const tl_idle_summary *x = row_at(table, a), *y = row_at(table, b);
    if (x->step != y->step)
        return TL_COMPARE(x->step, y->step);
    if ((x->place > 0) != (y->place > 0))
        return (x->place > 0) - (y->place > 0);
    if (x->drain_type != y->drain_type)
        return TL_COMPARE(x->drain_type, y->drain_type);
    if (x->cpu_during_gap != y->cpu_during_gap)
        return TL_COMPARE(x->cpu_during_gap, y->cpu_during_gap);
    return memcmp(x->dominant_op, y->dominant_op, sizeof x->dominant_op);
}

static int by_class_and_rank(const void *table, uint32_t a, uint32_t b)
{
    int order = by_class(table, a, b);
    return order != 0 ? order : TL_COMPARE(row_at(table, a)->rank, row_at(table, b)->rank);
}

/* One rank's part of a class. */
typedef struct share {
    int32_t rank;
    int64_t total_ns;
    const tl_idle_summary *row; /* one of it */
} share;

/* The most time first; of equals the lower rank. */
static int by_time(const void *a, const void *b)
{
    const share *x = a, *y = b;
    return x->total_ns != y->total_ns ? TL_COMPARE(y->total_ns, x->total_ns) : TL_COMPARE(x->rank, y->rank);
}

static int by_share_rank(const void *a, const void *b)
{
    const share *x = a, *y = b;
    return TL_COMPARE(x->rank, y->rank);
}

/* Adds a row of the class; two of a rank (long names, cut alike) are one share.  How many shares there are then. */
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

/* Which ranks have it; nranks: all that have device work. */
static void say_ranks(tl_idle_summary *sum, share *v, size_t n, size_t nranks, int64_t *scratch)
{
    if (n > 1)
        qsort(v, n, sizeof *v, by_time);
    sum->ranks = (int32_t)n;
    sum->worst_rank = n > 0 ? v[0].rank : -1;
    sum->worst_ns = n > 0 ? v[0].total_ns : 0;
    if (n > 0)
        memcpy(sum->other_op, v[0].row->other_op, sizeof sum->other_op);
    nranks = nranks > n ? nranks : n;
    for (size_t i = 0; i < nranks; i++)
        scratch[i] = i < n ? v[i].total_ns : 0;
    sum->median_rank_ns = tl_idle_measure(scratch, nranks).median_ns;
}

/* Numbers the classes, the most time first; of equals in order of the keys. */
static int by_total(const void *rows, uint32_t a, uint32_t b)
{
    const tl_idle_summary *x = (const tl_idle_summary *)rows + a, *y = (const tl_idle_summary *)rows + b;
    return TL_COMPARE(y->total_ns, x->total_ns);
}

static void number_places(const tl_table *sums)
{
    uint32_t *order = tl_sorted_index(sums->n, by_total, sums->rows);
    int32_t place = 0;
    for (size_t i = 0; i < sums->n; i++)
        if (row_at(sums, order[i])->place > 0)
            row_at(sums, order[i])->place = ++place;
    free(order);
}

static void reduce_classes(tl_tables *tables, size_t nranks)
{
    tl_table *summary = tl_tables_get(tables, &tl_idle_summary_schema), sums = { .schema = &tl_idle_summary_schema };
    uint32_t *order = tl_sorted_index(summary->n, by_class_and_rank, summary), *rows = order;
    share *shares = tl_malloc((summary->n + 1) * sizeof *shares);
    int64_t *scratch = tl_malloc((summary->n + nranks + 1) * sizeof *scratch);
    int64_t all_ns = 0; /* of the step: its ALL comes first */
    size_t n = 0;

    for (size_t i = 0; i < summary->n; i++)
        if (row_at(summary, order[i])->device == -1)
            rows[n++] = order[i];
    for (size_t from = 0, to; from < n; from = to) {
        const tl_idle_summary *first = row_at(summary, rows[from]);
        tl_idle_summary *sum = tl_table_add(&sums);
        size_t m = 0;

        *sum = *first;
        sum->rank = -1;
        sum->count = sum->total_ns = sum->peer_ns = sum->min_ns = sum->max_ns = sum->annotation_ns = 0;
        sum->median_ns = sum->std_ns = sum->longest_id = -1;
        sum->annotation = TL_NO_NAME;
        to = tl_group_end(rows, from, n, by_class, summary);
        for (size_t i = from; i < to; i++)
            m = add_row(sum, row_at(summary, rows[i]), shares, m);
        say_ranks(sum, shares, m, nranks, scratch);
        if (sum->drain_type == TL_DRAIN_ALL && sum->place == 0)
            all_ns = sum->total_ns;
        sum->idle_pct = sum->drain_type == TL_DRAIN_NOISE ? tl_idle_pct(0, 0) : tl_idle_pct(sum->total_ns, all_ns);
        if (sum->place != 0)
            tl_idle_say_places_of_job(tables, rows + from, to - from, sum);
    }
    number_places(&sums);
    tl_table_append(summary, sums.rows, sums.n);
    tl_table_free(&sums);
    free(order);
    free(shares);
    free(scratch);
    tl_table_sort(summary);
}

/* ------------------------------------------------------------------------------------------------- sums of the job */

/* For which rank the ranks waited longest, each for the one of its row; of equals the lowest, -1 for none. */
static void find_late_rank(const tl_table *table, int32_t *late_rank)
{
    share *v = tl_malloc((table->n + 1) * sizeof *v), *most = NULL;
    size_t n = 0, m = 0;
    for (size_t i = 0; i < table->n; i++) {
        const tl_idle *row = tl_table_row(table, i);
        if (row->device == -1 && row->late_rank >= 0)
            v[n++] = (share){ .rank = row->late_rank, .total_ns = row->peer_ns };
    }
    qsort(v, n, sizeof *v, by_share_rank);
    for (size_t i = 0; i < n; i++) {
        if (m > 0 && v[m - 1].rank == v[i].rank)
            v[m - 1].total_ns = tl_ns_add(v[m - 1].total_ns, v[i].total_ns);
        else
            v[m++] = v[i];
    }
    for (size_t i = 0; i < m; i++)
        most = most == NULL || v[i].total_ns > most->total_ns ? &v[i] : most;
    *late_rank = most != NULL ? most->rank : -1;
    free(v);
}

/* The row of rank -1 in idle.  Says how many ranks have device work. */
static void reduce_idle(tl_tables *tables, tl_idle *sum, size_t *nranks)
{
    tl_table *table = tl_tables_get(tables, &tl_idle_schema);

    *sum = (tl_idle){ .rank = -1, .device = -1, .utilization_pct = tl_idle_pct(0, 0) };
    *nranks = 0;
    for (size_t i = 0; i < table->n; i++) {
        const tl_idle *row = tl_table_row(table, i);
        if (row->device != -1)
            continue;
        tl_idle_add(sum, row);
        *nranks += row->busy_ns > 0;
    }
    find_late_rank(table, &sum->late_rank);
    tl_table_append(table, sum, 1);
    tl_table_sort(table);
}

void tl_idle_reduce(tl_tables *job)
{
    tl_idle sum;
    size_t nranks;
    reduce_idle(job, &sum, &nranks);
    reduce_classes(job, nranks);
}
