/* test_culprit_gains.c - gains that do not fit what others wait, or lack a part of it, lower the confidence. */
#include "answer_job.h"
#include "tlmpi/model/health_table.h"

/* It stands out in step 5 alone, which has 25 of 60 ms. */
static void gains_in_other_steps_are_a_doubt(void)
{
    answer_job *j = job_of(4, 8);
    replay(j, 800 * MS, 0);
    hold_up(j, 2, 5, 5, 30 * MS, 60 * MS)->p_value = 0.000001;
    for (int64_t ms = 25; ms <= 35; ms += 10) {
        gain_in_steps(j, ms * MS, 0);
        CU_ASSERT_EQUAL(answers_of(j)->persistence.doubts, ms < 30 ? 1u << TL_DOUBT_ELSEWHERE : 0);
    }
    job_free(j);
}

/* A job that ends in a step which is not whole gains 60 ms of 65, or of 67 that other steps gain. */
static void gains_that_other_steps_lose_are_a_doubt(void)
{
    answer_job *j = job_of(4, 8);
    replay(j, 800 * MS, 0);
    hold_up(j, 2, 5, 5, 30 * MS, 60 * MS)->p_value = 0.000001;
    for (int64_t ms = 65; ms <= 67; ms += 2) {
        gain_in_steps(j, ms * MS, 0);
        CU_ASSERT_EQUAL((answers_of(j)->rank.doubts & 1u << TL_DOUBT_ELSEWHERE) != 0, ms > 66);
    }
    job_free(j);
}

/* Rank 2 is late in steps 3 to 7.  Others wait for it in step 8, the last one, too, or in step 1, which is not beside a
 * flagged one. */
static void waits_in_an_edge_step_beside_flagged_ones_are_a_doubt(void)
{
    for (int32_t step = 1; step <= 8; step += 7) {
        answer_job *j = job_of(4, 8);
        const tl_blame edge = { .to_rank = 2, .step = step, .cause = TL_ACTIVITY_HOST, .waiters = 1, .direct_ns = 90 * MS };
        replay(j, 800 * MS, 0);
        hold_up(j, 2, 3, 7, 30 * MS, 150 * MS)->p_value = 0.000001;
        put_row(j, &tl_blame_schema, &edge);
        tl_table_sort(tl_tables_get(&j->tables, &tl_blame_schema));
        CU_ASSERT_EQUAL(answers_of(j)->rank.doubts, step == 8 ? 1u << TL_DOUBT_OUTSIDE : 0);
        job_free(j);
    }
}

/* Each of three others waits 240 ms for rank 2, of which 100 are gained. */
static void a_drain_costs_more_than_its_gain_tells(void)
{
    answer_job *j = job_of(4, 8);
    replay(j, 800 * MS, 0);
    tl_straggler *row = hold_up(j, 2, 1, 8, 30 * MS, 100 * MS);
    tl_table *steps = tl_tables_get(&j->tables, &tl_blame_step_schema);
    for (size_t i = 0; i < steps->n; i++)
        if (((tl_blame_step *)tl_table_row(steps, i))->rank == 2)
            ((tl_blame_step *)tl_table_row(steps, i))->excess_ns = 10 * MS;
    CU_ASSERT_EQUAL(answers_of(j)->rank.doubts, 0);
    row->cause = TL_CAUSE_SYNC_DRAIN;
    CU_ASSERT_EQUAL(answers_of(j)->rank.doubts, 1u << TL_DOUBT_GAIN);
    job_free(j);
}

/* Others wait 720 ms for rank 2 in steps, and 80 or 81 ms outside of them, where no delay is judged. */
static void waits_outside_of_steps_are_a_doubt(void)
{
    for (int64_t ms = 80; ms <= 81; ms++) {
        answer_job *j = job_of(4, 8);
        const tl_table *blame = tl_tables_get(&j->tables, &tl_blame_schema);
        tl_blame outside = { .to_rank = 2, .step = -1, .from_rank = 0, .cause = TL_ACTIVITY_HOST, .waiters = 1, .direct_ns = ms * MS };
        int64_t inside_ns = 0;
        replay(j, 800 * MS, 0);
        hold_up(j, 2, 1, 8, 30 * MS, 200 * MS)->p_value = 0.000001;
        TL_ROWS (const tl_blame, row, blame)
            inside_ns += row->to_rank == 2 ? row->direct_ns : 0;
        CU_ASSERT_EQUAL(inside_ns, 720 * MS);
        put_row(j, &tl_blame_schema, &outside);
        tl_table_sort(tl_tables_get(&j->tables, &tl_blame_schema));
        CU_ASSERT_EQUAL(answers_of(j)->rank.doubts, ms > 80 ? 1u << TL_DOUBT_OUTSIDE : 0);
        CU_ASSERT_EQUAL(tl_gain_is_least(&j->answers, &j->answers.culprits[0]), ms > 80);
        job_free(j);
    }
}

static void a_gain_far_below_the_wait_is_a_doubt(void)
{
    answer_job *j = job_of(4, 8);
    replay(j, 800 * MS, 0);
    hold_up(j, 2, 1, 8, 30 * MS, 120 * MS);
    CU_ASSERT_EQUAL(answers_of(j)->rank.doubts, 0);
    tl_whatif_row *row = tl_table_row(tl_tables_get(&j->tables, &tl_whatif_row_schema), 2);
    row->gain_ns = verdict_of(j, 2)->gain_ns = 120 * MS - 1;
    CU_ASSERT_EQUAL(answers_of(j)->rank.doubts, 1u << TL_DOUBT_GAIN);
    CU_ASSERT_EQUAL(j->answers.rank.confidence, TL_CONFIDENCE_MEDIUM);
    job_free(j);
}

