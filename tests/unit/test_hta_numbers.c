/* test_hta_numbers.c - HTA's spans and sums, and its way to write numbers. */
#include "../../src/compat/python.h"
#include "../../src/compat/sheet.h"
#include "../../src/compat/hta_spans.h"
#include "hta_trace.h"
#include "tlmpi/model/schema.h"
#include <math.h>

static tl_hta_spans spans_of(const tl_hta_job *job, tl_hta_class class)
{
    tl_hta_spans spans = { 0 };
    CU_ASSERT_FATAL(tl_hta_spans_of(&spans, &job->frames.v[0], &job->symbols, class));
    return spans;
}

static void rows_that_overlap_or_touch_are_one_span(void)
{
    /*     ts     0         1         2
     *            0123456789012345678901234
     *     7      ....AAAA....BB...........
     *     8      ......CCCCCC.....D..E....       D is empty, E (from 20) ends at 19
     *     9      .......F.F...............       within C, which goes on
     */
    tl_hta_job job = load(TRACE(OP("host", "0", "24") "," KERNEL("B", "7", "2", "12", "2") ","
                                KERNEL("A", "7", "1", "4", "4") "," KERNEL("C", "8", "3", "6", "6") ","
                                KERNEL("D", "8", "4", "17", "0") "," KERNEL("E", "8", "5", "20", "-1") ","
                                KERNEL("F", "9", "6", "7", "1") "," KERNEL("F", "9", "7", "9", "1")), NULL, false);
    tl_hta_spans all = spans_of(&job, TL_HTA_ANY_CLASS), memory = spans_of(&job, TL_HTA_MEMORY);
    double lengths;

    CU_ASSERT_EQUAL_FATAL(all.n, 3);
    CU_ASSERT_EQUAL(all.v[0].ts, 4);
    CU_ASSERT_EQUAL(all.v[0].end, 14);
    CU_ASSERT_EQUAL(all.v[1].ts, 17);
    CU_ASSERT_EQUAL(all.v[1].end, 17);
    CU_ASSERT_EQUAL(all.v[2].end, 19);
    CU_ASSERT_EQUAL(tl_hta_spans_total(&all), 9);       /* 10 + 0 - 1 */
    CU_ASSERT(tl_hta_spans_lengths(&all, &lengths));
    CU_ASSERT_EQUAL(lengths, 9);
    CU_ASSERT_EQUAL(memory.n, 0);
    CU_ASSERT_EQUAL(tl_hta_spans_total(&memory), 0);
    free(all.v);
    free(memory.v);
    tl_hta_job_free(&job);
}

static void overlap_is_where_both_are(void)
{
    tl_hta_span a[] = { { 0, 4 }, { 6, 10 }, { 12, 12 }, { 20, 30 } },
                b[] = { { 2, 7 }, { 8, 9 }, { 11, 21 }, { 29, 40 } };
    tl_hta_spans x = { .v = a, .n = COUNT(a) }, y = { .v = b, .n = COUNT(b) }, none = { 0 };
    double both;

    CU_ASSERT(tl_hta_spans_overlap(&x, &y, &both));
    CU_ASSERT_EQUAL(both, 2 + 1 + 1 + 1 + 1);
    CU_ASSERT(tl_hta_spans_overlap(&y, &x, &both));
    CU_ASSERT_EQUAL(both, 6);
    CU_ASSERT(tl_hta_spans_overlap(&x, &none, &both));
    CU_ASSERT_EQUAL(both, 0);
}

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
    static double v[2 * 5003];      /* the two series in turn: each has a stride of 2 */
    for (size_t i = 0; i < 5003; i++) {
        v[2 * i] = (double)(i * 7919 % 1013) / 10;
        v[2 * i + 1] = 1 / (double)(i + 1);
    }
    for (size_t i = 0; i < COUNT(known); i++) {
        CU_ASSERT_EQUAL(tl_numpy_sum(v, known[i].n, 2), known[i].tenths);
        CU_ASSERT_EQUAL(tl_numpy_sum(v + 1, known[i].n, 2), known[i].harmonic);
    }
}

/* ------------------------------------------------------------------------------------------------- as text */

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
    CU_ASSERT_EQUAL(tl_numpy_round2(0.125), 0.12);
    CU_ASSERT_EQUAL(tl_numpy_round2(0.375), 0.38);
    CU_ASSERT_EQUAL(tl_numpy_round2(93.499), 93.5);
    CU_ASSERT_EQUAL(tl_numpy_round2(-0.125), -0.12);
    CU_ASSERT(isnan(tl_numpy_round2(NAN)));
}

static void cells_are_quoted_where_a_reader_would_split(void)
{
    tl_sheet csv;
    tl_error err;
    CU_ASSERT_EQUAL_FATAL(tl_sheet_open(&csv, scratch_folder, "cells.csv", "a,b", &err), TL_OK);
    tl_sheet_text(&csv, TL_TEXT("plain"));
    tl_sheet_text(&csv, TL_TEXT("f(int, \"x\")"));
    tl_sheet_text(&csv, TL_TEXT("two\nlines"));
    tl_sheet_end_row(&csv);
    tl_sheet_real(&csv, NAN);
    tl_sheet_blank(&csv);
    tl_sheet_number(&csv, -0.0, true);
    tl_sheet_number(&csv, 1e17, true);
    tl_sheet_number(&csv, NAN, true);
    tl_sheet_int(&csv, INT64_MIN);
    tl_sheet_end_row(&csv);
    CU_ASSERT_STRING_EQUAL(content("cells.csv"), "(no file)");      /* not before it is whole */
    CU_ASSERT_EQUAL(tl_sheet_close(&csv, &err), TL_OK);
    CU_ASSERT_STRING_EQUAL(content("cells.csv"), "a,b\nplain,\"f(int, \"\"x\"\")\",\"two\nlines\"\n"
                                                 ",,0,100000000000000000,,-9223372036854775808\n");
    CU_ASSERT_STRING_EQUAL(content("cells.csv.part"), "(no file)");
}

static const unit_test tests[] = {
    TEST(rows_that_overlap_or_touch_are_one_span),
    TEST(overlap_is_where_both_are),
    TEST(sums_add_up_as_in_numpy),
    TEST(doubles_are_written_as_python_writes_them),
    TEST(every_double_reads_back),
    TEST(percentages_round_half_to_even),
    TEST(cells_are_quoted_where_a_reader_would_split),
};

int main(void)
{
    if (scratch_make() != 0)
        return 1;
    int status = unit_main("hta numbers", tests, COUNT(tests));
    scratch_remove();
    return status;
}
