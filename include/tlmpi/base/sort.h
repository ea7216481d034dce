/* sort.h - putting indices in order, where the things they point to are large or lie in columns; and finding a place in
 * what is in order.
 *
 * Traces are nearly sorted: a few streams one after the other, each in order.  A natural merge sort takes such runs as
 * they are, so n indices in r runs cost O(n log r) comparisons.
 */
#ifndef TLMPI_BASE_SORT_H
#define TLMPI_BASE_SORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Below, at or above 0, as x stands before, with or after y: numbers, each evaluated twice. */
#define TL_COMPARE(x, y) (((x) > (y)) - ((x) < (y)))

/* Below, at or above 0, as a stands before, with or after b. */
typedef int tl_compare(const void *context, uint32_t a, uint32_t b);

/* Sorts n indices; equals stay in their order.  Takes n more indices of memory; false when they are not to be had. */
bool tl_sort_index(uint32_t *index, size_t n, tl_compare *compare, const void *context);

/* Moves `at` up to the first place of [at, end) at which `before`, said of the place `mid`, does not hold; to the end
 * where it holds everywhere.  It holds for all places before that one, and for none after it.
 *
 *     size_t at = 0;
 *     TL_BISECT(at, n, mid, steps[mid].start_ns < ns);    the first step that starts at ns or later
 */
#define TL_BISECT(at, end, mid, before)                                                                                \
    do {                                                                                                               \
        for (size_t mid, end_ = (end); (at) < end_;) {                                                                 \
            (mid) = (at) + (end_ - (at)) / 2;                                                                          \
            if (before)                                                                                                \
                (at) = (mid) + 1;                                                                                      \
            else                                                                                                       \
                end_ = (mid);                                                                                          \
        }                                                                                                              \
    } while (0)

void tl_int_sort(int32_t *values, size_t n);

/* Where x stands among n numbers that ascend; n: it is none of them. */
size_t tl_index_of(const int32_t *ascending, size_t n, int32_t x);

#endif
