/* absent.c - ranks that take part in collectives and have no trace: who they are. */
#include "internal.h"
#include "tlmpi/base/sort.h"
#include "tlmpi/model/coll_tables.h"
#include <stdlib.h>
#include <string.h>

typedef TL_VEC(uint32_t) uint32_list;

struct tl_absentees {
    const tl_missing_input *in;
    size_t ngroups;
    size_t *first;     /* [ngroups + 1] by group: where its members begin */
    uint32_t *members; /* absent ranks of all groups, indices of `ranks` */
    uint64_t *sort;    /* by group: what it is for */
    size_t *size;      /* by group: number of its ranks; 0: not known */
    int32_t *ranks;    /* ascending: all absent ranks that are known */
    size_t nranks;
    int32_t *peer; /* by rank that has a trace: the one absent rank that it is known to talk to; -1: none, or several */
};

/* ----------------------------------------------------------------------------------------------------------- groups */

static bool has_trace(const tl_missing_input *in, int32_t rank)
{
    return tl_index_of(in->ranks, in->nranks, rank) < in->nranks;
}

/* Whether an inferred group is of all ranks of the job: all traced ranks are in it, and most ranks have a trace. */
static bool is_of_all(const tl_missing_input *in, const tl_group_row *row)
{
    return row->inferred && in->nranks > 1 && (size_t)row->seen == in->nranks && (size_t)in->world < 2 * in->nranks;
}

/* Returns the number of ranks of a group; 0: not known. */
static size_t size_of(const tl_missing_input *in, const tl_group_row *row)
{
    return is_of_all(in, row) ? (size_t)in->world : row->size > 0 && !row->inferred ? (size_t)row->size : 0;
}

/* The absent ranks of a group, as numbers into out[size]; how many. */
static size_t absent_of_group(const tl_missing_input *in, const tl_group_row *row, int32_t *out)
{
    size_t size = size_of(in, row), kept = 0, n = 0;
    if (is_of_all(in, row))
        for (; n < size; n++)
            out[n] = (int32_t)n;
    else if (size > 0)
        n = tl_ranks_of_text(row->ranks, sizeof row->ranks, out, size);
    for (size_t i = 0; n == size && i < n; i++)
        if (!has_trace(in, out[i]))
            out[kept++] = out[i];
    return kept;
}

static size_t most_members(const tl_missing_input *in)
{
    size_t most = 0;
    for (size_t i = 0; i < in->groups->n; i++) {
        size_t size = size_of(in, tl_table_row(in->groups, i));
        most = size > most ? size : most;
    }
    return most;
}

static void list_ranks(tl_absentees *a, const tl_table *groups, int32_t *room)
{
    TL_VEC(int32_t) all = { 0 };
    for (size_t i = 0; i < groups->n; i++) {
        size_t n = absent_of_group(a->in, tl_table_row(groups, i), room);
        for (size_t k = 0; k < n; k++) {
            tl_vec_room(&all);
            all.v[all.n++] = room[k];
        }
    }
    for (size_t i = 0; i < a->in->nrows; i++) { /* the other ends of what goes between two ranks */
        int32_t peer = a->in->rows[i].peer;
        if (peer < 0 || has_trace(a->in, peer))
            continue;
        tl_vec_room(&all);
        all.v[all.n++] = peer;
    }
    tl_int_sort(all.v, all.n);
    for (size_t i = 0; i < all.n; i++)
        if (a->nranks == 0 || all.v[i] != all.v[a->nranks - 1])
            all.v[a->nranks++] = all.v[i];
    a->ranks = all.v;
}

static int by_group(const void *context, uint32_t x, uint32_t y)
{
    const tl_group_row *a = tl_table_row(context, x), *b = tl_table_row(context, y);
    return TL_COMPARE(a->group, b->group);
}

static void add_members(tl_absentees *a, const tl_group_row *row, int32_t *room, uint32_list *members)
{
    size_t n = absent_of_group(a->in, row, room);
    for (size_t k = 0; k < n; k++) {
        tl_vec_room(members);
        members->v[members->n++] = (uint32_t)tl_index_of(a->ranks, a->nranks, room[k]);
    }
}

static uint64_t sort_of(const tl_group_row *row)
{
    size_t n = strnlen(row->description, sizeof row->description);
    return n > 0 ? tl_hash_bytes(row->description, n) : row->parallelism;
}

