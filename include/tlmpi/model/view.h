/* view.h - everything about one rank, as analyses see it.
 *
 * A view is borrowed and const, valid for the call of a hook.  Times are Unix nanoseconds.  There is no JSON in here, no
 * file and no process number.
 */
#ifndef TLMPI_MODEL_VIEW_H
#define TLMPI_MODEL_VIEW_H

#include "tlmpi/base/span.h"
#include "tlmpi/model/coll.h"
#include "tlmpi/model/kind.h"
#include "tlmpi/model/names.h"
#include "tlmpi/model/schema.h"

/* One piece of device work: a kernel, a copy or a memset. */
typedef struct tl_kernel {
    int64_t start_ns, end_ns;           /* end_ns >= start_ns */
    int64_t launch_ns;                  /* start of the runtime or driver call that queued it; TL_TIME_UNKNOWN when the
                                         * launch is not in the trace */
    int64_t correlation;                /* -1 when absent */
    int64_t bytes;                      /* of a copy or memset; -1 when unknown */
    uint32_t name;                      /* id in names */
    uint32_t launch;                    /* index into launches, TL_NONE */
    uint32_t uid;                       /* position in traceEvents */
    int32_t device, stream;             /* -1 when the trace does not say */
    int32_t step;                       /* number of its tl_step_window; -1 for none */
    uint32_t coll;                      /* index into colls, TL_NONE; when kind is comm, it has one */
    uint8_t kind;                       /* tl_kind: compute, comm, memcpy, memset */
    uint8_t collective;                 /* tl_collective, when kind is comm */
    uint8_t unclassified;               /* 1: a kernel that no rule names, counted as compute */
} tl_kernel;

/* A device-side wait that the profiler recorded (cuda_sync); not work, never busy time. */
typedef struct tl_sync {
    int64_t start_ns, end_ns;
    int64_t correlation;                /* -1 when absent */
    int64_t call_ns;                    /* the call it belongs to, TL_TIME_UNKNOWN */
    uint32_t name, uid;
    int32_t device, stream;             /* -1 when absent */
    int32_t step;
} tl_sync;

/* A runtime or driver call that shares its correlation with device work. */
typedef struct tl_launch {
    int64_t start_ns, end_ns;
    uint32_t name, uid, track;
    uint32_t nkernels;                  /* one call of a graph launch queues many */
} tl_launch;

/* One training step: ProfilerStep#number of the host's marks, from its start to the start of the next mark; the last one
 * to its own end. */
typedef struct tl_step_window {
    int64_t start_ns, end_ns;
    int32_t number;
    uint32_t name;
} tl_step_window;

#define TL_NONE UINT32_MAX

typedef struct tl_rank_view {
    int32_t rank;
    const tl_kernel *kernels;   size_t nkernels;    /* by (device, stream, start, end, uid) */
    const tl_sync *syncs;       size_t nsyncs;      /* likewise */
    const tl_launch *launches;  size_t nlaunches;   /* by (start, uid) */
    const tl_step_window *steps;       size_t nsteps;      /* by start; windows do not overlap */
    const tl_coll *colls;       size_t ncolls;      /* in the order of their kernels */
    const tl_group *groups;     size_t ngroups;     /* process groups, in order of first use */
    const tl_names *names;
} tl_rank_view;

#endif
