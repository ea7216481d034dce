/* test_graph_verdict.c - who is late, by chance or not, at what cost: on jobs made by hand. */
#include "noisy_job.h"
#include <math.h>

/* ------------------------------------------------------------------------------------------------------------ units */

static void a_healthy_job_has_nobody_late(void)
{
    hand_job *h = hand_new(8, 8, usual_host, usual_device);
    hand_judge(h, alpha, least_cost);
    CU_ASSERT_EQUAL(h->judgement.candidates.n, 0);
    CU_ASSERT_EQUAL(h->judgement.joint_gain_ns, 0);
    for (size_t r = 0; r < 8; r++)
        CU_ASSERT_EQUAL(h->judgement.rank_ns[r], -1);
    hand_free(h);
}

static void who_is_always_late_is_persistent(void)
{
    hand_job *h = hand_new(8, 8, usual_host, slow_device);
    hand_judge(h, alpha, least_cost);
    const tl_candidate *u = hand_candidate(h, 3, TL_FAMILY_DEVICE);
    CU_ASSERT_PTR_NOT_NULL_FATAL(u);
    CU_ASSERT_EQUAL(h->judgement.candidates.n, 1);
    CU_ASSERT_EQUAL(u->shape.pattern, TL_PATTERN_PERSISTENT);
    CU_ASSERT(u->p < 1e-6 && u->needed);
    CU_ASSERT_EQUAL(h->judgement.rank_ns[3], u->solo_gain_ns);
    CU_ASSERT_EQUAL(u->solo_gain_ns, u->marginal_gain_ns); /* nobody hides it */
    CU_ASSERT_DOUBLE_EQUAL((double)u->solo_gain_ns / (8.0 * DEVICE / 5), 1, 0.05);
    int64_t steps = 0;
    for (size_t s = 0; s < 8; s++)
        steps += h->judgement.rank_step_ns[3 * 8 + s];
    CU_ASSERT_EQUAL(steps, u->solo_gain_ns);
    hand_free(h);
}

static int64_t once_device(size_t rank, size_t step)
{
    return usual_device(rank, step) + (rank == 5 && step == 2 ? DEVICE / 2 : 0);
}

static void who_is_late_once_is_that(void)
{
    hand_job *h = hand_new(8, 8, usual_host, once_device);
    hand_judge(h, alpha, least_cost);
    const tl_candidate *u = hand_candidate(h, 5, TL_FAMILY_DEVICE);
    CU_ASSERT_PTR_NOT_NULL_FATAL(u);
    CU_ASSERT_EQUAL(u->shape.pattern, TL_PATTERN_ONE_OFF);
    CU_ASSERT_EQUAL(u->shape.first, 2);
    CU_ASSERT_TRUE(u->on[2] && !u->on[1] && !u->on[3]);
    CU_ASSERT(u->needed);
    hand_free(h);
}

static size_t step_of_delay;

static int64_t late_in_a_step(size_t rank, size_t step)
{
    return usual_device(rank, step) + (rank == 5 && step == step_of_delay ? DEVICE / 2 : 0);
}

/* What it takes to start or stop a profiler differs by host. */
static void the_first_and_the_last_step_accuse_nobody_alone(void)
{
    for (step_of_delay = 0; step_of_delay < 8; step_of_delay++) {
        hand_job *h = hand_new(8, 8, usual_host, late_in_a_step);
        hand_judge(h, alpha, least_cost);
        CU_ASSERT_EQUAL(h->judgement.candidates.n, step_of_delay > 0 && step_of_delay < 7);
        hand_free(h);
    }
}

static int64_t late_from_the_first_on(size_t rank, size_t step)
{
    return usual_device(rank, step) + (rank == 5 && step < step_of_delay ? DEVICE / 2 : 0);
}

/* The first step belongs to a delay that a step within shows, and is repaired with it. */
static void an_edge_step_counts_beside_one_within(void)
{
    step_of_delay = 2;
    hand_job *h = hand_new(8, 8, usual_host, late_from_the_first_on);
    hand_judge(h, alpha, least_cost);
    const tl_candidate *u = hand_candidate(h, 5, TL_FAMILY_DEVICE);
    CU_ASSERT_PTR_NOT_NULL_FATAL(u);
    CU_ASSERT(u->on[0] && u->on[1] && !u->on[2]);
    CU_ASSERT_DOUBLE_EQUAL((double)u->solo_gain_ns / (2.0 * DEVICE / 2), 1, 0.05);
    hand_free(h);
}

