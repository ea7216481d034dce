/* bounds.h - the limits that matched collectives set to the offsets between clocks: on true clocks nobody leaves a
 * synchronising collective before all have arrived, and nothing is received before it is sent. */
#ifndef ANALYSIS_CLOCK_BOUNDS_H
#define ANALYSIS_CLOCK_BOUNDS_H

#include "tlmpi/analysis/clock.h"
#include "tlmpi/base/mem.h"

/* Farther than any two times of a job. */
#define TL_CLOCK_FAR (INT64_MAX / 8)

/* One collective of synchronising kind, or one message: nobody who leaves does so before all who arrive have. */
typedef struct tl_clock_bound {
    uint32_t first, n;
    int32_t sender;    /* of a message: its place among the two; else -1: all arrive, and all leave */
    int64_t broken_ns; /* first end before last arrival, on recorded clocks; below 0 where it comes after */
} tl_clock_bound;

/* Those of one proc.  Zero-initialise; tl_clock_bounds_free ends it. */
typedef struct tl_clock_bounds {
    const tl_participant *participants;
    uint32_t *rank_clock; /* by participant: of its rank, among the rank_clocks */
    TL_VEC(tl_clock_bound) all;
    int64_t first_ns, last_ns; /* of their arrivals; first above last where there are none */
    int64_t most_ns;           /* those broken by more on recorded clocks are taken for wrong matches, and left out */
} tl_clock_bounds;

bool tl_clock_bounds_make(const tl_participant *participants, size_t n, const tl_rank_clock *rank_clocks,
                          size_t nrank_clocks, tl_clock_bounds *out);
void tl_clock_bounds_free(tl_clock_bounds *b);

/* Clocks as they are tried: `clock` of each place; nclocks in all, with a drift each; offsets are by window of time and
 * clock, [window * nclocks + clock]: one window, unless the offsets of several are asked for. */
typedef struct tl_clock_trial {
    const int32_t *clock;
    size_t nclocks, nwindows;
    int64_t first_ns, window_ns; /* where windows begin, and how long each is */
    int64_t middle_ns;           /* drifts count from there */
    const int64_t *drift_ppb;
    int64_t error_ns; /* so far bounds may be broken: the clock error, or more */
} tl_clock_trial;

/* Lowers low[] and raises high[] to what the bounds allow, once: from each offset that a clock has at most follows what
 * those that it waits for have at most, and the other way round.  True where nothing changed. */
bool tl_clock_bounds_pass(const tl_clock_bounds *b, const tl_clock_trial *t, int64_t *low, int64_t *high);

/* How many bounds are broken by more than error_ns. */
int64_t tl_clock_bounds_broken(const tl_clock_bounds *b, const tl_clock_trial *t, const int64_t *offset);

/* Gives each clock of a bound the least label that any has; true where nothing changed. */
bool tl_clock_bounds_label(const tl_clock_bounds *b, const tl_clock_trial *t, int64_t *label);

/* What ends of meetings say of a clock: sums over them, each weighed by 1 / transfer^2, as members may differ by what
 * they transfer in. */
typedef struct tl_clock_say {
    int64_t late, took,
        weight; /* us by which it ends after the mean end, us that the transfer took, 1; times the weight */
} tl_clock_say;

/* Adds what the ends of meetings say to say[], by window and clock, with clocks that are ahead by offset[]. */
void tl_clock_bounds_ends(const tl_clock_bounds *b, const tl_clock_trial *t, const int64_t *offset, tl_clock_say *say);

/* What a clock gains in a time. */
int64_t tl_clock_gained(int64_t drift_ppb, int64_t ns);

#endif
