/* find.h - from paths to ranks: finds the rank and the run of each trace file.
 *
 * Input: folders, file names, and what each file's reader finds in a quick look (read/reader.h).  May use read, and the
 * part of text about paths.
 *
 * The rank of a file comes from distributedInfo; else from its name (tl_rank_of_name); else it is the next free number,
 * in path order, of the run that the file fits.  Files that contradict each other are of different jobs; several files
 * of one rank are several runs of a job, or one of them has a wrong number.
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

/* A file, as known from a quick look before it is read. */
typedef struct tl_input {
    char *path;   /* owned */
    size_t below; /* offset in path of the part below the folder that the user named; of a file, of its name */
    tl_input_kind kind;
    char why[256];          /* UNREADABLE, OTHER: the reason, with the byte offset, without the path */
    int64_t meta_rank;      /* distributedInfo.rank; -1: absent */
    int64_t name_rank;      /* -1: the name has none */
    int64_t world_size;     /* -1: absent */
    int64_t begin_ns;       /* Unix ns of the first entry with a ts; else a time stamp in the file's name; else -1 */
    bool pipe;              /* a pipe: it can be read only once, and counts as a trace without a look */
    size_t word;            /* index of the path of the command line that it comes from */
    bool no_file;           /* not a regular file, or a folder that cannot be read: never opened, and never looked at */
    bool named;             /* the user named the file, or the folder itself: it should be a trace, or contain one */
    uint64_t bytes;         /* size of the file */
    uint64_t device, inode; /* identify the file under any name; 0: it cannot be reached */
    bool by_link;           /* reached through a link: the given path, or one below */
    int64_t mtime_ns;
    tl_origin origin;
    int64_t rank; /* set by tl_inventory_decide; if another trace has the same number, `why` says so */
    tl_rank_source rank_source;
    int32_t run;     /* 0 = oldest; set by tl_inventory_decide; -1: not a trace */
    int32_t job;     /* equal for runs of one job; -1: not a trace */
    bool renumbered; /* the rank in the trace differs from `rank` */
    bool copy;       /* OTHER: the same trace as another input */
    bool elsewhere;  /* UNREADABLE: belongs to another run than the chosen one */
} tl_input;

/* The reason why a run is not another window of the job that is analysed. */
typedef enum tl_run_apart {
    TL_APART_NOT,
    TL_APART_OTHER_JOB,       /* another world size, or devices of another kind */
    TL_APART_OTHER_PROCESSES, /* another start of the job */
    TL_APART_UNKNOWN,         /* the traces do not identify their processes */
    TL_APART_TIMES,           /* the recordings overlap in time */
    TL_APART_ANEW,            /* another start, with the same process ids */
    TL_APART_STEPS,           /* step numbers are too large to keep the steps of the windows distinct */
    TL_APART_NO_RANK          /* no rank has a trace in both runs, or the rank of a trace is uncertain */
} tl_run_apart;

/* A run, as --run list shows it. */
typedef struct tl_run_info {
    int32_t number; /* from 0, oldest first */
    size_t ntraces;
    size_t first; /* the input with its lowest rank */
    int32_t job;
    int64_t world_size;  /* -1: unknown */
    uint64_t gpu;        /* as in tl_origin; 0 also if traces differ */
    bool timed;          /* the begin of at least one of its traces is known */
    int64_t begin_ns;    /* earliest known begin, Unix ns; else 0 */
    bool joined;         /* another window of the job that is analysed, read together with the chosen run */
    tl_run_apart apart;  /* why it is not joined; NOT for the chosen run */
    tl_window window;    /* of a joined run; known, like recorded_ns, once its traces have been looked at */
    int64_t recorded_ns; /* its begin in recorded time */
    bool lost;           /* the run has traces that are not other recordings of the chosen run's ranks, and the user
                         * chose no run */
} tl_run_info;

/* A path of the command line. */
typedef struct tl_named {
    char *path;  /* owned */
    bool shared; /* an earlier path has one of its files as well */
} tl_named;

typedef struct tl_inventory {
    TL_VEC(tl_input) inputs; /* in path order (strcmp); pipes after them, as named */
    TL_VEC(tl_named) words;  /* the paths of the command line */
    tl_run_info *runs;       /* owned: oldest first */
    int32_t nruns;           /* at least 1 */
    int32_t run;             /* the chosen run */
    char windows[256];       /* why runs are joined to it, a sentence without its end; empty: none are */
    /* Ranks from 0 to the largest known, ascending, that have no file in the chosen run, not even an unreadable one;
     * below world_size if known; at most 4,096 are listed. */
    TL_VEC(int64_t) missing;
    int64_t world_size; /* largest world_size seen, or the largest rank + 1 */
    size_t nmissing;    /* number of missing ranks, listed or not */
} tl_inventory;

