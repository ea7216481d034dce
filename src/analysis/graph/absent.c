/* absent.c - ranks that take part in collectives and have no trace: who they are, and when they came.
 *
 *     rank 0   [ wait          | transfer ]        of a group whose other ranks have no trace: the transfer takes what transfers
 *     rank 1                   [ transfer ]        like it usually do, so one of them came that long before the end
 *
 * Usual is the median of the collectives of the same kind and size of which all ranks are there; without such, the lower quarter of
 * all: where an absent rank comes last it looks longer.
 */
#include "join.h"
#include "tlmpi/base/quantile.h"
#include "tlmpi/base/sort.h"
#include "tlmpi/base/stats.h"
#include "tlmpi/model/coll_tables.h"
#include "tlmpi/model/parameters.h"
#include <stdlib.h>

/* How long a transfer seems to have taken. */
typedef struct transfer {
    uint64_t like;
    int64_t ns;
    bool complete;
} transfer;

/* What transfers that are alike usually take. */
typedef struct usual {
    uint64_t like;
    int64_t ns;
} usual;

typedef struct seen {
    uint32_t meeting;
    int64_t done_ns;
} seen;

typedef TL_VEC(seen) seen_list;
typedef TL_VEC(uint32_t) uint32_list;

struct tl_absentees {
    const tl_graph_input *in;
    size_t ngroups;
    size_t *first;     /* [ngroups + 1] by group: ... */
    uint32_t *members; /* ... its absent ranks, indices of `ranks` */
    int32_t *ranks;    /* ascending: all absent ranks that are known */
    size_t nranks;
    seen_list *met;    /* by absent rank: its meetings */
    usual *usual;      /* ascending by what is alike */
    size_t nusual;
};

/* ------------------------------------------------------------------------------------------------------------ groups */

static bool has_trace(const tl_graph_input *in, int32_t rank)
{
    return tl_index_of(in->ranks, in->nranks, rank) < in->nranks;
}

/* The absent ranks of a group, as numbers into out[size]; how many. */
static size_t absent_of_group(const tl_graph_input *in, const tl_group_row *row, int32_t *out)
{
    size_t size = row->size > 0 && !row->inferred ? (size_t)row->size : 0, kept = 0;
    size_t n = size > 0 ? tl_ranks_of_text(row->ranks, sizeof row->ranks, out, size) : 0;
    for (size_t i = 0; n == size && i < n; i++)
        if (!has_trace(in, out[i]))
            out[kept++] = out[i];
    return kept;
}

static size_t most_members(const tl_table *groups)
{
    size_t most = 0;
    for (size_t i = 0; i < groups->n; i++) {
        const tl_group_row *row = tl_table_row(groups, i);
        most = row->size > 0 && (size_t)row->size > most ? (size_t)row->size : most;
    }
    return most;
}

static bool list_ranks(tl_absentees *a, const tl_table *groups, int32_t *room)
{
    TL_VEC(int32_t) all = { 0 };
    bool ok = true;
    for (size_t i = 0; ok && i < groups->n; i++) {
        size_t n = absent_of_group(a->in, tl_table_row(groups, i), room);
        for (size_t k = 0; ok && k < n; k++) {
            ok = tl_vec_room(&all);
            if (ok)
                all.v[all.n++] = room[k];
        }
    }
    for (size_t i = 0; ok && i < a->in->nrows; i++) { /* the other ends of what goes between two ranks */
        int32_t peer = a->in->rows[i].peer;
        if (peer < 0 || has_trace(a->in, peer))
            continue;
        ok = tl_vec_room(&all);
        if (ok)
            all.v[all.n++] = peer;
    }
    tl_int_sort(all.v, all.n);
    for (size_t i = 0; i < all.n; i++)
        if (a->nranks == 0 || all.v[i] != all.v[a->nranks - 1])
            all.v[a->nranks++] = all.v[i];
    a->ranks = all.v;
    a->met = tl_calloc(a->nranks + 1, sizeof *a->met);
    return ok && a->met != NULL;
}

