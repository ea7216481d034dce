/* test_diff_compared.c - which ranks and steps of two runs are compared, and which of the steps are typical. */
#include "drawn_runs.h"

static void one_step_each_is_not_significant(void)
{
    drawn slower = plain;
    slower.idle += 300;
    run *a = steps_of(1, plain, 3), *b = steps_of(1, slower, 9);
    tl_diff *diff = compare(a, b);
    CU_ASSERT_FALSE(found(diff, 0)->sure);
    CU_ASSERT_TRUE(isnan(found(diff, 0)->p_value));
    CU_ASSERT_EQUAL(found(diff, 1)->part, TL_DIFF_IDLE);
    CU_ASSERT_FALSE(found(diff, 1)->sure);
    end(diff, a, b);
}

static void a_kernel_is_named_where_two_steps_are_too_few_for_a_test(void)
{
    drawn slower = plain;
    slower.compute += 120;
    run *a = steps_of(2, plain, 3), *b = steps_of(2, slower, 9);
    for (int32_t rank = 0; rank < 2; rank++) {
        put_kernel(a, rank, TL_COMPUTE, "flash_fwd", 4, 60);
        put_kernel(b, rank, TL_COMPUTE, "flash_fwd", 4, 120);
    }
    tl_diff *diff = compare(a, b);
    CU_ASSERT_TRUE(isnan(found(diff, 0)->p_value));
    CU_ASSERT_EQUAL_FATAL(nfound(diff), 2);
    CU_ASSERT_TRUE(is_named(diff, found(diff, 1)->name, "flash_fwd"));
    CU_ASSERT_EQUAL(found(diff, 1)->change, TL_DIFF_TIME);
    CU_ASSERT_DOUBLE_EQUAL(found(diff, 1)->times, 2, 0.05);
    end(diff, a, b);
}

/* Three steps each, of which the first is slow, more so in B: it is no part of the difference between the others. */
static void a_slow_first_step_of_three_changes_no_part(void)
{
    run *r[2] = { steps_of(0, plain, 1), steps_of(0, plain, 1) };
    for (int i = 0; i < 2; i++)
        for (int32_t s = 0; s < 6; s++) {
            drawn d = plain;
            d.idle += s < 2 ? 900 + 600 * i : 0;
            put_step(r[i], s % 2, s / 2, s / 2 * 10000, d);
        }
    tl_diff *diff = compare(r[0], r[1]);
    TL_ROWS (const tl_diff_step, row, tl_diff_table(diff, &tl_diff_step_schema))
        CU_ASSERT_EQUAL(row->change_ns, 0);
    CU_ASSERT_EQUAL(nfound(diff), 1);
    CU_ASSERT_EQUAL(tl_diff_basis_of(diff).mean_ns[1] - tl_diff_basis_of(diff).mean_ns[0], 200 * US);
    end(diff, r[0], r[1]);
}

/* Of five steps two take 300 us longer in B, the median one not: what the parts have of that is told as not attributed. */
static void what_is_not_attributed_is_told(void)
{
    run *r[2] = { steps_of(0, plain, 1), steps_of(0, plain, 1) };
    for (int i = 0; i < 2; i++)
        for (int32_t s = 0; s < 10; s++) {
            drawn d = plain;
            d.idle += s >= 6 ? 300 * i : 0;
            put_step(r[i], s % 2, s / 2, s / 2 * 10000, d);
        }
    tl_diff *diff = compare(r[0], r[1]);
    const tl_diff_found *last = found(diff, nfound(diff) - 1);
    CU_ASSERT_EQUAL(last->part, TL_DIFF_REST);
    CU_ASSERT_EQUAL(last->change_ns, -120 * US);
    CU_ASSERT_FALSE(last->sure);
    end(diff, r[0], r[1]);
}

/* Of rank 1 half of the trace is there: the steps that the other ranks have are compared, as without its trace. */
static void a_cut_trace_costs_no_steps_of_other_ranks(void)
{
    run *a = ranks_of(3, 6, plain, 3), *b = ranks_of(3, 6, plain, 9);
    ((tl_rank *)tl_table_row(tl_tables_get(&b->tables, &tl_rank_schema), 1))->status = TL_RANK_CUT;
    for (int32_t rank = -1; rank <= 1; rank += 2)
        for (int32_t step = 3; step < 6; step++) {
            tl_health cut = { .rank = rank, .defect = rank < 0 ? TL_DEFECT_NOT_WHOLE : TL_DEFECT_ENDS_EARLIER, .step = step,
                              .count = 1, .of = 6 };
            tl_health_add(tl_tables_get(&b->tables, &tl_health_schema), cut);
        }
    tl_diff *diff = compare(a, b);
    CU_ASSERT_EQUAL(tl_diff_basis_of(diff).ranks[1], 2);
    CU_ASSERT_EQUAL(tl_diff_basis_of(diff).steps[1], 6);
    end(diff, a, b);
}

