/* places.c - the names in which a rank spends more than any of its peers.
 *
 *     host of the rank    [ forward  [ # sparse arch  980 ms ] ]   [ backward  [ all_to_all  21 ms ] ]
 *     peers                                            30 ms                                  1 ms
 *
 * Own time alone is compared, which lies in no name inside: so no two places cover the same time, and excess adds up.
 */
#include "internal.h"

static double excess_of(const tl_cause_entry *e)
{
    return e->ns - e->peers_ns;
}

/* Whether names of this entry may be places of a delay of that cause. */
static bool fits(const tl_cause_entry *e, tl_cause cause)
{
    bool mixed = cause == TL_CAUSE_MIXED;
    if (e->kind == TL_DETAIL_SPAN)
        return mixed || tl_cause_is_of_host(cause);
    if (e->kind != TL_DETAIL_WORK)
        return false;
    if (e->activity == TL_ACTIVITY_COMPUTE)
        return mixed || cause == TL_CAUSE_COMPUTE_SLOW || cause == TL_CAUSE_MORE_WORK;
    return mixed || cause == (e->activity == TL_ACTIVITY_H2D ? TL_CAUSE_H2D : TL_CAUSE_COPY);
}

/* Whether `a` is told before `b`: largest excess first, of equals the lower key. */
static bool goes_before(const tl_cause_entry *a, const tl_cause_place *b)
{
    double of_b = (double)(b->own_ns - b->peers_ns);
    return excess_of(a) > of_b || (!(excess_of(a) < of_b) && a->name < b->name);
}

static void insert(const tl_cause_entry *e, tl_cause_found *found)
{
    size_t at = 0;
    while (at < found->nplaces && !goes_before(e, &found->places[at]))
        at++;
    if (at == TL_PLACES_MOST)
        return;
    found->nplaces += found->nplaces < TL_PLACES_MOST;
    for (size_t i = found->nplaces - 1; i > at; i--)
        found->places[i] = found->places[i - 1];
    found->places[at] = (tl_cause_place){ .name = e->name,
                                          .own_ns = (int64_t)e->ns,
                                          .peers_ns = (int64_t)e->peers_ns,
                                          .host = e->kind == TL_DETAIL_SPAN };
}

void tl_cause_places(const tl_cause_entries *all, int64_t least_ns, tl_cause_found *found)
{
    for (size_t i = 0; i < all->n; i++) {
        const tl_cause_entry *e = &all->v[i];
        if (fits(e, found->cause) && excess_of(e) > 0 && excess_of(e) >= (double)least_ns && e->ns > e->peers_most_ns)
            insert(e, found);
    }
}
