/* replay.h - what would the job have taken, had some work taken what it takes others?
 *
 *     done = max over edges (done there + lag) + work + rest        in one pass over the graph, work being changed
 *
 * Unchanged that is what was measured, to the nanosecond.  A repair takes from a rank, in some steps, what its work of
 * a family exceeds the baseline by, class by class:
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
 * Nobody knows what of a step that was cut is lacking, so it is not compared with that of peers: who is late all the
 * time is repaired there by the part of its own work that its excess is in the same stretches of the whole steps.  What
 * a host has more in a stretch than peers have in a whole one goes, in all stretches of a cut step together no more
 * than in a whole step.
 *
 * Nodes of a rank are looked at where it was read, while it is open.  The job gets it folded: its ports, and the
 * longest ways between them.  Folded ranks and the meetings are the whole of which replays are made.  Times are the
 * same to the nanosecond.
 *
 * May use graph and baseline.
 */
#ifndef TLMPI_ANALYSIS_REPLAY_H
#define TLMPI_ANALYSIS_REPLAY_H

#include "tlmpi/analysis/baseline.h"
#include "tlmpi/model/activity.h"

/* -------------------------------------------------------------------------------------------------------------- net */

/* The last of a step that has come from a node is done so long after that; a step of nsteps: of a meeting. */
typedef struct tl_net_end {
    int64_t ns;
    uint32_t step;
} tl_net_end;

/* A graph of which nothing but times matters.  Node 0 is the origin, done at 0; what waits for nothing else waits for
 * it. Zero-initialise; tl_net_free ends it. */
typedef struct tl_net {
    size_t n, nedges, nends, nsteps;
    uint32_t *order;      /* [n]: each comes after all that it waits for; NULL: they are in such an order */
    int64_t *own_ns;      /* [n] work and rest: may be changed */
    uint32_t *first_edge; /* [n + 1] */
    uint32_t *from;       /* [nedges] */
    int64_t *lag_ns;      /* [nedges] may be changed */
    uint32_t *first_end;  /* [n + 1] */
    tl_net_end *ends;     /* [nends] */
} tl_net;

/* Room for so much in arrays. */
void tl_net_new(size_t n, size_t nedges, size_t nends, size_t nsteps, tl_net *out);
void tl_net_free(tl_net *net);

/* When every node is done, into done_ns[n]; the last end, of a node or of what is folded into its ends, is returned. */
int64_t tl_net_replay(const tl_net *net, int64_t *done_ns);

/* The last end of each step, and no earlier than of the one before: end_ns[nsteps]. */
void tl_net_step_ends(const tl_net *net, const int64_t *done_ns, int64_t *end_ns);

/* How a node comes into a fold. */
typedef enum tl_fold_mark {
    TL_FOLD_AWAY, /* if that makes it smaller: nothing of it changes */
    TL_FOLD_KEEP, /* it stays */
    TL_FOLD_WORK, /* it stays: its work may change */
    TL_FOLD_EDGES /* so may its edges, one by one: what they come from stays, too, and they stay in order */
} tl_fold_mark;

/* One that has several marks has the strongest. */
static inline void tl_fold_mark_put(uint8_t *mark, tl_fold_mark how)
{
    *mark = *mark < how ? (uint8_t)how : *mark;
}

/* The net of the nodes that stay, and of the longest ways between them; number_of[n] of each there, TL_NONE: it is
 * folded.  marks[n] tl_fold_mark.  Tl_net_free ends it in any case. */
void tl_net_fold(const tl_net *net, const uint8_t *marks, tl_net *out, uint32_t *number_of);

/* ---------------------------------------------------------------------------------------------------------- changes */

/* A rank that is open to be changed: what is taken off the work of its nodes, and which edges are gone.
 * Zero-initialise; the same may be used for one rank after the other, and tl_changes_free ends it. */
