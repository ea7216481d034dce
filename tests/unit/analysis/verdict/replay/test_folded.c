/* test_folded.c - the net of folded ranks is done when all nodes of the job are, one by one, whatever is changed. */
#include "graph_drawn.h"
#include "hand_graph.h"

static bool has_released_wait(const tl_open_rank *o, uint32_t v)
{
    return o->nodes[v].kind == TL_NODE_WAIT_END && o->nodes[v + 1].first_edge - o->nodes[v].first_edge == 2;
}

static void mark(uint8_t *marks, uint32_t v, tl_fold_mark mark)
{
    marks[v] = marks[v] < mark ? (uint8_t)mark : marks[v];
}

/* One in `of` nodes takes something else, and some waits are gone. */
static void change(tl_changes *c, unsigned of, uint64_t *state, uint8_t *marks)
{
    const tl_open_rank *o = &c->open;
    for (uint32_t v = 0; v < o->n; v++)
        if (unit_below(state, of) == 0) {
            mark(marks, v, TL_FOLD_WORK);
            c->less_ns[v] = 15 * US - unit_below(state, 20 * (unsigned)US);
        }
    for (uint32_t v = 0; v < o->n; v++) {
        if (!has_released_wait(o, v) || unit_below(state, 2) != 0)
            continue;
        mark(marks, v, TL_FOLD_EDGES);
        c->gone[v] = true;
        for (uint32_t e = o->nodes[v].first_edge; e < o->nodes[v + 1].first_edge; e++)
            mark(marks, o->edges[e].from, TL_FOLD_KEEP);
    }
}

/* The same changes of a net; numbers of whole nodes in it, NULL: it is the whole. */
static void change_net(const assembled *a, const tl_changes *ranks, const uint32_t *number_of, tl_net *net)
{
    for (size_t r = 0; r < a->b->graph->nranks; r++)
        for (uint32_t v = 0; v < ranks[r].open.n; v++) {
            uint32_t number = ((const uint32_t *)a->number_of[r])[v];
            number = number != TL_NONE && number_of != NULL ? number_of[number] : number;
            if (number == TL_NONE) {
                CU_ASSERT(ranks[r].less_ns[v] == 0 && !ranks[r].gone[v]);
                continue;
            }
            net->own_ns[number] -= ranks[r].less_ns[v];
            if (ranks[r].gone[v])
                net->lag_ns[net->first_edge[number] + 1] -= INT64_MAX / 2;
        }
}

/* The whole folded once more, as what its costs are counted by. */
static tl_net fold_of(const assembled *a, const tl_changes *ranks, void **marks, uint32_t *number_of)
{
    uint8_t *of_whole = calloc(a->job_net.net.n + 1, 1);
    tl_net fold;
    if (of_whole == NULL)
        abort();
    for (size_t r = 0; r < a->b->graph->nranks; r++)
        for (uint32_t v = 0; v < ranks[r].open.n; v++) {
            uint32_t number = ((const uint32_t *)a->number_of[r])[v];
            if (number != TL_NONE)
                mark(of_whole, number, (tl_fold_mark)((const uint8_t *)marks[r])[v]);
        }
    tl_net_fold(&a->job_net.net, of_whole, NULL, &fold, number_of);
    free(of_whole);
    return fold;
}

/* Whether a net is done at the same times as all nodes one by one. */
static void expect_ends(const tl_baseline *b, const tl_net *net, const tl_changes *ranks)
{
    int64_t *ends = calloc(2 * (b->nsteps + 1), sizeof *ends), *done_ns = calloc(net->n + 1, sizeof *done_ns);
    if (ends == NULL || done_ns == NULL)
        abort();
    CU_ASSERT_EQUAL(tl_net_replay(net, done_ns), replay_plainly(b, ranks, ends));
    tl_net_step_ends(net, done_ns, ends + b->nsteps);
    for (size_t s = 0; s < b->nsteps; s++)
        CU_ASSERT_EQUAL(ends[s], ends[b->nsteps + s]);
    free(ends);
    free(done_ns);
}

/* Whether all are done at the same times: pieces that were made of changed ranks, unchanged ones whose net is changed,
 * and that net folded.  How many nodes of the last stay. */
static size_t same_ends(const tl_baseline *b, unsigned of, uint64_t seed)
{
    tl_changes *unchanged = ranks_open(b), *changed = ranks_open(b);
    void **marks = by_node(b, 1);
    seed = seed * UINT64_C(0x9E3779B97F4A7C15) + 1;
    for (size_t r = 0; of > 0 && r < b->graph->nranks; r++)
        change(&changed[r], of, &seed, marks[r]);
    assembled a = assemble(b, unchanged, marks), made = assemble(b, changed, NULL);
    uint32_t *number_of = calloc(a.job_net.net.n + 1, sizeof *number_of);
    if (number_of == NULL)
        abort();
    tl_net fold = fold_of(&a, unchanged, marks, number_of);
    expect_ends(b, &a.job_net.net, unchanged);
    expect_ends(b, &fold, unchanged);
    expect_ends(b, &made.job_net.net, changed);
    change_net(&a, changed, NULL, &a.job_net.net);
    expect_ends(b, &a.job_net.net, changed);
    change_net(&a, changed, number_of, &fold);
    expect_ends(b, &fold, changed);
    size_t n = fold.n;
    tl_net_free(&fold);
    free(number_of);
    assembled_free(&a);
    assembled_free(&made);
    by_node_free(b, marks);
    ranks_close(b, unchanged);
    ranks_close(b, changed);
    return n;
}

