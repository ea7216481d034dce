/* answers.h - the four questions about a job, answered from the tables of its result: facts, and no words.
 *
 *     which rank holds the job up?        culprits, worst first
 *     in which phase, and why?            their cause and place
 *     do others wait for it?              who, and how long
 *     always, or only for a while?        their pattern
 *
 * The room has them as facts (this header), as words and sentences (words.h, say.h), and as an exit status (fail_on.h).
 * It may use the model, and of format what words need.
 *
 * Nothing is decided here: who it is, at what cost and how sure that is stands in table culprit, a row a culprit, and
 * what surrounds it in the other tables.
 */
#ifndef TLMPI_REPORT_ANSWERS_ANSWERS_H
#define TLMPI_REPORT_ANSWERS_ANSWERS_H

#include "tlmpi/model/coll_tables.h"
#include "tlmpi/model/blame_tables.h"
#include "tlmpi/model/culprit_table.h"
#include "tlmpi/model/facts.h"
#include "tlmpi/model/imbalance.h"
#include "tlmpi/model/phase_tables.h"

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

/* "no_device_work", "one_rank", "no_communication", "unmatched", "inconclusive", "none", "slow_link", "straggler",
 * NULL */
extern const char *const tl_finding_labels[];

typedef struct tl_answer {
    tl_confidence confidence;
    unsigned doubts;
} tl_answer;

/* The largest of idle, exposed comm and exposed copies. */
typedef struct tl_loss {
    const char *name; /* "idle", "exposed communication", "exposed copies"; NULL: no device work */
    int32_t rank;     /* -1: all together */
    int64_t ns, wall_ns;
} tl_loss;

/* The critical path across ranks.  Shares are of all of it. */
typedef struct tl_path_facts {
    int64_t unexplained_ns; /* what of it no work, transfer or known wait explains */
    int64_t ns;             /* 0: not known, and so is the rest */
    int32_t rank;           /* with the largest part */
    double rank_share;
    const char *activity; /* with the largest part */
    double activity_share;
    double imbalance_share; /* there only because ranks differ */
} tl_path_facts;

/* A rank that others waited for itself, and their GPU time together. */
typedef struct tl_awaited {
    int32_t rank;
    int64_t ns;
} tl_awaited;

enum { TL_WAITED_FOR_MOST = 3, TL_FAMILY_BYTES = 129 };

/* Rows are borrowed from the tables. */
typedef struct tl_answers {
    tl_finding finding;
    const char *selection; /* borrowed: of which part of the traces this is, as "steps 3-5"; NULL: of all */
    const char *notes;     /* borrowed: which parts that were asked for nothing is of, and what is whole; NULL: none */
    const tl_phase_verdict *phases; /* rows of phase_verdict; NULL: there are no durations of phases */
    size_t nphases;
    bool phases_alone; /* there is no trace, and phases.h has all answers; else it has some of steps beside theirs */
    const tl_culprit *culprits; /* those of table culprit that name somebody, largest cost first */
    size_t nculprits;
    const tl_rank *by_order; /* of the first of them, a rank whose number is its file's place in order; else NULL */
    char untraced_file[TL_FAMILY_BYTES]; /* of the first, one without a trace: how that would be called; "": not known */
    const tl_excess_row *excess; /* where `rank` of the first of them spends more than its peers, the most first */
    size_t nexcess;
    const tl_slow_link_row *link; /* of the first of them, where it is one; of a file without its row an empty one */
    int64_t activities[TL_NACTIVITIES + 1]; /* GPU time that others waited for the first, by what made it late */
    const tl_straggler *most; /* TL_FOUND_NOBODY: the rank whose own work exceeds that of its peers most; NULL: none */
    int64_t most_ns;          /* by how much, in all steps */
    const tl_straggler *why;  /* TL_FOUND_NO_VERDICT: whose reason says why; NULL: the clocks are it */
    int64_t together_gain_ns; /* gain if all suspects were repaired; -1: not known */
    int64_t links_gain_ns;    /* gain if all slow links were, where none of them alone gains nearly as much; else -1 */
    int64_t measured_ns;      /* wall time of the rank with the longest */
    int64_t wall_ns;          /* of the traced window: replayed where that is to be trusted, else measured_ns */
    int64_t wait_ns;          /* GPU time that all waited in matched collectives for late ranks, hidden or not ... */
    int64_t wait_exposed_ns;  /* ... and at most so much of it while nothing else ran */
    int64_t passed_on_ns;     /* of wait_ns: for ranks that were late because they had waited themselves */
    bool waits;               /* what is exposed is so much of all ranks' time that a culprit of that cost is named */
    bool may_wait;            /* they are not, and would be were all of comm_unknown_ns waiting */
    tl_awaited waited_for[TL_WAITED_FOR_MOST]; /* whom they waited for itself most, the largest first */
    size_t nwaited_for;                        /* ranks that anybody waited for, of which those are the first */
    tl_answer rank, phase, waiting, persistence;
    tl_trust trust;
    tl_loss worst, job; /* of the rank that loses most, and over all ranks */
    tl_path_facts path;
    tl_imbalance imbalance;
    const tl_table *quality;                       /* rows of tl_quality: how collectives were matched */
    const tl_table *health; /* rows of tl_health: what is wrong with the recording; NULL: nothing is known of it */
    int64_t wall_sum_ns, idle_ns, comm_exposed_ns; /* over all ranks; the last is the sum of: */
    int64_t comm_waiting_ns, comm_transfer_ns, comm_unknown_ns;
    tl_comm_doubt comm_doubt; /* why most of comm_unknown_ns is waiting or transfer */
} tl_answers;

/* The tables that are read, NULL-terminated.  The first `*required` of them have rows in any result. */
const tl_schema *const *tl_answer_tables(size_t *required);

/* The tables stay as they are and must outlive *out; one that is empty is a question that cannot be answered. */
void tl_answers_read(tl_tables *tables, tl_answers *out);

/* ns as a share of the wall time; 0 where there is none, or for what is not known (-1). */
double tl_answers_share(const tl_answers *answers, int64_t ns);

static inline bool tl_is_link(const tl_culprit *culprit)
{
    return culprit->kind == TL_CULPRIT_LINK;
}

/* A rank that has no trace: what is told of it is the least. */
static inline bool tl_is_untraced(const tl_culprit *culprit)
{
    return culprit->kind == TL_CULPRIT_UNTRACED;
}

/* What the culprit costs is the least: a rank that has no trace, or has lost work in it. */
bool tl_is_least(const tl_answers *answers, const tl_culprit *culprit);

/* Several ranks together. */
static inline bool tl_is_several(const tl_culprit *culprit)
{
    return culprit->kind == TL_CULPRIT_HOST || culprit->kind == TL_CULPRIT_SEVERAL;
}

/* How the trace of a rank would be called, as those of the others are; "" where their names do not tell. */
void tl_file_of_family(const tl_table *ranks, int32_t rank, char out[TL_FAMILY_BYTES]);

/* Ranks of a cell that may be cut: those that it names, at most TL_RANKS_LISTED. */
enum { TL_RANKS_LISTED = 16384 };
size_t tl_ranks_listed(const char *cell, size_t size, int32_t ranks[TL_RANKS_LISTED]);

#endif
