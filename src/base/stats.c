/* stats.c - differences and sums of times that stay within int64_t. */
#include "tlmpi/base/stats.h"

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
