/* team.h - several procs on one plain trace.
 *
 *     leader (slice 0)     reads its slice, then appends the others in order, each proven by the slice before it
 *                          (trace/read/reader.h)
 *     member (slice k)     reads its slice, says READY, and sends the slice when the leader says GO
 *
 * If a slice is not proven, the leader reads the whole file alone, so no entry is lost or counted twice.
 */
#ifndef TLMPI_JOB_TRANSPORT_TEAM_H
#define TLMPI_JOB_TRANSPORT_TEAM_H

#include "tlmpi/job/transport/work_queue.h"

/* The leader's reading, as tl_rank_reading.read; arg is the tl_endpoint.  An item of one slice is simply read. */
tl_status tl_team_read(void *arg, const tl_plan_item *item, const tl_read_options *options, tl_trace *out,
                       tl_error *err);

/* A member's whole task. */
void tl_team_help(tl_endpoint *endpoint, const tl_plan_item *item, const tl_task *task, const tl_read_options *options);

#endif
