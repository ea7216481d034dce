/* introsort.c - the order that numpy's argsort gives to equals.
 *
 * A quicksort that is not stable: where rows share a time stamp, what it makes of them is arbitrary, and yet the same
 * each time.  Running totals over such rows depend on it, so it is done here step by step as numpy 1.24 does it:
 *
 *     17 or more     the median of first, middle and last is the pivot and waits at the last place but one; from both
 *                    sides towards each other, what stands on the wrong side of it is exchanged, equals of it, too.  The
 *                    smaller part is sorted first, the larger waits
 *     16 or fewer    insertion
 *     too deep       a part that waited while the quicksort was 2 log2(n) partitions deep is sorted by a heap
 */
#include "tlmpi/compat/python.h"

#define SMALL 16

/* Parts that wait are each at least as large as the one sorted before them. */
#define WAITING 64

static void swap(uint32_t *a, uint32_t *b)
{
    uint32_t kept = *a;
    *a = *b;
    *b = kept;
}

static void insert_all(uint32_t *low, const uint32_t *high, const double *v)
{
    for (uint32_t *i = low + 1; i <= high; i++) {
        uint32_t moving = *i, *to = i;
        for (; to > low && v[moving] < v[to[-1]]; to--)
            *to = to[-1];
        *to = moving;
    }
}

/* Places count from 1: below place i lie 2i and 2i + 1.  `sinking` goes down from place i of n, the larger of the two
 * below it up, until neither is larger than it. */
static void sink(uint32_t *heap, size_t i, size_t n, uint32_t sinking, const double *v)
{
    for (size_t below = 2 * i; below <= n; below = 2 * i) {
        if (below < n && v[heap[below - 1]] < v[heap[below]])
            below++;
        if (!(v[sinking] < v[heap[below - 1]]))
            break;
        heap[i - 1] = heap[below - 1];
        i = below;
    }
    heap[i - 1] = sinking;
}

static void heap_sort(uint32_t *heap, size_t n, const double *v)
{
    for (size_t i = n / 2; i > 0; i--)
        sink(heap, i, n, heap[i - 1], v);
    while (n > 1) {
        uint32_t last = heap[n - 1];
        heap[n - 1] = heap[0];
        sink(heap, 1, --n, last, v);
    }
}

/* The place at which the pivot comes to be: nothing larger stands before it, nothing smaller after. */
static uint32_t *part(uint32_t *low, uint32_t *high, const double *v)
{
    uint32_t *middle = low + (high - low) / 2, *i = low, *j = high - 1;

    if (v[*middle] < v[*low])
        swap(middle, low);
    if (v[*high] < v[*middle])
        swap(high, middle);
    if (v[*middle] < v[*low])
        swap(middle, low);
    double pivot = v[*middle];
    swap(middle, j);
    for (;;) {
        while (v[*++i] < pivot)
            ;
        while (pivot < v[*--j])
            ;
        if (i >= j)
            break;
        swap(i, j);
    }
    swap(i, high - 1);
    return i;
}

void tl_numpy_argsort(uint32_t *index, const double *v, size_t n)
{
    struct {
        uint32_t *low, *high;
        int depth;
    } waiting[WAITING];
    size_t nwaiting = 0;
    int depth = 0;

    for (size_t i = 0; i < n; i++)
        index[i] = (uint32_t)i;
    if (n < 2)
        return;
    for (size_t i = n; i > 1; i /= 2)
        depth += 2;
    waiting[nwaiting].low = index;
    waiting[nwaiting].high = index + n - 1;
    waiting[nwaiting++].depth = depth;

    while (nwaiting > 0) {
        uint32_t *low = waiting[--nwaiting].low, *high = waiting[nwaiting].high;
        depth = waiting[nwaiting].depth;
        if (depth < 0) {
            heap_sort(low, (size_t)(high - low) + 1, v);
            continue;
        }
        while (high - low > SMALL - 1) {
            uint32_t *pivot = part(low, high, v);
            bool low_first = pivot - low < high - pivot;
            waiting[nwaiting].low = low_first ? pivot + 1 : low;
            waiting[nwaiting].high = low_first ? high : pivot - 1;
            waiting[nwaiting++].depth = --depth;
            if (low_first)
                high = pivot - 1;
            else
                low = pivot + 1;
        }
        insert_all(low, high, v);
    }
}
