/* test_idle_peers.c - parts of gaps that may be waiting for other ranks: what the rank alone can tell of them. */
#include "idle_drawn.h"

static const tl_gap_peer no_row;

/* Rows that are of gaps, where what is shorter than this is noise. */
static size_t peers_of(drawing *d, int64_t noise_us)
{
    tl_table *t = tl_tables_get(&d->out, &tl_gap_peer_schema);
    tl_config c = tl_config_default;
    size_t n = 0;
    c.idle.noise_ns = noise_us * US;
    run(d, &c);
    tl_table_sort(t);
    for (size_t i = 0; i < t->n; i++)
        n += ((const tl_gap_peer *)tl_table_row(t, i))->idle_id >= 0;
    return n;
}

static size_t peers(drawing *d)
{
    return peers_of(d, 2);
}

/* The i-th of those, or of the collectives of hosts, which come first. */
static const tl_gap_peer *row(const drawing *d, size_t i, bool of_gap)
{
    const tl_table *t = tl_tables_get((tl_tables *)(uintptr_t)&d->out, &tl_gap_peer_schema);
    for (size_t r = 0; r < t->n; r++) {
        const tl_gap_peer *p = tl_table_row(t, r);
        if ((p->idle_id >= 0) == of_gap && i-- == 0)
            return p;
    }
    return &no_row;
}

static void expect_row(const drawing *d, size_t i, const char *evidence, int64_t from, int64_t to, const char *what)
{
    const tl_gap_peer *p = row(d, i, true);
    CU_ASSERT_STRING_EQUAL(tl_peer_labels[p->evidence], evidence);
    CU_ASSERT_EQUAL(p->from_ns, from * US);
    CU_ASSERT_EQUAL(p->peer_ns, (to - from) * US);
    CU_ASSERT_STRING_EQUAL(p->awaited, what);
    CU_ASSERT_EQUAL(p->late_rank, -1);
    CU_ASSERT_EQUAL(p->collective, -1);
}

/* --------------------------------------------------------------------------------------------------- other devices */

static void a_host_may_wait_for_communication_on_another_device(void)
{
    drawing *d = draw("launch 1 cudaLaunchKernel:   ac....................b...",
                      "call 1 cudaDeviceSynchronize: ......===============.....",
                      "compute 0/7:                  .AAAA....................BBB",
                      "comm 1/20:                    ..CCCCCCCCCCCCCCCCCC.......", NULL);
    CU_ASSERT_EQUAL_FATAL(peers(d), 1);
    expect_row(d, 0, "host_sync", 6, 20, "C");
    CU_ASSERT_EQUAL(row(d, 0, true)->start_ns, 5 * US);
    CU_ASSERT_EQUAL(row(d, 0, true)->device, 0);
    CU_ASSERT_EQUAL(row(d, 0, true)->idle_id, 0);
    CU_ASSERT_EQUAL(row(d, 0, true)->awaited_ns, 2 * US);
    CU_ASSERT_EQUAL(row(d, 0, true)->cpu_during_gap, gap(d, 0)->cpu_during_gap);
    drawing_free(d);
}

static void work_of_the_other_device_is_no_waiting(void)
{
    drawing *d = draw("launch 1 cudaLaunchKernel:   ac....................b...",
                      "call 1 cudaDeviceSynchronize: ......===============.....",
                      "compute 0/7:                  .AAAA....................BBB",
                      "compute 1/7:                  .........DDDD.............",
                      "comm 1/20:                    ..CCCCCCCCCCCCCCCCCC.......", NULL);
    CU_ASSERT_EQUAL_FATAL(peers(d), 2);
    expect_row(d, 0, "host_sync", 6, 9, "C");
    expect_row(d, 1, "host_sync", 13, 20, "C");
    CU_ASSERT_EQUAL(peers_of(d, 4), 1); /* what is as short as noise is left out */
    expect_row(d, 0, "host_sync", 13, 20, "C");
    drawing_free(d);
}

static void a_wait_that_ended_before_the_communication_was_for_something_else(void)
{
    drawing *d = draw("launch 1 cudaLaunchKernel:   ac....................b...",
                      "call 1 cudaDeviceSynchronize: ......==========..........",
                      "compute 0/7:                  .AAAA....................BBB",
                      "comm 1/20:                    ..CCCCCCCCCCCCCCCCCC.......", NULL);
    CU_ASSERT_EQUAL(peers(d), 0);
    drawing_free(d);
}

