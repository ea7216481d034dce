/* repetition_statistics.c - statistics of many repetitions, and of one variant against another.
 *
 * No distribution is assumed: a kernel that is slow now and then moves neither a median nor its confidence interval
 * far.
 */
#include "tlmpi/analysis/rank/time/repetition.h"
#include "tlmpi/base/stats.h"
#include <math.h>

/* Half of the normal distribution's width that holds 95 % of it. */
static const double Z_95 = 1.959963984540054;

TL_TABLE_DEFINE_AS(repetition_stat, "rep_stat", TL_REPETITION_STAT_FIELDS, TL_SCOPE_JOB, "repetitions in numbers",
                   "How long did the device work in a repetition?");
TL_TABLE_DEFINE_AS(repetition_compare, "rep_compare", TL_REPETITION_COMPARE_FIELDS, TL_SCOPE_JOB, "variants compared",
                   "How much longer does a repetition take than one of the first variant?");

/* Returns the k for which the k-th smallest and the k-th largest of n numbers, from 1, hold the median between them
 * with 95 % confidence: fewer than k heads in n tosses are less likely than 2.5 %.  0: too few numbers. */
static size_t median_bound(size_t n)
{
    double log_p = -(double)n * log(2), sum = 0;
    for (size_t k = 0; k <= n / 2; k++) {
        sum += exp(log_p);
        if (sum > 0.025)
            return k;
        log_p += log((double)(n - k)) - log((double)(k + 1));
    }
    return n / 2;
}

void tl_repetition_summarise(int64_t *values, size_t n, tl_repetition_stat *out)
{
    tl_spread spread = tl_spread_of(values, n);
    size_t k = median_bound(n);
    out->reps = (int64_t)n;
    out->median_ns = spread.median;
    out->mean_ns = spread.mean;
    out->std_ns = n > 1 ? spread.std * sqrt((double)(n - 1) / (double)n) : 0;
    out->min_ns = spread.min;
    out->max_ns = spread.max;
    out->low_ns = k > 0 ? (double)values[k - 1] : NAN;
    out->high_ns = k > 0 ? (double)values[n - k] : NAN;
}

/* Returns how many differences v[i] - base[j] are at most x; v and base ascend. */
static uint64_t count_to(const int64_t *v, size_t n, const int64_t *base, size_t m, int64_t x)
{
    uint64_t count = 0;
    size_t j = 0; /* base[j] and all after it are large enough; for the next v[i], j can only grow */
    for (size_t i = 0; i < n; i++) {
        while (j < m && tl_ns_between(v[i], base[j]) > x)
            j++;
        count += m - j;
    }
    return count;
}

/* The k-th smallest of all differences, k from 1. */
static int64_t difference_at(const int64_t *v, size_t n, const int64_t *base, size_t m, uint64_t k)
{
    int64_t low = tl_ns_between(v[0], base[m - 1]), high = tl_ns_between(v[n - 1], base[0]);
    while (low < high) {
        int64_t mid = tl_mean_of_two(low, high);
        if (count_to(v, n, base, m, mid) >= k)
            high = mid;
        else
            low = mid + 1;
    }
    return low;
}

void tl_repetition_compare_with(const int64_t *v, size_t n, const int64_t *base, size_t m, tl_repetition_compare *out)
{
    uint64_t all = (uint64_t)n * m;
    double middle = (double)all / 2, spread = Z_95 * sqrt((double)all * (double)(n + m + 1) / 12);
    double k = floor(middle - spread);
    double of = ((double)base[tl_lower_middle(m)] + (double)base[tl_upper_middle(m)]) / 2;

    out->difference_ns =
        ((double)difference_at(v, n, base, m, (all + 1) / 2) + (double)difference_at(v, n, base, m, all / 2 + 1)) / 2;
    out->low_ns = k >= 1 ? (double)difference_at(v, n, base, m, (uint64_t)k) : NAN;
    out->high_ns = k >= 1 ? (double)difference_at(v, n, base, m, all + 1 - (uint64_t)k) : NAN;
    out->ratio = of > 0 ? 1 + out->difference_ns / of : NAN;
    out->ratio_low = of > 0 ? 1 + out->low_ns / of : NAN;
    out->ratio_high = of > 0 ? 1 + out->high_ns / of : NAN;
}
