/* pairs.c - sends and receives that counting does not match: to the owner of their group, matched, and back.
 *
 * Where there are none nothing travels.
 */
#include "internal.h"
#include "tlmpi/job/transport/rows.h"
#include "tlmpi/analysis/match/align.h"
#include "tlmpi/base/hash.h"
#include "tlmpi/base/mem.h"
#include "tlmpi/par/par.h"
#include <stdlib.h>

typedef enum goal { TO_OWNER, TO_FIRST, HOME } goal;

/* Items change procs: to the owners of their groups, to the first proc, where any two ranks may be partners, or home. */
static tl_status move(tl_pair_item **items, size_t *n, goal to_whom, tl_error *err)
{
    int32_t *to = tl_malloc((*n + 1) * sizeof *to);
    void *moved = NULL;
    size_t nmoved = 0;

    for (size_t i = 0; to != NULL && *items != NULL && i < *n; i++)
        to[i] = to_whom == HOME       ? (*items)[i].proc
                : to_whom == TO_FIRST ? 0
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

    for (size_t i = 0; i < m->set->participants.n; i++)
        open += m->set->participants.v[i].key == 0 && m->set->participants.v[i].peer != TL_NO_PEER;
    tl_status st = tl_count_before(open, &before, &total, err);
    if (st != TL_OK || total == 0)
        return st;
    tl_pair_item *items = tl_pair_items_list(m->set, tl_par_proc(), &n);
    st = tl_par_agree(items != NULL ? TL_OK : tl_fail_memory(err, "sends and receives"), err);
    if (st == TL_OK)
        st = move(&items, &n, TO_OWNER, err);
    if (st == TL_OK)
        st = tl_par_agree(
            tl_pair_items_align(items, n, m->groups, m->ngroups) ? TL_OK : tl_fail_memory(err, "sends and receives"),
            err);
    if (st == TL_OK)
        st = move(&items, &n, HOME, err);
    if (st == TL_OK)
        tl_pair_items_take(items, n, m->set);
    free(items);
    return st;
}

tl_status tl_match_sends(tl_matching *m, tl_error *err)
{
    size_t before, total, n = 0;
    tl_pair_item *items = tl_sends_list(m->set, tl_par_proc(), &n);

    tl_status st = tl_par_agree(items != NULL ? TL_OK : tl_fail_memory(err, "sends and receives"), err);
    if (st == TL_OK)
        st = tl_count_before(n, &before, &total, err);
    if (st == TL_OK && total > 0) {
        st = move(&items, &n, TO_FIRST, err);
        if (st == TL_OK)
            st = tl_par_agree(tl_sends_align(items, n) ? TL_OK : tl_fail_memory(err, "sends and receives"), err);
        if (st == TL_OK)
            st = move(&items, &n, HOME, err);
        if (st == TL_OK)
            tl_sends_take(items, n, m->set);
    }
    free(items);
    return st;
}
