/* bandwidth.c - how fast do messages move, by group, kind and size?
 *
 * A transfer lasts from the last arrival to the end: the kernels of ranks that came early are mostly waiting.  Where a
 * rank has no trace the last arrival, and so the transfer time, is unknown.
 */
#include "tlmpi/analysis/match.h"
#include "tlmpi/base/hash.h"
#include "tlmpi/base/stats.h"
#include <math.h>

/* The largest power of two that is not above; 0 and -1 are themselves. */
static int64_t size_class(int64_t bytes)
{
    int64_t from = 1;
    if (bytes < 1)
        return bytes;
    while (from <= bytes / 2)
        from *= 2;
    return from;
}

static void add_to(tl_bandwidth *sum, const tl_bandwidth *row)
{
    if (sum->collectives == 0 || row->transfer_min_ns < sum->transfer_min_ns)
        sum->transfer_min_ns = row->transfer_min_ns;
    if (sum->collectives == 0 || row->transfer_max_ns > sum->transfer_max_ns)
        sum->transfer_max_ns = row->transfer_max_ns;
    if (sum->collectives == 0 || row->ranks < sum->ranks)
        sum->ranks = row->ranks;
    if (row->size_source > sum->size_source)
        sum->size_source = row->size_source;
    sum->collectives += row->collectives;
    sum->bytes = tl_ns_sum(sum->bytes, row->bytes);
    sum->kernel_ns = tl_ns_sum(sum->kernel_ns, row->kernel_ns);
    sum->wait_ns = tl_ns_sum(sum->wait_ns, row->wait_ns);
    sum->transfer_ns = tl_ns_sum(sum->transfer_ns, row->transfer_ns);
}

/* Adds the row to the one with its keys, a new one where there is none. */
static void collect(tl_table *sums, tl_map *index_of, const tl_bandwidth *row)
{
    uint64_t key =
        tl_hash_mix(tl_hash_mix(tl_hash_mix((uint64_t)row->group, row->kind), row->span), (uint64_t)row->bytes_from);
    for (;; key++) {
        uint32_t at = tl_map_get(index_of, key);
        if (at == TL_MAP_NONE) {
            tl_bandwidth empty = {
                .group = row->group, .kind = row->kind, .bytes_from = row->bytes_from, .span = row->span
            };
            tl_map_put(index_of, key, (uint32_t)sums->n);
            tl_table_append(sums, &empty, 1);
            at = (uint32_t)sums->n - 1;
        }
        tl_bandwidth *sum = tl_table_row(sums, at);
        if (sum->group != row->group || sum->kind != row->kind || sum->bytes_from != row->bytes_from ||
            sum->span != row->span)
            continue; /* other keys of equal hash */
        add_to(sum, row);
        return;
    }
}

static void bandwidth_fold(tl_tables *out)
{
    const tl_table *collectives = tl_tables_get(out, &tl_collective_row_schema);
    tl_table *sums = tl_tables_get(out, &tl_bandwidth_schema);
    tl_map index_of = { 0 };

    for (size_t i = 0; i < collectives->n; i++) {
        const tl_collective_row *c = tl_table_row(collectives, i);
        if (c->n < 2 || c->state != TL_COLL_WHOLE || c->suspect != TL_SUSPECT_NOTHING)
            continue;
        const tl_bandwidth row = {
            .group = c->group,
            .kind = c->kind,
            .bytes_from = size_class(c->bytes),
            .size_source = c->size_source,
            .span = c->span,
            .collectives = 1,
            .ranks = (int32_t)c->n,
            .bytes = c->bytes >= 0 ? c->bytes : 0,
            .kernel_ns = c->kernel_sum_ns,
            .wait_ns = c->wait_sum_ns,
            .transfer_ns = c->transfer_ns,
            .transfer_min_ns = c->transfer_ns,
            .transfer_max_ns = c->transfer_ns,
        };
        collect(sums, &index_of, &row);
    }
    tl_map_free(&index_of);
}

/* The size of a group, which its bus factor depends on; where it is unknown, the ranks seen, if they are several. */
static int32_t size_of(const tl_table *groups, int32_t group)
{
    if (group < 0 || (size_t)group >= groups->n)
        return -1;
    const tl_group_row *row = tl_table_row(groups, (size_t)group);
    return row->size > 0 ? row->size : row->seen > 1 ? row->seen : -1;
}

static void find_speed(tl_bandwidth *row, int32_t size)
{
    bool known = row->bytes_from >= 0 && row->transfer_ns > 0;
    row->bytes = row->bytes_from >= 0 ? row->bytes : -1;
    row->algbw_gb_s = known ? (double)row->bytes / (double)row->transfer_ns : NAN;
    row->busbw_gb_s = size > 0 ? row->algbw_gb_s * tl_bus_factor((tl_collective)row->kind, size) : NAN;
}

static void bandwidth_reduce(tl_tables *job)
{
    tl_table *rows = tl_tables_get(job, &tl_bandwidth_schema);
    const tl_table *groups = tl_tables_get(job, &tl_group_row_schema);
    tl_table sums = { .schema = &tl_bandwidth_schema };
    tl_map index_of = { 0 };

    for (size_t i = 0; i < rows->n; i++)
        collect(&sums, &index_of, tl_table_row(rows, i));
    for (size_t i = 0; i < sums.n; i++) {
        tl_bandwidth *row = tl_table_row(&sums, i);
        find_speed(row, size_of(groups, row->group));
    }
    rows->n = 0;
    tl_table_append(rows, sums.rows, sums.n);
    tl_table_sort(rows);
    tl_table_free(&sums);
    tl_map_free(&index_of);
}

static const tl_schema *const tables[] = { &tl_bandwidth_schema, NULL };

const tl_analysis tl_bandwidth_analysis = {
    .name = "bandwidth",
    .question = "How fast do messages move once all ranks have come, by group, kind and size?",
    .tables = tables,
    .fold = bandwidth_fold,
    .reduce = bandwidth_reduce,
};
