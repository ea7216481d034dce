/* test_decimal.c - decimal text is read exactly: known cases, and random ones against another way to compute them. */
#include "unit.h"

#include "tlmpi/base/decimal.h"

#include <math.h>
#include <regex.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* What a failed call must leave alone. */
#define UNTOUCHED INT64_C(-4242424242)

static int64_t us_to_ns(const char *text)
{
    int64_t ns = UNTOUCHED;
    bool done = tl_decimal_us_to_ns(text, strlen(text), &ns);
    CU_ASSERT(done || ns == UNTOUCHED);
    return ns;
}

static int64_t to_int(const char *text)
{
    int64_t value = UNTOUCHED;
    bool done = tl_decimal_to_int(text, strlen(text), &value);
    CU_ASSERT(done || value == UNTOUCHED);
    return value;
}

static void microseconds_become_nanoseconds(void)
{
    CU_ASSERT_EQUAL(us_to_ns("0"), 0);
    CU_ASSERT_EQUAL(us_to_ns("7"), 7000);
    CU_ASSERT_EQUAL(us_to_ns("812.400"), 812400);
    CU_ASSERT_EQUAL(us_to_ns("812.4"), 812400);
    CU_ASSERT_EQUAL(us_to_ns("812.40"), 812400);
    CU_ASSERT_EQUAL(us_to_ns("0.001"), 1);
    CU_ASSERT_EQUAL(us_to_ns("6851234567890.123"), INT64_C(6851234567890123));
    CU_ASSERT_EQUAL(us_to_ns("1712345678901234.567"), INT64_C(1712345678901234567));
    CU_ASSERT_EQUAL(us_to_ns("9223372036854775.807"), INT64_MAX);
    CU_ASSERT_EQUAL(us_to_ns("-9223372036854775.808"), INT64_MIN);
    CU_ASSERT_EQUAL(us_to_ns("-1.5"), -1500);
    CU_ASSERT_EQUAL(us_to_ns("+1.5"), 1500);
    CU_ASSERT_EQUAL(us_to_ns("-0"), 0);
    CU_ASSERT_EQUAL(us_to_ns("1.5e3"), 1500000);
    CU_ASSERT_EQUAL(us_to_ns("1500E-3"), 1500);
    CU_ASSERT_EQUAL(us_to_ns("00000000000000000000000000012.5"), 12500);
    CU_ASSERT_EQUAL(us_to_ns("0.00000000000000000000012e22"), 1200);
    CU_ASSERT_EQUAL(us_to_ns("1.71234567890123456700000000000000000000e15"), INT64_C(1712345678901234567));
}

static void finer_than_a_nanosecond_is_rounded_to_even(void)
{
    CU_ASSERT_EQUAL(us_to_ns("1.0004"), 1000);
    CU_ASSERT_EQUAL(us_to_ns("1.0005"), 1000);
    CU_ASSERT_EQUAL(us_to_ns("1.0015"), 1002);
    CU_ASSERT_EQUAL(us_to_ns("1.00050000000000000000000000001"), 1001);
    CU_ASSERT_EQUAL(us_to_ns("1.0006"), 1001);
    CU_ASSERT_EQUAL(us_to_ns("-1.0015"), -1002);
    CU_ASSERT_EQUAL(us_to_ns("0.0005"), 0);
    CU_ASSERT_EQUAL(us_to_ns("0.0005000000001"), 1);
    CU_ASSERT_EQUAL(us_to_ns("0.00009999"), 0);
    CU_ASSERT_EQUAL(us_to_ns("0.9999"), 1000);
    CU_ASSERT_EQUAL(us_to_ns("999.9996"), 1000000);
}

static void what_does_not_fit_is_refused(void)
{
    CU_ASSERT_EQUAL(us_to_ns("9223372036854775.808"), UNTOUCHED);
    CU_ASSERT_EQUAL(us_to_ns("9223372036854775.8075"), UNTOUCHED);
    CU_ASSERT_EQUAL(us_to_ns("9223372036854775.8074"), INT64_MAX);
    CU_ASSERT_EQUAL(us_to_ns("-9223372036854775.809"), UNTOUCHED);
    CU_ASSERT_EQUAL(us_to_ns("-9223372036854775.8085"), INT64_MIN);
    CU_ASSERT_EQUAL(us_to_ns("99999999999999999999"), UNTOUCHED);
    CU_ASSERT_EQUAL(us_to_ns("1e16"), UNTOUCHED);
    CU_ASSERT_EQUAL(us_to_ns("1e999999999999999999999999999999"), UNTOUCHED);
    CU_ASSERT_EQUAL(us_to_ns("1e-999999999999999999999999999999"), 0);
    CU_ASSERT_EQUAL(us_to_ns("0e999999999999999999999999999999"), 0);
    CU_ASSERT_EQUAL(us_to_ns("18446744073709551616"), UNTOUCHED);
}

