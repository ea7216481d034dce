/* test_cause_of_gain.c - why a rank is late: what of its repair gains most. */
#include "noisy_job.h"
#include <math.h>

static void what_takes_long_is_the_cause(void)
{
    hand_job *h = hand_new(8, 8, usual_host, slow_device);
    hand_judge(h, alpha, least_cost);
    CU_ASSERT_EQUAL(h->judgement.causes[3].cause, TL_CAUSE_COMPUTE_SLOW);
    CU_ASSERT_DOUBLE_EQUAL(h->judgement.causes[3].share, 1, 1e-9);
    CU_ASSERT_EQUAL(h->judgement.causes[2].cause, TL_CAUSE_UNKNOWN);
    CU_ASSERT_TRUE(isnan(h->judgement.causes[2].share));
    hand_free(h);
}

/* Copies to the device have a cause of their own, and so have others. */
static void slow_copies_are_the_cause(void)
{
    static const struct {
        tl_activity_kind kind;
        tl_cause cause;
    } cases[] = { { TL_ACTIVITY_H2D, TL_CAUSE_H2D }, { TL_ACTIVITY_COPY, TL_CAUSE_COPY } };
    for (size_t i = 0; i < COUNT(cases); i++) {
        hand_job *h = hand_new(8, 8, usual_host, slow_device);
        for (size_t r = 0; r < 8; r++)
            for (size_t s = 0; s < 8; s++)
                hand_node(h, r, s, 1)->activity = (uint8_t)cases[i].kind;
        hand_judge(h, alpha, least_cost);
        CU_ASSERT_EQUAL(h->judgement.causes[3].cause, cases[i].cause);
        hand_free(h);
    }
}

static int64_t late_host(size_t rank, size_t step)
{
    return usual_host(rank, step) + (rank == 3 ? DEVICE / 4 : 0);
}

/* The same delay, by what the host did. */
static void a_host_is_late_for_what_it_did(void)
{
    static const struct {
        tl_activity_kind kind;
        tl_cause cause;
    } cases[] = { { TL_ACTIVITY_HOST, TL_CAUSE_HOST_LATE },
                  { TL_ACTIVITY_GC, TL_CAUSE_GC },
                  { TL_ACTIVITY_INPUT, TL_CAUSE_INPUT },
                  { TL_ACTIVITY_ALLOCATOR, TL_CAUSE_ALLOCATOR } };
    for (size_t i = 0; i < COUNT(cases); i++) {
        hand_job *h = hand_new(8, 8, late_host, usual_device);
        for (size_t s = 0; s < 8; s++)
            hand_node(h, 3, s, 0)->activity = (uint8_t)cases[i].kind;
        hand_judge(h, alpha, least_cost);
        CU_ASSERT_EQUAL(h->judgement.causes[3].cause, cases[i].cause);
        CU_ASSERT_DOUBLE_EQUAL(h->judgement.causes[3].share, 1, 1e-9);
        hand_free(h);
    }
}

static void two_things_that_cost_alike_are_mixed(void)
{
    hand_job *h = hand_new(8, 8, late_host, slow_device);
    hand_judge(h, alpha, least_cost);
    CU_ASSERT_PTR_NOT_NULL(hand_candidate(h, 3, TL_FAMILY_HOST));
    CU_ASSERT_PTR_NOT_NULL(hand_candidate(h, 3, TL_FAMILY_DEVICE));
    CU_ASSERT_EQUAL(h->judgement.causes[3].cause, TL_CAUSE_MIXED);
    CU_ASSERT(h->judgement.causes[3].share > 0.5 && h->judgement.causes[3].share < 0.6); /* a quarter, and a fifth */
    hand_free(h);
}

static int64_t two_slow_devices(size_t rank, size_t step)
{
    return usual_device(rank, step) + (rank == 3 || rank == 4 ? DEVICE / 5 : 0);
}

/* The repair of either alone gains next to nothing, and of that little its cause would be said. */
static void who_hides_another_has_its_cause(void)
{
    hand_job *h = hand_new(8, 8, usual_host, two_slow_devices);
    hand_judge(h, alpha, least_cost);
    for (size_t r = 3; r <= 4; r++) {
        CU_ASSERT_EQUAL(h->judgement.causes[r].cause, TL_CAUSE_COMPUTE_SLOW);
        CU_ASSERT_DOUBLE_EQUAL(h->judgement.causes[r].share, 1, 1e-9);
    }
    hand_free(h);
}

static const unit_test tests[] = {
    TEST(what_takes_long_is_the_cause),
    TEST(slow_copies_are_the_cause),
    TEST(a_host_is_late_for_what_it_did),
    TEST(two_things_that_cost_alike_are_mixed),
    TEST(who_hides_another_has_its_cause),
};

int main(void)
{
    return unit_main("cause_of_gain", tests, COUNT(tests));
}
