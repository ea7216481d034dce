/* align.c - matches collectives of the ranks of one group by when they ended: two ranks at a time, and in rounds all
 * ranks of a group against one reference rank. */
#include "internal.h"
#include "tlmpi/model/parameters.h"
#include <stdlib.h>
#include <string.h>

enum {
    SAMPLES = 128,  /* largest number of pairs that a shift is judged by */
    WINDOW = 128,   /* largest number of reference items, the nearest by end, that one item is compared with */
    GAIN = 1000,    /* gain of a match whose ends coincide */
    MOST_ROUNDS = 8 /* largest number of rounds, each with another reference rank */
};

static bool is_loose(uint8_t kind)
{
    return tl_is_loose((tl_collective)kind) && kind != TL_COLL_UNKNOWN;
}

/* Whether two items may be one collective by their kind, dtype and bytes. */
static bool may_be_same(const tl_align_item *a, const tl_align_item *b)
{
    bool known = a->kind != TL_COLL_UNKNOWN && b->kind != TL_COLL_UNKNOWN;
    bool loose = is_loose(a->kind) || is_loose(b->kind);
    if (known && a->kind != b->kind &&
        !(is_loose(a->kind) && is_loose(b->kind) && (a->kind == TL_SEND_RECV || b->kind == TL_SEND_RECV)))
        return false;
    if (a->dtype != 0 && b->dtype != 0 && a->dtype != b->dtype)
        return false;
    return loose || a->bytes < 0 || b->bytes < 0 || a->bytes == b->bytes;
}

/* ---------------------------------------------------------------------------------------------------------- shifts */

static tl_shift try_shift(tl_align_item *const *a, size_t na, tl_align_item *const *b, size_t nb, int64_t shift,
                          bool mean)
{
    int64_t from = shift < 0 ? -shift : 0, to = tl_ns_min((int64_t)na, (int64_t)nb - shift), apart[SAMPLES], sum = 0;
    tl_shift s = { .shift = shift, .from = (size_t)from, .n = to > from ? (size_t)(to - from) : 0 };
    const bool all = s.n <= SAMPLES; /* else SAMPLES pairs at even distances */
    const size_t m = all ? s.n : SAMPLES;

    if (m == 0)
        return s;
    for (size_t i = 0; i < m; i++) {
        size_t at = s.from + (all ? i : i * s.n / SAMPLES);
        const tl_align_item *x = a[at], *y = b[(size_t)((int64_t)at + shift)];
        s.misfits += !may_be_same(x, y);
        apart[i] = tl_ns_between(x->end_ns, y->end_ns);
    }
    s.misfits = all ? s.misfits : s.misfits * s.n / SAMPLES;
    s.ahead_ns = tl_median(apart, m);
    for (size_t i = 0; mean && i < m; i++)
        sum = tl_ns_sum(sum, llabs(tl_ns_between(apart[i], s.ahead_ns)));
    s.scatter_ns = mean ? sum / tl_ns_max((int64_t)m, 1) : tl_mad(apart, m, s.ahead_ns);
    return s;
}

size_t tl_shifts_try(tl_align_item *const *a, size_t na, tl_align_item *const *b, size_t nb, bool mean, tl_shift *tried)
{
    int64_t fewer = (int64_t)(na < nb ? na : nb);
    int64_t least = tl_ns_min(fewer, tl_ns_max(fewer / 2, (int64_t)TL_MEDIAN_LEAST));
    int64_t first = tl_ns_max(least - (int64_t)na, -TL_SHIFTS), last = tl_ns_min((int64_t)nb - least, TL_SHIFTS);
    size_t n = 0;
    for (int64_t shift = first; fewer > 0 && shift <= last; shift++)
        tried[n++] = try_shift(a, na, b, nb, shift, mean);
    return n;
}

/* Whether shift a is better than b: smaller share of misfits, then clearly less scatter, then smaller clock distance,
 * then more pairs. */
static bool is_better(const tl_shift *a, const tl_shift *b)
{
    uint64_t misfits_a = (uint64_t)a->misfits * b->n, misfits_b = (uint64_t)b->misfits * a->n;
    if (misfits_a != misfits_b)
        return misfits_a < misfits_b;
    if (llabs(tl_ns_between(a->scatter_ns, b->scatter_ns)) > TL_ENDS_NS / TL_LITTLE_PART)
        return a->scatter_ns < b->scatter_ns;
    if (llabs(a->ahead_ns) != llabs(b->ahead_ns))
        return llabs(a->ahead_ns) < llabs(b->ahead_ns);
    return a->n > b->n;
}

