/* compare.c - see compare.h: medians of cells, and of sums. */
#include "compare.h"
#include "tlmpi/base/mem.h"
#include "tlmpi/base/quantile.h"
#include "tlmpi/base/sort.h"
#include <stdlib.h>

static int by_number(const void *a, const void *b)
{
    const tl_number *x = a, *y = b;
    if (x->ns != y->ns)
        return x->ns < y->ns ? -1 : 1;
    return TL_COMPARE(x->of, y->of);
}

/* The median of n sorted numbers without the one at `own`; own = n leaves none out. */
static int64_t median_without(const tl_number *v, size_t n, size_t own)
{
    size_t others = own < n ? n - 1 : n;
    size_t low = tl_other_place(tl_lower_middle(others), own), high = tl_other_place(tl_upper_middle(others), own);
    return tl_mean_of_two(v[low].ns, v[high].ns);
}

/* Of all, the lower of the middle two: of two ranks the one that is not late. */
static int64_t median_of_all(const tl_number *v, size_t n)
{
    return v[tl_lower_middle(n)].ns;
}

tl_cell *tl_cell_at(const tl_comparing *c, const tl_block *b, size_t k, bool back)
{
    return &c->w->cells[back ? b->first + b->n - 1 - k : b->first + k];
}

/* Whose medians the next row has. */
static bool list_compared(tl_comparing *c, const tl_block *v, size_t n, size_t k, bool back)
{
    tl_whatif *w = c->w;
    if (!tl_grow((void **)&w->compared, &c->compared_cap, c->ncompared + n, sizeof *w->compared) ||
        !tl_grow((void **)&w->first_compared, &c->first_cap, w->nmedians + 2, sizeof *w->first_compared))
        return false;
    w->first_compared[w->nmedians] = c->ncompared;
    for (size_t i = 0; i < n; i++)
        w->compared[c->ncompared++] = (uint32_t)(tl_cell_at(c, &v[i], k, back) - w->cells);
    w->first_compared[w->nmedians + 1] = c->ncompared;
    return true;
}

bool tl_compare_cells(tl_comparing *c, const tl_block *v, size_t n, size_t k, bool back)
{
    tl_whatif *w = c->w;
    tl_number *x = c->numbers;

    if (!tl_grow((void **)&w->medians, &c->medians_cap, (w->nmedians + 1) * TL_NPARTS, sizeof *w->medians) ||
        !list_compared(c, v, n, k, back))
        return false;
    for (int host = 0; host < 2; host++) {
        for (size_t i = 0; i < n; i++) {
            const tl_cell *cell = tl_cell_at(c, &v[i], k, back);
            x[i] = (tl_number){ host ? cell->host_ns : cell->work_ns, i };
        }
        qsort(x, n, sizeof *x, by_number);
        for (size_t i = 0; i < n; i++) {
            tl_cell *cell = tl_cell_at(c, &v[x[i].of], k, back);
            *(host ? &cell->host_peer_ns : &cell->work_peer_ns) = median_without(x, n, i);
            *(host ? &cell->host_others_ns : &cell->work_others_ns) = median_without(x, n, i);
            *(host ? &cell->host_mid_ns : &cell->work_mid_ns) = median_of_all(x, n);
            cell->medians = (uint32_t)w->nmedians;
        }
    }
    for (int kind = 0; kind < TL_ASKED_WAITS; kind++) {
        for (size_t i = 0; i < n; i++)
            x[i] = (tl_number){ tl_cell_at(c, &v[i], k, back)->waits[kind], i };
        qsort(x, n, sizeof *x, by_number);
        for (size_t i = 0; i < n; i++)
            tl_cell_at(c, &v[i], k, back)->waits_mid[kind] = (uint32_t)median_of_all(x, n);
    }
    for (int part = 0; part < TL_NPARTS; part++) {
        for (size_t i = 0; i < n; i++) {
            tl_parts sum = { { 0 } };
            tl_whatif_cell_parts(w, v[i].rank, tl_cell_at(c, &v[i], k, back), &sum);
            x[i] = (tl_number){ sum.ns[part], i };
        }
        qsort(x, n, sizeof *x, by_number);
        w->medians[w->nmedians * TL_NPARTS + (size_t)part] = median_of_all(x, n);
    }
    w->nmedians++;
    return true;
}

/* Chance makes some cells of a step longer and others shorter.  How much shorter tells how much longer may be chance:
 * what is no more than NOISE times the median of that counts only as far as the shorter ones do not make up for it.
 * Fewer than FEW tell nothing. */
enum { NOISE = 3, FEW = 3 };

static int64_t surplus(const tl_cell *cell, bool host)
{
    return host ? cell->host_ns - cell->host_peer_ns : cell->work_ns - cell->work_peer_ns;
}

static void balance(tl_comparing *c, const tl_block *b, bool host)
{
    tl_cell *cells = c->w->cells + b->first;
    int64_t longer = 0, shorter = 0;
    size_t n = 0;

    for (size_t i = 0; i < b->n; i++)
        if (surplus(&cells[i], host) < 0)
            c->numbers[n++] = (tl_number){ -surplus(&cells[i], host), i };
    if (n < FEW)
        return;
    qsort(c->numbers, n, sizeof *c->numbers, by_number);
    int64_t chance = median_of_all(c->numbers, n) * NOISE;
    for (size_t i = 0; i < b->n; i++) {
        int64_t more = surplus(&cells[i], host);
        longer += more > 0 && more <= chance ? more : 0;
        shorter += more < 0 && -more <= chance ? -more : 0;
    }
    int64_t left = longer > shorter ? longer - shorter : 0;
    for (size_t i = 0; i < b->n; i++) {
        int64_t more = surplus(&cells[i], host);
        if (more > 0 && more <= chance)
            *(host ? &cells[i].host_peer_ns : &cells[i].work_peer_ns) += more - tl_portion(more, left, longer);
    }
}

void tl_balance_all(tl_comparing *c, const tl_block *v, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        balance(c, &v[i], false);
        balance(c, &v[i], true);
    }
}

bool tl_compare_blocks(tl_comparing *c, const tl_block *v, size_t n, size_t from, size_t to)
{
    for (size_t k = from; k < to; k++)
        if (!tl_compare_cells(c, v, n, k, false))
            return false;
    tl_balance_all(c, v, n);
    return true;
}

void tl_compare_sums(tl_comparing *c, const tl_block *b, const tl_block *v, size_t n)
{
    for (int host = 0; host < 2; host++) {
        size_t own = n;
        for (size_t i = 0; i < n; i++)
            c->numbers[i] = (tl_number){ host ? v[i].host_ns : v[i].work_ns, i };
        qsort(c->numbers, n, sizeof *c->numbers, by_number);
        for (size_t i = 0; i < n; i++)
            if (&v[c->numbers[i].of] == b)
                own = i;
        int64_t median = median_without(c->numbers, n, own), sum = host ? b->host_ns : b->work_ns;
        int64_t less = sum < median ? sum : median;
        for (size_t i = b->first; i < b->first + b->n; i++) {
            tl_cell *cell = &c->w->cells[i];
            int64_t ns = host ? cell->host_ns : cell->work_ns;
            *(host ? &cell->host_peer_ns : &cell->work_peer_ns) = tl_portion(ns, less, sum);
            *(host ? &cell->host_mid_ns : &cell->work_mid_ns) = tl_portion(ns, median, sum);
        }
    }
}
