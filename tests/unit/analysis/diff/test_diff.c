/* test_diff.c - two runs compared: the parts of a step sum up to its difference, names are aligned, chance is not named. */
#include "tlmpi/analysis/diff.h"
#include "tlmpi/model/blame_tables.h"
#include "tlmpi/model/health_table.h"
#include "tlmpi/model/tables.h"
#include "tlmpi/model/work_tables.h"
#include "unit.h"

#include <math.h>
#include <stdlib.h>

#define US INT64_C(1000)

/* A run: tables, and the names that its rows have. */
typedef struct run {
    tl_tables tables;
    tl_names names;
} run;

static tl_text name_of(void *names, uint32_t id)
{
    return tl_names_text(names, id);
}

static run *new_run(void)
{
    size_t n;
    const tl_schema *const *schemas = tl_diff_reads(&n);
    run *r = calloc(1, sizeof *r);
    CU_ASSERT_TRUE_FATAL(r != NULL);
    tl_tables_init(&r->tables, schemas, n);
    return r;
}

static void free_run(run *r)
{
    tl_tables_free(&r->tables);
    tl_names_free(&r->names);
    free(r);
}

static void put(run *r, const tl_schema *schema, const void *row)
{
    tl_table_append(tl_tables_get(&r->tables, schema), row, 1);
}

static uint32_t name(run *r, const char *text)
{
    return tl_names_intern(&r->names, text, strlen(text));
}

/* A step of a rank, in us: of its window `outside` is before and after the device work. */
typedef struct drawn {
    int64_t compute, waiting, transfer, copy, idle, outside;
} drawn;

static void put_step(run *r, int32_t rank, int32_t number, int64_t start_us, drawn d)
{
    int64_t wall = d.compute + d.waiting + d.transfer + d.copy + d.idle;
    tl_step step = { .rank = rank, .step = number, .start_ns = start_us * US,
                     .end_ns = (start_us + wall + d.outside) * US, .intervals = 10 };
    tl_breakdown b = { .rank = rank, .device = -1, .step = number, .wall_ns = wall * US, .busy_ns = (wall - d.idle) * US,
                       .compute_ns = d.compute * US, .comm_ns = (d.waiting + d.transfer) * US,
                       .comm_exposed_ns = (d.waiting + d.transfer) * US, .comm_waiting_ns = d.waiting * US,
                       .comm_transfer_ns = d.transfer * US, .copy_ns = d.copy * US, .copy_exposed_ns = d.copy * US,
                       .idle_ns = d.idle * US };
    tl_exposed e = { .rank = rank, .step = number, .group = 0, .parallelism = TL_PARALLEL_WORLD, .kind = TL_ALL_REDUCE,
                     .exposed_ns = b.comm_exposed_ns, .waiting_ns = b.comm_waiting_ns, .transfer_ns = b.comm_transfer_ns };
    tl_launch_step launch = { .rank = rank, .step = number, .kernels = 10 };
    put(r, &tl_step_schema, &step);
    put(r, &tl_breakdown_schema, &b);
    put(r, &tl_exposed_schema, &e);
    put(r, &tl_launch_step_schema, &launch);
}

/* Ranks of so many steps; step k of rank r is `d`, jittered by a few us in compute. */
static run *ranks_of(int32_t nranks, size_t nsteps, drawn d, uint64_t seed)
{
    run *r = new_run();
    tl_group_row group = { .group = 0, .ranks = "0-1", .size = 2, .parallelism = TL_PARALLEL_WORLD };
    put(r, &tl_group_row_schema, &group);
    for (int32_t rank = 0; rank < nranks; rank++) {
        tl_rank row = { .rank = rank, .devices = 1, .device_name = "GPU", .world_size = nranks };
        tl_breakdown whole = { .rank = rank, .device = -1, .step = -1, .wall_ns = 1000 * US, .busy_ns = 900 * US };
        put(r, &tl_rank_schema, &row);
        put(r, &tl_breakdown_schema, &whole);
        for (size_t s = 0; s < nsteps; s++) {
            drawn jittered = d;
            jittered.compute += (int64_t)unit_below(&seed, 5);
            put_step(r, rank, (int32_t)s, (int64_t)s * 10000, jittered);
        }
    }
    return r;
}

