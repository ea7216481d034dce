/* test_own_steps.c - all ranks of a stage are slow beside its own other steps: on jobs made by hand. */
#include "noisy_job.h"

enum { RANKS = 8, STEPS = 10 };

/* Ranks by twos, which meet by themselves, too, and send to the stages before and after; the first has none before. */
static hand_job *four_stages(hand_work *device_ns)
{
    const tl_verdict_options options = { alpha, least_cost };
    hand_job *h = hand_new(RANKS, STEPS, usual_host, device_ns);
    for (size_t r = 0; r < RANKS; r++)
        h->rows[r].group = (int32_t)(r / 2);
    hand_baseline(h);
    for (size_t r = 0; r < RANKS; r++)
        h->baseline.talks[r] = TL_TALKS_UP | (r > 1 ? TL_TALKS_DOWN : 0);
    tl_verdict_find(&h->baseline, &options, &h->judgement);
    return h;
}

static void stages_that_are_alike_are_not_late(void)
{
    hand_job *h = four_stages(usual_device);
    CU_ASSERT_EQUAL(h->judgement.candidates.n, 0);
    hand_free(h);
}

static int64_t slow_rank(size_t rank, size_t step)
{
    return usual_device(rank, step) + (rank == 3 ? DEVICE / 5 : 0);
}

static void one_slow_rank_is_no_slow_stage(void)
{
    hand_job *h = four_stages(slow_rank);
    CU_ASSERT_STRING_EQUAL(late(h), "3");
    CU_ASSERT_EQUAL(hand_candidate(h, 3, TL_FAMILY_DEVICE)->against, TL_AGAINST_PEERS);
    hand_free(h);
}

/* The first stage has no other that does the same, and takes longer in steps 3 to 6. */
static int64_t late_first_stage(size_t rank, size_t step)
{
    return usual_device(rank, step) + (rank / 2 == 0 && step >= 3 && step <= 6 ? DEVICE / 5 : 0);
}

static void a_stage_is_held_against_its_other_steps(void)
{
    hand_job *h = four_stages(late_first_stage);
    CU_ASSERT_STRING_EQUAL(late(h), "01");
    const tl_candidate *u = hand_candidate(h, 0, TL_FAMILY_DEVICE);
    CU_ASSERT_PTR_NOT_NULL_FATAL(u);
    CU_ASSERT(u->against == TL_AGAINST_OWN_STEPS && u->needed);
    CU_ASSERT_EQUAL(u->shape.pattern, TL_PATTERN_BOUNDED);
    CU_ASSERT_EQUAL(u->shape.first, 3);
    CU_ASSERT_EQUAL(u->shape.last, 6);
    CU_ASSERT_DOUBLE_EQUAL((double)h->judgement.joint_gain_ns / (4 * DEVICE / 5.0), 1, 0.1);
    hand_free(h);
}

/* Steps 3 to 6 are longer on all stages. */
static int64_t heavy_steps(size_t rank, size_t step)
{
    return usual_device(rank, step) * (step >= 3 && step <= 6 ? 6 : 5) / 5;
}

static void steps_that_are_heavier_for_all_make_no_stage_late(void)
{
    hand_job *h = four_stages(heavy_steps);
    CU_ASSERT_STRING_EQUAL(late(h), "");
    hand_free(h);
}

/* The last stage is late in all steps but the two before the last. */
static int64_t late_last_stage(size_t rank, size_t step)
{
    return usual_device(rank, step) + (rank / 2 == 3 && step != 7 && step != 8 ? DEVICE / 5 : 0);
}

static void a_stage_that_is_late_in_most_steps_makes_no_other_late_in_the_rest(void)
{
    hand_job *h = four_stages(late_last_stage);
    for (uint32_t r = 0; r < 6; r++)
        CU_ASSERT_PTR_NULL(hand_candidate(h, r, TL_FAMILY_DEVICE));
    hand_free(h);
}

