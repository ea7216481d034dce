/* merge_equal.c - groups of equal rows that become one row each. */
#include "tlmpi/base/group.h"
#include <stdlib.h>
#include <string.h>

size_t tl_merge_equal(void *rows, size_t n, size_t size, int (*compare)(const void *a, const void *b),
                      void (*add)(void *sum, const void *row))
{
    char *v = rows, *last = v;
    if (n == 0)
        return 0;
    tl_sort(v, n, size, compare);
    for (size_t i = 1; i < n; i++) {
        char *row = v + i * size;
        if (compare(last, row) == 0) {
            add(last, row);
        } else {
            last += size;
            memmove(last, row, size);
        }
    }
    return (size_t)(last - v) / size + 1;
}
