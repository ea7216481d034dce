/* groups_infer.c - which ranks are one group, by when they end and come.
 *
 * Clocks may be apart, but two ranks' by one distance.  The stages of a pipeline reduce their gradients always the same
 * time apart, too: where two ranks have several such groups and these disagree on the distance, the one that scatters
 * least tells it.
 */
#include "groups_infer.h"
#include "tlmpi/base/hash.h"
#include "tlmpi/base/mem.h"
#include "tlmpi/base/sort.h"
#include "tlmpi/base/stats.h"
#include <stdlib.h>

/* Ends of one collective scatter less than this around the ranks' own offsets (measured: all-reduces within 0.4 ms,
 * all-to-alls mostly within 0.1 ms, a few by 4 ms), those of two groups that run side by side by more. */
#define TOGETHER_NS         INT64_C(200000)
#define LOOSELY_TOGETHER_NS INT64_C(1000000)

/* Fewer than so many collectives in common cannot contradict. */
enum { ENOUGH = 3 };

/* Nobody leaves a collective before another has come to it, but for so much; once may be a mistake, twice in so many is
 * none. */
#define SLACK_NS INT64_C(20000)
enum { TOO_OFTEN = 2, ONE_IN = 20 };

/* Ranks of a group scatter so many times less than others, if this is below it anyway. */
enum { STEADIER = 4 };
#define STEADY_NS INT64_C(10000)

/* Differences of the ends of what both have, into out; how many.  Both are in order of the item. */
static size_t differences(const tl_deciding *d, uint32_t a, uint32_t b, int64_t out[TL_SIGHTINGS], bool *loose)
{
    size_t i = d->first_sighting[a], j = d->first_sighting[b], n = 0;
    while (i < d->first_sighting[a + 1] && j < d->first_sighting[b + 1] && n < TL_SIGHTINGS) {
        const tl_sighting *x = &d->sightings[i], *y = &d->sightings[j];
        if (x->item == y->item) {
            out[n++] = tl_ns_between(x->end_ns, y->end_ns);
            *loose = x->loose;
        }
        i += x->item <= y->item;
        j += y->item <= x->item;
    }
    return n;
}

/* How far apart two memberships end, and how steadily.  False where too little is known. */
typedef struct distance {
    int64_t apart_ns, scatter_ns;
    bool loose, missed; /* one had left before the other came, too often for one group */
} distance;

/* How often one of them had left before the other came, their ends being so far apart. */
static size_t misses(const tl_deciding *d, uint32_t a, uint32_t b, int64_t apart_ns)
{
    size_t i = d->first_sighting[a], j = d->first_sighting[b], n = 0;
    while (i < d->first_sighting[a + 1] && j < d->first_sighting[b + 1]) {
        const tl_sighting *x = &d->sightings[i], *y = &d->sightings[j];
        if (x->item == y->item)
            n += tl_ns_between(x->end_ns, y->start_ns) < tl_ns_between(apart_ns, SLACK_NS) ||
                 tl_ns_between(x->start_ns, y->end_ns) > tl_ns_sum(apart_ns, SLACK_NS);
        i += x->item <= y->item;
        j += y->item <= x->item;
    }
    return n;
}

static bool measure(const tl_deciding *d, uint32_t a, uint32_t b, distance *out)
{
    int64_t apart[TL_SIGHTINGS];
    *out = (distance){ 0 };
    size_t n = differences(d, a, b, apart, &out->loose);
    if (n < ENOUGH)
        return false;
    out->apart_ns = tl_median(apart, n);
    out->scatter_ns = tl_mad(apart, n, out->apart_ns);
    size_t often = n / ONE_IN > TOO_OFTEN ? n / ONE_IN : TOO_OFTEN;
    out->missed = misses(d, a, b, out->apart_ns) >= often;
    return true;
}

static int64_t most_of(const distance *x)
{
    return x->loose ? LOOSELY_TOGETHER_NS : TOGETHER_NS;
}

/* The first of the rank's memberships, in by_rank. */
static size_t first_of(const tl_deciding *d, int32_t rank)
{
    size_t low = 0, high = d->n;
    while (low < high) {
        size_t mid = low + (high - low) / 2;
        if (d->m[d->by_rank[mid]].rank < rank)
            low = mid + 1;
        else
            high = mid;
    }
    return low;
}

