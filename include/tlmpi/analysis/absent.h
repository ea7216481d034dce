/* absent.h - who stands for ranks that have no trace.
 *
 *     ranks   0  1  2  3     tensor parallel      1, 4 and 6 have no trace.  1 waits for 2, and then 5 waits for 1:
 *             4  5  6  7     tensor parallel      as far as 5 knows, for nothing that anybody did.
 *             data parallel: columns
 *
 * Who belongs to which group is known of all ranks.  A rank that others meet in two groups or more, or send to and
 * receive from, carries delays from one to the other.  It does what ranks of its role do that have groups like its own:
 * the program of one of them stands for it, its comms in the collectives of the absent rank's groups, the k-th of a step
 * in place of the k-th.  In steps in which recordings begin or end some of them may be missing, and which is the k-th is a
 * guess.
 *
 * May use graph.
 */
#ifndef TLMPI_ANALYSIS_ABSENT_H
#define TLMPI_ANALYSIS_ABSENT_H

#include "tlmpi/analysis/program/graph.h"
#include "tlmpi/model/table.h"

/* One collective, as those that have a trace saw it; times on the job's clock. */
typedef struct tl_meeting {
    uint32_t first, n;    /* members[first .. first + n) */
    int32_t group;        /* index; of a pair: -1, and */
    int32_t from, to;     /* the numbers of the two ranks */
    int32_t step;
    int64_t last_start_ns, end_ns;
    int64_t bytes;        /* -1 when unknown */
    uint8_t kind;         /* tl_collective */
} tl_meeting;

/* The numbers of a group's ranks; n is 0 when they are not known. */
typedef struct tl_group_ranks {
    const int32_t *ranks;
    size_t n;
} tl_group_ranks;

/* Borrowed.  Ranks are indices of those that have a trace, but where they are numbers. */
typedef struct tl_absent_input {
    const tl_meeting *meetings; /* in order of time */
    size_t nmeetings;
    const tl_whatif_member *members;
    const tl_group_ranks *groups;
    size_t ngroups;
    const int32_t *ranks, *roles; /* [nranks]: numbers, ascending; what ranks of one number do is the same */
    const int64_t *offset_ns;     /* [nranks]: added to a rank's times to have them on the clock of the job */
    const tl_program *programs;
    size_t nranks;
    const int32_t *named, *named_roles; /* [nnamed]: numbers of ranks, ascending, with and without a trace, whose roles
                                         * are known */
    size_t nnamed;
    bool whole_steps; /* stand in where a step has as many of a way as one in the middle, and nowhere else */
} tl_absent_input;

/* An absent rank in one meeting. */
typedef struct tl_absent_seat {
    uint32_t meeting, absent, comm; /* comms[comm] of programs[absent] */
} tl_absent_seat;

/* Zero-initialise; tl_absent_free ends it. */
typedef struct tl_absent {
    int32_t *ranks;       /* [n]: numbers, ascending */
    uint32_t *stand_in;   /* [n] */
    tl_program *programs; /* [n]: all but their comms is that of the stand-in */
    size_t n;
    tl_absent_seat *seats; /* ascending by meeting, then by rank */
    size_t nseats;
    size_t nlinking; /* ranks without a trace that link groups; the others of them nobody can stand for */
} tl_absent;

/* So many more than have a trace, at most, and the lowest: what they cost is in proportion to what the job does. */
enum { TL_ABSENT_MORE = 64 };

/* Fills *out.  TL_ENOMEM. */
tl_status tl_absent_find(const tl_absent_input *input, tl_absent *out, tl_error *err);
void tl_absent_free(tl_absent *absent);

/* -------------------------------------------------------------------------------------------------------- passed on */

/* Whether ranks without a trace pass on delays that no replay sees.
 *
 *     ranks   0  1  2  3     one group, 1 and 2 have no trace: what they are late for when they have waited, all others are
 *                            late for, too.  Nothing is hidden.
 *
 *     ranks   0  1           two groups, rows, and two, columns; 1 has no trace: it waits for 0, and then 3 waits for it.
 *             2  3           That 3 waits for 0 nobody sees.
 */

/* Whether they may: they are met in several groups, or in messages between two ranks.  groups: table group. */
bool tl_passed_on_unseen(const tl_table *groups);

#endif
