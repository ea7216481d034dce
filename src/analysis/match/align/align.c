/* align.c - which collectives of two ranks of one group are the same, by when they ended. */
#include "tlmpi/analysis/match/align.h"
#include "tlmpi/base/hash.h"
#include "tlmpi/base/mem.h"
#include "tlmpi/base/stats.h"
#include "tlmpi/model/coll.h"
#include "tlmpi/model/parameters.h"
#include <stdlib.h>
#include <string.h>

enum {
    SAMPLES = 128, /* pairs that a shift is judged by */
    SHIFTS = 512,  /* shifts to either side */
    WINDOW = 128,  /* of the reference, that one of ours may be: the nearest */
    GAIN = 1000    /* of a match without distance */
};

/* What the two have in common. */
typedef struct aligning {
    const tl_align_item *mine, *ref;
    size_t n, nref;
    uint32_t *open, *free; /* indices, ascending: ours without a key; the reference's that match no key of ours */
    size_t nopen, nfree;
    int64_t *ahead_ns; /* by open item: our clock minus the reference's; before it is known, the number of earlier
                        * items with keys on both sides */
    int64_t reach_ns;  /* items whose ends are farther apart are not the same collective */
    bool pinned;       /* the clocks' distance comes from items with keys on both sides */
    bool loosely;      /* all pinning items are of kinds that ranks may leave early */
} aligning;

static int64_t abs_ns(int64_t a)
{
    return a < 0 ? -a : a;
}

static bool is_loose(uint32_t kind)
{
    return tl_is_loose((tl_collective)kind) && kind != TL_COLL_UNKNOWN;
}

/* Whether kind, dtype and bytes of two items allow that they are the same collective. */
static bool may_be(const tl_align_item *a, const tl_align_item *b)
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

static int64_t farthest(const tl_align_item *a, const tl_align_item *b)
{
    return is_loose(a->kind) || is_loose(b->kind) ? TL_MATCH_LOOSELY_NS : TL_MATCH_CLOSE_NS;
}

/* ---------------------------------------------------------------------------------------------------- what is open */

/* Fills open and free; apart[*npinned] gets the end-to-end distances of items with the same key, in ns. */
static void subseq(aligning *k, int64_t *apart, size_t *npinned)
{
    tl_map index_of = { 0 };
    bool *taken = tl_calloc(k->nref + 1, sizeof *taken);

    *npinned = 0;
    for (size_t j = 0; j < k->nref; j++)
        tl_map_put(&index_of, k->ref[j].key, (uint32_t)j);
    for (size_t i = 0; i < k->n; i++) {
        if (k->mine[i].key == 0) {
            k->ahead_ns[k->nopen] = (int64_t)*npinned;
            k->open[k->nopen++] = (uint32_t)i;
            continue;
        }
        uint32_t j = tl_map_get(&index_of, k->mine[i].key);
        if (j == TL_MAP_NONE)
            continue;
        taken[j] = true;
        if (!is_loose(k->mine[i].kind))
            apart[(*npinned)++] = tl_ns_between(k->mine[i].end_ns, k->ref[j].end_ns);
    }
    for (size_t i = 0; *npinned == 0 && i < k->n; i++) { /* only loose ones: better than nothing */
        uint32_t j = k->mine[i].key != 0 ? tl_map_get(&index_of, k->mine[i].key) : TL_MAP_NONE;
        k->loosely = k->loosely || j != TL_MAP_NONE;
        if (j != TL_MAP_NONE)
            apart[(*npinned)++] = tl_ns_between(k->mine[i].end_ns, k->ref[j].end_ns);
    }
    for (size_t j = 0; j < k->nref; j++)
        if (!taken[j])
            k->free[k->nfree++] = (uint32_t)j;
    for (size_t i = 0; i < k->nopen; i++)
        k->reach_ns = is_loose(k->mine[k->open[i]].kind) ? TL_MATCH_LOOSELY_NS : k->reach_ns;
    for (size_t j = 0; j < k->nfree; j++)
        k->reach_ns = is_loose(k->ref[k->free[j]].kind) ? TL_MATCH_LOOSELY_NS : k->reach_ns;
    tl_map_free(&index_of);
    free(taken);
}

/* Returns the median of the n distances that are at most TL_CLOCK_STEP_LEAST places from place `before`, ns. */
static int64_t distance_beside(const int64_t *apart, size_t n, size_t before, int64_t *room)
{
    size_t from = before > TL_CLOCK_STEP_LEAST ? before - TL_CLOCK_STEP_LEAST : 0;
    size_t to = before + TL_CLOCK_STEP_LEAST < n ? before + TL_CLOCK_STEP_LEAST : n;
    memcpy(room, apart + from, (to - from) * sizeof *room);
    return tl_median(room, to - from);
}

/* Sets ahead_ns from the items with keys on both sides: the median of all of them, or the median of the nearest ones
 * where the two differ, since clocks step and drift. */