/* Adds every file that `path` names: the file itself, or all .json and .json.gz below the folder (case ignored; not
 * .json.gz.N), with nested folders; without hidden files and tlmpi's own outputs; no folder is visited twice through
 * links.  A pipe may be named; a pipe in a folder, a socket or a device is listed as `no_file` with the reason, and so
 * is a named folder that cannot be read.  A path that does not exist is listed, too; a look at it fails.  kind and
 * ranks are filled in later. */
void tl_inventory_add(tl_inventory *inventory, const char *path);

/* Sorts inputs by path and keeps each file once, with a warning, if a path was named twice; of several names of one
 * file, the first that is not a link, else the first. */
void tl_inventory_sort(tl_inventory *inventory);

/* Replaces each file that holds several ranks by its parts (read/reader.h). */
void tl_inventory_part(tl_inventory *inventory);

/* Looks at one file: at its head, and if that has no rank and `deep` is set, at its tail (a gzip file is then inflated
 * to its end).  Never fails: errors go to `why`. */
void tl_input_look(tl_input *input, bool deep);

/* Warns: `before`, the path (of a long one its end), the reason why it is not read, `after`. */
void tl_input_warn(const tl_input *input, const char *before, const char *after);

/* Decides ranks, runs and gaps, after all files have been looked at.  run 0: the newest complete run; k >= 1: the k-th,
 * oldest first.  TL_EUSAGE: there is no such run. */
tl_status tl_inventory_decide(tl_inventory *inventory, int run, tl_error *err);

/* tl_inventory_join_windows: joins to the chosen run those that are windows of the same processes; returns the number
 * of joined runs, with the chosen one.  tl_inventory_leave_windows: undoes that, for the reason `apart`. */
size_t tl_inventory_join_windows(tl_inventory *inventory);
void tl_inventory_leave_windows(tl_inventory *inventory, tl_run_apart apart);

/* Whether a trace belongs to the chosen run, or to one that is joined to it. */
bool tl_inventory_takes(const tl_inventory *inventory, const tl_input *input);

/* Whether runs were separated without knowing when some trace began: its base time comes after its events, and a deep
 * look would find it. */
bool tl_inventory_is_unsure(const tl_inventory *inventory);

/* Whether the file was meant as a trace but cannot be read at all, which the exit status reports. */
bool tl_input_is_lost(const tl_input *input);

/* Fills out with a file for each rank, in rank order, and for a rank with several windows each in order of time;
 * returns their number.  out: room for all inputs.  These are the traces of the chosen run, and files that cannot be
 * read but have a rank in their name, if the rank has no other file. */
size_t tl_inventory_choose(const tl_inventory *inventory, const tl_input **out);

/* Adds each named folder without any trace in it, or file that should be one, if other paths were named as well.  Then
 * each path of the command line is a trace, contains one, or is listed with the reason. */
void tl_inventory_close(tl_inventory *inventory);

/* Computes world_size and missing again, with what reading the traces has added to the inputs. */
void tl_inventory_learn(tl_inventory *inventory);

/* Returns the number of traces of other runs with this rank that begin less than `within_ns` from the chosen run's
 * trace of the rank: runs of one job follow one another, and have none.  Copies, which begin at the same instant, do
 * not count. 0 if the begin is unknown. */
size_t tl_inventory_duplicates(const tl_inventory *inventory, int64_t rank, int64_t within_ns);

void tl_inventory_free(tl_inventory *inventory);

/* Whether a person chose the path's name: false for a pipe or device, and for the system's names of open files
 * (/dev/stdin, /dev/fd/63, /proc/...).  Other names say neither a rank nor the name of a result. */
bool tl_path_is_given(const char *path);

/* Returns the rank in a file's name; -1: none. "rank-0.json.gz", "rank0.json", "rank_0", "rank[0]", "trace_rank_0",
 * "megatron_kineto_0.json", "worker0_step_12.1698.pt.trace.json" ...; never from "TP-0-DP-0", host names, time stamps
 * or the system's names of open files. */
int64_t tl_rank_of_name(const char *path);

/* Returns the host that a tensorboard handler writes into the name: <host>_<pid>.<time>.pt.trace.json, the time in ms
 * or ns since 1970 with 13 digits or more.  The process has to be the trace's own; pid 0: unknown.  Empty if there is
 * none; points into path. */
tl_text tl_host_of_name(const char *path, int64_t pid);

#endif
