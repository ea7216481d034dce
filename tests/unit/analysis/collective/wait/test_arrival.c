/* test_arrival.c - who waits for whom, what is transfer, and what that says; bandwidths. */
#include "meet.h"
#include "tlmpi/analysis/collective/wait.h"
#include "tlmpi/analysis/registry.h"
#include "unit.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

static void the_wait_is_from_the_own_arrival_to_the_last(void)
{
    meeting *m = meet("0: .AAAAAAAA.", "1: ...AAAAAA.", "2: ......AAAA", NULL);
    meeting_analyse(m);
    tl_collective_row *c = meeting_collective(m, 0);
    CU_ASSERT_EQUAL(c->n, 3);
    CU_ASSERT_EQUAL(c->s_first_ns, 1 * US);
    CU_ASSERT_EQUAL(c->s_last_ns, 6 * US);
    CU_ASSERT_EQUAL(c->e_first_ns, 9 * US);
    CU_ASSERT_EQUAL(c->end_spread_ns, 1 * US);
    CU_ASSERT_EQUAL(c->transfer_ns, 3 * US);
    CU_ASSERT_EQUAL(c->kernel_sum_ns, 18 * US);
    CU_ASSERT_EQUAL(c->wait_sum_ns, 8 * US);
    CU_ASSERT_EQUAL(c->late_rank, 2);
    CU_ASSERT_EQUAL(c->second_margin_ns, 3 * US);
    CU_ASSERT_EQUAL(c->skew_class, TL_SKEW_MIXED);
    static const int64_t waits[] = { 5, 3, 0 }, tails[] = { 0, 0, 1 };
    for (size_t i = 0; i < 3; i++) {
        CU_ASSERT_EQUAL(meeting_arrival(m, i)->rank, (int32_t)i);
        CU_ASSERT_EQUAL(meeting_arrival(m, i)->wait_ns, waits[i] * US);
        CU_ASSERT_EQUAL(meeting_arrival(m, i)->lead_ns, waits[i] * US);
        CU_ASSERT_EQUAL(meeting_arrival(m, i)->tail_ns, tails[i] * US);
    }
    meeting_free(m);
}

static void of_equal_arrivals_the_lowest_rank_is_late(void)
{
    meeting *m = meet("4: ..AA", "2: AAAA", "3: ..AA", NULL);
    m->ranks[0].rank = 2, m->ranks[1].rank = 3, m->ranks[2].rank = 4;
    meeting_analyse(m);
    CU_ASSERT_EQUAL(meeting_collective(m, 0)->late_rank, 3);
    CU_ASSERT_EQUAL(meeting_collective(m, 0)->second_margin_ns, 0);
    meeting_free(m);
}

/* The last comes when rank 0 is gone: its wait ends with its kernel, and nothing is left for the transfer. */
static void nobody_waits_past_the_end_of_its_own_kernel(void)
{
    meeting *m = meet("0: AAAA.....", "1: ......AAA", NULL);
    meeting_analyse(m);
    CU_ASSERT_EQUAL(meeting_arrival(m, 0)->wait_ns, 4 * US);
    CU_ASSERT_EQUAL(meeting_arrival(m, 0)->lead_ns, 6 * US);
    CU_ASSERT_EQUAL(meeting_arrival(m, 1)->wait_ns, 0);
    CU_ASSERT_EQUAL(meeting_collective(m, 0)->transfer_ns, 0);
    CU_ASSERT_EQUAL(meeting_collective(m, 0)->wait_sum_ns, 4 * US);
    meeting_free(m);
}

/* Rank 0 has lost the marks of its steps; the charge belongs to a step all the same. */
static void the_lowest_rank_that_knows_it_tells_the_step(void)
{
    meeting *m = meet("0: AAAA.BB.", "1: ..AA.BB.", "2: ..AA.BB.", NULL);
    for (size_t i = 0; i < m->nparticipants; i++)
        m->participants[i].step = m->participants[i].start_ns < 5 * US ? m->participants[i].rank - 1 + 7 * (m->participants[i].rank > 0) : -1;
    meeting_analyse(m);
    CU_ASSERT_EQUAL(meeting_collective(m, 0)->n, 3);
    CU_ASSERT_EQUAL(meeting_collective(m, 0)->step, 7);
    CU_ASSERT_EQUAL(meeting_collective(m, 1)->step, -1);
    meeting_free(m);
}

