/* test_diff_works.c - kernels and operators of two runs: which are the same, new, gone, replaced, and which changes are sure;
 * and the facts that are told first. */
#include "drawn_runs.h"

static void kernels_are_aligned_by_name(void)
{
    run *a = steps_of(6, plain, 3), *b = steps_of(6, plain, 9);
    for (int32_t rank = 0; rank < 2; rank++) {
        put_kernel(a, rank, TL_COMPUTE, "same", 60, 10);
        put_kernel(b, rank, TL_COMPUTE, "same", 60, 10);
        put_kernel(a, rank, TL_COMPUTE, "longer", 60, 10);
        put_kernel(b, rank, TL_COMPUTE, "longer", 60, 11);
        put_kernel(a, rank, TL_COMPUTE, "gemm_128x64<float, 4>", 12, 30);
        put_kernel(b, rank, TL_COMPUTE, "gemm_64x32<float, 8>", 12, 20);
        put_kernel(a, rank, TL_COMPUTE, "gone", 6, 40);
        put_kernel(b, rank, TL_COMPUTE, "new", 12, 40);
        put_kernel(a, rank, TL_MEMCPY, "often", 6, 10);
        put_kernel(b, rank, TL_MEMCPY, "often", 12, 10);
    }
    tl_diff *diff = compare(a, b);
    CU_ASSERT_EQUAL(tl_diff_table(diff, &tl_diff_kernel_schema)->n, 6);
    CU_ASSERT_EQUAL(kernel_of(diff, "same")->change, TL_DIFF_SAME);
    CU_ASSERT_EQUAL(kernel_of(diff, "longer")->change, TL_DIFF_TIME);
    CU_ASSERT_EQUAL(kernel_of(diff, "longer")->change_ns, 10 * US);
    CU_ASSERT_EQUAL(kernel_of(diff, "longer")->by_count_ns, 0);
    CU_ASSERT_EQUAL(kernel_of(diff, "gone")->change, TL_DIFF_REMOVED);
    CU_ASSERT_EQUAL(kernel_of(diff, "gone")->a_count, 1);
    CU_ASSERT_EQUAL(kernel_of(diff, "new")->change, TL_DIFF_ADDED);
    CU_ASSERT_EQUAL(kernel_of(diff, "new")->change_ns, 80 * US);
    CU_ASSERT_EQUAL(kernel_of(diff, "often")->change, TL_DIFF_COUNT);
    CU_ASSERT_EQUAL(kernel_of(diff, "often")->by_count_ns, 10 * US);
    const tl_diff_kernel *replaced = kernel_of(diff, "gemm_128x64<float, 4>");
    CU_ASSERT_EQUAL(replaced->change, TL_DIFF_REPLACED);
    CU_ASSERT_TRUE(is_named(diff, replaced->b_name, "gemm_64x32<float, 8>"));
    CU_ASSERT_EQUAL(replaced->change_ns, -20 * US);
    end(diff, a, b);
}

/* All ranks wait for the same: that each does so for longer is one chance, not one a rank. */
static void times_that_hold_waiting_are_never_sure(void)
{
    run *a = ranks_of(4, 6, plain, 3), *b = ranks_of(4, 6, plain, 9);
    for (int32_t rank = 0; rank < 4; rank++) {
        tl_operator_row op = { .rank = rank, .count = 6, .steps_count = 6, .steps_ns = 600 * US, .name = name(a, "aten::item") };
        put_kernel(a, rank, TL_COMM, "nccl_AllReduce", 6, 100);
        put_kernel(b, rank, TL_COMM, "nccl_AllReduce", 6, 130 + rank % 2);
        put_kernel(a, rank, TL_COMPUTE, "gemm", 6, 100);
        put_kernel(b, rank, TL_COMPUTE, "gemm", 6, 130 + rank % 2);
        put(a, &tl_operator_row_schema, &op);
        op.steps_ns += (200 + rank % 2) * US;
        op.name = name(b, "aten::item");
        put(b, &tl_operator_row_schema, &op);
    }
    tl_diff *diff = compare(a, b);
    const tl_diff_kernel *operator= tl_table_row(tl_diff_table(diff, &tl_diff_operator_schema), 0);
    CU_ASSERT_EQUAL(kernel_of(diff, "gemm")->sure, 1);
    CU_ASSERT_EQUAL(kernel_of(diff, "nccl_AllReduce")->change, TL_DIFF_TIME);
    CU_ASSERT_EQUAL(kernel_of(diff, "nccl_AllReduce")->sure, 0);
    CU_ASSERT_EQUAL(operator->change, TL_DIFF_TIME);
    CU_ASSERT_EQUAL(operator->sure, 0);
    end(diff, a, b);
}

