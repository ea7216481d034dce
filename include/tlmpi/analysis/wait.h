/* wait.h - in a matched collective, which rank waited for which, how long, and in what did the last rank exceed the
 * others?
 *
 * From collectives on the job's clock.  Fills arrival, and the parts of gap_peer, idle and idle_summary that are waits.
 * May use time, match and clock.
 */
#ifndef TLMPI_ANALYSIS_WAIT_H
#define TLMPI_ANALYSIS_WAIT_H

#include "tlmpi/analysis/analysis.h"
#include "tlmpi/analysis/match.h"
#include "tlmpi/analysis/time.h"
#include "tlmpi/base/mem.h"
#include "tlmpi/model/idle_tables.h"
#include "tlmpi/model/activity.h"
#include "tlmpi/model/table.h"
#include "tlmpi/model/view.h"
#include <stdbool.h>
#include <stddef.h>

/* ------------------------------------------------------------------------------------------------------- wait state */

/* How long each rank of a collective waited, and for which rank.
 *
 *     all-reduce   rank 0   [wwwwwwwwwwww|===]        all wait for the last to come
 *                  rank 1        [wwwwwww|===]
 *                  rank 2                [===]
 *
 *     all-to-all   rank 0   [wwww|==]                 0 gets nothing of 2 and leaves before it comes: it waited for 1
 *                  rank 1        [wwwwwww|===]
 *                  rank 2                [===]
 *
 * No rank waits past its kernel's end: where clocks disagree, the last arrival can seem to come after that end.
 */

/* Returns which kind of rank the waits of a collective are for, or why no wait can be charged. */
tl_wait_state tl_wait_state_of(const tl_collective_view *c);

/* Returns until when the rank waits whose kernel ends at end_ns: the last of n > 0 starts, ascending, that is at most
 * the clock error after end_ns, but no later than end_ns; end_ns if all starts are later.  starts: of all ranks if a
 * rank may leave before all have come, else the last start alone. */
int64_t tl_wait_end(const int64_t *starts, size_t n, int64_t end_ns);

/* Fills waits_ns[i] with the time from the start of by_rank[i] to the end of its wait. */
void tl_wait_each(const tl_collective_view *c, int64_t *waits_ns);

/* Returns why the kernels of the collective cannot be split into waiting and transfer; TL_COMM_DOUBT_NONE: all its
 * ranks are there and fit together, so that only clock errors remain. */
tl_comm_doubt tl_comm_doubt_of(const tl_collective_view *c);

/* Whether the uncertainty u of the clocks hides who came last: the first and the last arrival are less than 2 u apart,
 * and waits may matter, that is, wait_ns, the sum of the waits of its n ranks, would be 20 % of kernel_ns, the sum of
 * their kernels, or more, had each waited 2 u longer. */
bool tl_clocks_hide(const tl_collective_view *c, int64_t first_ns, int64_t last_ns, int64_t wait_ns, int64_t kernel_ns);

/* ---------------------------------------------------------------------------------------------------------- excess */

/* The excess of one of n ranks: how much longer, in ns, it did something than the median of the other n - 1, activity
 * by activity; 0 where it did not.
 *
 * The n values are sorted once: without any one of them, the median is one of the three in their middle, or the mean of
 * two of these three.
 */

/* The unit of shares of an arrival's excess: they sum up to TL_SHARE_ONE at most, and what is missing is unknown. */
enum { TL_SHARE_ONE = 10000 };

/* The middle of n sorted values: those at the places m - 1, m and m + 1, m = tl_lower_middle(n); 0 where there is
 * none. */
typedef struct tl_middle {
    size_t n;
    int64_t ns[3];
} tl_middle;

typedef struct tl_middles {
    size_t n;
    int64_t ns[TL_NACTIVITIES][3];
} tl_middles;

/* The middle of n values that are `stride` bytes apart; scratch has room for n.  And the excess of `own`, one of the
 * n. */