static void find_distances(aligning *k, const int64_t *apart, size_t n)
{
    int64_t *room = tl_malloc(n * sizeof *room);
    memcpy(room, apart, n * sizeof *room);
    int64_t all_ns = tl_median(room, n);
    for (size_t i = 0; i < k->nopen; i++) {
        int64_t beside_ns = distance_beside(apart, n, (size_t)k->ahead_ns[i], room);
        bool another = !k->loosely && abs_ns(tl_ns_between(beside_ns, all_ns)) > TL_MATCH_CLOSE_NS / TL_MATCH_APART_PART;
        k->ahead_ns[i] = another ? beside_ns : all_ns;
    }
    free(room);
}

/* ---------------------------------------------------------------------------------------------------------- shifts */

/* How well our i-th open one is the reference's (i + shift)-th. */
typedef struct shifted {
    int64_t ahead_ns, scatter_ns;
    size_t pairs, misfits;
} shifted;

static shifted judge(const aligning *k, int64_t shift)
{
    size_t from = shift < 0 ? (size_t)-shift : 0;
    size_t to = k->nopen < (size_t)((int64_t)k->nfree - shift) ? k->nopen : (size_t)((int64_t)k->nfree - shift);
    size_t n = to - from, m = n < SAMPLES ? n : SAMPLES;
    shifted s = { .pairs = n };
    int64_t apart[SAMPLES];

    if (m == 0)
        return s;
    for (size_t i = 0; i < m; i++) {
        size_t at = from + i * n / m;
        const tl_align_item *a = &k->mine[k->open[at]], *b = &k->ref[k->free[(size_t)((int64_t)at + shift)]];
        s.misfits += !may_be(a, b);
        apart[i] = tl_ns_between(a->end_ns, b->end_ns);
    }
    s.misfits = s.misfits * n / m;
    s.ahead_ns = tl_median(apart, m);
    s.scatter_ns = tl_mad(apart, m, s.ahead_ns);
    return s;
}

/* Whether a beats b: fewer misfits; clearly less scatter; clocks less apart; more pairs; in this order. */
static bool is_better(const shifted *a, const shifted *b)
{
    uint64_t misfits_a = (uint64_t)a->misfits * b->pairs, misfits_b = (uint64_t)b->misfits * a->pairs;
    if (misfits_a != misfits_b)
        return misfits_a < misfits_b;
    if (abs_ns(tl_ns_between(a->scatter_ns, b->scatter_ns)) > TL_MATCH_CLOSE_NS / TL_MATCH_APART_PART)
        return a->scatter_ns < b->scatter_ns;
    if (abs_ns(a->ahead_ns) != abs_ns(b->ahead_ns))
        return abs_ns(a->ahead_ns) < abs_ns(b->ahead_ns);
    return a->pairs > b->pairs;
}

/* Sets ahead_ns of all open items to the clocks' distance under the best shift; 0 where there are too few items. */
static void find_shift(aligning *k)
{
    int64_t fewer = (int64_t)(k->nopen < k->nfree ? k->nopen : k->nfree),
            least = fewer / 2 > (int64_t)TL_MATCH_ENOUGH ? fewer / 2 : (int64_t)TL_MATCH_ENOUGH;
    int64_t first = tl_ns_max(least - (int64_t)k->nopen, -SHIFTS), last = tl_ns_min((int64_t)k->nfree - least, SHIFTS);
    shifted best = { 0 };

    for (int64_t shift = first; fewer >= (int64_t)TL_MATCH_ENOUGH && shift <= last; shift++) {
        shifted s = judge(k, shift);
        if (best.pairs == 0 || is_better(&s, &best))
            best = s;
    }
    for (size_t i = 0; i < k->nopen; i++)
        k->ahead_ns[i] = best.ahead_ns;
}

/* ----------------------------------------------------------------------------------------------------------- match */

/* The best that can be made of our first ones and the reference's first ones, row by row of ours. */
typedef struct row {
    size_t low, high; /* of the reference: this one of ours may be one of free[low, high) */
    size_t step;      /* where its choices begin */
} row;

enum { SKIP_MINE, SKIP_REF, MATCH };

static int64_t ref_end(const aligning *k, size_t j)
{
    return k->ref[k->free[j]].end_ns;
}

/* Fills each open item's range of candidates, by its end alone; returns the sum of their numbers. */
static size_t make_rows(const aligning *k, row *rows)
{
    size_t low = 0, high = 0, steps = 0;
    for (size_t i = 0; i < k->nopen; i++) {
        int64_t end = tl_ns_between(k->mine[k->open[i]].end_ns, k->ahead_ns[i]);
        while (low < k->nfree && tl_ns_between(end, ref_end(k, low)) > k->reach_ns)
            low++;
        high = high > low ? high : low;
        while (high < k->nfree && tl_ns_between(ref_end(k, high), end) <= k->reach_ns)
            high++;
        if (high - low > WINDOW) { /* the nearest: half of them before it */
            size_t middle = low;
            while (middle < high && ref_end(k, middle) < end)
                middle++;
            size_t first = middle > low + WINDOW / 2 ? middle - WINDOW / 2 : low;
            low = first + WINDOW <= high ? first : high - WINDOW;
        }
        rows[i] = (row){ low, high - low > WINDOW ? low + WINDOW : high, steps };
        steps += rows[i].high - rows[i].low;
    }
    return steps;
}

