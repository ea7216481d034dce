/* peers_meet.c - collectives of hosts, matched across ranks: the k-th of a name in a step on one rank is the k-th on
 * all.
 *
 *     rank 0    [ gloo:barrier          ]       left when the last had come: they have met
 *     rank 1              [ gloo:barrier ]
 *
 *     rank 0    [ gloo:barrier ]                left before: these two were not one; the partners of each are unknown
 *     rank 1                       [ gloo:barrier ]
 */
#include "tlmpi/analysis/match.h"
#include "tlmpi/analysis/clock.h"
#include "tlmpi/analysis/wait.h"
#include "tlmpi/base/hash.h"
#include "tlmpi/base/sort.h"
#include "tlmpi/base/stats.h"
#include <stdlib.h>
#include <string.h>

/* ------------------------------------------------------------------------------------------------------------ keys */

static int by_time(const void *rows, uint32_t a, uint32_t b)
{
    const tl_gap_peer *x = (const tl_gap_peer *)rows + a, *y = (const tl_gap_peer *)rows + b;
    if (x->rank != y->rank)
        return TL_COMPARE(x->rank, y->rank);
    return x->from_ns != y->from_ns ? TL_COMPARE(x->from_ns, y->from_ns) : TL_COMPARE(x->awaited_uid, y->awaited_uid);
}

/* The next of its name in its step on its rank; counters: how many there were. */
static void take(const tl_gap_peer *row, const tl_job_facts *facts, tl_map *counters, tl_host_meetings *out)
{
    const tl_rank_clock *rank_clock = tl_rank_clock_of(facts, row->rank);
    uint64_t name = tl_hash_mix(tl_hash_bytes(row->awaited, sizeof row->awaited), (uint64_t)(int64_t)row->step);
    uint64_t counter = tl_hash_mix(name, (uint64_t)(int64_t)row->rank);
    uint32_t nth = tl_map_get(counters, counter);
    int64_t start = row->from_ns, end = tl_ns_sum(row->from_ns, row->peer_ns);

    nth = nth == TL_MAP_NONE ? 0 : nth;
    tl_vec_room(out);
    tl_map_put(counters, counter, nth + 1);
    if (rank_clock != NULL && rank_clock->applied) {
        start = tl_clock_correct(rank_clock, start);
        end = tl_clock_correct(rank_clock, end);
    }
    out->v[out->n++] = (tl_host_meeting){ tl_hash_mix(name, nth), start, end, row->rank, (uint32_t)row->awaited_uid };
}

void tl_host_meetings_take(tl_table *rows, const tl_job_facts *facts, tl_host_meetings *out)
{
    uint32_t *order = tl_malloc((rows->n + 1) * sizeof *order);
    tl_map counters = { 0 };
    size_t n = 0, kept = 0;

    for (size_t i = 0; i < rows->n; i++)
        if (((const tl_gap_peer *)tl_table_row(rows, i))->idle_id < 0)
            order[n++] = (uint32_t)i;
    tl_sort_index(order, n, by_time, rows->rows);
    for (size_t i = 0; i < n; i++)
        take(tl_table_row(rows, order[i]), facts, &counters, out);
    for (size_t i = 0; i < rows->n; i++) {
        const tl_gap_peer *row = tl_table_row(rows, i);
        if (row->idle_id >= 0)
            memmove(tl_table_row(rows, kept++), row, sizeof *row);
    }
    rows->n = kept;
    free(order);
    tl_map_free(&counters);
}

/* -------------------------------------------------------------------------------------------------------- matching */

static int by_key(const void *a, const void *b)
{
    const tl_host_meeting *x = a, *y = b;
    if (x->key != y->key)
        return TL_COMPARE(x->key, y->key);
    if (x->rank != y->rank)
        return TL_COMPARE(x->rank, y->rank);
    return x->start_ns != y->start_ns ? TL_COMPARE(x->start_ns, y->start_ns) : TL_COMPARE(x->uid, y->uid);
}

/* Answers for v[0, n), which have one key. */
static void meet(const tl_host_meeting *v, size_t n, const tl_job_facts *facts, tl_peer_answers *out)
{
    const tl_host_meeting *last = &v[0];
    int64_t first_ns = INT64_MAX, left_ns = INT64_MAX;
    tl_clock_doubt doubt = { .clock = -1 };

    for (size_t i = 0; i < n; i++) {
        if (i > 0 && v[i].rank == v[i - 1].rank)
            return;
        last = v[i].start_ns > last->start_ns ? &v[i] : last; /* of equals the lowest rank */
        first_ns = v[i].start_ns < first_ns ? v[i].start_ns : first_ns;
        left_ns = v[i].end_ns < left_ns ? v[i].end_ns : left_ns;
        tl_clock_doubt_add(&doubt, tl_rank_clock_of(facts, v[i].rank));
    }
    int64_t doubt_ns = tl_clock_doubt_of(&doubt);
    if (n < 2 || doubt.apart || tl_ns_between(last->start_ns, left_ns) > doubt_ns)
        return;
    bool told = tl_ns_between(last->start_ns, first_ns) / 2 >= doubt_ns;
    for (size_t i = 0; i < n; i++) {
        int64_t to = last->start_ns < v[i].end_ns ? last->start_ns : v[i].end_ns;
        tl_vec_room(out);
        out->v[out->n++] = (tl_peer_answer){ .wait_ns = told ? tl_ns_between(to, v[i].start_ns) : 0,
                                             .collective = -1,
                                             .rank = v[i].rank,
                                             .late_rank = last->rank,
                                             .uid = v[i].uid,
                                             .group = -1,
                                             .waited = 1 };
    }
}

void tl_host_meetings_match(tl_host_meeting *v, size_t n, const tl_job_facts *facts, tl_peer_answers *out)
{
    if (n > 1)
        qsort(v, n, sizeof *v, by_key);
    for (size_t from = 0, to; from < n; from = to) {
        for (to = from + 1; to < n && v[to].key == v[from].key; to++)
            ;
        meet(v + from, to - from, facts, out);
    }
}
