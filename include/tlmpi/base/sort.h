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

/* The same of two structs, by the first of their fields, up to 12, that tells them apart. */
#define TL_ORDER(x, y, ...)                                                                                            \
    TL_ORDER_NTH(__VA_ARGS__, TL_ORDER_12, TL_ORDER_11, TL_ORDER_10, TL_ORDER_9, TL_ORDER_8, TL_ORDER_7, TL_ORDER_6,   \
                 TL_ORDER_5, TL_ORDER_4, TL_ORDER_3, TL_ORDER_2, TL_ORDER_1, 0)                                        \
    (x, y, __VA_ARGS__)
#define TL_ORDER_NTH(_1, _2, _3, _4, _5, _6, _7, _8, _9, _10, _11, _12, nth, ...) nth
#define TL_ORDER_1(x, y, f)                                                       TL_COMPARE((x)->f, (y)->f)
#define TL_ORDER_2(x, y, f, ...)                                                  ((x)->f != (y)->f ? TL_COMPARE((x)->f, (y)->f) : TL_ORDER_1(x, y, __VA_ARGS__))
#define TL_ORDER_3(x, y, f, ...)                                                  ((x)->f != (y)->f ? TL_COMPARE((x)->f, (y)->f) : TL_ORDER_2(x, y, __VA_ARGS__))
#define TL_ORDER_4(x, y, f, ...)                                                  ((x)->f != (y)->f ? TL_COMPARE((x)->f, (y)->f) : TL_ORDER_3(x, y, __VA_ARGS__))
#define TL_ORDER_5(x, y, f, ...)                                                  ((x)->f != (y)->f ? TL_COMPARE((x)->f, (y)->f) : TL_ORDER_4(x, y, __VA_ARGS__))
#define TL_ORDER_6(x, y, f, ...)                                                  ((x)->f != (y)->f ? TL_COMPARE((x)->f, (y)->f) : TL_ORDER_5(x, y, __VA_ARGS__))
#define TL_ORDER_7(x, y, f, ...)                                                  ((x)->f != (y)->f ? TL_COMPARE((x)->f, (y)->f) : TL_ORDER_6(x, y, __VA_ARGS__))
#define TL_ORDER_8(x, y, f, ...)                                                  ((x)->f != (y)->f ? TL_COMPARE((x)->f, (y)->f) : TL_ORDER_7(x, y, __VA_ARGS__))
#define TL_ORDER_9(x, y, f, ...)                                                  ((x)->f != (y)->f ? TL_COMPARE((x)->f, (y)->f) : TL_ORDER_8(x, y, __VA_ARGS__))
#define TL_ORDER_10(x, y, f, ...)                                                 ((x)->f != (y)->f ? TL_COMPARE((x)->f, (y)->f) : TL_ORDER_9(x, y, __VA_ARGS__))
#define TL_ORDER_11(x, y, f, ...)                                                 ((x)->f != (y)->f ? TL_COMPARE((x)->f, (y)->f) : TL_ORDER_10(x, y, __VA_ARGS__))
#define TL_ORDER_12(x, y, f, ...)                                                 ((x)->f != (y)->f ? TL_COMPARE((x)->f, (y)->f) : TL_ORDER_11(x, y, __VA_ARGS__))

/* Below, at or above 0, as a stands before, with or after b. */
typedef int tl_compare(const void *context, uint32_t a, uint32_t b);

/* Defines such a function, for an array of T, by these fields of an element. */
#define TL_ORDER_BY(function, T, ...)                                                                                  \
    static int function(const void *rows, uint32_t a, uint32_t b)                                                      \
    {                                                                                                                  \
        const T *x = (const T *)rows + a, *y = (const T *)rows + b; /* NOLINT(bugprone-macro-parentheses) */           \
        return TL_ORDER(x, y, __VA_ARGS__);                                                                            \
    }

/* Defines a function for qsort: the order of two T by these fields. */
#define TL_SORT_BY(function, T, ...)                                                                                   \
    static int function(const void *a, const void *b)                                                                  \
    {                                                                                                                  \
        return TL_ORDER((const T *)a, (const T *)b, __VA_ARGS__); /* NOLINT(bugprone-macro-parentheses) */             \
    }

/* Sorts n indices; equals stay in their order.  Takes n more indices of memory. */
void tl_sort_index(uint32_t *index, size_t n, tl_compare *compare, const void *context);

/* Sorts n rows of `size` bytes by a function for qsort, and takes its place where rows are nearly sorted; equals stay in
 * their order. */
void tl_sort(void *rows, size_t n, size_t size, int (*compare)(const void *a, const void *b));

/* Moves `at` up to the first place of [at, end) where the condition `before`, which names the place `mid`, does not
 * hold; to the end where the condition holds everywhere.  The condition must hold for all places before that place, and
 * for none after it.
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

/* Sorts n numbers, and keeps one of equals; how many are left. */
size_t tl_int_unique(int32_t *values, size_t n);
size_t tl_key_unique(uint64_t *keys, size_t n);

/* Where x stands among n numbers that ascend; n: it is none of them. */
size_t tl_index_of(const int32_t *ascending, size_t n, int32_t x);

#endif
