/* test_heat_gather.c - cells summed from rows: steps that share a column, what is missing, who has a row. */
#include "heat_job.h"
#include <math.h>

static const tl_heat_cell *row_of(const heat_job *j, size_t rank)
{
    return &j->heat.cells[rank * j->steps.n];
}

static void a_step_is_a_column_where_there_are_few(void)
{
    heat_job *j = drawn_heat(3, (const char *const[]){ "012", "a0.", "000" });
    CU_ASSERT_EQUAL(j->steps.n, 3);
    CU_ASSERT_EQUAL(j->steps.run, 1);
    CU_ASSERT_EQUAL(tl_heat_nrows(&j->heat), 3);
    CU_ASSERT_DOUBLE_EQUAL(tl_heat_at(&j->heat, 0, 0), 0, 0);
    CU_ASSERT_DOUBLE_EQUAL(tl_heat_at(&j->heat, 0, 1), 0.1, 1e-12);
    CU_ASSERT_DOUBLE_EQUAL(tl_heat_at(&j->heat, 0, 2), 0.2, 1e-12);
    CU_ASSERT_DOUBLE_EQUAL(tl_heat_at(&j->heat, 1, 0), -0.1, 1e-12);
    CU_ASSERT_TRUE(isnan(tl_heat_at(&j->heat, 1, 2))); /* nothing is not 0 */
    CU_ASSERT_EQUAL(j->heat.of[1].total.n, 2);
    CU_ASSERT_EQUAL(tl_heat_worst(&j->heat, false), 0);
    CU_ASSERT_EQUAL(tl_heat_worst(&j->heat, true), 1);
    CU_ASSERT_EQUAL(j->heat.of[0].most_at, 2);
    CU_ASSERT_EQUAL(j->heat.nothers, 0);
    free_heat(j);
}

/* 500 steps of every tenth number: 3 a column, 167 columns, of which the last has 2. */
static void many_steps_share_columns(void)
{
    heat_job *j = new_heat(2, 500);
    for (int32_t s = 0; s < 500; s++) {
        tl_heat_steps_add(&j->steps, 10 * s);
        add_row(j, 0, 10 * s, s % 3 == 0 ? 300 : 0, 100 + s % 3, s == 4);
        if (s % 3 == 1 || s >= 498)
            add_row(j, 1, 10 * s, -50, 100, false);
    }
    tl_heat_end(&j->heat);
    CU_ASSERT_EQUAL(j->steps.run, 3);
    CU_ASSERT_EQUAL(j->steps.n, 167);
    CU_ASSERT_EQUAL(j->steps.columns[0].first, 0);
    CU_ASSERT_EQUAL(j->steps.columns[0].last, 20);
    CU_ASSERT_EQUAL(j->steps.columns[166].first, 4980);
    CU_ASSERT_EQUAL(j->steps.columns[166].last, 4990);
    CU_ASSERT_EQUAL(tl_heat_steps_of(&j->steps, 20), 0);
    CU_ASSERT_EQUAL(tl_heat_steps_of(&j->steps, 30), 1);
    CU_ASSERT_EQUAL(tl_heat_steps_of(&j->steps, 5000), 167);
    CU_ASSERT_STRING_EQUAL(tl_steps_of_column(&j->steps, 1).text, "steps 30-50");

    CU_ASSERT_EQUAL(row_of(j, 0)[0].part_ns, 300);
    CU_ASSERT_EQUAL(row_of(j, 0)[0].whole_ns, 303); /* sum by sum, not the mean of shares */
    CU_ASSERT_DOUBLE_EQUAL(tl_heat_at(&j->heat, 0, 0), 300.0 / 303, 1e-12);
    CU_ASSERT_FALSE(row_of(j, 0)[0].late);
    CU_ASSERT_TRUE(row_of(j, 0)[1].late);
    CU_ASSERT_DOUBLE_EQUAL(tl_heat_at(&j->heat, 0, 166), 300.0 / 201, 1e-12);
    CU_ASSERT_EQUAL(row_of(j, 1)[0].whole_ns, 100); /* of the steps that it has */
    CU_ASSERT_DOUBLE_EQUAL(tl_heat_at(&j->heat, 1, 0), -0.5, 1e-12);
    CU_ASSERT_EQUAL(row_of(j, 1)[166].whole_ns, 200);
    CU_ASSERT_EQUAL(j->heat.of[0].total.n, 500);
    CU_ASSERT_EQUAL(j->heat.of[0].total.whole_ns, 50000 + 499);
    free_heat(j);
}

static void columns_are_as_many_as_have_room(void)
{
    static const size_t steps[] = { 1, 240, 241, 480, 481, 10000, 1000000 };
    for (size_t i = 0; i < COUNT(steps); i++) {
        tl_heat_steps s;
        tl_heat_steps_init(&s, steps[i]);
        CU_ASSERT_TRUE(s.n <= TL_HEAT_COLUMNS && s.n * s.run >= steps[i] && (s.n - 1) * s.run < steps[i]);
        tl_heat_steps_free(&s);
    }
}

