/* topological_order.h - an order of the nodes of a graph in which each comes after all that it waits for (Kahn's).
 *
 * Of nodes that wait for each other in a circle the earliest comes first, and its edges from nodes that are not yet in
 * order are dropped: measured times hardly ever make a circle, and where they do, these edges run back in time.
 */
#ifndef TLMPI_BASE_TOPOLOGICAL_ORDER_H
#define TLMPI_BASE_TOPOLOGICAL_ORDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Node v waits for from[first_edge[v] ..  first_edge[v + 1]), and was done at when_ns[v].  order[n]; dropped[edges]
 * only where *ndropped is not 0.  O(nodes + edges), and n log n where there is a circle. */
void tl_topological_order(size_t n, const uint32_t *first_edge, const uint32_t *from, const int64_t *when_ns,
                          uint32_t *order, bool *dropped, size_t *ndropped);

#endif
