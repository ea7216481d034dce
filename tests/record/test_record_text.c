/* test_record_text.c - numbers and texts as Python writes them, at the edges; python.py compares many others. */
#include "internal.h"

#include "unit.h"

#include <float.h>
#include <locale.h>
#include <math.h>
#include <string.h>

static const char *number(double value)
{
    static char copy[64];
    tl_record_text text = { 0 };
    tl_record_text_double(&text, value);
    snprintf(copy, sizeof copy, "%.*s", (int)text.n, text.bytes);
    tl_record_text_free(&text);
    return copy;
}

static void a_number_is_the_shortest_that_reads_back(void)
{
    CU_ASSERT_STRING_EQUAL(number(1.25), "1.25");
    CU_ASSERT_STRING_EQUAL(number((double)0.1f), "0.10000000149011612");
    CU_ASSERT_STRING_EQUAL(number(0.1 + 0.2), "0.30000000000000004");
    CU_ASSERT_STRING_EQUAL(number(0), "0.0");
    CU_ASSERT_STRING_EQUAL(number(-0.0), "-0.0");
    CU_ASSERT_STRING_EQUAL(number(-12), "-12.0");
    CU_ASSERT_STRING_EQUAL(number(1e15), "1000000000000000.0");
    CU_ASSERT_STRING_EQUAL(number(123456789012345680.0), "1.2345678901234568e+17");
    CU_ASSERT_STRING_EQUAL(number(1e16), "1e+16");
    CU_ASSERT_STRING_EQUAL(number(9007199254740993.0), "9007199254740992.0");
    CU_ASSERT_STRING_EQUAL(number(0.0001), "0.0001");
    CU_ASSERT_STRING_EQUAL(number(0.00001), "1e-05");
    CU_ASSERT_STRING_EQUAL(number(DBL_MAX), "1.7976931348623157e+308");
    CU_ASSERT_STRING_EQUAL(number(DBL_MIN), "2.2250738585072014e-308");
    CU_ASSERT_STRING_EQUAL(number(4.9406564584124654e-324), "5e-324");
    CU_ASSERT_STRING_EQUAL(number((double)INFINITY), "null");
    CU_ASSERT_STRING_EQUAL(number((double)NAN), "null");
}

static void below_a_power_of_two_the_nearest_text_may_be_anothers(void)
{
    CU_ASSERT_STRING_EQUAL(number(ldexp(1, -44)), "5.684341886080802e-14");
}

static void a_locale_changes_nothing(void)
{
    static const char *const commas[] = { "de_DE.UTF-8", "fr_FR.UTF-8", "ps_AF.UTF-8" };
    for (size_t i = 0; i < COUNT(commas); i++)
        if (setlocale(LC_NUMERIC, commas[i]) != NULL)
            CU_ASSERT_STRING_EQUAL(number(1.25), "1.25");
    (void)setlocale(LC_NUMERIC, "C");
}

static void keys_are_ordered_by_what_they_are_written_as(void)
{
    CU_ASSERT_TRUE(tl_record_text_compare("a", "b") < 0);
    CU_ASSERT_TRUE(tl_record_text_compare("ab", "a") > 0);
    CU_ASSERT_TRUE(tl_record_text_compare("Z", "a") < 0);
    CU_ASSERT_TRUE(tl_record_text_compare("\xef\xbf\xbf", "\xf0\x90\x80\x80") < 0); /* UTF-16 has them the other way */
    CU_ASSERT_EQUAL(tl_record_text_compare("\xff", "\xef\xbf\xbd"), 0);
    CU_ASSERT_EQUAL(tl_record_text_compare("", ""), 0);
}

int main(void)
{
    static const unit_test tests[] = {
        TEST(a_number_is_the_shortest_that_reads_back),
        TEST(below_a_power_of_two_the_nearest_text_may_be_anothers),
        TEST(a_locale_changes_nothing),
        TEST(keys_are_ordered_by_what_they_are_written_as),
    };
    puts("driver: none, texts alone");
    return unit_main("record_text", tests, COUNT(tests));
}
