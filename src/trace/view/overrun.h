/* overrun.h - durations of device work that cannot be. */
#ifndef TLMPI_TRACE_VIEW_OVERRUN_H
#define TLMPI_TRACE_VIEW_OVERRUN_H

#include "work.h"

/* Cuts work of the device, whose launches are known, and notes in the view how much; work stays in order.  last_ns is the
 * last instant that is recorded, ends of device work apart; TL_TIME_UNKNOWN: what the host did is in the view already. */
void tl_overruns_cut(tl_device *work, int64_t last_ns, tl_rank_view *view);

#endif
