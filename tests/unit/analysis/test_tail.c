/* test_tail.c - the tail of the noise of a job: lighter than assumed only where many values show it. */
#include "tlmpi/analysis/chance.h"
#include "tlmpi/model/parameters.h"
#include "unit.h"
#include <math.h>

enum { NMEMBERS = 16, NSTEPS = 40 };

static double x[NMEMBERS * NSTEPS], column[NSTEPS];
static uint64_t state = 1;

/* A value evenly drawn from 0 to 1. */
static double drawn(void)
{
    state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return ((double)(state >> 11) + 0.5) / (double)(UINT64_C(1) << 53);
}

static double normal(void)
{
    const double pi = acos(-1);
    return sqrt(-2 * log(drawn())) * cos(2 * pi * drawn());
}

/* Student's t with three degrees of freedom. */
static double heavy(void)
{
    double squares = 0;
    for (int i = 0; i < 3; i++) {
        const double of = normal();
        squares += of * of;
    }
    return normal() / sqrt(squares / 3);
}

static void draw(double (*value)(void))
{
    for (size_t i = 0; i < NMEMBERS * NSTEPS; i++)
        x[i] = value();
}

static void normal_noise_has_a_light_tail(void)
{
    draw(normal);
    CU_ASSERT_TRUE(tl_tail_degrees_of(x, NMEMBERS, NSTEPS, column) > 2 * TL_TAIL_DEGREES);
}

static void few_values_show_no_light_tail(void)
{
    draw(normal);
    CU_ASSERT_TRUE(tl_tail_degrees_of(x, 3, 4, column) < 1.5 * TL_TAIL_DEGREES);
    CU_ASSERT_EQUAL(tl_tail_degrees_of(x, 1, NSTEPS, column), TL_TAIL_DEGREES);
    CU_ASSERT_EQUAL(tl_tail_degrees_of(x, 4, 1, column), TL_TAIL_DEGREES);
}

static void heavy_tails_are_seen(void)
{
    draw(normal);
    const double light = tl_tail_degrees_of(x, NMEMBERS, NSTEPS, column);
    draw(heavy);
    const double degrees = tl_tail_degrees_of(x, NMEMBERS, NSTEPS, column);
    CU_ASSERT_TRUE(degrees < 1.5 * TL_TAIL_DEGREES);
    CU_ASSERT_TRUE(degrees < light / 2);
}

static void a_late_member_makes_the_tail_of_others_no_heavier(void)
{
    draw(normal);
    for (size_t s = 0; s < 3; s++)
        x[(NMEMBERS - 1) * NSTEPS + s] += 30;
    CU_ASSERT_TRUE(tl_tail_degrees_of(x, NMEMBERS, NSTEPS, column) > 2 * TL_TAIL_DEGREES);
}

static void unknown_steps_are_left_out(void)
{
    draw(normal);
    const double all = tl_tail_degrees_of(x, NMEMBERS - 1, NSTEPS, column);
    for (size_t s = 0; s < NSTEPS; s++)
        x[(NMEMBERS - 1) * NSTEPS + s] = NAN;
    CU_ASSERT_EQUAL(tl_tail_degrees_of(x, NMEMBERS, NSTEPS, column), tl_tail_degrees_of(x, NMEMBERS - 1, NSTEPS, column));
    CU_ASSERT_EQUAL(all, tl_tail_degrees_of(x, NMEMBERS - 1, NSTEPS, column));
}

static const unit_test tests[] = {
    TEST(normal_noise_has_a_light_tail),
    TEST(few_values_show_no_light_tail),
    TEST(heavy_tails_are_seen),
    TEST(a_late_member_makes_the_tail_of_others_no_heavier),
    TEST(unknown_steps_are_left_out),
};

int main(void)
{
    return unit_main("tail", tests, COUNT(tests));
}
