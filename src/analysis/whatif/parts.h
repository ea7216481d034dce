/* parts.h - what the files of the replay share. */
#ifndef ANALYSIS_WHATIF_PARTS_H
#define ANALYSIS_WHATIF_PARTS_H

#include "tlmpi/analysis/program/graph.h"

/* Replays with the cuts as they are. */
int64_t tl_whatif_replay(tl_whatif *w);

/* whatif.c: how long work stood idle for each entry of a host in the last replay; what repairing one cell takes off work and
 * host. */
void tl_whatif_find_lateness(tl_whatif *w);
void tl_whatif_surplus_of(const tl_whatif *w, uint32_t rank, size_t cell, uint32_t parts, int64_t *work_ns,
                          int64_t *host_ns);

/* When a comm may start in the replay, but for its lag: the latest of what it waits for.  Of equals the later named in
 * program.h; *entry and *other say which it was, TL_NONE for neither. */
int64_t tl_whatif_ready(const tl_whatif *w, uint32_t comm, uint32_t *entry, uint32_t *other);

/* When the first of them starts. */
int64_t tl_whatif_first_start(const tl_whatif *w);

/* From ends of steps to their times. */
void tl_whatif_step_times(const tl_whatif *w, int64_t *step_ns);

/* absent.c: cells for ranks without a trace, those of who stands for them; then how long these are repaired, and when
 * they come to their collectives.  False when memory is out. */
bool tl_whatif_give_cells(tl_whatif *w);
bool tl_whatif_settle(tl_whatif *w);

/* absent.c, while it finds that: seats the comms of a stage that belong to ranks without a trace; the others are. */
void tl_whatif_seat_absent(tl_whatif *w, const tl_stage *stage);

#endif
