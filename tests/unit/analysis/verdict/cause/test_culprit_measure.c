/* test_culprit_measure.c - what a culprit costs: its steps, who waits for it, its part of the critical path. */
#include "answer_job.h"
#include "tlmpi/model/health_table.h"

/* The host waits for its device in the last of eight steps, which it marks 765 ms long, the others 5. */
static void a_step_is_as_long_as_the_devices_take_for_it(void)
{
    answer_job *j = job_of(4, 8);
    tl_table *steps = tl_tables_get(&j->tables, &tl_step_schema),
             *costs = tl_tables_get(&j->tables, &tl_blame_step_schema);
    for (size_t i = 0; i < steps->n; i++) {
        tl_step *step = tl_table_row(steps, i);
        step->start_ns = step->step * 5 * MS;
        step->end_ns = step->start_ns + (step->step == 8 ? 765 : 5) * MS;
    }
    replay(j, 800 * MS, 0.01);
    hold_up(j, 2, 2, 5, 30 * MS, 80 * MS)->p_value = 0.000001;
    const tl_answers *a = answers_of(j);
    CU_ASSERT_EQUAL(a->culprits[0].step_cost_ns, 20 * MS);
    CU_ASSERT_EQUAL(a->culprits[0].step_ns, 100 * MS);
    CU_ASSERT_EQUAL(a->culprits[0].excess_ns, 120 * MS);
    for (size_t i = 0; i < costs->n; i++)
        ((tl_blame_step *)tl_table_row(costs, i))->step_ns = 0; /* nothing tells */
    CU_ASSERT_EQUAL(answers_of(j)->culprits[0].step_ns, 100 * MS);
    job_free(j);
}

/* It stands out a little in step 1, too, which is none of its pattern. */
static void what_costs_lies_in_the_steps_of_the_pattern(void)
{
    answer_job *j = job_of(4, 8);
    replay(j, 800 * MS, 0.01);
    hold_up(j, 2, 5, 6, 30 * MS, 50 * MS)->p_value = 0.000001;
    tl_table *steps = tl_tables_get(&j->tables, &tl_blame_step_schema);
    for (size_t i = 0; i < steps->n; i++) {
        tl_blame_step *step = tl_table_row(steps, i);
        step->flagged |= step->rank == 2 && step->step == 1;
    }
    const tl_answers *a = answers_of(j);
    CU_ASSERT_EQUAL(a->culprits[0].steps_flagged, 2);
    CU_ASSERT_EQUAL(a->culprits[0].step_cost_ns, 25 * MS);
    job_free(j);
}

/* Half of what it gains is after the last mark, where the others wait for it as well. */
static void what_is_gained_outside_of_marks_is_no_cost_of_a_step(void)
{
    answer_job *j = job_of(4, 8);
    replay(j, 800 * MS, 0.01);
    hold_up(j, 2, 1, 8, 30 * MS, 400 * MS)->p_value = 0.000001;
    gain_in_steps(j, 25 * MS, 0);
    tl_blame after = {
        .to_rank = 2, .step = -1, .from_rank = 0, .cause = TL_ACTIVITY_HOST, .waiters = 1, .direct_ns = 200 * MS
    };
    put_row(j, &tl_blame_schema, &after);
    tl_table_sort(tl_tables_get(&j->tables, &tl_blame_schema));
    const tl_answers *a = answers_of(j);
    CU_ASSERT_EQUAL(a->culprits[0].gain_ns, 400 * MS);
    CU_ASSERT_EQUAL(a->culprits[0].step_cost_ns, 25 * MS);
    job_free(j);
}

/* It stands out in step 5 alone, and gains a little in each. */
static void what_is_gained_in_other_steps_is_no_cost_of_that_one(void)
{
    answer_job *j = job_of(4, 8);
    replay(j, 800 * MS, 0.01);
    hold_up(j, 2, 5, 5, 30 * MS, 60 * MS)->p_value = 0.000001;
    gain_in_steps(j, 25 * MS, 5 * MS);
    const tl_answers *a = answers_of(j);
    CU_ASSERT_EQUAL(a->culprits[0].gain_ns, 60 * MS);
    CU_ASSERT_EQUAL(a->culprits[0].step_cost_ns, 25 * MS);
    gain_in_steps(j, 35 * MS, 0); /* the rest is gained before the first step, or after the last */
    CU_ASSERT_EQUAL(answers_of(j)->culprits[0].step_cost_ns, 35 * MS);
    job_free(j);
}

