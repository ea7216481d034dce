/* python.h - values as Python shows them, and numbers as numpy adds them up: to the last bit and digit, for tables that
 * are to be those of other programs.
 */
#ifndef TLMPI_COMPAT_PYTHON_H
#define TLMPI_COMPAT_PYTHON_H

#include "tlmpi/base/bytes.h"
#include "tlmpi/base/text.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The double as Python's repr writes it ("0.1", "1e+16", "-0.0", "inf", "nan"). */
#define TL_PYTHON_REPR_SIZE 32
void tl_python_repr(char out[TL_PYTHON_REPR_SIZE], double value);

/* Half to even at that many decimals (up to 9) of the exact binary value, as Python's round does. */
double tl_python_round(double value, int decimals);

/* Half to even at the second decimal, by way of the scaled double, as numpy does. */
double tl_numpy_round2(double value);

/* Sum of n doubles, `stride` apart, in the order of additions that numpy uses. */
double tl_numpy_sum(const double *v, size_t n, size_t stride);

/* Sum, mean and standard deviation (divided by n - 1) of n doubles as pandas has them for a group; NaN where there are
 * too few for a mean or a deviation. */
double tl_pandas_sum(const double *v, size_t n);
double tl_pandas_mean(const double *v, size_t n);
double tl_pandas_std(const double *v, size_t n);

/* The median of n doubles, which it sorts; NaN without one. */
double tl_numpy_median(double *v, size_t n);

/* The quantile q of n > 0 doubles that ascend. */
double tl_numpy_quantile(const double *ascending, size_t n, double q);

/* What pandas' describe tells of n doubles, which it sorts; NaN where there are too few.  It needs room for as many
 * more. */
typedef struct tl_described {
    double count, mean, std, min, quartile[3], max;
} tl_described;
tl_described tl_pandas_describe(double *v, size_t n);

/* Puts the indices of n doubles, none of them NaN, in the order that numpy's argsort gives them: it is not stable, and
 * what equals come to be in depends on all n (see introsort.c).  index[0 .. n) are 0 .. n - 1 afterwards in that order.
 */
void tl_numpy_argsort(uint32_t *index, const double *v, size_t n);

/* Whether a stands before b.  It need not be an order: in a circle of three each may stand before the next. */
typedef bool tl_before(void *context, uint32_t a, uint32_t b);

/* Puts n values in the order that Python 3.11's list.sort leaves them in, which it asks for in the same steps.  False:
 * memory is out. */
bool tl_python_sort(uint32_t *v, size_t n, tl_before *before, void *context);

/* Appends the tuple of a JSON array (valid text), and of the arrays in it: [[5], "a"] is ((5,), 'a').  What is no array
 * is appended as it is.  False: memory is out. */
bool tl_python_tuple(tl_text json, tl_bytes *out);

/* The same of a list: [[5], 'a'].  And what a JSON string stands for, given without its quotes. */
bool tl_python_list(tl_text json, tl_bytes *out);
bool tl_python_string(tl_text json, tl_bytes *out);

#endif
