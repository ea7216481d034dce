/* behave_decide.c - decides which names communicate, by comparing the starts and ends of their kernels between ranks.
 *
 *     apart      start_a - start_b of one item, less the median of all items, or begin_a - begin_b if that is less
 *     together   end_a - end_b of the item, less its median, is a small part of apart
 *
 * Two ranks show that a name communicates if enough items begin apart and most of these end together.  Groups may be
 * any ranks: a rank supports the name if it shows this with one other rank, and opposes it if its ends are apart from
 * those of all others.
 */
#include "tlmpi/analysis/collective/match/behave.h"
#include "tlmpi/base/group.h"
#include "tlmpi/base/stats.h"
#include "tlmpi/model/parameters.h"
#include <stdlib.h>

/* Largest number of common items of two ranks that are compared; TL_SAMPLES on average. */
enum { ITEMS_MOST = 256 };

/* The sightings of one name and stream_order by one rank. */
typedef struct row {
    const tl_behaviour *v;
    size_t n;
    int64_t mean_ns; /* mean duration of its kernels */
} row;

typedef TL_VEC(row) row_list;

/* Differences between two ranks' starts, begins and ends of the same items, ns. */
typedef struct apart {
    int64_t starts[ITEMS_MOST], begins[ITEMS_MOST], ends[ITEMS_MOST], scratch[ITEMS_MOST];
    int64_t scatter_ns; /* of the ends */
    size_t n;
} apart;

static int64_t abs_ns(int64_t a)
{
    return a < 0 ? tl_ns_between(0, a) : a;
}

static void compare_items(const row *a, const row *b, apart *out)
{
    out->n = 0;
    for (size_t i = 0, k = 0; i < a->n && k < b->n && out->n < ITEMS_MOST;) {
        const tl_behaviour *x = &a->v[i], *y = &b->v[k];
        if (x->item == y->item) {
            out->starts[out->n] = tl_ns_between(x->start_ns, y->start_ns);
            out->begins[out->n] = tl_ns_between(x->begin_ns, y->begin_ns);
            out->ends[out->n++] = tl_ns_between(x->end_ns, y->end_ns);
        }
        i += x->item <= y->item;
        k += y->item <= x->item;
    }
}

static int64_t median_of(const int64_t *v, apart *x)
{
    for (size_t i = 0; i < x->n; i++)
        x->scratch[i] = v[i];
    return tl_median(x->scratch, x->n);
}

/* Differences that are subtracted first: those of the clocks, or of ranks that always come a constant time apart. */
typedef struct usual {
    int64_t start_ns, begin_ns, end_ns;
} usual;

/* Returns the number of items that begin at least least_ns apart; *together: the number of these that end together. */
static size_t count_moved(const apart *x, usual less, int64_t least_ns, size_t *together)
{
    size_t moved = 0;
    *together = 0;
    for (size_t i = 0; i < x->n; i++) {
        int64_t apart_ns = tl_ns_min(abs_ns(tl_ns_between(x->starts[i], less.start_ns)),
                                     abs_ns(tl_ns_between(x->begins[i], less.begin_ns)));
        if (apart_ns < least_ns)
            continue;
        moved++;
        *together += abs_ns(tl_ns_between(x->ends[i], less.end_ns)) <= apart_ns / TL_BEHAVES_PART;
    }
    return moved;
}

/* What two ranks show of a name, ascending by support: too few common items; they begin and end apart; they begin and
 * end together, as members of a group that are never late may; they begin apart and end together. */
typedef enum answer { NOTHING, OPPOSED, LEVEL, SHOWN } answer;

static answer answer_of(size_t moved, size_t together)
{
    if (moved < TL_PATTERN_LEAST)
        return LEVEL;
    bool enough = together >= TL_PATTERN_LEAST;
    return enough && (double)together >= TL_MOST_SHARE * (double)moved ? SHOWN : OPPOSED;
}

