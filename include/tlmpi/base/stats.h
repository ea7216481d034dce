/* stats.h - arithmetic of times in integers of nanoseconds, exact wherever the result fits; else it stays at the end of
 * the integers.
 */
#ifndef TLMPI_BASE_STATS_H
#define TLMPI_BASE_STATS_H

#include "tlmpi/base/quantile.h"
#include <stddef.h>
#include <stdint.h>

/* a - b; the nearest int64_t where the difference does not fit (a trace may say anything). */
int64_t tl_ns_between(int64_t a, int64_t b);

/* a + b; the nearest int64_t where the sum does not fit. */
int64_t tl_ns_sum(int64_t a, int64_t b);

/* Time that a clock gains in ns, at ppb parts in 10^9: |ppb| up to 10^9. */
int64_t tl_ns_of_drift(int64_t ppb, int64_t ns);

/* The sum of two times, neither below 0; INT64_MAX where the sum does not fit: only a trace made for that reaches
 * it. */
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

/* The spread of n > 0 numbers, none below 0: quantile q is the number at place (n - 1) q, linear between two places;
 * the standard deviation divides by n - 1, and is NaN for a single number. */
typedef struct tl_spread {
    int64_t total, min, max;
    double mean, std, p25, median, p75;
} tl_spread;

/* Puts the numbers in order.  All is 0 where n is 0. */
tl_spread tl_spread_of(int64_t *values, size_t n);

/* Quantile quarter / 4 of n > 0 numbers that ascend, linear between two places as in tl_spread. */
double tl_quartile(const int64_t *ascending, size_t n, size_t quarter);

/* x, but no further from 0 than most >= 0. */
static inline int64_t tl_ns_within(int64_t x, int64_t most)
{
    return tl_ns_max(-most, tl_ns_min(x, most));
}

/* x * part / whole, without overflow; 0 for nothing.  Most products fit 64 bits, whose division takes a fourth of the time. */
static inline int64_t tl_portion(int64_t x, int64_t part, int64_t whole)
{
    __extension__ typedef __int128 wide;
    int64_t product;
    if (whole > 0 && !__builtin_mul_overflow(x, part, &product))
        return product / whole;
    return whole != 0 ? (int64_t)((wide)x * part / whole) : 0;
}

#endif
