/* pair_items.c - participants in sends and receives as items to be aligned, and what came of it. */
#include "tlmpi/analysis/match/align.h"
#include "tlmpi/base/hash.h"
#include "tlmpi/base/mem.h"
#include <stdlib.h>

tl_pair_item *tl_pair_items_list(const tl_participants *set, int32_t proc, size_t *n)
{
    tl_pair_item *items = tl_malloc((set->participants.n + 1) * sizeof *items);
    *n = 0;
    for (size_t i = 0; i < set->participants.n; i++) {
        const tl_participant *p = &set->participants.v[i];
        if (p->peer != TL_NO_PEER)
            items[(*n)++] = (tl_pair_item){ .key = p->key,
                                            .lone = tl_lone_key(p),
                                            .end_ns = p->end_ns,
                                            .group = p->group,
                                            .rank = p->rank,
                                            .peer = p->peer,
                                            .sends = tl_is_sender((tl_collective)p->kind, p->rank, p->peer),
                                            .proc = proc,
                                            .position = i };
    }
    return items;
}

/* Whether the trace tells no more of a participant than that it may be a send or a receive (an all-to-all may, too). */
static bool has_unknown_peer(const tl_participant *p)
{
    return tl_is_point_to_point((tl_collective)p->kind) && p->peer < 0;
}

tl_pair_item *tl_sends_list(const tl_participants *set, int32_t proc, size_t *n)
{
    tl_pair_item *items = tl_malloc((set->participants.n + 1) * sizeof *items);
    bool *named = tl_calloc(set->memberships.n + 1, sizeof *named);

    *n = 0;
    for (size_t i = 0; i < set->participants.n; i++)
        named[set->participants.v[i].group] |= !has_unknown_peer(&set->participants.v[i]);
    for (size_t i = 0; i < set->participants.n; i++) {
        const tl_participant *p = &set->participants.v[i];
        if (named[p->group] || !set->memberships.v[p->group].inferred)
            continue;
        items[(*n)++] = (tl_pair_item){ .lone = tl_hash_mix(tl_hash_mix(1, (uint64_t)p->rank), p->uid) | 1,
                                        .start_ns = p->start_ns,
                                        .end_ns = p->end_ns,
                                        .group = p->stream,
                                        .rank = p->rank,
                                        .peer = TL_NO_PEER,
                                        .sends = (p->kind == TL_SEND) - (p->kind == TL_RECV),
                                        .proc = proc,
                                        .position = i };
    }
    free(named);
    return items;
}

void tl_sends_take(const tl_pair_item *items, size_t n, tl_participants *set)
{
    for (size_t i = 0; i < n; i++) {
        tl_participant *p = &set->participants.v[items[i].position];
        tl_membership *m = &set->memberships.v[p->group];
        if (items[i].peer == TL_NO_PEER)
            continue;
        p->peer = items[i].peer;
        p->key = items[i].key;
        p->nth = -1;
        p->rule = p->key != 0 ? TL_BY_ENDTIME : TL_BY_NOTHING;
        m->members_key = tl_sends_members_key();
        m->nlaunched = m->nseq = m->nloose = m->nends = 0;
        m->loose_key = 0;
    }
}

void tl_pair_items_align(tl_pair_item *items, size_t n, const tl_group_fact *groups, size_t ngroups)
{
    bool *guess = tl_calloc(ngroups + 1, sizeof *guess);
    for (size_t g = 0; g < ngroups; g++)
        guess[g] = !groups[g].inferred;
    tl_ways_align(items, n);
    tl_pairs_align(items, n, guess);
    free(guess);
}

void tl_pair_items_take(const tl_pair_item *items, size_t n, tl_participants *set)
{
    for (size_t i = 0; i < n; i++) {
        tl_participant *p = &set->participants.v[items[i].position];
        if (p->key != 0)
            continue;
        p->key = items[i].key;
        p->peer = items[i].peer;
        p->rule = p->peer >= 0 ? TL_BY_ENDTIME : TL_BY_NOTHING;
    }
}
