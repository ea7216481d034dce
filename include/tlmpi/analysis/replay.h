/* replay.h - what would the job have taken, had some work taken what it takes others?
 *
 *     done = max over edges (done there + lag) + work + rest        in one pass over the graph, work being changed
 *
 * Unchanged that is what was measured, to the nanosecond.  A repair takes from a rank, in some steps, what its work of a family
 * exceeds the baseline by, class by class:
 *
 *     device      each piece of a class times baseline / own: what is systematic goes, the rank's own noise stays
 *     host        the excess, from the pieces that are longer than those of peers at the same place, in proportion to that; from
 *                 all, where these do not suffice.  A host with less than the baseline stays: as a rule its peers waited, untold.
 *                 Where it waits for its device more often than they do between the same collectives, the longest of these
 *                 waits go
 *     additional  in steps in which the rank has more pieces of a class than peers, which are not `device` then: each stretch
 *                 between two collectives by itself, so that it is where additional pieces are that time goes
 *     transfer    each transfer, and how much later than the first its members are done, likewise
 *
 * May use graph and baseline.
 */
#ifndef TLMPI_ANALYSIS_REPLAY_H
#define TLMPI_ANALYSIS_REPLAY_H

#include "tlmpi/analysis/baseline.h"
#include "tlmpi/model/parts.h"

/* What is changed: the work of nodes, and the least times of edges. */
typedef struct tl_changes {
    int64_t *work_ns; /* [nodes] */
    int64_t *lag_ns;  /* [edges]; TL_NO_EDGE: nothing is waited for there */
} tl_changes;

#define TL_NO_EDGE (INT64_MIN / 2)

/* Unchanged, until tl_changes_free.  False when memory is out. */
bool tl_changes_new(const tl_graph *graph, tl_changes *out);
void tl_changes_free(tl_changes *scenario);

/* When every node would be done; scenario NULL: unchanged.  done_ns[nodes].  The last of them is the job's end, and is
 * returned. */
int64_t tl_replay(const tl_graph *graph, const tl_changes *scenario, int64_t *done_ns);

/* The last end of each of the baseline's steps, and no earlier than of the one before: end_ns[nsteps]. */
void tl_replay_step_ends(const tl_baseline *baseline, const int64_t *done_ns, int64_t *end_ns);

/* What is repaired. */
typedef struct tl_repair {
    uint32_t rank; /* index; of TRANSFER that of a link */
    uint8_t family;
    bool drifts;    /* each step alone */
    const bool *on; /* [nsteps] */
} tl_repair;

/* Takes the excess off an unchanged scenario, in what is the rank's own.  False when memory is out. */
bool tl_repair_apply(const tl_baseline *baseline, const tl_repair *repair, tl_changes *scenario);

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
