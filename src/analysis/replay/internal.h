/* internal.h - repairs of what a rank has more of than its peers. */
#ifndef ANALYSIS_REPLAY_INTERNAL_H
#define ANALYSIS_REPLAY_INTERNAL_H

#include "tlmpi/analysis/replay.h"

/* sums.c: the sums of a plan; and what they take off. */
void tl_repair_plan_sums(const tl_baseline *baseline, uint32_t rank, tl_repair_plan *plan);
void tl_repair_stretches(const tl_repair_plan *plan, tl_changes *changes);

/* repair.c: drops the longest waits; drop[nkinds * nsteps] has their number, by kind and step. */
void tl_drop_waits(tl_changes *changes, const int64_t *drop);

/* plan.c: how many pieces of a class, or waits, are usual in a step.  scratch: room for the members. */
int64_t tl_pieces_usual(const tl_baseline *baseline, const tl_work_class *class, size_t step, int64_t *scratch);

#endif