/* B has recorded a part of a step before its first: launches that are in no step, and one operator more. */
static void a_recording_that_begins_within_a_step_changes_no_count(void)
{
    run *a = steps_of(6, plain, 3), *b = steps_of(6, plain, 9);
    for (int32_t rank = 0; rank < 2; rank++) {
        tl_operator_row op = { .rank = rank, .count = 6, .steps_count = 6, .steps_ns = 600 * US, .name = name(a, "aten::mm") };
        tl_interval before = { .rank = rank, .kind = TL_COMPUTE, .step = -1, .duration_ns = 20 * US, .name = name(b, "gemm") };
        put(a, &tl_operator_row_schema, &op);
        op.count = 7;
        op.name = name(b, "aten::mm");
        put(b, &tl_operator_row_schema, &op);
        put_kernel(a, rank, TL_COMPUTE, "gemm", 12, 20);
        put_kernel(b, rank, TL_COMPUTE, "gemm", 12, 20);
        tl_table_append(&b->intervals, &before, 1);
        before.step = 0; /* launched before the recording began */
        before.launch_ns = TL_TIME_UNKNOWN;
        tl_table_append(&b->intervals, &before, 1);
    }
    tl_diff *diff = compare(a, b);
    const tl_diff_kernel *operator= tl_table_row(tl_diff_table(diff, &tl_diff_operator_schema), 0);
    CU_ASSERT_EQUAL(kernel_of(diff, "gemm")->b_count, 2);
    CU_ASSERT_EQUAL(kernel_of(diff, "gemm")->change, TL_DIFF_SAME);
    CU_ASSERT_EQUAL(operator->change, TL_DIFF_SAME);
    CU_ASSERT_EQUAL(nfound(diff), 1);
    end(diff, a, b);
}

/* Half as many all-reduces, in which ranks wait: the count is sure, and no time is said of it. */
static void of_communication_that_runs_less_often_no_time_is_told(void)
{
    run *a = steps_of(6, plain, 3), *b = steps_of(6, plain, 9);
    for (int32_t rank = 0; rank < 2; rank++) {
        put_kernel(a, rank, TL_COMM, "nccl_AllReduce", 24, 20);
        put_kernel(b, rank, TL_COMM, "nccl_AllReduce", 12, 90);
    }
    tl_diff *diff = compare(a, b);
    CU_ASSERT_EQUAL(kernel_of(diff, "nccl_AllReduce")->change, TL_DIFF_COUNT);
    CU_ASSERT_EQUAL_FATAL(nfound(diff), 2);
    CU_ASSERT_EQUAL(found(diff, 1)->sure, 1);
    CU_ASSERT_EQUAL(found(diff, 1)->change_ns, 0);
    CU_ASSERT_EQUAL(found(diff, 1)->a_count, 4);
    CU_ASSERT_EQUAL(found(diff, 1)->b_count, 2);
    CU_ASSERT_TRUE(isnan(found(diff, 1)->times));
    end(diff, a, b);
}

