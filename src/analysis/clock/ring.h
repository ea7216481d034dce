/* clock_ring.h - what clocks may be off by because ranks do not end a collective together.
 *
 *     host 0   [0]  .  .  .
 *              [ 1]    .  .        ranks of one clock: what their ends differ by, again and again, is where they sit in
 *     host 1          [ 2]  .      the ring: so much from each to the next
 *                       [ 3]
 *
 * The other host's ranks sit further on in the same ring, and nothing tells that from a clock that is behind.  So an
 * offset is open by what the ring takes through the ranks that are not on one host, however many collectives tell it.
 * Where a group has one rank a host, other groups tell what part of a collective a ring spreads its ends over; where
 * none does it may be what has been seen on one host, or all of a shorter collective.  So it may where one or two
 * collectives are all there is: they show no scatter.
 */
#ifndef TLMPI_ANALYSIS_CLOCK_RING_H
#define TLMPI_ANALYSIS_CLOCK_RING_H

#include "share.h"

/* Fills leeway[nclocks], ns, once the clocks are numbered; 0 for a clock that is compared with no other.  False when
 * memory is out. */
bool tl_clocks_leeway(const tl_clock_solving *s, int64_t *leeway);

#endif
