/* test_unlaunched.c - kernels whose launch the trace lacks. */
#include "graph_drawn.h"

static void what_begins_when_work_ends_was_launched_with_what_began_before(void)
{
    tl_rank_graph g = drawn_graph(
        draw("steps:     4444555555555555", "host:      a...c...........", "compute 7: ..AAABBBCCC.....", NULL));
    uint32_t b = node_at(&g, TL_NODE_WORK, 8), a = node_at(&g, TL_NODE_LAUNCH, 1);
    CU_ASSERT_EQUAL(count_nodes(&g, TL_NODE_LAUNCH), 2);
    CU_ASSERT_EQUAL(lag_us(&g, node_at(&g, TL_NODE_WORK, 5), b), 0);
    CU_ASSERT_NOT_EQUAL(lag_us(&g, a, b), NO_EDGE);
    tl_rank_graph_free(&g);
}

static void what_begins_when_nothing_ends_was_launched_right_then(void)
{
    tl_rank_graph g = drawn_graph(draw("host:      a..............c...", "compute 7: .AAA.......BBB..CC.", NULL));
    uint32_t b = node_at(&g, TL_NODE_WORK, 14), launch = node_at(&g, TL_NODE_LAUNCH, 10);
    CU_ASSERT_EQUAL(lag_us(&g, launch, b), 1); /* as long as others take from launch to start */
    CU_ASSERT_EQUAL(g.nodes[launch].work_ns, 10 * US);
    tl_rank_graph_free(&g);
}

/* It is in a call when B begins, and had handed it over before. */
static void nothing_is_launched_while_the_host_waits(void)
{
    tl_rank_graph g = drawn_graph(stretched(
        draw("launch 1 cudaLaunchKernel:    a...............", "call 1 cudaDeviceSynchronize: .==============.",
             "compute 7:                    .AAA...........", "compute 9:                    .......BBBBBBBB", NULL),
        10));
    CU_ASSERT_EQUAL(count_nodes(&g, TL_NODE_LAUNCH), 1);
    CU_ASSERT_NOT_EQUAL(lag_us(&g, node_at(&g, TL_NODE_LAUNCH, 9), node_at(&g, TL_NODE_WORK, 150)), NO_EDGE);
    tl_rank_graph_free(&g);
}

static void without_a_host_work_follows_what_ended_last(void)
{
    tl_rank_graph g = drawn_graph(stretched(draw("compute 7: AAA.......DD.", "compute 9: ...BBB......", NULL), 10));
    uint32_t b = node_at(&g, TL_NODE_WORK, 60), d = node_at(&g, TL_NODE_WORK, 120);
    CU_ASSERT_EQUAL(lag_us(&g, node_at(&g, TL_NODE_WORK, 30), b), 0);
    CU_ASSERT_EQUAL(lag_us(&g, b, d), 0);
    tl_rank_graph_free(&g);
}

static void communication_waits_for_no_computing_that_happened_to_end_before(void)
{
    tl_rank_graph g = drawn_graph(draw("host:      a...................", "compute 7: .AAAAAABBBB.........",
                                       "comm 9:    .......QQQQQRRRR....", NULL));
    CU_ASSERT_EQUAL(lag_us(&g, node_at(&g, TL_NODE_WORK, 11), node_at(&g, TL_NODE_ARRIVAL, 12)), NO_EDGE);
    tl_rank_graph_free(&g);
}

/* The launch of C is over before B begins, as starts follow launches by 1 us. */
static void what_begins_with_the_launch_behind_it_was_launched_right_then(void)
{
    tl_rank_graph g = drawn_graph(draw("host:      a............c......", "compute 7: .AAA..........BBCC..", NULL));
    CU_ASSERT_EQUAL(count_nodes(&g, TL_NODE_LAUNCH), 3);
    CU_ASSERT_NOT_EQUAL(lag_us(&g, node_at(&g, TL_NODE_LAUNCH, 13), node_at(&g, TL_NODE_WORK, 16)), NO_EDGE);
    tl_rank_graph_free(&g);
}

static void what_had_been_queued_follows_what_ended_last_however_long_before(void)
{
    tl_rank_graph g = drawn_graph(stretched(
        draw("host:      apr...........", "compute 7: ...AAAA.......", "compute 9: .PP.......QQRR", NULL), 10));
    CU_ASSERT_EQUAL(lag_us(&g, node_at(&g, TL_NODE_WORK, 70), node_at(&g, TL_NODE_WORK, 120)), 0);
    tl_rank_graph_free(&g);
}

static void what_begins_as_work_of_the_recording_ends_was_not_launched_before(void)
{
    tl_rank_graph g = drawn_graph(
        draw("steps:     4444444444", "host:      a...b.....", "compute 7: .AAA......", "compute 9: ....QQ.BB.", NULL));
    CU_ASSERT_EQUAL(lag_us(&g, node_at(&g, TL_NODE_WORK, 4), node_at(&g, TL_NODE_WORK, 6)), 0);
    CU_ASSERT_EQUAL(g.nodes[node_at(&g, TL_NODE_WORK, 6)].step, 4);
    tl_rank_graph_free(&g);
}

/* B begins 6 us after A has ended, so it was launched with A: C, in the next window of the recording, tells nothing. */
static void the_next_window_does_not_tell_when_a_kernel_was_launched(void)
{
    static const tl_recorded_window windows[] = { { 0, 0 }, { 15 * US, 1 } };
    drawing *d = draw("host:      a................c...", "compute 7: .AAA......BBB.....CC.", NULL);
    d->view.windows = windows;
    d->view.nwindows = 2;
    tl_rank_graph g = drawn_graph(d);
    CU_ASSERT_EQUAL(count_nodes(&g, TL_NODE_LAUNCH), 2);
    tl_rank_graph_free(&g);
}

int main(void)
{
    static const unit_test tests[] = {
        TEST(what_begins_when_work_ends_was_launched_with_what_began_before),
        TEST(what_begins_when_nothing_ends_was_launched_right_then),
        TEST(nothing_is_launched_while_the_host_waits),
        TEST(without_a_host_work_follows_what_ended_last),
        TEST(what_begins_with_the_launch_behind_it_was_launched_right_then),
        TEST(what_had_been_queued_follows_what_ended_last_however_long_before),
        TEST(what_begins_as_work_of_the_recording_ends_was_not_launched_before),
        TEST(the_next_window_does_not_tell_when_a_kernel_was_launched),
        TEST(communication_waits_for_no_computing_that_happened_to_end_before),
    };
    return unit_main("kernels without a launch", tests, COUNT(tests));
}