/* Of 100 ranks: rank 7 is kept, the higher the number the worse. */
static heat_job *crowd(void)
{
    heat_job *j = new_heat(100, 2);
    j->heat.of[7].keep = true;
    for (int32_t s = 1; s <= 2; s++) {
        tl_heat_steps_add(&j->steps, s);
        for (size_t r = 0; r < 100; r++)
            if (r != 50 || s != 2)
                add_row(j, r, s, (int64_t)r * s, 1000, false);
    }
    tl_heat_end(&j->heat);
    return j;
}

static void of_many_ranks_the_worst_have_rows_in_their_order(void)
{
    heat_job *j = crowd();
    CU_ASSERT_EQUAL_FATAL(j->heat.nshown, TL_HEAT_WORST);
    CU_ASSERT_EQUAL(j->heat.shown[0], 7);
    for (size_t i = 1; i < TL_HEAT_WORST; i++)
        CU_ASSERT_EQUAL(j->heat.shown[i], 100 - TL_HEAT_WORST + i);
    CU_ASSERT_EQUAL(j->heat.nothers, 100 - TL_HEAT_WORST);
    CU_ASSERT_EQUAL(tl_heat_nrows(&j->heat), TL_HEAT_WORST + 1);
    free_heat(j);
}

/* 68 others: 0 to 68 without 7; in the second step also without 50. */
static void the_others_are_their_median(void)
{
    heat_job *j = crowd();
    CU_ASSERT_DOUBLE_EQUAL(tl_heat_at(&j->heat, TL_HEAT_WORST, 0), 0.0345, 1e-12);
    CU_ASSERT_DOUBLE_EQUAL(tl_heat_at(&j->heat, TL_HEAT_WORST, 1), 0.068, 1e-12);
    CU_ASSERT_EQUAL(j->heat.hidden, 68);
    free_heat(j);
}

static void up_to_so_many_ranks_all_have_rows(void)
{
    heat_job *j = new_heat(TL_HEAT_ROWS, 1);
    tl_heat_end(&j->heat);
    CU_ASSERT_EQUAL(j->heat.nshown, TL_HEAT_ROWS);
    free_heat(j);
    j = new_heat(TL_HEAT_ROWS + 1, 1);
    tl_heat_end(&j->heat);
    CU_ASSERT_EQUAL(j->heat.nshown, TL_HEAT_WORST);
    CU_ASSERT_EQUAL(j->heat.shown[0], 0); /* of equals the lower */
    free_heat(j);
}

static void odd_times_do_no_harm(void)
{
    CU_ASSERT_DOUBLE_EQUAL(tl_heat_share(&(tl_heat_cell){ 0, 0, 1, false }), 0, 0);
    CU_ASSERT_DOUBLE_EQUAL(tl_heat_share(&(tl_heat_cell){ 5, 0, 1, false }), 1000, 0);
    CU_ASSERT_DOUBLE_EQUAL(tl_heat_share(&(tl_heat_cell){ -5, -1, 1, false }), -1000, 0);
    CU_ASSERT_DOUBLE_EQUAL(tl_heat_share(&(tl_heat_cell){ INT64_MAX, 1, 1, false }), 1000, 0);
    heat_job *j = new_heat(1, 2);
    for (int32_t s = 4; s < 8; s++) /* more steps than were told */
        tl_heat_steps_add(&j->steps, s);
    add_row(j, 0, 4, INT64_MAX, INT64_MAX, false);
    add_row(j, 0, 4, INT64_MAX, INT64_MAX, false);
    add_row(j, 0, 5, INT64_MIN, 1, false);
    add_row(j, 0, 7, 1, 1, false);
    tl_heat_end(&j->heat);
    CU_ASSERT_DOUBLE_EQUAL(tl_heat_at(&j->heat, 0, 0), 1, 0);
    CU_ASSERT_DOUBLE_EQUAL(tl_heat_at(&j->heat, 0, 1), -1000, 0);
    free_heat(j);
}

static void a_job_without_steps_has_no_cells(void)
{
    heat_job *j = new_heat(3, 0);
    tl_heat_end(&j->heat);
    CU_ASSERT_EQUAL(tl_heat_worst(&j->heat, false), SIZE_MAX);
    free_heat(j);
}

static const unit_test tests[] = {
    TEST(a_step_is_a_column_where_there_are_few),
    TEST(many_steps_share_columns),
    TEST(columns_are_as_many_as_have_room),
    TEST(of_many_ranks_the_worst_have_rows_in_their_order),
    TEST(the_others_are_their_median),
    TEST(up_to_so_many_ranks_all_have_rows),
    TEST(odd_times_do_no_harm),
    TEST(a_job_without_steps_has_no_cells),
};

int main(void)
{
    return unit_main("heat_gather", tests, COUNT(tests));
}
