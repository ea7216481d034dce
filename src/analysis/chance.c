/* chance.c - the noise in lateness, and the chance that noise alone makes a rank that late.
 *
 * The other ranks show how heavy the tails of a job are: if the tail of many values has d degrees of freedom, the
 * largest is k times the second largest with chance k^-d.  So the lateness of a rank in n steps has to stand out from
 * the lateness of each other rank in its n worst steps.  If stalls are counted, whatever their length, the chance of
 * one rank's count is binomial, each stall being equally likely on any rank.
 */
#include "tlmpi/analysis/chance.h"
#include "tlmpi/base/quantile.h"
#include "tlmpi/model/parameters.h"
#include <float.h>
#include <math.h>
#include <string.h>

/* ----------------------------------------------------------------------------------------------------------- noise */

/* Puts x at column[at].  Returns the number of values in the column: a NAN does not count. */
static size_t append_known(double *column, size_t at, double x)
{
    column[at] = x;
    return isnan(x) ? at : at + 1;
}

static size_t copy_known(const double *x, size_t n, double *column)
{
    size_t at = 0;
    for (size_t i = 0; i < n; i++)
        at = append_known(column, at, x[i]);
    return at;
}

/* Returns the noise of a job with one step, from the distances of ranks to their median. */
static double noise_of_one_step(const double *x, size_t n, double *column)
{
    memcpy(column, x, n * sizeof *x);
    double middle = tl_real_median(column, n);
    for (size_t i = 0; i < n; i++)
        column[i] = fabs(x[i] - middle);
    return tl_sigma_of_mad(tl_real_median(column, n));
}

/* Returns the noise from second differences: the distance of a step's value from the line through its two predecessors.
 * A level or a ramp adds nothing while it lasts. */
static double noise_of_second_differences(const double *x, size_t n, size_t nsteps, double *column)
{
    size_t at = 0;
    for (size_t i = 0; i < n; i++)
        for (size_t s = 2; s < nsteps; s++) {
            const double *here = x + i * nsteps + s;
            at = append_known(column, at, fabs(here[0] - 2 * here[-1] + here[-2]));
        }
    return at > 0 ? tl_sigma_of_mad(tl_real_median(column, at)) / sqrt(1 + 2 * 2 + 1) : INFINITY;
}

/* Returns the noise from differences between neighbouring steps.  A level adds nothing while it lasts. */
static double noise_of_differences(const double *x, size_t n, size_t nsteps, double *column)
{
    size_t at = 0;
    for (size_t i = 0; i < n; i++)
        for (size_t s = 1; s < nsteps; s++)
            at = append_known(column, at, fabs(x[i * nsteps + s] - x[i * nsteps + s - 1]));
    return at > 0 ? tl_sigma_of_mad(tl_real_median(column, at)) / sqrt(2) : INFINITY;
}

/* Returns the noise from the distances of a member's values to its own median.  The smallest distances are left out,
 * since some are 0 by construction: one per member (its median) and, with more than two members, one per step. */
static double noise_around_medians(const double *x, size_t n, size_t nsteps, double *column, double *one)
{
    size_t at = 0, middles = n > 2 ? n + nsteps - 1 : n;
    for (size_t i = 0; i < n; i++) {
        const double *own = x + i * nsteps;
        double middle = tl_real_median(one, copy_known(own, nsteps, one));
        for (size_t s = 0; s < nsteps; s++)
            at = append_known(column, at, fabs(own[s] - middle));
    }
    tl_real_sort(column, at);
    return at > middles ? tl_sigma_of_mad(column[middles + tl_lower_middle(at - middles)]) : INFINITY;
}

double tl_noise_of(const double *x, size_t members, size_t nsteps, double *column, double *one)
{
    if (nsteps == 1)
        return noise_of_one_step(x, members, column);
    return fmin(noise_around_medians(x, members, nsteps, column, one),
                fmin(noise_of_differences(x, members, nsteps, column),
                     noise_of_second_differences(x, members, nsteps, column)));
}

/* The second and fourth powers of the distances of some values from their member's median, summed. */
typedef struct power_sums {
    double second, fourth, n;
} power_sums;

