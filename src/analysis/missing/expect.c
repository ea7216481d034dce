/* expect.c - when a rank without a trace would have come, had it done what those do that have one.
 *
 *     rank 0    [ p ]====work====[ m ]         the first p and the first m of a step
 *     rank 1    [ p ]===work===  [ m ]
 *     absent    [ p ]- - - - - ->[ m ]         as long after p as these were
 *
 * Ranks do the same if they have a group of collectives in common that is smaller than the job, themselves or through others, and
 * talk to the same sides; without such groups all that talk to the same sides.  Collectives are the same if they are the same one in
 * turn of those of the step that are alike: of a kind and number of members, for the same, to the same side and the same way.  Their
 * sizes may differ.
 */
#include "parts.h"
#include "tlmpi/base/components.h"
#include "tlmpi/base/quantile.h"
#include "tlmpi/base/sort.h"
#include "tlmpi/base/stats.h"
#include <stdlib.h>

struct tl_expecting {
    const tl_absentees *absentees;
    const tl_missing_input *in;
    uint32_t *role;     /* by rank, those without a trace behind the others */
    uint32_t *first;    /* by role: the lowest rank that has a trace; TL_NONE */
    uint32_t *next;     /* by rank: the next of its role */
    int64_t *came_ns;   /* by row: when its rank came, and when ... */
    int64_t *done_ns;   /* ... the collective was done by whoever was first; both less what the rank has waited until then */
    tl_map row_of;      /* by rank, step and turn */
    tl_map row_in;      /* by rank and collective */
    tl_map turns;       /* by rank, step and what is alike: how many there have been */
    tl_map known;       /* by role and both collectives: one of ... */
    TL_VEC(int64_t) after;
    int64_t *scratch;   /* [ranks] */
};

static uint64_t key_of(uint32_t rank, int32_t step, uint64_t turn)
{
    return tl_hash_mix(tl_hash_mix(rank, (uint32_t)step), turn);
}

/* Of what goes between two ranks, whether the other one is above it, and which way it goes; who has no trace is the other end of
 * somebody else's. */
static uint64_t side_of(const tl_expecting *x, uint32_t rank, const tl_late_row *row)
{
    bool traced = rank < x->in->nranks, above = tl_absentees_peer(x->absentees, row) > row->rank;
    uint8_t other = row->own_kind == TL_SEND ? TL_RECV : row->own_kind == TL_RECV ? TL_SEND : row->own_kind;
    return tl_hash_mix(traced ? above : !above, traced ? row->own_kind : other);
}

bool tl_expect_next(tl_expecting *x, uint32_t rank, const tl_late_row *row, size_t nrows, tl_turn *out)
{
    uint64_t like = tl_absentees_kind(x->absentees, row, nrows);
    like = tl_hash_mix(like, tl_absentees_peer(x->absentees, row) >= 0 ? side_of(x, rank, row) : tl_absentees_sort_of(x->absentees, row));
    uint64_t key = key_of(rank, row->step, like);
    uint32_t turn = tl_map_get(&x->turns, key);
    turn = turn == TL_MAP_NONE ? 0 : turn;
    *out = (tl_turn){ tl_hash_mix(like, turn), row->collective, row->step };
    return tl_map_put(&x->turns, key, turn + 1) == 0;
}

/* ------------------------------------------------------------------------------------------------------------- roles */

/* To ranks above it, below it, both, or neither. */
enum { UP = 1, DOWN = 2, TALKS = (UP | DOWN) + 1 };

typedef struct joining_roles {
    tl_expecting *x;
    uint8_t *talks;  /* by rank */
    uint32_t *votes; /* [without a trace * TALKS] */
    tl_map first;    /* by group and whom they talk to: a rank */
    size_t nranks;
} joining_roles;

static uint32_t rank_of(const tl_expecting *x, const tl_late_row *row)
{
    return (uint32_t)tl_index_of(x->in->ranks, x->in->nranks, row->rank);
}