/* B lacks an all-reduce: it is gone, unless ranks of all-reduces have no trace in B. */
static void a_collective_that_cannot_be_matched_is_not_gone(void)
{
    for (int unmatched = 0; unmatched < 2; unmatched++) {
        run *a = steps_of(6, plain, 3), *b = steps_of(6, plain, 9);
        tl_collective_row row = { .kind = TL_ALL_REDUCE, .n = 2, .state = TL_COLL_WHOLE, .bytes = 1000, .step = 2,
                                  .kernel_sum_ns = 150 * US };
        tl_diff *diff = begin(a, b);
        tl_diff_take(diff, 0, &tl_collective_row_schema, &row);
        row.step = 6; /* no compared step */
        tl_diff_take(diff, 0, &tl_collective_row_schema, &row);
        row.state = TL_COLL_PARTIAL;
        if (unmatched)
            tl_diff_take(diff, 1, &tl_collective_row_schema, &row);
        tl_diff_compare(diff);
        const tl_table *collectives = tl_diff_table(diff, &tl_diff_collective_schema);
        const tl_diff_kernel *transfer = tl_table_row(collectives, 0);
        TL_ROWS (const tl_diff_kernel, collective, collectives)
            CU_ASSERT_EQUAL(collective->change, unmatched ? TL_DIFF_SAME : TL_DIFF_REMOVED);
        CU_ASSERT_TRUE(is_named(diff, transfer->name, "all_reduce of world, 2 ranks, from 512 bytes"));
        CU_ASSERT_DOUBLE_EQUAL(transfer->a_count, 1.0 / 6, 1e-9);
        CU_ASSERT_EQUAL(transfer->a_ns, 12500); /* 150 us of 2 ranks and 6 steps */
        end(diff, a, b);
    }
}

static void a_kernel_replaces_another_under_its_operator(void)
{
    run *a = steps_of(6, plain, 3), *b = steps_of(6, plain, 9);
    for (int32_t rank = 0; rank < 2; rank++) {
        put_kernel(a, rank, TL_COMPUTE, "cutlass_kernel", 6, 30);
        put_kernel(b, rank, TL_COMPUTE, "Cijk_kernel", 6, 60);
    }
    put_operator(a, "aten::mm");
    put_operator(b, "aten::mm");
    tl_diff *diff = begin(a, b);
    put_node(diff, 0, a, 0, TL_TREE_OPERATOR, "aten::mm", 30);
    put_node(diff, 0, a, 1, TL_TREE_WORK, "cutlass_kernel", 30);
    put_node(diff, 1, b, 0, TL_TREE_OPERATOR, "aten::mm", 60);
    put_node(diff, 1, b, 1, TL_TREE_WORK, "Cijk_kernel", 60);
    tl_diff_compare(diff);
    const tl_diff_kernel *row = tl_table_row(tl_diff_table(diff, &tl_diff_kernel_schema), 0);
    CU_ASSERT_EQUAL(tl_diff_table(diff, &tl_diff_kernel_schema)->n, 1);
    CU_ASSERT_EQUAL(row->change, TL_DIFF_REPLACED);
    CU_ASSERT_TRUE(is_named(diff, row->operator, "aten::mm"));
    CU_ASSERT_TRUE(is_named(diff, row->b_name, "Cijk_kernel"));
    const tl_table *paths = tl_diff_table(diff, &tl_diff_call_path_schema);
    CU_ASSERT_EQUAL_FATAL(paths->n, 2);
    const tl_diff_kernel *path = tl_table_row(paths, 0);
    CU_ASSERT_TRUE(is_named(diff, path[0].name, "aten::mm"));
    CU_ASSERT_EQUAL(path[0].change_ns, 15 * US); /* the mean over two ranks */
    CU_ASSERT_EQUAL(path[1].depth, 1);
    CU_ASSERT_EQUAL(path[1].change, TL_DIFF_REPLACED);
    CU_ASSERT_TRUE(is_named(diff, path[1].b_name, "Cijk_kernel"));
    end(diff, a, b);
}

