/* match.h - matches communication kernels of different ranks to collectives.
 *
 * Groups are decided once for the job, each participant gets a key, and participants of one key are a collective;
 * participants without a key are matched by when they ended.  Evidence against a match is reported, and the tables
 * group, bandwidth and quality are filled.  Uses no other folder, and no process but its own.
 */
#ifndef TLMPI_ANALYSIS_COLLECTIVE_MATCH_H
#define TLMPI_ANALYSIS_COLLECTIVE_MATCH_H

#include "tlmpi/analysis/analysis.h"
#include "tlmpi/base/status.h"
#include "tlmpi/model/coll_tables.h"
#include "tlmpi/model/participant.h"
#include "tlmpi/model/table.h"
#include "tlmpi/model/view.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* ----------------------------------------------------------------------------------------------------- participants */

/* The collectives that one rank takes part in. */

/* Returns the members_key of memberships of sends and receives whose group has no name. */
uint64_t tl_sends_members_key(void);

/* Appends the rank's participants and memberships. */
void tl_participants_collect(const tl_rank_view *view, tl_participants *set);

/* -------------------------------------------------------------------------------------------------------------- job */

/* The facts about the ranks and groups of the job. */

/* One group, at the index of its number.  size: number of its ranks, -1: unknown; seen: number of its ranks that have a
 * trace. */
typedef struct tl_group_fact {
    int32_t size, seen;
    uint32_t most;          /* largest number of participants of one rank */
    uint8_t inferred, span; /* tl_node_span */
    uint8_t collects;       /* it has other collectives than sends and receives */
    uint8_t all_traced;     /* every rank of the job has a trace */
    uint8_t stays;          /* no rank leaves its all-to-alls before all have come: ranks of one host show it */
} tl_group_fact;

/* The clock of one rank; arrays ascend by rank. */
typedef struct tl_rank_clock {
    int32_t rank;
    int32_t host;    /* number, -1 when unknown */
    int32_t clock;   /* number: ranks of one clock need no correction between them */
    int32_t applied; /* 1: offset and drift are taken off the rank's times */
    int64_t offset_ns, drift_ppb;
    int64_t step_ns; /* added to the offset from step_at_ns on, in the clock's own time */
    int64_t step_at_ns;
    int64_t sigma_ns;  /* error of the offset; INT64_MAX: unknown */
    int64_t middle_ns; /* time at which the offset holds and the drift is 0 */
    int32_t component; /* only clocks of the same component can be compared */
    int32_t guessed;   /* 1: process ids alone tell the host, which is no proof of one clock */
} tl_rank_clock;

/* All groups and ranks of the job; borrowed. */
typedef struct tl_job_facts {
    const tl_group_fact *groups;
    size_t ngroups;
    const tl_rank_clock *ranks;
    size_t nranks;   /* ranks that have a trace */
    bool all_traced; /* every rank of the job has one, as far as traces and their numbers tell */
} tl_job_facts;

/* Makes a clock for each rank that has a trace, from rows of table rank, in their order: with the rank's host, and a
 * clock number of its own.  The caller frees *rank_clocks. */
void tl_rank_clocks_make(const tl_table *ranks, tl_rank_clock **rank_clocks, size_t *n);

/* Returns the rank's clock; NULL: the rank has no trace. */
const tl_rank_clock *tl_rank_clock_of(const tl_job_facts *facts, int32_t rank);

/* ----------------------------------------------------------------------------------------------------------- groups */

/* The process groups of a job, decided once from all memberships: which memberships are one group, the group's number,
 * and the rule by which its collectives are matched.  Needs a row per rank and group, and no events. */

/* One collective of a rank in a group that the trace does not name.  Which ranks form that group is inferred from
 * sightings: ranks whose k-th collectives end together are of one group. */
typedef struct tl_sighting {
    uint64_t item; /* equal on all ranks of a group for one collective */
    int64_t start_ns, end_ns;
    int32_t membership; /* index among those of the job */
    int32_t loose;      /* its kind does not make ranks end together */
} tl_sighting;

/* Largest number of sightings of a membership, spread over the whole recording. */
#define TL_SIGHTINGS 64

