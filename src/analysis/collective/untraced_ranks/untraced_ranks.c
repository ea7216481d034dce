/* untraced_ranks.c - lists the untraced ranks of a job, from process groups and point-to-point peers. */
#include "internal.h"
#include "tlmpi/base/components.h"
#include "tlmpi/base/group.h"
#include "tlmpi/model/coll_tables.h"
#include <stdlib.h>
#include <string.h>

/* ------------------------------------------------------------------------------------------------------------ roles */

/* The roles of all ranks, traced and untraced.
 *
 * Two ranks have one role if they share a process group smaller than the job, directly or through other ranks of the
 * role, and have peers on the same sides.  If no group is smaller than the job, the job is that group.
 */

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

/* Fills a->role: traced ranks first, then untraced ones. */
static void untraced_ranks_find_roles(tl_untraced_ranks *a)
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

static bool has_trace(const tl_untraced_ranks_input *in, int32_t rank)
{
    return tl_index_of(in->ranks, in->nranks, rank) < in->nranks;
}

/* Whether an inferred group is taken to be the whole job: all traced ranks are in it, and most ranks are traced. */
static bool is_whole_job(const tl_untraced_ranks_input *in, const tl_group_row *row)
{
    return row->inferred && in->nranks > 1 && (size_t)row->seen == in->nranks && (size_t)in->world < 2 * in->nranks;
}

/* Returns the number of ranks of a group; 0: unknown. */
static size_t group_size_of(const tl_untraced_ranks_input *in, const tl_group_row *row)
{
    return is_whole_job(in, row) ? (size_t)in->world : row->size > 0 && !row->inferred ? (size_t)row->size : 0;
}

/* Lists the untraced ranks of a group in *room, which is reallocated; returns their number. */
static size_t untraced_of_group(const tl_untraced_ranks_input *in, const tl_group_row *row, int32_t **room)
{
    size_t size = group_size_of(in, row), kept = 0, n = 0;
    *room = tl_realloc(*room, (size + 1) * sizeof **room);
    if (is_whole_job(in, row))
        for (; n < size; n++)
            (*room)[n] = (int32_t)n;
    else if (size > 0)
        n = tl_ranks_of_text(row->ranks, sizeof row->ranks, *room, size);
    for (size_t i = 0; n == size && i < n; i++)
        if (!has_trace(in, (*room)[i]))
            (*room)[kept++] = (*room)[i];
    return kept;
}

/* Fills ranks: the untraced members of all groups, and untraced point-to-point peers. */
static void list_ranks(tl_untraced_ranks *a, int32_t **room)
{
    TL_VEC(int32_t) all = { 0 };
    for (size_t i = 0; i < a->in->groups->n; i++) {
        size_t n = untraced_of_group(a->in, tl_table_row(a->in->groups, i), room);
        for (size_t k = 0; k < n; k++)
            tl_vec_push(&all, (*room)[k]);
    }
    for (size_t i = 0; i < a->in->nrows; i++)
        if (a->in->rows[i].peer >= 0 && !has_trace(a->in, a->in->rows[i].peer))
            tl_vec_push(&all, a->in->rows[i].peer);
    tl_int_sort(all.v, all.n);
    for (size_t i = 0; i < all.n; i++)
        if (a->n == 0 || all.v[i] != all.v[a->n - 1])
            all.v[a->n++] = all.v[i];
    a->ranks = all.v;
}

static void list_members(tl_untraced_ranks *a, int32_t **room)
{
    const tl_group_row *rows = tl_table_row(a->in->groups, 0);
    TL_VEC(uint32_t) members = { 0 };
    for (size_t i = 0; i < a->in->groups->n; i++)
        if (rows[i].group >= 0 && (size_t)rows[i].group >= a->ngroups)
            a->ngroups = (size_t)rows[i].group + 1;
    a->groups = tl_calloc(a->ngroups + 1, sizeof *a->groups);
    for (size_t i = 0; i < a->in->groups->n; i++) {
        const tl_group_row *row = &rows[i];
        size_t size = group_size_of(a->in, row);
        if (row->group < 0 || size == 0) /* a group may have further rows, with counts alone */
            continue;
        size_t n = untraced_of_group(a->in, row, room);
        size_t length = strnlen(row->description, sizeof row->description);
        uint64_t sort = length > 0 ? tl_hash_bytes(row->description, length) : row->parallelism;
        a->groups[row->group] = (tl_untraced_group){ (uint32_t)members.n, (uint32_t)n, sort, size };
        for (size_t k = 0; k < n; k++)
            tl_vec_push(&members, (uint32_t)tl_index_of(a->ranks, a->n, (*room)[k]));
    }
    a->members = members.v;
}