static void a_step_with_lost_work_is_not_compared(void)
{
    run *a = steps_of(4, plain, 3), *b = steps_of(4, plain, 9);
    tl_health lost = { .rank = 1, .defect = TL_DEFECT_LOST, .step = 2, .count = 3, .of = 10 };
    tl_health_add(tl_tables_get(&b->tables, &tl_health_schema), lost);
    tl_diff *diff = compare(a, b);
    CU_ASSERT_EQUAL(tl_diff_basis_of(diff).steps[0], 4);
    CU_ASSERT_EQUAL(tl_diff_basis_of(diff).steps[1], 3);
    end(diff, a, b);
}

static void a_rank_whose_trace_is_cut_is_not_compared(void)
{
    for (int32_t whole = 0; whole < 2; whole++) {
        run *a = steps_of(6, plain, 3), *b = steps_of(6, plain, 9);
        TL_ROWS (tl_rank, row, tl_tables_get(&b->tables, &tl_rank_schema))
            row->status = row->rank >= whole ? TL_RANK_CUT : row->status;
        tl_diff *diff = compare(a, b);
        CU_ASSERT_EQUAL(tl_diff_basis_of(diff).ranks[0], whole ? 1 : 2);
        CU_ASSERT_EQUAL(tl_diff_basis_of(diff).ranks[1], whole ? 1 : 2);
        end(diff, a, b);
    }
}

/* All traces of B are cut: of step 3 half of the device work is there, of steps 4 and 5 the marks alone. */
static void steps_that_a_cut_trace_has_not_all_of_are_not_compared(void)
{
    run *a = steps_of(6, plain, 3), *b = steps_of(6, plain, 3);
    TL_ROWS (tl_rank, row, tl_tables_get(&b->tables, &tl_rank_schema))
        row->status = TL_RANK_CUT;
    TL_ROWS (tl_breakdown, row, tl_tables_get(&b->tables, &tl_breakdown_schema))
        if (row->step >= 3)
            *row = (tl_breakdown){ .rank = row->rank, .device = -1, .step = row->step,
                                   .wall_ns = row->step == 3 ? 10 * US : 0 };
    tl_diff *diff = begin(a, b);
    put_node(diff, 0, a, 0, TL_TREE_OPERATOR, "linear", 80);
    put_node(diff, 1, b, 0, TL_TREE_OPERATOR, "linear", 40);
    put(a, &tl_operator_row_schema, &(tl_operator_row){ .name = name(a, "linear"), .steps_count = 6 });
    tl_diff_compare(diff);
    CU_ASSERT_EQUAL(tl_diff_basis_of(diff).steps[1], 3);
    CU_ASSERT_EQUAL(nfound(diff), 1);
    CU_ASSERT_EQUAL(tl_diff_table(diff, &tl_diff_call_path_schema)->n, 0);
    CU_ASSERT_EQUAL(tl_diff_table(diff, &tl_diff_operator_schema)->n, 0);
    end(diff, a, b);
}

/* Of one job a rank that computes for longer, and has no trace in B: the others are compared, and do not differ. */
static void a_rank_without_a_trace_on_one_side_is_no_difference(void)
{
    run *a = steps_of(6, plain, 3), *b = ranks_of(1, 6, plain, 3);
    TL_ROWS (tl_rank, row, tl_tables_get(&b->tables, &tl_rank_schema))
        row->world_size = 2;
    TL_ROWS (tl_breakdown, row, tl_tables_get(&a->tables, &tl_breakdown_schema))
        if (row->rank == 1 && row->step >= 0) {
            row->compute_ns += 50 * US;
            row->idle_ns -= 50 * US;
        }
    tl_diff *diff = compare(a, b);
    const tl_diff_run *ranks = tl_table_row(tl_diff_table(diff, &tl_diff_run_schema), 4);
    CU_ASSERT_EQUAL(nfound(diff), 1);
    CU_ASSERT_EQUAL(found(diff, 0)->change_ns, 0);
    CU_ASSERT_STRING_EQUAL(ranks->a, "0,1 (0 compared)");
    CU_ASSERT_STRING_EQUAL(ranks->b, "0");
    end(diff, a, b);
}

