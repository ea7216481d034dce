/* key.c - match keys of participants (equal keys: one collective), and the sightings from which groups are inferred.
 *
 * The first rule that applies:
 *
 *     pair      sends and receives whose other end is    sender, receiver, step, k-th; of both at once the
 *               known                                    lower of the two is the sender
 *     seq       all of its group have a number           number, part
 *     launch    launched in a step; or outside, if       step, kind, k-th
 *               all ranks of the group launched alike
 *     endtime   all others, by alignment                 (align.c)
 */
#include "tlmpi/analysis/collective/match.h"
#include "tlmpi/base/group.h"
#include "tlmpi/base/hash.h"
#include <stdlib.h>

static uint64_t mix3(uint64_t key, int64_t a, int64_t b, int64_t c)
{
    return tl_hash_mix(tl_hash_mix(tl_hash_mix(key, (uint64_t)a), (uint64_t)b), (uint64_t)c);
}

/* Returns a key that is not 0, which means "not known". */
static uint64_t nonzero(uint64_t key)
{
    return key != 0 ? key : 1;
}

void tl_match_key(tl_participant *p, const tl_fate *fate)
{
    uint64_t group = fate->group_key;

    if (p->peer >= 0 && p->rule == TL_BY_ENDTIME) { /* matched by tl_sends_align */
        p->group = fate->group;
        return;
    }
    p->key = 0;
    p->rule = TL_BY_NOTHING;
    p->group = fate->group;
    if (p->peer != TL_NO_PEER) {
        /* Sequence numbers and launch order do not match sends: each rank counts its own. */
        if (p->nth < 0 || p->peer < 0) {
            p->key = p->peer >= 0 && p->subseq != TL_UNCOUNTED ? tl_own_key(p) : 0;
            return;
        }
        bool sends = tl_is_sender((tl_collective)p->kind, p->rank, p->peer);
        int32_t from = sends ? p->rank : p->peer, to = sends ? p->peer : p->rank;
        p->key = nonzero(mix3(mix3(group, TL_BY_PAIR, from, to), p->subseq, p->nth, 0));
        p->rule = TL_BY_PAIR;
    } else if (fate->by_seq && p->seq >= 0) {
        p->key = nonzero(mix3(group, TL_BY_SEQ, p->seq, p->subseq));
        p->rule = TL_BY_SEQ;
    } else if (p->nth >= 0 && (p->step >= 0 || fate->by_loose_launch)) {
        p->key = nonzero(mix3(mix3(group, TL_BY_LAUNCH, p->step, p->kind), p->nth, 0, 0));
        p->rule = TL_BY_LAUNCH;
    }
}

void tl_key_unmatched(tl_participant *participants, size_t n)
{
    for (size_t i = 0; i < n; i++)
        participants[i].key = participants[i].key != 0 ? participants[i].key : tl_own_key(&participants[i]);
}

uint64_t tl_own_key(const tl_participant *p)
{
    return nonzero(mix3(tl_hash_mix(0, (uint64_t)p->group), TL_BY_NOTHING, p->rank, p->uid));
}

/* ------------------------------------------------------------------------------------------------------- sightings */

static uint64_t sighting_item(const tl_participant *p)
{
    return p->nth >= 0 ? nonzero(mix3(0, p->step, p->kind, p->nth)) : 0;
}

TL_SORT_BY(by_item, tl_sighting, membership, item)

/* Ascending by membership, then by a hash of the item, so that all ranks of a group draw the same items. */
static int by_hash(const void *a, const void *b)
{
    const tl_sighting *x = a, *y = b;
    int order = TL_COMPARE(x->membership, y->membership);
    order = order != 0 ? order : TL_COMPARE(tl_hash_mix(x->item, 0), tl_hash_mix(y->item, 0));
    return order != 0 ? order : TL_COMPARE(x->item, y->item);
}

void tl_sightings_draw(const tl_participants *set, tl_sighting **out, size_t *n)
{
    TL_VEC(tl_sighting) seen = { 0 };
    bool *stepped = tl_calloc(set->memberships.n + 1, sizeof *stepped);
    size_t kept = 0, of_this = 0;

    TL_EACH (const tl_participant, p, set->participants)
        stepped[p->group] |= p->step >= 0;
    TL_EACH (const tl_participant, p, set->participants) {
        uint64_t item = p->peer == TL_NO_PEER ? sighting_item(p) : 0;
        /* Ranks begin to record at different moments: collectives before the first step differ between them. */
        bool before_steps = stepped[p->group] && p->step < 0;
        if (item != 0 && !before_steps && set->memberships.v[p->group].inferred)
            tl_vec_push(&seen, (tl_sighting){ .item = item,
                                              .start_ns = p->start_ns,
                                              .end_ns = p->end_ns,
                                              .membership = p->group,
                                              .loose = tl_is_loose((tl_collective)p->kind) });
    }
    free(stepped);
    tl_vec_sort(&seen, by_hash);
    for (size_t i = 0; i < seen.n; i++) {
        of_this = i > 0 && seen.v[i].membership == seen.v[i - 1].membership ? of_this + 1 : 0;
        if (of_this < TL_SIGHTINGS)
            seen.v[kept++] = seen.v[i];
    }
    tl_sort(seen.v, kept, sizeof *seen.v, by_item);
    *n = kept;
    *out = seen.v;
}
