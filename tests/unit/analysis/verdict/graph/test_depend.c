/* test_depend.c - which work of another stream something waited for. */
#include "graph_drawn.h"

/* A wait of `stream` for what the call `record` recorded on `on_stream`. */
static void wait_recorded(drawing *d, const char *wait, const char *record, int stream, int on_stream)
{
    size_t call = drawn_call(d, wait);
    tl_sync *s = &d->syncs[d->view.nsyncs];
    draw_sync(d, call, 0, stream, on_stream);
    s->name = tl_names_intern(&d->names, "Stream Wait Event", 17);
    s->call_ns = d->view.calls.start_ns[call];
    s->wait_on_correlation = d->view.calls.correlation[drawn_call(d, record)];
}

static drawing *recorded(void)
{
    drawing *d = draw("launch 1 cudaLaunchKernel:   ab....c.d...............",
                      "call 1 cudaEventRecord:      ...=....................",
                      "call 1 cudaStreamWaitEvent:  .....=..................",
                      "compute 7:                   ..AAABBBBB....DDDDDDDD..",
                      "compute 9:                   ............CCC.........", NULL);
    wait_recorded(d, "cudaStreamWaitEvent", "cudaEventRecord", 9, 7);
    return d;
}

static void a_recorded_wait_is_for_what_was_launched_before_the_record(void)
{
    tl_rank_graph g = drawn_graph(recorded());
    uint32_t b = node_at(&g, TL_NODE_WORK, 10), c = node_at(&g, TL_NODE_WORK, 15);
    const tl_edge *e = edge_of(&g, b, c);
    CU_ASSERT_PTR_NOT_NULL_FATAL(e);
    CU_ASSERT_EQUAL(e->lag_ns, 0);
    CU_ASSERT_NOT_EQUAL(e->vote, 0);
    CU_ASSERT_EQUAL(g.nfalse, 0);
    CU_ASSERT_EQUAL(lag_us(&g, node_at(&g, TL_NODE_WORK, 5), c), NO_EDGE);
    tl_rank_graph_free(&g);
}

static void a_recorded_wait_that_cannot_be_is_no_edge_and_says_so(void)
{
    drawing *d = stretched(recorded(), 10);
    for (size_t i = 0; i < d->view.nkernels; i++)
        if (d->kernels[i].stream == 9) { /* C begins 30 us before B ends */
            d->kernels[i].start_ns = 70 * US;
            d->kernels[i].end_ns = 90 * US;
        }
    d->syncs[0].call_ns *= 10;
    tl_rank_graph g = drawn_graph(d);
    CU_ASSERT_EQUAL(g.nfalse, 1);
    CU_ASSERT_EQUAL(lag_us(&g, node_at(&g, TL_NODE_WORK, 100), node_at(&g, TL_NODE_WORK, 90)), NO_EDGE);
    tl_rank_graph_free(&g);
}

static void a_clock_error_is_not_impossible(void)
{
    drawing *d = recorded();
    for (size_t i = 0; i < d->view.nkernels; i++)
        if (d->kernels[i].stream == 9)
            d->kernels[i].start_ns = 8 * US; /* 2 us before B ends */
    tl_rank_graph g = drawn_graph(d);
    CU_ASSERT_EQUAL(lag_us(&g, node_at(&g, TL_NODE_WORK, 10), node_at(&g, TL_NODE_WORK, 15)), -2);
    CU_ASSERT_EQUAL(g.nfalse, 0);
    tl_rank_graph_free(&g);
}

/* ---------------------------------------------------------------------------------------------------------- customs */

static void communication_waits_for_the_computing_launched_before_it(void)
{
    tl_rank_graph g = drawn_graph(draw("host:      abr............",
                                       "compute 7: ..AAABBBBB.....",
                                       "comm 9:    ...........RRRR", NULL));
    uint32_t arrival = node_at(&g, TL_NODE_ARRIVAL, 11);
    const tl_edge *e = edge_of(&g, node_at(&g, TL_NODE_WORK, 10), arrival);
    CU_ASSERT_PTR_NOT_NULL_FATAL(e);
    CU_ASSERT_NOT_EQUAL(e->vote, 0);
    CU_ASSERT_EQUAL(lag_us(&g, node_at(&g, TL_NODE_WORK, 5), arrival), NO_EDGE);
    tl_rank_graph_free(&g);
}

static void computing_by_custom_waits_for_nobody(void)
{
    tl_rank_graph g = drawn_graph(draw("host:      arb............",
                                       "compute 7: ..AAA...BBBB...",
                                       "comm 9:    ......RR.......", NULL));
    uint32_t b = node_at(&g, TL_NODE_WORK, 12);
    CU_ASSERT_PTR_NOT_NULL_FATAL(edge_of(&g, g.comms[0].arrival + 1, b));
    CU_ASSERT_EQUAL(count_edges_to(&g, b), 3); /* A, its launch; by the rest: R has ended right before */
    CU_ASSERT_EQUAL(edge_of(&g, g.comms[0].arrival + 1, b)->vote, 0);
    tl_rank_graph_free(&g);
}

