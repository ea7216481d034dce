/* sorts.c - numpy's argsort and Python's list.sort, step by step, so that equal or unordered elements end up in the
 * same places.
 *
 * Numpy's quicksort is not stable: the order of rows with one time stamp is arbitrary but reproducible, and running
 * totals over such rows depend on it.  The sort of numpy 1.24:
 *
 *     17 or more     quicksort: the pivot, the median of the first, middle and last element, is parked at the last
 *                    place but one; two scans towards each other swap elements on the wrong side of the pivot, and
 *                    elements equal to the pivot.  The smaller part is sorted first, the larger part goes on a stack
 *     16 or fewer    insertion sort
 *     too deep       a stacked part more than 2 log2(n) partitions deep is sorted by a heap sort
 *
 * The result of Python's list.sort follows from the comparison only if the comparison is an order.  If a < b < c < a,
 * the result depends on which pairs are compared, and when.  The sort of Python 3.11, a merge sort of the runs in the
 * input (T.  Peters, listsort.txt):
 *
 *     runs        at least 32 to 64 elements; shorter runs are extended by a binary insertion sort
 *     merges      of two neighbouring runs, in the order of the powers of their borders (J. I. Munro, S. Wild,
 *                 "Nearly-optimal mergesorts"); the shorter run is copied to a buffer
 *     galloping   after several wins in a row of one run, an exponential search with steps 1, 3, 7, 15 ... finds how
 *                 many elements of that run come next
 */
#include "tlmpi/base/mem.h"
#include "tlmpi/compat/python.h"
#include <stdlib.h>
#include <string.h>

static void swap(uint32_t *a, uint32_t *b)
{
    uint32_t kept = *a;
    *a = *b;
    *b = kept;
}

/* ------------------------------------------------------------------------------------------------ numpy's quicksort */

#define SMALL   16
#define WAITING 64 /* capacity of the stack of parts: the smaller part goes first, so log2(n) is enough */

/* Moves `sinking` down from place i of a heap of n, its larger child up, until no child is larger.  Places count
 * from 1: the children of place i are 2i and 2i + 1. */
static void sift_down(uint32_t *heap, size_t i, size_t n, uint32_t sinking, const double *v)
{
    for (size_t below = 2 * i; below <= n; below = 2 * i) {
        below += below < n && v[heap[below - 1]] < v[heap[below]];
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
        sift_down(heap, i, n, heap[i - 1], v);
    while (n > 1) {
        uint32_t last = heap[n - 1];
        heap[n - 1] = heap[0];
        sift_down(heap, 1, --n, last, v);
    }
}

/* Partitions [low, high] and returns the place of the pivot: no larger element before it, no smaller element after. */
static uint32_t *partition(uint32_t *low, uint32_t *high, const double *v)
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
    } waiting[WAITING] = { { index, index + (n > 0 ? n - 1 : 0), 0 } };
    size_t nwaiting = n > 1;

    for (size_t i = 0; i < n; i++)
        index[i] = (uint32_t)i;
    for (size_t i = n; i > 1; i /= 2)
        waiting[0].depth += 2;
    while (nwaiting > 0) {
        uint32_t *low = waiting[--nwaiting].low, *high = waiting[nwaiting].high;
        int depth = waiting[nwaiting].depth;
        if (depth < 0) {
            heap_sort(low, (size_t)(high - low) + 1, v);
            continue;
        }
        while (high - low > SMALL - 1) {
            uint32_t *pivot = partition(low, high, v);
            bool low_first = pivot - low < high - pivot;
            waiting[nwaiting].low = low_first ? pivot + 1 : low;
            waiting[nwaiting].high = low_first ? high : pivot - 1;
            waiting[nwaiting++].depth = --depth;
            if (low_first)
                high = pivot - 1;
            else
                low = pivot + 1;
        }
        for (uint32_t *i = low + 1; i <= high; i++) {
            uint32_t moving = *i, *to = i;
            for (; to > low && v[moving] < v[to[-1]]; to--)
                *to = to[-1];
            *to = moving;
        }
    }
}

/* ------------------------------------------------------------------------------------------ Python's sort: its runs */

