/* test_copy.c - how fast copies are, by themselves and together. */
#include "draw.h"
#include "src/analysis/rank/work/internal.h"
#include "unit.h"
#include <math.h>

static const tl_copy_row *rows_of(drawing *d, size_t n)
{
    tl_copy_analysis.per_rank(&d->view, &tl_config_default, &d->out);
    const tl_table *table = tl_tables_get(&d->out, &tl_copy_row_schema);
    CU_ASSERT_EQUAL_FATAL(table->n, n);
    return (const tl_copy_row *)(const void *)table->rows;
}

/* So many bytes in each copy; the trace names no bandwidth. */
static void give_bytes(drawing *d, int64_t each)
{
    for (size_t i = 0; i < d->view.nkernels; i++)
        d->kernels[i].bytes = each;
}

static void copies_that_run_at_once_add_up(void)
{
    drawing *d = draw("memcpy 7 HtoD: .AAAA......B.....",
                      "memcpy 8 HtoD: ...CCCC.........",
                      "memcpy 8 DtoH: .......D........",
                      "compute 9 add: ..AAAAAAAAA.....", NULL);
    give_bytes(d, 4000);
    const tl_copy_row *r = rows_of(d, 2);
    CU_ASSERT_TRUE(tl_text_is(tl_names_text(&d->names, r[0].name), "HtoD"));
    CU_ASSERT_EQUAL(r[0].place, 1);
    CU_ASSERT_EQUAL(r[0].kind, TL_MEMCPY);
    CU_ASSERT_EQUAL(r[0].count, 3);
    CU_ASSERT_EQUAL(r[0].bytes, 12000);
    CU_ASSERT_EQUAL(r[0].total_ns, 9 * US);
    CU_ASSERT_EQUAL(r[0].busy_ns, 7 * US);
    CU_ASSERT_EQUAL(r[0].unknown, 0);
    CU_ASSERT_DOUBLE_EQUAL(r[0].mean_gb_s, 12.0 / 9, 1e-12);
    CU_ASSERT_DOUBLE_EQUAL(r[0].busy_gb_s, 12.0 / 7, 1e-12);
    CU_ASSERT_DOUBLE_EQUAL(r[0].max_gb_s, 4, 0); /* B */
    CU_ASSERT_EQUAL(r[1].place, 2);
    CU_ASSERT_EQUAL(r[1].count, 1);

    tl_config config = { .series = true };
    tl_series_analysis.per_rank(&d->view, &config, &d->out);
    const tl_table *table = tl_tables_get(&d->out, &tl_series_row_schema);
    const tl_series_row *s = (const tl_series_row *)(const void *)table->rows;
    static const int64_t at[] = { 7, 8, 1, 3, 5, 7, 11, 12 };
    static const double gb_s[] = { 4, 0, 1, 2, 1, 0, 4, 0 };
    CU_ASSERT_EQUAL_FATAL(table->n, COUNT(at));
    for (size_t i = 0; i < COUNT(at); i++) {
        CU_ASSERT_EQUAL(s[i].what, TL_SERIES_MEMCPY);
        CU_ASSERT_EQUAL(s[i].name, r[i < 2 ? 1 : 0].name);
        CU_ASSERT_EQUAL(s[i].time_ns, at[i] * US);
        CU_ASSERT_DOUBLE_EQUAL(s[i].value, gb_s[i], 1e-12);
    }
    drawing_free(d);
}

static void one_that_touches_another_is_not_at_once(void)
{
    drawing *d = draw("memcpy 7 x: .AAABBB...",
                      "memcpy 8 x: ......|...", NULL);
    give_bytes(d, 3000);
    const tl_copy_row *r = rows_of(d, 1);
    CU_ASSERT_DOUBLE_EQUAL(r->max_gb_s, 1, 0);
    CU_ASSERT_EQUAL(r->bytes, 9000);
    CU_ASSERT_EQUAL(r->unknown, 1); /* it takes no time */
    CU_ASSERT_DOUBLE_EQUAL(r->mean_gb_s, 1, 0);
    drawing_free(d);
}

