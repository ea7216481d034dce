/* test_idle_drain.c - how devices of drawn timelines ran dry: waits, copies, dependencies, graphs, overruns. */
#include "idle_drawn.h"

/* ---------------------------------------------------------------------------------------------------------- drains */

/* A call over [from, to) and a gap of 20 from 20 on. */
static drawing *waited(const char *name, int from, int to)
{
    char line[160];
    int n = snprintf(line, sizeof line, "call 1 %s: ", name);
    for (int i = 0; i < to; i++)
        line[n + i] = i < from ? '.' : '=';
    line[n + to] = '\0';
    return draw(line, "compute 7: ..AAAAAAAAAAAAAAAAAA....................BB", "op 1 x: =", NULL);
}

static void a_call_that_waited_for_the_work_before_the_gap_drained_it(void)
{
    expect_drain(waited("cudaDeviceSynchronize", 10, 22), "sync_drain", "DEVICE_SYNC");
    expect_drain(waited("hipStreamSynchronize", 10, 22), "sync_drain", "STREAM_SYNC");
    expect_drain(waited("cudaEventSynchronize", 10, 22), "sync_drain", "EVENT_SYNC");
    expect_drain(waited("cudaLaunchKernel", 10, 22), "starved", "none");
}

static void a_wait_is_a_drain_when_it_lasted_for_some_of_the_work(void)
{
    expect_drain(waited("cudaDeviceSynchronize", 14, 22), "sync_drain", "DEVICE_SYNC"); /* 6 us */
    expect_drain(waited("cudaDeviceSynchronize", 15, 22), "starved", "DEVICE_SYNC");    /* 5 us */
    expect_drain(waited("cudaDeviceSynchronize", 20, 30), "starved", "none");           /* begun in the gap */
}

static void a_wait_may_end_a_little_before_the_gap(void)
{
    expect_drain(waited("cudaDeviceSynchronize", 10, 18), "sync_drain", "DEVICE_SYNC"); /* 2 us */
    expect_drain(waited("cudaDeviceSynchronize", 10, 17), "starved", "none");
}

static void a_wait_that_goes_on_when_the_next_work_is_launched_is_not_to_blame(void)
{
    const char *device = "compute 7: ..AAAAAAAAAAAAAAAAAA....................BB";
    expect_drain(draw(device, "call 1 cudaDeviceSynchronize: ..........===============",
                      "launch 2 cudaLaunchKernel:    .........................b", NULL),
                 "sync_drain", "DEVICE_SYNC");
    expect_drain(draw(device, "call 1 cudaDeviceSynchronize: ..........===============",
                      "launch 2 cudaLaunchKernel:    ........................b", NULL),
                 "starved", "none");
    /* The next one back then is. */
    drawing *d = draw(device, "call 1 cudaDeviceSynchronize: ..........===============",
                      "call 3 cudaStreamSynchronize: .......==============",
                      "launch 2 cudaLaunchKernel:    ........................b", NULL);
    const tl_gap *g = the_gap(d);
    CU_ASSERT_EQUAL(g->sync_type, TL_SYNC_STREAM);
    CU_ASSERT_EQUAL(g->drain_type, TL_DRAIN_SYNC);
    CU_ASSERT_STRING_EQUAL(text(d, g->sync_event), "cudaStreamSynchronize");
    CU_ASSERT_EQUAL(g->sync_uid, (int32_t)d->view.calls.uid[drawn_call(d, "cudaStreamSynchronize")]);
    drawing_free(d);
}

static void names_of_calls_are_known_by_their_parts(void)
{
    expect_drain(waited("cuCtxSynchronize", 10, 22), "sync_drain", "DEVICE_SYNC");
    expect_drain(waited("cudaStreamSynchronize_ptsz", 10, 22), "sync_drain", "STREAM_SYNC");
    expect_drain(waited("hipFree", 10, 22), "sync_drain", "IMPLICIT_SYNC");
    expect_drain(waited("cuMemFree_v2", 10, 22), "sync_drain", "IMPLICIT_SYNC");
    expect_drain(waited("cudaFreeAsync", 10, 22), "starved", "none");
}

