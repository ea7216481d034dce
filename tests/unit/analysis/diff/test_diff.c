/* test_diff.c - two runs compared: the parts of a step sum up to its difference, names are aligned, chance is not named. */
#include "drawn_runs.h"

/* ------------------------------------------------------------------------------------------------------------ steps */

static void parts_sum_up_to_the_step(void)
{
    drawn slower = plain;
    slower.compute += 33;
    slower.waiting += 71;
    slower.idle -= 13;
    slower.outside += 7;
    run *a = steps_of(7, plain, 3), *b = steps_of(6, slower, 9);
    tl_diff *diff = compare(a, b);
    const tl_table *steps = tl_diff_table(diff, &tl_diff_step_schema);
    int64_t sum = 0;
    for (size_t i = 1; i < steps->n; i++)
        sum += ((const tl_diff_step *)tl_table_row(steps, i))->change_ns;
    const tl_diff_step *step = tl_table_row(steps, 0), *largest = tl_table_row(steps, 1);
    CU_ASSERT_EQUAL(step->part, TL_DIFF_STEP);
    CU_ASSERT_EQUAL(sum, step->change_ns);
    CU_ASSERT_EQUAL(step->change_ns, step->b_ns - step->a_ns);
    CU_ASSERT_TRUE(llabs(step->change_ns - 98 * US) < 4 * US);
    CU_ASSERT_EQUAL(largest->part, TL_DIFF_WAITING);
    CU_ASSERT_EQUAL(largest->change_ns, 71 * US);
    CU_ASSERT_EQUAL(largest->kind, TL_ALL_REDUCE);
    CU_ASSERT_STRING_EQUAL(largest->group, "0-1");
    TL_ROWS (const tl_diff_breakdown, row, tl_diff_table(diff, &tl_diff_breakdown_schema))
        CU_ASSERT_EQUAL(row->step_ns, row->compute_ns + row->waiting_ns + row->transfer_ns + row->unknown_ns +
                                          row->copy_ns + row->idle_ns + row->outside_ns);
    end(diff, a, b);
}

static void equal_runs_have_no_finding(void)
{
    for (uint64_t seed = 1; seed < 60; seed += 2) {
        run *a = steps_of(6, plain, seed), *b = steps_of(6, plain, seed + 1);
        tl_diff *diff = compare(a, b);
        CU_ASSERT_EQUAL(nfound(diff), 1);
        CU_ASSERT_FALSE(found(diff, 0)->sure);
        end(diff, a, b);
    }
}

/* Two devices may differ by 2 % for good; 5 % is more. */
static void compute_that_differs_as_devices_do_is_not_sure(void)
{
    for (int more = 0; more < 2; more++) {
        drawn slower = plain;
        slower.compute += more ? 25 : 14;
        run *a = steps_of(8, plain, 3), *b = steps_of(8, slower, 9);
        tl_diff *diff = compare(a, b);
        const tl_diff_found *step = found(diff, 0);
        CU_ASSERT_TRUE(step->p_value < 0.01 && step->share > 0.01);
        CU_ASSERT_EQUAL(step->sure, more);
        CU_ASSERT_EQUAL(nfound(diff), more ? 2 : 1);
        end(diff, a, b);
    }
}

static void a_run_with_itself_is_zero_everywhere(void)
{
    run *a = steps_of(6, plain, 5), *b = steps_of(6, plain, 5);
    put_kernel(a, 0, TL_COMPUTE, "gemm", 6, 80);
    put_kernel(b, 0, TL_COMPUTE, "gemm", 6, 80);
    tl_diff *diff = compare(a, b);
    TL_ROWS (const tl_diff_step, row, tl_diff_table(diff, &tl_diff_step_schema))
        CU_ASSERT_EQUAL(row->change_ns, 0);
    const tl_diff_kernel *kernel = tl_table_row(tl_diff_table(diff, &tl_diff_kernel_schema), 0);
    CU_ASSERT_EQUAL(kernel->change, TL_DIFF_SAME);
    CU_ASSERT_EQUAL(nfound(diff), 1);
    end(diff, a, b);
}

