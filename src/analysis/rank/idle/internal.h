/* internal.h - shared by the files of the idle classification.
 *
 *     idle.c         the order of the steps, and the label
 *     calls.c        a call's name -> its kind; all calls -> waits for the device, holds of streams, launches
 *     lost_work.c    launches whose work is not in the trace
 *     gaps.c         the timeline of a device -> its gaps, and the work before and after each
 *     drain.c        how the device ran dry
 *     host_doing.c   what each thread of the host did in a gap
 *     peers.c        when hosts waited for other ranks, and the parts of gaps that may be such waits
 *     sums.c         gaps -> sums: by step and the two labels, and by class;  idle.c: over all ranks
 */
#ifndef ANALYSIS_IDLE_INTERNAL_H
#define ANALYSIS_IDLE_INTERNAL_H

#include "tlmpi/analysis/analysis.h"
#include "tlmpi/base/group.h"
#include "tlmpi/base/stats.h"
#include "tlmpi/model/call.h"
#include "tlmpi/model/health_table.h"
#include "tlmpi/model/idle_tables.h"

/* What a call's name says about it. */
typedef struct tl_idle_call {
    const tl_call_rule *rule; /* NULL: the name has not been classified */
    uint8_t direction;        /* tl_sync_kind of a copy whose name has the direction: H2D, D2H */
    int8_t captures;          /* 1: begins the capture of launches into a graph, -1: ends it */
    bool plain;               /* says nothing about how a device ran dry */
    bool recorded;            /* the trace has the work of at least one call of this name */
} tl_idle_call;

/* A call that waits for the device. */
typedef struct tl_idle_wait {
    int64_t start_ns, end_ns;
    uint32_t call; /* index into the view's calls */
    uint32_t uid;
    int32_t device, stream; /* device and stream that the call waits for; -1: unknown */
    uint8_t kind;           /* tl_sync_kind */
} tl_idle_wait;

/* A call that makes a stream wait for an event of another stream. */
typedef struct tl_idle_event_wait {
    int32_t device, stream; /* device -1: unknown */
    int64_t start_ns;       /* of the call */
} tl_idle_event_wait;

/* A call that queues work, or begins or ends a capture. */
typedef struct tl_idle_launch {
    int64_t start_ns;
    uint32_t call, uid;
    uint32_t nkernels; /* number of its pieces of work in the trace */
    bool known;        /* device work has the call's correlation */
    bool lost;
} tl_idle_launch;

/* A gap too short to be classified. */
typedef struct tl_idle_noise {
    int64_t start_ns, duration_ns;
    int32_t device, step;
} tl_idle_noise;

/* A part of a gap in an annotation. */
typedef struct tl_gap_annotation {
    size_t gap; /* its row in the gap table */
    uint32_t name;
    int64_t ns;
} tl_gap_annotation;

/* The working data of one rank. */
typedef struct tl_idle_rank {
    const tl_rank_view *view;
    const tl_idle_config *config;
    uint32_t *first_kernel; /* by launch: its first work by (start, uid); TL_NONE: none */
    int64_t *end_ns;        /* by kernel: its end, cut at the start of the next on its stream; NULL: no end is cut */
    int64_t *reach_ns;      /* by kernel: the last end on its stream so far; NULL: no wait names a stream */
    tl_idle_call *name;     /* by name, the last one for calls without a name; filled by tl_idle_call_named */
    TL_VEC(tl_idle_wait) waits;                /* by (start, uid) */
    uint32_t *by_end;                          /* waits by end */
    TL_VEC(tl_idle_event_wait) holds;          /* by (stream, device, start) */
    TL_VEC(tl_idle_launch) launches;           /* by (start, uid) */
    TL_VEC(tl_idle_launch) lost;               /* launches whose work is not in the trace; by (start, uid) */
    TL_VEC(tl_idle_noise) noise;               /* by device and time */
    TL_VEC(tl_gap_annotation) gap_annotations; /* by gap */
    uint32_t ntracks;                          /* largest track of a thread that launches, + 1 */
    uint32_t main_track;            /* thread of gaps whose work has no launch; TL_NONE: there is no thread */
    size_t nops[TL_ANNOTATION + 1]; /* number of operators, Python functions and annotations */
} tl_idle_rank;

/* Fills everything but noise and gap_annotations. */
void tl_idle_prepare(tl_idle_rank *k);
void tl_idle_free(tl_idle_rank *k);

/* Returns the classification of a call's name. */
const tl_idle_call *tl_idle_classify_call(tl_idle_rank *k, size_t name);
static inline const tl_idle_call *tl_idle_call_named(tl_idle_rank *k, uint32_t name)
{
    size_t at = name != TL_NO_NAME ? name : k->view->names->n;
    return k->name[at].rule != NULL ? &k->name[at] : tl_idle_classify_call(k, at);
}

