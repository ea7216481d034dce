/* view.h - the data of one rank for analyses.
 *
 * A view is borrowed and const, valid during the call of a hook.  Times are Unix nanoseconds.  A view does not depend
 * on JSON, files or procs.
 *
 * The first header of the layer model, which defines the input and output of analyses: the view of a rank, its parts in
 * collectives (participant.h), and rows of tables (schema.h, table.h; columns in *_tables.h and the like).  May use
 * base.
 */
#ifndef TLMPI_MODEL_VIEW_H
#define TLMPI_MODEL_VIEW_H

#include "tlmpi/base/mem.h"
#include "tlmpi/model/coll.h"
#include "tlmpi/model/kind.h"
#include "tlmpi/model/names.h"
#include "tlmpi/model/schema.h"

#define TL_NONE UINT32_MAX

/* One piece of device work: a kernel, a copy or a memset. */
typedef struct tl_kernel {
    int64_t start_ns, end_ns; /* end_ns >= start_ns */
    int64_t launch_ns;        /* start of the runtime or driver call that queued it; TL_TIME_UNKNOWN: the launch is not
                               * in the trace */
    int64_t correlation;      /* -1: absent */
    int64_t bytes;            /* of a copy or memset; -1: unknown */
    uint32_t name;            /* id in names */
    uint32_t launch;          /* index into launches; TL_NONE: not in the trace */
    uint32_t uid;             /* position in traceEvents */
    int32_t device, stream;   /* -1: the trace does not tell */
    int32_t step;             /* number of the tl_step_window that has its launch; -1: none */
    union {
        uint32_t blocks; /* of compute: blocks of the grid, at most UINT32_MAX; 0: unknown */
        uint32_t coll;   /* of comm: index into colls */
        uint32_t said;   /* of a copy or memset: index into said_gb_per_s; TL_NONE: the trace tells no bandwidth */
    };
    uint8_t kind;         /* tl_kind: compute, comm, memcpy, memset */
    uint8_t collective;   /* tl_collective, if kind is comm; of compute TL_COLL_UNKNOWN if the name does not exclude
                           * communication */
    uint8_t unclassified; /* 1: no rule names the kernel, which counts as compute, or as comm if it behaves as
                           * communication */
} tl_kernel;

static inline bool tl_same_stream(const tl_kernel *a, const tl_kernel *b)
{
    return a->device == b->device && a->stream == b->stream;
}

/* A device-side wait that the profiler recorded (cuda_sync); not work, never busy time. */
typedef struct tl_sync {
    int64_t start_ns, end_ns;
    int64_t correlation; /* -1: absent */
    int64_t call_ns;     /* start of the call that it belongs to; TL_TIME_UNKNOWN: none */
    uint32_t name, uid;
    int32_t device, stream;      /* -1: absent */
    int32_t wait_on_stream;      /* of a wait for a recorded event: stream that recorded the event; -1 when absent */
    int64_t wait_on_correlation; /* correlation of the call that recorded the event; -1 when absent */
    int32_t step;
} tl_sync;

/* A runtime or driver call that shares its correlation with device work. */
typedef struct tl_launch {
    int64_t start_ns, end_ns;
    uint32_t name, uid, track;
    uint32_t nkernels; /* number of kernels that the call queues; a graph launch may queue many */

    /* What is open when the call starts: the innermost operator, and the innermost user annotation other than step
     * marks.  If the thread has no annotations, those open on the thread with the most annotations count, for which it
     * works, as autograd's threads do.  Indices into ops, valid as long as ops are, and ids in names; TL_NONE and
     * TL_NO_NAME: none. */
    uint32_t op, annotation, op_name, annotation_name;
} tl_launch;

#define TL_LAUNCH_OF_NOTHING TL_NONE, TL_NONE, TL_NO_NAME, TL_NO_NAME /* no operator or annotation is open */

/* What the name of an annotation tells of an iteration of a server.  requests, tokens: of the batch; NAN: not told. */
typedef struct tl_iteration {
    tl_serving serving; /* TL_NOT_SERVING: the name is not one of an iteration */
    double requests, tokens;
} tl_iteration;

/* Returns what a name such as "step[DECODE bs=64 toks=64]" or "execute_context_3(1024)_generation_12(12)" tells. */
tl_iteration tl_iteration_of(tl_text name);

/* One step: ProfilerStep#number of the host's marks, or an iteration of a server, from the start of its mark to the
 * start of the next mark, or, for the last step, to the end of its mark. */
typedef struct tl_step_window {
    int64_t start_ns, end_ns;
    int32_t number;
    uint32_t name;
} tl_step_window;

/* Events of the host are stored in columns, since they are most of a trace, and a pass uses two or three columns. */

