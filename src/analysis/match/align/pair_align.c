/* pair_align.c - matches sends and receives that are still without a partner, by the time at which they ended. */
#include "tlmpi/analysis/match/align.h"
#include "tlmpi/base/hash.h"
#include "tlmpi/base/mem.h"
#include "tlmpi/base/sort.h"
#include "tlmpi/base/stats.h"
#include "tlmpi/model/parameters.h"
#include <stdlib.h>

/* The most neighbours that are kept for a rank; in a pipeline it has two. */
enum { NEIGHBOURS = 4 };

/* The items of one rank in one group: order[from, to), by end. */
typedef struct row {
    int32_t rank;
    size_t from, to, open;
    uint32_t neighbours[NEIGHBOURS]; /* rows of the group */
    size_t nneighbours;
} row;

typedef struct aligning {
    tl_pair_item *items;
    uint32_t *order;
    TL_VEC(row) rows;        /* of one group */
    int64_t *apart;          /* scratch */
    uint32_t *mine, *theirs; /* scratch: open ones */
} aligning;

static int by_end(const void *items, uint32_t a, uint32_t b)
{
    const tl_pair_item *x = (const tl_pair_item *)items + a, *y = (const tl_pair_item *)items + b;
    if (x->group != y->group)
        return x->group < y->group ? -1 : 1;
    if (x->rank != y->rank)
        return x->rank < y->rank ? -1 : 1;
    if (x->end_ns != y->end_ns)
        return x->end_ns < y->end_ns ? -1 : 1;
    return TL_COMPARE(x->lone, y->lone);
}

static tl_pair_item *at(const aligning *a, size_t i)
{
    return &a->items[a->order[i]];
}

/* ------------------------------------------------------------------------------------------------------ neighbours */

static void add_neighbour(row *r, uint32_t of)
{
    for (size_t i = 0; i < r->nneighbours; i++)
        if (r->neighbours[i] == of)
            return;
    if (r->nneighbours < NEIGHBOURS)
        r->neighbours[r->nneighbours++] = of;
}

static uint32_t row_of(const aligning *a, int32_t rank)
{
    size_t low = 0;
    TL_BISECT(low, a->rows.n, mid, a->rows.v[mid].rank < rank);
    return low < a->rows.n && a->rows.v[low].rank == rank ? (uint32_t)low : UINT32_MAX;
}

static void find_neighbours(aligning *a, bool guess)
{
    bool any = false;
    for (uint32_t r = 0; r < a->rows.n; r++)
        for (size_t i = a->rows.v[r].from; i < a->rows.v[r].to; i++) {
            uint32_t other = at(a, i)->peer >= 0 ? row_of(a, at(a, i)->peer) : UINT32_MAX;
            if (other == UINT32_MAX || other == r)
                continue;
            any = true;
            add_neighbour(&a->rows.v[r], other);
            add_neighbour(&a->rows.v[other], r);
        }
    for (uint32_t r = 1; !any && guess && r < a->rows.n; r++) {
        add_neighbour(&a->rows.v[r - 1], r);
        add_neighbour(&a->rows.v[r], r - 1);
    }
}

/* The one neighbour that has open ones, too; UINT32_MAX where there is none or several. */
static uint32_t only_neighbour(const aligning *a, const row *r)
{
    uint32_t only = UINT32_MAX;
    for (size_t i = 0; i < r->nneighbours; i++) {
        if (a->rows.v[r->neighbours[i]].open == 0)
            continue;
        if (only != UINT32_MAX)
            return UINT32_MAX;
        only = r->neighbours[i];
    }
    return only;
}

/* -------------------------------------------------------------------------------------------------------- matching */

/* Fills how far r's clock is ahead of q's, ns: the median over items that share a key; 0: none does. */
static void find_ahead(const aligning *a, const row *r, const row *q, int64_t *ahead_ns)
{
    tl_map index_of = { 0 };
    size_t n = 0;

    for (size_t i = q->from; i < q->to; i++)
        if (at(a, i)->key != 0 && at(a, i)->peer == r->rank)
            tl_map_put(&index_of, at(a, i)->key, (uint32_t)i);
    for (size_t i = r->from; i < r->to; i++) {
        uint32_t j = at(a, i)->key != 0 ? tl_map_get(&index_of, at(a, i)->key) : TL_MAP_NONE;
        if (j != TL_MAP_NONE)
            a->apart[n++] = tl_ns_between(at(a, i)->end_ns, at(a, j)->end_ns);
    }
    *ahead_ns = n > 0 ? tl_median(a->apart, n) : 0;
    tl_map_free(&index_of);
}

