/* test_verdict.c - from charges and what repairs gain to a verdict.
 *
 * A drawing has two lines for each rank and a digit for each step of 100 ms: what others waited for it, and what its
 * repair gains, in ms. */
#include "src/analysis/judging/judging.h"
#include "tlmpi/analysis/judging.h"
#include "unit.h"
#include <math.h>
#include <string.h>

enum { RANKS_MAX = 8, STEPS_MAX = 32 };

static tl_table blame = { .schema = &tl_blame_schema }, blame_step = { .schema = &tl_blame_step_schema },
                stragglers = { .schema = &tl_straggler_schema };

static bool waits_known;
static int64_t simulated_ns = -1; /* what the repair of rank 0 gains as a whole; -1: nobody has asked */
/* The part of a rank's time that it is charged for. */
static uint8_t charged_for = TL_PART_COMPUTE;

/* What the repair of all suspects gains. */
static int64_t together_ns;

static int64_t ms(char digit)
{
    return digit == '.' ? 0 : (digit - '0') * INT64_C(1000000);
}

static const tl_straggler *verdict_of(size_t rank)
{
    return tl_table_row(&stragglers, rank);
}

static void judge(const int64_t *late_counts, const char *const *lines)
{
    static const int32_t ranks[RANKS_MAX] = { 0, 1, 2, 3, 4, 5, 6, 7 }, roles[RANKS_MAX] = { 0 };
    static tl_job_step steps[STEPS_MAX];
    static double gain[RANKS_MAX * STEPS_MAX];
    size_t nranks = 0, nsteps = strlen(lines[0]);
    tl_error err;

    tl_table_free(&blame);
    tl_table_free(&blame_step);
    tl_table_free(&stragglers);
    for (; lines[2 * nranks] != NULL; nranks++)
        for (size_t s = 0; s < nsteps; s++) {
            int32_t to = (int32_t)nranks;
            tl_blame row = { .to_rank = to,
                             .step = (int32_t)s,
                             .from_rank = to == 0 ? 1 : 0,
                             .cause = charged_for,
                             .waiters = 1,
                             .direct_ns = ms(lines[2 * nranks][s]) };
            if (row.direct_ns > 0)
                CU_ASSERT_FATAL(tl_table_append(&blame, &row, 1));
            gain[nranks * nsteps + s] = (double)ms(lines[2 * nranks + 1][s]);
        }
    for (size_t s = 0; s < nsteps; s++)
        steps[s] = (tl_job_step){ (int32_t)s, 100000000 };
    const tl_verdict_input input = { .blame = &blame,
                                     .ranks = ranks,
                                     .roles = roles,
                                     .late_counts = late_counts,
                                     .nranks = nranks,
                                     .steps = steps,
                                     .nsteps = nsteps,
                                     .gain_ns = gain,
                                     .waits_known = waits_known };
    const tl_verdict_gains gains = { true, together_ns };
    CU_ASSERT_FATAL(tl_table_sort(&blame));
    CU_ASSERT_EQUAL_FATAL(tl_verdict_make(&input, &blame_step, &stragglers, &err), TL_OK);
    CU_ASSERT_EQUAL(verdict_of(0)->gain_ns, -1);
    CU_ASSERT(isnan(verdict_of(0)->slowdown));
    ((tl_straggler *)tl_table_row(&stragglers, 0))->gain_ns = simulated_ns;
    CU_ASSERT_EQUAL_FATAL(tl_verdict_judge(&input, &gains, &blame_step, &stragglers, &err), TL_OK);
}

static const int64_t none[RANKS_MAX] = { 0 };

#define JUDGE(counts, ...) judge(counts, (const char *const[]){ __VA_ARGS__, NULL })

/* Of 100 ms in one of 10 steps 1 ms is much; of all of them together it is nothing. */
static void a_gain_is_held_against_the_steps_that_it_lies_in(void)
{
    tl_job_step steps[10];
    for (int32_t s = 0; s < 10; s++)
        steps[s] = (tl_job_step){ s, 100000000 };
    const tl_verdict_input input = { .steps = steps, .nsteps = 10 };
    CU_ASSERT_TRUE(tl_gain_matters(&input, 4, 4, 1000000));
    CU_ASSERT_FALSE(tl_gain_matters(&input, 4, 5, 1000000));
    CU_ASSERT_FALSE(tl_gain_matters(&input, 0, 9, 7900000));
    CU_ASSERT_TRUE(tl_gain_matters(&input, 0, 9, 8000000));
    CU_ASSERT_FALSE(tl_gain_matters(&input, 4, 4, 0));
}

