/* decide.h - what the steps from files to jobs, runs and ranks share.
 *
 *     traces that know their rank  ->  jobs  ->  runs  ->  a trace a rank     jobs.c, runs.c, doubles.c
 *     traces that do not           ->  runs that they fit, or of their own    strays.c, order.c
 *
 * A job's traces do not contradict each other (common.c); a run is one recording of it.
 */
#ifndef TLMPI_TRACE_FIND_DECIDE_H
#define TLMPI_TRACE_FIND_DECIDE_H

#include "input.h"
#include "tlmpi/base/hash.h"

/* Traces that begin further apart are of no one run: clocks of hosts are wrong by seconds, rarely by minutes. */
#define TL_APART_NS (INT64_C(3600) * 1000000000)

/* The year 2016, before which there was no such profiler: a clock that says so was never set, or its reading is
 * damaged. */
#define TL_FIRST_NS INT64_C(1451606400000000000)

/* Whether it is known when the trace began, and not only when its file was written. */
static inline bool tl_input_is_timed(const tl_input *t)
{
    return t->begin_ns != t->mtime_ns && t->begin_ns >= TL_FIRST_NS;
}

/* ----------------------------------------------------------------------------------------------- what is in common */

/* What the traces of a job, or of a run, say together. */
typedef struct tl_common {
    uint64_t number;    /* under which its groups are known */
    int64_t world_size; /* -1: none tells it */
    int64_t top_rank;   /* the largest that one has; -1: none */
    uint64_t gpu;       /* 0: none tells it, or there are several kinds */
    bool several_gpus;
    bool timed; /* one of them is, and these are the first and last begin of those */
    int64_t first_ns, last_ns;
    size_t n; /* traces */
} tl_common;

#define TL_COMMON(number_)                                                                                             \
    (tl_common)                                                                                                        \
    {                                                                                                                  \
        .number = (number_), .world_size = -1, .top_rank = -1                                                          \
    }

/* Adds a trace; `groups` has the groups of all that is in common. */
void tl_common_add(tl_common *common, tl_map *groups, const tl_input *t);

/* Whether what the trace says of world size, rank, groups and device cannot be of one job with it. */
bool tl_common_contradicts(const tl_common *common, const tl_map *groups, const tl_input *t);

/* How far the trace's begin lies outside of the known begins of the job or run, in ns; 0 where none is known. */
int64_t tl_common_distance(const tl_common *common, const tl_input *t);

/* Whether both know when they began, and it is too far apart. */
bool tl_common_is_far(const tl_common *common, const tl_input *t);

/* ------------------------------------------------------------------------------------------------------- the steps */

/* Some traces of one job, in order of time, on their way to runs. */
typedef struct tl_slice {
    tl_input **v;
    size_t n;
    int64_t world_size; /* of the job; -1: not known */
    size_t nruns;       /* when it is parted: their runs are 0 .. nruns - 1 */
} tl_slice;

/* Traces that are there twice: leaves all but one of each alone. */
void tl_copies_leave(tl_inventory *inventory);

/* Traces that know their rank, in order of time: gives each a job, and puts them in order of job and time. */
void tl_jobs_part(tl_input **known, size_t n);

/* Parts a slice into runs.  A rank may be in one of them twice, where all else says that it is one run.  False: memory
 * is out. */
void tl_runs_part(tl_slice *s);

/* Joins runs, among 0 .. nruns - 1 of a slice, which follow each other in its order, where they are one run in which
 * ranks have wrong numbers. */
void tl_doubles_join(tl_slice *s);

/* Gives each of the traces that are the same rank of the same run another number that is plainly its own, or makes it a
 * run of its own; `why` says so. */
void tl_doubles_settle(tl_slice *s);

/* Traces that do not know their rank: each gets the run that it fits, or one of its own, and the next number that is
 * free there, in order of path.  *nruns grows. */
void tl_strays_place(tl_inventory *inventory, tl_input **unknown, size_t nunknown, size_t *nruns);

/* Below, at or above 0 as a stands before, with or after b: digits that follow upon one another are a number. */
int tl_compare_names(const char *a, const char *b);

/* The ranks of n traces of one run, where their names tell places on axes of parallelism that count them (*told). */
void tl_order_by_axes(tl_input *const *v, size_t n, int64_t *ranks, bool *told);

/* What two files of one run have in common: the path around the rank in it; the folder and the host, where the rank is
 * not in it. */
uint64_t tl_family_of(const tl_input *t);

#endif
