/* phase.h - phases that were timed without a profiler: from their files to the tables phase_file, phase_step, phase and
 * phase_verdict (analysis/phase.h).
 *
 * Every proc reads its share of the files; cells of all go to proc 0, which judges as it does ranks of traces.  May use
 * par.
 */
#ifndef TLMPI_JOB_PHASE_H
#define TLMPI_JOB_PHASE_H

#include "tlmpi/job/read/plan.h"

/* Collective.  Reads the plan's files of phases, if there are any, and fills the tables; judged by options->judge.
 * `tables` has on proc 0 what Kineto traces tell of exposed waiting by rank and step.  analyse: else phase_file alone.
 * The same status and message on every proc. */
void tl_phase_run(const tl_plan *plan, const tl_options *options, bool analyse, tl_tables *tables);

#endif
