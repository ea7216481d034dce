/* test_match.c - collectives matched on as many procs as mpirun starts: a job that is known beforehand. */
#include "dealt.h"

static void check_collective(const tl_collective_row *c, const tl_arrival *a, int64_t number)
{
    int k = (int)(c->s_first_ns / (40 * MS)), meeting = (int)(c->s_first_ns / (20 * MS) % 2);
    int32_t first = meeting == 0 ? 0 : a->rank, n = meeting == 0 ? RANKS : 4;
    int64_t waits = 0, last = last_ns(k, meeting, first, n);

    CU_ASSERT_EQUAL(c->collective, number);
    CU_ASSERT_EQUAL(c->n, n);
    CU_ASSERT_EQUAL(c->state, TL_COLL_WHOLE);
    CU_ASSERT_EQUAL(c->suspect, TL_SUSPECT_NOTHING);
    CU_ASSERT_EQUAL(c->group, meeting == 0 ? 0 : 1 + first / 4);
    CU_ASSERT_EQUAL(c->s_last_ns, last);
    CU_ASSERT_EQUAL(c->e_first_ns, end_ns(k, meeting, first, n));
    for (int32_t i = 0; i < c->n; i++) {
        CU_ASSERT_EQUAL(a[i].collective, number);
        CU_ASSERT_EQUAL(a[i].rank, first + i);
        CU_ASSERT_EQUAL(a[i].start_ns, arrival_ns(k, meeting, first + i));
        CU_ASSERT_EQUAL(a[i].wait_ns, last - arrival_ns(k, meeting, first + i));
        waits += a[i].wait_ns;
    }
    CU_ASSERT_EQUAL(c->wait_sum_ns, waits);
}

static int32_t last_rank(int k, int meeting, int32_t first, int32_t n)
{
    int32_t last = first;
    for (int32_t r = first; r < first + n; r++)
        last = arrival_ns(k, meeting, r) > arrival_ns(k, meeting, last) ? r : last;
    return last;
}

/* What each rank waited, as gaps and as sums.  ahead_ns: as it was dealt out; where it is not 0, clocks are corrected, and
 * waits are told but for what these leave open. */
static void check_peers(int64_t ahead_ns)
{
    size_t n, at = 0;
    tl_gap_peer *rows = gather_rows(&tl_gap_peer_schema, &n);
    const tl_table *idle = tl_tables_get(&tables, &tl_idle_summary_schema);

    for (int32_t r = 0; me == 0 && r < RANKS; r++) {
        int64_t peers = 0;
        for (int k = 0; k < ROUNDS; k++)
            for (int meeting = 0; meeting < 2; meeting++) {
                int32_t first = meeting == 0 ? 0 : r / 4 * 4, many = meeting == 0 ? RANKS : 4;
                int64_t start = arrival_ns(k, meeting, r), ns = end_ns(k, meeting, first, many) - start;
                int64_t wait = last_ns(k, meeting, first, many) - start;
                if (wait <= ns / 2)
                    continue; /* the second half is transfer */
                CU_ASSERT_FATAL(at < n);
                CU_ASSERT_EQUAL(rows[at].rank, r);
                CU_ASSERT_EQUAL(rows[at].start_ns, start + (r < RANKS - 4 ? 0 : ahead_ns)); /* the rank's own clock */
                CU_ASSERT(rows[at].peer_ns <= wait - ns / 2 && rows[at].peer_ns >= wait - ns / 2 - (ahead_ns != 0 ? MS : 0));
                CU_ASSERT_EQUAL(rows[at].late_rank, last_rank(k, meeting, first, many));
                peers += rows[at++].peer_ns;
            }
        const tl_idle_summary *row = tl_table_row(idle, (size_t)r);
        CU_ASSERT_EQUAL(row->peer_ns, peers);
    }
    CU_ASSERT(me != 0 || at == n);
    free(rows);
}

