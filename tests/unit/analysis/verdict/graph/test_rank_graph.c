/* test_rank_graph.c - the graph of one rank: launches, streams, threads. */
#include "graph_drawn.h"

static void work_comes_after_its_launch(void)
{
    tl_rank_graph g = drawn_graph(draw("host:      a.........",
                                       "compute 7: ...AAAA...", NULL));
    uint32_t launch = node_at(&g, TL_NODE_LAUNCH, 1), work = node_at(&g, TL_NODE_WORK, 7);
    CU_ASSERT_EQUAL(g.nnodes, 2);
    CU_ASSERT_EQUAL(g.nodes[work].work_ns, 4 * US);
    CU_ASSERT_EQUAL(g.nodes[launch].work_ns, 0); /* before it nothing is known */
    CU_ASSERT_EQUAL(lag_us(&g, launch, work), 2);
    tl_rank_graph_free(&g);
}

/* What starts late has not got there late. */
static void latency_is_that_of_an_empty_queue(void)
{
    tl_rank_graph g = drawn_graph(draw("host:      a.......b...c...........",
                                       "compute 7: ....AA.....BBBBBBBBB.CCC", NULL));
    CU_ASSERT_EQUAL(lag_us(&g, node_at(&g, TL_NODE_LAUNCH, 1), node_at(&g, TL_NODE_WORK, 6)), 2);
    CU_ASSERT_EQUAL(lag_us(&g, node_at(&g, TL_NODE_LAUNCH, 9), node_at(&g, TL_NODE_WORK, 20)), 2);
    CU_ASSERT_EQUAL(lag_us(&g, node_at(&g, TL_NODE_LAUNCH, 13), node_at(&g, TL_NODE_WORK, 24)), 2);
    tl_rank_graph_free(&g);
    g = drawn_graph(stretched(draw("host:      a..........",
                                   "compute 7: .....AAAA..", NULL), 10));
    CU_ASSERT_EQUAL(lag_us(&g, node_at(&g, TL_NODE_LAUNCH, 10), node_at(&g, TL_NODE_WORK, 90)), 20); /* no queue is empty */
    tl_rank_graph_free(&g);
}

static void work_is_handed_over_as_the_call_returns_or_right_before_it_starts(void)
{
    tl_rank_graph g = drawn_graph(draw("launch 1 cudaLaunchKernel: aaaaaa.......bbbbbb..........",
                                       "compute 7:                 ...AAAA...............BBBBB..", NULL));
    CU_ASSERT_EQUAL(g.nodes[node_at(&g, TL_NODE_LAUNCH, 2)].kind, TL_NODE_LAUNCH);
    CU_ASSERT_EQUAL(g.nodes[node_at(&g, TL_NODE_LAUNCH, 19)].work_ns, 17 * US); /* a long call is work of the host */
    tl_rank_graph_free(&g);
}

static void work_comes_after_that_before_it_on_its_stream(void)
{
    tl_rank_graph g = drawn_graph(draw("host:      abc...........",
                                       "compute 7: ..AAAABBB.....",
                                       "compute 9: ..CCCCCCC.....", NULL));
    uint32_t a = node_at(&g, TL_NODE_WORK, 6), b = TL_NONE, c = TL_NONE;
    for (uint32_t v = 0; v < g.nnodes; v++)
        if (g.nodes[v].kind == TL_NODE_WORK && v != a)
            *(g.nodes[v].work_ns == 3 * US ? &b : &c) = v;
    CU_ASSERT_EQUAL(lag_us(&g, a, b), 0);
    CU_ASSERT_EQUAL(lag_us(&g, a, c), NO_EDGE);
    tl_rank_graph_free(&g);
}

static void work_that_overlaps_begins_so_much_earlier(void)
{
    tl_rank_graph g = drawn_graph(draw("host:      ab............",
                                       "compute 7: ..AAAAA.......",
                                       "compute 7: .....BBBBB....", NULL));
    CU_ASSERT_EQUAL(lag_us(&g, node_at(&g, TL_NODE_WORK, 7), node_at(&g, TL_NODE_WORK, 10)), -2);
    tl_rank_graph_free(&g);
}

