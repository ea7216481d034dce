/* idle.c - why a device is idle for longer than those of peers. */
#include "internal.h"

void tl_cause_leave_common(tl_cause_finding *f)
{
    for (size_t i = 0; i < f->n; i++) {
        const tl_cause_entry *e = &f->v[i];
        if (e->kind != TL_DETAIL_ACTIVITY || e->activity >= TL_NACTIVITIES ||
            !tl_activity_is_of_host((tl_activity_kind)e->activity))
            continue;
        double more = e->size > e->peers_size ? e->size - e->peers_size : 0;
        f->more[e->activity] = more;
        if (f->over[e->activity] > more) {
            f->common[e->activity] = more < TL_CAUSE_HALF * f->over[e->activity];
            f->over[TL_ACTIVITY_HOST] += f->over[e->activity] - more;
            f->over[e->activity] = more;
        }
    }
}

/* Names of operators say more than those of functions, where both stand for the same. */
static bool says_more(const tl_cause_entry *e, const tl_cause_entry *than, int activity)
{
    if (activity != TL_ACTIVITY_HOST && e->frame != than->frame)
        return than->frame;
    return e->depth > than->depth;
}

/* Whether a name may tell what an activity of the idle time was, any activity where it is HOST. */
static bool tells(const tl_cause_finding *f, const tl_cause_entry *e, int activity)
{
    return e->kind == TL_DETAIL_HOST &&
           (activity == TL_ACTIVITY_HOST ? !f->common[e->activity] : e->activity == activity);
}

/* The innermost name that covers nearly as much of the idle excess as any; of those alone that stand for `activity`, if
 * it is not HOST.  NULL where none stands out. */
static const tl_cause_entry *innermost(const tl_cause_finding *f, int activity)
{
    const tl_cause_entry *best = NULL;
    double largest = 0;

    for (size_t i = 0; i < f->n; i++) {
        const tl_cause_entry *e = &f->v[i];
        double over = e->ns - e->peers_ns;
        if (tells(f, e, activity) && over > largest)
            largest = over;
    }
    if (largest < TL_CAUSE_HALF * (activity == TL_ACTIVITY_HOST ? f->idle : f->over[activity]))
        return NULL;
    for (size_t i = 0; i < f->n; i++) {
        const tl_cause_entry *e = &f->v[i];
        if (tells(f, e, activity) && e->ns - e->peers_ns >= TL_CAUSE_MOST * largest &&
            (best == NULL || says_more(e, best, activity)))
            best = e;
    }
    return best;
}

/* Of waits before one gap the longest has emptied the queue. */
static bool drains_more(const tl_cause_entry *e, const tl_cause_entry *than)
{
    double over = e->ns - e->peers_ns, other = than->ns - than->peers_ns;
    return over > other || (!(over < other) && e->size * e->count > than->size * than->count);
}

/* A wait for the device that its peers do not have, with most of the idle time after it. */
static const tl_cause_entry *stray_wait(const tl_cause_finding *f)
{
    const tl_cause_entry *best = NULL;
    for (size_t i = 0; i < f->n; i++) {
        const tl_cause_entry *e = &f->v[i];
        if (e->kind == TL_DETAIL_WAIT && e->count > e->peers_count && (best == NULL || drains_more(e, best)))
            best = e;
    }
    return best != NULL && best->ns - best->peers_ns >= TL_CAUSE_HALF * f->idle ? best : NULL;
}

/* Whether it is known to wait for the device no more often than its peers, under whatever names: what is idle after
 * the same waits is the time that its host takes to go on. */
static bool waits_as_peers_do(const tl_cause_finding *f)
{
    double own = 0, peers = 0;
    for (size_t i = 0; i < f->n; i++) {
        bool wait = f->v[i].kind == TL_DETAIL_WAIT && f->v[i].activity == TL_ACTIVITY_SYNC;
        own += wait ? f->v[i].count : 0;
        peers += wait ? f->v[i].peers_count : 0;
    }
    return own > 0 && own <= peers;
}

/* What the host did instead is one thing, if one has most of it; a name that stands for something tells, too. */
tl_cause tl_cause_of_idle(const tl_cause_finding *f, uint64_t *place)
{
    int largest = TL_ACTIVITY_HOST;
    for (int activity = TL_ACTIVITY_HOST; activity <= TL_ACTIVITY_ALLOCATOR; activity++)
        if (f->over[activity] > f->over[largest])
            largest = activity;
    if (f->over[largest] < TL_CAUSE_MOST * f->idle && largest != TL_ACTIVITY_HOST &&
        f->over[largest] < TL_CAUSE_HALF * f->idle)
        largest = TL_ACTIVITY_HOST;

    const tl_cause_entry *wait = stray_wait(f);
    if (largest == TL_ACTIVITY_SYNC && wait == NULL && waits_as_peers_do(f))
        largest = TL_ACTIVITY_HOST;
    const tl_cause_entry *name = innermost(f, largest);
    if ((largest == TL_ACTIVITY_HOST || largest == TL_ACTIVITY_SYNC) && wait != NULL) {
        *place = wait->name;
        return tl_cause_of_activity(wait->activity);
    }
    if (largest == TL_ACTIVITY_HOST && name != NULL && name->activity != TL_ACTIVITY_HOST)
        largest = name->activity;
    *place = name != NULL ? name->name : 0;
    return tl_cause_of_activity(largest);
}
