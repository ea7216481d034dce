/* answers.h - the four questions about a job, answered from the tables of its result: facts, and no words.
 *
 *     which rank holds the job up?        culprits, worst first
 *     in which phase, and why?            their cause and place
 *     do others wait for it?              who, and how long
 *     always, or only for a while?        their pattern
 *
 * The room has them as facts (this header), as words and sentences (words.h, say.h), and as an exit status (fail_on.h).  It may
 * use the model, and of format what words need.
 *
 * Each answer has a confidence, and the doubts that it comes from: no doubt is high, one or two are medium; three, or
 * one that is grave, are low.
 */
#ifndef TLMPI_REPORT_ANSWERS_ANSWERS_H
#define TLMPI_REPORT_ANSWERS_ANSWERS_H

#include "tlmpi/base/status.h"
#include "tlmpi/model/blame_tables.h"
#include "tlmpi/model/table.h"
#include "tlmpi/model/tables.h"
#include <stdbool.h>

/* What was found, or why nothing could be. */
typedef enum tl_finding {
    TL_FOUND_NO_WORK,    /* nothing ran on a device */
    TL_FOUND_ONE_RANK,   /* nobody to compare with */
    TL_FOUND_SILENCE,    /* several ranks, and no communication in their traces */
    TL_FOUND_UNMATCHED,  /* several ranks communicate, and nothing could be matched across them */
    TL_FOUND_NO_VERDICT, /* a verdict is inconclusive, or clocks cannot tell who came last in most collectives */
    TL_FOUND_NOBODY,     /* no rank stands out */
    TL_FOUND_LINK,       /* the worst is a link between ranks */
    TL_FOUND_STRAGGLER   /* the worst is a rank */
} tl_finding;

/* "no_device_work", "one_rank", "no_communication", "unmatched", "inconclusive", "none", "slow_link", "straggler", NULL */
extern const char *const tl_finding_labels[];

typedef enum tl_confidence { TL_CONFIDENCE_HIGH, TL_CONFIDENCE_MEDIUM, TL_CONFIDENCE_LOW } tl_confidence;
extern const char *const tl_confidence_labels[]; /* "high", "medium", "low", NULL */

/* What speaks against an answer; bits 1 << tl_doubt. */
typedef enum tl_doubt {
    TL_DOUBT_ONE_STEP,       /* grave: a single step was recorded, or none */
    TL_DOUBT_FEW_STEPS,      /* fewer than 5 */
    TL_DOUBT_CHANCE,         /* p is above 0.05 */
    TL_DOUBT_ELSEWHERE,      /* most of what it gains lies in steps in which it does not stand out */
    TL_DOUBT_HARDLY_MATCHED, /* grave: less than half of the collectives */
    TL_DOUBT_PARTLY_MATCHED, /* less than 90 % */
    TL_DOUBT_OUTSIDE,        /* more than 10 % of the collectives are in no step, though there are marks */
    TL_DOUBT_CLOCKS,         /* what they cannot tell may come to 1 % of the wall time */
    TL_DOUBT_HIDDEN,         /* grave: they hide who was waited for in most of all waiting */
    TL_DOUBT_MISSING,        /* ranks of the job have no trace */
    TL_DOUBT_DAMAGED,        /* traces are cut or damaged */
    TL_DOUBT_UNTIMED,        /* of all events, or those of ranks that are named, 0.1 % have no duration that can be */
    TL_DOUBT_SIZES,          /* grave: traces tell different sizes of the job, so that they may be of several */
    TL_DOUBT_DUPLICATES,     /* grave: several traces of one time say they are the same rank */
    TL_DOUBT_NO_WORK,        /* traces of ranks show no device work */
    TL_DOUBT_NO_LAUNCHES,    /* traces of ranks show no launch of it: what their devices were idle for is not known */
    TL_DOUBT_UNMARKED,       /* grave: ranks have no steps, though others have: nobody is compared with them */
    TL_DOUBT_FOLLOWING,      /* ranks mark no steps, or number them otherwise: theirs are those of ranks that they meet */
    TL_DOUBT_LEFT_OUT,       /* a rank that is not named costs 1 % of the wall time in the first or last step alone */
    TL_DOUBT_NOT_REPLAYED,   /* the replay misses the measured time by more than 5 %, or there is none */
    TL_DOUBT_UNNAMED,        /* nobody is named, though the repair of who is waited for most gains 5 % of the wall time */
    TL_DOUBT_GAIN,           /* the replay gains less than half of what the other ranks waited in the mean */
    TL_DOUBT_MIXED,          /* no cause has 80 % of the delay */
    TL_DOUBT_UNKNOWN,        /* grave: nothing of the rank's own time explains the delay */
    TL_DOUBT_NO_PLACE,       /* no kernel, operator or annotation stands out */
    TL_DOUBT_CHARGES,        /* most of the charges in table blame are for other parts of the rank's time */
    TL_DOUBT_NO_VERDICT,     /* grave: see tl_finding */
    TL_NDOUBTS
} tl_doubt;
extern const char *const tl_doubt_labels[]; /* "one_step", "few_steps", ... NULL */

