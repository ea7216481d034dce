/* untraced_ranks.c - lists the untraced ranks of a job, from process groups and point-to-point peers. */
#include "internal.h"
#include "tlmpi/base/group.h"
#include "tlmpi/model/coll_tables.h"
#include <stdlib.h>
#include <string.h>

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
        tl_untraced_ranks_find_roles(out);
}

void tl_untraced_ranks_free(tl_untraced_ranks *a)
{
    free(a->ranks);
    free(a->groups);
    free(a->members);
    free(a->peer);
    free(a->role);
}
