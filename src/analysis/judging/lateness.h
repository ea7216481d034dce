/* lateness.h - when are those late who hold the job up? */
#ifndef ANALYSIS_JUDGING_LATENESS_H
#define ANALYSIS_JUDGING_LATENESS_H

#include "judging.h"

/* Once the verdict stands, for all that are named but for slow links: pattern, first_step, last_step, share_steps and flagged
 * (table blame_step) from what a rank had more to do than its peers, step by step; where that shows nothing they stay as what
 * its repair gains has them.  late_ns is known.  TL_ENOMEM. */
tl_status tl_verdict_lateness(const tl_verdict_input *input, tl_table *blame_step, tl_table *straggler, tl_error *err);

#endif
