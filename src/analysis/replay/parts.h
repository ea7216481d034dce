/* parts.h - repairs of what a rank has more of than its peers, and of links. */
#ifndef ANALYSIS_REPLAY_PARTS_H
#define ANALYSIS_REPLAY_PARTS_H

#include "tlmpi/analysis/replay.h"

/* additional.c, both in the steps that are `on`; false when memory is out. */

/* Each stretch between two collectives takes of each class, in steps with more[class * nsteps + step], what it takes the rank's
 * role. */
bool tl_repair_segments(const tl_baseline *baseline, uint32_t rank, const bool *on, const bool *more, tl_changes *scenario);

/* Of waits for the device beyond those of peers in the same stretch the longest wait for nothing: gone[nodes], of one member of the
 * role, TL_NONE: of all.  on NULL: in all full steps. */
bool tl_surplus_waits(const tl_baseline *baseline, uint32_t role, uint32_t member, const bool *on, bool *gone);

/* links.c: likewise, what the transfers of a link take longer than those like them. */
bool tl_repair_link(const tl_baseline *baseline, uint32_t link, const bool *on, tl_changes *scenario);

#endif
