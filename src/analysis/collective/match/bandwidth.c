/* bandwidth.c - table bandwidth: transfer times and rates by group, kind and size of message.
 *
 * A transfer lasts from the last arrival to the end: the kernels of ranks that came early are mostly waiting.  Where a
 * rank has no trace the last arrival, and so the transfer time, is unknown.
 */
#include "tlmpi/analysis/collective/match.h"
#include "tlmpi/base/stats.h"
#include <math.h>

/* Returns the largest power of two up to `bytes`; 0 and -1 unchanged. */
static int64_t size_class(int64_t bytes)
{
    int64_t from = 1;
    if (bytes < 1)
        return bytes;
    while (from <= bytes / 2)
        from *= 2;
    return from;
}

static void add_row(void *to, const void *of)
{
    tl_bandwidth *sum = to;
    const tl_bandwidth *row = of;
    sum->ranks = row->ranks < sum->ranks ? row->ranks : sum->ranks;
    sum->size_source = row->size_source > sum->size_source ? row->size_source : sum->size_source;
    sum->collectives += row->collectives;
    sum->bytes = tl_ns_sum(sum->bytes, row->bytes);
    sum->kernel_ns = tl_ns_sum(sum->kernel_ns, row->kernel_ns);
    sum->wait_ns = tl_ns_sum(sum->wait_ns, row->wait_ns);
    sum->transfer_ns = tl_ns_sum(sum->transfer_ns, row->transfer_ns);
}

static void bandwidth_fold(tl_tables *out)
{
    const tl_table *collectives = tl_tables_get(out, &tl_collective_row_schema);
    tl_table *sums = tl_tables_get(out, &tl_bandwidth_schema);

    TL_ROWS (const tl_collective_row, c, collectives) {
        if (c->n < 2 || c->state != TL_COLL_WHOLE || c->suspect != TL_SUSPECT_NOTHING)
            continue;
        tl_bandwidth *row = tl_table_add(sums);
        row->group = c->group;
        row->kind = c->kind;
        row->bytes_from = size_class(c->bytes);
        row->size_source = c->size_source;
        row->span = c->span;
        row->collectives = 1;
        row->ranks = (int32_t)c->n;
        row->bytes = c->bytes >= 0 ? c->bytes : 0;
        row->kernel_ns = c->kernel_sum_ns;
        row->wait_ns = c->wait_sum_ns;
        row->transfer_ns = c->transfer_ns;
    }
    tl_table_unite(sums, 0, add_row);
}

/* Returns the size of a group for its bus factor; if unknown the number of its ranks with a trace if above 1, else
 * -1. */
static int32_t group_size(const tl_table *groups, int32_t group)
{
    if (group < 0 || (size_t)group >= groups->n)
        return -1;
    const tl_group_row *row = tl_table_row(groups, (size_t)group);
    return row->size > 0 ? row->size : row->seen > 1 ? row->seen : -1;
}

static void bandwidth_reduce(tl_tables *job)
{
    tl_table *rows = tl_tables_get(job, &tl_bandwidth_schema);
    const tl_table *groups = tl_tables_get(job, &tl_group_row_schema);

    tl_table_unite(rows, 0, add_row);
    TL_ROWS (tl_bandwidth, row, rows) {
        int32_t size = group_size(groups, row->group);
        bool known = row->bytes_from >= 0 && row->transfer_ns > 0;
        row->bytes = row->bytes_from >= 0 ? row->bytes : -1;
        row->busbw_gb_s = known && size > 0 ? (double)row->bytes / (double)row->transfer_ns *
                                                  tl_bus_factor((tl_collective)row->kind, size)
                                            : NAN;
    }
}

const tl_analysis tl_bandwidth_analysis = { .fold = bandwidth_fold, .reduce = bandwidth_reduce };
