/* match.h - collectives, matched across ranks.
 *
 *     every proc has the participants of the ranks it has read
 *       -> process groups are decided on proc 0, from one row per rank and group
 *       -> each participant gets its key, and goes to the proc that owns the key
 *       -> ends of collectives, by rank, give an offset for each clock
 *       -> collectives go to procs by time, so that all procs' rows, one after the other, are in order of time
 *       -> every analysis runs on each collective
 *       -> waits go to the procs that sum the ranks' gaps and exposed communication
 *
 * No proc receives data proportional to ranks times events.  May use transport, and of the analyses match,
 * clock, wait, time and the registry.
 */
#ifndef TLMPI_JOB_MATCH_H
#define TLMPI_JOB_MATCH_H

#include "tlmpi/analysis/collective/clock.h"
#include "tlmpi/analysis/collective/wait.h"
#include "tlmpi/analysis/rank/time.h"
#include "tlmpi/model/table.h"

/* Collective.  Matches the participants and runs the analyses on the collectives; frees participants and exposures.
 * Proc 0 receives in `tables` the rows of scope RANK.  Every proc receives in `tables` the rows of its collectives,
 * ascending by time over all procs, and partial rows of tables of scope JOB, which reduce merges; and in `late` the
 * late ranks of its collectives.  world, on proc 0: number of ranks of the job, with those that were not read, by
 * traces and file names. */
void tl_match_run(tl_participants *set, tl_exposures *exposures, int64_t world, tl_clock_mode mode, tl_tables *tables,
                  tl_late_rows *late);

#endif
