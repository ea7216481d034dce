/* arrivals.c - estimates when untraced ranks arrived at collectives.
 *
 *     rank 0, traced      [ wait          | transfer ]    The last rank arrived the typical transfer time of such
 *     rank 1, untraced                    [ transfer ]    collectives before the end.
 *
 * The typical transfer time is the median over collectives of the same kind and size whose ranks are all traced; if
 * there are none, the lower quartile over all of the class, since a late untraced rank makes a transfer look longer.
 * For unknown sizes it is the upper quartile, since most messages may be small; where all ranks of a collective have
 * one size, it is at most the typical time of the collectives at the same position in each step.  A collective of
 * variable size may take as long as the longest completely traced one.
 *
 * The expected arrival of an untraced rank is the end of an earlier collective plus the time that traced ranks of the
 * same role take from there (expect.c).  If a transfer takes longer than is typical, either the transfer is slow or
 * the untraced rank that was expected last is late:
 *
 *     expected arrival  last traced arrival        end - typical transfer time
 *        |<---- early ---->|<-------- longer -------->|            late if longer >= early
 */
#include "internal.h"
#include "tlmpi/base/group.h"
#include "tlmpi/base/quantile.h"
#include "tlmpi/base/stats.h"
#include "tlmpi/model/parameters.h"
#include <stdlib.h>

/* The transfer time of one collective, ns: first end minus last traced arrival. */
typedef struct transfer {
    uint64_t class;
    int64_t ns;
    bool incomplete, sized; /* some member is untraced; the message size is known */
} transfer;

/* The typical transfer time of one class of collectives. */
typedef struct typical {
    uint64_t class;
    int64_t ns;
    int64_t most_ns; /* longest transfer time without a late rank */
} typical;

typedef TL_VEC(tl_untraced_meeting) seen_list;

#define UNEXPECTED INT64_MIN

/* An untraced member of the collective at hand: its meeting there, and its expected arrival. */
typedef struct arriving {
    uint32_t untraced;
    const tl_untraced_meeting *own;
    const tl_untraced_meeting *last; /* latest meeting done before the transfer began */
    int64_t expected_ns;             /* UNEXPECTED */
} arriving;

struct tl_untraced_arrivals {
    const tl_untraced_ranks_input *in;
    tl_untraced_ranks untraced;
    tl_expectation *expectation;
    seen_list *met;                         /* by untraced rank: its meetings, ascending by end */
    arriving *arriving;                     /* scratch, by untraced rank */
    tl_inter_collective_path_list expected; /* paths to the meetings of all untraced ranks */
    TL_VEC(tl_arrival_source) from;
    typical *typical; /* [ntypical] ascending by class */
    size_t ntypical;
    tl_map least_of; /* own_class_of -> index of least_ns, the shortest transfer */
    TL_VEC(int64_t) least_ns;
};

/* -------------------------------------------------------------------------------------------------------- transfers */

TL_SORT_BY(by_class, transfer, class, incomplete, ns)

/* Returns the typical and the longest time of the transfers v[n] of one class, which are sorted by_class. */
static typical typical_of(const transfer *v, size_t n)
{
    size_t complete = 0;
    while (complete < n && !v[complete].incomplete)
        complete++;
    size_t usual = !v->sized      ? tl_upper_quarter(complete > 0 ? complete : n)
                   : complete > 0 ? tl_lower_middle(complete)
                                  : tl_lower_quarter(n);
    bool shown = complete >= TL_MEDIAN_LEAST; /* else the sizes of a class differ by a factor of 2 */
    return (typical){ v->class, v[usual].ns, shown ? v[complete - 1].ns : 2 * v[usual].ns };
}

/* Whether message sizes may differ within the row's class: in kinds that a rank may leave before all have arrived, and
 * where the size is unknown. */
static bool has_variable_size(const tl_late_row *row)
{
    return tl_is_loose_of_group((tl_collective)row->kind) || row->bytes <= 0;
}

/* Whether the row's size is unknown, but taken to be the same at one position of every step. */
static bool has_turn(const tl_late_row *row)
{
    return row->bytes <= 0 && !tl_is_loose_of_group((tl_collective)row->kind);
}

static uint64_t class_of(const tl_untraced_arrivals *a, const tl_late_row *row, size_t nrows)
{
    int64_t bytes = row->bytes, class = 1;
    while (has_variable_size(row) && class <= bytes / 2)
        class *= 2;
    return tl_hash_mix(tl_untraced_ranks_kind(&a->untraced, row, nrows),
                       (uint64_t)(has_variable_size(row) && bytes > 0 ? class : bytes));
}

/* Returns the hash of class_of and of the communicating ranks. */
static uint64_t own_class_of(const tl_untraced_arrivals *a, const tl_late_row *row, size_t nrows)
{
    uint64_t own = tl_hash_mix(class_of(a, row, nrows), (uint32_t)row->group);
    return tl_is_point_to_point((tl_collective)row->kind) ? tl_hash_mix(own, (uint32_t)row->rank) : own;
}

