/* dominant_work.c - lists the names in which a rank spends more time than any of its peers.
 *
 *     host of the rank    [ forward  [ # sparse arch  980 ms ] ]   [ backward  [ all_to_all  21 ms ] ]
 *     peers                                            30 ms                                  1 ms
 *
 * Only self time is compared, without nested names: so no two names cover the same time, and excesses add up.
 */
#include "internal.h"

static double excess_of(const tl_cause_entry *e)
{
    return e->ns - e->peers_ns;
}

/* Whether a delay of that cause may lie in the entry's work. */
static bool fits_cause(const tl_cause_entry *e, tl_cause cause)
{
    bool mixed = cause == TL_CAUSE_MIXED;
    if (e->kind == TL_NAMED_SPAN)
        return mixed || tl_cause_is_of_host(cause);
    if (e->kind != TL_NAMED_WORK)
        return false;
    if (e->activity == TL_ACTIVITY_COMPUTE)
        return mixed || cause == TL_CAUSE_COMPUTE_SLOW || cause == TL_CAUSE_MORE_WORK;
    return mixed || cause == (e->activity == TL_ACTIVITY_H2D ? TL_CAUSE_H2D : TL_CAUSE_COPY);
}

/* Order of the list: excess, descending; ties by key, ascending. */
static bool goes_before(const tl_cause_entry *a, const tl_dominant_work *b)
{
    double of_b = (double)(b->own_ns - b->peers_ns);
    return excess_of(a) > of_b || (!(excess_of(a) < of_b) && a->name < b->name);
}

static void insert_dominant(const tl_cause_entry *e, tl_cause_found *found)
{
    size_t at = 0;
    while (at < found->ndominant && !goes_before(e, &found->dominant[at]))
        at++;
    if (at == TL_DOMINANT_WORK_MOST)
        return;
    found->ndominant += found->ndominant < TL_DOMINANT_WORK_MOST;
    for (size_t i = found->ndominant - 1; i > at; i--)
        found->dominant[i] = found->dominant[i - 1];
    found->dominant[at] = (tl_dominant_work){
        .name = e->name, .own_ns = (int64_t)e->ns, .peers_ns = (int64_t)e->peers_ns, .host = e->kind == TL_NAMED_SPAN
    };
}

void tl_cause_dominant_work(const tl_cause_entries *all, int64_t least_ns, tl_cause_found *found)
{
    for (size_t i = 0; i < all->n; i++) {
        const tl_cause_entry *e = &all->v[i];
        if (fits_cause(e, found->cause) && excess_of(e) > 0 && excess_of(e) >= (double)least_ns &&
            e->ns > e->peers_most_ns)
            insert_dominant(e, found);
    }
}
