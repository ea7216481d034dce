/* contention.c - how much longer do kernels take while communication runs beside them?
 *
 *     comm          [     waits      | transfer ]
 *     work     [ a ][ b ][ c ][ d ]......wait...[ e ]       b, c and d share the device with it
 *
 * A collective that waits for a late rank holds multiprocessors, and one that transfers memory bandwidth, too.  So a rank
 * that is late makes the work of others longer, which is no surplus of theirs, and goes when it does.  What it costs is
 *
 *     time of a kernel / mean of those like it - 1 = part * (share of its time beside - mean of that)
 *
 * a line through all kernels of the rank.  Alike are
 *
 *     the same     the k-th of its name and grid in each step, which ran beside communication for more of its time in some;
 *                  where the rank marks none, that of each return of the sequence of its kernels, wherever it begins
 *     of a name    with the same grid and no more than a quarter longer than the next shorter one: one layer and another.
 *                  Kernels of one name do not tell by that alone: what runs beside communication may be the larger ones */
#include "compose.h"
#include "tlmpi/base/period.h"
#include "tlmpi/base/hash.h"
#include "tlmpi/base/mem.h"
#include "tlmpi/base/sort.h"
#include "tlmpi/base/stats.h"
#include <math.h>
#include <stdlib.h>

/* A kernel that takes half as long again as in the mean does so for another reason. */
static const double odd = 0.5;
/* Kernels of one name so much longer than the next shorter one do something else. */
static const double apart = 1.25;
/* The share of time beside communication must differ by as much as that of so many kernels which run beside it, and others
 * that do not. */
static const double moves_least = 1;
/* No line is drawn through anything better than this. */
static const double least_error = 0.001;
/* Of a rank's kernels so many tell, the first; a line through more is no surer than least_error. */
enum { SAMPLES_MAX = 1 << 16 };

/* While the comm was the one of those running that began first: [from, to). */
typedef struct owned {
    int64_t from_ns, to_ns;
    uint32_t comm;
} owned;

/* One kernel in one step, or that of all steps. */
typedef struct sample {
    uint64_t does, key; /* the key: and the how manieth of these in its step */
    int64_t start_ns;
    double ns, share; /* of its time, beside communication */
} sample;

/* What a line is drawn through. */
typedef struct drawing {
    double xx, xy, yy, moves, free;
} drawing;

typedef struct contending {
    tl_composing *c;
    owned *owned;
    size_t nowned;
    sample *samples;
    size_t nsamples;
    tl_map counts;
} contending;

static int by_start(const void *building, uint32_t x, uint32_t y)
{
    const tl_building *b = building;
    const tl_kernel *p = &b->view->kernels[b->comm[x]], *q = &b->view->kernels[b->comm[y]];
    int order = TL_COMPARE(p->start_ns, q->start_ns);
    return order != 0 ? order : TL_COMPARE(x, y);
}

/* Each instant in which any communication ran, once. */
static bool list_owned(contending *l)
{
    const tl_building *b = l->c->b;
    uint32_t *order = tl_malloc((b->ncomm + 1) * sizeof *order);
    int64_t until = INT64_MIN;

    l->owned = tl_malloc((b->ncomm + 1) * sizeof *l->owned);
    for (uint32_t i = 0; order != NULL && i < b->ncomm; i++)
        order[i] = i;
    bool whole = order != NULL && l->owned != NULL && tl_sort_index(order, b->ncomm, by_start, b);
    for (size_t i = 0; whole && i < b->ncomm; i++) {
        const tl_kernel *k = &b->view->kernels[b->comm[order[i]]];
        int64_t from = tl_ns_max(until, k->start_ns);
        if (k->end_ns > from)
            l->owned[l->nowned++] = (owned){ from, k->end_ns, order[i] };
        until = tl_ns_max(until, k->end_ns);
    }
    free(order);
    return whole;
}

/* How long the kernel ran beside communication; *at: the first that ends behind its start, which only grows. */
static int64_t beside(contending *l, const tl_kernel *k, size_t *at)
{
    int64_t sum = 0;
    while (*at < l->nowned && l->owned[*at].to_ns <= k->start_ns)
        ++*at;
    for (size_t i = *at; i < l->nowned && l->owned[i].from_ns < k->end_ns; i++) {
        tl_comm *comm = &l->c->out->comms[l->owned[i].comm];
        int64_t from = tl_ns_max(l->owned[i].from_ns, k->start_ns), to = tl_ns_min(l->owned[i].to_ns, k->end_ns);
        if (to <= from)
            continue;
        comm->beside_ns += to - from;
        comm->beside_until_ns = tl_ns_max(comm->beside_until_ns, to - comm->start_ns);
        sum += to - from;
    }
    return sum;
}

static bool take(contending *l, const tl_kernel *k, int32_t step, int64_t beside_ns)
{
    bool marked = l->c->b->view->nsteps > 0;
    if (l->nsamples == SAMPLES_MAX || (marked && step < 0) || k->end_ns <= k->start_ns)
        return true;
    uint64_t does = tl_kernel_does(l->c->b->view, k), in_step = tl_hash_mix(does, (uint64_t)(int64_t)step);
    if (does == 0)
        return true;
    uint32_t before = tl_map_get(&l->counts, in_step), n = before == TL_MAP_NONE ? 0 : before;
    double ns = (double)(k->end_ns - k->start_ns);
    l->samples[l->nsamples++] = (sample){ does, tl_hash_mix(does, n), k->start_ns, ns, (double)beside_ns / ns };
    return tl_map_put(&l->counts, in_step, n + 1) == 0;
}

