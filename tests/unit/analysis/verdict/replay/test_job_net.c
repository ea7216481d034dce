/* test_job_net.c - pieces of ranks and their meetings as one net, in order, without cycles. */
#include "graph_drawn.h"
#include "hand_graph.h"

static int64_t two_hosts(size_t rank, size_t step)
{
    return rank == 0 ? 10 : 20 + 0 * (int64_t)step;
}

static int64_t two_devices(size_t rank, size_t step)
{
    return rank == 0 ? 100 : 50 + 0 * (int64_t)step;
}

/* Each is there once, and what waits for what is after it. */
static void expect_order(const tl_net *net)
{
    size_t *member = calloc(net->n + 1, sizeof *member);
    if (member == NULL)
        abort();
    for (size_t i = 0; i < net->n; i++)
        member[net->order[i]] += 1 + i;
    for (uint32_t v = 0; v < net->n; v++) {
        CU_ASSERT_FATAL(member[v] > 0 && member[v] <= net->n);
        CU_ASSERT_EQUAL(net->order[member[v] - 1], v);
        for (uint32_t e = net->first_edge[v]; e < net->first_edge[v + 1]; e++)
            CU_ASSERT(member[net->from[e]] < member[v]);
    }
    free(member);
}

static void two_pieces_and_a_meeting_are_a_net(void)
{
    hand_job *h = hand_new(2, 1, two_hosts, two_devices);
    hand_baseline(h);
    tl_changes *ranks = ranks_open(&h->baseline);
    assembled a = assemble(&h->baseline, ranks, NULL);
    const tl_net *net = &a.job_net.net;
    uint32_t meeting = a.job_net.meetings;
    CU_ASSERT_EQUAL_FATAL(net->n, 1 + 2 * 2 + 1); /* the origin, ARRIVAL and END of each, the meeting */
    CU_ASSERT_EQUAL_FATAL(net->first_edge[meeting + 1] - net->first_edge[meeting], 2);
    CU_ASSERT_EQUAL(net->own_ns[meeting], HAND_TRANSFER_NS);
    expect_order(net);
    for (uint32_t r = 0; r < 2; r++) {
        const uint32_t *number_of = a.number_of[r];
        CU_ASSERT_EQUAL(net->from[net->first_edge[meeting] + r], number_of[2]);
        CU_ASSERT_EQUAL(net->first_edge[number_of[3] + 1] - net->first_edge[number_of[3]], 1);
        CU_ASSERT_EQUAL(net->from[net->first_edge[number_of[3]]], meeting);
        CU_ASSERT_EQUAL(a.job_net.done_ns[number_of[2]], r == 0 ? 110 : 70);
    }
    CU_ASSERT_EQUAL(assembled_end(&a), 110 + HAND_TRANSFER_NS);
    CU_ASSERT_EQUAL(a.done_ns[meeting], 110 + HAND_TRANSFER_NS);
    assembled_free(&a);
    ranks[0].less_ns[1] = 90; /* its device: the other one is last then */
    CU_ASSERT_EQUAL(ranks_end(&h->baseline, ranks), 70 + HAND_TRANSFER_NS);
    ranks[1].less_ns[1] = 45;
    CU_ASSERT_EQUAL(ranks_end(&h->baseline, ranks), 25 + HAND_TRANSFER_NS);
    ranks_close(&h->baseline, ranks);
    hand_free(h);
}

/* Nobody meets: of both ranks nothing stays but when they end. */
static void what_is_folded_into_origins_ends_when_it_did(void)
{
    graph_job *j = graph_job_of(draw("host:      a.........",
                                     "compute 7: ..AAAA....", NULL), draw("host:      a.........",
                                                                          "compute 7: ....AAAAA.", NULL),
                                draw("steps:     1111", NULL), NULL);
    graph_job_baseline(j);
    tl_changes *ranks = ranks_open(&j->baseline);
    assembled a = assemble(&j->baseline, ranks, NULL);
    CU_ASSERT(a.job_net.net.n < 6);
    CU_ASSERT_EQUAL(assembled_end(&a), 9 * US);
    assembled_free(&a);
    ranks_close(&j->baseline, ranks);
    graph_job_free(j);
}

/* ----------------------------------------------------------------------------------------------------------- cycles */

/* What a rank does: comes at, is done at, in one collective and then in another. */
typedef struct twice {
    int64_t arrived_ns[2], done_ns[2];
    int64_t lag_ns; /* from the first END to the second ARRIVAL */
} twice;

