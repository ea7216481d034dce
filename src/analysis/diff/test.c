/* test.c - p-values: how likely do two samples of one population differ at least this much? */
#include "internal.h"
#include "tlmpi/analysis/chance.h"
#include <math.h>

/* Mann-Whitney test by the normal approximation (p = 0.009 for 5 and 5 values without overlap; the exact p is 0.008).
 * Ties count half; NaN among the values is left out.  NaN if even samples without overlap would not be significant. */
double tl_diff_rank_test(const double *a, size_t n, const double *b, size_t m)
{
    double u = 0, na = 0, nb = 0;
    for (size_t j = 0; j < m; j++)
        nb += !isnan(b[j]);
    for (size_t i = 0; i < n; i++) {
        na += !isnan(a[i]);
        for (size_t j = 0; j < m; j++)
            u += a[i] > b[j] ? 1 : a[i] == b[j] ? 0.5 : 0;
    }
    double pairs = na * nb, scale = sqrt(2 * pairs * (na + nb + 1) / 12);
    bool enough = pairs > 0 && erfc(pairs / 2 / scale) < TL_VERDICT_ALPHA;
    return enough ? erfc(fabs(u - pairs / 2) / scale) : NAN;
}

static double log_choose(size_t n, size_t k)
{
    return lgamma((double)n + 1) - lgamma((double)k + 1) - lgamma((double)(n - k) + 1);
}

/* Fisher's exact test: the probability that at least `more` of all k are among n of n + m. */
static double chance_of_more(size_t more, size_t k, size_t n, size_t m)
{
    double p = 0;
    for (; more <= k && more <= n; more++)
        p += k - more <= m ? exp(log_choose(n, more) + log_choose(m, k - more) - log_choose(n + m, k)) : 0;
    return p;
}

double tl_diff_long_test(const tl_diff_basis *basis)
{
    const int more = with_long_steps(basis);
    const size_t n = basis->steps[more], m = basis->steps[!more], most = basis->nlong[more] - 1,
                 k = most + basis->nlong[!more];
    if (most * m <= basis->nlong[!more] * n)
        return 1;
    return chance_of_more(k < n ? k : n, k, n, m) < TL_VERDICT_ALPHA ? fmin(1, 2 * chance_of_more(most, k, n, m)) : NAN;
}

/* Returns the p-value of a mean with that standard error and degrees of freedom, if the true mean lies between -least
 * and least; two-sided if least is 0. */
static double chance_of_mean(double mean, double error, double degrees, double least)
{
    const double over = fabs(mean) - least;
    if (mean == 0 || error <= 0)
        return over > 0 ? 0 : 1;
    return fmin(1,
                tl_student_tail_of(over / error, degrees) + tl_student_tail_of((fabs(mean) + least) / error, degrees));
}

/* A sample: number, mean and variance of its values. */
typedef struct sample {
    double n, mean, variance;
} sample;

static sample sample_of(double n, double sum, double squares)
{
    return (sample){ n, sum / n, fmax(0, squares - sum / n * sum) / (n - 1) };
}

/* Returns the sample of the logarithms of step times, NaN left out.  The variance is at least that of rounded time
 * stamps. */
static sample logs_of(const double *ns, size_t n)
{
    double count = 0, sum = 0, squares = 0;
    for (size_t i = 0; i < n; i++)
        if (ns[i] > 0) {
            count++;
            sum += log(ns[i]);
            squares += log(ns[i]) * log(ns[i]);
        }
    sample s = sample_of(count, sum, squares);
    double rounding = (double)TL_ROUNDING_NS / exp(s.mean);
    s.variance = fmax(s.variance, rounding * rounding / 12);
    return s;
}

/* Returns the correlation of the values of equal steps, -1 to 1. */
static double correlation(const double *a, const double *b, size_t n)
{
    double count = 0, sa = 0, sb = 0, aa = 0, bb = 0, ab = 0;
    for (size_t i = 0; i < n; i++)
        if (a[i] > 0 && b[i] > 0) {
            count++;
            sa += a[i];
            sb += b[i];
            aa += a[i] * a[i];
            bb += b[i] * b[i];
            ab += a[i] * b[i];
        }
    double va = aa - sa * sa / count, vb = bb - sb * sb / count;
    return va > 0 && vb > 0 ? (ab - sa * sb / count) / sqrt(va * vb) : 0;
}

double tl_diff_pairs_test(const tl_diff *diff, const double *a, const double *b, double least)
{
    size_t n = diff->side[A].steps.n;
    if (!diff->same_steps || 2 * correlation(a, b, n) < 1)
        return NAN;
    double sum = 0, squares = 0, count = 0;
    for (size_t i = 0; i < n; i++)
        if (!isnan(a[i] + b[i])) {
            double ratio = a[i] > 0 && b[i] > 0 ? log(b[i] / a[i]) : NAN;
            count++;
            sum += ratio;
            squares += ratio * ratio;
        }
    sample s = sample_of(count, sum, squares);
    return isnan(sum) ? NAN : chance_of_mean(s.mean, sqrt(s.variance / s.n), s.n - 1, log1p(least));
}

double tl_diff_times_test(const tl_diff *diff, const double *a, const double *b, double least)
{
    double of_pairs = tl_diff_pairs_test(diff, a, b, least);
    if (!isnan(of_pairs))
        return of_pairs;
    sample x = logs_of(a, diff->side[A].steps.n), y = logs_of(b, diff->side[B].steps.n);
    double vx = x.variance / x.n, vy = y.variance / y.n;
    if (!(x.n > 1) || !(y.n > 1))
        return NAN;
    return chance_of_mean(y.mean - x.mean, sqrt(vx + vy),
                          (vx + vy) * (vx + vy) / (vx * vx / (x.n - 1) + vy * vy / (y.n - 1)), log1p(least));
}
