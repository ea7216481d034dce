/* test_fold.c - a folded graph is done when the whole one is, whatever is changed of what stays. */
#include "graph_drawn.h"
#include "hand_graph.h"
#include "tlmpi/base/mem.h"

static uint32_t drawn_number(uint64_t *state)
{
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)(*state >> 33);
}

static bool has_released_wait(const tl_graph *g, uint32_t v)
{
    return g->nodes[v].kind == TL_NODE_WAIT_END && g->nodes[v + 1].first_edge - g->nodes[v].first_edge == 2;
}

/* One in `of` nodes takes something else, and some waits are gone. */
static void change(const tl_graph *g, uint32_t of, uint64_t *state, uint8_t *marks, tl_changes *changes)
{
    for (uint32_t v = 0; v < g->nnodes; v++)
        if (drawn_number(state) % of == 0) {
            marks[v] = marks[v] > TL_FOLD_WORK ? marks[v] : TL_FOLD_WORK;
            changes->work_ns[v] += (int64_t)(drawn_number(state) % (20 * US)) - 15 * US;
        }
    for (uint32_t v = 0; v < g->nnodes; v++) {
        if (!has_released_wait(g, v) || drawn_number(state) % 2 != 0)
            continue;
        marks[v] = TL_FOLD_EDGES;
        changes->gone[v] = true;
        for (uint32_t e = g->nodes[v].first_edge; e < g->nodes[v + 1].first_edge; e++)
            marks[g->from[e]] = marks[g->from[e]] > TL_FOLD_KEEP ? marks[g->from[e]] : TL_FOLD_KEEP;
    }
}

static void change_fold(const tl_graph *g, const tl_changes *changes, tl_fold *fold)
{
    for (uint32_t v = 0; v < g->nnodes; v++) {
        uint32_t number = fold->number_of[v];
        if (number == TL_NONE) {
            CU_ASSERT(changes->work_ns[v] == g->nodes[v].work_ns && !changes->gone[v]);
            continue;
        }
        fold->own_ns[number] += changes->work_ns[v] - g->nodes[v].work_ns;
        if (changes->gone[v])
            fold->lag_ns[fold->first_edge[number] + 1] = INT64_MIN / 2;
    }
}

/* Whether both are done at the same times; how many nodes stay. */
static size_t same_ends(const tl_baseline *b, uint32_t of, uint64_t seed)
{
    const tl_graph *g = b->graph;
    int64_t *done_ns = calloc(g->nnodes + 1, sizeof *done_ns), *ends = calloc(2 * (b->nsteps + 1), sizeof *ends);
    uint8_t *marks = calloc(g->nnodes + 1, sizeof *marks);
    tl_changes changes = { 0 };
    tl_fold fold = { 0 };
    if (done_ns == NULL || ends == NULL || marks == NULL || !tl_changes_new(g, &changes) || changes.work_ns == NULL)
        abort();
    if (of > 0)
        change(g, of, &seed, marks, &changes);
    CU_ASSERT_FATAL(tl_fold_make(b, marks, &fold));
    CU_ASSERT_EQUAL(tl_fold_replay(&fold, ends), tl_replay(g, NULL, done_ns)); /* unchanged */
    change_fold(g, &changes, &fold);
    CU_ASSERT_EQUAL(tl_fold_replay(&fold, ends), tl_replay(g, &changes, done_ns));
    tl_replay_step_ends(b, done_ns, ends + b->nsteps);
    for (size_t s = 0; s < b->nsteps; s++)
        CU_ASSERT_EQUAL(ends[s], ends[b->nsteps + s]);
    size_t n = fold.nnodes;
    tl_fold_free(&fold);
    tl_changes_free(&changes);
    free(done_ns);
    free(ends);
    free(marks);
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

static void whatever_changes_it_is_done_at_the_same_times(void)
{
    hand_job *h = hand_new(8, 12, some_host, some_device);
    hand_baseline(h);
    for (uint64_t seed = 1; seed < 40; seed++)
        same_ends(&h->baseline, 1 + (uint32_t)seed % 30, seed);
    hand_free(h);
}

/* Two threads, two streams, a collective, and waits for the device. */
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
    return d;
}

static void waits_that_are_gone_are_gone_in_the_fold(void)
{
    graph_job *j = graph_job_of(busy(0), busy(2), busy(1), NULL);
    tl_error err;
    size_t nwaits = 0;
    CU_ASSERT_EQUAL_FATAL(tl_baseline_make(&j->graph, j->ranks, j->rows, j->nrows, &j->baseline, &err), TL_OK);
    for (uint32_t v = 0; v < j->graph.nnodes; v++)
        nwaits += has_released_wait(&j->graph, v);
    CU_ASSERT(nwaits >= 3);
    CU_ASSERT(same_ends(&j->baseline, 0, 1) < j->graph.nnodes / 2);
    for (uint64_t seed = 1; seed < 40; seed++)
        same_ends(&j->baseline, 1 + (uint32_t)seed % 9, seed);
    graph_job_free(j);
}

static void it_says_when_memory_is_out(void)
{
    hand_job *h = hand_new(4, 6, some_host, some_device);
    uint8_t marks[4 * 6 * HAND_NODES + 6 + 1] = { 0 };
    bool ok = false;
    size_t failures = 0;
    hand_baseline(h);
    marks[5] = TL_FOLD_WORK;
    for (size_t k = 1; !ok && k < 200; k++) {
        tl_fold fold = { 0 };
        tl_mem_fail_after(k);
        ok = tl_fold_make(&h->baseline, marks, &fold);
        tl_mem_fail_after(0);
        failures += !ok;
        tl_fold_free(&fold);
    }
    CU_ASSERT(ok);
    CU_ASSERT(failures > 10);
    hand_free(h);
}

int main(void)
{
    static const unit_test tests[] = {
        TEST(what_does_not_change_is_hardly_a_node),
        TEST(whatever_changes_it_is_done_at_the_same_times),
        TEST(waits_that_are_gone_are_gone_in_the_fold),
        TEST(it_says_when_memory_is_out),
    };
    return unit_main("folded graphs", tests, COUNT(tests));
}