/* Rank 0 makes others wait in many steps, but only from 4 to 7 would the job have been faster without. */
static void what_a_repair_gains_tells_when_it_acted(void)
{
    JUDGE(none, "33..8888.3.3", /* */
          "....7777....", "..3......3..", "............", ".3......3...", "............");
    const tl_straggler *row = verdict_of(0);
    CU_ASSERT_EQUAL(row->verdict, TL_VERDICT_STRAGGLER);
    CU_ASSERT_EQUAL(row->pattern, TL_PATTERN_BOUNDED);
    CU_ASSERT(row->first_step == 4 && row->last_step == 7);
    CU_ASSERT_EQUAL(verdict_of(1)->verdict, TL_VERDICT_OK);
}

/* Its steps would be shorter.  That its repair gains nothing as a whole acquits a rank; that nobody has asked does not. */
static void only_a_simulated_gain_acquits(void)
{
    static const struct {
        int64_t simulated_ns;
        tl_verdict verdict;
    } cases[] = { { -1, TL_VERDICT_STRAGGLER }, { 0, TL_VERDICT_OK }, { 28000000, TL_VERDICT_STRAGGLER } };
    waits_known = true;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        simulated_ns = cases[i].simulated_ns;
        JUDGE(none, "33..8888.3.3", /* */
              "....7777....", "..3......3..", "............", ".3......3...", "............");
        CU_ASSERT_EQUAL(verdict_of(0)->verdict, cases[i].verdict);
    }
    waits_known = false;
    simulated_ns = -1;
}

/* Nobody's repair gains anything: some come last, as some must. */
static void waits_that_cost_nothing_are_nobodys_fault(void)
{
    JUDGE(none, "3.4.3..3..4.", /* */
          "............", ".3...4..3..3", "............", "..3.4.3..3..", "............");
    for (size_t r = 0; r < 3; r++)
        CU_ASSERT_EQUAL(verdict_of(r)->verdict, TL_VERDICT_OK);
}

/* Always, by far the most, and the replay does not see it: what it waited for has no trace. */
static void waits_that_no_replay_explains_are_believed(void)
{
    JUDGE(none, "988989898989", /* */
          "............", ".......1....", "............", "...1........", "............");
    CU_ASSERT_EQUAL(verdict_of(0)->verdict, TL_VERDICT_STRAGGLER);
    CU_ASSERT_EQUAL(verdict_of(0)->pattern, TL_PATTERN_PERSISTENT);
}

/* Where every rank has a trace, the replay knows what they wait for: their devices have the time. */
static void waits_of_a_device_that_has_the_time_are_nobodys_fault(void)
{
    waits_known = true;
    JUDGE(none, "988989898989", /* */
          "............", ".......1....", "............", "...1........", "............");
    CU_ASSERT_EQUAL(verdict_of(0)->verdict, TL_VERDICT_OK);
    waits_known = false;
}

/* What it spent in communication that nobody matched is no delay of its own. */
static void who_waited_for_others_is_not_late(void)
{
    charged_for = TL_PART_COMM;
    JUDGE(none, "988989898989", /* */
          "............", ".......1....", "............", "...1........", "............");
    CU_ASSERT_EQUAL(verdict_of(0)->verdict, TL_VERDICT_OK);
    charged_for = TL_PART_COMPUTE;
}

/* Others wait for it outside of all steps, too: of that no verdict is made, but all of it is counted. */
static void the_sum_of_what_others_waited_is_that_of_all_charges(void)
{
    JUDGE(none, "333333333333", /* */
          "............", "............", "............", "............", "............");
    const tl_blame outside = { .to_rank = 0, .step = -1, .from_rank = 1, .direct_ns = 5, .indirect_ns = 2 };
    CU_ASSERT_EQUAL(verdict_of(0)->blame_ns, 36000000);
    CU_ASSERT_FATAL(tl_table_append(&blame, &outside, 1) && tl_table_sort(&blame));
    tl_verdict_sum_all(&blame, &stragglers);
    CU_ASSERT_EQUAL(verdict_of(0)->blame_ns, 36000007);
    CU_ASSERT_EQUAL(verdict_of(1)->blame_ns, 0);
}

