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

/* The k-th smallest, from 0, of those in [low, high]: in each round all are counted in 64 drawers of equal width, and
 * the one that holds it is looked at more closely.  So no order of v makes it slow. */
static int64_t smallest(const int64_t *v, size_t n, size_t k, int64_t low, int64_t high)
{
    enum { DRAWER_BITS = 6 };
    uint64_t range = (uint64_t)high - (uint64_t)low;
    int shift = 0;

    while (range >> shift >> DRAWER_BITS != 0)
        shift++;
    for (;; shift = shift > DRAWER_BITS ? shift - DRAWER_BITS : 0) {
        size_t count[1 << DRAWER_BITS] = { 0 }, drawer = 0;
        for (size_t i = 0; i < n; i++) {
            uint64_t above = (uint64_t)v[i] - (uint64_t)low;
            if (above <= range)
                count[above >> shift]++;
        }
        for (; k >= count[drawer]; drawer++)
            k -= count[drawer];
        low += (int64_t)(drawer << shift);
        range = (UINT64_C(1) << shift) - 1;
        if (shift == 0)
            return low;
    }
}

/* The smallest above one that is there; high where there is none. */
static int64_t next_above(const int64_t *v, size_t n, int64_t x, int64_t high)
{
    for (size_t i = 0; i < n; i++)
        if (v[i] > x && v[i] < high)
            high = v[i];
    return high;
}

int64_t tl_idle_median(const int64_t *v, size_t n)
{
    tl_idle_stats s = tl_idle_measure(v, n);
    size_t reach = 0;
    if (n == 0)
        return 0;
    int64_t a = smallest(v, n, (n - 1) / 2, s.min_ns, s.max_ns), b = a;
    for (size_t i = 0; i < n; i++)
        reach += v[i] <= a;
    if (reach <= n / 2)
        b = next_above(v, n, a, s.max_ns);
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