/* An operator whose name differs in a version is one row, and so is what it calls; two others keep their own. */
static void call_paths_are_joined_below_names_that_differ_in_numbers(void)
{
    static const char *const outer[] = { "block", "block_v2" };
    run *of[] = { steps_of(6, plain, 3), steps_of(6, plain, 9) };
    tl_diff *diff = begin(of[0], of[1]);
    for (int side = 0; side < 2; side++) {
        put_node(diff, side, of[side], 0, TL_TREE_OPERATOR, outer[side], 30 + 30 * side);
        put_node(diff, side, of[side], 1, TL_TREE_OPERATOR, "layer.0", 10);
        put_node(diff, side, of[side], 1, TL_TREE_OPERATOR, side ? "layer.1 at 0x7f01" : "layer.1 at 0x7e42", 20 + 30 * side);
        put_node(diff, side, of[side], 2, TL_TREE_WORK, side ? "gemm<2>" : "gemm<1>", 20 + 30 * side);
    }
    tl_diff_compare(diff);
    const tl_table *paths = tl_diff_table(diff, &tl_diff_call_path_schema);
    CU_ASSERT_EQUAL_FATAL(paths->n, 4);
    const tl_diff_kernel *path = tl_table_row(paths, 0);
    CU_ASSERT_TRUE(is_named(diff, path[0].name, "block"));
    CU_ASSERT_TRUE(is_named(diff, path[0].b_name, "block_v2"));
    CU_ASSERT_EQUAL(path[0].change_ns, 15 * US); /* the mean over two ranks */
    CU_ASSERT_EQUAL(path[1].change, TL_DIFF_REPLACED);
    CU_ASSERT_EQUAL(path[2].depth, 2);
    CU_ASSERT_EQUAL(path[2].change, TL_DIFF_REPLACED);
    CU_ASSERT_TRUE(is_named(diff, path[3].name, "layer.0"));
    CU_ASSERT_EQUAL(path[3].change_ns, 0);
    end(diff, of[0], of[1]);
}

/* All collectives have one operator, which does not make a kernel of one take the place of a kernel of another. */
static void a_collective_replaces_no_other(void)
{
    static const char *const in_b[] = { "nccl_SendRecv", "nccl_AllReduce_Tree" };
    for (int same = 0; same < 2; same++) {
        run *a = steps_of(6, plain, 3), *b = steps_of(6, plain, 9);
        for (int32_t rank = 0; rank < 2; rank++) {
            put_kernel(a, rank, TL_COMM, "nccl_AllReduce_Ring", 6, 30);
            put_kernel(b, rank, TL_COMM, in_b[same], 6, 60);
        }
        put_operator(a, "record_param_comms");
        put_operator(b, "record_param_comms");
        tl_diff *diff = compare(a, b);
        const tl_table *kernels = tl_diff_table(diff, &tl_diff_kernel_schema);
        const tl_diff_kernel *row = tl_table_row(kernels, 0);
        CU_ASSERT_EQUAL(kernels->n, same ? 1 : 2);
        CU_ASSERT_EQUAL(row->change, same ? TL_DIFF_REPLACED : TL_DIFF_ADDED);
        end(diff, a, b);
    }
}

/* One of eight ranks, and two of them, on which a kernel takes 1.3 times as long in every step: they are named, and no rank
 * of equal runs is. */
static void a_kernel_that_is_slower_on_some_ranks_is_named_with_them(void)
{
    static const char *const named[] = { "", "3", "3,5" };
    for (int nslow = 0; nslow < 3; nslow++) {
        run *a = ranks_of(8, 6, plain, 3), *b = ranks_of(8, 6, plain, 9);
        for (int32_t rank = 0; rank < 8; rank++) {
            bool slow = (nslow > 0 && rank == 3) || (nslow > 1 && rank == 5);
            put_kernel(a, rank, TL_COMPUTE, "gemm", 60, 20);
            put_kernel(b, rank, TL_COMPUTE, "gemm", 60, slow ? 26 : 20);
            put_kernel(a, rank, TL_COMPUTE, "relu", 6, 100);
            put_kernel(b, rank, TL_COMPUTE, "relu", 6, 100);
        }
        tl_diff *diff = compare(a, b);
        const tl_diff_kernel *gemm = kernel_of(diff, "gemm");
        CU_ASSERT_STRING_EQUAL(gemm->ranks, named[nslow]);
        CU_ASSERT_EQUAL(gemm->change, nslow > 0 ? TL_DIFF_TIME : TL_DIFF_SAME);
        CU_ASSERT_EQUAL(gemm->sure, nslow > 0);
        CU_ASSERT_TRUE(nslow == 0 ? isnan(gemm->ranks_times) : fabs(gemm->ranks_times - 1.3) < 0.03);
        CU_ASSERT_STRING_EQUAL(kernel_of(diff, "relu")->ranks, "");
        CU_ASSERT_EQUAL_FATAL(nfound(diff), nslow > 0 ? 2 : 1);
        if (nslow > 0)
            CU_ASSERT_EQUAL(found(diff, 1)->rank, nslow == 1 ? 3 : -1);
        end(diff, a, b);
    }
}

