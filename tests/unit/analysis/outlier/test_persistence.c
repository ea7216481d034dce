/* test_persistence.c - which ranks were late, in which steps, and whether it could be chance.
 *
 * A drawing has a line for each rank and a digit for each step: its charge in percent of the step. */
#include "tlmpi/analysis/outlier.h"
#include "tlmpi/base/mem.h"
#include "unit.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { RANKS_MAX = 16, STEPS_MAX = 64 };

static tl_persistence of[RANKS_MAX];
static bool flagged[RANKS_MAX * STEPS_MAX];
static double z[RANKS_MAX * STEPS_MAX];

static void look(const char *const *lines)
{
    static double charge[RANKS_MAX * STEPS_MAX], step[STEPS_MAX];
    tl_charges c = { charge, step, 0, strlen(lines[0]) };
    tl_error err;
    for (; lines[c.nranks] != NULL; c.nranks++)
        for (size_t i = 0; i < c.nsteps; i++)
            charge[c.nranks * c.nsteps + i] = 1e4 * (lines[c.nranks][i] == '.' ? 0 : lines[c.nranks][i] - '0');
    for (size_t i = 0; i < c.nsteps; i++)
        step[i] = 1e6;
    CU_ASSERT_EQUAL_FATAL(tl_persistence_of(&c, of, z, flagged, &err), TL_OK);
}

#define LOOK(...) look((const char *const[]){ __VA_ARGS__, NULL })

static void a_rank_that_is_always_late_is_persistent(void)
{
    LOOK("....1.....", "5656565656", "..........", ".1.......1");
    CU_ASSERT_EQUAL(of[1].pattern, TL_PATTERN_PERSISTENT);
    CU_ASSERT_EQUAL(of[1].share_steps, 1);
    CU_ASSERT(of[1].first == 0 && of[1].last == 9);
    CU_ASSERT(of[1].z > 3.5);
    CU_ASSERT(of[1].p_value < 0.001);
    for (int r = 0; r < 4; r++)
        if (r != 1) {
            CU_ASSERT_EQUAL(of[r].pattern, TL_PATTERN_NONE);
            CU_ASSERT(of[r].first > of[r].last);
            CU_ASSERT_EQUAL(of[r].p_value, 1);
        }
}

static void two_ranks_suffice(void)
{
    LOOK("..........", "5555555555");
    CU_ASSERT_EQUAL(of[1].pattern, TL_PATTERN_PERSISTENT);
    CU_ASSERT(of[1].p_value < 0.01); /* 2 of 2^10 relabellings */
}

static void a_window_is_found_to_the_step(void)
{
    LOOK("..............1.", "...1..6777.67...", "................", ".1............1.");
    CU_ASSERT_EQUAL(of[1].pattern, TL_PATTERN_BOUNDED);
    CU_ASSERT(of[1].first == 6 && of[1].last == 12);
    CU_ASSERT_EQUAL(of[1].nflagged, 6);
    CU_ASSERT(!flagged[1 * 16 + 10] && flagged[1 * 16 + 11]);
}

static void one_step_is_one_off_and_scattered_ones_are_sporadic(void)
{
    LOOK("....9...........", "9..9....9...9..9", "................");
    CU_ASSERT_EQUAL(of[0].pattern, TL_PATTERN_ONE_OFF);
    CU_ASSERT(of[0].first == 4 && of[0].last == 4);
    CU_ASSERT_EQUAL(of[1].pattern, TL_PATTERN_SPORADIC);
    CU_ASSERT(of[1].first == 0 && of[1].last == 15);
}

static void what_comes_every_other_step_is_sporadic(void)
{
    LOOK("............", "5.5.5.5.5.5.", "............");
    CU_ASSERT_EQUAL(of[1].pattern, TL_PATTERN_SPORADIC);
    CU_ASSERT(of[1].first == 0 && of[1].last == 10);
}

static void what_grows_is_drifting(void)
{
    LOOK("................", "1122333445566778", "................");
    CU_ASSERT_EQUAL(of[1].pattern, TL_PATTERN_DRIFTING);
}

static void less_than_a_percent_of_the_step_is_never_flagged(void)
{
    static double charge[20], step[10];
    tl_error err;
    for (int i = 0; i < 10; i++) {
        charge[i] = 9.9e3;
        step[i] = 1e6;
    }
    CU_ASSERT_EQUAL(tl_persistence_of(&(tl_charges){ charge, step, 2, 10 }, of, NULL, NULL, &err), TL_OK);
    CU_ASSERT_EQUAL(of[0].nflagged, 0);
    for (int i = 0; i < 10; i++)
        charge[i] = 1.6e4;
    CU_ASSERT_EQUAL(tl_persistence_of(&(tl_charges){ charge, step, 2, 10 }, of, NULL, NULL, &err), TL_OK);
    CU_ASSERT_EQUAL(of[0].nflagged, 10);
}

