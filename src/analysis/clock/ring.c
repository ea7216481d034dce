/* clock_ring.c - see clock_ring.h. */
#include "ring.h"
#include "tlmpi/base/mem.h"
#include "tlmpi/base/sort.h"
#include "tlmpi/base/stats.h"
#include <stdlib.h>

/* The most that ends on one host were seen to differ by where a rank sits in the ring. */
#define SEEN_NS 50000.0

/* Fewer ends show no scatter. */
enum { ANCHORS_TELL = 3 };

/* One group: edges [from, to) of an order. */
typedef struct ring {
    uint32_t from, to;
    size_t nclocks, beyond; /* its clocks; ranks that are not on the one that has most of them */
    double hop_ns;          /* from a rank to the next, below 0 where no clock has two */
    double took_ns;
    double leeway_ns;
} ring;

/* Those of one clock by what they say. */
static int by_group_and_clock(const void *context, uint32_t a, uint32_t b)
{
    const tl_lsq *lsq = context;
    if (lsq->group[a] != lsq->group[b])
        return lsq->group[a] < lsq->group[b] ? -1 : 1;
    if (lsq->clock[a] != lsq->clock[b])
        return lsq->clock[a] < lsq->clock[b] ? -1 : 1;
    if (lsq->value[a] != lsq->value[b])
        return lsq->value[a] < lsq->value[b] ? -1 : 1;
    return a < b ? -1 : a > b;
}

static int by_size(const void *a, const void *b)
{
    const double *x = a, *y = b;
    return TL_COMPARE(*x, *y);
}

/* Of a ring that begins within a host two neighbours there are its whole length apart: the middle one tells. */
static ring ring_of(const tl_clock_solving *s, const uint32_t *order, uint32_t from, uint32_t to, double *gaps)
{
    ring r = { .from = from, .to = to, .hop_ns = -1, .took_ns = (double)s->edges[order[from]].took_ns };
    size_t ngaps = 0, most = 0;
    for (uint32_t at = from, end; at < to; at = end) {
        for (end = at + 1; end < to && s->lsq.clock[order[end]] == s->lsq.clock[order[at]]; end++)
            gaps[ngaps++] = s->lsq.value[order[end]] - s->lsq.value[order[end - 1]];
        r.nclocks++;
        most = end - at > most ? end - at : most;
    }
    r.beyond = to - from - most;
    if (ngaps > 0) {
        qsort(gaps, ngaps, sizeof *gaps, by_size);
        r.hop_ns = gaps[(ngaps - 1) / 2];
    }
    return r;
}

/* The part of a collective over which a ring spreads its ends, in the middle of those that tell; 1: none does. */
static double usual_part(const ring *rings, size_t n, double *parts)
{
    size_t told = 0;
    for (size_t i = 0; i < n; i++)
        if (rings[i].hop_ns >= 0 && rings[i].took_ns > 0)
            parts[told++] = rings[i].hop_ns * (rings[i].to - rings[i].from - 1) / rings[i].took_ns;
    if (told == 0)
        return 1;
    qsort(parts, told, sizeof *parts, by_size);
    return parts[told / 2];
}

/* None ends more apart than it takes. */
static double leeway_of(const ring *r, double part)
{
    double ns = r->hop_ns >= 0 ? r->hop_ns * (double)r->beyond : fmin(part * r->took_ns, SEEN_NS);
    return fmin(ns, r->took_ns);
}

/* Of each clock the mean of the rings that compare it with others, as they weigh. */
static void take_means(const tl_clock_solving *s, const uint32_t *order, const ring *rings, size_t n, double *sums,
                       int64_t *leeway)
{
    double *weights = sums + s->nclocks;
    for (size_t i = 0; i < 2 * s->nclocks; i++)
        sums[i] = 0;
    for (size_t i = 0; i < n; i++)
        for (uint32_t k = rings[i].from; rings[i].nclocks > 1 && k < rings[i].to; k++) {
            uint32_t e = order[k];
            int32_t c = s->lsq.clock[e];
            bool few = s->edges[e].anchors < ANCHORS_TELL;
            sums[c] += s->lsq.weight[e] * (few ? fmin(SEEN_NS, rings[i].took_ns) : rings[i].leeway_ns);
            weights[c] += s->lsq.weight[e];
        }
    for (size_t c = 0; c < s->nclocks; c++)
        leeway[c] = weights[c] > 0 ? tl_clock_rounded(sums[c] / weights[c]) : 0;
}

bool tl_clocks_leeway(const tl_clock_solving *s, int64_t *leeway)
{
    uint32_t *order = tl_malloc((s->nedges + 1) * sizeof *order);
    ring *rings = tl_malloc((s->nedges + 1) * sizeof *rings);
    double *room = tl_calloc(2 * s->nclocks + s->nedges + 1, sizeof *room);
    bool whole = order != NULL && rings != NULL && room != NULL && s->nedges < UINT32_MAX;
    size_t n = 0;

    for (size_t e = 0; whole && e < s->nedges; e++)
        order[e] = (uint32_t)e;
    whole = whole && tl_sort_index(order, s->nedges, by_group_and_clock, &s->lsq);
    for (uint32_t from = 0, to; whole && from < s->nedges; from = to) {
        for (to = from; to < s->nedges && s->lsq.group[order[to]] == s->lsq.group[order[from]]; to++)
            ;
        rings[n++] = ring_of(s, order, from, to, room);
    }
    double part = whole ? usual_part(rings, n, room) : 1;
    for (size_t i = 0; i < n; i++)
        rings[i].leeway_ns = leeway_of(&rings[i], part);
    if (whole)
        take_means(s, order, rings, n, room, leeway);
    free(order);
    free(rings);
    free(room);
    return whole;
}
