/* host.c - the name of the host work that makes a host late. */
#include "internal.h"
#include "tlmpi/model/parameters.h"

/* Whether e is the more telling name: if `e` and `than` differ in being a frame, the operator; else the more deeply
 * nested name. */
static bool is_more_telling(const tl_cause_entry *e, const tl_cause_entry *than, tl_activity_kind activity)
{
    if (activity != TL_ACTIVITY_HOST && e->frame != than->frame)
        return than->frame;
    return e->depth > than->depth;
}

/* Whether a name may stand for the activity; any host name may stand for TL_ACTIVITY_HOST, which has none of its
 * own. */
static bool is_of_activity(const tl_cause_entry *e, tl_activity_kind activity)
{
    return e->kind == TL_NAMED_HOST && (e->activity == activity || activity == TL_ACTIVITY_HOST);
}

/* Returns the wait that occurs more often than at the peers, with the largest excess of idle time after it; ties by
 * total size, descending: among waits before one gap, the wait that emptied the queue. */
static uint64_t additional_wait(const tl_cause_entries *all)
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

/* Returns the innermost name whose excess is at least TL_MOST_SHARE of the largest excess of a name. */
uint64_t tl_cause_of_host(const tl_cause_entries *all, tl_activity_kind activity)
{
    const tl_cause_entry *best = NULL;
    double largest = 0;
    if (activity == TL_ACTIVITY_SYNC)
        return additional_wait(all);
    for (size_t i = 0; i < all->n; i++)
        if (is_of_activity(&all->v[i], activity) && all->v[i].ns - all->v[i].peers_ns > largest)
            largest = all->v[i].ns - all->v[i].peers_ns;
    for (size_t i = 0; largest > 0 && i < all->n; i++) {
        const tl_cause_entry *e = &all->v[i];
        if (is_of_activity(e, activity) && e->ns - e->peers_ns >= TL_MOST_SHARE * largest &&
            (best == NULL || is_more_telling(e, best, activity)))
            best = e;
    }
    return best != NULL ? best->name : 0;
}