static void a_rank_may_leave_an_all_to_all_early(void)
{
    meeting *m = meet("0: AAAAAA...", "1: ....AAAAA", NULL);
    m->participants[0].kind = m->participants[1].kind = TL_ALL_TO_ALL;
    meeting_analyse(m);
    CU_ASSERT_EQUAL(meeting_collective(m, 0)->transfer_ns, 5 * US); /* the shortest kernel */
    CU_ASSERT_EQUAL(meeting_collective(m, 0)->suspect, TL_SUSPECT_NOTHING);
    meeting_free(m);
}

/* 0 sends, and is done before 2 comes; 1 has to wait for neither.  A column is 10 us here; within the clock error a
 * rank that seems to leave before has waited to its end. */
static void who_leaves_a_broadcast_early_has_not_waited_for_the_last(void)
{
    meeting *m = meet("0: AAAA.....", "1: ..AAAA...", "2: .......AA", NULL);
    for (size_t i = 0; i < m->nparticipants; i++) {
        m->participants[i].kind = TL_BROADCAST;
        m->participants[i].start_ns *= 10;
        m->participants[i].end_ns *= 10;
    }
    meeting_analyse(m);
    CU_ASSERT_EQUAL(meeting_arrival(m, 0)->lead_ns, 70 * US);
    CU_ASSERT_EQUAL(meeting_arrival(m, 0)->wait_ns, 20 * US); /* for 1 at most */
    CU_ASSERT_EQUAL(meeting_arrival(m, 1)->wait_ns, 40 * US); /* out by 10 us is not out */
    CU_ASSERT_EQUAL(meeting_arrival(m, 2)->wait_ns, 0);
    CU_ASSERT_EQUAL(meeting_collective(m, 0)->wait_sum_ns, 60 * US);
    CU_ASSERT_EQUAL(meeting_collective(m, 0)->wait_state, TL_WAIT_LATE_RANK);
    meeting_free(m);
}

static void the_share_of_waiting_names_the_class(void)
{
    static const struct {
        const char *early;
        tl_skew_class class;
    } cases[] = {
        { "0: AAAAAAAAAA", TL_SKEW_ARRIVAL },  /* 8 of 12 */
        { "0: .....AAAAA", TL_SKEW_MIXED },    /* 3 of 7 */
        { "0: ........AA", TL_SKEW_TRANSFER }, /* none */
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        meeting *m = meet(cases[i].early, "1: ........AA", NULL);
        meeting_analyse(m);
        CU_ASSERT_EQUAL(meeting_collective(m, 0)->skew_class, cases[i].class);
        meeting_free(m);
    }
}

/* Two clocks, each sure to 2 us: 3 us apart says nothing, unless next to nothing of it could be waiting. */
static void what_the_clocks_cannot_tell_is_inconclusive(void)
{
    static const struct {
        const char *first, *second;
        tl_skew_class class;
    } cases[] = {
        { "0: ...AAAAAAA", "1: ......AAAA", TL_SKEW_INCONCLUSIVE },
        { "0: .AAAAAAAAA", "1: ......AAAA", TL_SKEW_MIXED },
        { "0: AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA", "1: .AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA", TL_SKEW_TRANSFER },
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        meeting *m = meet(cases[i].first, cases[i].second, NULL);
        m->ranks[1].clock = 1;
        m->ranks[0].sigma_ns = m->ranks[1].sigma_ns = 2 * US;
        meeting_analyse(m);
        CU_ASSERT_EQUAL(meeting_collective(m, 0)->uncertainty_ns, 2 * US);
        CU_ASSERT_EQUAL(meeting_collective(m, 0)->skew_class, cases[i].class);
        meeting_free(m);
    }
}

