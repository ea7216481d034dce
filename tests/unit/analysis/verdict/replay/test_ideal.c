/* test_ideal.c - what the job would have taken with nobody slower than usual, with stages that compute alike, and
 * without hosts. */
#include "hand_graph.h"
#include "replayed.h"
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

static int64_t heavy_stage(size_t rank, size_t step)
{
    (void)step;
    return rank == 2 ? 3 * DEVICE_NS : DEVICE_NS;
}

static int64_t same_host(size_t rank, size_t step)
{
    (void)rank;
    (void)step;
    return HOST_NS;
}

/* What such changes gain. */
static int64_t gain_of(const hand_job *h, tl_changes *ranks)
{
    tl_changes *unchanged = ranks_open(&h->baseline);
    int64_t gain = ranks_end(&h->baseline, unchanged) - ranks_end(&h->baseline, ranks);
    ranks_close(&h->baseline, unchanged);
    return gain;
}

/* Of the ideal the activities with bits 1 << tl_activity_kind; TL_ACTIVITY_SYNC: waits. */
static int64_t gain_of_parts(const hand_job *h, unsigned parts)
{
    tl_ideal *ideal = tl_ideal_new(&h->baseline);
    tl_changes *ranks = ranks_open(&h->baseline);
    for (size_t r = 0; r < h->nranks; r++) {
        tl_changes *c = &ranks[r];
        ideal_apply(ideal, r, c);
        for (uint32_t v = 0; v < c->open.n; v++) {
            c->less_ns[v] *= parts >> c->open.nodes[v].activity & 1U;
            c->gone[v] = c->gone[v] && (parts >> TL_ACTIVITY_SYNC & 1U) != 0;
        }
    }
    int64_t gain = gain_of(h, ranks);
    tl_ideal_free(ideal);
    ranks_close(&h->baseline, ranks);
    return gain;
}

static void chance_costs_what_all_would_save_together(void)
{
    hand_job *h = hand_new(RANKS, STEPS, host, device);
    hand_baseline(h);
    CU_ASSERT_EQUAL(gain_of_parts(h, 1U << TL_ACTIVITY_COMPUTE), STEPS * SLOW_NS - LATE_NS); /* in step 2 rank 0 is as late as that */
    CU_ASSERT_EQUAL(gain_of_parts(h, 1U << TL_ACTIVITY_HOST), 0);                            /* and another's device later still */
    CU_ASSERT_EQUAL(gain_of_parts(h, ~0U), STEPS * SLOW_NS);
    CU_ASSERT_EQUAL(gain_of_parts(h, 0), 0);
    hand_free(h);
}

/* Who has one kernel where others have another has nothing too much. */
static void other_kernels_for_the_same_are_nothing_to_spare(void)
{
    hand_job *h = hand_new(RANKS, STEPS, same_host, device);
    for (size_t s = 0; s < STEPS; s++)
        hand_node(h, 1, s, 1)->key = 77;
    hand_baseline(h);
    CU_ASSERT_EQUAL(gain_of_parts(h, 1U << TL_ACTIVITY_COMPUTE), STEPS * SLOW_NS);
    hand_free(h);
}

/* Rank 0 is slow in step 0 by SLOW_NS. */
static void what_has_been_taken_off_stays_where_it_is_more(void)
{
    hand_job *h = hand_new(RANKS, STEPS, same_host, device);
    tl_changes changes = { 0 };
    hand_baseline(h);
    tl_ideal *ideal = tl_ideal_new(&h->baseline);
    for (int64_t before = SLOW_NS / 2; before <= 2 * SLOW_NS; before *= 4) {
        rank_open(&h->baseline, 0, &changes);
        changes.less_ns[1] = before;
        ideal_apply(ideal, 0, &changes);
        CU_ASSERT_EQUAL(changes.less_ns[1], before > SLOW_NS ? before : SLOW_NS);
        CU_ASSERT_EQUAL(changes.less_ns[HAND_NODES + 1], 0);
    }
    tl_ideal_free(ideal);
    rank_close(&changes);
    hand_free(h);
}

