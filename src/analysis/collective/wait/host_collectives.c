/* host_collectives.c - matches collectives of hosts across ranks: the k-th call of a name in a step on each rank.
 *
 *     rank 0    [ gloo:barrier          ]       no rank left before the last arrival: the ranks have met
 *     rank 1              [ gloo:barrier ]
 *
 *     rank 0    [ gloo:barrier ]                rank 0 left before: not one collective; partners are unknown
 *     rank 1                       [ gloo:barrier ]
 */
#include "tlmpi/analysis/collective/clock.h"
#include "tlmpi/analysis/collective/match.h"
#include "tlmpi/analysis/collective/wait.h"
#include "tlmpi/base/group.h"
#include "tlmpi/base/hash.h"
#include "tlmpi/base/stats.h"
#include <stdlib.h>
#include <string.h>

/* ------------------------------------------------------------------------------------------------------------ keys */

TL_ORDER_BY(by_time, tl_gap_peer, rank, from_ns, awaited_uid)

/* Returns the row as a meeting on the job's clock; counters: calls so far by name, step and rank. */
static tl_host_meeting meeting_of(const tl_gap_peer *row, const tl_job_facts *facts, tl_map *counters)
{
    const tl_rank_clock *clock = tl_rank_clock_of(facts, row->rank);
    uint64_t name = tl_hash_mix(tl_hash_bytes(row->awaited, sizeof row->awaited), (uint64_t)(int64_t)row->step);
    uint32_t nth = tl_map_count(counters, tl_hash_mix(name, (uint64_t)(int64_t)row->rank));
    int64_t start = row->from_ns, end = tl_ns_sum(row->from_ns, row->peer_ns);
    if (clock != NULL && clock->applied) {
        start = tl_clock_correct(clock, start);
        end = tl_clock_correct(clock, end);
    }
    return (tl_host_meeting){ tl_hash_mix(name, nth), start, end, row->rank, (uint32_t)row->awaited_uid };
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
        tl_vec_push(out, meeting_of(tl_table_row(rows, order[i]), facts, &counters));
    TL_ROWS (const tl_gap_peer, row, rows)
        if (row->idle_id >= 0)
            memmove(tl_table_row(rows, kept++), row, sizeof *row);
    rows->n = kept;
    free(order);
    tl_map_free(&counters);
}

/* -------------------------------------------------------------------------------------------------------- matching */

TL_SORT_BY(by_key, tl_host_meeting, key, rank, start_ns, uid)

/* Appends the answers of the meetings v[0, n), which have one key; none if the ranks did not meet. */
static void answer_meeting(const tl_host_meeting *v, size_t n, const tl_job_facts *facts, tl_peer_answers *out)
{
    const tl_host_meeting *last = &v[0];
    int64_t first_ns = INT64_MAX, left_ns = INT64_MAX;
    tl_clock_doubt doubt = { .clock = -1 };

    for (size_t i = 0; i < n; i++) {
        if (i > 0 && v[i].rank == v[i - 1].rank)
            return;
        last = v[i].start_ns > last->start_ns ? &v[i] : last; /* ties go to the lowest rank */
        first_ns = tl_ns_min(first_ns, v[i].start_ns);
        left_ns = tl_ns_min(left_ns, v[i].end_ns);
        tl_clock_doubt_add(&doubt, tl_rank_clock_of(facts, v[i].rank));
    }
    int64_t doubt_ns = tl_clock_doubt_of(&doubt);
    if (n < 2 || doubt.apart || tl_ns_between(last->start_ns, left_ns) > doubt_ns)
        return;
    bool told = tl_ns_between(last->start_ns, first_ns) / 2 >= doubt_ns;
    for (size_t i = 0; i < n; i++) {
        int64_t to = tl_ns_min(last->start_ns, v[i].end_ns);
        tl_vec_push(out, (tl_peer_answer){ .wait_ns = told ? tl_ns_between(to, v[i].start_ns) : 0,
                                           .collective = -1,
                                           .rank = v[i].rank,
                                           .late_rank = last->rank,
                                           .uid = v[i].uid,
                                           .group = -1,
                                           .waited = 1 });
    }
}

void tl_host_meetings_match(tl_host_meeting *v, size_t n, const tl_job_facts *facts, tl_peer_answers *out)
{
    tl_sort(v, n, sizeof *v, by_key);
    for (size_t from = 0, to; from < n; from = to) {
        for (to = from + 1; to < n && v[to].key == v[from].key; to++)
            ;
        answer_meeting(v + from, to - from, facts, out);
    }
}
