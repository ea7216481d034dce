/* test_released.c - what released the waits of a host; a column is 10 us unless it says otherwise. */
#include "graph_drawn.h"

/* The wait that ends then, in columns of 10 us; what it is released by, and how long after that. */
static void expect_release(const tl_rank_graph *g, int64_t wait_us, int64_t work_us, int64_t lag)
{
    uint32_t end = node_at(g, TL_NODE_WAIT_END, wait_us), work = node_at(g, TL_NODE_WORK, work_us);
    CU_ASSERT_EQUAL(g->nodes[end].work_ns, 0);
    CU_ASSERT_EQUAL(count_edges_to(g, end), 2);
    CU_ASSERT_EQUAL(lag_us(g, work, end), lag);
}

static void a_device_is_waited_for_until_its_last_work_has_ended(void)
{
    tl_rank_graph g = drawn_graph(stretched(draw("launch 1 cudaLaunchKernel:  ab...............c...",
                                                 "call 1 cudaDeviceSynchronize: ...=============....",
                                                 "compute 7:                  ..AAAA...........CCC",
                                                 "compute 9:                  ..BBBBBBBBBBBBB.....", NULL),
                                            10));
    uint32_t begin = node_at(&g, TL_NODE_WAIT_BEGIN, 30), end = node_at(&g, TL_NODE_WAIT_END, 160);
    expect_release(&g, 160, 150, 10);
    CU_ASSERT_EQUAL(lag_us(&g, begin, end), 20);      /* what the call itself takes at most */
    CU_ASSERT_EQUAL(g.nodes[begin].work_ns, 11 * US); /* b starts as its call returns: so it had been handed over */
    CU_ASSERT_EQUAL(lag_us(&g, end, node_at(&g, TL_NODE_LAUNCH, 170)), 0);
    tl_rank_graph_free(&g);
}

static void a_stream_is_waited_for_alone(void)
{
    tl_rank_graph g = drawn_graph(stretched(draw("launch 1 cudaLaunchKernel:  ab...............c...",
                                                 "call 1/7 cudaStreamSynchronize: ...=============....",
                                                 "compute 7:                  ..AAAAAAAAAAAA...CCC",
                                                 "compute 9:                  ..BBBBBBBBBBBBB.....", NULL),
                                            10));
    expect_release(&g, 160, 140, 20);
    tl_rank_graph_free(&g);
}

/* Stream 7 waits by an event for the message on stream 9. */
static void a_stream_is_waited_for_with_what_it_waits_for(void)
{
    tl_rank_graph g = drawn_graph(stretched(draw("launch 1 cudaLaunchKernel:  ab...............c...",
                                                 "call 1/7 cudaStreamSynchronize: ....============....",
                                                 "compute 7:                  ..A..............CCC",
                                                 "compute 9:                  ..BBBBBBBBBBBBB.....", NULL),
                                            10));
    expect_release(&g, 160, 150, 10);
    tl_rank_graph_free(&g);
}

static void what_is_launched_later_releases_nothing(void)
{
    tl_rank_graph g = drawn_graph(stretched(
        draw("launch 1 cudaLaunchKernel:  a....................", "launch 2 cudaLaunchKernel:  .....b...............",
             "call 1 cudaDeviceSynchronize: ...=============....", "compute 7:                  ..AAAA...............",
             "compute 9:                  ......BBBBBBBBB......", NULL),
        10));
    expect_release(&g, 160, 60, 100);
    tl_rank_graph_free(&g);
}

static void a_wait_for_nothing_takes_what_it_took(void)
{
    tl_rank_graph g = drawn_graph(stretched(draw("launch 1 cudaLaunchKernel:  a...............b....",
                                                 "call 1 cudaDeviceSynchronize: .........====........",
                                                 "compute 7:                  .AA..............BBBB", NULL),
                                            100));
    uint32_t end = node_at(&g, TL_NODE_WAIT_END, 1300); /* A has ended 1 ms before: nothing wakes so late */
    CU_ASSERT_EQUAL(count_edges_to(&g, end), 1);
    CU_ASSERT_EQUAL(lag_us(&g, node_at(&g, TL_NODE_WAIT_BEGIN, 900), end), 400);
    tl_rank_graph_free(&g);
}

