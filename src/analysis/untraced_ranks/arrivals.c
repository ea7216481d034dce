/* arrivals.c - when ranks without a trace came to collectives.
 *
 *     rank 0   [ wait          | transfer ]        of a group whose other ranks have no trace: the transfer takes what transfers
 *     rank 1                   [ transfer ]        like it usually do, so one of them came that long before the end
 *
 * The usual time of a transfer is the median over the collectives of the same kind and size whose ranks all have a
 * trace; without such, the lower quarter of all: where an untraced rank comes last the transfer looks longer.  For
 * unknown sizes it is the upper quarter, since most may be small; or, for collectives with one size for all ranks,
 * the usual time of the collectives at the same place in each step, where that is less.  Collectives of changing size
 * take no longer than the longest one whose ranks all have a trace.
 *
 * An untraced rank is expected after each of its meetings by the time that traced ranks of its role take (expect.c),
 * and no later than the end less the usual time.  A transfer that takes longer than usual is slow itself, or a rank
 * without a trace came late:
 *
 *     expected          last of the others          end less what is usual
 *        |<---- early ---->|<-------- longer -------->|            who was expected last came late if it was not earlier by more
 *                                                                  than the transfer is longer
 */
#include "internal.h"
#include "tlmpi/base/group.h"
#include "tlmpi/base/quantile.h"
#include "tlmpi/base/stats.h"
#include "tlmpi/model/parameters.h"
#include <stdlib.h>

/* How long a transfer seems to have taken. */
typedef struct transfer {
    uint64_t class;
    int64_t ns;
    bool incomplete, sized; /* a rank has no trace; the size is known */
} transfer;

/* What transfers that are alike usually take. */
typedef struct typical {
    uint64_t class;
    int64_t ns;
    int64_t most_ns; /* the longest that a transfer takes while no rank is late */
} typical;

typedef TL_VEC(tl_untraced_meeting) seen_list;

#define UNEXPECTED INT64_MIN

/* An untraced rank on its way to a collective. */
typedef struct arriving {
    uint32_t untraced;
    const tl_untraced_meeting *own;
    const tl_untraced_meeting *last; /* the meeting before; NULL */
    int64_t expected_ns;             /* UNEXPECTED */
} arriving;

struct tl_untraced_arrivals {
    const tl_untraced_ranks_input *in;
    tl_untraced_ranks untraced;
    tl_expectation *expectation;
    seen_list *met;                         /* by untraced rank: its meetings */
    arriving *arriving;                     /* scratch, by untraced rank */
    tl_inter_collective_path_list expected; /* the paths of all to their meetings */
    TL_VEC(tl_arrival_source) from;
    typical *typical; /* ascending by what is alike */
    size_t ntypical;
    tl_map least_of; /* by link and class: index of least_ns */
    TL_VEC(int64_t) least_ns;
};

/* -------------------------------------------------------------------------------------------------------- transfers */

static int by_class(const void *x, const void *y)
{
    const transfer *a = x, *b = y;
    return TL_ORDER(a, b, class, incomplete, ns);
}

/* Returns the usual and the longest time of n alike transfers: those whose ranks are all traced first, each
 * ascending. */
static typical typical_of(const transfer *v, size_t n)
{
    size_t complete = 0;
    while (complete < n && !v[complete].incomplete)
        complete++;
    size_t usual = !v->sized      ? tl_upper_quarter(complete > 0 ? complete : n)
                   : complete > 0 ? tl_lower_middle(complete)
                                  : tl_lower_quarter(n);
    bool shown = complete >= (size_t)TL_SPREAD_LEAST;
    return (typical){ v->class, v[usual].ns, shown ? v[complete - 1].ns : TL_TRANSFER_VARIES * v[usual].ns };
}

/* Whether collectives like the row's may differ in size: kinds that ranks may leave early do, and an unknown size
 * may. */
static bool varies(const tl_late_row *row)
{
    return tl_is_loose_of_group((tl_collective)row->kind) || row->bytes <= 0;
}

/* Whether the row's size is taken to be the same at one place of each step, for lack of a known size. */
static bool has_turn(const tl_late_row *row)
{
    return row->bytes <= 0 && !tl_is_loose_of_group((tl_collective)row->kind);
}

