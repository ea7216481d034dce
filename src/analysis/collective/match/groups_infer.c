/* groups_infer.c - infers which ranks form a group, from the starts and ends of their collectives.
 *
 * The ends of one group's collectives differ by the distance of two clocks, which is constant.  So may those of two
 * pipeline stages that reduce their gradients a constant time apart: if several inferred groups of two ranks disagree
 * on the distance, the one with much less scatter is right, else the one with the smaller distance.
 */
#include "internal.h"
#include "tlmpi/model/parameters.h"
#include "tlmpi/model/view.h"
#include <stdlib.h>
#include <string.h>

/* The number of ranks around which the scatter of all others is measured. */
enum { LOOKED_FROM = 16 };

/* The sightings that two memberships share, ascending by time: a[] and b[], and apart_ns[], the end of a less that of
 * b. */
typedef struct common {
    size_t n;
    bool loose;
    const tl_sighting *a[TL_SIGHTINGS], *b[TL_SIGHTINGS];
    int64_t apart_ns[TL_SIGHTINGS];
} common;

static size_t sightings_of(const tl_deciding *d, uint32_t m)
{
    return d->first_sighting[m + 1] - d->first_sighting[m];
}

/* Finds the items that memberships a and b share: the sightings of each ascend by item. */
static void find_common(const tl_deciding *d, uint32_t a, uint32_t b, common *out)
{
    const tl_sighting *x = d->sightings + d->first_sighting[a], *x_end = x + sightings_of(d, a);
    const tl_sighting *y = d->sightings + d->first_sighting[b], *y_end = y + sightings_of(d, b);
    out->n = 0;
    while (x < x_end && y < y_end) {
        int order = TL_COMPARE(x->item, y->item);
        if (order == 0) {
            size_t k = out->n++;
            for (; k > 0 && out->a[k - 1]->end_ns > x->end_ns; k--) {
                out->a[k] = out->a[k - 1];
                out->b[k] = out->b[k - 1];
                out->apart_ns[k] = out->apart_ns[k - 1];
            }
            out->a[k] = x;
            out->b[k] = y;
            out->apart_ns[k] = tl_ns_between(x->end_ns, y->end_ns);
            out->loose = x->loose;
        }
        x += order <= 0;
        y += order >= 0;
    }
}

/* The distance between the ends of two memberships, and its scatter. */
typedef struct distance {
    int64_t apart_ns, scatter_ns;
    int64_t step_ns, step_at_ns; /* added to apart_ns from step_at_ns on, if a clock steps; 0: no step */
    bool loose, missed;          /* missed: one rank left before the other came, too often for one group */
} distance;

/* Returns the number of collectives that one of the two ranks had left before the other came. */
static size_t count_misses(const common *c, const distance *own)
{
    size_t n = 0;
    for (size_t i = 0; i < c->n; i++) {
        const tl_sighting *x = c->a[i], *y = c->b[i];
        const bool stepped = own->step_ns != 0 && x->end_ns >= own->step_at_ns;
        int64_t apart_ns = tl_ns_sum(own->apart_ns, stepped ? own->step_ns : 0);
        n += tl_ns_between(x->end_ns, y->start_ns) < tl_ns_between(apart_ns, TL_CLOCK_ERROR_NS) ||
             tl_ns_between(x->start_ns, y->end_ns) > tl_ns_sum(apart_ns, TL_CLOCK_ERROR_NS);
    }
    return n;
}

/* Returns how many of n collectives one rank must leave before the other comes to show two groups: 2 or more, since one
 * may be a mistake. */
static size_t misses_that_contradict(size_t n)
{
    const size_t few = n / (size_t)TL_LITTLE_PART;
    return few > 2 ? few : 2;
}

static int64_t median_apart(const common *c, size_t from, size_t to)
{
    int64_t room[TL_SIGHTINGS];
    memcpy(room, c->apart_ns + from, (to - from) * sizeof *room);
    return tl_median(room, to - from);
}

