/* stats.c - see stats.h. */
#include "stats.h"
#include "parts.h"
#include <math.h>

/* In each round all that may be in the middle are counted in 64 drawers of equal width, and those in the drawer that
 * holds it are kept; so no order of v makes it slow. */
static int64_t median(int64_t *v, size_t n, int64_t least, int64_t most)
{
    enum { DRAWER_BITS = 6 };
    size_t k = (n - 1) / 2; /* how many of those that are left stand before the lower middle */
    bool even = n % 2 == 0;
    int64_t low = least, above = most; /* above: the least of those that were left behind above */
    uint64_t range = (uint64_t)most - (uint64_t)least;
    int shift = 0;

    while (range >> shift >> DRAWER_BITS != 0)
        shift++;
    for (;; shift = shift > DRAWER_BITS ? shift - DRAWER_BITS : 0) {
        size_t count[1 << DRAWER_BITS] = { 0 }, drawer = 0, kept = 0;
        for (size_t i = 0; i < n; i++)
            count[((uint64_t)v[i] - (uint64_t)low) >> shift]++;
        for (; k >= count[drawer]; drawer++)
            k -= count[drawer];
        for (size_t i = 0; i < n; i++) {
            uint64_t in = ((uint64_t)v[i] - (uint64_t)low) >> shift;
            if (in == drawer)
                v[kept++] = v[i];
            else if (in > drawer && v[i] < above)
                above = v[i];
        }
        n = kept;
        low += (int64_t)(drawer << shift);
        if (shift == 0)
            break;
    }
    int64_t b = even && k + 1 >= n ? above : low; /* of equals there may be two in the middle */
    return low + (b - low) / 2 + (b - low) % 2;
}

tl_idle_stats tl_idle_measure(int64_t *v, size_t n)
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
    s.median_ns = median(v, n, s.min_ns, s.max_ns);
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
