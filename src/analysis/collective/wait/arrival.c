/* arrival.c - which rank arrived last at a collective, and how much of each kernel was waiting, how much transfer?
 *
 *     rank 0    [ wait     |  transfer  | tail ]
 *     rank 1         [wait |  transfer  ]
 *     rank 2               [  transfer  ]             last arrival: late_rank
 *               |          |            first end
 *               |          last arrival
 *               first arrival
 *
 *     lead      last arrival - own start
 *     wait      lead, but not past the own end (wait.h)
 *     transfer  first end - last arrival, not below 0; in a collective that ranks may leave before all have arrived,
 *               the shortest kernel
 *     tail      own end - first end
 *
 * Skew class: ARRIVAL if waits are more than half of the collective's kernel time; TRANSFER if waits are less than a
 * fifth and all ranks have a trace; INCONCLUSIVE if all arrivals lie within twice the uncertainty of the clocks, unless
 * waits would stay below a fifth even if each were longer by that much.
 */
#include "tlmpi/analysis/collective/wait.h"
#include "tlmpi/base/mem.h"
#include "tlmpi/base/stats.h"
#include "tlmpi/model/parameters.h"
#include <math.h>
#include <stdlib.h>

/* First and last starts and ends of a collective's kernels. */
typedef struct extent {
    int64_t first_arrival_ns, last_arrival_ns, second_last_arrival_ns, first_end_ns, last_end_ns, shortest_ns;
    int32_t late_rank;
} extent;

static extent extent_of(const tl_collective_view *c)
{
    extent x = { .first_arrival_ns = INT64_MAX,
                 .last_arrival_ns = INT64_MIN,
                 .second_last_arrival_ns = INT64_MIN,
                 .first_end_ns = INT64_MAX,
                 .last_end_ns = INT64_MIN,
                 .shortest_ns = INT64_MAX,
                 .late_rank = -1 };
    for (size_t i = 0; i < c->n; i++) {
        const tl_participant *p = &c->by_rank[i];
        x.first_arrival_ns = tl_ns_min(x.first_arrival_ns, p->start_ns);
        x.first_end_ns = tl_ns_min(x.first_end_ns, p->end_ns);
        x.last_end_ns = tl_ns_max(x.last_end_ns, p->end_ns);
        x.shortest_ns = tl_ns_min(x.shortest_ns, tl_ns_between(p->end_ns, p->start_ns));
        if (i == 0 || p->start_ns > x.last_arrival_ns) { /* ties go to the lowest rank */
            x.second_last_arrival_ns = x.last_arrival_ns;
            x.last_arrival_ns = p->start_ns;
            x.late_rank = p->rank;
        } else {
            x.second_last_arrival_ns = tl_ns_max(x.second_last_arrival_ns, p->start_ns);
        }
    }
    return x;
}

static void add_arrivals(const tl_collective_view *c, const extent *x, const int64_t *waits_ns, tl_table *table)
{
    for (size_t i = 0; i < c->n; i++) {
        const tl_participant *p = &c->by_rank[i];
        tl_arrival *row = tl_table_add(table);
        *row = (tl_arrival){
            .collective = c->number,
            .rank = p->rank,
            .start_ns = p->start_ns,
            .end_ns = p->end_ns,
            .lead_ns = tl_ns_between(x->last_arrival_ns, p->start_ns),
            .wait_ns = waits_ns[i],
            .tail_ns = tl_ns_between(p->end_ns, x->first_end_ns),
            .match_rule = p->rule,
            .in_bytes = p->in_bytes,
            .out_bytes = p->out_bytes,
            .uid = (int32_t)p->uid,
            /* A kernel that seems to start before its launch shows that host and device clocks disagree. */
            .launch_lag_ns =
                p->launch_ns != TL_TIME_UNKNOWN ? tl_ns_max(tl_ns_between(p->start_ns, p->launch_ns), 0) : -1,
        };
        if (c->rule == TL_BY_NOTHING)
            row->match_rule = TL_BY_NOTHING;
    }
}

