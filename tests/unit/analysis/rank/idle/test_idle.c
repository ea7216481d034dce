/* test_idle.c - the gaps of drawn timelines: where they are, and what the host did; each label, each threshold from
 * both sides. */
#include "idle_drawn.h"
#include "tlmpi/model/work_tables.h"

/* ------------------------------------------------------------------------------------------------------- timelines */

static void gaps_lie_between_work_of_all_streams(void)
{
    drawing *d = draw("steps:     444444444455555555555555555555",
                      "compute 7: ..AA.BB.......CC..............", /* touching: no gap */
                      "compute 9: ....C...D..........EE..........", NULL);
    tl_config c = tl_config_default;
    c.idle.noise_ns = 2 * US;
    CU_ASSERT_EQUAL_FATAL(run(d, &c), 2);
    CU_ASSERT_EQUAL(gap(d, 0)->start_ns, 9 * US);
    CU_ASSERT_EQUAL(gap(d, 0)->end_ns, 14 * US);
    CU_ASSERT_EQUAL(gap(d, 0)->duration_ns, 5 * US);
    CU_ASSERT_EQUAL(gap(d, 0)->idle_id, 0);
    CU_ASSERT_EQUAL(gap(d, 0)->step, 4);
    CU_ASSERT_EQUAL(gap(d, 1)->start_ns, 16 * US);
    CU_ASSERT_EQUAL(gap(d, 1)->step, 5);
    CU_ASSERT_EQUAL(gap(d, 1)->idle_id, 1);
    const tl_table *noise = tl_tables_get(&d->out, &tl_series_row_schema);
    CU_ASSERT_EQUAL(noise->n, 0); /* not asked for */
    c.series = true;
    CU_ASSERT_EQUAL_FATAL(run(d, &c), 2);
    CU_ASSERT_EQUAL_FATAL(noise->n, 1);
    const tl_series_row *row = tl_table_row(noise, 0);
    CU_ASSERT_EQUAL(row->what, TL_SERIES_SHORT_GAP);
    CU_ASSERT_EQUAL(row->time_ns, 7 * US);
    CU_ASSERT_DOUBLE_EQUAL(row->value, 1 * US, 0);
    drawing_free(d);
}

static void a_gap_of_the_threshold_is_no_noise(void)
{
    drawing *d = draw("compute 7: AA.....BB", NULL);
    tl_config c = tl_config_default;
    CU_ASSERT_EQUAL(run(d, &c), 1);
    c.idle.noise_ns = 5 * US + 1;
    CU_ASSERT_EQUAL(run(d, &c), 0);
    c.idle.noise_ns = 0;
    CU_ASSERT_EQUAL(run(d, &c), 1);
    drawing_free(d);
}

static void work_of_no_length_parts_a_gap(void)
{
    drawing *d = draw("compute 7: AA......|......BB", NULL);
    CU_ASSERT_EQUAL(run(d, &tl_config_default), 2);
    CU_ASSERT_EQUAL(gap(d, 0)->end_ns, gap(d, 1)->start_ns);
    CU_ASSERT_STRING_EQUAL(text(d, gap(d, 0)->following), "|");
    CU_ASSERT_STRING_EQUAL(text(d, gap(d, 1)->preceding), "|");
    drawing_free(d);
}

static void of_equals_the_first_in_the_file_follows_and_the_last_to_start_precedes(void)
{
    drawing *d = draw("compute 9: AAA.......D", "compute 7: .BB.......E", "compute 8: .CC.......F", NULL);
    CU_ASSERT_EQUAL(run(d, &tl_config_default), 1);
    CU_ASSERT_STRING_EQUAL(text(d, gap(d, 0)->preceding), "C"); /* drawn after B, begun with it */
    CU_ASSERT_STRING_EQUAL(text(d, gap(d, 0)->following), "D");
    drawing_free(d);
}

static void a_rank_without_work_has_rows_of_zeros(void)
{
    drawing *d = draw("op 1 aten::mm: ====", NULL);
    CU_ASSERT_EQUAL(run(d, &tl_config_default), 0);
    const tl_table *t = tl_tables_get(&d->out, &tl_idle_schema);
    CU_ASSERT_EQUAL_FATAL(t->n, 1);
    const tl_idle *row = tl_table_row(t, 0);
    CU_ASSERT_EQUAL(row->busy_ns, 0);
    CU_ASSERT_EQUAL(row->operators, 1);
    CU_ASSERT(row->utilization_pct != row->utilization_pct); /* of nothing there is no share */
    drawing_free(d);
}

