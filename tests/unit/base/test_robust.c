/* test_robust.c - slopes, trends, chance, and levels of a series. */
#include "src/analysis/outlier/change.h"
#include "tlmpi/base/mem.h"
#include "tlmpi/base/robust.h"
#include "unit.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

static void a_slope_stands_although_a_third_of_the_points_lies(void)
{
    double x[12], y[12], scratch[66];
    for (int i = 0; i < 12; i++) {
        x[i] = 10 * i;
        y[i] = i % 4 == 1 ? 1e9 : 7 + 3.0 * i;
    }
    CU_ASSERT_EQUAL(tl_slopes_max(12), 66);
    CU_ASSERT_DOUBLE_EQUAL(tl_theil_sen(x, y, 12, scratch), 0.3, 1e-12);
    double same[] = { 4, 4, 4 };
    CU_ASSERT_EQUAL(tl_theil_sen(same, y, 3, scratch), 0);
    CU_ASSERT_EQUAL(tl_theil_sen(x, y, 1, scratch), 0);
}

static void many_points_cost_little_more_than_a_thousand(void)
{
    size_t sizes[] = { 1001, 2000, 5000, 100000, 1000000 };
    for (size_t i = 0; i < COUNT(sizes); i++)
        CU_ASSERT(tl_slopes_max(sizes[i]) > 0 && tl_slopes_max(sizes[i]) <= 1000000);
    size_t n = 5000;
    double *x = tl_malloc(n * sizeof *x), *y = tl_malloc(n * sizeof *y), *s = tl_malloc(tl_slopes_max(n) * sizeof *s);
    for (size_t i = 0; i < n; i++) {
        x[i] = (double)i;
        y[i] = 2.5 * (double)i + (double)(i % 3);
    }
    CU_ASSERT_DOUBLE_EQUAL(tl_theil_sen(x, y, n, s), 2.5, 0.01);
    free(x);
    free(y);
    free(s);
}

static void a_trend_is_told_from_noise(void)
{
    double up[] = { 1, 2, 3, 5, 4, 6, 7, 8, 9, 10 }, noise[] = { 3, 1, 4, 1, 5, 9, 2, 6, 5, 3 }, flat[10] = { 0 };
    CU_ASSERT(tl_trend_p(up, 10) < 0.001);
    CU_ASSERT(tl_trend_p(noise, 10) > 0.2);
    CU_ASSERT_EQUAL(tl_trend_p(flat, 10), 1);
    CU_ASSERT_EQUAL(tl_trend_p(up, 3), 1);
}

static void every_number_is_as_likely(void)
{
    tl_random random = { 7 }, again = { 7 };
    int count[5] = { 0 };
    for (int i = 0; i < 50000; i++) {
        uint32_t x = tl_random_below(&random, 5);
        CU_ASSERT_FATAL(x < 5);
        CU_ASSERT_EQUAL_FATAL(x, tl_random_below(&again, 5));
        count[x]++;
    }
    for (int i = 0; i < 5; i++)
        CU_ASSERT(abs(count[i] - 10000) < 400);
}

/* Starts of the runs as text, "0 11 19". */
static const char *levels(const double *x, size_t n, double penalty)
{
    static char text[256];
    size_t starts[64], nruns = 99, used = 0;
    text[0] = 0;
    if (!tl_change_points(x, n, penalty, starts, &nruns))
        return "no memory";
    for (size_t i = 0; i < nruns; i++)
        used += (size_t)snprintf(text + used, sizeof text - used, i > 0 ? " %zu" : "%zu", starts[i]);
    return text;
}

static void a_step_and_its_end_are_found(void)
{
    double x[] = { 1, 2, 1, 1, 9, 8, 9, 9, 8, 1, 2, 1 }, one[] = { 1, 1, 1, 30, 1, 1, 1 };
    CU_ASSERT_STRING_EQUAL(levels(x, 12, 4), "0 4 9");
    CU_ASSERT_STRING_EQUAL(levels(x, 12, 100), "0");
    CU_ASSERT_STRING_EQUAL(levels(one, 7, 4), "0 3 4");
    CU_ASSERT_STRING_EQUAL(levels(one, 1, 4), "0");
    CU_ASSERT_STRING_EQUAL(levels(one, 0, 4), "");
}

static int ascending(const void *a, const void *b)
{
    const double *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

static double cost(const double *x, const size_t *starts, size_t nruns, size_t n, double penalty)
{
    double sum = 0;
    for (size_t r = 0; r < nruns; r++) {
        size_t from = starts[r], to = r + 1 < nruns ? starts[r + 1] : n;
        double v[16];
        for (size_t i = from; i < to; i++)
            v[i - from] = x[i];
        qsort(v, to - from, sizeof *v, ascending);
        for (size_t i = from; i < to; i++)
            sum += fabs(x[i] - v[(to - from) / 2]);
        sum += penalty;
    }
    return sum;
}

/* All 2^(n-1) cuts of short series. */
static void no_other_cut_is_cheaper(void)
{
    uint64_t random = 11;
    for (int round = 0; round < 200; round++) {
        double x[9], best = INFINITY, penalty = 1 + unit_below(&random, 6);
        size_t n = 1 + unit_below(&random, 9), starts[9], nruns;
        for (size_t i = 0; i < n; i++)
            x[i] = unit_below(&random, 10);
        for (unsigned cuts = 0; cuts < 1u << (n - 1); cuts++) {
            size_t s[9] = { 0 }, m = 1;
            for (size_t i = 1; i < n; i++)
                if (cuts >> (i - 1) & 1)
                    s[m++] = i;
            double c = cost(x, s, m, n, penalty);
            best = c < best ? c : best;
        }
        CU_ASSERT_FATAL(tl_change_points(x, n, penalty, starts, &nruns));
        CU_ASSERT_DOUBLE_EQUAL(cost(x, starts, nruns, n, penalty), best, 1e-9);
    }
}

static const unit_test tests[] = {
    TEST(a_slope_stands_although_a_third_of_the_points_lies),
    TEST(many_points_cost_little_more_than_a_thousand),
    TEST(a_trend_is_told_from_noise),
    TEST(every_number_is_as_likely),
    TEST(a_step_and_its_end_are_found),
    TEST(no_other_cut_is_cheaper),
};

int main(void)
{
    return unit_main("robust", tests, COUNT(tests));
}