static power_sums power_sums_of(const double *x, size_t nsteps, double *column)
{
    power_sums sums = { 0 };
    const double middle = tl_real_median(column, copy_known(x, nsteps, column));
    for (size_t s = 0; s < nsteps; s++) {
        const double square = isnan(x[s]) ? 0 : (x[s] - middle) * (x[s] - middle);
        sums.second += square;
        sums.fourth += square * square;
        sums.n += !isnan(x[s]);
    }
    return sums;
}

double tl_tail_degrees_of(const double *x, size_t members, size_t nsteps, double *column)
{
    power_sums all = { 0 }, heaviest = { 0 };
    for (size_t i = 0; i < members; i++) {
        const power_sums own = power_sums_of(x + i * nsteps, nsteps, column);
        all.second += own.second;
        all.fourth += own.fourth;
        all.n += own.n;
        heaviest = own.fourth > heaviest.fourth ? own : heaviest;
    }
    const double n = all.n - heaviest.n, second = all.second - heaviest.second;
    if (n < 1 || second <= 0)
        return TL_TAIL_DEGREES;
    const double excess = (all.fourth - heaviest.fourth) * n / (second * second) - 3 + TL_TAIL_SURE * sqrt(24 / n);
    return fmax(TL_TAIL_DEGREES, excess > 0 ? fmin(4 + 6 / excess, n) : n);
}

/* ---------------------------------------------------------------------------------------------------------- chance */

/* Returns the degrees of freedom of the tail of a sum over n steps. */
static double tail_degrees_of(const tl_chance *c, double n)
{
    return c->degrees - 2 + 2 * n;
}

double tl_chance_of(const tl_chance *c, double z, double n)
{
    double r = (double)c->members, s = (double)c->nsteps;
    double tries = c->tries * s * (s + 1) / 2;
    double others = r > 1 ? r - 1 : 1; /* a single member is compared with its own other steps */
    double tail = tail_degrees_of(c, c->nsteps == 1 ? 1 : n);
    double table = c->nsteps > 1 ? others * (s - 1) : others;
    return fmin(1, tries * tl_student_tail_of(z, fmin(tail, table)));
}

double tl_worst_of(const double *x, size_t nsteps, const bool *up, size_t most, double *column)
{
    size_t n = 0;
    for (size_t s = 0; s < nsteps; s++)
        n += !up[s];
    if (n == 0)
        return 0;
    double baseline = fmax(0, tl_real_median(column, copy_known(x, nsteps, column))), sum = 0;
    n = 0;
    for (size_t s = 0; s < nsteps; s++)
        if (!up[s] && x[s] > baseline)
            column[n++] = x[s] - baseline;
    tl_real_sort(column, n);
    for (size_t i = 0; i < n && i < most; i++)
        sum += column[n - 1 - i];
    return sum;
}

double tl_chance_to_stand_out(const tl_chance *c, double *worst, size_t n, size_t nup, double late_ns)
{
    double chance = 1;
    tl_real_sort(worst, n);
    if (n == 0)
        return 0;
    const size_t most = nup < TL_MEDIAN_LEAST ? 1 : (c->members + 1) / 2;
    for (size_t k = 1; k <= n && (k == 1 || k < most); k++) {
        double next = worst[n - k], least = k > 1 ? fmin(late_ns, worst[n - k + 1]) : late_ns;
        double tries = c->largest * (most > 2 ? (double)(k * (k + 1)) : 1);
        if (next < least)
            chance = fmin(chance, tries * pow(next / least, (double)k * tail_degrees_of(c, 1)));
    }
    return chance;
}

double tl_chance_by_turns(const tl_chance *c, size_t own, size_t all)
{
    const double n = (double)all, share = 1 / (double)c->members, from = (double)own;
    if (c->members < 2 || from <= n * share)
        return 1;
    /* Above the mean each term of the tail is less than its predecessor. */
    double sum = 0, term = exp(lgamma(n + 1) - lgamma(from + 1) - lgamma(n - from + 1) + from * log(share) +
                               (n - from) * log1p(-share));
    for (size_t k = own; k <= all && term > sum * DBL_EPSILON; k++) {
        sum += term;
        term *= (double)(all - k) / (double)(k + 1) * share / (1 - share);
    }
    return fmin(1, (double)c->members * c->largest * sum);
}
