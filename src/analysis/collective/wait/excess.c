/* excess.c - how much longer one of n ranks did something than the median of the other n - 1, by activity. */
#include "tlmpi/analysis/collective/wait.h"
#include "tlmpi/base/stats.h"
#include <string.h>

static void fill_middle(const void *values, size_t n, size_t stride, int64_t *scratch, int64_t middle[3])
{
    bool any = false;
    for (size_t i = 0; i < n; i++) {
        memcpy(&scratch[i], (const char *)values + i * stride, sizeof *scratch);
        any = any || scratch[i] != 0;
    }
    if (!any)
        return;
    tl_ns_sort(scratch, n);
    size_t at = tl_lower_middle(n);
    middle[0] = at > 0 ? scratch[at - 1] : 0;
    middle[1] = scratch[at];
    middle[2] = scratch[at + 1];
}

void tl_middles_find(tl_middles *middles, const tl_activity_ns *activities, size_t n, size_t stride, int64_t *scratch)
{
    *middles = (tl_middles){ .n = n };
    if (n < 2)
        return;
    for (int activity = 0; activity < TL_NACTIVITIES; activity++)
        fill_middle(&activities->ns[activity], n, stride, scratch, middles->ns[activity]);
}

void tl_middle_find(tl_middle *middle, const int64_t *values, size_t n, size_t stride, int64_t *scratch)
{
    *middle = (tl_middle){ .n = n };
    if (n >= 2)
        fill_middle(values, n, stride, scratch, middle->ns);
}

/* Returns the value at position k of `middle` after x, one of the values, is removed from all of them. */
static int64_t middle_without(const int64_t middle[3], int k, int64_t x)
{
    return x > middle[k] ? middle[k] : middle[k + 1];
}

static int64_t median_of_others(const int64_t middle[3], size_t n, int64_t x)
{
    int64_t high = middle_without(middle, 1, x);
    if ((n - 1) % 2 != 0)
        return high;
    int64_t low = middle_without(middle, 0, x);
    return tl_mean_of_two(low, high);
}

static int64_t excess_over_others(const int64_t middle[3], size_t n, int64_t own)
{
    int64_t over = own - median_of_others(middle, n, own);
    return over > 0 ? over : 0;
}

int64_t tl_excess_over(const tl_middle *middle, int64_t own)
{
    return middle->n < 2 ? 0 : excess_over_others(middle->ns, middle->n, own);
}

int64_t tl_excess_by_activity(const tl_middles *middles, const tl_activity_ns *own, uint16_t share[TL_NACTIVITIES])
{
    int64_t excess[TL_NACTIVITIES], sum = 0;

    memset(share, 0, TL_NACTIVITIES * sizeof *share);
    if (middles->n < 2)
        return 0;
    for (int activity = 0; activity < TL_NACTIVITIES; activity++) {
        excess[activity] = excess_over_others(middles->ns[activity], middles->n, own->ns[activity]);
        sum += excess[activity];
    }
    for (int activity = 0; sum > 0 && activity < TL_NACTIVITIES; activity++)
        share[activity] = (uint16_t)tl_portion(TL_SHARE_ONE, excess[activity], sum);
    return sum;
}
