/* peers.h - what ranks waited for each other outside of compute, once their collectives are matched. */
#ifndef JOB_MATCH_PEERS_H
#define JOB_MATCH_PEERS_H

#include "tlmpi/analysis/wait.h"

/* Collective.  The rows of gap_peer that ranks have made become those of the table, in an order that goes on from proc
 * to proc; on proc 0 idle and idle_summary get their sums, and what of `exposures` was waiting. */
void tl_match_peers(const tl_job_facts *facts, tl_exposures *exposures, const tl_late_rows *late, tl_tables *tables);

#endif
