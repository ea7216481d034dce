/* host_idle.c - sums of the idle time that the host causes.
 *
 *     activity    ccc.ccch..ccccccssccccc.cccc      idle: h, s by the host, . by the device
 *     spans         |   |--      |-     |          each from the first instant without work to the next work
 */
#include "host_idle.h"
#include "tlmpi/base/sort.h"
#include "tlmpi/base/stats.h"
#include <stdlib.h>

/* Number of stretches in a block: each block has a stored sum. */
enum { BLOCK = 16 };

static bool is_idle(const tl_activity *a, size_t i)
{
    return a->kind[i] > TL_ACTIVITY_COMM;
}

/* Returns how long the device idles because of the host in stretch i, in ns. */
static int64_t host_idle_in_stretch(const tl_activity *a, size_t i)
{
    return is_idle(a, i) && a->kind[i] != TL_ACTIVITY_DEVICE ? a->start_ns[i + 1] - a->start_ns[i] : 0;
}

/* Returns the sum of host_idle_in_stretch, in ns, over the idle span that begins with stretch *i; moves *i to the first
 * stretch after the span. */
static int64_t host_idle_in_span(const tl_activity *a, size_t *i)
{
    int64_t sum = 0;
    for (; *i < a->n && is_idle(a, *i); ++*i)
        sum += host_idle_in_stretch(a, *i);
    return sum;
}

void tl_host_idle_make(tl_host_idle *idle, const tl_activity *a)
{
    size_t n = a->n / BLOCK + 1;
    int64_t sum = 0;

    *idle = (tl_host_idle){ .activity = a,
                            .before = tl_malloc(n * sizeof *idle->before),
                            .longest = tl_calloc(2 * n, sizeof *idle->longest),
                            .nblocks = n };
    for (size_t i = 0; i <= a->n; i++) {
        if (i % BLOCK == 0)
            idle->before[i / BLOCK] = sum;
        sum += i < a->n ? host_idle_in_stretch(a, i) : 0;
    }
    for (size_t i = 0; i < a->n; i++) {
        int64_t *leaf = &idle->longest[n + i / BLOCK];
        *leaf = tl_ns_max(*leaf, host_idle_in_span(a, &i)); /* stretch i is work then: skipped */
    }
    for (size_t i = n; i-- > 1;)
        idle->longest[i] = tl_ns_max(idle->longest[2 * i], idle->longest[2 * i + 1]);
}

void tl_host_idle_free(tl_host_idle *idle)
{
    free(idle->before);
    free(idle->longest);
    *idle = (tl_host_idle){ 0 };
}

/* Returns the first stretch from `at` on that ends after t; searches in doubling steps, since it is often near. */
static size_t first_ending_after(const tl_activity *a, size_t at, int64_t t_ns)
{
    size_t low = at, step = 1;
    while (at < a->n && a->start_ns[at + 1] <= t_ns) {
        low = at + 1;
        at = a->n - at > step ? at + step : a->n;
        step *= 2;
    }
    TL_BISECT(low, at, mid, a->start_ns[mid + 1] <= t_ns);
    return low;
}

/* Returns the idle time caused by the host before t, in ns; stretch `at` is the first that ends after t. */
static int64_t idle_before(const tl_host_idle *idle, size_t at, int64_t t_ns)
{
    const tl_activity *a = idle->activity;
    size_t i = at / BLOCK * BLOCK;
    int64_t sum = idle->before[at / BLOCK];

    for (; i < at; i++)
        sum += host_idle_in_stretch(a, i);
    return at < a->n && host_idle_in_stretch(a, at) > 0 && t_ns > a->start_ns[at] ? sum + (t_ns - a->start_ns[at])
                                                                                  : sum;
}

int64_t tl_host_idle_within(const tl_host_idle *idle, size_t *at, int64_t start_ns, int64_t end_ns)
{
    const tl_activity *a = idle->activity;

    *at = first_ending_after(a, *at, start_ns);
    if (*at == a->n || a->start_ns[*at] >= end_ns)
        return 0;
    if (a->start_ns[*at + 1] >= end_ns)
        return host_idle_in_stretch(a, *at) > 0 ? end_ns - tl_ns_max(start_ns, a->start_ns[*at]) : 0;
    return idle_before(idle, first_ending_after(a, *at, end_ns), end_ns) - idle_before(idle, *at, start_ns);
}

/* Returns the first stretch that begins after t. */
static size_t first_beginning_after(const tl_activity *a, int64_t t_ns)
{
    size_t low = 0;
    TL_BISECT(low, a->n, mid, a->start_ns[mid] <= t_ns);
    return low;
}

/* Returns the largest host_idle_in_span, in ns, of the spans that begin in stretches [from, to). */
static int64_t longest_of(const tl_activity *a, size_t from, size_t to)
{
    int64_t most = 0;
    for (size_t i = from; i < to; i++) {
        size_t after = i;
        if (is_idle(a, i) && (i == 0 || !is_idle(a, i - 1)))
            most = tl_ns_max(most, host_idle_in_span(a, &after));
    }
    return most;
}

int64_t tl_host_idle_longest(const tl_host_idle *idle, int64_t from_ns, int64_t to_ns)
{
    const tl_activity *a = idle->activity;
    size_t from = first_beginning_after(a, from_ns), to = first_beginning_after(a, to_ns);
    size_t low = (from + BLOCK - 1) / BLOCK, high = to / BLOCK;

    if (low >= high)
        return longest_of(a, from, to);
    int64_t most = tl_ns_max(longest_of(a, from, low * BLOCK), longest_of(a, high * BLOCK, to));
    for (low += idle->nblocks, high += idle->nblocks; low < high; low /= 2, high /= 2) {
        if (low % 2 == 1)
            most = tl_ns_max(most, idle->longest[low++]);
        if (high % 2 == 1)
            most = tl_ns_max(most, idle->longest[--high]);
    }
    return most;
}
