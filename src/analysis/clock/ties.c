/* clock_ties.c - see clock_ties.h. */
#include "ties.h"
#include "lsq.h"
#include "tlmpi/base/mem.h"
#include "tlmpi/base/sort.h"
#include "tlmpi/base/stats.h"
#include <stdlib.h>

/* Two ranks that send each other, or, of several such, two components: how far the clock of a is ahead. */
typedef struct tie {
    int32_t a, b; /* components, a < b */
    int64_t ahead_ns, doubt_ns;
    int64_t drift_ppb;
    bool has_drift, one_way;
} tie;

static const tl_rank_place *place_of(const tl_clock_tying *t, int32_t rank)
{
    const tl_job_facts facts = { .ranks = t->places, .nranks = t->nplaces };
    return tl_place_of(&facts, rank);
}

/* ------------------------------------------------------------------------------------------------------- one pair */

/* How far the edge's rank is ahead of its peer in the middle of the job. */
static int64_t ahead_of(const tl_clock_tying *t, const tl_clock_edge *e)
{
    return tl_ns_sum(e->ahead_ns, tl_clock_rounded(e->drift * (double)tl_ns_between(t->middle_ns, e->middle_ns)));
}

/* From edges[0, n) of one pair, one a way. */
static tie tie_of(const tl_clock_tying *t, const tl_clock_edge *edges, size_t n)
{
    const tl_clock_edge *way[TL_WAY_BOTH + 1] = { 0 }, *one = &edges[n - 1];
    for (size_t i = 0; i < n; i++)
        way[edges[i].way] = &edges[i];
    const tl_clock_edge *up = way[TL_WAY_UP], *down = way[TL_WAY_DOWN];

    if (way[TL_WAY_BOTH] == NULL && up != NULL && down != NULL) {
        int64_t least = ahead_of(t, up), between = tl_ns_between(ahead_of(t, down), least);
        int64_t sigma = tl_ns_max(up->sigma_ns, down->sigma_ns);
        return (tie){ .ahead_ns = tl_ns_sum(least, between / 2),
                      .doubt_ns = tl_ns_max(tl_clock_apart(between / 2), sigma),
                      .drift_ppb = tl_clock_rounded((up->drift + down->drift) / 2 * 1e9),
                      .has_drift = up->has_drift && down->has_drift };
    }
    bool one_way = one->way != TL_WAY_BOTH;
    return (tie){ .ahead_ns = ahead_of(t, one),
                  .doubt_ns = one_way ? tl_ns_max(one->took_ns, one->sigma_ns) : one->sigma_ns,
                  .drift_ppb = tl_clock_rounded(one->drift * 1e9),
                  .has_drift = one->has_drift != 0,
                  .one_way = one_way };
}

/* From the clocks of two ranks to their components; false where they are of one. */
static bool between_components(const tl_clock_tying *t, const tl_clock_edge *e, tie *x)
{
    const tl_rank_place *mine = place_of(t, e->rank), *other = place_of(t, e->peer);
    if (mine == NULL || other == NULL || t->component[mine->clock] == t->component[other->clock])
        return false;
    x->a = t->component[mine->clock];
    x->b = t->component[other->clock];
    x->ahead_ns = tl_ns_between(x->ahead_ns, tl_ns_between(t->offset[mine->clock], t->offset[other->clock]));
    x->drift_ppb = tl_ns_between(x->drift_ppb, tl_ns_between(t->drift[mine->clock], t->drift[other->clock]));
    if (x->a > x->b) {
        int32_t held = x->a;
        x->a = x->b;
        x->b = held;
        x->ahead_ns = tl_ns_between(0, x->ahead_ns);
        x->drift_ppb = tl_ns_between(0, x->drift_ppb);
    }
    return true;
}

/* What goes one way, and shows no more than a transfer, says nothing against one clock of ranks whose host is not
 * known. */
static bool may_be_one(const tl_clock_tying *t, const tl_clock_edge *e, const tie *x)
{
    const tl_rank_place *mine = place_of(t, e->rank), *other = place_of(t, e->peer);
    bool known = mine != NULL && other != NULL && mine->host >= 0 && other->host >= 0;
    return x->one_way && !known && tl_clock_apart(x->ahead_ns) <= x->doubt_ns;
}

static size_t list_ties(const tl_clock_tying *t, tie *out)
{
    size_t n = 0;
    for (size_t from = 0, to; from < t->nedges; from = to) {
        const tl_clock_edge *e = &t->edges[from];
        for (to = from; to < t->nedges && t->edges[to].rank == e->rank && t->edges[to].peer == e->peer; to++)
            ;
        tie x = tie_of(t, e, to - from);
        if (between_components(t, e, &x) && !may_be_one(t, e, &x))
            out[n++] = x;
    }
    return n;
}

/* ------------------------------------------------------------------------------------------------- two components */

