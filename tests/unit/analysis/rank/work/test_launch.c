/* test_launch.c - what launches cost, and how long their work takes to start. */
#include "draw.h"
#include "tlmpi/analysis/rank/work.h"
#include "unit.h"
#include <string.h>

static tl_config config; /* set by main */

static const tl_launch_row *rows_of(drawing *d, size_t n)
{
    tl_launch_analysis.per_rank(&d->view, &config, &d->out);
    const tl_table *table = tl_tables_get(&d->out, &tl_launch_row_schema);
    CU_ASSERT_EQUAL_FATAL(table->n, n);
    return (const tl_launch_row *)(const void *)table->rows;
}

static bool is_named(const drawing *d, const tl_launch_row *row, const char *text)
{
    return tl_text_is(tl_names_text(&d->names, row->name), text);
}

static void calls_that_wait_have_rows_without_work(void)
{
    drawing *d = draw("steps:                        444444555555",
                      "launch 1 launchKernel:        a.....b.....",
                      "call 1 cudaDeviceSynchronize: .===.=.=....",
                      "call 1 cudaMalloc:            ........=...",
                      "compute 7:                    .AAA...B....", NULL);
    const tl_launch_row *r = rows_of(d, 2);
    CU_ASSERT_TRUE(is_named(d, &r[0], "cudaDeviceSynchronize"));
    CU_ASSERT_EQUAL(r[0].calls, 3);
    CU_ASSERT_EQUAL(r[0].kernels, 0);
    CU_ASSERT_EQUAL(r[0].host_ns, 5 * US);
    CU_ASSERT_EQUAL(r[0].host_max_ns, 3 * US);
    CU_ASSERT_EQUAL(r[0].device_ns, 0);
    CU_ASSERT_EQUAL(r[0].step_min, 1);
    CU_ASSERT_EQUAL(r[0].step_max, 2);
    CU_ASSERT_EQUAL(r[1].kernels, 2);
    drawing_free(d);
}

static void calls_of_a_name_are_one_row_the_most_time_first(void)
{
    drawing *d = draw("launch 1 memcpyAsync:   ...c.......",
                      "launch 1 launchKernel:  aa...bbb...",
                      "compute 7:              ....AAA....BB",
                      "memcpy 8:               ....C......", NULL);
    const tl_launch_row *r = rows_of(d, 2);
    CU_ASSERT_TRUE(is_named(d, &r[0], "launchKernel"));
    CU_ASSERT_EQUAL(r[0].place, 1);
    CU_ASSERT_EQUAL(r[0].calls, 2);
    CU_ASSERT_EQUAL(r[0].kernels, 2);
    CU_ASSERT_EQUAL(r[0].host_ns, 5 * US);
    CU_ASSERT_EQUAL(r[0].host_max_ns, 3 * US);
    CU_ASSERT_EQUAL(r[0].device_ns, 5 * US);
    CU_ASSERT_EQUAL(r[0].delay_ns, 5 * US); /* 2 3 */
    CU_ASSERT_EQUAL(r[0].delay_median_ns, 2500);
    CU_ASSERT_EQUAL(r[0].delay_max_ns, 3 * US);
    CU_ASSERT_EQUAL(r[0].short_calls, 1); /* b: 3 us for 2 us of work */
    CU_ASSERT_EQUAL(r[0].slow_calls, 0);
    CU_ASSERT_EQUAL(r[0].late_calls, 0);
    CU_ASSERT_EQUAL(r[0].step_min, -1);
    CU_ASSERT_EQUAL(r[0].step_median, -1);
    CU_ASSERT_EQUAL(r[0].step_max, -1);
    CU_ASSERT_TRUE(is_named(d, &r[1], "memcpyAsync"));
    CU_ASSERT_EQUAL(r[1].place, 2);
    CU_ASSERT_EQUAL(r[1].delay_ns, 0);
    CU_ASSERT_EQUAL(r[1].short_calls, 0); /* as long as its work */
    drawing_free(d);
}

static void a_graph_is_one_call_with_much_work(void)
{
    drawing *d = draw("launch 1 graphLaunch: gggg...........",
                      "compute 7:            ........GG..GG.",
                      "compute 8:            .....G....G....", NULL);
    const tl_launch_row *r = rows_of(d, 1);
    CU_ASSERT_EQUAL(r->calls, 1);
    CU_ASSERT_EQUAL(r->kernels, 4);
    CU_ASSERT_EQUAL(r->device_ns, 6 * US);
    CU_ASSERT_EQUAL(r->delay_ns, 1 * US); /* to the first of its work, on stream 8 */
    CU_ASSERT_EQUAL(r->short_calls, 0);   /* all its work counts */
    drawing_free(d);
}

