/* select.h - the events of a trace that a selection (steps, time) leaves. */
#ifndef TLMPI_TRACE_VIEW_SELECT_H
#define TLMPI_TRACE_VIEW_SELECT_H

#include "tlmpi/trace/view.h"

/* Hides the events that are not selected from the columns, and drops the steps that are not selected, or not whole,
 * from the view.  Adds to *found which steps and times the trace has.  First cuts device work that lasts longer than
 * possible (overrun.h), judged by all events of the trace, and notes the cuts in the view. */
void tl_events_select(tl_events *events, int64_t base_ns, const tl_selection *selection, tl_linked *out,
                      tl_found *found);

#endif
