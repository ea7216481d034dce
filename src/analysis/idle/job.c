/* job.c - the classes of gaps over all ranks.
 *
 *     idle_summary    rank 0  starved CPU_DOMINATED aten::copy_   12 ms       idle_job
 *                     rank 1  starved CPU_DOMINATED aten::copy_   11 ms   ->  starved CPU_DOMINATED aten::copy_
 *                     rank 2  starved CPU_DOMINATED aten::copy_   40 ms       63 ms, 3 ranks, worst 2, 0, 1
 *
 * A class is known by its words: names have other numbers on every rank.
 */
#include "scope.h"
#include "tlmpi/base/sort.h"
#include <stdlib.h>
#include <string.h>

static const tl_idle_summary *row_at(const tl_table *table, uint32_t i)
{
    return tl_table_row(table, i);
}

/* By class, then the most time first, then the lower rank. */
static int by_class(const void *table, uint32_t a, uint32_t b)
{
    const tl_idle_summary *x = row_at(table, a), *y = row_at(table, b);
    if (x->drain_type != y->drain_type)
        return x->drain_type < y->drain_type ? -1 : 1;
    if (x->cpu_during_gap != y->cpu_during_gap)
        return x->cpu_during_gap < y->cpu_during_gap ? -1 : 1;
    return memcmp(x->dominant_op, y->dominant_op, sizeof x->dominant_op);
}

static int by_class_and_rank(const void *table, uint32_t a, uint32_t b)
{
    const tl_idle_summary *x = row_at(table, a), *y = row_at(table, b);
    int order = by_class(table, a, b);
    return order != 0 ? order : x->rank < y->rank ? -1 : x->rank > y->rank;
}

/* One rank's part of a class. */
typedef struct share {
    int32_t rank;
    int64_t total_ns, peer_ns, count;
    const tl_idle_summary *row; /* one of it */
} share;

static int by_time(const void *a, const void *b)
{
    const share *x = a, *y = b;
    if (x->total_ns != y->total_ns)
        return x->total_ns > y->total_ns ? -1 : 1;
    return x->rank < y->rank ? -1 : x->rank > y->rank;
}

static int by_share_rank(const void *a, const void *b)
{
    const share *x = a, *y = b;
    return x->rank < y->rank ? -1 : x->rank > y->rank;
}

/* The row of a class from the ranks that have it, the most time first, of nranks in all. */
static void fill(tl_idle_job *row, const share *v, size_t n, size_t nranks, int64_t *scratch)
{
    const tl_idle_summary *one = v[0].row;

    row->drain_type = one->drain_type;
    row->cpu_during_gap = one->cpu_during_gap;
    memcpy(row->dominant_op, one->dominant_op, sizeof row->dominant_op);
    memcpy(row->other_op, one->other_op, sizeof row->other_op);
    for (size_t i = 0; i < n; i++) {
        row->count += v[i].count;
        row->total_ns = tl_ns_add(row->total_ns, v[i].total_ns);
        row->peer_ns = tl_ns_add(row->peer_ns, v[i].peer_ns);
    }
    row->ranks = (int32_t)n;
    for (size_t i = 0; i < nranks; i++)
        scratch[i] = i < n ? v[i].total_ns : 0;
    row->median_rank_ns = tl_idle_measure(scratch, nranks).median_ns;
    row->worst_rank = v[0].rank;
    row->worst_ns = v[0].total_ns;
    row->second_rank = n > 1 ? v[1].rank : -1;
    row->second_ns = n > 1 ? v[1].total_ns : 0;
    row->third_rank = n > 2 ? v[2].rank : -1;
    row->third_ns = n > 2 ? v[2].total_ns : 0;
}

