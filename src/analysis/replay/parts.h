/* parts.h - repairs of what a rank has more of than its peers, and of links. */
#ifndef ANALYSIS_REPLAY_PARTS_H
#define ANALYSIS_REPLAY_PARTS_H

#include "tlmpi/analysis/replay.h"

/* additional.c, both in the steps that are `on`, and in cut ones that are `also`, as in those; false when memory is out. */

/* Each stretch between two collectives takes of each class, in steps with more[class * nsteps + step], what it takes the rank's
 * role. */
bool tl_repair_segments(const tl_baseline *baseline, uint32_t rank, const bool *on, const bool *also, const bool *more,
                        tl_changes *scenario);

/* Of waits for the device beyond those of peers in the same stretch the longest wait for nothing. */
bool tl_repair_waits(const tl_baseline *baseline, uint32_t rank, const bool *on, const bool *also, tl_changes *scenario);

/* The same of all ranks of a role, in all full steps: gone[nodes].  Of each stretch the usual number stays, the shortest ones. */
bool tl_surplus_waits(const tl_baseline *baseline, uint32_t role, bool *gone);

/* links.c: likewise, what the transfers of a link take longer than those like them. */
bool tl_repair_link(const tl_baseline *baseline, uint32_t link, const bool *on, const bool *also, tl_changes *scenario);

#endif
