/* peers_late.c - which rank was waited for in a collective that carries a verdict. */
#include "tlmpi/analysis/wait.h"
#include "tlmpi/base/stats.h"

/* Returns the rank that `row` waited for: the last arrival, of equals the lowest rank; in a collective that ranks may
 * leave early, the last arrival before `row` left. */
static const tl_late_row *last_for(const tl_late_row *late, size_t n, const tl_late_row *last, const tl_late_row *row)
{
    if (last->start_ns <= row->end_ns || tl_is_synchronising((tl_collective)row->kind))
        return last;
    last = row;
    for (size_t i = 0; i < n; i++)
        if (late[i].start_ns <= row->end_ns && late[i].start_ns > last->start_ns)
            last = &late[i];
    return last;
}

/* A wait until `to` may have been longer, or shorter, by what corrected clocks leave open. */
static void leave_open(const tl_late_row *row, int64_t to, tl_peer_answer *a)
{
    int64_t took_ns = tl_ns_max(0, tl_ns_between(row->end_ns, row->start_ns));
    int64_t most_ns = tl_ns_sum(tl_ns_max(0, tl_ns_between(to, row->start_ns)), row->unsure_ns);
    a->wait_ns = tl_ns_max(0, tl_ns_between(a->wait_ns, row->unsure_ns));
    a->waited = a->wait_ns > 0;
    a->open_ns = tl_ns_between(tl_ns_min(most_ns, took_ns), a->wait_ns);
    a->doubt = TL_COMM_DOUBT_CLOCKS;
}

/* Adds the answers of the ranks in late[0, n), which are one collective. */
static void answer(const tl_late_row *late, size_t n, tl_peer_answers *out)
{
    const tl_late_row *last = &late[0];
    for (size_t i = 1; i < n; i++)
        last = late[i].start_ns > last->start_ns ? &late[i] : last; /* of equals the lowest rank */
    for (size_t i = 0; i < n; i++) {
        const tl_late_row *for_whom = last_for(late, n, last, &late[i]);
        int64_t to = for_whom->start_ns < late[i].end_ns ? for_whom->start_ns : late[i].end_ns;
        tl_vec_room(out);
        tl_peer_answer *a = &out->v[out->n++];
        *a = (tl_peer_answer){ .collective = late[i].collective,
                               .rank = late[i].rank,
                               .late_rank = for_whom->rank,
                               .uid = late[i].uid,
                               .group = late[i].group,
                               .kind = late[i].own_kind,
                               .waited = late[i].counted && late[i].doubt != TL_COMM_DOUBT_PARTNER &&
                                         to > late[i].start_ns };
        a->wait_ns = a->waited ? tl_ns_between(to, late[i].start_ns) : 0;
        a->doubt = late[i].doubt;
        a->open_ns = a->doubt != TL_COMM_DOUBT_NONE ? INT64_MAX : 0;
        if (a->doubt == TL_COMM_DOUBT_NONE && late[i].unsure_ns > 0)
            leave_open(&late[i], to, a);
    }
}

void tl_late_rows_answer(const tl_late_rows *late, tl_peer_answers *out)
{
    for (size_t from = 0, to; from < late->n; from = to) {
        to = tl_late_rows_end(late->v, late->n, from);
        answer(late->v + from, to - from, out);
    }
}