static uint64_t class_of(const tl_untraced_arrivals *a, const tl_late_row *row, size_t nrows)
{
    int64_t bytes = row->bytes, class = 1;
    while (varies(row) && class <= bytes / 2)
        class *= 2;
    return tl_hash_mix(tl_untraced_ranks_kind(&a->untraced, row, nrows),
                       (uint64_t)(varies(row) && bytes > 0 ? class : bytes));
}

/* As class_of, but only for transfers between the same ranks. */
static uint64_t own_class_of(const tl_untraced_arrivals *a, const tl_late_row *row, size_t nrows)
{
    uint64_t own = tl_hash_mix(class_of(a, row, nrows), (uint32_t)row->group);
    return tl_is_point_to_point((tl_collective)row->kind) ? tl_hash_mix(own, (uint32_t)row->rank) : own;
}

static void add_own(tl_untraced_arrivals *a, uint64_t own, int64_t ns)
{
    uint32_t at = tl_map_get(&a->least_of, own);
    if (at != TL_MAP_NONE) {
        a->least_ns.v[at] = tl_ns_min(a->least_ns.v[at], ns);
        return;
    }
    tl_map_put(&a->least_of, own, (uint32_t)a->least_ns.n);
    tl_vec_push(&a->least_ns, ns);
}

static void find_typical(tl_untraced_arrivals *a)
{
    const tl_late_row *rows = a->in->rows;
    TL_VEC(transfer) all = { 0 };

    for (size_t i = 0, to; i < a->in->nrows; i = to) {
        transfer t = { .incomplete = tl_untraced_ranks_count(&a->untraced, &rows[i]) > 0, .sized = rows[i].bytes > 0 };
        int64_t last = INT64_MIN, end = INT64_MAX;
        to = tl_late_rows_end(rows, a->in->nrows, i);
        for (size_t k = i; k < to; k++) {
            last = tl_ns_max(last, rows[k].start_ns);
            end = tl_ns_min(end, rows[k].end_ns);
        }
        t.class = class_of(a, &rows[i], to - i);
        t.ns = tl_ns_max(0, tl_ns_between(end, last));
        add_own(a, own_class_of(a, &rows[i], to - i), t.ns);
        tl_vec_push(&all, t);
        if (has_turn(&rows[i]))
            tl_vec_push(&all, (transfer){ tl_expect_turn(a->expectation, &rows[i]).what, t.ns, t.incomplete, true });
    }
    if (all.n > 1)
        qsort(all.v, all.n, sizeof *all.v, by_class);
    a->typical = tl_malloc((all.n + 1) * sizeof *a->typical);
    for (size_t i = 0, to; i < all.n; i = to) {
        for (to = i; to < all.n && all.v[to].class == all.v[i].class; to++)
            ;
        a->typical[a->ntypical++] = typical_of(&all.v[i], to - i);
    }
    free(all.v);
}

/* -------------------------------------------------------------------------------------------------------------- all */

tl_untraced_arrivals *tl_untraced_arrivals_new(const tl_untraced_ranks_input *in)
{
    tl_untraced_arrivals *a = tl_calloc(1, sizeof *a);
    a->in = in;
    tl_untraced_ranks_make(in, &a->untraced);
    a->met = tl_calloc(a->untraced.n + 1, sizeof *a->met);
    a->arriving = tl_malloc((a->untraced.n + 1) * sizeof *a->arriving);
    if (a->untraced.n > 0) {
        a->expectation = tl_expectation_new(&a->untraced);
        find_typical(a);
    }
    return a;
}

void tl_untraced_arrivals_free(tl_untraced_arrivals *a)
{
    for (size_t r = 0; r < a->untraced.n; r++)
        free(a->met[r].v);
    free(a->met);
    free(a->arriving);
    free(a->expected.v);
    free(a->from.v);
    free(a->typical);
    free(a->least_ns.v);
    tl_map_free(&a->least_of);
    tl_expectation_free(a->expectation);
    tl_untraced_ranks_free(&a->untraced);
    free(a);
}

