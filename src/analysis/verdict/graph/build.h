/* build.h - the graph of one rank under construction: what is known of each kernel, and the nodes and edges so far. */
#ifndef ANALYSIS_GRAPH_BUILD_H
#define ANALYSIS_GRAPH_BUILD_H

#include "tlmpi/analysis/verdict/graph.h"
#include "tlmpi/base/hash.h"
#include "tlmpi/base/sort.h"
#include "tlmpi/model/parameters.h"

/* Limits of a recording's span (19 hours) and of the sum of its work (36 years): beyond these no graph is made, so sums
 * of times never overflow. */
#define TL_GRAPH_MAX_NS      (INT64_C(1) << 46)
#define TL_GRAPH_MAX_WORK_NS (INT64_C(1) << 60)

/* -------------------------------------------------------------------------------------- from the host's columns */

typedef enum tl_call_wait {
    TL_CALL_WAITS_STREAM, /* for the work launched on a stream, or before an event */
    TL_CALL_WAITS_DEVICE,
    TL_CALL_FREES,
    TL_CALL_PAUSE,  /* the time between two calls, in which the host may have waited */
    TL_CALL_UNKNOWN /* a call whose name does not tell whether it waits */
} tl_call_wait;

/* A certain or possible wait of a thread that launches work. */
typedef struct tl_waiting_call {
    int64_t start_ns, end_ns;
    uint64_t calls; /* of a possible wait: key of the calls before and after a pause, or of the call before and the call
                     * itself */
    uint32_t track;
    int32_t device, stream;  /* -1: all, or unknown */
    uint32_t name;           /* of the call; name, op and annotation are ids of the view's names, or TL_NO_NAME */
    uint32_t op, annotation; /* around the begin of a call, or the end of a pause; filled for graphs with labels */
    uint8_t kind;            /* tl_call_wait */
} tl_waiting_call;

/* A recorded wait of one stream for an event of another: kernels launched on `stream` from wait_ns on come after all
 * kernels launched on `on_stream` before record_ns. */
typedef struct tl_event_wait {
    int64_t wait_ns, record_ns;
    int32_t device, stream, on_stream;
} tl_event_wait;

struct tl_host_calls {
    TL_VEC(tl_waiting_call) waits;
    TL_VEC(tl_event_wait) events;
    int64_t begin_ns; /* without step marks: begin of the first operator of a launching thread; INT64_MAX: none */
};

/* ------------------------------------------------------------------------------------------------------ the draft */

/* An edge of the graph under construction, not yet grouped by node. */
typedef struct tl_draft_edge {
    int64_t lag_ns;
    uint32_t from, to;
} tl_draft_edge;

typedef struct tl_draft_vote {
    uint64_t vote;
    size_t edge;
} tl_draft_vote;

/* Facts of one kernel. */
typedef struct tl_graph_kernel {
    int64_t launch_ns; /* begin of its launch on the device's clock; TL_TIME_UNKNOWN */
    uint64_t name;     /* content key of its name without addresses; for copies without kinds of memory */
    uint64_t position; /* hash of its step's sequence of work and of its index there */
    uint64_t key;      /* hash of its name, of the number of collectives since the step began, and of its index among
                        * the step's kernels with both in common */
    uint32_t launch;   /* its launch, or one made up for it (unlaunched.c); TL_NONE */
    uint32_t turn;     /* its index in by_turn, the order of launches */
    uint32_t segment;
    uint32_t nwork; /* number of compute kernels launched since the last communication kernel */
    int32_t step;
    uint32_t start; /* its first node: WORK or ARRIVAL */
    uint32_t end;   /* its last node: WORK or END */
    bool before;    /* launched before the recording began (sequence.c) */
} tl_graph_kernel;

/* The kernels of one stream: indices [first, end). */
typedef struct tl_stream_range {
    size_t first, end;
} tl_stream_range;

typedef struct tl_graph_build {
    const tl_rank_view *view;
    const tl_host_calls *calls;
    tl_arena arena; /* owns the arrays up to `streams` */
    const tl_host_spans *spans;
    int64_t lag_ns;          /* lead of the host's clock over the device's; subtracted from all host times */
    int64_t latency_ns;      /* from launch to kernel start on an idle device */
    tl_graph_kernel *placed; /* by kernel */
    uint32_t *by_end;        /* kernels, ascending by end */
    uint32_t *by_turn;       /* kernels, ascending by launch */
    size_t nunlaunched;      /* number of kernels without a launch */
    size_t nlaunches;        /* number of launches: of the view, then those made up (unlaunched.c) */
    uint32_t *tracks;        /* by launch: its thread */
    int64_t *handed_ns;      /* by launch: when its work is handed over; INT64_MAX: it has no kernel */
    uint32_t *blocking;      /* by launch: the copy for whose end the call waits; TL_NONE */
    bool *queue_full;        /* by launch: the queue was full, and the call waited for room */
    int64_t call_ns;         /* median length of the launch calls that found room in the queue, 20 us at most */
    uint32_t *launched;      /* by launch: its node */
    int64_t *latest_ns;      /* by turn: latest launch up to there */
    tl_stream_range *streams;
    size_t nstreams;
    TL_VEC(tl_node) nodes;
    TL_VEC(tl_draft_edge) edges;
    TL_VEC(tl_draft_vote) votes; /* ascending by edge */
    TL_VEC(tl_node_comm) comms;
    TL_VEC(tl_pause) pauses;
    TL_VEC(tl_pause_release) releases;
    TL_VEC(uint64_t) false_votes;
} tl_graph_build;

