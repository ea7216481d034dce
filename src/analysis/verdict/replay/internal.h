/* internal.h - shared by the files of replay: plans of repairs, and paths. */
#ifndef ANALYSIS_REPLAY_INTERNAL_H
#define ANALYSIS_REPLAY_INTERNAL_H

#include "tlmpi/analysis/verdict/replay.h"
#include "tlmpi/base/stats.h"

/* sums.c: tl_repair_plan_sums fills plan->sums; tl_repair_stretches takes the excess of each stretch in plan->sums off
 * the rank's work. */
void tl_repair_plan_sums(const tl_baseline *baseline, uint32_t rank, tl_repair_plan *plan);
void tl_repair_stretches(const tl_repair_plan *plan, tl_changes *changes);

/* changes.c: discards all kept lanes. */
void tl_changes_drop_kept(tl_changes *changes);

/* Returns the excess of a piece of host work over the same piece of peers, ns. */
static inline int64_t tl_excess_of_piece(const tl_changes *c, uint32_t v)
{
    return tl_ns_max(0, c->open.nodes[v].work_ns - c->baseline_ns[v]);
}

/* repair.c: drops the longest waits for the device; drop[nkinds * nsteps]: their number by kind and step. */
void tl_drop_waits(tl_changes *changes, const int64_t *drop);

/* plan.c: returns the median number of pieces of a class over the members of its role in a step.  scratch: room for one
 * number per member. */
int64_t tl_pieces_usual(const tl_baseline *baseline, const tl_work_class *class, size_t step, int64_t *scratch);

/* path.c: returns the edge that node v waited for last; TL_NONE: v has no edges. */
uint32_t tl_last_edge(const tl_open_rank *rank, uint32_t v);

/* path.c: returns when the path leaves a node done at done_ns, over an edge with lag_ns to a node that the path leaves
 * at until_ns. */
static inline int64_t tl_path_left_at(int64_t done_ns, int64_t lag_ns, int64_t until_ns)
{
    return tl_ns_min(until_ns, tl_ns_sum(done_ns, tl_ns_min(0, lag_ns)));
}

/* The part of a node or meeting that is on the path: its begin, and its length split into work and latency. */
typedef struct tl_path_part {
    int64_t from_ns, work_ns, latency_ns;
} tl_path_part;

/* path.c: returns the part of a node on the path, from the node before, done at from_ns (not before start_ns), to
 * until_ns, which may cut its work. */
tl_path_part tl_path_part_of(int64_t from_ns, int64_t lag_ns, int64_t done_ns, int64_t work_ns, int64_t until_ns,
                             int64_t start_ns);

/* rank_path.c: tl_rank_path_put writes the rank's own path, from its last node back; tl_rank_path_get reads it and
 * finds the ranks that its collectives waited for.  rank: index.  The caller frees the lists of *out. */
void tl_rank_path_put(const tl_open_rank *rank, uint32_t last, tl_steps_of_path steps, tl_bytes *out);
void tl_rank_path_get(const tl_job_graph *graph, uint32_t rank, tl_bytes *in, tl_rank_path *out);

/* A stretch of the job's path on one rank, up to `node`, which the path leaves at until_ns; since_ns: when the path
 * leaves the meeting before the stretch, or begins. */
typedef struct tl_path_visit {
    int64_t until_ns, since_ns;
    uint32_t node, padding;
} tl_path_visit;

/* Sums of the job's path on a rank. */
typedef struct tl_path_walked {
    tl_activity_ns sum;
    int64_t unexplained_ns;
    int64_t begin_ns; /* where the path begins on this rank, ns; INT64_MIN: not on this rank */
} tl_path_walked;

/* rank_path.c: writes tl_path_walked, and pieces and names of the job's path on a rank, with the index of the visit as
 * each piece's `peer`; none for a graph without labels.  start_ns: where the job begins. */
void tl_path_visits_put(const tl_open_rank *rank, const tl_path_visit *visits, size_t n, int64_t start_ns,
                        tl_bytes *out);

#endif
