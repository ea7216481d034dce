/* select.h - of the events of a trace those that a selection leaves. */
#ifndef TLMPI_TRACE_VIEW_SELECT_H
#define TLMPI_TRACE_VIEW_SELECT_H

#include "tlmpi/trace/view.h"

/* Takes the events that are not selected out of the columns' reach, and the steps that are not, or not whole, out of
 * those of the view, which has those of all events.  Adds to *found what there was.  Device work that cannot have run
 * so long is cut, and noted in the view, as all events tell it. */
void tl_events_select(tl_events *events, int64_t base_ns, const tl_selection *selection, tl_linked *out,
                      tl_found *found);

#endif
