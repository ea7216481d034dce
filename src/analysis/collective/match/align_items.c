/* align_items.c - converts participants to items for alignment, and writes the keys found back to participants. */
#include "tlmpi/analysis/collective/match.h"
#include "tlmpi/base/hash.h"
#include <stdlib.h>

static tl_align_item item_of(const tl_participants *set, size_t i, int32_t proc)
{
    const tl_participant *p = &set->participants.v[i];
    return (tl_align_item){ .key = p->key,
                            .lone = tl_own_key(p),
                            .start_ns = p->start_ns,
                            .end_ns = p->end_ns,
                            .bytes = p->bytes,
                            .dtype = p->dtype,
                            .group = p->group,
                            .rank = p->rank,
                            .peer = p->peer,
                            .uid = p->uid,
                            .kind = p->kind,
                            .sends = tl_is_sender((tl_collective)p->kind, p->rank, p->peer),
                            .proc = proc,
                            .position = i };
}

void tl_align_open(const tl_participants *set, bool pairs, int64_t *open)
{
    TL_EACH (const tl_participant, p, set->participants)
        open[p->group] += p->key == 0 && (!pairs || p->peer != TL_NO_PEER);
}

tl_align_item *tl_align_list(const tl_participants *set, bool pairs, const int64_t *open, int32_t proc, size_t *n)
{
    size_t listed = 0;
    *n = 0;
    TL_EACH (const tl_participant, p, set->participants)
        *n += open[p->group] > 0 && (!pairs || p->peer != TL_NO_PEER);
    tl_align_item *items = tl_malloc((*n + 1) * sizeof *items);
    for (size_t i = 0; i < set->participants.n; i++) {
        const tl_participant *p = &set->participants.v[i];
        if (open[p->group] > 0 && (!pairs || p->peer != TL_NO_PEER))
            items[listed++] = item_of(set, i, proc);
    }
    return items;
}

void tl_align_take(const tl_align_item *items, size_t n, tl_participants *set)
{
    for (const tl_align_item *item = items; n > 0; n--, item++) {
        tl_participant *p = &set->participants.v[item->position];
        if (p->key != 0 || item->key == 0)
            continue;
        p->key = item->key;
        p->peer = item->peer;
        p->rule = p->peer != TL_PEER_UNKNOWN ? TL_BY_ENDTIME : TL_BY_NOTHING;
    }
}

tl_align_item *tl_sends_list(const tl_participants *set, int32_t proc, size_t *n)
{
    tl_align_item *items = tl_malloc((set->participants.n + 1) * sizeof *items);
    bool *others = tl_calloc(set->memberships.n + 1, sizeof *others);

    *n = 0;
    /* others: the membership has a participant that is no send or receive, has a known peer, or, in a group that the
     * trace names, both sends and receives: that may be an all-to-all of more than two ranks. */
    TL_EACH (const tl_participant, p, set->participants) {
        bool one_way = set->memberships.v[p->group].inferred || p->kind == TL_SEND || p->kind == TL_RECV;
        others[p->group] |= !tl_is_point_to_point((tl_collective)p->kind) || p->peer >= 0 || !one_way;
    }
    for (size_t i = 0; i < set->participants.n; i++) {
        const tl_participant *p = &set->participants.v[i];
        if (others[p->group])
            continue;
        items[*n] = item_of(set, i, proc);
        items[*n].lone = tl_hash_mix(tl_hash_mix(1, (uint64_t)p->rank), p->uid) | 1;
        items[*n].key = 0;
        items[*n].peer = TL_NO_PEER;
        items[*n].sends = (int8_t)((p->kind == TL_SEND) - (p->kind == TL_RECV));
        items[(*n)++].group = p->stream;
    }
    free(others);
    return items;
}

void tl_sends_take(const tl_align_item *items, size_t n, tl_participants *set)
{
    for (const tl_align_item *item = items; n > 0; n--, item++) {
        tl_participant *p = &set->participants.v[item->position];
        tl_membership *m = &set->memberships.v[p->group];
        if (item->peer == TL_NO_PEER)
            continue;
        p->peer = item->peer;
        p->key = item->key;
        p->nth = -1;
        p->rule = p->key != 0 ? TL_BY_ENDTIME : TL_BY_NOTHING;
        if (!m->inferred)
            continue;
        m->members_key = tl_sends_members_key();
        m->nlaunched = m->nseq = m->nloose = m->nends = 0;
        m->loose_key = 0;
    }
}
