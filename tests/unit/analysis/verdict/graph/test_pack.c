/* test_pack.c - the graph of a rank as bytes, and back. */
#include "graph_drawn.h"
#include <string.h>

static drawing *many_things(void)
{
    return stretched(draw("steps:                     1111111111112222222222222222222222222222",
                          "launch 1 cudaLaunchKernel: a.r......b.......r..c...................",
                          "launch 2 cudaMemcpy:       ....mmmm................................",
                          "call 1 cudaStreamSynchronize: .........====.........................",
                          "compute 7:                 .AAAA.....BBBB.......CC.................",
                          "memcpy 8 Memcpy HtoD:      .....MM.................................",
                          "comm 9:                    .....RRRR..........RRRR.................", NULL), 100);
}

static bool same_node(const tl_node *a, const tl_node *b)
{
    return a->done_ns == b->done_ns && a->work_ns == b->work_ns && a->key == b->key && a->first_edge == b->first_edge &&
           a->segment == b->segment && a->step == b->step && a->kind == b->kind && a->activity == b->activity;
}

static bool same_edge(const tl_edge *a, const tl_edge *b)
{
    return a->lag_ns == b->lag_ns && a->vote == b->vote && a->from == b->from;
}

/* Packs the graph, which is freed, and looks whether it comes back. */
static void comes_back(tl_rank_graph *g, size_t most_bytes)
{
    tl_rank_graph was = *g;
    tl_node *nodes = calloc(2 * (g->nnodes + 1), sizeof *nodes);
    tl_edge *edges = calloc(2 * (g->nedges + 1), sizeof *edges);
    if (nodes == NULL || edges == NULL)
        abort();
    memcpy(nodes, g->nodes, g->nnodes * sizeof *nodes);
    memcpy(edges, g->edges, g->nedges * sizeof *edges);
    tl_rank_graph_pack(g);
    CU_ASSERT_PTR_NULL(g->nodes);
    CU_ASSERT_PTR_NULL(g->edges);
    CU_ASSERT(g->nbytes <= most_bytes);
    CU_ASSERT_EQUAL(g->nnodes, was.nnodes);
    tl_rank_graph_unpack(g, nodes + g->nnodes + 1, edges + g->nedges + 1);
    for (size_t v = 0; v < g->nnodes; v++)
        CU_ASSERT(same_node(&nodes[v], &nodes[g->nnodes + 1 + v]));
    for (size_t e = 0; e < g->nedges; e++)
        CU_ASSERT(same_edge(&edges[e], &edges[g->nedges + 1 + e]));
    CU_ASSERT_EQUAL(nodes[2 * g->nnodes + 1].first_edge, g->nedges);
    free(nodes);
    free(edges);
    tl_rank_graph_free(g);
}

static void a_graph_comes_back_from_fewer_bytes(void)
{
    tl_rank_graph g = drawn_graph(many_things());
    CU_ASSERT(g.nnodes > 12);
    comes_back(&g, g.nnodes * sizeof *g.nodes / 2);
}

static void a_graph_without_nodes_is_no_bytes(void)
{
    tl_rank_graph g = drawn_graph(draw("steps:     1111", NULL));
    comes_back(&g, 0);
}

/* Of numbers like those of no trace, too. */
static void whatever_its_numbers_are(void)
{
    enum { N = 20 };
    tl_rank_graph g = { .nnodes = N, .nedges = N * (N - 1) / 2, .nodes = calloc(N + 1, sizeof *g.nodes),
                        .edges = calloc(N * N, sizeof *g.edges) };
    if (g.nodes == NULL || g.edges == NULL)
        abort();
    for (uint32_t v = 0, e = 0; v < N; v++) {
        g.nodes[v] = (tl_node){ .done_ns = v % 2 ? INT64_MIN / 4 : INT64_MAX / 4, .work_ns = v % 3 ? INT64_MAX / 4 : 0,
                                .key = v % 5, .first_edge = e, .segment = v % 4 ? UINT32_MAX : v,
                                .step = v % 3 ? TL_STEP_AFTER : -1, .kind = (uint8_t)(v % (TL_NODE_END + 1)),
                                .activity = (uint8_t)(v % TL_NACTIVITIES) };
        for (uint32_t from = 0; from < v; from++)
            g.edges[e++] = (tl_edge){ .lag_ns = from % 2 ? INT64_MIN / 2 : INT64_MAX, .vote = from % 3 ? 0 : UINT32_MAX,
                                      .from = (N - 1 + from * 7) % N };
    }
    g.nodes[N].first_edge = (uint32_t)g.nedges;
    comes_back(&g, SIZE_MAX);
}