/* -------------------------------------------------------------------------------------------------------- two rows */

typedef struct aligning {
    tl_align_item **open, **free; /* own items without a key; reference items whose key no own item has */
    size_t nopen, nfree;
    int64_t *ahead_ns; /* by open item: own clock minus the reference's */
    int64_t *apart_ns; /* [npinned] own end minus reference end of pinning items: those with one key in both rows */
    size_t *before;    /* by open item: number of pinning items before it */
    size_t npinned;
    int64_t reach_ns; /* largest distance between the ends of one collective */
    bool loosely;     /* the only pinning item is of a kind that ranks may leave early */
} aligning;

/* Classifies the items of both rows as open, free or pinning. */
static void classify_items(aligning *k, tl_align_item *mine, size_t n, tl_align_item *ref, size_t nref)
{
    tl_map index_of = { 0 };
    bool *taken = tl_calloc(nref + 1, sizeof *taken);

    for (size_t j = 0; j < nref; j++)
        tl_map_put(&index_of, ref[j].key, (uint32_t)j);
    for (int loosely = 0; loosely < 2 && k->npinned == 0; loosely++) { /* without others, the first loose item pins */
        k->nopen = 0;
        for (size_t i = 0; i < n; i++) {
            uint32_t j = mine[i].key != 0 ? tl_map_get(&index_of, mine[i].key) : TL_MAP_NONE;
            if (mine[i].key == 0) {
                k->before[k->nopen] = loosely ? 0 : k->npinned;
                k->open[k->nopen++] = &mine[i];
            }
            if (j == TL_MAP_NONE)
                continue;
            taken[j] = true;
            k->loosely = loosely != 0;
            if (loosely ? k->npinned == 0 : !is_loose(mine[i].kind))
                k->apart_ns[k->npinned++] = tl_ns_between(mine[i].end_ns, ref[j].end_ns);
        }
    }
    for (size_t j = 0; j < nref; j++)
        if (!taken[j])
            k->free[k->nfree++] = &ref[j];
    k->reach_ns = TL_ENDS_NS;
    for (size_t i = 0; i < k->nopen; i++)
        k->reach_ns = is_loose(k->open[i]->kind) ? TL_LOOSE_ENDS_NS : k->reach_ns;
    for (size_t j = 0; j < k->nfree; j++)
        k->reach_ns = is_loose(k->free[j]->kind) ? TL_LOOSE_ENDS_NS : k->reach_ns;
    tl_map_free(&index_of);
    free(taken);
}

/* Sets ahead_ns to the median apart_ns of all pinning items or, if it differs, to that of the nearest ones (clocks step
 * and drift); without pinning items to the distance of the best shift, 0 if there are too few items for a shift. */
static void set_clock_distances(aligning *k)
{
    int64_t *room = tl_malloc((k->npinned + 1) * sizeof *room), all_ns = 0;
    memcpy(room, k->apart_ns, k->npinned * sizeof *room);
    if (k->npinned > 0) {
        all_ns = tl_median(room, k->npinned);
    } else if (k->nopen >= TL_MEDIAN_LEAST && k->nfree >= TL_MEDIAN_LEAST) {
        tl_shift tried[2 * TL_SHIFTS + 1] = { { 0 } }, *best = tried;
        size_t n = tl_shifts_try(k->open, k->nopen, k->free, k->nfree, false, tried);
        for (size_t i = 1; i < n; i++)
            best = is_better(&tried[i], best) ? &tried[i] : best;
        all_ns = best->ahead_ns;
    }
    for (size_t i = 0; i < k->nopen; i++) {
        size_t from = k->before[i] > TL_MEDIAN_LEAST ? k->before[i] - TL_MEDIAN_LEAST : 0;
        size_t to = k->before[i] + TL_MEDIAN_LEAST < k->npinned ? k->before[i] + TL_MEDIAN_LEAST : k->npinned;
        k->ahead_ns[i] = all_ns;
        if (k->loosely || k->npinned == 0)
            continue;
        memcpy(room, k->apart_ns + from, (to - from) * sizeof *room);
        int64_t beside_ns = tl_median(room, to - from);
        if (llabs(tl_ns_between(beside_ns, all_ns)) > TL_ENDS_NS / TL_LITTLE_PART)
            k->ahead_ns[i] = beside_ns;
    }
    free(room);
}