/* Returns the gain of matching our open item i with free item j; 0: they cannot be the same. */
static int64_t gain_of(const aligning *k, size_t i, size_t j)
{
    const tl_align_item *a = &k->mine[k->open[i]], *b = &k->ref[k->free[j]];
    int64_t apart = abs_ns(tl_ns_between(tl_ns_between(a->end_ns, k->ahead_ns[i]), b->end_ns));
    if (apart > farthest(a, b) || !may_be(a, b))
        return 0;
    return GAIN - GAIN / 2 * apart / farthest(a, b);
}

/* best[j - low] = the most that ours up to this row and the reference's before free[j] are worth, for low <= j <= high.
 */
static void fill_row(const aligning *k, size_t i, const row *r, const row *before, const int64_t *last, int64_t *best,
                     uint8_t *choices)
{
    for (size_t j = r->low; j <= r->high; j++) {
        /* The row before ends where nothing more could be matched. */
        size_t above = before == NULL ? 0 : j < before->high ? j - before->low : before->high - before->low;
        best[j - r->low] = before == NULL ? 0 : last[above];
        if (j == r->low)
            continue;
        uint8_t *choice = &choices[r->step + j - 1 - r->low];
        *choice = SKIP_MINE;
        if (best[j - 1 - r->low] > best[j - r->low]) {
            best[j - r->low] = best[j - 1 - r->low];
            *choice = SKIP_REF;
        }
        int64_t gain = gain_of(k, i, j - 1);
        size_t diagonal = before == NULL ? 0 : j - 1 < before->high ? j - 1 - before->low : before->high - before->low;
        int64_t matched = gain + (before == NULL ? 0 : last[diagonal]);
        if (gain > 0 && matched > best[j - r->low]) {
            best[j - r->low] = matched;
            *choice = MATCH;
        }
    }
}

/* From the last row back to the first. */
static size_t trace_back(const aligning *k, const row *rows, const uint8_t *choices, int64_t *match)
{
    size_t j = k->nopen > 0 ? rows[k->nopen - 1].high : 0, matched = 0;
    for (size_t i = k->nopen; i-- > 0;) {
        const row *r = &rows[i];
        j = j < r->high ? j : r->high;
        while (j > r->low && choices[r->step + j - 1 - r->low] == SKIP_REF)
            j--;
        if (j <= r->low || choices[r->step + j - 1 - r->low] != MATCH)
            continue;
        match[k->open[i]] = (int64_t)k->free[--j];
        matched++;
    }
    return matched;
}

/* How many of ours the reference could have: those within the time that it covers. */
static size_t count_covered(const aligning *k)
{
    size_t n = 0;
    for (size_t i = 0; i < k->nopen; i++) {
        int64_t end = tl_ns_between(k->mine[k->open[i]].end_ns, k->ahead_ns[i]);
        n += k->nfree > 0 && tl_ns_between(ref_end(k, 0), end) <= TL_MATCH_CLOSE_NS &&
             tl_ns_between(end, ref_end(k, k->nfree - 1)) <= TL_MATCH_CLOSE_NS;
    }
    return n;
}

static void match_open(const aligning *k, int64_t *match)
{
    row *rows = tl_malloc((k->nopen + 1) * sizeof *rows);
    size_t steps = make_rows(k, rows);
    uint8_t *choices = tl_malloc(steps + 1);
    int64_t both[2][WINDOW + 1];

    for (size_t i = 0; i < k->nopen; i++)
        fill_row(k, i, &rows[i], i > 0 ? &rows[i - 1] : NULL, both[(i + 1) % 2], both[i % 2], choices);
    size_t matched = trace_back(k, rows, choices, match);
    /* Without a key in common two ranks that have nothing to do with each other find partners by chance: few of them.
     */
    if (!k->pinned && 2 * matched < count_covered(k))
        for (size_t i = 0; i < k->nopen; i++)
            match[k->open[i]] = -1;
    free(rows);
    free(choices);
}

void tl_align(const tl_align_item *mine, size_t n, const tl_align_item *ref, size_t nref, int64_t *match)
{
    aligning k = { .mine = mine, .ref = ref, .n = n, .nref = nref, .reach_ns = TL_MATCH_CLOSE_NS };
    tl_arena arena = { 0 };
    int64_t *apart = tl_arena_take(&arena, n, sizeof *apart);
    size_t npinned = 0;

    k.open = tl_arena_take(&arena, n, sizeof *k.open);
    k.ahead_ns = tl_arena_take(&arena, n, sizeof *k.ahead_ns);
    k.free = tl_arena_take(&arena, nref, sizeof *k.free);
    for (size_t i = 0; i < n; i++)
        match[i] = -1;
    subseq(&k, apart, &npinned);
    if (npinned > 0) {
        k.pinned = true;
        find_distances(&k, apart, npinned);
    } else {
        find_shift(&k);
    }
    match_open(&k, match);
    tl_arena_free(&arena);
}
