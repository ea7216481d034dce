/* replay.h - how long would the job have taken if some of its work had taken its baseline?
 *
 *     done = max over edges (done there + lag) + work + rest        one pass over the graph, with some work changed
 *
 * The unchanged replay gives the measured times, to the nanosecond.  A repair takes the excess over the baseline off
 * the work of one rank, of one family, in some steps, class by class:
 *
 *     device      each piece of a class is scaled by baseline / own: systematic excess goes, the rank's noise stays
 *     host        the excess is taken off the pieces that are longer than the same pieces of peers, in proportion to
 *                 their excess; off all pieces, if that is too little.  A host below the baseline is not changed: as a
 *                 rule its peers waited without a recorded wait
 *     additional  pieces of a class that the rank has and its peers do not have (not part of `device`): each stretch
 *                 between two collectives by itself, so that time goes where the additional pieces are
 *     waits       if a host waits for its device more often than its peers between the same collectives, the longest
 *                 of its waits go
 *     transfer    each transfer of a link, and each member's time after the first end, is scaled by baseline / own
 *
 * Work missing in a cut step is unknown, so cut steps are neither compared with those of peers nor repaired.
 *
 * Nodes of a rank are read on the proc that read the rank, while the rank is open.  Proc 0 receives the rank folded:
 * its ports, and the longest paths between them.  Replays run over the folded ranks and the meetings (tl_job_net);
 * their times are exact.
 *
 * May use graph and baseline.
 */
#ifndef TLMPI_ANALYSIS_VERDICT_REPLAY_H
#define TLMPI_ANALYSIS_VERDICT_REPLAY_H

#include "tlmpi/analysis/verdict/baseline.h"
#include "tlmpi/model/activity.h"
#include "tlmpi/model/path_tables.h"

/* -------------------------------------------------------------------------------------------------------------- net */

/* A graph reduced to times.  Node 0 is the origin, done at 0; a node without other edges waits for the origin.
 * Zero-initialise; tl_net_free ends it. */
typedef struct tl_net {
    size_t n, nedges, nends, nsteps;
    size_t nlanes;        /* 1; in a net folded in several lanes each time below has one value per lane */
    uint32_t *order;      /* [n] each node comes after all nodes that it waits for; NULL: the nodes are in such an
                           * order */
    int64_t *own_ns;      /* [n] work and rest: may be changed */
    uint32_t *first_edge; /* [n + 1] */
    uint32_t *from;       /* [nedges] */
    int64_t *lag_ns;      /* [nedges] may be changed */
    uint32_t *first_end;  /* [n + 1] */
    uint32_t *end_step;   /* [nends]; nsteps for a meeting */
    int64_t *end_ns;      /* from the end of the node to the last end of work of that step that depends on it */
} tl_net;

/* Allocates arrays of these sizes. */
void tl_net_new(size_t n, size_t nedges, size_t nends, size_t nsteps, tl_net *out);
void tl_net_free(tl_net *net);

/* Fills done_ns[n]; returns the last end of all nodes, folded ones among them, ns. */
int64_t tl_net_replay(const tl_net *net, int64_t *done_ns);

/* Fills end_ns[nsteps] with the last end of each step, no earlier than that of the previous step. */
void tl_net_step_ends(const tl_net *net, const int64_t *done_ns, int64_t *end_ns);

/* Returns the time, ns, from start_ns to last_ns, the last end of a replay, without the steps that are left out. */
int64_t tl_net_whole_ns(const tl_net *net, const tl_baseline *baseline, const int64_t *done_ns, int64_t start_ns,
                        int64_t last_ns);

/* How a fold treats a node, from weak to strong. */
typedef enum tl_fold_mark {
    TL_FOLD_AWAY, /* folds the node if that makes the net smaller: nothing of it changes */
    TL_FOLD_KEEP, /* keeps the node */
    TL_FOLD_WORK, /* keeps the node: its work may change */
    TL_FOLD_EDGES /* keeps the node with its edges, in order: single edges may change; nodes that these come from need
                   * KEEP */
} tl_fold_mark;

/* Raises the mark of a node to `how`, if that is stronger. */
static inline void tl_fold_mark_put(uint8_t *mark, tl_fold_mark how)
{
    *mark = *mark < how ? (uint8_t)how : *mark;
}

enum { TL_LANES_MOST = 64 };