/* index[from, to): the rows of one class.  Two of a rank (long names, cut alike) are one. */
static size_t take_shares(const tl_table *table, const uint32_t *index, size_t n, share *v)
{
    size_t m = 0;
    for (size_t i = 0; i < n; i++) {
        const tl_idle_summary *row = row_at(table, index[i]);
        if (m == 0 || v[m - 1].rank != row->rank)
            v[m++] = (share){ .rank = row->rank, .row = row };
        v[m - 1].total_ns = tl_ns_add(v[m - 1].total_ns, row->total_ns);
        v[m - 1].peer_ns = tl_ns_add(v[m - 1].peer_ns, row->peer_ns);
        v[m - 1].count += row->count;
    }
    qsort(v, m, sizeof *v, by_time);
    return m;
}

static int by_total(const void *rows, uint32_t a, uint32_t b)
{
    const tl_idle_job *x = (const tl_idle_job *)rows + a, *y = (const tl_idle_job *)rows + b;
    return x->total_ns > y->total_ns ? -1 : x->total_ns < y->total_ns;
}

/* Numbers the rows, the most time first; of equals in order of the keys. */
static bool number_places(const tl_table *job, int64_t all_ns)
{
    tl_idle_job *rows = (tl_idle_job *)(void *)job->rows;
    uint32_t *index = tl_malloc((job->n + 1) * sizeof *index);
    int64_t sum = 0;

    for (size_t i = 0; index != NULL && i < job->n; i++)
        index[i] = (uint32_t)i;
    bool ok = index != NULL && (job->n == 0 || tl_sort_index(index, job->n, by_total, rows));
    for (size_t i = 0; ok && i < job->n; i++) {
        tl_idle_job *row = &rows[index[i]];
        sum = tl_ns_add(sum, row->total_ns);
        row->place = (int32_t)i + 1;
        row->idle_pct = tl_idle_pct(row->total_ns, all_ns);
        row->cumulative_pct = tl_idle_pct(sum, all_ns);
    }
    free(index);
    return ok;
}

static bool reduce_classes(tl_tables *tables, size_t nranks, int64_t all_ns)
{
    const tl_table *summary = tl_tables_get(tables, &tl_idle_summary_schema);
    tl_table *job = tl_tables_get(tables, &tl_idle_job_schema);
    size_t n = 0, most = summary->n > nranks ? summary->n : nranks;
    tl_arena arena = { 0 };
    uint32_t *index = tl_arena_take(&arena, summary->n, sizeof *index);
    share *shares = tl_arena_take(&arena, summary->n, sizeof *shares);
    int64_t *scratch = tl_arena_take(&arena, most, sizeof *scratch);
    bool ok = !arena.failed;

    for (size_t i = 0; ok && i < summary->n; i++) {
        const tl_idle_summary *row = row_at(summary, (uint32_t)i);
        if (row->device == -1 && row->place > 0)
            index[n++] = (uint32_t)i;
    }
    ok = ok && (n == 0 || tl_sort_index(index, n, by_class_and_rank, summary));
    for (size_t from = 0, to; ok && from < n; from = to) {
        for (to = from + 1; to < n && by_class(summary, index[from], index[to]) == 0; to++)
            ;
        size_t m = take_shares(summary, index + from, to - from, shares);
        tl_idle_job *row = tl_table_add(job);
        ok = row != NULL;
        if (ok)
            fill(row, shares, m, nranks > m ? nranks : m, scratch);
        ok = ok && tl_idle_say_places_of_job(tables, index + from, to - from, row);
    }
    ok = ok && tl_table_sort(job) && number_places(job, all_ns);
    tl_arena_free(&arena);
    return ok;
}

/* ------------------------------------------------------------------------------------------------- sums of the job */

/* For which rank the ranks waited longest, each for the one of its row; of equals the lowest, -1 for none. */
static bool find_late_rank(const tl_table *table, int32_t *late_rank)
{
    share *v = tl_malloc((table->n + 1) * sizeof *v), *most = NULL;
    size_t n = 0, m = 0;
    if (v == NULL)
        return false;
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
    return true;
}

