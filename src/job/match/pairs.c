/* pairs.c - sends and receives that counting does not match: to the owner of their group, matched, and back.
 *
 * Where there are none nothing travels.
 */
#include "parts.h"
#include "tlmpi/job/transport/rows.h"
#include "tlmpi/analysis/match/align.h"
#include "tlmpi/base/hash.h"
#include "tlmpi/base/mem.h"
#include "tlmpi/par/par.h"
#include <stdlib.h>

/* This proc's sends and receives, in their order. */
static tl_pair_item *list_pairs(const tl_participants *set, size_t *n)
{
    tl_pair_item *items = tl_malloc((set->parts.n + 1) * sizeof *items);
    *n = 0;
    for (size_t i = 0; items != NULL && i < set->parts.n; i++) {
        const tl_participant *p = &set->parts.v[i];
        if (p->peer != TL_NO_PEER)
            items[(*n)++] = (tl_pair_item){ .key = p->key,
                                            .lone = tl_lone_key(p),
                                            .end_ns = p->end_ns,
                                            .group = p->group,
                                            .rank = p->rank,
                                            .peer = p->peer,
                                            .sends = tl_is_sender((tl_collective)p->kind, p->rank, p->peer),
                                            .proc = tl_par_proc(),
                                            .place = i };
    }
    return items;
}

/* The owner of groups. */
static bool align(const tl_matching *m, tl_pair_item *items, size_t n)
{
    bool *guess = tl_calloc(m->ngroups + 1, sizeof *guess);
    for (size_t g = 0; guess != NULL && g < m->ngroups; g++)
        guess[g] = !m->groups[g].inferred;
    bool ok = guess != NULL && tl_ways_align(items, n) && tl_pairs_align(items, n, guess);
    free(guess);
    return ok;
}

static void take(tl_participants *set, const tl_pair_item *items, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        tl_participant *p = &set->parts.v[items[i].place];
        if (p->key != 0)
            continue;
        p->key = items[i].key;
        p->peer = items[i].peer;
        p->rule = p->peer >= 0 ? TL_BY_ENDTIME : TL_BY_NOTHING;
    }
}

/* Items change procs: to the owners of their groups, or home. */
static tl_status move(tl_pair_item **items, size_t *n, bool home, tl_error *err)
{
    int32_t *to = tl_malloc((*n + 1) * sizeof *to);
    void *moved = NULL;
    size_t nmoved = 0;

    for (size_t i = 0; to != NULL && i < *n; i++)
        to[i] = home ? (*items)[i].proc
                     : (int32_t)(tl_hash_mix((uint64_t)(*items)[i].group, 0) % (uint64_t)tl_par_nprocs());
    tl_status st = tl_par_agree(to != NULL ? TL_OK : tl_fail_memory(err, "sends and receives"), err);
    if (st == TL_OK)
        st = tl_par_shuffle(*items, *n, sizeof **items, to, &moved, &nmoved, err);
    free(to);
    free(*items);
    *items = moved;
    *n = nmoved;
    return st;
}

tl_status tl_match_pairs(tl_matching *m, tl_error *err)
{
    size_t open = 0, before, total, n = 0;

    for (size_t i = 0; i < m->set->parts.n; i++)
        open += m->set->parts.v[i].key == 0 && m->set->parts.v[i].peer != TL_NO_PEER;
    tl_status st = tl_count_before(open, &before, &total, err);
    if (st != TL_OK || total == 0)
        return st;
    tl_pair_item *items = list_pairs(m->set, &n);
    st = tl_par_agree(items != NULL ? TL_OK : tl_fail_memory(err, "sends and receives"), err);
    if (st == TL_OK)
        st = move(&items, &n, false, err);
    if (st == TL_OK)
        st = tl_par_agree(align(m, items, n) ? TL_OK : tl_fail_memory(err, "sends and receives"), err);
    if (st == TL_OK)
        st = move(&items, &n, true, err);
    if (st == TL_OK)
        take(m->set, items, n);
    free(items);
    return st;
}