typedef struct tl_answer {
    tl_confidence confidence;
    unsigned doubts;
} tl_answer;

/* A rank, a link, or several ranks together that hold the job up. */
typedef struct tl_culprit {
    const tl_straggler *rank;      /* NULL: a link; of several ranks the one that alone costs most */
    const tl_slow_link_row *link;  /* NULL: no link */
    const int32_t *members;        /* the rank, the ranks, or those at the ends of the link; ascending */
    size_t nmembers;               /* 0: a link whose ends are not known */
    bool same_cause;               /* of all members */
    bool as_one;                   /* several that were judged together: pattern and steps are those of all their rows */
    bool whole_host;               /* they are all ranks of `of`'s host, and there are others */
    const tl_rank *of, *peer; /* of a rank: its trace; of a link: those at its ends; of ranks of one host, where there
                               * are several: one of them.  NULL where not known */
    tl_pattern pattern;
    int32_t first_step, last_step; /* of the pattern */
    size_t nflagged;               /* steps in which it stands out; of a link 0 */
    size_t nbeside;                /* flagged steps that are none of its pattern: in them it costs less, or recordings begin or
                                    * end; of a link 0 */
    int64_t late_count;            /* collectives in which it, or one of its ranks, came last; of a link 0 */
    double p_value;                /* NaN below 5 steps */
    int64_t gain_ns;               /* without it the job takes so much less, simulated; -1: not simulated */
    int64_t lost_ns; /* wall_ns of table blame_step over its flagged steps, of none more than it is long; of a
                      * link: its surplus */
    int64_t in_steps_ns;           /* gain_ns of table blame_step over the flagged steps, of a rank by itself; 0: not known */
    int64_t untimed, events;       /* of the members' events: those without a duration that can be, and all */
    int64_t step_cost_ns, step_ns; /* gain_ns within the flagged steps, for each, and their length in the mean; where not
                                    * simulated the median of lost_ns, and the length of that step.  0 of a link */
    int64_t blame_ns;              /* rank-seconds that others waited */
    int64_t indirect_ns;           /* of them: others waited for those that waited for it */
    int64_t parts[TL_NPARTS + 1];  /* the same by part of the rank's time; TL_NPARTS: by none */
    double path_share;             /* its part of the critical path, of a link that of its ends; NaN: not known */
    size_t nwaiters;               /* ranks that waited for it itself; of groups above 32 ranks at least so many */
} tl_culprit;