static void an_allocation_waits_when_it_lasts(void)
{
    drawing *d = waited("cudaMalloc", 10, 22);
    CU_ASSERT_EQUAL(the_gap(d)->sync_type, TL_SYNC_NONE);
    tl_config c = tl_config_default;
    c.idle.implicit_ns = 12 * US;
    run(d, &c);
    CU_ASSERT_EQUAL(gap(d, 0)->sync_type, TL_SYNC_NONE);
    c.idle.implicit_ns = 12 * US - 1;
    run(d, &c);
    CU_ASSERT_EQUAL(gap(d, 0)->sync_type, TL_SYNC_IMPLICIT);
    CU_ASSERT_EQUAL(gap(d, 0)->drain_type, TL_DRAIN_SYNC);
    drawing_free(d);
}

static void the_event_before_the_gap_is_what_ended_last(void)
{
    /* B began last, and ended long ago. */
    const char *lines[] = { "compute 7:                    ..AAAAAAAAAAAAAAAAAA..........CC",
                            "compute 9:                    .....BB.........................",
                            "call 1 cudaDeviceSynchronize: ..........============" };
    drawing *d = draw(lines[0], lines[1], lines[2], NULL);
    const tl_gap *g = the_gap(d);
    CU_ASSERT_STRING_EQUAL(text(d, g->preceding), "A");
    CU_ASSERT_EQUAL(g->drain_type, TL_DRAIN_SYNC);
    drawing_free(d);
}

static void a_wait_for_an_idle_stream_drained_nothing(void)
{
    const char *device = "compute 7: ..AAAAAAAAAAAAAAAAAA..........CC", *side = "compute 9: BB.......";
    expect_drain(draw(device, side, "call 1/9 cudaStreamSynchronize: ..........============", NULL), "starved",
                 "STREAM_SYNC");
    expect_drain(draw(device, side, "call 1/7 cudaStreamSynchronize: ..........============", NULL), "sync_drain",
                 "STREAM_SYNC");

    /* The profiler's record knows better than the arguments; of a wait for an event it names the stream that recorded
     * it. */
    drawing *d = draw(device, side, "call 1/9 cudaStreamSynchronize: ..........============", NULL);
    draw_sync(d, 0, 0, 7, -1);
    CU_ASSERT_EQUAL(the_gap(d)->drain_type, TL_DRAIN_SYNC);
    drawing_free(d);
    d = draw(device, side, "call 1 cudaEventSynchronize: ..........============", NULL);
    draw_sync(d, 0, 0, -1, 9);
    CU_ASSERT_EQUAL(the_gap(d)->drain_type, TL_DRAIN_STARVED);
    drawing_free(d);
}

static void devices_have_timelines_of_their_own(void)
{
    drawing *d = draw("compute 0/7: AA..........BB", "compute 1/7: .AAAAAAAAAAA......C", "op 1 x: =", NULL);
    CU_ASSERT_EQUAL(run(d, &tl_config_default), 2);
    CU_ASSERT_EQUAL(gap(d, 0)->device, 0);
    CU_ASSERT_EQUAL(gap(d, 1)->device, 1);
    CU_ASSERT_EQUAL(gap(d, 1)->idle_id, 0);
    CU_ASSERT_EQUAL(gap(d, 1)->duration_ns, 6 * US);
    drawing_free(d);
}

static void a_wait_for_another_device_explains_nothing(void)
{
    drawing *d = draw("compute 0/7: ..AAAAAAAAAAAAAAAAAA..........CC",
                      "call 1 cudaDeviceSynchronize: ..........============", NULL);
    draw_sync(d, 0, 1, -1, -1);
    CU_ASSERT_EQUAL(the_gap(d)->sync_type, TL_SYNC_NONE);
    d->syncs[0].device = 0;
    CU_ASSERT_EQUAL(the_gap(d)->sync_type, TL_SYNC_DEVICE);
    drawing_free(d);
}

