/* test.c - how likely are two samples as far apart as these if they are of one population? */
#include "internal.h"
#include "tlmpi/analysis/chance.h"
#include <math.h>

/* Mann-Whitney, by the normal approximation, which says 0.009 of 5 and 5 steps that do not overlap, exactly 0.008.  Ties count half.  NaN where not even
 * the farthest samples of these sizes would be told from chance. */
double tl_diff_rank_test(const double *a, size_t n, const double *b, size_t m)
{
    double u = 0, pairs = (double)n * (double)m, scale = sqrt(2 * pairs * (double)(n + m + 1) / 12);
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < m; j++)
            u += a[i] > b[j] ? 1 : a[i] == b[j] ? 0.5 : 0;
    bool enough = pairs > 0 && erfc(pairs / 2 / scale) < TL_DIFF_ALPHA;
    return enough ? erfc(fabs(u - pairs / 2) / scale) : NAN;
}

/* The chance of a mean that is as many standard errors away from 0. */
static double chance_of_mean(double mean, double error, double degrees)
{
    return mean == 0 ? 1 : error <= 0 ? 0 : fmin(1, 2 * tl_student_tail_of(fabs(mean) / error, degrees));
}

/* The chance of n ratios as far from 1, from the sums of their logarithms and of the squares of these. */
static double chance_of_ratios(double n, double sum, double squares)
{
    double mean = sum / n;
    return chance_of_mean(mean, sqrt(fmax(0, squares - n * mean * mean) / (n - 1) / n), n - 1);
}

double tl_diff_pairs_test(const double *a, const double *b, size_t n)
{
    double sum = 0, squares = 0;
    for (size_t i = 0; i < n; i++) {
        double ratio = a[i] > 0 && b[i] > 0 ? log(b[i] / a[i]) : NAN;
        sum += ratio;
        squares += ratio * ratio;
    }
    return isnan(sum) ? NAN : chance_of_ratios((double)n, sum, squares);
}

double tl_diff_correlation(const double *a, const double *b, size_t n)
{
    double ma = 0, mb = 0, aa = 0, bb = 0, ab = 0;
    for (size_t i = 0; i < n; i++) {
        ma += a[i] / (double)n;
        mb += b[i] / (double)n;
    }
    for (size_t i = 0; i < n; i++) {
        aa += (a[i] - ma) * (a[i] - ma);
        bb += (b[i] - mb) * (b[i] - mb);
        ab += (a[i] - ma) * (b[i] - mb);
    }
    return aa > 0 && bb > 0 ? ab / sqrt(aa * bb) : 0;
}

/* Of ranks that both sides have, by their ratios: what differs between ranks is no noise.  Of fewer ranks by the
 * durations themselves (Welch). */
double tl_diff_amounts_test(const amount *a, const amount *b)
{
    if (b->pairs > 2)
        return chance_of_ratios(b->pairs, b->ratios, b->ratios_sq);
    double fa = a->count - a->ranks, fb = b->count - b->ranks;
    double va = a->within / fa / a->count, vb = b->within / fb / b->count;
    if (!(fa > 0) || !(fb > 0) || isnan(va + vb))
        return NAN;
    double degrees = (va + vb) * (va + vb) / (va * va / fa + vb * vb / fb);
    double longer_ns = (double)b->ns / b->count - (double)a->ns / a->count;
    return chance_of_mean(longer_ns, sqrt(va + vb), degrees);
}
