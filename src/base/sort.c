/* sort.c - natural merge sort of indices, and groups of them; sorted integers. */
#include "tlmpi/base/group.h"
#include "tlmpi/base/ranges.h"
#include <stdlib.h>
#include <string.h>

/* Returns the end of the run (sorted part) that starts at `from`. */
static size_t run_end(const uint32_t *v, size_t from, size_t n, tl_compare *compare, const void *context)
{
    size_t to = from + 1;
    while (to < n && compare(context, v[to - 1], v[to]) <= 0)
        to++;
    return to;
}

/* Returns how many of the n sorted indices at v come before x; with_equal: equal ones, too.  Searches in doubling
 * steps. */
static size_t count_before(const uint32_t *v, size_t n, uint32_t x, bool with_equal, tl_compare *compare,
                           const void *context)
{
    size_t low = 0, high = 0;
    for (size_t step = 1; high < n && compare(context, v[high], x) < (int)with_equal; step *= 2) {
        low = high + 1;
        high = n - high > step ? high + step : n;
    }
    TL_BISECT(low, high, mid, compare(context, v[mid], x) < (int)with_equal);
    return low;
}

/* Merges the sorted v[from, mid) and v[mid, to).  room: for the first of them.  After STREAK elements in a row of the
 * same of the two, the end of the streak is searched: mostly the two overlap little, or one is much longer. */
static void merge(uint32_t *v, size_t from, size_t mid, size_t to, uint32_t *room, tl_compare *compare,
                  const void *context)
{
    enum { STREAK = 8 };
    from += count_before(v + from, mid - from, v[mid], true, compare, context);
    size_t n = mid - from, i = 0, j = mid, out = from, k;

    memcpy(room, v + from, n * sizeof *v);
    for (int streak = 0; i < n && j < to;) { /* positive: of the first */
        if (compare(context, room[i], v[j]) <= 0) {
            v[out++] = room[i++];
            streak = streak > 0 ? streak + 1 : 1;
        } else {
            v[out++] = v[j++];
            streak = streak < 0 ? streak - 1 : -1;
        }
        if (streak == STREAK) {
            k = count_before(room + i, n - i, v[j], true, compare, context);
            memcpy(v + out, room + i, k * sizeof *v);
            i += k;
        } else if (streak == -STREAK) {
            k = count_before(v + j, to - j, room[i], false, compare, context);
            memmove(v + out, v + j, k * sizeof *v);
            j += k;
        } else {
            continue;
        }
        out += k;
        streak = 0;
    }
    memcpy(v + out, room + i, (n - i) * sizeof *v);
}

/* Sorts 2^depth runs, or fewer, from `from` on; returns their end. */
static size_t sort_runs(uint32_t *v, size_t from, size_t n, int depth, uint32_t *room, tl_compare *compare,
                        const void *context)
{
    if (depth == 0)
        return run_end(v, from, n, compare, context);
    size_t mid = sort_runs(v, from, n, depth - 1, room, compare, context);
    if (mid == n)
        return n;
    size_t to = sort_runs(v, mid, n, depth - 1, room, compare, context);
    merge(v, from, mid, to, room, compare, context);
    return to;
}

void tl_sort_index(uint32_t *v, size_t n, tl_compare *compare, const void *context)
{
    size_t end = n < 2 ? n : run_end(v, 0, n, compare, context);
    if (end == n)
        return;
    uint32_t *room = tl_malloc(n * sizeof *room);
    for (int depth = 0; end < n; depth++) {
        size_t to = sort_runs(v, end, n, depth, room, compare, context);
        merge(v, 0, end, to, room, compare, context);
        end = to;
    }
    free(room);
}

uint32_t *tl_sorted_index(size_t n, tl_compare *compare, const void *context)
{
    uint32_t *order = tl_malloc((n + 1) * sizeof *order);
    for (size_t i = 0; i < n; i++)
        order[i] = (uint32_t)i;
    tl_sort_index(order, n, compare, context);
    return order;
}

typedef struct sized_rows {
    const char *v;
    size_t size;
    int (*compare)(const void *a, const void *b);
} sized_rows;

