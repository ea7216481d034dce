/* clock_fit.c - one rank in one group: offset and drift of its clock against the group's middle.
 *
 * Theil and Sen's line: the median of the slopes between all pairs of anchors, then the median distance from it.  A
 * quarter of the anchors may be wrong matches without harm.
 */
#include "tlmpi/analysis/match.h"
#include "tlmpi/analysis/clock.h"
#include "tlmpi/base/hash.h"
#include "tlmpi/base/sort.h"
#include "tlmpi/base/stats.h"
#include <math.h>
#include <stdlib.h>

/* A slope needs so many anchors over so long: ends scatter by tens of microseconds, and clocks drift by some in a
 * second. */
#define DRIFT_ANCHORS 20
#define DRIFT_SPAN_NS INT64_C(1000000000)

/* The shortest tell where they disagree by so much with all: a part of them, but so many, and no more than a quarter.
 */
#define DISAGREE_NS INT64_C(50000)
enum { SHORT_PART = 12, SHORT_LEAST = 3 };

/* More anchors are thinned out evenly: all pairs are looked at. */
#define MOST_ANCHORS 512

/* Puts the k-th smallest of v[0, n) in its place, smaller ones before and larger ones behind it: a sort that only
 * follows the side that k is on. */
static void select_kth(double *v, size_t n, size_t k)
{
    size_t low = 0, high = n - 1;
    uint64_t chance = 1;
    while (low < high) {
        /* Any but the last will do; a fixed one a trace could be made for. */
        chance = tl_hash_mix(chance, n);
        double pivot = v[low + (size_t)(chance % (high - low))];
        size_t i = low, j = high;
        for (;;) {
            while (v[i] < pivot)
                i++;
            while (v[j] > pivot)
                j--;
            if (i >= j)
                break;
            double held = v[i];
            v[i++] = v[j];
            v[j--] = held;
        }
        if (k <= j)
            high = j;
        else
            low = j + 1;
    }
}

/* Reorders the values. */
static double median_of(double *v, size_t n)
{
    select_kth(v, n, n / 2);
    double upper = v[n / 2], lower = v[0];
    if (n % 2 == 1)
        return upper;
    for (size_t i = 1; i < n / 2; i++)
        lower = v[i] > lower ? v[i] : lower;
    return (lower + upper) / 2;
}

/* The median slope of all pairs that are apart in time; NaN when memory is out. */
static double median_slope(const tl_anchor *a, size_t n)
{
    double *slopes = tl_malloc((n * (n - 1) / 2 + 1) * sizeof *slopes), slope = NAN;
    size_t m = 0;

    for (size_t i = 0; slopes != NULL && i < n; i++)
        for (size_t j = i + 1; j < n; j++)
            if (a[j].at_ns != a[i].at_ns)
                slopes[m++] =
                    (double)tl_ns_between(a[j].ahead_ns, a[i].ahead_ns) / (double)tl_ns_between(a[j].at_ns, a[i].at_ns);
    if (slopes != NULL)
        slope = m > 0 ? median_of(slopes, m) : 0;
    free(slopes);
    return slope;
}

/* Nanoseconds that a clock gains in a time; clocks that run wilder than a thousandth are wrong matches. */
static int64_t gained(double drift, int64_t ns)
{
    double gain = drift * (double)ns;
    return fabs(gain) < 4e18 ? llround(gain) : 0;
}

static int by_took(const void *a, const void *b)
{
    const tl_anchor *x = a, *y = b;
    int order = TL_COMPARE(x->took_ns, y->took_ns);
    return order != 0 ? order : TL_COMPARE(x->at_ns, y->at_ns);
}

/* Offset and scatter of n anchors from the line. */
static void take_offset(const tl_anchor *some, size_t n, tl_clock_edge *out)
{
    int64_t apart[MOST_ANCHORS];
    for (size_t i = 0; i < n; i++)
        apart[i] = tl_ns_between(some[i].ahead_ns, gained(out->drift, tl_ns_between(some[i].at_ns, out->middle_ns)));
    out->ahead_ns = tl_median(apart, n);
    int64_t mad = tl_mad(apart, n, out->ahead_ns);
    out->sigma_ns = mad < INT64_MAX / 14826 ? mad * 14826 / 10000 : mad;
    out->took_ns = some[n / 2].took_ns;
}

/* The same of what is sent one way: whose end is early tells nothing, so it is where the sender is held longest, but
 * for an eighth that may be chance; how near the next are says how sure that is. */
static void take_held(const tl_anchor *some, size_t n, tl_clock_edge *out)
{
    int64_t apart[MOST_ANCHORS];
    for (size_t i = 0; i < n; i++) {
        int64_t ns = tl_ns_between(some[i].ahead_ns, gained(out->drift, tl_ns_between(some[i].at_ns, out->middle_ns)));
        apart[i] = out->way == TL_WAY_UP ? tl_ns_between(0, ns) : ns;
    }
    tl_ns_sort(apart, n);
    out->ahead_ns = out->way == TL_WAY_UP ? tl_ns_between(0, apart[n / 8]) : apart[n / 8];
    out->sigma_ns = tl_ns_between(apart[n / 4], apart[n / 8]);
}