/* One open item in the dynamic programme that maximises the sum of gains over matches in order. */
typedef struct row {
    size_t low, high; /* the item may match one of free[low, high) */
    size_t step;      /* index of its first choice */
} row;

enum { SKIP_MINE, SKIP_REF, MATCH };

/* Returns the end of open item i on the reference's clock. */
static int64_t end_of(const aligning *k, size_t i)
{
    return tl_ns_between(k->open[i]->end_ns, k->ahead_ns[i]);
}

/* Sets each open item's candidates by its end alone; returns the total number of candidates. */
static size_t set_candidate_ranges(const aligning *k, row *rows)
{
    size_t low = 0, high = 0, steps = 0;
    for (size_t i = 0; i < k->nopen; i++) {
        int64_t end = end_of(k, i);
        while (low < k->nfree && tl_ns_between(end, k->free[low]->end_ns) > k->reach_ns)
            low++;
        high = high > low ? high : low;
        while (high < k->nfree && tl_ns_between(k->free[high]->end_ns, end) <= k->reach_ns)
            high++;
        if (high - low > WINDOW) { /* keep the nearest, half of them on either side */
            size_t middle = low;
            while (middle < high && k->free[middle]->end_ns < end)
                middle++;
            size_t first = middle > low + WINDOW / 2 ? middle - WINDOW / 2 : low;
            low = first + WINDOW <= high ? first : high - WINDOW;
        }
        rows[i] = (row){ low, high - low > WINDOW ? low + WINDOW : high, steps };
        steps += rows[i].high - rows[i].low;
    }
    return steps;
}

/* Returns the gain of matching open item i with free item j; 0: they cannot be one collective. */
static int64_t gain_of(const aligning *k, size_t i, size_t j)
{
    const tl_align_item *mine = k->open[i], *ref = k->free[j];
    int64_t apart = llabs(tl_ns_between(end_of(k, i), ref->end_ns));
    int64_t reach = is_loose(mine->kind) || is_loose(ref->kind) ? TL_LOOSE_ENDS_NS : TL_ENDS_NS;
    return apart > reach || !may_be_same(mine, ref) ? 0 : GAIN - GAIN / 2 * apart / reach;
}

/* Returns the largest total gain of the open items before this row and free[0, j).  Beyond the previous row's high no
 * item adds to the gain. */
static int64_t gain_before(const row *before, const int64_t *last, size_t j)
{
    return before == NULL ? 0 : last[(j < before->high ? j : before->high) - before->low];
}

/* Sets best[j - low], low <= j <= high, to the largest total gain of the open items up to row i and free[0, j). */
static void fill_gains(const aligning *k, size_t i, const row *r, const row *before, const int64_t *last, int64_t *best,
                       uint8_t *choices)
{
    best[0] = gain_before(before, last, r->low);
    for (size_t j = r->low + 1; j <= r->high; j++) {
        int64_t *most = &best[j - r->low], gain = gain_of(k, i, j - 1);
        uint8_t *choice = &choices[r->step + j - 1 - r->low];
        *most = gain_before(before, last, j);
        *choice = SKIP_MINE;
        if (most[-1] > *most) {
            *most = most[-1];
            *choice = SKIP_REF;
        }
        int64_t matched = gain > 0 ? gain + gain_before(before, last, j - 1) : 0;
        if (matched > *most) {
            *most = matched;
            *choice = MATCH;
        }
    }
}

/* Writes the matches with the largest total gain into match, from the last row to the first; returns their number. */
static size_t trace_back(const aligning *k, const row *rows, const uint8_t *choices, const tl_align_item *mine,
                         const tl_align_item *ref, int64_t *match)
{
    size_t j = k->nopen > 0 ? rows[k->nopen - 1].high : 0, matched = 0;
    for (size_t i = k->nopen; i-- > 0;) {
        const row *r = &rows[i];
        j = j < r->high ? j : r->high;
        while (j > r->low && choices[r->step + j - 1 - r->low] == SKIP_REF)
            j--;
        if (j <= r->low || choices[r->step + j - 1 - r->low] != MATCH)
            continue;
        match[k->open[i] - mine] = k->free[--j] - ref;
        matched++;
    }
    return matched;
}

/* Returns the number of open items that end within the time that the free items cover. */
static size_t count_covered(const aligning *k)
{
    size_t n = 0;
    for (size_t i = 0; k->nfree > 0 && i < k->nopen; i++)
        n += tl_ns_between(k->free[0]->end_ns, end_of(k, i)) <= TL_ENDS_NS &&
             tl_ns_between(end_of(k, i), k->free[k->nfree - 1]->end_ns) <= TL_ENDS_NS;
    return n;
}

