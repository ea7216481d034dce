/* tell.h - what proc 0 prints at the end of a run: the summary, and warnings about what could not be read. */
#ifndef JOB_TELL_H
#define JOB_TELL_H

#include "tlmpi/job/read/plan.h"
#include "tlmpi/job/run.h"
#include "tlmpi/model/table.h"
#include "tlmpi/report/answers/answers.h"

/* Lists the runs of the folder, oldest first. */
void tl_tell_runs(const tl_inventory *inventory);

/* Warns on stderr of each file left out, missing rank or damaged trace. */
void tl_tell_problems(const tl_plan *plan, tl_tables *job);

/* Prints the summary of a run.  output: path of the result file. */
void tl_tell_summary(const tl_plan *plan, tl_tables *job, const tl_answers *answers, const tl_options *options,
                     const char *output, double seconds);

/* Prints what was read: a line for each rank. */
void tl_tell_inventory(const tl_plan *plan, tl_tables *job);

/* Prints the "table hash" lines of a result file. */
tl_status tl_tell_digest(const char *path, tl_error *err);

/* Returns TL_EINPUT: nothing of the input could be read, and the cause of the first file. */
tl_status tl_fail_unreadable(tl_tables *job, tl_error *err);

/* Prints the results of tlmpi whatif.  nmissing: number of ranks without a trace. */
tl_status tl_whatif_tell(const tl_whatif_study *study, const tl_printer *print, size_t nmissing, tl_error *err);

/* Returns the exit status that the state of the input calls for. */
int tl_exit_of_input(const tl_plan *plan, tl_tables *job);

#endif