bool tl_untraced_arrivals_any(const tl_untraced_arrivals *a)
{
    return a->untraced.n > 0;
}

bool tl_untraced_arrivals_has_role(const tl_untraced_arrivals *a, uint32_t rank)
{
    return tl_expect_has_role(a->expectation, rank);
}

size_t tl_untraced_arrivals_count(const tl_untraced_arrivals *a, const tl_late_row *row)
{
    return tl_untraced_ranks_count(&a->untraced, row);
}

/* --------------------------------------------------------------------------------------------------------- arrivals */

/* What is usual of a class of transfers. */
static const typical *typical_like(const tl_untraced_arrivals *a, uint64_t class)
{
    size_t at = 0;
    TL_BISECT(at, a->ntypical, mid, a->typical[mid].class < class);
    return &a->typical[at];
}

/* Returns when the last rank came if the transfer took the least time of any like it between these ranks. */
static int64_t arrival_at_least_transfer(const tl_untraced_arrivals *a, const tl_untraced_arrival *c)
{
    return c->end_ns - a->least_ns.v[tl_map_get(&a->least_of, own_class_of(a, c->rows, c->nrows))];
}

void tl_untraced_arrivals_add_collective(tl_untraced_arrivals *a, const tl_untraced_arrival *c)
{
    uint32_t one;
    size_t n;
    const uint32_t *untraced = tl_untraced_ranks_of(&a->untraced, c->rows, &one, &n);
    for (size_t i = 0; i < n; i++) {
        tl_turn turn = tl_expect_next(a->expectation, (uint32_t)a->in->nranks + untraced[i], c->rows, c->nrows);
        tl_vec_push(&a->met[untraced[i]],
                    (tl_untraced_meeting){ .turn = turn, .done_ns = c->end_ns, .meeting = c->meeting });
    }
}

static int by_end(const void *x, const void *y)
{
    return TL_ORDER((const tl_untraced_meeting *)x, (const tl_untraced_meeting *)y, done_ns, meeting);
}

void tl_untraced_arrivals_expect(tl_untraced_arrivals *a, const tl_inter_collective_paths *paths)
{
    for (size_t r = 0; r < a->untraced.n; r++) {
        seen_list *met = &a->met[r];
        if (met->n > 1)
            qsort(met->v, met->n, sizeof *met->v, by_end);
        tl_expect_paths(a->expectation, paths, (uint32_t)(a->in->nranks + r), met->v, met->n, &a->expected);
    }
}

/* Lists the untraced ranks that had a meeting before at_ns, with their expected arrivals; returns their number. */
static size_t expect(tl_untraced_arrivals *a, const tl_untraced_arrival *c, int64_t at_ns)
{
    const tl_untraced_meeting this = { .done_ns = c->end_ns, .meeting = c->meeting };
    uint32_t one;
    size_t n, narriving = 0;
    const uint32_t *untraced = tl_untraced_ranks_of(&a->untraced, c->rows, &one, &n);
    for (size_t i = 0; i < n; i++) {
        const seen_list *met = &a->met[untraced[i]];
        size_t at = 0, last = 0;
        TL_BISECT(at, met->n, mid, by_end(&met->v[mid], &this) < 0);
        TL_BISECT(last, met->n, mid, met->v[mid].done_ns < at_ns);
        if (last == 0)
            continue;
        arriving x = { untraced[i], &met->v[at], &met->v[last - 1], UNEXPECTED };
        for (uint32_t w = x.own->first_path; w < x.own->first_path + x.own->npaths; w++) {
            const tl_inter_collective_path *path = &a->expected.v[w];
            if (path->from_ns < c->end_ns)
                x.expected_ns = tl_ns_max(x.expected_ns, tl_ns_sum(path->from_ns, path->ns));
        }
        a->arriving[narriving++] = x;
    }
    return narriving;
}

static int by_meeting(const void *x, const void *y)
{
    const tl_arrival_source *a = x, *b = y;
    return a->meeting != b->meeting ? TL_COMPARE(a->meeting, b->meeting) : -TL_COMPARE(a->after_ns, b->after_ns);
}

