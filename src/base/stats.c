/* stats.c - saturated differences and sums of times, and their quantiles and spread. */
#include "tlmpi/base/stats.h"
#include <math.h>

/* Computes ns * ppb / 1e9 in two parts that fit: whole seconds, and the rest. */
int64_t tl_ns_of_drift(int64_t ppb, int64_t ns)
{
    const int64_t second = 1000000000;
    return ns / second * ppb + ns % second * ppb / second;
}

double tl_quartile(const int64_t *v, size_t n, size_t quarter)
{
    size_t at = (n - 1) * quarter / 4, part = (n - 1) * quarter % 4;
    double low = (double)v[at];
    return part == 0 ? low : low + (double)tl_ns_between(v[at + 1], v[at]) * (double)part / 4;
}

tl_spread tl_spread_of(int64_t *v, size_t n)
{
    tl_spread s = { 0 };
    double squares = 0;

    if (n == 0)
        return s;
    tl_ns_sort(v, n);
    for (size_t i = 0; i < n; i++)
        s.total = tl_ns_add(s.total, v[i]);
    s.mean = (double)s.total / (double)n;
    for (size_t i = 0; i < n; i++)
        squares += ((double)v[i] - s.mean) * ((double)v[i] - s.mean);
    s.std = n > 1 ? sqrt(squares / (double)(n - 1)) : NAN;
    s.min = v[0];
    s.max = v[n - 1];
    s.p25 = tl_quartile(v, n, 1);
    s.median = tl_quartile(v, n, 2);
    s.p75 = tl_quartile(v, n, 3);
    return s;
}
