/* sends_align.c - which rank is at the other end of a send or receive whose trace tells nothing but that it is one?
 *
 *     rank 0, stream 24   ..[ ]....[ ]....[ ]           the two ends of a message are done at one moment: every message of
 *     rank 1, stream 22   [    ].[    ].[   ]           this stream with one of that
 *     rank 1, stream 24   ......[ ].....[     ].[ ]
 *     rank 2, stream 22   [       ][          ][  ]
 *
 * A row is all such sends and receives of one stream of a rank.  Two rows of different ranks are compared under the
 * distance of their clocks that makes most of their ends agree.  Rows become partners in descending number of agreeing
 * ends; of equals the pair whose ends are nearer each other goes first.  The rest of a row may be partner of a third
 * row, where one stream serves both neighbours.
 *
 * All-to-alls are made of sends and receives, too: there a third rank ends with both.
 */
#include "tlmpi/analysis/match/align.h"
#include "tlmpi/base/hash.h"
#include "tlmpi/base/mem.h"
#include "tlmpi/base/sort.h"
#include "tlmpi/base/stats.h"
#include "tlmpi/model/parameters.h"
#include <stdlib.h>

enum {
    SAMPLES = 64,      /* of a row, by which the distance of two clocks is found */
    DIFFERENCES = 4096, /* of their ends */
    ROWS_MOST = 512     /* rows are compared each with each */
};

/* The items of one stream that go one way: order[from, to), by end; how many have no partner yet. */
typedef struct row {
    int32_t rank, sends;
    size_t from, to, open;
} row;

/* How well the open items of two rows go together. */
typedef struct fit {
    uint32_t a, b;
    int64_t ahead_ns; /* of a's clock against b's, in the middle */
    int64_t apart_ns; /* median distance of ends under one clock */
    size_t n;         /* items that end together */
} fit;

typedef struct aligning {
    tl_pair_item *items;
    uint32_t *order;
    size_t n;
    TL_VEC(row) rows;
    TL_VEC(fit) fits;
    int64_t *scratch; /* [n + DIFFERENCES] */
    size_t *mate;     /* by place of the first row's item: place of the other's, SIZE_MAX */
} aligning;

static int by_row(const void *items, uint32_t a, uint32_t b)
{
    const tl_pair_item *x = (const tl_pair_item *)items + a, *y = (const tl_pair_item *)items + b;
    int order = TL_COMPARE(x->rank, y->rank);
    if (order == 0)
        order = TL_COMPARE(x->group, y->group);
    if (order == 0)
        order = TL_COMPARE(x->sends, y->sends);
    if (order == 0)
        order = TL_COMPARE(x->end_ns, y->end_ns);
    return order != 0 ? order : TL_COMPARE(x->lone, y->lone);
}

static tl_pair_item *at(const aligning *a, size_t i)
{
    return &a->items[a->order[i]];
}

static void list_rows(aligning *a)
{
    for (size_t i = 0; i < a->n; i++) {
        const tl_pair_item *x = at(a, i);
        if (i == 0 || at(a, i - 1)->rank != x->rank || at(a, i - 1)->group != x->group ||
            at(a, i - 1)->sends != x->sends) {
            tl_vec_room(&a->rows);
            a->rows.v[a->rows.n++] = (row){ .rank = x->rank, .sends = x->sends, .from = i };
        }
        row *last = &a->rows.v[a->rows.n - 1];
        last->to = i + 1;
        last->open++;
    }
}

/* The first item of the row that ends at `end_ns` or later. */
static size_t place_of(const aligning *a, const row *r, int64_t end_ns)
{
    size_t low = r->from;
    TL_BISECT(low, r->to, mid, at(a, mid)->end_ns < end_ns);
    return low;
}

static int64_t abs_ns(int64_t a)
{
    return a < 0 ? tl_ns_between(0, a) : a;
}

