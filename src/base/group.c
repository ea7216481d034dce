/* group.c - the two steps of a grouping: order, and the end of a group. */
#include "tlmpi/base/group.h"

uint32_t *tl_sorted_index(size_t n, tl_compare *compare, const void *context)
{
    uint32_t *order = tl_malloc((n + 1) * sizeof *order);
    for (size_t i = 0; i < n; i++)
        order[i] = (uint32_t)i;
    tl_sort_index(order, n, compare, context);
    return order;
}

size_t tl_group_end(const uint32_t *order, size_t from, size_t n, tl_compare *compare, const void *context)
{
    size_t to = from + 1;
    while (to < n && compare(context, order[from], order[to]) == 0)
        to++;
    return to;
}