void tl_align(tl_align_item *mine, size_t n, tl_align_item *ref, size_t nref, int64_t *match)
{
    tl_arena arena = { 0 };
    aligning k = { .open = tl_arena_take(&arena, n, sizeof *k.open),
                   .free = tl_arena_take(&arena, nref, sizeof *k.free),
                   .ahead_ns = tl_arena_take(&arena, n, sizeof *k.ahead_ns),
                   .apart_ns = tl_arena_take(&arena, n, sizeof *k.apart_ns),
                   .before = tl_arena_take(&arena, n, sizeof *k.before) };
    int64_t both[2][WINDOW + 1];

    for (size_t i = 0; i < n; i++)
        match[i] = -1;
    classify_items(&k, mine, n, ref, nref);
    set_clock_distances(&k);
    row *rows = tl_arena_take(&arena, k.nopen + 1, sizeof *rows);
    uint8_t *choices = tl_arena_take(&arena, set_candidate_ranges(&k, rows) + 1, sizeof *choices);
    for (size_t i = 0; i < k.nopen; i++)
        fill_gains(&k, i, &rows[i], i > 0 ? &rows[i - 1] : NULL, both[(i + 1) % 2], both[i % 2], choices);
    size_t matched = trace_back(&k, rows, choices, mine, ref, match);
    /* Unrelated ranks share no key and match few items, by chance: such matches are dropped. */
    if (k.npinned == 0 && 2 * matched < count_covered(&k))
        for (size_t i = 0; i < k.nopen; i++)
            match[k.open[i] - mine] = -1;
    tl_arena_free(&arena);
}

/* ---------------------------------------------------------------------------------------------------------- rounds */

TL_SORT_BY(by_rank, tl_align_item, group, rank, end_ns, uid)

/* The items of one rank in a group; keyed, open: number of items with and without a key. */
typedef struct rank_row {
    tl_align_item *items;
    size_t n, keyed, open;
} rank_row;

typedef TL_VEC(rank_row) rank_rows;

/* Lists the rows of the n items of one group, ascending by rank. */
static void list_rows(tl_align_item *items, size_t n, rank_rows *out)
{
    out->n = 0;
    for (size_t i = 0; i < n; i++) {
        if (i == 0 || items[i].rank != items[i - 1].rank)
            tl_vec_push(out, (rank_row){ .items = &items[i] });
        rank_row *last = &out->v[out->n - 1];
        last->n++;
        last->keyed += items[i].key != 0;
        last->open += items[i].key == 0;
    }
}

/* Returns the reference: in the first round the row with most keys, ties by most open items; later the row with most
 * open items.  NULL if no other row has open items. */
static rank_row *choose_reference(const rank_rows *rows, bool first)
{
    rank_row *best = NULL;
    size_t open = 0;
    TL_EACH (rank_row, r, *rows) {
        open += r->open > 0;
        if (!first && r->open == 0)
            continue;
        if (best == NULL || (first && r->keyed > best->keyed) ||
            ((!first || r->keyed == best->keyed) && r->open > best->open))
            best = r;
    }
    return best != NULL && open > (size_t)(best->open > 0) ? best : NULL;
}

void tl_rows_align(tl_align_item *items, size_t n)
{
    int64_t *match = tl_malloc((n + 1) * sizeof *match);
    rank_rows rows = { 0 };

    tl_sort(items, n, sizeof *items, by_rank);
    for (size_t from = 0, to; from < n; from = to) {
        for (to = from; to < n && items[to].group == items[from].group; to++)
            ;
        for (int round = 0; round < MOST_ROUNDS; round++) {
            list_rows(items + from, to - from, &rows);
            const rank_row *ref = choose_reference(&rows, round == 0);
            if (ref == NULL)
                break;
            for (size_t i = 0; i < ref->n; i++)
                ref->items[i].key = ref->items[i].key != 0 ? ref->items[i].key : ref->items[i].lone;
            TL_EACH (rank_row, r, rows)
                if (r != ref && r->open > 0) {
                    tl_align(r->items, r->n, ref->items, ref->n, match);
                    for (size_t i = 0; i < r->n; i++)
                        if (match[i] >= 0)
                            r->items[i].key = ref->items[match[i]].key;
                }
        }
    }
    free(rows.v);
    free(match);
}
