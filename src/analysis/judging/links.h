/* links.h - whom a slow link names. */
#ifndef ANALYSIS_JUDGING_LINKS_H
#define ANALYSIS_JUDGING_LINKS_H

#include "judging.h"

/* Once gains and verdicts are there: the ranks at both ends of a slow link are stragglers for it, unless another cause
 * of theirs costs more, or, by the simulation, it costs nothing; those that come late in other groups because of it are
 * none. */
void tl_job_links_judge(const tl_verdict_input *job, bool simulated, tl_tables *tables);

#endif