/* Rank 3 runs a kernel 33 times a step instead of 24: its own counts are told, not the mean over the ranks. */
static void of_some_ranks_their_own_counts_are_told(void)
{
    run *a = ranks_of(8, 6, plain, 3), *b = ranks_of(8, 6, plain, 9);
    for (int32_t rank = 0; rank < 8; rank++) {
        put_kernel(a, rank, TL_COMPUTE, "gemm", 6 * 24, 8);
        put_kernel(b, rank, TL_COMPUTE, "gemm", 6 * (rank == 3 ? 33 : 24), 8);
    }
    tl_diff *diff = compare(a, b);
    CU_ASSERT_STRING_EQUAL(found(diff, 1)->ranks, "3");
    CU_ASSERT_EQUAL(found(diff, 1)->change, TL_DIFF_COUNT);
    CU_ASSERT_DOUBLE_EQUAL(found(diff, 1)->a_count, 24, 1e-9);
    CU_ASSERT_DOUBLE_EQUAL(found(diff, 1)->b_count, 33, 1e-9);
    end(diff, a, b);
}

/* Rank 2 is as much faster as rank 5 is slower, or a little more: rank 5, which others wait for, is named. */
static void of_a_slower_and_a_faster_rank_the_slower_is_named(void)
{
    run *a = ranks_of(8, 6, plain, 3), *b = ranks_of(8, 6, plain, 9);
    for (int32_t rank = 0; rank < 8; rank++) {
        put_kernel(a, rank, TL_COMPUTE, "gemm", 60, rank == 2 ? 41 : 20);
        put_kernel(b, rank, TL_COMPUTE, "gemm", 60, rank == 5 ? 40 : 20);
    }
    tl_diff *diff = compare(a, b);
    CU_ASSERT_STRING_EQUAL(kernel_of(diff, "gemm")->ranks, "5");
    CU_ASSERT_DOUBLE_EQUAL(kernel_of(diff, "gemm")->ranks_times, 2, 0.03);
    CU_ASSERT_TRUE(found(diff, 1)->change_ns > 24 * US && found(diff, 1)->change_ns < 26 * US); /* 10 of 20 us, of 8 ranks */
    end(diff, a, b);
}

/* Two stages of two ranks each in A, and of four and one in B.  Every stage has as much time as in A, and the kernel that both
 * have takes 1.3 times as long in the first. */
static void roles_weigh_on_both_sides_alike(void)
{
    run *a = ranks_of(4, 6, plain, 3), *b = ranks_of(5, 6, plain, 9);
    for (int32_t rank = 0; rank < 5; rank++) {
        if (rank < 4) {
            put_kernel(a, rank, TL_COMPUTE, rank < 2 ? "embedding<1>" : "head", 6, rank < 2 ? 100 : 300);
            put_kernel(a, rank, TL_COMPUTE, "gemm", 60, 20);
        }
        put_kernel(b, rank, TL_COMPUTE, rank < 4 ? "embedding<1>" : "head", 6, rank < 4 ? 100 : 300);
        put_kernel(b, rank, TL_COMPUTE, "gemm", 60, rank < 4 ? 26 : 20);
    }
    tl_diff *diff = compare(a, b);
    CU_ASSERT_TRUE(tl_diff_basis_of(diff).by_role);
    CU_ASSERT_EQUAL(kernel_of(diff, "head")->change, TL_DIFF_SAME);
    CU_ASSERT_DOUBLE_EQUAL(kernel_of(diff, "head")->b_count, 0.5, 1e-9);
    CU_ASSERT_TRUE(llabs(kernel_of(diff, "head")->change_ns) < US);
    CU_ASSERT_STRING_EQUAL(kernel_of(diff, "gemm")->ranks, "0-3");
    CU_ASSERT_DOUBLE_EQUAL(kernel_of(diff, "gemm")->ranks_times, 1.3, 0.03);
    CU_ASSERT_TRUE(llabs(kernel_of(diff, "gemm")->change_ns - 30 * US) < US); /* 60 us on half of the ranks of A */
    end(diff, a, b);
}

