/* change.c - optimal partition of a series into runs of one level.
 *
 *     best(j) = min over i < j of  best(i) + penalty + sum over k in [i, j) of |x[k] - median(x[i..j))|
 *
 * For each end j the run grows towards the front, so its median is kept by two heaps: the lower half and the upper
 * half.
 */
#include "change.h"
#include "tlmpi/base/mem.h"
#include <math.h>
#include <stdlib.h>

/* A heap of numbers, the largest of sign * x on top, and their sum. */
typedef struct heap {
    double *v, sum, sign;
    size_t n;
} heap;

static double top(const heap *h)
{
    return h->sign * h->v[0];
}

static void push(heap *h, double x)
{
    size_t i = h->n++;
    double key = h->sign * x;
    for (; i > 0 && h->v[(i - 1) / 2] < key; i = (i - 1) / 2)
        h->v[i] = h->v[(i - 1) / 2];
    h->v[i] = key;
    h->sum += x;
}

static double pop(heap *h)
{
    double x = top(h), last = h->v[--h->n];
    size_t i = 0;
    for (size_t child; (child = 2 * i + 1) < h->n; i = child) {
        if (child + 1 < h->n && h->v[child + 1] > h->v[child])
            child++;
        if (h->v[child] <= last)
            break;
        h->v[i] = h->v[child];
    }
    h->v[i] = last;
    h->sum -= x;
    return x;
}

/* The lower half has as many numbers as the upper, or one more: its top is a median. */
static void insert(heap *lower, heap *upper, double x)
{
    if (lower->n == 0 || x <= top(lower))
        push(lower, x);
    else
        push(upper, x);
    if (lower->n > upper->n + 1)
        push(upper, pop(lower));
    else if (upper->n > lower->n)
        push(lower, pop(upper));
}

static double distance(const heap *lower, const heap *upper)
{
    double median = top(lower);
    return median * ((double)lower->n - (double)upper->n) - lower->sum + upper->sum;
}

bool tl_change_points(const double *x, size_t n, double penalty, size_t *starts, size_t *nruns)
{
    double *best = tl_malloc((n + 1) * sizeof *best);
    size_t *from = tl_malloc((n + 1) * sizeof *from);
    heap lower = { .v = tl_malloc((n + 1) * sizeof(double)), .sign = 1 };
    heap upper = { .v = tl_malloc((n + 1) * sizeof(double)), .sign = -1 };
    bool whole = best != NULL && from != NULL && lower.v != NULL && upper.v != NULL;

    *nruns = 0;
    if (whole)
        best[0] = 0;
    for (size_t j = 1; whole && j <= n; j++) {
        lower.n = upper.n = 0;
        lower.sum = upper.sum = 0;
        best[j] = INFINITY;
        for (size_t i = j; i-- > 0;) {
            insert(&lower, &upper, x[i]);
            double cost = best[i] + penalty + distance(&lower, &upper);
            if (cost <= best[j]) {
                best[j] = cost;
                from[j] = i;
            }
        }
    }
    for (size_t j = n; whole && j > 0; j = from[j])
        starts[(*nruns)++] = from[j];
    for (size_t a = 0, b = *nruns; a + 1 < b; a++) {
        size_t swap = starts[--b];
        starts[b] = starts[a];
        starts[a] = swap;
    }
    free(best);
    free(from);
    free(lower.v);
    free(upper.v);
    return whole;
}
