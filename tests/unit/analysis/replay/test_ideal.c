/* test_ideal.c - what the job would have taken with nobody slower than usual, with stages that compute alike, and without hosts. */
#include "hand_graph.h"
#include "tlmpi/analysis/replay.h"
#include "tlmpi/base/mem.h"
#include <stdlib.h>

enum { RANKS = 4, STEPS = 5, HOST_NS = 1000, DEVICE_NS = 20000, SLOW_NS = 8000, LATE_NS = 3000 };

/* Somebody else's device is slow in each step, and in step 2 a host is late as well. */
static int64_t host(size_t rank, size_t step)
{
    return HOST_NS + (rank == 0 && step == 2 ? LATE_NS : 0);
}

static int64_t device(size_t rank, size_t step)
{
    return DEVICE_NS + (rank == step % RANKS ? SLOW_NS : 0);
}

/* Every fourth rank has half as much again to compute in all steps. */
static int64_t heavy_device(size_t rank, size_t step)
{
    (void)step;
    return rank >= 2 ? 3 * DEVICE_NS : DEVICE_NS;
}

static int64_t same_host(size_t rank, size_t step)
{
    (void)rank;
    (void)step;
    return HOST_NS;
}

/* What a scenario gains. */
static int64_t gain_of(const hand_job *h, const tl_changes *changes)
{
    int64_t *done_ns = calloc(h->graph.nnodes + 1, sizeof *done_ns);
    CU_ASSERT_PTR_NOT_NULL_FATAL(done_ns);
    int64_t gain = tl_replay(&h->graph, NULL, done_ns) - tl_replay(&h->graph, changes, done_ns);
    free(done_ns);
    return gain;
}

static int64_t gain_of_parts(const hand_job *h, unsigned parts)
{
    tl_ideal ideal;
    tl_changes changes = { 0 };
    CU_ASSERT_FATAL(tl_changes_new(&h->graph, &changes) && tl_ideal_find(&h->baseline, &ideal));
    tl_ideal_take(&h->baseline, &ideal, parts, NULL, &changes);
    int64_t gain = gain_of(h, &changes);
    tl_ideal_free(&ideal);
    tl_changes_free(&changes);
    return gain;
}

static void chance_costs_what_all_would_save_together(void)
{
    hand_job *h = hand_new(RANKS, STEPS, host, device);
    hand_baseline(h);
    CU_ASSERT_EQUAL(gain_of_parts(h, 1U << TL_PART_COMPUTE), STEPS * SLOW_NS - LATE_NS); /* in step 2 rank 0 is as late as that */
    CU_ASSERT_EQUAL(gain_of_parts(h, 1U << TL_PART_HOST), 0);                            /* and another's device later still */
    CU_ASSERT_EQUAL(gain_of_parts(h, ~0U), STEPS * SLOW_NS);
    CU_ASSERT_EQUAL(gain_of_parts(h, 0), 0);
    hand_free(h);
}

/* Who has one kernel where others have another has nothing too much. */
static void other_kernels_for_the_same_are_nothing_to_spare(void)
{
    hand_job *h = hand_new(RANKS, STEPS, same_host, device);
    for (size_t s = 0; s < STEPS; s++)
        h->graph.nodes[hand_node(h, 1, s, 1)].key = 77;
    hand_baseline(h);
    CU_ASSERT_EQUAL(gain_of_parts(h, 1U << TL_PART_COMPUTE), STEPS * SLOW_NS);
    hand_free(h);
}

/* What it gains where all roles compute equally long; the scenario is the caller's. */
static int64_t gain_of_balance(hand_job *h, tl_changes *changes, uint32_t *most, double *times)
{
    hand_baseline(h);
    CU_ASSERT_FATAL(tl_changes_new(&h->graph, changes) && tl_balance(&h->baseline, changes, most, times));
    return gain_of(h, changes);
}

/* Two groups of two ranks: two roles. */
static void stages_that_compute_alike_save_what_the_longest_has_more(void)
{
    hand_job *h = hand_new(RANKS, STEPS, same_host, heavy_device);
    tl_changes changes = { 0 };
    uint32_t most = 0;
    double times = 0;
    for (size_t r = 0; r < RANKS; r++)
        h->rows[r].group = r >= 2;
    CU_ASSERT_EQUAL(gain_of_balance(h, &changes, &most, &times), STEPS * DEVICE_NS); /* 2 each, in place of 1 and 3 */
    CU_ASSERT_EQUAL_FATAL(h->baseline.nroles, 2);
    CU_ASSERT_EQUAL(most, 1);
    CU_ASSERT_DOUBLE_EQUAL(times, 3, 1e-12);
    tl_free_hosts(&h->baseline, &changes);
    CU_ASSERT_EQUAL(gain_of(h, &changes), (STEPS - 1) * HOST_NS); /* nothing is known of what came before the first launch */
    tl_changes_free(&changes);
    hand_free(h);
}

static void where_all_do_the_same_nothing_is_to_be_balanced(void)
{
    hand_job *h = hand_new(RANKS, STEPS, same_host, device);
    tl_changes changes = { 0 };
    uint32_t most = 0;
    double times = 0;
    CU_ASSERT_EQUAL(gain_of_balance(h, &changes, &most, &times), 0);
    CU_ASSERT_EQUAL(most, TL_NONE);
    tl_changes_free(&changes);
    hand_free(h);
}

static void no_memory_is_no_crash(void)
{
    hand_job *h = hand_new(RANKS, STEPS, host, device);
    hand_baseline(h);
    for (size_t n = 1; n < 60; n++) {
        tl_ideal ideal;
        tl_mem_fail_after(n);
        (void)tl_ideal_find(&h->baseline, &ideal);
        tl_mem_fail_after(0);
        tl_ideal_free(&ideal);
    }
    hand_free(h);
}

int main(void)
{
    static const unit_test tests[] = {
        TEST(chance_costs_what_all_would_save_together),
        TEST(other_kernels_for_the_same_are_nothing_to_spare),
        TEST(stages_that_compute_alike_save_what_the_longest_has_more),
        TEST(where_all_do_the_same_nothing_is_to_be_balanced),
        TEST(no_memory_is_no_crash),
    };
    return unit_main("ideal", tests, COUNT(tests));
}
