/* link_coll.h - for each piece of communication: which collective, between whom, how much. */
#ifndef TLMPI_TRACE_LINK_COLL_H
#define TLMPI_TRACE_LINK_COLL_H

#include "link_comm.h"
#include "tlmpi/trace/link.h"

/* Fills out->colls, out->groups and their part of the view, and sets `coll` and `collective` of the kernels. kernels[i]
 * is event events[i].  False when memory is out. */
bool tl_colls_collect(tl_comm_evidence *evidence, const uint32_t *events, tl_linked *out);

#endif