/* What the verdict rests on. */
typedef struct tl_trust {
    size_t nranks;                          /* with device work */
    size_t missing, damaged;                /* ranks without a trace; with one that is cut or damaged */
    int64_t untimed, events;                /* events without a duration that can be, and all that were kept */
    size_t workless;                        /* ranks whose trace has no device work */
    size_t launchless;                      /* ranks whose trace has device work, and the launch of none of it */
    size_t duplicates;                      /* ranks of which there is another trace of the same time */
    int32_t world, other_world;             /* the largest size of the job that a trace tells, and the smallest; -1: none */
    size_t unmarked;                        /* ranks without marks of steps, which meet none of those that have some */
    size_t following;                       /* ranks whose steps are those of the ranks that they meet ... */
    size_t misnumbered;                     /* ... of these, that have marks with other numbers than the rest */
    int64_t stood_in;                       /* of those without, others stand for so many in the replay */
    size_t nsteps;
    int64_t collectives, matched;
    int64_t outside;                        /* matched, in no step, though some rank marks steps */
    int64_t judged;                         /* collectives in which it is sure enough who came last: those that count */
    int64_t clocks, shifted;                /* clocks of the job; ranks whose times were shifted */
    bool untied;                            /* nothing compares the clocks of some hosts with others' */
    int64_t clock_uncertainty_ns;           /* how far two of them may be apart; 0 of a single one */
    int64_t blurred;                        /* collectives whose arrivals are nearer together than that */
    int64_t hidden_wait_ns, known_wait_ns;  /* waiting of which clocks cannot tell for whom it was, and of which they can */
    int64_t ends_ns;                        /* largest distance of the ends of ranks that end together; -1: none do */
    bool simulated;                         /* the replay gives the measured time */
    double model_error;                     /* NaN: nothing was replayed */
} tl_trust;

/* The largest of idle, exposed comm and exposed copies. */
typedef struct tl_loss {
    const char *name;                       /* "idle", "exposed comm", "exposed copy"; NULL: no device work */
    int32_t rank;                           /* -1: all together */
    int64_t ns, wall_ns;
} tl_loss;

/* The critical path across ranks.  Shares are of all of it. */
typedef struct tl_path_facts {
    int64_t ns;                             /* 0: not known, and so is the rest */
    int32_t rank;                           /* with the largest part */
    double rank_share;
    const char *activity;                   /* with the largest part */
    double activity_share;
    double imbalance_share;                 /* there only because ranks differ */
} tl_path_facts;

/* Rows are borrowed from the tables. */
typedef struct tl_answers {
    tl_finding finding;
    tl_culprit *culprits; /* by gain, then by wait, largest first; of equals the lower rank.  Ranks whose
                           * joint repair gains twice as much as any of them alone are one */
    size_t nculprits;
    int32_t *members;                       /* of all of them */
    int64_t *waiters; /* ranks that waited for the first of them, ascending; of some groups not known */
    size_t nwaiters;
    const tl_straggler *most; /* TL_FOUND_NOBODY: the rank that others waited for most; NULL: nobody waited */
    int64_t most_ns;                        /* that each of the others waited for it in steps, in the mean */
    const char *why;                        /* TL_FOUND_NO_VERDICT: the reason, not 0-terminated, of tl_straggler's size;
                                             * NULL: the clocks are it */
    const tl_straggler *left_out;           /* of the ranks that are not named that with the largest left_out_ns; NULL */
    int64_t together_gain_ns;               /* gain if all suspects were repaired; -1: not known */
    int64_t measured_ns;                    /* wall time of the rank with the longest */
    int64_t wall_ns; /* of the traced window: replayed where that is to be trusted, else measured_ns */
    int64_t wait_ns;                        /* rank-seconds that all waited in matched collectives */
    tl_answer rank, phase, waiting, persistence;
    tl_trust trust;
    tl_loss worst, job;                     /* of the rank that loses most, and over all ranks */
    tl_path_facts path;
    int64_t wall_sum_ns, idle_ns, comm_exposed_ns; /* over all ranks */
} tl_answers;

/* The tables that are read, NULL-terminated.  The first `*required` of them have rows in any result. */
const tl_schema *const *tl_answer_tables(size_t *required);

/* *out is set in any case; tl_answers_free ends it.  The tables stay as they are and must outlive it; one that is empty is a
 * question that cannot be answered, no error.  TL_ENOMEM. */
tl_status tl_answers_find(tl_tables *tables, tl_answers *out, tl_error *err);
void tl_answers_free(tl_answers *answers);

/* ns as a share of the wall time; 0 where there is none, or for what is not known (-1). */
double tl_answers_share(const tl_answers *answers, int64_t ns);

#endif
