/* solve.h - the clocks that explain best what ends of collectives differ by.
 *
 *     clock 0 --- tie A --- clock 1          late_ns of an end = offset of its clock - offset of its tie
 *        |                     |             (a tie: the mean clock of the ranks that meet in it)
 *        +--- tie B            +--- tie C
 *
 * Weighed least squares over this graph of clocks and ties, by conjugate gradients, until nothing changes; ends that
 * contradict the others by more than their sigma weigh less in the next round.
 */
#ifndef ANALYSIS_CLOCK_SOLVE_H
#define ANALYSIS_CLOCK_SOLVE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The graph, borrowed.  Nodes are the clocks, and after them the ties. */
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