/* What it does after the last collective of step 5 makes that step longer, though the others mark it as any other. */
static void a_step_costs_no_more_than_it_is_long(void)
{
    answer_job *j = job_of(4, 8);
    replay(j, 800 * MS, 0.01);
    hold_up(j, 2, 5, 5, 30 * MS, 120 * MS)->p_value = 0.000001;
    tl_table *steps = tl_tables_get(&j->tables, &tl_blame_step_schema);
    CU_ASSERT_EQUAL(answers_of(j)->culprits[0].step_cost_ns, 100 * MS);
    for (size_t i = 0; i < steps->n; i++) {
        tl_blame_step *step = tl_table_row(steps, i);
        step->step_ns = step->step == 5 ? 230 * MS : 100 * MS;
        step->excess_ns = step->flagged ? 120 * MS : 0;
    }
    const tl_answers *a = answers_of(j);
    CU_ASSERT_EQUAL(a->culprits[0].step_cost_ns, 120 * MS);
    CU_ASSERT_EQUAL(a->culprits[0].step_ns, 230 * MS);
    CU_ASSERT_EQUAL(a->culprits[0].excess_ns, 120 * MS);
    job_free(j);
}

/* 240 and 8 ms: of three ranks the mean is 82.7. */
static void who_hardly_waits_is_no_waiter(void)
{
    answer_job *j = job_of(3, 8);
    hold_up(j, 1, 1, 8, 30 * MS, -1);
    tl_table *blame = tl_tables_get(&j->tables, &tl_blame_schema);
    for (size_t i = 0; i < blame->n; i++) {
        tl_blame *row = tl_table_row(blame, i);
        if (row->from_rank == 2)
            row->direct_ns = MS;
    }
    CU_ASSERT_EQUAL(answers_of(j)->culprits[0].nwaiters, 1);
    CU_ASSERT_STRING_EQUAL(j->answers.culprits[0].waiters, "0");
    CU_ASSERT_EQUAL(j->answers.culprits[0].nwaiters, 1);
    job_free(j);
}

/* Groups of more than 32 ranks do not name who waits. */
static void waiters_without_names_are_counted(void)
{
    answer_job *j = job_of(40, 8);
    hold_up(j, 7, 1, 8, 30 * MS, -1);
    tl_table *blame = tl_tables_get(&j->tables, &tl_blame_schema);
    blame->n = 0;
    for (int32_t s = 1; s <= 8; s++)
        put_row(j, &tl_blame_schema,
                &(tl_blame){ .to_rank = 7, .step = s, .from_rank = -1, .waiters = 39, .direct_ns = 39 * 30 * MS });
    const tl_answers *a = answers_of(j);
    CU_ASSERT_EQUAL(a->culprits[0].nwaiters, 39);
    CU_ASSERT_STRING_EQUAL(a->culprits[0].waiters, "");
    CU_ASSERT_EQUAL(a->culprits[0].blame_ns, 8 * 39 * 30 * MS);
    job_free(j);
}

/* Of 40 ranks 39 waited for each of two: at most 38 of them are others. */
static void members_are_no_waiters(void)
{
    answer_job *j = job_of(40, 8);
    replay(j, 800 * MS, 0);
    hold_up(j, 7, 1, 8, 30 * MS, 4 * MS);
    hold_up(j, 9, 1, 8, 30 * MS, 4 * MS);
    gain_of(j, TL_SCENARIO_SUSPECTS, -1, 160 * MS);
    tl_tables_get(&j->tables, &tl_blame_schema)->n = 0;
    for (int32_t rank = 7; rank <= 9; rank += 2)
        put_row(j, &tl_blame_schema,
                &(tl_blame){ .to_rank = rank, .step = 1, .from_rank = -1, .waiters = 39, .direct_ns = 30 * MS });
    CU_ASSERT_EQUAL(answers_of(j)->culprits[0].nranks, 2);
    CU_ASSERT_EQUAL(j->answers.culprits[0].nwaiters, 38);
    job_free(j);
}

