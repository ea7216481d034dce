/* surplus.h - what one of many did more of than the others: over the median of the other n - 1, part by part.
 *
 * The n are sorted once; the median of all but one is one of the three in their middle, or between two of them.
 */
#ifndef TLMPI_ANALYSIS_SURPLUS_H
#define TLMPI_ANALYSIS_SURPLUS_H

#include "tlmpi/model/parts.h"
#include <stdbool.h>
#include <stddef.h>

/* Parts of an arrival's surplus, in 1/TL_SHARE_ONE; what is missing to one is unknown. */
enum { TL_SHARE_ONE = 10000 };

/* Of n in order, those that stand at (n - 1) / 2 - 1, (n - 1) / 2 and one behind; those that are not there are 0. */
typedef struct tl_middle {
    size_t n;
    int64_t ns[3];
} tl_middle;

typedef struct tl_middles {
    size_t n;
    int64_t ns[TL_NPARTS][3];
} tl_middles;

/* The same of one number each, `stride` bytes apart; and what one of the n is over the median of the others, else 0. */
void tl_middle_find(tl_middle *middle, const int64_t *values, size_t n, size_t stride, int64_t *scratch);
int64_t tl_surplus_over(const tl_middle *middle, int64_t own);

/* scratch has room for n numbers.  tl_parts are `stride` bytes apart. */
void tl_middles_find(tl_middles *middles, const tl_parts *parts, size_t n, size_t stride, int64_t *scratch);

/* The shares of one's surplus (tl_blame_arrival.share); returns that surplus, all positive ones together.  `own` is one of
 * the n. */
int64_t tl_surplus(const tl_middles *middles, const tl_parts *own, uint16_t share[TL_NPARTS]);

#endif
