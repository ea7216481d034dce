/* roles.c - which ranks do the same, those without a trace among them.
 *
 * Ranks do the same if they have a group of collectives in common that is smaller than the job, themselves or through
 * others, and talk to the same sides; without such groups all that talk to the same sides.
 */
#include "internal.h"
#include "tlmpi/base/components.h"
#include <stdlib.h>

/* To ranks above it, below it, both, or neither. */
enum { UP = 1, DOWN = 2, TALKS = (UP | DOWN) + 1 };

/* Fills, by number of rank, to which sides it is known to talk. */
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

/* A collective of a group: its traced members, and the untraced ones. */
typedef struct group_meeting {
    const tl_late_row *rows;
    size_t n, nuntraced;
    const uint32_t *untraced;
    uint32_t one; /* room for a single one */
} group_meeting;

/* Finds the next collective of a group, from row *at on, and moves *at behind it.  smaller: of fewer ranks than the
 * job. */
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

/* Gives each untraced rank, of the talks that include all its known sides, the ones that most traced members of its
 * groups have: messages between two untraced ranks are not seen.  Returns whether there are groups smaller than the
 * job. */
static bool vote(const tl_untraced_ranks *a, uint8_t *talks)
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

/* Joins the rank with the first of its group that talks to the same sides. */
static void join_rank(tl_untraced_ranks *a, const uint8_t *talks, tl_map *first, int32_t group, uint32_t rank)
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
    bool smaller = vote(a, talks);
    for (size_t at = 0; next_meeting(a, smaller, &at, &m);) {
        for (size_t i = 0; i < m.n; i++)
            if (tl_untraced_ranks_number(a, &m.rows[i]) < a->in->nranks)
                join_rank(a, talks, &first, m.rows->group, tl_untraced_ranks_number(a, &m.rows[i]));
        for (size_t i = 0; i < m.nuntraced; i++)
            join_rank(a, talks, &first, m.rows->group, (uint32_t)a->in->nranks + m.untraced[i]);
    }
    for (uint32_t i = 0; i < nranks; i++)
        a->role[i] = tl_component_of(a->role, i);
    free(talks);
    tl_map_free(&first);
}