/* Appends a node; returns its number. */
uint32_t tl_graph_node(tl_graph_build *b, tl_node node);
void tl_graph_edge(tl_graph_build *b, uint32_t from, uint32_t to, int64_t lag_ns, uint64_t vote);

/* sequence.c: fills all fields above up to `streams`, and `placed` but for its nodes. */
void tl_graph_place(tl_graph_build *b);

/* unlaunched.c: estimates the launches of kernels without one; `by_end` and latency_ns must be known. */
void tl_graph_find_unlaunched(tl_graph_build *b);

/* full_queue.c: fills `queue_full`; kernels must be in order. */
void tl_graph_find_full_queue(tl_graph_build *b);

/* depend.c: adds the edges between streams. */
void tl_graph_depend(tl_graph_build *b);

/* host.c: tl_graph_host adds the nodes of the host and the edges between them; then work gets its nodes; then
 * tl_graph_released adds the edges from work to the waits that it released. */
typedef struct tl_graph_hosts tl_graph_hosts;
typedef struct tl_labelling tl_labelling;
tl_graph_hosts *tl_graph_host(tl_graph_build *b);
void tl_graph_released(tl_graph_build *b, const tl_graph_hosts *hosts);
void tl_graph_hosts_free(tl_graph_hosts *hosts);

/* host.c: labels the nodes of waits in calls. */
void tl_graph_label_waits(const tl_graph_hosts *hosts, tl_labelling *labelling);

/* release.c: returns the kernel whose end released a call that waited over [start_ns, end_ns), on the device's clock;
 * TL_NONE. */
uint32_t tl_graph_release_of(const tl_graph_build *b, const tl_waiting_call *call, int64_t start_ns, int64_t end_ns);

/* release.c: whether any kernel launched before start_ns still runs at end_ns. */
bool tl_graph_runs_on(const tl_graph_build *b, int64_t start_ns, int64_t end_ns);

/* release.c: appends a pause of the host, [start_ns, end_ns), and its possible releases. */
void tl_graph_pause(tl_graph_build *b, tl_pause pause, int64_t start_ns, int64_t end_ns);

/* labels.c: labels the nodes of work, of its launches and of waits. */
tl_node_labels *tl_graph_labels_of(const tl_graph_build *b, const tl_graph_hosts *hosts);
void tl_node_labels_free(tl_node_labels *labels); /* NULL is fine */

/* labels.c: gives two nodes, which may be one, a label: `label` with the names, which are ids of the view's names. */
void tl_graph_label(tl_labelling *labelling, uint32_t begin, uint32_t end, uint32_t name, uint32_t operator_name,
                    uint32_t annotation, tl_node_label label);

/* Whether the wait is only a possible one, which unrecorded_waits.c judges together with all others between the same
 * calls. */
static inline bool tl_may_have_waited(const tl_waiting_call *call)
{
    return call != NULL && call->kind >= TL_CALL_PAUSE;
}

/* Returns the number of kernels that end at at_ns or earlier: the first ones of by_end. */
size_t tl_graph_ended(const tl_graph_build *b, int64_t at_ns);

/* Returns the step of an instant on the host's clock: -1 before the first step, TL_STEP_AFTER after the end of the
 * last.  Where the recording was interrupted, an instant before the next recorded step is of that step. */
static inline int32_t tl_graph_step(const tl_rank_view *view, int64_t host_ns)
{
    size_t low = 0;
    TL_BISECT(low, view->nsteps, mid, view->steps[mid].start_ns <= host_ns);
    if (low == 0)
        return -1;
    if (low < view->nsteps && tl_is_seam(view, view->steps[low - 1].start_ns, host_ns))
        return view->steps[low].number;
    return host_ns < view->steps[low - 1].end_ns || low < view->nsteps ? view->steps[low - 1].number : TL_STEP_AFTER;
}

static inline int64_t tl_graph_host_time(const tl_graph_build *b, int64_t host_ns)
{
    return host_ns - b->lag_ns;
}

#endif