static int64_t late_at_first_and_once_more(size_t rank, size_t step)
{
    return usual_device(rank, step) + (rank == 5 && (step == 0 || step == 4) ? DEVICE / 2 : 0);
}

/* A pause that comes back: one late step within shows how late the rank is then, and the first step is as late. */
static void an_edge_step_counts_that_is_as_late_as_one_within(void)
{
    hand_job *h = hand_new(8, 8, usual_host, late_at_first_and_once_more);
    hand_judge(h, alpha, least_cost);
    const tl_candidate *u = hand_candidate(h, 5, TL_FAMILY_DEVICE);
    CU_ASSERT_PTR_NOT_NULL_FATAL(u);
    CU_ASSERT_EQUAL(u->shape.pattern, TL_PATTERN_SPORADIC);
    CU_ASSERT(u->on[0] && u->on[4] && u->shape.nup == 2);
    CU_ASSERT_DOUBLE_EQUAL((double)u->solo_gain_ns / (2.0 * DEVICE / 2), 1, 0.05);
    hand_free(h);
}

static int64_t warming_device(size_t rank, size_t step)
{
    return usual_device(rank, step) + (rank == 1 && step > 2 ? DEVICE / 20 * (int64_t)(step - 2) : 0);
}

static void who_gets_later_drifts(void)
{
    hand_job *h = hand_new(8, 12, usual_host, warming_device);
    hand_judge(h, alpha, least_cost);
    const tl_candidate *u = hand_candidate(h, 1, TL_FAMILY_DEVICE);
    CU_ASSERT_PTR_NOT_NULL_FATAL(u);
    CU_ASSERT_EQUAL(u->shape.pattern, TL_PATTERN_DRIFTING);
    CU_ASSERT(u->needed && u->shape.first >= 2 && u->shape.first <= 4);
    CU_ASSERT_DOUBLE_EQUAL((double)u->solo_gain_ns / (45.0 * DEVICE / 20), 1, 0.1);
    hand_free(h);
}

static int64_t slow_in_turn(size_t rank, size_t step)
{
    return usual_device(rank, step) + (rank == (step < 4 ? 1 : 2) ? DEVICE / 5 : 0);
}

/* Neither stands out from what the other is late by; both do from the rest. */
static void two_may_be_late_in_turn(void)
{
    hand_job *h = hand_new(8, 8, usual_host, slow_in_turn);
    hand_judge(h, alpha, least_cost);
    for (uint32_t r = 1; r <= 2; r++) {
        const tl_candidate *u = hand_candidate(h, r, TL_FAMILY_DEVICE);
        CU_ASSERT_PTR_NOT_NULL_FATAL(u);
        CU_ASSERT_EQUAL(u->shape.pattern, TL_PATTERN_BOUNDED);
        CU_ASSERT(u->needed && u->shape.first == (r == 1 ? 0 : 4) && u->shape.last == (r == 1 ? 3 : 7));
    }
    CU_ASSERT_EQUAL(h->judgement.candidates.n, 2);
    hand_free(h);
}

static int64_t one_slow_device(size_t rank, size_t step)
{
    (void)step;
    return DEVICE + (int64_t)rank * 100 + (rank == 3 ? DEVICE / 2 : 0);
}

static void one_step_is_judged_by_what_ranks_differ_by(void)
{
    hand_job *h = hand_new(8, 1, usual_host, one_slow_device);
    hand_judge(h, alpha, least_cost);
    CU_ASSERT_PTR_NOT_NULL(hand_candidate(h, 3, TL_FAMILY_DEVICE));
    CU_ASSERT_EQUAL(h->judgement.candidates.n, 1);
    hand_free(h);
}

static int64_t slow_second(size_t rank, size_t step)
{
    return DEVICE + (rank == 1 ? DEVICE / 5 : 0) + 0 * (int64_t)step;
}

/* One degree of freedom: even 200 times the noise may be chance. */
static void two_ranks_and_two_steps_prove_nothing(void)
{
    for (size_t steps = 2; steps <= 8; steps += 6) {
        hand_job *h = hand_new(2, steps, usual_host, slow_second);
        hand_judge(h, alpha, least_cost);
        CU_ASSERT_EQUAL(h->judgement.candidates.n, steps > 2);
        hand_free(h);
    }
}

/* Late in most steps, or in half of them: the other one is early by as much then, and that is no noise of theirs. */
static int64_t slow_most_of_the_time(size_t rank, size_t step)
{
    return usual_device(rank, step) + (rank == 1 && step >= 3 ? DEVICE / 5 : 0);
}

