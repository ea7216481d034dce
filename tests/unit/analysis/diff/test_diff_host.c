/* test_diff_host.c - two runs compared: what the host does while devices are idle is named. */
#include "drawn_runs.h"

/* A call that waits for the device: in 6 of 7 steps of the recording, for us each time. */
static void put_waits(run *r, int32_t rank, const char *call, int64_t count, int64_t us)
{
    put(r, &tl_launch_row_schema, &(tl_launch_row){ .rank = rank, .calls = 7 * count, .step_median = count,
                                                    .host_ns = 7 * count * us * US, .name = name(r, call) });
}

/* A call is named if it is made more often, not if devices are idle for longer in the same calls. */
static void a_call_that_waits_more_often_is_named_with_its_count(void)
{
    for (int32_t more = 0; more < 2; more++) {
        drawn slower = plain;
        slower.idle += 80;
        run *r[2] = { steps_of(6, plain, 3), steps_of(6, slower, 9) };
        for (int i = 0; i < 2; i++)
            for (int32_t rank = 0; rank < 2; rank++) {
                put_waits(r[i], rank, "cudaStreamSynchronize", 2, 100);
                put_waits(r[i], rank, "cudaEventSynchronize", 1, 90 + (more == 0 ? 80 * i : 0));
                if (more == 1 && i == 1)
                    put_waits(r[i], rank, "cudaDeviceSynchronize", 12, 10);
            }
        tl_diff *diff = compare(r[0], r[1]);
        const tl_diff_found *idle = found(diff, 1);
        CU_ASSERT_EQUAL(idle->part, TL_DIFF_IDLE);
        CU_ASSERT_EQUAL_FATAL(idle->why != TL_NO_NAME, more == 1);
        const tl_table *operators = tl_diff_table(diff, &tl_diff_operator_schema);
        CU_ASSERT_EQUAL_FATAL((int)operators->n, 2 + more);
        if (more == 1) {
            const tl_diff_kernel *row = tl_table_row(operators, 0);
            CU_ASSERT_TRUE(is_named(diff, idle->why, "cudaDeviceSynchronize"));
            CU_ASSERT_EQUAL(idle->why_part, TL_DIFF_IDLE);
            CU_ASSERT_EQUAL(idle->why_ns, 120 * US);
            CU_ASSERT_EQUAL(idle->why_a_count, 0);
            CU_ASSERT_EQUAL(idle->why_b_count, 12);
            CU_ASSERT_TRUE(is_named(diff, row->kind, "call"));
            CU_ASSERT_EQUAL(row->change, TL_DIFF_ADDED);
            CU_ASSERT_EQUAL(row->b_count, 12);
        }
        end(diff, r[0], r[1]);
    }
}

/* Rank 2 of three alone waits 90 us longer for input between its steps; then all ranks do. */
static void waiting_for_input_is_named(void)
{
    for (int32_t from = 0; from < 3; from += 2) {
        run *r[2] = { ranks_of(3, 6, plain, 3), ranks_of(3, 6, plain, 9) };
        for (int i = 0; i < 2; i++)
            TL_ROWS (tl_step, row, tl_tables_get(&r[i]->tables, &tl_step_schema)) {
                const int64_t more_ns = i == 1 && row->rank >= from ? 90 * US : 0;
                const tl_path_sum sum = { .rank = row->rank, .step = row->step, .input_ns = 60 * US + more_ns };
                row->end_ns += more_ns;
                put(r[i], &tl_path_sum_schema, &sum);
            }
        tl_diff *diff = compare(r[0], r[1]);
        const tl_diff_found *outside = found(diff, 1);
        CU_ASSERT_EQUAL(outside->part, TL_DIFF_OUTSIDE);
        CU_ASSERT_EQUAL(outside->rank, from == 0 ? -1 : 2);
        CU_ASSERT_TRUE(is_named(diff, outside->why, "waiting for input"));
        CU_ASSERT_EQUAL(outside->why_ns, 90 * US);
        CU_ASSERT_TRUE(isnan(outside->why_a_count));
        end(diff, r[0], r[1]);
    }
}

/* The host waits in an operator that copies from the device; the wait moves elsewhere, and no operator takes longer. */
static void an_operator_that_waits_for_the_device_stands_last(void)
{
    run *r[2] = { steps_of(6, plain, 3), steps_of(6, plain, 9) };
    for (int i = 0; i < 2; i++)
        for (int32_t rank = 0; rank < 2; rank++) {
            tl_operator_row item = { .rank = rank, .name = name(r[i], "aten::item"), .steps_count = 6,
                                     .steps_ns = 6 * (i == 0 ? 400 : 100) * US },
                            mm = { .rank = rank, .name = name(r[i], "aten::mm"), .steps_count = 6,
                                   .steps_ns = 6 * (20 + i) * US };
            put(r[i], &tl_operator_row_schema, &item);
            put(r[i], &tl_operator_row_schema, &mm);
            put_kernel(r[i], rank, TL_MEMCPY, "Memcpy DtoH (Device -> Pinned)", 6, 2);
            put_operator(r[i], "aten::item");
        }
    tl_diff *diff = compare(r[0], r[1]);
    const tl_table *operators = tl_diff_table(diff, &tl_diff_operator_schema);
    CU_ASSERT_EQUAL_FATAL(operators->n, 2);
    CU_ASSERT_TRUE(is_named(diff, ((const tl_diff_kernel *)tl_table_row(operators, 0))->name, "aten::mm"));
    CU_ASSERT_EQUAL(((const tl_diff_kernel *)tl_table_row(operators, 1))->place, 2);
    end(diff, r[0], r[1]);
}

static const unit_test tests[] = {
    TEST(an_operator_that_waits_for_the_device_stands_last),
    TEST(a_call_that_waits_more_often_is_named_with_its_count),
    TEST(waiting_for_input_is_named),
};

int main(void)
{
    return unit_main("diff_host", tests, COUNT(tests));
}
