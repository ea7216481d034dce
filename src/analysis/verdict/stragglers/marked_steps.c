/* marked_steps.c - finds the ranks whose own marks tell their steps.
 *
 *     rank 0   |4  [a].[c] |5  [a].[c]      a: a group of all ranks; c: a group of ranks 2 and 3
 *     rank 1   |4  [a]     |5  [a]
 *     rank 2   |9  [a].[c] |10 [a].[c]      is in step 9 where most ranks are in step 4: its marks are not used
 *     rank 3   |9  [a].[c] |10 [a].[c]      so too, although the marks of ranks 2 and 3 agree in group c
 */
#include "tlmpi/analysis/verdict/stragglers/step.h"
#include "tlmpi/base/group.h"
#include "tlmpi/base/hash.h"
#include "tlmpi/model/tables.h"
#include <stdlib.h>
#include <string.h>

/* agrees: number of collectives of one group in which the rank is in the step of most ranks, less the number of those
 * in which it is in another step. */
typedef struct vote {
    int32_t rank;
    int64_t agrees;
} vote;

typedef TL_VEC(vote) votes;

static void count_votes(const tl_late_row *rows, size_t nrows, votes *all)
{
    tl_map of = { 0 }; /* (group, rank) -> index of the vote */

    for (size_t i = 0; i < nrows; i++) {
        const tl_late_row *row = &rows[i];
        uint64_t key = (uint64_t)(uint32_t)row->group << 32 | (uint32_t)row->rank;
        if (!row->fits || row->step < 0 || row->own_step < 0)
            continue;
        const uint32_t at = tl_map_number(&of, key, all->n);
        if (at >= all->n)
            tl_vec_push(all, (vote){ row->rank, 0 });
        all->v[at].agrees += row->own_step == row->step ? 1 : -1;
    }
    tl_map_free(&of);
}

void tl_marked_list(const tl_table *steps, const tl_late_row *rows, size_t nrows, int32_t **marked, size_t *n)
{
    int32_t *v = *marked = tl_malloc((steps->n + 1) * sizeof *v);
    votes all = { 0 };
    count_votes(rows, nrows, &all);

    *n = 0;
    TL_ROWS (const tl_step, row, steps)
        if (*n == 0 || v[*n - 1] != row->rank)
            v[(*n)++] = row->rank;
    for (size_t i = 0; i < all.n; i++) {
        size_t r = tl_index_of(v, *n, all.v[i].rank);
        if (all.v[i].agrees >= 0 || r == *n)
            continue;
        --*n;
        memmove(v + r, v + r + 1, (*n - r) * sizeof *v);
    }
    free(all.v);
}