/* Rank 2 has no marks of steps in B, and waits for longer in A: the others are compared. */
static void a_rank_without_marks_is_not_compared(void)
{
    run *r[2] = { ranks_of(3, 0, plain, 1), ranks_of(3, 0, plain, 1) };
    for (int i = 0; i < 2; i++)
        for (int32_t s = 0; s < 18; s++) {
            drawn d = plain;
            d.waiting += s % 3 == 2 ? 500 : 0;
            if (i == 0 || s % 3 != 2)
                put_step(r[i], s % 3, s / 3, s / 3 * 20000, d);
        }
    tl_diff *diff = compare(r[0], r[1]);
    CU_ASSERT_EQUAL(tl_diff_basis_of(diff).ranks[0], 2);
    CU_ASSERT_EQUAL(tl_diff_basis_of(diff).ranks[1], 2);
    CU_ASSERT_EQUAL(tl_diff_basis_of(diff).steps[1], 6);
    CU_ASSERT_EQUAL(found(diff, 0)->change_ns, 0);
    CU_ASSERT_EQUAL(nfound(diff), 1);
    end(diff, r[0], r[1]);
}

/* Without marks of steps, and without a device. */
static void a_run_without_a_device_is_not_compared(void)
{
    run *a = ranks_of(2, 0, plain, 3), *b = ranks_of(2, 0, plain, 9);
    TL_ROWS (tl_breakdown, row, tl_tables_get(&b->tables, &tl_breakdown_schema))
        row->wall_ns = row->busy_ns = 0;
    tl_diff_input input = { .side = { { .path = "a", .tables = &a->tables, .name = name_of, .name_arg = &a->names },
                                      { .path = "b", .tables = &b->tables, .name = name_of, .name_arg = &b->names } } };
    tl_diff *diff = tl_diff_new(&input);
    CU_ASSERT_EQUAL(tl_diff_basis_of(diff).ranks[0], 2);
    CU_ASSERT_EQUAL(tl_diff_basis_of(diff).ranks[1], 0);
    end(diff, a, b);
}

/* Of 20 steps of B, some stand still for 9 ms: the typical step is the same, and the mean is not.  One odd step may be chance, two
 * are too few for a test, and nine of B alone are none. */
static void steps_that_stand_out_are_told_beside_the_typical_one(void)
{
    static const int32_t numbers[] = { 0, 1, 2, 9 };
    for (size_t k = 0; k < COUNT(numbers); k++) {
        run *r[2] = { ranks_of(1, 0, plain, 1), ranks_of(1, 0, plain, 1) };
        uint64_t seed = 7;
        for (int i = 0; i < 2; i++)
            for (int32_t s = 0; s < 20; s++) {
                drawn d = plain;
                d.compute += (int64_t)unit_below(&seed, 5);
                d.idle += i == 1 && s % 2 == 1 && s < 2 * numbers[k] ? 9000 : 0;
                put_step(r[i], 0, s, s * 20000, d);
            }
        tl_diff *diff = compare(r[0], r[1]);
        const tl_table *steps = tl_diff_table(diff, &tl_diff_step_schema);
        const tl_diff_step *step = tl_table_row(steps, 0), *last = tl_table_row(steps, steps->n - 1);
        const tl_diff_basis basis = tl_diff_basis_of(diff);
        int64_t parts = 0;
        TL_ROWS (const tl_diff_step, row, steps)
            parts += row->part != TL_DIFF_STEP && row->part != TL_DIFF_LONG ? row->change_ns : 0;
        CU_ASSERT_EQUAL(parts, step->change_ns);
        CU_ASSERT_FALSE(step->sure);
        CU_ASSERT_EQUAL(basis.nlong[0], 0);
        CU_ASSERT_EQUAL(basis.nlong[1], (size_t)numbers[k]);
        CU_ASSERT_EQUAL_FATAL(last->part, k == 0 ? TL_DIFF_REST : TL_DIFF_LONG);
        CU_ASSERT_EQUAL_FATAL(nfound(diff), k == 0 ? 1 : 2);
        if (k > 0) {
            CU_ASSERT_EQUAL(last->a_ns, 0);
            CU_ASSERT_TRUE(llabs(last->b_ns - numbers[k] * 450 * US) < 2 * US); /* 9 ms of 20 steps each */
            CU_ASSERT_TRUE(k == 1 ? last->p_value == 1 : k == 2 ? isnan(last->p_value) : last->p_value < 0.01);
            CU_ASSERT_EQUAL(found(diff, 1)->part, TL_DIFF_LONG);
            CU_ASSERT_EQUAL(found(diff, 1)->sure, k == 3);
            CU_ASSERT_TRUE(is_named(diff, found(diff, 1)->name, "idle"));
        }
        end(diff, r[0], r[1]);
    }
}

