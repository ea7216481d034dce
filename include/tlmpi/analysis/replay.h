/* replay.h - what would the job have taken, had some work taken what it takes others?
 *
 *     done = max over edges (done there + lag) + work + rest        in one pass over the graph, work being changed
 *
 * Unchanged that is what was measured, to the nanosecond.  A repair takes from a rank, in some steps, what its work of a family
 * exceeds the baseline by, class by class:
 *
 *     device      each piece of a class times baseline / own: what is systematic goes, the rank's own noise stays
 *     host        the excess, from the pieces that are longer than those of peers at the same place, in proportion to that; from
 *                 all, where these do not suffice.  A host with less than the baseline stays: as a rule its peers waited, untold
 *     additional  in steps in which the rank has more pieces of a class than peers, which are not `device` then: each stretch
 *                 between two collectives by itself, so that it is where additional pieces are that time goes
 *     waits       where a host waits for its device more often than peers do between the same collectives, the longest of these
 *                 waits go
 *     transfer    each transfer, and how much later than the first its members are done, likewise
 *
 * Nobody knows what of a step that was cut is lacking, so it is not compared with that of peers: who is late all the time is
 * repaired there by the part of its own work that its excess is in the same stretches of the whole steps.  What a host has more in
 * a stretch than peers have in a whole one goes, in all stretches of a cut step together no more than in a whole step.
 *
 * Of a graph that is replayed often, with few nodes changed, the others are folded first (tl_fold): the same times, from some
 * twentieth of the nodes.
 *
 * May use graph and baseline.
 */
#ifndef TLMPI_ANALYSIS_REPLAY_H
#define TLMPI_ANALYSIS_REPLAY_H

#include "tlmpi/analysis/baseline.h"
#include "tlmpi/model/parts.h"

/* What is changed: the work of nodes, and which edges are gone. */
typedef struct tl_changes {
    int64_t *work_ns;  /* [nodes] */
    bool *gone;        /* [nodes]: the second of its two edges is; what released a wait */
    int64_t *usual_ns; /* [nodes]: what pieces of hosts usually take, where a host has been repaired; NULL: nowhere */
    bool *known;       /* [roles]: of which roles that is there */
} tl_changes;

/* Unchanged, until tl_changes_free.  False when memory is out. */
bool tl_changes_new(const tl_graph *graph, tl_changes *out);
void tl_changes_reset(const tl_graph *graph, tl_changes *scenario);
void tl_changes_free(tl_changes *scenario);

/* When every node would be done; scenario NULL: unchanged.  done_ns[nodes].  The last of them is the job's end, and is
 * returned. */
int64_t tl_replay(const tl_graph *graph, const tl_changes *scenario, int64_t *done_ns);

/* ------------------------------------------------------------------------------------------------------------- fold */

/* How a node comes into a fold. */
typedef enum tl_fold_mark {
    TL_FOLD_AWAY, /* if that makes it smaller: nothing of it changes */
    TL_FOLD_KEEP, /* it stays */
    TL_FOLD_WORK, /* it stays: its work may change */
    TL_FOLD_EDGES /* so may its edges, one by one: what they come from stays, too */
} tl_fold_mark;

/* The last of a step that has come from a node is done so long after that; a step of nsteps: of a meeting. */
typedef struct tl_fold_end {
    int64_t ns;
    uint32_t node, step;
} tl_fold_end;

/* A graph of the nodes that stay, in order, and of the longest ways between them.  Node 0 is done at 0, and waits for nothing. */
typedef struct tl_fold {
    size_t nnodes, nedges, nends, nsteps;
    int64_t *own_ns;      /* [nnodes] work and rest: may be changed */
    uint32_t *first_edge; /* [nnodes + 1] */
    uint32_t *from;
    int64_t *lag_ns;      /* [nedges] may be changed; of a node with TL_FOLD_EDGES they are in the order of the graph's */
    tl_fold_end *ends;
    int64_t *done_ns;     /* [nnodes] of the last replay */
    uint32_t *number_of;  /* by node of the graph: its number here, TL_NONE: it is folded */
} tl_fold;