static int by_group(const void *context, uint32_t x, uint32_t y)
{
    const tl_group_row *a = tl_table_row(context, x), *b = tl_table_row(context, y);
    return TL_COMPARE(a->group, b->group);
}

static bool add_members(tl_absentees *a, const tl_group_row *row, int32_t *room, uint32_list *members)
{
    size_t n = absent_of_group(a->in, row, room);
    for (size_t k = 0; k < n; k++) {
        if (!tl_vec_room(members))
            return false;
        members->v[members->n++] = (uint32_t)tl_index_of(a->ranks, a->nranks, room[k]);
    }
    return true;
}

static bool list_members(tl_absentees *a, const tl_table *groups, int32_t *room)
{
    uint32_list members = { 0 };
    uint32_t *order = tl_malloc((groups->n + 1) * sizeof *order);
    bool ok = order != NULL;
    for (uint32_t i = 0; ok && i < groups->n; i++)
        order[i] = i;
    ok = ok && tl_sort_index(order, groups->n, by_group, groups);
    if (ok && groups->n > 0)
        a->ngroups = (size_t)(((const tl_group_row *)tl_table_row(groups, order[groups->n - 1]))->group + 1);
    a->first = tl_calloc(a->ngroups + 2, sizeof *a->first);
    ok = ok && a->first != NULL;
    for (size_t i = 0, g = 0; ok && i < groups->n; i++) {
        const tl_group_row *row = tl_table_row(groups, order[i]);
        for (; row->group >= 0 && g <= (size_t)row->group; g++)
            a->first[g] = members.n;
        ok = row->group < 0 || add_members(a, row, room, &members);
    }
    if (ok)
        a->first[a->ngroups] = members.n;
    free(order);
    a->members = members.v;
    return ok;
}

/* Who of a collective has no trace; a single other end into *one. */
static const uint32_t *absent_of(const tl_absentees *a, const tl_late_row *row, uint32_t *one, size_t *n)
{
    *n = 0;
    if (a->nranks == 0)
        return NULL;
    if (row->peer >= 0) {
        size_t at = tl_index_of(a->ranks, a->nranks, row->peer);
        *one = (uint32_t)at;
        *n = at < a->nranks;
        return one;
    }
    if (row->group < 0 || (size_t)row->group >= a->ngroups)
        return NULL;
    *n = a->first[row->group + 1] - a->first[row->group];
    return a->members + a->first[row->group];
}

size_t tl_absentees_count(const tl_absentees *a, const tl_late_row *row)
{
    uint32_t one;
    size_t n;
    absent_of(a, row, &one, &n);
    return n;
}

/* --------------------------------------------------------------------------------------------------------- transfers */

static uint64_t like_of(const tl_absentees *a, const tl_late_row *row, size_t nrows)
{
    uint32_t one;
    size_t absent;
    absent_of(a, row, &one, &absent);
    return tl_hash_mix(tl_hash_mix(row->kind, (uint64_t)row->bytes), nrows + absent);
}

static int by_like(const void *x, const void *y)
{
    const transfer *a = x, *b = y;
    if (a->like != b->like)
        return TL_COMPARE(a->like, b->like);
    return a->complete != b->complete ? TL_COMPARE(b->complete, a->complete) : TL_COMPARE(a->ns, b->ns);
}

/* Ascending, whole ones first: what is usual among n alike. */
static int64_t usual_of(const transfer *v, size_t n)
{
    size_t complete = 0;
    while (complete < n && v[complete].complete)
        complete++;
    return complete > 0 ? v[tl_lower_middle(complete)].ns : v[tl_lower_quarter(n)].ns;
}