/* The change of a node in a lane. */
typedef struct tl_node_change {
    int64_t less_ns; /* time taken off the node's own time */
    uint32_t node;
    uint32_t next; /* index of the node's change in another lane; TL_NONE: none */
    uint8_t lane;
    bool gone; /* the last of the node's edges is gone */
} tl_node_change;

/* Several changes of the same net, each a lane; n 1, nnodes 0: the net as it is. */
typedef struct tl_lanes {
    size_t n, nnodes;      /* n: at most TL_LANES_MOST; nodes from number nnodes on have no change */
    const uint32_t *first; /* [nnodes] the first change of each node; TL_NONE: none */
    const tl_node_change *changes;
} tl_lanes;

/* Fills *out with the net of the kept nodes and the longest paths between them, and number_of[n] with the number of
 * each node there; TL_NONE: folded.  marks[n]: tl_fold_mark.  lanes NULL: the net as it is.  tl_net_free ends *out. */
void tl_net_fold(const tl_net *net, const uint8_t *marks, const tl_lanes *lanes, tl_net *out, uint32_t *number_of);

/* ---------------------------------------------------------------------------------------------------------- changes */

/* Changes to an open rank: time taken off the work of its nodes, and edges that are gone.  Zero-initialise; may be used
 * for one rank after the other, and tl_changes_free ends it. */
typedef struct tl_changes {
    const tl_work_class_map *class_map;
    tl_open_rank open;    /* the caller's */
    tl_arena arena;       /* owns the arrays below */
    uint32_t *step_of;    /* [n] index of the step */
    int64_t *less_ns;     /* [n] time taken off the node's work */
    bool *gone;           /* [n] the second of the node's two edges is gone: from the work that released a wait */
    uint32_t *kind_of;    /* [n] kind of the class map, TL_NONE: none; filled by tl_changes_compare */
    int64_t *baseline_ns; /* [n] median of the same piece of host work over the role; 0: unknown; filled by
                           * tl_changes_compare */
    bool compared;
    size_t room;
    size_t nlanes;               /* number of kept lanes */
    TL_VEC(tl_node_change) kept; /* lane by lane, in order of nodes */
    uint32_t *kept_of;           /* [n] index of the node's first change in `kept`; TL_NONE */
} tl_changes;

/* tl_changes_open begins without changes.  tl_changes_compare fills kind_of and baseline_ns.  tl_changes_reset undoes
 * all changes that are not kept as a lane. */
void tl_changes_open(const tl_open_rank *rank, const tl_work_class_map *class_map, tl_changes *changes);
void tl_changes_compare(tl_changes *changes);
void tl_changes_reset(tl_changes *changes);

/* Keeps the current changes as a lane of tl_folded_make; returns the lane's number, that of an earlier lane with the
 * same changes. */
size_t tl_changes_keep(tl_changes *changes);
void tl_changes_free(tl_changes *changes);

/* ----------------------------------------------------------------------------------------------------------- folded */

/* A folded rank.  Zero-initialise; tl_folded_free ends it. */
typedef struct tl_folded {
    tl_net net;             /* if packed: its sizes alone */
    size_t lane;            /* the lane that tl_folded_unpack reads */
    int64_t *done_ns;       /* [net.n] as measured; packed: NULL */
    uint32_t *arrival_node; /* [ports] node of the ARRIVAL; TL_NONE: no meeting waits for it */
    uint32_t *end_node;     /* [ports] node of the END, which has no edge here; TL_NONE: it waits for no meeting */
    size_t norigin;         /* number of ends of node 0 */
    tl_bytes packed;        /* net and done_ns, in a third of the bytes */
} tl_folded;

/* Folds the rank in each kept lane; without lanes, with the current changes.  marks[nodes]: tl_fold_mark of the nodes
 * to keep besides ports; NULL: none.  number_of[nodes], if not NULL, gets the nodes' numbers in the net.
 * tl_folded_free ends *out in any case. */
void tl_folded_make(tl_changes *changes, const uint8_t *marks, tl_folded *out, uint32_t *number_of);
void tl_folded_free(tl_folded *folded);

/* tl_folded_put writes bytes; tl_folded_get reads them, and leaves them packed.  tl_folded_free ends *folded. */
void tl_folded_put(const tl_folded *folded, size_t nports, tl_bytes *out);
void tl_folded_get(tl_folded *folded, tl_bytes *in);

/* Unpacks folded->lane; the caller owns *net and *done_ns. */
void tl_folded_unpack(const tl_folded *folded, tl_net *net, int64_t **done_ns);

