/* test_shape.c - when is a unit late? */
#include "tlmpi/analysis/verdict/stragglers.h"
#include "unit.h"
#include <math.h>
#include <string.h>

enum { MOST = 32 };

/* A digit a step: its lateness, in units of ten sigmas but for the noise of `wobble` sigmas. */
static tl_shape shape_of(const char *drawn, double wobble, bool *up)
{
    static const double noise[] = { 0.3, -0.8, 1.1, -0.2, 0.6, -1.0, 0.1, -0.5, 0.9, -0.4 };
    double x[MOST];
    size_t n = strlen(drawn);
    tl_shape shape;
    for (size_t s = 0; s < n; s++)
        x[s] = 10.0 * (drawn[s] - '0') + wobble * noise[s % 10];
    tl_shape_of(x, n, 1, &shape, up);
    return shape;
}

/* Whether the shape of what is drawn is late in the steps marked #. */
static void expect(const char *drawn, const char *marked, tl_pattern pattern)
{
    for (double wobble = 0; wobble <= 1; wobble += 0.5) {
        bool up[MOST];
        char got[MOST + 1] = "";
        tl_shape shape = shape_of(drawn, wobble, up);
        for (size_t s = 0; drawn[s] != 0; s++)
            got[s] = up[s] ? '#' : '.';
        CU_ASSERT_STRING_EQUAL(got, marked);
        CU_ASSERT_EQUAL(shape.pattern, pattern);
    }
}

static void late_in_all_steps_is_persistent(void)
{
    expect("11111111", "########", TL_PATTERN_PERSISTENT);
    expect("111", "###", TL_PATTERN_PERSISTENT);
    expect("1", "#", TL_PATTERN_PERSISTENT);
    expect("1111011111", "####.#####", TL_PATTERN_PERSISTENT);
    expect("3334333433", "##########", TL_PATTERN_PERSISTENT); /* not alike, but all late */
}

static void late_for_a_while_is_bounded(void)
{
    expect("00011110", "...####.", TL_PATTERN_BOUNDED);
    expect("00000011", "......##", TL_PATTERN_BOUNDED);
}

static void late_now_and_then_is_sporadic(void)
{
    expect("0300003030", ".#....#.#.", TL_PATTERN_SPORADIC);
}

static void late_once_is_one_off(void)
{
    expect("0000400000", "....#.....", TL_PATTERN_ONE_OFF);
}

static void what_grows_is_drifting(void)
{
    expect("0000123456", "....######", TL_PATTERN_DRIFTING);
    expect("1234567", "#######", TL_PATTERN_DRIFTING);
}

static void noise_is_no_shape(void)
{
    bool up[MOST];
    tl_shape shape = shape_of("00000000", 1, up);
    CU_ASSERT_EQUAL(shape.nup, 0);
    CU_ASSERT_EQUAL(shape.pattern, TL_PATTERN_NONE);
    CU_ASSERT_EQUAL(shape.first, 8);
}

int main(void)
{
    static const unit_test tests[] = {
        TEST(late_in_all_steps_is_persistent), TEST(late_for_a_while_is_bounded), TEST(late_now_and_then_is_sporadic),
        TEST(late_once_is_one_off),            TEST(what_grows_is_drifting),      TEST(noise_is_no_shape),
    };
    return unit_main("shape", tests, COUNT(tests));
}