static void a_wait_for_a_stream_is_for_what_runs_there(void)
{
    const char *of_20 = "call 1/20 cudaStreamSynchronize: ......===============.....",
               *of_9 = "call 1/9 cudaStreamSynchronize: ......===============.....";
    for (int other = 0; other < 2; other++) {
        drawing *d = draw("launch 1 cudaLaunchKernel:   ac....................b...", other ? of_9 : of_20,
                          "compute 0/7:                  .AAAA....................BBB",
                          "compute 1/9:                  .........DDDD.............",
                          "comm 1/20:                    ..CCCCCCCCCCCCCCCCCC.......", NULL);
        CU_ASSERT_EQUAL(peers(d), other ? 0 : 1);
        if (!other)
            expect_row(d, 0, "host_sync", 6, 20, "C");
        drawing_free(d);
    }
}

static void another_thread_may_wait_as_long_as_it_likes(void)
{
    drawing *d = draw("launch 1 cudaLaunchKernel:   ac....................b...",
                      "call 2 cudaDeviceSynchronize: ......===============.....",
                      "compute 0/7:                  .AAAA....................BBB",
                      "comm 1/20:                    ..CCCCCCCCCCCCCCCCCC.......", NULL);
    CU_ASSERT_EQUAL(peers(d), 0);
    drawing_free(d);
}

static void work_that_an_event_held_may_have_waited_for_communication(void)
{
    drawing *d = draw("launch 1 cudaLaunchKernel: ac.b........................",
                      "call 1/7 cudaStreamWaitEvent: ..=.........................",
                      "compute 0/7:               .AAAAAAAAAAAAA...........BBB",
                      "comm 1/20:                 ..CCCCCCCCCCCCCCCCCCCC......", NULL);
    CU_ASSERT_EQUAL_FATAL(peers(d), 1);
    CU_ASSERT_EQUAL(gap(d, 0)->cpu_during_gap, TL_DOING_DEPENDENCY);
    expect_row(d, 0, "dependency", 14, 22, "C");
    drawing_free(d);
    /* It runs on when the work has begun: it was not waited for. */
    d = draw("launch 1 cudaLaunchKernel: ac.b........................",
             "call 1/7 cudaStreamWaitEvent: ..=.........................",
             "compute 0/7:               .AAAAAAAAAAAAA...........BBB",
             "comm 1/20:                 ..CCCCCCCCCCCCCCCCCCCCCCCCC.", NULL);
    CU_ASSERT_EQUAL(peers(d), 0);
    drawing_free(d);
}

static void on_the_device_itself_communication_is_no_gap(void)
{
    drawing *d = draw("launch 1 cudaLaunchKernel:   ac....................b...",
                      "call 1 cudaDeviceSynchronize: ......===============.....",
                      "compute 0/7:                  .AAAA....................BBB",
                      "comm 0/20:                    ..CCCCCCCCCCCCC...........", NULL);
    CU_ASSERT_EQUAL(peers(d), 0);
    drawing_free(d);
}

/* -------------------------------------------------------------------------------------------- collectives of hosts */

static void a_collective_of_hosts_holds_the_host(void)
{
    drawing *d = draw("steps:                     3333333333333333333333333333",
                      "launch 1 cudaLaunchKernel: a...................b.......",
                      "mark 1 gloo:all_reduce:    ...============.............",
                      "compute 7:                 .AAAA....................BBB", NULL);
    CU_ASSERT_EQUAL_FATAL(peers(d), 1);
    expect_row(d, 0, "host_collective", 5, 15, "gloo:all_reduce");
    CU_ASSERT_EQUAL(row(d, 0, true)->awaited_ns, 3 * US);
    /* The collective itself is told, too, for whom it may meet. */
    const tl_gap_peer *whole = row(d, 0, false);
    CU_ASSERT_EQUAL(whole->from_ns, 3 * US);
    CU_ASSERT_EQUAL(whole->peer_ns, 12 * US);
    CU_ASSERT_EQUAL(whole->step, 3);
    CU_ASSERT_EQUAL(whole->awaited_uid, row(d, 0, true)->awaited_uid);
    CU_ASSERT_STRING_EQUAL(whole->awaited, "gloo:all_reduce");
    drawing_free(d);
}