/* What it gains where all roles compute equally long; free(out->to) is the caller's. */
static int64_t gain_of_balance(hand_job *h, tl_balance *out)
{
    hand_baseline(h);
    tl_changes *ranks = ranks_open(&h->baseline);
    tl_balance_find(&h->baseline, out);
    for (size_t r = 0; out->most != TL_NONE && r < h->nranks; r++)
        tl_balance_rank(out->to[r], &ranks[r]);
    int64_t gain = gain_of(h, ranks);
    ranks_close(&h->baseline, ranks);
    return gain;
}

static int64_t gain_of_free_hosts(const hand_job *h)
{
    tl_changes *ranks = ranks_open(&h->baseline);
    for (size_t r = 0; r < h->nranks; r++)
        tl_free_host(&ranks[r]);
    int64_t gain = gain_of(h, ranks);
    ranks_close(&h->baseline, ranks);
    return gain;
}

/* Two groups of two ranks: two roles. */
static void stages_that_compute_alike_save_what_the_longest_has_more(void)
{
    hand_job *h = hand_new(RANKS, STEPS, same_host, heavy_device);
    tl_balance balance;
    for (size_t r = 0; r < RANKS; r++)
        h->rows[r].group = r >= 2;
    CU_ASSERT_EQUAL(gain_of_balance(h, &balance), STEPS * DEVICE_NS); /* 2 each, in place of 1 and 3 */
    CU_ASSERT_EQUAL_FATAL(h->baseline.nroles, 2);
    CU_ASSERT_EQUAL(balance.most, 2);
    CU_ASSERT_EQUAL(balance.most_gain_ns, STEPS * DEVICE_NS);
    CU_ASSERT_DOUBLE_EQUAL(balance.times, 3, 1e-12);
    CU_ASSERT_DOUBLE_EQUAL(balance.to[0], 2, 1e-12);
    CU_ASSERT_DOUBLE_EQUAL(balance.to[2], 2.0 / 3, 1e-12);
    CU_ASSERT_EQUAL(gain_of_free_hosts(h), (STEPS - 1) * HOST_NS); /* nothing is known of what came before the first launch */
    free(balance.to);
    hand_free(h);
}

/* All talk to both sides, and nothing else tells that they do the same. */
static void an_inner_stage_is_not_taken_for_its_neighbour(void)
{
    hand_job *h = hand_new(RANKS, STEPS, same_host, heavy_stage);
    tl_balance balance;
    hand_baseline(h);
    for (size_t r = 0; r < RANKS; r++)
        h->baseline.talks[r] = TL_TALKS_UP | TL_TALKS_DOWN;
    CU_ASSERT_FATAL(h->baseline.nroles == 1 && h->baseline.by_sides);
    tl_balance_find(&h->baseline, &balance);
    CU_ASSERT_EQUAL(balance.most, 2);
    CU_ASSERT_DOUBLE_EQUAL(balance.times, 3, 1e-12);
    CU_ASSERT_DOUBLE_EQUAL(balance.to[2], 0.5, 1e-12);
    free(balance.to);
    hand_free(h);
}

static void where_all_do_the_same_nothing_is_to_be_balanced(void)
{
    hand_job *h = hand_new(RANKS, STEPS, same_host, device);
    tl_balance balance;
    CU_ASSERT_EQUAL(gain_of_balance(h, &balance), 0);
    CU_ASSERT_EQUAL(balance.most, TL_NONE);
    free(balance.to);
    hand_free(h);
}

int main(void)
{
    static const unit_test tests[] = {
        TEST(chance_costs_what_all_would_save_together),
        TEST(other_kernels_for_the_same_are_nothing_to_spare),
        TEST(what_has_been_taken_off_stays_where_it_is_more),
        TEST(stages_that_compute_alike_save_what_the_longest_has_more),
        TEST(an_inner_stage_is_not_taken_for_its_neighbour),
        TEST(where_all_do_the_same_nothing_is_to_be_balanced),
    };
    return unit_main("ideal", tests, COUNT(tests));
}