/* tl_idle_launches_graph: whether calls of that name launch a graph; tl_idle_launches: a graph or a kernel. */
static inline bool tl_idle_launches_graph(const tl_idle_call *name)
{
    return name->rule->does == TL_DOES_LAUNCH_GRAPH;
}

static inline bool tl_idle_launches(const tl_idle_call *name)
{
    return name->rule->does == TL_DOES_LAUNCH || tl_idle_launches_graph(name);
}

/* Returns which kind of wait the call is; TL_SYNC_NONE: the call does not wait for the device.  name: of the call. */
uint8_t tl_idle_wait_kind(const tl_idle_rank *k, size_t call, const tl_idle_call *name);

/* Returns the launch of the call; TL_NONE: the call has no device work. */
uint32_t tl_idle_launch_of_call(const tl_rank_view *view, size_t call);

/* tl_idle_take_launch: adds a call that launches, or begins or ends a capture; calls of a thread come in order.
 * tl_idle_lost_find: after all calls, finds the launches whose work is lost.  tl_idle_lost_rows: adds their rows of
 * table health, by step.  tl_idle_lost_time: adds the time of a gap with lost launches to one of these rows. */
void tl_idle_take_launch(tl_idle_rank *k, uint32_t call);
void tl_idle_lost_find(tl_idle_rank *k);
void tl_idle_lost_rows(const tl_idle_rank *k, tl_table *health);
void tl_idle_lost_time(const tl_idle_rank *k, const tl_gap *gap, tl_table *health);

/* -------------------------------------------------------------------------------------------- the gaps of a device */

/* A gap that is classified (macro gap), beside its row. */
typedef struct tl_idle_gap {
    uint32_t prev, next; /* kernels */
    uint32_t launch;     /* of next, TL_NONE */
    uint32_t track;      /* thread that the gap belongs to; TL_NONE: none */
} tl_idle_gap;

/* One device of a rank. */
typedef struct tl_idle_device {
    int32_t device;           /* -1: unknown */
    size_t first, n;          /* its kernels in the view */
    TL_VEC(tl_idle_gap) gaps; /* in order of time */
    size_t first_row;         /* its first row in the gap table */
    size_t first_noise;       /* its first entry in the rank's noise */
    tl_idle sums;             /* the columns that follow from the timeline */
} tl_idle_device;

/* Returns the end of the work, cut at the start of the next on its stream (after tl_idle_find_ends). */
static inline int64_t tl_idle_end(const tl_idle_rank *k, size_t kernel)
{
    return k->end_ns != NULL ? k->end_ns[kernel] : k->view->kernels[kernel].end_ns;
}

void tl_idle_find_ends(tl_idle_rank *k);

/* Finds the gaps: rows with times, ids, steps and the work around them, and the rank's noise. */
void tl_idle_gaps(tl_idle_rank *k, tl_idle_device *d, tl_table *gaps);

/* Whether the work after the gap is a graph node other than the first of its launch. */
bool tl_idle_is_later_graph_node(tl_idle_rank *k, const tl_idle_gap *g);

/* Prepares the indices that tl_idle_drain searches. */
void tl_idle_drain_prepare(tl_idle_rank *k);

/* Fills drain_type and the sync columns of the device's gaps: how the device ran dry. */
void tl_idle_drain(const tl_idle_rank *k, const tl_idle_device *d, tl_gap *rows);

/* Whether the work after the gap waited for an event of another stream: a call between its launch and the previous
 * launch of its stream made the stream wait. */
bool tl_idle_held_by_event(const tl_idle_rank *k, const tl_idle_device *d, const tl_idle_gap *g);

/* Fills the columns of calls and operators of the device's gaps.  rows: the rows of these gaps. */
void tl_idle_doing(tl_idle_rank *k, const tl_idle_device *d, tl_gap *rows);

/* --------------------------------------------------------------------------------------------- waits for other ranks
 *
 * When did hosts wait for other ranks, by the names of operators, frames and annotations?
 *
 *     worker of Gloo    ........[ gloo:all_reduce           ]           the thread has nothing to do until
 *     thread            [ aten::mm ].........................[ aten::add ]      the collective is over
 *     held                          ^^^^^^^^^^^^^^^^^^^^^^^^^
 *
 *     thread            [ c10d::allreduce_ [launch of communication] ]  nothing: the device communicates, and waits
 *
 * A collective of hosts runs on no device, so nothing else in a trace shows the waiting in it.  Backends run such
 * collectives in threads of their own.  A thread that goes on before such a collective ends did not wait for it; if a
 * thread's Python functions are in the trace, it waits where a function does. */

