/* clock_ties.h - clocks that no synchronising collective compares: tied by what their ranks send each other.
 *
 *     host 0  [0]..[1]      collectives inside each host: two components
 *              |    |
 *     host 1  [2]..[3]      sent and received between them: 0-2 and 1-3 each tell how far the components are apart
 *
 * Of a pair, what goes up and what goes down bound the distance, and it lies in the middle; half of what is between
 * them stays in doubt.  Where all goes one way nothing bounds it from the other side, and what a transfer takes stays
 * in doubt.  Of several pairs of two components the middle one tells; between several components, least squares.
 */
#ifndef TLMPI_ANALYSIS_CLOCK_TIES_H
#define TLMPI_ANALYSIS_CLOCK_TIES_H

#include "tlmpi/analysis/clock.h"

typedef struct tl_clock_tying {
    const tl_clock_edge *edges; /* of pairs, ascending by rank, peer and way */
    size_t nedges;
    const tl_rank_place *places; /* in rank order, each with its clock */
    size_t nplaces, nclocks;
    int64_t middle_ns;               /* when offsets hold */
    int32_t *component;              /* by clock; becomes one where clocks are tied */
    int64_t *offset, *drift, *sigma; /* by clock; ns, ppb, ns */
} tl_clock_tying;

/* Brings the components that are tied to one time, and raises sigma to what stays in doubt; *tied: there are any. False
 * when memory is out. */
bool tl_clocks_tie(const tl_clock_tying *tying, bool *tied);

#endif
