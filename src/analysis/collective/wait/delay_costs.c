/* delay_costs.c - fills table blame from the waits in matched collectives.
 *
 * Costs of the same two ranks in a step come close to each other in time.  So a cost is added to one of the few recent
 * rows of the late rank if it fits; remaining duplicates are merged at the end, when the rows of each late rank are
 * sorted.
 */
#include "tlmpi/analysis/collective/wait/blame.h"
#include "blame.h"
#include "tlmpi/base/hash.h"
#include "tlmpi/base/sort.h"
#include "tlmpi/model/blame_tables.h"
#include <stdlib.h>
#include <string.h>

/* Recent rows of a late rank: enough for several steps of the largest group with named waiters. */
enum { RECENT = 64 * TL_BLAME_PAIRS_MAX };

typedef struct charging {
    const tl_delay_cost_input *in;
    int64_t *late_counts;
    tl_blame_arrival *arrivals; /* by row of the input */
    tl_blame_collective *collectives;
    size_t ncollectives;
    tl_table *blame;
    TL_VEC(uint32_t) before; /* by row of blame: the previous row of the same late rank; TL_NONE: none */
    uint32_t *recent;        /* [nranks * RECENT] hash table of recent rows of each late rank; TL_NONE: empty */
    uint32_t *last;          /* [nranks] latest row of each late rank; TL_NONE: none */
} charging;

static uint64_t kernel_key(int32_t rank, uint32_t uid)
{
    return (uint64_t)(uint32_t)rank << 32 | uid;
}

/* Lists arrivals and collectives; rows are in order of collectives. */
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

/* Counts the collectives in which each rank arrived last; ties go to the lowest rank.  Collectives that lack a member
 * do not count. */
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

/* Returns a number by which the rows of a late rank are sorted: step, then waiting rank. */
static uint64_t key_of(const tl_blame *row)
{
    const uint64_t step = (uint32_t)row->step ^ UINT32_C(1) << 31, from = (uint32_t)row->from_rank + 1;
    return step << 32 | from; /* step -1 first; from_rank -1 (several ranks) before all ranks */
}

static void add_cost_of_activity(charging *a, const tl_delay_cost *cost, uint8_t cause)
{
    const tl_blame of = { .to_rank = a->in->ranks[cost->to],
                          .step = cost->step,
                          .from_rank = cost->from == TL_NONE ? -1 : a->in->ranks[cost->from],
                          .cause = cause };
    const uint64_t key = key_of(&of);
    uint32_t *at = &a->recent[cost->to * RECENT + tl_hash_mix(cause, key) % RECENT];
    tl_blame *row = *at == TL_NONE ? NULL : tl_table_row(a->blame, *at);
    if (row == NULL || key_of(row) != key || row->cause != cause) {
        *at = (uint32_t)a->blame->n;
        tl_vec_push(&a->before, a->last[cost->to]);
        a->last[cost->to] = *at;
        row = tl_table_add(a->blame);
        *row = of;
    }
    *(cost->direct ? &row->direct_ns : &row->indirect_ns) += cost->ns[cause];
    row->waiters = (int32_t)cost->waiters > row->waiters ? (int32_t)cost->waiters : row->waiters;
}

static void add_cost(void *arg, const tl_delay_cost *cost)
{
    for (int k = 0; k <= TL_NACTIVITIES; k++)
        if (cost->ns[k] != 0)
            add_cost_of_activity(arg, cost, (uint8_t)k);
}

static void add_row(void *sum, const void *row)
{
    tl_blame *to = sum;
    const tl_blame *with = row;
    to->direct_ns += with->direct_ns;
    to->indirect_ns += with->indirect_ns;
    to->waiters = with->waiters > to->waiters ? with->waiters : to->waiters;
}

typedef struct keyed_row {
    uint64_t key;
    uint32_t row;
    uint8_t cause;
} keyed_row;

TL_ORDER_BY(by_key, keyed_row, key, cause)

/* Sorts the rows, and merges rows with equal keys. */
static void sort_rows(charging *a)
{
    TL_VEC(keyed_row) of = { 0 };
    TL_VEC(uint32_t) sorted = { 0 };
    uint32_t *order = tl_malloc((a->blame->n + 1) * sizeof *order);
    size_t n = 0;
    tl_mem_indexable(a->blame->n);
    for (uint32_t to = 0; to < a->in->nranks; to++) {
        of.n = sorted.n = 0;
        for (uint32_t i = a->last[to]; i != TL_NONE; i = a->before.v[i]) {
            const tl_blame *row = tl_table_row(a->blame, i);
            tl_vec_push(&of, (keyed_row){ key_of(row), i, row->cause });
        }
        for (uint32_t i = (uint32_t)of.n; i-- > 0;) /* in order of time: nearly that of steps */
            tl_vec_push(&sorted, i);
        tl_sort_index(sorted.v, sorted.n, by_key, of.v);
        for (size_t i = 0; i < sorted.n; i++)
            order[n++] = of.v[sorted.v[i]].row;
    }
    tl_table_arrange(a->blame, order);
    tl_table_unite(a->blame, 0, add_row);
    free(order);
    free(of.v);
    free(sorted.v);
}

tl_status tl_delay_costs_find(const tl_delay_cost_input *in, int64_t *late_counts, tl_tables *tables, tl_error *err)
{
    charging a = { .in = in, .late_counts = late_counts, .blame = tl_tables_get(tables, &tl_blame_schema) };
    list_arrivals(&a);

    const tl_blame_input input = { a.arrivals, in->nrows, a.collectives, a.ncollectives, in->nranks };
    count_late(&a);
    a.recent = tl_malloc((in->nranks + 1) * RECENT * sizeof *a.recent);
    a.last = tl_malloc((in->nranks + 1) * sizeof *a.last);
    memset(a.recent, 0xff, in->nranks * RECENT * sizeof *a.recent); /* TL_NONE */
    memset(a.last, 0xff, in->nranks * sizeof *a.last);
    tl_status st = tl_delay_cost_each(&input, add_cost, &a, err);
    free(a.arrivals);
    free(a.collectives);
    free(a.recent);
    if (st == TL_OK)
        sort_rows(&a);
    else
        a.blame->n = 0;
    free(a.before.v);
    free(a.last);
    return st == TL_EINPUT ? TL_OK : st; /* overflowing times: table quality has them as suspect */
}

void tl_delay_costs_by_step(const tl_table *blame, const int32_t *ranks, size_t nranks, const int32_t *steps,
                            size_t nsteps, int64_t *delay_cost_ns)
{
    for (size_t i = 0, r = 0, s = 0; i < blame->n; i++) {
        const tl_blame *row = tl_table_row(blame, i), *before = i > 0 ? tl_table_row(blame, i - 1) : NULL;
        if (before == NULL || before->to_rank != row->to_rank)
            r = tl_index_of(ranks, nranks, row->to_rank);
        if (before == NULL || before->step != row->step)
            s = tl_index_of(steps, nsteps, row->step);
        if (r < nranks && s < nsteps)
            delay_cost_ns[r * nsteps + s] += row->direct_ns + row->indirect_ns;
    }
}
