/* quantile.h - medians of numbers, and their scatter.
 *
 * A median hardly changes if less than half of the numbers are arbitrary.  There are two kinds of numbers: int64_t, for
 * times in ns, which stay exact (tl_median), and double, for ratios, scores and sums over many ranks (tl_real_median).
 * Results do not depend on the order of the numbers.
 *
 *     n = 5    1 2 [3] 4 5    one in the middle
 *     n = 4    1 [2  3] 4     two: the lower, the upper, or their mean; each function says which
 *
 * The mean of two int64_t is rounded down, except in tl_median_rounded_up.
 *
 * Use the mean of the middle two for measurements; use the lower one if the answer has to be one of the numbers, or, of
 * two ranks, that of the rank that is not late.
 */
#ifndef TLMPI_BASE_QUANTILE_H
#define TLMPI_BASE_QUANTILE_H

#include <stddef.h>
#include <stdint.h>

/* ----------------------------------------------------------------------------------------------------------- places */

/* Index, among n > 0 elements in ascending order, of the lower and the upper of the middle two (the same for odd n),
 * and of the quartiles, rounded down. */
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

/* Sorts n numbers, ascending.  values may be NULL for n = 0. */
void tl_ns_sort(int64_t *values, size_t n);

/* Sorts n numbers and removes duplicates; returns the number of remaining ones. */
size_t tl_ns_distinct(int64_t *values, size_t n);

/* Returns the mean of two numbers, rounded down, without overflow. */
static inline int64_t tl_mean_of_two(int64_t low, int64_t high)
{
    return (low & high) + ((low ^ high) >> 1);
}

/* Return the median of n > 0 numbers; of the middle two the mean, the lower, or the mean rounded up (for numbers not
 * below 0).  Sort the numbers. */
int64_t tl_median(int64_t *values, size_t n);
int64_t tl_lower_median(int64_t *values, size_t n);
int64_t tl_median_rounded_up(int64_t *values, size_t n);

/* Returns the median of the distances of n > 0 numbers from `middle` (MAD); replaces the numbers by these distances. */
int64_t tl_mad(int64_t *values, size_t n, int64_t middle);

/* ---------------------------------------------------------------------------------------------------------- doubles */

/* Sorts n numbers without NaN, ascending. */
void tl_real_sort(double *values, size_t n);

/* Returns the median; of the middle two the mean; NaN if n is 0.  Sorts the numbers. */
double tl_real_median(double *values, size_t n);

/* ---------------------------------------------------------------------------------------------------------- scatter */

/* Returns the standard deviation of normally distributed numbers with that MAD: 1.4826 * mad. */
double tl_sigma_of_mad(double mad);

/* As tl_sigma_of_mad, for ns, rounded down; above 7 days the MAD itself. */
int64_t tl_sigma_of_mad_ns(int64_t mad_ns);

#endif
