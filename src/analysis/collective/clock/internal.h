/* internal.h - shared by the files of this folder: bounds on clock offsets from matched collectives (bounds.c), and the
 * least-squares fit of clocks to the ends of collectives (find.c). */
#ifndef ANALYSIS_CLOCK_INTERNAL_H
#define ANALYSIS_CLOCK_INTERNAL_H

#include "tlmpi/analysis/collective/clock.h"
#include "tlmpi/base/mem.h"

/* ----------------------------------------------------------------------------------------------------------- bounds */

/* On true clocks no member leaves a synchronising collective before all have arrived, and nothing is received before it
 * is sent. */

/* A distance in ns that no two times of a job reach. */
#define TL_CLOCK_FAR (INT64_MAX / 8)

/* A bound from one synchronising collective, or one message: no leaving member ends before every arriving member has
 * begun. */
typedef struct tl_clock_bound {
    uint32_t first, n;
    int32_t sender; /* of a message: 0 or 1, the sender's index; else -1: all members arrive and leave */
} tl_clock_bound;

/* The bounds of one proc.  Zero-initialise; tl_clock_bounds_free ends it. */
typedef struct tl_clock_bounds {
    const tl_participant *participants;
    uint32_t *rank_clock; /* by participant: index of its rank's clock among the rank_clocks */
    TL_VEC(tl_clock_bound) all;
    int64_t first_ns, last_ns; /* first and last of the bounds' last arrivals; no bounds: first > last */
} tl_clock_bounds;

void tl_clock_bounds_make(const tl_participant *participants, size_t n, const tl_job_facts *job, tl_clock_bounds *out);
void tl_clock_bounds_free(tl_clock_bounds *b);

/* Makes one pass over the bounds: lowers low[], the largest allowed offset given low[] of the clocks waited for, and
 * raises high[], the smallest allowed offset given high[] of the waiting clocks.  low_from[]: the clock that low[] was
 * computed from.  All are by clock; `tried`, by rank_clock, has drifts and steps.  Returns true if nothing changed. */
bool tl_clock_bounds_pass(const tl_clock_bounds *b, const tl_rank_clock *tried, int64_t *low, int64_t *high,
                          int64_t *low_from);

/* Returns the number of bounds broken by more than TL_CLOCK_ERROR_NS on clocks that are ahead by offset[]. */
int64_t tl_clock_bounds_broken(const tl_clock_bounds *b, const tl_rank_clock *tried, const int64_t *offset);

/* Whether the times of the n participants of one collective limit their clock offsets. */
bool tl_clocks_compare(const tl_job_facts *job, const tl_participant *by_rank, size_t n);

/* ------------------------------------------------------------------------------------------------------------ solve */

/* The graph of clocks and ties, borrowed.  Nodes are the clocks, and after them the ties.
 *
 *     clock 0 --- tie A --- clock 1          late_ns of an end = offset of its clock - offset of its tie
 *        |                     |             (a tie: the mean clock of the ranks that meet in it)
 *        +--- tie B            +--- tie C
 *
 * Weighted least squares over this graph of clocks and ties, by conjugate gradients, until nothing changes.
 */
typedef struct tl_clock_ties {
    size_t nends, nclocks, nnodes;
    const uint32_t *clock, *tie; /* by end: its two nodes */
} tl_clock_ties;

#endif