/* What is too large is packed when another comes. */
static void of_several_the_large_are_packed(void)
{
    tl_rank_graphs all = { 0 };
    for (size_t i = 0; i < 4; i++) {
        tl_rank_graphs_room(&all);
        tl_rank_graph *g = &all.of.v[all.of.n++];
        *g = drawn_graph(many_things());
        if (i == 1) { /* one with as many edges as are too large: packing looks at those that its nodes have */
            g->nedges = TL_GRAPHS_PLAIN_BYTES / sizeof *g->edges;
            CU_ASSERT(tl_rank_graph_plain_bytes(g) > TL_GRAPHS_PLAIN_BYTES);
        }
    }
    CU_ASSERT_PTR_NOT_NULL(all.of.v[0].nodes);
    CU_ASSERT_PTR_NULL(all.of.v[1].nodes);
    CU_ASSERT_EQUAL(tl_rank_graph_plain_bytes(&all.of.v[1]), 0);
    CU_ASSERT_PTR_NOT_NULL(all.of.v[2].nodes);
    CU_ASSERT_PTR_NOT_NULL(all.of.v[3].nodes);
    tl_rank_graphs_free(&all);
}

static void same_rank(const tl_open_rank *a, const tl_open_rank *b)
{
    CU_ASSERT_EQUAL_FATAL(a->n, b->n);
    for (size_t v = 0; v <= a->n; v++)
        CU_ASSERT(same_node(&a->nodes[v], &b->nodes[v]));
    for (size_t e = 0; e < a->nodes[a->n].first_edge; e++)
        CU_ASSERT(same_edge(&a->edges[e], &b->edges[e]));
}

/* What is joined is the same. */
static void packed_graphs_are_joined_likewise(void)
{
    graph_job *plain = graph_job_of(many_things(), many_things(), NULL), *packed = graph_job_unmade(many_things(), many_things(), NULL);
    for (size_t r = 0; r < packed->nranks; r++)
        tl_rank_graph_pack(&packed->graphs.of.v[r]);
    graph_job_make(packed);
    CU_ASSERT(plain->graph.nmeetings > 0);
    CU_ASSERT_EQUAL_FATAL(packed->graph.nmeetings, plain->graph.nmeetings);
    for (size_t r = 0; r < plain->nranks; r++)
        same_rank(job_open(plain, r), job_open(packed, r));
    for (size_t m = 0; m <= plain->graph.nmeetings; m++) {
        const tl_meeting *a = &plain->graph.meetings[m], *b = &packed->graph.meetings[m];
        CU_ASSERT(a->done_ns == b->done_ns && a->work_ns == b->work_ns && a->collective == b->collective);
        CU_ASSERT(a->first_edge == b->first_edge && a->step == b->step && a->kind == b->kind);
    }
    for (size_t e = 0; e < plain->graph.meetings[plain->graph.nmeetings].first_edge; e++) {
        const tl_meeting_edge *a = &plain->graph.edges[e], *b = &packed->graph.edges[e];
        CU_ASSERT(a->lag_ns == b->lag_ns && a->rank == b->rank && a->of == b->of);
    }
    graph_job_free(plain);
    graph_job_free(packed);
}

int main(void)
{
    static const unit_test tests[] = {
        TEST(a_graph_comes_back_from_fewer_bytes),
        TEST(a_graph_without_nodes_is_no_bytes),
        TEST(whatever_its_numbers_are),
        TEST(of_several_the_large_are_packed),
        TEST(packed_graphs_are_joined_likewise),
    };
    return unit_main("packed graphs", tests, COUNT(tests));
}
