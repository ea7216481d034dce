/* compute.c - why the work of a device takes longer than that of peers. */
#include "internal.h"
#include <math.h>

/* Kernels below this share of the rank's compute tell little of how fast it computes. */
static const double small = 0.01;

static double mean_of(double ns, double count)
{
    return count > 0 ? ns / count : 0;
}

uint64_t tl_cause_largest_of(const tl_cause_finding *f, int activity, double all)
{
    const tl_cause_entry *best = NULL;
    for (size_t i = 0; i < f->n; i++) {
        const tl_cause_entry *e = &f->v[i];
        if (e->kind == TL_DETAIL_WORK && e->activity == activity &&
            (best == NULL || e->ns - e->peers_ns > best->ns - best->peers_ns))
            best = e;
    }
    return best != NULL && best->ns - best->peers_ns >= TL_CAUSE_HALF * all ? best->name : 0;
}

/* Larger than that of any peer, and by so much that it explains work that takes `longer` times as long. */
static bool is_larger(const tl_cause_entry *e, double longer)
{
    return e->peers_size > 0 && e->size > e->peers_most &&
           e->size - e->peers_size >= TL_CAUSE_HALF * (longer - 1) * e->peers_size;
}

/* More to compute on: it is sent more than its peers, or copies more to the device. */
static bool is_given_more(const tl_cause_finding *f, double longer)
{
    for (size_t i = 0; i < f->n; i++) {
        const tl_cause_entry *e = &f->v[i];
        bool given = e->kind == TL_DETAIL_COMM || (e->kind == TL_DETAIL_WORK && e->activity == TL_ACTIVITY_H2D);
        if (given && is_larger(e, longer))
            return true;
    }
    return false;
}

bool tl_cause_copies_more(const tl_cause_finding *f)
{
    for (size_t i = 0; i < f->n; i++)
        if (f->v[i].kind == TL_DETAIL_WORK && f->v[i].activity == TL_ACTIVITY_H2D && is_larger(&f->v[i], 1))
            return true;
    return false;
}

/* The same kernels, longer; or more of them, or larger ones? */
tl_cause tl_cause_of_compute(const tl_cause_finding *f, uint64_t *place)
{
    double all = 0, sum = 0, more = 0, grown = 0, positive = 0, slower_ns = 0;
    size_t kernels = 0, slower = 0;

    for (size_t i = 0; i < f->n; i++) {
        const tl_cause_entry *e = &f->v[i];
        if (e->kind != TL_DETAIL_WORK || e->activity != TL_ACTIVITY_COMPUTE)
            continue;
        double over = e->ns - e->peers_ns,
               peers_mean = e->peers_count > 0 ? mean_of(e->peers_ns, e->peers_count) : INFINITY;
        double own = mean_of(e->ns, e->count), each = peers_mean < own ? peers_mean : own;
        if (e->count > e->peers_count)
            more += (e->count - e->peers_count) * each;
        if (over > 0 && is_larger(e, own / peers_mean))
            grown += over;
        positive += over > 0 ? over : 0;
        all += over;
        sum += e->ns;
    }
    *place = tl_cause_largest_of(f, TL_ACTIVITY_COMPUTE, all);
    double peers_mean = sum - all, third = peers_mean > 0 ? all / peers_mean / 3 : 0;
    if (more >= TL_CAUSE_HALF * positive || grown >= TL_CAUSE_HALF * positive || is_given_more(f, 1 + 3 * third))
        return TL_CAUSE_MORE_WORK;

    /* How many kernels are slower, by a third of what all are together at least? */
    for (size_t i = 0; i < f->n; i++) {
        const tl_cause_entry *e = &f->v[i];
        if (e->kind != TL_DETAIL_WORK || e->activity != TL_ACTIVITY_COMPUTE || e->ns < small * sum ||
            !(e->peers_count > 0))
            continue;
        bool longer = mean_of(e->ns, e->count) >= (1 + third) * mean_of(e->peers_ns, e->peers_count);
        kernels++;
        slower += longer;
        slower_ns += longer ? e->ns : 0;
    }
    if (kernels > 1 && 3 * slower >= 2 * kernels && slower_ns >= 0.75 * sum) {
        *place = 0;
        return TL_CAUSE_THROTTLED;
    }
    return TL_CAUSE_COMPUTE_SLOW;
}