/* The net of all folded ranks and all meetings.  Zero-initialise; tl_job_net_free ends it.  If made again from the same
 * folded ranks in other lanes, it keeps its order. */
typedef struct tl_job_net {
    tl_net net;
    int64_t *done_ns;  /* [net.n] as measured */
    uint32_t *base;    /* [nranks] node i of a folded rank is node base + i here */
    uint32_t meetings; /* the first meeting's node */
    bool cut;          /* edges of cycles are disabled */
} tl_job_net;

/* Joins changed[rank] where there is one, else folded[rank].  changed NULL: no rank has one. */
void tl_job_net_make(const tl_baseline *baseline, const tl_folded *folded, const tl_folded *changed, tl_job_net *out);
void tl_job_net_free(tl_job_net *job_net);

/* Whether the folded rank is filled, not just zero-initialised. */
static inline bool tl_folded_is(const tl_folded *folded)
{
    return folded->arrival_node != NULL;
}

/* Returns the folded rank for the job's net: the changed one, if there is one. */
static inline const tl_folded *tl_folded_of(const tl_folded *folded, const tl_folded *changed, size_t rank)
{
    return changed != NULL && tl_folded_is(&changed[rank]) ? &changed[rank] : &folded[rank];
}

/* ---------------------------------------------------------------------------------------------------------- repairs */

/* A repair: the excess that is taken off one rank or link. */
typedef struct tl_repair {
    uint32_t rank; /* index of the rank; of TRANSFER the index of the link */
    uint8_t family;
    bool drifts;     /* each step is compared by itself */
    const bool *on;  /* [nsteps] */
} tl_repair;

/* The repair of a rank, as sent to the proc that holds it: by kind of its class map, and by step.  Zero-initialise;
 * tl_repair_plan_free ends it. */
typedef struct tl_repair_plan {
    uint64_t family;
    size_t nkinds, nsteps, nwindows;
    size_t nsummed;       /* ADDITIONAL: number of windows, the last ones, for kinds with more pieces than at peers:
                           * their stretches are compared one by one */
    uint32_t *window;     /* [nkinds * nsteps] DEVICE, HOST, ADDITIONAL: 1 + the window, a set of steps that are
                           * compared together; 0: the kind is not repaired there */
    int64_t *own_ns;      /* [nwindows * nkinds] work of the rank in a window that is not summed by stretches */
    int64_t *baseline_ns; /* [nwindows * nkinds] baseline of that work */
    int64_t *drop;        /* [nkinds * nsteps] WAIT: number of waits that go; HOST: number of waits that peers do not
                           * have */
    struct tl_repair_plan_sum *sums; /* [nsums] */
    size_t nsums;
} tl_repair_plan;

/* Work of one kind of a rank in the same stretch of all steps of a window. */
typedef struct tl_repair_plan_sum {
    int64_t own_ns, baseline_ns;
    uint32_t window, kind, segment, padding;
} tl_repair_plan_sum;

/* Fills *out; not for TRANSFER.  Asks SUMS of the ranks of the role if windows are summed by stretches.
 * tl_repair_plan_free ends *out. */
void tl_repair_plan_make(const tl_baseline *baseline, const tl_repair *repair, tl_repair_plan *out);
void tl_repair_plan_free(tl_repair_plan *plan);
void tl_repair_plan_put(const tl_repair_plan *plan, tl_bytes *out);
void tl_repair_plan_get(tl_repair_plan *plan, tl_bytes *in);

/* Answers SUMS. */
void tl_sums_answer(const tl_open_rank *rank, const tl_work_class_map *class_map, tl_bytes *in, tl_bytes *out);

/* Takes the plan's excess off the work of a rank, which is open and unchanged. */
void tl_repair_plan_apply(const tl_repair_plan *plan, tl_changes *changes);

/* Time taken off a meeting, or off the time from a meeting to the end of a member. */
typedef struct tl_transfer_less {
    int64_t ns;
    uint32_t rank; /* index of the member's rank; TL_NONE: off the meeting */
    uint32_t of;   /* number of the member's port, or of the meeting */
} tl_transfer_less;

typedef TL_VEC(tl_transfer_less) tl_transfer_list;

/* Appends the excess over the baseline of each transfer of a link. */
void tl_repair_link(const tl_baseline *baseline, const tl_repair *repair, tl_transfer_list *out);

/* ------------------------------------------------------------------------------------------------------------ ideal */

