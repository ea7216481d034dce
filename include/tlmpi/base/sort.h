/* sort.h - sorts indices of elements that are large or are columns; and searches sorted arrays.
 *
 * Traces are nearly sorted: a few streams one after the other, each sorted.  A natural merge sort uses such runs as
 * they are, so n indices in r runs cost O(n log r) comparisons.
 */
#ifndef TLMPI_BASE_SORT_H
#define TLMPI_BASE_SORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Returns a number below, at or above 0 if x is less than, equal to or greater than y: numbers, each evaluated
 * twice. */
#define TL_COMPARE(x, y) (((x) > (y)) - ((x) < (y)))

/* As TL_COMPARE for two structs, by the first of up to 12 fields in which they differ; of DOWN(field) the larger comes
 * first. */
#define TL_ORDER(x, y, ...)                                                                                            \
    TL_ORDER_NTH(__VA_ARGS__, TL_ORDER_12, TL_ORDER_11, TL_ORDER_10, TL_ORDER_9, TL_ORDER_8, TL_ORDER_7, TL_ORDER_6,   \
                 TL_ORDER_5, TL_ORDER_4, TL_ORDER_3, TL_ORDER_2, TL_ORDER_1, 0)                                        \
    (x, y, __VA_ARGS__)
#define TL_ORDER_NTH(_1, _2, _3, _4, _5, _6, _7, _8, _9, _10, _11, _12, nth, ...) nth

#define TL_ORDER_SECOND(...)                TL_ORDER_SECOND_OF(__VA_ARGS__)
#define TL_ORDER_SECOND_OF(_1, second, ...) second
#define TL_ORDER_FIELD(f)                   TL_ORDER_SECOND(TL_ORDER_FIELD_##f, f, )
#define TL_ORDER_FIELD_DOWN(f)              , f
#define TL_ORDER_SIGN(f)                    TL_ORDER_SECOND(TL_ORDER_SIGN_##f, +, )
#define TL_ORDER_SIGN_DOWN(f)               , -

#define TL_ORDER_UNLIKE(x, y, f)  (x)->TL_ORDER_FIELD(f) != (y)->TL_ORDER_FIELD(f)
#define TL_ORDER_1(x, y, f)       TL_ORDER_SIGN(f) TL_COMPARE((x)->TL_ORDER_FIELD(f), (y)->TL_ORDER_FIELD(f))
#define TL_ORDER_2(x, y, f, ...)  (TL_ORDER_UNLIKE(x, y, f) ? TL_ORDER_1(x, y, f) : TL_ORDER_1(x, y, __VA_ARGS__))
#define TL_ORDER_3(x, y, f, ...)  (TL_ORDER_UNLIKE(x, y, f) ? TL_ORDER_1(x, y, f) : TL_ORDER_2(x, y, __VA_ARGS__))
#define TL_ORDER_4(x, y, f, ...)  (TL_ORDER_UNLIKE(x, y, f) ? TL_ORDER_1(x, y, f) : TL_ORDER_3(x, y, __VA_ARGS__))
#define TL_ORDER_5(x, y, f, ...)  (TL_ORDER_UNLIKE(x, y, f) ? TL_ORDER_1(x, y, f) : TL_ORDER_4(x, y, __VA_ARGS__))
#define TL_ORDER_6(x, y, f, ...)  (TL_ORDER_UNLIKE(x, y, f) ? TL_ORDER_1(x, y, f) : TL_ORDER_5(x, y, __VA_ARGS__))
#define TL_ORDER_7(x, y, f, ...)  (TL_ORDER_UNLIKE(x, y, f) ? TL_ORDER_1(x, y, f) : TL_ORDER_6(x, y, __VA_ARGS__))
#define TL_ORDER_8(x, y, f, ...)  (TL_ORDER_UNLIKE(x, y, f) ? TL_ORDER_1(x, y, f) : TL_ORDER_7(x, y, __VA_ARGS__))
#define TL_ORDER_9(x, y, f, ...)  (TL_ORDER_UNLIKE(x, y, f) ? TL_ORDER_1(x, y, f) : TL_ORDER_8(x, y, __VA_ARGS__))
#define TL_ORDER_10(x, y, f, ...) (TL_ORDER_UNLIKE(x, y, f) ? TL_ORDER_1(x, y, f) : TL_ORDER_9(x, y, __VA_ARGS__))
#define TL_ORDER_11(x, y, f, ...) (TL_ORDER_UNLIKE(x, y, f) ? TL_ORDER_1(x, y, f) : TL_ORDER_10(x, y, __VA_ARGS__))
#define TL_ORDER_12(x, y, f, ...) (TL_ORDER_UNLIKE(x, y, f) ? TL_ORDER_1(x, y, f) : TL_ORDER_11(x, y, __VA_ARGS__))

/* Returns a number below, at or above 0 if a comes before, with or after b. */
typedef int tl_compare(const void *context, uint32_t a, uint32_t b);

/* Defines a tl_compare function for an array of T, by these fields of an element, as in TL_ORDER. */
#define TL_ORDER_BY(function, T, ...)                                                                                  \
    static int function(const void *rows, uint32_t a, uint32_t b)                                                      \
    {                                                                                                                  \
        const T *x = (const T *)rows + a, *y = (const T *)rows + b; /* NOLINT(bugprone-macro-parentheses) */           \
        return TL_ORDER(x, y, __VA_ARGS__);                                                                            \
    }

/* Defines a comparison for qsort: two T by these fields, as in TL_ORDER. */
#define TL_SORT_BY(function, T, ...)                                                                                   \
    static int function(const void *a, const void *b)                                                                  \
    {                                                                                                                  \
        return TL_ORDER((const T *)a, (const T *)b, __VA_ARGS__); /* NOLINT(bugprone-macro-parentheses) */             \
    }

/* Sorts n indices; stable.  Allocates n more indices. */
void tl_sort_index(uint32_t *index, size_t n, tl_compare *compare, const void *context);

/* As qsort, but stable, and faster for rows that are nearly sorted. */
void tl_sort(void *rows, size_t n, size_t size, int (*compare)(const void *a, const void *b));

/* Inserts a row into n rows in order, behind those that compare as equal; keeps the first `most`.  Returns the number
 * of rows kept. */
size_t tl_insert(void *rows, size_t n, size_t most, const void *row, size_t size,
                 int (*compare)(const void *a, const void *b));

/* Moves `at` up to the first index in [at, end) at which the condition `before`, in terms of the index `mid`, is false;
 * to the end if it is true everywhere.  The condition must be true before that index and false from there on.
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

/* Sorts n numbers and removes duplicates; returns the number of remaining ones. */
size_t tl_int_unique(int32_t *values, size_t n);
size_t tl_key_unique(uint64_t *keys, size_t n);

/* Returns the index of x in n ascending numbers; n: not found. */
size_t tl_index_of(const int32_t *ascending, size_t n, int32_t x);

#endif
