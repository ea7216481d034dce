/* internal.h - a culprit until it is a row of table culprit: its ranks and its cost (suspects.c), its doubts
 * (doubts.c). */
#ifndef ANALYSIS_CULPRIT_INTERNAL_H
#define ANALYSIS_CULPRIT_INTERNAL_H

#include "tlmpi/base/mem.h"
#include "tlmpi/model/culprit_table.h"
#include "tlmpi/model/facts.h"

/* A rank, a link, or several ranks together that hold the job up. */
typedef struct tl_suspect {
    tl_culprit row;                    /* filled step by step */
    const tl_straggler *rank;          /* NULL: a link; for several ranks, the rank with the largest gain alone */
    const tl_slow_link_row *link;      /* NULL: no link */
    const int32_t *members;            /* the rank, the ranks, or the ends of the link; ascending */
    size_t nmembers;                   /* 0: a link with unknown ends */
    const tl_rank *trace, *peer_trace; /* Traces.  Of a rank: its own; of a link: of its two ends; of ranks of one host
                                        * among several: of one of them.  NULL: unknown */
    int64_t late_ns;                   /* sum of its visible lateness (suspects.c); of a link 0 */
    int64_t steps_blame_ns;            /* the part of blame_ns in flagged steps; all of it if no step is flagged */
    int64_t in_steps_ns;               /* gain in flagged steps, of a single rank; 0: unknown */
    int64_t untimed, events;           /* events of its members without a possible duration; all that were kept */
} tl_suspect;

/* A step of the job, and the cost of a culprit in it. */
typedef struct tl_step_cost {
    int32_t step;
    bool flagged, beside; /* in the culprit's pattern; flagged, but not in the pattern */
    int64_t length_ns, cost_ns;
    int64_t late_ns, blame_ns; /* of the member that is latest; waits of other ranks for all members */
} tl_step_cost;

/* Rows are borrowed from the tables. */
typedef struct tl_judgement {
    tl_tables *tables;
    const tl_table *ranks, *stragglers, *blame_steps, *blame, *health;
    tl_facts facts;
    tl_suspect *culprits; /* gain, descending; ties by excess, descending, then by rank, ascending */
    size_t nculprits;
    int32_t *members;   /* of all culprits */
    int64_t *excess_ns; /* by row of table straggler: excess over the peers, in steps that are not left out */
    const tl_straggler *largest_excess; /* the rank with the largest excess over its peers; NULL: no rank has one */
    int64_t largest_excess_ns;          /* the excess of that rank */
    const tl_straggler *inconclusive;   /* the inconclusive rank with the strongest findings; NULL: none is
                                         * inconclusive */
    tl_culprit_kind no_culprit_kind;    /* reason, if no culprit is named */
    bool has_long_step; /* a step takes much longer than others, and some rank works or transfers longer in it */
    tl_arena arena;
    tl_step_cost *steps; /* [nsteps + 1] ascending by number; the last entry: anything outside of these steps */
    size_t nsteps;
    tl_step_cost *flagged; /* scratch [nsteps + 1] */
    int64_t *waits;        /* scratch, by row of table rank: its wait for a culprit */
    int32_t *waiters;      /* scratch, by row of table rank */
    int64_t *lengths;      /* scratch: [nsteps] */
} tl_judgement;

/* Returns a row with "unknown" in all columns but the job's totals. */
tl_culprit tl_culprit_empty(const tl_judgement *j, tl_culprit_kind kind);

/* Fills culprits and members.  Facts have been found. */
void tl_suspects_find(tl_judgement *j);

/* Whether arrivals that clocks cannot order may hide TL_VERDICT_LEAST_COST of the time. */
bool tl_clocks_blur(const tl_facts *facts);

/* Writes the doubts and confidences of each answer about the culprit into the row.  culprit NULL: of the answer that
 * there is none. */
void tl_doubts_write(const tl_judgement *j, const tl_suspect *culprit, tl_culprit *row);

#endif