static tl_rank_graph graph_of(int32_t rank, const twice *t, bool waits)
{
    tl_rank_graph g = { .rank = rank, .nnodes = 4, .nedges = 3, .ncomms = 2,
                        .nodes = calloc(8, sizeof *g.nodes), .edges = calloc(7, sizeof *g.edges),
                        .comms = calloc(2, sizeof *g.comms), .pauses = calloc(1, sizeof *g.pauses) };
    if (g.nodes == NULL || g.edges == NULL || g.comms == NULL || g.pauses == NULL)
        abort();
    for (uint32_t c = 0; c < 2; c++) {
        g.comms[c] = (tl_node_comm){ .start_ns = t->arrived_ns[c], .uid = c, .arrival = 2 * c, .turn = c };
        g.nodes[2 * c] =
            (tl_node){ .done_ns = t->arrived_ns[c], .kind = TL_NODE_ARRIVAL, .segment = c, .first_edge = c };
        g.nodes[2 * c + 1] = (tl_node){ .done_ns = t->done_ns[c], .kind = TL_NODE_END, .segment = c, .first_edge = 2 * c };
    }
    g.edges[0] = (tl_edge){ .from = 0 };
    g.edges[1] = (tl_edge){ .from = 1, .lag_ns = t->lag_ns };
    g.edges[2] = (tl_edge){ .from = 2 };
    g.nodes[2].first_edge = 1;
    g.nodes[3].first_edge = 2;
    g.nodes[4].first_edge = 3;
    if (waits) {
        g.nodes[4] = (tl_node){ .done_ns = 40, .kind = TL_NODE_WORK, .segment = 2, .first_edge = 3 };
        g.nodes[5] = (tl_node){ .done_ns = 30, .kind = TL_NODE_WAIT_BEGIN, .segment = 2, .first_edge = 4 };
        g.nodes[6] = (tl_node){ .done_ns = 39, .kind = TL_NODE_WAIT_END, .segment = 2, .first_edge = 5 };
        g.nodes[7].first_edge = 7;
        g.edges[3] = g.edges[4] = (tl_edge){ .from = 3 };
        g.edges[5] = (tl_edge){ .from = 5 };
        g.edges[6] = (tl_edge){ .from = 4, .lag_ns = -1 };
        g.nnodes = g.nedges = 7;
    }
    return g;
}

typedef struct crossed_job {
    tl_rank_graph graphs[2];
    served_ranks served;
    tl_job_graph graph;
    tl_baseline baseline;
} crossed_job;

/* Rank 0 is in A and then in B; rank 1 in B and then, by its graph, in A, though that was before. */
static void cross_with(crossed_job *j, bool waits)
{
    static const twice ranks[2] = { { .arrived_ns = { 0, 12 }, .done_ns = { 10, 20 } },
                                    { .arrived_ns = { 14, 5 }, .done_ns = { 20, 10 }, .lag_ns = -15 } };
    static const int32_t numbers[2] = { 0, 1 };
    tl_late_row rows[4];
    *j = (crossed_job){ .graphs = { graph_of(0, &ranks[0], waits), graph_of(1, &ranks[1], false) } };
    for (uint32_t i = 0; i < 4; i++) {
        uint32_t rank = i % 2, collective = i / 2, uid = rank == 0 ? collective : 1 - collective;
        rows[i] = (tl_late_row){ .collective = collective,
                                 .rank = (int32_t)rank,
                                 .uid = uid,
                                 .start_ns = ranks[rank].arrived_ns[uid],
                                 .end_ns = ranks[rank].done_ns[uid],
                                 .peer = -1,
                                 .kind = TL_ALL_REDUCE,
                                 .fits = 1 };
    }
    const tl_rank_graphs graphs = { .of = { .v = j->graphs, .n = 2 } };
    const tl_job_graph_input in = {
        .graphs = &graphs, .ranks = numbers, .nranks = 2, .marked = numbers, .nmarked = 2, .rows = rows, .nrows = 4
    };
    serve_ranks(&graphs, numbers, &j->served);
    tl_job_graph_make(&in, &j->served.asker, &j->graph);
    tl_baseline_make(&j->graph, &j->served.asker, numbers, rows, 4, &j->baseline);
}

static void cross(crossed_job *j)
{
    cross_with(j, false);
}

static void uncross(crossed_job *j)
{
    tl_baseline_free(&j->baseline);
    tl_job_graph_free(&j->graph);
    for (size_t r = 0; r < 2; r++)
        tl_rank_graph_free(&j->graphs[r]);
    served_ranks_free(&j->served);
}

