/* test_largest_below.c - the largest below a bound, against a look at each. */
#include "tlmpi/base/largest_below.h"
#include "unit.h"

static uint32_t look_at_each(const uint32_t *v, size_t from, size_t to, uint32_t bound)
{
    uint32_t found = TL_LARGEST_BELOW_NONE;
    for (size_t i = from; i < to; i++)
        if (v[i] < bound && (found == TL_LARGEST_BELOW_NONE || v[i] > found))
            found = v[i];
    return found;
}

static void the_drawn_case(void)
{
    static const uint32_t v[] = { 5, 1, 7, 3, 0, 6 };
    tl_largest_below below = { 0 };
    tl_largest_below_make(&below, v, COUNT(v));
    CU_ASSERT_EQUAL(tl_largest_below_find(&below, 1, 5, 6), 3);
    CU_ASSERT_EQUAL(tl_largest_below_find(&below, 1, 5, 3), 1);
    CU_ASSERT_EQUAL(tl_largest_below_find(&below, 1, 5, UINT32_MAX), 7);
    CU_ASSERT_EQUAL(tl_largest_below_find(&below, 4, 5, 0), TL_LARGEST_BELOW_NONE);
    CU_ASSERT_EQUAL(tl_largest_below_find(&below, 4, 4, 9), TL_LARGEST_BELOW_NONE);
    tl_largest_below_free(&below);
}

static void nothing_is_below_in_nothing(void)
{
    static const uint32_t zeros[] = { 0, 0, 0 };
    tl_largest_below below = { 0 };
    tl_largest_below_make(&below, zeros, 0);
    CU_ASSERT_EQUAL(tl_largest_below_find(&below, 0, 0, 5), TL_LARGEST_BELOW_NONE);
    tl_largest_below_free(&below);
    tl_largest_below_make(&below, zeros, COUNT(zeros));
    CU_ASSERT_EQUAL(tl_largest_below_find(&below, 0, 3, 1), 0);
    CU_ASSERT_EQUAL(tl_largest_below_find(&below, 0, 3, 0), TL_LARGEST_BELOW_NONE);
    tl_largest_below_free(&below);
}

/* Few numbers and many, small ones and such with all their bits, across the words of 64. */
static void random_lists_agree_with_a_look_at_each(void)
{
    enum { MOST = 200 };
    static const uint32_t limits[] = { 2, 7, 64, 200, 1U << 20, UINT32_MAX };
    uint64_t seed = 815;
    size_t wrong = 0;
    for (size_t round = 0; round < 600; round++) {
        uint32_t v[MOST], limit = limits[round % COUNT(limits)];
        size_t n = unit_below(&seed, MOST + 1);
        tl_largest_below below = { 0 };
        for (size_t i = 0; i < n; i++)
            v[i] = unit_below(&seed, limit);
        tl_largest_below_make(&below, v, n);
        for (int k = 0; k < 40; k++) {
            size_t from = unit_below(&seed, (uint32_t)n + 1), to = from + unit_below(&seed, (uint32_t)(n - from) + 1);
            uint32_t bound = k % 2 == 0 && n > 0 ? v[unit_below(&seed, (uint32_t)n)] : unit_below(&seed, limit);
            wrong += tl_largest_below_find(&below, from, to, bound) != look_at_each(v, from, to, bound);
        }
        tl_largest_below_free(&below);
    }
    CU_ASSERT_EQUAL(wrong, 0);
}

static const unit_test tests[] = {
    TEST(the_drawn_case),
    TEST(nothing_is_below_in_nothing),
    TEST(random_lists_agree_with_a_look_at_each),
};

int main(void)
{
    return unit_main("below", tests, COUNT(tests));
}