/* The ideal: no rank is slower than its baseline.  Gone are the excess of each rank's work of a family in each full
 * step, the excess of each transfer, and the waits that peers do not have.  A rank that is ahead stays ahead. */
typedef struct tl_ideal tl_ideal;

tl_ideal *tl_ideal_new(const tl_baseline *baseline);
void tl_ideal_free(tl_ideal *ideal);

/* The ideal of one rank, as sent to the proc that holds it: by kind of its class map and step.  Zero-initialise;
 * tl_rank_ideal_free ends it. */
typedef struct tl_rank_ideal {
    int64_t *spare; /* [ncells] time to take off, ns; WAIT: number of waits that go */
    size_t ncells;  /* 0: nothing is changed */
    bool *on_link;  /* [nports] of a collective on a link: `spare` takes nothing off */
    size_t nports;
} tl_rank_ideal;

void tl_ideal_put(const tl_ideal *ideal, size_t rank, tl_bytes *out);
void tl_rank_ideal_get(tl_rank_ideal *ideal, tl_bytes *in);
void tl_rank_ideal_free(tl_rank_ideal *ideal);

/* Takes the ideal's time off each node of a rank, unless changes there take off more already. */
void tl_rank_ideal_apply(const tl_rank_ideal *ideal, tl_changes *changes);

/* Returns the part of ns, the time of a transfer or of a member after the first end, that the ideal takes off, ns. */
int64_t tl_ideal_of_transfer(const tl_ideal *ideal, uint32_t meeting, int64_t ns);

/* Returns the link of a meeting; TL_NONE: none, or one without evidence. */
static inline uint32_t tl_link_of(const tl_baseline *b, uint32_t meeting)
{
    return meeting != TL_NONE && b->nlinks > 0 ? b->link_of[meeting] : TL_NONE;
}

/* A balance in which all roles compute equally long in full steps: the present mean over all ranks.  Inner stages that
 * are one role by their sides alone (by_sides) need not do the same and count as roles of one rank. */
typedef struct tl_balance {
    uint32_t most;        /* the lowest rank of the role that computes longest; TL_NONE: no other role computes */
    double times;         /* compute time of that role over the mean compute time of the other roles' ranks */
    double *to;           /* [nranks] factor of each rank's compute work */
    int64_t most_gain_ns; /* compute time of that role less the mean: what a balance can save at most */
} tl_balance;

/* The caller frees out->to. */
void tl_balance_find(const tl_baseline *baseline, tl_balance *out);
void tl_balance_rank(double to, tl_changes *changes); /* to: the factor of the rank */

/* Takes off all work of the host's activities. */
void tl_free_host(tl_changes *changes);

/* -------------------------------------------------------------------------------------------------------- questions */

/* The time that the repair of a candidate takes off the work of a node; TL_GONE: the node's second edge is gone. */
typedef struct tl_reduction {
    int64_t ns;
    uint32_t node;              /* node of the folded rank */
    uint32_t candidate;         /* number of the plan */
    uint32_t activity, padding; /* tl_activity_kind; of a wait SYNC, or ALLOCATOR */
} tl_reduction;

#define TL_GONE INT64_MIN

/* How a rank is changed. */
typedef enum tl_change_kind {
    TL_CHANGE_NONE,       /* none: the rank is folded unchanged */
    TL_CHANGE_CANDIDATES, /* some of the plans that the proc received */
    TL_CHANGE_IDEAL,      /* some plans, and the ideal where that takes off more; in some activities */
    TL_CHANGE_BALANCE,    /* compute work is scaled by a factor */
    TL_CHANGE_HOST        /* all work of the host is taken off */
} tl_change_kind;

typedef struct tl_change {
    uint32_t kind;       /* tl_change_kind */
    uint32_t activities; /* IDEAL: bits 1 << tl_activity_kind; the bit of TL_ACTIVITY_SYNC: waits */
    double to;           /* BALANCE */
} tl_change;

/* Time taken off members of collectives on links, which is not taken off in the changed rank; after the lane, in the
 * answer to IDEAL with COMM. */
typedef struct tl_end_less {
    int64_t ns;
    uint32_t port, padding;
} tl_end_less;

/* The plans and the ideal received for a rank.  Zero-initialise; tl_rank_repairs_free ends it. */
typedef struct tl_rank_repairs {
    tl_repair_plan *plans;
    size_t nplans;
    tl_rank_ideal ideal;
} tl_rank_repairs;