/* The distance of the clocks under which most ends of some items of r agree with ends of q; false where hardly any do. */
static bool find_ahead(const aligning *a, const row *r, const row *q, int64_t *ahead_ns)
{
    size_t looked = r->to - r->from < SAMPLES ? r->to - r->from : SAMPLES, n = 0, most = 0;
    size_t first = r->from + (r->to - r->from - looked) / 2;
    int64_t *v = a->scratch;

    for (size_t i = first; i < first + looked; i++) {
        int64_t end_ns = at(a, i)->end_ns;
        for (size_t k = place_of(a, q, tl_ns_between(end_ns, TL_SENDS_APART_NS));
             k < q->to && n < DIFFERENCES && tl_ns_between(at(a, k)->end_ns, end_ns) <= TL_SENDS_APART_NS; k++)
            v[n++] = tl_ns_between(end_ns, at(a, k)->end_ns);
    }
    tl_ns_sort(v, n);
    for (size_t i = 0, k = 0; i < n; i++) {
        while (k < n && tl_ns_between(v[k], v[i]) <= TL_CLOCK_ERROR_NS)
            k++;
        int64_t middle_ns = v[i + (k - i - 1) / 2];
        if (k - i > most || (k - i == most && abs_ns(middle_ns) < abs_ns(*ahead_ns))) {
            most = k - i;
            *ahead_ns = middle_ns;
        }
    }
    return most >= (size_t)TL_BEHAVES_LEAST;
}

/* The open item of q that ends nearest to x, less ahead_ns; SIZE_MAX. */
static size_t nearest(const aligning *a, size_t x, const row *q, int64_t ahead_ns)
{
    int64_t end_ns = tl_ns_between(at(a, x)->end_ns, ahead_ns), best_ns = TL_CLOCK_ERROR_NS + 1;
    size_t best = SIZE_MAX;

    for (size_t k = place_of(a, q, tl_ns_between(end_ns, TL_CLOCK_ERROR_NS)); k < q->to; k++) {
        int64_t apart_ns = tl_ns_between(at(a, k)->end_ns, end_ns);
        if (apart_ns > TL_CLOCK_ERROR_NS)
            break;
        if (at(a, k)->key == 0 && abs_ns(apart_ns) < best_ns) {
            best = k;
            best_ns = abs_ns(apart_ns);
        }
    }
    return best;
}

/* Partners of the open items of rows r and q, into mate, outwards from the middle: clocks drift, the distance follows. */
static void match(const aligning *a, fit *f)
{
    const row *r = &a->rows.v[f->a], *q = &a->rows.v[f->b];
    size_t middle = r->from + (r->to - r->from) / 2;

    f->n = 0;
    for (int forward = 0; forward < 2; forward++) {
        int64_t ahead_ns = f->ahead_ns;
        size_t last = SIZE_MAX;
        for (size_t step = 0; step < r->to - r->from; step++) {
            size_t i = forward ? middle + step : middle - 1 - step;
            if (i < r->from || i >= r->to)
                break;
            a->mate[i] = at(a, i)->key == 0 ? nearest(a, i, q, ahead_ns) : SIZE_MAX;
            if (a->mate[i] == SIZE_MAX)
                continue;
            if (a->mate[i] == last) { /* another is with it already */
                a->mate[i] = SIZE_MAX;
                continue;
            }
            last = a->mate[i];
            int64_t apart_ns = tl_ns_between(tl_ns_between(at(a, i)->end_ns, at(a, last)->end_ns), ahead_ns);
            a->scratch[f->n++] = abs_ns(apart_ns);
            ahead_ns += apart_ns / TL_MATCH_DRIFT_PART;
        }
    }
    f->apart_ns = f->n > 0 ? tl_median(a->scratch, f->n) : 0;
}

/* Whether a third rank takes part, so that the two rows exchange no message alone: a row of it ends with most of their
 * pairs, or comes later than both in more than a little part of them.  What is known to be a send has one receiver. */
static bool is_of_more(const aligning *a, const fit *f)
{
    const row *r = &a->rows.v[f->a], *q = &a->rows.v[f->b];
    if (r->sends != 0 || q->sends != 0)
        return false;
    for (size_t t = 0; t < a->rows.n; t++) {
        const row *third = &a->rows.v[t];
        int64_t ahead_ns = 0;
        size_t later = 0, together = 0;
        if (third->rank == r->rank || third->rank == q->rank || !find_ahead(a, r, third, &ahead_ns))
            continue;
        for (size_t i = r->from; i < r->to; i++) {
            size_t k = a->mate[i] != SIZE_MAX ? nearest(a, i, third, ahead_ns) : SIZE_MAX;
            if (k == SIZE_MAX)
                continue;
            int64_t came_ns = tl_ns_sum(at(a, k)->start_ns, ahead_ns), own_ns = at(a, i)->start_ns;
            int64_t other_ns = tl_ns_sum(at(a, a->mate[i])->start_ns, f->ahead_ns);
            later += tl_ns_between(came_ns, tl_ns_max(own_ns, other_ns)) > TL_CLOCK_ERROR_NS;
            together++;
        }
        if (later * (size_t)TL_LITTLE_PART > f->n || (double)together >= TL_CAUSE_SHARE * (double)f->n)
            return true;
    }
    return false;
}

