/* two_hosts.c - compares the ranks of a role by host, if the role lies on two hosts.
 *
 *     lateness of eight ranks     0  0  0  0 | 5  5  5  5     no rank stands out: half of them are late
 *     lateness of their hosts     0          | 5              the second host stands out, as one of two ranks would
 *
 * A host's lateness is the median over its ranks; each of the two hosts is the peer of the other one.
 */
#include "internal.h"
#include "tlmpi/base/quantile.h"
#include <math.h>

bool tl_two_hosts_of(const tl_baseline *b, uint32_t role, uint8_t *host_of_member)
{
    const tl_role_ranks *of = &b->roles[role];
    const uint64_t first = b->host_of != NULL && of->n > 0 ? b->host_of[b->members[of->first]] : 0;
    uint64_t other = 0;
    size_t nother = 0;
    for (size_t i = 0; i < of->n; i++) {
        uint64_t host = first != 0 ? b->host_of[b->members[of->first + i]] : 0;
        if (host == 0 || (host != first && other != 0 && host != other))
            return false;
        host_of_member[i] = host != first;
        other = host_of_member[i] ? host : other;
        nother += host_of_member[i];
    }
    return nother > 1 && of->n - nother > 1;
}

double tl_host_middle(const double *x, size_t nsteps, const uint8_t *host_of_member, size_t n, uint8_t which,
                      double *column)
{
    size_t at = 0;
    for (size_t i = 0; i < n; i++)
        if (host_of_member[i] == which)
            column[at++] = x[i * nsteps];
    return tl_real_median(column, at);
}

void tl_two_hosts_lateness(const double *x, size_t nsteps, const uint8_t *host_of_member, size_t n, double *of_hosts,
                           double *column)
{
    for (size_t s = 0; s < nsteps; s++) {
        of_hosts[s] = tl_host_middle(x + s, nsteps, host_of_member, n, 0, column) -
                      tl_host_middle(x + s, nsteps, host_of_member, n, 1, column);
        of_hosts[nsteps + s] = -of_hosts[s];
    }
}

bool tl_host_is_later(const double *x, size_t nsteps, const bool *on, const uint8_t *host_of_member, size_t n,
                      uint8_t which)
{
    double least = INFINITY, most = -INFINITY;
    for (size_t i = 0; i < n; i++) {
        double sum = 0;
        for (size_t s = 0; s < nsteps; s++)
            sum += on[s] ? x[i * nsteps + s] : 0;
        least = host_of_member[i] == which ? fmin(least, sum) : least;
        most = host_of_member[i] != which ? fmax(most, sum) : most;
    }
    return least > most;
}
