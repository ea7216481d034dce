/* compute.c - why does a device's work take longer than that of peers?
 *
 *     the job's kernels     peers   rank 3
 *     gemm                  20 ms   40 ms      twice as long; both together 1.8 times
 *     relu                   5 ms    5 ms      as long
 *
 * The device is slow (THROTTLED) only if all kernels are slower than at every peer, and there are at least two: a low
 * clock slows all kernels, arithmetic most.  A kernel is no evidence if its time differs between peers by more than
 * half of the mean slowdown.  If a kernel that is evidence is not slower, only some kernels are slow (COMPUTE_SLOW).
 */
#include "internal.h"
#include <math.h>

static double excess_of(const tl_cause_entry *e)
{
    return fmax(0, e->ns - e->peers_ns);
}

static double mean_of(double ns, double count)
{
    return count > 0 ? ns / count : 0;
}

uint64_t tl_cause_largest_of(const tl_cause_entries *all, tl_activity_kind activity)
{
    const tl_cause_entry *best = NULL;
    double sum = 0;
    for (size_t i = 0; i < all->n; i++) {
        const tl_cause_entry *e = &all->v[i];
        if (e->kind != TL_NAMED_WORK || e->activity != activity)
            continue;
        sum += excess_of(e);
        best = best == NULL || excess_of(e) > excess_of(best) ? e : best;
    }
    return best != NULL && 2 * excess_of(best) > sum ? best->name : 0;
}

/* Whether the mean size of the pieces exceeds that of every peer, and explains at least half of the factor `longer` by
 * which the work takes longer. */
static bool is_larger(const tl_cause_entry *e, double longer)
{
    return e->peers_size > 0 && e->size > e->peers_most &&
           2 * (e->size - e->peers_size) >= (longer - 1) * e->peers_size;
}

/* Whether the rank has more data to compute on: it receives more than its peers, or copies more to the device. */
static bool has_more_data(const tl_cause_entries *all, double longer)
{
    for (size_t i = 0; i < all->n; i++) {
        const tl_cause_entry *e = &all->v[i];
        bool given = e->kind == TL_NAMED_COMM || (e->kind == TL_NAMED_WORK && e->activity == TL_ACTIVITY_H2D);
        if (given && is_larger(e, longer))
            return true;
    }
    return false;
}

static bool computes(const tl_cause_entry *e)
{
    return e->kind == TL_NAMED_WORK && e->activity == TL_ACTIVITY_COMPUTE;
}

/* Returns the factor by which compute kernels take longer than at the peers, over kernels that peers have as well. */
static double slowdown_of(const tl_cause_entries *all)
{
    double own_ns = 0, peers_ns = 0;
    for (size_t i = 0; i < all->n; i++)
        if (computes(&all->v[i]) && all->v[i].peers_ns > 0) {
            own_ns += all->v[i].ns;
            peers_ns += all->v[i].peers_ns;
        }
    return peers_ns > 0 ? own_ns / peers_ns : 1;
}

/* Returns the part of a kernel's time, ns, that is due to a larger number of pieces than at the peers; if the number is
 * smaller, minus what peers spend in the difference. */
static double additional_of(const tl_cause_entry *e)
{
    return e->count >= e->peers_count ? e->ns - e->peers_count * mean_of(e->ns, e->count)
                                      : e->count * mean_of(e->peers_ns, e->peers_count) - e->peers_ns;
}

bool tl_cause_has_more(const tl_cause_entries *all)
{
    double longer = slowdown_of(all), excess = 0, more = 0, additional = 0;
    for (size_t i = 0; i < all->n; i++) {
        const tl_cause_entry *e = &all->v[i];
        if (!computes(e))
            continue;
        excess += excess_of(e);
        more += is_larger(e, e->ns / e->peers_ns) ? excess_of(e) : 0;
        additional += additional_of(e);
    }
    more += all->count > all->peers_count ? fmax(0, additional) : 0;
    return 2 * more > excess || (longer > 1 && has_more_data(all, longer));
}

tl_cause tl_cause_of_compute(const tl_cause_entries *all)
{
    double longer = slowdown_of(all);
    size_t slowed = 0;
    if (tl_cause_has_more(all))
        return TL_CAUSE_MORE_WORK;
    for (size_t i = 0; i < all->n; i++) {
        const tl_cause_entry *e = &all->v[i];
        if (!computes(e) || !(e->peers_ns > 0) || !(e->ns > 0))
            continue;
        if ((longer - 1) / 2 * mean_of(e->peers_ns, e->peers_count) <= e->apart_ns)
            continue;
        if (mean_of(e->ns, e->count) <= e->longest_ns)
            return TL_CAUSE_COMPUTE_SLOW;
        slowed++;
    }
    return slowed > 1 ? TL_CAUSE_THROTTLED : TL_CAUSE_COMPUTE_SLOW;
}