/* Draws up to TL_SIGHTINGS sightings of each inferred membership, ascending by membership and item: the same items on
 * all ranks of a group.  The caller frees *out. */
void tl_sightings_draw(const tl_participants *set, tl_sighting **out, size_t *n);

/* The decision on one membership: its group, and the rule by which its collectives are matched. */
typedef struct tl_fate {
    uint64_t group_key;
    int32_t group;           /* number in the job */
    uint8_t by_seq;          /* all its ranks have sequence numbers */
    uint8_t by_loose_launch; /* launches outside steps can be counted: all its ranks have as many, of the same kinds */
    uint8_t padding[2];
} tl_fate;

/* Decides the fate of n memberships (rank order does not matter) and fills the table of groups, and *facts (the caller
 * frees), in order of their numbers.  job: its ranks; no groups yet.  sightings: ascending by membership and item. */
void tl_groups_decide(const tl_membership *memberships, size_t n, const tl_job_facts *job, const tl_sighting *sightings,
                      size_t nsightings, tl_fate *fates, tl_table *groups, tl_group_fact **facts);

/* Returns what a process group divides among its ranks: samples, tensors, layers, experts, the sequence; by the row's
 * description, its counts of collectives and its size in a job of nranks.
 *
 * Frameworks say so in the group's description: PyTorch's device meshes ("mesh_tp", "mesh_dp_shard"), Megatron
 * ("TENSOR_MODEL_PARALLEL_GROUP").  Without one, a group that does nothing but send and receive is a pipeline, and a
 * group of all ranks of the job its world.  All-to-alls are experts', but embeddings' and sequences' as well, and ranks
 * that reduce together may share a tensor or a sample's gradients: unknown. */
tl_parallelism tl_group_parallelism(const tl_group_row *row, int32_t nranks);

/* ------------------------------------------------------------------------------------------------------ collectives */

/* Participants of one group and key are one collective.  A proc that owns a key has all its participants.  In sorted
 * participants those of a collective are adjacent: a run. */

/* One matched collective, as the analyses see it. */
typedef struct tl_collective_view {
    int64_t number;
    const tl_participant *by_rank; /* [n] ascending by rank; times on the job's clock */
    size_t n;
    int32_t group;
    int32_t size;     /* ranks that take part, -1 when unknown */
    int32_t expected; /* number of these ranks that have a trace */
    int32_t step;     /* ProfilerStep in which more than half of the ranks launched it, else that of the lowest rank
                       * with one; -1: none */
    uint8_t kind;     /* tl_collective */
    uint8_t rule;     /* tl_match_rule */
    uint8_t state;    /* tl_coll_state */
    uint8_t suspect;  /* tl_suspicion */
    uint8_t span;     /* tl_node_span */
    int64_t uncertainty_ns; /* error of the distance between its members' clocks */
    int64_t unsure_ns;      /* uncertainty_ns if one of these clocks was corrected, else 0 */
} tl_collective_view;

/* The uncertainty of clocks, ns, if the clocks of several hosts cannot be compared: larger than any wait. */
#define TL_CLOCK_UNTIED_NS (INT64_MAX / 4)

/* A collective: participants [first, first + n). */
typedef struct tl_collective_run {
    size_t first, n;
    int64_t first_arrival_ns;
} tl_collective_run;

/* Puts participants in the order of (group, key, rank, start, uid). */
void tl_participants_sort(tl_participant *participants, size_t n);

/* Returns the index after the last participant of the collective that begins at `from` < n, in sorted participants.
 *
 *     for (size_t from = 0, to; from < n; from = to) {
 *         to = tl_participants_end(participants, n, from);
 */
size_t tl_participants_end(const tl_participant *participants, size_t n, size_t from);

/* A collective is a meeting if no participant can leave before all have come: a synchronising collective, or two ranks
 * that each send to the other.  A send and its receive are a message. */

/* Whether every one of the participants takes part in a synchronising collective. */
bool tl_participants_synchronise(const tl_participant *p, size_t n);

/* Whether the collective is a meeting. */
bool tl_participants_meet(const tl_participant *p, size_t n);

