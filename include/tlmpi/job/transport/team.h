/* team.h - several procs read one plain trace together.
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

/* Reads an item as the leader of its team; usable as tl_rank_reading.read; arg is the tl_endpoint. */
tl_status tl_team_read(void *arg, const tl_plan_item *item, const tl_read_options *options, tl_trace *out,
                       tl_error *err);

/* Reads the task's slice as a member of the team, and sends it to the leader. */
void tl_team_help(tl_endpoint *endpoint, const tl_plan_item *item, const tl_task *task, const tl_read_options *options);

#endif
