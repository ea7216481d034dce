/* search.h - the clocks of a job while they are looked for: numbers of clocks, offsets, drifts. */
#ifndef ANALYSIS_CLOCK_SEARCH_H
#define ANALYSIS_CLOCK_SEARCH_H

#include "bounds.h"

/* Drifts are read off offsets in so many windows of time. */
enum { TL_CLOCK_WINDOWS = 8 };

/* Of `rank_clocks`; by window and clock stands [window * nclocks + clock]. */
typedef struct tl_clock_search {
    const tl_clock_bounds *b;
    const tl_clock_procs *procs;
    tl_rank_clock *rank_clocks;
    size_t nrank_clocks;
    int32_t *clock; /* by rank: the numbering that is tried */
    size_t nclocks;
    int64_t *component;        /* by clock: the lowest clock that bounds tie it to */
    int64_t *low, *high;       /* by window and clock */
    int64_t *offset;           /* by window and clock */
    int64_t *middle, *half;    /* by window and clock: of what is feasible, and half its width */
    tl_clock_say *say;         /* by window and clock */
    int64_t *drift;            /* by clock */
    int64_t *values;           /* room, by place */
    int64_t first_ns, last_ns; /* of the job's bounds */
    int64_t error_ns;          /* that they may be broken by */
    int64_t nbounds;
} tl_clock_search;

/* One window, or TL_CLOCK_WINDOWS of them. */
tl_clock_trial tl_clock_trial_of(const tl_clock_search *s, size_t nwindows);

/* Whether a clock that is so far ahead at most, and at least, is bounded from both sides. */
bool tl_clock_is_bounded(int64_t low, int64_t high);

/* Leaves in low and high how far each clock may be ahead of the lowest of its component, at most and at least;
 * *feasible: there are such offsets. */
tl_status tl_clock_settle_from_one(tl_clock_search *s, size_t nwindows, bool *feasible, tl_error *err);

/* Leaves in offset, middle and half what is feasible in each window, in its middle where that is bounded: all windows
 * on their own; *feasible: all have any. */
tl_status tl_clock_take_middle(tl_clock_search *s, size_t nwindows, bool *feasible, tl_error *err);

/* From there moves offsets to where ends of meetings agree, as far as that is surer than what bounds leave open. */
tl_status tl_clock_agree_ends(tl_clock_search *s, size_t nwindows, tl_error *err);

/* Both, over all the time, and back to what is feasible; *feasible false: there are no such offsets, and all are 0. */
tl_status tl_clock_take_offsets(tl_clock_search *s, bool *feasible, tl_error *err);

/* Leaves in drift what clocks gain, where no offsets are feasible over all the time. */
tl_status tl_clock_find_drifts(tl_clock_search *s, tl_error *err);

#endif
