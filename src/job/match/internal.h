/* internal.h - the steps of matching, each a file. */
#ifndef JOB_MATCH_INTERNAL_H
#define JOB_MATCH_INTERNAL_H

#include "tlmpi/job/match.h"
#include "tlmpi/analysis/clock.h"
#include "tlmpi/analysis/time.h"
#include "tlmpi/analysis/match.h"

/* What the steps hand on.  Every proc has one. */
typedef struct tl_matching {
    tl_participants *set; /* of the ranks that this proc has read; then of the keys or the times that it owns */
    tl_fate *fates;       /* of its memberships */
    tl_group_fact *groups;
    size_t ngroups;
    tl_rank_clock *ranks;
    size_t nranks;
    tl_table *group_rows; /* on proc 0: the tables that these steps fill */
    tl_table *clock_rows;
    const tl_table *rank_rows; /* on proc 0, in rank order */
    int64_t world;             /* on proc 0: ranks of the job */
} tl_matching;

/* Collective.  Gives a send or receive without a known source or destination a key and a peer, by when it ends, where
 * it is not part of an all-to-all. */
void tl_match_sends(tl_matching *m);

/* Collective.  Ranks and groups of the job, and the fates of memberships. */
void tl_match_groups(tl_matching *m);

/* Collective.  Every send and receive without a key gets one, and its peer where it is found. */
void tl_match_pairs(tl_matching *m);

/* Collective.  Every participant without a key gets one, by when it ended. */
void tl_match_align(tl_matching *m);

/* Collective.  Participants go to the owners of their keys, and lie there in order. */
void tl_match_to_owners(tl_matching *m);

/* Collective.  Finds the clocks, completes the ranks and table clock, and puts all times on the job's clock. */
void tl_match_clocks(tl_matching *m, tl_clock_mode mode);

/* Collective.  Collectives go to procs by the time of their first arrival; *runs (the caller frees) are those of this
 * proc, in order, and *first is the number of the first. */
void tl_match_by_time(tl_matching *m, tl_collective_run **runs, size_t *nruns, int64_t *first);

/* Collective.  The rows of gap_peer that ranks have made become those of the table, in an order that goes on from proc
 * to proc; on proc 0 idle and idle_summary get their sums, and what of `exposures` was waiting. */
void tl_match_peers(const tl_matching *m, tl_exposures *exposures, const tl_late_rows *late, tl_tables *tables);

#endif
