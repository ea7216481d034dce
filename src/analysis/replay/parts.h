/* parts.h - repairs of what a rank has more of than its peers. */
#ifndef ANALYSIS_REPLAY_PARTS_H
#define ANALYSIS_REPLAY_PARTS_H

#include "tlmpi/analysis/replay.h"

/* additional.c, all in the steps that are `on`, and in cut ones that are `also`, as in those; false when memory is out. */

/* Each stretch between two collectives takes of each class, in steps with more[class * nsteps + step], what it takes the rank's
 * role. */
bool tl_repair_segments(tl_changes *changes, const bool *on, const bool *also, const bool *more);

/* Of waits for the device beyond those of peers in the same stretch the longest wait for nothing. */
bool tl_repair_waits(tl_changes *changes, const bool *on, const bool *also);

/* The same in all full steps: of each stretch the usual number stays, the shortest ones. */
bool tl_surplus_waits(tl_changes *changes);

#endif
