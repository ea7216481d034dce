/* come.c - when ranks without a trace came to collectives.
 *
 *     rank 0   [ wait          | transfer ]        of a group whose other ranks have no trace: the transfer takes what transfers
 *     rank 1                   [ transfer ]        like it usually do, so one of them came that long before the end
 *
 * Usual is the median of the collectives of the same kind and size of which all ranks are there; without such, the lower quarter of
 * all: where an absent rank comes last it looks longer.
 *
 * An absent rank comes so long after its last meeting as those that do the same (expect.c), and no later than it can have come.
 * A transfer that takes longer than usual does so by itself, or somebody without a trace came late:
 *
 *     expected          last of the others          end less what is usual
 *        |<---- early ---->|<-------- longer -------->|            who was expected last came late if it was not earlier by more
 *                                                                  than the transfer is longer
 */
#include "parts.h"
#include "tlmpi/base/quantile.h"
#include "tlmpi/base/sort.h"
#include "tlmpi/base/stats.h"
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
    tl_turn turn;
    uint32_t meeting;
    int64_t done_ns;
} seen;

typedef TL_VEC(seen) seen_list;

/* An absent rank on its way to a collective. */
typedef struct comer {
    const seen *from;    /* its last meeting */
    int64_t expected_ns; /* TL_UNEXPECTED */
    bool like;           /* one that does the same has come from there, too: that shows what it waits for */
} comer;

struct tl_comers {
    const tl_missing_input *in;
    tl_absentees *absentees;
    tl_expecting *expecting;
    seen_list *met;   /* by absent rank: its meetings */
    size_t nranks;    /* without a trace */
    comer *comers;    /* [nranks] */
    tl_coming_from *from; /* [nranks] */
    usual *usual;     /* ascending by what is alike */
    size_t nusual;
    tl_map least_of;  /* by link and what is alike: one of ... */
    TL_VEC(int64_t) least_ns;
};

/* --------------------------------------------------------------------------------------------------------- transfers */

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

/* What is sent to and fro has another size each time. */
static bool varies(const tl_late_row *row)
{
    return !tl_is_synchronising((tl_collective)row->kind) && !tl_is_point_to_point((tl_collective)row->kind);
}

static uint64_t like_of(const tl_comers *a, const tl_late_row *row, size_t nrows)
{
    int64_t bytes = row->bytes, class = 1;
    while (varies(row) && class <= bytes / 2)
        class *= 2;
    return tl_hash_mix(tl_absentees_kind(a->absentees, row, nrows), (uint64_t)(varies(row) && bytes > 0 ? class : bytes));
}

/* The same between the same ranks. */
static uint64_t own_of(const tl_comers *a, const tl_late_row *row, size_t nrows)
{
    uint64_t own = tl_hash_mix(like_of(a, row, nrows), (uint32_t)row->group);
    return tl_is_point_to_point((tl_collective)row->kind) ? tl_hash_mix(own, (uint32_t)row->rank) : own;
}

static bool add_own(tl_comers *a, uint64_t own, int64_t ns)
{
    uint32_t at = tl_map_get(&a->least_of, own);
    if (at != TL_MAP_NONE) {
        a->least_ns.v[at] = tl_ns_min(a->least_ns.v[at], ns);
        return true;
    }
    if (!tl_vec_room(&a->least_ns) || tl_map_put(&a->least_of, own, (uint32_t)a->least_ns.n) != 0)
        return false;
    a->least_ns.v[a->least_ns.n++] = ns;
    return true;
}

