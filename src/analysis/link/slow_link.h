/* slow_link.h - between which ranks do data move slowly, though nobody comes late?
 *
 *     rank 0   [  wait  |      transfer      ]       the group with a slow link
 *     rank 1            |      transfer      ]
 *     rank 2        [   |  transfer ]                others of the same kind, size, number of ranks and span
 *     rank 3            |  transfer ]
 *
 * transfer = last end - last start.  What it should have been is known from
 *
 *     groups   other ranks that do the same: the median of their medians
 *     steps    where there are none: the same ranks in their other steps; also where the others may send other amounts,
 *              unless these ranks take three times as long in nearly all steps; where all steps grow longer or
 *              shorter, what they do at the better end
 *     tails    where those are all alike: in a ring the two at the slow link are done last, together, and whoever
 *              stands j places behind it is spared j of its phases * (n - 1) passes; where clocks of hosts are off, as
 *              far as the ranks of each tell
 *     last     where all ranks of a host are done later than others, and transfers are longer when one of them came
 *              last
 *
 * Of a group some of whose ranks have no trace only tails can tell.  Where some transfers of a step share the wires of a
 * rank with others, those that do not tell how slow the link is.
 *
 * Groups whose ranks end further apart than those of other groups, by no more than those of healthy rings do, take so
 * much longer for that alone.  The surplus of a group and step counts where it is a quarter of what the step's transfers
 * should have been (a third where ranks may send each other different amounts) and beyond what clocks leave open: of all
 * of them together, or of those of a kind and size.  Also where it is 4 % of the step, eight times by what steps differ,
 * and a sixth of what others do in the same way and beyond what clocks leave open, or a twentieth of the own steps,
 * whose clocks are the same; in place of eight times, where some steps are three times as far from the others as these
 * are from each other.  It is then put to the test of outlier.h.  A pure function of its input.
 */
#ifndef ANALYSIS_LINK_SLOW_LINK_H
#define ANALYSIS_LINK_SLOW_LINK_H

#include "tlmpi/analysis/outlier.h"
#include "tlmpi/model/blame_tables.h"

/* One rank in one collective. */
typedef struct tl_link_end {
    int64_t start_ns, end_ns; /* on the job's clock */
    int64_t shown_end_ns;     /* as the rank's own clock showed it: where ends made clocks seem to disagree, it may have
                               * been the ring that kept some longer than others */
    uint32_t rank;            /* index */
} tl_link_end;

typedef struct tl_link_collective {
    uint32_t first, n; /* ends[first .. first + n), ascending by rank */
    uint32_t step;     /* index; nsteps and above: in none */
    int64_t bytes;     /* size of the message, -1 when unknown: then only stages and tails tell */
    int64_t uncertainty_ns;
    uint64_t stages; /* the same for messages that are of one size even where it is unknown, and over wires of one sort:
                      * what goes between the same stages of a pipeline, what groups do at one place of each step;
                      * 0: nothing is known of that */
    uint8_t kind, span; /* tl_collective, tl_node_span */
    bool unlike;        /* others of its class may send several times as much, or as little */
    bool partial;       /* some of its ranks have no trace: what looks like a transfer may be waiting for them */
} tl_link_collective;

/* Borrowed. */
typedef struct tl_link_input {
    const tl_link_end *ends;
    const tl_link_collective *collectives; /* in order of time */
    size_t ncollectives;
    const double *step_ns; /* > 0 */
    size_t nsteps;
    const int32_t *host; /* by rank, below 0: not known; NULL: of nobody */
} tl_link_input;

/* Collectives of unknown size, to be told from each other by what their groups do. */
typedef struct tl_link_like_input {
    const tl_link_end *ends;
    tl_link_collective *collectives; /* in order of time */
    const int32_t *group;            /* [ncollectives] */
    const bool *pair;                /* [ncollectives]: a send and its receive */
    size_t ncollectives;
    const int32_t *roles; /* by rank */
    bool roles_known;     /* whether stages of a pipeline would show in them */
} tl_link_like_input;

/* Sets `stages` and `unlike` of collectives of whole groups whose size is not known.  False when memory is out. */
bool tl_link_likes_set(const tl_link_like_input *input);

typedef struct tl_slow_link {
    uint32_t like;    /* one of its collectives, of the kind and size with the largest surplus */
    uint32_t ends[2]; /* ranks at its ends, ascending */
    uint32_t nends;   /* 2; 0 where the ends of the transfers do not tell */
    tl_link_evidence evidence;
    int64_t here_ns, elsewhere_ns; /* median transfer of that kind and size, and what it should be */
    int64_t surplus_ns;            /* over all its collectives in flagged steps */
    tl_persistence found;
} tl_slow_link;

typedef struct tl_slow_links {
    tl_slow_link *of;
    size_t n;
    uint32_t *link_of;   /* [ncollectives]: the link whose surplus it has, TL_NONE */
    int64_t *surplus_ns; /* [ncollectives] */
} tl_slow_links;

/* Zero *out first; tl_slow_links_free ends it.  TL_ENOMEM. */
tl_status tl_slow_links_find(const tl_link_input *input, tl_slow_links *out, tl_error *err);
void tl_slow_links_free(tl_slow_links *links);

#endif