/* A kernel that is new on all ranks, and takes longest on one, is not new there alone. */
static void a_kernel_that_is_new_everywhere_names_no_rank(void)
{
    run *a = ranks_of(8, 6, plain, 3), *b = ranks_of(8, 6, plain, 9);
    for (int32_t rank = 0; rank < 8; rank++)
        put_kernel(b, rank, TL_COMPUTE, "gemm", 60, rank == 5 ? 90 : 20);
    tl_diff *diff = compare(a, b);
    CU_ASSERT_EQUAL(kernel_of(diff, "gemm")->change, TL_DIFF_ADDED);
    CU_ASSERT_STRING_EQUAL(kernel_of(diff, "gemm")->ranks, "");
    end(diff, a, b);
}

/* A kernel that takes longer on all ranks, though hardly longer than what counts, is not one of some ranks. */
static void a_kernel_that_is_slower_everywhere_names_no_rank(void)
{
    run *a = ranks_of(8, 6, plain, 3), *b = ranks_of(8, 6, plain, 9);
    for (int32_t rank = 0; rank < 8; rank++) {
        put_kernel(a, rank, TL_COMPUTE, "gemm", 60, 100);
        put_kernel(b, rank, TL_COMPUTE, "gemm", 60, rank < 3 ? 104 : 103);
    }
    tl_diff *diff = compare(a, b);
    CU_ASSERT_EQUAL(kernel_of(diff, "gemm")->sure, 1);
    CU_ASSERT_STRING_EQUAL(kernel_of(diff, "gemm")->ranks, "");
    end(diff, a, b);
}

/* Launches of 25 us, in every second step of B 0.4 us more, take 1 us longer on rank 0 of 1 or 8: not 0, but perhaps no more than
 * the 3 % by which devices differ.  5 us are more. */
static void times_are_tested_against_what_devices_differ_by(void)
{
    for (int32_t nranks = 1; nranks <= 8; nranks += 7)
        for (int64_t more_us = 1; more_us <= 5; more_us += 4) {
            run *a = ranks_of(nranks, 6, plain, 3), *b = ranks_of(nranks, 6, plain, 9);
            for (int32_t rank = 0; rank < nranks; rank++) {
                put_kernel(a, rank, TL_COMPUTE, "gemm", 12, 25);
                put_kernel(b, rank, TL_COMPUTE, "gemm", 12, rank == 0 ? 25 + more_us : 25);
            }
            TL_ROWS (tl_interval, row, &b->intervals)
                row->duration_ns += row->step % 2 == 0 ? -US / 5 : US / 5;
            tl_diff *diff = compare(a, b);
            CU_ASSERT_EQUAL(kernel_of(diff, "gemm")->sure, more_us == 5);
            CU_ASSERT_EQUAL(nfound(diff), more_us == 5 ? 2 : 1);
            end(diff, a, b);
        }
}