static void a_slow_copy_is_not_rounded(void)
{
    drawing *d = draw("memcpy 7 x: .A.", NULL);
    give_bytes(d, 1);
    d->kernels[0].end_ns = d->kernels[0].start_ns + 3900 * US;
    const tl_copy_row *r = rows_of(d, 1);
    CU_ASSERT_DOUBLE_EQUAL(r->mean_gb_s, 1 / 3.9e6, 1e-20);
    CU_ASSERT_DOUBLE_EQUAL(r->busy_gb_s, 1 / 3.9e6, 1e-20);
    drawing_free(d);
}

static void what_is_not_known_counts_apart(void)
{
    drawing *d = draw("memset 7 Memset: .AA.BBBB", NULL);
    give_bytes(d, -1);
    const tl_copy_row *r = rows_of(d, 1);
    CU_ASSERT_EQUAL(r->kind, TL_MEMSET);
    CU_ASSERT_EQUAL(r->unknown, 2);
    CU_ASSERT_EQUAL(r->bytes, 0);
    CU_ASSERT_EQUAL(r->busy_ns, 6 * US);
    CU_ASSERT_TRUE(isnan(r->mean_gb_s) && isnan(r->busy_gb_s) && isnan(r->max_gb_s));
    d->kernels[0].bytes = 2000;
    tl_tables_get(&d->out, &tl_copy_row_schema)->n = 0;
    r = rows_of(d, 1);
    CU_ASSERT_EQUAL(r->unknown, 1);
    CU_ASSERT_DOUBLE_EQUAL(r->mean_gb_s, 1, 0);
    CU_ASSERT_DOUBLE_EQUAL(r->busy_gb_s, 1, 0); /* while the known one runs */
    drawing_free(d);
}

static void the_trace_is_believed_within_a_rounding(void)
{
    const struct {
        int64_t ns, bytes;
        double said;
        int64_t expected;
    } of[] = {
        { 1000, 256, NAN, 256000000 },
        { 1000, 256, 0.140625f, 140625000 }, /* it took 1.82 us */
        { 1000, 256, 0.125f, 256000000 },    /* 2.05 us are not 1 */
        { 1000, 256, 0.0625f, 256000000 },
        { 4000, 4096, 1.25f, 1250000000 },
        { 4000, 4096, 1.5f, 1024000000 },
        { 5000, 4096, 0.8192, 819200000 },   /* not as a number of 32 bits has it */
        { 334, 1000000, 2994.012034567, 2994012034567 },
        { 4000, 4096, INFINITY, 1024000000 },
        { 1000, 4096, INFINITY, 4096000000 },
        { 1000, 4096, -1, 4096000000 },
        { 1500, 4096, 2.0f, 2730666667 }, /* a duration in nanoseconds is no rounding */
        { 1024, 4096, 4.0f, 4000000000 },
        { 0, 4096, 4.0f, -1 },
        { 1000, 0, 0, -1 },
        { 1, INT64_MAX, NAN, INT64_MAX },
        { INT64_MAX, 1, NAN, 1 },
    };
    for (size_t i = 0; i < COUNT(of); i++) {
        const tl_kernel k = { .end_ns = of[i].ns, .bytes = of[i].bytes, .said = 0 };
        const tl_rank_view view = { .said_gb_per_s = &of[i].said };
        CU_ASSERT_EQUAL(tl_copy_bandwidth(&view, &k), of[i].expected);
    }
}

int main(void)
{
    static const unit_test tests[] = {
        TEST(copies_that_run_at_once_add_up),
        TEST(one_that_touches_another_is_not_at_once),
        TEST(a_slow_copy_is_not_rounded),
        TEST(what_is_not_known_counts_apart),
        TEST(the_trace_is_believed_within_a_rounding),
    };
    return unit_main("copy", tests, COUNT(tests));
}