static void what_is_no_number_is_refused(void)
{
    static const char *const texts[] = { "",     ".",     "-",   "+",     "e5",     "1e",       "1e+",  "1.2.3",
                                         "--1",  "1 ",    " 1",  "0x10",  "inf",    "nan",      "N/A",  "1,5",
                                         "1e5.", "1e5e5", "1-2", "12a.4", "1234.5x", "12345678a", "1.23/", "1.:00" };
    for (size_t i = 0; i < COUNT(texts); i++) {
        double d = 3.5;
        CU_ASSERT_EQUAL(us_to_ns(texts[i]), UNTOUCHED);
        CU_ASSERT_EQUAL(to_int(texts[i]), UNTOUCHED);
        CU_ASSERT_FALSE(tl_decimal_to_double(texts[i], strlen(texts[i]), &d));
        CU_ASSERT_EQUAL(d, 3.5);
    }
    int64_t ns = UNTOUCHED;
    CU_ASSERT_FALSE(tl_decimal_us_to_ns("1\0" "2", 3, &ns));
    CU_ASSERT(tl_decimal_us_to_ns("12345", 2, &ns));
    CU_ASSERT_EQUAL(ns, 12000);
}

static void integers_have_no_fraction(void)
{
    CU_ASSERT_EQUAL(to_int("7"), 7);
    CU_ASSERT_EQUAL(to_int("7.0"), 7);
    CU_ASSERT_EQUAL(to_int("7e2"), 700);
    CU_ASSERT_EQUAL(to_int("700e-2"), 7);
    CU_ASSERT_EQUAL(to_int("-0.0"), 0);
    CU_ASSERT_EQUAL(to_int("0.5e1"), 5);
    CU_ASSERT_EQUAL(to_int("9223372036854775807"), INT64_MAX);
    CU_ASSERT_EQUAL(to_int("-9223372036854775808"), INT64_MIN);
    CU_ASSERT_EQUAL(to_int("9223372036854775808"), UNTOUCHED);
    CU_ASSERT_EQUAL(to_int("-9223372036854775809"), UNTOUCHED);
    CU_ASSERT_EQUAL(to_int("7.5"), UNTOUCHED);
    CU_ASSERT_EQUAL(to_int("7e-1"), UNTOUCHED);
    CU_ASSERT_EQUAL(to_int("1e-400"), UNTOUCHED);
    CU_ASSERT_EQUAL(to_int("1e400"), UNTOUCHED);
}

/* A text of a million digits, in one pass: a slow way would show as minutes. */
static void length_does_not_matter(void)
{
    const size_t n = 1000000;
    char *text = malloc(n + 16);
    CU_ASSERT_PTR_NOT_NULL_FATAL(text);
    int64_t ns = 0;
    double d = 0;

    memset(text, '0', n);
    memcpy(text, "12.", 3);
    CU_ASSERT(tl_decimal_us_to_ns(text, n, &ns));
    CU_ASSERT_EQUAL(ns, 12000);
    CU_ASSERT(tl_decimal_to_double(text, n, &d));
    CU_ASSERT_EQUAL(d, 12.0);

    /* 1 and a million zeros, times 10^-999990: the exponent makes up for the length. */
    memset(text, '0', n);
    text[0] = '1';
    memcpy(text + n, "e-999990", 9);
    CU_ASSERT(tl_decimal_to_int(text, strlen(text), &ns));
    CU_ASSERT_EQUAL(ns, 1000000000);
    CU_ASSERT(tl_decimal_to_double(text, strlen(text), &d));
    CU_ASSERT_EQUAL(d, 1e9);

    /* The last of a million digits decides a tie. */
    memset(text, '0', n);
    memcpy(text, "1.0005", 6);
    CU_ASSERT(tl_decimal_us_to_ns(text, n, &ns));
    CU_ASSERT_EQUAL(ns, 1000);
    text[n - 1] = '1';
    CU_ASSERT(tl_decimal_us_to_ns(text, n, &ns));
    CU_ASSERT_EQUAL(ns, 1001);
    free(text);
}

