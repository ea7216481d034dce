/* test_launch_step.c - the launches of each step. */
#include "draw.h"
#include "tlmpi/analysis/work.h"
#include "unit.h"
#include <stdlib.h>

static const tl_launch_step *rows_of(drawing *d, size_t n)
{
    const tl_config config = { .launch = { .runtime_ns = 2 * US, .delay_ns = 4 * US, .full = 1024 } };
    tl_launch_analysis.per_rank(&d->view, &config, &d->out);
    const tl_table *table = tl_tables_get(&d->out, &tl_launch_step_schema);
    CU_ASSERT_EQUAL_FATAL(table->n, n);
    return (const tl_launch_step *)(const void *)table->rows;
}

/* c begins as step 5 does, and d as step 6 has ended; q launches nothing. */
static void launches_count_for_the_step_they_begin_in(void)
{
    drawing *d = draw("steps:       ..444444555555666666....",
                      "launch 1 l:  z.a..bbbcq...........d..",
                      "compute 7 k: .Z..AAA....BB.CCC.C....DD", NULL);
    const tl_launch_step *r = rows_of(d, 4);
    const struct {
        int32_t step;
        int64_t calls, kernels, host_us, device_us, delay_us, is_short, slow, late;
    } of[] = { { -1, 2, 2, 2, 3, 1, 0, 0, 0 },
               { 4, 2, 2, 4, 5, 4, 0, 1, 0 },
               { 5, 1, 2, 1, 4, 5, 0, 0, 1 },
               { 6, 0, 0, 0, 0, 0, 0, 0, 0 } };
    for (size_t i = 0; i < COUNT(of); i++) {
        CU_ASSERT_EQUAL(r[i].step, of[i].step);
        CU_ASSERT_EQUAL(r[i].calls, of[i].calls);
        CU_ASSERT_EQUAL(r[i].kernels, of[i].kernels);
        CU_ASSERT_EQUAL(r[i].host_ns, of[i].host_us * US);
        CU_ASSERT_EQUAL(r[i].device_ns, of[i].device_us * US);
        CU_ASSERT_EQUAL(r[i].delay_ns, of[i].delay_us * US);
        CU_ASSERT_EQUAL(r[i].short_calls, of[i].is_short);
        CU_ASSERT_EQUAL(r[i].slow_calls, of[i].slow);
        CU_ASSERT_EQUAL(r[i].late_calls, of[i].late);
    }
    drawing_free(d);
}

static void work_that_is_not_worth_its_launch_is_short(void)
{
    drawing *d = draw("steps:       44444444444", "launch 1 l:  aa..bb.c...", "compute 7 k: ..A...BB..C", NULL);
    const tl_launch_step *r = rows_of(d, 1);
    CU_ASSERT_EQUAL(r->calls, 3);
    CU_ASSERT_EQUAL(r->short_calls, 1);
    CU_ASSERT_EQUAL(r->delay_ns, 2 * US);
    drawing_free(d);
}

static void without_steps_all_launches_are_in_none(void)
{
    drawing *d = draw("launch 1 l:  a..b..", "compute 7 k: .A..B.", NULL);
    CU_ASSERT_EQUAL(rows_of(d, 1)->step, -1);
    drawing_free(d);
    d = draw("compute 7 k: .A..B.", NULL);
    (void)rows_of(d, 0);
    drawing_free(d);
}

/* Steps whose numbers fall. */
static void rows_are_in_the_order_of_steps(void)
{
    drawing *d = draw("steps:       555444", "launch 1 l:  a..b.c", "compute 7 k: .A..B....C", NULL);
    const tl_launch_step *r = rows_of(d, 2);
    CU_ASSERT_EQUAL(r[0].step, 4);
    CU_ASSERT_EQUAL(r[0].calls, 2);
    CU_ASSERT_EQUAL(r[1].calls, 1);
    drawing_free(d);
}

int main(void)
{
    static const unit_test tests[] = {
        TEST(launches_count_for_the_step_they_begin_in),
        TEST(work_that_is_not_worth_its_launch_is_short),
        TEST(without_steps_all_launches_are_in_none),
        TEST(rows_are_in_the_order_of_steps),
    };
    return unit_main("launch_step", tests, COUNT(tests));
}
