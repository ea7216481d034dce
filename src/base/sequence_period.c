/* sequence_period.c - finds the period of a sequence. */
#include "tlmpi/base/sequence_period.h"
#include "tlmpi/base/mem.h"
#include "tlmpi/base/stats.h"
#include <math.h>
#include <stdlib.h>

/* Limits for long recordings. */
enum { TOKENS_MOST = 16384, PERIOD_MOST = 4096, MISMATCH = 50 };

/* Whether the period occurs at least two and a half times. */
static bool is_seen(size_t period, size_t n)
{
    return 5 * period <= 2 * n;
}

static bool repeats(const uint64_t *tokens, size_t n, size_t period)
{
    size_t wrong = 0, most = (n - period) / MISMATCH;
    for (size_t i = 0; wrong <= most && i + period < n; i++)
        wrong += tokens[i] != tokens[i + period];
    return wrong <= most;
}

/* Returns the mean difference between a pause and the pause one period later, ns. */
static double mean_difference(const int64_t *pause_ns, size_t n, size_t period)
{
    double sum = 0;
    for (size_t i = 0; i + period < n; i++)
        sum += (double)llabs(pause_ns[i] - pause_ns[i + period]);
    return sum / (double)(n - period);
}

void tl_sequence_period(const uint64_t *tokens, const int64_t *times_ns, size_t n, size_t *period)
{
    int64_t *pause_ns = tl_malloc((n + 1) * sizeof *pause_ns);
    size_t p = 1;

    *period = 0;
    n = n < TOKENS_MOST ? n : TOKENS_MOST;
    while (p < PERIOD_MOST && is_seen(p, n) && !repeats(tokens, n, p))
        p++;
    if (p < PERIOD_MOST && n > 0 && is_seen(p, n)) {
        double least = INFINITY, first;
        for (size_t i = 0; i + 1 < n; i++)
            pause_ns[i] = tl_ns_between(times_ns[i + 1], times_ns[i]);
        for (size_t k = p; k < PERIOD_MOST && is_seen(k, n - 1); k += p)
            least = fmin(least, mean_difference(pause_ns, n - 1, k));
        first = mean_difference(pause_ns, n - 1, p);
        *period = p;
        for (size_t k = p; least < first / 2 && k < PERIOD_MOST && is_seen(k, n - 1); k += p)
            if (mean_difference(pause_ns, n - 1, k) <= least + (first - least) / 10) {
                *period = k;
                break;
            }
    }
    free(pause_ns);
}
