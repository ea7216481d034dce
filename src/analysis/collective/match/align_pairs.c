/* align_pairs.c - matches sends with receives by when they ended, if counts do not match them.
 *
 *     tl_sends_align    the peer and the group are unknown
 *     tl_ways_align     sender and receiver are known
 *     tl_pairs_align    the group is known, the peer is not
 */
#include "internal.h"
#include "tlmpi/model/parameters.h"
#include <stdlib.h>

enum {
    NEIGHBOURS = 4,     /* largest number of neighbours kept for a rank; a pipeline rank has two */
    SAMPLES = 64,       /* items of a row from which the distance of two clocks is estimated */
    DIFFERENCES = 4096, /* largest number of differences between their ends */
    ROWS_MOST = 512     /* with more rows tl_sends_align, which compares all pairs of rows, does nothing */
};

/* The items [from, to) of one rank in one group, or of one stream in one direction, ascending by end; open: number of
 * items without a partner. */
typedef struct row {
    int32_t rank, sends;
    size_t from, to, open;
    uint32_t neighbours[NEIGHBOURS]; /* rows of the group */
    size_t nneighbours;
} row;

typedef TL_VEC(row) row_list;

/* Appends the rows of the group that begins at items[from]; by_way: of all streams of items[from, n), by direction.
 * Returns the end of the last row. */
static size_t list_rows(const tl_align_item *items, size_t from, size_t n, bool by_way, row_list *rows)
{
    size_t i = from;
    for (; i < n && (by_way || items[i].group == items[from].group); i++) {
        const tl_align_item *x = &items[i], *before = i > from ? x - 1 : NULL;
        if (before == NULL || before->rank != x->rank || before->group != x->group ||
            (by_way && before->sends != x->sends))
            tl_vec_push(rows, (row){ .rank = x->rank, .sends = x->sends, .from = i });
        row *last = &rows->v[rows->n - 1];
        last->open += items[i].key == 0;
        last->to = i + 1;
    }
    return i;
}

static void make_partners(tl_align_item *x, tl_align_item *y)
{
    x->key = y->key = x->lone;
    x->peer = y->rank;
    y->peer = x->rank;
}

/* Returns the distance of the ends of x and y, in ns, if x's clock is ahead of y's by ahead_ns. */
static int64_t distance_of(const tl_align_item *x, const tl_align_item *y, int64_t ahead_ns)
{
    return llabs(tl_ns_between(tl_ns_between(x->end_ns, ahead_ns), y->end_ns));
}

/* ------------------------------------------------------------------------------------------------------------ ways */

/* Ascending by group, sender, receiver; items without a known peer last. */
static int by_way(const tl_align_item *x, const tl_align_item *y)
{
    const int64_t of_x[] = { x->peer < 0, x->group, x->sends ? x->rank : x->peer, x->sends ? x->peer : x->rank };
    const int64_t of_y[] = { y->peer < 0, y->group, y->sends ? y->rank : y->peer, y->sends ? y->peer : y->rank };
    int order = 0;
    for (size_t i = 0; order == 0 && i < sizeof of_x / sizeof of_x[0]; i++)
        order = TL_COMPARE(of_x[i], of_y[i]);
    return order;
}

/* Ascending by way; within a way receives before sends; then by end. */
static int by_side(const void *a, const void *b)
{
    const tl_align_item *x = a, *y = b;
    int order = by_way(x, y);
    return order != 0 ? order : TL_ORDER(x, y, sends, end_ns, lone);
}

/* Gives partners of one way one key: the key that either has already, else the sender's own.  Chooses, of the shifts
 * with at most twice the least scatter, the one with the smallest clock distance. */
static void align_way(tl_align_item *const *received, size_t nreceived, tl_align_item *const *sent, size_t nsent)
{
    tl_shift tried[2 * TL_SHIFTS + 1], best = { 0 };
    size_t n = tl_shifts_try(received, nreceived, sent, nsent, true, tried);
    int64_t steady_ns = INT64_MAX;

    for (size_t i = 0; i < n; i++)
        steady_ns = tl_ns_min(steady_ns, tried[i].scatter_ns);
    steady_ns = tl_ns_max(tl_ns_sum(steady_ns, steady_ns), TL_CLOCK_ERROR_NS);
    for (size_t i = 0; i < n; i++)
        if (tried[i].scatter_ns <= steady_ns && (best.n == 0 || llabs(tried[i].ahead_ns) < llabs(best.ahead_ns)))
            best = tried[i];
    for (size_t i = best.from; i < best.from + best.n; i++) {
        tl_align_item *to = received[i], *from = sent[(size_t)((int64_t)i + best.shift)];
        if (from->key == 0)
            from->key = to->key != 0 ? to->key : from->lone;
        if (to->key == 0)
            to->key = from->key;
    }
}

