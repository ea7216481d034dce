/* test_rank_server.c - ranks whose graphs this proc keeps are found by their number. */
#include "graph_drawn.h"

/* Those of 7, 2 and 4. */
static void ranks_are_found_in_whatever_order_they_were_read(void)
{
    static const int32_t ranks[] = { 7, 2, 4 }, others[] = { -1, 0, 3, 5, 8 };
    tl_rank_graphs graphs = { .of = { .v = room_for(3, sizeof *graphs.of.v), .n = 3 } };
    tl_rank_server server;
    for (size_t i = 0; i < 3; i++)
        graphs.of.v[i] =
            (tl_rank_graph){ .rank = ranks[i], .nodes = room_for(1, sizeof *graphs.of.v[i].nodes), .nnodes = i + 1 };
    tl_rank_server_take(&graphs, &server);
    CU_ASSERT(graphs.of.n == 0 && graphs.of.v == NULL);
    CU_ASSERT_EQUAL_FATAL(server.n, 3);
    for (size_t i = 0; i < 3; i++) {
        size_t at = tl_rank_server_index(&server, ranks[i]);
        CU_ASSERT_FATAL(at < 3);
        CU_ASSERT(server.ranks[at].rank == ranks[i] && server.ranks[at].final.graph.nnodes == i + 1);
    }
    for (size_t i = 0; i < COUNT(others); i++)
        CU_ASSERT_EQUAL(tl_rank_server_index(&server, others[i]), 3);
    tl_rank_server_free(&server);
}

int main(void)
{
    static const unit_test tests[] = {
        TEST(ranks_are_found_in_whatever_order_they_were_read),
    };
    return unit_main("ranks that are held", tests, COUNT(tests));
}
