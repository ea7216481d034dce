/* python.h - values as Python shows them and orders as numpy and Python sort, for tables that must equal those of other
 * programs; and statistics of doubles.
 */
#ifndef TLMPI_COMPAT_PYTHON_H
#define TLMPI_COMPAT_PYTHON_H

#include "tlmpi/base/bytes.h"
#include "tlmpi/base/sort.h"
#include "tlmpi/base/text.h"
#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Writes the double as Python's repr does ("0.1", "1e+16", "-0.0", "inf", "nan"). */
#define TL_PYTHON_REPR_SIZE 32
void tl_python_repr(char out[TL_PYTHON_REPR_SIZE], double value);

/* Returns the value rounded to `decimals` decimals (up to 9) as Python's round does: half to even on the exact binary
 * value. */
double tl_python_round(double value, int decimals);

/* Returns the value rounded to 1 / scale (a scale of 100: two decimals) as numpy does: half to even on the scaled
 * double. */
static inline double tl_numpy_round(double scale, double value)
{
    return rint(value * scale) / scale;
}

/* Returns the sum of n doubles, `stride` doubles apart, added in numpy's order: HTA rounds means, and takes differences
 * of large sums, of which few digits are left. */
double tl_numpy_sum(const double *v, size_t n, size_t stride);

/* Statistics of some numbers, NaN left out.  Mean, min and max are NaN for n = 0; std divides by n - 1, and is NaN for
 * n < 2. */
typedef struct tl_real_stats {
    size_t n;
    double sum, mean, std, min, max;
} tl_real_stats;

/* TL_STATS returns the statistics of a field of the rows order[0 .. n), or of the first n rows where `order` is NULL.
 * TL_COLUMN copies the field into a new array that the caller frees. */
#define TL_STATS(order, n, rows, field)  tl_stats_of(order, n, &(rows)->field, sizeof *(rows))
#define TL_COLUMN(order, n, rows, field) tl_column(order, n, &(rows)->field, sizeof *(rows))
tl_real_stats tl_stats_of(const uint32_t *order, size_t n, const double *first, size_t size);
double *tl_column(const uint32_t *order, size_t n, const double *first, size_t size);

/* TL_SUMS groups the rows order[0 .. n) by `compare`, with the statistics of a field.  Sorted by sum, descending; ties
 * by the group's first row.  `order` is sorted by group and must outlive the groups; the caller frees sums.v. */
typedef struct tl_sum {
    const uint32_t *order; /* rows of the group, in their original order */
    size_t n;
    tl_real_stats stats;
} tl_sum;
typedef TL_VEC(tl_sum) tl_sums;
#define TL_SUMS(order, n, compare, rows, field) tl_sums_of(order, n, compare, rows, &(rows)->field, sizeof *(rows))
tl_sums tl_sums_of(uint32_t *order, size_t n, tl_compare *compare, const void *rows, const double *first, size_t size);

/* Returns the quantile q of n > 0 doubles in ascending order, linearly interpolated. */
double tl_real_quantile(const double *ascending, size_t n, double q);

/* Computes count, mean, std, min, 25%, 50%, 75% and max of n doubles, and sorts the doubles.  Statistics that need more
 * doubles are NaN. */
enum { TL_NDESCRIBED = 8 };
void tl_real_describe(double out[TL_NDESCRIBED], double *v, size_t n);

/* Sets index[0 .. n) to 0 .. n - 1 in the order of numpy's argsort of n doubles, none of them NaN.  That sort is not
 * stable: the order of equal doubles depends on all n doubles (see sorts.c). */
void tl_numpy_argsort(uint32_t *index, const double *v, size_t n);

/* Whether a stands before b.  The relation need not be transitive: a before b, b before c and c before a is allowed. */
typedef bool tl_before(void *context, uint32_t a, uint32_t b);

/* Sorts n values as Python 3.11's list.sort does, with the same comparisons in the same order. */
void tl_python_sort(uint32_t *v, size_t n, tl_before *before, void *context);

/* Appends a JSON array (valid text) as a Python list, [[5], 'a'], or with `tuple` as a tuple, ((5,), 'a'); nested
 * arrays too.  Other text is appended unchanged. */
void tl_python_list(tl_text json, bool tuple, tl_bytes *out);

#endif