static void waiting_that_grew_is_named_first(void)
{
    drawn slower = plain;
    slower.waiting += 90;
    slower.compute += 20;
    run *a = steps_of(6, plain, 3), *b = steps_of(6, slower, 9);
    tl_blame charge = { .to_rank = 1, .from_rank = 0, .waiters = 1, .direct_ns = 6 * 90 * US };
    put(b, &tl_blame_schema, &charge);
    tl_diff *diff = compare(a, b);
    CU_ASSERT_TRUE(found(diff, 0)->sure);
    CU_ASSERT_EQUAL(found(diff, 1)->part, TL_DIFF_WAITING);
    CU_ASSERT_EQUAL(found(diff, 1)->rank, 1);
    CU_ASSERT_TRUE(is_named(diff, found(diff, 1)->name, "all_reduce of ranks 0-1"));
    CU_ASSERT_EQUAL(found(diff, 2)->part, TL_DIFF_COMPUTE);
    end(diff, a, b);
}

/* Half of the transfer is overlapped in A; in B the device runs dry, and nothing overlaps it.  The transfer takes 160 us in
 * both, or 240 in B. */
static void less_overlap_is_no_longer_transfer(void)
{
    for (int longer = 0; longer < 2; longer++) {
        drawn dry = plain;
        dry.transfer += 80;
        dry.idle += 60;
        run *a = steps_of(6, plain, 3), *b = steps_of(6, dry, 9);
        tl_diff *diff = begin(a, b);
        for (int side = 0; side < 2; side++)
            for (int32_t step = 0; step < 6; step++) {
                tl_collective_row row = { .kind = TL_ALL_REDUCE, .n = 2, .state = TL_COLL_WHOLE, .step = step,
                                          .kernel_sum_ns = 2 * (160 + 80 * side * longer) * US };
                tl_diff_take(diff, side, &tl_collective_row_schema, &row);
            }
        tl_diff_compare(diff);
        const tl_diff_found *transfer = found(diff, longer ? 1 : 2), *idle = found(diff, longer ? 2 : 1);
        CU_ASSERT_EQUAL(transfer->part, TL_DIFF_TRANSFER);
        CU_ASSERT_EQUAL(transfer->change_ns, 80 * US);
        CU_ASSERT_EQUAL(transfer->change, longer ? TL_DIFF_TIME : TL_DIFF_SAME);
        CU_ASSERT_EQUAL(idle->part, TL_DIFF_IDLE);
        end(diff, a, b);
    }
}

/* Two collectives wait for one rank: one finding has the time of both, and says that it has. */
static void waiting_in_several_collectives_is_not_said_of_one(void)
{
    drawn slower = plain;
    slower.waiting += 90;
    run *a = steps_of(6, plain, 3), *b = steps_of(6, slower, 9);
    for (int32_t rank = 0; rank < 2; rank++)
        for (int32_t step = 0; step < 6; step++) {
            tl_exposed e = { .rank = rank, .step = step, .parallelism = TL_PARALLEL_DATA, .kind = TL_REDUCE_SCATTER,
                             .exposed_ns = 40 * US, .waiting_ns = 40 * US };
            put(b, &tl_exposed_schema, &e);
        }
    tl_blame charge = { .to_rank = 1, .from_rank = 0, .waiters = 1, .direct_ns = 6 * 90 * US };
    put(b, &tl_blame_schema, &charge);
    tl_diff *diff = compare(a, b);
    CU_ASSERT_EQUAL(found(diff, 1)->part, TL_DIFF_WAITING);
    CU_ASSERT_EQUAL(found(diff, 1)->change_ns, 130 * US);
    CU_ASSERT_TRUE(is_named(diff, found(diff, 1)->name, "all_reduce of ranks 0-1 and others"));
    end(diff, a, b);
}

