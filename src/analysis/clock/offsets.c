/* offsets.c - offsets that bounds allow, and among them those that ends of meetings speak for.
 *
 *     low[y]  = what the clock may be ahead at most        down along the bounds, from what is known
 *     high[x] = what it must be ahead at least             up against them
 *
 * Both are feasible offsets once nothing changes any more, and so is their mean.  Where it goes on changing for more
 * rounds than there are clocks, or past what is far, none are feasible: how far a round comes depends on which proc has
 * which bound, where it ends does not.  From one clock's 0, and nothing known of the others, low and high are how far
 * these may be ahead of it: the mean is the middle of what is feasible.
 */
#include "search.h"
#include "tlmpi/base/stats.h"
#include "tlmpi/model/parameters.h"
#include <math.h>
#include <string.h>

/* Ends are brought together in so many rounds at most. */
enum { ROUNDS = 64 };

tl_clock_trial tl_clock_trial_of(const tl_clock_search *s, size_t nwindows)
{
    int64_t half_ns = tl_ns_between(s->last_ns, s->first_ns) / 2;
    return (tl_clock_trial){ .clock = s->clock,
                             .nclocks = s->nclocks,
                             .nwindows = nwindows,
                             .first_ns = s->first_ns,
                             .window_ns = 2 * half_ns / (int64_t)nwindows + 1,
                             .middle_ns = tl_ns_sum(s->first_ns, half_ns),
                             .drift_ppb = s->drift,
                             .error_ns = s->error_ns };
}

/* Room for low, high after it, and whether they have settled. */
static size_t lay_out(tl_clock_search *s, size_t nwindows)
{
    s->high = s->low + nwindows * s->nclocks;
    return nwindows * s->nclocks;
}

/* The least of all procs: of low, of high turned round, and of whether nothing changed. */
static tl_status share(tl_clock_search *s, size_t n, tl_error *err)
{
    for (size_t i = 0; i < n; i++)
        s->high[i] = -s->high[i];
    tl_status st = s->procs->least(s->low, 2 * n + 1, err);
    for (size_t i = 0; i < n; i++)
        s->high[i] = -s->high[i];
    return st;
}

/* Whether any has been lowered, or raised, past all that clocks may differ by. */
static bool is_far_off(const tl_clock_search *s, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (s->low[i] <= -TL_CLOCK_FAR || s->high[i] >= TL_CLOCK_FAR)
            return true;
    return false;
}

/* Follows the bounds of all procs until nothing changes; *feasible: it came to that. */
static tl_status settle(tl_clock_search *s, size_t nwindows, bool *feasible, tl_error *err)
{
    const tl_clock_trial t = tl_clock_trial_of(s, nwindows);
    size_t n = nwindows * s->nclocks;
    bool far_off = false;
    tl_status st = TL_OK;

    *feasible = false;
    for (size_t round = 0; st == TL_OK && !*feasible && !far_off && round <= s->nclocks; round++) {
        s->high[n] = tl_clock_bounds_pass(s->b, &t, s->low, s->high) ? 1 : 0;
        st = share(s, n, err);
        far_off = is_far_off(s, n);
        *feasible = s->high[n] != 0 && !far_off;
    }
    return st;
}

tl_status tl_clock_settle_from_one(tl_clock_search *s, size_t nwindows, bool *feasible, tl_error *err)
{
    size_t n = lay_out(s, nwindows);
    for (size_t i = 0; i < n; i++) {
        size_t c = i % s->nclocks;
        s->low[i] = s->component[c] == (int64_t)c ? 0 : TL_CLOCK_FAR;
        s->high[i] = -s->low[i];
    }
    return settle(s, nwindows, feasible, err);
}

bool tl_clock_is_bounded(int64_t low, int64_t high)
{
    return low < TL_CLOCK_FAR / 2 && high > -TL_CLOCK_FAR / 2;
}

/* Where one clock of a window is not bounded from both sides, all of it is taken for unknown: 0, and far. */
tl_status tl_clock_take_middle(tl_clock_search *s, size_t nwindows, bool *feasible, tl_error *err)
{
    tl_status st = tl_clock_settle_from_one(s, nwindows, feasible, err);
    for (size_t from = 0; from < nwindows * s->nclocks; from += s->nclocks) {
        bool bounded = *feasible;
        for (size_t i = from; bounded && i < from + s->nclocks; i++)
            bounded = tl_clock_is_bounded(s->low[i], s->high[i]);
        for (size_t i = from; i < from + s->nclocks; i++) {
            s->half[i] = bounded ? tl_ns_between(s->low[i], s->high[i]) / 2 : TL_CLOCK_FAR;
            s->middle[i] = bounded ? s->high[i] + s->half[i] : 0;
            s->offset[i] = s->middle[i];
        }
    }
    return st;
}

/* Where a clock belongs by what its ends say, and by the middle of what is feasible: each weighs as it is sure, by how
 * far members may differ in a transfer, and by half the width. */
static int64_t start_offset_of(const tl_clock_search *s, size_t i)
{
    const tl_clock_say *say = &s->say[i];
    if (say->weight == 0)
        return s->offset[i];
    double ends_us = (double)s->offset[i] / 1e3 + (double)say->late / (double)say->weight;
    double took_us = (double)say->took / (double)say->weight, half_us = (double)s->half[i] / 1e3;
    double share = took_us * took_us / (took_us * took_us + half_us * half_us);
    double rank_clock = share * (double)s->middle[i] + (1 - share) * 1e3 * ends_us, far = (double)TL_CLOCK_FAR;
    return llround(fmax(-far, fmin(far, rank_clock)));
}

tl_status tl_clock_agree_ends(tl_clock_search *s, size_t nwindows, tl_error *err)
{
    const tl_clock_trial t = tl_clock_trial_of(s, nwindows);
    size_t n = nwindows * s->nclocks;
    int64_t most = INT64_MAX;
    tl_status st = TL_OK;

    for (int round = 0; st == TL_OK && round < ROUNDS && most > TL_CLOCK_ERROR_NS / 20; round++) {
        memset(s->say, 0, n * sizeof *s->say);
        tl_clock_bounds_ends(s->b, &t, s->offset, s->say);
        st = s->procs->sum(&s->say->late, n * (sizeof *s->say / sizeof s->say->late), err);
        most = 0;
        for (size_t i = 0; st == TL_OK && i < n; i++) {
            int64_t was_ns = s->offset[i];
            s->offset[i] = start_offset_of(s, i);
            most = tl_ns_max(most, was_ns > s->offset[i] ? was_ns - s->offset[i] : s->offset[i] - was_ns);
        }
    }
    return st;
}

/* The feasible offsets nearest to those that are there. */
static tl_status take_nearest(tl_clock_search *s, bool *feasible, tl_error *err)
{
    lay_out(s, 1);
    memcpy(s->low, s->offset, s->nclocks * sizeof *s->low);
    memcpy(s->high, s->offset, s->nclocks * sizeof *s->high);
    tl_status st = settle(s, 1, feasible, err);
    for (size_t c = 0; c < s->nclocks; c++)
        s->offset[c] = *feasible ? s->high[c] + tl_ns_between(s->low[c], s->high[c]) / 2 : 0;
    return st;
}

tl_status tl_clock_take_offsets(tl_clock_search *s, bool *feasible, tl_error *err)
{
    tl_status st = tl_clock_take_middle(s, 1, feasible, err);
    if (st == TL_OK && *feasible)
        st = tl_clock_agree_ends(s, 1, err);
    return st == TL_OK && *feasible ? take_nearest(s, feasible, err) : st;
}