/* Reason and pattern count the same steps; others that are flagged are told. */
static void a_reason_counts_the_steps_of_its_pattern(void)
{
    JUDGE(none, ".2....9..3..", /* */
          ".2....9..2..", "..3........2", "..1........1", ".....2......", ".....1......");
    CU_ASSERT_NSTRING_EQUAL(verdict_of(0)->reason, "1 of 12 steps (2 more flagged), 9.0 % of them, far more", 55);
    JUDGE(none, "888", /* the first alone may be how recordings begin */
          "888", "...", "...", "...", "...");
    CU_ASSERT_EQUAL(verdict_of(0)->pattern, TL_PATTERN_PERSISTENT);
    CU_ASSERT_NSTRING_EQUAL(verdict_of(0)->reason, "3 of 3 steps, ", 14);
}

/* It is late now and then, nobody else ever, and most so in step 6. */
static void the_worst_of_many_steps_is_no_one_off(void)
{
    JUDGE(none, ".3.3.393.3.3", /* */
          ".3.3.393.3.3", "1..........1", "1..........1");
    const tl_straggler *row = verdict_of(0);
    CU_ASSERT_EQUAL(row->verdict, TL_VERDICT_STRAGGLER);
    CU_ASSERT_EQUAL(row->pattern, TL_PATTERN_SPORADIC);
    CU_ASSERT(row->first_step == 1 && row->last_step == 11);
    CU_ASSERT_NSTRING_EQUAL(row->reason, "7 of 12 steps, ", 15);
}

static void one_step_far_above_all_others_is_one_off(void)
{
    JUDGE(none, ".2....9..3..", /* */
          ".2....9..2..", "..3........2", "..1........1", ".....2......", ".....1......");
    const tl_straggler *row = verdict_of(0);
    CU_ASSERT_EQUAL(row->verdict, TL_VERDICT_STRAGGLER);
    CU_ASSERT_EQUAL(row->pattern, TL_PATTERN_ONE_OFF);
    CU_ASSERT(row->first_step == 6 && row->last_step == 6);
}

/* Of one step nothing can be tested; who is last in most of its collectives is named. */
static void in_one_step_its_collectives_tell(void)
{
    static const int64_t often[RANKS_MAX] = { 30, 2, 3, 1 }, even[RANKS_MAX] = { 9, 9, 8, 10 };
    JUDGE(often, "9", "2", ".", ".", ".", ".", ".", ".");
    CU_ASSERT_EQUAL(verdict_of(0)->verdict, TL_VERDICT_STRAGGLER);
    JUDGE(even, "9", "2", ".", ".", ".", ".", ".", ".");
    CU_ASSERT_EQUAL(verdict_of(0)->verdict, TL_VERDICT_OK);
}

/* Ranks 0 and 1 are late by turns, so that a repair of either gains nothing, and of both 3 % of the step. */
static void in_one_step_ranks_that_hide_each_other_are_told_by_both(void)
{
    static const int64_t turns[RANKS_MAX] = { 30, 26, 3, 1, 2, 0 };
    waits_known = true;
    for (int both = 0; both < 2; both++) {
        together_ns = both == 1 ? ms('3') : 0;
        JUDGE(turns, "9", ".", "8", ".", ".", ".", ".", ".", ".", ".", ".", ".");
        for (size_t r = 0; r < 3; r++)
            CU_ASSERT_EQUAL(verdict_of(r)->verdict,
                            both == 1 && r < 2 ? TL_VERDICT_STRAGGLER : TL_VERDICT_OK);
    }
    together_ns = 0;
    waits_known = false;
}

int main(void)
{
    static const unit_test tests[] = {
        TEST(what_a_repair_gains_tells_when_it_acted),
        TEST(only_a_simulated_gain_acquits),
        TEST(waits_that_cost_nothing_are_nobodys_fault),
        TEST(a_gain_is_held_against_the_steps_that_it_lies_in),
        TEST(waits_that_no_replay_explains_are_believed),
        TEST(waits_of_a_device_that_has_the_time_are_nobodys_fault),
        TEST(who_waited_for_others_is_not_late),
        TEST(the_sum_of_what_others_waited_is_that_of_all_charges),
        TEST(a_reason_counts_the_steps_of_its_pattern),
        TEST(the_worst_of_many_steps_is_no_one_off),
        TEST(one_step_far_above_all_others_is_one_off),
        TEST(in_one_step_its_collectives_tell),
        TEST(in_one_step_ranks_that_hide_each_other_are_told_by_both),
    };
    int failed = unit_main("verdict", tests, COUNT(tests));
    tl_table_free(&blame);
    tl_table_free(&blame_step);
    tl_table_free(&stragglers);
    return failed;
}
