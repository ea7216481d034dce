/* stats.h - arithmetic of times in integers of nanoseconds, exact if the result fits, else saturated. */
#ifndef TLMPI_BASE_STATS_H
#define TLMPI_BASE_STATS_H

#include "tlmpi/base/quantile.h"
#include <stddef.h>
#include <stdint.h>

/* Returns a - b, saturated (a trace may contain any value).  The least difference can be negated. */
static inline int64_t tl_ns_between(int64_t a, int64_t b)
{
    int64_t difference;
    if (__builtin_sub_overflow(a, b, &difference))
        return a < b ? INT64_MIN + 1 : INT64_MAX;
    return difference == INT64_MIN ? INT64_MIN + 1 : difference;
}

/* Returns a + b, saturated likewise. */
static inline int64_t tl_ns_sum(int64_t a, int64_t b)
{
    int64_t sum;
    if (__builtin_add_overflow(a, b, &sum))
        return a < 0 ? INT64_MIN + 1 : INT64_MAX;
    return sum == INT64_MIN ? INT64_MIN + 1 : sum;
}

/* Returns the time that a clock gains in ns, at ppb parts in 10^9; |ppb| up to 10^9. */
int64_t tl_ns_of_drift(int64_t ppb, int64_t ns);

/* Returns the sum of two times, neither below 0; INT64_MAX if it does not fit, which only an artificial trace can
 * cause. */
static inline int64_t tl_ns_add(int64_t a, int64_t b)
{
    int64_t sum;
    return __builtin_add_overflow(a, b, &sum) ? INT64_MAX : sum;
}

static inline int64_t tl_ns_max(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

static inline int64_t tl_ns_min(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* The spread of n > 0 numbers, none below 0.  Quantile q: the number at index (n - 1) q, linearly interpolated; the
 * standard deviation divides by n - 1, and is NaN for a single number. */
typedef struct tl_spread {
    int64_t total, min, max;
    double mean, std, p25, median, p75;
} tl_spread;

/* Sorts the numbers.  All fields are 0 if n is 0. */
tl_spread tl_spread_of(int64_t *values, size_t n);

/* Returns quantile quarter / 4 of n > 0 ascending numbers, interpolated as in tl_spread. */
double tl_quartile(const int64_t *ascending, size_t n, size_t quarter);

/* Returns x limited to [-most, most]; most >= 0. */
static inline int64_t tl_ns_within(int64_t x, int64_t most)
{
    return tl_ns_max(-most, tl_ns_min(x, most));
}

/* Returns x * part / whole, without overflow; 0 if whole is 0.  Most products fit in 64 bits, whose division takes a
 * fourth of the time. */
static inline int64_t tl_portion(int64_t x, int64_t part, int64_t whole)
{
    __extension__ typedef __int128 wide;
    int64_t product;
    if (whole > 0 && !__builtin_mul_overflow(x, part, &product))
        return product / whole;
    return whole != 0 ? (int64_t)((wide)x * part / whole) : 0;
}

#endif