static void a_collective_without_a_gap_is_told_for_others(void)
{
    drawing *d = draw("launch 1 cudaLaunchKernel: a...................b.......",
                      "mark 1 gloo:barrier:       ......==....................",
                      "compute 7:                 .AAAAAAAAAAAAAAAAAA...BBB", NULL);
    CU_ASSERT_EQUAL(peers(d), 0);
    CU_ASSERT_EQUAL(row(d, 0, false)->from_ns, 6 * US);
    drawing_free(d);
}

static void a_job_of_one_rank_waits_for_nobody(void)
{
    drawing *d = draw("launch 1 cudaLaunchKernel: a...................b.......",
                      "mark 1 gloo:all_reduce:    ...============.............",
                      "compute 7:                 .AAAA....................BBB", NULL);
    CU_ASSERT_EQUAL(peers(d), 1);
    d->view.world_size = 1;
    CU_ASSERT_EQUAL(peers(d), 0);
    drawing_free(d);
}

/* It did not wait for a collective that was not over when it went on. */
static void operators_meanwhile_are_the_host_s_own(void)
{
    drawing *d = draw("launch 1 cudaLaunchKernel: a...................b.......",
                      "mark 1 gloo:all_reduce:    ...============.............",
                      "op 1 aten::mm:             .......====.....============",
                      "compute 7:                 .AAAA....................BBB", NULL);
    CU_ASSERT_EQUAL_FATAL(peers(d), 1);
    expect_row(d, 0, "host_collective", 11, 15, "gloo:all_reduce");
    drawing_free(d);
    d = draw("launch 1 cudaLaunchKernel: a...................b.......",
             "op 1 aten::outer:          ==========================..",
             "mark 1 gloo:all_reduce:    ...============.............",
             "compute 7:                 .AAAA....................BBB", NULL);
    CU_ASSERT_EQUAL(peers(d), 0);
    drawing_free(d);
    d = draw("launch 1 cudaLaunchKernel: a...................b.......",
             "call 1 cudaEventQuery:     ..............==............",
             "mark 1 gloo:all_reduce:    ...============.............",
             "compute 7:                 .AAAA....................BBB", NULL);
    CU_ASSERT_EQUAL(peers(d), 0);
    drawing_free(d);
}

/* Gloo has threads of its own: what counts is that the one that launches has nothing to do until they are done. */
static void collectives_run_on_threads_of_their_own(void)
{
    drawing *d = draw("launch 1 cudaLaunchKernel: a...................b.......",
                      "mark 8 gloo:all_reduce:    ...==========...............",
                      "mark 9 gloo:broadcast:     .......=========............",
                      "compute 7:                 .AAAA....................BBB", NULL);
    CU_ASSERT_EQUAL_FATAL(peers(d), 2);
    expect_row(d, 0, "host_collective", 5, 7, "gloo:all_reduce");
    expect_row(d, 1, "host_collective", 7, 16, "gloo:broadcast");
    CU_ASSERT_STRING_EQUAL(row(d, 1, false)->awaited, "gloo:broadcast");
    drawing_free(d);
}

/* Where a thread has Python functions, a wait is one of them: without it the thread was at something else. */
static void a_thread_with_python_functions_shows_its_waits(void)
{
    for (int waits = 0; waits < 2; waits++) {
        drawing *d = draw("launch 1 cudaLaunchKernel: a...................b.......",
                          waits ? "frame 1 <built-in method wait of PyCapsule object at 0x7f>: ....==========.............."
                                : "frame 1 train.py(7)  step:  ....==========..............",
                          "mark 8 gloo:all_reduce:    ...==========...............",
                          "compute 7:                 .AAAA....................BBB", NULL);
        d->op_columns.dur_ns[0] = 100 * US;
        CU_ASSERT_EQUAL_FATAL(peers(d), waits ? 2 : 0);
        if (waits) {
            expect_row(d, 0, "host_collective", 5, 13, "gloo:all_reduce");
            expect_row(d, 1, "host_wait", 13, 25, "<built-in method wait of PyCapsule object at 0x7f>");
        }
        drawing_free(d);
    }
}

