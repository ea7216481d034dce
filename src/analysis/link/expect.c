/* expect.c - how long should a transfer have been?
 *
 * As long as those of the other groups of its class; where there are none, as long as the own ones of other steps.  Of a link
 * that grows slower all the time hardly a step is as it should be: as long as where it begins.
 *
 *     took      . . : : | | | |      the middle of what is not too long, half of the steps, is not what is usual */
#include "ends.h"
#include "last.h"
#include "parts.h"
#include "tlmpi/base/mem.h"
#include "tlmpi/base/robust.h"
#include "tlmpi/base/stats.h"
#include <math.h>
#include <stdlib.h>

/* Own steps tell from so many collectives of a kind and size on. */
enum { OWN_LEAST = 4 };
/* A trend shows in so many steps, those of a long job taken together, if chance makes one as clear so seldom, and if what it
 * moves by matters. */
enum { TREND_STEPS = 6, TREND_STEPS_MOST = 1024 };
static const double trend_by_chance = 0.01, trend_matters = 0.05;
/* Stages of a pipeline may have weights of several sizes, the first and the last most.  So many others, and a time that
 * is so many times theirs, are no matter of sizes. */
enum { UNLIKE_LEAST = 2, UNLIKE_TIMES = 3 };

/* Ranks of healthy rings are done up to so far apart, for where they stand in them (measured, eight devices of one host); two
 * are done at once, and of an all-to-all each when it has what it is sent. */
#define RING_NS INT64_C(50000)
enum { PAIR = 2 };

/* From the first end to the last. */
static int64_t spread_of(const tl_link_finding *f, uint32_t collective)
{
    const tl_link_collective *c = &f->in->collectives[collective];
    int64_t first = INT64_MAX, last = INT64_MIN;
    for (uint32_t k = c->first; k < c->first + c->n; k++) {
        first = f->in->ends[k].end_ns < first ? f->in->ends[k].end_ns : first;
        last = f->in->ends[k].end_ns > last ? f->in->ends[k].end_ns : last;
    }
    return tl_ns_between(last, first);
}

/* Groups whose ranks end further apart than those of others seem to take longer, by as much. */
static void allow_for_ends(tl_link_finding *f, size_t from, size_t to, size_t own, size_t own_end)
{
    size_t n = 0;
    for (size_t k = from, next; k < to; k = next) {
        next = tl_link_cell_end(f, k);
        if (k != own && !f->in->collectives[f->order[k]].partial)
            f->scratch[n++] = spread_of(f, f->order[k + tl_lower_middle(next - k)]);
    }
    int64_t usual = tl_median(f->scratch, n);
    for (size_t k = own; k < own_end; k++) {
        int64_t more = tl_ns_between(spread_of(f, f->order[k]), usual);
        f->apart_ns[f->order[k]] = more < 0 ? 0 : more < RING_NS ? more : RING_NS;
    }
}

/* Whether those of order[i] are to be compared with n others, which take `others` where these, when not flagged, take
 * `own`. */
static bool by_groups(const tl_link_collective *c, size_t n, int64_t own, int64_t others)
{
    return n > 0 && (!c->unlike || (n >= UNLIKE_LEAST && own / UNLIKE_TIMES >= others));
}

/* From the other groups of [from, to), one class; without another group from the shorter half of the own. */
static void expect(tl_link_finding *f, size_t from, size_t to)
{
    for (size_t i = from, end; i < to; i = end) {
        size_t n = 0;
        end = tl_link_cell_end(f, i);
        for (size_t k = from, next; k < to; k = next) {
            next = tl_link_cell_end(f, k);
            if (k != i && !f->in->collectives[f->order[k]].partial)
                f->scratch[n++] = f->took_ns[f->order[k + tl_lower_middle(next - k)]];
        }
        int64_t own = f->took_ns[f->order[i + tl_lower_quarter(end - i)]],
                others = n > 0 ? tl_median(f->scratch, n) : 0;
        bool groups = by_groups(&f->in->collectives[f->order[i]], n, own, others);
        for (size_t k = i; k < end; k++) {
            uint32_t c = f->order[k];
            bool tells = tl_link_is_comparable(&f->in->collectives[c]);
            f->should_ns[c] = !tells || (!groups && end - i < OWN_LEAST) ? f->took_ns[c] : groups ? others : own;
            f->evidence[c] = groups && tells ? TL_LINK_BY_GROUPS : TL_LINK_BY_STEPS;
        }
        const tl_link_collective *c = &f->in->collectives[f->order[i]];
        if (groups && c->n > PAIR && !tl_link_is_loose(c))
            allow_for_ends(f, from, to, i, end);
    }
}

