/* cause.c - compares a rank with its peers, name by name, and derives the cause from the differences.
 *
 * Why does a device's work take longer than that of peers?
 *
 *     the job's kernels     peers   rank 3
 *     gemm                  20 ms   40 ms      twice as long; both together 1.8 times
 *     relu                   5 ms    5 ms      as long
 *
 * The device is slow (THROTTLED) only if all kernels are slower than at every peer, by more than a little part of the
 * mean slowdown (TL_LITTLE_PART), and there are at least two: a low clock slows all kernels, arithmetic most.  A kernel
 * is no evidence if its time differs between peers by more than half of the mean slowdown.  If a kernel that is
 * evidence is not slower, only some kernels are slow (COMPUTE_SLOW).
 *
 * The dominant work are the names in which the rank spends more time than any of its peers:
 *
 *     host of the rank    [ forward  [ # sparse arch  980 ms ] ]   [ backward  [ all_to_all  21 ms ] ]
 *     peers                                            30 ms                                  1 ms
 *
 * Only self time is compared, without nested names: so no two names cover the same time, and excesses add up.
 */
#include "tlmpi/analysis/verdict/cause.h"
#include "tlmpi/base/quantile.h"
#include "tlmpi/base/sort.h"
#include "tlmpi/model/parameters.h"
#include <math.h>
#include <stdlib.h>

/* One name: the rank's own values, and the medians of its peers. */
typedef struct entry {
    uint64_t name;
    double ns, peers_ns, peers_most_ns; /* time; of peers: median and maximum */
    double count, peers_count;
    double size, peers_size, peers_most; /* mean size of a piece; of peers: median and maximum */
    double longest_ns, apart_ns;         /* over peers: the largest mean time of a piece; largest less smallest */
    uint32_t depth;
    uint8_t kind, activity;
    bool frame;
} entry;

typedef struct entries {
    entry *v;
    size_t n;
    double count, peers_count; /* number of compute kernels of any name */
} entries;

/* -------------------------------------------------------------------------------------------------- the comparison */

TL_SORT_BY(by_key, tl_cause_row, kind, name, rank)

/* Returns the median of npeers values: v[n], and 0 for the rest. */
static double median(double *v, size_t n, size_t npeers)
{
    while (n < npeers)
        v[n++] = 0;
    return n > 0 ? tl_real_median(v, n) : 0;
}

/* One name's values of the peers. */
typedef struct of_peers {
    double *ns, *count, *size; /* [npeers] */
} of_peers;

/* Returns the comparison of one name: the rank's own values, and the medians and maxima of its peers. */
static entry entry_of(const tl_cause_row *rows, size_t n, const tl_cause_question *q, const of_peers *of)
{
    entry e = { .name = rows->name, .kind = rows->kind, .activity = rows->activity, .frame = rows->frame };
    size_t m = 0, sized = 0;
    double shortest_ns = 0;

    for (size_t i = 0; i < n; i++) {
        const tl_cause_row *row = &rows[i];
        double each = row->count > 0 ? (double)row->size / row->count : 0;
        double mean_ns = row->count > 0 ? (double)row->ns / row->count : 0;
        if (row->rank == q->rank) {
            e.ns = (double)row->ns;
            e.count = row->count;
            e.size = each;
            e.depth = row->depth;
        } else if (m < q->npeers) {
            of->ns[m] = (double)row->ns;
            e.peers_most_ns = of->ns[m] > e.peers_most_ns ? of->ns[m] : e.peers_most_ns;
            of->count[m++] = row->count;
            e.peers_most = each > e.peers_most ? each : e.peers_most;
            e.longest_ns = mean_ns > e.longest_ns ? mean_ns : e.longest_ns;
            shortest_ns = m == 1 || mean_ns < shortest_ns ? mean_ns : shortest_ns;
            if (each > 0)
                of->size[sized++] = each;
        }
    }
    e.apart_ns = e.longest_ns - shortest_ns;
    e.peers_ns = median(of->ns, m, q->npeers);
    e.peers_count = median(of->count, m, q->npeers);
    e.peers_size = median(of->size, sized, sized);
    return e;
}