static int64_t slow_half_of_the_time(size_t rank, size_t step)
{
    return usual_device(rank, step) + (rank == 1 && step >= 6 ? DEVICE / 5 : 0);
}

static void one_of_two_is_late_in_some_steps(void)
{
    for (int half = 0; half < 2; half++) {
        hand_job *h = hand_new(2, 12, usual_host, half ? slow_half_of_the_time : slow_most_of_the_time);
        hand_judge(h, alpha, least_cost);
        const tl_candidate *u = hand_candidate(h, 1, TL_FAMILY_DEVICE);
        CU_ASSERT_EQUAL(h->judgement.candidates.n, 1);
        CU_ASSERT_PTR_NOT_NULL_FATAL(u);
        CU_ASSERT_EQUAL(u->shape.pattern, TL_PATTERN_BOUNDED);
        CU_ASSERT_EQUAL(u->shape.first, half ? 6 : 3);
        hand_free(h);
    }
}

static int64_t even_host(size_t rank, size_t step)
{
    return HOST + 0 * (int64_t)(rank + step);
}

static int64_t hardly_slower(size_t rank, size_t step)
{
    return DEVICE + (rank == 1 ? 300 : 0) + 0 * (int64_t)step;
}

static void what_nobody_can_act_on_is_not_late(void)
{
    hand_job *h = hand_new(8, 8, even_host, hardly_slower); /* not a thousandth of a step, and no noise at all */
    hand_judge(h, alpha, least_cost);
    CU_ASSERT_EQUAL(h->judgement.candidates.n, 0);
    hand_free(h);
}

/* Normal noise of 1 %, as good as: of twelve numbers that are as likely as each other. */
static uint64_t seed;

static int64_t normal_device(size_t rank, size_t step)
{
    int64_t sum = 0;
    for (uint64_t i = 0; i < 12; i++)
        sum += noise(rank, step, DEVICE, 1000 * (12 * seed + i));
    return DEVICE + sum / 2; /* each has a deviation of 1 % over the root of 3 */
}

/* Half of the cells have a z, of who is late: hosts are all alike.  The least of three scales is less than noise, by a
 * quarter. */
static void the_scale_of_few_ranks_is_that_of_their_noise(void)
{
    const size_t sizes[4][2] = { { 3, 6 }, { 4, 6 }, { 5, 7 }, { 8, 12 } };
    for (size_t k = 0; k < 4; k++) {
        double deviation = 0; /* the mean of 40 jobs */
        size_t n = sizes[k][0] * sizes[k][1];
        for (seed = 0; seed < 40; seed++) {
            hand_job *h = hand_new(sizes[k][0], sizes[k][1], even_host, normal_device);
            hand_judge(h, alpha, least_cost);
            double squares = 0;
            for (size_t i = 0; i < n; i++)
                squares += h->judgement.z[i] * h->judgement.z[i];
            deviation += sqrt(2 * squares / (double)n) / 40;
            CU_ASSERT_EQUAL(h->judgement.candidates.n, 0);
            hand_free(h);
        }
        CU_ASSERT(deviation > 0.9 && deviation < 1.35);
    }
}

/* Half of the ranks in half of the steps: what is in the middle is between them, and all are as far from it. */
static int64_t slow_half(size_t rank, size_t step)
{
    return usual_device(rank, step) + (rank >= 4 && step % 3 == 1 ? DEVICE / 4 : 0);
}

static void half_of_the_ranks_late_now_and_then_is_no_noise(void)
{
    hand_job *h = hand_new(8, 12, usual_host, slow_half);
    hand_judge(h, alpha, least_cost);
    CU_ASSERT_EQUAL(h->judgement.candidates.n, 4);
    for (uint32_t r = 4; r < 8; r++) {
        const tl_candidate *u = hand_candidate(h, r, TL_FAMILY_DEVICE);
        CU_ASSERT_PTR_NOT_NULL_FATAL(u);
        CU_ASSERT_EQUAL(u->shape.nup, 4);
    }
    hand_free(h);
}

/* Another was late by 30 or by 45 % of that once: in one of 1,400 or of 120 families there is one that is later by so
 * much more. */
static int64_t other_once;

static int64_t late_twice(size_t rank, size_t step)
{
    return usual_device(rank, step) + (rank == 5 && step == 2 ? DEVICE : rank == 1 && step == 6 ? other_once : 0);
}