static void thresholds_are_met_when_they_are_passed(void)
{
    drawing *d = draw("launch 1 launch: aaaaa.bbbbbb...c.............",
                      "compute 7:       .....A......B.......C........", NULL);
    config.launch = (tl_launch_config){ .runtime_ns = 5 * US, .delay_ns = 4 * US };
    const tl_launch_row *r = rows_of(d, 1);
    CU_ASSERT_EQUAL(r->short_calls, 1); /* a; b is slow, c as long as its work */
    CU_ASSERT_EQUAL(r->slow_calls, 1);
    CU_ASSERT_EQUAL(r->late_calls, 0); /* c waits 4 us */
    d->kernels[2].start_ns++;
    d->kernels[2].end_ns++;
    tl_tables_get(&d->out, &tl_launch_row_schema)->n = 0;
    CU_ASSERT_EQUAL(rows_of(d, 1)->late_calls, 1);
    config = tl_config_default;
    drawing_free(d);
}

static void no_delay_is_below_0(void)
{
    drawing *d = draw("launch 1 launch: ..aaa.....",
                      "compute 7:       .A........", NULL);
    const tl_launch_row *r = rows_of(d, 1);
    CU_ASSERT_EQUAL(r->delay_ns, 0);
    CU_ASSERT_EQUAL(r->delay_max_ns, 0);
    drawing_free(d);
}

static void launches_are_counted_by_step(void)
{
    drawing *d = draw("steps:           44444555556666677777",
                      "launch 1 launch: a.b......cde......fg", /* 2 1 2 1, and g on the bound of none */
                      "compute 7:       .A.B......CDE......FG", NULL);
    d->steps[3].end_ns = 19 * US; /* g is in no step */
    const tl_launch_row *r = rows_of(d, 1);
    CU_ASSERT_EQUAL(r->calls, 7);
    CU_ASSERT_EQUAL(r->step_min, 1);
    CU_ASSERT_EQUAL(r->step_median, 1);
    CU_ASSERT_EQUAL(r->step_max, 2);
    drawing_free(d);

    d = draw("steps:           444555666",
             "launch 1 launch: ...ab....",
             "compute 7:       ....AB...", NULL);
    r = rows_of(d, 1);
    CU_ASSERT_EQUAL(r->step_min, 0);
    CU_ASSERT_EQUAL(r->step_median, 0);
    CU_ASSERT_EQUAL(r->step_max, 2);
    drawing_free(d);
}

static void a_call_without_work_is_no_launch(void)
{
    drawing *d = draw("launch 1 launch: a.b", "compute 7:       ...C", NULL);
    (void)rows_of(d, 0);
    drawing_free(d);
}

static void thresholds_are_read_from_a_text(void)
{
    tl_launch_config c = { 0 };
    CU_ASSERT_TRUE(tl_thresholds_read(tl_launch_thresholds, TL_LAUNCH_DEFAULT, &c, NULL));
    CU_ASSERT_EQUAL(memcmp(&c, &tl_config_default.launch, sizeof c), 0);
    CU_ASSERT_TRUE(tl_thresholds_read(tl_launch_thresholds, "delay=0.5,full=2000", &c, NULL));
    CU_ASSERT_EQUAL(c.runtime_ns, 50 * US);
    CU_ASSERT_EQUAL(c.delay_ns, 500);
    CU_ASSERT_EQUAL(c.full, 2000);
    CU_ASSERT_FALSE(tl_thresholds_read(tl_launch_thresholds, "full=1.5", &c, NULL));
    CU_ASSERT_FALSE(tl_thresholds_read(tl_launch_thresholds, "full=-1", &c, NULL));
}

int main(void)
{
    static const unit_test tests[] = {
        TEST(calls_of_a_name_are_one_row_the_most_time_first),
    TEST(calls_that_wait_have_rows_without_work),
        TEST(a_graph_is_one_call_with_much_work),
        TEST(thresholds_are_met_when_they_are_passed),
        TEST(no_delay_is_below_0),
        TEST(launches_are_counted_by_step),
        TEST(a_call_without_work_is_no_launch),
        TEST(thresholds_are_read_from_a_text),
    };
    config = tl_config_default;
    return unit_main("launch", tests, COUNT(tests));
}