void tl_ways_align(tl_align_item *items, size_t n)
{
    tl_align_item **v = tl_malloc((n + 1) * sizeof *v);

    tl_sort(items, n, sizeof *items, by_side);
    for (size_t from = 0, to, nreceived; from < n && items[from].peer >= 0; from = to) {
        bool open = false;
        for (to = from, nreceived = 0; to < n && by_way(&items[from], &items[to]) == 0; to++) {
            v[to] = &items[to];
            nreceived += !items[to].sends;
            open = open || items[to].key == 0;
        }
        if (open)
            align_way(v + from, nreceived, v + from + nreceived, to - from - nreceived);
        for (size_t i = from; i < to; i++)
            items[i].key = items[i].key != 0 ? items[i].key : items[i].lone;
    }
    free(v);
}

/* ----------------------------------------------------------------------------------------------------------- pairs */

TL_SORT_BY(by_rank, tl_align_item, group, rank, end_ns, lone)

typedef struct pairing {
    tl_align_item *items;
    row_list rows;                  /* of one group */
    int64_t *apart;                 /* scratch */
    tl_align_item **mine, **theirs; /* scratch: open items of two rows */
} pairing;

static void add_neighbour(row *r, uint32_t of)
{
    for (size_t i = 0; i < r->nneighbours; i++)
        if (r->neighbours[i] == of)
            return;
    if (r->nneighbours < NEIGHBOURS)
        r->neighbours[r->nneighbours++] = of;
}

static void add_neighbours(pairing *a, uint32_t r, uint32_t other)
{
    add_neighbour(&a->rows.v[r], other);
    add_neighbour(&a->rows.v[other], r);
}

static void find_neighbours(pairing *a, bool guess)
{
    bool any = false;
    for (uint32_t r = 0; r < a->rows.n; r++)
        for (size_t i = a->rows.v[r].from; i < a->rows.v[r].to; i++) {
            size_t other = 0;
            TL_BISECT(other, a->rows.n, mid, a->rows.v[mid].rank < a->items[i].peer);
            if (a->items[i].peer < 0 || other == a->rows.n || a->rows.v[other].rank != a->items[i].peer || other == r)
                continue;
            any = true;
            add_neighbours(a, r, (uint32_t)other);
        }
    for (uint32_t r = 1; !any && guess && r < a->rows.n; r++)
        add_neighbours(a, r - 1, r);
}

/* Returns the one neighbour with open items; NULL if none or several have any. */
static row *only_neighbour(const pairing *a, const row *r)
{
    row *only = NULL;
    for (size_t i = 0; i < r->nneighbours; i++) {
        row *other = &a->rows.v[r->neighbours[i]];
        if (other->open > 0 && only != NULL)
            return NULL;
        only = other->open > 0 ? other : only;
    }
    return only;
}

/* Returns how far r's clock is ahead of q's, in ns: the median over items that share a key; 0 if none do. */
static int64_t clock_ahead(const pairing *a, const row *r, const row *q)
{
    tl_map index_of = { 0 };
    size_t n = 0;
    for (size_t i = q->from; i < q->to; i++)
        if (a->items[i].key != 0 && a->items[i].peer == r->rank)
            tl_map_put(&index_of, a->items[i].key, (uint32_t)i);
    for (size_t i = r->from; i < r->to; i++) {
        uint32_t j = a->items[i].key != 0 ? tl_map_get(&index_of, a->items[i].key) : TL_MAP_NONE;
        if (j != TL_MAP_NONE)
            a->apart[n++] = tl_ns_between(a->items[i].end_ns, a->items[j].end_ns);
    }
    tl_map_free(&index_of);
    return n > 0 ? tl_median(a->apart, n) : 0;
}

static size_t list_open(const pairing *a, const row *r, tl_align_item **out)
{
    size_t n = 0;
    for (size_t i = r->from; i < r->to; i++)
        if (a->items[i].key == 0)
            out[n++] = &a->items[i];
    return n;
}

