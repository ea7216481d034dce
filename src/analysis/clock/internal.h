/* internal.h - between the files of this room: the limits that matched collectives set to the offsets between clocks
 * (bounds.c), and the clocks that explain best what ends of collectives differ by (solve.c). */
#ifndef ANALYSIS_CLOCK_INTERNAL_H
#define ANALYSIS_CLOCK_INTERNAL_H

#include "tlmpi/analysis/clock.h"
#include "tlmpi/base/mem.h"

/* ----------------------------------------------------------------------------------------------------------- bounds */

/* On true clocks no member leaves a synchronising collective before all have arrived, and nothing is received before it
 * is sent. */

/* Farther than any two times of a job. */
#define TL_CLOCK_FAR (INT64_MAX / 8)

/* A bound from one synchronising collective, or one message: no leaving member ends before every arriving member has
 * begun. */
typedef struct tl_clock_bound {
    uint32_t first, n;
    int32_t sender; /* of a message: its place among the two; else -1: all arrive, and all leave */
} tl_clock_bound;

/* The bounds of one proc.  Zero-initialise; tl_clock_bounds_free ends it. */
typedef struct tl_clock_bounds {
    const tl_participant *participants;
    uint32_t *rank_clock; /* by participant: of its rank, among the rank_clocks */
    TL_VEC(tl_clock_bound) all;
    int64_t first_ns, last_ns; /* of their arrivals; first above last where there are none */
} tl_clock_bounds;

void tl_clock_bounds_make(const tl_participant *participants, size_t n, const tl_job_facts *job, tl_clock_bounds *out);
void tl_clock_bounds_free(tl_clock_bounds *b);

/* Lowers low[] and raises high[] to what the bounds allow, once: the most that a clock may be ahead follows from low[]
 * of the clocks that it waits for, and the least from high[] of the clocks that wait for it.  low_from[]: the clock
 * that low[] followed from last.  All are by clock; `tried`, by rank_clock, has drifts and steps.  True where nothing
 * changed. */
bool tl_clock_bounds_pass(const tl_clock_bounds *b, const tl_rank_clock *tried, int64_t *low, int64_t *high,
                          int64_t *low_from);

/* How many bounds are broken by more than TL_CLOCK_ERROR_NS on clocks that are ahead by offset[]. */
int64_t tl_clock_bounds_broken(const tl_clock_bounds *b, const tl_rank_clock *tried, const int64_t *offset);

/* Whether the n participants of one collective tell of their clocks. */
bool tl_clocks_compare(const tl_job_facts *job, const tl_participant *by_rank, size_t n);

/* ------------------------------------------------------------------------------------------------------------ solve */

/* The graph of clocks and ties, borrowed.  Nodes are the clocks, and after them the ties.
 *
 *     clock 0 --- tie A --- clock 1          late_ns of an end = offset of its clock - offset of its tie
 *        |                     |             (a tie: the mean clock of the ranks that meet in it)
 *        +--- tie B            +--- tie C
 *
 * Weighed least squares over this graph of clocks and ties, by conjugate gradients, until nothing changes; ends that
 * contradict the others by more than their sigma weigh less in the next round.
 */
typedef struct tl_clock_ties {
    size_t nends, nclocks, nnodes;
    const uint32_t *clock, *tie; /* by end: its two nodes */
} tl_clock_ties;

/* value[] and sigma[] by end: what it says, and how sure that is; INFINITY: not at all.  Leaves in out[], by node, the
 * solution less that of the lowest clock that ties connect a node with, component[]; in apart[], by node, the sigma of
 * that, summed up over the surest way of ends, INFINITY where there is none. */
void tl_clock_ties_solve(const tl_clock_ties *g, const int64_t *component, const int64_t *value, const double *sigma,
                         int64_t *out, double *apart);

/* Leaves in component[], by node, the lowest clock that ties connect it with. */
void tl_clock_ties_label(const tl_clock_ties *g, int64_t *component);

#endif