/* Returns the index, 0 or 1, of the sender if the collective is a message, else -1. */
int32_t tl_participants_sender(const tl_participant *p, size_t n);

/* Lists the collectives in sorted participants, ascending by group and key; the caller frees *runs. */
void tl_runs_make(const tl_participant *participants, size_t n, tl_collective_run **runs, size_t *nruns);

/* Sorts runs, as tl_runs_make lists them, by (first arrival, group, key). */
void tl_runs_by_time(tl_collective_run *runs, size_t n);

/* Returns the view of one collective; its number is left 0. */
tl_collective_view tl_collective_of_run(const tl_participant *participants, const tl_collective_run *run,
                                        const tl_job_facts *facts);

/* -------------------------------------------------------------------------------------------------------- match key */

/* Sets key and rule of a participant by the first rule that applies; key 0 and TL_BY_NOTHING if none does: the
 * participant is matched by its end. */
void tl_match_key(tl_participant *p, const tl_fate *fate);

/* Gives each participant without a key one of its own. */
void tl_key_unmatched(tl_participant *participants, size_t n);

/* Returns a key that no other participant has; the participant's group must be the number in the job. */
uint64_t tl_own_key(const tl_participant *p);

/* -------------------------------------------------------------------------------------------------------- alignment */

/* Participants without a key are matched by when they ended, on a proc that has the items of all ranks of the group. */

/* One participant to be aligned. */
typedef struct tl_align_item {
    uint64_t key;  /* 0: open; equal for items of one collective */
    uint64_t lone; /* the key of an item that finds no partner */
    int64_t start_ns, end_ns;
    int64_t bytes;   /* -1 when unknown */
    uint64_t dtype;  /* 0 when unknown */
    size_t position; /* index of its participant on `proc` */
    int32_t proc;    /* the proc that has its participant */
    int32_t group, rank;
    int32_t peer; /* tl_participant.peer */
    uint32_t uid;
    uint8_t kind; /* tl_collective */
    int8_t sends; /* 1: the rank sends to its peer; if both send, the lower rank counts as the sender */
    uint8_t padding[2];
} tl_align_item;

/* Adds to open[group] the number of participants without a key; pairs: of sends and receives without a key. */
void tl_align_open(const tl_participants *set, bool pairs, int64_t *open);

/* Returns the participants (pairs: the sends and receives) of all groups with open[group] > 0, in the set's order; the
 * caller frees them. */
tl_align_item *tl_align_list(const tl_participants *set, bool pairs, const int64_t *open, int32_t proc, size_t *n);

/* Writes keys and peers to the participants without a key. */
void tl_align_take(const tl_align_item *items, size_t n, tl_participants *set);

/* Before groups are decided: returns the sends and receives of memberships that consist of nothing else and whose
 * traces do not tell the peers; of a group that the trace names only if each is known to be a send or a receive.
 * Their group is the number of the stream; sends is 1 for a send, -1 for a receive, 0 if unknown; lone depends on the
 * rank and its event alone.  The caller frees them. */
tl_align_item *tl_sends_list(const tl_participants *set, int32_t proc, size_t *n);

/* Writes keys and peers to the participants; makes their inferred memberships ones of sends and receives. */
void tl_sends_take(const tl_align_item *items, size_t n, tl_participants *set);

/* Finds the peers of sends and receives whose traces tell neither peer nor group.
 *
 *     rank 0, stream 24   ..[ ]....[ ]....[ ]           send and receive of a message end together: all messages of one
 *     rank 1, stream 22   [    ].[    ].[   ]           stream end with those of another
 *     rank 1, stream 24   ......[ ].....[     ].[ ]
 *     rank 2, stream 22   [       ][          ][  ]
 *
 * A row is all such sends and receives of one stream of a rank.  Two rows of different ranks are compared under the
 * distance of their clocks that makes most of their ends agree.  Rows become partners in descending number of agreeing
 * ends, ties by smaller distance of the ends.  The rest of a row may be partner of a third row, if one stream serves
 * both neighbours.  All-to-alls consist of sends and receives, too, but there a third rank ends with both.
 *
 * Gives items of the whole job that end together a key and their peers.  If most of a row find a peer, the rest of the
 * row gets TL_PEER_UNKNOWN; other items, as of all-to-alls, keep TL_NO_PEER and no key.  Reorders items, as all
 * alignments do. */