static size_t list_open(const aligning *a, const row *r, uint32_t *out)
{
    size_t n = 0;
    for (size_t i = r->from; i < r->to; i++)
        if (at(a, i)->key == 0)
            out[n++] = a->order[i];
    return n;
}

static int64_t apart(const aligning *a, uint32_t x, uint32_t y, int64_t ahead_ns)
{
    int64_t ns = tl_ns_between(tl_ns_between(a->items[x].end_ns, ahead_ns), a->items[y].end_ns);
    return ns < 0 ? -ns : ns;
}

/* The place in v, ascending by end, of what ends nearest to x; n > 0.  ahead_ns: of x's clock against theirs. */
static size_t nearest(const aligning *a, uint32_t x, const uint32_t *v, size_t n, int64_t ahead_ns)
{
    int64_t end = tl_ns_between(a->items[x].end_ns, ahead_ns);
    size_t low = 0;
    TL_BISECT(low, n, mid, a->items[v[mid]].end_ns < end);
    if (low == n || (low > 0 && apart(a, x, v[low - 1], ahead_ns) <= apart(a, x, v[low], ahead_ns)))
        low--;
    return low;
}

/* Matches all open items of r with open items of q: two items match if each ends nearest to the other. */
static void match_rows(aligning *a, row *r, row *q)
{
    int64_t ahead_ns;
    find_ahead(a, r, q, &ahead_ns);
    size_t n = list_open(a, r, a->mine), m = list_open(a, q, a->theirs);
    for (size_t i = 0; i < n && m > 0; i++) {
        tl_pair_item *x = &a->items[a->mine[i]];
        size_t j = nearest(a, a->mine[i], a->theirs, m, ahead_ns);
        tl_pair_item *y = &a->items[a->theirs[j]];
        if (apart(a, a->mine[i], a->theirs[j], ahead_ns) > TL_MATCH_CLOSE_NS ||
            nearest(a, a->theirs[j], a->mine, n, -ahead_ns) != i)
            continue;
        x->key = y->key = x->lone;
        x->peer = y->rank;
        y->peer = x->rank;
        q->open--;
    }
    for (size_t i = 0; i < n; i++)
        if (a->items[a->mine[i]].key == 0)
            a->items[a->mine[i]].key = a->items[a->mine[i]].lone;
    r->open = 0;
}

/* Matches rows with only one open neighbour, again and again: from the ends of a pipeline inwards. */
static void align_group(aligning *a, bool guess)
{
    bool more = true;
    find_neighbours(a, guess);
    while (more) {
        more = false;
        for (size_t i = 0; i < a->rows.n; i++) {
            row *r = &a->rows.v[i];
            uint32_t q = r->open > 0 ? only_neighbour(a, r) : UINT32_MAX;
            if (q == UINT32_MAX)
                continue;
            match_rows(a, r, &a->rows.v[q]);
            more = true;
        }
    }
}

/* The rows of the group that begins at `from`; *to is its end. */
static void list_rows(aligning *a, size_t from, size_t n, size_t *to)
{
    size_t i = from;
    a->rows.n = 0;
    while (i < n && at(a, i)->group == at(a, from)->group) {
        if (a->rows.n == 0 || a->rows.v[a->rows.n - 1].rank != at(a, i)->rank) {
            tl_vec_room(&a->rows);
            a->rows.v[a->rows.n++] = (row){ .rank = at(a, i)->rank, .from = i };
        }
        row *last = &a->rows.v[a->rows.n - 1];
        last->open += at(a, i)->key == 0;
        last->to = ++i;
    }
    *to = i;
}

void tl_pairs_align(tl_pair_item *items, size_t n, const bool *guess)
{
    tl_arena arena = { 0 };
    aligning a = { .items = items,
                   .order = tl_arena_take(&arena, n, sizeof *a.order),
                   .apart = tl_arena_take(&arena, n, sizeof *a.apart),
                   .mine = tl_arena_take(&arena, n, sizeof *a.mine),
                   .theirs = tl_arena_take(&arena, n, sizeof *a.theirs) };
    tl_mem_indexable(n);

    for (size_t i = 0; i < n; i++)
        a.order[i] = (uint32_t)i;
    tl_sort_index(a.order, n, by_end, items);
    for (size_t from = 0, to = 0; from < n; from = to) {
        list_rows(&a, from, n, &to);
        int32_t group = at(&a, from)->group;
        align_group(&a, group >= 0 && guess[group]);
    }
    for (size_t i = 0; i < n; i++)
        if (items[i].key == 0)
            items[i].key = items[i].lone;
    tl_arena_free(&arena);
    free(a.rows.v);
}
