/* apart.c - which values lie apart from the rest, by more than the rest scatters?
 *
 *     values   . .:. .          :  .             three lie apart, of ten
 *              |rest |          |k |
 *
 * The k values farthest from the median, fewer than half, lie apart where even the nearest of them is farther from the
 * mean of the rest than chance explains (Student's t, with heavy tails); the largest such k counts, so that two values
 * apart do not hide each other.  Trying many k makes chance likelier: the test of k is weighted by k (k + 1), so that
 * 1 / (k (k + 1)) over all k sums to 1, and by the number of values that could have been the nearest.
 */
#include "apart.h"
#include "tlmpi/analysis/chance.h"
#include "tlmpi/base/quantile.h"
#include "tlmpi/base/sort.h"
#include "tlmpi/model/parameters.h"
#include <math.h>
#include <stdlib.h>

static int by_distance(const void *a, const void *b)
{
    const tl_rank_value *x = a, *y = b;
    return x->distance != y->distance ? TL_COMPARE(y->distance, x->distance) : TL_COMPARE(x->rank, y->rank);
}

static int by_rank(const void *a, const void *b)
{
    const tl_rank_value *x = a, *y = b;
    return TL_COMPARE(x->rank, y->rank);
}

/* Distance, in scales, up to which a value never lies apart: its tail is too likely for any number of tries, so it is
 * not computed. */
#define NEAR 3.0

/* Whether v[k - 1] lies apart from the rest v[k .. n), whose mean and sum of squared distances from that mean are
 * given. */
static bool lies_apart(const tl_rank_value *v, size_t n, size_t k, double mean, double squares)
{
    const tl_rank_value *one = &v[k - 1];
    double rest = (double)(n - k), error = one->error > 0 ? one->error : 0, apart = fabs(one->value - mean);
    double scale = sqrt(squares / (rest - 1) * (1 + 1 / rest) + error * error);
    double tries = 2 * (rest + 1) * (double)k * (double)(k + 1);
    double degrees = rest - 1 < TL_TAIL_DEGREES ? rest - 1 : TL_TAIL_DEGREES;

    if (apart <= (double)TL_ROUNDING_NS || apart <= NEAR * scale)
        return false;
    return scale == 0 || tries * tl_student_tail_of(apart / scale, degrees) < TL_APART_CHANCE;
}

size_t tl_apart_find(tl_rank_value *v, size_t n, double *room)
{
    size_t found = 0;
    double mean = 0, squares = 0;

    if (n < (size_t)TL_SPREAD_LEAST + 1)
        return 0;
    for (size_t i = 0; i < n; i++)
        room[i] = v[i].value;
    double median = tl_real_median(room, n);
    for (size_t i = 0; i < n; i++)
        v[i].distance = fabs(v[i].value - median);
    qsort(v, n, sizeof *v, by_distance);
    for (size_t k = n; k-- > 0;) { /* the rest are v[k, n) */
        double rest = (double)(n - k), apart = v[k].value - mean;
        bool may = found == 0 && 2 * (k + 1) < n && k + 1 + (size_t)TL_SPREAD_LEAST <= n;
        if (may && lies_apart(v, n, k + 1, mean, squares))
            found = k + 1;
        mean += apart / rest;
        squares += apart * (v[k].value - mean);
    }
    qsort(v, found, sizeof *v, by_rank);
    return found;
}