/* A random text, now and then broken: digits of a random number of places, a point, an exponent. */
static size_t random_text(uint64_t *seed, char *out)
{
    char *p = out;
    unsigned places = unit_below(seed, 4) == 0 ? unit_below(seed, 40) : unit_below(seed, 20);
    unsigned decimals = unit_below(seed, 3) == 0 ? unit_below(seed, 30) : unit_below(seed, 5);
    unsigned nine = unit_below(seed, 6);        /* runs of 9, 0 and 5 are where carries and ties are */

    if (unit_below(seed, 8) == 0)
        *p++ = "-+"[unit_below(seed, 2)];
    for (unsigned i = 0; i < places + decimals; i++) {
        if (i == places)
            *p++ = '.';
        unsigned digit = unit_below(seed, 10);
        *p++ = (char)('0' + (nine == 0 ? 9 : nine == 1 ? (digit < 8 ? 0 : 5) : digit));
    }
    if (unit_below(seed, 6) == 0)
        p += sprintf(p, "%c%s%u", "eE"[unit_below(seed, 2)], unit_below(seed, 2) ? "-" : "", unit_below(seed, 40));
    if (unit_below(seed, 30) == 0 && p > out)
        out[unit_below(seed, (unsigned)(p - out))] = "x.e- :/"[unit_below(seed, 7)];
    *p = '\0';
    return (size_t)(p - out);
}

/* The long way: the digits are written out on paper with the point moved by shift places, and read off. */
static bool by_hand(const char *text, int shift, int64_t *out, bool *fraction)
{
    char paper[512];
    const char *exponent = strpbrk(text, "eE");
    size_t mantissa = exponent != NULL ? (size_t)(exponent - text) : strlen(text);
    bool minus = text[0] == '-';
    /* Texts have fewer than 80 digits: a power beyond 10^100 is as good as 10^100. */
    long power = exponent != NULL ? strtol(exponent + 1, NULL, 10) : 0;
    long point = 200 + shift + (power < -100 ? -100 : power > 100 ? 100 : power);

    memset(paper, '0', sizeof paper);
    size_t at = 200;
    bool after = false;
    for (size_t i = 0; i < mantissa; i++) {
        if (text[i] == '.') {
            after = true;
        } else if (text[i] >= '0' && text[i] <= '9') {
            paper[at++] = text[i];
            point += !after;
        }
    }

    __extension__ typedef __int128 wide;
    wide value = 0;
    for (long i = 0; i < point; i++) {
        value = value * 10 + (paper[i] - '0');
        if (value > (wide)1 << 100)
            return false;
    }
    char half[sizeof paper] = "5";
    memset(half + 1, '0', sizeof half - 1);
    int rest = memcmp(paper + point, half, sizeof paper - (size_t)point);
    *fraction = false;
    for (size_t i = (size_t)point; i < sizeof paper; i++)
        *fraction |= paper[i] != '0';
    if (rest > 0 || (rest == 0 && value % 2 != 0))
        value++;
    if (minus)
        value = -value;
    if (value < INT64_MIN || value > INT64_MAX)
        return false;
    *out = (int64_t)value;
    return true;
}

static void random_texts_are_read_as_by_hand(void)
{
    uint64_t seed = 20240229;
    regex_t number;
    size_t numbers = 0, others = 0, wrong = 0;
    CU_ASSERT_EQUAL_FATAL(
        regcomp(&number, "^[-+]?([0-9]+[.]?[0-9]*|[.][0-9]+)([eE][-+]?[0-9]+)?$", REG_EXTENDED | REG_NOSUB), 0);

    for (int i = 0; i < 200000; i++) {
        char text[256];
        size_t n = random_text(&seed, text);
        bool valid = regexec(&number, text, 0, NULL, 0) == 0, fraction = false;
        int64_t got_ns = UNTOUCHED, ns = UNTOUCHED, of_ms = UNTOUCHED, got_ms = UNTOUCHED, got_int = UNTOUCHED, integer = UNTOUCHED;
        double got_double = 0.25, d = 0.25;

        bool right = tl_decimal_us_to_ns(text, n, &got_ns) == (valid && by_hand(text, 3, &ns, &fraction));
        right = right && got_ns == ns;
        right = right && tl_decimal_ms_to_ns(text, n, &got_ms) == (valid && by_hand(text, 6, &of_ms, &fraction));
        right = right && got_ms == of_ms;

        bool is_int = valid && by_hand(text, 0, &integer, &fraction) && !fraction;
        right = right && tl_decimal_to_int(text, n, &got_int) == is_int;
        right = right && got_int == (is_int ? integer : UNTOUCHED);

        if (valid)
            d = strtod(text, NULL);
        right = right && tl_decimal_to_double(text, n, &got_double) == valid;
        right = right && memcmp(&got_double, &d, sizeof d) == 0;

        if (!right && wrong++ < 10)
            printf("\n    wrong: \"%s\"", text);
        numbers += valid;
        others += !valid;
    }
    regfree(&number);
    CU_ASSERT_EQUAL(wrong, 0);
    CU_ASSERT(numbers > 100000 && others > 1000);
}

static bool same_double(const char *text, double expected)
{
    double d = 0.25;
    return tl_decimal_to_double(text, strlen(text), &d) && memcmp(&d, &expected, sizeof d) == 0;
}