static void check_known_job(tl_match_rule rule)
{
    size_t n, narrivals, at = 0;
    tl_collective_row *c = gather_rows(&tl_collective_row_schema, &n);
    tl_arrival *a = gather_rows(&tl_arrival_schema, &narrivals);

    if (me == 0) {
        CU_ASSERT_EQUAL(n, 4 * ROUNDS);
        CU_ASSERT_EQUAL(narrivals, 2 * ROUNDS * RANKS);
        for (size_t i = 0; i < n && at + (size_t)c[i].n <= narrivals; at += (size_t)c[i].n, i++) {
            CU_ASSERT(i == 0 || c[i].s_first_ns >= c[i - 1].s_first_ns);
            CU_ASSERT_EQUAL(c[i].match_rule, rule);
            check_collective(&c[i], &a[at], (int64_t)i);
        }
        CU_ASSERT_EQUAL(tl_tables_get(&tables, &tl_group_row_schema)->rows == NULL, false);
        CU_ASSERT_EQUAL(tl_tables_get(&tables, &tl_clock_schema)->n, RANKS);
    }
    free(c);
    free(a);
}

static void by_launch_everybody_meets_whom_he_met(void)
{
    deal_out(BY_LAUNCH, 0);
    match(TL_CLOCK_AUTO);
    check_known_job(TL_BY_LAUNCH);
    check_peers(0);
}

static void so_they_do_by_number(void)
{
    deal_out(BY_SEQ, 0);
    match(TL_CLOCK_NONE);
    check_known_job(TL_BY_SEQ);
}

static void so_they_do_by_ends_alone(void)
{
    deal_out(BY_ENDS, 0);
    match(TL_CLOCK_AUTO);
    check_known_job(TL_BY_ENDTIME);
}

static void a_clock_that_is_ahead_is_set_back(void)
{
    deal_out(BY_SEQ, 77 * MS);
    match(TL_CLOCK_AUTO);
    check_known_job(TL_BY_SEQ);
    check_peers(77 * MS);
    const tl_table *clocks = tl_tables_get(&tables, &tl_clock_schema);
    for (size_t i = 0; me == 0 && i < clocks->n; i++) {
        const tl_clock *c = tl_table_row(clocks, i);
        CU_ASSERT_EQUAL(c->offset_ns, i < RANKS - 4 ? 0 : 77 * MS);
        CU_ASSERT_EQUAL(c->applied, i >= RANKS - 4);
        CU_ASSERT_EQUAL(c->anchors, i < RANKS ? 2 * ROUNDS : 0);
    }
}

/* Nothing names the group, and rank 3 begins to record two rounds after the others, in the middle of a step. */
static void who_begins_to_record_later_is_of_the_group(void)
{
    begin(RANKS);
    for (int32_t r = 0; r < RANKS; r++) {
        if (!is_mine(r))
            continue;
        int32_t membership = add_membership(r, 7000, -1);
        set.memberships.v[membership].inferred = 1;
        for (int k = r == 3 ? 2 : 0; k < ROUNDS; k++) {
            tl_participant *p = add_part(r, membership, arrival_ns(k, 0, r), end_ns(k, 0, 0, RANKS));
            p->step = k < 5 ? -1 : k / 5;
            p->nth = k < 5 && r == 3 ? k - 2 : k % 5;
            set.memberships.v[membership].nlaunched++;
        }
    }
    match(TL_CLOCK_AUTO);
    const tl_table *groups = tl_tables_get(&tables, &tl_group_row_schema);
    int32_t most = 0;
    for (size_t i = 0; me == 0 && i < groups->n; i++) {
        const tl_group_row *row = tl_table_row(groups, i);
        most = row->seen > most ? row->seen : most;
    }
    CU_ASSERT(me != 0 || most == RANKS);
}

static const unit_test tests[] = {
    TEST(by_launch_everybody_meets_whom_he_met),
    TEST(so_they_do_by_number),
    TEST(so_they_do_by_ends_alone),
    TEST(a_clock_that_is_ahead_is_set_back),
    TEST(who_begins_to_record_later_is_of_the_group),
};

int main(int argc, char **argv)
{
    int failed = procs_main(argc, argv, "match", tests, COUNT(tests));
    tl_tables_free(&tables);
    tl_participants_free(&set);
    return failed;
}
