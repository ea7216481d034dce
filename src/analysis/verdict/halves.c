/* halves.c - the ranks of one of two hosts, against those of the other.
 *
 *     lateness of eight ranks     0  0  0  0 | 5  5  5  5     no rank stands out: half of them are late
 *     of their hosts              0          | 5              the hosts do, as two ranks of a role would
 *
 * What a host is late by is the median of its ranks; each of the two hosts is the peer of the other one.
 */
#include "internal.h"
#include "tlmpi/base/quantile.h"
#include <math.h>

bool tl_halves_of(const tl_baseline *b, uint32_t role, uint8_t *half)
{
    const tl_role_ranks *of = &b->roles[role];
    const uint64_t first = b->host_of != NULL && of->n > 0 ? b->host_of[b->members[of->first]] : 0;
    uint64_t other = 0;
    size_t nother = 0;
    for (size_t i = 0; i < of->n; i++) {
        uint64_t host = first != 0 ? b->host_of[b->members[of->first + i]] : 0;
        if (host == 0 || (host != first && other != 0 && host != other))
            return false;
        half[i] = host != first;
        other = half[i] ? host : other;
        nother += half[i];
    }
    return nother > 1 && of->n - nother > 1;
}

double tl_half_middle(const double *x, size_t nsteps, const uint8_t *half, size_t n, uint8_t which, double *column)
{
    size_t at = 0;
    for (size_t i = 0; i < n; i++)
        if (half[i] == which)
            column[at++] = x[i * nsteps];
    return tl_real_median(column, at);
}

void tl_halves_lateness(const double *x, size_t nsteps, const uint8_t *half, size_t n, double *of_hosts, double *column)
{
    for (size_t s = 0; s < nsteps; s++) {
        of_hosts[s] = tl_half_middle(x + s, nsteps, half, n, 0, column) -
                      tl_half_middle(x + s, nsteps, half, n, 1, column);
        of_hosts[nsteps + s] = -of_hosts[s];
    }
}

bool tl_half_is_apart(const double *x, size_t nsteps, const bool *on, const uint8_t *half, size_t n, uint8_t which)
{
    double least = INFINITY, most = -INFINITY;
    for (size_t i = 0; i < n; i++) {
        double sum = 0;
        for (size_t s = 0; s < nsteps; s++)
            sum += on[s] ? x[i * nsteps + s] : 0;
        least = half[i] == which ? fmin(least, sum) : least;
        most = half[i] != which ? fmax(most, sum) : most;
    }
    return least > most;
}