/* Steps 3 to 5 are shorter on one stage, or on all but one. */
static int64_t one_light_stage(size_t rank, size_t step)
{
    return usual_device(rank, step) * (rank / 2 == 2 && step >= 3 && step <= 5 ? 3 : 5) / 5;
}

static int64_t all_light_but_one(size_t rank, size_t step)
{
    return usual_device(rank, step) * (rank / 2 != 2 && step >= 3 && step <= 5 ? 3 : 5) / 5;
}

static void stages_that_have_less_to_do_make_no_other_late(void)
{
    hand_job *h = four_stages(one_light_stage);
    CU_ASSERT_STRING_EQUAL(late(h), "");
    hand_free(h);
    h = four_stages(all_light_but_one);
    CU_ASSERT_STRING_EQUAL(late(h), "");
    hand_free(h);
}

/* The last stage has less to do in the last four of ten steps. */
static int64_t light_last_stage(size_t rank, size_t step)
{
    return usual_device(rank, step) * (rank / 2 == 3 && step >= 6 ? 3 : 5) / 5;
}

static void what_a_stage_does_in_most_steps_is_usual(void)
{
    hand_job *h = four_stages(light_last_stage);
    CU_ASSERT_STRING_EQUAL(late(h), "");
    hand_free(h);
}

/* A pipeline of four ranks: ranks 1 and 2, the inner stages, have no other peer than each other. */
static hand_job *four_ranks(hand_work *device_ns)
{
    const tl_verdict_options options = { alpha, least_cost };
    hand_job *h = hand_new(4, STEPS, usual_host, device_ns);
    for (size_t r = 0; r < 4; r++)
        h->rows[2 * r] = h->rows[2 * r + 1] = (tl_late_row){ .rank = (int32_t)r, .group = 0, .kind = TL_SEND };
    for (int32_t r = 0; r < 4; r++) {
        h->rows[2 * r].peer = r - 1;
        h->rows[2 * r + 1].peer = r < 3 ? r + 1 : -1;
    }
    tl_baseline_make(&h->graph, &h->served.asker, h->ranks, h->rows, 8, &h->baseline);
    tl_verdict_find(&h->baseline, &options, &h->judgement);
    CU_ASSERT_EQUAL(h->baseline.nroles, 3);
    return h;
}

static int64_t light_but_for_one(size_t rank, size_t step)
{
    return usual_device(rank, step) * (rank != 2 && step >= 3 && step <= 5 ? 3 : 5) / 5;
}

static int64_t late_inner_rank(size_t rank, size_t step)
{
    return usual_device(rank, step) * (rank == 2 && step >= 3 && step <= 5 ? 6 : 5) / 5;
}

static void of_two_inner_stages_the_one_that_does_more_than_before_is_late(void)
{
    hand_job *h = four_ranks(light_but_for_one);
    CU_ASSERT_STRING_EQUAL(late(h), "");
    hand_free(h);
    h = four_ranks(late_inner_rank);
    CU_ASSERT_STRING_EQUAL(late(h), "2");
    CU_ASSERT_TRUE(tl_is_two_stages(&h->baseline, hand_candidate(h, 2, TL_FAMILY_DEVICE)->role));
    hand_free(h);
}

int main(void)
{
    static const unit_test tests[] = {
        TEST(stages_that_are_alike_are_not_late),
        TEST(one_slow_rank_is_no_slow_stage),
        TEST(a_stage_is_held_against_its_other_steps),
        TEST(steps_that_are_heavier_for_all_make_no_stage_late),
        TEST(a_stage_that_is_late_in_most_steps_makes_no_other_late_in_the_rest),
        TEST(stages_that_have_less_to_do_make_no_other_late),
        TEST(what_a_stage_does_in_most_steps_is_usual),
        TEST(of_two_inner_stages_the_one_that_does_more_than_before_is_late),
    };
    return unit_main("a role and its other steps", tests, COUNT(tests));
}
