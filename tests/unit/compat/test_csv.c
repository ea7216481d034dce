/* test_csv.c - numbers and texts as Python shows them, sums as numpy has them, tables as pandas writes them. */
#include "scratch.h"
#include "tlmpi/base/quantile.h"
#include "tlmpi/compat/python.h"
#include "tlmpi/compat/csv.h"
#include "unit.h"
#include <math.h>

/* --------------------------------------------------------------------------------------------------------- numbers */

/* The sums are numpy's, of v[i] = (7919 i mod 1013) / 10 and of 1 / (i + 1). */
static void sums_add_up_as_in_numpy(void)
{
    static const struct {
        size_t n;
        double tenths, harmonic;
    } known[] = {
        { 0, 0, 0 },
        { 7, 0x1.409999999999ap+8, 0x1.4be2be2be2be2p+1 },
        { 8, 0x1.89b3333333332p+8, 0x1.5be2be2be2be2p+1 },
        { 9, 0x1.c04ccccccccccp+8, 0x1.6a1ba1ba1ba1bp+1 },
        { 128, 0x1.991b333333334p+12, 0x1.5bb8ae9541ca7p+2 },
        { 129, 0x1.9d0e666666666p+12, 0x1.5c37b09149ba9p+2 },
        { 1000, 0x1.8c01333333333p+15, 0x1.df11f45f4e61ap+2 },
        { 5003, 0x1.eeb1ccccccccdp+17, 0x1.230b2137da23cp+3 },
    };
    static double v[2 * 5003]; /* the two series in turn: each has a stride of 2 */
    for (size_t i = 0; i < 5003; i++) {
        v[2 * i] = (double)(i * 7919 % 1013) / 10;
        v[2 * i + 1] = 1 / (double)(i + 1);
    }
    for (size_t i = 0; i < COUNT(known); i++) {
        CU_ASSERT_EQUAL(tl_numpy_sum(v, known[i].n, 2), known[i].tenths);
        CU_ASSERT_EQUAL(tl_numpy_sum(v + 1, known[i].n, 2), known[i].harmonic);
    }
}

static void doubles_are_written_as_python_writes_them(void)
{
    static const struct {
        double value;
        const char *text;
    } known[] = {
        { 0.0, "0.0" },
        { -0.0, "-0.0" },
        { 1.0, "1.0" },
        { -1.0, "-1.0" },
        { 0.1, "0.1" },
        { 0.1 + 0.2, "0.30000000000000004" },
        { 100.0, "100.0" },
        { 12345.678, "12345.678" },
        { 8139.589111328125, "8139.589111328125" },
        { 25.24808122949801, "25.24808122949801" },
        { 1695835542514261.0, "1695835542514261.0" },
        { 1e15, "1000000000000000.0" },
        { 9999999999999998.0, "9999999999999998.0" },
        { 1e16, "1e+16" },
        { 1.2345e16, "1.2345e+16" },
        { 1.5e300, "1.5e+300" },
        { 0.0001, "0.0001" },
        { 0.00012345, "0.00012345" },
        { 0.00001, "1e-05" },
        { 1.25e-7, "1.25e-07" },
        { 2.220446049250313e-16, "2.220446049250313e-16" },
        { 2.2250738585072014e-308, "2.2250738585072014e-308" },
        { 5e-324, "5e-324" },
        { 1.7976931348623157e308, "1.7976931348623157e+308" },
        { INFINITY, "inf" },
        { -INFINITY, "-inf" },
        { NAN, "nan" },
    };
    char text[TL_PYTHON_REPR_SIZE];
    for (size_t i = 0; i < COUNT(known); i++) {
        tl_python_repr(text, known[i].value);
        CU_ASSERT_STRING_EQUAL(text, known[i].text);
    }
}

static void every_double_reads_back(void)
{
    uint64_t seed = 7;
    char text[TL_PYTHON_REPR_SIZE];
    for (int i = 0; i < 20000; i++) {
        uint64_t bits = unit_random(&seed);
        double value;
        memcpy(&value, &bits, sizeof value);
        if (!isfinite(value))
            continue;
        tl_python_repr(text, value);
        CU_ASSERT_EQUAL(strtod(text, NULL), value);
    }
}

static void percentages_round_half_to_even(void)
{
    CU_ASSERT_EQUAL(tl_numpy_round(100, 0.125), 0.12);
    CU_ASSERT_EQUAL(tl_numpy_round(100, 0.375), 0.38);
    CU_ASSERT_EQUAL(tl_numpy_round(100, 93.499), 93.5);
    CU_ASSERT_EQUAL(tl_numpy_round(100, -0.125), -0.12);
    CU_ASSERT(isnan(tl_numpy_round(100, NAN)));
}

