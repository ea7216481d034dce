/* test_clocks_doubt.c - what is told of clocks beside their offsets: who can be compared, and how far they may be
 * off. */
#include "clock_job.h"
#include "tlmpi/model/coll_tables.h"
#include <math.h>

/* Of ranks that meet nobody in common nothing is known. */
static void clocks_that_nothing_compares_are_components(void)
{
    begin(4, 2);
    for (int k = 0; k < 4; k++) {
        j.key++;
        add(0, TL_ALL_REDUCE, TL_NO_PEER, k * MS, k * MS + 500 * US);
        add(1, TL_ALL_REDUCE, TL_NO_PEER, k * MS, k * MS + 500 * US);
        j.key++;
        add(2, TL_ALL_REDUCE, TL_NO_PEER, k * MS, k * MS + 500 * US);
        add(3, TL_ALL_REDUCE, TL_NO_PEER, k * MS, k * MS + 500 * US);
    }
    find(TL_CLOCK_AUTO);
    CU_ASSERT_EQUAL(j.rank_clocks[0].component, j.rank_clocks[1].component);
    CU_ASSERT_EQUAL(j.rank_clocks[2].component, j.rank_clocks[3].component);
    CU_ASSERT_NOT_EQUAL(j.rank_clocks[0].component, j.rank_clocks[2].component);
}

/* A broadcast, an all-to-all and a collective in which sizes disagree say nothing of clocks. */
static void only_what_nobody_leaves_early_tells(void)
{
    static const tl_collective kinds[] = { TL_BROADCAST, TL_ALL_TO_ALL, TL_ALL_REDUCE };
    for (size_t k = 0; k < 3; k++) {
        begin(2, 1);
        j.key++;
        add(0, kinds[k], TL_NO_PEER, 0, MS);
        add(1, kinds[k], TL_NO_PEER, 9 * MS, 10 * MS);
        j.participants[0].bytes = 1024;
        j.participants[1].bytes = 2048;
        find(TL_CLOCK_AUTO);
        CU_ASSERT_FALSE(j.rank_clocks[1].applied);
    }
}

/* Members end 0, 30 and 60 us after the first, and of a transfer of 1 ms a part is open. */
static void what_ends_differ_by_is_told(void)
{
    tl_clock_ends ends = { 0 };
    begin(3, 0);
    for (int k = 0; k < 10; k++, j.key++)
        for (int32_t r = 0; r < 3; r++)
            add(r, TL_ALL_REDUCE, TL_NO_PEER, k * 5 * MS, k * 5 * MS + MS + r * 30 * US);
    fit(TL_TIME_UNKNOWN, &ends);
    CU_ASSERT_EQUAL_FATAL(ends.n, 3);
    for (int32_t r = 0; r < 3; r++) {
        CU_ASSERT_EQUAL(ends.v[r].rank, r);
        CU_ASSERT_EQUAL(ends.v[r].late_ns, (r - 1) * 30 * US);
        CU_ASSERT_EQUAL(ends.v[r].n, 10);
        CU_ASSERT_TRUE(ends.v[r].sigma_ns >= (double)MS / TL_CLOCK_ENDS_PART);
        CU_ASSERT_TRUE(ends.v[r].sigma_ns <= 51.0 * (double)US);
    }
    j.participants[1].kind = TL_BROADCAST;
    fit(TL_TIME_UNKNOWN, &ends);
    CU_ASSERT_EQUAL(ends.n, 3);
    CU_ASSERT_EQUAL(ends.v[0].n, 9);
    free(ends.v);
}