/* Counts compute kernels of any name: a library may pick a different kernel on each rank. */
static void count_kernels(const tl_cause_row *rows, size_t n, int32_t rank, size_t npeers, int32_t *peers,
                          const of_peers *of, entries *all)
{
    size_t m = 0;
    for (size_t i = 0; i < n; i++) {
        const tl_cause_row *row = &rows[i];
        size_t at = 0;
        if (row->kind != TL_NAMED_WORK || row->activity != TL_ACTIVITY_COMPUTE)
            continue;
        while (at < m && peers[at] != row->rank)
            at++;
        if (row->rank == rank) {
            all->count += row->count;
        } else if (at < npeers) {
            of->count[at] = (at < m ? of->count[at] : 0) + row->count;
            peers[at] = row->rank;
            m += at == m;
        }
    }
    all->peers_count = median(of->count, m, npeers);
}

/* --------------------------------------------------------------------------------------------------- of the device */

static double excess_of(const entry *e)
{
    return e->ns - e->peers_ns;
}

static double mean_of(double ns, double count)
{
    return count > 0 ? ns / count : 0;
}

/* Returns the name with more than half of the excess of the device's work in an activity; 0: none. */
static uint64_t largest_of(const entries *all, tl_activity_kind activity)
{
    const entry *best = NULL;
    double sum = 0;
    TL_EACH (const entry, e, *all) {
        if (e->kind != TL_NAMED_WORK || e->activity != activity)
            continue;
        sum += fmax(0, excess_of(e));
        best = best == NULL || excess_of(e) > excess_of(best) ? e : best;
    }
    return best != NULL && 2 * excess_of(best) > sum ? best->name : 0;
}

/* Whether the mean size of the pieces exceeds that of every peer, and explains at least half of the factor `longer` by
 * which the work takes longer. */
static bool is_larger(const entry *e, double longer)
{
    return e->peers_size > 0 && e->size > e->peers_most &&
           2 * (e->size - e->peers_size) >= (longer - 1) * e->peers_size;
}

/* Whether the rank has more data to compute on: it receives more than its peers, or copies more to the device. */
static bool has_more_data(const entries *all, double longer)
{
    TL_EACH (const entry, e, *all) {
        bool given = e->kind == TL_NAMED_COMM || (e->kind == TL_NAMED_WORK && e->activity == TL_ACTIVITY_H2D);
        if (given && is_larger(e, longer))
            return true;
    }
    return false;
}

static bool computes(const entry *e)
{
    return e->kind == TL_NAMED_WORK && e->activity == TL_ACTIVITY_COMPUTE;
}

/* Returns the factor by which compute kernels take longer than at the peers, over kernels that peers have as well. */
static double slowdown_of(const entries *all)
{
    double own_ns = 0, peers_ns = 0;
    for (size_t i = 0; i < all->n; i++)
        if (computes(&all->v[i]) && all->v[i].peers_ns > 0) {
            own_ns += all->v[i].ns;
            peers_ns += all->v[i].peers_ns;
        }
    return peers_ns > 0 ? own_ns / peers_ns : 1;
}

/* Returns the part of a kernel's time, ns, that is due to a larger number of pieces than at the peers; if the number is
 * smaller, minus what peers spend in the difference. */
static double additional_of(const entry *e)
{
    return e->count >= e->peers_count ? e->ns - e->peers_count * mean_of(e->ns, e->count)
                                      : e->count * mean_of(e->peers_ns, e->peers_count) - e->peers_ns;
}

/* Whether the rank has more to compute: more kernels, larger ones, or more data. */
static bool has_more(const entries *all)
{
    double longer = slowdown_of(all), excess = 0, more = 0, additional = 0;
    TL_EACH (const entry, e, *all) {
        if (!computes(e))
            continue;
        excess += fmax(0, excess_of(e));
        more += is_larger(e, e->ns / e->peers_ns) ? fmax(0, excess_of(e)) : 0;
        additional += additional_of(e);
    }
    more += all->count > all->peers_count ? fmax(0, additional) : 0;
    return 2 * more > excess || (longer > 1 && has_more_data(all, longer));
}

