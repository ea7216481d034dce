/* chance.c - the noise in lateness, and how likely noise alone makes a rank that late.
 *
 * The other ranks show how heavy the tails of a job are: of the two largest of many values whose tail has d degrees,
 * one is k times the other in 1 of k^d cases.  So a rank that is late in n steps has to stand out from the lateness of
 * each other rank in its n worst steps.  Where stalls are counted, whatever their length, the binomial distribution
 * tells how likely one rank has that many, if each stall may hit any rank.
 */
#include "tlmpi/analysis/chance.h"
#include "tlmpi/base/quantile.h"
#include "tlmpi/model/parameters.h"
#include <float.h>
#include <math.h>
#include <string.h>

/* ----------------------------------------------------------------------------------------------------------- noise */

/* A value behind the first `at` of the column, unless it is not known: how many are there then. */
static size_t put(double *column, size_t at, double x)
{
    column[at] = x;
    return isnan(x) ? at : at + 1;
}

static size_t take_known(const double *x, size_t n, double *column)
{
    size_t at = 0;
    for (size_t i = 0; i < n; i++)
        at = put(column, at, x[i]);
    return at;
}

/* Noise of a job with one step: how far ranks are from their median. */
static double scale_of_one(const double *x, size_t n, double *column)
{
    memcpy(column, x, n * sizeof *x);
    double middle = tl_real_median(column, n);
    for (size_t i = 0; i < n; i++)
        column[i] = fabs(x[i] - middle);
    return tl_sigma_of_mad(tl_real_median(column, n));
}

/* Noise from how far a step is from the line through the two steps before: a level or a ramp adds none while it lasts.
 */
static double scale_of_turns(const double *x, size_t n, size_t nsteps, double *column)
{
    size_t at = 0;
    for (size_t i = 0; i < n; i++)
        for (size_t s = 2; s < nsteps; s++) {
            const double *here = x + i * nsteps + s;
            at = put(column, at, fabs(here[0] - 2 * here[-1] + here[-2]));
        }
    return at > 0 ? tl_sigma_of_mad(tl_real_median(column, at)) / sqrt(1 + 2 * 2 + 1) : INFINITY;
}

/* Noise from the difference between a step and the step before: a level adds none. */
static double scale_of_steps(const double *x, size_t n, size_t nsteps, double *column)
{
    size_t at = 0;
    for (size_t i = 0; i < n; i++)
        for (size_t s = 1; s < nsteps; s++)
            at = put(column, at, fabs(x[i * nsteps + s] - x[i * nsteps + s - 1]));
    return at > 0 ? tl_sigma_of_mad(tl_real_median(column, at)) / sqrt(2) : INFINITY;
}

/* Noise from how far a member's steps are from its own median.  The smallest distances are left out, since they are no
 * noise: one a member is its median, and with more than two members one a step is. */
static double scale_of_levels(const double *x, size_t n, size_t nsteps, double *column, double *one)
{
    size_t at = 0, middles = n > 2 ? n + nsteps - 1 : n;
    for (size_t i = 0; i < n; i++) {
        const double *own = x + i * nsteps;
        double middle = tl_real_median(one, take_known(own, nsteps, one));
        for (size_t s = 0; s < nsteps; s++)
            at = put(column, at, fabs(own[s] - middle));
    }
    tl_real_sort(column, at);
    return at > middles ? tl_sigma_of_mad(column[middles + tl_lower_middle(at - middles)]) : INFINITY;
}

double tl_noise_of(const double *x, size_t members, size_t nsteps, double *column, double *one)
{
    if (nsteps == 1)
        return scale_of_one(x, members, column);
    return fmin(scale_of_levels(x, members, nsteps, column, one),
                fmin(scale_of_steps(x, members, nsteps, column), scale_of_turns(x, members, nsteps, column)));
}

/* ---------------------------------------------------------------------------------------------------------- chance */

/* Returns the degrees of the tail of a sum of n steps. */
static double tail_of(const tl_chance *c, double n)
{
    return c->degrees - 2 + 2 * n;
}

double tl_chance_of(const tl_chance *c, double z, double n)
{
    double r = (double)c->members, s = (double)c->nsteps;
    double tries = c->tries * s * (s + 1) / 2;
    double others = r > 1 ? r - 1 : 1; /* a single member is compared with its own other steps */
    double tail = tail_of(c, c->nsteps == 1 ? 1 : n);
    double table = c->efficiency * (c->nsteps > 1 ? others * (s - 1) : others);
    return fmin(1, tries * tl_student_tail_of(z, fmin(tail, table)));
}

double tl_worst_of(const double *x, size_t nsteps, const bool *up, size_t most, double *column)
{
    size_t n = 0;
    for (size_t s = 0; s < nsteps; s++)
        n += !up[s];
    if (n == 0)
        return 0;
    double baseline = fmax(0, tl_real_median(column, take_known(x, nsteps, column))), sum = 0;
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
    const size_t most = nup < (size_t)TL_SPREAD_LEAST ? 1 : (c->members + 1) / 2;
    for (size_t k = 1; k <= n && (k == 1 || k < most); k++) {
        double next = worst[n - k], least = k > 1 ? fmin(late_ns, worst[n - k + 1]) : late_ns;
        double tries = c->largest * (most > 2 ? (double)(k * (k + 1)) : 1);
        if (next < least)
            chance = fmin(chance, tries * pow(next / least, (double)k * tail_of(c, 1)));
    }
    return chance;
}

double tl_chance_by_turns(const tl_chance *c, size_t own, size_t all)
{
    const double n = (double)all, share = 1 / (double)c->members, from = (double)own;
    if (c->members < 2 || from <= n * share)
        return 1;
    /* Above the mean each term of the tail is less than the one before. */
    double sum = 0, term = exp(lgamma(n + 1) - lgamma(from + 1) - lgamma(n - from + 1) + from * log(share) +
                               (n - from) * log1p(-share));
    for (size_t k = own; k <= all && term > sum * DBL_EPSILON; k++) {
        sum += term;
        term *= (double)(all - k) / (double)(k + 1) * share / (1 - share);
    }
    return fmin(1, (double)c->members * c->largest * sum);
}