static bool is_enough(const aligning *a, const fit *f)
{
    size_t fewer = a->rows.v[f->a].open < a->rows.v[f->b].open ? a->rows.v[f->a].open : a->rows.v[f->b].open;
    return f->n >= (size_t)TL_BEHAVES_LEAST && (double)f->n >= TL_BEHAVES_MOST * (double)fewer;
}

/* Partners get one key, that of the first. */
static void join(aligning *a, const fit *f)
{
    row *r = &a->rows.v[f->a], *q = &a->rows.v[f->b];
    for (size_t i = r->from; i < r->to; i++) {
        if (a->mate[i] == SIZE_MAX)
            continue;
        tl_pair_item *x = at(a, i), *y = at(a, a->mate[i]);
        x->key = y->key = x->lone;
        x->peer = y->rank;
        y->peer = x->rank;
        r->open--;
        q->open--;
    }
}

static int by_fit(const void *x, const void *y)
{
    const fit *a = x, *b = y;
    int order = TL_COMPARE(b->n, a->n);
    if (order == 0)
        order = TL_COMPARE(a->apart_ns, b->apart_ns);
    if (order == 0)
        order = TL_COMPARE(a->a, b->a);
    return order != 0 ? order : TL_COMPARE(a->b, b->b);
}

static void list_fits(aligning *a)
{
    for (uint32_t i = 0; i < a->rows.n; i++)
        for (uint32_t k = i + 1; k < a->rows.n; k++) {
            fit f = { .a = i, .b = k };
            bool opposite = a->rows.v[i].sends != a->rows.v[k].sends || a->rows.v[i].sends == 0;
            if (a->rows.v[i].rank == a->rows.v[k].rank || !opposite || !find_ahead(a, &a->rows.v[i], &a->rows.v[k], &f.ahead_ns))
                continue;
            match(a, &f);
            if (f.n < (size_t)TL_BEHAVES_LEAST)
                continue;
            tl_vec_room(&a->fits);
            a->fits.v[a->fits.n++] = f;
        }
    if (a->fits.n > 0)
        qsort(a->fits.v, a->fits.n, sizeof *a->fits.v, by_fit);
}

/* Joins the best fit first: without its items, another row may fit a third one. */
static void join_all(aligning *a)
{
    for (bool more = true; more;) {
        more = false;
        for (size_t i = 0; i < a->fits.n; i++) {
            fit *f = &a->fits.v[i];
            if (f->n == 0)
                continue;
            match(a, f);
            if (f->n == 0 || !is_enough(a, f))
                continue;
            if (!is_of_more(a, f)) {
                join(a, f);
                more = true;
            }
            f->n = 0;
        }
    }
}

/* Where at least half of a row has partners, its other items get TL_PEER_UNKNOWN as their peer. */
static void tell_rest(aligning *a)
{
    for (size_t r = 0; r < a->rows.n; r++) {
        const row *own = &a->rows.v[r];
        bool of_pairs = own->open < own->to - own->from && 2 * own->open <= own->to - own->from;
        for (size_t i = own->from; i < own->to; i++)
            if (at(a, i)->key == 0 && of_pairs)
                at(a, i)->peer = TL_PEER_UNKNOWN;
    }
}

void tl_sends_align(tl_pair_item *items, size_t n)
{
    tl_arena arena = { 0 };
    aligning a = { .items = items, .n = n };
    a.order = tl_arena_take(&arena, n + 1, sizeof *a.order);
    a.scratch = tl_arena_take(&arena, n + DIFFERENCES, sizeof *a.scratch);
    a.mate = tl_arena_take(&arena, n + 1, sizeof *a.mate);
    tl_mem_indexable(n);

    for (size_t i = 0; i < n; i++)
        a.order[i] = (uint32_t)i;
    tl_sort_index(a.order, n, by_row, items);
    list_rows(&a);
    if (a.rows.n <= ROWS_MOST) {
        list_fits(&a);
        join_all(&a);
        tell_rest(&a);
    }
    tl_arena_free(&arena);
    free(a.rows.v);
    free(a.fits.v);
}