static answer compare_ranks(const row *a, const row *b, apart *x)
{
    size_t together;

    compare_items(a, b, x);
    if (x->n < TL_PATTERN_LEAST)
        return NOTHING;
    const usual medians = { median_of(x->starts, x), median_of(x->begins, x), median_of(x->ends, x) }, nothing = { 0 };
    for (size_t i = 0; i < x->n; i++)
        x->scratch[i] = x->ends[i];
    x->scatter_ns = tl_mad(x->scratch, x->n, medians.end_ns);
    size_t moved = count_moved(x, medians, TL_BEHAVES_PART * tl_ns_max(x->scatter_ns, TL_ROUNDING_NS), &together);
    answer found = answer_of(moved, together);
    if (found != LEVEL || abs_ns(medians.end_ns) > TL_CLOCK_ERROR_NS)
        return found;
    moved = count_moved(x, nothing, TL_BEHAVES_PART * tl_ns_max(x->scatter_ns, TL_CLOCK_ERROR_NS), &together);
    return answer_of(moved, together) == SHOWN ? SHOWN : LEVEL;
}

TL_SORT_BY(by_name, tl_behaviour, name_key, stream_order, rank, item)
TL_SORT_BY(by_duration, row, mean_ns, v->rank)

/* Lists the rows of the sightings v[n] of one name and stream_order, ascending by mean duration, ties by rank. */
static void list_rows(const tl_behaviour *v, size_t n, row_list *out)
{
    out->n = 0;
    for (size_t from = 0, to; from < n; from = to) {
        int64_t sum_ns = 0;
        for (to = from; to < n && v[to].rank == v[from].rank; to++)
            sum_ns = tl_ns_sum(sum_ns, tl_ns_between(v[to].end_ns, v[to].begin_ns));
        tl_vec_push(out, (row){ v + from, to - from, sum_ns / (int64_t)(to - from) });
    }
    tl_vec_sort(out, by_duration);
}

/* The best answer of one rank with the others. */
typedef struct showing {
    answer best;
    size_t partners; /* number of ranks with which the answer is SHOWN, counted up to 2 */
    bool steadily;   /* with all partners the ends scatter by at most the clock error */
} showing;

static showing compare_with_all(const row_list *rows, size_t i, apart *room)
{
    showing s = { .steadily = true };
    for (size_t k = 0; k < rows->n && s.partners < 2; k++) {
        answer found = k != i ? compare_ranks(&rows->v[i], &rows->v[k], room) : NOTHING;
        s.best = found > s.best ? found : s.best;
        s.partners += found == SHOWN;
        s.steadily = s.steadily && (found != SHOWN || room->scatter_ns <= TL_CLOCK_ERROR_NS);
    }
    return s;
}

/* Returns the kind of communication of the rows' kernels; TL_COLL_NONE: they compute. */
static tl_collective collective_of(const row_list *rows, apart *room)
{
    size_t shown = 0, steadily = 0, of_two = 0, opposed = 0, n = rows->n;
    const size_t asked = (size_t)TL_SAMPLES, part = (size_t)TL_LITTLE_PART;
    size_t step = n > 2 * asked ? (n - asked) / asked : 1;

    for (size_t i = 0; i < n && opposed * part <= 2 * asked; i += i < asked ? 1 : step) {
        showing s = compare_with_all(rows, i, room);
        shown += s.best == SHOWN;
        steadily += s.best == SHOWN && s.steadily;
        of_two += s.best == SHOWN && s.partners == 1;
        opposed += s.best == OPPOSED;
    }
    if (shown < 2 || opposed * part > shown + opposed)
        return TL_COLL_NONE;
    if (n > 2 && of_two == shown)
        return TL_SEND_RECV;
    return (shown - steadily) * part <= shown ? TL_MEETING : TL_COLL_UNKNOWN;
}

void tl_behaviours_decide(tl_behaviour *all, size_t n, tl_behaving **names, size_t *nnames)
{
    TL_VEC(tl_behaving) found = { 0 };
    row_list rows = { 0 };
    apart *room = tl_malloc(sizeof *room);
    tl_mem_indexable(n);
    if (n > 1)
        qsort(all, n, sizeof *all, by_name);

    for (size_t from = 0, to; from < n; from = to) {
        for (to = from;
             to < n && all[to].name_key == all[from].name_key && all[to].stream_order == all[from].stream_order; to++)
            ;
        list_rows(all + from, to - from, &rows);
        tl_collective collective = collective_of(&rows, room);
        if (collective == TL_COLL_NONE)
            continue;
        bool known = found.n > 0 && found.v[found.n - 1].name_key == all[from].name_key;
        if (!known)
            tl_vec_push(&found, (tl_behaving){ all[from].name_key, collective });
        else if (found.v[found.n - 1].collective != collective)
            found.v[found.n - 1].collective = TL_COLL_UNKNOWN;
    }
    free(rows.v);
    free(room);
    *names = found.v;
    *nnames = found.n;
}