/* Others wait for it anyway, and it is late by no more than it gains. */
static void waits_beyond_the_lateness_are_not_set_against_the_gain(void)
{
    answer_job *j = job_of(4, 8);
    tl_table *steps = tl_tables_get(&j->tables, &tl_blame_step_schema);
    replay(j, 800 * MS, 0);
    hold_up(j, 2, 1, 8, 30 * MS, 80 * MS);
    CU_ASSERT_EQUAL(answers_of(j)->rank.doubts, 1u << TL_DOUBT_GAIN);
    for (size_t i = 0; i < steps->n; i++)
        ((tl_blame_step *)tl_table_row(steps, i))->excess_ns /= 3;
    CU_ASSERT_EQUAL(answers_of(j)->rank.doubts, 0);
    job_free(j);
}

/* In step 7 it is as late as in step 3, and others wait as long; its pattern has step 3 alone. */
static void a_delay_of_which_half_is_repaired_is_a_doubt(void)
{
    answer_job *j = job_of(4, 8);
    replay(j, 800 * MS, 0);
    hold_up(j, 2, 3, 3, 30 * MS, 30 * MS);
    CU_ASSERT_EQUAL(answers_of(j)->rank.doubts, 0);
    tl_blame_step *step = tl_table_row(tl_tables_get(&j->tables, &tl_blame_step_schema), 2 * 8 + 6);
    step->excess_ns = 31 * MS;
    step->blame_ns = 3 * 31 * MS;
    CU_ASSERT_EQUAL(answers_of(j)->rank.doubts, 1u << TL_DOUBT_GAIN);
    job_free(j);
}

/* Nothing that it has more than its peers, and no wait for it, is as long as what its repair gains. */
static void a_gain_far_above_the_lateness_is_a_doubt(void)
{
    answer_job *j = job_of(4, 8);
    replay(j, 800 * MS, 0);
    hold_up(j, 2, 1, 8, 10 * MS, 160 * MS);
    gain_in_steps(j, 20 * MS, 0);
    CU_ASSERT_EQUAL(answers_of(j)->rank.doubts, 0);
    gain_in_steps(j, 21 * MS, 0);
    CU_ASSERT_EQUAL(answers_of(j)->rank.doubts, 1u << TL_DOUBT_GAIN);
    job_free(j);
}

/* Nobody waits for the last stage of a pipeline; its late steps are the longer by what it is late by. */
static void longer_steps_are_set_against_the_gain(void)
{
    answer_job *j = job_of(4, 8);
    tl_table *steps = tl_tables_get(&j->tables, &tl_blame_step_schema);
    replay(j, 800 * MS, 0);
    hold_up(j, 2, 3, 5, 30 * MS, 40 * MS);
    for (size_t i = 0; i < steps->n; i++)
        ((tl_blame_step *)tl_table_row(steps, i))->blame_ns = 0;
    CU_ASSERT_EQUAL(answers_of(j)->rank.doubts, 0);
    for (size_t i = 0; i < steps->n; i++) {
        tl_blame_step *step = tl_table_row(steps, i);
        step->step_ns += step->step >= 3 && step->step <= 5 ? 30 * MS : 0;
    }
    CU_ASSERT_EQUAL(answers_of(j)->rank.doubts, 1u << TL_DOUBT_GAIN);
    job_free(j);
}

/* Late in steps 1 and 2, it also was the last to come in the others, as any rank is at times. */
static void waits_in_other_steps_are_not_set_against_the_gain(void)
{
    answer_job *j = job_of(4, 8);
    replay(j, 800 * MS, 0);
    hold_up(j, 2, 1, 2, 30 * MS, 60 * MS)->p_value = 0.000001;
    ((tl_blame_step *)tl_table_row(tl_tables_get(&j->tables, &tl_blame_step_schema), 2 * 8 + 6))->blame_ns = 900 * MS;
    tl_blame other = { .to_rank = 2, .step = 7, .from_rank = 1, .cause = TL_ACTIVITY_HOST, .waiters = 1, .direct_ns = 900 * MS };
    put_row(j, &tl_blame_schema, &other);
    tl_table_sort(tl_tables_get(&j->tables, &tl_blame_schema));
    CU_ASSERT_EQUAL(answers_of(j)->rank.doubts, 0);
    job_free(j);
}

static const unit_test tests[] = {
    TEST(gains_in_other_steps_are_a_doubt),
    TEST(gains_that_other_steps_lose_are_a_doubt),
    TEST(waits_in_an_edge_step_beside_flagged_ones_are_a_doubt),
    TEST(a_drain_costs_more_than_its_gain_tells),
    TEST(waits_outside_of_steps_are_a_doubt),
    TEST(a_gain_far_below_the_wait_is_a_doubt),
    TEST(waits_beyond_the_lateness_are_not_set_against_the_gain),
    TEST(a_delay_of_which_half_is_repaired_is_a_doubt),
    TEST(a_gain_far_above_the_lateness_is_a_doubt),
    TEST(longer_steps_are_set_against_the_gain),
    TEST(waits_in_other_steps_are_not_set_against_the_gain),
};

int main(void)
{
    return unit_main("culprit_gains", tests, COUNT(tests));
}