static void one_rank_alone_waits_for_nobody(void)
{
    meeting *m = meet("0: .AAAA", NULL);
    m->group.size = 8;
    meeting_analyse(m);
    CU_ASSERT_EQUAL(meeting_collective(m, 0)->late_rank, -1);
    CU_ASSERT_EQUAL(meeting_collective(m, 0)->wait_sum_ns, 0);
    CU_ASSERT_EQUAL(meeting_collective(m, 0)->skew_class, TL_SKEW_NONE);
    CU_ASSERT_EQUAL(meeting_collective(m, 0)->state, TL_COLL_PARTIAL);
    CU_ASSERT_EQUAL(meeting_collective(m, 0)->match_rule, TL_BY_NOTHING);
    CU_ASSERT_EQUAL(meeting_arrival(m, 0)->match_rule, TL_BY_NOTHING);
    CU_ASSERT_TRUE(isnan(meeting_collective(m, 0)->busbw_gb_s));
    meeting_free(m);
}

/* Rank 0 waits 3 us for rank 1, whoever else takes part.  Only where all are there, and fit together, is the rest known to be transfer. */
static void without_all_ranks_the_rest_is_waiting_or_transfer(void)
{
    static const struct {
        const char *other;
        int32_t size, seen;
        int64_t bytes, wait_us;
        tl_comm_doubt doubt;
        tl_collective kind;
    } cases[] = {
        { "1: ...AAA", 2, 2, 8, 3, TL_COMM_DOUBT_NONE, TL_ALL_REDUCE },
        { "1: ...AAA", 3, 2, 8, 3, TL_COMM_DOUBT_NO_TRACE, TL_ALL_REDUCE },
        { "1: ...AAA", -1, 2, 8, 3, TL_COMM_DOUBT_NO_TRACE, TL_ALL_REDUCE },
        { "1: ...AAA", 3, 3, 8, 3, TL_COMM_DOUBT_MISSING, TL_ALL_REDUCE },
        { "1: ...AAA", 2, 2, 9, 0, TL_COMM_DOUBT_SUSPECT, TL_ALL_REDUCE },
        { "1: ...AAA", 2, 2, 8, 0, TL_COMM_DOUBT_PARTNER, TL_SEND_RECV },
        { "1: ......", 2, 2, 8, 0, TL_COMM_DOUBT_UNMATCHED, TL_ALL_REDUCE },
        { "1: ......", 2, 1, 8, 0, TL_COMM_DOUBT_NO_TRACE, TL_ALL_REDUCE },
        { "1: ......", -1, 1, 8, 0, TL_COMM_DOUBT_NO_TRACE, TL_ALL_REDUCE },
        { "1: ......", 1, 1, 8, 0, TL_COMM_DOUBT_NONE, TL_ALL_REDUCE },
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        meeting *m = meet("0: AAAAAA", cases[i].other, NULL);
        const tl_collective_run run = { .n = m->nparticipants };
        tl_late_rows late = { 0 };
        tl_peer_answers answers = { 0 };
        m->group.size = cases[i].size;
        m->group.seen = cases[i].seen;
        m->group.inferred = 1;
        for (size_t p = 0; p < m->nparticipants; p++)
            m->participants[p].kind = (uint8_t)cases[i].kind;
        m->participants[0].bytes = 8;
        m->participants[m->nparticipants - 1].bytes = cases[i].bytes;
        tl_collective_view c = tl_collective_of_run(m->participants, &run, &m->facts);
        CU_ASSERT_EQUAL(tl_comm_doubt_of(&c), cases[i].doubt);
        tl_late_rows_add(&late, &c);
        tl_late_rows_answer(&late, &answers);
        CU_ASSERT_EQUAL_FATAL(answers.n, m->nparticipants);
        CU_ASSERT_EQUAL(answers.v[0].doubt, cases[i].doubt);
        CU_ASSERT_EQUAL(answers.v[0].wait_ns, cases[i].wait_us * US);
        CU_ASSERT_EQUAL(answers.v[0].open_ns, cases[i].doubt == TL_COMM_DOUBT_NONE ? 0 : INT64_MAX);
        free(late.v);
        free(answers.v);
        meeting_free(m);
    }
}

/* Clocks were corrected, and may still be 1 us off: rank 0 waited for 2 us at least and for 4 at most, and rank 1 for 1 us
 * at most.  A clock that is possible as recorded leaves nothing open. */