static run *steps_of(size_t nsteps, drawn d, uint64_t seed)
{
    return ranks_of(2, nsteps, d, seed);
}

static void put_kernel(run *r, int32_t rank, tl_kind kind, const char *text, int64_t count, int64_t each_us)
{
    tl_kernel_row row = { .rank = rank, .kind = (uint8_t)kind, .count = count, .total_ns = count * each_us * US,
                          .std_ns = (double)US, .name = name(r, text) };
    put(r, &tl_kernel_row_schema, &row);
}

/* Each step launches its part of the kernels. */
static void launch_kernels(run *r, int64_t nsteps)
{
    const tl_table *kernels = tl_tables_get(&r->tables, &tl_kernel_row_schema);
    TL_ROWS (tl_launch_step, row, tl_tables_get(&r->tables, &tl_launch_step_schema)) {
        row->kernels = 0;
        TL_ROWS (const tl_kernel_row, kernel, kernels)
            row->kernels += kernel->rank == row->rank ? kernel->count / nsteps : 0;
    }
}

static tl_diff *compare(run *a, run *b)
{
    tl_diff_input input = { .side = { { .path = "a", .tables = &a->tables, .name = name_of, .name_arg = &a->names },
                                      { .path = "b", .tables = &b->tables, .name = name_of, .name_arg = &b->names } } };
    tl_diff *diff = tl_diff_new(&input);
    tl_diff_compare(diff);
    return diff;
}

static void end(tl_diff *diff, run *a, run *b)
{
    tl_diff_free(diff);
    free_run(a);
    free_run(b);
}

static const tl_diff_found *found(const tl_diff *diff, size_t i)
{
    const tl_table *t = tl_diff_table(diff, &tl_diff_found_schema);
    CU_ASSERT_TRUE_FATAL(i < t->n);
    return tl_table_row(t, i);
}

static size_t nfound(const tl_diff *diff)
{
    return tl_diff_table(diff, &tl_diff_found_schema)->n;
}

static bool is_named(tl_diff *diff, uint32_t id, const char *text)
{
    return tl_text_is(tl_diff_name(diff, id), text);
}

static const drawn plain = { .compute = 500, .waiting = 50, .transfer = 100, .copy = 50, .idle = 100, .outside = 200 };

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

/* What grew of the rank that is waited for is told by work of one name, though the kernel has another in B, and of a rank
 * that A lacks not at all. */
static void a_reason_is_no_other_name_and_no_other_rank(void)
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
        launch_kernels(a, 6);
        launch_kernels(b, 6);
        tl_blame charge = { .to_rank = 1, .from_rank = 0, .waiters = 1, .direct_ns = 6 * 90 * US };
        put(b, &tl_blame_schema, &charge);
        tl_diff *diff = compare(a, b);
        const tl_diff_found *waiting = found(diff, 1);
        CU_ASSERT_EQUAL_FATAL(waiting->part, TL_DIFF_WAITING);
        CU_ASSERT_EQUAL(waiting->rank, 1);
        CU_ASSERT_TRUE(lacking ? waiting->why == TL_NO_NAME : is_named(diff, waiting->why, "relu"));
        CU_ASSERT_EQUAL(waiting->why_ns, lacking ? 0 : 30 * US);
        end(diff, a, b);
    }
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

/* GPU, libraries, number of ranks: told before times. */
static void other_libraries_are_told_first(void)
{
    run *a = steps_of(6, plain, 3), *b = steps_of(6, plain, 9);
    TL_ROWS (tl_rank, row, tl_tables_get(&a->tables, &tl_rank_schema))
        memcpy(row->libraries, "CUDA 12.4, NCCL 2.21.5", sizeof "CUDA 12.4, NCCL 2.21.5");
    TL_ROWS (tl_rank, row, tl_tables_get(&b->tables, &tl_rank_schema))
        memcpy(row->libraries, "CUDA 12.6, NCCL 2.21.5", sizeof "CUDA 12.6, NCCL 2.21.5");
    tl_diff *diff = compare(a, b);
    const tl_diff_run *row = tl_table_row(tl_diff_table(diff, &tl_diff_run_schema), 1);
    CU_ASSERT_STRING_EQUAL(row->what, "libraries");
    CU_ASSERT_EQUAL(row->differs, 1);
    CU_ASSERT_STRING_EQUAL(row->a, "CUDA 12.4, NCCL 2.21.5");
    CU_ASSERT_STRING_EQUAL(row->b, "CUDA 12.6, NCCL 2.21.5");
    end(diff, a, b);
}

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

