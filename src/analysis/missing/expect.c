/* expect.c - when a rank without a trace would have come, had it done what those do that have one.
 *
 *     rank 0    [ p ]====work====[ m ]         the first p and the first m of a step
 *     rank 1    [ p ]===work===  [ m ]
 *     absent    [ p ]- - - - - ->[ m ]         as long after p as these were
 *
 * Ranks do the same if they have a group of collectives in common that is smaller than the job, themselves or through others, and
 * talk to the same sides; without such groups all that talk to the same sides.  Collectives are the same if they are the same one in
 * turn of those of the step that are alike: of a kind, size and number of members, for the same, to the same side.
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
    int64_t *done_ns;   /* by row: when its collective was done, by whoever was first */
    tl_map row_of;      /* by rank, step and place */
    tl_map turns;       /* by rank, step and what is alike: how many there have been */
    tl_map known;       /* by role, and steps and places of both: one of ... */
    TL_VEC(int64_t) after;
    int64_t *scratch;   /* [ranks] */
};

static uint64_t key_of(uint32_t rank, int32_t step, uint64_t place)
{
    return tl_hash_mix(tl_hash_mix(rank, (uint32_t)step), place);
}

/* Of what goes between two ranks, whether the other one is above it. */
static uint64_t side_of(const tl_expecting *x, uint32_t rank, const tl_late_row *row)
{
    bool above = row->peer > row->rank;
    return rank < x->in->nranks ? above : !above; /* who has no trace is the other end of somebody else's */
}

bool tl_expect_next(tl_expecting *x, uint32_t rank, const tl_late_row *row, size_t nrows, tl_turn *out)
{
    uint64_t like = tl_absentees_like(x->absentees, row, nrows);
    like = tl_hash_mix(like, row->peer >= 0 ? side_of(x, rank, row) : tl_absentees_sort_of(x->absentees, row));
    uint64_t key = key_of(rank, row->step, like);
    uint32_t turn = tl_map_get(&x->turns, key);
    turn = turn == TL_MAP_NONE ? 0 : turn;
    *out = (tl_turn){ tl_hash_mix(like, turn), row->step };
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
        if (row->group < 0 || row->peer >= 0 || to - i + n < 2 || (smaller && to - i + n == r->nranks))
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

static bool list_rows(tl_expecting *x)
{
    const tl_late_row *rows = x->in->rows;
    bool ok = true;
    for (size_t i = 0, to; ok && i < x->in->nrows; i = to) {
        int64_t done = INT64_MAX;
        for (to = i; to < x->in->nrows && rows[to].collective == rows[i].collective; to++)
            done = rows[to].end_ns < done ? rows[to].end_ns : done;
        for (size_t k = i; ok && k < to; k++) {
            uint32_t rank = rank_of(x, &rows[k]);
            tl_turn place;
            x->done_ns[k] = done;
            ok = rank == x->in->nranks ||
                 (tl_expect_next(x, rank, &rows[k], to - i, &place) &&
                  tl_map_put(&x->row_of, key_of(rank, place.step, place.what), (uint32_t)k) == 0);
        }
    }
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
                         .done_ns = tl_malloc((in->nrows + 1) * sizeof *x->done_ns),
                         .scratch = tl_malloc((in->nranks + 1) * sizeof *x->scratch) };
    if (x->role != NULL && x->first != NULL && x->next != NULL && x->done_ns != NULL && x->scratch != NULL &&
        find_roles(x, nranks) && list_rows(x))
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
    free(x->done_ns);
    free(x->after.v);
    free(x->scratch);
    tl_map_free(&x->row_of);
    tl_map_free(&x->turns);
    tl_map_free(&x->known);
    free(x);
}

/* ------------------------------------------------------------------------------------------------------------- after */

static int64_t usual_after(tl_expecting *x, uint32_t role, tl_turn from, tl_turn to)
{
    size_t n = 0;
    for (uint32_t r = x->first[role]; r != TL_NONE; r = x->next[r]) {
        uint32_t p = tl_map_get(&x->row_of, key_of(r, from.step, from.what));
        uint32_t m = tl_map_get(&x->row_of, key_of(r, to.step, to.what));
        if (p != TL_MAP_NONE && m != TL_MAP_NONE)
            x->scratch[n++] = tl_ns_between(x->in->rows[m].start_ns, x->done_ns[p]);
    }
    return n > 0 ? tl_lower_median(x->scratch, n) : TL_UNEXPECTED;
}

bool tl_expect_after(tl_expecting *x, uint32_t rank, tl_turn from, tl_turn to, int64_t *after_ns)
{
    uint32_t role = x->role[rank];
    uint64_t key = tl_hash_mix(key_of(role, from.step, from.what), key_of(role, to.step, to.what));
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
