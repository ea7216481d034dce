/* surplus.c - see surplus.h. */
#include "tlmpi/analysis/surplus.h"
#include "tlmpi/base/stats.h"
#include <string.h>

void tl_middles_find(tl_middles *middles, const tl_parts *parts, size_t n, size_t stride, int64_t *scratch)
{
    *middles = (tl_middles){ .n = n };
    if (n < 2)
        return;
    for (int part = 0; part < TL_NPARTS; part++) {
        bool any = false;
        for (size_t i = 0; i < n; i++) {
            const tl_parts *p = (const tl_parts *)((const char *)parts + i * stride);
            scratch[i] = p->ns[part];
            any = any || scratch[i] != 0;
        }
        if (!any)
            continue;
        tl_ns_sort(scratch, n);
        size_t middle = (n - 1) / 2;
        middles->ns[part][0] = middle > 0 ? scratch[middle - 1] : 0;
        middles->ns[part][1] = scratch[middle];
        middles->ns[part][2] = scratch[middle + 1];
    }
}

/* What stands at the k-th place of the three when x is taken out of all. */
static int64_t without(const int64_t middle[3], int k, int64_t x)
{
    return x > middle[k] ? middle[k] : middle[k + 1];
}

static int64_t median_of_others(const int64_t middle[3], size_t n, int64_t x)
{
    int64_t high = without(middle, 1, x);
    if ((n - 1) % 2 != 0)
        return high;
    int64_t low = without(middle, 0, x);
    return low + (high - low) / 2;
}

int64_t tl_surplus(const tl_middles *middles, const tl_parts *own, uint16_t share[TL_NPARTS])
{
    int64_t surplus[TL_NPARTS], sum = 0;

    memset(share, 0, TL_NPARTS * sizeof *share);
    if (middles->n < 2)
        return 0;
    for (int part = 0; part < TL_NPARTS; part++) {
        int64_t over = own->ns[part] - median_of_others(middles->ns[part], middles->n, own->ns[part]);
        surplus[part] = over > 0 ? over : 0;
        sum += surplus[part];
    }
    for (int part = 0; sum > 0 && part < TL_NPARTS; part++)
        share[part] = (uint16_t)tl_portion(TL_SHARE_ONE, surplus[part], sum);
    return sum;
}
