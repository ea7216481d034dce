/* robust.h - slopes and trends that a few bad points do not change, and random numbers for permutation tests.
 *
 * Doubles: these are for offsets, ratios and tests of significance, never for the times themselves.  Medians are in quantile.h.
 */
#ifndef TLMPI_BASE_ROBUST_H
#define TLMPI_BASE_ROBUST_H

#include "tlmpi/base/quantile.h"
#include <stddef.h>
#include <stdint.h>

/* The median of the slopes through all pairs of points with different x (Theil and Sen); 0 when there is no such pair.
 * scratch has room for tl_slopes_max(n) numbers.  Beyond 1,000 points only pairs a fixed distance apart are taken, so
 * that the cost stays near that of 1,000. */
double tl_theil_sen(const double *x, const double *y, size_t n, double *scratch);
size_t tl_slopes_max(size_t n);

/* How likely it is that y rises or falls with its index as clearly as it does when there is no trend (Mann and Kendall,
 * two-sided, normal approximation with ties); 1 for fewer than 4 numbers.  O(n^2). */
double tl_trend_p(const double *y, size_t n);

/* A stream of random numbers that a seed alone decides (splitmix64). */
typedef struct tl_random {
    uint64_t state;
} tl_random;

/* One of 0 .. n-1, each as likely as the others to 2^-32; n >= 1 and below 2^32. */
uint32_t tl_random_below(tl_random *random, uint32_t n);

#endif
