/* answers.h - the four questions about a job, answered from the tables of its result, as facts without words.
 *
 *     which rank holds the job up?        culprits, worst first
 *     in which phase, and why?            cause and place of each culprit
 *     do others wait for that rank?       which ranks wait, and how long
 *     always, or only for a while?        pattern of each culprit
 *
 * This folder has the answers as facts (this header), as words and sentences (tell.h), and as an exit status
 * (fail_on.h).  May use the model, and format for words.
 *
 * Table culprit holds each culprit, its cost and the confidence; the other tables hold
 * the rest.
 */
#ifndef TLMPI_REPORT_ANSWERS_ANSWERS_H
#define TLMPI_REPORT_ANSWERS_ANSWERS_H

#include "tlmpi/model/coll_tables.h"
#include "tlmpi/model/blame_tables.h"
#include "tlmpi/model/culprit_table.h"
#include "tlmpi/model/facts.h"
#include "tlmpi/model/imbalance.h"
#include "tlmpi/model/path_tables.h"
#include "tlmpi/model/phase_tables.h"
#include "tlmpi/report/format/words.h"

/* What was found, or why nothing could be found. */
typedef enum tl_finding {
    TL_FOUND_NO_WORK,    /* nothing ran on a device */
    TL_FOUND_ONE_RANK,   /* a single rank: no peers to compare with */
    TL_FOUND_SILENCE,    /* several ranks, and no communication in their traces */
    TL_FOUND_UNMATCHED,  /* several ranks communicate, and nothing could be matched across them */
    TL_FOUND_NO_VERDICT, /* a verdict is inconclusive, or clocks cannot tell which rank came last in most collectives */
    TL_FOUND_NONE,       /* no rank stands out */
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
    int32_t rank;     /* -1: all ranks together */
    int64_t ns, wall_ns;
} tl_loss;

/* The critical path across ranks.  Shares are of all of it. */
typedef struct tl_path_facts {
    int64_t unexplained_ns; /* part of the path that no work, transfer or known wait explains */
    int64_t ns;             /* length of the path; 0: not known, nor any other field */
    int32_t rank;           /* the rank with the largest part */
    double rank_share;
    const char *activity; /* the activity with the largest part */
    double activity_share;
    double imbalance_share; /* part of the path that exists only because ranks differ */
} tl_path_facts;

/* A rank that others waited for directly, and the GPU time of all these waits. */
typedef struct tl_awaited {
    int32_t rank;
    int64_t ns;
} tl_awaited;

enum { TL_WAITED_FOR_MOST = 3 };