static bool find_usual(tl_comers *a)
{
    const tl_late_row *rows = a->in->rows;
    TL_VEC(transfer) all = { 0 };
    bool ok = true;

    for (size_t i = 0, to; ok && i < a->in->nrows; i = to) {
        transfer t = { .complete = tl_absentees_count(a->absentees, &rows[i]) == 0 };
        int64_t last = INT64_MIN, end = INT64_MAX;
        for (to = i; to < a->in->nrows && rows[to].collective == rows[i].collective; to++) {
            last = tl_ns_max(last, rows[to].start_ns);
            end = tl_ns_min(end, rows[to].end_ns);
        }
        t.like = like_of(a, &rows[i], to - i);
        t.ns = tl_ns_max(0, tl_ns_between(end, last));
        ok = tl_vec_room(&all) && add_own(a, own_of(a, &rows[i], to - i), t.ns);
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

tl_comers *tl_comers_new(const tl_missing_input *in)
{
    tl_comers *a = tl_calloc(1, sizeof *a);
    if (a == NULL)
        return NULL;
    a->in = in;
    a->absentees = tl_absentees_new(in);
    a->nranks = a->absentees != NULL ? tl_absentees_all(a->absentees) : 0;
    a->met = tl_calloc(a->nranks + 1, sizeof *a->met);
    a->comers = tl_malloc((a->nranks + 1) * sizeof *a->comers);
    a->from = tl_malloc((a->nranks + 1) * sizeof *a->from);
    bool ok = a->absentees != NULL && a->met != NULL && a->comers != NULL && a->from != NULL;
    if (ok && a->nranks > 0) {
        a->expecting = tl_expecting_new(in, a->absentees);
        ok = a->expecting != NULL && find_usual(a);
    }
    if (ok)
        return a;
    tl_comers_free(a);
    return NULL;
}

void tl_comers_free(tl_comers *a)
{
    if (a == NULL)
        return;
    for (size_t r = 0; a->met != NULL && r < a->nranks; r++)
        free(a->met[r].v);
    free(a->met);
    free(a->comers);
    free(a->from);
    free(a->usual);
    free(a->least_ns.v);
    tl_map_free(&a->least_of);
    tl_expecting_free(a->expecting);
    tl_absentees_free(a->absentees);
    free(a);
}

size_t tl_comers_count(const tl_comers *a, const tl_late_row *row)
{
    return tl_absentees_count(a->absentees, row);
}

/* ------------------------------------------------------------------------------------------------------------ coming */

/* When the last of them came, if the transfer took what it usually does; ... */
static int64_t came_usually(const tl_comers *a, const tl_coming *c)
{
    size_t at = 0;
    uint64_t like = like_of(a, c->rows, c->nrows);
    TL_BISECT(at, a->nusual, mid, a->usual[mid].like < like);
    return c->end_ns - a->usual[at].ns;
}

/* ... if it took the least that it ever does between these ranks. */
static int64_t came_at_last(const tl_comers *a, const tl_coming *c)
{
    return c->end_ns - a->least_ns.v[tl_map_get(&a->least_of, own_of(a, c->rows, c->nrows))];
}

bool tl_comers_met(tl_comers *a, const tl_coming *c)
{
    uint32_t one;
    size_t n;
    const uint32_t *absent = tl_absentees_of(a->absentees, c->rows, &one, &n);
    for (size_t i = 0; i < n; i++) {
        seen_list *met = &a->met[absent[i]];
        tl_turn turn;
        if (!tl_expect_next(a->expecting, (uint32_t)(a->in->nranks + absent[i]), c->rows, c->nrows, &turn) || !tl_vec_room(met))
            return false;
        met->v[met->n++] = (seen){ turn, c->meeting, c->end_ns };
    }
    return true;
}

static int by_end(const void *x, const void *y)
{
    const seen *a = x, *b = y;
    return a->done_ns != b->done_ns ? TL_COMPARE(a->done_ns, b->done_ns) : TL_COMPARE(a->meeting, b->meeting);
}

void tl_comers_sort(tl_comers *a)
{
    for (size_t r = 0; r < a->nranks; r++)
        if (a->met[r].n > 1)
            qsort(a->met[r].v, a->met[r].n, sizeof *a->met[r].v, by_end);
}

static bool comes_before(const seen *s, const tl_coming *c)
{
    return s->done_ns < c->end_ns || (s->done_ns == c->end_ns && s->meeting < c->meeting);
}

/* The meeting of an absent rank, and the last one that was done before at_ns, if there was any; else NULL. */
static const seen *before(const seen_list *met, const tl_coming *c, int64_t at_ns, const seen **own)
{
    size_t at = 0, last = 0;
    TL_BISECT(at, met->n, mid, comes_before(&met->v[mid], c));
    TL_BISECT(last, met->n, mid, met->v[mid].done_ns < at_ns);
    *own = &met->v[at];
    return last > 0 ? &met->v[last - 1] : NULL;
}

/* Those who have been somewhere before at_ns; how many.  False when memory is out. */
static bool expect(tl_comers *a, const tl_coming *c, int64_t at_ns, size_t *ncomers)
{
    uint32_t one;
    size_t n;
    const uint32_t *absent = tl_absentees_of(a->absentees, c->rows, &one, &n);
    *ncomers = 0;
    for (size_t i = 0; i < n; i++) {
        const seen *own, *last = before(&a->met[absent[i]], c, at_ns, &own);
        int64_t after;
        if (last == NULL)
            continue;
        uint32_t rank = (uint32_t)(a->in->nranks + absent[i]);
        if (!tl_expect_after(a->expecting, rank, last->turn, own->turn, &after))
            return false;
        a->comers[(*ncomers)++] = (comer){ last, after != TL_UNEXPECTED ? tl_ns_sum(last->done_ns, after) : TL_UNEXPECTED,
                                           tl_expect_like(a->expecting, rank, last->turn, c->rows, c->nrows) };
    }
    return true;
}

/* Those of one role often come from one meeting. */
static void add_from(tl_comers *a, tl_coming *c, const seen *from, int64_t at_ns)
{
    const tl_coming_from way = { from->meeting, tl_ns_between(at_ns, from->done_ns) };
    const tl_coming_from *last = c->nfrom > 0 ? &a->from[c->nfrom - 1] : NULL;
    if (last == NULL || last->meeting != way.meeting || last->after_ns != way.after_ns)
        a->from[c->nfrom++] = way;
}

bool tl_comers_come(tl_comers *a, tl_coming *c)
{
    c->came_ns = c->last_ns;
    c->from = a->from;
    c->nfrom = 0;
    if (tl_absentees_count(a->absentees, c->rows) == 0)
        return true;
    size_t n;
    int64_t came = came_usually(a, c), latest = TL_UNEXPECTED;
    if (!expect(a, c, tl_ns_max(came, c->last_ns), &n))
        return false;
    for (size_t i = 0; i < n; i++)
        latest = tl_ns_max(latest, a->comers[i].expected_ns);
    bool unknown = latest == TL_UNEXPECTED;
    if (unknown) /* links differ, and nothing else tells of them */
        came = tl_ns_min(came, came_at_last(a, c));
    else if (varies(c->rows)) /* may take longer by any time */
        came = tl_ns_min(came, latest);
    int64_t longer = tl_ns_between(came, c->last_ns);
    bool late = n > 0 && longer > TL_CLOCK_ERROR_NS && (unknown ? !varies(c->rows) : longer >= tl_ns_between(c->last_ns, latest));
    if (late)
        c->came_ns = came;
    for (size_t i = 0; i < n; i++) { /* of whom nothing is known is late only where all are so */
        int64_t expected = a->comers[i].expected_ns;
        if (late && expected == latest)
            add_from(a, c, a->comers[i].from, came);
        else if (expected != TL_UNEXPECTED && !a->comers[i].like)
            add_from(a, c, a->comers[i].from, tl_ns_min(expected, c->came_ns));
    }
    return true;
}
