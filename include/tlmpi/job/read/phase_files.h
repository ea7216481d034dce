/* phase_files.h - finds the files with durations of phases: files in the given paths, or, if --events is given, the
 * files that --events names. */
#ifndef TLMPI_JOB_READ_PHASE_FILES_H
#define TLMPI_JOB_READ_PHASE_FILES_H

#include "tlmpi/job/read/plan.h"

/* Collective, once proc 0 has looked at all inputs: fills plan->phases.  TL_EINPUT: --events names no file.  The same
 * status and message on every proc. */
tl_status tl_phase_files_find(const tl_options *options, tl_plan *plan, tl_error *err);

/* Collective: fills plan->memory with the files of memory timelines.  Status and message as tl_phase_files_find. */
tl_status tl_memory_files_find(tl_plan *plan, tl_error *err);

/* Collective: fills plan->executions with the execution traces, each with the trace it belongs to.  Status and
 * message as tl_phase_files_find. */
tl_status tl_execution_files_find(const tl_options *options, tl_plan *plan, tl_error *err);

#endif
