/* python.h - values as Python shows them, and numbers as numpy adds them up: to the last bit and digit, for tables that
 * are to be those of other programs.
 */
#ifndef TLMPI_COMPAT_PYTHON_H
#define TLMPI_COMPAT_PYTHON_H

#include "tlmpi/base/bytes.h"
#include "tlmpi/base/sort.h"
#include "tlmpi/base/text.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The double as Python's repr writes it ("0.1", "1e+16", "-0.0", "inf", "nan"). */
#define TL_PYTHON_REPR_SIZE 32
void tl_python_repr(char out[TL_PYTHON_REPR_SIZE], double value);

/* Half to even at that many decimals (up to 9) of the exact binary value, as Python's round does. */
double tl_python_round(double value, int decimals);

/* Half to even at a decimal, the second with a scale of 100, by way of the scaled double, as numpy does. */
double tl_numpy_round(double scale, double value);

/* Sum of n doubles, `stride` apart, in the order of additions that numpy uses. */
double tl_numpy_sum(const double *v, size_t n, size_t stride);

/* Statistics by pandas of the numbers of a group that are not NaN.  Without a number the mean and the extremes are
 * NaN; std divides by n - 1, and is NaN for fewer than two. */
typedef struct tl_group_stats {
    size_t n;
    double sum, mean, std, min, max;
} tl_group_stats;
tl_group_stats tl_pandas_stats(const double *v, size_t n);
double tl_pandas_sum(const double *v, size_t n);

/* A column of the rows order[0 .. n), or of the first n without an order: a field of their struct.  An array to be freed;
 * its sum as numpy has it; what pandas tells of it. */
#define TL_COLUMN(order, n, rows, field) tl_column(order, n, &(rows)->field, sizeof *(rows))
#define TL_SUM(order, n, rows, field)    tl_column_sum(order, n, &(rows)->field, sizeof *(rows))
#define TL_STATS(order, n, rows, field)  tl_column_stats(order, n, &(rows)->field, sizeof *(rows))
double *tl_column(const uint32_t *order, size_t n, const double *first, size_t size);
double tl_column_sum(const uint32_t *order, size_t n, const double *first, size_t size);
tl_group_stats tl_column_stats(const uint32_t *order, size_t n, const double *first, size_t size);

/* Rows in groups, with what pandas tells of a column; the group with the largest sum first, of equal ones the group whose
 * row comes first.  order[0 .. n) are the rows, which it sorts by group and which must stay; free(sums.v) ends it. */
typedef struct tl_sum {
    const uint32_t *order; /* its rows, in the order that they had */
    size_t n;
    double total;         /* as pandas adds up; `plain`: one number after the other */
    tl_group_stats stats; /* plain: none */
} tl_sum;
typedef TL_VEC(tl_sum) tl_sums;
#define TL_SUMS(order, n, compare, rows, field, plain)                                                                 \
    tl_sums_of(order, n, compare, rows, &(rows)->field, sizeof *(rows), plain)
tl_sums tl_sums_of(uint32_t *order, size_t n, tl_compare *compare, const void *rows, const double *first, size_t size,
                   bool plain);

/* The quantile q of n > 0 doubles that ascend. */
double tl_numpy_quantile(const double *ascending, size_t n, double q);

/* count, mean, std, min, 25%, 50%, 75% and max of n doubles, which it sorts, as pandas' describe has them; NaN where
 * there are too few. */
enum { TL_NDESCRIBED = 8 };
void tl_pandas_describe(double out[TL_NDESCRIBED], double *v, size_t n);

/* Puts the indices of n doubles, none of them NaN, in the order that numpy's argsort gives them: it is not stable, and
 * what equals come to be in depends on all n (see sorts.c).  index[0 .. n) are 0 .. n - 1 afterwards in that order.
 */
void tl_numpy_argsort(uint32_t *index, const double *v, size_t n);

/* Whether a stands before b.  It need not be an order: in a circle of three each may stand before the next. */
typedef bool tl_before(void *context, uint32_t a, uint32_t b);

/* Puts n values in the order that Python 3.11's list.sort leaves them in, which it asks for in the same steps. */
void tl_python_sort(uint32_t *v, size_t n, tl_before *before, void *context);

/* Appends the list of a JSON array (valid text), and of the arrays in it: [[5], 'a']; or the tuple: ((5,), 'a').  What is
 * no array is appended as it is. */
void tl_python_list(tl_text json, bool tuple, tl_bytes *out);

#endif