/* Launches of one step say nothing of other steps: the kernel is told, and that it is not tested. */
static void a_kernel_of_one_step_is_not_tested(void)
{
    drawn slower = plain;
    slower.compute += 200;
    run *a = steps_of(1, plain, 3), *b = steps_of(1, slower, 9);
    for (int32_t rank = 0; rank < 2; rank++) {
        put_kernel(a, rank, TL_COMPUTE, "gemm", 50, 6);
        put_kernel(b, rank, TL_COMPUTE, "gemm", 50, 10);
        put_kernel(a, rank, TL_COMPUTE, "relu", 50, 4);
        put_kernel(b, rank, TL_COMPUTE, "relu", 50, 4);
    }
    tl_diff *diff = compare(a, b);
    CU_ASSERT_TRUE(isnan(kernel_of(diff, "gemm")->p_value));
    CU_ASSERT_EQUAL(kernel_of(diff, "gemm")->change, TL_DIFF_TIME);
    CU_ASSERT_EQUAL(kernel_of(diff, "gemm")->sure, 0);
    CU_ASSERT_EQUAL_FATAL(nfound(diff), 2);
    CU_ASSERT_TRUE(is_named(diff, found(diff, 1)->name, "gemm"));
    CU_ASSERT_EQUAL(found(diff, 1)->sure, 0);
    end(diff, a, b);
}

static void kernels_that_change_alike_are_one_finding(void)
{
    static const char *const kernels[] = { "gemm", "softmax", "norm", "relu" };
    drawn slower = plain;
    slower.compute = 550;
    for (size_t nsteps = 2; nsteps <= 6; nsteps += 4) { /* too few for a test, and enough */
        run *a = steps_of(nsteps, plain, 3), *b = steps_of(nsteps, slower, 9);
        for (int32_t i = 0; i < 8; i++) {
            put_kernel(a, i / 4, TL_COMPUTE, kernels[i % 4], 6, 100);
            put_kernel(b, i / 4, TL_COMPUTE, kernels[i % 4], 6, 110);
        }
        tl_diff *diff = compare(a, b);
        CU_ASSERT_EQUAL(nfound(diff), 2);
        CU_ASSERT_EQUAL(found(diff, 1)->part, TL_DIFF_COMPUTE);
        CU_ASSERT_DOUBLE_EQUAL(found(diff, 1)->times, 1.1, 0.001);
        CU_ASSERT_EQUAL(found(diff, 1)->name, TL_NO_NAME);
        CU_ASSERT_EQUAL(found(diff, 1)->sure, nsteps == 6);
        end(diff, a, b);
    }
}

/* Of too few steps for a test, too: a part of the step whose kernels are named is not named again. */
static void compute_is_told_by_its_kernels_or_by_itself(void)
{
    drawn slower = plain;
    slower.compute += 200;
    run *a = steps_of(2, plain, 3), *b = steps_of(2, slower, 9);
    for (int32_t rank = 0; rank < 2; rank++) {
        put_kernel(a, rank, TL_COMPUTE, "gemm", 2, 300);
        put_kernel(a, rank, TL_COMPUTE, "relu", 2, 200);
        put_kernel(b, rank, TL_COMPUTE, "gemm", 2, 500);
        put_kernel(b, rank, TL_COMPUTE, "relu", 2, 200);
    }
    tl_diff *diff = compare(a, b);
    CU_ASSERT_EQUAL(nfound(diff), 2);
    CU_ASSERT_TRUE(is_named(diff, found(diff, 1)->name, "gemm"));
    end(diff, a, b);
}

/* GPU, libraries, number of ranks: told before times. */
static void other_libraries_are_told_first(void)
{
    run *a = steps_of(6, plain, 3), *b = steps_of(6, plain, 9);
    TL_ROWS (tl_rank, row, tl_tables_get(&a->tables, &tl_rank_schema))
        memcpy(row->libraries, "CUDA 12.4, NCCL 2.21.5", sizeof "CUDA 12.4, NCCL 2.21.5");
    TL_ROWS (tl_rank, row, tl_tables_get(&b->tables, &tl_rank_schema))
        memcpy(row->libraries, "CUDA 12.6, NCCL 2.21.5", sizeof "CUDA 12.6, NCCL 2.21.5");
    tl_diff *diff = compare(a, b);
    const tl_diff_run *row = tl_table_row(tl_diff_table(diff, &tl_diff_run_schema), 2);
    CU_ASSERT_STRING_EQUAL(row->what, "libraries");
    CU_ASSERT_EQUAL(row->differs, 1);
    CU_ASSERT_STRING_EQUAL(row->a, "CUDA 12.4, NCCL 2.21.5");
    CU_ASSERT_STRING_EQUAL(row->b, "CUDA 12.6, NCCL 2.21.5");
    end(diff, a, b);
}

