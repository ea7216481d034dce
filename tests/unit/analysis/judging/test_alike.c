/* test_alike.c - ranks that hide each other.  A digit a rank: how much longer an ideal job takes with it. */
#include "src/analysis/judging/alike.h"
#include "unit.h"
#include <string.h>

enum { RANKS_MAX = 16 };

/* "0110": ranks 1 and 2 are the first unit; "" where there are none. */
static const char *members(const char *own)
{
    static char text[RANKS_MAX + 1];
    int64_t own_ns[RANKS_MAX] = { 0 };
    uint32_t unit_of[RANKS_MAX];
    size_t n = strlen(own), seen = 0;

    for (size_t r = 0; r < n; r++)
        own_ns[r] = (own[r] - '0') * 100;
    size_t units = tl_alike_units(own_ns, n, unit_of);
    if (units == 0)
        return "";
    for (size_t r = 0; r < n; r++) {
        text[r] = unit_of[r] == 0 ? '1' : '0';
        CU_ASSERT(unit_of[r] == 0 || unit_of[r] == ++seen);
    }
    CU_ASSERT_EQUAL(units, seen + 1);
    text[n] = '\0';
    return text;
}

static void two_or_a_few_stand_far_above_the_rest(void)
{
    CU_ASSERT_STRING_EQUAL(members("10901801"), "00100100");
    CU_ASSERT_STRING_EQUAL(members("0950"), "0110");
    CU_ASSERT_STRING_EQUAL(members("1099800100001000"), "0011100000000000");
    CU_ASSERT_STRING_EQUAL(members("09109801"), "01001100"); /* most are well */
}

static void one_alone_hides_behind_nobody(void)
{
    CU_ASSERT_STRING_EQUAL(members("00900000"), "");
    CU_ASSERT_STRING_EQUAL(members("00940100"), "");
}

static void those_who_differ_by_chance_are_no_unit(void)
{
    CU_ASSERT_STRING_EQUAL(members("98453412"), ""); /* the next is too near */
    CU_ASSERT_STRING_EQUAL(members("99990000"), ""); /* too many of eight */
    CU_ASSERT_STRING_EQUAL(members("990"), "");
    CU_ASSERT_STRING_EQUAL(members("00000000"), "");
}

int main(void)
{
    static const unit_test tests[] = {
        TEST(two_or_a_few_stand_far_above_the_rest),
        TEST(one_alone_hides_behind_nobody),
        TEST(those_who_differ_by_chance_are_no_unit),
    };
    return unit_main("alike", tests, COUNT(tests));
}
