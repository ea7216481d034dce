/* stats.c - mean, median and deviation of the lengths of gaps. */
#include "stats.h"
#include "internal.h"
#include "tlmpi/base/quantile.h"
#include <math.h>

tl_idle_stats tl_idle_measure(int64_t *v, size_t n)
{
    tl_idle_stats s = { 0 };
    if (n == 0)
        return s;
    s.min_ns = s.max_ns = v[0];
    for (size_t i = 0; i < n; i++) {
        s.total_ns = tl_ns_add(s.total_ns, v[i]);
        s.min_ns = v[i] < s.min_ns ? v[i] : s.min_ns;
        s.max_ns = v[i] > s.max_ns ? v[i] : s.max_ns;
    }
    int64_t m = (int64_t)n;
    s.mean_ns = s.total_ns / m + (s.total_ns % m >= m - s.total_ns % m);
    s.median_ns = tl_median_up(v, n);
    return s;
}

int64_t tl_idle_deviation(const int64_t *v, size_t n)
{
    double mean = 0, squares = 0;
    if (n == 0)
        return 0;
    for (size_t i = 0; i < n; i++)
        mean += (double)v[i] / (double)n;
    for (size_t i = 0; i < n; i++)
        squares += ((double)v[i] - mean) * ((double)v[i] - mean);
    return (int64_t)llround(sqrt(squares / (double)n));
}

double tl_idle_pct(int64_t part, int64_t whole)
{
    return whole > 0 ? 100.0 * (double)part / (double)whole : NAN;
}
