/* late_rows.c - rows of a collective that its owner sends to proc 0: the arrival of each rank, and the activities in
 * which the rank exceeded its peers; and for which rank each rank waited. */
#include "tlmpi/analysis/collective/wait.h"
#include "tlmpi/base/stats.h"
#include "tlmpi/model/parameters.h"
#include <stdlib.h>
#include <string.h>

/* Middle values of the ranks' work before a collective; computed when first needed. */
typedef struct doings {
    tl_middles work_between_collectives, work_since_step;
    tl_middle after_last, after_last_step;
    int64_t *scratch;
} doings;

/* Returns the share of an excess, without communication, that arose after the last collective of the step before. */
static uint16_t share_after_last(tl_middle *of, const tl_collective_view *c, const int64_t *first, int64_t own,
                                 int64_t excess, const uint16_t share[TL_NACTIVITIES], int64_t *scratch)
{
    if (own == 0)
        return 0;
    if (of->n == 0)
        tl_middle_find(of, first, c->n, sizeof *c->by_rank, scratch);
    int64_t after_last = tl_excess_over(of, own),
            all = excess - tl_portion(excess, share[TL_ACTIVITY_COMM], TL_SHARE_ONE);
    return (uint16_t)(all > 0 ? tl_portion(TL_SHARE_ONE, after_last < all ? after_last : all, all) : 0);
}

/* Fills the shares of a late rank's excess.  If the excess since the previous collective does not explain the lateness,
 * the rank was late before: then the excess since the begin of the step counts, if that is larger. */
static void fill_excess_shares(const tl_collective_view *c, const tl_participant *p, int64_t late_ns, doings *d,
                               tl_late_row *row)
{
    const tl_participant *first = c->by_rank;
    if (d->work_between_collectives.n == 0)
        tl_middles_find(&d->work_between_collectives, &first->work_between_collectives, c->n, sizeof *first,
                        d->scratch);
    int64_t excess = tl_excess_by_activity(&d->work_between_collectives, &p->work_between_collectives, row->share);
    if ((double)excess < TL_MOST_SHARE * (double)late_ns) {
        if (d->work_since_step.n == 0)
            tl_middles_find(&d->work_since_step, &first->work_since_step, c->n, sizeof *first, d->scratch);
        uint16_t wider[TL_NACTIVITIES];
        int64_t more = tl_excess_by_activity(&d->work_since_step, &p->work_since_step, wider);
        if (more > excess) {
            memcpy(row->share, wider, sizeof wider);
            row->after_last = share_after_last(&d->after_last_step, c, &first->after_last_step_ns,
                                               p->after_last_step_ns, more, wider, d->scratch);
            return;
        }
    }
    row->after_last =
        share_after_last(&d->after_last, c, &first->after_last_ns, p->after_last_ns, excess, row->share, d->scratch);
}

void tl_late_rows_add(tl_late_rows *rows, const tl_collective_view *c)
{
    doings before = { .scratch = tl_malloc((c->n + 1) * sizeof *before.scratch) };
    int64_t first = INT64_MAX;

    for (size_t i = 0; i < c->n; i++)
        first = tl_ns_min(first, c->by_rank[i].start_ns);
    tl_wait_state wait = tl_wait_state_of(c);
    bool fits = wait != TL_WAIT_NONE && wait != TL_WAIT_SUSPECT;
    for (size_t i = 0; i < c->n; i++) {
        const tl_participant *p = &c->by_rank[i];
        tl_late_row row = {
            .collective = c->number,
            .start_ns = p->start_ns,
            .end_ns = p->end_ns,
            .rank = p->rank,
            .step = c->step,
            .own_step = p->step,
            .uid = p->uid,
            .previous = p->previous,
            .bytes = c->by_rank[0].bytes,
            .unsure_ns = c->unsure_ns,
            .kind = c->kind,
            .own_kind = p->kind,
            .fits = fits,
            .counted = fits && wait != TL_WAIT_INCONCLUSIVE,
            .pair = c->n == 2 && tl_is_point_to_point((tl_collective)c->kind),
            .group = c->group,
            .peer = p->peer,
            .doubt = (uint8_t)tl_comm_doubt_of(c),
        };
        if (p->start_ns > first) /* a first arrival is never late */
            fill_excess_shares(c, p, tl_ns_between(p->start_ns, first), &before, &row);
        tl_vec_push(rows, row);
    }
    free(before.scratch);
}

size_t tl_late_rows_end(const tl_late_row *rows, size_t n, size_t first)
{
    size_t end = first;
    while (end < n && rows[end].collective == rows[first].collective)
        end++;
    return end;
}

/* --------------------------------------------------------------------------------------------------------- answers */

/* Returns the row of the rank that `row` waited for: the last arrival, of equals the lowest rank; in a collective that
 * ranks may leave early, the last arrival before the end of `row`. */
static const tl_late_row *awaited_by(const tl_late_row *late, size_t n, const tl_late_row *last, const tl_late_row *row)
{
    if (last->start_ns <= row->end_ns || tl_is_synchronising((tl_collective)row->kind))
        return last;
    last = row;
    for (size_t i = 0; i < n; i++)
        if (late[i].start_ns <= row->end_ns && late[i].start_ns > last->start_ns)
            last = &late[i];
    return last;
}

/* Returns the answer of `row` in the collective late[0, n), whose last arrival is `last`. */
static tl_peer_answer answer_of(const tl_late_row *row, const tl_late_row *late, size_t n, const tl_late_row *last)
{
    const tl_late_row *for_whom = awaited_by(late, n, last, row);
    int64_t to = tl_ns_min(for_whom->start_ns, row->end_ns);
    tl_peer_answer a = { .collective = row->collective,
                         .rank = row->rank,
                         .late_rank = for_whom->rank,
                         .uid = row->uid,
                         .group = row->group,
                         .kind = row->own_kind,
                         .doubt = row->doubt };
    a.waited = row->counted && row->doubt != TL_COMM_DOUBT_PARTNER && to > row->start_ns;
    a.wait_ns = a.waited ? tl_ns_between(to, row->start_ns) : 0;
    a.open_ns = a.doubt != TL_COMM_DOUBT_NONE ? INT64_MAX : 0;
    if (a.doubt == TL_COMM_DOUBT_NONE && row->unsure_ns > 0) {
        /* The clocks leave the end of the wait uncertain by unsure_ns in both directions. */
        int64_t took_ns = tl_ns_max(0, tl_ns_between(row->end_ns, row->start_ns));
        int64_t most_ns = tl_ns_sum(tl_ns_max(0, tl_ns_between(to, row->start_ns)), row->unsure_ns);
        a.wait_ns = tl_ns_max(0, tl_ns_between(a.wait_ns, row->unsure_ns));
        a.waited = a.wait_ns > 0;
        a.open_ns = tl_ns_between(tl_ns_min(most_ns, took_ns), a.wait_ns);
        a.doubt = TL_COMM_DOUBT_CLOCKS;
    }
    return a;
}

void tl_late_rows_answer(const tl_late_rows *late, tl_peer_answers *out)
{
    for (size_t from = 0, to; from < late->n; from = to) {
        const tl_late_row *last = &late->v[from];
        to = tl_late_rows_end(late->v, late->n, from);
        for (size_t i = from; i < to; i++)
            last = late->v[i].start_ns > last->start_ns ? &late->v[i] : last;
        for (size_t i = from; i < to; i++)
            tl_vec_push(out, answer_of(&late->v[i], late->v + from, to - from, last));
    }
}
