/* link_place.h - where device work ran, and its order by that. */
#ifndef TLMPI_TRACE_LINK_PLACE_H
#define TLMPI_TRACE_LINK_PLACE_H

#include "tlmpi/trace/events.h"

/* An integer that is a small number of something; -1 for any other. */
int32_t tl_small_int(int64_t x);

/* Device and stream of an event, as a view has them; -1 where the trace does not say. */
void tl_event_place(const tl_events *events, size_t event, int32_t *device, int32_t *stream);

/* Puts n events, which come in file order, in that of a view: by (device, stream, start, end), then as in the file.
 * False: memory is out, and their order is undefined. */
bool tl_order_by_place(const tl_events *events, uint32_t *index, size_t n);

#endif
