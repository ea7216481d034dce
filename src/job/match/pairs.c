/* pairs.c - sends and receives of which nobody says between whom: to proc 0, matched, and back.
 *
 * They are few jobs' and few rows; where there are none nothing travels.
 */
#include "parts.h"
#include "tlmpi/job/transport/rows.h"
#include "tlmpi/analysis/match.h"
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
            items[(*n)++] = (tl_pair_item){ p->key, tl_lone_key(p), p->end_ns, p->group, p->rank, p->peer, 0 };
    }
    return items;
}

/* Proc 0. */
static bool align(const tl_matching *m, tl_pair_item *items, size_t n)
{
    bool *guess = tl_calloc(m->ngroups + 1, sizeof *guess);
    for (size_t g = 0; guess != NULL && g < m->ngroups; g++)
        guess[g] = !m->groups[g].inferred;
    bool ok = guess != NULL && tl_pairs_align(items, n, guess);
    free(guess);
    return ok;
}

static void take(tl_participants *set, const tl_pair_item *items)
{
    for (size_t i = 0, at = 0; i < set->parts.n; i++) {
        tl_participant *p = &set->parts.v[i];
        if (p->peer == TL_NO_PEER)
            continue;
        if (p->key == 0) {
            p->key = items[at].key;
            p->peer = items[at].peer;
            p->rule = p->peer >= 0 ? TL_BY_ENDTIME : TL_BY_NOTHING;
        }
        at++;
    }
}

tl_status tl_match_pairs(tl_matching *m, tl_error *err)
{
    size_t open = 0, before, total, n = 0, nall = 0, nback = 0, at = 0;
    tl_pair_item *mine = NULL, *all = NULL;
    int32_t *to = NULL;
    void *back = NULL;
    size_t *counts = NULL;

    for (size_t i = 0; i < m->set->parts.n; i++)
        open += m->set->parts.v[i].key == 0 && m->set->parts.v[i].peer != TL_NO_PEER;
    tl_status st = tl_count_before(open, &before, &total, err);
    if (st != TL_OK || total == 0)
        return st;
    mine = list_pairs(m->set, &n);
    counts = tl_calloc((size_t)tl_par_nprocs(), sizeof *counts);
    st = tl_par_agree(mine != NULL && counts != NULL ? TL_OK : tl_fail_memory(err, "sends and receives"), err);
    if (st == TL_OK)
        st = tl_collect_rows(mine, n, sizeof *mine, (void **)&all, &nall, counts, err);
    if (st == TL_OK) {
        to = tl_malloc((nall + 1) * sizeof *to);
        for (int p = 0; to != NULL && counts != NULL && tl_par_proc() == 0 && p < tl_par_nprocs(); p++)
            for (size_t i = 0; i < counts[p]; i++)
                to[at++] = p;
        bool ok = to != NULL && (tl_par_proc() != 0 || align(m, all, nall));
        st = tl_par_agree(ok ? TL_OK : tl_fail_memory(err, "sends and receives"), err);
    }
    if (st == TL_OK)
        st = tl_par_shuffle(all, tl_par_proc() == 0 ? nall : 0, sizeof *all, to, &back, &nback, err);
    if (st == TL_OK)
        take(m->set, back);
    free(mine);
    free(all);
    free(to);
    free(counts);
    free(back);
    return st;
}
