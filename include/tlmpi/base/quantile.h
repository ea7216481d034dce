/* quantile.h - the middle of a set of numbers, and how far they scatter around it.
 *
 * Half of the numbers may be anything without moving the middle far.  There are two kinds of numbers: int64_t, for
 * times in ns, which stay exact (tl_median), and double, for ratios, scores and sums over many ranks (tl_real_median).
 * The same numbers in any order give the same result.
 *
 *     n = 5    1 2 [3] 4 5    one in the middle
 *     n = 4    1 [2  3] 4     two: the lower, the upper, or their mean; each function says which
 *
 * The mean of two int64_t is rounded down, except in tl_median_rounded_up.
 *
 * Use the mean of the middle two for measurements; use the lower where the answer has to be one of the numbers, or, of
 * two ranks, the rank that is not late.
 */
#ifndef TLMPI_BASE_QUANTILE_H
#define TLMPI_BASE_QUANTILE_H

#include <stddef.h>
#include <stdint.h>

/* ----------------------------------------------------------------------------------------------------------- places */

/* In n > 0 things that ascend, whatever they are: the place of the lower and of the upper of the middle two (one place
 * where n is odd), and of the quartiles, rounded down. */
static inline size_t tl_lower_middle(size_t n)
{
    return (n - 1) / 2;
}

static inline size_t tl_upper_middle(size_t n)
{
    return n / 2;
}

static inline size_t tl_lower_quarter(size_t n)
{
    return (n - 1) / 4;
}
static inline size_t tl_upper_quarter(size_t n)
{
    return (n - 1) * 3 / 4;
}

/* --------------------------------------------------------------------------------------------------------- integers */

/* Puts n numbers in order, smallest first; NULL for none. */
void tl_ns_sort(int64_t *values, size_t n);

/* The same, each number once; how many are left. */
size_t tl_ns_distinct(int64_t *values, size_t n);

/* The mean of two, rounded down; no sum that might not fit. */
static inline int64_t tl_mean_of_two(int64_t low, int64_t high)
{
    return (low & high) + ((low ^ high) >> 1);
}

/* The median of n > 0 numbers; of the middle two the mean, the lower, or the mean rounded up (of numbers that are not
 * below 0).  Each puts the numbers in order. */
int64_t tl_median(int64_t *values, size_t n);
int64_t tl_lower_median(int64_t *values, size_t n);
int64_t tl_median_rounded_up(int64_t *values, size_t n);

/* The median of n > 0 distances from `middle` (MAD); the numbers are these distances afterwards. */
int64_t tl_mad(int64_t *values, size_t n, int64_t middle);

/* ---------------------------------------------------------------------------------------------------------- doubles */

/* Puts n numbers in order, smallest first; none is NaN. */
void tl_real_sort(double *values, size_t n);

/* The median; of the middle two the mean; NaN for none.  Puts the numbers in order. */
double tl_real_median(double *values, size_t n);

/* ---------------------------------------------------------------------------------------------------------- scatter */

/* The standard deviation of normally distributed numbers whose MAD that is: 1.4826 times as much. */
double tl_sigma_of_mad(double mad);

/* The same of ns, rounded down; of more than 7 days the MAD itself. */
int64_t tl_sigma_of_mad_ns(int64_t mad_ns);

#endif