#define GALLOP   7  /* wins in a row before a merge gallops */
#define MOST_RUN 64 /* short runs are extended to a length between half of this and this */
#define RUNS     85 /* capacity of the stack of runs, enough for 2^64 elements */

typedef struct run {
    size_t from, n;
    int power; /* of the border to the run after it */
} run;

typedef struct sorting {
    uint32_t *v;
    tl_before *before;
    void *context;
    uint32_t *room; /* buffer for the shorter of two runs */
    size_t gallop;  /* wins in a row before a merge gallops, adapted during the sort */
    run runs[RUNS];
    size_t nruns;
} sorting;

static bool is_less(const sorting *s, uint32_t a, uint32_t b)
{
    return s->before(s->context, a, b);
}

/* Returns the length of the run at the start of v[from, to), and reverses a descending run. */
static size_t run_length(const sorting *s, size_t from, size_t to)
{
    uint32_t *v = s->v;
    size_t i = from + 1;

    if (i == to)
        return 1;
    bool descends = is_less(s, v[i], v[i - 1]);
    for (i++; i < to && is_less(s, v[i], v[i - 1]) == descends; i++)
        ;
    for (size_t a = from, b = i; descends && a + 1 < b; a++)
        swap(&v[a], &v[--b]);
    return i - from;
}

/* Inserts v[sorted, to) into the sorted v[from, sorted). */
static void insert_rest(const sorting *s, size_t from, size_t sorted, size_t to)
{
    for (uint32_t *v = s->v; sorted < to; sorted++) {
        size_t low = from, high = sorted;
        uint32_t one = v[sorted];
        while (low < high) {
            size_t mid = low + (high - low) / 2;
            if (is_less(s, one, v[mid]))
                high = mid;
            else
                low = mid + 1;
        }
        memmove(v + low + 1, v + low, (sorted - low) * sizeof *v);
        v[low] = one;
    }
}

/* ---------------------------------------------------------------------------------------- Python's sort: its merges */

/* Returns how many of the n elements at `a` stand before `one`; equal elements count only with `right`.  The search
 * starts at `hint`. */
static size_t gallop(const sorting *s, uint32_t one, const uint32_t *a, size_t n, size_t hint, bool right)
{
    /* Whether a[i] stands before `one`. */
#define STAYS(i) (right ? !is_less(s, one, a[i]) : is_less(s, a[i], one))
    const bool up = STAYS(hint);
    const size_t most = up ? n - hint : hint + 1;
    size_t last = 0, step = 1;

    while (step < most && STAYS(up ? hint + step : hint - step) == up) {
        last = step;
        step = 2 * step + 1;
    }
    step = step < most ? step : most;
    size_t low = up ? hint + last + 1 : hint + 1 - step, high = up ? hint + step : hint - last;
    while (low < high) {
        size_t mid = low + (high - low) / 2;
        if (STAYS(mid))
            low = mid + 1;
        else
            high = mid;
    }
    return low;
#undef STAYS
}

/* The rest of a run in a merge: the n elements from p on; in a merge from the back, the n elements before p. */
typedef struct side {
    uint32_t *p;
    size_t n;
} side;

static uint32_t next_of(const side *x, bool back)
{
    return x->p[back ? -1 : 0];
}

/* Moves n elements of the side to *out. */
static void move_elements(uint32_t **out, side *x, size_t n, bool back)
{
    if (back)
        memmove(*out - n, x->p - n, n * sizeof *x->p);
    else
        memmove(*out, x->p, n * sizeof *x->p);
    *out = back ? *out - n : *out + n;
    x->p = back ? x->p - n : x->p + n;
    x->n -= n;
}

/* Merges two adjacent runs of na and nb elements: if na <= nb from the front with the first run copied to the
 * buffer, else from the back with the second run copied.  Ends when the copy has one element left, which then comes
 * last, or the other run has none. */