static void of_waits_for_the_device_and_for_an_unknown_one_the_last_begun_counts(void)
{
    static const char *const early = "=============", *const late = "..==========";
    for (int known_is_last = 0; known_is_last < 2; known_is_last++) {
        char known[64], unknown[64];
        snprintf(known, sizeof known, "call 1 cudaDeviceSynchronize: .......%s", known_is_last ? late : early);
        snprintf(unknown, sizeof unknown, "call 2 cudaStreamSynchronize: .......%s", known_is_last ? early : late);
        drawing *d = draw("compute 0/7: ..AAAAAAAAAAAAAAAAAA..........CC", known, unknown, NULL);
        draw_sync(d, drawn_call(d, "cudaDeviceSynchronize"), 0, -1, -1);
        CU_ASSERT_EQUAL(the_gap(d)->sync_type, known_is_last ? TL_SYNC_DEVICE : TL_SYNC_STREAM);
        drawing_free(d);
    }
}

/* ---------------------------------------------------------------------------------------------------------- copies */

static void a_copy_blocks_when_its_memory_is_pageable_or_its_call_lasts(void)
{
    const char *lasts = "launch 1 cudaMemcpyAsync: ..........mmmmmmmmmmmm",
               *returns = "launch 1 cudaMemcpyAsync: ..........mmmmmmmmm..";
    const char *compute = "compute 7: ..AAAAAAAAAAA.................BB";
    const char *pageable = "memcpy 7 Memcpy DtoH (Device -> Pageable): .............MMMMMMM";
    const char *pinned = "memcpy 7 Memcpy DtoH (Device -> Pinned): .............MMMMMMM";
    const char *up = "memcpy 7 Memcpy HtoD (Pageable -> Device): .............MMMMMMM";

    expect_drain(draw(compute, pageable, returns, NULL), "sync_drain", "D2H_COPY");
    expect_drain(draw(compute, up, lasts, NULL), "sync_drain", "H2D_COPY");
    expect_drain(draw(compute, pinned, lasts, NULL), "sync_drain", "D2H_COPY");
    expect_drain(draw(compute, pinned, returns, NULL), "starved", "none");
}

static void where_the_copy_says_nothing_the_call_tells_the_direction(void)
{
    const char *compute = "compute 7: ..AAAAAAAAAAA.................BB",
               *copy = "memcpy 7 Memcpy DtoD: .............MMMMMMM";
    drawing *d = draw(compute, copy, "launch 1 hipMemcpyAsync: ..........mmmmmmmmmmmm", NULL);
    CU_ASSERT_EQUAL(the_gap(d)->sync_type, TL_SYNC_NONE);
    d->call_columns.copy[0] = 2;
    CU_ASSERT_EQUAL(the_gap(d)->sync_type, TL_SYNC_D2H);
    d->call_columns.copy[0] = 1;
    CU_ASSERT_EQUAL(the_gap(d)->sync_type, TL_SYNC_H2D);
    d->call_columns.copy[0] = 3;
    CU_ASSERT_EQUAL(the_gap(d)->sync_type, TL_SYNC_NONE);
    drawing_free(d);
    /* A copy that is not in the trace: by its name, which also says whether it waits. */
    expect_drain(waited("cuMemcpyDtoH_v2", 10, 22), "sync_drain", "D2H_COPY");
    expect_drain(waited("cuMemcpyDtoHAsync_v2", 10, 22), "starved", "none");
}

/* ---------------------------------------------------------------------------------------------------- dependencies */

