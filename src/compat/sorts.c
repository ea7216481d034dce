/* sorts.c - two sorts of other programs, step by step: what they make of rows that are equal, or that have no order.
 *
 * Numpy's quicksort is not stable: where rows share a time stamp, what it makes of them is arbitrary, and yet the same
 * each time.  Running totals over such rows depend on it.  As numpy 1.24 does it:
 *
 *     17 or more     the median of first, middle and last is the pivot and waits at the last place but one; from both
 *                    sides towards each other, what stands on the wrong side of it is exchanged, equals of it, too.
 *                    The smaller part is sorted first, the larger waits
 *     16 or fewer    insertion
 *     too deep       a part that waited while the quicksort was 2 log2(n) partitions deep is sorted by a heap
 *
 * Python's list.sort is defined by what it compares only where the comparison is an order.  Where a < b < c < a, the
 * outcome depends on which pairs are compared, and when.  As Python 3.11 does it, a merge sort of the runs that are
 * there already (T. Peters, listsort.txt):
 *
 *     runs        of at least 32 to 64 elements, short ones filled up by a binary insertion sort
 *     merges      two neighbours, in the order that the powers of their borders give (J. I. Munro, S. Wild, "Nearly-optimal
 *                 mergesorts"), the shorter one copied away
 *     galloping   where one side wins again and again, its stretch is looked for in steps of 1, 3, 7, 15 ...
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

/* ------------------------------------------------------------------------------------------------- numpy's quicksort */

#define SMALL   16
#define WAITING 64 /* parts that wait are each at least as large as the one sorted before them */

/* Places count from 1: below place i lie 2i and 2i + 1.  `sinking` goes down from place i of n, the larger of the two
 * below it up, until neither is larger than it. */
static void sink(uint32_t *heap, size_t i, size_t n, uint32_t sinking, const double *v)
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
        for (uint32_t *i = low + 1; i <= high; i++) {
            uint32_t moving = *i, *to = i;
            for (; to > low && v[moving] < v[to[-1]]; to--)
                *to = to[-1];
            *to = moving;
        }
    }
}

/* -------------------------------------------------------------------------------------------- Python's sort: its runs */

#define GALLOP   7  /* wins in a row before it gallops */
#define MOST_RUN 64 /* short runs are filled up to half of this at least */
#define RUNS     85 /* of 2^64 elements no more wait */

typedef struct run {
    size_t from, n;
    int power; /* of the border to the run after it */
} run;

typedef struct sorting {
    uint32_t *v;
    size_t n;
    tl_before *before;
    void *context;
    uint32_t *room; /* for the shorter of two runs */
    size_t gallop;
    run runs[RUNS];
    size_t nruns;
} sorting;

static bool is_less(const sorting *s, uint32_t a, uint32_t b)
{
    return s->before(s->context, a, b);
}

/* Length of the run at v[from, to), which is turned round where it descends. */
static size_t find_run(const sorting *s, size_t from, size_t to)
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

/* v[from, sorted) is in order; puts the rest up to `to` into it. */
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

/* ----------------------------------------------------------------------------------------- Python's sort: its merges */

/* How many of the n at `a` stand before the one, of equals none (left) or all (right); looked for from `hint` on. */
static size_t gallop(const sorting *s, uint32_t one, const uint32_t *a, size_t n, size_t hint, bool right)
{
    /* a[i] is on the near side of the place: it stays before the one. */
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

/* What is left of a run in a merge: from the front the n elements at p, from the back the n before p. */
typedef struct side {
    uint32_t *p;
    size_t n;
} side;

static uint32_t next_of(const side *x, bool back)
{
    return x->p[back ? -1 : 0];
}

/* Moves n elements of the side to *out. */
static void move(uint32_t **out, side *x, size_t n, bool back)
{
    if (back)
        memmove(*out - n, x->p - n, n * sizeof *x->p);
    else
        memmove(*out, x->p, n * sizeof *x->p);
    *out = back ? *out - n : *out + n;
    x->p = back ? x->p - n : x->p + n;
    x->n -= n;
}

/* Merges two runs in a row, na and nb long: from the front where na <= nb, the first copied away, else from the back, the
 * second copied away.  It is over when one element of the copy, which then comes last, or nothing of the other is left. */
static void merge(sorting *s, size_t from, size_t na, size_t nb)
{
    const bool back = na > nb;
    uint32_t *first = s->v + from, *second = first + na, *out = back ? second + nb : first;
    side copy = { back ? s->room + nb : s->room, back ? nb : na }, other = { second, back ? na : nb };
    size_t wins_copy, wins_other;

    memcpy(s->room, back ? second : first, copy.n * sizeof *s->room);
    move(&out, &other, 1, back);
    if (other.n == 0 || copy.n == 1)
        goto over;
    for (;; s->gallop++) {
        wins_copy = wins_other = 0;
        do {
            uint32_t x = next_of(&copy, back), y = next_of(&other, back);
            bool other_wins = back ? is_less(s, x, y) : is_less(s, y, x);
            wins_other = other_wins ? wins_other + 1 : 0;
            wins_copy = other_wins ? 0 : wins_copy + 1;
            move(&out, other_wins ? &other : &copy, 1, back);
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
                move(&out, x, wins, back);
                if (of_copy ? wins > 0 && copy.n <= 1 : other.n == 0)
                    goto over;
                move(&out, y, 1, back);
                if (of_copy ? other.n == 0 : copy.n == 1)
                    goto over;
            }
        } while (wins_copy >= GALLOP || wins_other >= GALLOP);
    }
over:
    move(&out, &other, other.n, back);
    move(&out, &copy, copy.n, back);
}

/* Run i and the one after it become one; what is in its place already stays. */
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

/* The first bit in which the middles of two neighbouring runs, as shares of the whole, differ. */
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
    sorting s = { .v = v, .n = n, .before = before, .context = context, .gallop = GALLOP };
    size_t least = n, odd = 0;

    for (; least >= MOST_RUN; least /= 2)
        odd |= least & 1;
    least += odd;
    s.room = tl_malloc((n / 2 + 1) * sizeof *s.room);
    for (size_t from = 0, length; n > 1 && from < n; from += length) {
        length = find_run(&s, from, n);
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