static bool find_usual(tl_absentees *a)
{
    const tl_late_row *rows = a->in->rows;
    TL_VEC(transfer) all = { 0 };
    bool ok = true;

    for (size_t i = 0, to; ok && i < a->in->nrows; i = to) {
        transfer t = { .complete = tl_absentees_count(a, &rows[i]) == 0 };
        int64_t last = INT64_MIN, end = INT64_MAX;
        for (to = i; to < a->in->nrows && rows[to].collective == rows[i].collective; to++) {
            last = tl_ns_max(last, rows[to].start_ns);
            end = tl_ns_min(end, rows[to].end_ns);
        }
        t.like = like_of(a, &rows[i], to - i);
        t.ns = tl_ns_max(0, tl_ns_between(end, last));
        ok = tl_vec_room(&all);
        if (ok)
            all.v[all.n++] = t;
    }
    if (all.n > 1)
        qsort(all.v, all.n, sizeof *all.v, by_like);
    a->usual = tl_malloc((all.n + 1) * sizeof *a->usual);
    ok = ok && a->usual != NULL;
    for (size_t i = 0, to; ok && i < all.n; i = to) {
        for (to = i; to < all.n && all.v[to].like == all.v[i].like; to++)
            ;
        a->usual[a->nusual++] = (usual){ all.v[i].like, usual_of(&all.v[i], to - i) };
    }
    free(all.v);
    return ok;
}

/* --------------------------------------------------------------------------------------------------------------- all */

tl_absentees *tl_absentees_new(const tl_graph_input *in)
{
    tl_absentees *a = tl_calloc(1, sizeof *a);
    if (a == NULL)
        return NULL;
    a->in = in;
    if (in->groups == NULL)
        return a;
    int32_t *room = tl_malloc((most_members(in->groups) + 1) * sizeof *room);
    bool ok = room != NULL && list_ranks(a, in->groups, room) && list_members(a, in->groups, room) &&
              (a->nranks == 0 || find_usual(a));
    free(room);
    if (ok)
        return a;
    tl_absentees_free(a);
    return NULL;
}

void tl_absentees_free(tl_absentees *a)
{
    if (a == NULL)
        return;
    for (size_t r = 0; a->met != NULL && r < a->nranks; r++)
        free(a->met[r].v);
    free(a->met);
    free(a->first);
    free(a->members);
    free(a->ranks);
    free(a->usual);
    free(a);
}

int64_t tl_absentees_came(const tl_absentees *a, const tl_late_row *row, size_t nrows, int64_t last_ns, int64_t end_ns)
{
    size_t at = 0;
    bool varies = !tl_is_synchronising((tl_collective)row->kind) && !tl_is_point_to_point((tl_collective)row->kind);
    if (tl_absentees_count(a, row) == 0 || (varies && nrows > 1)) /* what is sent to and fro has another size each time */
        return INT64_MIN;
    uint64_t like = like_of(a, row, nrows);
    TL_BISECT(at, a->nusual, mid, a->usual[mid].like < like);
    if (at == a->nusual || a->usual[at].like != like)
        return INT64_MIN;
    int64_t came = end_ns - a->usual[at].ns;
    return came > last_ns + TL_CLOCK_ERROR_NS ? came : INT64_MIN;
}

uint32_t tl_absentees_before(const tl_absentees *a, const tl_late_row *row, size_t i, int64_t at_ns)
{
    uint32_t one;
    size_t n;
    const seen_list *met = &a->met[absent_of(a, row, &one, &n)[i]];
    size_t last = met->n;
    while (last > 0 && met->v[last - 1].done_ns > at_ns)
        last--;
    return last > 0 ? met->v[last - 1].meeting : TL_NONE;
}

bool tl_absentees_met(tl_absentees *a, const tl_late_row *row, uint32_t meeting, int64_t done_ns)
{
    uint32_t one;
    size_t n;
    const uint32_t *absent = absent_of(a, row, &one, &n);
    for (size_t i = 0; i < n; i++) {
        seen_list *met = &a->met[absent[i]];
        if (!tl_vec_room(met))
            return false;
        met->v[met->n++] = (seen){ meeting, done_ns };
    }
    return true;
}
