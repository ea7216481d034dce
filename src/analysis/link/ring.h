/* ring.h - where in a ring is the slow link, if clocks may be off?
 *
 * Of n ranks in the order of the ring, the slow link between a and b, p a pass:
 *
 *     rank          ...  y          a       b    c    d   ...
 *     late          ...  0          n - 2   n-2  n-3  n-4  ...   times p
 *     to the next        (n - 2) p  0       -p   -p   -p
 *
 * A clock that is off moves all ranks of its host together: it changes the steps from one host to the next and no
 * other.  So most steps are -p, and what else there is within a host is the link.
 */
#ifndef ANALYSIS_LINK_RING_H
#define ANALYSIS_LINK_RING_H

#include <stdbool.h>
#include <stdint.h>

/* Healthy rings let ranks of one host go so far apart, for where they stand. */
#define TL_RING_NS INT64_C(50000)

/* late_ns: by n ranks in ascending order, when they are done by their own clocks; host: of each, below 0 where it is
 * not known.  Whether they are a ring in that order or its reverse; off_ns then becomes what their clocks are off, so
 * that late_ns - off_ns is the table above.  scratch: n values. */
bool tl_ring_line_up(const int64_t *late_ns, const int32_t *host, uint32_t n, int64_t *off_ns, int64_t *scratch);

#endif
