/* idle_stats.c - see idle_stats.h. */
#include "idle_stats.h"
#include "idle.h"
#include <math.h>

tl_idle_stats tl_idle_measure(const int64_t *v, size_t n)
{
    tl_idle_stats s = { 0 };
    if (n == 0)
        return s;
    s.min_ns = s.max_ns = v[0];
    for (size_t i = 0; i < n; i++) {
        s.total_ns = tl_idle_plus(s.total_ns, v[i]);
        s.min_ns = v[i] < s.min_ns ? v[i] : s.min_ns;
        s.max_ns = v[i] > s.max_ns ? v[i] : s.max_ns;
    }
    int64_t m = (int64_t)n;
    s.mean_ns = s.total_ns / m + (s.total_ns % m >= m - s.total_ns % m);
    return s;
}

/* The k-th smallest, from 0: by halving between the extremes, so that no order of v makes it slow. */
static int64_t smallest(const int64_t *v, size_t n, size_t k, int64_t low, int64_t high)
{
    while (low < high) {
        int64_t mid = low + (high - low) / 2;
        size_t reach = 0;
        for (size_t i = 0; i < n; i++)
            reach += v[i] <= mid;
        if (reach > k)
            high = mid;
        else
            low = mid + 1;
    }
    return low;
}

int64_t tl_idle_median(const int64_t *v, size_t n)
{
    tl_idle_stats s = tl_idle_measure(v, n);
    if (n == 0)
        return 0;
    int64_t a = smallest(v, n, (n - 1) / 2, s.min_ns, s.max_ns),
            b = n % 2 == 1 ? a : smallest(v, n, n / 2, a, s.max_ns);
    return a + (b - a) / 2 + (b - a) % 2;
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