/* ------------------------------------------------------------------------------------------- what the launch tells */

/* launched at `at`, for one microsecond, a gap of `gap` from 20 on */
static drawing *launched(int at, int length)
{
    char host[128], device[128];
    memset(host, '.', sizeof host);
    memset(device, '.', sizeof device);
    host[at] = 'b';
    host[100] = device[100] = '\0';
    memset(device, 'A', 20);
    device[20 + length] = 'B';
    char lines[2][160];
    snprintf(lines[0], sizeof lines[0], "launch 1 cudaLaunchKernel: %s", host);
    snprintf(lines[1], sizeof lines[1], "compute 7: %s", device);
    return draw(lines[0], lines[1], "op 1 x: ====", NULL);
}

static void work_that_starts_late_after_its_launch_is_an_anomaly(void)
{
    /* Launch to execution: 11 of a gap of 43, which is more than a quarter; 11 of 44 is not; 10 is not long. */
    expect_doing(launched(20 + 43 - 12, 43), "LAUNCH_ANOMALY");
    expect_doing(launched(20 + 44 - 12, 44), "CPU_UNTRACED");
    expect_doing(launched(20 + 30 - 11, 30), "CPU_UNTRACED");
    expect_doing(launched(20 + 30 - 12, 30), "LAUNCH_ANOMALY");
}

static void work_launched_well_before_the_gap_is_queued(void)
{
    drawing *d = launched(10, 6); /* ended 9 us before it */
    CU_ASSERT_EQUAL(the_gap(d)->prequeued, TL_QUEUED_YES);
    CU_ASSERT_EQUAL(gap(d, 0)->launch_to_exec_ns, 15 * US);
    CU_ASSERT_EQUAL(gap(d, 0)->launch_uid, 'b');
    CU_ASSERT_STRING_EQUAL(text(d, gap(d, 0)->launch), "cudaLaunchKernel");
    drawing_free(d);
    d = launched(11, 6); /* 8 us */
    CU_ASSERT_EQUAL(the_gap(d)->prequeued, TL_QUEUED_NO);
    drawing_free(d);
    expect_doing(launched(10, 6), "LAUNCH_ANOMALY");
    /* Of 5 us no more is asked than of any launch: 5 - 14 is less than the overhead. */
    expect_doing(launched(10, 5), "LAUNCH_OVERHEAD_ONLY");
}

static void a_gap_little_longer_than_its_launch_is_overhead(void)
{
    expect_doing(launched(20 + 2, 8), "LAUNCH_OVERHEAD_ONLY"); /* 8 - 5 = 3 */
    expect_doing(launched(20 + 3, 8), "CPU_UNTRACED");         /* 8 - 4 = 4 */
    tl_config c = tl_config_default;
    drawing *d = launched(20 + 3, 8);
    c.idle.launch_ns = 8002; /* half of it is 4001 */
    run(d, &c);
    CU_ASSERT_EQUAL(gap(d, 0)->cpu_during_gap, TL_DOING_LAUNCH_OVERHEAD);
    c.idle.launch_ns = 0; /* but at least 2 us */
    run(d, &c);
    CU_ASSERT_EQUAL(gap(d, 0)->cpu_during_gap, TL_DOING_UNTRACED);
    drawing_free(d);
}

static void without_a_launch_nothing_is_known_of_it(void)
{
    drawing *d = draw("compute 7: AA......BB", "op 1 x: ..======", NULL);
    const tl_gap *g = the_gap(d);
    CU_ASSERT_EQUAL(g->prequeued, TL_QUEUED_UNKNOWN);
    CU_ASSERT_EQUAL(g->launch_uid, -1);
    CU_ASSERT_EQUAL(g->launch, TL_NO_NAME);
    CU_ASSERT_EQUAL(g->cpu_during_gap, TL_DOING_CPU);
    drawing_free(d);
}

/* ------------------------------------------------------------------------------------------------ calls, operators */

static void calls_that_take_a_quarter_dominate(void)
{
    expect_doing(draw("compute 7: AA....................BB", "call 1 cudaMalloc: ....=====", "op 1 x: =", NULL),
                 "RUNTIME_DOMINATED");
    expect_doing(draw("compute 7: AA....................BB", "call 1 cudaMalloc: ....====.", "op 1 x: =", NULL),
                 "CPU_UNTRACED");
}