/* Returns the distance of two memberships with one clock step, at the sighting where the distance of their ends changes
 * most. */
static distance distance_with_step(const common *c)
{
    size_t at = 0;
    int64_t most_ns = 0, apart[TL_SIGHTINGS];
    for (size_t k = TL_MEDIAN_LEAST; k + TL_MEDIAN_LEAST <= c->n; k++) {
        int64_t here_ns = llabs(tl_ns_between(c->apart_ns[k], c->apart_ns[k - 1]));
        int64_t before_ns = median_apart(c, k - TL_MEDIAN_LEAST, k);
        int64_t ns = tl_ns_min(here_ns, llabs(tl_ns_between(median_apart(c, k, k + TL_MEDIAN_LEAST), before_ns)));
        at = ns > most_ns ? k : at;
        most_ns = tl_ns_max(most_ns, ns);
    }
    distance out = { .apart_ns = median_apart(c, 0, at > 0 ? at : c->n), .scatter_ns = INT64_MAX, .loose = c->loose };
    if (at == 0)
        return out;
    out.step_ns = tl_ns_between(median_apart(c, at, c->n), out.apart_ns);
    out.step_at_ns = c->a[at]->end_ns;
    for (size_t i = 0; i < c->n; i++)
        apart[i] = tl_ns_between(c->apart_ns[i], i >= at ? out.step_ns : 0);
    out.scatter_ns = tl_mad(apart, c->n, out.apart_ns);
    return out;
}

static int64_t scatter_allowed(const distance *x)
{
    return x->loose ? TL_LOOSE_ENDS_NS : TL_ENDS_NS;
}

static bool is_steady(const distance *x)
{
    return !x->missed && x->scatter_ns <= scatter_allowed(x);
}

static bool measure(const tl_deciding *d, uint32_t a, uint32_t b, distance *out)
{
    common c = { .n = 0 };
    *out = (distance){ 0 };
    find_common(d, a, b, &c);
    if (c.n < TL_MEDIAN_LEAST)
        return false;
    out->loose = c.loose;
    out->apart_ns = median_apart(&c, 0, c.n);
    int64_t apart[TL_SIGHTINGS];
    memcpy(apart, c.apart_ns, c.n * sizeof *apart);
    out->scatter_ns = tl_mad(apart, c.n, out->apart_ns);
    out->missed = count_misses(&c, out) >= misses_that_contradict(c.n);
    if (is_steady(out))
        return true;
    distance stepped = distance_with_step(&c);
    stepped.missed = stepped.step_ns != 0 && count_misses(&c, &stepped) >= misses_that_contradict(c.n);
    if (is_steady(&stepped) &&
        (double)llabs(stepped.step_ns) > TL_SURE_SIGMAS * (double)tl_ns_max(stepped.scatter_ns, TL_CLOCK_ERROR_NS))
        *out = stepped;
    return true;
}

/* Returns the index in by_rank of the rank's first membership. */
static size_t first_of(const tl_deciding *d, int32_t rank)
{
    size_t low = 0;
    TL_BISECT(low, d->n, mid, d->m[d->by_rank[mid]].rank < rank);
    return low;
}

/* The rank's inferred membership with that key, TL_NONE. */
static uint32_t inferred_of(const tl_deciding *d, int32_t rank, uint64_t members_key)
{
    for (size_t i = first_of(d, rank); i < d->n && d->m[d->by_rank[i]].rank == rank; i++)
        if (d->m[d->by_rank[i]].inferred && d->m[d->by_rank[i]].members_key == members_key)
            return d->by_rank[i];
    return TL_NONE;
}

/* Whether a scatters much less than b or, if both scatter about alike, puts clocks less apart. */
static bool is_better_distance(const distance *a, const distance *b)
{
    int64_t x = tl_ns_max(a->scatter_ns, TL_ROUNDING_NS), y = tl_ns_max(b->scatter_ns, TL_ROUNDING_NS);
    bool alike = x >= y / 2 && y >= x / 2;
    return alike ? llabs(a->apart_ns) < llabs(b->apart_ns) : x < y;
}