typedef struct tl_changes {
    const tl_frame *frame;
    tl_open_rank open;    /* the caller's */
    tl_arena arena;       /* of the arrays below */
    uint32_t *step_of;    /* [n] index of the step */
    int64_t *less_ns;     /* [n] */
    bool *gone;           /* [n]: the second of its two edges is; what released a wait */
    uint32_t *kind_of;    /* [n] of the frame, TL_NONE: none; filled by tl_changes_compare */
    int64_t *baseline_ns; /* [n] what the piece of host work usually takes; 0: not known; likewise */
    bool compared, laid_out, parted; /* parted: edges that are gone are not in the net below */
    size_t room;
    uint32_t *order; /* [n] nodes; filled by tl_folded_make, and so is: */
    uint32_t *at;    /* [n] the place of each in the net, after the origin */
    tl_net net;      /* of the whole rank */
} tl_changes;

/* Unchanged. */
void tl_changes_open(const tl_open_rank *rank, const tl_frame *frame, tl_changes *changes);
void tl_changes_compare(tl_changes *changes);
void tl_changes_reset(tl_changes *changes);
void tl_changes_free(tl_changes *changes);

/* ----------------------------------------------------------------------------------------------------------- folded */

/* What stays of a rank when it is folded.  Zero-initialise; tl_folded_free ends it. */
typedef struct tl_folded {
    tl_net net;       /* packed: no more than how large it is */
    int64_t *done_ns; /* [net.n] as measured; packed: NULL */
    uint32_t *came;   /* [ports] ARRIVALs that meetings wait for, as nodes of the net; TL_NONE */
    uint32_t *met;    /* [ports] ENDs that wait for meetings, likewise; these have no edge here */
    size_t norigin;   /* ends of the net that are of its node 0 */
    tl_bytes packed;  /* net and done_ns, a third as large */
} tl_folded;

/* As changed; marks[nodes] tl_fold_mark of those that are not to be folded besides ports, NULL: none; then
 * number_of[nodes] gets their numbers in the net.  Tl_folded_free ends it in any case. */
void tl_folded_make(tl_changes *changes, const uint8_t *marks, tl_folded *out, uint32_t *number_of);
void tl_folded_free(tl_folded *folded);

/* As bytes, and back, packed.  tl_folded_free ends it. */
void tl_folded_put(const tl_folded *folded, size_t nports, tl_bytes *out);
void tl_folded_get(tl_folded *folded, tl_bytes *in);

/* What is packed, into a net and done_ns that are the caller's. */
void tl_folded_unpack(const tl_folded *folded, tl_net *net, int64_t **done_ns);

/* Folded ranks and all meetings.  Zero-initialise; tl_whole_free ends it. */
typedef struct tl_whole {
    tl_net net;
    int64_t *done_ns;  /* [net.n] as measured */
    uint32_t *base;    /* [nranks] node i of a folded rank is base + i here */
    uint32_t meetings; /* the first of them */
} tl_whole;

/* Of folded[nranks]; of those with changed[rank] that is as changed, and its net is used up; changed NULL: none.
 * Tl_whole_free ends it in any case. */
void tl_whole_make(const tl_baseline *baseline, const tl_folded *folded, tl_folded *changed, tl_whole *out);
void tl_whole_free(tl_whole *whole);

/* Whether it is there. */
static inline bool tl_folded_is(const tl_folded *folded)
{
    return folded->came != NULL;
}

/* A rank as it is in such a whole. */
static inline const tl_folded *tl_folded_of(const tl_folded *folded, const tl_folded *changed, size_t rank)
{
    return changed != NULL && tl_folded_is(&changed[rank]) ? &changed[rank] : &folded[rank];
}

/* ---------------------------------------------------------------------------------------------------------- repairs */

/* What is repaired. */
typedef struct tl_repair {
    uint32_t rank; /* index; of TRANSFER that of a link */
    uint8_t family;
    bool drifts;    /* each step alone */
    bool across;    /* to what ranks of other roles need */
    bool lasts;     /* before the whole steps as in the first of them, after them as in the last */
    const bool *on; /* [nsteps] */
} tl_repair;

/* Whether the step was cut, and is repaired as the whole one next to it. */
static inline bool tl_repair_lasts(const tl_baseline *baseline, const tl_repair *repair, size_t step)
{
    return repair->lasts && baseline->cut[step] && repair->on[tl_whole_step_at(baseline, step)];
}

/* What a repair of a rank comes to, told to who holds it: by kind of its frame, and by step.  Zero-initialise;
 * tl_repair_plan_free ends it. */
