/* cause.c - why a chosen rank is late: the gain of repairing each part of its work alone.
 *
 *     repaired                 gains     share
 *     all late work            10.0 ms
 *     compute                   0.4      0.04
 *     garbage collections       9.5      0.95     gc
 *
 * If other ranks hide the rank, or one of its candidates hides another, repairing the part alone gains little: then the
 * loss counts, the joint gain of all chosen candidates less their gain without the part.
 */
#include "internal.h"
#include "tlmpi/base/stats.h"
#include <math.h>
#include <string.h>

#define FAMILY(name)   (1U << TL_FAMILY_##name)
#define ACTIVITY(name) (1U << TL_ACTIVITY_##name)

/* Causes, and the work that each one repairs; of equal gains the first wins.  Additional kernels and launches count as
 * MORE_WORK by their family, whatever their activity.  A wait for a copy from the device drains the device. */
static const struct thing {
    tl_cause cause;
    unsigned families, activities;
} things[] = {
    { TL_CAUSE_COPY, FAMILY(COPY), ACTIVITY(COPY) },
    { TL_CAUSE_UNKNOWN, FAMILY(DEVICE), ACTIVITY(COMM) },
    { TL_CAUSE_COMPUTE_SLOW, FAMILY(DEVICE), ACTIVITY(COMPUTE) },
    { TL_CAUSE_H2D, FAMILY(COPY) | FAMILY(WAIT), ACTIVITY(H2D) },
    { TL_CAUSE_MORE_WORK, FAMILY(ADDITIONAL) | FAMILY(HOST), ACTIVITY(COMPUTE) | ACTIVITY(COMM) },
    { TL_CAUSE_INPUT, FAMILY(HOST), ACTIVITY(INPUT) },
    { TL_CAUSE_GC, FAMILY(HOST), ACTIVITY(GC) },
    { TL_CAUSE_ALLOCATOR, FAMILY(HOST) | FAMILY(WAIT), ACTIVITY(ALLOCATOR) },
    { TL_CAUSE_SYNC_DRAIN, FAMILY(WAIT) | FAMILY(HOST), ACTIVITY(SYNC) | ACTIVITY(COPY) },
    { TL_CAUSE_HOST_LATE, FAMILY(HOST), ACTIVITY(HOST) },
};

typedef struct weighing {
    tl_costing *costing;
    const bool *repaired;  /* by candidate */
    int64_t joint_gain_ns; /* gain of repairing the candidates in `repaired` */
    bool without;
} weighing;

/* Returns the gain, ns, of repairing one part of a rank; 0, without a replay, where nothing of the part is repaired. */
static int64_t gain_of_part(const weighing *w, uint32_t rank, unsigned families, unsigned activities)
{
    const tl_cost_part part = { rank, families, activities, w->without };
    if (!tl_cost_has_part(w->costing, w->repaired, &part))
        return 0;
    int64_t ns = tl_cost_of_part(w->costing, w->repaired, &part);
    return w->without ? w->joint_gain_ns - ns : ns;
}

static tl_rank_cause find_cause(const weighing *w, uint32_t rank, int64_t all_ns)
{
    const struct thing *best = &things[0];
    int64_t most_ns = INT64_MIN;
    for (size_t i = 0; i < sizeof things / sizeof *things; i++) {
        int64_t ns = gain_of_part(w, rank, things[i].families, things[i].activities);
        if (ns > most_ns) {
            best = &things[i];
            most_ns = ns;
        }
    }
    const double all = all_ns > 0 ? (double)all_ns : 1;
    tl_rank_cause found = { best->cause, best->cause, fmin(1, (double)most_ns / all) };
    if (found.cause == TL_CAUSE_UNKNOWN) {
        found.share = NAN;
    } else if (found.share < TL_MOST_SHARE) {
        double more = (double)gain_of_part(w, rank, FAMILY(DEVICE) | FAMILY(ADDITIONAL), ~0U) / all;
        bool is_more = more >= TL_MOST_SHARE; /* more work also needs more input on the device */
        found = is_more ? (tl_rank_cause){ TL_CAUSE_MORE_WORK, TL_CAUSE_MORE_WORK, fmin(1, more) }
                        : (tl_rank_cause){ TL_CAUSE_MIXED, found.largest, found.share };
    }
    return found;
}

void tl_causes_of_gains(tl_costing *costing, const bool *chosen, bool *some, tl_findings *out)
{
    const tl_candidate *candidates = out->candidates.v;
    for (size_t u = 0, to; u < out->candidates.n && candidates[u].rank != TL_NONE; u = to) {
        uint32_t rank = candidates[u].rank;
        memset(some, 0, out->candidates.n);
        for (to = u; to < out->candidates.n && candidates[to].rank == rank; to++)
            some[to] = chosen[to];
        if (out->rank_ns[rank] < 0)
            continue;
        const weighing among = { costing, chosen, out->joint_gain_ns, true };
        const weighing alone = { costing, some, 0, false };
        int64_t among_ns = gain_of_part(&among, rank, ~0U, ~0U), solo_gain_ns = out->rank_ns[rank];
        out->causes[rank] =
            among_ns > solo_gain_ns ? find_cause(&among, rank, among_ns) : find_cause(&alone, rank, solo_gain_ns);
    }
}