/* The transfer between ranks 0 and 1 takes 80 us longer, so that ranks 2 and 3 wait for them in the all-reduce of all four: the
 * transfer stands first, and the waiting follows from it, though a little more is charged to rank 3, too.
 *
 *     A    0, 1   [compute][transfer 0-1]
 *          2, 3   [compute][all_reduce 0-3]
 *     B    0, 1   [compute][transfer 0-1 ######]
 *          2, 3   [compute][wait  ######][all_reduce 0-3]
 */
static void a_transfer_that_others_wait_for_stands_before_the_waiting(void)
{
    run *r[2] = { ranks_of(4, 6, plain, 3), ranks_of(4, 6, plain, 9) };
    tl_group_row all = { .group = 1, .ranks = "0-3", .size = 4, .parallelism = TL_PARALLEL_WORLD };
    tl_blame charge = { .to_rank = 3, .from_rank = 0, .waiters = 1, .direct_ns = 6 * 20 * US };
    for (int i = 0; i < 2; i++) {
        put(r[i], &tl_group_row_schema, &all);
        TL_ROWS (tl_step, row, tl_tables_get(&r[i]->tables, &tl_step_schema))
            row->end_ns += i * 80 * US;
        TL_ROWS (tl_breakdown, row, tl_tables_get(&r[i]->tables, &tl_breakdown_schema)) {
            row->wall_ns += i * 80 * US;
            row->comm_waiting_ns += row->rank < 2 ? 0 : i * 80 * US;
        }
        TL_ROWS (tl_exposed, row, tl_tables_get(&r[i]->tables, &tl_exposed_schema)) {
            row->group = row->rank < 2 ? 0 : 1;
            row->transfer_ns += row->rank < 2 ? i * 80 * US : 0;
            row->waiting_ns += row->rank < 2 ? 0 : i * 80 * US;
        }
    }
    put(r[1], &tl_blame_schema, &charge);
    tl_diff *diff = compare(r[0], r[1]);
    CU_ASSERT_EQUAL_FATAL(nfound(diff), 3);
    CU_ASSERT_EQUAL(found(diff, 1)->part, TL_DIFF_TRANSFER);
    CU_ASSERT_EQUAL(found(diff, 2)->part, TL_DIFF_WAITING);
    CU_ASSERT_EQUAL(found(diff, 2)->rank, -1);
    CU_ASSERT_EQUAL(found(diff, 2)->why_part, TL_DIFF_TRANSFER);
    CU_ASSERT_TRUE(is_named(diff, found(diff, 2)->why, "all_reduce of ranks 0-1"));
    CU_ASSERT_EQUAL(found(diff, 2)->why_ns, 80 * US);
    end(diff, r[0], r[1]);
}

/* Rank 2 computes for 100 us longer, by which the others wait 30 and transfer 70 us longer. */
static void a_straggler_stands_before_the_transfer_that_grows_with_it(void)
{
    run *r[2] = { ranks_of(3, 0, plain, 1), ranks_of(3, 0, plain, 1) };
    uint64_t seed = 7;
    for (int i = 0; i < 2; i++)
        for (int32_t s = 0; s < 24; s++) {
            const bool late = s % 3 == 2;
            drawn d = plain;
            d.compute += (int64_t)unit_below(&seed, 5) + (late ? 100 * i : 0);
            d.waiting += late ? 0 : 30 * i;
            d.transfer += late ? 0 : 70 * i;
            put_step(r[i], s % 3, s / 3, s / 3 * 20000, d);
        }
    tl_blame charge = { .to_rank = 2, .from_rank = 0, .waiters = 2, .direct_ns = 8 * 60 * US };
    put(r[1], &tl_blame_schema, &charge);
    tl_diff *diff = compare(r[0], r[1]);
    CU_ASSERT_EQUAL_FATAL(nfound(diff), 4);
    CU_ASSERT_EQUAL(found(diff, 1)->part, TL_DIFF_WAITING);
    CU_ASSERT_EQUAL(found(diff, 1)->rank, 2);
    CU_ASSERT_EQUAL(found(diff, 2)->part, TL_DIFF_TRANSFER);
    CU_ASSERT_TRUE(found(diff, 2)->change_ns > found(diff, 1)->change_ns);
    end(diff, r[0], r[1]);
}