static int64_t some_host(size_t rank, size_t step)
{
    return 5000 + (int64_t)(rank * 7919 + step * 104729) % 4000;
}

static int64_t some_device(size_t rank, size_t step)
{
    return 20000 + (int64_t)(rank * 15485863 + step * 32452843) % 9000;
}

static void what_does_not_change_is_hardly_a_node(void)
{
    hand_job *h = hand_new(8, 12, some_host, some_device);
    hand_baseline(h);
    CU_ASSERT(same_ends(&h->baseline, 0, 1) < 16); /* of 396: the meetings at most */
    hand_free(h);
}

/* Of a rank its ports, and the origin. */
static void a_piece_is_hardly_more_than_ports(void)
{
    hand_job *h = hand_new(8, 12, some_host, some_device);
    hand_baseline(h);
    tl_changes *ranks = ranks_open(&h->baseline);
    tl_folded piece;
    tl_folded_make(&ranks[3], NULL, &piece, NULL);
    CU_ASSERT_EQUAL(piece.net.n, 1 + 2 * 12);
    for (size_t p = 0; p < 12; p++) {
        CU_ASSERT_FATAL(piece.arrival_node[p] != TL_NONE && piece.end_node[p] != TL_NONE);
        CU_ASSERT_EQUAL(piece.done_ns[piece.arrival_node[p]], h->graph.ranks[3].ports[p].arrived_ns);
        CU_ASSERT_EQUAL(piece.done_ns[piece.end_node[p]], h->graph.meetings[p].done_ns);
        CU_ASSERT_EQUAL(piece.net.first_edge[piece.end_node[p]], piece.net.first_edge[piece.end_node[p] + 1]);
    }
    tl_folded_free(&piece);
    ranks_close(&h->baseline, ranks);
    hand_free(h);
}

static void whatever_changes_it_is_done_at_the_same_times(void)
{
    hand_job *h = hand_new(8, 12, some_host, some_device);
    hand_baseline(h);
    for (uint64_t seed = 1; seed < 40; seed++)
        same_ends(&h->baseline, 1 + (unsigned)seed % 30, seed);
    hand_free(h);
}

/* Two threads, two streams, a collective, and waits for the device; columns of 100 us. */
static drawing *busy(int late)
{
    drawing *d = draw("steps:                        111111111111111111222222222222222222222222",
                      "launch 1 cudaLaunchKernel:    a.r...b............c..r....d...........e..",
                      "launch 2 cudaLaunchKernel:    ...f.....g............h......i............",
                      "call 1 cudaDeviceSynchronize: ...........=======..............=====.....",
                      "compute 7:                    .AAAA..BBB..........CCCC....DDD.........EE",
                      "compute 8:                    ....FFF...GGGGG........HHH.....IIII.......",
                      "comm 9:                       .....RRRRRR.............RRRRRR............", NULL);
    for (size_t i = 0; i < d->view.nkernels; i++)
        if (d->kernels[i].kind == TL_COMM)
            d->kernels[i].start_ns += late * US;
    return stretched(d, 100);
}

static void waits_that_are_gone_are_gone_in_the_piece(void)
{
    graph_job *j = graph_job_of(busy(0), busy(2), busy(1), NULL);
    size_t nwaits = 0, nnodes = j->graph.nmeetings;
    graph_job_baseline(j);
    for (size_t r = 0; r < j->nranks; r++) {
        const tl_open_rank *o = job_open(j, r);
        nnodes += o->n;
        for (uint32_t v = 0; v < o->n; v++)
            nwaits += has_released_wait(o, v);
    }
    CU_ASSERT(nwaits >= 3);
    CU_ASSERT(same_ends(&j->baseline, 0, 1) < nnodes / 2);
    for (uint64_t seed = 1; seed < 40; seed++)
        same_ends(&j->baseline, 1 + (unsigned)seed % 9, seed);
    graph_job_free(j);
}

int main(void)
{
    static const unit_test tests[] = {
        TEST(what_does_not_change_is_hardly_a_node),
        TEST(a_piece_is_hardly_more_than_ports),
        TEST(whatever_changes_it_is_done_at_the_same_times),
        TEST(waits_that_are_gone_are_gone_in_the_piece),
    };
    return unit_main("pieces of ranks", tests, COUNT(tests));
}
