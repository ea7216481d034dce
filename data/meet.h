/* meet.h - who communicates with whom, and when it ends.
 *
 * A meeting is one collective of one group in one step, or one transfer between two stages.  A rank comes when its
 * stream has got there; nobody leaves before the last has come and the data have moved:
 *
 *     rank 0   [  waits     transfer ]
 *     rank 1              [ transfer ].
 *     rank 2        [       transfer ]..      a little later, each where it is in the ring
 *
 * Ranks run one after the other in the simulation, so a rank can come before it is known when the others do.  The crowd
 * keeps who has come; once all have, the meeting is known for good, and two numbers are all that is kept of it.
 */
#ifndef DATA_MEET_H
#define DATA_MEET_H

#include "job.h"
#include "program.h"

/* Device streams of a rank; each holds its work in order. */
enum slot { SLOT_COMPUTE, SLOT_DP, SLOT_TP, SLOT_EP, SLOT_PREV, SLOT_NEXT, SLOT_WORLD, NSLOTS };

/* Ranks first, first + stride, ... */
struct group {
    int first, stride, n;
    int number;                 /* among the groups of its axis */
    int me;                     /* which of them the rank is that asked */
};

struct meeting {
    size_t id;
    struct group group;
    int step, stage;
    const struct instruction *what;
    int64_t last_ns;            /* when the last came; TIME_UNKNOWN */
};

#define TIME_UNKNOWN INT64_MIN
#define STREAM_NS US            /* between two kernels of a stream */

struct sim;
struct crowd;

/* The group of a rank; PP, PREV and NEXT: n is 1 where there is none. */
struct group group_of(const struct job *job, enum axis axis, int rank);
int groups_of(const struct job *job, enum axis axis);           /* how many there are */
int stage_of(const struct job *job, int rank);
int data_parallel(const struct job *job);
bool group_has(const struct group *group, int rank);
enum slot slot_of(const struct job *job, enum axis axis);

/* Collective `number` of the axis in a step of the rank. */
struct meeting meeting_of(const struct sim *sim, int rank, enum axis axis, int step, int number);

/* How long data move that all are there for, without noise and faults. */
int64_t nominal_ns(const struct job *job, const struct instruction *what, const struct group *group);
bool across_hosts(const struct job *job, const struct group *group);

/* When it is over for the rank that asked for the meeting, whose last arrival is known. */
int64_t meeting_end(const struct sim *sim, const struct meeting *meeting, int rank);

/* Tokens that a rank of the expert group sends to another, by their places in the group. */
int64_t tokens_sent(const struct sim *sim, const struct meeting *meeting, int from, int to);

/* Tokens that the rank's experts have to do with, in parts of a million of the mean. */
int64_t tokens_ppm(const struct sim *sim, int rank, int step, int routing);

/* --- while meetings are not known yet ----------------------------------------------------------------------------- */

/* NULL when memory is out. */
struct crowd *crowd_new(struct sim *sim);
void crowd_free(struct crowd *crowd);

/* The rank's stream has nothing else before the meeting from ready_ns on.  False when memory is out. */
bool crowd_come(struct crowd *crowd, int rank, const struct meeting *meeting, int64_t ready_ns);

/* How many meetings have become known so far. */
size_t crowd_known(const struct crowd *crowd);

#endif
