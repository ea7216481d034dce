/* find.h - from paths to ranks: finds out for each file which rank's trace it is, and which run's.
 *
 * From folders, names of files, and a look at each that its reader takes (read/reader.h).  May use: read, and of text
 * what a path is.
 *
 * The rank of a file is what distributedInfo says; else what its name says (spec of names: rank_of_name below); else
 * the next free number, in path order, of the run that it fits.  Files that contradict each other are of several jobs;
 * several files of one rank are several runs of a job, or one of them has a wrong number.
 */
#ifndef TLMPI_TRACE_FIND_H
#define TLMPI_TRACE_FIND_H

#include "tlmpi/base/mem.h"
#include "tlmpi/base/status.h"
#include "tlmpi/base/text.h"
#include "tlmpi/trace/read/reader.h"
#include <stdbool.h>
#include <stdint.h>

typedef enum tl_rank_source {
    TL_RANK_META, /* the trace itself: distributedInfo, else the arguments of its collectives */
    TL_RANK_NAME, /* the file's name */
    TL_RANK_ORDER /* next free number, in path order */
} tl_rank_source;

/* What a look at one file says, before it is read whole. */
typedef struct tl_input {
    char *path;   /* owned */
    size_t below; /* where in it begins what lies below the folder that was named; of a file, its name */
    tl_input_kind kind;
    char why[256];      /* UNREADABLE, OTHER: the reason, with the byte, without the path */
    int64_t meta_rank;  /* distributedInfo.rank, -1 where absent */
    int64_t name_rank;  /* -1 where the name tells none */
    int64_t world_size; /* -1 where absent */
    int64_t begin_ns;   /* Unix ns of the first entry with a ts; else a time stamp in the file's name; else -1 */
    bool pipe;          /* a pipe: it can be read only once, and is taken for a trace unseen */
    size_t word;        /* which of the paths that were named has it, from 0 */
    bool no_file;       /* no regular file, or a folder that cannot be read: never opened, and not to be looked at */
    bool named;         /* a user named the file, or the folder that it is: it should be a trace, or hold one */
    uint64_t bytes;     /* size of the file */
    uint64_t device, inode; /* which file it is, whatever its name; 0 where it cannot be reached */
    bool by_link;           /* a link leads to it: from the path as given, or below */
    int64_t mtime_ns;
    tl_origin origin;
    int64_t rank; /* decided by tl_inventory_decide; where another trace has the same number, `why` says so */
    tl_rank_source rank_source;
    int32_t run;     /* 0 = oldest; decided by tl_inventory_decide; -1 for what is no trace */
    int32_t job;     /* equal for runs of one job; -1 for what is no trace */
    bool renumbered; /* the trace calls itself another rank than what it counts as */
    bool copy;       /* OTHER: it is the same trace as another input */
    bool elsewhere;  /* UNREADABLE: of another run than the one chosen */
} tl_input;

/* Why a run is no window of the job that is analysed. */
typedef enum tl_run_apart {
    TL_APART_NOT,
    TL_APART_OTHER_JOB,       /* another world size, or devices of another kind */
    TL_APART_OTHER_PROCESSES, /* another start */
    TL_APART_UNKNOWN,         /* traces do not tell their processes */
    TL_APART_TIMES,           /* the recordings overlap in time */
    TL_APART_ANEW,            /* another start, whose processes have the same numbers */
    TL_APART_STEPS,           /* numbers of steps are too large to tell the steps of windows apart */
    TL_APART_NO_RANK          /* no rank has a trace in both, or a rank is in doubt */
} tl_run_apart;

/* What --run list says of a run. */
typedef struct tl_run_info {
    int32_t number; /* from 0, oldest first */
    size_t ntraces;
    size_t first; /* the input with its lowest rank */
    int32_t job;
    int64_t world_size; /* -1: none tells it */
    uint64_t gpu;       /* as in tl_origin; 0 also where they differ */
    bool timed;         /* at least one of its traces tells when it began */
    int64_t begin_ns;   /* of the first that tells it, Unix ns; else 0 */
    bool joined;        /* it is a window of the job that is analysed, together with the chosen run */
    tl_run_apart apart; /* why it is not; of the chosen run NOT */
    tl_window window;   /* of a run that is joined, known once its traces have been looked through, as is: */
    int64_t recorded_ns; /* its begin in recorded time */
    bool lost;          /* the run has more than other recordings of the chosen run's ranks, and no other run was
                         * asked for */
} tl_run_info;

/* A path that was named. */
typedef struct tl_named {
    char *path;  /* owned */
    bool shared; /* another path named before has one of its files, too */
} tl_named;

