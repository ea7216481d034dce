/* test_kernel.c - device work by name, on a rank and over all. */
#include "draw.h"
#include "tlmpi/analysis/rank/work.h"
#include "tlmpi/base/stats.h"
#include "unit.h"
#include <math.h>
#include <stdlib.h>

static const tl_config config = { 0 };

static const tl_kernel_row *rows_of(drawing *d, size_t n)
{
    tl_kernel_analysis.per_rank(&d->view, &config, &d->out);
    const tl_table *table = tl_tables_get(&d->out, &tl_kernel_row_schema);
    CU_ASSERT_EQUAL_FATAL(table->n, n);
    return (const tl_kernel_row *)(const void *)table->rows;
}

static bool is_named(const drawing *d, uint32_t name, const char *text)
{
    return tl_text_is(tl_names_text(&d->names, name), text);
}

static void kernels_of_a_name_are_one_row_the_most_time_first(void)
{
    drawing *d = draw("compute 7 gemm: .AAAA......AA.AA.....AAAAAAAA",
                      "compute 8 add:  ..BBBBB..BBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBB",
                      "memcpy 9 copy:  C....", NULL);
    const tl_kernel_row *r = rows_of(d, 3);
    CU_ASSERT_TRUE(is_named(d, r[0].name, "add"));
    CU_ASSERT_EQUAL(r[0].place, 1);
    CU_ASSERT_EQUAL(r[0].total_ns, 37 * US);
    CU_ASSERT_EQUAL(r[0].count, 2);
    CU_ASSERT_TRUE(is_named(d, r[1].name, "gemm"));
    CU_ASSERT_EQUAL(r[1].place, 2);
    CU_ASSERT_EQUAL(r[1].kind, TL_COMPUTE);
    CU_ASSERT_EQUAL(r[1].count, 4);
    CU_ASSERT_EQUAL(r[1].total_ns, 16 * US);
    CU_ASSERT_DOUBLE_EQUAL(r[1].mean_ns, 4e3, 0);
    CU_ASSERT_DOUBLE_EQUAL(r[1].std_ns, sqrt(8e6), 1e-9); /* 4 2 2 8: (0 + 4 + 4 + 16) / 3 */
    CU_ASSERT_EQUAL(r[1].min_ns, 2 * US);
    CU_ASSERT_DOUBLE_EQUAL(r[1].p25_ns, 2e3, 0);
    CU_ASSERT_DOUBLE_EQUAL(r[1].median_ns, 3e3, 0);
    CU_ASSERT_DOUBLE_EQUAL(r[1].p75_ns, 5e3, 0);
    CU_ASSERT_EQUAL(r[1].max_ns, 8 * US);
    CU_ASSERT_DOUBLE_EQUAL(r[1].share, 16.0 / 54, 1e-12);
    CU_ASSERT_EQUAL(r[2].kind, TL_MEMCPY);
    CU_ASSERT_TRUE(isnan(r[2].std_ns));
    drawing_free(d);
}

static void of_equals_the_first_by_name_stands_first(void)
{
    drawing *d = draw("compute 7 b: ....BBB", "compute 8 a: AAA....", NULL);
    const tl_kernel_row *r = rows_of(d, 2);
    CU_ASSERT_TRUE(is_named(d, r[0].name, "a"));
    drawing_free(d);
}

static void a_name_of_two_kinds_is_two_rows(void)
{
    drawing *d = draw("compute 7 x: AA....", "comm 8 x:    ..BBB.", NULL);
    const tl_kernel_row *r = rows_of(d, 2);
    CU_ASSERT_EQUAL(r[0].kind, TL_COMM);
    CU_ASSERT_EQUAL(r[1].kind, TL_COMPUTE);
    drawing_free(d);
}

static void work_without_length_has_no_share(void)
{
    drawing *d = draw("compute 7 x: |..|", NULL);
    const tl_kernel_row *r = rows_of(d, 1);
    CU_ASSERT_EQUAL(r->count, 2);
    CU_ASSERT_EQUAL(r->total_ns, 0);
    CU_ASSERT_TRUE(isnan(r->share));
    drawing_free(d);
}

