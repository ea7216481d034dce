/* parts.h - the parts of augment: how the copies are called, which rank waited for which, and what is added to a copy.
 *
 *     PATH traces, DIR out    traces/node1/rank0.json.gz  ->  out/node1/rank0.json.gz
 *
 * A copy keeps its name: ranks, hosts and times stand in names, and other tools look for them there, too.
 */
#ifndef TLMPI_JOB_AUGMENT_PARTS_H
#define TLMPI_JOB_AUGMENT_PARTS_H

#include "tlmpi/job/call/options.h"
#include "tlmpi/job/read/plan.h"
#include "tlmpi/model/path_tables.h"
#include "tlmpi/model/view.h"
#include "tlmpi/store/result.h"
#include "tlmpi/trace_out/splice.h"

/* ---------------------------------------------------------------------------------------------------------- copies */

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

/* ----------------------------------------------------------------------------------------------------------- waits */

/* A wait of one rank for others. */
typedef struct tl_wait {
    int32_t rank;
    uint32_t uid;     /* of the kernel that waited from its start on, its place in traceEvents; TL_NONE: a device did */
    int32_t device;   /* ... that one; of a kernel 0 until the trace is read */
    int64_t start_ns; /* ... from then on, on the rank's own clock; of a kernel 0 until the trace is read */
    int64_t wait_ns;
    int32_t late_rank;  /* who was waited for; -1: not known */
    int64_t collective; /* in what, its row in table collective; -1: in what hosts do */
    uint8_t kind;       /* tl_collective */
} tl_wait;

/* What a result tells of one rank; borrowed. */
typedef struct tl_rank_told {
    const tl_wait *waits;
    size_t nwaits;
    const tl_rank_path_row *path; /* table path, of a run with --path */
    size_t npath, nof_job; /* the first rows are those of the job's path on the rank */
    tl_result *result;     /* has the names of the path's rows */
} tl_rank_told;

/* Zero-initialise; tl_waits_free ends it. */
typedef struct tl_waits {
    TL_VEC(tl_wait) waits;         /* by rank */
    TL_VEC(tl_rank_path_row) path; /* by rank */
    int32_t *rank_of;              /* by item of the plan; below 0: the result does not have it */
    tl_result *result;             /* has the names of the path's rows */
} tl_waits;

/* Reads the waits and paths of the ranks whose traces are wanted: wanted[i] is of item i of the plan.  A trace is known by its name
 * and size, where several of the result have these by its path.  TL_EINPUT: it is no result, or of none of the plan's
 * traces. */
tl_status tl_waits_load(const char *path, const tl_plan *plan, const bool *wanted, tl_waits *out, tl_error *err);
void tl_waits_free(tl_waits *waits);

/* Returns what is told of the item's rank, as long as the waits are there. */
tl_rank_told tl_waits_of(const tl_waits *waits, size_t item);

/* ---------------------------------------------------------------------------------------------------------- tracks */

/* What is added to the copy of one trace: each kind of track is one such pair.
 *
 *     read     the trace -> where in it more events may go, and what they will say
 *     add      writes them, while the trace is copied
 */
typedef struct tl_track_maker {
    tl_copy_ending ending; /* what the copies are called */
    /* Reads the trace; what is told of its rank stays the caller's, and is needed until `free`.  *report is filled as far as the
     * reading came; *out, which `free` ends, on success alone.  TL_EINPUT: it cannot be read, or has such tracks. */
    tl_status (*read)(const char *path, const tl_options *options, const tl_rank_told *told, tl_read_report *report,
                      void **out, tl_error *err);
    tl_splice_add *add;                  /* arg is what `read` has made */
    size_t (*ngaps)(const void *tracks); /* what is shown, for the words at the end */
    void (*free)(void *tracks);          /* NULL is fine */
} tl_track_maker;

/* Idle time by its reasons: table gap, and the short gaps of table series. */
extern const tl_track_maker tl_idle_tracks;

#endif