static tl_skew_class class_of(const tl_collective_view *c, const tl_collective_row *row)
{
    if (c->n < 2)
        return TL_SKEW_NONE;
    double kernel = (double)row->kernel_sum_ns, wait = (double)row->wait_sum_ns;
    if (tl_clocks_hide(c, row->s_first_ns, row->s_last_ns, row->wait_sum_ns, row->kernel_sum_ns))
        return TL_SKEW_INCONCLUSIVE;
    if (2 * wait > kernel)
        return TL_SKEW_ARRIVAL;
    if (c->state != TL_COLL_WHOLE)
        return TL_SKEW_NONE;
    return wait < (1 - TL_MOST_SHARE) * kernel ? TL_SKEW_TRANSFER : TL_SKEW_MIXED;
}

static void fill_times(const tl_collective_view *c, const extent *x, const int64_t *waits_ns, tl_collective_row *row)
{
    row->s_first_ns = x->first_arrival_ns;
    row->s_last_ns = x->last_arrival_ns;
    row->e_first_ns = x->first_end_ns;
    row->end_spread_ns = tl_ns_between(x->last_end_ns, x->first_end_ns);
    row->bytes = row->seq = -1;
    for (size_t i = 0; i < c->n; i++) {
        const tl_participant *p = &c->by_rank[i];
        row->kernel_sum_ns = tl_ns_sum(row->kernel_sum_ns, tl_ns_between(p->end_ns, p->start_ns));
        row->wait_sum_ns = tl_ns_sum(row->wait_sum_ns, waits_ns[i]);
        if (p->bytes > row->bytes) {
            row->bytes = p->bytes;
            row->size_source = p->size_from;
        }
        row->seq = row->seq < 0 ? p->seq : row->seq;
    }
    row->transfer_ns = tl_is_loose((tl_collective)c->kind)
                           ? x->shortest_ns
                           : tl_ns_max(tl_ns_between(x->first_end_ns, x->last_arrival_ns), 0);
    row->late_rank = c->n > 1 ? x->late_rank : -1;
    row->second_margin_ns = c->n > 1 ? tl_ns_between(x->last_arrival_ns, x->second_last_arrival_ns) : 0;
    row->busbw_gb_s = NAN;
    if (c->n > 1 && c->state == TL_COLL_WHOLE && row->bytes >= 0 && row->transfer_ns > 0)
        row->busbw_gb_s = (double)row->bytes / (double)row->transfer_ns * /* byte/ns is 10^9 byte/s */
                          tl_bus_factor((tl_collective)c->kind, c->size > 0 ? c->size : (int32_t)c->n);
}

static void arrival_per_collective(const tl_collective_view *c, tl_tables *out)
{
    const extent x = extent_of(c);
    tl_collective_row *row = tl_table_add(tl_tables_get(out, &tl_collective_row_schema));
    int64_t *waits_ns = tl_malloc((c->n + 1) * sizeof *waits_ns);

    tl_wait_each(c, waits_ns);
    add_arrivals(c, &x, waits_ns, tl_tables_get(out, &tl_arrival_schema));
    row->collective = c->number;
    row->group = c->group;
    row->kind = c->kind;
    row->step = c->step;
    row->n = (int32_t)c->n;
    row->state = c->state;
    row->suspect = c->suspect;
    row->match_rule = c->rule;
    row->uncertainty_ns = c->uncertainty_ns < TL_CLOCK_UNTIED_NS ? c->uncertainty_ns : -1;
    row->span = c->span;
    fill_times(c, &x, waits_ns, row);
    row->skew_class = (uint8_t)class_of(c, row);
    row->wait_state = (uint8_t)tl_wait_state_of(c);
    free(waits_ns);
}

const tl_analysis tl_arrival_analysis = { .per_collective = arrival_per_collective };