/* Without marks all has been one step, in which each is the k-th of its own: a place in what returns is that of all that
 * have it. */
static bool find_places(contending *l)
{
    uint64_t *does = tl_malloc((l->nsamples + 1) * sizeof *does);
    int64_t *starts_ns = tl_malloc((l->nsamples + 1) * sizeof *starts_ns);
    size_t period = 0;
    bool whole = does != NULL && starts_ns != NULL;

    for (size_t i = 0; whole && i < l->nsamples; i++) {
        does[i] = l->samples[i].does;
        starts_ns[i] = l->samples[i].start_ns;
    }
    whole = whole && tl_period_of(does, starts_ns, l->nsamples, &period);
    for (size_t i = 0; whole && period > 0 && i < l->nsamples; i++)
        l->samples[i].key = tl_hash_mix(l->samples[i].does, i % period);
    free(does);
    free(starts_ns);
    return whole;
}

/* Sums of segments and comms, and a sample of each kernel. */
static bool look_at_kernels(contending *l)
{
    const tl_building *b = l->c->b;
    tl_segment *segments = l->c->out->segments;
    size_t at = 0, segment = 0;
    bool whole = true;

    l->samples = tl_malloc((b->nlocal < SAMPLES_MAX ? b->nlocal + 1 : SAMPLES_MAX) * sizeof *l->samples);
    for (size_t i = 0; l->samples != NULL && whole && i < b->nlocal; i++) {
        const tl_kernel *k = &b->view->kernels[b->local[i]];
        while (segment < b->nboundaries && b->boundaries[segment].at <= i)
            segment++;
        if (k->kind != TL_COMPUTE)
            continue;
        int64_t ns = beside(l, k, &at);
        segments[segment].beside_ns += ns;
        whole = take(l, k, segments[segment].step, ns);
    }
    return whole && l->samples != NULL && (b->view->nsteps > 0 || find_places(l));
}

static int by_key(const void *a, const void *b)
{
    const sample *x = a, *y = b;
    return TL_COMPARE(x->key, y->key);
}

static int by_name(const void *a, const void *b)
{
    const sample *x = a, *y = b;
    int order = TL_COMPARE(x->does, y->does);
    order = order != 0 ? order : TL_COMPARE(x->ns, y->ns);
    return order != 0 ? order : TL_COMPARE(x->share, y->share);
}

/* Draws n samples that are alike; their mean. */
static sample draw(drawing *d, const sample *v, size_t n)
{
    sample mean = { .does = v->does };
    for (size_t i = 0; i < n; i++) {
        mean.ns += v[i].ns / (double)n;
        mean.share += v[i].share / (double)n;
    }
    for (size_t i = 0; i < n; i++) {
        double x = v[i].share - mean.share, y = v[i].ns / mean.ns - 1;
        if (fabs(y) > odd)
            continue;
        d->xx += x * x * mean.ns;
        d->xy += x * y * mean.ns;
        d->yy += y * y * mean.ns;
        d->moves += x * x;
        d->free++;
    }
    d->free--;
    return mean;
}

/* The slope of the line, and by how much chance may have it wrong; false where nothing tells. */
static bool slope_of(const drawing *d, double *slope, double *error)
{
    if (d->moves < moves_least || d->free < 1)
        return false;
    *slope = d->xy / d->xx;
    *error = fmax(sqrt(fmax(0, d->yy - *slope * d->xy) / (d->free * d->xx)), least_error);
    return true;
}

/* Both together, each by how sure it is. */
static void tell(contending *l, double *contention, double *error)
{
    drawing same = { .free = -1 }, named = { .free = -1 };
    const drawing *both[] = { &same, &named };
    sample *v = l->samples;
    size_t n = 0;
    double slope, off, sum = 0, weight = 0;

    if (l->nsamples > 1)
        qsort(v, l->nsamples, sizeof *v, by_key);
    for (size_t i = 0, to; i < l->nsamples; i = to) {
        for (to = i; to < l->nsamples && v[to].key == v[i].key; to++)
            ;
        v[n++] = draw(&same, v + i, to - i);
    }
    if (n > 1)
        qsort(v, n, sizeof *v, by_name);
    for (size_t i = 0, to; i < n; i = to) {
        for (to = i + 1; to < n && v[to].does == v[i].does && v[to].ns <= apart * v[to - 1].ns; to++)
            ;
        draw(&named, v + i, to - i);
    }
    for (size_t i = 0; i < sizeof both / sizeof both[0]; i++)
        if (slope_of(both[i], &slope, &off)) {
            sum += slope / (off * off);
            weight += 1 / (off * off);
        }
    *contention = weight > 0 ? sum / weight : 0;
    *error = weight > 0 ? 1 / sqrt(weight) : INFINITY;
}

bool tl_compose_contention(tl_composing *c)
{
    contending l = { .c = c };
    bool whole = list_owned(&l) && look_at_kernels(&l);

    if (whole)
        tell(&l, &c->out->contention, &c->out->contention_error);
    free(l.owned);
    free(l.samples);
    tl_map_free(&l.counts);
    return whole;
}