static void queued_work_that_waits_for_another_stream_is_no_anomaly(void)
{
    const char *device = "compute 7: AAAAAAAAAAAAAAAAAAAA..........BB";
    const char *launches = "launch 1 cudaLaunchKernel: a......b.....",
               *before = "launch 1 cudaLaunchKernel: ....a..b....";
    const char *wait = "call 1/7 cudaStreamWaitEvent: ...==......";

    expect_doing(draw(device, launches, wait, NULL), "DEPENDENCY_WAIT");
    /* Asked for before the work before was launched: that has waited. */
    expect_doing(draw(device, before, "call 1/7 cudaStreamWaitEvent: .==......", NULL), "LAUNCH_ANOMALY");
    /* Another stream waits. */
    expect_doing(draw(device, launches, "call 1/9 cudaStreamWaitEvent: ...==......", NULL), "LAUNCH_ANOMALY");
    /* Where the stream is not known, it is that of what the thread launches next. */
    expect_doing(draw(device, launches, "call 1 hipStreamWaitEvent: ...==......", NULL), "DEPENDENCY_WAIT");
    expect_doing(draw(device, launches, "call 2 hipStreamWaitEvent: ...==......", NULL), "LAUNCH_ANOMALY");
    expect_doing(draw(device, launches, "call 1 hipStreamWaitEvent: ...==......", "launch 1 cudaLaunchKernel: .....c",
                      "compute 9: ..............C", NULL),
                 "LAUNCH_ANOMALY");
    /* Not queued: the launch is to blame. */
    expect_doing(draw(device, "launch 1 cudaLaunchKernel: a............b....",
                      "call 1/7 cudaStreamWaitEvent: ...==......", NULL),
                 "LAUNCH_ANOMALY");
}

/* ---------------------------------------------------------------------------------------------------------- graphs */

static void between_the_nodes_of_a_graph_the_host_has_no_part(void)
{
    const char *device = "compute 7: GGGGGGGGGGGGGGGGGGGG..........GG",
               *launch = "launch 1 cudaGraphLaunch: gg..............";
    drawing *d = draw(device, launch, NULL);
    const tl_gap *g = the_gap(d);
    CU_ASSERT_EQUAL(g->cpu_during_gap, TL_DOING_GRAPH);
    CU_ASSERT_EQUAL(g->prequeued, TL_QUEUED_UNKNOWN);
    CU_ASSERT_EQUAL(g->launch_to_exec_ns, 0);
    CU_ASSERT_EQUAL(g->launch_uid, 'g');
    drawing_free(d);
    /* The first node is launched like any work. */
    expect_doing(draw("compute 7: AAAAAAAAAAAAAAAAAAAA..........GG..GG", launch, NULL), "LAUNCH_ANOMALY");
    /* A call that launches two kernels and no graph. */
    expect_doing(draw(device, "launch 1 hipLaunchKernel: gg..............", NULL), "LAUNCH_ANOMALY");
}

static void graphs_whose_work_is_missing_are_counted_and_their_gaps_marked(void)
{
    drawing *d = draw("compute 7:                AA.....GG.GG.GG.GG.....GG...........BB......CC",
                      "launch 1 cudaGraphLaunch: .....g..................................",
                      "launch 1 hipGraphLaunch:  ..................h.....................",
                      "call 1 cudaGraphLaunch:   ..........................=.............",
                      "launch 1 cudaLaunchKernel: ..............................b........c", NULL);
    /* h has one kernel of the same name as the first of g, which has three more. */
    for (size_t i = 0; i < d->view.nkernels; i++)
        if (d->kernels[i].start_ns == 23 * US) {
            for (uint32_t l = 0; l < d->view.nlaunches; l++)
                if (d->launches[l].uid == 'h') {
                    d->launches[d->kernels[i].launch].nkernels--;
                    d->kernels[i].launch = l;
                    d->kernels[i].launch_ns = d->launches[l].start_ns;
                    d->launches[l].nkernels++;
                }
        }
    CU_ASSERT_EQUAL_FATAL(run(d, &tl_config_default), 4);
    const tl_health *row = tl_table_row(tl_tables_get(&d->out, &tl_health_schema), 0);
    CU_ASSERT_EQUAL(row->count, 2); /* h, and the one without any work */
    CU_ASSERT_EQUAL(row->of, 5);
    CU_ASSERT_NOT_EQUAL(gap(d, 0)->cpu_during_gap, TL_DOING_UNRECORDED);
    CU_ASSERT_EQUAL(gap(d, 1)->cpu_during_gap, TL_DOING_UNRECORDED); /* h falls between G and G */
    CU_ASSERT_EQUAL(gap(d, 2)->cpu_during_gap, TL_DOING_UNRECORDED);
    CU_ASSERT_NOT_EQUAL(gap(d, 3)->cpu_during_gap, TL_DOING_UNRECORDED);
    CU_ASSERT_EQUAL(row->time_ns, gap(d, 1)->duration_ns + gap(d, 2)->duration_ns);
    drawing_free(d);
}