/* Shapes that B computes twice as much with: told before times. */
static void more_arithmetic_is_told_first(void)
{
    run *r[2] = { steps_of(6, plain, 3), steps_of(6, plain, 9) };
    for (int i = 0; i < 2; i++)
        TL_ROWS (tl_breakdown, row, tl_tables_get(&r[i]->tables, &tl_breakdown_schema))
            row->flop = row->step >= 0 ? (i + 1) * 4e9 : 1e12;
    tl_diff *diff = compare(r[0], r[1]);
    const tl_diff_run *row = tl_table_row(tl_diff_table(diff, &tl_diff_run_schema), 5);
    CU_ASSERT_STRING_EQUAL(row->what, "arithmetic of a step");
    CU_ASSERT_EQUAL(row->differs, 1);
    CU_ASSERT_STRING_EQUAL(row->a, "4 GFLOP");
    CU_ASSERT_STRING_EQUAL(row->b, "8 GFLOP");
    end(diff, r[0], r[1]);
}

/* Of three kernels of either run one is common: that is told first, and parts of the step instead of kernels. */
static void runs_of_different_work_are_not_compared_by_kernels(void)
{
    static const char *const names[2][3] = { { "gemm", "softmax", "norm" }, { "gemm", "conv", "pool" } };
    drawn slower = plain;
    slower.compute += 200;
    run *r[2] = { steps_of(6, plain, 3), steps_of(6, slower, 9) };
    for (int i = 0; i < 2; i++)
        for (int32_t k = 0; k < 6; k++)
            put_kernel(r[i], k / 3, TL_COMPUTE, names[i][k % 3], 6, k % 3 == 0 ? 50 : 100);
    tl_diff *diff = compare(r[0], r[1]);
    const tl_diff_run *common = tl_table_row(tl_diff_table(diff, &tl_diff_run_schema), 0);
    CU_ASSERT_EQUAL(common->differs, 1);
    CU_ASSERT_STRING_EQUAL(common->a, "20 %");
    CU_ASSERT_TRUE(tl_diff_basis_of(diff).other_work);
    CU_ASSERT_EQUAL_FATAL(nfound(diff), 2);
    CU_ASSERT_EQUAL(found(diff, 1)->part, TL_DIFF_COMPUTE);
    CU_ASSERT_EQUAL(found(diff, 1)->name, TL_NO_NAME);
    end(diff, r[0], r[1]);
}

static const unit_test tests[] = {
    TEST(other_libraries_are_told_first),
    TEST(more_arithmetic_is_told_first),
    TEST(runs_of_different_work_are_not_compared_by_kernels),
    TEST(kernels_are_aligned_by_name),
    TEST(times_that_hold_waiting_are_never_sure),
    TEST(a_recording_that_begins_within_a_step_changes_no_count),
    TEST(of_communication_that_runs_less_often_no_time_is_told),
    TEST(a_collective_that_cannot_be_matched_is_not_gone),
    TEST(a_kernel_replaces_another_under_its_operator),
    TEST(call_paths_are_joined_below_names_that_differ_in_numbers),
    TEST(a_collective_replaces_no_other),
    TEST(kernels_that_change_alike_are_one_finding),
    TEST(compute_is_told_by_its_kernels_or_by_itself),
    TEST(a_kernel_that_is_slower_on_some_ranks_is_named_with_them),
    TEST(of_some_ranks_their_own_counts_are_told),
    TEST(of_a_slower_and_a_faster_rank_the_slower_is_named),
    TEST(a_kernel_that_is_slower_everywhere_names_no_rank),
    TEST(a_kernel_that_is_new_everywhere_names_no_rank),
    TEST(times_are_tested_against_what_devices_differ_by),
    TEST(a_kernel_of_one_step_is_not_tested),
    TEST(roles_weigh_on_both_sides_alike),
};

int main(void)
{
    return unit_main("diff_works", tests, COUNT(tests));
}