static void update_least_transfer(tl_untraced_arrivals *a, uint64_t own, int64_t ns)
{
    uint32_t at = tl_map_get(&a->least_of, own);
    if (at != TL_MAP_NONE) {
        a->least_ns.v[at] = tl_ns_min(a->least_ns.v[at], ns);
        return;
    }
    tl_map_put(&a->least_of, own, (uint32_t)a->least_ns.n);
    tl_vec_push(&a->least_ns, ns);
}

static void list_typical(tl_untraced_arrivals *a)
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
        update_least_transfer(a, own_class_of(a, &rows[i], to - i), t.ns);
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
        list_typical(a);
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

/* Returns the typical transfer time of a class. */
static const typical *typical_like(const tl_untraced_arrivals *a, uint64_t class)
{
    size_t at = 0;
    TL_BISECT(at, a->ntypical, mid, a->typical[mid].class < class);
    return &a->typical[at];
}

/* Returns the last arrival, ns, if the transfer took the shortest time measured for its class between the same
 * ranks. */
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

TL_SORT_BY(by_end, tl_untraced_meeting, done_ns, meeting)

void tl_untraced_arrivals_expect(tl_untraced_arrivals *a, const tl_inter_collective_paths *paths)
{
    for (size_t r = 0; r < a->untraced.n; r++) {
        seen_list *met = &a->met[r];
        if (met->n > 1)
            qsort(met->v, met->n, sizeof *met->v, by_end);
        tl_expect_paths(a->expectation, paths, (uint32_t)(a->in->nranks + r), met->v, met->n, &a->expected);
    }
}

/* Fills a->arriving with the untraced members that had a meeting before at_ns; returns their number. */
static size_t list_arriving(tl_untraced_arrivals *a, const tl_untraced_arrival *c, int64_t at_ns)
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

TL_SORT_BY(by_meeting, tl_arrival_source, meeting, DOWN(after_ns))

/* Fills c->from: one source per meeting, with the longest path from there. */
static void fill_sources(tl_untraced_arrivals *a, tl_untraced_arrival *c)
{
    if (a->from.n > 1)
        qsort(a->from.v, a->from.n, sizeof *a->from.v, by_meeting);
    for (size_t i = 0; i < a->from.n; i++)
        if (c->nfrom == 0 || a->from.v[c->nfrom - 1].meeting != a->from.v[i].meeting)
            a->from.v[c->nfrom++] = a->from.v[i];
    c->from = a->from.v;
}

static void add_source(tl_untraced_arrivals *a, const tl_untraced_meeting *from, int64_t at_ns)
{
    tl_vec_push(&a->from, (tl_arrival_source){ from->meeting, tl_ns_between(at_ns, from->done_ns) });
}

/* Adds a source for each path of one untraced rank; no arrival is later than c->arrived_ns.  last: the rank arrived
 * last, and its lateness is added to each of its paths. */
static void add_path_sources(tl_untraced_arrivals *a, const tl_untraced_arrival *c, const arriving *x, bool last)
{
    uint32_t rank = (uint32_t)(a->in->nranks + x->untraced);
    int64_t later_ns = last ? tl_ns_max(0, tl_ns_between(c->arrived_ns, x->expected_ns)) : 0;
    for (uint32_t w = x->own->first_path; w < x->own->first_path + x->own->npaths; w++) {
        const tl_untraced_meeting *from = &a->met[x->untraced].v[a->expected.v[w].from];
        int64_t came = tl_ns_min(tl_ns_sum(tl_ns_sum(from->done_ns, a->expected.v[w].ns), later_ns), c->arrived_ns);
        if (from->done_ns < c->end_ns &&
            (last || !tl_expect_same_role(a->expectation, rank, from->turn, c->rows, c->nrows)))
            add_source(a, from, came);
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
    size_t n = list_arriving(a, c, at);
    for (size_t i = 0; i < n; i++)
        latest = tl_ns_max(latest, a->arriving[i].expected_ns);
    bool unknown = latest == UNEXPECTED;
    if (unknown) /* arrival no later than the fastest transfer on the same link allows */
        came = tl_ns_min(came, arrival_at_least_transfer(a, c));
    else if (has_variable_size(c->rows)) /* the transfer may be longer than typical, up to most_ns */
        came = tl_ns_min(came, tl_ns_max(latest, c->end_ns - like->most_ns));
    if (has_turn(c->rows))
        came = tl_ns_max(came, c->end_ns - typical_like(a, tl_expect_turn(a->expectation, c->rows).what)->ns);
    int64_t longer = tl_ns_between(came, c->last_ns);
    bool late = n > 0 && longer > TL_CLOCK_ERROR_NS &&
                (unknown ? !has_variable_size(c->rows) : longer >= tl_ns_between(c->last_ns, latest));
    if (late)
        c->arrived_ns = came;
    for (size_t i = 0; i < n; i++) { /* a rank without an expected arrival is charged only if all lack one */
        const arriving *x = &a->arriving[i];
        if (x->expected_ns != UNEXPECTED)
            add_path_sources(a, c, x, late && x->expected_ns == latest);
        else if (late && unknown)
            add_source(a, x->last, came);
    }
    if (late && !unknown && tl_untraced_ranks_count(&a->untraced, c->rows) == 1) {
        c->late_ns = tl_ns_max(0, tl_ns_between(came, latest));
        c->late_rank = a->untraced.ranks[a->arriving[0].untraced];
    }
    fill_sources(a, c);
}
