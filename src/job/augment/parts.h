/* parts.h - the parts of augment: names of copies, waits between ranks, and the tracks added to a copy.
 *
 *     PATH traces, DIR out    traces/node1/rank0.json.gz  ->  out/node1/rank0.json.gz
 *
 * A copy keeps its trace's name: tools read ranks, hosts and times from file names.
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

/* The ending of a copy's name. */
typedef enum tl_copy_ending {
    TL_COPY_SAME,          /* as the trace: plain or gzip; a zstd trace becomes gzip */
    TL_COPY_IDLE_AUGMENTED /* rank0.pt.trace.json -> rank0.pt.trace_idle_augmented.json.gz: always gzip */
} tl_copy_ending;

typedef struct tl_copy {
    char *path; /* owned */
    int proc;   /* the proc that makes the copy */
} tl_copy;

/* Zero-initialise; copies_free ends it. */
typedef struct tl_copies {
    tl_copy *v; /* by item of the plan */
    size_t n;
} tl_copies;

/* ----------------------------------------------------------------------------------------------------------- waits */

/* A wait of one rank for others. */
typedef struct tl_wait {
    int32_t rank;
    uint32_t uid;     /* index in traceEvents of the kernel that waited; TL_NONE: an idle device waited */
    int32_t device;   /* device; for a kernel 0 until the trace is read */
    int64_t start_ns; /* begin of the wait, on the rank's own clock; for a kernel 0 until the trace is read */
    int64_t wait_ns;
    int32_t late_rank;  /* the rank that was waited for; -1: unknown */
    int64_t collective; /* row in table collective; -1: a collective of hosts */
    uint8_t kind;       /* tl_collective */
} tl_wait;

/* The data of a result about one rank; borrowed. */
typedef struct tl_rank_told {
    const tl_wait *waits;
    size_t nwaits;
    const tl_rank_path_row *path; /* table path, of a run with --path */
    size_t npath, nof_job;        /* the first nof_job rows are the part of the job's path on the rank */
    tl_result *result;            /* holds the names in the path's rows */
} tl_rank_told;

/* Zero-initialise; tl_waits_free ends it. */
typedef struct tl_waits {
    TL_VEC(tl_wait) waits;         /* by rank */
    TL_VEC(tl_rank_path_row) path; /* by rank */
    int32_t *rank_of;              /* by item of the plan; below 0: the result does not have the rank */
    tl_result *result;             /* holds the names in the path's rows */
} tl_waits;

/* Reads the waits and paths of ranks; wanted[i]: item i of the plan is needed.  Traces are matched to the result's
 * ranks by file name and size, and by path if several ranks match.  TL_EINPUT: not a result, or none of the plan's
 * traces match. */
tl_status tl_waits_load(const char *path, const tl_plan *plan, const bool *wanted, tl_waits *out, tl_error *err);
void tl_waits_free(tl_waits *waits);

/* Returns the data of the item's rank, valid as long as the waits are. */
tl_rank_told tl_waits_of(const tl_waits *waits, size_t item);

/* ---------------------------------------------------------------------------------------------------------- tracks */

/* A kind of track, added to the copy of one trace by a pair of functions.
 *
 *     read     the trace -> the places for more events, and their content
 *     add      writes these events while the trace is copied
 */
typedef struct tl_track_maker {
    tl_copy_ending ending; /* ending of the copies' names */
    /* Reads the trace; `told` must live until `free`.  *report is filled as far as reading came; *out, ended by `free`,
     * only on success.  TL_EINPUT: the trace cannot be read, or has such tracks already. */
    tl_status (*read)(const char *path, const tl_options *options, const tl_rank_told *told, tl_read_report *report,
                      void **out, tl_error *err);
    tl_splice_add *add;                  /* arg is *out of `read` */
    size_t (*ngaps)(const void *tracks); /* number of gaps shown */
    void (*free)(void *tracks);          /* NULL is fine */
} tl_track_maker;

/* Idle time by its causes: table gap, and the short gaps of table series. */
extern const tl_track_maker tl_idle_tracks;

#endif