static void operators_that_take_a_fifth_dominate(void)
{
    expect_doing(draw("compute 7: AA....................BB", "op 1 aten::mm: ....====.", NULL), "CPU_DOMINATED");
    expect_doing(draw("compute 7: AA....................BB", "op 1 aten::mm: ....===..", NULL), "CPU_UNTRACED");
}

static void an_instant_belongs_to_the_operator_that_began_last(void)
{
    drawing *d = draw("compute 7:        AA....................BB", "op 1 outer:       .=====================..",
                      "frame 1 inner:    ....=========...........", "op 1 inmost:      .....=....==............",
                      "mark 1 forward:   ===========.............", "mark 1 loss:      ...........============", NULL);
    const tl_gap *g = the_gap(d);
    CU_ASSERT_STRING_EQUAL(text(d, g->dominant_op), "outer");
    CU_ASSERT_EQUAL(g->dominant_op_ns, 11 * US);
    CU_ASSERT_STRING_EQUAL(text(d, g->second_op), "inner");
    CU_ASSERT_EQUAL(g->second_op_ns, 6 * US);
    CU_ASSERT_STRING_EQUAL(text(d, g->third_op), "inmost");
    CU_ASSERT_EQUAL(g->third_op_ns, 3 * US);
    CU_ASSERT_EQUAL(g->ops_ns, 20 * US);
    CU_ASSERT_STRING_EQUAL(text(d, g->annotation), "loss");
    drawing_free(d);
}

static void an_operator_that_goes_on_is_in_every_gap_that_it_covers(void)
{
    drawing *d = draw("compute 7: AA......BB......CC......DD",
                      "op 1 long: .========================", "op 1 deep: .............====........", NULL);
    CU_ASSERT_EQUAL_FATAL(run(d, &tl_config_default), 3);
    CU_ASSERT_EQUAL(gap(d, 0)->dominant_op_ns, 6 * US);
    CU_ASSERT_STRING_EQUAL(text(d, gap(d, 1)->dominant_op), "long"); /* 3, and deep 3: the first of equals */
    CU_ASSERT_EQUAL(gap(d, 1)->second_op_ns, 3 * US);
    CU_ASSERT_EQUAL(gap(d, 2)->dominant_op_ns, 6 * US);
    drawing_free(d);
}

static void of_nested_calls_the_outer_one_counts_and_once(void)
{
    drawing *d = draw("compute 7:             AA....................BB",
                      "call 1 cudaFree:       ....======", "call 1 cuMemUnmap:     .....====", "op 1 x: =", NULL);
    const tl_gap *g = the_gap(d);
    CU_ASSERT_EQUAL(g->call_class, TL_CALL_ALLOC);
    CU_ASSERT_STRING_EQUAL(text(d, g->call), "cudaFree");
    CU_ASSERT_EQUAL(g->call_ns, 6 * US);
    drawing_free(d);
}

static void the_thread_that_launches_counts_and_others_are_beside_it(void)
{
    const char *lines[] = { "compute 7:                  AA....................BB",
                            "launch 2 cudaLaunchKernel:  a...................b...",
                            "op 2 aten::mm:              ......=====.............",
                            "call 2 cudaMalloc:          .............==.........",
                            "op 1 run_backward:          =======================",
                            "op 3 loader:                ..==================",
                            "call 1 cudaFree:            .....=========" };
    drawing *d = draw(lines[0], lines[1], lines[2], lines[3], lines[4], lines[5], lines[6], NULL);
    const tl_gap *g = the_gap(d);
    CU_ASSERT_STRING_EQUAL(text(d, g->dominant_op), "aten::mm");
    CU_ASSERT_EQUAL(g->ops_ns, 5 * US);
    CU_ASSERT_STRING_EQUAL(text(d, g->other_op), "run_backward");
    CU_ASSERT_EQUAL(g->other_op_ns, 20 * US);
    CU_ASSERT_EQUAL(g->call_ns, 2 * US);
    CU_ASSERT_EQUAL(g->cpu_during_gap, TL_DOING_CPU);
    drawing_free(d);
}

static void without_a_launch_the_thread_that_launches_most_counts(void)
{
    drawing *d = draw("compute 7:                 AA....................BB..CCDD",
                      "launch 2 cudaLaunchKernel: ac...................................",
                      "launch 3 cudaLaunchKernel: ..d..................................",
                      "op 2 aten::mm:             .....======", "op 3 loader:               .....==========", NULL);
    CU_ASSERT_STRING_EQUAL(text(d, the_gap(d)->dominant_op), "aten::mm");
    drawing_free(d);
}