static void list_members(tl_absentees *a, const tl_table *groups, int32_t *room)
{
    uint32_list members = { 0 };
    uint32_t *order = tl_malloc((groups->n + 1) * sizeof *order);
    for (uint32_t i = 0; i < groups->n; i++)
        order[i] = i;
    tl_sort_index(order, groups->n, by_group, groups);
    if (groups->n > 0)
        a->ngroups = (size_t)(((const tl_group_row *)tl_table_row(groups, order[groups->n - 1]))->group + 1);
    a->first = tl_calloc(a->ngroups + 2, sizeof *a->first);
    a->sort = tl_calloc(a->ngroups + 1, sizeof *a->sort);
    a->size = tl_calloc(a->ngroups + 1, sizeof *a->size);
    for (size_t i = 0, g = 0; i < groups->n; i++) {
        const tl_group_row *row = tl_table_row(groups, order[i]);
        for (; row->group >= 0 && g <= (size_t)row->group; g++)
            a->first[g] = members.n;
        if (row->group >= 0)
            add_members(a, row, room, &members);
        if (row->group < 0 || size_of(a->in, row) == 0)
            continue;
        a->sort[row->group] = sort_of(row);
        a->size[row->group] = size_of(a->in, row);
    }
    a->first[a->ngroups] = members.n;
    free(order);
    a->members = members.v;
}

enum { NOBODY = -1, SEVERAL = -2 };

static void find_peers(tl_absentees *a)
{
    a->peer = tl_malloc((a->in->nranks + 1) * sizeof *a->peer);
    for (size_t r = 0; r < a->in->nranks; r++)
        a->peer[r] = NOBODY;
    for (size_t i = 0; i < a->in->nrows; i++) {
        const tl_late_row *row = &a->in->rows[i];
        size_t r = tl_index_of(a->in->ranks, a->in->nranks, row->rank);
        if (r < a->in->nranks && row->peer >= 0 && !has_trace(a->in, row->peer))
            a->peer[r] = a->peer[r] == NOBODY || a->peer[r] == row->peer ? row->peer : SEVERAL;
    }
}

/* Returns the row's peer.  Sends and receives launched together name none: then the rank's only untraced peer. */
int32_t tl_absentees_peer(const tl_absentees *a, const tl_late_row *row)
{
    size_t r = tl_index_of(a->in->ranks, a->in->nranks, row->rank);
    bool unnamed = row->peer < 0 && tl_is_point_to_point((tl_collective)row->kind);
    return unnamed && r < a->in->nranks && a->peer != NULL && a->peer[r] >= 0 ? a->peer[r] : row->peer;
}

const uint32_t *tl_absentees_of(const tl_absentees *a, const tl_late_row *row, uint32_t *one, size_t *n)
{
    *n = 0;
    if (a->nranks == 0)
        return NULL;
    int32_t peer = tl_absentees_peer(a, row);
    if (peer >= 0) {
        size_t at = tl_index_of(a->ranks, a->nranks, peer);
        *one = (uint32_t)at;
        *n = at < a->nranks;
        return one;
    }
    if (row->group < 0 || (size_t)row->group >= a->ngroups)
        return NULL;
    *n = a->first[row->group + 1] - a->first[row->group];
    return a->members + a->first[row->group];
}

size_t tl_absentees_members(const tl_absentees *a, const tl_late_row *row, size_t nrows)
{
    bool group = row->group >= 0 && (size_t)row->group < a->ngroups && !tl_is_point_to_point((tl_collective)row->kind);
    return group && a->size[row->group] > 0 ? a->size[row->group] : nrows + tl_absentees_count(a, row);
}

uint64_t tl_absentees_kind(const tl_absentees *a, const tl_late_row *row, size_t nrows)
{
    uint8_t kind =
        tl_is_point_to_point((tl_collective)row->kind) ? TL_SEND_RECV : row->kind; /* one end alone is either */
    return tl_hash_mix(kind, tl_absentees_members(a, row, nrows));
}

uint64_t tl_absentees_sort_of(const tl_absentees *a, const tl_late_row *row)
{
    return row->group >= 0 && (size_t)row->group < a->ngroups ? a->sort[row->group] : 0;
}

size_t tl_absentees_all(const tl_absentees *a)
{
    return a->nranks;
}

int32_t tl_absentees_rank(const tl_absentees *a, uint32_t number)
{
    return a->ranks[number];
}

/* -------------------------------------------------------------------------------------------------------------- all */

tl_absentees *tl_absentees_new(const tl_missing_input *in)
{
    tl_absentees *a = tl_calloc(1, sizeof *a);
    a->in = in;
    if (in->groups == NULL)
        return a;
    int32_t *room = tl_malloc((most_members(in) + 1) * sizeof *room);
    list_ranks(a, in->groups, room);
    list_members(a, in->groups, room);
    find_peers(a);
    free(room);
    return a;
}

void tl_absentees_free(tl_absentees *a)
{
    if (a == NULL)
        return;
    free(a->first);
    free(a->members);
    free(a->sort);
    free(a->size);
    free(a->ranks);
    free(a->peer);
    free(a);
}