static void a_launch_comes_after_what_any_thread_did_last(void)
{
    tl_rank_graph g = drawn_graph(draw("launch 1 cudaLaunchKernel: a.......c.......",
                                       "launch 2 cudaLaunchKernel: ...b............",
                                       "compute 7:                 ..AA..BB..CC....", NULL));
    uint32_t a = node_at(&g, TL_NODE_LAUNCH, 1), b = node_at(&g, TL_NODE_LAUNCH, 4), c = node_at(&g, TL_NODE_LAUNCH, 9);
    CU_ASSERT_EQUAL(lag_us(&g, a, b), 0);
    CU_ASSERT_EQUAL(g.nodes[b].work_ns, 3 * US);
    CU_ASSERT_EQUAL(lag_us(&g, a, c), 0);
    CU_ASSERT_EQUAL(lag_us(&g, b, c), 0);
    CU_ASSERT_EQUAL(g.nodes[c].work_ns, 5 * US); /* since the later */
    tl_rank_graph_free(&g);
}

static void what_was_launched_before_the_recording_is_of_no_step(void)
{
    drawing *d = draw("steps:     4444444455555",
                      "host:      .ab.....c....",
                      "compute 7: .AABB....CC..",
                      "compute 9: ..XXX........", NULL);
    for (size_t i = 0; i < d->view.nkernels; i++)
        if (d->kernels[i].start_ns == US)
            d->kernels[i].launch = TL_NONE;
    tl_rank_graph g = drawn_graph(d);
    CU_ASSERT_EQUAL(g.nodes[node_at(&g, TL_NODE_WORK, 3)].step, -1);
    CU_ASSERT_EQUAL(g.nodes[node_among(g.nodes, 0, (uint32_t)g.nnodes, TL_NODE_WORK, 11 * US)].step, 5);
    tl_rank_graph_free(&g);
}

/* A checkpoint, say, and the loading of a batch; columns of 100 us. */
static void what_the_host_does_before_a_mark_is_work_of_the_step_that_it_ends(void)
{
    tl_rank_graph g = drawn_graph(stretched(draw("steps:                     44444444445555555555",
                                                 "launch 1 cudaLaunchKernel: ab...............c...",
                                                 "compute 7:                 .AABB.............CC.", NULL), 100));
    const tl_node *before = &g.nodes[node_at(&g, TL_NODE_WAIT_END, 1000)], *after = &g.nodes[node_at(&g, TL_NODE_WAIT_END, 1700)];
    CU_ASSERT_EQUAL(before->work_ns, 800 * US);
    CU_ASSERT_EQUAL(before->step, 4);
    CU_ASSERT_EQUAL(after->work_ns, 700 * US);
    CU_ASSERT_EQUAL(after->step, 5);
    tl_rank_graph_free(&g);
    g = drawn_graph(draw("steps:                     44444444445555555555", /* a pause too short to have been a wait */
                         "launch 1 cudaLaunchKernel: ab...............c...",
                         "compute 7:                 .AABB.............CC.", NULL));
    uint32_t mark = node_at(&g, TL_NODE_WAIT_BEGIN, 10), c = node_at(&g, TL_NODE_LAUNCH, 17);
    CU_ASSERT_EQUAL(g.nodes[mark].work_ns, 8 * US);
    CU_ASSERT_EQUAL(g.nodes[mark].step, 4);
    CU_ASSERT_EQUAL(g.nodes[c].work_ns, 7 * US);
    CU_ASSERT_EQUAL(lag_us(&g, mark, c), 0);
    tl_rank_graph_free(&g);
}

/* Rounding puts the beginning of step 5 into the last microsecond of the wait that step 4 ends with. */
static void a_mark_at_the_end_of_a_wait_comes_after_it(void)
{
    tl_rank_graph g = drawn_graph(draw("steps:                      44444444444455555555", /**/
                                       "host:                       a.............b.....", /**/
                                       "compute 7:                  .AAAAAAAAA.....BB...", /**/
                                       "call cudaDeviceSynchronize: ...==========.......", NULL));
    int64_t host_ns = 0;
    for (uint32_t v = 0; v < g.nnodes; v++)
        host_ns += g.nodes[v].kind != TL_NODE_WORK ? g.nodes[v].work_ns : 0;
    CU_ASSERT_EQUAL(host_ns, 4 * US); /* from a to the wait, and from the wait to b */
    tl_rank_graph_free(&g);
}