/* The receiver comes 2 ms late to all messages one way: only with those of the other way they tell, and are as unsure. */
static void messages_tell_in_both_ways_alone(void)
{
    tl_clock_ends ends = { 0 };
    begin(2, 0);
    for (int k = 0; k < 10; k++, j.key++) {
        add(0, TL_SEND, 1, k * 5 * MS, k * 5 * MS + MS);
        add(1, TL_RECV, 0, k * 5 * MS + 3 * MS, k * 5 * MS + 3 * MS + 10 * US);
    }
    fit(TL_TIME_UNKNOWN, &ends);
    CU_ASSERT_EQUAL_FATAL(ends.n, 2);
    CU_ASSERT_FALSE(isfinite(ends.v[0].sigma_ns));
    for (int k = 0; k < 10; k++, j.key++) {
        add(1, TL_SEND, 0, k * 5 * MS + 4 * MS, k * 5 * MS + 4 * MS + 10 * US);
        add(0, TL_RECV, 1, k * 5 * MS + MS, k * 5 * MS + 4 * MS + 10 * US);
    }
    fit(TL_TIME_UNKNOWN, &ends);
    CU_ASSERT_EQUAL_FATAL(ends.n, 2);
    CU_ASSERT_TRUE(ends.v[0].sigma_ns >= (double)(ends.v[1].late_ns - ends.v[0].late_ns) / 2);
    CU_ASSERT_TRUE(isfinite(ends.v[0].sigma_ns));
    free(ends.v);
}

static void what_is_found_stands_in_the_table(void)
{
    tl_table table = { .schema = &tl_clock_schema };
    const tl_clock_end ends[] = { { .rank = 0, .n = 4 }, { .rank = 1, .n = 3 }, { .rank = 1, .n = 2 } };
    begin(3, 1);
    for (int32_t i = 0; i < 3; i++) {
        tl_clock *row = tl_table_add(&table);
        row->rank = i;
        j.rank_clocks[i].clock = i;
        j.rank_clocks[i].step_ns = i * MS;
        j.rank_clocks[i].sigma_ns = i == 0 ? 60 * US : i == 1 ? 40 * US : INT64_MAX;
    }
    tl_clock_rows_fill(j.rank_clocks, 3, ends, 3, &table);
    const tl_clock *rows = (const tl_clock *)(const void *)table.rows;
    CU_ASSERT_EQUAL(rows[0].sigma_ns, 60 * US);
    CU_ASSERT_EQUAL(rows[0].anchors, 4);
    CU_ASSERT_EQUAL(rows[1].sigma_ns, 40 * US);
    CU_ASSERT_EQUAL(rows[1].anchors, 5);
    CU_ASSERT_EQUAL(rows[2].sigma_ns, -1);
    CU_ASSERT_EQUAL(rows[2].step_ns, 2 * MS);
    CU_ASSERT_EQUAL(rows[2].anchors, 0);
    tl_table_free(&table);
}

/* Meetings and messages of four ranks, each off by years or not; in the other order if `turned`. */
static void record_years_apart(uint32_t seed, bool turned)
{
    enum { RECORDED = 12 };
    static const int64_t YEARS = INT64_C(100000000000000000);
    begin(4, 0);
    for (uint64_t k = 1; k <= RECORDED; k++) {
        int64_t start_ns[4];
        bool message = k % 3 == 0;
        j.key = turned ? RECORDED + 1 - k : k;
        for (uint32_t r = 0; r < 4; r++) {
            seed = seed * 1664525 + 1013904223;
            start_ns[r] = (int64_t)k * MS + (int64_t)(seed >> 24) % 6 * YEARS;
        }
        uint32_t from = (seed >> 8) % 4, to = (from + 1 + (seed >> 16) % 3) % 4;
        add((int32_t)from, message ? TL_SEND : TL_ALL_REDUCE, message ? (int32_t)to : TL_NO_PEER, start_ns[from],
            start_ns[from] + MS);
        add((int32_t)to, message ? TL_RECV : TL_ALL_REDUCE, message ? (int32_t)from : TL_NO_PEER, start_ns[to],
            start_ns[to] + MS);
    }
    find(TL_CLOCK_AUTO);
}

