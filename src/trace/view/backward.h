/* backward.h - which operator of the backward pass belongs to which of the forward pass. */
#ifndef TLMPI_TRACE_VIEW_BACKWARD_H
#define TLMPI_TRACE_VIEW_BACKWARD_H

#include "tlmpi/trace/view.h"

/* One end of an arrow. */
typedef struct tl_flow {
    int64_t id, at_ns;
    uint32_t track, uid;
    bool to; /* the end: where the operator of the backward pass begins */
} tl_flow;

typedef TL_VEC(tl_flow) tl_flows;

/* The ends of the arrows of category fwdbwd, while the events have their columns; the caller frees flows->v in any case.
 * False when memory is out. */
bool tl_flows_collect(const tl_events *events, int64_t base_ns, tl_flows *flows);

/* Fills `backwards` of the view, whose ops are in order.  Puts the flows in another order.  False when memory is out. */
bool tl_backwards_find(tl_flows *flows, tl_linked *out);

#endif