static void list_talks(joining_roles *r)
{
    const tl_missing_input *in = r->x->in;
    for (size_t i = 0; i < in->nrows; i++) {
        const tl_late_row *row = &in->rows[i];
        uint32_t rank = rank_of(r->x, row), one;
        size_t n;
        if (row->peer < 0 || row->peer == row->rank || rank == in->nranks)
            continue;
        r->talks[rank] |= row->peer > row->rank ? UP : DOWN;
        const uint32_t *absent = tl_absentees_of(r->x->absentees, row, &one, &n);
        if (n == 1)
            r->talks[in->nranks + absent[0]] |= row->peer > row->rank ? DOWN : UP;
    }
}

static bool join_rank(joining_roles *r, int32_t group, uint32_t rank)
{
    uint64_t key = tl_hash_mix((uint32_t)group, r->talks[rank]);
    uint32_t first = tl_map_get(&r->first, key);
    if (first != TL_MAP_NONE)
        tl_components_join(r->x->role, first, rank);
    return first != TL_MAP_NONE || tl_map_put(&r->first, key, rank) == 0;
}

/* What is done to the ranks of one group: rows [from, to), and those without a trace. */
typedef bool of_group(joining_roles *r, size_t from, size_t to, const uint32_t *absent, size_t n);

/* Those that have no trace may talk to others that have none either: ranks that they meet vote. */
static bool vote(joining_roles *r, size_t from, size_t to, const uint32_t *absent, size_t n)
{
    for (size_t i = from; n > 0 && i < to; i++) {
        uint32_t rank = rank_of(r->x, &r->x->in->rows[i]);
        for (size_t k = 0; rank < r->x->in->nranks && k < n; k++)
            r->votes[absent[k] * TALKS + r->talks[rank]]++;
    }
    return true;
}

/* As most do of those who talk to all whom it is known to talk to. */
static void settle(joining_roles *r)
{
    for (size_t i = r->x->in->nranks; i < r->nranks; i++) {
        const uint32_t *votes = r->votes + (i - r->x->in->nranks) * TALKS;
        uint8_t known = r->talks[i];
        for (int talks = 0; talks < TALKS; talks++)
            if ((talks & known) == known && votes[talks] > votes[r->talks[i]])
                r->talks[i] = (uint8_t)talks;
    }
}

static bool join_group(joining_roles *r, size_t from, size_t to, const uint32_t *absent, size_t n)
{
    const tl_missing_input *in = r->x->in;
    bool ok = true;
    for (size_t i = from; ok && i < to; i++)
        ok = rank_of(r->x, &in->rows[i]) == in->nranks || join_rank(r, in->rows[i].group, rank_of(r->x, &in->rows[i]));
    for (size_t i = 0; ok && i < n; i++)
        ok = join_rank(r, in->rows[from].group, (uint32_t)in->nranks + absent[i]);
    return ok;
}

/* Of all collectives, or of those of fewer ranks than the job has; *any: there are such. */
static bool for_groups(joining_roles *r, of_group *what, bool smaller, bool *any)
{
    const tl_missing_input *in = r->x->in;
    bool ok = true;
    for (size_t i = 0, to; ok && i < in->nrows; i = to) {
        const tl_late_row *row = &in->rows[i];
        uint32_t one;
        size_t n;
        for (to = i; to < in->nrows && in->rows[to].collective == row->collective; to++)
            ;
        const uint32_t *absent = tl_absentees_of(r->x->absentees, row, &one, &n);
        size_t members = tl_absentees_members(r->x->absentees, row, to - i);
        if (row->group < 0 || tl_is_point_to_point((tl_collective)row->kind) || members < 2 || (smaller && members == r->nranks))
            continue;
        *any = true;
        ok = what(r, i, to, absent, n);
    }
    return ok;
}

