/* phase_files.h - which files have durations of phases: those that the paths hold, or in their place those that --events
 * names.
 */
#ifndef TLMPI_JOB_READ_PHASE_FILES_H
#define TLMPI_JOB_READ_PHASE_FILES_H

#include "tlmpi/job/read/plan.h"

/* Collective, once proc 0 has looked at all inputs: fills plan->phases.  TL_EINPUT: --events names no file.  The same
 * status and message on every proc. */
tl_status tl_phase_files_find(const tl_options *options, tl_plan *plan, tl_error *err);

/* Likewise the files of memory timelines: plan->memory. */
tl_status tl_memory_files_find(tl_plan *plan, tl_error *err);

/* Likewise the execution traces, each with the trace that it is of: plan->executions. */
tl_status tl_execution_files_find(const tl_options *options, tl_plan *plan, tl_error *err);

#endif