/* Whether another group that both ranks may be in knows the distance of their clocks better, and it is another. */
static bool contradicted(const tl_deciding *d, uint32_t a, uint32_t b, const distance *own)
{
    int32_t x = d->m[a].rank, y = d->m[b].rank;
    size_t i = first_of(d, x), k = first_of(d, y);
    distance best = *own;

    while (i < d->n && k < d->n && d->m[d->by_rank[i]].rank == x && d->m[d->by_rank[k]].rank == y) {
        const tl_membership *p = &d->m[d->by_rank[i]], *q = &d->m[d->by_rank[k]];
        distance other;
        if (p->members_key == q->members_key && p->inferred && q->inferred &&
            measure(d, d->by_rank[i], d->by_rank[k], &other) && other.scatter_ns < best.scatter_ns)
            best = other;
        bool both = p->members_key == q->members_key;
        i += both || p->members_key < q->members_key;
        k += both || q->members_key < p->members_key;
    }
    int64_t off = tl_ns_between(own->apart_ns, best.apart_ns);
    return off > most_of(own) || -off > most_of(own);
}

/* Whether nothing speaks against the two being one group; *own is how far apart they end. */
static bool end_together(const tl_deciding *d, uint32_t a, uint32_t b, int64_t most_ns, distance *own)
{
    if (!measure(d, a, b, own))
        return true;
    int64_t most = most_ns < most_of(own) ? most_ns : most_of(own);
    return !own->missed && own->scatter_ns <= most && !contradicted(d, a, b, own);
}

/* Each rank of order[from, to) joins the leader that it ends together with most steadily, or leads.  *missed: some had
 * left before others came.  False when memory is out. */
static bool gather(tl_deciding *d, size_t from, size_t to, int64_t most_ns, bool *missed)
{
    TL_VEC(uint32_t) leaders = { 0 };
    bool whole = true;

    *missed = false;
    for (size_t i = from; whole && i < to; i++) {
        uint32_t m = d->order[i], leader = m;
        int64_t least_ns = INT64_MAX;
        for (size_t l = 0; l < leaders.n; l++) {
            distance own;
            bool together = end_together(d, m, leaders.v[l], most_ns, &own);
            *missed = *missed || own.missed;
            if (together && own.scatter_ns < least_ns) {
                leader = leaders.v[l];
                least_ns = own.scatter_ns;
            }
        }
        if (leader == m) {
            whole = tl_vec_room(&leaders);
            if (whole)
                leaders.v[leaders.n++] = m;
        }
        d->fates[m].group_key = tl_hash_mix(d->m[m].members_key, (uint64_t)d->m[leader].rank);
    }
    free(leaders.v);
    return whole;
}

static int by_ns(const void *a, const void *b)
{
    const int64_t *x = a, *y = b;
    return TL_COMPARE(*x, *y);
}

/* How much the ends of one group scatter at most, where several run side by side: from the first of order[from, to) to
 * the others some scatter much less than the rest.  INT64_MAX where that does not show. */
static bool steadiness(const tl_deciding *d, size_t from, size_t to, int64_t *most_ns)
{
    int64_t *ns = tl_malloc((to - from) * sizeof *ns);
    size_t n = 0;

    *most_ns = INT64_MAX;
    if (ns == NULL)
        return false;
    for (size_t i = from + 1; i < to; i++) {
        distance own;
        if (measure(d, d->order[from], d->order[i], &own))
            ns[n++] = own.scatter_ns > STEADY_NS ? own.scatter_ns : STEADY_NS;
    }
    if (n > 0)
        qsort(ns, n, sizeof *ns, by_ns);
    for (size_t i = 1; i < n && *most_ns == INT64_MAX; i++)
        if (ns[i] / STEADIER >= ns[i - 1])
            *most_ns = 2 * ns[i - 1];
    free(ns);
    return true;
}

bool tl_groups_infer(tl_deciding *d, size_t from, size_t to)
{
    bool missed;
    int64_t most_ns;

    if (!gather(d, from, to, INT64_MAX, &missed))
        return false;
    return !missed || (steadiness(d, from, to, &most_ns) && gather(d, from, to, most_ns, &missed));
}
