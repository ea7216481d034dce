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
#include "tlmpi/compat/python.h"
#include <stdlib.h>

#define OTHERS TL_TEXT("others")

static bool is_chosen(const void *context, const tl_hta_row *row)
{
    const tl_hta_choice *choice = context;
    return choice->by_class ? tl_hta_on_stream(row) && choice->symbols->v.v[row->name].class == choice->class
                            : row->cat == choice->cat;
}

static tl_hta_tally tally_of(const tl_hta_frame *frame, tl_text name, const double *durs, size_t n)
{
    tl_group_stats s = tl_pandas_stats(durs, n);
    return (tl_hta_tally){ frame, name, s.sum, s.max, s.min, s.mean, n > 1 ? s.std : 0 };
}

static int by_name(const void *a, const void *b)
{
    return tl_text_compare(((const tl_hta_tally *)a)->name, ((const tl_hta_tally *)b)->name);
}

/* The names by their sum, the largest first: pandas sorts the reversed column upwards and reverses what comes out. */
static void sort_by_sum(uint32_t *order, double *sums, const tl_hta_tally *tallies, size_t n)
{
    for (size_t i = 0; i < n; i++)
        sums[i] = tallies[n - 1 - i].sum;
    tl_numpy_argsort(order, sums, n);
    for (size_t i = 0; i < (n + 1) / 2; i++) {
        uint32_t kept = order[i];
        order[i] = (uint32_t)(n - 1 - order[n - 1 - i]);
        order[n - 1 - i] = (uint32_t)(n - 1 - kept);
    }
}

/* Makes one of the names that are others; returns how many are left. */
static size_t lump(tl_hta_tally *tallies, size_t n, const tl_hta_rest *rest)
{
    tl_arena arena = { 0 };
    uint32_t *order = tl_arena_take(&arena, n, sizeof *order);
    double *totals = tl_arena_take(&arena, n, sizeof *totals);
    double *sorted = tl_arena_take(&arena, n, sizeof *sorted); /* the totals; the sums, first and last */
    tl_hta_tally *left = tl_arena_take(&arena, n, sizeof *left);
    size_t nleft = 0, nothers = 0;
    double total = 0;

    sort_by_sum(order, sorted, tallies, n);
    for (size_t i = 0; i < n; i++)
        sorted[i] = totals[i] = total += tallies[order[i]].sum;
    tl_real_sort(sorted, n);
    double limit = tl_numpy_quantile(sorted, n, rest->quantile);

    for (size_t i = 0; i < n; i++) {
        const tl_hta_tally *tally = &tallies[order[i]];
        if (totals[i] > limit || i >= rest->names_max || tl_text_compare(tally->name, OTHERS) == 0)
            sorted[nothers++] = tally->sum;
        else
            left[nleft++] = tally_of(tally->frame, tally->name, &tally->sum, 1);
    }
    if (nothers > 0)
        left[nleft++] = tally_of(tallies->frame, OTHERS, sorted, nothers);
    memcpy(tallies, left, nleft * sizeof *left);
    tl_arena_free(&arena);
    return nleft;
}

void tl_hta_tally_rank(tl_hta_tallies *out, const tl_hta_frame *frame, const tl_hta_choice *choice,
                       const tl_hta_rest *rest)
{
    const size_t first = out->n;
    tl_hta_groups g = tl_hta_groups_of(frame, TL_HTA_BY_NAME, choice->symbols->v.n, is_chosen, choice);
    double *durs = tl_malloc(frame->rows.n * sizeof *durs);

    for (size_t name = 0; name < g.n; name++) {
        size_t from = g.first[name], n = g.first[name + 1] - from;
        for (size_t i = 0; i < n; i++)
            durs[i] = frame->rows.v[g.order[from + i]].dur;
        if (n > 0)
            tl_vec_push(out, tally_of(frame, tl_hta_text(choice->symbols, (uint32_t)name), durs, n));
    }
    free(durs);
    tl_hta_groups_free(&g);

    if (out->n > first)
        qsort(out->v + first, out->n - first, sizeof *out->v, by_name);
    if (out->n - first > rest->names_max) {
        out->n = first + lump(out->v + first, out->n - first, rest);
        qsort(out->v + first, out->n - first, sizeof *out->v, by_name);
    }
}

void tl_hta_tally_cells(tl_csv *csv, const tl_hta_tally *tally)
{
    bool whole = tally->frame->dur_whole;

    TL_CELLS(csv, tl_string(tally->name), tl_number(tally->sum, whole), tl_number(tally->max, whole),
             tl_number(tally->min, whole), tl_real(tally->std), tl_real(tally->mean));
}
