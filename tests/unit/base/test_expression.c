/* test_expression.c - patterns: those whose repetitions would keep the C library for seconds or minutes are refused. */
#include "tlmpi/base/pattern.h"
#include "unit.h"
#include <stdbool.h>
#include <string.h>

/* Whether the expression is taken; *why is what is said otherwise. */
static bool is_taken(const char *text, tl_error *why)
{
    regex_t pattern;
    *why = (tl_error){ 0 };
    if (tl_pattern_compile(&pattern, "--where", text, why) != TL_OK)
        return false;
    regfree(&pattern);
    return true;
}

static void common_patterns_are_taken(void)
{
    static const char *const patterns[] = {
        "gemm", "^ampere_.*gemm_[0-9]+x[0-9]+", "(a|b)+c{2,3}", "a{255}", "(a{60}){60}", "[{+(]{3}", "\\{{5}", "x{2,}",
        "((a+)+)+", "[[:alpha:]_]{1,64}", "",
    };
    tl_error why;
    for (size_t i = 0; i < COUNT(patterns); i++)
        CU_ASSERT_TRUE(is_taken(patterns[i], &why));
}

static void repetitions_of_repetitions_are_refused(void)
{
    static const char *const patterns[] = {
        "((a{255}){255}){255}",       "((a{0,255}){0,255}){2}",  "(a{64}){64}",          "(((a{200,}){200,}){200,})",
        "a{200}{200}{200}",           "([(]{99}){99}",           "(((a{50}){50}){50",    "a{32767}",
        "((((((((((((a+)+)+)+)+)+)+)+)+)+)+)+)+", "b(a{2000}|c{2000}){2}",
    };
    tl_error why;
    for (size_t i = 0; i < COUNT(patterns); i++) {
        CU_ASSERT_FALSE(is_taken(patterns[i], &why));
        CU_ASSERT_EQUAL(why.status, TL_EUSAGE);
        CU_ASSERT_PTR_NOT_NULL(strstr(why.text, "repetitions"));
    }
}

static void what_is_no_pattern_is_told(void)
{
    static const char *const patterns[] = { "(", "[", "a{2", "a{3,2}", "\\", "(a{5}){" };
    tl_error why;
    for (size_t i = 0; i < COUNT(patterns); i++) {
        const bool taken = is_taken(patterns[i], &why);
        CU_ASSERT_TRUE(taken || strstr(why.text, "is no pattern") != NULL);
    }
}

static const unit_test tests[] = {
    TEST(common_patterns_are_taken),
    TEST(repetitions_of_repetitions_are_refused),
    TEST(what_is_no_pattern_is_told),
};

int main(void)
{
    return unit_main("expression", tests, COUNT(tests));
}
