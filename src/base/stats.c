#include "tlmpi/base/sort.h"
#include "tlmpi/base/stats.h"
#include <stdlib.h>

int64_t tl_ns_between(int64_t a, int64_t b)
{
    int64_t difference;
    if (__builtin_sub_overflow(a, b, &difference))
        return a < b ? INT64_MIN + 1 : INT64_MAX;
    return difference == INT64_MIN ? INT64_MIN + 1 : difference; /* so that it can be negated */
}

int64_t tl_ns_sum(int64_t a, int64_t b)
{
    int64_t sum;
    if (__builtin_add_overflow(a, b, &sum))
        return a < 0 ? INT64_MIN + 1 : INT64_MAX;
    return sum == INT64_MIN ? INT64_MIN + 1 : sum;
}

static int by_value(const void *a, const void *b)
{
    const int64_t *x = a, *y = b;
    return TL_COMPARE(*x, *y);
}

void tl_ns_sort(int64_t *values, size_t n)
{
    if (n > 1)
        qsort(values, n, sizeof *values, by_value);
}

int64_t tl_median(int64_t *values, size_t n)
{
    tl_ns_sort(values, n);
    int64_t low = values[(n - 1) / 2], high = values[n / 2];
    /* The mean rounded down, without a sum that might not fit. */
    return (low & high) + ((low ^ high) >> 1);
}

int64_t tl_mad(int64_t *values, size_t n, int64_t middle)
{
    for (size_t i = 0; i < n; i++) {
        int64_t distance = tl_ns_between(values[i], middle);
        values[i] = distance < 0 ? -distance : distance;
    }
    return tl_median(values, n);
}
