/* test_pipeline_verdict.c - in a pipeline it is what a repair gains that is tested, not what is charged. */
#include "src/analysis/judging/judging.h"
#include "unit.h"

enum { RANKS = 4, STEPS = 10 };

static tl_table blame = { .schema = &tl_blame_schema }, steps = { .schema = &tl_blame_step_schema },
                stragglers = { .schema = &tl_straggler_schema };
static tl_job_step job_steps[STEPS];

/* Ranks 0 and 1 are one stage, 2 and 3 the other.  The schedule makes all wait for rank 0, a tenth of each step. */
static const tl_straggler *judge(const double *wall_ns, int32_t rank)
{
    static const int32_t ranks[RANKS] = { 0, 1, 2, 3 }, roles[RANKS] = { 0, 0, 1, 1 };
    static const int64_t late_counts[RANKS] = { 0 };
    tl_error err;

    tl_table_free(&blame);
    tl_table_free(&steps);
    tl_table_free(&stragglers);
    for (int32_t s = 0; s < STEPS; s++) {
        tl_blame row = {
            .to_rank = 0, .step = s, .from_rank = 1, .cause = TL_PART_COMPUTE, .waiters = 1, .direct_ns = 10000000
        };
        job_steps[s] = (tl_job_step){ s, 100000000 };
        CU_ASSERT_FATAL(tl_table_append(&blame, &row, 1));
    }
    const tl_verdict_input input = { .blame = &blame,
                                     .ranks = ranks,
                                     .roles = roles,
                                     .late_counts = late_counts,
                                     .nranks = RANKS,
                                     .steps = job_steps,
                                     .nsteps = STEPS,
                                     .gain_ns = wall_ns,
                                     .by_gain = wall_ns != NULL };
    CU_ASSERT_EQUAL_FATAL(tl_verdict_make(&input, &steps, &stragglers, &err), TL_OK);
    return tl_table_row(&stragglers, (size_t)rank);
}

static void gains_stand_in_for_charges(void)
{
    double wall_ns[RANKS * STEPS] = { 0 };
    CU_ASSERT_EQUAL(judge(NULL, 0)->pattern, TL_PATTERN_PERSISTENT);
    CU_ASSERT_EQUAL(judge(wall_ns, 0)->pattern, TL_PATTERN_NONE);
    CU_ASSERT_EQUAL(judge(wall_ns, 0)->blame_ns, 100000000); /* what is charged stays */
    for (int s = 4; s < 8; s++)
        wall_ns[2 * STEPS + s] = 3000000;
    const tl_straggler *row = judge(wall_ns, 2);
    CU_ASSERT_EQUAL(row->pattern, TL_PATTERN_BOUNDED);
    CU_ASSERT_EQUAL(row->first_step, 4);
    CU_ASSERT_EQUAL(row->last_step, 7);
    CU_ASSERT_EQUAL(judge(wall_ns, 3)->pattern, TL_PATTERN_NONE);
}

/* Both of a stage gain as much: against each other neither stands out, against the job both do. */
static void a_stage_is_compared_with_the_job(void)
{
    double wall_ns[RANKS * STEPS] = { 0 };
    for (int s = 0; s < STEPS; s++)
        wall_ns[2 * STEPS + s] = 5000000 + s % 2;
    CU_ASSERT_EQUAL(judge(wall_ns, 2)->share_steps, 1);
    CU_ASSERT(judge(wall_ns, 2)->p_value < 0.05);
}

int main(void)
{
    static const unit_test tests[] = {
        TEST(gains_stand_in_for_charges),
        TEST(a_stage_is_compared_with_the_job),
    };
    int failed = unit_main("pipeline verdict", tests, COUNT(tests));
    tl_table_free(&blame);
    tl_table_free(&steps);
    tl_table_free(&stragglers);
    return failed;
}