/* Rows are borrowed from the tables. */
typedef struct tl_answers {
    tl_finding finding;
    const char *selection;          /* borrowed: the selected part of the traces, as "steps 3-5"; NULL: everything */
    const char *notes;              /* borrowed: selected parts without any event, and what stays whole; NULL: none */
    const tl_phase_verdict *phases; /* rows of phase_verdict; NULL: no durations of phases */
    size_t nphases;
    bool phases_alone;          /* there are only durations of phases, no traces: tell.h gives all answers */
    const tl_culprit *culprits; /* rows of table culprit that name a culprit, largest cost first */
    size_t nculprits;
    const tl_culprit *first; /* the first of the culprits; NULL: none */
    const tl_rank *by_order; /* row of the first culprit if its rank number comes from the order of files; else NULL */
    const tl_rank *device, *other_device; /* a rank of the first culprit, and one of the others, if these all have other
                                           * devices by name; else NULL */
    tl_phrase untraced_file; /* likely file name of the first culprit's missing trace; "": not known, or it has one */
    const tl_excess_row *excess; /* where the first culprit's `rank` spends more than its peers, largest excess first */
    bool excess_in_all; /* their times are of the whole recording, as its steps are not marked; else of a flagged
                                 * step in the mean */
    size_t nexcess;
    tl_against against;           /* what the first culprit's `rank` is compared with */
    const tl_slow_link_row *link; /* of the first culprit, if it is a link; an empty row where the file lacks the
                                   * link's row */
    int64_t activities[TL_NACTIVITIES + 1]; /* GPU time that others waited for the first culprit, by the activity
                                             * that made the culprit late */
    const tl_straggler *most; /* TL_FOUND_NONE: the rank whose own work exceeds that of its peers most; NULL: none */
    int64_t most_ns;          /* excess of that rank in all steps, ns */
    const tl_straggler *why;  /* TL_FOUND_NO_VERDICT: the rank whose reason says why; NULL: the clocks are the reason */
    int64_t together_gain_ns; /* gain if all suspects were repaired; -1: not known */
    int64_t links_gain_ns;    /* gain if all slow links were repaired, where no single link gains nearly as much;
                               * else -1 */
    int64_t wall_ns;          /* wall time of the traced window: replayed where the replay is trusted, else
                               * the longest wall time of a rank */
    int64_t wait_ns;          /* GPU time that all ranks waited in matched collectives for late ranks, hidden or not */
    int64_t wait_exposed_ns;  /* upper bound of the part of wait_ns under which nothing else ran */
    int64_t uncharged_ns;     /* exposed waiting beyond wait_ns: in sends and receives, which are charged to no rank */
    int64_t passed_on_ns;     /* part of wait_ns for ranks that were late because they had waited themselves */
    bool waits;               /* wait_exposed_ns reaches the share of all ranks' time at which a culprit is named */
    bool pairs_wait;          /* waits is false, and uncharged_ns reaches that share */
    bool may_wait;            /* waits is false, and would be true if all of all.comm_unknown_ns were waiting */
    tl_awaited waited_for[TL_WAITED_FOR_MOST]; /* the ranks waited for most, directly; largest wait first */
    size_t nwaited_for;                        /* all ranks that some rank waited for; waited_for lists the first of
                                                * these */
    tl_answer rank, phase, waiting, persistence;
    tl_trust trust;
    tl_loss worst, job; /* largest loss of the rank that loses most, and over all ranks */
    tl_path_facts path;
    tl_path_sum bound; /* what the first culprit's `rank` was bound by, else all ranks together (-1), in the steps that
                        * table health leaves in, without steps in all; wall_ns 0: not known */
    tl_imbalance imbalance;
    const tl_table *quality;  /* rows of tl_quality: how collectives were matched */
    const tl_table *health;   /* rows of tl_health: what is wrong with the recording; NULL: nothing is known of it */
    tl_breakdown all;         /* over all ranks, in the steps that are whole; wall_ns 0: no device work */
    tl_comm_doubt comm_doubt; /* why most of all.comm_unknown_ns is waiting or transfer */
} tl_answers;

/* The tables that are read, NULL-terminated.  The first `*required` of them have rows in any result. */
const tl_schema *const *tl_answer_tables(size_t *required);

/* Fills *out from the tables, which stay as they are and must outlive *out.  An empty table leaves its question
 * without an answer. */
void tl_answers_read(tl_tables *tables, tl_answers *out);

/* Returns ns as a share of the wall time; 0 if there is none, or for an unknown time (-1). */
double tl_answers_share(const tl_answers *answers, int64_t ns);

static inline bool tl_is_link(const tl_culprit *culprit)
{
    return culprit->kind == TL_CULPRIT_LINK;
}

/* Returns whether the culprit is a rank without a trace, whose cost is a lower bound. */
static inline bool tl_is_untraced(const tl_culprit *culprit)
{
    return culprit->kind == TL_CULPRIT_UNTRACED;
}

/* Returns whether the culprit's cost per step is a lower bound: its rank has no trace, or a trace that lost work. */
bool tl_is_least(const tl_answers *answers, const tl_culprit *culprit);

/* Returns whether the culprit's gain is a lower bound: its cost is, or others wait for it outside of steps, too. */
bool tl_gain_is_least(const tl_answers *answers, const tl_culprit *culprit);

/* Returns whether the culprit is several ranks together. */
static inline bool tl_is_several(const tl_culprit *culprit)
{
    return culprit->kind == TL_CULPRIT_HOST || culprit->kind == TL_CULPRIT_SEVERAL;
}

/* Returns the file name that the trace of a rank would have, by the pattern of the other ranks' files; "" if there is
 * no pattern. */
tl_phrase tl_file_of_family(const tl_table *ranks, int32_t rank);

/* Returns the distinct texts in a column of table rank, of hosts the shown part of their names.  The caller frees
 * them. */
tl_names tl_distinct_texts(const tl_table *ranks, const char *column);

/* Reads the ranks named in a cell, at most TL_RANKS_LISTED: the cell may be cut. */
enum { TL_RANKS_LISTED = 16384 };
size_t tl_ranks_listed(const char *cell, size_t size, int32_t ranks[TL_RANKS_LISTED]);

#endif
