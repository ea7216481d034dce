/* peer.h - from numbers in annotations to ranks: whom a send goes to, and whom a receive waits for. */
#ifndef TLMPI_TRACE_VIEW_PEER_H
#define TLMPI_TRACE_VIEW_PEER_H

#include "comm.h"
#include "group.h"

/* Completes the n colls of rank `rank`: src and dst of those that are sends and receives, from what ends[n] say; and
 * the group of those that have none, which is then the two ranks.  Sets *no_memory where memory is out. */
void tl_peers_find(tl_group_book *book, int32_t rank, tl_coll *colls, const tl_comm_ends *ends, size_t n,
                   bool *no_memory);

#endif
