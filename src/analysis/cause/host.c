/* host.c - under which name a host did what it is late for. */
#include "internal.h"
#include "tlmpi/model/parameters.h"

/* Names of operators say more than those of functions, where both stand for the same. */
static bool says_more(const tl_cause_entry *e, const tl_cause_entry *than, tl_activity_kind activity)
{
    if (activity != TL_ACTIVITY_HOST && e->frame != than->frame)
        return than->frame;
    return e->depth > than->depth;
}

/* Whether a name may tell what the host did: any, where that has no name of its own. */
static bool tells(const tl_cause_entry *e, tl_activity_kind activity)
{
    return e->kind == TL_NAMED_HOST && (e->activity == activity || activity == TL_ACTIVITY_HOST);
}

/* A wait that its peers have less often; the one with most idle time after it, or, of waits before one gap, that which
 * emptied the queue. */
static uint64_t stray_wait(const tl_cause_entries *all)
{
    const tl_cause_entry *best = NULL;
    for (size_t i = 0; i < all->n; i++) {
        const tl_cause_entry *e = &all->v[i];
        if (e->kind != TL_NAMED_WAIT || !(e->count > e->peers_count))
            continue;
        double more = e->ns - e->peers_ns, most = best != NULL ? best->ns - best->peers_ns : 0;
        if (best == NULL || more > most || (!(more < most) && e->size * e->count > best->size * best->count))
            best = e;
    }
    return best != NULL ? best->name : 0;
}

/* The innermost name that covers nearly as much of what is more than at peers as any. */
uint64_t tl_cause_of_host(const tl_cause_entries *all, tl_activity_kind activity)
{
    const tl_cause_entry *best = NULL;
    double largest = 0;
    if (activity == TL_ACTIVITY_SYNC)
        return stray_wait(all);
    for (size_t i = 0; i < all->n; i++)
        if (tells(&all->v[i], activity) && all->v[i].ns - all->v[i].peers_ns > largest)
            largest = all->v[i].ns - all->v[i].peers_ns;
    for (size_t i = 0; largest > 0 && i < all->n; i++) {
        const tl_cause_entry *e = &all->v[i];
        if (tells(e, activity) && e->ns - e->peers_ns >= TL_CAUSE_SHARE * largest &&
            (best == NULL || says_more(e, best, activity)))
            best = e;
    }
    return best != NULL ? best->name : 0;
}
