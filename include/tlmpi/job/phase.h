/* phase.h - phases that were timed without a profiler: from their files to the tables phase_file, phase_step, phase and
 * phase_verdict (analysis/phase.h).
 *
 * Every proc reads its share of the files and sends the cells to proc 0, which judges ranks as it does from traces.
 * May use par.
 */
#ifndef TLMPI_JOB_PHASE_H
#define TLMPI_JOB_PHASE_H

#include "tlmpi/job/read/plan.h"

/* Collective.  Reads the plan's files of phases, if there are any, and fills the tables, with the verdict options
 * options->judge.  `tables` has on proc 0 the exposed waiting time by rank and step from Kineto traces.  analyse: false
 * fills phase_file alone.  The same status and message on every proc. */
void tl_phase_run(const tl_plan *plan, const tl_options *options, bool analyse, tl_tables *tables);

#endif
