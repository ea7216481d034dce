/* drift.c - what clocks gain, where no offsets are feasible over all the time: offsets in windows of it, and the slope
 * of these. */
#include "search.h"
#include "tlmpi/base/stats.h"
#include "tlmpi/model/parameters.h"
#include <math.h>

/* Drifts are refined so often, and windows given more error so often. */
enum { REFININGS = 3, DOUBLINGS = 10 };

/* The median slope of all pairs of windows in which something tells of a clock, ppb. */
static int64_t slope_of(const tl_clock_search *s, size_t clock, int64_t window_ns)
{
    int64_t slopes[TL_CLOCK_WINDOWS * (TL_CLOCK_WINDOWS - 1) / 2], at[TL_CLOCK_WINDOWS], ahead[TL_CLOCK_WINDOWS];
    size_t n = 0, m = 0;

    for (size_t w = 0; w < TL_CLOCK_WINDOWS; w++) {
        size_t i = w * s->nclocks + clock;
        if (s->half[i] >= TL_CLOCK_FAR && s->say[i].weight == 0)
            continue;
        at[n] = (int64_t)w;
        ahead[n++] = s->offset[i];
    }
    for (size_t i = 0; i < n; i++)
        for (size_t k = i + 1; k < n; k++) {
            double ns = (double)(at[k] - at[i]) * (double)window_ns;
            double slope = (double)tl_ns_between(ahead[k], ahead[i]) / ns * 1e9;
            slopes[m++] = (int64_t)fmax(-1e15, fmin(1e15, slope));
        }
    return m > 0 ? tl_median(slopes, m) : 0;
}

/* Where clocks drift apart within a window by more than transfers hide, it has no feasible offsets: the windows are
 * asked with as much error as it takes. */
static tl_status take_windows(tl_clock_search *s, tl_error *err)
{
    bool feasible = false;
    tl_status st = TL_OK;

    for (int doubled = 0; st == TL_OK && !feasible && doubled < DOUBLINGS; doubled++, s->error_ns *= 2)
        st = tl_clock_take_middle(s, TL_CLOCK_WINDOWS, &feasible, err);
    s->error_ns = TL_CLOCK_ERROR_NS;
    return st == TL_OK ? tl_clock_agree_ends(s, TL_CLOCK_WINDOWS, err) : st;
}

/* The offsets of windows differ as clocks drift; drifts taken off, they differ by less. */
tl_status tl_clock_find_drifts(tl_clock_search *s, tl_error *err)
{
    const tl_clock_trial t = tl_clock_trial_of(s, TL_CLOCK_WINDOWS);
    tl_status st = TL_OK;

    for (int k = 0; st == TL_OK && k < REFININGS; k++) {
        st = take_windows(s, err);
        for (size_t c = 0; st == TL_OK && c < s->nclocks; c++)
            s->drift[c] = tl_ns_within(tl_ns_sum(s->drift[c], slope_of(s, c, t.window_ns)), TL_CLOCK_MOST_DRIFT_PPB);
    }
    return st;
}
