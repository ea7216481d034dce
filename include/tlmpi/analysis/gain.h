/* gain.h - by how much would the job have been faster with a rank, a host, a link or all of a part repaired?
 *
 * From the programs of all ranks and their collectives, replayed.  Fills whatif and critical_path, and gain_ns in link and
 * straggler.  May use wait, graph, blame, role, step, link, absent and replay.
 */
#ifndef TLMPI_ANALYSIS_GAIN_H
#define TLMPI_ANALYSIS_GAIN_H

#include "tlmpi/analysis/program/programs.h"
#include "tlmpi/analysis/link.h"
#include "tlmpi/analysis/step.h"
#include "tlmpi/analysis/wait.h"

/* On proc 0.  The job as it was recorded. */
typedef struct tl_gain_input {
    const tl_late_row *rows; /* in order of collectives */
    size_t nrows;
    const int32_t *ranks, *roles; /* nranks, ascending by rank */
    size_t nranks;
    const int32_t *named, *named_roles; /* [nnamed]: ranks, ascending, with and without a trace, whose roles are known */
    size_t nnamed;
    const tl_programs *programs; /* ascending by rank; those of `ranks` are among them */
    const tl_job_links *links;   /* a row each in table link; filled before tl_gains_find */
} tl_gain_input;

/* What repairs would gain, as replayed. */
typedef struct tl_verdict_gains {
    bool simulated;      /* gain_ns of the rows has been found */
    int64_t together_ns; /* of all ranks that stand out, repaired together */
} tl_verdict_gains;

/* The job, to be replayed.  tl_gains_close ends it, also one that could not be opened. */
typedef struct tl_gains tl_gains;

/* *out is NULL where there is nothing to replay.  The input is borrowed, `links` to be filled later.  TL_ENOMEM. */
tl_status tl_gains_open(const tl_gain_input *input, tl_tables *tables, tl_gains **out, tl_error *err);
void tl_gains_close(tl_gains *gains);

/* A number for the host of each rank, and how many there are: tl_hosts_of.  They stay the gains'. */
const uint32_t *tl_gains_hosts(const tl_gains *gains, size_t *n);

/* Whether there is a replay, and it is to be trusted. */
bool tl_gains_known(const tl_gains *gains);

/* wall_ns[rank * nsteps + step]: by how much the step would have been shorter without what the rank had more to do in
 * it, or before it, than its peers; 0 where it is not among the 32 that had most.  sure_ns[rank]: the same of the first step, for
 * what its device alone had more to do: how late a host is may come from how its recording began.  late_ns[rank * nsteps +
 * step]: its lateness, what its repair takes off; of ranks that are not among the 32 what they had more to do.  Only where
 * gains are known.  False when memory is out. */
bool tl_gains_by_step(tl_gains *gains, const tl_job_step *steps, size_t nsteps, double *wall_ns, double *sure_ns,
                      int64_t *late_ns);

/* The same for hosts, all ranks of one together: gain_ns[host * nsteps + step]; ranks whose host_of is not below nhosts stay.
 * surplus_ns[rank * nsteps + step], if not NULL: all that a rank had more to do than its peers, those of its own host left
 * out where the host is repaired.  False when memory is out. */
bool tl_gains_by_host(tl_gains *gains, const uint32_t *host_of, size_t nhosts, const tl_job_step *steps, size_t nsteps,
                      double *gain_ns, int64_t *surplus_ns);

/* own_ns[rank]: by how much a job in which all else is ideal takes longer with this rank as it is; 0 where it is not among
 * the 32 that had most to do beyond their peers.  Who hides behind others that are as late has as much as they; who is
 * behind since the recording began, and no slower, has next to nothing.  Only where gains are known.  False when memory
 * is out. */
bool tl_gains_own(tl_gains *gains, int64_t *own_ns);

/* gain_ns, slowdown and rows of whatif for those that the table straggler names and whose gain is not known, as far as the
 * number of ranks goes that are repaired one by one: 64 with those before.  False when memory is out. */
bool tl_gains_of_named(tl_gains *gains);

/* Where the table straggler names several: what their repair together gains, as the row `suspects` of table whatif. */
bool tl_gains_together(tl_gains *gains);

/* Fills tables whatif and critical_path, gain_ns in table link, and gain_ns and slowdown in the rows of table straggler:
 * for the 16 ranks with most blame, those that stand out before others, and all that stand out in steps which their repair
 * makes shorter; of those that stand out less what the same repair of other ranks gains by chance.  Of the others, and where
 * the model does not give the measured time, gain_ns stays -1 and slowdown none; then only `unchanged` is in whatif, and
 * critical_path is empty.  *found is for the verdict.  TL_ENOMEM. */
tl_status tl_gains_find(tl_gains *gains, tl_verdict_gains *found, tl_error *err);

#endif
