/* quantile.c - medians, and the scatter around them. */
#include "tlmpi/base/quantile.h"
#include "tlmpi/base/mem.h"
#include "tlmpi/base/sort.h"
#include "tlmpi/base/stats.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* --------------------------------------------------------------------------------------------------------- integers */

static int by_value(const void *a, const void *b)
{
    const int64_t *x = a, *y = b;
    return TL_COMPARE(*x, *y);
}

/* Sorts by eight bits at a time, from the lowest, over the bits in which the numbers differ.  Returns v or room,
 * whichever has the result. */
static int64_t *sort_by_digits(int64_t *v, int64_t *room, size_t n, uint64_t least, uint64_t range)
{
    for (int shift = 0; shift < 64 && range >> shift != 0; shift += 8) {
        size_t count[257] = { 0 };
        for (size_t i = 0; i < n; i++)
            count[(((uint64_t)v[i] - least) >> shift & 255) + 1]++;
        for (size_t k = 0; k < 256; k++)
            count[k + 1] += count[k];
        for (size_t i = 0; i < n; i++)
            room[count[((uint64_t)v[i] - least) >> shift & 255]++] = v[i];
        int64_t *other = v;
        v = room;
        room = other;
    }
    return v;
}

void tl_ns_sort(int64_t *values, size_t n)
{
    enum { FEW = 256 };
    int64_t least = INT64_MAX, most = INT64_MIN;
    int64_t *room = n >= FEW ? tl_malloc(n * sizeof *room) : NULL;

    if (room == NULL) {
        if (n > 1)
            qsort(values, n, sizeof *values, by_value);
        return;
    }
    for (size_t i = 0; i < n; i++) {
        least = values[i] < least ? values[i] : least;
        most = values[i] > most ? values[i] : most;
    }
    const int64_t *sorted = sort_by_digits(values, room, n, (uint64_t)least, (uint64_t)most - (uint64_t)least);
    if (sorted != values)
        memcpy(values, sorted, n * sizeof *values);
    free(room);
}

size_t tl_ns_distinct(int64_t *values, size_t n)
{
    size_t kept = 0;

    tl_ns_sort(values, n);
    for (size_t i = 0; i < n; i++)
        if (i == 0 || values[i] != values[kept - 1])
            values[kept++] = values[i];
    return kept;
}

int64_t tl_median(int64_t *values, size_t n)
{
    tl_ns_sort(values, n);
    return tl_mean_of_two(values[tl_lower_middle(n)], values[tl_upper_middle(n)]);
}

int64_t tl_lower_median(int64_t *values, size_t n)
{
    tl_ns_sort(values, n);
    return values[tl_lower_middle(n)];
}

int64_t tl_median_rounded_up(int64_t *values, size_t n)
{
    tl_ns_sort(values, n);
    int64_t low = values[tl_lower_middle(n)], distance = values[tl_upper_middle(n)] - low;
    return low + distance / 2 + distance % 2;
}

int64_t tl_mad(int64_t *values, size_t n, int64_t middle)
{
    for (size_t i = 0; i < n; i++) {
        int64_t distance = tl_ns_between(values[i], middle);
        values[i] = distance < 0 ? -distance : distance;
    }
    return tl_median(values, n);
}

/* ---------------------------------------------------------------------------------------------------------- doubles */

static int ascending(const void *a, const void *b)
{
    const double *x = a, *y = b;
    return TL_COMPARE(*x, *y);
}

void tl_real_sort(double *x, size_t n)
{
    if (n > 1)
        qsort(x, n, sizeof *x, ascending);
}

double tl_real_median(double *x, size_t n)
{
    if (n == 0)
        return NAN;
    tl_real_sort(x, n);
    return n % 2 ? x[n / 2] : x[n / 2 - 1] + (x[n / 2] - x[n / 2 - 1]) / 2;
}

/* ---------------------------------------------------------------------------------------------------------- scatter */

double tl_sigma_of_mad(double mad)
{
    return 1.4826 * mad;
}

int64_t tl_sigma_of_mad_ns(int64_t mad_ns)
{
    return mad_ns < INT64_MAX / 14826 ? mad_ns * 14826 / 10000 : mad_ns;
}
