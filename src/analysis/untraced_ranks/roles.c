/* roles.c - the roles of all ranks, traced and untraced.
 *
 * Two ranks have one role if they share a process group smaller than the job, directly or through other ranks of the
 * role, and have peers on the same sides.  If no group is smaller than the job, the job is that group.
 */
#include "internal.h"
#include "tlmpi/base/components.h"
#include <stdlib.h>

/* Sides of a rank's point-to-point peers, as bits: higher ranks, lower ranks; and the number of combinations. */
enum { UP = 1, DOWN = 2, TALKS = (UP | DOWN) + 1 };

/* Fills, by number of a rank, the known sides of its peers. */
static void list_talks(const tl_untraced_ranks *a, uint8_t *talks)
{
    for (size_t i = 0; i < a->in->nrows; i++) {
        const tl_late_row *row = &a->in->rows[i];
        uint32_t rank = tl_untraced_ranks_number(a, row), one;
        size_t n;
        if (row->peer < 0 || row->peer == row->rank || rank == a->in->nranks)
            continue;
        talks[rank] |= row->peer > row->rank ? UP : DOWN;
        const uint32_t *untraced = tl_untraced_ranks_of(a, row, &one, &n);
        if (n == 1)
            talks[a->in->nranks + untraced[0]] |= row->peer > row->rank ? DOWN : UP;
    }
}

/* A collective of a group: the rows of its traced members, and its untraced members. */
typedef struct group_meeting {
    const tl_late_row *rows;
    size_t n, nuntraced;
    const uint32_t *untraced;
    uint32_t one; /* storage for tl_untraced_ranks_of */
} group_meeting;

/* Fills *m with the next collective of a group from row *at on, and advances *at; false: there is none.  smaller: skips
 * groups of all ranks of the job. */
static bool next_meeting(const tl_untraced_ranks *a, bool smaller, size_t *at, group_meeting *m)
{
    const tl_untraced_ranks_input *in = a->in;
    while (*at < in->nrows) {
        m->rows = &in->rows[*at];
        m->n = tl_late_rows_end(in->rows, in->nrows, *at) - *at;
        *at += m->n;
        size_t members = tl_untraced_ranks_members(a, m->rows, m->n);
        if (m->rows->group < 0 || tl_is_point_to_point((tl_collective)m->rows->kind) || members < 2 ||
            (smaller && members == in->nranks + a->n))
            continue;
        m->untraced = tl_untraced_ranks_of(a, m->rows, &m->one, &m->nuntraced);
        return true;
    }
    return false;
}

/* Fills the sides of the peers of each untraced rank: of the combinations that include its known sides, the most
 * frequent one among the traced members of its groups.  Messages between two untraced ranks are in no trace.  Returns
 * whether there are groups smaller than the job. */
static bool fill_untraced_talks(const tl_untraced_ranks *a, uint8_t *talks)
{
    uint32_t *votes = tl_calloc(a->n * TALKS + 1, sizeof *votes);
    group_meeting m;
    bool any = false;
    for (size_t at = 0; next_meeting(a, true, &at, &m); any = true)
        for (size_t i = 0; m.nuntraced > 0 && i < m.n; i++) {
            uint32_t rank = tl_untraced_ranks_number(a, &m.rows[i]);
            for (size_t k = 0; rank < a->in->nranks && k < m.nuntraced; k++)
                votes[m.untraced[k] * TALKS + talks[rank]]++;
        }
    for (size_t i = 0; i < a->n; i++) {
        uint8_t *own = &talks[a->in->nranks + i], known = *own;
        for (unsigned t = 0; t < TALKS; t++)
            if ((t & known) == known && votes[i * TALKS + t] > votes[i * TALKS + *own])
                *own = (uint8_t)t;
    }
    free(votes);
    return any;
}

/* Gives the rank the role of the first rank of its group with peers on the same sides. */
static void join_role(tl_untraced_ranks *a, const uint8_t *talks, tl_map *first, int32_t group, uint32_t rank)
{
    uint64_t key = tl_hash_mix((uint32_t)group, talks[rank]);
    uint32_t other = tl_map_get(first, key);
    if (other != TL_MAP_NONE)
        tl_components_join(a->role, other, rank);
    else
        tl_map_put(first, key, rank);
}

void tl_untraced_ranks_find_roles(tl_untraced_ranks *a)
{
    size_t nranks = a->in->nranks + a->n;
    uint8_t *talks = tl_calloc(nranks + 1, sizeof *talks);
    tl_map first = { 0 };
    group_meeting m;

    a->role = tl_malloc((nranks + 1) * sizeof *a->role);
    for (uint32_t i = 0; i < nranks; i++)
        a->role[i] = i;
    list_talks(a, talks);
    bool smaller = fill_untraced_talks(a, talks);
    for (size_t at = 0; next_meeting(a, smaller, &at, &m);) {
        for (size_t i = 0; i < m.n; i++)
            if (tl_untraced_ranks_number(a, &m.rows[i]) < a->in->nranks)
                join_role(a, talks, &first, m.rows->group, tl_untraced_ranks_number(a, &m.rows[i]));
        for (size_t i = 0; i < m.nuntraced; i++)
            join_role(a, talks, &first, m.rows->group, (uint32_t)a->in->nranks + m.untraced[i]);
    }
    for (uint32_t i = 0; i < nranks; i++)
        a->role[i] = tl_component_of(a->role, i);
    free(talks);
    tl_map_free(&first);
}