static void a_copy_that_blocks_is_waited_for_by_its_own_call(void)
{
    tl_rank_graph g = drawn_graph(
        stretched(draw("launch 1 cudaMemcpy:    .mmmmmmmmmm......", "launch 1 cudaLaunchKernel: ..............a..",
                       "compute 7:             ...............AA", "memcpy 8 Memcpy DtoH:  ...MMMMMMM.......", NULL),
                  10));
    uint32_t begin = node_at(&g, TL_NODE_WAIT_BEGIN, 10), copy = node_at(&g, TL_NODE_WORK, 100);
    expect_release(&g, 110, 100, 10);
    CU_ASSERT_EQUAL(lag_us(&g, begin, copy), 1); /* its call begins it, with the latency of the rank's launches */
    tl_rank_graph_free(&g);
}

static void a_copy_that_goes_on_does_not_block(void)
{
    tl_rank_graph g = drawn_graph(stretched(
        draw("launch 1 cudaMemcpyAsync: .mm..............", "memcpy 8 Memcpy DtoH:    ....MMMMMM.......", NULL), 10));
    CU_ASSERT_EQUAL(count_nodes(&g, TL_NODE_WAIT_BEGIN), 0);
    CU_ASSERT_EQUAL(count_nodes(&g, TL_NODE_LAUNCH), 1);
    tl_rank_graph_free(&g);
}

/* Memory is freed once all that runs has ended; the rest of the call is work of the host. */
static void a_free_waits_until_the_device_has_ended(void)
{
    tl_rank_graph g = drawn_graph(stretched(draw("launch 1 cudaLaunchKernel:  ab...............c...",
                                                 "call 1 cudaFree:            ...=============....",
                                                 "compute 7:                  ..AAAA...........CCC",
                                                 "compute 9:                  ..BBBBBBBBB.........", NULL),
                                            10));
    expect_release(&g, 110, 110, 0);
    CU_ASSERT_EQUAL(g.nodes[node_at(&g, TL_NODE_LAUNCH, 170)].work_ns, 60 * US);
    tl_rank_graph_free(&g);
}

static void a_free_that_does_not_wait_is_work_of_the_host(void)
{
    tl_rank_graph g = drawn_graph(stretched(draw("launch 1 cudaLaunchKernel:  ab...............c...",
                                                 "call 1 cudaFree:            ...=============....",
                                                 "compute 7:                  ..AAAA...........CCC",
                                                 "compute 9:                  ..BBBBBBBBBBBBBBBBBB", NULL),
                                            10));
    CU_ASSERT_EQUAL(count_nodes(&g, TL_NODE_WAIT_BEGIN), 0);
    CU_ASSERT_EQUAL(g.nodes[node_at(&g, TL_NODE_LAUNCH, 170)].work_ns, 151 * US);
    tl_rank_graph_free(&g);
}

static void a_free_in_turn_with_the_device_waits_for_nobody(void)
{
    tl_rank_graph g = drawn_graph(stretched(draw("launch 1 cudaLaunchKernel:  ab...............c...",
                                                 "call 1 cudaFreeAsync:       ...=============....",
                                                 "compute 7:                  ..AAAABBBB.......CCC", NULL),
                                            10));
    CU_ASSERT_EQUAL(count_nodes(&g, TL_NODE_WAIT_BEGIN), 0);
    tl_rank_graph_free(&g);
}

/* --------------------------------------------------------------------------------------------------- a full queue */

/* Columns of 100 us; the first n launches take 5 us all the same. */
static tl_rank_graph queue_graph(drawing *d, size_t n)
{
    stretched(d, 100);
    for (size_t i = 0; i < n; i++)
        d->launches[i].end_ns = d->launches[i].start_ns + 5 * US;
    return drawn_graph(d);
}

