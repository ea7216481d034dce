/* internal.h - shared by the files of this folder.
 *
 *     step.c, measured.c, comm.c       read the columns of the events
 *     device.c, select.c               which call queued what; ends that cannot be; which events are selected
 *     host.c, flop.c, work.c           fill the columns and rows of the view
 *     coll.c, peer.c, group.c          make collectives of rows that are communication
 *     link.c                           calls these in order
 *
 * Times of events are Unix ns in here: link.c adds the base time first.
 */
#ifndef TLMPI_TRACE_VIEW_INTERNAL_H
#define TLMPI_TRACE_VIEW_INTERNAL_H

#include "tlmpi/base/sort.h"
#include "tlmpi/base/stats.h"
#include "tlmpi/trace/view.h"
#include <stdlib.h>
#include <string.h>

/* ----------------------------------------------------------------------------------------------------------- events */

/* The parts of a view, by category of events. */
#define TL_SET_OPS   (TL_CAT_BIT(TL_CAT_CPU_OP) | TL_CAT_BIT(TL_CAT_PYTHON) | TL_CAT_BIT(TL_CAT_USER_ANNOTATION))
#define TL_SET_CALLS (TL_CAT_BIT(TL_CAT_RUNTIME) | TL_CAT_BIT(TL_CAT_DRIVER))
#define TL_SET_WORK  TL_CAT_GPU_WORK
#define TL_SET_WAITS TL_CAT_BIT(TL_CAT_SYNC)

/* Whether the event has one of the categories (bits) and the times that it needs: a start for device events, a complete
 * span for host events. */
static inline bool tl_event_in(const tl_events *e, size_t i, uint32_t cats)
{
    const unsigned span = TL_EVENT_HAS_TS | TL_EVENT_PH_X;
    const unsigned need = cats & (TL_SET_WORK | TL_SET_WAITS) ? TL_EVENT_HAS_TS : span;
    return (TL_CAT_BIT(tl_event_cat(e, i)) & cats) && (e->flags[i] & need) == need;
}

/* Returns ts + base; ts on overflow. */
static inline int64_t tl_since_base(int64_t ts_ns, int64_t base_ns)
{
    int64_t sum;
    return __builtin_add_overflow(ts_ns, base_ns, &sum) ? ts_ns : sum;
}

/* Returns x if it is in [0, INT32_MAX]; else -1. */
static inline int32_t tl_small_int(int64_t x)
{
    return x >= 0 && x <= INT32_MAX ? (int32_t)x : -1;
}

/* Indices of events; the caller frees v. */
typedef TL_VEC(uint32_t) tl_event_list;

/* Copies n elements into the arena and frees the array.  Returns the copy. */
static inline void *tl_arena_move(tl_arena *arena, void *array, size_t n, size_t size)
{
    void *copy = tl_arena_take(arena, n, size);
    if (n > 0)
        memcpy(copy, array, n * size);
    free(array);
    return copy;
}

/* ----------------------------------------------------------------------------------------------------------- device */

/* The events of one stream of one device.  device, stream -1: unknown. */
typedef struct tl_stream_events {
    int32_t device, stream;
    size_t first, n; /* in tl_device.events */
} tl_stream_events;

/* The work of devices, or the waits for devices. */
typedef struct tl_device {
    tl_event_list events; /* by (device, stream, start, end), then as in the file */
    TL_VEC(tl_stream_events) streams;
    uint32_t *launch; /* by event: index in the calls of tl_device_find, later in the launches; TL_NONE: none */
} tl_device;

/* Returns the runtime and driver calls with a correlation above 0, by (correlation, start, uid).  Profilers write 0 or
 * less for work that they could not correlate. */
tl_event_list tl_calls_find(const tl_events *events);

/* Returns the index in `calls` of the call that queued a device event: of several with its correlation, the last that
 * began before the event, else the first; TL_NONE: there is none. */
uint32_t tl_call_of(const tl_events *events, const tl_event_list *calls, uint32_t event, size_t *near);

/* Returns the device events of these categories.  Work without a recorded device counts for the lowest device that
 * other work names; a wait may be for any device.  tl_device_free ends the result. */
tl_device tl_device_find(const tl_events *events, const tl_event_list *calls, uint32_t cats);
void tl_device_free(tl_device *device);

