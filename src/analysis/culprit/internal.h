/* internal.h - who holds the job up, while it becomes a row of table culprit: who it is (suspects.c), what it costs
 * (measure.c), what makes it doubtful (doubts.c). */
#ifndef ANALYSIS_CULPRIT_INTERNAL_H
#define ANALYSIS_CULPRIT_INTERNAL_H

#include "tlmpi/base/mem.h"
#include "tlmpi/model/culprit_table.h"
#include "tlmpi/model/facts.h"

/* A rank, a link, or several ranks together that hold the job up. */
typedef struct tl_suspect {
    tl_culprit row;                    /* filled bit by bit */
    const tl_straggler *rank;          /* NULL: a link; of several ranks the one that alone costs most */
    const tl_slow_link_row *link;      /* NULL: no link */
    const int32_t *members;            /* the rank, the ranks, or those at the ends of the link; ascending */
    size_t nmembers;                   /* 0: a link whose ends are not known */
    const tl_rank *trace, *peer_trace; /* of a rank: its trace; of a link: those at its ends; of ranks of one host,
                                        * where there are several: one of them.  NULL where not known */
    int64_t late_ns;                   /* by how much it is late and shows that: measure.c; of a link 0 */
    int64_t steps_blame_ns;            /* the part of blame_ns in flagged steps; all of it if no step is flagged */
} tl_suspect;

/* A step of the job, and what a culprit cost in it. */
typedef struct tl_step_cost {
    int32_t step;
    bool flagged, beside; /* in the pattern, and not in it */
    int64_t length_ns, cost_ns;
    int64_t late_ns, blame_ns; /* of the member that is late by most; what others waited for all members */
} tl_step_cost;

/* Rows are borrowed from the tables. */
typedef struct tl_judgement {
    tl_tables *tables;
    const tl_table *ranks, *stragglers, *blame_steps, *blame, *health;
    tl_facts facts;
    tl_suspect *culprits; /* by gain, then by excess, largest first; of equals the lower rank */
    size_t nculprits;
    int32_t *members;   /* of all of them */
    int64_t *excess_ns; /* by row of table straggler: its own work beyond that of its peers, in all steps */
    const tl_straggler *largest_excess; /* the rank whose own work exceeds that of its peers most; NULL: that of none
                                         * does */
    int64_t largest_excess_ns;          /* by how much, in all steps */
    const tl_straggler *inconclusive;   /* the rank whose verdict is inconclusive; NULL: none is */
    tl_culprit_kind no_culprit_kind;    /* why no culprit is named, if none is */
    bool has_long_step; /* a step takes much longer than others, and a rank spends more of its own in it */
    tl_arena arena;
    tl_step_cost *steps; /* [nsteps + 1] ascending by number; the last one is for what is in none of them */
    size_t nsteps;
    tl_step_cost *flagged; /* scratch, as many */
    int64_t *waits;        /* scratch, by row of table rank: what the rank waited for a culprit */
    int32_t *waiters;      /* scratch, as many */
    int64_t *lengths;      /* scratch: [nsteps] */
} tl_judgement;

/* The row with "unknown" in all columns but the job's numbers. */
tl_culprit tl_culprit_empty(const tl_judgement *j, tl_culprit_kind kind);

/* Fills culprits and members; facts have been found. */
void tl_suspects_find(tl_judgement *j);

/* Lists the steps of the job, from the first rank's rows. */
void tl_step_costs_begin(tl_judgement *j);

/* Fills what a culprit costs, from its members on: steps (of ranks alone), waits and its part of the path.  gain_ns has
 * been found. */
void tl_culprit_measure(tl_judgement *j, tl_suspect *culprit);

/* Whether arrivals that clocks cannot tell apart may hide 1 % of the time. */
bool tl_clocks_blur(const tl_facts *facts);

/* Writes what speaks against the culprit, and how far each answer about it is to be trusted, into the row.  NULL: what
 * speaks against there being none. */
void tl_doubts_write(const tl_judgement *j, const tl_suspect *culprit, tl_culprit *row);

#endif
