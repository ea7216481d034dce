/* host_idle.c - sums of the idle time that the host causes.
 *
 *     activity    ccc.ccch..ccccccssccccc.cccc      idle: h, s by the host, . by the device
 *     spans         |   |--      |-     |          each from the first instant without work to the next work
 */
#include "host_idle.h"
#include "tlmpi/base/sort.h"
#include "tlmpi/base/stats.h"
#include <stdlib.h>

/* Stretches in one block: blocks have a sum each, and a part of a block is added up when asked for. */
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

/* As host_idle_in_stretch, summed over the span of idle time that begins with stretch *i; *i goes behind it. */
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
        *leaf = tl_ns_max(*leaf, host_idle_in_span(a, &i)); /* after a span there is work, which needs no look */
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

/* The first stretch from `at` on that ends after t, searched in doubling steps: it is near or far away. */
static size_t ends_after(const tl_activity *a, size_t at, int64_t t_ns)
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

/* Idle time before t, which lies before the end of stretch `at`. */
static int64_t before(const tl_host_idle *idle, size_t at, int64_t t_ns)
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

    *at = ends_after(a, *at, start_ns);
    if (*at == a->n || a->start_ns[*at] >= end_ns)
        return 0;
    if (a->start_ns[*at + 1] >= end_ns)
        return host_idle_in_stretch(a, *at) > 0 ? end_ns - tl_ns_max(start_ns, a->start_ns[*at]) : 0;
    return before(idle, ends_after(a, *at, end_ns), end_ns) - before(idle, *at, start_ns);
}

/* The first stretch that begins after t. */
static size_t begins_after(const tl_activity *a, int64_t t_ns)
{
    size_t low = 0;
    TL_BISECT(low, a->n, mid, a->start_ns[mid] <= t_ns);
    return low;
}

/* The most in a span that begins with one of the stretches [from, to). */
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
    size_t from = begins_after(a, from_ns), to = begins_after(a, to_ns);
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