/* A barrier over NCCL is communication on the device, however long the host is in it. */
static void what_launches_communication_waits_on_the_device(void)
{
    drawing *d = draw("launch 1 cudaLaunchKernel: a....c..............b.......",
                      "op 1 c10d::barrier:        ...============.............",
                      "compute 7:                 .AAAA....................BBB",
                      "comm 20:                   ................CCC.........", NULL);
    CU_ASSERT_EQUAL(peers(d), 0);
    CU_ASSERT_EQUAL(tl_tables_get(&d->out, &tl_gap_peer_schema)->n, 0);
    drawing_free(d);
    d = draw("launch 1 cudaLaunchKernel: a...................b.......",
             "op 1 c10d::barrier:        ...============.............",
             "compute 7:                 .AAAA....................BBB", NULL);
    CU_ASSERT_EQUAL(peers(d), 1);
    drawing_free(d);
}

static void the_outermost_of_one_collective_stands_for_it(void)
{
    drawing *d = draw("launch 1 cudaLaunchKernel: a...................b.......",
                      "frame 1 torch/distributed/distributed_c10d.py(4159) barrier: ..==============............",
                      "op 1 c10d::barrier:        ...============.............",
                      "mark 1 gloo:barrier:       .....=======................",
                      "compute 7:                 .AAAA....................BBB", NULL);
    CU_ASSERT_EQUAL(peers(d), 1);
    expect_row(d, 0, "host_collective", 5, 16, "torch/distributed/distributed_c10d.py(4159) barrier");
    CU_ASSERT_EQUAL(row(d, 0, false)->idle_id, -1);
    CU_ASSERT_EQUAL(tl_tables_get(&d->out, &tl_gap_peer_schema)->n, 3); /* what Gloo does for it may meet, too */
    drawing_free(d);
}

/* Short waits are calls like others: a drawn column stands for 10 us. */
static void a_long_wait_is_for_others(void)
{
    for (int64_t us = 9; us <= 10; us++) {
        drawing *d = draw("launch 1 cudaLaunchKernel: a...................b.......",
                          "frame 1 <built-in method wait of PyCapsule object at 0x7f>: .....=====..................",
                          "compute 7:                 .AAAA....................BBB", NULL);
        d->op_columns.dur_ns[0] = us * 10 * US;
        CU_ASSERT_EQUAL(peers(d), us == 10);
        if (us == 10)
            expect_row(d, 0, "host_wait", 5, 25, "<built-in method wait of PyCapsule object at 0x7f>");
        CU_ASSERT_EQUAL(row(d, 0, false)->peer_ns, 0);
        drawing_free(d);
    }
}

static void a_wait_in_a_collective_is_part_of_it(void)
{
    drawing *d = draw("launch 1 cudaLaunchKernel: a...................b.......",
                      "frame 1 <built-in method wait of PyCapsule object at 0x7f>: ..=====.....................",
                      "mark 1 gloo:all_reduce:    .......======...............",
                      "compute 7:                 .AAAA....................BBB", NULL);
    d->op_columns.dur_ns[0] = 100 * US;
    CU_ASSERT_EQUAL(peers(d), 3);
    expect_row(d, 0, "host_wait", 5, 7, "<built-in method wait of PyCapsule object at 0x7f>");
    expect_row(d, 1, "host_collective", 7, 13, "gloo:all_reduce");
    expect_row(d, 2, "host_wait", 13, 25, "<built-in method wait of PyCapsule object at 0x7f>");
    drawing_free(d);
}

int main(void)
{
    static const unit_test tests[] = {
        TEST(a_host_may_wait_for_communication_on_another_device),
        TEST(work_of_the_other_device_is_no_waiting),
        TEST(a_wait_that_ended_before_the_communication_was_for_something_else),
        TEST(a_wait_for_a_stream_is_for_what_runs_there),
        TEST(another_thread_may_wait_as_long_as_it_likes),
        TEST(work_that_an_event_held_may_have_waited_for_communication),
        TEST(on_the_device_itself_communication_is_no_gap),
        TEST(a_collective_of_hosts_holds_the_host),
        TEST(a_collective_without_a_gap_is_told_for_others),
        TEST(a_job_of_one_rank_waits_for_nobody),
        TEST(operators_meanwhile_are_the_host_s_own),
        TEST(collectives_run_on_threads_of_their_own),
        TEST(a_thread_with_python_functions_shows_its_waits),
        TEST(what_launches_communication_waits_on_the_device),
        TEST(the_outermost_of_one_collective_stands_for_it),
        TEST(a_long_wait_is_for_others),
        TEST(a_wait_in_a_collective_is_part_of_it),
    };
    return unit_main("idle_peers", tests, COUNT(tests));
}
