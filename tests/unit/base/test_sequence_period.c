/* test_sequence_period.c - after how many letters a text returns; a letter a microsecond, a dot is a pause of one. */
#include "tlmpi/base/sequence_period.h"
#include "unit.h"
#include <string.h>

enum { MOST = 512 };

static size_t period_of(const char *text)
{
    uint64_t tokens[MOST];
    int64_t times_ns[MOST];
    size_t n = 0, period = 99;
    for (size_t i = 0; text[i] != 0; i++)
        if (text[i] != '.') {
            tokens[n] = (uint64_t)(unsigned char)text[i];
            times_ns[n++] = (int64_t)i * 1000;
        }
    tl_sequence_period(tokens, times_ns, n, &period);
    return period;
}

static void a_sequence_returns_after_its_period(void)
{
    CU_ASSERT_EQUAL(period_of("abbcabbcabbcabbc"), 4);
    CU_ASSERT_EQUAL(period_of("bcabbcabbca"), 4); /* wherever it begins */
    CU_ASSERT_EQUAL(period_of("a...a...a...a"), 1);
}

static void what_is_not_seen_twice_and_a_half_is_none(void)
{
    CU_ASSERT_EQUAL(period_of("abcdabcd"), 0);
    CU_ASSERT_EQUAL(period_of("abcdabcdab"), 4);
    CU_ASSERT_EQUAL(period_of("abcdefghij"), 0);
    CU_ASSERT_EQUAL(period_of("a"), 0);
    CU_ASSERT_EQUAL(period_of(""), 0);
}

/* Tensor parallel ranks reduce the same all the time: pauses tell. */
static void of_equal_ones_pauses_tell(void)
{
    CU_ASSERT_EQUAL(period_of("a.a.a......a.a.a......a.a.a......a.a.a......a.a.a"), 3);
    CU_ASSERT_EQUAL(period_of("a.a..a......a..a.a......a.a.a.......a.a.a......a.a.a......a.a.a"), 3); /* nearly */
    CU_ASSERT_EQUAL(period_of("aaaaaaaaaaaaaaa"), 1);
}

static void one_in_fifty_may_differ(void)
{
    char text[MOST] = "";
    for (int i = 0; i < 30; i++)
        strcat(text, "abbcd");
    text[72] = 'x';
    CU_ASSERT_EQUAL(period_of(text), 5);
    for (int i = 1; i < 12; i++)
        text[i * i] = 'x';
    CU_ASSERT_EQUAL(period_of(text), 0);
}

int main(void)
{
    static const unit_test tests[] = {
        TEST(a_sequence_returns_after_its_period), TEST(what_is_not_seen_twice_and_a_half_is_none),
        TEST(of_equal_ones_pauses_tell),           TEST(one_in_fifty_may_differ),
    };
    return unit_main("period", tests, COUNT(tests));
}
