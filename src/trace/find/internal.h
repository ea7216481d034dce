/* internal.h - shared by the steps from files to jobs, runs and ranks.
 *
 *     paths  ->  files                                          discover.c, name.c, look.c
 *     traces with a rank  ->  jobs  ->  runs                        jobs.c, runs.c
 *     a rank that occurs twice in a run                             duplicate_ranks.c
 *     traces without a rank        ->  runs that they fit           unknown_ranks.c, name_order.c
 *     runs  ->  the chosen one, a file for each rank                decide.c
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

/* Traces of one run begin at most this far apart, ns: clocks of hosts are wrong by seconds, rarely by minutes. */
#define TL_APART_NS (INT64_C(3600) * 1000000000)

/* No rank and no process is recorded twice within this time, ns. */
#define TL_BLINK_NS INT64_C(1000000000)

/* Start of 2016, Unix ns, before which there was no such profiler: an earlier clock was never set, or its value is
 * damaged. */
#define TL_FIRST_NS INT64_C(1451606400000000000)

/* --------------------------------------------------------------------------------------------------------- one file */

/* Whether the begin of the trace is known. */
static inline bool tl_input_is_timed(const tl_input *t)
{
    return t->begin_ns >= TL_FIRST_NS;
}

/* Returns the time from one trace's begin to another's, ns; 0 if one of them is unknown. */
static inline int64_t tl_begin_gap(const tl_input *from, const tl_input *to)
{
    return tl_input_is_timed(from) && tl_input_is_timed(to) ? to->begin_ns - from->begin_ns : 0;
}

/* Returns the key of a rank in a run: ranks fit in 32 bits. */
static inline uint64_t tl_run_rank_key(int32_t run, int64_t rank)
{
    return (uint64_t)run << 32 | (uint64_t)rank;
}

/* Order of pointers to inputs: job, begin (unknown ones first), path (numbers in it by value). */
int tl_by_job_and_time(const void *a, const void *b);

/* Returns the digits of tl_rank_of_name in the path; empty: none. */
tl_text tl_rank_digits(const char *path);

/* Returns the Unix time, ns, in the file's name ("host_21147.1698955063520869240.pt.trace.json"); -1: none. */
int64_t tl_time_of_name(const char *path);

/* Whether a file of that name should be a trace: the name contains "trace", "kineto" or a rank. */
bool tl_name_says_trace(const char *path);

/* Compares as strcmp, but numbers by value. */
int tl_compare_names(const char *a, const char *b);

/* Returns a hash that files of one run share: of the path around the rank in it; if it has no rank, of the folder and
 * the host. */
uint64_t tl_family_of(const tl_input *t);

/* The path for a message; of a long path its end. */
typedef struct tl_shown_path {
    char text[96];
} tl_shown_path;
tl_shown_path tl_path_shown(const char *path);

/* Sets kind and why. */
void tl_input_say_why(tl_input *input, tl_input_kind kind, const char *reason);

/* Sets size, identity and time of the file. */
void tl_input_set_stat(tl_input *input, const struct stat *st);

/* ---------------------------------------------------------------------------------------------------- jobs and runs */

/* What the traces of a job, or of a run, have in common. */
typedef struct tl_common {
    int64_t world_size; /* -1: unknown */
    int64_t top_rank;   /* largest rank of a trace; -1: none */
    uint64_t gpu;       /* 0: unknown, or several kinds */
    bool several_gpus;
    bool timed; /* the begin of some trace is known; first_ns, last_ns: of these */
    int64_t first_ns, last_ns;
    size_t n; /* number of traces */
} tl_common;

/* A list of jobs, or of runs.  Zero-initialise; tl_commons_free ends it. */
typedef struct tl_commons {
    TL_VEC(tl_common) v;
    tl_map groups; /* (index in v, key of a process group) -> hash of its members */
} tl_commons;

size_t tl_commons_new(tl_commons *commons);
void tl_commons_add(tl_commons *commons, size_t k, const tl_input *t);
void tl_commons_free(tl_commons *commons);

/* Whether world size, rank, groups or device of the trace contradict the k-th job. */
bool tl_commons_contradict(const tl_commons *commons, size_t k, const tl_input *t);

/* Returns the distance of the trace's begin from the known begins of the job or run, ns; 0 if unknown. */
int64_t tl_common_distance(const tl_common *common, const tl_input *t);

/* Whether both begins are known and too far apart for one run. */
bool tl_common_is_far(const tl_common *common, const tl_input *t);

/* Some traces of one job, in order of time, to be divided into runs. */
typedef struct tl_slice {
    tl_input **v;
    size_t n;
    int64_t world_size; /* of the job; -1: unknown */
    size_t nruns;       /* number of runs, once divided: 0 .. nruns - 1 */
} tl_slice;

/* Gives each trace with a rank, in order of time, a job, and sorts the traces by job and time. */
void tl_jobs_part(tl_input **known, size_t n);

/* Divides a slice into runs.  A rank may occur twice in a run if everything else says that it is one run. */
void tl_runs_part(tl_slice *s);

/* Merges successive runs of a slice that are one run in which ranks have wrong numbers. */
void tl_duplicate_ranks_join(tl_slice *s);

/* Gives all but one of the traces with the same rank and run another number that is certainly their own, or a separate
 * run; `why` says so. */
void tl_duplicate_ranks_resolve(tl_slice *s);

/* Gives each trace without a rank the run that it fits, or a new one, and the next free number in it, in order of path.
 * *nruns grows. */
void tl_unknown_ranks_assign(tl_inventory *inventory, tl_input **unknown, size_t nunknown, size_t *nruns);

/* Whether the names of n traces of one run contain coordinates on axes of parallelism that determine their ranks; fills
 * these. */
bool tl_order_by_axes(tl_input *const *v, size_t n, int64_t *ranks);

#endif