static int by_components(const void *a, const void *b)
{
    const tie *x = a, *y = b;
    int order = TL_COMPARE(x->a, y->a);
    order = order != 0 ? order : TL_COMPARE(x->b, y->b);
    order = order != 0 ? order : TL_COMPARE(x->one_way, y->one_way); /* where some go both ways these alone tell */
    order = order != 0 ? order : TL_COMPARE(x->ahead_ns, y->ahead_ns);
    order = order != 0 ? order : TL_COMPARE(x->doubt_ns, y->doubt_ns);
    return order != 0 ? order : TL_COMPARE(x->drift_ppb, y->drift_ppb);
}

/* One of the n ties of two components, in order, in their middle. */
static tie middle_of(const tie *ties, size_t n, int64_t *values)
{
    size_t same = 0;
    while (same < n && ties[same].one_way == ties[0].one_way)
        same++;
    tie x = ties[(same - 1) / 2];
    for (size_t i = 0; i < same; i++)
        values[i] = ties[i].ahead_ns;
    int64_t scatter_ns = tl_mad(values, same, x.ahead_ns);
    for (size_t i = 0; i < same; i++)
        values[i] = ties[i].doubt_ns;
    x.doubt_ns = tl_ns_max(tl_median(values, same), scatter_ns);
    return x;
}

static size_t join_ties(tie *ties, size_t n, int64_t *values)
{
    size_t nout = 0;
    if (n > 0)
        qsort(ties, n, sizeof *ties, by_components);
    for (size_t from = 0, to; from < n; from = to) {
        for (to = from; to < n && ties[to].a == ties[from].a && ties[to].b == ties[from].b; to++)
            ;
        ties[nout++] = middle_of(ties + from, to - from, values);
    }
    return nout;
}

/* ---------------------------------------------------------------------------------------------------- all of them */

/* A tie is a group of two: half the distance each. */
static void take(tl_lsq *lsq, const tie *ties, size_t n, bool drifts)
{
    for (size_t i = 0; i < n; i++) {
        double half = (double)(drifts ? ties[i].drift_ppb : ties[i].ahead_ns) / 2;
        double weight = drifts ? ties[i].has_drift : 1;
        for (size_t end = 0; end < 2; end++) {
            size_t e = 2 * i + end;
            lsq->clock[e] = end == 0 ? ties[i].a : ties[i].b;
            lsq->group[e] = (int32_t)i;
            lsq->weight[e] = weight;
            lsq->value[e] = end == 0 ? half : -half;
        }
    }
    tl_lsq_solve(lsq);
}

/* What the solution leaves of each tie stays in doubt, too. */
static void raise_sigmas(const tl_clock_tying *t, const tl_lsq *lsq, const tie *ties, size_t n, int64_t *doubt)
{
    for (size_t i = 0; i < n; i++) {
        int64_t told = tl_clock_rounded(lsq->x[ties[i].a] - lsq->x[ties[i].b]);
        int64_t ns = tl_ns_sum(ties[i].doubt_ns, tl_clock_apart(tl_ns_between(told, ties[i].ahead_ns)));
        doubt[ties[i].a] = tl_ns_max(doubt[ties[i].a], ns);
        doubt[ties[i].b] = tl_ns_max(doubt[ties[i].b], ns);
    }
    for (size_t c = 0; c < t->nclocks; c++)
        t->sigma[c] = tl_ns_max(t->sigma[c], doubt[t->component[c]]);
}

static bool tie_all(const tl_clock_tying *t, const tie *ties, size_t n)
{
    tl_lsq lsq;
    int32_t *joined = tl_calloc(t->nclocks + n + 1, sizeof *joined);
    int64_t *doubt = tl_calloc(t->nclocks + 1, sizeof *doubt);
    bool whole = tl_lsq_make(&lsq, 2 * n, t->nclocks, n) && joined != NULL && doubt != NULL;

    if (whole) {
        take(&lsq, ties, n, false);
        for (size_t c = 0; c < t->nclocks; c++)
            t->offset[c] = tl_ns_sum(t->offset[c], tl_clock_rounded(lsq.x[t->component[c]]));
        raise_sigmas(t, &lsq, ties, n, doubt);
        tl_lsq_components(&lsq, joined);
        take(&lsq, ties, n, true);
        for (size_t c = 0; c < t->nclocks; c++) {
            t->drift[c] = tl_ns_sum(t->drift[c], tl_clock_rounded(lsq.x[t->component[c]]));
            t->component[c] = joined[t->component[c]];
        }
    }
    tl_lsq_free(&lsq);
    free(joined);
    free(doubt);
    return whole;
}

bool tl_clocks_tie(const tl_clock_tying *t, bool *tied)
{
    tie *ties = tl_malloc((t->nedges + 1) * sizeof *ties);
    int64_t *values = tl_malloc((t->nedges + 1) * sizeof *values);
    bool whole = ties != NULL && values != NULL;

    *tied = false;
    if (whole) {
        size_t n = join_ties(ties, list_ties(t, ties), values);
        *tied = n > 0;
        whole = n == 0 || tie_all(t, ties, n);
    }
    free(ties);
    free(values);
    return whole;
}