/* Seven of 20 steps of B stand still: what the parts of the typical step are does not contain them. */
static void long_steps_are_no_middle_steps(void)
{
    run *r[2] = { ranks_of(1, 0, plain, 1), ranks_of(1, 0, plain, 1) };
    uint64_t seed = 7;
    for (int i = 0; i < 2; i++)
        for (int32_t s = 0; s < 20; s++) {
            drawn d = plain;
            d.compute += (int64_t)unit_below(&seed, 5);
            d.idle += i == 1 && s < 7 ? 9000 : 0;
            put_step(r[i], 0, s, s * 20000, d);
        }
    tl_diff *diff = compare(r[0], r[1]);
    CU_ASSERT_EQUAL(tl_diff_basis_of(diff).nlong[1], 7);
    TL_ROWS (const tl_diff_step, row, tl_diff_table(diff, &tl_diff_step_schema))
        CU_ASSERT_TRUE(row->part == TL_DIFF_LONG ? row->share > 1 : llabs(row->change_ns) < 3 * US && !row->sure);
    end(diff, r[0], r[1]);
}

/* Steps 0, 1, 2 ... take 1000 and 2000 us by turns, and all of B 2 % more. */
static void steps_of_one_number_are_compared_where_they_vary_alike(void)
{
    run *r[2] = { ranks_of(1, 0, plain, 1), ranks_of(1, 0, plain, 1) };
    uint64_t seed = 7;
    for (int i = 0; i < 2; i++)
        for (int32_t s = 0; s < 12; s++) {
            drawn d = plain;
            d.compute += 1000 * (s % 2) + (int64_t)unit_below(&seed, 5);
            d.idle += 30 * i;
            put_step(r[i], 0, s, s * 10000, d);
        }
    tl_diff *diff = compare(r[0], r[1]);
    CU_ASSERT_TRUE(tl_diff_basis_of(diff).paired);
    CU_ASSERT_TRUE(found(diff, 0)->sure);
    CU_ASSERT_EQUAL(found(diff, 1)->part, TL_DIFF_IDLE);
    end(diff, r[0], r[1]);
}

/* The windows of the steps hold little of the work: it comes when they are over. */
static void where_the_device_runs_behind_the_whole_recording_is_compared(void)
{
    drawn little = { .compute = 40 };
    run *a = ranks_of(1, 6, little, 3), *b = ranks_of(1, 6, little, 9);
    TL_ROWS (tl_breakdown, row, tl_tables_get(&b->tables, &tl_breakdown_schema))
        if (row->step == -1) {
            row->wall_ns = 1300 * US;
            row->idle_ns = 300 * US;
        }
    put(b, &tl_path_sum_schema, &(tl_path_sum){ .step = -1, .wall_ns = 1600 * US });
    tl_diff *diff = compare(a, b);
    const tl_diff_step *step = tl_table_row(tl_diff_table(diff, &tl_diff_step_schema), 0);
    CU_ASSERT_EQUAL(tl_diff_basis_of(diff).steps[0], 0);
    CU_ASSERT_EQUAL(step->change_ns, 100 * US); /* 600 us of 6 steps: the device's 300, and 300 outside */
    CU_ASSERT_TRUE(isnan(step->p_value));
    end(diff, a, b);
}

static const unit_test tests[] = {
    TEST(one_step_each_is_not_significant),
    TEST(a_kernel_is_named_where_two_steps_are_too_few_for_a_test),
    TEST(a_slow_first_step_of_three_changes_no_part),
    TEST(what_is_not_attributed_is_told),
    TEST(a_cut_trace_costs_no_steps_of_other_ranks),
    TEST(a_step_with_lost_work_is_not_compared),
    TEST(a_rank_whose_trace_is_cut_is_not_compared),
    TEST(steps_that_a_cut_trace_has_not_all_of_are_not_compared),
    TEST(a_rank_without_a_trace_on_one_side_is_no_difference),
    TEST(a_rank_without_marks_is_not_compared),
    TEST(a_run_without_a_device_is_not_compared),
    TEST(steps_that_stand_out_are_told_beside_the_typical_one),
    TEST(long_steps_are_no_middle_steps),
    TEST(steps_of_one_number_are_compared_where_they_vary_alike),
    TEST(where_the_device_runs_behind_the_whole_recording_is_compared),
};

int main(void)
{
    return unit_main("compared ranks and steps", tests, COUNT(tests));
}
