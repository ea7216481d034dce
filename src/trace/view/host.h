/* host.h - what the host did: from columns in file order to those of the view. */
#ifndef TLMPI_TRACE_VIEW_HOST_H
#define TLMPI_TRACE_VIEW_HOST_H

#include "tlmpi/trace/view.h"

/* Fills out->host and its part of the view; calls and ops are there already, in file order.  Adds the keys of names
 * (names without addresses) to the names of the events. */
bool tl_host_link(tl_events *events, tl_linked *out);

/* One end of an arrow. */
typedef struct tl_flow {
    int64_t id, at_ns;
    uint32_t track, uid;
    bool to; /* the end: where the operator of the backward pass begins */
} tl_flow;

typedef TL_VEC(tl_flow) tl_flows;

/* The ends of the arrows of category fwdbwd, while the events have their columns; the caller frees flows->v in any
 * case. */
void tl_flows_collect(const tl_events *events, int64_t base_ns, tl_flows *flows);

/* Fills `backwards` of the view, whose ops are in order.  Puts the flows in another order. */
void tl_backwards_find(tl_flows *flows, tl_linked *out);

#endif