void tl_rank_repairs_free(tl_rank_repairs *repairs);

/* CANDIDATES: the number of plans, then the plans; answered by a list of tl_reduction, and by the rank folded with the
 * nodes of that list kept.  CHANGE, any number of times: a tl_change, and a list of plan numbers; each is answered by
 * the lane that it is (uint8_t; 0: nothing is changed), IDEAL also by a list of tl_end_less.  Then comes the rank
 * folded in all lanes. */
void tl_candidates_answer(const tl_open_rank *rank, const tl_work_class_map *class_map, tl_rank_repairs *repairs,
                          tl_bytes *in, tl_bytes *out);
void tl_change_answer(const tl_open_rank *rank, const tl_work_class_map *class_map, const tl_rank_repairs *repairs,
                      tl_bytes *in, tl_bytes *out);

/* Reads the changed rank, folded; *folded stays empty if no change takes anything off.  tl_folded_free ends it. */
void tl_changed_get(tl_folded *folded, tl_bytes *in);

/* ------------------------------------------------------------------------------------------------------------- path */

/* Time of the path of one rank, by what bound it (model/path_tables.h). */
typedef struct tl_bound_ns {
    int64_t ns[TL_NBOUNDS];
} tl_bound_ns;

/* The part of a rank's path in one step. */
typedef struct tl_path_step {
    tl_bound_ns sum;
    int32_t step;
    int32_t peer; /* index of the rank waited for longest; -1: none, or an untraced one */
} tl_path_step;

/* A piece of a rank's path, on the clock of the rank's device. */
typedef struct tl_path_piece {
    int64_t start_ns, end_ns;
    int32_t step;   /* -1: none; on the way to proc 0 an index in `steps` */
    uint32_t port;  /* port of matched communication, which begins with waiting; else TL_NONE */
    int64_t met_ns; /* of matched communication: end of the waiting; on the way to proc 0 the start on the job's
                     * clock */
    int32_t peer;   /* of matched communication: index of the rank waited for; -1: none, or an untraced one.  Of the
                     * job's path: index of the rank that the piece is on */
    uint8_t bound;  /* tl_bound of the time after any waiting */
} tl_path_piece;

typedef struct tl_rank_path {
    tl_path_step *steps; /* [nsteps]: the first one, of step -1, is the whole path */
    size_t nsteps;
    tl_path_piece *pieces; /* [npieces] from the last to the first; none without names */
    size_t npieces;
    tl_node_names *names; /* [nnames] of the pieces; none: the graph was made without names */
    size_t nnames;
} tl_rank_path;

/* The critical path of the job: from its last end back, from each node to the node that it waited for last. */
typedef struct tl_path {
    tl_activity_ns sum;      /* time of the path by activity; COMM: transfers, and waits for untraced ranks; DEVICE:
                              * latency */
    tl_activity_ns *by_rank; /* [nranks] part of `sum`; a transfer counts for the rank by whose END the path comes to
                              * it */
    tl_activity_ns *own;     /* [nranks] all work of the rank, on the path or not; its latency is unknown */
    tl_rank_path *ranks;     /* [nranks] the path of each rank by itself; empty for a rank without a graph */
    tl_rank_path job;        /* pieces and names of this path, where graphs have names */
    size_t nranks;
    int64_t before_ns;      /* from the job's first instant to the first node of the path */
    int64_t untraced_ns;    /* part of COMM that is waiting for untraced ranks, as far as known */
    int64_t unexplained_ns; /* part of the path that no work, transfer, launch latency or wake-up explains, including
                              * before_ns */
} tl_path;

/* Assigns parts of a rank's path to steps: by the windows of the rank's step marks, if it has any; or by the step of
 * the work that the path leads to. */
typedef enum tl_steps_of_path { TL_STEPS_OF_MARKS, TL_STEPS_OF_WORK } tl_steps_of_path;

/* Finds the path of the job as measured; `sum` and before_ns add up to the job's time since start_ns.  Asks PATH. */
void tl_path_of(const tl_job_graph *graph, const tl_asker *asker, int64_t start_ns, tl_steps_of_path steps,
                tl_path *out);

/* Returns the edge that a meeting waited for last; NULL: none. */
const tl_meeting_edge *tl_last_to_meet(const tl_job_graph *graph, uint32_t meeting);

/* Answers PATH. */
void tl_path_answer(const tl_open_rank *rank, tl_bytes *in, tl_bytes *out);
void tl_path_end(tl_path *path);

#endif