static void what_corrected_clocks_leave_open_is_unknown(void)
{
    for (int applied = 0; applied < 2; applied++) {
        meeting *m = meet("0: AAAAAA", "1: ...AAA", NULL);
        const tl_collective_run run = { .n = m->nparticipants };
        tl_late_rows late = { 0 };
        tl_peer_answers answers = { 0 };
        m->group.size = m->group.seen = 2;
        m->ranks[1].clock = 1;
        m->ranks[1].sigma_ns = 1 * US;
        m->ranks[1].applied = applied;
        tl_collective_view c = tl_collective_of_run(m->participants, &run, &m->facts);
        tl_late_rows_add(&late, &c);
        tl_late_rows_answer(&late, &answers);
        CU_ASSERT_EQUAL_FATAL(answers.n, 2);
        CU_ASSERT_EQUAL(answers.v[0].wait_ns, (applied ? 2 : 3) * US);
        CU_ASSERT_EQUAL(answers.v[0].open_ns, (applied ? 2 : 0) * US);
        CU_ASSERT_EQUAL(answers.v[1].wait_ns, 0);
        CU_ASSERT_EQUAL(answers.v[1].open_ns, (applied ? 1 : 0) * US);
        CU_ASSERT_EQUAL(answers.v[1].doubt, applied ? TL_COMM_DOUBT_CLOCKS : TL_COMM_DOUBT_NONE);
        free(late.v);
        free(answers.v);
        meeting_free(m);
    }
}

static void a_launch_lag_is_never_negative(void)
{
    meeting *m = meet("0: ..AAA", "1: ..AAA", "2: ..AAA", NULL);
    m->participants[0].launch_ns = 1 * US;
    m->participants[1].launch_ns = 3 * US;
    meeting_analyse(m);
    CU_ASSERT_EQUAL(meeting_arrival(m, 0)->launch_lag_ns, 1 * US);
    CU_ASSERT_EQUAL(meeting_arrival(m, 1)->launch_lag_ns, 0);
    CU_ASSERT_EQUAL(meeting_arrival(m, 2)->launch_lag_ns, -1);
    meeting_free(m);
}

/* Four microseconds of transfer after the last arrival: 8,000 bytes in them are 2 GB/s, on the bus of four ranks 3
 * GB/s. */
static void bandwidth_is_of_the_time_after_the_last_arrival(void)
{
    meeting *m = meet("0: AAAAAAAAAA", "1: ......AAAA", "2: ......AAAA", "3: ......AAAA", NULL);
    for (int i = 0; i < 4; i++)
        m->participants[i].bytes = 8000;
    meeting_analyse(m);
    CU_ASSERT_DOUBLE_EQUAL(meeting_collective(m, 0)->busbw_gb_s, 3, 1e-12);
    meeting_free(m);
}

static void fold_all(tl_tables *tables)
{
    for (const tl_analysis *const *a = tl_analyses; *a != NULL; a++)
        if ((*a)->fold != NULL)
            (*a)->fold(tables);
}

static void reduce_all(tl_tables *tables)
{
    static const tl_analysis *const all[] = { &tl_group_analysis, &tl_bandwidth_analysis, &tl_quality_analysis };
    for (size_t i = 0; i < COUNT(all); i++)
        all[i]->reduce(tables);
}