/* The events of one thread: [first, first + n) of calls, or of ops. */
typedef struct tl_thread {
    uint32_t track; /* number of its (pid, tid) pair: the same in calls, ops and launches */
    size_t first, n;
} tl_thread;

/* Device and stream in the arguments of a call; -1: absent. */
typedef struct tl_stream_id {
    int32_t device, stream;
} tl_stream_id;

/* All runtime and driver calls; by (thread, start, longer first, uid). */
typedef struct tl_calls {
    const int64_t *start_ns, *dur_ns;
    const int64_t *correlation; /* -1: absent */
    const uint32_t *name, *uid;
    const uint32_t *stream; /* index into the view's streams */
    const int8_t *copy;     /* the `kind` in a copy's arguments: 1 to the device, 2 from it, 3 on it; -1: absent */
    size_t n;
    const tl_thread *threads; /* by track */
    size_t nthreads;
} tl_calls;

typedef enum tl_op_kind { TL_OP, TL_FRAME, TL_ANNOTATION } tl_op_kind; /* operator, Python function, user annotation */

/* Operators, Python functions and user annotations; by (thread, start, longer first, uid).  On a thread they nest: an
 * op that begins later and is open at the same time is deeper. */
typedef struct tl_ops {
    const int64_t *start_ns, *dur_ns;
    const uint32_t *name, *uid;
    const uint8_t *kind; /* tl_op_kind */
    size_t n;
    const tl_thread *threads; /* by track */
    size_t nthreads;
} tl_ops;

/* An operator of the backward pass, and the operator of the forward pass whose gradients it computes: indices into
 * ops. */
typedef struct tl_backward {
    uint32_t op, forward;
} tl_backward;

/* A call that queued work of an operator whose floating-point operations are known. */
typedef struct tl_flop {
    int64_t flop;        /* of the operator, at its first such call; 0 at the others */
    uint32_t launch, op; /* op: valid as long as ops are */
    uint8_t precision;   /* tl_precision of the operands */
} tl_flop;

/* The span of the device work launched within a user annotation, from the first start to the last end, as the profiler
 * mirrors it on a stream (gpu_user_annotation).  It is not work itself. */
typedef struct tl_device_range {
    int64_t start_ns, dur_ns;
    uint32_t name, uid;
} tl_device_range;

/* A hardware counter of a range (cuda_profiler_range), which mostly is one kernel; a range has many counters.  Or that
 * of a sample of the device, of whatever it did then. */
typedef struct tl_counted {
    int64_t start_ns;
    uint32_t uid;           /* of the range */
    uint32_t name, counter; /* names of the range and of the counter; TL_NO_NAME: the range has no name, or no value */
    double value;
    bool sampled;
} tl_counted;

/* Memory that an allocator holds, recorded when it allocates or frees. */
typedef struct tl_memory {
    int64_t at_ns;
    int64_t allocated, reserved; /* bytes; INT64_MIN: the trace does not tell */
    int32_t device;              /* -1: the host */
    uint32_t uid, track;         /* uid; track of the thread */
    int64_t bytes;               /* allocated: above 0; freed: below 0; INT64_MIN: the trace does not tell */
} tl_memory;

/* A window of the recording: the rank records nothing between the end of one window and the beginning of the next. */
typedef struct tl_recorded_window {
    int64_t begin_ns;
    int32_t number; /* number of the window in the job */
} tl_recorded_window;

typedef struct tl_rank_view {
    int32_t rank;
    int64_t world_size;       /* number of ranks of the job in the trace's metadata; below 1: unknown */
    const tl_kernel *kernels; /* by (device, stream, start, end, uid) */
    size_t nkernels;
    size_t ntoo_long;     /* kernels with an impossible end, which was cut */
    int64_t too_long_ns;  /* ns cut off these kernels, summed */
    const tl_sync *syncs; /* by (device, stream, start, end, uid) */
    size_t nsyncs;
    const tl_launch *launches; /* by (start, uid) */
    size_t nlaunches;
    const tl_flop *flops; /* by launch; empty: the trace has no shapes */
    size_t nflops;
    const char *device_name;     /* of the first device; NULL or empty: unknown */
    const tl_step_window *steps; /* by start; windows do not overlap */
    size_t nsteps;
    bool served;                       /* the steps are iterations of a server */
    const tl_recorded_window *windows; /* by begin; empty if the recording is in one piece */
    size_t nwindows;
    size_t nlost_steps;   /* number of marks left out, since their step number is negative or too large */
    size_t nagain_steps;  /* number of marks left out, since their thread had marked the same number before, and another
                           * since */
    const tl_coll *colls; /* in the order of their kernels */
    size_t ncolls;
    const double *said_gb_per_s; /* bandwidths of copies as written in the trace, in 10^9 byte/s; may be NaN */
    const tl_group *groups;      /* process groups, in order of first use */
    size_t ngroups;
    const tl_names *names;
    const tl_counted *counted; /* by (sampled, start, uid, counter) */
    size_t ncounted;
    const tl_memory *memory; /* by (device, time, uid) */
    size_t nmemory;
    const tl_device_range *ranges; /* in the order of the trace */
    size_t nranges;

    /* The events of the host.  Only for analyses with TL_NEEDS_HOST; empty for the others. */
    tl_calls calls;
    tl_ops ops;
    const tl_backward *backwards; /* by (op, forward); empty: the trace does not tell */
    size_t nbackwards;
    const tl_stream_id *streams;
    const uint32_t *name_key; /* by name: id of the text with addresses masked ("0x7f3c" -> "0x..."), equal for names
                               * that differ in addresses only; NULL: no name has an address */
} tl_rank_view;

