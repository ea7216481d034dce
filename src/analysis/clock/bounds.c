/* bounds.c - the limits that matched collectives set to the offsets between clocks. */
#include "bounds.h"
#include "tlmpi/base/stats.h"
#include "tlmpi/model/parameters.h"
#include <stdlib.h>

/* ----------------------------------------------------------------------------------------------------------- bounds */

static bool arrives(const tl_clock_bound *b, uint32_t i)
{
    return b->sender < 0 || i == (uint32_t)b->sender;
}

static bool leaves(const tl_clock_bound *b, uint32_t i)
{
    return b->sender < 0 || i != (uint32_t)b->sender;
}

/* Whether these lie farther apart than clocks that are bounded: followed through one that nothing is known of, it would
 * seem to be known. */
static bool lies_ages_apart(const tl_participant *p, size_t n)
{
    int64_t first_ns = INT64_MAX, last_ns = -INT64_MAX;
    for (size_t i = 0; i < n; i++) {
        first_ns = tl_ns_min(first_ns, tl_ns_min(p[i].start_ns, p[i].end_ns));
        last_ns = tl_ns_max(last_ns, tl_ns_max(p[i].start_ns, p[i].end_ns));
    }
    return tl_ns_between(last_ns, first_ns) >= TL_CLOCK_FAR / 2;
}

/* Adds the collective at `first`, if it says anything. */
static bool take(tl_clock_bounds *out, size_t first, size_t n)
{
    const tl_participant *p = out->participants + first;
    tl_clock_bound b = { .first = (uint32_t)first, .n = (uint32_t)n, .sender = tl_participants_sender(p, n) };
    int64_t last_ns = INT64_MIN, left_ns = INT64_MAX;

    if (n < 2 || tl_collective_suspect(p, n) != TL_SUSPECT_NOTHING || lies_ages_apart(p, n))
        return true;
    if (b.sender < 0 && !tl_participants_meet(p, n))
        return true;
    for (uint32_t i = 0; i < b.n; i++) {
        if (out->rank_clock[first + i] == UINT32_MAX)
            return true;
        last_ns = arrives(&b, i) ? tl_ns_max(last_ns, p[i].start_ns) : last_ns;
        left_ns = leaves(&b, i) ? tl_ns_min(left_ns, p[i].end_ns) : left_ns;
    }
    b.broken_ns = tl_ns_between(last_ns, left_ns);
    out->first_ns = tl_ns_min(out->first_ns, last_ns);
    out->last_ns = tl_ns_max(out->last_ns, last_ns);
    if (!tl_vec_room(&out->all))
        return false;
    out->all.v[out->all.n++] = b;
    return true;
}

bool tl_clock_bounds_make(const tl_participant *participants, size_t n, const tl_rank_clock *rank_clocks,
                          size_t nrank_clocks, tl_clock_bounds *out)
{
    const tl_job_facts facts = { .ranks = rank_clocks, .nranks = nrank_clocks };
    bool ok = true;

    *out = (tl_clock_bounds){
        .participants = participants, .first_ns = INT64_MAX, .last_ns = -INT64_MAX, .most_ns = INT64_MAX
    };
    out->rank_clock = tl_malloc((n + 1) * sizeof *out->rank_clock);
    if (out->rank_clock == NULL)
        return false;
    for (size_t i = 0; i < n; i++) {
        const tl_rank_clock *rank_clock = tl_rank_clock_of(&facts, participants[i].rank);
        out->rank_clock[i] = rank_clock != NULL ? (uint32_t)(rank_clock - rank_clocks) : UINT32_MAX;
    }
    for (size_t from = 0, to; ok && from < n; from = to) {
        to = tl_participants_end(participants, n, from);
        ok = take(out, from, to - from);
    }
    return ok;
}

void tl_clock_bounds_free(tl_clock_bounds *b)
{
    free(b->rank_clock);
    free(b->all.v);
    *b = (tl_clock_bounds){ 0 };
}

/* ----------------------------------------------------------------------------------------------------------- trials */

/* In two parts that fit: whole seconds, and the rest. */
int64_t tl_clock_gained(int64_t drift_ppb, int64_t ns)
{
    const int64_t second = 1000000000;
    return ns / second * drift_ppb + ns % second * drift_ppb / second;
}

/* A time without the drift of its clock. */
static int64_t steady(const tl_clock_trial *t, size_t clock, int64_t ns)
{
    int64_t drift = t->drift_ppb != NULL ? t->drift_ppb[clock] : 0;
    return drift == 0 ? ns : tl_ns_between(ns, tl_clock_gained(drift, tl_ns_between(ns, t->middle_ns)));
}

/* The window of a bound: that in which its last arrives, give or take what clocks are off by; it is the same for all of
 * its members. */
static size_t window_of(const tl_clock_bounds *b, const tl_clock_trial *t, const tl_clock_bound *bound)
{
    if (t->nwindows <= 1)
        return 0;
    int64_t since = tl_ns_between(b->participants[bound->first].end_ns, t->first_ns);
    size_t window = since > 0 ? (size_t)(since / t->window_ns) : 0;
    return window < t->nwindows ? window : t->nwindows - 1;
}

