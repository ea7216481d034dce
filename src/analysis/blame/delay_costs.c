/* delay_costs.c - what ranks waited for in matched collectives, charged to those who came late. */
#include "tlmpi/analysis/blame.h"
#include "blame.h"
#include "tlmpi/base/hash.h"
#include "tlmpi/base/sort.h"
#include "tlmpi/base/stats.h"
#include "tlmpi/model/blame_tables.h"
#include <stdlib.h>

typedef struct charging {
    const tl_delay_cost_input *in;
    int64_t *late_counts;
    tl_table *blame;
    tl_blame_arrival *arrivals; /* one a row */
    tl_blame_collective *collectives;
    size_t ncollectives;
    tl_map index_of; /* of a charge in the table of blame */
} charging;

static uint64_t kernel_key(int32_t rank, uint32_t uid)
{
    return (uint64_t)(uint32_t)rank << 32 | uid;
}

/* Lists arrivals and collectives; rows come in the order of collectives. */
static void list_arrivals(charging *a)
{
    tl_map arrival_of = { 0 };
    a->arrivals = tl_malloc((a->in->nrows + 1) * sizeof *a->arrivals);
    a->collectives = tl_malloc((a->in->nrows + 1) * sizeof *a->collectives);
    tl_mem_indexable(a->in->nrows);

    for (uint32_t i = 0; i < a->in->nrows; i++)
        tl_map_put(&arrival_of, kernel_key(a->in->rows[i].rank, a->in->rows[i].uid), i);
    for (uint32_t i = 0; i < a->in->nrows; i++) {
        const tl_late_row *row = &a->in->rows[i];
        if (i == 0 || row->collective != row[-1].collective)
            a->collectives[a->ncollectives++] =
                (tl_blame_collective){ i, 0, row->step,
                                       row->counted ? row->pair ? TL_BLAME_PASSES : TL_BLAME_CHARGES : TL_BLAME_IGNORED,
                                       tl_is_loose((tl_collective)row->kind) };
        a->collectives[a->ncollectives - 1].n++;
        uint32_t previous =
            row->previous == TL_NONE ? TL_MAP_NONE : tl_map_get(&arrival_of, kernel_key(row->rank, row->previous));
        a->arrivals[i] = (tl_blame_arrival){ .start_ns = row->start_ns,
                                             .end_ns = row->end_ns,
                                             .rank = (uint32_t)tl_index_of(a->in->ranks, a->in->nranks, row->rank),
                                             .previous = previous == TL_MAP_NONE ? TL_NONE : previous,
                                             .uid = row->uid,
                                             .after_last = row->step == row->own_step ? row->after_last : 0 };
        for (int activity = 0; activity < TL_NACTIVITIES; activity++)
            a->arrivals[i].share[activity] = row->share[activity];
    }
    tl_map_free(&arrival_of);
}

/* Counts the last arrivals of each rank; of equal ones the lowest rank was late.  Collectives that lack a member do not
 * count. */
static void count_late(charging *a)
{
    for (size_t c = 0; c < a->ncollectives; c++) {
        const tl_blame_collective *of = &a->collectives[c];
        const tl_blame_arrival *late = &a->arrivals[of->first];
        if (of->how != TL_BLAME_CHARGES || a->in->rows[of->first].doubt != TL_COMM_DOUBT_NONE)
            continue;
        for (uint32_t i = 1; i < of->n; i++)
            if (a->arrivals[of->first + i].start_ns > late->start_ns)
                late = &a->arrivals[of->first + i];
        a->late_counts[late->rank]++;
    }
}

enum { ACTIVITY_BITS = 4 };
_Static_assert(TL_NACTIVITIES < 1 << ACTIVITY_BITS, "an activity, or none, has so many bits");

static void take_cost(void *arg, const tl_delay_cost *cost)
{
    charging *a = arg;
    tl_table *blame = a->blame;
    /* Activities of the same two ranks and step lie side by side in the map. */
    uint64_t pair = tl_hash_mix((uint64_t)cost->from << 32 | cost->to, (uint64_t)(int64_t)cost->step);
    uint64_t key = pair << ACTIVITY_BITS | (uint64_t)cost->activity;
    uint32_t at = tl_map_get(&a->index_of, key);

    if (at == TL_MAP_NONE) {
        tl_blame row = { .to_rank = a->in->ranks[cost->to],
                         .step = cost->step,
                         .from_rank = cost->from == TL_NONE ? -1 : a->in->ranks[cost->from],
                         .cause = (uint8_t)cost->activity };
        at = (uint32_t)blame->n;
        tl_table_append(blame, &row, 1);
        tl_map_put(&a->index_of, key, at);
    }
    tl_blame *row = tl_table_row(blame, at);
    row->direct_ns += cost->direct_ns;
    row->indirect_ns += cost->indirect_ns;
    row->waiters = (int32_t)cost->waiters > row->waiters ? (int32_t)cost->waiters : row->waiters;
}

tl_status tl_delay_costs_find(const tl_delay_cost_input *in, int64_t *late_counts, tl_tables *tables, tl_error *err)
{
    charging a = { .in = in, .late_counts = late_counts, .blame = tl_tables_get(tables, &tl_blame_schema) };
    list_arrivals(&a);

    const tl_blame_input input = { a.arrivals, in->nrows, a.collectives, a.ncollectives, in->nranks };
    count_late(&a);
    tl_status st = tl_delay_cost_each(&input, take_cost, &a, err);
    tl_map_free(&a.index_of);
    free(a.arrivals);
    free(a.collectives);
    if (st == TL_EINPUT)
        return TL_OK; /* times that are none: the quality table has them as suspect */
    if (st == TL_OK)
        tl_table_sort(a.blame);
    return st;
}
