/* work.h - device work and recorded waits: from columns in file order to rows of the view. */
#ifndef TLMPI_TRACE_VIEW_WORK_H
#define TLMPI_TRACE_VIEW_WORK_H

#include "comm.h"
#include "stream_order.h"

/* What the rare arguments say of a piece of work. */
typedef struct tl_work_args {
    uint32_t blocks;     /* of its grid; 0 when unknown */
    uint32_t copy, coll; /* entries of the side tables, TL_NONE */
} tl_work_args;

/* The events of a device on their way.  tl_device_free ends it. */
typedef struct tl_device {
    tl_columns columns; /* in the order of the view */
    tl_streams streams;
    uint32_t *launch;   /* of each event, TL_NONE; the caller fills it */
    tl_work_args *args; /* of work */
} tl_device;

/* Fills device, all but the launches, from columns in file order, which it takes over. */
void tl_device_order(const tl_events *events, tl_columns *columns, bool work, tl_device *device);
void tl_device_free(tl_device *device);

/* Makes out->kernels of the work, and their part of the view: all but what concerns collectives.  `coll` of comm is the
 * entry of the side table that has its arguments, TL_NONE.  What is in the rows already is gone from the columns. */
void tl_kernels_make(const tl_events *events, const tl_rules *rules, tl_comm_evidence *evidence, tl_device *work,
                     tl_linked *out);

/* Makes out->syncs of the waits, and their part of the view. */
void tl_syncs_make(const tl_events *events, const tl_device *waits, tl_linked *out);

#endif