/* Kinds of operators, frames and annotations. */
typedef enum tl_host_wait_kind {
    TL_HOST_WAIT_NONE,
    TL_HOST_WAIT_ASYNC,      /* a collective of hosts, from its call to its end; its thread may do other things */
    TL_HOST_WAIT_BLOCKING,   /* a collective of hosts that blocks its thread */
    TL_HOST_WAIT_FOR_OTHERS, /* a wait for something that other ranks take part in; blocks its thread */
    TL_HOST_WAIT_UNKNOWN     /* of stretches: nothing known, until the next operator or call */
} tl_host_wait_kind;

/* A stretch in which a thread does nothing or waits. */
typedef struct tl_host_stretch {
    int64_t start_ns, end_ns;
    uint32_t op; /* index into the view's ops; TL_NONE: no op */
    uint8_t wait_kind;
} tl_host_stretch;

/* The stretches of one thread: held[first, first + n), disjoint and in order of time. */
typedef struct tl_thread_stretches {
    uint32_t track;
    size_t first, n;
} tl_thread_stretches;

/* Zero-initialise; host_waits_free ends it. */
typedef struct tl_host_waits {
    TL_VEC(tl_host_stretch) held;
    TL_VEC(tl_thread_stretches) threads; /* by track */
    TL_VEC(tl_host_stretch) asyncs;      /* asynchronous collectives of all threads, by end */
    TL_VEC(uint32_t)
    ops; /* indices of collectives of hosts that are not nested in others of their kind and
                                     * thread */
} tl_host_waits;

/* Adds rows of gap_peer: the parts of the gaps of all devices of the rank that may be waits for other ranks, and one
 * row for each collective of hosts.  Called after the labels of all gaps are known. */
void tl_idle_peers(tl_idle_rank *k, const tl_idle_device *devices, size_t n, tl_tables *out);

/* --------------------------------------------------------------------------------------------------------- tallies */

/* A sum of time by name (and class of call), in order of first addition. */
typedef struct tl_idle_tally_entry {
    uint32_t name, next; /* next: another entry of the name; TL_NONE: none */
    uint8_t call;        /* tl_call_class, or 0 for an operator */
    int64_t ns;
} tl_idle_tally_entry;

/* tl_idle_tally_make starts one and tl_idle_tally_free ends it. */
typedef struct tl_idle_tally {
    tl_idle_tally_entry *v;
    size_t n, cap;
    uint32_t *slot; /* by name, the last one for TL_NO_NAME: its first entry; TL_NONE: none */
    uint32_t nnames;
} tl_idle_tally;

void tl_idle_tally_make(tl_idle_tally *tally, const tl_names *names);
void tl_idle_tally_free(tl_idle_tally *tally);
void tl_idle_tally_clear(tl_idle_tally *tally);

static inline uint32_t *tl_idle_slot(const tl_idle_tally *tally, uint32_t name)
{
    return &tally->slot[name != TL_NO_NAME ? name : tally->nnames];
}

/* Adds ns to the entry of the name and class. */
static inline void tl_idle_tally_add(tl_idle_tally *tally, uint32_t name, uint8_t call, int64_t ns)
{
    uint32_t *at = tl_idle_slot(tally, name);
    while (*at != TL_NONE && tally->v[*at].call != call)
        at = &tally->v[*at].next;
    if (*at != TL_NONE) {
        tally->v[*at].ns = tl_ns_add(tally->v[*at].ns, ns);
        return;
    }
    *at = (uint32_t)tally->n; /* before `at` moves with v */
    tl_vec_push(tally, (tl_idle_tally_entry){ name, TL_NONE, call, ns });
}

/* Returns the entry with the most time; ties: the first one.  The tally is not empty. */
static inline const tl_idle_tally_entry *tl_idle_tally_largest(const tl_idle_tally *tally)
{
    const tl_idle_tally_entry *most = tally->v;
    for (size_t i = 1; i < tally->n; i++)
        most = tally->v[i].ns > most->ns ? &tally->v[i] : most;
    return most;
}

/* ------------------------------------------------------------------------------------------------------------ sums */

/* Returns 100 part / whole; NaN if whole is 0. */
double tl_idle_pct(int64_t part, int64_t whole);

/* Adds the rows of the devices (and of all together) to idle, idle_summary and idle_annotation. */
void tl_idle_sums(tl_idle_rank *k, const tl_idle_device *devices, size_t n, tl_tables *out);

/* Writes the class of a gap in words, as in column dominant_op of idle_summary. */
void tl_idle_say_class(const tl_names *names, const tl_gap *gap, char *cell, size_t size);

/* Adds the measures of a row to those of a sum. */
void tl_idle_add(tl_idle *sum, const tl_idle *row);

#endif