/* Reductions of durations, ns. */
typedef TL_VEC(struct {
    uint32_t event;
    int64_t less_ns;
}) tl_cuts;

/* Cuts impossible ends of work in the events' durations; the order of work stays. */
void tl_overruns_cut(tl_events *events, const tl_device *work, tl_cuts *cuts);

/* ---------------------------------------------------------------------------------------------- the parts of a view */

/* Fills the steps of the view, by start, from the host's marks (step.c), and returns them; base_ns is added to their
 * times.  Marks of one number on several threads are one step. */
tl_step_window *tl_steps_collect(const tl_events *events, int64_t base_ns, const tl_rules *rules, tl_linked *out);

/* Hides the events that are not selected (removes their time), and drops the steps that are not selected completely.
 * Adds the steps and times of the trace to *found. */
void tl_events_select(tl_events *events, const tl_event_list *calls, const tl_selection *selection,
                      tl_step_window *steps, size_t *nsteps, tl_found *found);

/* Fills `counted`, `memory` and `ranges` of the view. */
void tl_measured_collect(const tl_events *events, tl_linked *out);

/* Returns the host events of these categories, by thread, start, longer first, then in file order; the threads are
 * allocated in the arena. */
tl_event_list tl_host_order(const tl_events *events, uint32_t cats, tl_arena *arena, const tl_thread **threads,
                            size_t *nthreads);

/* Returns the key of each name, allocated in the arena: the name without addresses; NULL: no name has an address.  Adds
 * new keys to the names. */
const uint32_t *tl_name_keys_make(tl_names *names, tl_arena *arena);

/* One end of an arrow from a forward operator to a backward operator. */
typedef struct tl_flow {
    int64_t id, at_ns;
    uint32_t track, uid;
    bool to; /* the end of the arrow: start of the backward operator */
} tl_flow;

/* tl_flows_collect lists the arrows of category fwdbwd while the events still have their columns; tl_backwards_find
 * fills `backwards` of the view after its ops are sorted.  The caller frees flows->v. */
typedef TL_VEC(tl_flow) tl_flows;
void tl_flows_collect(const tl_events *events, tl_flows *flows);
void tl_backwards_find(tl_flows *flows, tl_linked *out);

/* An operator whose floating-point operations are known. */
typedef struct tl_computing_op {
    int64_t flop;
    uint32_t op;     /* index into ops */
    uint32_t past;   /* the ops in it are [op, past) */
    uint32_t around; /* index of the one around it; TL_NONE: none */
    uint8_t precision;
    bool launches, outer; /* it queued work outside of others of the list; another in it did */
} tl_computing_op;

typedef TL_VEC(tl_computing_op) tl_computing_ops;

/* tl_flops_collect lists the operators, in the order of `ops`, the events of the view's ops, with flop, op and
 * precision; tl_flops_find fills `flops` of the view after its kernels are made.  The caller frees list->v. */
void tl_flops_collect(const tl_events *events, const tl_event_list *ops, tl_computing_ops *list);
void tl_flops_find(tl_computing_ops *list, tl_linked *out);

/* Fills op, annotation and their names in the view's launches, from its ops. */
void tl_launches_find_ops(const tl_rank_view *view, tl_launch *launches);

/* ---------------------------------------------------------------------------------------------------- communication */

/* A communication operator on the host: record_param_comms, c10d::..., nccl:... */
typedef struct tl_comm_op {
    int64_t start_ns, end_ns;
    uint32_t track, event;
    uint32_t around;    /* the operator that was open when this one began; TL_NONE: none */
    uint8_t collective; /* from its name; TL_COLL_UNKNOWN: the name has none */
    bool coalesced;     /* its name says only that several operations were launched together */
    int32_t own, other; /* "nccl:send 0->1": the numbers of this rank and of the other; -1: not named */
} tl_comm_op;

/* The two ends of a transfer, from operators. */
typedef struct tl_comm_ends {
    bool sends, receives;
    bool several;     /* to several ranks, or from several */
    int32_t src, dst; /* ranks, from arguments; -1: unknown */
    int32_t own;      /* number of this rank in annotations: its rank, or its index in the group; -1: unknown */
    int32_t from, to; /* numbers of the other ranks in annotations; -1: unknown */
} tl_comm_ends;