/* Returns the index of the window that contains the instant; 0: there are no windows. */
size_t tl_window_at(const tl_rank_view *view, int64_t at_ns);

/* Returns whether a window of the recording begins between the end of one piece of work, or call, and the start of the
 * next. */
bool tl_is_seam(const tl_rank_view *view, int64_t from_ns, int64_t to_ns);

/* Return the end index of the work of the device, and of the stream, that begins with kernel `from` < nkernels. */
size_t tl_device_end(const tl_rank_view *view, size_t from);
size_t tl_stream_end(const tl_rank_view *view, size_t from);

/* Returns the entry of flops for the launch (TL_NONE: unknown); NULL: none.  *near: where the last search ended, from
 * 0. */
const tl_flop *tl_flop_of(const tl_rank_view *view, uint32_t launch, size_t *near);

/* Return the end of an op, and of a call. */
static inline int64_t tl_op_end(const tl_ops *ops, size_t op)
{
    return ops->start_ns[op] + ops->dur_ns[op];
}

static inline int64_t tl_call_end(const tl_calls *calls, size_t call)
{
    return calls->start_ns[call] + calls->dur_ns[call];
}

/* Returns the number of the step whose window contains the instant; -1: none. */
int32_t tl_step_at(const tl_step_window *steps, size_t n, int64_t at_ns);

/* The ops that are open at an instant, in a sweep over one thread in order of time.  Initialise with { .ops = ... };
 * the caller frees stack.v. */
typedef struct tl_open_ops {
    const tl_ops *ops;
    TL_VEC(uint32_t) stack; /* the innermost last */
} tl_open_ops;

/* Opens the op, and closes ops that end by its start. */
void tl_open_ops_push(tl_open_ops *open, uint32_t op);

/* Returns the innermost op at that instant (TL_NONE: none), and closes ops that end by then. */
uint32_t tl_open_ops_innermost(tl_open_ops *open, int64_t at_ns);

/* Returns the number of ops on the stack, from the outermost, that contain a call: up to the innermost op that is open
 * at start_ns and still at end_ns, within the rounding of written times.  If no op lasts until end_ns, all ops open at
 * start_ns count.  Closes ops that end by start_ns. */
size_t tl_open_ops_around(tl_open_ops *open, int64_t start_ns, int64_t end_ns);

/* Returns the thread with the most annotations: threads without annotations work for it.  Ties: the thread that begins
 * first; NULL: no thread has annotations. */
const tl_thread *tl_main_thread(const tl_ops *ops);

/* Returns whether an annotation with that name marks a step; table step has the marks.  served: iterations of a server
 * are steps. */
bool tl_is_step_mark(const tl_names *names, bool served, uint32_t name);

/* Adds the tracks of the threads that launch work to an empty map, each with value 1; the caller frees the map in any
 * case. */
void tl_launching_tracks(const tl_rank_view *view, tl_map *tracks);

/* The launches by thread, then (start, uid): those of track t are v[first[t]] to v[first[t + 1] - 1]; tracks from
 * ntracks on have none.  The arrays belong to the arena. */
typedef struct tl_thread_launches {
    uint32_t *v;
    size_t *first, ntracks;
} tl_thread_launches;

void tl_launches_by_thread(const tl_rank_view *view, tl_arena *arena, tl_thread_launches *out);

/* Returns the track of the thread that made the call. */
uint32_t tl_call_track(const tl_calls *calls, size_t call);

/* Comparisons for tl_sort_index, with the kernels as context: by start; by (start, uid). */
int tl_kernel_by_start(const void *kernels, uint32_t a, uint32_t b);
int tl_kernel_by_start_uid(const void *kernels, uint32_t a, uint32_t b);

static inline uint32_t tl_name_key(const tl_rank_view *view, uint32_t name)
{
    return view->name_key != NULL && name != TL_NO_NAME ? view->name_key[name] : name;
}

#endif