static void merge(sorting *s, size_t from, size_t na, size_t nb)
{
    const bool back = na > nb;
    uint32_t *first = s->v + from, *second = first + na, *out = back ? second + nb : first;
    side copy = { back ? s->room + nb : s->room, back ? nb : na }, other = { second, back ? na : nb };
    size_t wins_copy, wins_other;

    memcpy(s->room, back ? second : first, copy.n * sizeof *s->room);
    move_elements(&out, &other, 1, back);
    if (other.n == 0 || copy.n == 1)
        goto over;
    for (;; s->gallop++) {
        wins_copy = wins_other = 0;
        do {
            uint32_t x = next_of(&copy, back), y = next_of(&other, back);
            bool other_wins = back ? is_less(s, x, y) : is_less(s, y, x);
            wins_other = other_wins ? wins_other + 1 : 0;
            wins_copy = other_wins ? 0 : wins_copy + 1;
            move_elements(&out, other_wins ? &other : &copy, 1, back);
            if (other_wins ? other.n == 0 : copy.n == 1)
                goto over;
        } while (wins_copy < s->gallop && wins_other < s->gallop);
        s->gallop++;
        do {
            s->gallop -= s->gallop > 1;
            for (int turn = 0; turn < 2; turn++) { /* the first run gallops first */
                const bool of_copy = (turn == 0) != back;
                side *x = of_copy ? &copy : &other, *y = of_copy ? &other : &copy;
                uint32_t one = next_of(y, back);
                size_t wins = back ? x->n - gallop(s, one, x->p - x->n, x->n, x->n - 1, turn == 0)
                                   : gallop(s, one, x->p, x->n, 0, turn == 0);
                *(of_copy ? &wins_copy : &wins_other) = wins;
                move_elements(&out, x, wins, back);
                if (of_copy ? wins > 0 && copy.n <= 1 : other.n == 0)
                    goto over;
                move_elements(&out, y, 1, back);
                if (of_copy ? other.n == 0 : copy.n == 1)
                    goto over;
            }
        } while (wins_copy >= GALLOP || wins_other >= GALLOP);
    }
over:
    move_elements(&out, &other, other.n, back);
    move_elements(&out, &copy, copy.n, back);
}

/* Merges runs i and i + 1, without the elements at both ends that are already in place. */
static void merge_at(sorting *s, size_t i)
{
    run *r = &s->runs[i];
    size_t from = r[0].from, na = r[0].n, nb = r[1].n;

    r[0].n += nb;
    if (i + 3 == s->nruns)
        r[1] = r[2];
    s->nruns--;
    size_t stay = gallop(s, s->v[from + na], s->v + from, na, 0, true);
    from += stay;
    na -= stay;
    nb = na > 0 ? gallop(s, s->v[from + na - 1], s->v + from + na, nb, nb - 1, false) : 0;
    if (nb > 0)
        merge(s, from, na, nb);
}

/* Returns the first bit in which the midpoints of two neighbouring runs, as fractions of n, differ. */
static int power_of(size_t from, size_t na, size_t nb, size_t n)
{
    size_t a = 2 * from + na, b = a + na + nb;

    for (int power = 1;; power++) {
        if (a >= n) {
            a -= n;
            b -= n;
        } else if (b >= n) {
            return power;
        }
        a *= 2;
        b *= 2;
    }
}

void tl_python_sort(uint32_t *v, size_t n, tl_before *before, void *context)
{
    sorting s = { .v = v, .before = before, .context = context, .gallop = GALLOP };
    size_t least = n, odd = 0;

    for (; least >= MOST_RUN; least /= 2)
        odd |= least & 1;
    least += odd;
    s.room = tl_malloc((n / 2 + 1) * sizeof *s.room);
    for (size_t from = 0, length; n > 1 && from < n; from += length) {
        length = run_length(&s, from, n);
        if (length < least) {
            size_t filled = n - from < least ? n - from : least;
            insert_rest(&s, from, from + length, from + filled);
            length = filled;
        }
        if (s.nruns > 0) {
            const run *last = &s.runs[s.nruns - 1];
            int power = power_of(last->from, last->n, length, n);
            while (s.nruns > 1 && s.runs[s.nruns - 2].power > power)
                merge_at(&s, s.nruns - 2);
            s.runs[s.nruns - 1].power = power;
        }
        s.runs[s.nruns++] = (run){ .from = from, .n = length };
    }
    while (s.nruns > 1) {
        size_t i = s.nruns - 2;
        merge_at(&s, i > 0 && s.runs[i - 1].n < s.runs[i + 1].n ? i - 1 : i);
    }
    free(s.room);
}