static void cells_are_quoted_where_a_reader_would_split(void)
{
    tl_csv_folder folder = { .dir = scratch_folder };
    tl_csv csv = tl_csv_open(&folder, "cells.csv", "a,b");
    TL_ROW(&csv, tl_words("plain"), tl_words("f(int, \"x\")"), tl_words("two\nlines"));
    TL_ROW(&csv, tl_real(NAN), tl_blank(), 7.0, -7.5, 1e15, 1e17, tl_int(INT64_MIN));
    CU_ASSERT_STRING_EQUAL(scratch_content("cells.csv"), "(no file)"); /* not before it is whole */
    tl_csv_close(&csv);
    CU_ASSERT_FALSE(tl_csv_failed(&folder));
    CU_ASSERT_STRING_EQUAL(scratch_content("cells.csv"), "a,b\nplain,\"f(int, \"\"x\"\")\",\"two\nlines\"\n"
                                                         ",,7,-7.5,1000000000000000,1e+17,-9223372036854775808\n");
    CU_ASSERT_STRING_EQUAL(scratch_content("cells.csv.part"), "(no file)");
}

static void cells_do_no_harm(void)
{
    tl_csv_folder folder = { .dir = scratch_folder };
    tl_csv csv = tl_csv_open(&folder, "harm.csv", NULL);
    TL_ROW(&csv, tl_words("=1+1"), tl_words("@x,y"), tl_words("-a"), tl_words("\tT"), tl_words("-1"), tl_words("="));
    TL_ROW(&csv, tl_words("\x1b[31m"),
           tl_words("a\x07"
                    "b\x7f"),
           tl_words("\xc2\x9b"
                    "1m"),
           tl_words("2\xc2\xb0,"));
    tl_csv_close(&csv);
    CU_ASSERT_STRING_EQUAL(scratch_content("harm.csv"), "'=1+1,\"'@x,y\",'-a,'\tT,-1,=\n"
                                                        "\xef\xbf\xbd[31m,a\xef\xbf\xbd"
                                                        "b\xef\xbf\xbd,\xef\xbf\xbd"
                                                        "1m,\"2\xc2\xb0,\"\n");
}

static void a_header_may_be_written_cell_by_cell(void)
{
    tl_csv_folder folder = { .dir = scratch_folder };
    tl_csv csv = tl_csv_open_rank(&folder, "look", 3, NULL);
    tl_csv_head(&csv, "a,b");
    TL_CELLS(&csv, tl_words("c,"));
    tl_csv_head(&csv, "d,e");
    tl_csv_end_row(&csv);
    TL_CELLS(&csv, tl_blank(), 12);
    TL_ROW(&csv, "", 7.0, "x");
    tl_csv_close(&csv);
    CU_ASSERT_FALSE(tl_csv_failed(&folder));
    CU_ASSERT_STRING_EQUAL(scratch_content("look_rank3.csv"), "a,b,\"c,\",d,e\n,12,,7,x\n");
}

static void the_first_failure_stays_and_stops_all_tables(void)
{
    tl_csv_folder folder = { .dir = scratch_path("nowhere") };
    tl_csv csv = tl_csv_open(&folder, "spoilt.csv", "a");
    TL_ROW(&csv, tl_int(1));
    tl_csv_close(&csv);
    CU_ASSERT_EQUAL(folder.error.status, TL_EOUTPUT);
    CU_ASSERT_PTR_NOT_NULL(strstr(folder.error.text, "spoilt.csv"));
    folder.dir = scratch_folder;
    csv = tl_csv_open(&folder, "later.csv", "a");
    tl_csv_close(&csv);
    CU_ASSERT_STRING_EQUAL(scratch_content("later.csv"), "(no file)");
    CU_ASSERT_PTR_NOT_NULL(strstr(folder.error.text, "spoilt.csv"));
}

static void rounding_is_that_of_the_exact_value(void)
{
    CU_ASSERT_EQUAL(tl_python_round(0.25, 1), 0.2);
    CU_ASSERT_EQUAL(tl_python_round(0.75, 1), 0.8);
    CU_ASSERT_EQUAL(tl_python_round(2.675, 2), 2.67); /* the double lies below */
    CU_ASSERT_EQUAL(tl_python_round(1e300, 1), 1e300);
    CU_ASSERT_EQUAL(tl_python_round(-0.25, 1), -0.2);
    CU_ASSERT(isnan(tl_python_round(NAN, 1)));
}