/* Five of eight steps wait for rank 1: too few for a test of the waiting, of which the verdict on B is sure. */
static void what_the_verdict_of_the_longer_run_is_sure_of_is_said(void)
{
    for (int sure_of_a = 0; sure_of_a < 2; sure_of_a++) {
        run *r[2] = { ranks_of(2, 0, plain, 1), ranks_of(2, 0, plain, 1) };
        uint64_t seed = 7;
        for (int i = 0; i < 2; i++)
            for (int32_t s = 0; s < 16; s++) {
                drawn d = plain;
                d.compute += (int64_t)unit_below(&seed, 5);
                d.waiting += i == 1 && s % 8 < 5 ? 900 : 0;
                put_step(r[i], s % 2, s / 2, s / 2 * 20000, d);
            }
        tl_culprit named = { .kind = TL_CULPRIT_RANK, .rank = 1, .confidence = TL_CONFIDENCE_HIGH };
        tl_blame charge = { .to_rank = 1, .from_rank = 0, .waiters = 1, .direct_ns = 5 * 900 * US };
        put(r[1], &tl_blame_schema, &charge);
        put(r[1], &tl_culprit_schema, &named);
        if (sure_of_a)
            put(r[0], &tl_culprit_schema, &named);
        tl_diff *diff = compare(r[0], r[1]);
        CU_ASSERT_EQUAL(found(diff, 1)->part, TL_DIFF_WAITING);
        CU_ASSERT_EQUAL(found(diff, 1)->sure, 0);
        CU_ASSERT_EQUAL(found(diff, 1)->by_verdict, !sure_of_a);
        end(diff, r[0], r[1]);
    }
}

/* What grew of the rank that is waited for is told by work of one name, though the kernel has another in B; of a rank that
 * A lacks by the ranks of A that do the same. */
static void a_reason_is_no_other_name(void)
{
    drawn slower = plain;
    slower.waiting += 90;
    for (int lacking = 0; lacking < 2; lacking++) {
        run *a = ranks_of(lacking ? 1 : 2, 6, plain, 3), *b = steps_of(6, slower, 9);
        for (int32_t rank = 0; rank < 2; rank++) {
            put_kernel(a, rank, TL_COMPUTE, "gemm_128", 6, 100);
            put_kernel(b, rank, TL_COMPUTE, "gemm_64", 6, 100 + 4 * rank);
            put_kernel(a, rank, TL_COMPUTE, "relu", 6, 10);
            put_kernel(b, rank, TL_COMPUTE, "relu", 6, 10 + 30 * rank);
        }
        tl_blame charge = { .to_rank = 1, .from_rank = 0, .waiters = 1, .direct_ns = 6 * 90 * US };
        put(b, &tl_blame_schema, &charge);
        tl_diff *diff = compare(a, b);
        const tl_diff_found *waiting = found(diff, 1);
        CU_ASSERT_EQUAL_FATAL(waiting->part, TL_DIFF_WAITING);
        CU_ASSERT_EQUAL(waiting->rank, 1);
        CU_ASSERT_TRUE(is_named(diff, waiting->why, "relu"));
        CU_ASSERT_EQUAL(waiting->why_ns, 30 * US);
        end(diff, a, b);
    }
}

