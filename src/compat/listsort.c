/* listsort.c - the order in which Python's list.sort leaves what has no order.
 *
 * A sort is defined by what it compares only where the comparison is an order.  Where a < b < c < a, the outcome depends on
 * which pairs are compared, and when: on every step of the algorithm, which is therefore Python 3.11's, step by step.
 * That is a merge sort of the runs that are there already (T. Peters, listsort.txt):
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

/* ----------------------------------------------------------------------------------------------------------- runs */

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
    for (size_t a = from, b = i; descends && a + 1 < b; a++) {
        uint32_t swap = v[a];
        v[a] = v[--b];
        v[b] = swap;
    }
    return i - from;
}

/* v[from, sorted) is in order; puts the rest up to `to` into it. */
static void insert_rest(const sorting *s, size_t from, size_t sorted, size_t to)
{
    uint32_t *v = s->v;

    for (; sorted < to; sorted++) {
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

static size_t least_run(size_t n)
{
    size_t odd = 0;
    for (; n >= MOST_RUN; n /= 2)
        odd |= n & 1;
    return n + odd;
}

/* ------------------------------------------------------------------------------------------------------- galloping */

/* How many of the n at `a` stand before the one, of equals none (left) or all (right); looked for from `hint` on. */
static size_t gallop(const sorting *s, uint32_t one, const uint32_t *a, size_t n, size_t hint, bool right)
{
    /* a[i] is on the near side of the place: it stays before the one. */
#define STAYS(i) (right ? !is_less(s, one, a[i]) : is_less(s, a[i], one))
    size_t last = 0, step = 1, low, high;

    if (STAYS(hint)) {
        size_t most = n - hint;
        while (step < most && STAYS(hint + step)) {
            last = step;
            step = 2 * step + 1;
        }
        step = step < most ? step : most;
        low = hint + last + 1;
        high = hint + step;
    } else {
        size_t most = hint + 1;
        while (step < most && !STAYS(hint - step)) {
            last = step;
            step = 2 * step + 1;
        }
        step = step < most ? step : most;
        low = hint + 1 - step;
        high = hint - last;
    }
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

/* --------------------------------------------------------------------------------------------------------- merging */

/* Two runs in a row, na and nb long, na not the longer one: from the front, the first copied away. */
static void merge_from_front(sorting *s, size_t from, size_t na, size_t nb)
{
    uint32_t *out = s->v + from, *b = out + na, *a = s->room;
    size_t wins_a, wins_b;

    memcpy(a, out, na * sizeof *a);
    *out++ = *b++;
    if (--nb == 0 || na == 1)
        goto over;
    for (;; s->gallop++) {
        wins_a = wins_b = 0;
        do {
            if (is_less(s, *b, *a)) {
                *out++ = *b++;
                wins_b++;
                wins_a = 0;
                if (--nb == 0)
                    goto over;
            } else {
                *out++ = *a++;
                wins_a++;
                wins_b = 0;
                if (--na == 1)
                    goto over;
            }
        } while (wins_a < s->gallop && wins_b < s->gallop);
        s->gallop++;
        do {
            s->gallop -= s->gallop > 1;
            wins_a = gallop(s, *b, a, na, 0, true);
            memcpy(out, a, wins_a * sizeof *a);
            out += wins_a;
            a += wins_a;
            na -= wins_a;
            if (wins_a > 0 && na <= 1)
                goto over;
            *out++ = *b++;
            if (--nb == 0)
                goto over;
            wins_b = gallop(s, *a, b, nb, 0, false);
            memmove(out, b, wins_b * sizeof *b);
            out += wins_b;
            b += wins_b;
            nb -= wins_b;
            if (nb == 0)
                goto over;
            *out++ = *a++;
            if (--na == 1)
                goto over;
        } while (wins_a >= GALLOP || wins_b >= GALLOP);
    }
over: /* what is left of b comes before the last of a */
    memmove(out, b, nb * sizeof *b);
    memcpy(out + nb, a, na * sizeof *a);
}

/* The same with nb the shorter: from the back, the second copied away. */
static void merge_from_back(sorting *s, size_t from, size_t na, size_t nb)
{
    uint32_t *first = s->v + from, *a = first + na, *b = s->room + nb, *out = a + nb; /* each after its last one */
    size_t wins_a, wins_b;

    memcpy(s->room, a, nb * sizeof *b);
    *--out = *--a;
    if (--na == 0 || nb == 1)
        goto over;
    for (;; s->gallop++) {
        wins_a = wins_b = 0;
        do {
            if (is_less(s, b[-1], a[-1])) {
                *--out = *--a;
                wins_a++;
                wins_b = 0;
                if (--na == 0)
                    goto over;
            } else {
                *--out = *--b;
                wins_b++;
                wins_a = 0;
                if (--nb == 1)
                    goto over;
            }
        } while (wins_a < s->gallop && wins_b < s->gallop);
        s->gallop++;
        do {
            s->gallop -= s->gallop > 1;
            wins_a = na - gallop(s, b[-1], first, na, na - 1, true);
            out -= wins_a;
            a -= wins_a;
            na -= wins_a;
            memmove(out, a, wins_a * sizeof *a);
            if (na == 0)
                goto over;
            *--out = *--b;
            if (--nb == 1)
                goto over;
            wins_b = nb - gallop(s, a[-1], s->room, nb, nb - 1, false);
            out -= wins_b;
            b -= wins_b;
            nb -= wins_b;
            memcpy(out, b, wins_b * sizeof *b);
            if (wins_b > 0 && nb <= 1)
                goto over;
            *--out = *--a;
            if (--na == 0)
                goto over;
        } while (wins_a >= GALLOP || wins_b >= GALLOP);
    }
over: /* what is left of a comes after the first of b */
    memmove(out - na, a - na, na * sizeof *a);
    memcpy(out - na - nb, s->room, nb * sizeof *b);
}

/* Run i and the one after it become one. */
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
    if (na == 0)
        return;
    nb = gallop(s, s->v[from + na - 1], s->v + from + na, nb, nb - 1, false);
    if (nb == 0)
        return;
    if (na <= nb)
        merge_from_front(s, from, na, nb);
    else
        merge_from_back(s, from, na, nb);
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

static void push_run(sorting *s, size_t from, size_t n)
{
    if (s->nruns > 0) {
        const run *last = &s->runs[s->nruns - 1];
        int power = power_of(last->from, last->n, n, s->n);
        while (s->nruns > 1 && s->runs[s->nruns - 2].power > power)
            merge_at(s, s->nruns - 2);
        s->runs[s->nruns - 1].power = power;
    }
    s->runs[s->nruns++] = (run){ .from = from, .n = n };
}

void tl_python_sort(uint32_t *v, size_t n, tl_before *before, void *context)
{
    sorting s = { .v = v, .n = n, .before = before, .context = context, .gallop = GALLOP };
    size_t least = least_run(n);

    if (n < 2)
        return;
    s.room = tl_malloc((n / 2 + 1) * sizeof *s.room);
    for (size_t from = 0, length; from < n; from += length) {
        length = find_run(&s, from, n);
        if (length < least) {
            size_t filled = n - from < least ? n - from : least;
            insert_rest(&s, from, from + length, from + filled);
            length = filled;
        }
        push_run(&s, from, length);
    }
    while (s.nruns > 1) {
        size_t i = s.nruns - 2;
        merge_at(&s, i > 0 && s.runs[i - 1].n < s.runs[i + 1].n ? i - 1 : i);
    }
    free(s.room);
}