static bool find_roles(tl_expecting *x, size_t nranks)
{
    joining_roles r = { .x = x, .nranks = nranks };
    r.talks = tl_calloc(nranks + 1, sizeof *r.talks);
    r.votes = tl_calloc((nranks - x->in->nranks) * TALKS + 1, sizeof *r.votes);
    bool any = false, ok = r.talks != NULL && r.votes != NULL;
    for (uint32_t i = 0; ok && i < nranks; i++)
        x->role[i] = i;
    if (ok) {
        list_talks(&r);
        for_groups(&r, vote, true, &any);
        settle(&r);
        ok = for_groups(&r, join_group, any, &any);
    }
    for (uint32_t i = 0; ok && i < nranks; i++)
        x->role[i] = tl_component_of(x->role, i);
    for (uint32_t i = 0; ok && i < nranks; i++)
        x->first[i] = TL_NONE;
    for (uint32_t i = (uint32_t)x->in->nranks; ok && i-- > 0;) {
        x->next[i] = x->first[x->role[i]];
        x->first[x->role[i]] = i;
    }
    free(r.talks);
    free(r.votes);
    tl_map_free(&r.first);
    return ok;
}

/* -------------------------------------------------------------------------------------------------------------- rows */

static bool list_turns(tl_expecting *x)
{
    const tl_late_row *rows = x->in->rows;
    bool ok = true;
    for (size_t i = 0, to; ok && i < x->in->nrows; i = to) {
        for (to = i; to < x->in->nrows && rows[to].collective == rows[i].collective; to++)
            ;
        for (size_t k = i; ok && k < to; k++) {
            uint32_t rank = rank_of(x, &rows[k]);
            tl_turn turn;
            ok = rank == x->in->nranks || (tl_expect_next(x, rank, &rows[k], to - i, &turn) &&
                                           tl_map_put(&x->row_of, key_of(rank, turn.step, turn.what), (uint32_t)k) == 0 &&
                                           tl_map_put(&x->row_in, tl_hash_mix(rank, (uint64_t)turn.collective), (uint32_t)k) == 0);
        }
    }
    return ok;
}

static int by_rank(const void *context, uint32_t a, uint32_t b)
{
    const tl_late_row *rows = context, *x = &rows[a], *y = &rows[b];
    if (x->rank != y->rank)
        return TL_COMPARE(x->rank, y->rank);
    return x->start_ns != y->start_ns ? TL_COMPARE(x->start_ns, y->start_ns) : TL_COMPARE(a, b);
}

/* last_ns: by row, the last arrival.  Who waits in two at once waits once. */
static void take_off_waits(tl_expecting *x, const uint32_t *order, const int64_t *last_ns)
{
    const tl_late_row *rows = x->in->rows;
    int64_t waited = 0, until = INT64_MIN;
    for (size_t i = 0; i < x->in->nrows; i++) {
        const tl_late_row *row = &rows[order[i]];
        int64_t end = tl_ns_min(last_ns[order[i]], row->end_ns);
        if (i == 0 || rows[order[i - 1]].rank != row->rank) {
            waited = 0;
            until = INT64_MIN;
        }
        x->came_ns[order[i]] = tl_ns_between(row->start_ns, waited);
        waited = tl_ns_sum(waited, tl_ns_max(0, tl_ns_between(end, tl_ns_max(row->start_ns, until))));
        until = tl_ns_max(until, end);
        x->done_ns[order[i]] = tl_ns_between(x->done_ns[order[i]], waited);
    }
}

static bool list_times(tl_expecting *x)
{
    const tl_late_row *rows = x->in->rows;
    uint32_t *order = tl_malloc((x->in->nrows + 1) * sizeof *order);
    int64_t *last_ns = tl_malloc((x->in->nrows + 1) * sizeof *last_ns);
    bool ok = order != NULL && last_ns != NULL;
    for (size_t i = 0, to; ok && i < x->in->nrows; i = to) {
        int64_t done = INT64_MAX, last = INT64_MIN;
        for (to = i; to < x->in->nrows && rows[to].collective == rows[i].collective; to++) {
            done = tl_ns_min(done, rows[to].end_ns);
            last = tl_ns_max(last, rows[to].start_ns);
        }
        for (; i < to; i++) {
            order[i] = (uint32_t)i;
            x->done_ns[i] = done;
            last_ns[i] = last;
        }
    }
    ok = ok && tl_sort_index(order, x->in->nrows, by_rank, rows);
    if (ok)
        take_off_waits(x, order, last_ns);
    free(order);
    free(last_ns);
    return ok;
}