bool tl_clock_edge_fit(const tl_anchor *anchors, size_t n, tl_clock_edge *out)
{
    size_t m = n < MOST_ANCHORS ? n : MOST_ANCHORS;
    tl_anchor some[MOST_ANCHORS];

    for (size_t i = 0; i < m; i++)
        some[i] = anchors[i * n / m];
    int64_t span_ns = tl_ns_between(anchors[n - 1].at_ns, anchors[0].at_ns);
    *out = (tl_clock_edge){ .rank = anchors->rank,
                            .group = anchors->group,
                            .peer = anchors->peer,
                            .way = anchors->way,
                            .anchors = (int64_t)n,
                            .first_ns = anchors[0].at_ns,
                            .last_ns = anchors[n - 1].at_ns,
                            .middle_ns = anchors[0].at_ns + span_ns / 2 };
    if (n >= DRIFT_ANCHORS && span_ns >= DRIFT_SPAN_NS) {
        out->drift = median_slope(some, m);
        if (isnan(out->drift))
            return false;
        out->has_drift = fabs(out->drift) < 1e-3;
        out->drift = out->has_drift ? out->drift : 0;
    }
    qsort(some, m, sizeof *some, by_took);
    take_offset(some, m, out);
    tl_clock_edge shorter = *out;
    if (out->way == TL_WAY_UP || out->way == TL_WAY_DOWN)
        take_held(some, m, out);
    else if (m >= 4 * (size_t)SHORT_LEAST) {
        take_offset(some, m / SHORT_PART > SHORT_LEAST ? m / SHORT_PART : SHORT_LEAST, &shorter);
        int64_t apart = tl_ns_between(out->ahead_ns, shorter.ahead_ns);
        if (shorter.took_ns < out->took_ns / 2 && (apart > DISAGREE_NS || apart < -DISAGREE_NS))
            *out = shorter;
    }
    return true;
}

static bool is_sent(const tl_participant *p, size_t n)
{
    return n == 2 && p[0].peer == p[1].rank && p[1].peer == p[0].rank && p[0].rank < p[1].rank &&
           (p[0].rule == TL_BY_SEQ || p[0].rule == TL_BY_PAIR) && tl_collective_suspect(p, n) == TL_SUSPECT_NOTHING;
}

static tl_anchor anchor_of_pair(const tl_participant *p)
{
    int64_t ahead_ns = tl_ns_between(p[0].end_ns, p[1].end_ns), took_ns = tl_ns_between(p[0].end_ns, p[0].start_ns);
    int64_t other_ns = tl_ns_between(p[1].end_ns, p[1].start_ns);
    return (tl_anchor){ .rank = p[0].rank,
                        .group = -1,
                        .at_ns = tl_ns_between(p[0].end_ns, ahead_ns / 2),
                        .ahead_ns = ahead_ns,
                        .took_ns = took_ns < other_ns ? took_ns : other_ns,
                        .peer = p[1].rank,
                        .way = p[0].kind == p[1].kind ? TL_WAY_BOTH
                               : p[0].kind == TL_SEND ? TL_WAY_UP
                                                      : TL_WAY_DOWN };
}

bool tl_collective_anchors(const tl_participant *p, size_t n, tl_anchor *out, size_t *nout)
{
    if (is_sent(p, n)) {
        out[0] = anchor_of_pair(p);
        *nout = 1;
        return true;
    }
    bool synchronising = n > 1 && tl_collective_suspect(p, n) == TL_SUSPECT_NOTHING;

    *nout = 0;
    for (size_t i = 0; i < n; i++)
        synchronising = synchronising && tl_is_synchronising((tl_collective)p[i].kind);
    if (!synchronising)
        return true;
    int64_t *ends = tl_malloc(n * sizeof *ends);
    if (ends == NULL)
        return false;
    for (size_t i = 0; i < n; i++)
        ends[i] = p[i].end_ns;
    int64_t middle = tl_median(ends, n), shortest = INT64_MAX;
    for (size_t i = 0; i < n; i++) {
        int64_t took = tl_ns_between(p[i].end_ns, p[i].start_ns);
        shortest = took < shortest ? took : shortest;
    }
    for (size_t i = 0; i < n; i++)
        out[i] = (tl_anchor){ .rank = p[i].rank,
                              .group = p[i].group,
                              .at_ns = middle,
                              .ahead_ns = tl_ns_between(p[i].end_ns, middle),
                              .took_ns = shortest };
    *nout = n;
    free(ends);
    return true;
}