/* Returns why computing takes longer: COMPUTE_SLOW, THROTTLED or MORE_WORK. */
static tl_cause cause_of_compute(const entries *all)
{
    double longer = slowdown_of(all);
    size_t slowed = 0;
    if (has_more(all))
        return TL_CAUSE_MORE_WORK;
    TL_EACH (const entry, e, *all) {
        if (!computes(e) || !(e->peers_ns > 0) || !(e->ns > 0))
            continue;
        if ((longer - 1) / 2 * mean_of(e->peers_ns, e->peers_count) <= e->apart_ns)
            continue;
        if (mean_of(e->ns, e->count) <= e->longest_ns * (1 + (longer - 1) / (double)TL_LITTLE_PART))
            return TL_CAUSE_COMPUTE_SLOW;
        slowed++;
    }
    return slowed > 1 ? TL_CAUSE_THROTTLED : TL_CAUSE_COMPUTE_SLOW;
}

/* ----------------------------------------------------------------------------------------------------- of the host */

/* Whether e is the more telling name: if `e` and `than` differ in being a frame, the operator; else the more deeply
 * nested name. */
static bool is_more_telling(const entry *e, const entry *than, tl_activity_kind activity)
{
    if (activity != TL_ACTIVITY_HOST && e->frame != than->frame)
        return than->frame;
    return e->depth > than->depth;
}

/* Whether a name may stand for the activity; any host name may stand for TL_ACTIVITY_HOST, which has none of its
 * own. */
static bool is_of_activity(const entry *e, tl_activity_kind activity)
{
    return e->kind == TL_NAMED_HOST && (e->activity == activity || activity == TL_ACTIVITY_HOST);
}

/* Returns the wait that occurs more often than at the peers, with the largest excess of idle time after it; ties by
 * total size, descending: among waits before one gap, the wait that emptied the queue. */
static uint64_t additional_wait(const entries *all)
{
    const entry *best = NULL;
    TL_EACH (const entry, e, *all) {
        if (e->kind != TL_NAMED_WAIT || !(e->count > e->peers_count))
            continue;
        double more = excess_of(e), most = best != NULL ? excess_of(best) : 0;
        if (best == NULL || more > most || (!(more < most) && e->size * e->count > best->size * best->count))
            best = e;
    }
    return best != NULL ? best->name : 0;
}

/* Returns the name of the host work that makes the host late: the innermost name whose excess is at least TL_MOST_SHARE
 * of the largest excess of a name; for SYNC, the wait for the device; 0: none. */
static uint64_t host_work(const entries *all, tl_activity_kind activity)
{
    const entry *best = NULL;
    double largest = 0;
    if (activity == TL_ACTIVITY_SYNC)
        return additional_wait(all);
    for (size_t i = 0; i < all->n; i++)
        if (is_of_activity(&all->v[i], activity))
            largest = fmax(largest, excess_of(&all->v[i]));
    for (size_t i = 0; largest > 0 && i < all->n; i++) {
        const entry *e = &all->v[i];
        if (is_of_activity(e, activity) && excess_of(e) >= TL_MOST_SHARE * largest &&
            (best == NULL || is_more_telling(e, best, activity)))
            best = e;
    }
    return best != NULL ? best->name : 0;
}

/* --------------------------------------------------------------------------------------------------- dominant work */

/* Whether a delay of that cause may lie in the entry's work. */
static bool fits_cause(const entry *e, tl_cause cause)
{
    bool mixed = cause == TL_CAUSE_MIXED;
    if (e->kind == TL_NAMED_SPAN)
        return mixed || tl_cause_is_of_host(cause);
    if (e->kind != TL_NAMED_WORK)
        return false;
    if (e->activity == TL_ACTIVITY_COMPUTE)
        return mixed || cause == TL_CAUSE_COMPUTE_SLOW || cause == TL_CAUSE_MORE_WORK;
    return mixed || cause == (e->activity == TL_ACTIVITY_H2D ? TL_CAUSE_H2D : TL_CAUSE_COPY);
}

