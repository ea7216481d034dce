/* peer.h - from numbers in annotations to ranks: the destination of a send and the source of a receive. */
#ifndef TLMPI_TRACE_VIEW_PEER_H
#define TLMPI_TRACE_VIEW_PEER_H

#include "comm.h"
#include "group.h"

/* Completes the n colls of rank `rank`: src and dst of sends and receives, from the numbers in ends[n]; and the group,
 * which is then the two ranks, of a send or receive without one.  Sets *no_memory where memory is out. */
void tl_peers_find(tl_group_book *book, int32_t rank, tl_coll *colls, const tl_comm_ends *ends, size_t n,
                   bool *no_memory);

#endif