typedef struct tl_repair_plan {
    uint64_t family;
    size_t nkinds, nsteps, nwindows;
    size_t nsummed;       /* ADDITIONAL: of the windows the last ones, where there are more pieces than at peers: their
                           * stretches are compared by themselves */
    int64_t nrepaired;    /* steps, but for cut ones */
    uint32_t *window;     /* [nkinds * nsteps] DEVICE, HOST, ADDITIONAL: 1 + the number of the steps that are compared
                           * together; 0: the kind is not repaired there */
    int64_t *own_ns;      /* [nwindows * nkinds] of windows that are not summed up: what the rank has there, ... */
    int64_t *baseline_ns; /* ... and what its peers need */
    bool *also;           /* [nsteps] steps that were cut, and are repaired as the others are */
    int64_t *drop;        /* [nkinds * nsteps] WAIT: how many go; HOST: how many peers do not have */
    struct tl_repair_plan_sum *sums; /* [nsums] */
    size_t nsums;
} tl_repair_plan;

/* What a rank has of one kind in the same stretch of all steps of a window. */
typedef struct tl_repair_plan_sum {
    int64_t own_ns, baseline_ns;
    uint32_t window, kind, segment, padding;
} tl_repair_plan_sum;

/* Asks SUMS of the ranks of the role where windows are summed up.  Not for TRANSFER.  tl_repair_plan_free ends it. */
void tl_repair_plan_make(const tl_baseline *baseline, const tl_repair *repair, tl_repair_plan *out);
void tl_repair_plan_free(tl_repair_plan *plan);
void tl_repair_plan_put(const tl_repair_plan *plan, tl_bytes *out);
void tl_repair_plan_get(tl_repair_plan *plan, tl_bytes *in);

/* The answer to SUMS. */
void tl_sums_answer(const tl_open_rank *rank, const tl_frame *frame, tl_bytes *in, tl_bytes *out);

/* Takes the excess off what is the rank's own, which is open and unchanged. */
void tl_repair_plan_apply(const tl_repair_plan *plan, tl_changes *changes);

/* What is taken off a meeting, or of a member of one off how much later than that it is done. */
typedef struct tl_transfer_less {
    int64_t ns;
    uint32_t rank; /* index; TL_NONE: the meeting */
    uint32_t of;   /* the port, the meeting */
} tl_transfer_less;

typedef TL_VEC(tl_transfer_less) tl_transfer_list;

/* What the transfers of a link take longer than those like them, appended. */
void tl_repair_link(const tl_baseline *baseline, const tl_repair *repair, tl_transfer_list *out);

/* ------------------------------------------------------------------------------------------------------------ ideal */

/* Nobody slower than is usual: of each rank's work of a family in each full step, and of each transfer, what exceeds it
 * is gone, and so are waits that peers do not have.  Who is ahead stays so. */
typedef struct tl_ideal tl_ideal;

tl_ideal *tl_ideal_new(const tl_baseline *baseline);
void tl_ideal_free(tl_ideal *ideal);

/* That of a rank, told to who holds it: by kind of its frame and step.  Zero-initialise; tl_rank_ideal_free ends it. */
typedef struct tl_rank_ideal {
    int64_t *spare; /* [ncells] ns; WAIT: how many go */
    size_t ncells;  /* 0: nothing is changed */
    bool *on_link;  /* [nports] members of collectives on links are not among it */
    size_t nports;
} tl_rank_ideal;

void tl_ideal_put(const tl_ideal *ideal, size_t rank, tl_bytes *out);
void tl_rank_ideal_get(tl_rank_ideal *ideal, tl_bytes *in);
void tl_rank_ideal_free(tl_rank_ideal *ideal);

/* Where that is more than what has been changed there. */
void tl_rank_ideal_apply(const tl_rank_ideal *ideal, tl_changes *changes);

/* What goes of a transfer, or of how much later than that a member is done, which takes ns. */
int64_t tl_ideal_of_transfer(const tl_ideal *ideal, uint32_t meeting, int64_t ns);

/* The link of a meeting; TL_NONE: it is none, or no evidence. */
static inline uint32_t tl_link_of(const tl_baseline *b, uint32_t meeting)
{
    return meeting != TL_NONE && b->nlinks > 0 ? b->link_of[meeting] : TL_NONE;
}