static void a_rank_without_work_has_no_rows(void)
{
    drawing *d = draw("host: ..", NULL);
    (void)rows_of(d, 0);
    drawing_free(d);
}

static void the_slowest_and_the_fastest_rank_are_named(void)
{
    drawing *d = draw("", NULL);
    for (const char *name = "zyxwbc"; *name != 0; name++) /* whose order is another than that of their numbers */
        (void)tl_names_intern(&d->names, name, 1);
    tl_table *rows = tl_tables_get(&d->out, &tl_kernel_row_schema);
    const struct {
        int32_t rank;
        uint32_t name;
        int64_t count, total_ns;
    } of[] = { { 0, 5, 10, 1000 }, { 0, 0, 1, 50 }, { 1, 5, 12, 1200 }, { 2, 5, 10, 3000 }, { 3, 5, 10, 800 }, { 3, 4, 1, 50 } };
    for (size_t i = 0; i < COUNT(of); i++) {
        tl_kernel_row row = { .rank = of[i].rank, .name = of[i].name, .count = of[i].count, .total_ns = of[i].total_ns,
                              .mean_ns = (double)of[i].total_ns / (double)of[i].count };
        tl_table_append(rows, &row, 1);
    }
    tl_kernel_analysis.reduce(&d->out);
    const tl_table *sums = tl_tables_get(&d->out, &tl_kernel_ranks_schema);
    CU_ASSERT_EQUAL_FATAL(sums->n, 3);
    const tl_kernel_ranks *s = tl_table_row(sums, 0);
    CU_ASSERT_EQUAL(s->name, 5);
    CU_ASSERT_EQUAL(s->ranks, 4);
    CU_ASSERT_EQUAL(s->count, 42);
    CU_ASSERT_EQUAL(s->total_ns, 6000);
    CU_ASSERT_DOUBLE_EQUAL(s->share, 6000.0 / 6100, 1e-12);
    CU_ASSERT_DOUBLE_EQUAL(s->median_rank_ns, 100, 0); /* 80 100 100 300 */
    CU_ASSERT_EQUAL(s->slowest_rank, 2);
    CU_ASSERT_DOUBLE_EQUAL(s->slowest_ns, 300, 0);
    CU_ASSERT_EQUAL(s->fastest_rank, 3);
    CU_ASSERT_EQUAL(s[1].name, 4); /* b: of equals the first by name */
    CU_ASSERT_EQUAL(s[1].place, 2);
    CU_ASSERT_EQUAL(s[2].name, 0);
    drawing_free(d);
}

/* One kernel on n ranks with these mean durations in us, of 100 runs each: what is said of them. */
static tl_kernel_ranks over_ranks(const double *mean_us, size_t n, double std_us)
{
    drawing *d = draw("", NULL);
    for (size_t i = 0; i < n; i++) {
        tl_kernel_row row = { .rank = (int32_t)i, .name = 5, .count = 100, .total_ns = (int64_t)(mean_us[i] * 100 * US),
                              .mean_ns = mean_us[i] * US, .std_ns = std_us * US };
        tl_table_append(tl_tables_get(&d->out, &tl_kernel_row_schema), &row, 1);
    }
    tl_kernel_analysis.reduce(&d->out);
    const tl_kernel_ranks sum = *(const tl_kernel_ranks *)tl_table_row(tl_tables_get(&d->out, &tl_kernel_ranks_schema), 0);
    drawing_free(d);
    return sum;
}