tl_expecting *tl_expecting_new(const tl_missing_input *in, const tl_absentees *absentees)
{
    size_t nranks = in->nranks + tl_absentees_all(absentees);
    tl_expecting *x = tl_calloc(1, sizeof *x);
    if (x == NULL)
        return NULL;
    *x = (tl_expecting){ .absentees = absentees,
                         .in = in,
                         .role = tl_malloc((nranks + 1) * sizeof *x->role),
                         .first = tl_malloc((nranks + 1) * sizeof *x->first),
                         .next = tl_malloc((in->nranks + 1) * sizeof *x->next),
                         .came_ns = tl_malloc((in->nrows + 1) * sizeof *x->came_ns),
                         .done_ns = tl_malloc((in->nrows + 1) * sizeof *x->done_ns),
                         .scratch = tl_malloc((in->nranks + 1) * sizeof *x->scratch) };
    if (x->role != NULL && x->first != NULL && x->next != NULL && x->came_ns != NULL && x->done_ns != NULL && x->scratch != NULL &&
        find_roles(x, nranks) && list_turns(x) && list_times(x))
        return x;
    tl_expecting_free(x);
    return NULL;
}

void tl_expecting_free(tl_expecting *x)
{
    if (x == NULL)
        return;
    free(x->role);
    free(x->first);
    free(x->next);
    free(x->came_ns);
    free(x->done_ns);
    free(x->after.v);
    free(x->scratch);
    tl_map_free(&x->row_of);
    tl_map_free(&x->row_in);
    tl_map_free(&x->turns);
    tl_map_free(&x->known);
    free(x);
}

/* ------------------------------------------------------------------------------------------------------------- after */

static uint32_t row_in(const tl_expecting *x, uint32_t rank, tl_turn turn)
{
    return tl_map_get(&x->row_in, tl_hash_mix(rank, (uint64_t)turn.collective));
}

static uint32_t row_of(const tl_expecting *x, uint32_t rank, tl_turn turn)
{
    return tl_map_get(&x->row_of, key_of(rank, turn.step, turn.what));
}

static int64_t usual_after(tl_expecting *x, uint32_t role, tl_turn from, tl_turn to)
{
    size_t n = 0;
    for (uint32_t r = x->first[role]; r != TL_NONE; r = x->next[r]) {
        uint32_t p = row_in(x, r, from), m = row_in(x, r, to);
        if (p == TL_MAP_NONE || m == TL_MAP_NONE) { /* not in these two: in those of their turns */
            p = row_of(x, r, from);
            m = row_of(x, r, to);
        }
        if (p != TL_MAP_NONE && m != TL_MAP_NONE)
            x->scratch[n++] = tl_ns_between(x->came_ns[m], x->done_ns[p]);
    }
    return n > 0 ? tl_lower_median(x->scratch, n) : TL_UNEXPECTED;
}

bool tl_expect_after(tl_expecting *x, uint32_t rank, tl_turn from, tl_turn to, int64_t *after_ns)
{
    uint32_t role = x->role[rank];
    uint64_t key = tl_hash_mix(tl_hash_mix(role, (uint64_t)from.collective), (uint64_t)to.collective);
    uint32_t known = tl_map_get(&x->known, key);
    if (known == TL_MAP_NONE) {
        known = (uint32_t)x->after.n;
        if (!tl_vec_room(&x->after) || tl_map_put(&x->known, key, known) != 0)
            return false;
        x->after.v[x->after.n++] = usual_after(x, role, from, to);
    }
    *after_ns = x->after.v[known];
    return true;
}

bool tl_expect_like(tl_expecting *x, uint32_t rank, tl_turn from, const tl_late_row *rows, size_t n)
{
    bool like = false;
    for (size_t i = 0; !like && i < n; i++) {
        uint32_t other = rank_of(x, &rows[i]);
        like = other < x->in->nranks && x->role[other] == x->role[rank] &&
               row_in(x, other, from) != TL_MAP_NONE;
    }
    return like;
}