void tl_link_expect_all(tl_link_finding *f)
{
    for (size_t i = 0, to; i < f->n; i = to) {
        for (to = i; to < f->n && f->class_of[f->order[to]] == f->class_of[f->order[i]];)
            to = tl_link_cell_end(f, to);
        expect(f, i, to);
    }
}

/* Where transfers of order[from .. to), by step, grow longer or shorter all the time: what they take at the better end of the
 * line through their steps, or in the best step where the line goes below what any took.  NaN where they do not.  False when
 * memory is out. */
static bool better_end(tl_link_finding *f, size_t from, size_t to, double *ns)
{
    size_t n = 0, block = f->in->nsteps / TREND_STEPS_MOST + 1, most = f->in->nsteps / block + 1;
    double *at = tl_malloc(most * sizeof *at), *took = tl_malloc(most * sizeof *took);
    double *scratch = tl_malloc((tl_slopes_max(most) + most) * sizeof *scratch);
    bool whole = at != NULL && took != NULL && scratch != NULL;

    *ns = NAN;
    for (size_t i = from, next; whole && i < to; i = next) {
        size_t step = f->in->collectives[f->order[i]].step / block;
        for (next = i; next < to && f->in->collectives[f->order[next]].step / block == step; next++)
            f->scratch[next - i] = f->took_ns[f->order[next]];
        at[n] = (double)step;
        took[n++] = (double)tl_median(f->scratch, next - i);
    }
    if (whole && n >= TREND_STEPS && tl_trend_p(took, n) <= trend_by_chance) {
        double slope = tl_theil_sen(at, took, n, scratch), least = INFINITY;
        for (size_t i = 0; i < n; i++) {
            scratch[i] = took[i] - slope * at[i];
            least = fmin(least, took[i]);
        }
        double line = tl_real_median(scratch, n) + slope * (slope > 0 ? at[0] : at[n - 1]);
        if (fabs(slope) * (at[n - 1] - at[0]) >= trend_matters * line)
            *ns = fmax(least, line);
    }
    free(at);
    free(took);
    free(scratch);
    return whole;
}

bool tl_link_expect_alone(tl_link_finding *f)
{
    for (size_t i = 0, to; i < f->n; i = to) {
        uint32_t unit = f->unit[f->order[i]];
        size_t quiet = 0;
        to = tl_link_cell_end(f, i);
        if (f->evidence[f->order[i]] != TL_LINK_BY_STEPS)
            continue;
        bool comparable = tl_link_is_comparable(&f->in->collectives[f->order[i]]);
        /* That some steps are longer is no reason not to look whether all are those of a slow ring. */
        bool ends = 2 * f->found[unit].nflagged < f->in->nsteps || !comparable;
        if (ends && !tl_link_by_tails(f->in, f->order + i, to - i, f->took_ns, f->should_ns, f->evidence))
            return false;
        if (ends && comparable && f->evidence[f->order[i]] == TL_LINK_BY_STEPS &&
            !tl_link_by_last(f->in, f->order + i, to - i, f->took_ns, f->should_ns, f->evidence))
            return false;
        if (f->found[unit].nflagged == 0 || !comparable || f->evidence[f->order[i]] != TL_LINK_BY_STEPS)
            continue;
        for (size_t k = i; k < to; k++)
            if (!f->flagged[tl_link_place(f, f->order[k])])
                f->scratch[quiet++] = f->took_ns[f->order[k]];
        int64_t should = quiet >= OWN_LEAST / 2 ? tl_median(f->scratch, quiet) : f->should_ns[f->order[i]];
        double begins;
        if (!better_end(f, i, to, &begins))
            return false;
        should = begins < (double)should ? llround(begins) : should;
        for (size_t k = i; k < to; k++)
            f->should_ns[f->order[k]] = should;
    }
    return true;
}
