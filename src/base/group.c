/* group.c - the two steps of a grouping: order, and the end of a group; and both at once. */
#include "tlmpi/base/group.h"
#include <string.h>

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

void tl_groups_deal(const uint32_t *group_of, size_t n, size_t ngroups, size_t *first, uint32_t *v)
{
    memset(first, 0, (ngroups + 1) * sizeof *first);
    for (size_t i = 0; i < n; i++)
        if (group_of[i] != UINT32_MAX)
            first[group_of[i] + 1]++;
    for (size_t g = 0; g < ngroups; g++)
        first[g + 1] += first[g];
    for (size_t i = 0; i < n; i++)
        if (group_of[i] != UINT32_MAX)
            v[first[group_of[i]]++] = (uint32_t)i;
    memmove(first + 1, first, ngroups * sizeof *first); /* each was moved to its end, where the next one begins */
    first[0] = 0;
}