/* Rank 1 is waited for, and its kernel takes 30 us longer; so does that of the other rank. */
static void what_grew_on_all_ranks_is_no_reason_to_wait_for_one(void)
{
    drawn slower = plain;
    slower.waiting += 90;
    run *a = steps_of(6, plain, 3), *b = steps_of(6, slower, 9);
    for (int32_t rank = 0; rank < 2; rank++) {
        put_kernel(a, rank, TL_COMPUTE, "gemm", 6, 100);
        put_kernel(b, rank, TL_COMPUTE, "gemm", 6, 130);
    }
    tl_blame charge = { .to_rank = 1, .from_rank = 0, .waiters = 1, .direct_ns = 6 * 90 * US };
    put(b, &tl_blame_schema, &charge);
    tl_diff *diff = compare(a, b);
    const tl_diff_found *waiting = found(diff, 1);
    CU_ASSERT_EQUAL_FATAL(waiting->part, TL_DIFF_WAITING);
    CU_ASSERT_EQUAL(waiting->rank, 1);
    CU_ASSERT_EQUAL(waiting->why, TL_NO_NAME);
    end(diff, a, b);
}

/* A rank that has no trace in B: its waiting and transfer are not told apart there, though nothing else differs. */
static void what_one_side_does_not_know_is_no_change_of_waiting(void)
{
    run *a = steps_of(6, plain, 3), *b = steps_of(6, plain, 9);
    TL_ROWS (tl_exposed, row, tl_tables_get(&b->tables, &tl_exposed_schema)) {
        row->unknown_ns = row->exposed_ns;
        row->waiting_ns = row->transfer_ns = 0;
    }
    tl_diff *diff = compare(a, b);
    int64_t sum = 0, unknown_ns = -1;
    TL_ROWS (const tl_diff_step, row, tl_diff_table(diff, &tl_diff_step_schema)) {
        CU_ASSERT_TRUE(row->part != TL_DIFF_WAITING && row->part != TL_DIFF_TRANSFER);
        sum += row->part == TL_DIFF_STEP ? -row->change_ns : row->change_ns;
        unknown_ns = row->part == TL_DIFF_UNKNOWN ? row->change_ns : unknown_ns;
    }
    CU_ASSERT_EQUAL(sum, 0);
    CU_ASSERT_EQUAL(unknown_ns, 0);
    CU_ASSERT_EQUAL(nfound(diff), 1);
    end(diff, a, b);
}

/* The same of a group that is not matched in B: nothing tells there what the group divides. */
static void an_unmatched_group_is_the_group_that_the_other_side_matched(void)
{
    run *a = steps_of(6, plain, 3), *b = steps_of(6, plain, 3);
    TL_ROWS (tl_exposed, row, tl_tables_get(&b->tables, &tl_exposed_schema)) {
        row->unknown_ns = row->exposed_ns;
        row->waiting_ns = row->transfer_ns = 0;
        row->group = -1;
        row->parallelism = TL_PARALLEL_UNKNOWN;
    }
    tl_diff *diff = compare(a, b);
    TL_ROWS (const tl_diff_step, row, tl_diff_table(diff, &tl_diff_step_schema))
        CU_ASSERT_EQUAL(row->change_ns, 0);
    CU_ASSERT_EQUAL(nfound(diff), 1);
    end(diff, a, b);
}

/* B matches all, and does not know what the groups divide: the collective is compared as one. */
static void groups_of_which_one_side_knows_less_are_compared_as_one(void)
{
    run *a = steps_of(6, plain, 3), *b = steps_of(6, plain, 3);
    TL_ROWS (tl_exposed, row, tl_tables_get(&a->tables, &tl_exposed_schema))
        row->parallelism = row->rank == 0 ? TL_PARALLEL_DATA : TL_PARALLEL_TENSOR;
    TL_ROWS (tl_exposed, row, tl_tables_get(&b->tables, &tl_exposed_schema))
        row->parallelism = TL_PARALLEL_UNKNOWN;
    tl_diff *diff = compare(a, b);
    TL_ROWS (const tl_diff_step, row, tl_diff_table(diff, &tl_diff_step_schema))
        CU_ASSERT_EQUAL(row->change_ns, 0);
    end(diff, a, b);
}

