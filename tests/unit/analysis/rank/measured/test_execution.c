/* test_execution.c - what the nodes of an execution trace cost. */
#include "draw.h"
#include "tlmpi/analysis/rank/measured.h"
#include "unit.h"

#define HOST                                                                                                           \
    "op 1 linear:                   .=========.....", "op 1 addmm:                    ..====.........",                \
        "op 2 backward:                 ........=====..", "launch 1 cudaLaunchKernel:     ...a...b......c",            \
        "launch 2 cudaLaunchKernel:     .........d.....", "compute 7:                     ...AA..BBBC.DD."

/* By op of the drawing; in the view they are by thread and start: linear, addmm, backward. */
static void sum_up(drawing *d, const uint32_t *node_of, const uint32_t *parent_of, tl_execution_node *rows, size_t n)
{
    CU_ASSERT_EQUAL_FATAL(d->view.ops.n, 3);
    tl_execution_sum_up(&d->view, node_of, parent_of, rows, n);
}

/* Row 0 stands around all, 1 is linear, 2 addmm, 3 backward, 4 of nothing. */
static void a_node_has_its_own_work_and_that_of_its_children(void)
{
    static const uint32_t node_of[] = { 1, 2, 3 }, parent_of[] = { TL_NONE, 0, 1, 0, 0 };
    drawing *d = draw(HOST, NULL);
    tl_execution_node rows[5] = { 0 };

    sum_up(d, node_of, parent_of, rows, 5);
    static const int64_t own[] = { 0, 3, 2, 2, 0 }, all[] = { 7, 5, 2, 2, 0 }, n[] = { 3, 2, 1, 1, 0 };
    for (size_t i = 0; i < 5; i++) {
        CU_ASSERT_EQUAL(rows[i].device_self_ns, own[i] * US);
        CU_ASSERT_EQUAL(rows[i].device_ns, all[i] * US);
        CU_ASSERT_EQUAL(rows[i].kernels, n[i]);
        CU_ASSERT_EQUAL(rows[i].runs, i > 0 && i < 4);
    }
    CU_ASSERT_EQUAL(rows[2].host_ns, 4 * US);
    CU_ASSERT_EQUAL(rows[2].start_ns, 2 * US);
    drawing_free(d);
}

static void what_an_op_without_a_node_launches_is_of_the_node_around_it(void)
{
    static const uint32_t node_of[] = { 0, TL_NONE, TL_NONE }, parent_of[] = { TL_NONE };
    drawing *d = draw(HOST, NULL);
    tl_execution_node row = { .rank = 0 };

    sum_up(d, node_of, parent_of, &row, 1);
    CU_ASSERT_EQUAL(row.device_self_ns, 5 * US);
    CU_ASSERT_EQUAL(row.kernels_self, 2);
    drawing_free(d);
}

static void a_node_may_run_twice(void)
{
    static const uint32_t node_of[] = { 0, TL_NONE, 0 }, parent_of[] = { TL_NONE };
    drawing *d = draw(HOST, NULL);
    tl_execution_node row = { .rank = 0 };

    sum_up(d, node_of, parent_of, &row, 1);
    CU_ASSERT_EQUAL(row.runs, 2);
    CU_ASSERT_EQUAL(row.host_ns, 14 * US);
    CU_ASSERT_EQUAL(row.start_ns, 1 * US);
    CU_ASSERT_EQUAL(row.device_ns, 7 * US);
    drawing_free(d);
}

/* 0 and 1 are each other's parents; 2 is a child of 1. */
static void parents_in_a_circle_end(void)
{
    static const uint32_t node_of[] = { 0, 1, 2 }, parent_of[] = { 1, 0, 1 };
    drawing *d = draw(HOST, NULL);
    tl_execution_node rows[3] = { 0 };

    sum_up(d, node_of, parent_of, rows, 3);
    CU_ASSERT_EQUAL(rows[0].device_ns, 3 * US);
    CU_ASSERT_EQUAL(rows[1].device_ns, 4 * US);
    drawing_free(d);
}

static const unit_test tests[] = {
    TEST(a_node_has_its_own_work_and_that_of_its_children),
    TEST(what_an_op_without_a_node_launches_is_of_the_node_around_it),
    TEST(a_node_may_run_twice),
    TEST(parents_in_a_circle_end),
};

int main(void)
{
    return unit_main("execution", tests, COUNT(tests));
}
