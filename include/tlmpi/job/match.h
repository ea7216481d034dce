/* match.h - collectives, matched across ranks.
 *
 *     every proc has the participants of the ranks it has read
 *       -> process groups are decided on proc 0, from a row a rank and group
 *       -> each participant gets its key, and goes to the proc that owns the key
 *       -> clocks: ends of collectives, by rank, to an offset a clock
 *       -> collectives go to procs by time, so that all procs' rows, one after the other, are in order of time
 *       -> each one through the analyses
 *       -> how long each rank waited goes to where the rank's gaps and exposed communication are summed
 *
 * No step brings to one proc what is proportional to ranks times events.  May use transport, and of the analyses match,
 * clock, wait, time and the registry.
 */
#ifndef TLMPI_JOB_MATCH_H
#define TLMPI_JOB_MATCH_H

#include "tlmpi/analysis/wait.h"
#include "tlmpi/analysis/clock.h"
#include "tlmpi/analysis/time.h"
#include "tlmpi/model/table.h"

/* Collective.  Matches the participants, which it frees, as it does the exposures, and runs the analyses over the
 * collectives.  `tables` has the rows of scope RANK on proc 0; on every proc it gets the rows of its collectives, in an
 * order that goes on from proc to proc, and of tables of scope JOB some rows that reduce makes one of; and `late` what
 * its collectives say of who came late.  world, on proc 0: ranks of the job, as far as traces and names of files tell,
 * whether they were read or not.
 */
void tl_match_run(tl_participants *set, tl_exposures *exposures, int64_t world, tl_clock_mode mode, tl_tables *tables,
                  tl_late_rows *late);

#endif
