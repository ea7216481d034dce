/* test_withhold.c - verdicts that the clocks do not carry.
 *
 * Two ranks over 8 steps of 10 ms; the first costs 600 us of each of its 8 steps.
 */
#include "src/analysis/judging/withhold.h"
#include "unit.h"
#include <string.h>

enum { RANKS = 2, STEPS = 8 };

static const double US = 1000;
static tl_table blame_step = { .schema = &tl_blame_step_schema }, stragglers = { .schema = &tl_straggler_schema };

static bool replayed;

static const tl_straggler *judge(size_t rank, tl_hidden hidden)
{
    static const double gain_ns[RANKS * STEPS];
    tl_job_step steps[STEPS];
    const tl_hidden both[RANKS] = { hidden, hidden };
    tl_straggler rows[RANKS] = { { .rank = 0,
                                   .verdict = TL_VERDICT_STRAGGLER,
                                   .cause = TL_CAUSE_HOST_LATE,
                                   .pattern = TL_PATTERN_PERSISTENT,
                                   .share_steps = 1,
                                   .gain_ns = 4800000 },
                                 { .rank = 1, .verdict = TL_VERDICT_OK } };

    blame_step.n = stragglers.n = 0;
    CU_ASSERT_FATAL(tl_table_append(&stragglers, rows, RANKS));
    for (int32_t r = 0; r < RANKS; r++)
        for (int32_t s = 0; s < STEPS; s++) {
            const tl_blame_step row = { .rank = r, .step = s, .flagged = r == 0, .gain_ns = r == 0 ? 600000 : 0 };
            CU_ASSERT_FATAL(tl_table_append(&blame_step, &row, 1));
            steps[s] = (tl_job_step){ s, 10000000 };
        }
    const tl_verdict_input in = {
        .nranks = RANKS, .steps = steps, .nsteps = STEPS, .gain_ns = replayed ? gain_ns : NULL
    };
    tl_verdict_withhold(&in, both, -1, &blame_step, &stragglers);
    return tl_table_row(&stragglers, rank);
}

static bool says(const tl_straggler *row, const char *words)
{
    return strstr(row->reason, words) != NULL;
}

static void what_costs_less_than_the_clocks_leave_open_is_no_verdict(void)
{
    const tl_straggler *row = judge(0, (tl_hidden){ 16, 16, 0, 700 * US });
    CU_ASSERT_EQUAL(row->verdict, TL_VERDICT_INCONCLUSIVE);
    CU_ASSERT_TRUE(says(row, "rank 0 costs 0.6 ms a step by its own time, less than the clocks leave open (+-0.7 ms)"));
    row = judge(0, (tl_hidden){ 16, 16, 0, 500 * US });
    CU_ASSERT_EQUAL(row->verdict, TL_VERDICT_STRAGGLER);
    CU_ASSERT_TRUE(says(row, "by its own time: clocks hide who came last"));
}

/* One that shares its host with those it works for, by most of its collectives. */
static void where_most_arrivals_are_known_the_verdict_stands(void)
{
    CU_ASSERT_EQUAL(judge(0, (tl_hidden){ 16, 8, 0, 700 * US })->verdict, TL_VERDICT_STRAGGLER);
    CU_ASSERT_FALSE(says(judge(0, (tl_hidden){ 16, 8, 0, 700 * US }), "by its own time"));
    CU_ASSERT_EQUAL(judge(0, (tl_hidden){ 16, 9, 0, 700 * US })->verdict, TL_VERDICT_INCONCLUSIVE);
    CU_ASSERT_EQUAL(judge(1, (tl_hidden){ 16, 8, 0, 700 * US })->verdict, TL_VERDICT_OK);
}

/* 16 times twice 20 us are less than a hundredth of 80 ms; but where the ranks' own time is known it is the clocks' 90
 * us that are less than a hundredth of a step. */
static void nobody_is_cleared_by_clocks_that_hide_what_matters(void)
{
    replayed = false;
    CU_ASSERT_EQUAL(judge(1, (tl_hidden){ 16, 16, 0, 20 * US })->verdict, TL_VERDICT_OK);
    const tl_straggler *row = judge(1, (tl_hidden){ 16, 16, 0, 30 * US });
    CU_ASSERT_EQUAL(row->verdict, TL_VERDICT_INCONCLUSIVE);
    CU_ASSERT_TRUE(says(row, "clocks (+-0.03 ms) hide who came last to 16 of 16 collectives"));
    replayed = true;
    CU_ASSERT_EQUAL(judge(1, (tl_hidden){ 16, 16, 0, 90 * US })->verdict, TL_VERDICT_OK);
    CU_ASSERT_EQUAL(judge(1, (tl_hidden){ 16, 16, 0, 110 * US })->verdict, TL_VERDICT_INCONCLUSIVE);
}

static void where_nothing_compares_clocks_a_ranks_own_time_tells(void)
{
    CU_ASSERT_EQUAL(judge(0, (tl_hidden){ 16, 0, 16, 0 })->verdict, TL_VERDICT_STRAGGLER);
    const tl_straggler *row = judge(1, (tl_hidden){ 16, 0, 16, 0 });
    CU_ASSERT_EQUAL(row->verdict, TL_VERDICT_INCONCLUSIVE);
    CU_ASSERT_TRUE(says(row, "nothing compares the clocks of hosts"));
}

int main(void)
{
    static const unit_test tests[] = {
        TEST(what_costs_less_than_the_clocks_leave_open_is_no_verdict),
        TEST(where_most_arrivals_are_known_the_verdict_stands),
        TEST(nobody_is_cleared_by_clocks_that_hide_what_matters),
        TEST(where_nothing_compares_clocks_a_ranks_own_time_tells),
    };
    int failed = unit_main("withhold", tests, COUNT(tests));
    tl_table_free(&blame_step);
    tl_table_free(&stragglers);
    return failed;
}