static void a_step_with_lost_work_is_not_compared(void)
{
    run *a = steps_of(4, plain, 3), *b = steps_of(4, plain, 9);
    tl_health lost = { .rank = 1, .defect = TL_DEFECT_LOST, .step = 2, .count = 3, .of = 10 };
    put(b, &tl_health_schema, &lost);
    tl_diff *diff = compare(a, b);
    CU_ASSERT_EQUAL(tl_diff_basis_of(diff).steps[0], 4);
    CU_ASSERT_EQUAL(tl_diff_basis_of(diff).steps[1], 3);
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
        launch_kernels(a, 6);
        launch_kernels(b, 6);
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
    const tl_diff_run *ranks = tl_table_row(tl_diff_table(diff, &tl_diff_run_schema), 3);
    CU_ASSERT_EQUAL(nfound(diff), 1);
    CU_ASSERT_EQUAL(found(diff, 0)->change_ns, 0);
    CU_ASSERT_STRING_EQUAL(ranks->a, "0,1 (0 compared)");
    CU_ASSERT_STRING_EQUAL(ranks->b, "0");
    end(diff, a, b);
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

/* ------------------------------------------------------------------------------------------------------------ names */

/* The only row of table diff_kernel with that name; NULL: there is none. */
static const tl_diff_kernel *kernel_of(tl_diff *diff, const char *text)
{
    TL_ROWS (const tl_diff_kernel, row, tl_diff_table(diff, &tl_diff_kernel_schema))
        if (is_named(diff, row->name, text))
            return row;
    return NULL;
}

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
    launch_kernels(a, 6);
    launch_kernels(b, 6);
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
        tl_operator_row op = { .rank = rank, .count = 6, .host_self_ns = 600 * US, .name = name(a, "aten::item") };
        put_kernel(a, rank, TL_COMM, "nccl_AllReduce", 6, 100);
        put_kernel(b, rank, TL_COMM, "nccl_AllReduce", 6, 130 + rank % 2);
        put_kernel(a, rank, TL_COMPUTE, "gemm", 6, 100);
        put_kernel(b, rank, TL_COMPUTE, "gemm", 6, 130 + rank % 2);
        put(a, &tl_operator_row_schema, &op);
        op.host_self_ns += (200 + rank % 2) * US;
        op.name = name(b, "aten::item");
        put(b, &tl_operator_row_schema, &op);
    }
    launch_kernels(a, 6);
    launch_kernels(b, 6);
    tl_diff *diff = compare(a, b);
    const tl_diff_kernel *operator= tl_table_row(tl_diff_table(diff, &tl_diff_operator_schema), 0);
    CU_ASSERT_EQUAL(kernel_of(diff, "gemm")->sure, 1);
    CU_ASSERT_EQUAL(kernel_of(diff, "nccl_AllReduce")->change, TL_DIFF_TIME);
    CU_ASSERT_EQUAL(kernel_of(diff, "nccl_AllReduce")->sure, 0);
    CU_ASSERT_EQUAL(operator->change, TL_DIFF_TIME);
    CU_ASSERT_EQUAL(operator->sure, 0);
    end(diff, a, b);
}

static void put_node(tl_diff *diff, int side, run *r, int32_t depth, tl_tree_kind kind, const char *text, int64_t us)
{
    tl_call_tree row = { .rank = 0, .depth = depth, .kind = (uint8_t)kind, .count = 6, .device_ns = 6 * us * US,
                         .name = name(r, text) };
    tl_diff_take_node(diff, side, &row);
}

