/* step_done.h - when the device had done with a step.
 *
 *     host     | step 4          | step 5          |
 *     device       [ a ][ b ]-----[ c ]  [ d ][ e ]-----[ f ]      -: a collective; c, f: behind the step's last one
 *     done                           ^4                    ^5
 *
 * What was launched in a step is its work, whenever it runs.  What the device is idle for behind it is of the next step, as
 * in the replay (program.h).  A copy on a stream of its own may be the next step's batch, and is no end of this one.
 */
#ifndef ANALYSIS_STEP_DONE_H
#define ANALYSIS_STEP_DONE_H

#include "tlmpi/model/view.h"

/* Fills done_ns[view->nsteps]: the last end of compute, and of copies on its streams, launched in the step or one before it;
 * TL_TIME_UNKNOWN where there is none. */
void tl_steps_done(const tl_rank_view *view, int64_t *done_ns);

/* Where the step of this number stands among the windows, looked for from `from` on and round; view->nsteps: there is none. */
size_t tl_step_window_of(const tl_rank_view *view, size_t from, int32_t number);

#endif