static void doubles_are_the_nearest(void)
{
    CU_ASSERT(same_double("0.1", 0.1));
    CU_ASSERT(same_double("-0", -0.0));
    CU_ASSERT(same_double("-0.0e7", -0.0));
    CU_ASSERT(same_double("9007199254740993", 9007199254740992.0));
    CU_ASSERT(same_double("9007199254740993.00000000000000000000001", 9007199254740994.0));
    CU_ASSERT(same_double("1e22", 1e22));
    CU_ASSERT(same_double("1e23", 1e23));
    CU_ASSERT(same_double("4.9e-324", 4.9e-324));
    CU_ASSERT(same_double("2e-324", 0.0));
    CU_ASSERT(same_double("1.7976931348623157e308", 1.7976931348623157e308));
    CU_ASSERT(same_double("1e309", HUGE_VAL));
    CU_ASSERT(same_double("-1e99999999999999999999", -HUGE_VAL));
    CU_ASSERT(same_double("1e-99999999999999999999", 0.0));
}

/* Halfway between two doubles, told apart only by a digit 1,500 places away. */
static void a_far_digit_decides(void)
{
    char text[1600];
    memset(text, '0', sizeof text);
    memcpy(text, "9007199254740993.", 17);
    text[1500] = '\0';
    CU_ASSERT(same_double(text, 9007199254740992.0));
    text[1499] = '1';
    CU_ASSERT(same_double(text, 9007199254740994.0));
}

/* strtod where the locale writes 1,5: it stops at a point. */
static double strtod_with_comma(const char *text, char **end)
{
    char copy[1024];
    size_t n = strcspn(text, ".");
    CU_ASSERT_FATAL(n < sizeof copy && end == NULL);
    memcpy(copy, text, n);
    copy[n] = '\0';
    return strtod(copy, NULL);
}

/* decimal.c once more, as it works in such a locale. */
#define tl_decimal_us_to_ns comma_us_to_ns
#define tl_decimal_ms_to_ns comma_ms_to_ns
#define tl_decimal_to_int comma_to_int
#define tl_decimal_to_double comma_to_double
#define tl_decimal_take comma_take
#define strtod strtod_with_comma
bool tl_decimal_us_to_ns(const char *text, size_t n, int64_t *out);
bool tl_decimal_ms_to_ns(const char *text, size_t n, int64_t *out);
bool tl_decimal_to_int(const char *text, size_t n, int64_t *out);
bool tl_decimal_to_double(const char *text, size_t n, double *out);
int32_t tl_decimal_take(tl_text *text);
#include "src/base/decimal.c"
#undef strtod
#undef tl_decimal_us_to_ns
#undef tl_decimal_ms_to_ns
#undef tl_decimal_to_int
#undef tl_decimal_to_double
#undef tl_decimal_take

static void the_locale_does_not_matter(void)
{
    static const char *const texts[] = { "1.5", "123456789.12345678901234567890", "0.1e-7", "3.14159265358979324e300" };
    CU_ASSERT_EQUAL(strtod_with_comma("1.5", NULL), 1.0);
    for (size_t i = 0; i < COUNT(texts); i++) {
        double d = 0, comma = 0;
        CU_ASSERT(tl_decimal_to_double(texts[i], strlen(texts[i]), &d));
        CU_ASSERT(comma_to_double(texts[i], strlen(texts[i]), &comma));
        CU_ASSERT_EQUAL(d, strtod(texts[i], NULL));
        CU_ASSERT_EQUAL(comma, d);
    }
}

static void a_number_at_the_start_is_taken(void)
{
    tl_text text = TL_TEXT("123456789->7");
    CU_ASSERT_EQUAL(tl_decimal_take(&text), 123456789);
    CU_ASSERT(tl_text_is(text, "->7"));
    CU_ASSERT_EQUAL(tl_decimal_take(&text), -1);
    CU_ASSERT(tl_text_is(text, "->7"));
    text = TL_TEXT("1234567890");
    CU_ASSERT_EQUAL(tl_decimal_take(&text), -1);
    CU_ASSERT(tl_text_is(text, "1234567890"));
    text.n = 0;
    CU_ASSERT_EQUAL(tl_decimal_take(&text), -1);
}

static const unit_test tests[] = {
    TEST(microseconds_become_nanoseconds),
    TEST(finer_than_a_nanosecond_is_rounded_to_even),
    TEST(what_does_not_fit_is_refused),
    TEST(what_is_no_number_is_refused),
    TEST(integers_have_no_fraction),
    TEST(length_does_not_matter),
    TEST(random_texts_are_read_as_by_hand),
    TEST(doubles_are_the_nearest),
    TEST(a_far_digit_decides),
    TEST(the_locale_does_not_matter),
    TEST(a_number_at_the_start_is_taken),
};

int main(void)
{
    return unit_main("decimal", tests, COUNT(tests));
}
