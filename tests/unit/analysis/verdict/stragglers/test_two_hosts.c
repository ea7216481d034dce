/* test_two_hosts.c - eight ranks on two hosts of four, and all of one host are late: on jobs made by hand. */
#include "noisy_job.h"

enum { RANKS = 8, STEPS = 10 };

static hand_job *on_two_hosts(hand_work *device_ns)
{
    const tl_verdict_options options = { alpha, least_cost };
    hand_job *h = hand_new(RANKS, STEPS, usual_host, device_ns);
    hand_baseline(h);
    h->baseline.host_of = tl_arena_zeroed(&h->baseline.arena, RANKS, sizeof *h->baseline.host_of);
    for (size_t r = 0; r < RANKS; r++)
        h->baseline.host_of[r] = r < RANKS / 2 ? 7 : 9;
    tl_verdict_find(&h->baseline, &options, &h->judgement);
    return h;
}

static int64_t slow_half(size_t rank, size_t step)
{
    return usual_device(rank, step) + (rank >= RANKS / 2 ? DEVICE / 20 : 0);
}

/* What a rank is late by is what it is later than the other host, and not than the middle of both. */
static void a_slow_host_of_two_is_late_by_what_the_other_is_not(void)
{
    hand_job *h = on_two_hosts(slow_half);
    CU_ASSERT_STRING_EQUAL(late(h), "4567");
    const tl_candidate *u = hand_candidate(h, 4, TL_FAMILY_DEVICE);
    CU_ASSERT_PTR_NOT_NULL_FATAL(u);
    CU_ASSERT_EQUAL(u->shape.pattern, TL_PATTERN_PERSISTENT);
    CU_ASSERT(u->needed);
    CU_ASSERT_DOUBLE_EQUAL((double)u->late_ns / (STEPS * DEVICE / 20.0), 1, 0.1);
    CU_ASSERT_DOUBLE_EQUAL((double)h->judgement.joint_gain_ns / (STEPS * DEVICE / 20.0), 1, 0.1);
    hand_free(h);
}

static int64_t slow_half_for_a_while(size_t rank, size_t step)
{
    return step > 2 && step < 6 ? slow_half(rank, step) : usual_device(rank, step);
}

static void a_host_may_be_slow_for_a_while(void)
{
    hand_job *h = on_two_hosts(slow_half_for_a_while);
    CU_ASSERT_STRING_EQUAL(late(h), "4567");
    const tl_candidate *u = hand_candidate(h, 7, TL_FAMILY_DEVICE);
    CU_ASSERT_PTR_NOT_NULL_FATAL(u);
    CU_ASSERT_EQUAL(u->shape.pattern, TL_PATTERN_BOUNDED);
    CU_ASSERT(u->shape.first == 3 && u->shape.last == 5);
    hand_free(h);
}

static void hosts_that_are_alike_are_not_late(void)
{
    hand_job *h = on_two_hosts(usual_device);
    CU_ASSERT_EQUAL(h->judgement.candidates.n, 0);
    hand_free(h);
}

/* The median of the hosts differs, by their ranks and not by themselves. */
static int64_t slow_on_both(size_t rank, size_t step)
{
    return usual_device(rank, step) + (rank == 3 || rank == 5 || rank == 6 || rank == 7 ? DEVICE / 20 : 0);
}

static void a_host_with_a_fast_rank_is_no_slow_host(void)
{
    hand_job *h = on_two_hosts(slow_on_both);
    CU_ASSERT_PTR_NULL(hand_candidate(h, 4, TL_FAMILY_DEVICE));
    hand_free(h);
}

int main(void)
{
    static const unit_test tests[] = {
        TEST(a_slow_host_of_two_is_late_by_what_the_other_is_not),
        TEST(a_host_may_be_slow_for_a_while),
        TEST(hosts_that_are_alike_are_not_late),
        TEST(a_host_with_a_fast_rank_is_no_slow_host),
    };
    return unit_main("two hosts", tests, COUNT(tests));
}
