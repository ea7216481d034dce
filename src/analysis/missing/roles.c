/* roles.c - which ranks do the same, those without a trace among them.
 *
 * Ranks do the same if they have a group of collectives in common that is smaller than the job, themselves or through
 * others, and talk to the same sides; without such groups all that talk to the same sides.
 */
#include "internal.h"
#include "tlmpi/base/components.h"
#include "tlmpi/base/sort.h"
#include <stdlib.h>

/* To ranks above it, below it, both, or neither. */
enum { UP = 1, DOWN = 2, TALKS = (UP | DOWN) + 1 };

typedef struct joining_roles {
    const tl_missing_input *in;
    const tl_absentees *absentees;
    uint32_t *role;
    uint8_t *talks;  /* by rank */
    uint32_t *votes; /* [without a trace * TALKS] */
    tl_map first;    /* by group and talks: a rank */
    size_t nranks;
} joining_roles;

static uint32_t rank_of(const joining_roles *r, const tl_late_row *row)
{
    return (uint32_t)tl_index_of(r->in->ranks, r->in->nranks, row->rank);
}

static void list_talks(joining_roles *r)
{
    const tl_missing_input *in = r->in;
    for (size_t i = 0; i < in->nrows; i++) {
        const tl_late_row *row = &in->rows[i];
        uint32_t rank = rank_of(r, row), one;
        size_t n;
        if (row->peer < 0 || row->peer == row->rank || rank == in->nranks)
            continue;
        r->talks[rank] |= row->peer > row->rank ? UP : DOWN;
        const uint32_t *absent = tl_absentees_of(r->absentees, row, &one, &n);
        if (n == 1)
            r->talks[in->nranks + absent[0]] |= row->peer > row->rank ? DOWN : UP;
    }
}

static void join_rank(joining_roles *r, int32_t group, uint32_t rank)
{
    uint64_t key = tl_hash_mix((uint32_t)group, r->talks[rank]);
    uint32_t first = tl_map_get(&r->first, key);
    if (first != TL_MAP_NONE)
        tl_components_join(r->role, first, rank);
    if (first == TL_MAP_NONE)
        tl_map_put(&r->first, key, rank);
}

/* What is done to the ranks of one group: rows [from, to), and those without a trace. */
typedef void of_group(joining_roles *r, size_t from, size_t to, const uint32_t *absent, size_t n);

/* Votes for the talks of untraced members of a group: each traced member votes for its own.  Messages between two
 * untraced ranks are not seen. */
static void vote(joining_roles *r, size_t from, size_t to, const uint32_t *absent, size_t n)
{
    for (size_t i = from; n > 0 && i < to; i++) {
        uint32_t rank = rank_of(r, &r->in->rows[i]);
        for (size_t k = 0; rank < r->in->nranks && k < n; k++)
            r->votes[absent[k] * TALKS + r->talks[rank]]++;
    }
}

/* Gives each untraced rank, of the talks that include all its known sides, the ones with most votes. */
static void settle(joining_roles *r)
{
    for (size_t i = r->in->nranks; i < r->nranks; i++) {
        const uint32_t *votes = r->votes + (i - r->in->nranks) * TALKS;
        uint8_t known = r->talks[i];
        for (int talks = 0; talks < TALKS; talks++)
            if ((talks & known) == known && votes[talks] > votes[r->talks[i]])
                r->talks[i] = (uint8_t)talks;
    }
}

static void join_group(joining_roles *r, size_t from, size_t to, const uint32_t *absent, size_t n)
{
    const tl_missing_input *in = r->in;
    for (size_t i = from; i < to; i++)
        if (rank_of(r, &in->rows[i]) != in->nranks)
            join_rank(r, in->rows[i].group, rank_of(r, &in->rows[i]));
    for (size_t i = 0; i < n; i++)
        join_rank(r, in->rows[from].group, (uint32_t)in->nranks + absent[i]);
}

/* Of all collectives, or of those of fewer ranks than the job has; *any: there are such. */
static void for_groups(joining_roles *r, of_group *what, bool smaller, bool *any)
{
    const tl_missing_input *in = r->in;
    for (size_t i = 0, to; i < in->nrows; i = to) {
        const tl_late_row *row = &in->rows[i];
        uint32_t one;
        size_t n;
        to = tl_late_rows_end(in->rows, in->nrows, i);
        const uint32_t *absent = tl_absentees_of(r->absentees, row, &one, &n);
        size_t members = tl_absentees_members(r->absentees, row, to - i);
        if (row->group < 0 || tl_is_point_to_point((tl_collective)row->kind) || members < 2 ||
            (smaller && members == r->nranks))
            continue;
        *any = true;
        what(r, i, to, absent, n);
    }
}

void tl_missing_roles(const tl_missing_input *in, const tl_absentees *absentees, uint32_t *role)
{
    size_t nabsent = tl_absentees_all(absentees), nranks = in->nranks + nabsent;
    joining_roles r = { .in = in, .absentees = absentees, .role = role, .nranks = nranks };
    r.talks = tl_calloc(nranks + 1, sizeof *r.talks);
    r.votes = tl_calloc(nabsent * TALKS + 1, sizeof *r.votes);
    bool any = false;
    for (uint32_t i = 0; i < nranks; i++)
        role[i] = i;
    list_talks(&r);
    for_groups(&r, vote, true, &any);
    settle(&r);
    for_groups(&r, join_group, any, &any);
    for (uint32_t i = 0; i < nranks; i++)
        role[i] = tl_component_of(role, i);
    free(r.talks);
    free(r.votes);
    tl_map_free(&r.first);
}