/* Nor is the wait work of the host before the next launch, or the next wait, of the thread. */
static void a_call_at_the_end_of_a_wait_comes_after_it(void)
{
    static const char *const next[] = { "host:                       ............b.......",
                                        "call cudaStreamSynchronize: ............==......" };
    for (size_t i = 0; i < COUNT(next); i++) {
        tl_rank_graph g = drawn_graph(draw(next[i], /**/
                                           "host:                       a..............c....", /**/
                                           "compute 7:                  .AAAAAAAAA......CC..", /**/
                                           "compute 9:                  .............BB.....", /**/
                                           "call cudaDeviceSynchronize: ...==========.......", NULL));
        int64_t host_ns = 0;
        for (uint32_t v = 0; v < g.nnodes; v++)
            host_ns += g.nodes[v].kind != TL_NODE_WORK ? g.nodes[v].work_ns : 0;
        CU_ASSERT(host_ns <= 6 * US);
        tl_rank_graph_free(&g);
    }
}

static void without_marks_the_recording_begins_with_the_first_operator(void)
{
    tl_rank_graph g = drawn_graph(draw("op 1 next_batch:           ======.....",
                                       "launch 1 cudaLaunchKernel: ......a....",
                                       "compute 7:                 ........AA.", NULL));
    uint32_t begin = node_at(&g, TL_NODE_BEGIN, 0), launch = node_at(&g, TL_NODE_LAUNCH, 7);
    CU_ASSERT_EQUAL(g.nodes[launch].work_ns, 7 * US);
    CU_ASSERT_EQUAL(lag_us(&g, begin, launch), 0);
    tl_rank_graph_free(&g);
}

/* A collective is launched after the pause: the work before it is of the stretch that it ends, as a shorter pause's is. */
static void what_the_host_does_before_a_launch_is_work_of_the_same_stretch(void)
{
    tl_rank_graph g = drawn_graph(stretched(draw("launch 1 cudaLaunchKernel: a........b...c.",
                                                 "compute 7:                 .AA...........",
                                                 "comm 9:                    ..........BB.C", NULL), 100));
    const tl_node *pause = &g.nodes[node_at(&g, TL_NODE_WAIT_END, 900)], *b = &g.nodes[node_at(&g, TL_NODE_LAUNCH, 999)];
    CU_ASSERT_EQUAL(pause->work_ns, 800 * US);
    CU_ASSERT_EQUAL(pause->segment, b->segment);
    tl_rank_graph_free(&g);
}

/* d comes after c, which has come after b. */
static void what_the_host_does_most_of_the_time_before_a_launch_is_its_work(void)
{
    drawing *d = draw("launch 1 cudaLaunchKernel: a........b....c", /**/
                      "op 1 gc.collect:           ..=====.......", /**/
                      "compute 7:                 .A........B...C", NULL);
    tl_rank_graph g = graph_of_rank(d);
    uint8_t launches[3] = { 0 };
    size_t n = 0;
    for (size_t v = 0; v < g.nnodes; v++)
        if (g.nodes[v].kind == TL_NODE_LAUNCH && n < 3)
            launches[n++] = g.nodes[v].activity;
    CU_ASSERT_EQUAL_FATAL(n, 3);
    CU_ASSERT_EQUAL(launches[1], TL_ACTIVITY_GC);
    CU_ASSERT_EQUAL(launches[2], TL_ACTIVITY_HOST);
    tl_rank_graph_free(&g);
    drawing_free(d);
}

static void what_its_own_thread_came_after_is_no_edge_of_its_own(void)
{
    tl_rank_graph g = drawn_graph(draw("launch 1 cudaLaunchKernel: a.......c..d....",
                                       "launch 2 cudaLaunchKernel: ...b............",
                                       "compute 7:                 ..AA..BB..CC.D..", NULL));
    uint32_t c = node_at(&g, TL_NODE_LAUNCH, 9), d = node_at(&g, TL_NODE_LAUNCH, 12);
    CU_ASSERT_EQUAL(lag_us(&g, c, d), 0);
    CU_ASSERT_EQUAL(count_edges_to(&g, d), 1);
    tl_rank_graph_free(&g);
}

static void the_first_step_begins_with_its_mark(void)
{
    tl_rank_graph g = drawn_graph(draw("steps:     .444444455555",
                                       "host:      ....a....b...",
                                       "compute 7: ......AA...B.", NULL));
    uint32_t begin = node_at(&g, TL_NODE_BEGIN, 1), a = node_at(&g, TL_NODE_LAUNCH, 5), b = node_at(&g, TL_NODE_LAUNCH, 10);
    CU_ASSERT_EQUAL(count_edges_to(&g, begin), 0);
    CU_ASSERT_EQUAL(lag_us(&g, begin, a), 0);
    CU_ASSERT_EQUAL(g.nodes[a].work_ns, 4 * US);
    CU_ASSERT_EQUAL(g.nodes[a].step, 4);
    CU_ASSERT_EQUAL(g.nodes[b].step, 5);
    CU_ASSERT_EQUAL(count_nodes(&g, TL_NODE_BEGIN), 1);
    tl_rank_graph_free(&g);
    g = drawn_graph(draw("steps:     .....4444444", /* the mark comes after the first launch */
                         "host:      ..a.........",
                         "compute 7: ....AA......", NULL));
    CU_ASSERT_EQUAL(count_nodes(&g, TL_NODE_BEGIN), 0);
    CU_ASSERT_EQUAL(g.nodes[node_at(&g, TL_NODE_LAUNCH, 3)].step, -1);
    tl_rank_graph_free(&g);
}

