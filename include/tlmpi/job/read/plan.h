/* plan.h - which trace files make up the job: found once, known to every proc.
 *
 * The first header of the room job/read, which answers which traces there are, and what the tables say of each by
 * itself (rank_result.h), from the paths of the command line.  May use trace, par, call, the words of report/format, and the analyses of one rank:
 * time, local, match, graph and those of the registry.
 */
#ifndef TLMPI_JOB_READ_PLAN_H
#define TLMPI_JOB_READ_PLAN_H

#include "tlmpi/job/call/options.h"
#include "tlmpi/model/tables.h"
#include "tlmpi/trace/find.h"

/* One of the windows of a rank. */
typedef struct tl_plan_window {
    const char *path; /* in the plan's texts */
    tl_window place;
} tl_plan_window;

/* One trace to read; or a rank's windows, one after the other: then path, below and word are of the first, bytes is the
 * sum and mtime_ns the last. */
typedef struct tl_plan_item {
    const char *path; /* in the plan's texts */
    size_t below;     /* where in it begins what lies below the folder that was named */
    size_t word;      /* which of the paths of the command line has it, from 0 */
    int64_t rank;
    int64_t pid; /* of the process traced; 0: the look at the file has not told */
    int64_t mtime_ns;
    uint64_t bytes;
    tl_rank_source rank_source;
    int32_t nslices; /* procs that read it together; 1 but for large plain files where procs abound */
    bool alone;      /* the only file: its text was not searched for its rank, the reading will tell */
    bool unreadable; /* the look at the file has failed: `why` says how */
    tl_plan_window *windows; /* [nwindows] in order of time; none where runs are not joined */
    size_t nwindows;
    const char *why; /* of a readable trace: what is wrong with its number, or that windows lack; empty when nothing is */
} tl_plan_item;

/* A file that is no trace: it lies beside the traces, or is named by --events. */
typedef struct tl_plan_side {
    const char *path;   /* in the plan's texts */
    tl_input_kind kind; /* PHASES, MEMORY or EXECUTION */
    int32_t number;     /* from 0, among the files of its kind, in path order */
    int64_t rank;       /* of an execution trace; -1: not known */
    size_t item; /* of an execution trace: the trace whose operators its nodes are; SIZE_MAX: none that is read */
} tl_plan_side;

/* Zero-initialise; tl_plan_free ends it. */
typedef struct tl_plan {
    tl_plan_item *items; /* in rank order; of tl_plan_every in path order */
    size_t n;
    tl_plan_side *sides;
    size_t nsides;
    char *texts;            /* owns the texts of items and sides */
    tl_plan_window *windows; /* owns the windows of items */
    tl_hole *holes;          /* [nholes] of the job's recorded time */
    size_t nholes;
    tl_ranges ranks;        /* on proc 0 alone: ranks that have traces, whether asked for or not */
    tl_inventory inventory; /* on proc 0 alone: all files that were found */
    bool *planned;          /* on proc 0 alone: by input of the inventory, whether the input is one of the items */
} tl_plan;

/* Collective: finds the files, looks at them (each proc at its share), and decides ranks and run.  TL_EINPUT: --events
 * names no file.  The same status and message on every proc. */
tl_status tl_plan_make(const tl_options *options, tl_plan *plan, tl_error *err);

/* Collective: finds and looks at the files as tl_plan_make does, but takes every trace and every file that should be
 * one, in path order: neither ranks nor runs matter.  TL_EINPUT: there is none; proc 0 has said what is there
 * instead. */
tl_status tl_plan_every(const tl_options *options, tl_plan *plan, tl_error *err);

/* windows.c, collective: joins runs to the chosen one where they are windows of one job and no run was asked for.
 * paths: of all inputs, each with its end. */
void tl_windows_join(const tl_options *options, const tl_bytes *paths, tl_inventory *inventory);

/* Whether the plan has files of a kind that is no trace; whether one of them is of that kind, and this proc's to read. */
bool tl_plan_has(const tl_plan *plan, tl_input_kind kind);
bool tl_plan_is_mine(const tl_plan_side *side, tl_input_kind kind);

/* Proc 0, with the rank table of the job in order: adds to the plan what only the reading of a file has told (it
 * stood after the events, or in a pipe).  Each row gets what the other files tell of its rank, and its host. */
void tl_plan_learn(tl_plan *plan, tl_rank *rows, size_t n);

/* Proc 0: tl_plan_lost returns how many files were meant as traces but cannot be read at all; tl_plan_warn names on
 * stderr all files that are in no plan. */
size_t tl_plan_lost(const tl_plan *plan);
void tl_plan_warn(const tl_plan *plan);

void tl_plan_free(tl_plan *plan);

#endif