/* marks[nodes] tl_fold_mark.  False when memory is out; tl_fold_free ends it in any case. */
bool tl_fold_make(const tl_baseline *baseline, const uint8_t *marks, tl_fold *out);
void tl_fold_free(tl_fold *fold);

/* As tl_replay, and end_ns[nsteps] as tl_replay_step_ends has them. */
int64_t tl_fold_replay(const tl_fold *fold, int64_t *end_ns);

/* The last end of each of the baseline's steps, and no earlier than of the one before: end_ns[nsteps]. */
void tl_replay_step_ends(const tl_baseline *baseline, const int64_t *done_ns, int64_t *end_ns);

/* What is repaired. */
typedef struct tl_repair {
    uint32_t rank; /* index; of TRANSFER that of a link */
    uint8_t family;
    bool drifts;    /* each step alone */
    bool lasts;     /* before the whole steps as in the first of them, behind them as in the last */
    const bool *on; /* [nsteps] */
} tl_repair;

/* Whether the step was cut, and is repaired as the whole one next to it. */
static inline bool tl_repair_lasts(const tl_baseline *baseline, const tl_repair *repair, size_t step)
{
    return repair->lasts && baseline->cut[step] && repair->on[tl_whole_step_at(baseline, step)];
}

/* Takes the excess off an unchanged scenario, in what is the rank's own.  False when memory is out. */
bool tl_repair_apply(const tl_baseline *baseline, const tl_repair *repair, tl_changes *scenario);

/* ------------------------------------------------------------------------------------------------------------ ideal */

/* Nobody slower than is usual: of each rank's work of a family in each full step, and of each transfer, what exceeds it is gone, and
 * so are waits that peers do not have.  Who is ahead stays so. */
typedef struct tl_ideal {
    int64_t *less_ns; /* [nodes]: of the work; of an END, of how much later than the first it is done */
    bool *gone;       /* [nodes]: as of tl_changes */
    unsigned parts;   /* bits of those in which there is anything of it: COMM of transfers, SYNC of waits */
} tl_ideal;

/* False when memory is out; tl_ideal_free ends it in any case. */
bool tl_ideal_find(const tl_baseline *baseline, tl_ideal *out);
void tl_ideal_free(tl_ideal *ideal);

/* With what a scenario has taken off, where that is more. */
void tl_ideal_add(const tl_graph *graph, const tl_changes *scenario, tl_ideal *ideal);

/* A part of that as a scenario, whatever was changed there before: of the parts with bits 1 << tl_part (TL_PART_SYNC: waits), and of
 * transfers on links of the sorts with sorts[nsorts]; NULL: of none. */
void tl_ideal_take(const tl_baseline *baseline, const tl_ideal *ideal, unsigned parts, const bool *sorts, tl_changes *scenario);

/* All roles compute equally long in the full steps, as long as now in the mean of all ranks, whatever was changed before.  *most: the role that
 * computes longest, and *times how many times as long as the ranks of the others in the mean; TL_NONE where no other does, and the
 * scenario is as it was.  False when memory is out. */
bool tl_balance(const tl_baseline *baseline, tl_changes *scenario, uint32_t *most, double *times);

/* Hosts take no time of their own, whatever was changed before. */
void tl_free_hosts(const tl_baseline *baseline, tl_changes *scenario);

/* ------------------------------------------------------------------------------------------------------------- path */

/* The chain of nodes that decided when the job ended: from its last end, at every node to what was waited for last. */
typedef struct tl_path {
    tl_parts sum;        /* the path by what it goes through; COMM: transfers, DEVICE: latency */
    tl_parts *by_rank;   /* [nranks] a transfer is of the rank by whose end the path leaves it */
    tl_parts *own;       /* [nranks] what each has in all, on the path or not; of latency not known */
    int64_t before_ns;   /* from the job's first instant to the first node of the path */
    int64_t unexplained_ns; /* of it no work, transfer, latency of a launch or wake-up explains, `before` among it */
} tl_path;

/* Of the unchanged graph; the sums of `sum` and before_ns are the job's time since start_ns.  False when memory is out. */
bool tl_path_of(const tl_graph *graph, int64_t start_ns, tl_path *out);
void tl_path_end(tl_path *path);

#endif
