/* host.h - what the host did: from columns in file order to those of the view. */
#ifndef TLMPI_TRACE_VIEW_HOST_H
#define TLMPI_TRACE_VIEW_HOST_H

#include "tlmpi/trace/view.h"

/* Fills out->host, of which calls and ops are there in file order, and its part of the view.  The names of the events
 * become more by those that only keys have.  False when memory is out. */
bool tl_host_link(tl_events *events, tl_linked *out);

#endif
