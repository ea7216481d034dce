/* stream_order.h - where device work ran, and its order by that. */
#ifndef TLMPI_TRACE_VIEW_STREAM_ORDER_H
#define TLMPI_TRACE_VIEW_STREAM_ORDER_H

#include "tlmpi/trace/view.h"

/* An integer that is a small number of something; -1 for any other. */
int32_t tl_small_int(int64_t x);

/* The events of one stream of one device, as a view has these: -1 where the trace does not say. */
typedef struct tl_stream_events {
    int32_t device, stream;
    uint32_t number; /* in order of first appearance */
    size_t first, n; /* in the order */
} tl_stream_events;

typedef TL_VEC(tl_stream_events) tl_streams;

/* order[i]: the event of a device, in columns in file order, that stands at i in a view: by (device, stream, start,
 * end), then as in the file.  *streams, which the caller frees in any case, are in the same order.  Work without a
 * recorded device is on the lowest device that other work names; a wait may be for any device. */
void tl_order_by_stream(const tl_events *events, const tl_columns *columns, bool work, uint32_t *order,
                        tl_streams *streams);

#endif