/* All roles compute equally long in the full steps, as long as now in the mean of all ranks. */
typedef struct tl_balance {
    uint32_t most; /* the role that computes longest; TL_NONE: no other does */
    double times;  /* how many times as long as the ranks of the others in the mean */
    double *to;    /* [nroles] what work of each becomes, as a part */
} tl_balance;

/* Free(out->to) is the caller's. */
void tl_balance_find(const tl_baseline *baseline, tl_balance *out);
void tl_balance_rank(double to, tl_changes *changes); /* of its role */

/* Hosts take no time of their own. */
void tl_free_host(tl_changes *changes);

/* -------------------------------------------------------------------------------------------------------- questions */

/* What a unit's repair takes off the work of a node; TL_GONE: its second edge. */
typedef struct tl_taken {
    int64_t ns;
    uint32_t node;              /* of the folded rank */
    uint32_t unit;              /* which of the plans */
    uint32_t activity, padding; /* tl_activity_kind; of a wait SYNC, or ALLOCATOR */
} tl_taken;

#define TL_GONE INT64_MIN

/* How a rank is changed. */
typedef enum tl_change_kind {
    TL_CHANGE_NONE,    /* it is folded as it is */
    TL_CHANGE_UNITS,   /* plans that it has been told */
    TL_CHANGE_IDEAL,   /* such plans, and its ideal where that is more; some parts of it */
    TL_CHANGE_BALANCE, /* computing by a factor */
    TL_CHANGE_HOST     /* its host takes no time */
} tl_change_kind;

typedef struct tl_change {
    uint32_t kind;       /* tl_change_kind */
    uint32_t activities; /* IDEAL: bits 1 << tl_activity_kind; TL_ACTIVITY_SYNC: waits */
    double to;           /* BALANCE */
} tl_change;

/* After the changed rank in the answer to an ideal with COMM: what it takes off members of collectives on links, which
 * that does not have. */
typedef struct tl_end_less {
    int64_t ns;
    uint32_t port, padding;
} tl_end_less;

/* What a rank has been told of its repairs and its ideal.  Zero-initialise; tl_told_free ends it. */
typedef struct tl_told {
    tl_repair_plan *plans;
    size_t nplans;
    tl_rank_ideal ideal;
} tl_told;

void tl_told_free(tl_told *told);

/* UNITS: how many plans, and they; answered by tl_taken and the rank folded so that they stay.  CHANGE, any number of
 * times: a tl_change, and a list of which plans; each is answered by the changed rank, of IDEAL also by a list of
 * tl_end_less. */
void tl_units_answer(const tl_open_rank *rank, const tl_frame *frame, tl_told *told, tl_bytes *in, tl_bytes *out);
void tl_change_answer(const tl_open_rank *rank, const tl_frame *frame, const tl_told *told, tl_bytes *in,
                      tl_bytes *out);

/* The rank folded as it was changed; nothing is in *folded where the change takes nothing off it.  tl_folded_free ends
 * it. */
void tl_changed_get(tl_folded *folded, tl_bytes *in);

/* ------------------------------------------------------------------------------------------------------------- path */

/* The chain of nodes that decided when the job ended: from its last end, at every node to what was waited for last. */
typedef struct tl_path {
    tl_activity_ns sum;      /* the path by what it goes through; COMM: transfers, DEVICE: latency */
    tl_activity_ns *by_rank; /* [nranks] a transfer is of the rank by whose end the path leaves it */
    tl_activity_ns *own;     /* [nranks] what each has in all, on the path or not; of latency not known */
    int64_t before_ns;       /* from the job's first instant to the first node of the path */
    int64_t unexplained_ns;  /* of it no work, transfer, latency of a launch or wake-up explains, `before` among it */
} tl_path;

/* As it was; the sums of `sum` and before_ns are the job's time since start_ns.  Asks PATH. */
void tl_path_of(const tl_graph *graph, const tl_asker *asker, int64_t start_ns, tl_path *out);

/* The answer to PATH. */
void tl_path_answer(const tl_open_rank *rank, tl_bytes *in, tl_bytes *out);
void tl_path_end(tl_path *path);

#endif