static void communication_is_an_arrival_and_an_end(void)
{
    tl_rank_graph g = drawn_graph(draw("host:      ar.b......",
                                       "compute 7: .AA......B",
                                       "comm 9:    ...RRRR...", NULL));
    CU_ASSERT_EQUAL_FATAL(g.ncomms, 1);
    uint32_t arrival = g.comms[0].arrival;
    CU_ASSERT_EQUAL(g.nodes[arrival].kind, TL_NODE_ARRIVAL);
    CU_ASSERT_EQUAL(g.nodes[arrival].done_ns, 3 * US);
    CU_ASSERT_EQUAL(g.nodes[arrival].work_ns, 0);
    CU_ASSERT_EQUAL(g.nodes[arrival + 1].kind, TL_NODE_END);
    CU_ASSERT_EQUAL(g.nodes[arrival + 1].work_ns, 4 * US); /* as long as nobody else is known */
    CU_ASSERT_EQUAL(lag_us(&g, arrival, arrival + 1), 0);
    CU_ASSERT_EQUAL(g.nodes[node_at(&g, TL_NODE_WORK, 10)].segment, 1); /* launched after one */
    CU_ASSERT_EQUAL(g.nodes[node_at(&g, TL_NODE_WORK, 3)].segment, 0);
    tl_rank_graph_free(&g);
}

static void a_clock_of_the_device_that_lags_is_made_good(void)
{
    tl_rank_graph g = drawn_graph(draw("host:      ...a......b.....",
                                       "compute 7: .AA...........BB", NULL));
    /* A begins 2 us before its launch: all times of the host are 2 us earlier on the device's clock. */
    CU_ASSERT_EQUAL(g.nodes[node_at(&g, TL_NODE_LAUNCH, 1)].work_ns, 0);
    CU_ASSERT_EQUAL(g.nodes[node_at(&g, TL_NODE_LAUNCH, 9)].work_ns, 8 * US);
    tl_rank_graph_free(&g);
}

/* Which of its name it is between two collectives, whatever else is launched there. */
static void what_is_launched_has_the_same_key_beside_anything_else(void)
{
    tl_rank_graph g = drawn_graph(draw("host:           abcrd...........",
                                       "compute 7 gemm: ..AAAB..........",
                                       "compute 7 relu: ......C.........",
                                       "comm 9:         .......RR.......",
                                       "compute 7 gemm: .........DD.....", NULL));
    tl_rank_graph other = drawn_graph(draw("host:           axbcrd..........",
                                           "compute 7 gemm: ..AAA.B.........",
                                           "compute 7 copy: .....X..........",
                                           "compute 7 relu: .......C........",
                                           "comm 9:         ........RR......",
                                           "compute 7 gemm: ..........DD....", NULL));
    const int64_t there[] = { 1, 2, 3, 5 }, beside[] = { 1, 3, 4, 6 }; /* a, b, c and d */
    for (size_t i = 0; i < COUNT(there); i++)
        for (size_t k = 0; k < COUNT(beside); k++)
            CU_ASSERT_EQUAL(g.nodes[node_at(&g, TL_NODE_LAUNCH, there[i])].key ==
                                other.nodes[node_at(&other, TL_NODE_LAUNCH, beside[k])].key, i == k);
    tl_rank_graph_free(&g);
    tl_rank_graph_free(&other);
}

static uint64_t key_of_copy(const char *line)
{
    tl_rank_graph g = drawn_graph(draw("host:      a.....", line, NULL));
    uint64_t key = g.nodes[node_at(&g, TL_NODE_WORK, 5)].key;
    tl_rank_graph_free(&g);
    return key;
}

