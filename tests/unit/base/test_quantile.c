/* test_quantile.c - medians, scatter, and the arithmetic of times below them. */
#include "tlmpi/base/quantile.h"
#include "tlmpi/base/stats.h"
#include "unit.h"
#include <math.h>
#include <string.h>

static void times_stay_within_their_integers(void)
{
    CU_ASSERT_EQUAL(tl_ns_between(INT64_MIN, 1), INT64_MIN + 1);
    CU_ASSERT_EQUAL(tl_ns_between(INT64_MAX, -1), INT64_MAX);
    CU_ASSERT_EQUAL(tl_ns_sum(INT64_MAX, 1), INT64_MAX);
}

static void the_middle_and_the_scatter_are_exact(void)
{
    int64_t odd[] = { 5, -3, 4 }, even[] = { 1, 4, 10, 2 }, extreme[] = { INT64_MAX, INT64_MIN }, one[] = { 8 };
    CU_ASSERT_EQUAL(tl_median(odd, 3), 4);
    CU_ASSERT_EQUAL(tl_mad(odd, 3, 4), 1);
    CU_ASSERT_EQUAL(tl_median(even, 4), 3);
    CU_ASSERT_EQUAL(tl_median(extreme, 2), -1);
    CU_ASSERT_EQUAL(tl_mad(one, 1, 5), 3);
}

static void of_an_even_number_each_median_takes_its_own_side(void)
{
    int64_t lower[] = { 4, 1, 3, 2 }, mean[] = { 4, 1, 3, 2 }, up[] = { 4, 1, 3, 2 };
    CU_ASSERT_EQUAL(tl_lower_median(lower, 4), 2);
    CU_ASSERT_EQUAL(lower[tl_upper_middle(4)], 3);
    CU_ASSERT_EQUAL(lower[tl_lower_quarter(4)], 1);
    CU_ASSERT_EQUAL(tl_median(mean, 4), 2);
    CU_ASSERT_EQUAL(tl_median_rounded_up(up, 4), 3);
    CU_ASSERT_EQUAL(tl_mean_of_two(-3, 0), -2);
    CU_ASSERT_EQUAL(tl_mean_of_two(INT64_MIN, INT64_MAX), -1);
}

static void a_standard_deviation_is_estimated_from_the_mad(void)
{
    CU_ASSERT_EQUAL(tl_sigma_of_mad(2), 1.4826 * 2);
    CU_ASSERT_EQUAL(tl_sigma_of_mad_ns(10000), 14826);
    CU_ASSERT_EQUAL(tl_sigma_of_mad_ns(INT64_MAX), INT64_MAX);
}

static double median_distance(double *x, size_t n)
{
    double median = tl_real_median(x, n);
    for (size_t i = 0; i < n; i++)
        x[i] = fabs(x[i] - median);
    return tl_real_median(x, n);
}

static void the_middle_does_not_hear_the_edges(void)
{
    double x[] = { 3, 1, 1e300, 2 }, y[] = { 5, -1e300, 4, 6, 1e300 };
    CU_ASSERT_EQUAL(tl_real_median(x, 4), 2.5);
    CU_ASSERT_EQUAL(tl_real_median(y, 5), 5);
    CU_ASSERT_EQUAL(median_distance((double[]){ 1, 2, 3, 4, 100 }, 5), 1);
    CU_ASSERT(isnan(tl_real_median(x, 0)));
}

static const unit_test tests[] = {
    TEST(times_stay_within_their_integers),
    TEST(the_middle_and_the_scatter_are_exact),
    TEST(of_an_even_number_each_median_takes_its_own_side),
    TEST(a_standard_deviation_is_estimated_from_the_mad),
    TEST(the_middle_does_not_hear_the_edges),
};

int main(void)
{
    return unit_main("quantile", tests, COUNT(tests));
}