/* One finding: the transfer, with what replaced the kernel of that collective; a kernel of another collective is its own. */
static void another_algorithm_of_a_collective_is_told_once(void)
{
    static const char *const kernels[] = { "nccl_AllReduce<RING>", "nccl_AllGather<RING>" };
    static const char *const replacing[] = { "nccl_AllReduce<TREE>", "nccl_AllGather<TREE>" };
    drawn slower = plain;
    slower.transfer += 90;
    for (int other = 0; other < 2; other++) {
        run *a = steps_of(6, plain, 3), *b = steps_of(6, slower, 9);
        for (int32_t rank = 0; rank < 2; rank++) {
            put_kernel(a, rank, TL_COMM, kernels[other], 6, 100);
            put_kernel(b, rank, TL_COMM, replacing[other], 6, 190);
        }
        tl_diff *diff = compare(a, b);
        CU_ASSERT_EQUAL_FATAL(nfound(diff), other ? 3 : 2);
        CU_ASSERT_EQUAL(found(diff, 1)->part, TL_DIFF_TRANSFER);
        if (other == 0) {
            CU_ASSERT_TRUE(isnan(found(diff, 1)->a_count));
            CU_ASSERT_TRUE(is_named(diff, found(diff, 1)->why, kernels[0]));
            CU_ASSERT_TRUE(is_named(diff, found(diff, 1)->b_name, replacing[0]));
        }
        end(diff, a, b);
    }
}

/* ------------------------------------------------------------------------------------------------------------ names */

static void ranks_that_do_the_same_are_one_row_where_numbers_differ(void)
{
    drawn slower = plain;
    slower.compute += 100;
    run *a = ranks_of(2, 6, plain, 3), *b = ranks_of(4, 6, slower, 9);
    for (int32_t rank = 0; rank < 4; rank++) {
        if (rank < 2)
            put_kernel(a, rank, TL_COMPUTE, rank < 1 ? "embedding<1>" : "head", 6, 100);
        put_kernel(b, rank, TL_COMPUTE, rank < 2 ? "embedding<2>" : "head", 6, 100);
    }
    tl_diff *diff = compare(a, b);
    const tl_table *t = tl_diff_table(diff, &tl_diff_breakdown_schema);
    const tl_diff_breakdown *rows = tl_table_row(t, 0);
    CU_ASSERT_EQUAL_FATAL(t->n, 2);
    CU_ASSERT_STRING_EQUAL(rows[0].a_ranks, "0");
    CU_ASSERT_STRING_EQUAL(rows[0].b_ranks, "0,1");
    CU_ASSERT_STRING_EQUAL(rows[1].a_ranks, "1");
    CU_ASSERT_STRING_EQUAL(rows[1].b_ranks, "2,3");
    CU_ASSERT_TRUE(llabs(rows[1].compute_ns - 100 * US) < 5 * US);
    end(diff, a, b);
}

static const unit_test tests[] = {
    TEST(a_reason_is_no_other_name),
    TEST(what_grew_on_all_ranks_is_no_reason_to_wait_for_one),
    TEST(another_algorithm_of_a_collective_is_told_once),
    TEST(ranks_that_do_the_same_are_one_row_where_numbers_differ),
    TEST(parts_sum_up_to_the_step),
    TEST(equal_runs_have_no_finding),
    TEST(compute_that_differs_as_devices_do_is_not_sure),
    TEST(a_run_with_itself_is_zero_everywhere),
    TEST(waiting_that_grew_is_named_first),
    TEST(a_transfer_that_others_wait_for_stands_before_the_waiting),
    TEST(what_the_verdict_of_the_longer_run_is_sure_of_is_said),
    TEST(less_overlap_is_no_longer_transfer),
    TEST(waiting_in_several_collectives_is_not_said_of_one),
    TEST(what_one_side_does_not_know_is_no_change_of_waiting),
    TEST(an_unmatched_group_is_the_group_that_the_other_side_matched),
    TEST(groups_of_which_one_side_knows_less_are_compared_as_one),
    TEST(a_straggler_stands_before_the_transfer_that_grows_with_it),
};

int main(void)
{
    return unit_main("diff", tests, COUNT(tests));
}