static void ranks_that_lie_apart_are_named(void)
{
    const struct {
        double mean_us[10];
        size_t n;
        const char *apart_ranks;
        int32_t apart;
    } of[] = {
        { { 363, 375, 368, 371, 366, 373, 364, 370 }, 8, "", 0 },    /* one of them is slowest, and that is all */
        { { 363, 375, 368, 371, 366, 473, 364, 370 }, 8, "5", 1 },
        { { 363, 275, 368, 371, 366, 373, 364, 370 }, 8, "1", 1 },
        { { 363, 475, 368, 471, 366, 373, 364, 370 }, 8, "1,3", 2 }, /* one does not hide the other */
        { { 363, 365, 368, 271, 268, 473, 364, 370, 369, 362 }, 10, "3-5", 3 },
        { { 363, 475, 368, 471, 366, 473, 364, 474 }, 8, "", 0 },    /* no half lies apart from the other */
        { { 300, 300, 300, 302 }, 4, "3", 1 },
        { { 300, 300, 300, 301 }, 4, "", 0 },                        /* times are written to 1 us */
        { { 300, 300, 900 }, 3, "", 0 },                             /* two do not tell how ranks differ */
    };
    for (size_t i = 0; i < COUNT(of); i++) {
        const tl_kernel_ranks s = over_ranks(of[i].mean_us, of[i].n, 0);
        CU_ASSERT_EQUAL(s.apart, of[i].apart);
        CU_ASSERT_STRING_EQUAL(s.apart_ranks, of[i].apart_ranks);
    }
}

/* Runs that differ by 500 us put a mean of 100 off by 50. */
static void a_rank_that_ran_it_rarely_may_be_off_by_itself(void)
{
    const double mean_us[] = { 363, 375, 368, 371, 366, 473, 364, 370 };
    CU_ASSERT_EQUAL(over_ranks(mean_us, COUNT(mean_us), 50).apart, 1);
    CU_ASSERT_EQUAL(over_ranks(mean_us, COUNT(mean_us), 500).apart, 0);
}

static void ranks_apart_that_do_not_fit_end_in_dots(void)
{
    enum { RANKS = 100 };
    double mean_us[RANKS];
    for (size_t i = 0; i < RANKS; i++)
        mean_us[i] = i % 3 == 1 ? 500 : 300;
    const tl_kernel_ranks s = over_ranks(mean_us, RANKS, 0);
    CU_ASSERT_EQUAL(s.apart, 33);
    CU_ASSERT_NSTRING_EQUAL(s.apart_ranks, "1,4,7,10,13,", 12);
    CU_ASSERT_NSTRING_EQUAL(s.apart_ranks + strnlen(s.apart_ranks, sizeof s.apart_ranks) - 4, ",...", 4);
}

/* More than are sorted by comparing, with all digits in use. */
static void many_numbers_are_put_in_order(void)
{
    enum { MANY = 3000 };
    static int64_t v[MANY];
    uint64_t chance = 7;
    for (size_t i = 0; i < MANY; i++) {
        chance = chance * 6364136223846793005u + 1442695040888963407u;
        v[i] = (int64_t)(i % 3 == 0 ? chance : chance >> 40);
    }
    v[17] = INT64_MIN;
    v[18] = INT64_MAX;
    tl_ns_sort(v, MANY);
    CU_ASSERT_EQUAL(v[0], INT64_MIN);
    CU_ASSERT_EQUAL(v[MANY - 1], INT64_MAX);
    for (size_t i = 1; i < MANY; i++)
        CU_ASSERT(v[i - 1] <= v[i]);
}

int main(void)
{
    static const unit_test tests[] = {
        TEST(kernels_of_a_name_are_one_row_the_most_time_first),
        TEST(of_equals_the_first_by_name_stands_first),
        TEST(a_name_of_two_kinds_is_two_rows),
        TEST(work_without_length_has_no_share),
        TEST(a_rank_without_work_has_no_rows),
        TEST(the_slowest_and_the_fastest_rank_are_named),
        TEST(ranks_that_lie_apart_are_named),
        TEST(a_rank_that_ran_it_rarely_may_be_off_by_itself),
        TEST(ranks_apart_that_do_not_fit_end_in_dots),
        TEST(many_numbers_are_put_in_order),
    };
    return unit_main("kernel", tests, COUNT(tests));
}