/* Hands out one entry per meeting that ranks come from, by the longest path: ranks of a role often come from the same.
 */
static void hand_out(tl_untraced_arrivals *a, tl_untraced_arrival *c)
{
    if (a->from.n > 1)
        qsort(a->from.v, a->from.n, sizeof *a->from.v, by_meeting);
    for (size_t i = 0; i < a->from.n; i++)
        if (c->nfrom == 0 || a->from.v[c->nfrom - 1].meeting != a->from.v[i].meeting)
            a->from.v[c->nfrom++] = a->from.v[i];
    c->from = a->from.v;
}

static void add_from(tl_untraced_arrivals *a, const tl_untraced_meeting *from, int64_t at_ns)
{
    tl_vec_push(&a->from, (tl_arrival_source){ from->meeting, tl_ns_between(at_ns, from->done_ns) });
}

/* Adds all paths of one untraced rank, none later than c->arrived_ns.  `last`: the rank itself came last, and is as
 * late on each of its paths. */
static void add_paths(tl_untraced_arrivals *a, const tl_untraced_arrival *c, const arriving *x, bool last)
{
    uint32_t rank = (uint32_t)(a->in->nranks + x->untraced);
    int64_t later_ns = last ? tl_ns_max(0, tl_ns_between(c->arrived_ns, x->expected_ns)) : 0;
    for (uint32_t w = x->own->first_path; w < x->own->first_path + x->own->npaths; w++) {
        const tl_untraced_meeting *from = &a->met[x->untraced].v[a->expected.v[w].from];
        int64_t came = tl_ns_min(tl_ns_sum(tl_ns_sum(from->done_ns, a->expected.v[w].ns), later_ns), c->arrived_ns);
        if (from->done_ns < c->end_ns &&
            (last || !tl_expect_same_role(a->expectation, rank, from->turn, c->rows, c->nrows)))
            add_from(a, from, came);
    }
}

void tl_untraced_arrivals_find(tl_untraced_arrivals *a, tl_untraced_arrival *c)
{
    c->arrived_ns = c->last_ns;
    c->from = NULL;
    c->nfrom = 0;
    c->late_ns = 0;
    c->late_rank = -1;
    a->from.n = 0;
    if (tl_untraced_ranks_count(&a->untraced, c->rows) == 0)
        return;
    const typical *like = typical_like(a, class_of(a, c->rows, c->nrows));
    int64_t came = c->end_ns - like->ns, latest = UNEXPECTED, at = tl_ns_max(came, c->last_ns);
    size_t n = expect(a, c, at);
    for (size_t i = 0; i < n; i++)
        latest = tl_ns_max(latest, a->arriving[i].expected_ns);
    bool unknown = latest == UNEXPECTED;
    if (unknown) /* links differ, and nothing else tells of them */
        came = tl_ns_min(came, arrival_at_least_transfer(a, c));
    else if (varies(c->rows)) /* may take longer, but not by any time */
        came = tl_ns_min(came, tl_ns_max(latest, c->end_ns - like->most_ns));
    if (has_turn(c->rows))
        came = tl_ns_max(came, c->end_ns - typical_like(a, tl_expect_turn(a->expectation, c->rows).what)->ns);
    int64_t longer = tl_ns_between(came, c->last_ns);
    bool late = n > 0 && longer > TL_CLOCK_ERROR_NS &&
                (unknown ? !varies(c->rows) : longer >= tl_ns_between(c->last_ns, latest));
    if (late)
        c->arrived_ns = came;
    for (size_t i = 0; i < n; i++) { /* an unexpected rank is charged only if all are */
        const arriving *x = &a->arriving[i];
        if (x->expected_ns != UNEXPECTED)
            add_paths(a, c, x, late && x->expected_ns == latest);
        else if (late && unknown)
            add_from(a, x->last, came);
    }
    if (late && !unknown && tl_untraced_ranks_count(&a->untraced, c->rows) == 1) {
        c->late_ns = tl_ns_max(0, tl_ns_between(came, latest));
        c->late_rank = a->untraced.ranks[a->arriving[0].untraced];
    }
    hand_out(a, c);
}
