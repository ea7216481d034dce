/* internal.h - what the steps from files to jobs, runs and ranks share.
 *
 *     paths  ->  files                                          discover.c, name.c, look.c
 *     traces that know their rank  ->  jobs  ->  runs           jobs.c, runs.c
 *     a rank that is in a run twice                             duplicate_ranks.c
 *     traces that do not           ->  runs that they fit       unknown_ranks.c, name_order.c
 *     runs  ->  the one that is taken, a file a rank            decide.c
 *
 * A job's traces do not contradict each other (jobs.c); a run is one recording of it.
 */
#ifndef TLMPI_TRACE_FIND_INTERNAL_H
#define TLMPI_TRACE_FIND_INTERNAL_H

#include "tlmpi/base/hash.h"
#include "tlmpi/base/sort.h"
#include "tlmpi/trace/find.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* Traces that begin further apart are of no one run: clocks of hosts are wrong by seconds, rarely by minutes. */
#define TL_APART_NS (INT64_C(3600) * 1000000000)

/* No rank, and no process, is recorded twice within that time. */
#define TL_BLINK_NS INT64_C(1000000000)

/* The year 2016, before which there was no such profiler: a clock that says so was never set, or its reading is
 * damaged. */
#define TL_FIRST_NS INT64_C(1451606400000000000)

/* --------------------------------------------------------------------------------------------------------- one file */

/* Whether it is known when the trace began. */
static inline bool tl_input_is_timed(const tl_input *t)
{
    return t->begin_ns >= TL_FIRST_NS;
}

/* From the begin of one trace to that of another, in ns; 0 where one of the two is not known. */
static inline int64_t tl_begin_gap(const tl_input *from, const tl_input *to)
{
    return tl_input_is_timed(from) && tl_input_is_timed(to) ? to->begin_ns - from->begin_ns : 0;
}

/* The key of a rank in a run: ranks fit 32 bits. */
static inline uint64_t tl_run_rank_key(int32_t run, int64_t rank)
{
    return (uint64_t)run << 32 | (uint64_t)rank;
}

/* Inputs by pointer: by job, begin (unknown ones first) and path, digits that follow upon one another as a number. */
int tl_by_job_and_time(const void *a, const void *b);

/* The digits of the rank in the path that tl_rank_of_name finds; empty where it finds none. */
tl_text tl_rank_digits(const char *path);

/* The Unix time in ns that the file's name holds ("host_21147.1698955063520869240.pt.trace.json"), or -1. */
int64_t tl_time_of_name(const char *path);

/* Whether a file of that name should be a trace: "trace", "kineto" or a rank stands in it. */
bool tl_name_says_trace(const char *path);

/* Below, at or above 0 as a stands before, with or after b: digits that follow upon one another are a number. */
int tl_compare_names(const char *a, const char *b);

/* What two files of one run have in common: the path around the rank in it; the folder and the host, where the rank is
 * not in it. */
uint64_t tl_family_of(const tl_input *t);

/* The path for a message, of a long one the end. */
typedef struct tl_shown_path {
    char text[96];
} tl_shown_path;
tl_shown_path tl_path_shown(const char *path);

/* Sets kind and why. */
void tl_input_say_why(tl_input *input, tl_input_kind kind, const char *reason);

/* Takes size and time of the file. */
void tl_input_set_stat(tl_input *input, const struct stat *st);

/* ---------------------------------------------------------------------------------------------------- jobs and runs */

/* What the traces of a job, or of a run, say together. */
typedef struct tl_common {
    int64_t world_size; /* -1: none tells it */
    int64_t top_rank;   /* the largest that one has; -1: none */
    uint64_t gpu;       /* 0: none tells it, or there are several kinds */
    bool several_gpus;
    bool timed; /* one of them is, and these are the first and last begin of those */
    int64_t first_ns, last_ns;
    size_t n; /* traces */
} tl_common;

/* Jobs, or runs.  Zero-initialise; tl_commons_free ends it. */
typedef struct tl_commons {
    TL_VEC(tl_common) v;
    tl_map groups; /* (number in v, key of a process group) -> its members */
} tl_commons;

size_t tl_commons_new(tl_commons *commons);
void tl_commons_add(tl_commons *commons, size_t k, const tl_input *t);
void tl_commons_free(tl_commons *commons);

/* Whether what the trace says of world size, rank, groups and device cannot be of one job with the k-th. */
bool tl_commons_contradict(const tl_commons *commons, size_t k, const tl_input *t);

/* How far the trace's begin lies outside of the known begins of the job or run, in ns; 0 where none is known. */
int64_t tl_common_distance(const tl_common *common, const tl_input *t);

/* Whether both know when they began, and it is too far apart. */
bool tl_common_is_far(const tl_common *common, const tl_input *t);

/* Some traces of one job, in order of time, on their way to runs. */
typedef struct tl_slice {
    tl_input **v;
    size_t n;
    int64_t world_size; /* of the job; -1: not known */
    size_t nruns;       /* when it is parted: their runs are 0 .. nruns - 1 */
} tl_slice;

/* Traces that know their rank, in order of time: gives each a job, and puts them in order of job and time. */
void tl_jobs_part(tl_input **known, size_t n);

/* Parts a slice into runs.  A rank may be in one of them twice, where all else says that it is one run. */
void tl_runs_part(tl_slice *s);

/* Joins runs, among 0 .. nruns - 1 of a slice, which follow each other in its order, where they are one run in which
 * ranks have wrong numbers. */
void tl_duplicate_ranks_join(tl_slice *s);

/* Gives each of the traces that are the same rank of the same run another number that is plainly its own, or makes it a
 * run of its own; `why` says so. */
void tl_duplicate_ranks_resolve(tl_slice *s);

/* Traces that do not know their rank: each gets the run that it fits, or one of its own, and the next number that is
 * free there, in order of path.  *nruns grows. */
void tl_unknown_ranks_assign(tl_inventory *inventory, tl_input **unknown, size_t nunknown, size_t *nruns);

/* Whether the names of n traces of one run tell places on axes of parallelism that count their ranks; these then. */
bool tl_order_by_axes(tl_input *const *v, size_t n, int64_t *ranks);

#endif