static void where_waits_are_recorded_there_are_no_customs(void)
{
    drawing *d = stretched(draw("launch 1 cudaLaunchKernel:   ab....c.r.......................",
                                "call 1 cudaEventRecord:      ...=............................",
                                "call 1 cudaStreamWaitEvent:  .....=..........................",
                                "compute 7:                   ..AAABBBBB......................",
                                "compute 9:                   ...........CCC..................",
                                "comm 11:                     ..........RRRRR.................", NULL), 10);
    wait_recorded(d, "cudaStreamWaitEvent", "cudaEventRecord", 9, 7);
    tl_rank_graph g = drawn_graph(d);
    CU_ASSERT_EQUAL(g.nfalse, 0); /* C has not ended as R begins: the custom would be impossible */
    tl_rank_graph_free(&g);
}

static void a_custom_that_is_not_kept_is_false(void)
{
    tl_rank_graph g = drawn_graph(stretched(draw("host:      abr............",
                                                 "compute 7: ..AAABBBBB.....",
                                                 "comm 9:    .....RRRR......", NULL), 10));
    CU_ASSERT_EQUAL(g.nfalse, 1);
    CU_ASSERT_EQUAL(lag_us(&g, node_at(&g, TL_NODE_WORK, 100), node_at(&g, TL_NODE_ARRIVAL, 50)), NO_EDGE);
    /* What it then has waited for by the rest: A ended as it began. */
    CU_ASSERT_EQUAL(lag_us(&g, node_at(&g, TL_NODE_WORK, 50), node_at(&g, TL_NODE_ARRIVAL, 50)), 0);
    tl_rank_graph_free(&g);
}

/* --------------------------------------------------------------------------------------------------------- the rest */

static const tl_edge *rest_edge(const char *host, const char *seven, const char *nine, int64_t us, int64_t from, int64_t to)
{
    static tl_edge found;
    tl_rank_graph g = drawn_graph(stretched(draw(host, seven, nine, NULL), us));
    const tl_edge *e = edge_of(&g, node_at(&g, TL_NODE_WORK, from), node_at(&g, TL_NODE_WORK, to));
    found = e != NULL ? *e : (tl_edge){ 0 };
    tl_rank_graph_free(&g);
    return e != NULL ? &found : NULL;
}

static void what_starts_late_waited_for_what_ended_right_before(void)
{
    const tl_edge *e = rest_edge("host:      ab..........",
                                 "compute 7: .AAAAA......",
                                 "compute 9: ......BBBB..", 1, 6, 10);
    CU_ASSERT_PTR_NOT_NULL_FATAL(e);
    CU_ASSERT_EQUAL(e->vote, 0);
    CU_ASSERT_EQUAL(e->lag_ns, 0);
}

static void what_starts_on_time_waited_for_nobody(void)
{
    CU_ASSERT_PTR_NULL(rest_edge("host:      .....b......",
                                 "compute 7: .AAAA.......",
                                 "compute 9: .......BBBB.", 1, 5, 11));
}

/* Times are rounded: 2 us are not late, 3 are. */
static void what_starts_late_by_rounding_waited_for_nobody(void)
{
    CU_ASSERT_PTR_NULL(rest_edge("host:      ab..........",
                                 "compute 7: ..AAA.......",
                                 "compute 9: .....BBBB...", 1, 5, 9));
    CU_ASSERT_PTR_NOT_NULL(rest_edge("host:      ab..........",
                                     "compute 7: ..AAAA......",
                                     "compute 9: ......BBBB..", 1, 6, 10));
}

static void what_was_launched_later_is_not_waited_for(void)
{
    CU_ASSERT_PTR_NULL(rest_edge("host:      b..a.............",
                                 "compute 7: .....AAAA........",
                                 "compute 9: ..........BBBB...", 1, 9, 14));
}

static void what_ended_long_before_is_not_waited_for(void)
{
    CU_ASSERT_PTR_NOT_NULL(rest_edge("host:      ab..........",
                                     "compute 7: .AAA........",
                                     "compute 9: .....BBBB...", 19, 4 * 19, 9 * 19));
    CU_ASSERT_PTR_NULL(rest_edge("host:      ab..........",
                                 "compute 7: .AAA........",
                                 "compute 9: .....BBBB...", 21, 4 * 21, 9 * 21));
}

int main(void)
{
    static const unit_test tests[] = {
        TEST(a_recorded_wait_is_for_what_was_launched_before_the_record),
        TEST(a_recorded_wait_that_cannot_be_is_no_edge_and_says_so),
        TEST(a_clock_error_is_not_impossible),
        TEST(communication_waits_for_the_computing_launched_before_it),
        TEST(computing_by_custom_waits_for_nobody),
        TEST(where_waits_are_recorded_there_are_no_customs),
        TEST(a_custom_that_is_not_kept_is_false),
        TEST(what_starts_late_waited_for_what_ended_right_before),
        TEST(what_starts_on_time_waited_for_nobody),
        TEST(what_starts_late_by_rounding_waited_for_nobody),
        TEST(what_was_launched_later_is_not_waited_for),
        TEST(what_ended_long_before_is_not_waited_for),
    };
    return unit_main("what work waited for", tests, COUNT(tests));
}
