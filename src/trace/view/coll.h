/* coll.h - for each piece of communication: its collective, its ranks, its bytes. */
#ifndef TLMPI_TRACE_VIEW_COLL_H
#define TLMPI_TRACE_VIEW_COLL_H

#include "comm.h"
#include "tlmpi/trace/view.h"

/* Fills out->colls, out->groups and their part of the view, and sets `coll` and `collective` of what is comm.  Before,
 * `coll` is the entry of the events' side table that has the kernel's own arguments, TL_NONE. */
bool tl_colls_collect(tl_comm_evidence *evidence, tl_linked *out);

#endif
