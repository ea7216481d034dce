/* robust.c - slopes and trends that a few bad points do not change, and the randomness of permutation tests. */
#include "tlmpi/base/robust.h"
#include "tlmpi/base/sort.h"
#include <math.h>
#include <stdbool.h>

/* ---------------------------------------------------------------------------------------------------------- trends */

enum { ALL_PAIRS_UP_TO = 1000 };

/* Beyond so many points only pairs are taken whose distance is a multiple of this. */
static size_t stride_of(size_t n)
{
    if (n <= ALL_PAIRS_UP_TO)
        return 1;
    size_t stride = (size_t)((double)n * (double)n / ((double)ALL_PAIRS_UP_TO * ALL_PAIRS_UP_TO)) + 1;
    return stride < n / 2 ? stride : n / 2;
}

size_t tl_slopes_max(size_t n)
{
    size_t stride = stride_of(n), pairs = 0;
    for (size_t d = stride; d < n; d += stride)
        pairs += n - d;
    return pairs;
}

double tl_theil_sen(const double *x, const double *y, size_t n, double *scratch)
{
    size_t stride = stride_of(n), m = 0;
    for (size_t d = stride; d < n; d += stride)
        for (size_t i = 0; i + d < n; i++)
            if (x[i + d] != x[i])
                scratch[m++] = (y[i + d] - y[i]) / (x[i + d] - x[i]);
    return m > 0 ? tl_real_median(scratch, m) : 0;
}

double tl_trend_p(const double *y, size_t n)
{
    double rises = 0, ties = 0;
    if (n < 4)
        return 1;
    for (size_t i = 0; i < n; i++) {
        size_t equal = 1;
        bool first = true;
        for (size_t j = 0; j < n; j++) {
            if (j < i && y[j] == y[i])
                first = false;
            if (j > i) {
                rises += TL_COMPARE(y[j], y[i]);
                equal += y[j] == y[i];
            }
        }
        if (first) {
            double t = (double)equal;
            ties += t * (t - 1) * (2 * t + 5);
        }
    }
    double m = (double)n, variance = (m * (m - 1) * (2 * m + 5) - ties) / 18;
    if (variance <= 0 || fabs(rises) <= 1)
        return 1;
    return erfc((fabs(rises) - 1) / sqrt(2 * variance));
}

/* ------------------------------------------------------------------------------------------------------ randomness */

static uint64_t next(tl_random *random)
{
    uint64_t z = random->state += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

uint32_t tl_random_below(tl_random *random, uint32_t n)
{
    return (uint32_t)(((next(random) >> 32) * n) >> 32);
}
