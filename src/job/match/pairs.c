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
static void move(tl_pair_item **items, size_t *n, goal to_whom)
{
    int32_t *to = tl_malloc((*n + 1) * sizeof *to);
    void *moved = NULL;
    size_t nmoved = 0;

    for (size_t i = 0; *items != NULL && i < *n; i++)
        to[i] = to_whom == HOME       ? (*items)[i].proc
                : to_whom == TO_FIRST ? 0
                                   : (int32_t)(tl_hash_mix((uint64_t)(*items)[i].group, 0) % (uint64_t)tl_par_nprocs());
    tl_par_shuffle(*items, *n, sizeof **items, to, &moved, &nmoved);
    free(to);
    free(*items);
    *items = moved;
    *n = nmoved;
}

void tl_match_pairs(tl_matching *m)
{
    size_t open = 0, before, total, n = 0;

    for (size_t i = 0; i < m->set->participants.n; i++)
        open += m->set->participants.v[i].key == 0 && m->set->participants.v[i].peer != TL_NO_PEER;
    tl_count_before(open, &before, &total);
    if (total == 0)
        return;
    tl_pair_item *items = tl_pair_items_list(m->set, tl_par_proc(), &n);
    move(&items, &n, TO_OWNER);
    tl_pair_items_align(items, n, m->groups, m->ngroups);
    move(&items, &n, HOME);
    tl_pair_items_take(items, n, m->set);
    free(items);
}

void tl_match_sends(tl_matching *m)
{
    size_t before, total, n = 0;
    tl_pair_item *items = tl_sends_list(m->set, tl_par_proc(), &n);

    tl_count_before(n, &before, &total);
    if (total > 0) {
        move(&items, &n, TO_FIRST);
        tl_sends_align(items, n);
        move(&items, &n, HOME);
        tl_sends_take(items, n, m->set);
    }
    free(items);
}