typedef struct tl_inventory {
    TL_VEC(tl_input) inputs; /* in path order (strcmp), pipes after them as they were named */
    TL_VEC(tl_named) words;  /* the paths that were named */
    tl_run_info *runs;       /* owned: oldest first */
    int32_t nruns;           /* at least 1 */
    int32_t run;             /* the one chosen */
    char windows[256];       /* what joined runs to it, a sentence without its end; empty where none are */
    /* Ranks from 0 to the largest known, ascending, without a file in the chosen run, not even an unreadable one:
     * below world_size when known, at most 4,096 listed. */
    TL_VEC(int64_t) missing;
    int64_t world_size; /* largest world_size seen, or the largest rank + 1 */
    size_t nmissing;    /* number of missing ranks, listed or not */
} tl_inventory;

/* Adds every file that `path` names: the file itself, or all .json, .json.gz (any case; also .json.gz.N is not) below
 * the folder, nested folders included, links to folders not followed twice, hidden files and our own outputs left out.
 * A pipe may be named; one in a folder, a socket or a device there is listed as `no_file`, with its reason, and so is a
 * folder that was named and cannot be read.  A path that does not exist is listed, too: a look at it will say so.  kind
 * and ranks of the others are not yet filled in. */
void tl_inventory_add(tl_inventory *inventory, const char *path);

/* Sorts inputs by path and keeps each file once, with a word of warning: a path that was named twice, and of several
 * names of one file the first that is no link, else the first. */
void tl_inventory_sort(tl_inventory *inventory);

/* Puts the parts of each file that holds several ranks in the place of the file (read/reader.h). */
void tl_inventory_part(tl_inventory *inventory);

/* Looks at one file: its head, and where the head does not name the rank and `deep` says so, its tail (a gzip file is
 * then inflated to its end).  Never fails: what is wrong with the file stands in `why`. */
void tl_input_look(tl_input *input, bool deep);

/* Warns: `before`, the path (of a long one its end), why nothing is read of it, `after`. */
void tl_input_warn(const tl_input *input, const char *before, const char *after);

/* When all have been looked at: ranks, runs, gaps.  `run` = 0 takes the newest complete run, k >= 1 the k-th, oldest
 * first. TL_EUSAGE: there is no such run. */
tl_status tl_inventory_decide(tl_inventory *inventory, int run, tl_error *err);

/* When runs are decided: joins to the chosen run those that are windows of the same processes; how many runs that are.
 * tl_inventory_leave_windows takes it back, for that reason. */
size_t tl_inventory_join_windows(tl_inventory *inventory);
void tl_inventory_leave_windows(tl_inventory *inventory, tl_run_apart apart);

/* Whether a trace is of the chosen run, or of one that is joined to it. */
bool tl_inventory_takes(const tl_inventory *inventory, const tl_input *input);

/* Whether runs were told apart without knowing when some trace began: its base time stands after its events, and a deep
 * look would tell. */
bool tl_inventory_is_unsure(const tl_inventory *inventory);

/* Whether the file was meant as a trace, but nothing of it can be read: the exit status then says so. */
bool tl_input_is_lost(const tl_input *input);

/* When runs are decided: a file for each rank, in rank order, and of a rank with several windows each in order of time,
 * into out, which has room for all; how many.  Traces of the chosen run, and a file that cannot be read but whose name tells its rank, for it is that rank's trace where there
 * is no other. */
size_t tl_inventory_choose(const tl_inventory *inventory, const tl_input **out);

/* When all have been looked at: adds each folder that was named, beside something else, and gives nothing that is, or
 * should be, a trace.  So everything that was named is a trace or holds one, or is there with its reason. */
void tl_inventory_close(tl_inventory *inventory);

/* Finds world_size and missing anew, from what reading the traces has added to the inputs. */
void tl_inventory_learn(tl_inventory *inventory);

/* Returns how many traces of other runs say they are this rank and begin less than `within_ns` from the chosen run's
 * trace of the rank: of a job whose runs follow one another there are none.  Copies, which begin at the same
 * instant, do not count.  0 where the begin is not known. */
size_t tl_inventory_duplicates(const tl_inventory *inventory, int64_t rank, int64_t within_ns);

void tl_inventory_free(tl_inventory *inventory);

/* Whether a person chose the path's name: not of a pipe or a device, nor of one of the system's names for what is
 * open (/dev/stdin, /dev/fd/63, /proc/...).  A name that no person chose tells neither a rank nor the name of a
 * result. */
bool tl_path_is_given(const char *path);

/* The rank that a file's name tells, or -1: "rank-0.json.gz", "rank0.json", "rank_0", "rank[0]", "trace_rank_0",
 * "megatron_kineto_0.json", "worker0_step_12.1698.pt.trace.json" ...; never "TP-0-DP-0", host names, time stamps or a
 * system's names for what is open. */
int64_t tl_rank_of_name(const char *path);

/* The host that a tensorboard handler writes into the name: <host>_<pid>.<time>.pt.trace.json, the time in ms or ns
 * since 1970: 13 digits or more.  Only where that is the process that the trace is of; pid 0: not known.  Empty where
 * there is none; lies in the path. */
tl_text tl_host_of_name(const char *path, int64_t pid);

#endif
