/* copies.h - what the copies of traces are called, who makes them, and that none of them takes the place of a trace or
 * of another copy.
 *
 *     PATH traces, DIR out    traces/node1/rank0.json.gz  ->  out/node1/rank0.json.gz
 *
 * A copy keeps its name: ranks, hosts and times stand in names, and other tools look for them there, too.
 */
#ifndef JOB_AUGMENT_COPIES_H
#define JOB_AUGMENT_COPIES_H

#include "tlmpi/job/read/plan.h"

/* What a copy is called. */
typedef enum tl_copy_ending {
    TL_COPY_SAME,          /* rank0.json.gz, plain or gzip as the trace is; gzip of zstd */
    TL_COPY_IDLE_AUGMENTED /* rank0.pt.trace.json -> rank0.pt.trace_idle_augmented.json.gz: always gzip */
} tl_copy_ending;

typedef struct tl_copy {
    char *path; /* owned */
    int proc;   /* that makes it */
} tl_copy;

/* A file, whatever it is called; both 0 where there is none. */
typedef struct tl_file_id {
    uint64_t device, inode;
} tl_file_id;

/* Zero-initialise; tl_copies_free ends it. */
typedef struct tl_copies {
    tl_copy *v; /* one for each item of the plan */
    size_t n;
    tl_file_id *traces; /* one for each item of the plan: its own file */
} tl_copies;

/* Names the copies, and shares them out by the sizes of their traces: the same on every proc.  Makes DIR.  TL_EUSAGE:
 * two would be one file, or DIR lies in a folder that is searched for traces; TL_EOUTPUT. */
tl_status tl_copies_plan(const tl_plan *plan, const tl_options *options, tl_copy_ending ending, int nprocs,
                         tl_copies *out, tl_error *err);

/* Whether the copy, or what it is called while it is written, is one of the traces.  TL_EUSAGE. */
tl_status tl_copy_check(const tl_copies *copies, size_t i, tl_error *err);

void tl_copies_free(tl_copies *copies);

#endif
