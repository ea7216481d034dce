/* wait.h - in a matched collective, which rank waited for which, how long, and in which activities did the last rank
 * exceed the others?
 *
 * Reads collectives on the job's clock.  Fills arrival, and the waits in gap_peer, idle and idle_summary.
 * May use time, match and clock.
 */
#ifndef TLMPI_ANALYSIS_COLLECTIVE_WAIT_H
#define TLMPI_ANALYSIS_COLLECTIVE_WAIT_H

#include "tlmpi/analysis/analysis.h"
#include "tlmpi/analysis/collective/match.h"
#include "tlmpi/analysis/rank/time.h"
#include "tlmpi/base/mem.h"
#include "tlmpi/model/activity.h"
#include "tlmpi/model/idle_tables.h"
#include "tlmpi/model/table.h"
#include "tlmpi/model/view.h"
#include <stdbool.h>
#include <stddef.h>

/* ------------------------------------------------------------------------------------------------------- wait state */

/* How long each rank of a collective waited, and for which rank.
 *
 *     all-reduce   rank 0   [wwwwwwwwwwww|===]        all ranks wait for the last arrival
 *                  rank 1        [wwwwwww|===]
 *                  rank 2                [===]
 *
 *     all-to-all   rank 0   [wwww|==]                 0 receives nothing from 2 and leaves before: it waited for 1
 *                  rank 1        [wwwwwww|===]
 *                  rank 2                [===]
 *
 * No rank waits past its kernel's end: if clocks disagree, the last arrival can seem to be later than that end.
 */

/* Returns which kind of late rank the waits of a collective are charged to, or why no wait can be charged. */
tl_wait_state tl_wait_state_of(const tl_collective_view *c);

/* Returns the end of the wait of a rank whose kernel ends at end_ns: the latest of the n > 0 ascending starts that is
 * no later than end_ns plus the clock error, cut at end_ns; end_ns if all starts are later.  starts: of all ranks if a
 * rank may leave before all have arrived, else the last start alone. */
int64_t tl_wait_end(const int64_t *starts, size_t n, int64_t end_ns);

/* Fills waits_ns[i] with the wait of by_rank[i], ns. */
void tl_wait_each(const tl_collective_view *c, int64_t *waits_ns);

/* Returns why the kernels of the collective cannot be split into waiting and transfer; TL_COMM_DOUBT_NONE: they can, to
 * within clock errors. */
tl_comm_doubt tl_comm_doubt_of(const tl_collective_view *c);

/* Whether the uncertainty u of the clocks hides which rank arrived last: the first and the last arrival are less than 2
 * u apart, and waits may matter: wait_ns, the sum of waits of the n ranks, would be 20 % of kernel_ns, the sum of their
 * kernels, or more, if each wait were longer by 2 u. */
bool tl_clocks_hide(const tl_collective_view *c, int64_t first_ns, int64_t last_ns, int64_t wait_ns, int64_t kernel_ns);

/* ---------------------------------------------------------------------------------------------------------- excess */

/* The excess of one of n ranks: how much longer it did something than the median of the other n - 1, ns, by activity;
 * 0 if not longer.
 *
 * The n values are sorted once: without any one of them, the median is one of the three in their middle, or the mean of
 * two of these three.
 */

/* The whole of an arrival's excess, in the unit of shares; shares sum up to TL_SHARE_ONE at most, and the remainder is
 * unknown. */
enum { TL_SHARE_ONE = 10000 };

/* The three middle values of n sorted ones, at positions m - 1, m and m + 1 with m = tl_lower_middle(n); 0 where there
 * is none. */
typedef struct tl_middle {
    size_t n;
    int64_t ns[3];
} tl_middle;

typedef struct tl_middles {
    size_t n;
    int64_t ns[TL_NACTIVITIES][3];
} tl_middles;

/* tl_middle_find fills the middle of n values that are `stride` bytes apart; scratch has room for n.  tl_excess_over
 * returns the excess of `own`, one of the n. */
void tl_middle_find(tl_middle *middle, const int64_t *values, size_t n, size_t stride, int64_t *scratch);
int64_t tl_excess_over(const tl_middle *middle, int64_t own);

/* Fills the middles of each activity of n tl_activity_ns that are `stride` bytes apart. */
void tl_middles_find(tl_middles *middles, const tl_activity_ns *activities, size_t n, size_t stride, int64_t *scratch);

/* Returns the sum over activities of the excesses of `own`, one of the n; fills the share of each activity in that
 * sum. */
int64_t tl_excess_by_activity(const tl_middles *middles, const tl_activity_ns *own, uint16_t share[TL_NACTIVITIES]);

/* -------------------------------------------------------------------------------------------------------- late rows */

/* Rows that the proc that owns a collective sends to proc 0: when each rank arrived, and in which activities it had an
 * excess. */

/* One rank in one collective. */
typedef struct tl_late_row {
    int64_t collective;
    int64_t start_ns, end_ns; /* on the job's clock */
    int32_t rank, step;
    int32_t own_step;               /* by the rank's own step marks; `step` is the collective's */
    uint32_t uid, previous;         /* uid of the rank's kernel in this collective, and in its previous one with the
                                     * same ranks */
    int64_t bytes;                  /* size of the message, -1 when unknown */
    int64_t unsure_ns;              /* remaining clock error between its start and the other starts */
    uint16_t share[TL_NACTIVITIES]; /* share of each activity in the excess */
    uint16_t after_last;            /* share of the excess that arose after the last collective of the step before
                                     * own_step */
    uint8_t kind;                   /* tl_collective, of the collective */
    uint8_t own_kind;               /* tl_collective of the rank's own part: send or receive */
    uint8_t fits;                   /* 1: the collective has two ranks or more, and nothing suspect */
    uint8_t counted;                /* 1: fits, and the clocks tell which rank arrived last */
    uint8_t pair;                   /* 1: a send and its receive */
    uint8_t doubt;                  /* tl_comm_doubt */
    int32_t group;
    int32_t peer; /* peer rank in a point-to-point transfer, traced or not; below 0: none, or unknown */
} tl_late_row;