static void launches_held_by_a_full_queue_are_waits(void)
{
    tl_rank_graph g = queue_graph(draw("launch 1 cudaLaunchKernel: abcccccccccddddddddddeeeeeeeeee...................",
                                       "compute 7: .AAAAAAAAAABBBBBBBBBBCCCCCCCCCCDDDDDDDDDDEEEEEEEEEE", NULL),
                                  2);
    CU_ASSERT_EQUAL(count_nodes(&g, TL_NODE_WAIT_END), 3);
    CU_ASSERT_EQUAL(count_nodes(&g, TL_NODE_LAUNCH), 2);
    expect_release(&g, 1100, 1100, 0);
    expect_release(&g, 2100, 2100, 0);
    expect_release(&g, 3100, 3100, 0);
    /* With room in the queue it would take as long as the other launches. */
    CU_ASSERT_EQUAL(lag_us(&g, node_at(&g, TL_NODE_WAIT_BEGIN, 200), node_at(&g, TL_NODE_WAIT_END, 1100)), 5);
    /* Only then is its work handed over. */
    CU_ASSERT_NOT_EQUAL(lag_us(&g, node_at(&g, TL_NODE_WAIT_END, 1100), node_at(&g, TL_NODE_WORK, 3100)), NO_EDGE);
    tl_rank_graph_free(&g);
}

/* Twelve of stream 7 fill the queue, Z of stream 9 does not count.  As long as it is pending thirteen are, then
 * twelve. */
static void what_does_not_count_fills_no_queue(void)
{
    tl_rank_graph g =
        queue_graph(draw("launch 1 cudaLaunchKernel: zabcdefghijklmmmmmmmnnnnnnooooooppppppqqqqqqrrrrrr.........."
                         "..........................................................",
                         "compute 7: .............AAAAAABBBBBBCCCCCCDDDDDDEEEEEEFFFFFFGGGGGGHHHHHHIIIIIIJJJJJJ"
                         "KKKKKKLLLLLLMMMMMMNNNNNNOOOOOOPPPPPPQQQQQQRRRRRR",
                         "compute 9: ..........................ZZZZZZ", NULL),
                    13);
    CU_ASSERT_EQUAL(count_nodes(&g, TL_NODE_WAIT_END), 6);
    tl_rank_graph_free(&g);
}

static void two_are_not_enough_to_speak_of_a_full_queue(void)
{
    tl_rank_graph g = queue_graph(draw("launch 1 cudaLaunchKernel: abcccccccccdddddddddd.............................",
                                       "compute 7: .AAAAAAAAAABBBBBBBBBBCCCCCCCCCCDDDDDDDDDD..........", NULL),
                                  2);
    CU_ASSERT_EQUAL(count_nodes(&g, TL_NODE_WAIT_END), 0);
    CU_ASSERT_EQUAL(count_nodes(&g, TL_NODE_LAUNCH), 4);
    tl_rank_graph_free(&g);
}

/* It has lost its lead: less is pending than ever was. */
static void long_launches_of_a_slow_host_are_work(void)
{
    tl_rank_graph g =
        queue_graph(draw("launch 1 cudaLaunchKernel: abxyzccccccccddddddddddeeeeeeeeee...........................",
                         "compute 7: .AAAABBBBBXXXXXXXXXXYYYYYYYYYYZZZZZZZZZZCCCCCCCCCCDDDDDDDDDDEEEEE", NULL),
                    5);
    CU_ASSERT_EQUAL(count_nodes(&g, TL_NODE_WAIT_END), 0);
    tl_rank_graph_free(&g);
}

int main(void)
{
    static const unit_test tests[] = {
        TEST(a_device_is_waited_for_until_its_last_work_has_ended),
        TEST(a_stream_is_waited_for_alone),
        TEST(a_stream_is_waited_for_with_what_it_waits_for),
        TEST(what_is_launched_later_releases_nothing),
        TEST(a_wait_for_nothing_takes_what_it_took),
        TEST(a_copy_that_blocks_is_waited_for_by_its_own_call),
        TEST(a_copy_that_goes_on_does_not_block),
        TEST(a_free_waits_until_the_device_has_ended),
        TEST(a_free_that_does_not_wait_is_work_of_the_host),
        TEST(a_free_in_turn_with_the_device_waits_for_nobody),
        TEST(launches_held_by_a_full_queue_are_waits),
        TEST(what_does_not_count_fills_no_queue),
        TEST(two_are_not_enough_to_speak_of_a_full_queue),
        TEST(long_launches_of_a_slow_host_are_work),
    };
    return unit_main("what released a wait", tests, COUNT(tests));
}
