/* tally.c - durations by name: sum, extremes, mean and scatter; and what HTA calls "others".
 *
 *     names by their sum, the largest first     a   b   c   d   e   f
 *     running total                             5   8  10  11  12  12.5
 *     0.8-quantile of these totals, by default                  |
 *     others                                                     [ f ]      total above it, or beyond names_max
 *
 * Then HTA groups by name once more and takes the sums for durations: the largest, the least and the mean of a name are
 * its sum, and those of the others are of their sums.
 */
#include "tally.h"

#include "tlmpi/base/quantile.h"
#include "tlmpi/base/sort.h"
#include "tlmpi/compat/python.h"
#include <stdlib.h>

#define OTHERS TL_TEXT("others")

const tl_hta_rest tl_hta_no_rest = { SIZE_MAX, 1 };

static bool is_chosen(const tl_hta_choice *choice, const tl_hta_row *row, const tl_hta_symbols *symbols)
{
    return choice->by_class ? tl_hta_on_stream(row) && symbols->v.v[row->name].class == choice->class
                            : row->cat == choice->cat;
}

static tl_hta_tally tally_of(const tl_hta_frame *frame, tl_text name, const double *durs, size_t n)
{
    tl_hta_tally tally = { frame, name, tl_pandas_sum(durs, n), durs[0], durs[0], tl_pandas_mean(durs, n), 0 };

    for (size_t i = 1; i < n; i++) {
        tally.max = durs[i] > tally.max ? durs[i] : tally.max;
        tally.min = durs[i] < tally.min ? durs[i] : tally.min;
    }
    if (n > 1)
        tally.std = tl_pandas_std(durs, n);
    return tally;
}

static int by_name(const void *a, const void *b)
{
    return tl_text_compare(((const tl_hta_tally *)a)->name, ((const tl_hta_tally *)b)->name);
}

typedef struct chosen {
    tl_arena arena;
    uint32_t *rows; /* positions in the frame */
    size_t n;
    double *durs;
} chosen;

static int by_symbol(const void *context, uint32_t a, uint32_t b)
{
    const tl_hta_row *rows = context;
    return TL_COMPARE(rows[a].name, rows[b].name);
}

/* The chosen rows, those of one name together and in their order. */
static bool choose(chosen *c, const tl_hta_frame *frame, const tl_hta_symbols *symbols, const tl_hta_choice *choice)
{
    size_t n = 0;

    for (size_t i = 0; i < frame->rows.n; i++)
        n += is_chosen(choice, &frame->rows.v[i], symbols);
    c->rows = tl_arena_take(&c->arena, n, sizeof *c->rows);
    c->durs = tl_arena_take(&c->arena, n, sizeof *c->durs);
    if (c->arena.failed)
        return false;
    for (size_t i = 0; i < frame->rows.n; i++)
        if (is_chosen(choice, &frame->rows.v[i], symbols))
            c->rows[c->n++] = (uint32_t)i;
    if (!tl_sort_index(c->rows, n, by_symbol, frame->rows.v))
        return false;
    for (size_t i = 0; i < n; i++)
        c->durs[i] = frame->rows.v[c->rows[i]].dur;
    return true;
}

/* The names from `first` on by their sum, the largest first: pandas sorts the reversed column upwards and reverses what
 * comes out. */
static void sort_by_sum(uint32_t *order, double *sums, const tl_hta_tally *tallies, size_t n)
{
    for (size_t i = 0; i < n; i++)
        sums[i] = tallies[n - 1 - i].sum;
    tl_numpy_argsort(order, sums, n);
    for (size_t i = 0; i < n / 2; i++) {
        uint32_t kept = order[i];
        order[i] = order[n - 1 - i];
        order[n - 1 - i] = kept;
    }
    for (size_t i = 0; i < n; i++)
        order[i] = (uint32_t)(n - 1 - order[i]);
}

/* Makes one of the names that are others; *n becomes how many are left. */
static bool lump(tl_hta_tally *tallies, size_t *n, const tl_hta_rest *rest)
{
    tl_arena arena = { 0 };
    uint32_t *order = tl_arena_take(&arena, *n, sizeof *order);
    double *totals = tl_arena_take(&arena, *n, sizeof *totals);
    double *sorted = tl_arena_take(&arena, *n, sizeof *sorted); /* the totals; the sums, first and last */
    tl_hta_tally *left = tl_arena_take(&arena, *n, sizeof *left);
    size_t nleft = 0, nothers = 0;
    double total = 0;

    if (arena.failed) {
        tl_arena_free(&arena);
        return false;
    }
    sort_by_sum(order, sorted, tallies, *n);
    for (size_t i = 0; i < *n; i++)
        sorted[i] = totals[i] = total += tallies[order[i]].sum;
    tl_real_sort(sorted, *n);
    double limit = tl_numpy_quantile(sorted, *n, rest->quantile);

    for (size_t i = 0; i < *n; i++) {
        const tl_hta_tally *tally = &tallies[order[i]];
        if (totals[i] > limit || i >= rest->names_max || tl_text_compare(tally->name, OTHERS) == 0)
            sorted[nothers++] = tally->sum;
        else
            left[nleft++] = tally_of(tally->frame, tally->name, &tally->sum, 1);
    }
    if (nothers > 0)
        left[nleft++] = tally_of(tallies->frame, OTHERS, sorted, nothers);
    memcpy(tallies, left, nleft * sizeof *left);
    *n = nleft;
    tl_arena_free(&arena);
    return true;
}

bool tl_hta_tally_rank(tl_hta_tallies *out, const tl_hta_frame *frame, const tl_hta_symbols *symbols,
                       const tl_hta_choice *choice, const tl_hta_rest *rest)
{
    size_t first = out->n;
    chosen c = { 0 };
    bool ok = choose(&c, frame, symbols, choice);

    for (size_t i = 0, k = 0; ok && i < c.n; i = k) {
        uint32_t name = frame->rows.v[c.rows[i]].name;
        while (k < c.n && frame->rows.v[c.rows[k]].name == name)
            k++;
        ok = tl_vec_room(out);
        if (ok)
            out->v[out->n++] = tally_of(frame, tl_names_text(&symbols->texts, name), c.durs + i, k - i);
    }
    tl_arena_free(&c.arena);

    size_t n = out->n - first;
    if (!ok || n == 0)
        return ok;
    qsort(out->v + first, n, sizeof *out->v, by_name);
    if (n > rest->names_max) {
        if (!lump(out->v + first, &n, rest))
            return false;
        qsort(out->v + first, n, sizeof *out->v, by_name);
        out->n = first + n;
    }
    return true;
}

void tl_hta_tally_cells(tl_sheet *csv, const tl_hta_tally *tally)
{
    bool whole = tally->frame->dur_whole;

    tl_sheet_text(csv, tally->name);
    tl_sheet_number(csv, tally->sum, whole);
    tl_sheet_number(csv, tally->max, whole);
    tl_sheet_number(csv, tally->min, whole);
    tl_sheet_real(csv, tally->std);
    tl_sheet_real(csv, tally->mean);
}