static void statistics_leave_out_what_is_missing(void)
{
    double v[] = { 5, 1, 4, 2 };
    const double holed[] = { 5, NAN, 1, 4, 2, NAN };
    /* One after the other would be 1.0. */
    const double carried[] = { 1, 1e-16, 1e-16, 1e-16, 1e-16 };
    CU_ASSERT_EQUAL(tl_stats_of(NULL, 5, carried, sizeof *carried).sum, 1 + 4e-16);
    const tl_real_stats stats = tl_stats_of(NULL, 6, holed, sizeof *holed);
    const tl_real_stats one = tl_stats_of(NULL, 1, v, sizeof *v), none = tl_stats_of(NULL, 0, v, sizeof *v);
    CU_ASSERT(stats.n == 4 && stats.sum == 12 && stats.mean == 3 && stats.min == 1 && stats.max == 5);
    CU_ASSERT_DOUBLE_EQUAL(stats.std, sqrt(10.0 / 3), 1e-15);
    CU_ASSERT(one.mean == 5 && isnan(one.std));
    CU_ASSERT(none.sum == 0 && isnan(none.mean) && isnan(none.max));
    CU_ASSERT_EQUAL(tl_real_median(v, 4), 3);
    CU_ASSERT_EQUAL(tl_real_median(v, 3), 2); /* sorted by now */
    CU_ASSERT(isnan(tl_real_median(v, 0)));
}

static void arrays_are_shown_as_tuples(void)
{
    static const struct {
        const char *json, *tuple;
    } known[] = {
        { "[]", "()" },
        { "[[512], [141, 512], []]", "((512,), (141, 512), ())" },
        { "[ [\n5 ] ,\t[] ]", "((5,), ())" },
        { "[\"\",\"1\",\"9.9999999999999998e-13\"]", "('', '1', '9.9999999999999998e-13')" },
        { "[\"it's\", \"\\\"\", \"'\\\"\", \"\\\\\"]", "(\"it's\", '\"', '\\'\"', '\\\\')" },
        { "[\"a\\n\\t\\u0001\\u007f\\/\"]", "('a\\n\\t\\x01\\x7f/',)" },
        { "[\"\\u00b5\\u20ac\\ud83d\\ude00\\ud83d\"]", "('\302\265\342\202\254\360\237\230\200?',)" },
        { "[\"\302\265\"]", "('\302\265',)" },
        { "[true, false, null, -3, 1e3, 0.10]", "(True, False, None, -3, 1000.0, 0.1)" },
        { "[{\"a\": 1}]", "[{\"a\": 1}]" },
        { "text", "text" },
        { "", "" },
    };
    for (size_t i = 0; i < COUNT(known); i++) {
        tl_bytes out = { 0 };
        tl_bytes_put(&out, ">", 1);
        tl_python_list((tl_text){ known[i].json, strlen(known[i].json) }, true, &out);
        tl_bytes_put(&out, "", 1);
        CU_ASSERT_STRING_EQUAL(out.v + 1, known[i].tuple);
        free(out.v);
    }
}

static void arrays_are_shown_as_lists(void)
{
    static const struct {
        const char *json, *list;
    } known[] = {
        { "[[512], [], \"a\"]", "[[512], [], 'a']" },
        { "\\u00b5 \\\"q\\\" \\/\\n\302\265", "\\u00b5 \\\"q\\\" \\/\\n\302\265" },
        { "", "" },
    };
    for (size_t i = 0; i < COUNT(known); i++) {
        tl_bytes out = { 0 };
        tl_python_list((tl_text){ known[i].json, strlen(known[i].json) }, false, &out);
        tl_bytes_put(&out, "", 1);
        CU_ASSERT_STRING_EQUAL(out.v, known[i].list);
        free(out.v);
    }
}

static void too_deep_an_array_is_shown_as_it_is(void)
{
    char deep[200];
    for (int n = 64; n <= 65; n++) {
        tl_bytes out = { 0 };
        memset(deep, '[', (size_t)n);
        memset(deep + n, ']', (size_t)n);
        tl_python_list((tl_text){ deep, (size_t)(2 * n) }, true, &out);
        CU_ASSERT_EQUAL(out.v[0], n == 64 ? '(' : '[');
        free(out.v);
    }
}

static const unit_test tests[] = {
    TEST(sums_add_up_as_in_numpy),
    TEST(doubles_are_written_as_python_writes_them),
    TEST(every_double_reads_back),
    TEST(percentages_round_half_to_even),
    TEST(rounding_is_that_of_the_exact_value),
    TEST(statistics_leave_out_what_is_missing),
    TEST(cells_are_quoted_where_a_reader_would_split),
    TEST(cells_do_no_harm),
    TEST(a_header_may_be_written_cell_by_cell),
    TEST(the_first_failure_stays_and_stops_all_tables),
    TEST(arrays_are_shown_as_tuples),
    TEST(arrays_are_shown_as_lists),
    TEST(too_deep_an_array_is_shown_as_it_is),
};

int main(void)
{
    if (scratch_make() != 0)
        return 1;
    int status = unit_main("csv", tests, COUNT(tests));
    scratch_remove();
    return status;
}
