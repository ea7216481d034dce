/* clocks.h - how far are clocks apart?
 *
 * Ranks leave a synchronising collective together, so the differences of its ends show the differences of their clocks:
 *
 *     anchor    one rank's end of one collective, against the middle end of all its ranks
 *     edge      all anchors of a rank in a group: an offset, a drift, a scatter
 *     solve     the edges of the job, least squares: a clock a host, and one for each rank that does not fit its host
 *
 * Behind a slow link a ring lets some go earlier than others, by a part of what its transfers take; a clock is off by
 * the same in all.  So where short collectives and long ones disagree the short ones tell, and ranks of a host that end
 * apart by less than collectives take have one clock.
 *
 * Where ranks of two hosts share no such collective, what they send each other ties the clocks: both ends of a transfer
 * end together, or the sender's earlier, where the data wait in a buffer.  So what goes one way shows a clock ahead by
 * what it is or less, and what comes back by what it is or more; in the middle of both it is.
 *
 * Only the last needs all edges in one place: one a rank and group.
 */
#ifndef TLMPI_ANALYSIS_CLOCKS_H
#define TLMPI_ANALYSIS_CLOCKS_H

#include "tlmpi/analysis/match.h"
#include "tlmpi/model/table.h"

/* What is done with the clocks that are found. */
typedef enum tl_clock_mode {
    TL_CLOCK_AUTO, /* times are shifted where the offset is beyond doubt */
    TL_CLOCK_NONE, /* never */
    TL_CLOCK_FORCE /* always */
} tl_clock_mode;

/* What an anchor is read off. */
typedef enum tl_clock_way {
    TL_WAY_GROUP, /* a collective of a group */
    TL_WAY_UP,    /* what the lower of two ranks sends the other */
    TL_WAY_DOWN,  /* what the higher sends */
    TL_WAY_BOTH   /* both at once */
} tl_clock_way;

/* Of a pair there is one, the lower rank's, and it is ahead of the peer's. */
typedef struct tl_anchor {
    int32_t rank, group;
    int64_t at_ns;     /* the middle end */
    int64_t ahead_ns;  /* own end - middle end */
    int64_t took_ns;   /* the shortest kernel: ends may lie so far apart whatever the clocks */
    int32_t peer, way; /* way: tl_clock_way; but for TL_WAY_GROUP the group is -1, and peer the higher rank */
} tl_anchor;

typedef struct tl_clock_edge {
    int32_t rank, group;
    int64_t anchors;
    int64_t first_ns, last_ns, middle_ns; /* of the anchors; the offset holds in the middle */
    int64_t ahead_ns;                     /* median; of what is sent one way: where its sender is held longest */
    int64_t sigma_ns;                     /* scatter: 1.4826 times the median distance from the line */
    int64_t took_ns;                      /* the collectives that tell took so long, in the middle */
    double drift;                         /* ns a ns */
    int32_t has_drift;
    int32_t peer, way, padding; /* as of an anchor */
} tl_clock_edge;

/* Anchors of one collective, one a participant, into out (room for n); *nout: how many, none where its ends say nothing
 * of clocks.  False when memory is out. */
bool tl_collective_anchors(const tl_participant *by_rank, size_t n, tl_anchor *out, size_t *nout);

/* The edge through n > 0 anchors of one rank and group, or of one pair and way, ascending by at_ns.  False when memory
 * is out. */
bool tl_clock_edge_fit(const tl_anchor *anchors, size_t n, tl_clock_edge *out);

/* The edges of a job: of groups, ascending by rank and group; of pairs, ascending by rank, peer and way.  Borrowed. */
typedef struct tl_clock_edges {
    const tl_clock_edge *of_groups, *of_pairs;
    size_t ngroups, npairs;
} tl_clock_edges;

/* From all edges to a clock for each rank: fills clock, applied, offset, drift, sigma and middle of the places (in rank
 * order, hosts given), and the same columns of table clock, which has a row for each place.  TL_ENOMEM. */
tl_status tl_clocks_solve(const tl_clock_edges *edges, tl_clock_mode mode, tl_rank_place *places, size_t nplaces,
                          tl_table *table, tl_error *err);

/* The time on the job's clock of an instant on the rank's. */
int64_t tl_clock_correct(const tl_rank_place *place, int64_t ns);

#endif