/* Whether another group of both ranks tells the distance of their clocks better, and tells a different one. */
static bool contradicted(const tl_deciding *d, uint32_t a, uint32_t b, const distance *own)
{
    int32_t x = d->m[a].rank, y = d->m[b].rank;
    size_t i = first_of(d, x), k = first_of(d, y);
    distance best = *own;

    while (i < d->n && k < d->n && d->m[d->by_rank[i]].rank == x && d->m[d->by_rank[k]].rank == y) {
        const tl_membership *p = &d->m[d->by_rank[i]], *q = &d->m[d->by_rank[k]];
        distance other;
        if (p->members_key == q->members_key && p->inferred && q->inferred &&
            measure(d, d->by_rank[i], d->by_rank[k], &other) && is_better_distance(&other, &best))
            best = other;
        bool both = p->members_key == q->members_key;
        i += both || p->members_key < q->members_key;
        k += both || q->members_key < p->members_key;
    }
    int64_t off = llabs(tl_ns_between(own->apart_ns, best.apart_ns));
    return tl_ns_max(off, llabs(tl_ns_between(own->step_ns, best.step_ns))) > scatter_allowed(own);
}

/* Whether nothing speaks against the two being one group; *own is how far apart they end. */
static bool end_together(const tl_deciding *d, uint32_t a, uint32_t b, int64_t most_ns, distance *own)
{
    if (!measure(d, a, b, own))
        return true;
    return !own->missed && own->scatter_ns <= tl_ns_min(most_ns, scatter_allowed(own)) && !contradicted(d, a, b, own);
}

/* Each rank of order[from, to) joins the leader that it ends together with most steadily, or leads.  Returns whether
 * some rank had left before a leader came. */
static bool join_leaders(tl_deciding *d, size_t from, size_t to, int64_t most_ns)
{
    TL_VEC(uint32_t) leaders = { 0 };
    bool missed = false;

    for (size_t i = from; i < to; i++) {
        uint32_t m = d->order[i], leader = TL_NONE;
        int64_t scatter_ns = INT64_MAX;
        TL_EACH (const uint32_t, l, leaders) {
            distance own;
            bool together = end_together(d, m, *l, most_ns, &own);
            missed = missed || own.missed;
            if (together && own.scatter_ns < scatter_ns) {
                leader = *l;
                scatter_ns = own.scatter_ns;
            }
        }
        if (leader == TL_NONE)
            tl_vec_push(&leaders, leader = m);
        d->fates[m].group_key = tl_hash_mix(d->m[m].members_key, (uint64_t)d->m[leader].rank);
    }
    free(leaders.v);
    return missed;
}

/* How much the ends of one group scatter at most, where several run side by side: some pairs of order[from, to) scatter
 * much less than the rest; the bound is where they differ most.  INT64_MAX where that does not show. */
static int64_t scatter_of_one_group(const tl_deciding *d, size_t from, size_t to)
{
    size_t looked = to - from < LOOKED_FROM ? to - from : LOOKED_FROM, n = 0;
    int64_t *ns = tl_malloc((to - from) * looked * sizeof *ns), most_ns = INT64_MAX;
    double most = 2;

    for (size_t i = from; i < from + looked; i++)
        for (size_t k = i + 1; k < to; k++) {
            distance own;
            if (measure(d, d->order[i], d->order[k], &own))
                ns[n++] = own.scatter_ns > TL_ROUNDING_NS ? own.scatter_ns : TL_ROUNDING_NS;
        }
    tl_ns_sort(ns, n);
    for (size_t i = 1; i < n; i++)
        if ((double)ns[i] / (double)ns[i - 1] >= most) {
            most = (double)ns[i] / (double)ns[i - 1];
            most_ns = 2 * ns[i - 1];
        }
    free(ns);
    return most_ns;
}

