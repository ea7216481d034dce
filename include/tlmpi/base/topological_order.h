/* topological_order.h - topological order of the nodes of a graph (Kahn's algorithm): each node comes after its
 * predecessors.
 *
 * Of nodes in a cycle the earliest comes first, and its edges from nodes that are not ordered yet are dropped: measured
 * times hardly ever have a cycle, and if they do, these edges go backwards in time.
 */
#ifndef TLMPI_BASE_TOPOLOGICAL_ORDER_H
#define TLMPI_BASE_TOPOLOGICAL_ORDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Predecessors of node v: from[first_edge[v] .. first_edge[v + 1]); its time: when_ns[v].  order[n]; dropped[edges] is
 * filled only if *ndropped is not 0.  O(nodes + edges), and O(n log n) if there is a cycle. */
void tl_topological_order(size_t n, const uint32_t *first_edge, const uint32_t *from, const int64_t *when_ns,
                          uint32_t *order, bool *dropped, size_t *ndropped);

#endif
