/* peers.h - once ranks are matched: what was waiting for other ranks, and for which.
 *
 *     rank 0    [ wait        | transfer ]      an answer: rank 0 waited for rank 1, from the start of its kernel
 *     rank 1                  [ transfer ]      to |; rank 1 for nobody
 *
 * Candidates are what ranks know by themselves: rows of gap_peer, and communication that nothing hides (comm_only.h).
 * An answer cuts them to what was waiting; in sums they are part of idle and idle_summary.
 */
#ifndef TLMPI_ANALYSIS_PEERS_H
#define TLMPI_ANALYSIS_PEERS_H

#include "tlmpi/analysis/collectives.h"
#include "tlmpi/analysis/comm_only.h"
#include "tlmpi/model/idle_tables.h"
#include "tlmpi/model/table.h"

/* How long a rank waited in a kernel or operator of its own. */
typedef struct tl_peer_answer {
    int64_t wait_ns;    /* from its start */
    int64_t collective; /* number; -1: of hosts */
    int32_t rank, late_rank;
    uint32_t uid;
    uint32_t padding;
} tl_peer_answer;

typedef TL_VEC(tl_peer_answer) tl_peer_answers;

/* By rank and uid, as the calls below want them. */
void tl_peer_answers_sort(tl_peer_answer *answers, size_t n);

/* -------------------------------------------------------------------------------------------- collectives of hosts */

/* One rank in one of them. */
typedef struct tl_host_meeting {
    uint64_t key;             /* of the name, the step, and how many-eth of that name it is there */
    int64_t start_ns, end_ns; /* on the job's clock */
    int32_t rank;
    uint32_t uid;
} tl_host_meeting;

typedef TL_VEC(tl_host_meeting) tl_host_meetings;

/* Takes the rows of collectives of hosts (idle_id -1) out of gap_peer.  All of a rank are there.  False when memory is
 * out. */
bool tl_host_meetings_take(tl_table *rows, const tl_job_facts *facts, tl_host_meetings *out);

/* Appends the answers of meetings that are all of some keys.  Ranks have met where none left before the last had come;
 * where one did they are not matched, and there is no answer.  False when memory is out. */
bool tl_host_meetings_match(tl_host_meeting *v, size_t n, const tl_job_facts *facts, tl_peer_answers *out);

/* --------------------------------------------------------------------------------------------------------- cutting */

/* Leaves of the rows of gap_peer what was waiting.  What nobody answers for is dropped, unless its evidence is of
 * hosts. Rows are then in order of their keys.  False when memory is out. */
bool tl_peers_cut(tl_table *rows, const tl_peer_answer *answers, size_t n);

/* What goes into one row of idle, or of idle_summary. */
typedef struct tl_peer_sum {
    int64_t peer_ns, waiting_ns;
    int32_t rank, device;
    int32_t late_rank;
    uint8_t drain_type, cpu_during_gap;
    uint8_t of_class; /* 1: of idle_summary */
    uint8_t padding;
    char dominant_op[sizeof((tl_gap_peer *)0)->dominant_op];
} tl_peer_sum;

typedef TL_VEC(tl_peer_sum) tl_peer_sums;

/* Appends the sums of rows that are cut, and of exposures, both all of some ranks.  False when memory is out. */
bool tl_peers_sum(const tl_table *rows, const tl_exposure *exposures, size_t nexposures, const tl_peer_answer *answers,
                  size_t nanswers, tl_peer_sums *out);

/* Enters them into the rows of the ranks, which are in order of their keys. */
void tl_peers_enter(const tl_peer_sum *sums, size_t n, tl_table *idle, tl_table *summary);

#endif
