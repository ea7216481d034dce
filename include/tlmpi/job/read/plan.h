/* plan.h - the trace files of the job: found once, known to every proc.
 *
 * The first header of folder job/read, which finds the traces under the paths of the command line, and makes the tables
 * of one trace (rank_result.h).  May use trace, par, call, the words of report/format, and the analyses of one rank:
 * time, local, match, graph and those of the registry.
 */
#ifndef TLMPI_JOB_READ_PLAN_H
#define TLMPI_JOB_READ_PLAN_H

#include "tlmpi/job/call/options.h"
#include "tlmpi/model/table.h"
#include "tlmpi/model/tables.h"
#include "tlmpi/trace/find.h"

/* One of the windows of a rank. */
typedef struct tl_plan_window {
    const char *path; /* in the plan's texts */
    tl_window place;
} tl_plan_window;

/* One trace to read; or a rank's windows: then path, below and word are of the first, bytes is their sum and mtime_ns
 * their maximum. */
typedef struct tl_plan_item {
    const char *path; /* in the plan's texts */
    size_t below;     /* offset in path of the part below the folder named on the command line */
    size_t word;      /* index of the command line's path that has it */
    int64_t rank;
    int64_t pid; /* of the traced process; 0: unknown before reading */
    int64_t mtime_ns;
    uint64_t bytes;
    tl_rank_source rank_source;
    int32_t nslices; /* number of procs that read it together; above 1 only for large plain files with spare procs */
    bool alone;      /* the only file: its rank is known only after reading */
    bool unreadable; /* looking at the file has failed, see `why` */
    tl_plan_window *windows; /* [nwindows] ascending by time; none if runs are not joined */
    size_t nwindows;
    const char *why; /* the failure or, of a readable trace, a defect of its rank or missing windows; empty: none */
} tl_plan_item;

/* A file that is no trace, found beside the traces or named by --events. */
typedef struct tl_plan_side {
    const char *path;   /* in the plan's texts */
    tl_input_kind kind; /* PHASES, MEMORY or EXECUTION */
    int32_t number;     /* index among the files of its kind, in path order */
    int64_t rank;       /* of an execution trace; -1: unknown */
    size_t item;        /* of an execution trace: the trace of its rank; SIZE_MAX: none is read */
} tl_plan_side;

/* Zero-initialise; tl_plan_free ends it. */
typedef struct tl_plan {
    tl_plan_item *items; /* in rank order; of tl_plan_every in path order */
    size_t n;
    tl_plan_side *sides;
    size_t nsides;
    char *texts;             /* owns the texts of items and sides */
    tl_plan_window *windows; /* owns the windows of items */
    tl_hole *holes;          /* [nholes] times between windows in which no rank recorded */
    size_t nholes;
    tl_ranges ranks;        /* on proc 0 alone: ranks that have traces, selected by --ranks or not */
    tl_inventory inventory; /* on proc 0 alone: all files that were found */
    bool *planned;          /* on proc 0 alone, by input of the inventory: the input is one of the items */
} tl_plan;

/* Collective: finds the files, looks at them (each proc at its share), and decides ranks and run.  TL_EINPUT: --events
 * names no file.  The same status and message on every proc. */
tl_status tl_plan_make(const tl_options *options, tl_plan *plan, tl_error *err);

/* Collective: as tl_plan_make, but plans every trace and every unreadable file, in path order, whatever its rank and
 * run. TL_EINPUT: there is none; proc 0 has warned of the files found instead. */
tl_status tl_plan_every(const tl_options *options, tl_plan *plan, tl_error *err);

/* windows.c, collective: joins runs that are windows of one job to the chosen run, unless --run names one.  paths: of
 * all inputs, each ended by a 0 byte. */
void tl_windows_join(const tl_options *options, const tl_bytes *paths, tl_inventory *inventory);

/* windows.c: cuts rows of table `path` at the holes between windows, which are on no path. */
void tl_windows_cut_path(const tl_plan *plan, tl_table *path);

/* tl_plan_has: whether the plan has side files of a kind.  tl_plan_is_mine: whether a side file is of that kind and
 * this proc reads it. */
bool tl_plan_has(const tl_plan *plan, tl_input_kind kind);
bool tl_plan_is_mine(const tl_plan_side *side, tl_input_kind kind);

/* Proc 0: adds to the plan the ranks and world sizes that were known only after reading.  rows: the job's rank table,
 * ascending; sets duplicates and, if inferred, host of each row. */
void tl_plan_learn(tl_plan *plan, const tl_table *rows);

/* Proc 0: tl_plan_lost returns the number of files that look like traces but cannot be read; tl_plan_warn names on
 * stderr all files that are not in the plan. */
size_t tl_plan_lost(const tl_plan *plan);
void tl_plan_warn(const tl_plan *plan);

void tl_plan_free(tl_plan *plan);

#endif