void tl_middle_find(tl_middle *middle, const int64_t *values, size_t n, size_t stride, int64_t *scratch);
int64_t tl_excess_over(const tl_middle *middle, int64_t own);

/* The same for each activity of n tl_activity_ns. */
void tl_middles_find(tl_middles *middles, const tl_activity_ns *activities, size_t n, size_t stride, int64_t *scratch);

/* Returns the sum of the excesses of `own`, one of the n, over all activities, and the share that each activity has in
 * it. */
int64_t tl_excess_by_activity(const tl_middles *middles, const tl_activity_ns *own, uint16_t share[TL_NACTIVITIES]);

/* -------------------------------------------------------------------------------------------------------- late rows */

/* What the proc that owns a collective sends to proc 0: when each rank arrived, and in which activities it had an
 * excess. */

/* One rank in one collective. */
typedef struct tl_late_row {
    int64_t collective;
    int64_t start_ns, end_ns; /* on the job's clock */
    int32_t rank, step;
    int32_t own_step;               /* by the rank's own marks; `step` is that of the collective */
    uint32_t uid, previous;         /* of its kernel in this collective; of its kernel in its previous collective with
                                     * the same ranks */
    int64_t bytes;                  /* size of the message, -1 when unknown */
    int64_t unsure_ns;              /* error that corrected clocks leave in the distance of its start from the
                                     * others' */
    uint16_t share[TL_NACTIVITIES]; /* of the excess, by activity */
    uint16_t after_last;            /* share of the excess from after the last collective of the step before own_step */
    uint8_t kind;                   /* tl_collective, of the collective */
    uint8_t own_kind;               /* tl_collective, of what the rank does in it: send or receive */
    uint8_t fits;                   /* 1: two ranks or more, and nothing suspect */
    uint8_t counted;                /* 1: it fits, and the clocks tell which rank came last */
    uint8_t pair;                   /* 1: a send and its receive */
    uint8_t doubt;                  /* tl_comm_doubt */
    int32_t group;
    int32_t peer; /* the rank at the other end of a transfer between two ranks, traced or not; below 0: none, or
                   * unknown */
} tl_late_row;

typedef TL_VEC(tl_late_row) tl_late_rows;

/* Appends the rows of one collective. */
void tl_late_rows_add(tl_late_rows *rows, const tl_collective_view *collective);

/* Where the rows of the collective of rows[first] end, among n in which those of one collective lie together. */
size_t tl_late_rows_end(const tl_late_row *rows, size_t n, size_t first);

/* ------------------------------------------------------------------------------------------------------------ peers */

/* Once ranks are matched: which candidates were waiting for other ranks, and for which.
 *
 *     rank 0    [ wait        | transfer ]      an answer: rank 0 waited for rank 1, from the start of its kernel
 *     rank 1                  [ transfer ]      to |; rank 1 waited for no rank
 *
 * Candidates come from each rank alone: rows of gap_peer, and exposed communication (time.h).  An answer cuts a
 * candidate to the time that was waiting; the sums of cut candidates go into idle and idle_summary.
 */

/* How long a rank waited in a kernel or operator of its own.
 *
 *     [ wait_ns | open_ns |          ]      waiting, waiting or transfer, transfer
 */
typedef struct tl_peer_answer {
    int64_t wait_ns;    /* from its start */
    int64_t open_ns;    /* length, after wait_ns, of what is waiting or transfer; INT64_MAX: up to the end */
    int64_t collective; /* number; -1: a collective of hosts */
    int32_t rank, late_rank;
    uint32_t uid;
    int32_t group;  /* of the collective; -1: of hosts */
    uint8_t kind;   /* tl_collective: what the rank does in it */
    uint8_t waited; /* 0: it did not wait, or that is unknown; wait_ns is 0 */
    uint8_t doubt;  /* tl_comm_doubt: why part of it is open */
    uint8_t padding[5];
} tl_peer_answer;

typedef TL_VEC(tl_peer_answer) tl_peer_answers;