/* What is ever waited for: an edge that is left out stays in its place. */
static size_t edges_left(const tl_net *net)
{
    size_t n = 0;
    for (size_t e = 0; e < net->nedges; e++)
        n += net->lag_ns[e] > INT64_MIN / 4;
    return n;
}

static void of_a_cycle_over_ranks_the_edge_back_in_time_goes(void)
{
    crossed_job j;
    cross(&j);
    CU_ASSERT_EQUAL_FATAL(j.graph.nmeetings, 2);
    CU_ASSERT_EQUAL(j.graph.ncycled, 0); /* there is none in a rank */
    tl_changes *ranks = ranks_open(&j.baseline);
    CU_ASSERT_EQUAL(ranks[1].open.nodes[4].first_edge, 3);
    assembled a = assemble(&j.baseline, ranks, NULL);
    const tl_net *net = &a.job_net.net;
    uint32_t arrival = ((const uint32_t *)a.number_of[1])[2];
    CU_ASSERT_EQUAL_FATAL(net->n, 1 + 2 * 4 + 2);
    CU_ASSERT_EQUAL(net->from[net->first_edge[arrival]], 0); /* it waits for nothing else */
    CU_ASSERT_EQUAL(net->own_ns[arrival], 5);
    expect_order(net);
    CU_ASSERT_EQUAL(assembled_end(&a), 20);
    assembled_free(&a);
    ranks_close(&j.baseline, ranks);
    expect_exact(&j.baseline); /* and all are done when they were */
    uncross(&j);
}

static void of_a_cycle_nothing_but_the_edge_back_in_time_goes(void)
{
    crossed_job j;
    cross(&j);
    tl_changes *ranks = ranks_open(&j.baseline);
    assembled a = assemble(&j.baseline, ranks, NULL);
    CU_ASSERT_EQUAL(a.job_net.net.nedges, 2 + 2 * 2 + 2 + 2 * 2); /* first ARRIVALs, ENDs, second ARRIVALs, meetings */
    CU_ASSERT_EQUAL(edges_left(&a.job_net.net), a.job_net.net.nedges); /* but one is the origin's */
    assembled_free(&a);
    ranks_close(&j.baseline, ranks);
    uncross(&j);
}

/* The path is followed once round, and adds up to the job's time all the same. */
static void a_path_that_comes_to_a_cycle_ends_there(void)
{
    crossed_job j;
    tl_path path;
    int64_t sum = 0, start_ns = 0;
    cross(&j);
    tl_path_of(&j.graph, j.baseline.asker, start_ns, TL_STEPS_OF_MARKS, &path);
    for (int part = 0; part < TL_NACTIVITIES; part++)
        sum += path.sum.ns[part];
    CU_ASSERT(path.before_ns > 0 && path.unexplained_ns >= path.before_ns);
    CU_ASSERT_EQUAL(sum + path.before_ns, 20 - start_ns);
    tl_path_end(&path);
    uncross(&j);
}

/* After the cycle rank 0 waits for work that is done a nanosecond later than the wait, as far as its clock tells. */
static void a_wait_behind_a_cycle_has_both_its_edges(void)
{
    crossed_job j;
    tl_rank_graph *g = &j.graphs[0];
    cross_with(&j, true);
    tl_changes *ranks = ranks_open(&j.baseline);
    void **marks = by_node(&j.baseline, 1);
    CU_ASSERT_EQUAL_FATAL(g->nnodes, 7);
    ((uint8_t *)marks[0])[4] = ((uint8_t *)marks[0])[5] = TL_FOLD_KEEP;
    ((uint8_t *)marks[0])[6] = TL_FOLD_EDGES;
    assembled a = assemble(&j.baseline, ranks, marks);
    uint32_t end = ((const uint32_t *)a.number_of[0])[6];
    CU_ASSERT_EQUAL(a.job_net.net.first_edge[end + 1] - a.job_net.net.first_edge[end], 2);
    assembled_free(&a);
    by_node_free(&j.baseline, marks);
    ranks_close(&j.baseline, ranks);
    uncross(&j);
}

int main(void)
{
    static const unit_test tests[] = {
        TEST(two_pieces_and_a_meeting_are_a_net),
        TEST(what_is_folded_into_origins_ends_when_it_did),
        TEST(of_a_cycle_over_ranks_the_edge_back_in_time_goes),
        TEST(of_a_cycle_nothing_but_the_edge_back_in_time_goes),
        TEST(a_path_that_comes_to_a_cycle_ends_there),
        TEST(a_wait_behind_a_cycle_has_both_its_edges),
    };
    return unit_main("pieces as one net", tests, COUNT(tests));
}