static void copies_are_the_same_from_any_memory(void)
{
    uint64_t pageable = key_of_copy("memcpy 8 Memcpy HtoD (Pageable -> Device): ..AAA."),
             pinned = key_of_copy("memcpy 8 Memcpy HtoD (Pinned -> Device): ..AAA."),
             back = key_of_copy("memcpy 8 Memcpy DtoH (Device -> Pinned): ..AAA.");
    CU_ASSERT_EQUAL(pageable, pinned);
    CU_ASSERT_NOT_EQUAL(pageable, back);
    CU_ASSERT_NOT_EQUAL(pageable, 0);
}

/* The recording begins while B and U are on the device: what is launched in it, and runs after them, comes after. */
static void what_was_launched_before_the_recording_comes_first(void)
{
    tl_rank_graph g = drawn_graph(draw("host:      a.........s..",
                                       "compute 7: BBBBBBBBAA...",
                                       "comm 9:    .....UU....SS", NULL));
    CU_ASSERT_EQUAL(g.nodes[node_at(&g, TL_NODE_WORK, 8)].segment, 0);
    CU_ASSERT_EQUAL(g.nodes[node_at(&g, TL_NODE_ARRIVAL, 5)].segment, 0);
    CU_ASSERT_EQUAL(g.nodes[node_at(&g, TL_NODE_WORK, 10)].segment, 1);
    CU_ASSERT_EQUAL(g.nodes[node_at(&g, TL_NODE_ARRIVAL, 11)].segment, 1);
    tl_rank_graph_free(&g);
}

static void without_launches_work_is_where_it_was(void)
{
    tl_rank_graph g = drawn_graph(draw("compute 7: .AA..BB.", NULL));
    CU_ASSERT_EQUAL(g.nnodes, 2);
    CU_ASSERT_EQUAL(count_edges_to(&g, node_at(&g, TL_NODE_WORK, 3)), 0);
    CU_ASSERT_EQUAL(count_edges_to(&g, node_at(&g, TL_NODE_WORK, 7)), 1);
    tl_rank_graph_free(&g);
}

static void no_work_is_no_graph(void)
{
    tl_rank_graph g = drawn_graph(draw("steps:     1111", NULL));
    CU_ASSERT_EQUAL(g.nnodes, 0);
    CU_ASSERT_EQUAL(g.nedges, 0);
    tl_rank_graph_free(&g);
}

static void times_ages_apart_are_no_graph(void)
{
    drawing *d = draw("host:      ab........",
                      "compute 7: .AA.BBB...", NULL);
    d->kernels[1].end_ns = INT64_C(1) << 60;
    tl_rank_graph g = graph_of_rank(d);
    CU_ASSERT_EQUAL(g.nnodes, 0);
    tl_rank_graph_free(&g);
    d->kernels[1].end_ns = INT64_C(1) << 45;
    g = graph_of_rank(d);
    CU_ASSERT_EQUAL(g.nnodes, 4);
    tl_rank_graph_free(&g);
    drawing_free(d);
}

int main(void)
{
    static const unit_test tests[] = {
        TEST(work_comes_after_its_launch),
        TEST(latency_is_that_of_an_empty_queue),
        TEST(work_is_handed_over_as_the_call_returns_or_right_before_it_starts),
        TEST(work_comes_after_that_before_it_on_its_stream),
        TEST(work_that_overlaps_begins_so_much_earlier),
        TEST(a_launch_comes_after_what_any_thread_did_last),
        TEST(what_was_launched_before_the_recording_is_of_no_step),
        TEST(what_the_host_does_before_a_mark_is_work_of_the_step_that_it_ends),
        TEST(a_mark_at_the_end_of_a_wait_comes_after_it),
        TEST(a_call_at_the_end_of_a_wait_comes_after_it),
        TEST(without_marks_the_recording_begins_with_the_first_operator),
        TEST(what_the_host_does_before_a_launch_is_work_of_the_same_stretch),
        TEST(what_the_host_does_most_of_the_time_before_a_launch_is_its_work),
    TEST(what_its_own_thread_came_after_is_no_edge_of_its_own),
        TEST(the_first_step_begins_with_its_mark),
        TEST(communication_is_an_arrival_and_an_end),
        TEST(a_clock_of_the_device_that_lags_is_made_good),
        TEST(what_is_launched_has_the_same_key_beside_anything_else),
        TEST(copies_are_the_same_from_any_memory),
        TEST(what_was_launched_before_the_recording_comes_first),
        TEST(without_launches_work_is_where_it_was),
        TEST(no_work_is_no_graph),
        TEST(times_ages_apart_are_no_graph),
    };
    return unit_main("the graph of a rank", tests, COUNT(tests));
}