/* The sums of a meeting, made of its collectives in `shares` shares as several procs would, in a group of that size. */
static void sum_up_group(const meeting *m, size_t shares, int32_t size, tl_tables *job)
{
    size_t n;
    const tl_schema *const *schemas = tl_all_schemas(&n);
    const tl_table *collectives = tl_tables_get((tl_tables *)&m->out, &tl_collective_row_schema);
    const tl_table *arrivals = tl_tables_get((tl_tables *)&m->out, &tl_arrival_schema);

    tl_tables_init(job, schemas, n);
    tl_group_row known = { .name = "g", .size = size, .seen = size == 1 ? 1 : 2 };
    tl_table_append(tl_tables_get(job, &tl_group_row_schema), &known, 1);
    for (size_t s = 0; s < shares; s++) {
        tl_tables part;
        tl_tables_init(&part, schemas, n);
        for (size_t i = s; i < collectives->n; i += shares)
            tl_table_append(tl_tables_get(&part, &tl_collective_row_schema), tl_table_row(collectives, i), 1);
        for (size_t i = s; i < arrivals->n; i += shares)
            tl_table_append(tl_tables_get(&part, &tl_arrival_schema), tl_table_row(arrivals, i), 1);
        fold_all(&part);
        for (size_t t = 0; t < part.n; t++)
            if (part.v[t].schema->scope == TL_SCOPE_JOB) {
                tl_table_append(&job->v[t], part.v[t].rows, part.v[t].n);
                tl_table_sort(&job->v[t]);
            }
        tl_tables_free(&part);
    }
    reduce_all(job);
}

static void sum_up(const meeting *m, size_t shares, tl_tables *job)
{
    sum_up_group(m, shares, 2, job);
}

static const tl_quality *quality(tl_tables *job, const char *check)
{
    const tl_table *table = tl_tables_get(job, &tl_quality_schema);
    for (size_t i = 0; i < table->n; i++)
        if (strcmp(tl_check_labels[((const tl_quality *)tl_table_row(table, i))->check], check) == 0)
            return tl_table_row(table, i);
    CU_FAIL_FATAL("no such check");
    return NULL;
}

static meeting *three_collectives(void)
{
    meeting *m = meet("0: AAAA..BBBB..CC..D", "1: ..AA...BBB..CC...", NULL);
    for (size_t i = 0; i < m->nparticipants; i++)
        m->participants[i].bytes = m->participants[i].key == 'A' ? 1000 : m->participants[i].key == 'B' ? 1023 : 4096;
    meeting_analyse(m);
    return m;
}

static void sums_by_group_kind_and_size(void)
{
    meeting *m = three_collectives();
    tl_tables job;
    sum_up(m, 1, &job);
    const tl_table *table = tl_tables_get(&job, &tl_bandwidth_schema);
    CU_ASSERT_EQUAL_FATAL(table->n, 2);
    const tl_bandwidth *small = tl_table_row(table, 0), *large = tl_table_row(table, 1);
    CU_ASSERT_EQUAL(small->bytes_from, 512);
    CU_ASSERT_EQUAL(small->collectives, 2);
    CU_ASSERT_EQUAL(small->ranks, 2);
    CU_ASSERT_EQUAL(small->bytes, 2023);
    CU_ASSERT_EQUAL(small->transfer_ns, 5 * US);
    CU_ASSERT_EQUAL(small->wait_ns, 3 * US);
    CU_ASSERT_DOUBLE_EQUAL((double)small->bytes / (double)small->transfer_ns, 0.4046, 1e-12);
    CU_ASSERT_EQUAL(large->bytes_from, 4096);
    const tl_table *groups = tl_tables_get(&job, &tl_group_row_schema);
    CU_ASSERT_EQUAL_FATAL(groups->n, 1);
    const tl_group_row *g = tl_table_row(groups, 0);
    CU_ASSERT_STRING_EQUAL(g->name, "g");
    CU_ASSERT_EQUAL(g->collectives, 4);
    CU_ASSERT_EQUAL(g->matched, 3);
    CU_ASSERT_EQUAL(g->wait_ns, 3 * US);
    CU_ASSERT_EQUAL(quality(&job, "collective_matched")->count, 3);
    CU_ASSERT_EQUAL(quality(&job, "collective_matched")->of, 4);
    CU_ASSERT_EQUAL(quality(&job, "arrival_by_launch")->count, 6);
    CU_ASSERT_EQUAL(quality(&job, "arrival_alone")->count, 1);
    CU_ASSERT_EQUAL(quality(&job, "wait_late_rank")->count, 3 * US);
    tl_tables_free(&job);
    meeting_free(m);
}