/* One rank was late in most steps, another once by twenty times as much. */
static void a_pause_of_one_hides_nobody_who_is_always_late(void)
{
    static double charge[3 * 20], step[20];
    tl_error err;
    for (int i = 0; i < 20; i++) {
        step[i] = 1e6;
        charge[i] = i % 5 == 4 ? 0 : 3e4;
        charge[20 + i] = i == 7 ? 6e5 : 0;
    }
    CU_ASSERT_EQUAL(tl_persistence_of(&(tl_charges){ charge, step, 3, 20 }, of, NULL, NULL, &err), TL_OK);
    CU_ASSERT(of[0].p_value < 0.001);
    CU_ASSERT(of[1].p_value > 0.5);
}

/* Pauses of others, longer than all it costs, one each: nobody else is late twice. */
static void long_pauses_of_several_hide_nobody_who_is_late_in_many_steps(void)
{
    LOOK("...9......", "2.22.2.22.", ".9........", "....9.....", "......9..9", "..........", "..........",
         "..........");
    CU_ASSERT(of[1].p_value <= 0.01);
    for (int r = 0; r < 8; r++)
        if (r != 1)
            CU_ASSERT(of[r].p_value > 0.1);
    /* Of two ranks one is late in six of ten steps often enough. */
    LOOK("...9.9.9.9", "222.2.2.2.");
    CU_ASSERT(of[1].p_value > 0.1);
}

static void chance_is_called_chance(void)
{
    LOOK("3..3....3...", ".3....3...3.", "..3.3......3", ".....3.3.3..");
    for (int r = 0; r < 4; r++)
        CU_ASSERT(of[r].p_value > 0.2);
}

static void too_few_steps_have_no_p(void)
{
    LOOK("....", "5555", "....");
    CU_ASSERT(isnan(of[1].p_value));
    CU_ASSERT_EQUAL(of[1].pattern, TL_PATTERN_PERSISTENT);
    LOOK("5555555");
    CU_ASSERT(isnan(of[0].p_value));
    CU_ASSERT_EQUAL(of[0].pattern, TL_PATTERN_NONE); /* alone: nobody to compare with */
}

/* Ranks in another order: the same answer for each. */
static void the_order_of_ranks_does_not_matter(void)
{
    LOOK("...1..6777.6....", "2...............", "....3..........1", "................");
    tl_persistence one = of[0], two = of[2];
    LOOK("................", "2...............", "...1..6777.6....", "....3..........1");
    CU_ASSERT(of[2].z == one.z && of[2].first == one.first && of[2].last == one.last && of[2].pattern == one.pattern);
    CU_ASSERT(fabs(of[2].p_value - one.p_value) < 0.02);
    CU_ASSERT(of[3].z == two.z && of[3].nflagged == two.nflagged);
}

static void without_memory_it_says_so(void)
{
    static double charge[20], step[10] = { 1, 1, 1, 1, 1, 1, 1, 1, 1, 1 };
    tl_error err;
    charge[3] = 1;
    bool failed = true;
    for (size_t n = 1; failed && n < 100; n++) {
        tl_mem_fail_after(n);
        failed = tl_persistence_of(&(tl_charges){ charge, step, 2, 10 }, of, NULL, NULL, &err) == TL_ENOMEM;
        tl_mem_fail_after(0);
    }
    CU_ASSERT_FALSE(failed);
}

static const unit_test tests[] = {
    TEST(a_rank_that_is_always_late_is_persistent),
    TEST(two_ranks_suffice),
    TEST(a_window_is_found_to_the_step),
    TEST(one_step_is_one_off_and_scattered_ones_are_sporadic),
    TEST(what_comes_every_other_step_is_sporadic),
    TEST(what_grows_is_drifting),
    TEST(less_than_a_percent_of_the_step_is_never_flagged),
    TEST(a_pause_of_one_hides_nobody_who_is_always_late),
    TEST(long_pauses_of_several_hide_nobody_who_is_late_in_many_steps),
    TEST(chance_is_called_chance),
    TEST(too_few_steps_have_no_p),
    TEST(the_order_of_ranks_does_not_matter),
    TEST(without_memory_it_says_so),
};

int main(void)
{
    return unit_main("persistence", tests, COUNT(tests));
}