void tl_sends_align(tl_align_item *items, size_t n);

/* Matches sends and receives whose two ranks are known.  Recordings begin at different moments, and without step marks
 * counts never restart: the receiver's first recorded message may be the sender's second.
 *
 *     sender     [s1]..[s2].......[s3].[s4]
 *     receiver         ...[r2].......[r3].[r4]
 *
 * Matched ends are apart by the distance of the clocks, which is constant.  Of all shifts of one row against the other,
 * the ones with the least scatter of these distances remain; of these, as steps repeat, the one with the smallest
 * distance is taken.  Gives every open item whose peer is known a key. */
void tl_ways_align(tl_align_item *items, size_t n);

/* Matches sends and receives whose peer is unknown.
 *
 *     0   [?].........[?].........     a chain of ranks; ?: a send or receive with an unknown peer.  A rank with one
 *     1   [?]...[?]...[?]...[?]...     neighbour exchanges all its items with that neighbour; the neighbour's other
 *     2   ......[?].........[?]...     items are exchanged with the next rank
 *
 * Neighbours are known from items of the group whose peer is known; without any, in groups that are not inferred, ranks
 * next to each other are neighbours.  Gives every open item a key, and a peer if one is found. */
void tl_pairs_align(tl_align_item *items, size_t n, const tl_group_fact *groups);

/* Matches the collectives of two ranks of one group.
 *
 *     reference   [A ]..[B ]....[C]..[D ]...[E ]
 *     mine          .....[b]....[c]..[d ]...[e ]      open: b, which was launched before the window; c, d, e have keys
 *
 * Collectives with keys on both ranks give the distance of the clocks.  Without any, it follows from the shift of one
 * row against the other under which kinds and sizes agree best and the differences of ends scatter least.  Then open
 * items are matched in order, so that matched ends lie close together.
 *
 * Sets match[i] to the index in `ref` of the same collective as mine[i], or -1: mine[i] is not open, or has no partner.
 * Both are ascending by end_ns; all items of ref have keys. */
void tl_align(tl_align_item *mine, size_t n, tl_align_item *ref, size_t nref, int64_t *match);

/* Gives keys to open items of whole groups, in rounds, until a round finds no more: each compares one rank of a group,
 * the reference, with the others.  The first reference is the rank with most keys, each later one the rank with most
 * open items.  Items without a partner may stay open. */
void tl_rows_align(tl_align_item *items, size_t n);

/* -------------------------------------------------------------------------------------------------------- suspicion */

/* Returns the first check that fails of the checks that need no clock: participants differ in kind, data type or size,
 * or a rank is there twice. */
tl_suspicion tl_collective_suspect(const tl_participant *by_rank, size_t n);

/* Returns the first check that fails of the checks of time, as far as the kind of collective implies them: no rank is
 * done before all have come, and all end together.  Its uncertainty_ns has to be set. */
tl_suspicion tl_collective_suspect_times(const tl_collective_view *c);

/* ------------------------------------------------------------------------------------------------------ clock doubt */

/* The largest clock error among some ranks, ns: 0 if all ranks have one clock; else the largest sigma, or offset that
 * was not corrected; TL_CLOCK_UNTIED_NS if clocks of different hosts cannot be compared.  Initialise to { .clock = -1
 * }; a rank NULL adds nothing. */
typedef struct tl_clock_doubt {
    int64_t worst_ns;
    int32_t clock, component, host; /* of the rank that was added last */
    bool several;
    bool corrected; /* times of one of the ranks were corrected */
    bool apart;     /* two of the clocks cannot be compared */
    bool untied;    /* two of the clocks cannot be compared, and are of different hosts */
} tl_clock_doubt;

void tl_clock_doubt_add(tl_clock_doubt *doubt, const tl_rank_clock *rank);
int64_t tl_clock_doubt_of(const tl_clock_doubt *doubt);

extern const tl_analysis tl_bandwidth_analysis, tl_group_analysis, tl_quality_analysis;

#endif
