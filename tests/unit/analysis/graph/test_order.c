/* test_order.c - an order of nodes, cycles, and what nothing explains: on graphs made by hand. */
#include "src/analysis/graph/join.h"
#include "graph_drawn.h"

enum { MOST = 8 };

typedef struct by_hand {
    tl_node nodes[MOST + 1];
    uint32_t from[MOST * 2], first_node[2];
    int64_t lag_ns[MOST * 2];
    tl_graph graph;
} by_hand;

/* Nodes done at these times, each with work of its own; edges as from, to, lag; by `to`. */
static tl_graph *made(by_hand *h, size_t n, const int64_t *done_ns, size_t nedges, const int (*edges)[3])
{
    *h = (by_hand){ .first_node = { 0, (uint32_t)n } };
    for (size_t e = 0, v = 0; v <= n; v++) {
        h->nodes[v] = (tl_node){ .done_ns = v < n ? done_ns[v] : 0, .work_ns = 1, .kind = TL_NODE_WORK, .first_edge = (uint32_t)e };
        for (; e < nedges && edges[e][1] == (int)v; e++) {
            h->from[e] = (uint32_t)edges[e][0];
            h->lag_ns[e] = edges[e][2];
        }
    }
    h->graph = (tl_graph){ .nranks = 1, .nnodes = n, .nedges = nedges, .first_node = h->first_node, .nodes = h->nodes,
                           .from = h->from, .lag_ns = h->lag_ns };
    CU_ASSERT_TRUE_FATAL(tl_graph_order(&h->graph));
    int64_t again[MOST];
    tl_replay(&h->graph, NULL, again);
    for (size_t v = 0; v < n; v++)
        CU_ASSERT_EQUAL(again[v], done_ns[v]);
    return &h->graph;
}

static void drop(by_hand *h)
{
    free(h->graph.order);
    free(h->graph.rest_ns);
}

static void each_comes_after_all_that_it_waits_for(void)
{
    by_hand h;
    const tl_graph *g = made(&h, 4, (const int64_t[]){ 40, 10, 20, 30 }, 4,
                             (const int[][3]){ { 3, 0, 2 }, { 1, 2, 0 }, { 1, 3, 0 }, { 2, 3, 0 } });
    const uint32_t expected[] = { 1, 2, 3, 0 };
    for (size_t i = 0; i < 4; i++)
        CU_ASSERT_EQUAL(g->order[i], expected[i]);
    CU_ASSERT_EQUAL(g->rest_ns[0], 40 - (30 + 2) - 1);
    CU_ASSERT_EQUAL(g->ncycled, 0);
    drop(&h);
}

static void who_waits_for_nothing_is_where_it_was(void)
{
    by_hand h;
    const tl_graph *g = made(&h, 1, (const int64_t[]){ 17 }, 0, NULL);
    CU_ASSERT_EQUAL(g->rest_ns[0], 17);
    CU_ASSERT_EQUAL(g->nodes[0].work_ns, 0);
    drop(&h);
}

static void of_a_cycle_the_edge_back_in_time_goes(void)
{
    by_hand h;
    const tl_graph *g = made(&h, 4, (const int64_t[]){ 5, 10, 20, 30 }, 5,
                             (const int[][3]){ { 0, 1, 0 }, { 3, 1, -25 }, { 1, 2, 0 }, { 2, 3, 0 }, { 0, 3, 0 } });
    CU_ASSERT_EQUAL(g->ncycled, 1);
    CU_ASSERT_EQUAL(g->nedges, 4);
    CU_ASSERT_EQUAL(g->nodes[2].first_edge - g->nodes[1].first_edge, 1);
    CU_ASSERT_EQUAL(g->from[g->nodes[1].first_edge], 0);
    drop(&h);
}

static void of_a_cycle_at_one_time_one_edge_goes(void)
{
    by_hand h;
    const tl_graph *g = made(&h, 2, (const int64_t[]){ 7, 7 }, 2, (const int[][3]){ { 1, 0, 0 }, { 0, 1, 0 } });
    CU_ASSERT_EQUAL(g->ncycled, 1);
    CU_ASSERT_EQUAL(g->order[0], 0);
    drop(&h);
}

static void an_edge_back_in_time_without_a_cycle_stays(void)
{
    by_hand h;
    const tl_graph *g = made(&h, 2, (const int64_t[]){ 5, 9 }, 1, (const int[][3]){ { 1, 0, -5 } });
    CU_ASSERT_EQUAL(g->ncycled, 0);
    CU_ASSERT_EQUAL(g->nedges, 1);
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