/* -------------------------------------------------------------------------------------------------------- overruns */

static void work_that_overruns_the_next_of_its_stream_is_cut(void)
{
    drawing *d = draw("compute 7: AAAAAAAAAAAAAAAAAAAAAAAA", "compute 7: ....B..........C", NULL);
    CU_ASSERT_EQUAL(run(d, &tl_config_default), 1);
    CU_ASSERT_EQUAL(gap(d, 0)->start_ns, 5 * US);
    CU_ASSERT_EQUAL(gap(d, 0)->end_ns, 15 * US);
    CU_ASSERT_STRING_EQUAL(text(d, gap(d, 0)->preceding), "B");
    const tl_idle *row = tl_table_row(tl_tables_get(&d->out, &tl_idle_schema), 0);
    CU_ASSERT_EQUAL(row->overruns, 1);
    CU_ASSERT_EQUAL(row->overrun_ns, 20 * US);
    CU_ASSERT_EQUAL(row->busy_ns, 6 * US);
    drawing_free(d);
    /* Branches of one graph run side by side, and so does another stream. */
    d = draw("launch 1 cudaGraphLaunch: g", "compute 7: GGGGGGGGGGGGGGGGGGGGGGGG", "compute 7: ....G..........G", NULL);
    CU_ASSERT_EQUAL(run(d, &tl_config_default), 0);
    drawing_free(d);
    d = draw("compute 7: AAAAAAAAAAAAAAAAAAAAAAAA", "compute 8: ....B..........C", NULL);
    CU_ASSERT_EQUAL(run(d, &tl_config_default), 0);
    drawing_free(d);
}

static void overruns_beyond_all_time_sum_up_to_the_longest_time(void)
{
    drawing *d = draw("compute 7: AAAAAAAA", "compute 7: ....BBBBBBBBB", "compute 7: ........CCCCC",
                      "compute 7: ............D", NULL);
    for (size_t i = 0; i < d->view.nkernels; i++)
        ((tl_kernel *)(uintptr_t)d->view.kernels)[i].end_ns = INT64_MAX / 2;
    run(d, &tl_config_default);
    const tl_idle *row = tl_table_row(tl_tables_get(&d->out, &tl_idle_schema), 0);
    CU_ASSERT_EQUAL(row->overruns, 3);
    CU_ASSERT_EQUAL(row->overrun_ns, INT64_MAX);
    drawing_free(d);
}

int main(void)
{
    static const unit_test tests[] = {
        TEST(a_call_that_waited_for_the_work_before_the_gap_drained_it),
        TEST(a_wait_is_a_drain_when_it_lasted_for_some_of_the_work),
        TEST(a_wait_may_end_a_little_before_the_gap),
        TEST(a_wait_that_goes_on_when_the_next_work_is_launched_is_not_to_blame),
        TEST(names_of_calls_are_known_by_their_parts),
        TEST(an_allocation_waits_when_it_lasts),
        TEST(the_event_before_the_gap_is_what_ended_last),
        TEST(a_wait_for_an_idle_stream_drained_nothing),
        TEST(devices_have_timelines_of_their_own),
        TEST(a_wait_for_another_device_explains_nothing),
        TEST(of_waits_for_the_device_and_for_an_unknown_one_the_last_begun_counts),
        TEST(a_copy_blocks_when_its_memory_is_pageable_or_its_call_lasts),
        TEST(where_the_copy_says_nothing_the_call_tells_the_direction),
        TEST(queued_work_that_waits_for_another_stream_is_no_anomaly),
        TEST(between_the_nodes_of_a_graph_the_host_has_no_part),
        TEST(graphs_whose_work_is_missing_are_counted_and_their_gaps_marked),
        TEST(work_that_overruns_the_next_of_its_stream_is_cut),
        TEST(overruns_beyond_all_time_sum_up_to_the_longest_time),
    };
    return unit_main("idle_drain", tests, COUNT(tests));
}
