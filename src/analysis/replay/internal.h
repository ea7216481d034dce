/* internal.h - repairs of what a rank has more of than its peers. */
#ifndef ANALYSIS_REPLAY_INTERNAL_H
#define ANALYSIS_REPLAY_INTERNAL_H

#include "tlmpi/analysis/replay.h"
#include "tlmpi/base/stats.h"

/* sums.c: the sums of a plan; and what they take off. */
void tl_repair_plan_sums(const tl_baseline *baseline, uint32_t rank, tl_repair_plan *plan);
void tl_repair_stretches(const tl_repair_plan *plan, tl_changes *changes);

/* changes.c: no lane is kept any longer. */
void tl_changes_drop_kept(tl_changes *changes);

/* repair.c: drops the longest waits; drop[nkinds * nsteps] has their number, by kind and step. */
void tl_drop_waits(tl_changes *changes, const int64_t *drop);

/* plan.c: how many pieces of a class, or waits, are usual in a step.  scratch: room for the members. */
int64_t tl_pieces_usual(const tl_baseline *baseline, const tl_work_class *class, size_t step, int64_t *scratch);

/* path.c: the edge that node v waited for last; TL_NONE: v waits for nothing. */
uint32_t tl_last_edge(const tl_open_rank *rank, uint32_t v);

/* path.c: when the path leaves a node that is done at done_ns, by an edge with lag_ns to a node left at until_ns. */
static inline int64_t tl_path_left_at(int64_t done_ns, int64_t lag_ns, int64_t until_ns)
{
    return tl_ns_min(until_ns, tl_ns_sum(done_ns, tl_ns_min(0, lag_ns)));
}

/* What is on the path of a node or meeting. */
typedef struct tl_path_part {
    int64_t from_ns, work_ns, latency_ns;
} tl_path_part;

/* path.c: the part of a node that is on the path, from the node done at from_ns (not before start_ns) to until_ns, which
 * cuts its work. */
tl_path_part tl_path_part_of(int64_t from_ns, int64_t lag_ns, int64_t done_ns, int64_t work_ns, int64_t until_ns,
                             int64_t start_ns);

/* path.c: the edge to a meeting that it waited for last; NULL: none. */
const tl_meeting_edge *tl_last_to_meet(const tl_job_graph *graph, uint32_t meeting);

/* rank_path.c: writes the path of a rank by itself, from its last node back; reads it, and finds the ranks that its
 * collectives waited for.  rank: its index.  The caller frees what *out has. */
void tl_rank_path_put(const tl_open_rank *rank, uint32_t last, tl_steps_of_path steps, tl_bytes *out);
void tl_rank_path_get(const tl_job_graph *graph, uint32_t rank, tl_bytes *in, tl_rank_path *out);

/* Where the job's path comes to a rank, from after: when that node is left; and when the path leaves the meeting after
 * which the rank went on, or begins. */
typedef struct tl_path_visit {
    int64_t until_ns, since_ns;
    uint32_t node, padding;
} tl_path_visit;

/* rank_path.c: writes pieces and names of the job's path on a rank, of each piece the number of its visit as `peer`; none
 * without names. */
void tl_path_visits_put(const tl_open_rank *rank, const tl_path_visit *visits, size_t n, tl_bytes *out);

#endif
