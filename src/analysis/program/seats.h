/* seats.h - the collectives of the graph: seats, leaves and stages. */
#ifndef ANALYSIS_PROGRAM_SEATS_H
#define ANALYSIS_PROGRAM_SEATS_H

#include "tlmpi/analysis/program/graph.h"

/* One comm by its number, and its times on the clock of the job, as traced. */
static inline const tl_comm *tl_comm_at(const tl_whatif *w, uint32_t comm)
{
    uint32_t rank = w->rank_of[comm];
    return &w->in.programs[rank].comms[comm - w->comm_base[rank]];
}

static inline int64_t tl_comm_started(const tl_whatif *w, uint32_t comm)
{
    return tl_comm_at(w, comm)->start_ns + tl_whatif_offset(w, w->rank_of[comm]);
}

static inline int64_t tl_comm_ended(const tl_whatif *w, uint32_t comm)
{
    return tl_comm_at(w, comm)->end_ns + tl_whatif_offset(w, w->rank_of[comm]);
}

/* Fills seats, leaves and stages of all collectives, but for those that are dissolved, whose comms stand alone.  False when
 * memory is out. */
bool tl_whatif_seat_all(tl_whatif *w);

#endif
