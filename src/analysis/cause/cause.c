/* cause.c - why is a rank late, and at which place? */
#include "internal.h"
#include "tlmpi/base/quantile.h"
#include "tlmpi/base/sort.h"
#include <math.h>
#include <stdlib.h>

/* Within so many median deviations of its peers a rank is one of them. */
static const double by_chance = 3;
/* One delay is met again in no more intervals than so many times over. */
static const double met_most = 40;

static int by_key(const void *a, const void *b)
{
    const tl_cause_row *x = a, *y = b;
    if (x->kind != y->kind)
        return x->kind < y->kind ? -1 : 1;
    if (x->kind == TL_DETAIL_ACTIVITY && x->activity != y->activity)
        return x->activity < y->activity ? -1 : 1;
    if (x->name != y->name)
        return x->name < y->name ? -1 : 1;
    return TL_COMPARE(x->rank, y->rank);
}

static bool same_key(const tl_cause_row *x, const tl_cause_row *y)
{
    return x->kind == y->kind && x->name == y->name && (x->kind != TL_DETAIL_ACTIVITY || x->activity == y->activity);
}

/* Of npeers values, of which n are given and the rest is 0. */
static double median(double *v, size_t n, size_t npeers)
{
    while (n < npeers)
        v[n++] = 0;
    return n > 0 ? tl_real_median(v, n) : 0;
}

/* The median of how far n values, sorted, are from their median. */
static double deviation(double *v, size_t n, double middle)
{
    for (size_t i = 0; i < n; i++)
        v[i] = fabs(v[i] - middle);
    return median(v, n, n);
}

/* A name's rows to an entry; scratch: room for 3 * (npeers + 1) numbers. */
static tl_cause_entry compare(const tl_cause_row *rows, size_t n, int32_t rank, size_t npeers, double *scratch)
{
    tl_cause_entry e = { .name = rows->name, .kind = rows->kind, .activity = rows->activity, .frame = rows->frame };
    double *ns = scratch, *count = ns + npeers + 1, *size = count + npeers + 1;
    size_t m = 0, sized = 0;

    for (size_t i = 0; i < n; i++) {
        const tl_cause_row *row = &rows[i];
        double each = row->count > 0                    ? (double)row->size / row->count
                      : row->kind == TL_DETAIL_ACTIVITY ? (double)row->size
                                                        : 0;
        if (row->rank == rank) {
            e.ns = (double)row->ns;
            e.count = row->count;
            e.size = each;
            e.depth = row->depth;
        } else if (m < npeers) {
            ns[m] = (double)row->ns;
            count[m++] = row->count;
            e.peers_most = each > e.peers_most ? each : e.peers_most;
            if (each > 0)
                size[sized++] = each;
        }
    }
    e.peers_ns = median(ns, m, npeers);
    e.spread = deviation(ns, npeers, e.peers_ns);
    e.peers_count = median(count, m, npeers);
    e.peers_size = median(size, sized, rows->kind == TL_DETAIL_ACTIVITY ? npeers : sized);
    return e;
}

/* ------------------------------------------------------------------------------------------------------------- all */

static bool is_idle(int activity)
{
    return activity >= TL_ACTIVITY_HOST && activity <= TL_ACTIVITY_ALLOCATOR;
}

/* So much of an activity of the idle time, at most, is no excess; how much it was. */
static double leave_idle(tl_cause_finding *f, int activity, double ns)
{
    double less = ns < f->over[activity] ? ns : f->over[activity];
    f->over[activity] -= less;
    f->idle -= less;
    f->all -= less;
    return less;
}

/* A host whose device is behind loses its lead: see cause.h. */
static void leave_lost_lead(tl_cause_finding *f, double work, double gain)
{
    double lost = work + f->idle - gain;
    if (gain > 0 && work >= TL_CAUSE_HALF * f->all && lost > 0)
        (void)leave_idle(f, TL_ACTIVITY_HOST, lost);
}

/* What an activity alone would make the rank late by: a copy by its time, a pause of the host wherever the device ran
 * dry.
 */
static double delay_of(const tl_cause_finding *f, int activity)
{
    if (activity == TL_ACTIVITY_H2D)
        return f->over[activity];
    if (!tl_activity_is_of_host((tl_activity_kind)activity))
        return 0;
    return f->over[activity] > f->more[activity] ? f->over[activity] : f->more[activity];
}

/* A host that launches no faster than its device works stays behind by one delay until the next wait for the device,
 * and its device stands idle for it in every interval between collectives: see cause.h. */
static void leave_met_again(tl_cause_finding *f, double gain)
{
    int told = TL_ACTIVITY_H2D;
    for (int activity = 0; activity < TL_NACTIVITIES; activity++)
        if (delay_of(f, activity) > delay_of(f, told))
            told = activity;
    if (!(gain > 0) || gain * met_most < f->all || delay_of(f, told) < TL_CAUSE_MOST * gain)
        return;
    double after = delay_of(f, told) - f->over[told], lost = f->all - gain;
    after = after < f->over[TL_ACTIVITY_HOST] ? after : f->over[TL_ACTIVITY_HOST];
    f->over[told] += after;
    f->over[TL_ACTIVITY_HOST] -= after;
    if (lost > 0)
        lost -= leave_idle(f, TL_ACTIVITY_HOST, lost);
    if (lost > 0)
        (void)leave_idle(f, TL_ACTIVITY_SYNC, lost);
}