static bool same_group(const tl_deciding *d, size_t i, size_t k)
{
    return d->fates[d->order[i]].group_key == d->fates[d->order[k]].group_key;
}

/* Whether the groups that order[from, to) was split into have one size, scatter by most_ns at most within each, and by
 * more between two. */
static bool are_blocks(const tl_deciding *d, size_t from, size_t to, int64_t most_ns)
{
    size_t looked = to - from < LOOKED_FROM ? to - from : LOOKED_FROM, size = 0;

    for (size_t i = from; i < from + looked; i++) {
        size_t own = 0;
        for (size_t k = from; k < to; k++) {
            bool same = same_group(d, i, k);
            distance x;
            own += same;
            if (i != k && measure(d, d->order[i], d->order[k], &x) && same != (x.scatter_ns <= most_ns))
                return false;
        }
        size = i == from ? own : size;
        if (own != size)
            return false;
    }
    return size > 1 && size < to - from;
}

/* Whether two ranks are steady in something else that both do: then it is not their clocks that scatter. */
static bool are_steady_elsewhere(const tl_deciding *d, uint32_t a, uint32_t b, int64_t most_ns)
{
    int32_t x = d->m[a].rank, y = d->m[b].rank;
    for (size_t i = first_of(d, x); i < d->n && d->m[d->by_rank[i]].rank == x; i++) {
        uint32_t p = d->by_rank[i], q = d->m[p].inferred ? inferred_of(d, y, d->m[p].members_key) : TL_NONE;
        distance own;
        if (p != a && q != TL_NONE && measure(d, p, q, &own) && !own.loose && own.scatter_ns <= most_ns)
            return true;
    }
    return false;
}

/* Whether the clocks of order[i] and of a rank of another group, the first or the next on either side, are steady
 * elsewhere. */
static bool has_steady_clock(const tl_deciding *d, size_t from, size_t to, size_t i, int64_t most_ns)
{
    size_t beside[] = { from, i, i };
    while (beside[1] > from && same_group(d, i, beside[1]))
        beside[1]--;
    while (beside[2] + 1 < to && same_group(d, i, beside[2]))
        beside[2]++;
    for (size_t k = 0; k < sizeof beside / sizeof *beside; k++)
        if (!same_group(d, i, beside[k]) && are_steady_elsewhere(d, d->order[beside[k]], d->order[i], most_ns))
            return true;
    return false;
}

/* Splits groups that run side by side and in step with each other: no rank leaves before others come, but the ends
 * scatter much less within a group than between two, on clocks that scatter less elsewhere. */
static void part_side_by_side(tl_deciding *d, size_t from, size_t to)
{
    int64_t most_ns = scatter_of_one_group(d, from, to);
    if (most_ns == INT64_MAX)
        return;
    (void)join_leaders(d, from, to, most_ns);
    bool parted = are_blocks(d, from, to, most_ns);
    for (size_t i = from + 1; parted && i < to; i++)
        parted = same_group(d, i, from) || has_steady_clock(d, from, to, i, most_ns);
    if (!parted)
        (void)join_leaders(d, from, to, INT64_MAX);
}

static bool is_one_group(const tl_deciding *d, size_t from, size_t to)
{
    for (size_t i = from + 1; i < to; i++)
        if (!same_group(d, i, from))
            return false;
    return true;
}

void tl_groups_infer(tl_deciding *d, size_t from, size_t to)
{
    const bool missed = join_leaders(d, from, to, INT64_MAX);
    const int64_t most_ns = missed ? scatter_of_one_group(d, from, to) : INT64_MAX;
    if (most_ns < INT64_MAX)
        (void)join_leaders(d, from, to, most_ns);
    else if (!missed && is_one_group(d, from, to))
        part_side_by_side(d, from, to);
}