/* The communication operators of a trace.  Zero-initialise; tl_comm_free ends it. */
typedef struct tl_comm {
    const tl_events *e;
    TL_VEC(tl_comm_op) ops; /* by (track, start, -end) */
    TL_VEC(struct tl_comm_moment {
        int64_t start_ns;
        uint32_t track;
    })
    launches; /* launches of communication, by (track, start) */
} tl_comm;

/* What the operators around a call say; the innermost counts first. */
typedef struct tl_comm_call {
    bool in_operator;         /* the call is in a communication operator */
    tl_collective collective; /* TL_COLL_UNKNOWN: no operator names one */
    bool coalesced;           /* some operator says only that several operations were launched together */
    const tl_coll_args *args; /* of the innermost operator that has any; NULL: none; of a batch, of its first one */
    tl_comm_ends ends;
} tl_comm_call;

/* Finds the operators; needs the columns of the events, later calls do not. */
void tl_comm_find(const tl_events *events, tl_comm *comm);
void tl_comm_free(tl_comm *comm);

/* Returns what the operators around the launch say.  NULL: no launch is recorded, and nothing is known. */
tl_comm_call tl_comm_launched(const tl_comm *comm, const tl_launch *launch);

/* Returns the innermost operator that began before the call on its thread and may still be open; outer ones by
 * `around`; TL_NONE: there is none. */
uint32_t tl_comm_around(const tl_comm *comm, const tl_launch *launch);

/* Lists the launches of the view's kernels of kind TL_COMM, for tl_comm_batched. */
void tl_comm_note_launches(tl_comm *comm, const tl_rank_view *view);

/* Adds what the sends and receives before the launch say that launched nothing themselves: those since the previous
 * launch of communication on its thread.
 *
 *     [send 1->2][recv 1<-2][coalesced [launch]]
 */
void tl_comm_batched(const tl_comm *comm, const tl_launch *launch, tl_comm_call *call);

/* The group as one kernel or operator describes it: name ids (TL_NO_NAME: none) and numbers (-1: none). */
typedef struct tl_group_words {
    uint32_t name, desc, ranks;
    int64_t size, rank_start, rank_stride;
} tl_group_words;

/* The groups of one trace.  Set meta, names and arena first; tl_group_book_free ends it, except `groups`, which the
 * caller owns. */
typedef struct tl_group_book {
    const tl_meta *meta;
    const tl_names *names;
    tl_arena *arena; /* for members */
    TL_VEC(tl_group) groups;
    TL_VEC(struct tl_known_words {
        tl_group_words words;
        uint32_t group;
    })
    known;
    tl_map by_words, by_members;
    size_t nranks; /* members kept, over all groups */
    size_t work;   /* number of entries looked at to complete truncated lists */
} tl_group_book;

/* Returns the index of the group, adding it if it is new; TL_NONE: the words name none. */
uint32_t tl_group_find(tl_group_book *book, const tl_group_words *words);

/* As tl_group_find, for a group of two ranks without a name. */
uint32_t tl_group_of_two(tl_group_book *book, int32_t a, int32_t b);

void tl_group_book_free(tl_group_book *book);

/* Completes the n colls of rank `rank`: src and dst of sends and receives, from the numbers in ends[n]; and the group
 * of a send or receive without one: its two ranks. */
void tl_peers_find(tl_group_book *book, int32_t rank, tl_coll *colls, const tl_comm_ends *ends, size_t n);

/* Makes the kernels of the view from the work, and counts the kernels of each launch.  For comm, `coll` is the index of
 * its arguments in the side table; TL_NONE: none. */
tl_kernel *tl_kernels_make(const tl_events *events, const tl_rules *rules, const tl_comm *comm, const tl_device *work,
                           tl_launch *launches, tl_linked *out);

/* Makes the syncs of the view from the waits. */
void tl_syncs_make(const tl_events *events, const tl_device *waits, tl_linked *out);

/* Makes the colls and groups of the view, and sets `coll` and `collective` of its kernels that are comm. */
void tl_colls_collect(const tl_meta *meta, tl_comm *comm, tl_kernel *kernels, tl_linked *out);

#endif