/* Waits in one group after the other can be longer than the step. */
static void a_step_costs_no_more_than_it_takes(void)
{
    answer_job *j = job_of(4, 8);
    hold_up(j, 2, 1, 8, 130 * MS, -1);
    const tl_answers *a = answers_of(j);
    CU_ASSERT_EQUAL(a->culprits[0].step_cost_ns, 100 * MS);
    CU_ASSERT_EQUAL(a->culprits[0].excess_ns, 800 * MS);
    job_free(j);
}

static void who_holds_how_much_of_the_critical_path(void)
{
    answer_job *j = job_of(4, 8);
    hold_up(j, 2, 1, 8, 30 * MS, 200 * MS);
    CU_ASSERT_TRUE(isnan(answers_of(j)->culprits[0].path_share));
    CU_ASSERT_EQUAL(j->answers.path.ns, 0);
    walk(j, -1, TL_ACTIVITY_COMPUTE, 300 * MS, 0);
    walk(j, -1, TL_ACTIVITY_HOST, 400 * MS, 160 * MS);
    walk(j, -1, TL_NACTIVITIES, 100 * MS, 0);
    walk(j, 0, TL_ACTIVITY_COMPUTE, 300 * MS, 0);
    walk(j, 2, TL_ACTIVITY_COMPUTE, 0, 0);
    walk(j, 2, TL_ACTIVITY_HOST, 400 * MS, 0);
    const tl_answers *a = answers_of(j);
    CU_ASSERT_EQUAL(a->path.ns, 700 * MS); /* without the time before a recording */
    CU_ASSERT_EQUAL(a->path.rank, 2);
    CU_ASSERT_DOUBLE_EQUAL(a->path.rank_share, 4.0 / 7, 1e-9);
    CU_ASSERT_STRING_EQUAL(a->path.activity, "host");
    CU_ASSERT_DOUBLE_EQUAL(a->path.activity_share, 4.0 / 7, 1e-9);
    CU_ASSERT_DOUBLE_EQUAL(a->path.imbalance_share, 1.6 / 7, 1e-9);
    CU_ASSERT_DOUBLE_EQUAL(a->culprits[0].path_share, 4.0 / 7, 1e-9);
    job_free(j);
}

/* Not all ranks have the first step, of 200 ms, and the last one, of 100 ms: nothing is gained there. */
static void what_it_costs_is_a_part_of_what_all_have_recorded(void)
{
    answer_job *j = job_of(4, 8);
    tl_table *health = tl_tables_get(&j->tables, &tl_health_schema);
    replay(j, 800 * MS, 0);
    hold_up(j, 2, 3, 5, 30 * MS, 100 * MS);
    CU_ASSERT_EQUAL(answers_of(j)->wall_ns, 800 * MS);
    CU_ASSERT_DOUBLE_EQUAL(j->answers.culprits[0].cost_share, 0.125, 1e-9);
    tl_health_add(health, (tl_health){ .rank = -1, .defect = TL_DEFECT_NOT_WHOLE, .step = 1, .time_ns = 200 * MS });
    tl_health_add(health, (tl_health){ .rank = -1, .defect = TL_DEFECT_NOT_WHOLE, .step = 8, .time_ns = 100 * MS });
    tl_health_add(health, (tl_health){ .rank = 1, .defect = TL_DEFECT_BEGINS_LATER, .step = 1, .time_ns = 50 * MS });
    CU_ASSERT_EQUAL(answers_of(j)->wall_ns, 500 * MS);
    CU_ASSERT_DOUBLE_EQUAL(j->answers.culprits[0].cost_share, 0.2, 1e-9);
    job_free(j);
}

static const unit_test tests[] = {
    TEST(what_it_costs_is_a_part_of_what_all_have_recorded),
    TEST(a_step_is_as_long_as_the_devices_take_for_it),
    TEST(what_is_gained_outside_of_marks_is_no_cost_of_a_step),
    TEST(what_is_gained_in_other_steps_is_no_cost_of_that_one),
    TEST(a_step_costs_no_more_than_it_is_long),
    TEST(what_costs_lies_in_the_steps_of_the_pattern),
    TEST(who_hardly_waits_is_no_waiter),
    TEST(waiters_without_names_are_counted),
    TEST(members_are_no_waiters),
    TEST(a_step_costs_no_more_than_it_takes),
    TEST(who_holds_how_much_of_the_critical_path),
};

int main(void)
{
    return unit_main("culprit_measure", tests, COUNT(tests));
}
