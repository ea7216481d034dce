/* way_align.c - which send is which receive, where no step begins their counts anew. */
#include "tlmpi/analysis/match/align.h"
#include "tlmpi/base/mem.h"
#include "tlmpi/base/sort.h"
#include "tlmpi/base/stats.h"
#include "tlmpi/model/parameters.h"
#include <stdlib.h>

enum {
    SAMPLES = 128, /* pairs that a shift is judged by */
    SHIFTS = 512   /* shifts to either side */
};

typedef struct aligning {
    tl_pair_item *items;
    uint32_t *order; /* of those whose peers are known */
    size_t n;
} aligning;

static int64_t abs_ns(int64_t a)
{
    return a < 0 ? -a : a;
}

static int32_t sender_of(const tl_pair_item *x)
{
    return x->sends ? x->rank : x->peer;
}

static int32_t receiver_of(const tl_pair_item *x)
{
    return x->sends ? x->peer : x->rank;
}

static int by_way(const tl_pair_item *x, const tl_pair_item *y)
{
    int order = TL_COMPARE(x->group, y->group);
    if (order == 0)
        order = TL_COMPARE(sender_of(x), sender_of(y));
    return order != 0 ? order : TL_COMPARE(receiver_of(x), receiver_of(y));
}

/* Way by way: what is received, then what is sent, by end. */
static int by_side(const void *items, uint32_t a, uint32_t b)
{
    const tl_pair_item *x = (const tl_pair_item *)items + a, *y = (const tl_pair_item *)items + b;
    int order = by_way(x, y);
    if (order == 0)
        order = TL_COMPARE(x->sends, y->sends);
    if (order == 0)
        order = TL_COMPARE(x->end_ns, y->end_ns);
    return order != 0 ? order : TL_COMPARE(x->lone, y->lone);
}

static tl_pair_item *at(const aligning *a, size_t i)
{
    return &a->items[a->order[i]];
}

/* What goes one way: received order[from, middle), sent order[middle, to). */
typedef struct way {
    size_t from, middle, to;
    bool open; /* some of them are */
} way;

static way way_at(const aligning *a, size_t from)
{
    way w = { .from = from, .middle = from, .to = from };
    while (w.to < a->n && by_way(at(a, from), at(a, w.to)) == 0) {
        w.open = w.open || at(a, w.to)->key == 0;
        w.middle += !at(a, w.to)->sends;
        w.to++;
    }
    return w;
}

/* How well the i-th received is the (i + shift)-th sent. */
typedef struct shifted {
    int64_t shift, apart_ns, scatter_ns;
    size_t from, n; /* received that have a partner */
} shifted;

/* Judges a shift; scatter_ns is the mean distance from the median.  Repeated work (micro-batches) differs only at its
 * seams, which a median of distances would not see. */
static shifted judge(const aligning *a, const way *w, int64_t shift)
{
    int64_t received = (int64_t)(w->middle - w->from), sent = (int64_t)(w->to - w->middle);
    int64_t from = shift < 0 ? -shift : 0, to = tl_ns_min(received, sent - shift), n = tl_ns_min(to - from, SAMPLES);
    shifted s = { .shift = shift, .from = (size_t)from, .n = (size_t)(to - from) };
    int64_t apart[SAMPLES], sum = 0;

    if (n <= 0)
        return s;
    for (int64_t i = 0; i < n; i++) {
        size_t of = s.from + (size_t)i * s.n / (size_t)n;
        apart[i] = tl_ns_between(at(a, w->from + of)->end_ns, at(a, w->middle + of + (size_t)shift)->end_ns);
    }
    s.apart_ns = tl_median(apart, (size_t)n);
    for (int64_t i = 0; i < n; i++)
        sum = tl_ns_sum(sum, abs_ns(tl_ns_between(apart[i], s.apart_ns)));
    s.scatter_ns = sum / n;
    return s;
}

/* Returns, of the shifts with at most twice the least scatter, the one under which ends are least apart. */
static shifted best_shift(const aligning *a, const way *w)
{
    int64_t received = (int64_t)(w->middle - w->from), sent = (int64_t)(w->to - w->middle);
    int64_t fewer = tl_ns_min(received, sent), least = tl_ns_min(fewer, tl_ns_max(fewer / 2, (int64_t)TL_MATCH_ENOUGH));
    int64_t first = tl_ns_max(least - received, -SHIFTS), last = tl_ns_min(sent - least, SHIFTS);
    shifted tried[2 * SHIFTS + 1], best = { 0 };
    int64_t steady_ns = INT64_MAX;

    if (fewer == 0)
        return best;
    for (int64_t s = first; s <= last; s++) {
        tried[s - first] = judge(a, w, s);
        steady_ns = tl_ns_min(steady_ns, tried[s - first].scatter_ns);
    }
    steady_ns = tl_ns_max(tl_ns_sum(steady_ns, steady_ns), TL_CLOCK_ERROR_NS);
    for (int64_t s = first; s <= last; s++)
        if (tried[s - first].scatter_ns <= steady_ns &&
            (best.n == 0 || abs_ns(tried[s - first].apart_ns) < abs_ns(best.apart_ns)))
            best = tried[s - first];
    return best;
}

/* Gives partners one key: the key that either has already, else the sender's own. */
static void align_way(const aligning *a, const way *w)
{
    shifted s = best_shift(a, w);
    for (size_t i = s.from; i < s.from + s.n; i++) {
        tl_pair_item *received = at(a, w->from + i), *sent = at(a, w->middle + i + (size_t)s.shift);
        if (sent->key == 0)
            sent->key = received->key != 0 ? received->key : sent->lone;
        if (received->key == 0)
            received->key = sent->key;
    }
    for (size_t i = w->from; i < w->to; i++)
        if (at(a, i)->key == 0)
            at(a, i)->key = at(a, i)->lone;
}

void tl_ways_align(tl_pair_item *items, size_t n)
{
    aligning a = { .items = items, .order = tl_malloc((n + 1) * sizeof *a.order) };
    tl_mem_indexable(n);

    for (size_t i = 0; i < n; i++)
        if (items[i].peer >= 0)
            a.order[a.n++] = (uint32_t)i;
    tl_sort_index(a.order, a.n, by_side, items);
    for (size_t from = 0; from < a.n;) {
        way w = way_at(&a, from);
        if (w.open)
            align_way(&a, &w);
        from = w.to;
    }
    free(a.order);
}