static void find(tl_cause_finding *f, int64_t gain_ns, tl_cause_found *found)
{
    double work = 0, spread[TL_NACTIVITIES] = { 0 };
    for (size_t i = 0; i < f->n; i++)
        if (f->v[i].kind == TL_DETAIL_ACTIVITY && f->v[i].activity < TL_NACTIVITIES &&
            f->v[i].activity != TL_ACTIVITY_COMM) {
            double over = f->v[i].ns - f->v[i].peers_ns;
            f->over[f->v[i].activity] = over > 0 ? over : 0;
            spread[f->v[i].activity] = f->v[i].spread;
            f->all += over > 0 ? over : 0;
        } else if (f->v[i].kind == TL_DETAIL_ACTIVITY && f->v[i].activity == TL_ACTIVITY_COMM)
            found->awaited_ns = (int64_t)(f->v[i].peers_ns - f->v[i].ns);
    tl_cause_leave_common(f);
    for (int activity = 0; activity < TL_NACTIVITIES; activity++)
        f->idle += is_idle(activity) ? f->over[activity] : 0;
    found->ns = (int64_t)f->all;
    found->found = f->all > 0;
    if (!found->found)
        return;

    /* What the others have more by chance is no part of the cause. */
    double largest_ns = 0;
    for (int activity = 0; activity < TL_NACTIVITIES; activity++)
        largest_ns = f->over[activity] > largest_ns ? f->over[activity] : largest_ns;
    for (int activity = 0; activity < TL_NACTIVITIES; activity++)
        if (f->over[activity] > 0 && f->over[activity] < largest_ns &&
            f->over[activity] <= by_chance * spread[activity]) {
            f->all -= f->over[activity];
            f->idle -= is_idle(activity) ? f->over[activity] : 0;
            f->over[activity] = 0;
        }

    /* A device that has run dry takes more of its time from launch to start: that is no cause where there is another.
     */
    if (f->over[TL_ACTIVITY_DEVICE] < largest_ns) {
        f->all -= f->over[TL_ACTIVITY_DEVICE];
        f->over[TL_ACTIVITY_DEVICE] = 0;
    }
    int largest = TL_ACTIVITY_COMPUTE;
    for (int activity = 0; activity < TL_NACTIVITIES; activity++)
        if (!is_idle(activity) && f->over[activity] > f->over[largest])
            largest = activity;
    work = f->over[largest];
    leave_lost_lead(f, work, (double)gain_ns);
    leave_met_again(f, (double)gain_ns);
    if (f->idle >= work) {
        found->cause = tl_cause_of_idle(f, &found->place);
        found->share = f->idle / f->all;
    } else if (largest == TL_ACTIVITY_COMPUTE) {
        found->cause = tl_cause_of_compute(f, &found->place);
        if (found->cause == TL_CAUSE_MORE_WORK && tl_cause_copies_more(f))
            work += f->over[TL_ACTIVITY_H2D];
        found->share = work / f->all;
    } else if (largest == TL_ACTIVITY_H2D) {
        found->cause = TL_CAUSE_H2D;
        found->share = work / f->all;
        found->place = tl_cause_largest_of(f, TL_ACTIVITY_H2D, work);
    } else {
        found->cause = TL_CAUSE_UNKNOWN;
        found->share = work / f->all;
    }
    if (found->share < TL_CAUSE_MOST)
        found->cause = TL_CAUSE_MIXED;
}

tl_cause tl_cause_of_activity(int activity)
{
    switch (activity) {
    case TL_ACTIVITY_COMPUTE:
        return TL_CAUSE_COMPUTE_SLOW;
    case TL_ACTIVITY_H2D:
        return TL_CAUSE_H2D;
    case TL_ACTIVITY_COMM:
        return TL_CAUSE_OTHER_GROUP;
    case TL_ACTIVITY_HOST:
        return TL_CAUSE_HOST_LATE;
    case TL_ACTIVITY_INPUT:
        return TL_CAUSE_INPUT;
    case TL_ACTIVITY_GC:
        return TL_CAUSE_GC;
    case TL_ACTIVITY_SYNC:
        return TL_CAUSE_SYNC_DRAIN;
    case TL_ACTIVITY_ALLOCATOR:
        return TL_CAUSE_ALLOCATOR;
    default:
        return TL_CAUSE_UNKNOWN;
    }
}

bool tl_cause_find(tl_cause_row *rows, size_t n, int32_t rank, size_t npeers, int64_t gain_ns, tl_cause_found *found)
{
    double *scratch = tl_malloc(3 * (npeers + 1) * sizeof *scratch);
    tl_cause_finding f = { .v = tl_malloc((n + 1) * sizeof *f.v) };
    bool ok = scratch != NULL && f.v != NULL;

    *found = (tl_cause_found){ .cause = TL_CAUSE_UNKNOWN };
    if (ok && n > 1)
        qsort(rows, n, sizeof *rows, by_key);
    for (size_t i = 0, to; ok && i < n; i = to) {
        for (to = i + 1; to < n && same_key(&rows[i], &rows[to]); to++)
            ;
        f.v[f.n++] = compare(rows + i, to - i, rank, npeers, scratch);
    }
    if (ok && npeers > 0)
        find(&f, gain_ns, found);
    free(scratch);
    free(f.v);
    return ok;
}