/* Largest excess first; ties by name, ascending. */
static int by_excess(const void *a, const void *b)
{
    const tl_dominant_work *x = a, *y = b;
    int order = TL_COMPARE(y->own_ns - y->peers_ns, x->own_ns - x->peers_ns);
    return order != 0 ? order : TL_COMPARE(x->name, y->name);
}

/* Fills found->dominant, after found->cause: the names that exceed every peer, and the median by at least least_ns. */
static void list_dominant_work(const entries *all, int64_t least_ns, tl_cause_found *found)
{
    TL_EACH (const entry, e, *all)
        if (fits_cause(e, found->cause) && excess_of(e) > 0 && excess_of(e) >= (double)least_ns &&
            e->ns > e->peers_most_ns)
            found->ndominant = tl_insert(found->dominant, found->ndominant, TL_DOMINANT_WORK_MOST,
                                         &(tl_dominant_work){ .name = e->name,
                                                              .own_ns = (int64_t)e->ns,
                                                              .peers_ns = (int64_t)e->peers_ns,
                                                              .host = e->kind == TL_NAMED_SPAN },
                                         sizeof *found->dominant, by_excess);
}

/* ------------------------------------------------------------------------------------------------------------- all */

/* Returns the activity of the host for a cause of the host. */
static tl_activity_kind activity_of(tl_cause cause)
{
    return cause == TL_CAUSE_INPUT        ? TL_ACTIVITY_INPUT
           : cause == TL_CAUSE_GC         ? TL_ACTIVITY_GC
           : cause == TL_CAUSE_ALLOCATOR  ? TL_ACTIVITY_ALLOCATOR
           : cause == TL_CAUSE_SYNC_DRAIN ? TL_ACTIVITY_SYNC
                                          : TL_ACTIVITY_HOST;
}

static tl_cause_found cause_of(const entries *all, tl_cause cause)
{
    if (tl_cause_is_of_host(cause))
        return (tl_cause_found){ .cause = cause, .dominant_work = host_work(all, activity_of(cause)) };
    if (cause == TL_CAUSE_H2D)
        return (tl_cause_found){ .cause = cause, .dominant_work = largest_of(all, TL_ACTIVITY_H2D) };
    if (cause == TL_CAUSE_COPY)
        return (tl_cause_found){ .cause = cause, .dominant_work = largest_of(all, TL_ACTIVITY_COPY) };
    if (cause == TL_CAUSE_COMPUTE_SLOW)
        cause = cause_of_compute(all);
    else if (cause == TL_CAUSE_MORE_WORK && !has_more(all))
        cause = TL_CAUSE_MIXED;
    bool named = cause == TL_CAUSE_COMPUTE_SLOW || cause == TL_CAUSE_MORE_WORK;
    return (tl_cause_found){ .cause = cause, .dominant_work = named ? largest_of(all, TL_ACTIVITY_COMPUTE) : 0 };
}

void tl_cause_find(tl_cause_row *rows, size_t n, const tl_cause_question *q, tl_cause_found *found)
{
    tl_arena arena = { 0 };
    const of_peers of = { tl_arena_take(&arena, q->npeers, sizeof *of.ns),
                          tl_arena_take(&arena, q->npeers, sizeof *of.count),
                          tl_arena_take(&arena, q->npeers, sizeof *of.size) };
    int32_t *peers = tl_arena_take(&arena, q->npeers, sizeof *peers);
    entries all = { .v = tl_arena_take(&arena, n, sizeof *all.v) };

    *found = (tl_cause_found){ .cause = q->cause };
    if (n > 1)
        qsort(rows, n, sizeof *rows, by_key);
    for (size_t i = 0, to; i < n; i = to) {
        for (to = i + 1; to < n && TL_ORDER(&rows[i], &rows[to], kind, name) == 0; to++)
            ;
        all.v[all.n++] = entry_of(rows + i, to - i, q, &of);
    }
    count_kernels(rows, n, q->rank, q->npeers, peers, &of, &all);
    if (q->npeers > 0) {
        *found = cause_of(&all, q->cause);
        list_dominant_work(&all, q->least_ns, found);
    }
    tl_arena_free(&arena);
}