static void the_short_launch_that_ends_the_gap_is_no_reason(void)
{
    const char *lines[] = { "compute 7:                 AA................BB",
                            "launch 1 cudaLaunchKernel: ..........bbbbb...", "op 1 x:                    ..========" };
    drawing *d = draw(lines[0], lines[1], lines[2], NULL);
    CU_ASSERT_EQUAL(the_gap(d)->cpu_during_gap, TL_DOING_CPU);
    CU_ASSERT_EQUAL(gap(d, 0)->call_class, TL_CALL_NONE);
    /* One that lasts is. */
    tl_config c = tl_config_default;
    c.idle.own_launch_ns = 5 * US;
    run(d, &c);
    CU_ASSERT_EQUAL(gap(d, 0)->cpu_during_gap, TL_DOING_RUNTIME);
    CU_ASSERT_EQUAL(gap(d, 0)->call_class, TL_CALL_LAUNCH);
    drawing_free(d);
}

static void the_call_named_is_of_the_class_named(void)
{
    drawing *d = draw("compute 7:                 AA....................BB", "call 1 cudaEventRecord:    ..===...===.",
                      "call 1 cudaEventQuery:     .....===", "call 1 cudaMalloc:         ............=======", NULL);
    const tl_gap *g = the_gap(d);
    CU_ASSERT_EQUAL(g->call_class, TL_CALL_OTHER); /* 9 of others, 7 of cudaMalloc */
    CU_ASSERT_STRING_EQUAL(text(d, g->call), "cudaEventRecord");
    drawing_free(d);
}

static void operators_that_differ_by_an_address_are_one(void)
{
    drawing *d = draw("compute 7:      AA....................BB", "op 1 run 0x7f:  ..====..............",
                      "op 1 aten::mm:  ......=====.........", "op 1 run 0x80:  ...........====.....", NULL);
    uint32_t keys[64];
    uint32_t key = tl_names_intern(&d->names, "run 0x\xe2\x80\xa6", 8);
    for (uint32_t i = 0; i < d->names.n; i++)
        keys[i] = tl_text_starts(tl_names_text(&d->names, i), "run 0x") ? key : i;
    d->view.name_key = keys;
    CU_ASSERT_EQUAL(the_gap(d)->dominant_op, key);
    CU_ASSERT_EQUAL(gap(d, 0)->dominant_op_ns, 8 * US);
    drawing_free(d);
}

static void a_trace_without_operators_is_said_to_be(void)
{
    expect_doing(draw("compute 7: AA......BB", NULL), "NO_CPU_TRACE");
    expect_doing(draw("compute 7: AA......BB", "mark 1 forward: ==========", NULL), "NO_CPU_TRACE");
    expect_doing(draw("compute 7: AA......BB", "frame 1 main: ==", NULL), "CPU_UNTRACED");
}

int main(void)
{
    static const unit_test tests[] = {
        TEST(gaps_lie_between_work_of_all_streams),
        TEST(a_gap_of_the_threshold_is_no_noise),
        TEST(work_of_no_length_parts_a_gap),
        TEST(of_equals_the_first_in_the_file_follows_and_the_last_to_start_precedes),
        TEST(a_rank_without_work_has_rows_of_zeros),
        TEST(work_that_starts_late_after_its_launch_is_an_anomaly),
        TEST(work_launched_well_before_the_gap_is_queued),
        TEST(a_gap_little_longer_than_its_launch_is_overhead),
        TEST(without_a_launch_nothing_is_known_of_it),
        TEST(calls_that_take_a_quarter_dominate),
        TEST(operators_that_take_a_fifth_dominate),
        TEST(an_instant_belongs_to_the_operator_that_began_last),
        TEST(an_operator_that_goes_on_is_in_every_gap_that_it_covers),
        TEST(of_nested_calls_the_outer_one_counts_and_once),
        TEST(the_thread_that_launches_counts_and_others_are_beside_it),
        TEST(without_a_launch_the_thread_that_launches_most_counts),
        TEST(the_short_launch_that_ends_the_gap_is_no_reason),
        TEST(the_call_named_is_of_the_class_named),
        TEST(operators_that_differ_by_an_address_are_one),
        TEST(a_trace_without_operators_is_said_to_be),
    };
    return unit_main("idle", tests, COUNT(tests));
}
