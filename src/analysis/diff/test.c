/* test.c - how likely are two samples as far apart as these if they are of one population? */
#include "internal.h"
#include "tlmpi/analysis/chance.h"
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

/* Mann-Whitney: exact up to so many pairs, beyond them the normal approximation.  Ties count half. */
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
        return fmin(1, erfc((pairs / 2 - u) / sqrt(pairs * (double)(n + m + 1) / 12) / sqrt(2)));
    double *ways = ways_of(n, m);
    for (size_t i = 0; i <= n * m; i++) {
        all += ways[i];
        tail += (double)i <= ceil(u) ? ways[i] : 0;
    }
    free(ways);
    return fmin(1, 2 * tail / all);
}

/* The variance of the mean of one, and its degrees of freedom: of durations, or of the means of ranks, whichever is
 * more. */
static double variance_of(const amount *s, double *degrees)
{
    double each = s->count > s->ranks ? s->within / (s->count - s->ranks) / s->count : NAN, ranks = NAN;
    if (s->ranks > 1)
        ranks = fmax(0, s->mean_squares - s->mean_sum * s->mean_sum / s->ranks) / (s->ranks - 1) / s->ranks;
    *degrees = s->ranks > 1 && !(each >= ranks) ? s->ranks - 1 : s->count - 1;
    return fmax(each, ranks); /* the other, where NaN */
}

double tl_diff_amounts_test(const amount *a, const amount *b)
{
    double da, db, va = variance_of(a, &da), vb = variance_of(b, &db);
    double apart = fabs((double)a->ns / a->count - (double)b->ns / b->count);
    if (!(a->count > 0) || !(b->count > 0) || isnan(va) || isnan(vb))
        return NAN;
    if (va + vb <= 0)
        return apart > 0 ? 0 : 1;
    /* Welch */
    double degrees = (va + vb) * (va + vb) / (va * va / fmax(da, 1) + vb * vb / fmax(db, 1));
    return fmin(1, 2 * tl_student_tail_of(apart / sqrt(va + vb), degrees));
}