/* Last arrival and first end of a bound, arrivals on clocks that are ahead by `come`, ends by `gone`. */
static void extent_of(const tl_clock_bounds *b, const tl_clock_trial *t, const tl_clock_bound *bound,
                      const int64_t *come, const int64_t *gone, int64_t *last_ns, int64_t *left_ns)
{
    *last_ns = INT64_MIN;
    *left_ns = INT64_MAX;
    for (uint32_t i = 0; i < bound->n; i++) {
        const tl_participant *p = &b->participants[bound->first + i];
        size_t clock = (size_t)t->clock[b->rank_clock[bound->first + i]];
        if (arrives(bound, i))
            *last_ns = tl_ns_max(*last_ns, tl_ns_between(steady(t, clock, p->start_ns), come[clock]));
        if (leaves(bound, i))
            *left_ns = tl_ns_min(*left_ns, tl_ns_between(steady(t, clock, p->end_ns), gone[clock]));
    }
}

bool tl_clock_bounds_pass(const tl_clock_bounds *b, const tl_clock_trial *t, int64_t *low, int64_t *high)
{
    bool settled = true;

    for (size_t k = 0; k < b->all.n; k++) {
        const tl_clock_bound *bound = &b->all.v[k];
        size_t at = window_of(b, t, bound) * t->nclocks;
        int64_t last_ns, left_ns;
        if (bound->broken_ns > b->most_ns)
            continue;
        extent_of(b, t, bound, low + at, high + at, &last_ns, &left_ns);
        for (uint32_t i = 0; i < bound->n; i++) {
            const tl_participant *p = &b->participants[bound->first + i];
            size_t clock = (size_t)t->clock[b->rank_clock[bound->first + i]];
            int64_t most = tl_ns_sum(tl_ns_between(steady(t, clock, p->end_ns), last_ns), t->error_ns);
            int64_t least = tl_ns_between(tl_ns_between(steady(t, clock, p->start_ns), left_ns), t->error_ns);
            if (leaves(bound, i) && most < low[at + clock]) {
                low[at + clock] = most;
                settled = false;
            }
            if (arrives(bound, i) && least > high[at + clock]) {
                high[at + clock] = least;
                settled = false;
            }
        }
    }
    return settled;
}

int64_t tl_clock_bounds_broken(const tl_clock_bounds *b, const tl_clock_trial *t, const int64_t *offset)
{
    int64_t n = 0;
    for (size_t k = 0; k < b->all.n; k++) {
        int64_t last_ns, left_ns;
        extent_of(b, t, &b->all.v[k], offset, offset, &last_ns, &left_ns);
        n += tl_ns_between(last_ns, left_ns) > t->error_ns;
    }
    return n;
}

/* The least that any needs: what a kernel waits is no part of it. */
static int64_t transfer_us(const tl_participant *p, uint32_t n)
{
    int64_t least_ns = INT64_MAX;
    for (uint32_t i = 0; i < n; i++)
        least_ns = tl_ns_min(least_ns, tl_ns_max(0, tl_ns_between(p[i].end_ns, p[i].start_ns)));
    return tl_ns_max(least_ns, TL_CLOCK_ERROR_NS) / 1000;
}

/* No ends of one collective lie further apart, and sums of them stay far from overflow. */
#define ENDS_MOST_US INT64_C(10000000)

/* How long after the mean end of a meeting its members end. */
static void say_of(const tl_clock_bounds *b, const tl_clock_trial *t, const tl_clock_bound *bound,
                   const int64_t *offset, tl_clock_say *says)
{
    size_t at = window_of(b, t, bound) * t->nclocks;
    tl_clock_say *say = says + at;
    const tl_participant *p = &b->participants[bound->first];
    const uint32_t *rank_clock = &b->rank_clock[bound->first];
    int64_t last_ns, left_ns, sum_ns = 0, took_us = tl_ns_within(transfer_us(p, bound->n), ENDS_MOST_US);
    double reach = 1e6 / (double)took_us;
    int64_t weight = (int64_t)(reach * reach / 1e3) + 1;

    offset += at;
    extent_of(b, t, bound, offset, offset, &last_ns, &left_ns);
    for (int round = 0; round < 2; round++)
        for (uint32_t i = 0; i < bound->n; i++) {
            size_t clock = (size_t)t->clock[rank_clock[i]];
            int64_t ns = tl_ns_between(tl_ns_between(steady(t, clock, p[i].end_ns), offset[clock]), left_ns);
            if (round == 0) {
                sum_ns = tl_ns_sum(sum_ns, ns);
                continue;
            }
            int64_t late_us = tl_ns_within(tl_ns_between(ns, sum_ns / bound->n) / 1000, ENDS_MOST_US);
            say[clock].late = tl_ns_sum(say[clock].late, late_us * weight);
            say[clock].took = tl_ns_sum(say[clock].took, took_us * weight);
            say[clock].weight = tl_ns_sum(say[clock].weight, weight);
        }
}

void tl_clock_bounds_ends(const tl_clock_bounds *b, const tl_clock_trial *t, const int64_t *offset, tl_clock_say *say)
{
    for (size_t k = 0; k < b->all.n; k++)
        if (b->all.v[k].sender < 0 && b->all.v[k].broken_ns <= b->most_ns)
            say_of(b, t, &b->all.v[k], offset, say);
}

bool tl_clock_bounds_label(const tl_clock_bounds *b, const tl_clock_trial *t, int64_t *label)
{
    bool settled = true;
    for (size_t k = 0; k < b->all.n; k++) {
        const tl_clock_bound *bound = &b->all.v[k];
        int64_t least = INT64_MAX;
        for (uint32_t i = 0; i < bound->n; i++)
            least = tl_ns_min(least, label[t->clock[b->rank_clock[bound->first + i]]]);
        for (uint32_t i = 0; i < bound->n; i++) {
            int64_t *mine = &label[t->clock[b->rank_clock[bound->first + i]]];
            settled = settled && *mine == least;
            *mine = least;
        }
    }
    return settled;
}