/* Appends an answer for each row; waits are answered only in collectives whose waits are charged (counted).  Rows of
 * one collective lie together, in rank order. */
void tl_late_rows_answer(const tl_late_rows *late, tl_peer_answers *out);

/* Sorts by rank and uid, the order that the calls below need. */
void tl_peer_answers_sort(tl_peer_answer *answers, size_t n);

/* -------------------------------------------------------------------------------------------- collectives of hosts */

/* One rank in one collective of hosts. */
typedef struct tl_host_meeting {
    uint64_t key;             /* of the name, the step, and its ordinal among the calls of that name in the step */
    int64_t start_ns, end_ns; /* on the job's clock */
    int32_t rank;
    uint32_t uid;
} tl_host_meeting;

typedef TL_VEC(tl_host_meeting) tl_host_meetings;

/* Moves the rows of host collectives (idle_id -1) from gap_peer to *out.  `rows` has all rows of each of its ranks. */
void tl_host_meetings_take(tl_table *rows, const tl_job_facts *facts, tl_host_meetings *out);

/* Appends the answers of v[0, n), which has all meetings of each of its keys.  Ranks have met if none left before the
 * last had come; else they are not matched, and there is no answer. */
void tl_host_meetings_match(tl_host_meeting *v, size_t n, const tl_job_facts *facts, tl_peer_answers *out);

/* --------------------------------------------------------------------------------------------------------- cutting */

/* Cuts the rows of gap_peer to the time that was waiting.  A row without an answer is dropped, unless its evidence is
 * of hosts.  Sorts the rows by their keys. */
void tl_peers_cut(tl_table *rows, const tl_peer_answer *answers, size_t n);

/* The sum for one row of idle, or of idle_summary. */
typedef struct tl_peer_sum {
    int64_t peer_ns;
    int32_t rank, device;
    int32_t late_rank;
    uint8_t drain_type, cpu_during_gap;
    uint8_t of_class; /* 1: of idle_summary */
    uint8_t padding;
    char dominant_op[sizeof((tl_gap_peer *)0)->dominant_op];
} tl_peer_sum;

typedef TL_VEC(tl_peer_sum) tl_peer_sums;

/* Appends the sums of cut rows; `rows` has all rows of each of its ranks. */
void tl_peers_sum(const tl_table *rows, tl_peer_sums *out);

/* Exposed communication by rank, device, step, group and kind: waiting_ns is waiting, unknown_ns waiting or
 * transfer. */
typedef struct tl_exposed_part {
    int64_t exposed_ns, waiting_ns, unknown_ns;
    int32_t rank, device, step, group;
    uint8_t kind;  /* tl_collective */
    uint8_t doubt; /* tl_comm_doubt: why some of it is unknown */
    uint8_t padding[6];
} tl_exposed_part;

typedef TL_VEC(tl_exposed_part) tl_exposed_parts;

/* Appends the parts of exposures, which has all of each of its ranks.  Time without an answer is unknown. */
void tl_exposed_sum(const tl_exposure *exposures, size_t nexposures, const tl_peer_answer *answers, size_t nanswers,
                    tl_exposed_parts *out);

/* Adds rows to table exposed, for each rank by step, group and kind; and splits comm_exposed_ns in the rows of
 * breakdown, of ranks and devices, into waiting, transfer and unknown. */
void tl_exposed_enter(const tl_exposed_part *parts, size_t n, tl_table *exposed, tl_table *breakdown);

/* Returns the answer for a kernel or operator, whether it waited or not; NULL: there is none.  answers: in the order of
 * tl_peer_answers_sort. */
const tl_peer_answer *tl_peer_answer_of(const tl_peer_answer *answers, size_t n, int32_t rank, uint32_t uid);

/* Enters the sums into the ranks' rows of idle and idle_summary, which are in order of their keys. */
void tl_peers_enter(const tl_peer_sum *sums, size_t n, tl_table *idle, tl_table *summary);

extern const tl_analysis tl_arrival_analysis, tl_exposed_analysis;

#endif