static int by_row(const void *context, uint32_t a, uint32_t b)
{
    const sized_rows *r = context;
    return r->compare(r->v + a * r->size, r->v + b * r->size);
}

void tl_sort(void *v, size_t n, size_t size, int (*compare)(const void *a, const void *b))
{
    const sized_rows r = { v, size, compare };
    if (n < 2)
        return;
    tl_mem_indexable(n);
    uint32_t *order = tl_sorted_index(n, by_row, &r);
    char *sorted = tl_malloc(n * size);
    for (size_t i = 0; i < n; i++)
        memcpy(sorted + i * size, r.v + order[i] * size, size);
    memcpy(v, sorted, n * size);
    free(sorted);
    free(order);
}

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

size_t tl_insert(void *rows, size_t n, size_t most, const void *row, size_t size,
                 int (*compare)(const void *a, const void *b))
{
    char *v = rows;
    size_t at = n;
    while (at > 0 && compare(row, v + (at - 1) * size) < 0)
        at--;
    if (at == most)
        return n;
    n += n < most;
    memmove(v + (at + 1) * size, v + at * size, (n - 1 - at) * size);
    memcpy(v + at * size, row, size);
    return n;
}

static int larger_first(const void *bytes, uint32_t a, uint32_t b)
{
    const uint64_t *of = bytes;
    return TL_COMPARE(of[b], of[a]);
}

int32_t *tl_deal_by_size(const uint64_t *bytes, size_t n, int nprocs)
{
    int32_t *proc = tl_malloc((n + 1) * sizeof *proc);
    uint32_t *order = tl_sorted_index(n, larger_first, bytes);
    uint64_t *load = tl_calloc((size_t)nprocs, sizeof *load);
    for (size_t i = 0; i < n; i++) {
        int least = 0;
        for (int p = 1; p < nprocs; p++)
            least = load[p] < load[least] ? p : least;
        proc[order[i]] = least;
        load[least] += bytes[order[i]] + 1; /* an empty file is work as well */
    }
    free(order);
    free(load);
    return proc;
}

size_t tl_group_end(const uint32_t *order, size_t from, size_t n, tl_compare *compare, const void *context)
{
    size_t to = from + 1;
    while (to < n && compare(context, order[from], order[to]) == 0)
        to++;
    return to;
}

void tl_group_rows(const uint32_t *group_of, size_t n, size_t ngroups, size_t *first, uint32_t *v)
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
    memmove(first + 1, first, ngroups * sizeof *first); /* each was moved to its end, the begin of the next one */
    first[0] = 0;
}

static int by_value(const void *a, const void *b)
{
    const int32_t *x = a, *y = b;
    return TL_COMPARE(*x, *y);
}

void tl_int_sort(int32_t *values, size_t n)
{
    if (n > 1)
        qsort(values, n, sizeof *values, by_value);
}

size_t tl_int_unique(int32_t *values, size_t n)
{
    size_t kept = 0;
    if (n > 1)
        tl_int_sort(values, n);
    for (size_t i = 0; i < n; i++)
        if (kept == 0 || values[kept - 1] != values[i])
            values[kept++] = values[i];
    return kept;
}

static int by_key(const void *a, const void *b)
{
    return TL_COMPARE(*(const uint64_t *)a, *(const uint64_t *)b);
}

size_t tl_key_unique(uint64_t *keys, size_t n)
{
    size_t kept = 0;
    if (n > 1)
        qsort(keys, n, sizeof *keys, by_key);
    for (size_t i = 0; i < n; i++)
        if (kept == 0 || keys[kept - 1] != keys[i])
            keys[kept++] = keys[i];
    return kept;
}

size_t tl_index_of(const int32_t *ascending, size_t n, int32_t x)
{
    size_t low = 0;
    TL_BISECT(low, n, mid, ascending[mid] < x);
    return low < n && ascending[low] == x ? low : n;
}

TL_SORT_BY(by_first, tl_range, first, last)

void tl_ranges_sort(tl_ranges *ranges)
{
    if (ranges->n > 1)
        qsort(ranges->v, ranges->n, sizeof *ranges->v, by_first);
}