static void a_kernel_replaces_another_under_its_operator(void)
{
    run *a = steps_of(6, plain, 3), *b = steps_of(6, plain, 9);
    for (int32_t rank = 0; rank < 2; rank++) {
        put_kernel(a, rank, TL_COMPUTE, "cutlass_kernel", 6, 30);
        put_kernel(b, rank, TL_COMPUTE, "Cijk_kernel", 6, 60);
    }
    launch_kernels(a, 6);
    launch_kernels(b, 6);
    tl_diff_input input = { .side = { { .path = "a", .tables = &a->tables, .name = name_of, .name_arg = &a->names },
                                      { .path = "b", .tables = &b->tables, .name = name_of, .name_arg = &b->names } } };
    tl_diff *diff = tl_diff_new(&input);
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
        launch_kernels(a, 6);
        launch_kernels(b, 6);
        tl_diff_input input = { .side = { { .path = "a", .tables = &a->tables, .name = name_of, .name_arg = &a->names },
                                          { .path = "b", .tables = &b->tables, .name = name_of, .name_arg = &b->names } } };
        tl_diff *diff = tl_diff_new(&input);
        put_node(diff, 0, a, 0, TL_TREE_OPERATOR, "record_param_comms", 30);
        put_node(diff, 0, a, 1, TL_TREE_WORK, "nccl_AllReduce_Ring", 30);
        put_node(diff, 1, b, 0, TL_TREE_OPERATOR, "record_param_comms", 60);
        put_node(diff, 1, b, 1, TL_TREE_WORK, in_b[same], 60);
        tl_diff_compare(diff);
        const tl_table *kernels = tl_diff_table(diff, &tl_diff_kernel_schema);
        const tl_diff_kernel *row = tl_table_row(kernels, 0);
        CU_ASSERT_EQUAL(kernels->n, same ? 1 : 2);
        CU_ASSERT_EQUAL(row->change, same ? TL_DIFF_REPLACED : TL_DIFF_ADDED);
        end(diff, a, b);
    }
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
        launch_kernels(a, (int64_t)nsteps);
        launch_kernels(b, (int64_t)nsteps);
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
    launch_kernels(a, 2);
    launch_kernels(b, 2);
    tl_diff *diff = compare(a, b);
    CU_ASSERT_EQUAL(nfound(diff), 2);
    CU_ASSERT_TRUE(is_named(diff, found(diff, 1)->name, "gemm"));
    end(diff, a, b);
}

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
    launch_kernels(a, 6);
    launch_kernels(b, 6);
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
    tl_diff *diff = compare(a, b);
    const tl_diff_step *step = tl_table_row(tl_diff_table(diff, &tl_diff_step_schema), 0);
    CU_ASSERT_EQUAL(tl_diff_basis_of(diff).steps[0], 0);
    CU_ASSERT_EQUAL(step->change_ns, 50 * US); /* 300 us of 6 steps */
    CU_ASSERT_TRUE(isnan(step->p_value));
    end(diff, a, b);
}

static const unit_test tests[] = {
    TEST(a_reason_is_no_other_name_and_no_other_rank),
    TEST(another_algorithm_of_a_collective_is_told_once),
    TEST(a_rank_whose_trace_is_cut_is_not_compared),
    TEST(a_rank_without_a_trace_on_one_side_is_no_difference),
    TEST(a_run_without_a_device_is_not_compared),
    TEST(kernels_that_change_alike_are_one_finding),
    TEST(compute_is_told_by_its_kernels_or_by_itself),
    TEST(ranks_that_do_the_same_are_one_row_where_numbers_differ),
    TEST(steps_of_one_number_are_compared_where_they_vary_alike),
    TEST(where_the_device_runs_behind_the_whole_recording_is_compared),
    TEST(parts_sum_up_to_the_step),
    TEST(equal_runs_have_no_finding),
    TEST(a_run_with_itself_is_zero_everywhere),
    TEST(waiting_that_grew_is_named_first),
    TEST(waiting_in_several_collectives_is_not_said_of_one),
    TEST(what_one_side_does_not_know_is_no_change_of_waiting),
    TEST(other_libraries_are_told_first),
    TEST(one_step_each_is_not_significant),
    TEST(a_step_with_lost_work_is_not_compared),
    TEST(kernels_are_aligned_by_name),
    TEST(times_that_hold_waiting_are_never_sure),
    TEST(a_kernel_replaces_another_under_its_operator),
    TEST(a_collective_replaces_no_other),
};

int main(void)
{
    return unit_main("diff", tests, COUNT(tests));
}