/* Where a rank of the group has no trace, nobody knows when the last came, and so no transfer: not of one rank alone, not of two. */
static void without_all_ranks_there_is_no_transfer_and_no_bandwidth(void)
{
    for (int32_t size = 1; size <= 4; size++) {
        meeting *m = size % 2 == 0 ? meet("0: AAAA..BB", "1: ..AA..BB", NULL) : meet("0: AAAA..BB", NULL);
        bool whole = size == 2;
        tl_tables job;
        m->group.size = size;
        for (size_t i = 0; i < m->nparticipants; i++)
            m->participants[i].bytes = 6000;
        meeting_analyse(m);
        CU_ASSERT_EQUAL(meeting_collective(m, 0)->skew_class, size == 1 || size == 3 ? TL_SKEW_NONE : whole ? TL_SKEW_MIXED : TL_SKEW_NONE);
        CU_ASSERT_EQUAL(isnan(meeting_collective(m, 0)->busbw_gb_s), !whole);
        sum_up_group(m, 1, size, &job);
        CU_ASSERT_EQUAL(tl_tables_get(&job, &tl_bandwidth_schema)->n, whole);
        const tl_group_row *group = tl_table_row(tl_tables_get(&job, &tl_group_row_schema), 0);
        CU_ASSERT_EQUAL(group->wait_ns, size % 2 == 0 ? 2 * US : 0); /* of those who are there one waited for the other */
        tl_tables_free(&job);
        meeting_free(m);
    }
}

static void of_matched_ones_alone_it_is_told_how_many_are_in_no_step(void)
{
    meeting *m = meet("0: AAAA..BBBB", "1: ..AA...BBB", "2: .AAA......", NULL);
    tl_tables job;
    meeting_analyse(m);
    sum_up(m, 1, &job);
    CU_ASSERT_EQUAL(quality(&job, "collective_missing")->count, 1);
    CU_ASSERT_EQUAL(quality(&job, "collective_matched")->count, 1);
    CU_ASSERT_EQUAL(quality(&job, "collective_outside_steps")->of, 1);
    tl_tables_free(&job);
    meeting_free(m);
}

static void sums_do_not_depend_on_who_has_what(void)
{
    meeting *m = three_collectives();
    tl_tables one, three;
    sum_up(m, 1, &one);
    sum_up(m, 3, &three);
    for (size_t t = 0; t < one.n; t++) {
        CU_ASSERT_EQUAL_FATAL(one.v[t].n, three.v[t].n);
        if (one.v[t].schema != &tl_quality_schema && one.v[t].n > 0)
            CU_ASSERT_EQUAL(memcmp(one.v[t].rows, three.v[t].rows, one.v[t].n * one.v[t].schema->row_size), 0);
    }
    /* The balance is taken where a collective's arrivals are, which here are dealt out apart from it. */
    CU_ASSERT_EQUAL(quality(&one, "arrival_by_launch")->count, quality(&three, "arrival_by_launch")->count);
    tl_tables_free(&one);
    tl_tables_free(&three);
    meeting_free(m);
}

int main(void)
{
    static const unit_test tests[] = {
        TEST(the_wait_is_from_the_own_arrival_to_the_last),
        TEST(of_equal_arrivals_the_lowest_rank_is_late),
        TEST(nobody_waits_past_the_end_of_its_own_kernel),
        TEST(the_lowest_rank_that_knows_it_tells_the_step),
        TEST(a_rank_may_leave_an_all_to_all_early),
        TEST(who_leaves_a_broadcast_early_has_not_waited_for_the_last),
        TEST(the_share_of_waiting_names_the_class),
        TEST(what_the_clocks_cannot_tell_is_inconclusive),
        TEST(one_rank_alone_waits_for_nobody),
        TEST(without_all_ranks_the_rest_is_waiting_or_transfer),
        TEST(what_corrected_clocks_leave_open_is_unknown),
        TEST(a_launch_lag_is_never_negative),
        TEST(bandwidth_is_of_the_time_after_the_last_arrival),
        TEST(sums_by_group_kind_and_size),
        TEST(without_all_ranks_there_is_no_transfer_and_no_bandwidth),
        TEST(of_matched_ones_alone_it_is_told_how_many_are_in_no_step),
        TEST(sums_do_not_depend_on_who_has_what),
    };
    return unit_main("arrival", tests, COUNT(tests));
}
