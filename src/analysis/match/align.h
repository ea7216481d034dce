/* align.h - what the alignments of align.c and align_pairs.c share: an order of items, and two lists of items laid side
 * by side under a shift. */
#ifndef ANALYSIS_MATCH_ALIGN_H
#define ANALYSIS_MATCH_ALIGN_H

#include "tlmpi/analysis/match.h"
#include "tlmpi/base/sort.h"

/* Puts the items in order; equals stay in their order. */
void tl_align_sort(tl_align_item *items, size_t n, tl_compare *compare);

/* How well the i-th item of one list is the (i + shift)-th of another. */
typedef struct tl_shift {
    int64_t shift;
    int64_t ahead_ns, scatter_ns; /* median distance of the ends; how far distances scatter about it */
    size_t from, n, misfits;      /* items of the first list that have a partner; how many cannot be the same */
} tl_shift;

/* Shifts to either side that are tried. */
enum { TL_SHIFTS = 512 };

/* Fills tried[2 * TL_SHIFTS + 1] with the shifts under which half of the shorter list and TL_MATCH_ENOUGH items, or all
 * of it, have a partner; returns their number.  mean: scatter_ns is the mean distance from the median, which shows
 * seams between equal work; else the median distance. */
size_t tl_shifts_try(tl_align_item *const *a, size_t na, tl_align_item *const *b, size_t nb, bool mean,
                     tl_shift *tried);

#endif