/* The order that collectives are in depends on how many procs share them. */
static void clocks_years_apart_do_not_depend_on_the_order(void)
{
    for (uint32_t seed = 0; seed < 300; seed++) {
        tl_rank_clock first[4];
        record_years_apart(seed, false);
        memcpy(first, j.rank_clocks, sizeof first);
        record_years_apart(seed, true);
        for (size_t i = 0; i < 4; i++) {
            CU_ASSERT_EQUAL(j.rank_clocks[i].offset_ns, first[i].offset_ns);
            CU_ASSERT_EQUAL(j.rank_clocks[i].sigma_ns, first[i].sigma_ns);
            CU_ASSERT_TRUE(first[i].sigma_ns == INT64_MAX || first[i].sigma_ns < INT64_MAX / 16);
        }
    }
}

/* What one is so far off from is left out, and tells nothing of the others. */
static void a_clock_ages_off_leaves_the_others_alone(void)
{
    begin(3, 1);
    j.ahead[1] = 7 * MS;
    j.ahead[2] = INT64_C(-1700000000000000000);
    for (int k = 0; k < 20; k++) {
        int64_t at = (k + 1) * 10 * MS, wait_ns = k % 2 * 3 * MS;
        j.key++;
        for (int32_t r = 0; r < (k % 4 == 3 ? 3 : 2); r++)
            add(r, TL_ALL_REDUCE, TL_NO_PEER, at + (r == 1 ? wait_ns : 3 * MS - wait_ns), at + 3100 * US);
    }
    find(TL_CLOCK_AUTO);
    CU_ASSERT_TRUE(llabs(j.rank_clocks[1].offset_ns - j.rank_clocks[0].offset_ns - 7 * MS) <= 10 * US);
    CU_ASSERT_EQUAL(j.rank_clocks[2].component, 2);
    CU_ASSERT_FALSE(j.rank_clocks[2].applied);
}

/* Four ranks end all-reduces of 1 ms together, but for rank 3, whose clock is off by so much. */
static void end_together_but_for(int64_t off_ns, bool guessed)
{
    begin(4, guessed ? 4 : 0);
    j.ahead[3] = off_ns;
    for (size_t i = 0; i < j.nrank_clocks; i++)
        j.rank_clocks[i].guessed = guessed;
    for (int k = 0; k < 20; k++, j.key++)
        for (int32_t r = 0; r < 4; r++)
            add(r, TL_ALL_REDUCE, TL_NO_PEER, k * 5 * MS, k * 5 * MS + MS);
    find(TL_CLOCK_AUTO);
}

/* Recorded times are possible: nothing is corrected, but who is off is told. */
static void process_ids_are_no_proof_of_one_clock(void)
{
    for (int guessed = 0; guessed < 2; guessed++) {
        end_together_but_for(0, guessed);
        CU_ASSERT_EQUAL(j.rank_clocks[3].offset_ns, 0);
        CU_ASSERT_TRUE((j.rank_clocks[3].clock == j.rank_clocks[0].clock) == guessed);
        end_together_but_for(400 * US, guessed);
        CU_ASSERT_TRUE(llabs(j.rank_clocks[3].offset_ns - 400 * US) <= 10 * US);
        CU_ASSERT_NOT_EQUAL(j.rank_clocks[3].clock, j.rank_clocks[0].clock);
        CU_ASSERT_FALSE(j.rank_clocks[3].applied);
        CU_ASSERT_EQUAL(j.rank_clocks[1].offset_ns, 0);
    }
}

int main(void)
{
    static const unit_test tests[] = {
        TEST(clocks_that_nothing_compares_are_components),
        TEST(only_what_nobody_leaves_early_tells),
        TEST(what_ends_differ_by_is_told),
        TEST(messages_tell_in_both_ways_alone),
        TEST(what_is_found_stands_in_the_table),
        TEST(clocks_years_apart_do_not_depend_on_the_order),
        TEST(a_clock_ages_off_leaves_the_others_alone),
        TEST(process_ids_are_no_proof_of_one_clock),
    };
    return unit_main("clocks_doubt", tests, COUNT(tests));
}