/* Returns the index in v[n], ascending by end, of the item that ends nearest to x; n > 0.  ahead_ns: x's clock less
 * that of v. */
static size_t nearest_of(const tl_align_item *x, tl_align_item *const *v, size_t n, int64_t ahead_ns)
{
    int64_t end_ns = tl_ns_between(x->end_ns, ahead_ns);
    size_t low = 0;
    TL_BISECT(low, n, mid, v[mid]->end_ns < end_ns);
    return low == n || (low > 0 && distance_of(x, v[low - 1], ahead_ns) <= distance_of(x, v[low], ahead_ns)) ? low - 1
                                                                                                             : low;
}

/* Matches all open items of r with open items of q: two items match if each ends nearest to the other. */
static void match_rows(pairing *a, row *r, row *q)
{
    int64_t ahead_ns = clock_ahead(a, r, q);
    size_t n = list_open(a, r, a->mine), m = list_open(a, q, a->theirs);
    for (size_t i = 0; i < n && m > 0; i++) {
        size_t j = nearest_of(a->mine[i], a->theirs, m, ahead_ns);
        if (distance_of(a->mine[i], a->theirs[j], ahead_ns) > TL_ENDS_NS ||
            nearest_of(a->theirs[j], a->mine, n, -ahead_ns) != i)
            continue;
        make_partners(a->mine[i], a->theirs[j]);
        q->open--;
    }
    for (size_t i = 0; i < n; i++)
        a->mine[i]->key = a->mine[i]->key != 0 ? a->mine[i]->key : a->mine[i]->lone;
    r->open = 0;
}

void tl_pairs_align(tl_align_item *items, size_t n, const tl_group_fact *groups)
{
    tl_arena arena = { 0 };
    pairing a = { .items = items,
                  .apart = tl_arena_take(&arena, n, sizeof *a.apart),
                  .mine = tl_arena_take(&arena, n, sizeof *a.mine),
                  .theirs = tl_arena_take(&arena, n, sizeof *a.theirs) };

    tl_sort(items, n, sizeof *items, by_rank);
    for (size_t from = 0, to; from < n; from = to) {
        int32_t group = items[from].group;
        a.rows.n = 0;
        to = list_rows(items, from, n, false, &a.rows);
        find_neighbours(&a, group >= 0 && !groups[group].inferred);
        for (bool more = true; more;) { /* from the ends of a pipeline inwards */
            more = false;
            TL_EACH (row, r, a.rows) {
                row *q = r->open > 0 ? only_neighbour(&a, r) : NULL;
                more = more || q != NULL;
                if (q != NULL)
                    match_rows(&a, r, q);
            }
        }
    }
    for (size_t i = 0; i < n; i++)
        items[i].key = items[i].key != 0 ? items[i].key : items[i].lone;
    tl_arena_free(&arena);
    free(a.rows.v);
}

/* ----------------------------------------------------------------------------------------------------------- sends */

TL_SORT_BY(by_stream, tl_align_item, rank, group, sends, end_ns, lone)

/* How well the ends of the open items of two rows agree. */
typedef struct fit {
    uint32_t a, b;
    int64_t ahead_ns; /* a's clock less b's, in the middle of row a */
    int64_t apart_ns; /* median distance of the ends of mates, corrected for clocks */
    size_t n;         /* number of mates */
    size_t agreeing;  /* number of mates in all fits of the two ranks that show the same distance of their clocks */
    uint64_t ranks;   /* of a and b */
} fit;

typedef struct fitting {
    tl_align_item *items;
    row_list rows;
    TL_VEC(fit) fits;
    int64_t *scratch;     /* [n + DIFFERENCES] */
    tl_align_item **mate; /* by item of row a: the item of row b that ends with it; NULL: none */
} fitting;

/* Returns the first item of the row that ends at `end_ns` or later. */
static size_t first_ending_from(const fitting *a, const row *r, int64_t end_ns)
{
    size_t low = r->from;
    TL_BISECT(low, r->to, mid, a->items[mid].end_ns < end_ns);
    return low;
}

/* Sets *ahead_ns to the clock distance under which most ends of sampled items of r agree with ends of q.  Returns false
 * if fewer than TL_PATTERN_LEAST agree. */
