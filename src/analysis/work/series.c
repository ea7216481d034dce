/* series.c - how much there is of something that comes and goes.
 *
 *     spans     [  2  ]..........
 *               ...[  1  ]..[ 3 ]
 *     series    2  3  1  0  3   0       a point where the sum changes; it holds up to the next one
 */
#include "tlmpi/analysis/work.h"
#include "tlmpi/base/sort.h"
#include <stdlib.h>

__extension__ typedef __int128 wide;

static int by_from(const void *loads, uint32_t a, uint32_t b)
{
    const tl_load *v = loads;
    return TL_COMPARE(v[a].from_ns, v[b].from_ns);
}

static int by_to(const void *loads, uint32_t a, uint32_t b)
{
    const tl_load *v = loads;
    return TL_COMPARE(v[a].to_ns, v[b].to_ns);
}

/* A point at each instant at which something comes or goes, unless the sum stays what it was.  There is room for all. */
static void sweep(const tl_load *v, size_t n, const uint32_t *come, const uint32_t *go, tl_series *out)
{
    wide now = 0;
    int64_t before = 0;

    for (size_t i = 0, j = 0; j < n;) {
        int64_t at_ns = i < n && v[come[i]].from_ns < v[go[j]].to_ns ? v[come[i]].from_ns : v[go[j]].to_ns;
        while (j < n && v[go[j]].to_ns == at_ns)
            now -= v[go[j++]].weight;
        while (i < n && v[come[i]].from_ns == at_ns)
            now += v[come[i++]].weight;
        int64_t value = now > INT64_MAX ? INT64_MAX : (int64_t)now;
        if (value != before)
            out->v[out->n++] = (tl_point){ at_ns, value };
        before = value;
    }
}

void tl_series_add(tl_series *out, const tl_load *loads, size_t n)
{
    uint32_t *come = tl_malloc((n + 1) * sizeof *come), *go = tl_malloc((n + 1) * sizeof *go);

    for (size_t i = 0; i < n; i++)
        come[i] = go[i] = (uint32_t)i;
    tl_sort_index(come, n, by_from, loads);
    tl_sort_index(go, n, by_to, loads);
    tl_grow((void **)&out->v, &out->cap, out->n + 2 * n, sizeof *out->v);
    sweep(loads, n, come, go, out);
    free(come);
    free(go);
}

int64_t tl_series_max(const tl_series *series)
{
    int64_t most = 0;
    for (size_t i = 0; i < series->n; i++)
        most = series->v[i].value > most ? series->v[i].value : most;
    return most;
}

int64_t tl_series_ns(const tl_series *series, int64_t least)
{
    int64_t ns = 0;
    for (size_t i = 1; i < series->n; i++)
        if (series->v[i - 1].value >= least)
            ns += series->v[i].at_ns - series->v[i - 1].at_ns;
    return ns;
}

double tl_loads_integral(const tl_load *loads, size_t n)
{
    wide sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += (wide)loads[i].weight * (loads[i].to_ns - loads[i].from_ns);
    return (double)sum;
}