static void who_is_late_once_stands_out_from_all_families(void)
{
    for (int often = 0; often < 2; often++) {
        other_once = DEVICE / 100 * (often ? 45 : 30);
        hand_job *h = hand_new(8, 8, usual_host, late_twice);
        hand_judge(h, alpha, least_cost);
        CU_ASSERT_EQUAL(hand_candidate(h, 5, TL_FAMILY_DEVICE) == NULL, often);
        hand_free(h);
    }
}

/* ----------------------------------------------------------------------------------------------------------- choice */

static int64_t slow_most(size_t rank, size_t step)
{
    return usual_device(rank, step) + (rank >= 4 ? DEVICE / 4 : 0);
}

static void what_most_have_is_usual(void)
{
    hand_job *h = hand_new(12, 8, usual_host, slow_most);
    hand_judge(h, alpha, least_cost);
    CU_ASSERT_EQUAL(h->judgement.candidates.n, 0);
    hand_free(h);
}

/* Ranks 4 to 7 of 12 are equally late: repairing one of them alone gains nothing. */
static int64_t slow_four(size_t rank, size_t step)
{
    return usual_device(rank, step) + (rank >= 4 && rank < 8 ? DEVICE / 4 : 0);
}

static void equals_that_hide_each_other_are_all_found(void)
{
    hand_job *h = hand_new(12, 8, usual_host, slow_four);
    hand_judge(h, alpha, least_cost);
    CU_ASSERT_EQUAL(h->judgement.candidates.n, 4);
    for (uint32_t r = 4; r < 8; r++) {
        const tl_candidate *u = hand_candidate(h, r, TL_FAMILY_DEVICE);
        CU_ASSERT_PTR_NOT_NULL_FATAL(u);
        CU_ASSERT(u->needed);
        CU_ASSERT(u->solo_gain_ns < u->marginal_gain_ns / 10);
    }
    CU_ASSERT_DOUBLE_EQUAL((double)h->judgement.joint_gain_ns / (8.0 * DEVICE / 4), 1, 0.05);
    hand_free(h);
}

static int64_t two_faults_host(size_t rank, size_t step)
{
    return usual_host(rank, step) + (rank == 2 && step >= 3 && step <= 5 ? DEVICE / 4 : 0);
}

static int64_t two_faults_device(size_t rank, size_t step)
{
    return usual_device(rank, step) + (rank == 6 && step >= 3 && step <= 5 ? DEVICE / 4 : 0);
}

static void two_faults_in_the_same_steps_are_both_found(void)
{
    hand_job *h = hand_new(8, 8, two_faults_host, two_faults_device);
    hand_judge(h, alpha, least_cost);
    const tl_candidate *host = hand_candidate(h, 2, TL_FAMILY_HOST), *device = hand_candidate(h, 6, TL_FAMILY_DEVICE);
    CU_ASSERT_PTR_NOT_NULL_FATAL(host);
    CU_ASSERT_PTR_NOT_NULL_FATAL(device);
    CU_ASSERT(host->needed && device->needed);
    CU_ASSERT_EQUAL(host->shape.pattern, TL_PATTERN_BOUNDED);
    CU_ASSERT_EQUAL(h->judgement.candidates.n, 2);
    hand_free(h);
}

static void late_without_cost_is_dropped(void)
{
    hand_job *h = hand_new(8, 8, idle_late_host, late_for_long);
    hand_judge(h, alpha, least_cost);
    const tl_candidate *idle = hand_candidate(h, 7, TL_FAMILY_HOST), *device = hand_candidate(h, 0, TL_FAMILY_DEVICE);
    CU_ASSERT_PTR_NOT_NULL_FATAL(idle);
    CU_ASSERT_PTR_NOT_NULL_FATAL(device);
    CU_ASSERT(device->needed && !idle->needed);
    CU_ASSERT_EQUAL(idle->marginal_gain_ns, 0);
    CU_ASSERT_EQUAL(h->judgement.rank_ns[7], -1);
    hand_free(h);
}

/* Rank 0 is later than rank 7 in the same steps: without rank 7 nothing is faster. */
static int64_t slow_and_slower(size_t rank, size_t step)
{
    return usual_device(rank, step) + (rank == 0 ? DEVICE / 2 : rank == 7 ? DEVICE / 5 : 0);
}

static void the_next_bottleneck_is_no_culprit(void)
{
    hand_job *h = hand_new(8, 8, usual_host, slow_and_slower);
    hand_judge(h, alpha, least_cost);
    CU_ASSERT_EQUAL(h->judgement.candidates.n, 2); /* both are late */
    CU_ASSERT(hand_candidate(h, 0, TL_FAMILY_DEVICE)->needed && !hand_candidate(h, 7, TL_FAMILY_DEVICE)->needed);
    CU_ASSERT_EQUAL(h->judgement.rank_ns[7], -1);
    CU_ASSERT_EQUAL(h->judgement.joint_gain_ns, h->judgement.rank_ns[0]);
    hand_free(h);
}