static bool find_clock_distance(const fitting *a, const row *r, const row *q, int64_t *ahead_ns)
{
    size_t looked = r->to - r->from < SAMPLES ? r->to - r->from : SAMPLES, n = 0, most = 0;
    size_t first = r->from + (r->to - r->from - looked) / 2;
    int64_t *v = a->scratch;

    for (size_t i = first; i < first + looked; i++) {
        int64_t end_ns = a->items[i].end_ns;
        for (size_t k = first_ending_from(a, q, tl_ns_between(end_ns, TL_LOOSE_ENDS_NS));
             k < q->to && n < DIFFERENCES && tl_ns_between(a->items[k].end_ns, end_ns) <= TL_LOOSE_ENDS_NS; k++)
            v[n++] = tl_ns_between(end_ns, a->items[k].end_ns);
    }
    tl_ns_sort(v, n);
    for (size_t i = 0, k = 0; i < n; i++) {
        while (k < n && tl_ns_between(v[k], v[i]) <= TL_CLOCK_ERROR_NS)
            k++;
        int64_t middle_ns = v[i + (k - i - 1) / 2];
        if (k - i > most || (k - i == most && llabs(middle_ns) < llabs(*ahead_ns))) {
            most = k - i;
            *ahead_ns = middle_ns;
        }
    }
    return most >= TL_PATTERN_LEAST;
}

/* Returns the open item of q that ends nearest to x, within the clock error; NULL: none.  ahead_ns: x's clock less that
 * of q. */
static tl_align_item *nearest(const fitting *a, const tl_align_item *x, const row *q, int64_t ahead_ns)
{
    int64_t end_ns = tl_ns_between(x->end_ns, ahead_ns), best_ns = TL_CLOCK_ERROR_NS + 1;
    tl_align_item *best = NULL;

    for (size_t k = first_ending_from(a, q, tl_ns_between(end_ns, TL_CLOCK_ERROR_NS));
         k < q->to && tl_ns_between(a->items[k].end_ns, end_ns) <= TL_CLOCK_ERROR_NS; k++)
        if (a->items[k].key == 0 && distance_of(x, &a->items[k], ahead_ns) < best_ns) {
            best = &a->items[k];
            best_ns = distance_of(x, best, ahead_ns);
        }
    return best;
}

/* Finds the mates of row f->a in row f->b, outwards from the middle; the clock distance is updated with each mate,
 * since clocks drift. */
static void find_mates(const fitting *a, fit *f)
{
    const row *r = &a->rows.v[f->a], *q = &a->rows.v[f->b];
    size_t middle = r->from + (r->to - r->from) / 2;

    f->n = 0;
    for (int forward = 0; forward < 2; forward++) {
        int64_t ahead_ns = f->ahead_ns;
        const tl_align_item *last = NULL;
        for (size_t step = 0; forward ? middle + step < r->to : middle - r->from > step; step++) {
            size_t i = forward ? middle + step : middle - 1 - step;
            const tl_align_item *x = &a->items[i];
            tl_align_item *y = x->key == 0 ? nearest(a, x, q, ahead_ns) : NULL;
            a->mate[i] = y != last ? y : NULL; /* y is the mate of the item before */
            if (a->mate[i] == NULL)
                continue;
            last = y;
            int64_t apart_ns = tl_ns_between(tl_ns_between(x->end_ns, y->end_ns), ahead_ns);
            a->scratch[f->n++] = llabs(apart_ns);
            ahead_ns += apart_ns;
        }
    }
    f->apart_ns = f->n > 0 ? tl_median(a->scratch, f->n) : 0;
}

/* Whether a third rank takes part in what the two rows do: one of its rows ends together with most of their mates, or
 * starts later than both in more than 1 of TL_LITTLE_PART.  A known send has one receiver: false. */
static bool has_third_rank(const fitting *a, const fit *f)
{
    const row *r = &a->rows.v[f->a], *q = &a->rows.v[f->b];
    if (r->sends != 0 || q->sends != 0)
        return false;
    TL_EACH (const row, third, a->rows) {
        int64_t ahead_ns = 0;
        size_t later = 0, together = 0;
        if (third->rank == r->rank || third->rank == q->rank || !find_clock_distance(a, r, third, &ahead_ns))
            continue;
        for (size_t i = r->from; i < r->to; i++) {
            const tl_align_item *x = &a->items[i], *y = a->mate[i];
            const tl_align_item *z = y != NULL ? nearest(a, x, third, ahead_ns) : NULL;
            if (z == NULL)
                continue;
            int64_t both_ns = tl_ns_max(x->start_ns, tl_ns_sum(y->start_ns, f->ahead_ns));
            later += tl_ns_between(tl_ns_sum(z->start_ns, ahead_ns), both_ns) > TL_CLOCK_ERROR_NS;
            together++;
        }
        if (later * (size_t)TL_LITTLE_PART > f->n || (double)together >= TL_MOST_SHARE * (double)f->n)
            return true;
    }
    return false;
}

