/* test_lost_work.c - ranks of which work is not in the trace in some steps: what is judged all the same. */
#include "noisy_job.h"
#include "tlmpi/model/health_table.h"

enum { RANKS = 4, STEPS = 8 };

/* Ranks of a set lose work in all steps, and may have worked for so long where they were idle. */
static hand_job *judged(hand_work *host, hand_work *device, unsigned ranks, int64_t hidden_ns)
{
    const tl_verdict_options options = { alpha, least_cost };
    hand_job *h = hand_new(RANKS, STEPS, host, device);
    tl_table health = { .schema = &tl_health_schema };
    for (int32_t r = 0; r < RANKS; r++)
        for (int32_t s = 0; (ranks & 1u << r) != 0 && s < STEPS; s++)
            tl_health_add(
                &health,
                (tl_health){
                    .rank = r, .defect = TL_DEFECT_LOST, .step = s, .count = 1, .of = 10, .time_ns = hidden_ns });
    hand_baseline(h);
    tl_baseline_leave_out(&h->baseline, h->ranks, &health);
    tl_verdict_find(&h->baseline, &options, &h->judgement);
    tl_table_free(&health);
    return h;
}

/* The device's work of rank 3, in parts of DEVICE. */
static double device_of_3;

static int64_t device(size_t rank, size_t step)
{
    return usual_device(rank, step) + (rank == 3 ? (int64_t)((device_of_3 - 1) * DEVICE) : 0);
}

static const tl_candidate *device_candidate(unsigned ranks, int64_t hidden_ns, hand_job **h)
{
    *h = judged(usual_host, device, ranks, hidden_ns);
    return hand_candidate(*h, 3, TL_FAMILY_DEVICE);
}

static void who_lost_work_and_has_no_more_than_others_is_not_judged(void)
{
    hand_job *h;
    device_of_3 = 0.4;
    CU_ASSERT_PTR_NULL(device_candidate(1u << 3, DEVICE, &h));
    CU_ASSERT_EQUAL(h->judgement.candidates.n, 0); /* nor are those who have more */
    for (size_t s = 0; s < STEPS; s++)
        CU_ASSERT(tl_is_unjudged(&h->baseline, 3, s) && !tl_is_unjudged(&h->baseline, 2, s));
    hand_free(h);
}

static void who_has_more_than_others_in_spite_of_lost_work_is_late(void)
{
    hand_job *h;
    device_of_3 = 1.3;
    const tl_candidate *u = device_candidate(1u << 3, DEVICE, &h);
    CU_ASSERT_PTR_NOT_NULL_FATAL(u);
    CU_ASSERT(u->needed && u->shape.pattern == TL_PATTERN_PERSISTENT);
    CU_ASSERT_DOUBLE_EQUAL((double)u->solo_gain_ns / (STEPS * 0.3 * DEVICE), 1, 0.05);
    hand_free(h);
}

static void another_rank_is_judged_beside_one_that_lost_work(void)
{
    hand_job *h;
    device_of_3 = 1.3;
    CU_ASSERT_PTR_NOT_NULL(device_candidate(1u << 1, DEVICE, &h));
    CU_ASSERT_EQUAL(h->judgement.candidates.n, 1);
    hand_free(h);
}

/* All lost work, and the others may have worked for another tenth, or four tenths. */
static void where_all_lost_work_the_others_may_have_done_more(void)
{
    hand_job *h;
    device_of_3 = 1.3;
    const tl_candidate *u = device_candidate(0xf, DEVICE / 10, &h);
    CU_ASSERT_PTR_NOT_NULL_FATAL(u);
    CU_ASSERT_DOUBLE_EQUAL((double)u->solo_gain_ns / (STEPS * 0.2 * DEVICE), 1, 0.1);
    hand_free(h);
    CU_ASSERT_PTR_NULL(device_candidate(0xf, DEVICE * 4 / 10, &h));
    CU_ASSERT_EQUAL(h->judgement.candidates.n, 0);
    hand_free(h);
}

static int64_t late_host(size_t rank, size_t step)
{
    return usual_host(rank, step) + (rank == 3 ? DEVICE * 3 / 10 : 0);
}

/* What the host seems to do may be work of its device that it waits for. */
static void a_host_is_late_by_what_lost_work_does_not_explain(void)
{
    for (int64_t tenths = 1; tenths <= 3; tenths += 2) {
        hand_job *h = judged(late_host, usual_device, 1u << 3, tenths * DEVICE / 10);
        const tl_candidate *u = hand_candidate(h, 3, TL_FAMILY_HOST);
        CU_ASSERT_EQUAL(u != NULL, tenths < 3);
        if (u != NULL)
            CU_ASSERT_DOUBLE_EQUAL((double)u->late_ns / ((STEPS - 1) * 0.2 * DEVICE), 1, 0.1);
        hand_free(h);
    }
}

int main(void)
{
    static const unit_test tests[] = {
        TEST(who_lost_work_and_has_no_more_than_others_is_not_judged),
        TEST(who_has_more_than_others_in_spite_of_lost_work_is_late),
        TEST(another_rank_is_judged_beside_one_that_lost_work),
        TEST(where_all_lost_work_the_others_may_have_done_more),
        TEST(a_host_is_late_by_what_lost_work_does_not_explain),
    };
    return unit_main("lost work", tests, COUNT(tests));
}