static void find_peers(tl_untraced_ranks *a)
{
    enum { NONE = -1, SEVERAL = -2 };
    a->peer = tl_malloc((a->in->nranks + 1) * sizeof *a->peer);
    for (size_t r = 0; r <= a->in->nranks; r++)
        a->peer[r] = NONE;
    for (size_t i = 0; i < a->in->nrows; i++) {
        const tl_late_row *row = &a->in->rows[i];
        int32_t *peer = &a->peer[tl_untraced_ranks_number(a, row)];
        if (row->peer >= 0 && !has_trace(a->in, row->peer)) /* peer[nranks]: of untraced ranks */
            *peer = *peer == NONE || *peer == row->peer ? row->peer : SEVERAL;
    }
}

uint32_t tl_untraced_ranks_number(const tl_untraced_ranks *a, const tl_late_row *row)
{
    return (uint32_t)tl_index_of(a->in->ranks, a->in->nranks, row->rank);
}

/* A batch of sends and receives names no peer: the rank's only untraced peer stands in. */
int32_t tl_untraced_ranks_peer(const tl_untraced_ranks *a, const tl_late_row *row)
{
    size_t r = tl_untraced_ranks_number(a, row);
    bool unnamed = row->peer < 0 && tl_is_point_to_point((tl_collective)row->kind);
    return unnamed && r < a->in->nranks && a->peer[r] >= 0 ? a->peer[r] : row->peer;
}

const tl_untraced_group *tl_untraced_ranks_group(const tl_untraced_ranks *a, const tl_late_row *row)
{
    return row->group >= 0 && (size_t)row->group < a->ngroups ? &a->groups[row->group] : NULL;
}

const uint32_t *tl_untraced_ranks_of(const tl_untraced_ranks *a, const tl_late_row *row, uint32_t *one, size_t *n)
{
    *n = 0;
    if (a->n == 0)
        return NULL;
    int32_t peer = tl_untraced_ranks_peer(a, row);
    if (peer >= 0) {
        size_t at = tl_index_of(a->ranks, a->n, peer);
        *one = (uint32_t)at;
        *n = at < a->n;
        return one;
    }
    const tl_untraced_group *group = tl_untraced_ranks_group(a, row);
    *n = group != NULL ? group->n : 0;
    return group != NULL ? a->members + group->first : NULL;
}

size_t tl_untraced_ranks_count(const tl_untraced_ranks *a, const tl_late_row *row)
{
    uint32_t one;
    size_t n;
    tl_untraced_ranks_of(a, row, &one, &n);
    return n;
}

size_t tl_untraced_ranks_members(const tl_untraced_ranks *a, const tl_late_row *row, size_t nrows)
{
    const tl_untraced_group *group = tl_untraced_ranks_group(a, row);
    bool known = group != NULL && group->size > 0 && !tl_is_point_to_point((tl_collective)row->kind);
    return known ? group->size : nrows + tl_untraced_ranks_count(a, row);
}

uint64_t tl_untraced_ranks_kind(const tl_untraced_ranks *a, const tl_late_row *row, size_t nrows)
{
    bool between_two = tl_is_point_to_point((tl_collective)row->kind); /* a send, a receive: one kind */
    return tl_hash_mix(between_two ? TL_SEND_RECV : row->kind, tl_untraced_ranks_members(a, row, nrows));
}

void tl_untraced_ranks_make(const tl_untraced_ranks_input *in, tl_untraced_ranks *out)
{
    *out = (tl_untraced_ranks){ .in = in };
    if (in->groups == NULL)
        return;
    int32_t *room = NULL;
    list_ranks(out, &room);
    list_members(out, &room);
    find_peers(out);
    free(room);
    if (out->n > 0)
        untraced_ranks_find_roles(out);
}

void tl_untraced_ranks_free(tl_untraced_ranks *a)
{
    free(a->ranks);
    free(a->groups);
    free(a->members);
    free(a->peer);
    free(a->role);
}