TL_SORT_BY(by_fit, fit, DOWN(agreeing), DOWN(n), apart_ns, a, b)

TL_SORT_BY(by_distance, fit, ranks, ahead_ns)

/* Two ranks have one distance of clocks: where their fits show several, that of most mates is right.  Work that repeats
 * may also end together with the work after it. */
static void count_agreeing(fitting *a)
{
    size_t low = 0, high = 0, sum = 0;
    tl_vec_sort(&a->fits, by_distance);
    TL_EACH (fit, f, a->fits) {
        const fit *v = a->fits.v;
        while (v[low].ranks != f->ranks || tl_ns_between(f->ahead_ns, v[low].ahead_ns) > TL_CLOCK_ERROR_NS)
            sum -= v[low++].n;
        while (high < a->fits.n && v[high].ranks == f->ranks &&
               tl_ns_between(v[high].ahead_ns, f->ahead_ns) <= TL_CLOCK_ERROR_NS)
            sum += v[high++].n;
        f->agreeing = sum;
    }
}

static void list_fits(fitting *a)
{
    for (uint32_t i = 0; i < a->rows.n; i++)
        for (uint32_t k = i + 1; k < a->rows.n; k++) {
            const row *r = &a->rows.v[i], *q = &a->rows.v[k];
            bool opposite = r->sends != q->sends || r->sends == 0;
            fit f = { .a = i, .b = k, .ranks = (uint64_t)(uint32_t)r->rank << 32 | (uint32_t)q->rank };
            if (r->rank == q->rank || !opposite || !find_clock_distance(a, r, q, &f.ahead_ns))
                continue;
            find_mates(a, &f);
            if (f.n >= TL_PATTERN_LEAST)
                tl_vec_push(&a->fits, f);
        }
    count_agreeing(a);
    tl_vec_sort(&a->fits, by_fit);
}

/* Makes mates partners, best fit first; repeats while rows are joined, since each takes items from later fits. */
static void join_fits(fitting *a)
{
    for (bool more = true; more;) {
        more = false;
        TL_EACH (fit, f, a->fits) {
            if (f->n == 0)
                continue;
            find_mates(a, f);
            row *r = &a->rows.v[f->a], *q = &a->rows.v[f->b];
            size_t fewer = r->open < q->open ? r->open : q->open;
            if (f->n < TL_PATTERN_LEAST || f->n < fewer - fewer / (size_t)TL_LITTLE_PART)
                continue;
            bool alone = !has_third_rank(a, f);
            for (size_t i = r->from; alone && i < r->to; i++) {
                if (a->mate[i] == NULL)
                    continue;
                make_partners(&a->items[i], a->mate[i]);
                r->open--;
                q->open--;
            }
            more = more || alone;
            f->n = 0;
        }
    }
}

void tl_sends_align(tl_align_item *items, size_t n)
{
    tl_arena arena = { 0 };
    fitting a = { .items = items,
                  .scratch = tl_arena_take(&arena, n + DIFFERENCES, sizeof *a.scratch),
                  .mate = tl_arena_take(&arena, n + 1, sizeof *a.mate) };

    tl_sort(items, n, sizeof *items, by_stream);
    list_rows(items, 0, n, true, &a.rows);
    if (a.rows.n <= ROWS_MOST) {
        list_fits(&a);
        join_fits(&a);
        TL_EACH (const row, own, a.rows) { /* half of the row has partners: all of it are sends and receives */
            bool of_pairs = own->open < own->to - own->from && 2 * own->open <= own->to - own->from;
            for (size_t i = own->from; of_pairs && i < own->to; i++)
                items[i].peer = items[i].key == 0 ? TL_PEER_UNKNOWN : items[i].peer;
        }
    }
    tl_arena_free(&arena);
    free(a.rows.v);
    free(a.fits.v);
}