/* The row of rank -1 in idle.  Says how many ranks have device work. */
static bool reduce_idle(tl_tables *tables, tl_idle *sum, size_t *nranks)
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
    return find_late_rank(table, &sum->late_rank) && tl_table_append(table, sum, 1) && tl_table_sort(table);
}

static int by_labels(const void *table, uint32_t a, uint32_t b)
{
    const tl_idle_overview *x = tl_table_row(table, a), *y = tl_table_row(table, b);
    if (x->step != y->step)
        return x->step < y->step ? -1 : 1;
    if (x->drain_type != y->drain_type)
        return x->drain_type < y->drain_type ? -1 : 1;
    return TL_COMPARE(x->cpu_during_gap, y->cpu_during_gap);
}

static void add_overview(tl_idle_overview *sum, const tl_idle_overview *row)
{
    if (row->count > 0 && (sum->count == 0 || row->min_ns < sum->min_ns))
        sum->min_ns = row->min_ns;
    sum->max_ns = row->max_ns > sum->max_ns ? row->max_ns : sum->max_ns;
    sum->count += row->count;
    sum->total_ns = tl_ns_add(sum->total_ns, row->total_ns);
}

/* Shares of a sum, when all is added. */
static void finish_overview(tl_idle_overview *sum, int64_t all_ns, const tl_idle *idle)
{
    bool noise = sum->cpu_during_gap == TL_DOING_NOISE, whole = sum->step == -1;
    int64_t span = tl_ns_add(idle->busy_ns, idle->macro_ns), n = sum->count;

    sum->rank = sum->device = -1;
    sum->idle_pct = noise ? tl_idle_pct(0, 0) : tl_idle_pct(sum->total_ns, all_ns);
    sum->trace_pct = noise || !whole ? tl_idle_pct(0, 0) : tl_idle_pct(sum->total_ns, span);
    sum->utilization_pct = whole ? tl_idle_pct(idle->busy_ns, span) : tl_idle_pct(0, 0);
    sum->mean_ns = n > 0 ? sum->total_ns / n + (sum->total_ns % n >= n - sum->total_ns % n) : 0;
    sum->median_ns = -1;
}

static bool reduce_overview(tl_tables *tables, const tl_idle *idle)
{
    tl_table *table = tl_tables_get(tables, &tl_idle_overview_schema), sums = { .schema = &tl_idle_overview_schema };
    uint32_t *index = tl_malloc((table->n + 1) * sizeof *index);
    size_t n = 0;
    bool ok = index != NULL;
    int64_t all_ns = 0; /* of the step that is added: its ALL comes first */

    for (size_t i = 0; ok && i < table->n; i++)
        if (((const tl_idle_overview *)tl_table_row(table, i))->device == -1)
            index[n++] = (uint32_t)i;
    ok = ok && (n == 0 || tl_sort_index(index, n, by_labels, table));
    for (size_t from = 0, to; ok && from < n; from = to) {
        const tl_idle_overview *first = tl_table_row(table, index[from]);
        tl_idle_overview *sum = tl_table_add(&sums);
        ok = sum != NULL;
        if (!ok)
            break;
        sum->step = first->step;
        sum->drain_type = first->drain_type;
        sum->cpu_during_gap = first->cpu_during_gap;
        for (to = from; to < n && by_labels(table, index[from], index[to]) == 0; to++)
            add_overview(sum, tl_table_row(table, index[to]));
        if (sum->drain_type == TL_DRAIN_ALL)
            all_ns = sum->total_ns;
        finish_overview(sum, all_ns, idle);
    }
    ok = ok && tl_table_append(table, sums.rows, sums.n) && tl_table_sort(table);
    tl_table_free(&sums);
    free(index);
    return ok;
}

tl_status tl_idle_reduce(tl_tables *job, tl_error *err)
{
    tl_idle sum;
    size_t nranks;
    bool whole =
        reduce_idle(job, &sum, &nranks) && reduce_overview(job, &sum) && reduce_classes(job, nranks, sum.macro_ns);
    return whole ? TL_OK : tl_fail_memory(err, "the idle time of the job");
}
