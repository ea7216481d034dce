/* test.c - how likely are two samples as far apart as these if they are of one population? */
#include "internal.h"
#include "tlmpi/analysis/chance.h"
#include "tlmpi/base/quantile.h"
#include <math.h>
#include <stdlib.h>

/* How many of the orders of n and m things have each value of U, the number of pairs in which the first is larger:
 * ways[u], u up to n m.  By the last of the order: one of the n, which exceeds all m, or one of the m. */
static double *ways_of(size_t n, size_t m)
{
    size_t size = n * m + 1;
    double *ways = tl_calloc((n + 1) * size, sizeof *ways), *last;
    for (size_t i = 0; i <= n; i++)
        ways[i * size] = 1; /* of none of the m */
    for (size_t j = 1; j <= m; j++)
        for (size_t i = 1; i <= n; i++)
            for (size_t u = size; u-- > 0;)
                ways[i * size + u] += u >= j ? ways[(i - 1) * size + u - j] : 0;
    last = tl_malloc(size * sizeof *last);
    for (size_t u = 0; u < size; u++)
        last[u] = ways[n * size + u];
    free(ways);
    return last;
}

/* The chance, two-sided, of what lies `apart` from the middle of a normal distribution of that variance. */
static double normal_chance(double apart, double variance)
{
    return fmin(1, erfc(apart / sqrt(2 * variance)));
}

/* Mann-Whitney: exact up to TL_DIFF_EXACT_PAIRS pairs, beyond them the normal approximation.  Ties count half.  NaN
 * where not even the farthest samples of these sizes would be told from chance. */
double tl_diff_rank_test(const double *a, size_t n, const double *b, size_t m)
{
    double u = 0, all = 0, tail = 0, pairs = (double)n * (double)m;
    if (n < 2 || m < 2)
        return NAN;
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < m; j++)
            u += a[i] > b[j] ? 1 : a[i] == b[j] ? 0.5 : 0;
    u = fmin(u, pairs - u);
    if (pairs > (double)TL_DIFF_EXACT_PAIRS)
        return normal_chance(pairs / 2 - u, pairs * (double)(n + m + 1) / 12);
    double *ways = ways_of(n, m);
    for (size_t i = 0; i <= n * m; i++) {
        all += ways[i];
        tail += (double)i <= ceil(u) ? ways[i] : 0;
    }
    double least = 2 * ways[0] / all;
    free(ways);
    return least < TL_DIFF_ALPHA ? fmin(1, 2 * tail / all) : NAN;
}

/* Wilcoxon's signed ranks: how many of the 2^n choices of signs have each sum of the ranks of those above 0.  Pairs that
 * are equal are left out; equal distances share their ranks. */
double tl_diff_pairs_test(const double *a, const double *b, size_t n)
{
    double *apart = tl_calloc(n + 1, sizeof *apart), above = 0, tail = 0;
    size_t kept = 0;
    for (size_t i = 0; i < n; i++)
        if (a[i] != b[i])
            apart[kept++] = fabs(b[i] - a[i]);
    tl_real_sort(apart, kept);
    for (size_t i = 0; i < n; i++)
        if (b[i] > a[i]) {
            size_t first = 0, last = 0;
            TL_BISECT(first, kept, mid, apart[mid] < b[i] - a[i]);
            TL_BISECT(last, kept, mid, apart[mid] <= b[i] - a[i]);
            above += (double)(first + last + 1) / 2;
        }
    free(apart);
    size_t sums = kept * (kept + 1) / 2;
    above = fmin(above, (double)sums - above);
    if (n < 2 || kept == 0)
        return n < 2 ? NAN : 1;
    if (n * n > TL_DIFF_EXACT_PAIRS)
        return normal_chance((double)sums / 2 - above, (double)sums * (double)(2 * kept + 1) / 12);
    double *ways = tl_calloc(sums + 1, sizeof *ways);
    ways[0] = 1;
    for (size_t rank = 1; rank <= kept; rank++)
        for (size_t sum = sums + 1; sum-- > rank;)
            ways[sum] += ways[sum - rank];
    for (size_t sum = 0; sum <= sums && (double)sum <= above; sum++)
        tail += ways[sum];
    free(ways);
    return fmin(1, ldexp(tail, 1 - (int)kept));
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
    double n = b->pairs, degrees = n - 1, apart, scale;
    if (n > 2) {
        apart = b->ratios / n;
        scale = sqrt(fmax(0, b->ratios_sq - n * apart * apart) / degrees / n);
    } else {
        double fa = a->count - a->ranks, fb = b->count - b->ranks;
        double va = a->within / fa / a->count, vb = b->within / fb / b->count;
        if (!(fa > 0) || !(fb > 0) || isnan(va + vb))
            return NAN;
        apart = (double)b->ns / b->count - (double)a->ns / a->count;
        scale = sqrt(va + vb);
        degrees = (va + vb) * (va + vb) / (va * va / fa + vb * vb / fb);
    }
    return apart == 0 ? 1 : scale <= 0 ? 0 : fmin(1, 2 * tl_student_tail_of(fabs(apart) / scale, degrees));
}
