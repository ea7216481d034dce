/* phase.h - phases timed without a profiler: from their files to the tables side_file, phase_step, phase and
 * phase_verdict (analysis/verdict/phase.h).
 *
 * Every proc reads its share of the files and sends the cells to proc 0, which judges the ranks.
 * May use par.
 */
#ifndef TLMPI_JOB_PHASE_H
#define TLMPI_JOB_PHASE_H

#include "tlmpi/job/read/plan.h"

/* Collective.  Reads the plan's phase files, if any, and fills the tables, with the verdict options options->judge.  On
 * proc 0 `tables` holds the exposed waiting time by rank and step from Kineto traces.  analyse false: fills only
 * side_file. */
void tl_phase_run(const tl_plan *plan, const tl_options *options, bool analyse, tl_tables *tables);

#endif
