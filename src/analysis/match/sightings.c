/* sightings.c - what a rank saw of the groups that its trace does not name. */
#include "tlmpi/analysis/match.h"
#include "tlmpi/base/hash.h"
#include <stdlib.h>

static int by_item(const void *a, const void *b)
{
    const tl_sighting *x = a, *y = b;
    if (x->membership != y->membership)
        return x->membership < y->membership ? -1 : 1;
    return x->item < y->item ? -1 : x->item > y->item;
}

static int by_lot(const void *a, const void *b)
{
    const tl_sighting *x = a, *y = b;
    uint64_t p = tl_hash_mix(x->item, 0), q = tl_hash_mix(y->item, 0);
    if (x->membership != y->membership)
        return x->membership < y->membership ? -1 : 1;
    return p != q ? (p < q ? -1 : 1) : x->item < y->item ? -1 : x->item > y->item;
}

/* Keeps TL_SIGHTINGS sightings of each membership, drawn by a hash of the item, so that all ranks of a group keep the
 * same ones.  Orders them by membership and item; returns their number. */
static size_t draw_lots(tl_sighting *seen, size_t n)
{
    size_t kept = 0, of_this = 0;
    if (n > 0)
        qsort(seen, n, sizeof *seen, by_lot);
    for (size_t i = 0; i < n; i++) {
        of_this = i > 0 && seen[i].membership == seen[i - 1].membership ? of_this + 1 : 0;
        if (of_this < TL_SIGHTINGS)
            seen[kept++] = seen[i];
    }
    if (kept > 0)
        qsort(seen, kept, sizeof *seen, by_item);
    return kept;
}

void tl_sightings_draw(const tl_participants *set, tl_sighting **out, size_t *n)
{
    TL_VEC(tl_sighting) seen = { 0 };
    bool *stepped = tl_calloc(set->memberships.n + 1, sizeof *stepped);

    for (size_t i = 0; i < set->participants.n; i++)
        stepped[set->participants.v[i].group] |= set->participants.v[i].step >= 0;
    for (size_t i = 0; i < set->participants.n; i++) {
        const tl_participant *p = &set->participants.v[i];
        uint64_t item = p->peer == TL_NO_PEER ? tl_sighting_item(p) : 0;
        if (stepped[p->group] &&
            p->step < 0) /* ranks begin to record at different moments: their first are not the same */
            continue;
        if (item == 0 || !set->memberships.v[p->group].inferred)
            continue;
        tl_vec_room(&seen);
        seen.v[seen.n++] = (tl_sighting){ .item = item,
                                          .start_ns = p->start_ns,
                                          .end_ns = p->end_ns,
                                          .membership = p->group,
                                          .loose = tl_is_loose((tl_collective)p->kind) };
    }
    free(stepped);
    *n = draw_lots(seen.v, seen.n);
    *out = seen.v;
}
