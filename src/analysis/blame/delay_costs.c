/* delay_costs.c - what ranks waited for in matched collectives, charged to those who came late.
 *
 * Charges of the same two ranks in a step come close to each other in time.  So a charge is added to an earlier charge
 * that is among the few recent charges of the late rank; all others are joined in the end, when the charges of each
 * late rank are sorted.
 */
#include "tlmpi/analysis/blame.h"
#include "blame.h"
#include "tlmpi/base/hash.h"
#include "tlmpi/base/sort.h"
#include "tlmpi/base/stats.h"
#include "tlmpi/model/blame_tables.h"
#include <stdlib.h>
#include <string.h>

/* What a late rank is charged in a step by one rank, or by several; by activity, the last is unknown. */
typedef struct charge {
    uint64_t key;    /* of step and rank that waited, in the order of the rows of blame */
    uint32_t before; /* the charge before of the same late rank; TL_NONE */
    uint32_t waiters[TL_NACTIVITIES + 1];
    int64_t direct_ns[TL_NACTIVITIES + 1], indirect_ns[TL_NACTIVITIES + 1];
} charge;

/* Steps and ranks that wait of a late rank that are told apart: several steps of the largest group with pairs. */
enum { RECENT = 8 * TL_BLAME_PAIRS_MAX };

typedef struct charging {
    const tl_delay_cost_input *in;
    int64_t *late_counts;
    tl_blame_arrival *arrivals; /* one a row */
    tl_blame_collective *collectives;
    size_t ncollectives;
    TL_VEC(charge) charges;
    uint32_t *recent; /* [nranks * RECENT] charges of each late rank by some bits of their keys; TL_NONE */
    uint32_t *last;   /* [nranks] the last charge of each late rank; TL_NONE */
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

static uint64_t key_of(const tl_delay_cost *cost)
{
    uint64_t step = (uint32_t)cost->step ^ UINT32_C(1) << 31; /* below 0 stands first, and several before each rank */
    return step << 32 | (cost->from == TL_NONE ? 0 : cost->from + 1);
}

static void take_cost(void *arg, const tl_delay_cost *cost)
{
    charging *a = arg;
    const uint64_t key = key_of(cost);
    uint32_t *at = &a->recent[cost->to * RECENT + tl_hash_mix(0, key) % RECENT];
    if (*at == TL_NONE || a->charges.v[*at].key != key) {
        tl_vec_room(&a->charges);
        *at = (uint32_t)a->charges.n++;
        a->charges.v[*at] = (charge){ .key = key, .before = a->last[cost->to] };
        a->last[cost->to] = *at;
    }
    charge *to = &a->charges.v[*at];
    int64_t *ns = cost->direct ? to->direct_ns : to->indirect_ns;
    for (size_t k = 0; k <= TL_NACTIVITIES; k++) {
        ns[k] += cost->ns[k];
        to->waiters[k] = cost->ns[k] != 0 && cost->waiters > to->waiters[k] ? cost->waiters : to->waiters[k];
    }
}

static int by_key(const void *context, uint32_t x, uint32_t y)
{
    const charge *v = context;
    return TL_COMPARE(v[x].key, v[y].key);
}

static void join(charge *to, const charge *with)
{
    for (size_t k = 0; k <= TL_NACTIVITIES; k++) {
        to->direct_ns[k] += with->direct_ns[k];
        to->indirect_ns[k] += with->indirect_ns[k];
        to->waiters[k] = with->waiters[k] > to->waiters[k] ? with->waiters[k] : to->waiters[k];
    }
}

/* Appends the rows of a charge, one for each activity. */
static void put_rows(const charging *a, uint32_t to, const charge *c, tl_table *blame)
{
    const uint32_t from = (uint32_t)c->key;
    for (size_t k = 0; k <= TL_NACTIVITIES; k++) {
        if (c->waiters[k] == 0)
            continue;
        tl_blame *row = tl_table_add(blame);
        row->to_rank = a->in->ranks[to];
        row->step = (int32_t)((uint32_t)(c->key >> 32) ^ UINT32_C(1) << 31);
        row->from_rank = from == 0 ? -1 : a->in->ranks[from - 1];
        row->cause = (uint8_t)k;
        row->waiters = (int32_t)c->waiters[k];
        row->direct_ns = c->direct_ns[k];
        row->indirect_ns = c->indirect_ns[k];
    }
}

static void put_all(const charging *a, tl_table *blame)
{
    TL_VEC(uint32_t) of = { 0 };
    charge *v = a->charges.v;
    size_t n = 0;
    for (size_t i = 0; i < a->charges.n; i++)
        for (size_t k = 0; k <= TL_NACTIVITIES; k++)
            n += v[i].waiters[k] > 0;
    tl_table_reserve(blame, n);
    for (uint32_t to = 0; to < a->in->nranks; to++) {
        of.n = 0;
        for (uint32_t i = a->last[to]; i != TL_NONE; i = v[i].before) {
            tl_vec_push(&of, i);
        }
        tl_sort_index(of.v, of.n, by_key, v);
        for (size_t i = 0, end; i < of.n; i = end) {
            for (end = i + 1; end < of.n && v[of.v[end]].key == v[of.v[i]].key; end++)
                join(&v[of.v[i]], &v[of.v[end]]);
            put_rows(a, to, &v[of.v[i]], blame);
        }
    }
    free(of.v);
}

tl_status tl_delay_costs_find(const tl_delay_cost_input *in, int64_t *late_counts, tl_tables *tables, tl_error *err)
{
    charging a = { .in = in, .late_counts = late_counts };
    list_arrivals(&a);

    const tl_blame_input input = { a.arrivals, in->nrows, a.collectives, a.ncollectives, in->nranks };
    count_late(&a);
    a.recent = tl_malloc((in->nranks + 1) * RECENT * sizeof *a.recent);
    a.last = tl_malloc((in->nranks + 1) * sizeof *a.last);
    memset(a.recent, 0xff, in->nranks * RECENT * sizeof *a.recent); /* TL_NONE */
    memset(a.last, 0xff, in->nranks * sizeof *a.last);
    tl_status st = tl_delay_cost_each(&input, take_cost, &a, err);
    free(a.arrivals);
    free(a.collectives);
    free(a.recent);
    if (st == TL_OK)
        put_all(&a, tl_tables_get(tables, &tl_blame_schema));
    free(a.charges.v);
    free(a.last);
    return st == TL_EINPUT ? TL_OK : st; /* times that are none: the quality table has them as suspect */
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
