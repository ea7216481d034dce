/* gather.c - the cells of a heat map, summed while the rows of a table go by. */
#include "heat.h"

#include "tlmpi/base/mem.h"
#include "tlmpi/base/sort.h"
#include "tlmpi/base/stats.h"
#include <math.h>
#include <stdlib.h>

/* ------------------------------------------------------------------------------------------------------------- rows */

typedef struct ranking {
    const bool *keep;
    const int64_t *most;
} ranking;

static int compare_worst(const void *context, uint32_t a, uint32_t b)
{
    const ranking *r = context;
    if (r->keep[a] != r->keep[b])
        return r->keep[a] ? -1 : 1;
    return TL_COMPARE(r->most[b], r->most[a]);
}

/* Into is_shown. */
static void choose(tl_heat *h, const bool *keep, const int64_t *most)
{
    const ranking by = { keep, most };
    uint32_t *index = tl_calloc(h->nranks + 1, sizeof *index);
    for (size_t i = 0; i < h->nranks; i++)
        index[i] = (uint32_t)i;
    if (h->nranks > TL_HEAT_ROWS)
        tl_sort_index(index, h->nranks, compare_worst, &by);
    size_t n = h->nranks <= TL_HEAT_ROWS ? h->nranks : TL_HEAT_WORST;
    for (size_t i = 0; i < n; i++)
        h->is_shown[index[i]] = true;
    free(index);
}

void tl_heat_init(tl_heat *h, const tl_heat_steps *steps, const int32_t *ranks, size_t nranks, const bool *keep,
                  const int64_t *most)
{
    size_t rows = (nranks <= TL_HEAT_ROWS ? nranks : TL_HEAT_WORST) + 1;
    *h = (tl_heat){ .steps = steps, .ranks = ranks, .nranks = nranks };
    h->shown = tl_calloc(rows, sizeof *h->shown);
    h->is_shown = tl_calloc(nranks + 1, sizeof *h->is_shown);
    h->cells = tl_calloc(rows * (steps->n + 1), sizeof *h->cells);
    h->now = tl_calloc(nranks + 1, sizeof *h->now);
    h->total = tl_calloc(nranks + 1, sizeof *h->total);
    h->most = tl_calloc(nranks + 1, sizeof *h->most);
    h->most_at = tl_calloc(nranks + 1, sizeof *h->most_at);
    h->scratch = tl_calloc(nranks + steps->n + 1, sizeof *h->scratch);
    choose(h, keep, most);
    for (size_t i = 0; i < nranks; i++) {
        h->most_at[i] = SIZE_MAX;
        if (h->is_shown[i])
            h->shown[h->nshown++] = (uint32_t)i;
    }
    for (size_t i = 0; i < rows * steps->n; i++)
        h->cells[i].share = NAN;
}

void tl_heat_free(tl_heat *h)
{
    free(h->shown);
    free(h->is_shown);
    free(h->cells);
    free(h->now);
    free(h->total);
    free(h->most);
    free(h->most_at);
    free(h->scratch);
    *h = (tl_heat){ 0 };
}

size_t tl_heat_ranks(int32_t *ranks, size_t n)
{
    size_t left = 0;
    if (n > 0)
        tl_int_sort(ranks, n);
    for (size_t i = 0; i < n; i++)
        if (left == 0 || ranks[left - 1] != ranks[i])
            ranks[left++] = ranks[i];
    return left;
}

/* ------------------------------------------------------------------------------------------------------------ cells */

double tl_heat_share(int64_t part_ns, int64_t whole_ns)
{
    enum { FURTHEST = 1000 };
    if (part_ns == 0)
        return 0;
    double share = whole_ns > 0 ? (double)part_ns / (double)whole_ns : part_ns < 0 ? -FURTHEST : FURTHEST;
    return fmax(-FURTHEST, fmin(share, FURTHEST));
}

static void add(tl_heat_sum *sum, int64_t part_ns, int64_t whole_ns, int64_t n, bool late)
{
    sum->part_ns = tl_ns_sum(sum->part_ns, part_ns);
    sum->whole_ns = tl_ns_sum(sum->whole_ns, whole_ns);
    sum->n += n;
    sum->late = sum->late || late;
}

void tl_heat_add(tl_heat *h, size_t rank, int64_t part_ns, int64_t whole_ns, bool late)
{
    add(&h->now[rank], part_ns, whole_ns, 1, late);
}

void tl_heat_close(tl_heat *h)
{
    size_t columns = h->steps->n, c = columns > 0 ? tl_heat_steps_now(h->steps) : 0, n = 0, row = 0;
    if (columns == 0)
        return;

    for (size_t i = 0; i < h->nranks; i++) {
        tl_heat_sum *sum = &h->now[i];
        const bool shown = h->is_shown[i];
        const size_t at = row * columns + c;
        row += shown;
        if (sum->n == 0)
            continue;
        double share = tl_heat_share(sum->part_ns, sum->whole_ns);
        if (shown)
            h->cells[at] = (tl_heat_cell){ share, sum->part_ns, sum->whole_ns, sum->late };
        else
            h->scratch[n++] = share;
        if (h->most_at[i] == SIZE_MAX || share > h->most[i]) {
            h->most_at[i] = c;
            h->most[i] = share;
        }
        add(&h->total[i], sum->part_ns, sum->whole_ns, sum->n, sum->late);
        *sum = (tl_heat_sum){ 0 };
    }
    h->cells[h->nshown * columns + c].share = tl_real_median(h->scratch, n);
}

void tl_heat_end(tl_heat *h)
{
    if (h->steps->seen > 0)
        tl_heat_close(h);
    h->nothers = 0;
    for (size_t i = 0; i < h->nranks; i++)
        h->nothers += !h->is_shown[i] && h->total[i].n > 0;
}

size_t tl_heat_nrows(const tl_heat *h)
{
    return h->nshown + (h->nothers > 0);
}

const tl_heat_cell *tl_heat_row(const tl_heat *h, size_t row)
{
    return &h->cells[row * h->steps->n];
}

size_t tl_heat_worst(const tl_heat *h)
{
    size_t worst = SIZE_MAX;
    for (size_t i = 0; i < h->nranks; i++)
        if (h->total[i].n > 0 && (worst == SIZE_MAX || h->total[i].part_ns > h->total[worst].part_ns))
            worst = i;
    return worst;
}

size_t tl_heat_shortest(const tl_heat *h)
{
    size_t shortest = SIZE_MAX;
    for (size_t i = 0; i < h->nranks; i++)
        if (h->total[i].n > 0 && (shortest == SIZE_MAX || h->total[i].part_ns < h->total[shortest].part_ns))
            shortest = i;
    return shortest;
}

size_t tl_heat_hidden(const tl_heat *h)
{
    size_t most = SIZE_MAX;
    for (size_t i = 0; i < h->nranks; i++)
        if (!h->is_shown[i] && h->total[i].n > 0 && (most == SIZE_MAX || h->most[i] > h->most[most]))
            most = i;
    return most;
}