typedef TL_VEC(tl_late_row) tl_late_rows;

/* Appends the rows of one collective. */
void tl_late_rows_add(tl_late_rows *rows, const tl_collective_view *collective);

/* Returns the end index of the rows of the collective of rows[first], among n rows grouped by collective. */
size_t tl_late_rows_end(const tl_late_row *rows, size_t n, size_t first);

/* ------------------------------------------------------------------------------------------------------------ peers */

/* Once ranks are matched: which candidates were waiting for other ranks, and for which.
 *
 *     rank 0    [ wait        | transfer ]      answer for rank 0: waited for rank 1, from the start of its kernel to |
 *     rank 1                  [ transfer ]      answer for rank 1: waited for no rank
 *
 * Candidates come from each rank alone: rows of gap_peer, and exposed communication (time.h).  An answer cuts a
 * candidate to the time that was waiting; the sums of cut candidates go into idle and idle_summary.
 */

/* How long a rank waited in one of its kernels or operators.
 *
 *     [ wait_ns | open_ns |          ]      waiting, waiting or transfer, transfer
 */
typedef struct tl_peer_answer {
    int64_t wait_ns;    /* length, from the kernel's start */
    int64_t open_ns;    /* length, after wait_ns, of waiting or transfer that cannot be told apart; INT64_MAX: up to the
                         * end */
    int64_t collective; /* number of the collective; -1: of hosts */
    int32_t rank, late_rank;
    uint32_t uid;
    int32_t group;  /* of the collective; -1: of hosts */
    uint8_t kind;   /* tl_collective of the rank's own part */
    uint8_t waited; /* 0: no wait, or unknown; wait_ns is 0 */
    uint8_t doubt;  /* tl_comm_doubt: why open_ns is not 0 */
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
    uint64_t key;             /* hash of name, step, and index among the calls of that name in the step */
    int64_t start_ns, end_ns; /* on the job's clock */
    int32_t rank;
    uint32_t uid;
} tl_host_meeting;

typedef TL_VEC(tl_host_meeting) tl_host_meetings;

/* Moves the rows of host collectives (idle_id -1) from gap_peer to *out.  rows: complete for each of its ranks. */
void tl_host_meetings_take(tl_table *rows, const tl_job_facts *facts, tl_host_meetings *out);

/* Appends the answers of v[0, n), complete for each of its keys.  Ranks have met if no rank left before the last
 * arrival; otherwise there is no answer. */
void tl_host_meetings_match(tl_host_meeting *v, size_t n, const tl_job_facts *facts, tl_peer_answers *out);

/* --------------------------------------------------------------------------------------------------------- cutting */

/* Cuts the rows of gap_peer to the time that was waiting.  A row without an answer is dropped, unless its evidence is
 * of hosts.  Sorts the rows by their keys. */
void tl_peers_cut(tl_table *rows, const tl_peer_answer *answers, size_t n);

/* The time to add to one row of idle_summary. */
typedef struct tl_peer_sum {
    int64_t peer_ns;
    int32_t rank, device;
    uint8_t drain_type, cpu_during_gap;
    uint8_t of_class; /* 1: a class; 0: all gaps of the device */
    uint8_t padding[5];
    char dominant_op[sizeof((tl_gap_peer *)0)->dominant_op];
} tl_peer_sum;

typedef TL_VEC(tl_peer_sum) tl_peer_sums;

/* Appends the sums of cut rows; rows: complete for each of its ranks. */
void tl_peers_sum(const tl_table *rows, tl_peer_sums *out);

/* Exposed communication by rank, device, step, group and kind: waiting_ns is waiting, unknown_ns waiting or
 * transfer. */
typedef struct tl_exposed_part {
    int64_t exposed_ns, waiting_ns, unknown_ns;
    int32_t rank, device, step, group;
    uint8_t kind;  /* tl_collective */
    uint8_t doubt; /* tl_comm_doubt: why unknown_ns is not 0 */
    uint8_t padding[6];
} tl_exposed_part;

typedef TL_VEC(tl_exposed_part) tl_exposed_parts;

/* Appends the parts of exposures, complete for each of its ranks.  Time without an answer is unknown. */
void tl_exposed_sum(const tl_exposure *exposures, size_t nexposures, const tl_peer_answer *answers, size_t nanswers,
                    tl_exposed_parts *out);

/* Adds rows to table exposed, for each rank by step, group and kind; splits comm_exposed_ns in the rows of breakdown,
 * for ranks and devices, into waiting, transfer and unknown. */
void tl_exposed_enter(const tl_exposed_part *parts, size_t n, tl_table *exposed, tl_table *breakdown);

/* Returns the answer for a kernel or operator; NULL: none.  answers: in the order of tl_peer_answers_sort. */
const tl_peer_answer *tl_peer_answer_of(const tl_peer_answer *answers, size_t n, int32_t rank, uint32_t uid);

/* Adds the sums to the rows of idle_summary, which are in key order. */
void tl_peers_enter(const tl_peer_sum *sums, size_t n, tl_table *summary);

extern const tl_analysis tl_arrival_analysis, tl_exposed_analysis;

#endif