/* Ranks 1 to 3 are as late as each other in the second half, rank 0 alone in the first, or in both by more. */
static bool covered;

static int64_t late_alone_and_together(size_t rank, size_t step)
{
    bool zero = rank == 0 && (step < 4 || covered), group = rank >= 1 && rank <= 3 && step >= 4;
    return usual_device(rank, step) + (zero ? DEVICE / 2 : group ? DEVICE / 5 : 0);
}

static void a_group_that_gains_together_is_named_beside_a_larger_fault(void)
{
    for (int more = 0; more < 2; more++) {
        covered = more;
        hand_job *h = hand_new(8, 8, usual_host, late_alone_and_together);
        hand_judge(h, alpha, least_cost);
        CU_ASSERT_PTR_NOT_NULL_FATAL(hand_candidate(h, 0, TL_FAMILY_DEVICE));
        CU_ASSERT(hand_candidate(h, 0, TL_FAMILY_DEVICE)->needed);
        for (uint32_t r = 1; r <= 3; r++) {
            CU_ASSERT_PTR_NOT_NULL_FATAL(hand_candidate(h, r, TL_FAMILY_DEVICE));
            CU_ASSERT_EQUAL(hand_candidate(h, r, TL_FAMILY_DEVICE)->needed, !covered);
        }
        hand_free(h);
    }
}

static void what_is_not_worth_acting_upon_is_the_users_choice(void)
{
    hand_job *h = hand_new(8, 8, usual_host, slow_device);
    hand_judge(h, alpha, 0.5); /* it costs a fifth of a step, and is late by no more: there is nothing to replay */
    CU_ASSERT_EQUAL(h->judgement.candidates.n, 0);
    CU_ASSERT_EQUAL_FATAL(h->judgement.slight.n, 1);
    const tl_candidate *u = h->judgement.slight.v;
    CU_ASSERT(u->rank == 3 && u->p < 1e-6 && !u->needed && u->solo_gain_ns == u->late_ns);
    CU_ASSERT_DOUBLE_EQUAL((double)u->late_ns / (8.0 * DEVICE / 5), 1, 0.05);
    hand_free(h);
}

/* ----------------------------------------------------------------------------------------------------------- limits */

static void the_check_of_the_replay_can_fail(void)
{
    const tl_verdict_options options = { alpha, least_cost };
    hand_job *h = hand_new(4, 4, usual_host, usual_device);
    hand_baseline(h);
    h->served.server.ranks[1].final.ports[2].meeting_done_ns -= 7; /* its END is done 7 ns later than it was */
    tl_verdict_find(&h->baseline, &options, &h->judgement);
    CU_ASSERT_EQUAL(h->judgement.error_ns, 7);
    hand_free(h);
}

int main(void)
{
    static const unit_test tests[] = {
        TEST(a_healthy_job_has_nobody_late),
        TEST(who_is_always_late_is_persistent),
        TEST(who_is_late_once_is_that),
        TEST(the_first_and_the_last_step_accuse_nobody_alone),
        TEST(an_edge_step_counts_beside_one_within),
        TEST(an_edge_step_counts_that_is_as_late_as_one_within),
        TEST(two_may_be_late_in_turn),
        TEST(who_gets_later_drifts),
        TEST(one_step_is_judged_by_what_ranks_differ_by),
        TEST(two_ranks_and_two_steps_prove_nothing),
        TEST(one_of_two_is_late_in_some_steps),
        TEST(what_nobody_can_act_on_is_not_late),
        TEST(the_scale_of_few_ranks_is_that_of_their_noise),
        TEST(half_of_the_ranks_late_now_and_then_is_no_noise),
        TEST(who_is_late_once_stands_out_from_all_families),
        TEST(what_most_have_is_usual),
        TEST(equals_that_hide_each_other_are_all_found),
        TEST(two_faults_in_the_same_steps_are_both_found),
        TEST(late_without_cost_is_dropped),
        TEST(the_next_bottleneck_is_no_culprit),
        TEST(a_group_that_gains_together_is_named_beside_a_larger_fault),
        TEST(what_is_not_worth_acting_upon_is_the_users_choice),
        TEST(the_check_of_the_replay_can_fail),
    };
    return unit_main("the verdict by graph", tests, COUNT(tests));
}
