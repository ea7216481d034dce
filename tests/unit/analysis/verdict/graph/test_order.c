/* test_order.c - an order of nodes, cycles, and what nothing explains: on graphs of a rank made by hand. */
#include "graph_drawn.h"

enum { MOST = 8 };

typedef struct by_hand {
    served_ranks served;
    tl_job_graph graph;
    tl_open_rank open;
    uint32_t order[MOST];
} by_hand;

/* Nodes done at these times, each with work of its own; edges as from, to, lag; by `to`. */
static by_hand made(size_t n, const int64_t *done_ns, size_t nedges, const int (*edges)[3])
{
    static const int32_t rank = 0;
    tl_node nodes[MOST + 1];
    tl_edge list[MOST * 2];
    tl_pause pause = { 0 };
    for (size_t e = 0, v = 0; v <= n; v++) {
        nodes[v] = (tl_node){ .done_ns = v < n ? done_ns[v] : 0, .work_ns = 1, .kind = TL_NODE_WORK, .first_edge = (uint32_t)e };
        for (; e < nedges && edges[e][1] == (int)v; e++)
            list[e] = (tl_edge){ .from = (uint32_t)edges[e][0], .lag_ns = edges[e][2] };
    }
    tl_rank_graph graph = { .nnodes = n, .nedges = nedges, .nodes = nodes, .edges = list, .pauses = &pause };
    tl_rank_graphs graphs = { .of = { .v = &graph, .n = 1 } };
    const tl_job_graph_input in = { .graphs = &graphs, .ranks = &rank, .nranks = 1, .marked = &rank, .nmarked = 1 };
    by_hand h = { .order = { 0 } };
    tl_baseline b;
    serve_ranks(&graphs, &rank, &h.served);
    tl_job_graph_make(&in, &h.served.asker, &h.graph);
    tl_rank_open(&served_rank(&h.served.asker, 0)->final, &h.open);
    tl_open_order(&h.open, h.order);
    for (size_t v = 0; v < n; v++)
        CU_ASSERT_EQUAL(h.open.nodes[v].done_ns, done_ns[v]);
    tl_baseline_make(&h.graph, &h.served.asker, &rank, NULL, 0, &b);
    expect_exact(&b);
    tl_baseline_free(&b);
    return h;
}

static void drop(by_hand *h)
{
    tl_open_free(&h->open);
    tl_job_graph_free(&h->graph);
    served_ranks_free(&h->served);
}

static void each_comes_after_all_that_it_waits_for(void)
{
    by_hand h = made(4, (const int64_t[]){ 40, 10, 20, 30 }, 4, (const int[][3]){ { 3, 0, 2 }, { 1, 2, 0 }, { 1, 3, 0 }, { 2, 3, 0 } });
    const uint32_t expected[] = { 1, 2, 3, 0 };
    for (size_t i = 0; i < 4; i++)
        CU_ASSERT_EQUAL(h.order[i], expected[i]);
    CU_ASSERT_EQUAL(h.open.rest_ns[0], 40 - (30 + 2) - 1);
    CU_ASSERT_EQUAL(h.graph.ncycled, 0);
    drop(&h);
}

static void who_waits_for_nothing_is_where_it_was(void)
{
    by_hand h = made(1, (const int64_t[]){ 17 }, 0, NULL);
    CU_ASSERT_EQUAL(h.open.rest_ns[0], 17);
    CU_ASSERT_EQUAL(h.open.nodes[0].work_ns, 0);
    CU_ASSERT_EQUAL(h.graph.ranks[0].start_ns, 17);
    drop(&h);
}

static void of_a_cycle_the_edge_back_in_time_goes(void)
{
    by_hand h = made(4, (const int64_t[]){ 5, 10, 20, 30 }, 5,
                     (const int[][3]){ { 0, 1, 0 }, { 3, 1, -25 }, { 1, 2, 0 }, { 2, 3, 0 }, { 0, 3, 0 } });
    const tl_node *nodes = h.open.nodes;
    CU_ASSERT_EQUAL(h.graph.ncycled, 1);
    CU_ASSERT_EQUAL(nodes[4].first_edge, 4);
    CU_ASSERT_EQUAL(nodes[2].first_edge - nodes[1].first_edge, 1);
    CU_ASSERT_EQUAL(h.open.edges[nodes[1].first_edge].from, 0);
    drop(&h);
}

static void of_a_cycle_at_one_time_one_edge_goes(void)
{
    by_hand h = made(2, (const int64_t[]){ 7, 7 }, 2, (const int[][3]){ { 1, 0, 0 }, { 0, 1, 0 } });
    CU_ASSERT_EQUAL(h.graph.ncycled, 1);
    CU_ASSERT_EQUAL(h.order[0], 0);
    drop(&h);
}

static void an_edge_back_in_time_without_a_cycle_stays(void)
{
    by_hand h = made(2, (const int64_t[]){ 5, 9 }, 1, (const int[][3]){ { 1, 0, -5 } });
    CU_ASSERT_EQUAL(h.graph.ncycled, 0);
    CU_ASSERT_EQUAL(h.open.nodes[2].first_edge, 1);
    drop(&h);
}

int main(void)
{
    static const unit_test tests[] = {
        TEST(each_comes_after_all_that_it_waits_for),
        TEST(who_waits_for_nothing_is_where_it_was),
        TEST(of_a_cycle_the_edge_back_in_time_goes),
        TEST(of_a_cycle_at_one_time_one_edge_goes),
        TEST(an_edge_back_in_time_without_a_cycle_stays),
    };
    return unit_main("the order of a graph", tests, COUNT(tests));
}
