/* internal.h - who holds the job up, before it is a row of table culprit: who it is (find.c), what it costs
 * (measure.c), what makes it doubtful (doubt.c). */
#ifndef ANALYSIS_CULPRIT_INTERNAL_H
#define ANALYSIS_CULPRIT_INTERNAL_H

#include "tlmpi/base/mem.h"
#include "tlmpi/base/status.h"
#include "tlmpi/model/culprit_table.h"
#include "tlmpi/model/facts.h"

/* A rank, a link, or several ranks together that hold the job up. */
typedef struct tl_suspect {
    const tl_straggler *rank;     /* NULL: a link; of several ranks the one that alone costs most */
    const tl_slow_link_row *link; /* NULL: no link */
    const int32_t *members;       /* the rank, the ranks, or those at the ends of the link; ascending */
    size_t nmembers;              /* 0: a link whose ends are not known */
    bool same_cause;              /* of all members */
    bool whole_host;              /* they are all ranks of `of`'s host, and there are others */
    const tl_rank *of, *peer; /* of a rank: its trace; of a link: those at its ends; of ranks of one host, where there
                               * are several: one of them.  NULL where not known */
    tl_pattern pattern;
    int32_t first_step, last_step; /* of the pattern */
    size_t nflagged;               /* steps in which it stands out; of a link 0 */
    size_t nbeside;                /* flagged steps that are none of its pattern; of a link 0 */
    int64_t late_count;            /* collectives in which it, or one of its ranks, came last; of a link 0 */
    double p_value;                /* NaN below 5 steps */
    int64_t gain_ns;               /* how much less time the job takes without the delay, simulated; -1: not simulated */
    int64_t excess_ns;
    int64_t late_ns;         /* what it is late by and shows: measure.c; of a link 0 */
    int64_t in_steps_ns;     /* gain_ns of table blame_step over the flagged steps, of a rank by itself; 0: not known */
    int64_t untimed, events; /* of the members' events: those without a duration that can be, and all */
    int64_t step_cost_ns, step_ns; /* for each flagged step, and their length; 0 of a link */
    int64_t steps_blame_ns;        /* the part of blame_ns in flagged steps; all of it if no step is flagged */
    int64_t blame_ns, indirect_ns; /* GPU time that other ranks waited for it; the passed-on part of it */
    double path_share;             /* its part of the critical path, of a link that of its ends; NaN: not known */
    size_t nwaiters;               /* ranks that waited for it; in groups above 32 ranks a lower bound */
} tl_suspect;

/* The doubts about each of the four answers, with or without a culprit: sets of tl_doubt. */
typedef struct tl_doubts {
    unsigned who, cause, waiting, steps;
} tl_doubts;

/* Rows are borrowed from the tables. */
typedef struct tl_judgement {
    tl_tables *tables;
    tl_facts facts;
    tl_suspect *culprits; /* by gain, then by what is lost, largest first; of equals the lower rank */
    size_t nculprits;
    int32_t *members;         /* of all of them */
    int64_t *excess_ns; /* [nexcess]: by row of table straggler: its own work beyond that of its peers, in all steps */
    size_t nexcess;
    const tl_straggler *most; /* the rank whose own work exceeds that of its peers most; NULL: that of none does */
    int64_t most_ns;          /* by how much, in all steps */
    const tl_straggler *open; /* the rank whose verdict is inconclusive; NULL: none is */
    tl_culprit_kind nobody;   /* why no culprit is named, if none is */
    bool one_is_long;         /* a step takes much longer than others, and a rank spends more of its own in it */
    bool work_lost;           /* launches of a rank have no work in its trace */
    bool comm_unnamed;        /* kernels that no rule names are taken for communication */
} tl_judgement;

/* A step of the job, and what a culprit cost in it. */
typedef struct tl_step_cost {
    int32_t step;
    bool flagged, beside; /* in the pattern, and not in it */
    int64_t length_ns;
    int64_t cost_ns;
    int64_t late_ns, blame_ns; /* of the member that is late by most; what others waited for all members */
} tl_step_cost;

/* Zero-initialise; tl_measures_free ends it. */
typedef struct tl_measures {
    const tl_judgement *of;
    tl_arena arena;
    tl_step_cost *steps; /* [nsteps], ascending by number; one more, for what is in none of them */
    size_t nsteps;
    tl_step_cost *flagged; /* scratch, as many */
    int64_t *waits;        /* [ranks]: by row of table rank: what the rank waited for the culprit measured last */
    int32_t *waiters;      /* [ranks]: scratch */
    int64_t *lengths;      /* [nsteps]: scratch */
} tl_measures;

/* The steps of the job. */
void tl_measures_begin(tl_measures *measures);
void tl_measures_free(tl_measures *measures);

/* Fills what a culprit costs, from its members on: steps (of ranks alone), waits and its part of the path.  gain_ns has
 * been found. */
void tl_culprit_measure(tl_measures *measures, tl_suspect *culprit);

/* Lists who waited for the culprit itself, ascending, in measures->waiters; how many. */
size_t tl_culprit_waiters(tl_measures *measures, const tl_suspect *culprit);

/* What each of the other ranks waited for the culprit, in the mean: wall time, where all meet again and again. */
int64_t tl_waited_for(const tl_judgement *judgement, const tl_suspect *culprit);

/* Fills culprits and members, which the caller frees; facts have been found. */
void tl_suspects_find(tl_judgement *judgement, tl_measures *measures);

/* Whether arrivals that clocks cannot tell apart may hide 1 % of the time. */
bool tl_clocks_blur(const tl_facts *facts);

/* What speaks against the culprit; NULL: against there being none. */
tl_doubts tl_doubts_of(const tl_judgement *judgement, const tl_suspect *culprit);

/* How far an answer with such doubts is to be trusted. */
tl_confidence tl_confidence_with(unsigned doubts);

#endif
