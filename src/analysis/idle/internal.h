/* internal.h - what the files of the idle classification share.
 *
 *     idle.c         the order of it all, and the label
 *     calls.c        a call -> what it is, by its name; all calls -> waits for the device, waits of streams, launches
 *     lost_work.c    launches whose work is not in the trace
 *     gaps.c         the timeline of a device -> its gaps, and the work before and after each
 *     drain.c        how the device ran dry
 *     host_doing.c   what the host did, thread by thread
 *     host_waits.c   when hosts waited for other ranks;  peers.c: which parts of gaps that may be
 *     sums.c         gaps -> sums: by step and the two labels, and by class;  over_ranks.c: of all ranks
 */
#ifndef ANALYSIS_IDLE_INTERNAL_H
#define ANALYSIS_IDLE_INTERNAL_H

#include "tlmpi/analysis/analysis.h"
#include "tlmpi/base/group.h"
#include "tlmpi/base/stats.h"
#include "tlmpi/model/call.h"
#include "tlmpi/model/health_table.h"
#include "tlmpi/model/idle_tables.h"

/* What a call is, as far as its name tells. */
typedef struct tl_idle_call {
    const tl_call_rule *rule; /* NULL: the name has not been looked at */
    uint8_t direction;        /* tl_sync_kind of a copy whose name says where to: H2D, D2H */
    int8_t captures;          /* 1: from then on launches are captured into a graph, -1: no longer */
    bool plain;               /* it tells nothing of how a device ran dry */
    bool recorded;            /* the work of some such call is in the trace */
} tl_idle_call;

/* A call that waits for the device. */
typedef struct tl_idle_wait {
    int64_t start_ns, end_ns;
    uint32_t call; /* index into the view's calls */
    uint32_t uid;
    int32_t device, stream; /* that it waits for; -1 where that is not known */
    uint8_t kind;           /* tl_sync_kind */
} tl_idle_wait;

/* A wait of a stream for an event of another. */
typedef struct tl_idle_event_wait {
    int32_t device, stream; /* device -1: not known */
    int64_t start_ns;       /* of the call */
} tl_idle_event_wait;

/* A call that queues work, or one that begins or ends a capture. */
typedef struct tl_idle_launch {
    int64_t start_ns;
    uint32_t call, uid;
    uint32_t nkernels; /* its work in the trace */
    bool known;        /* device work has its correlation */
    bool lost;
} tl_idle_launch;

/* A gap that is too short to be classified. */
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

/* One rank, while it is worked on. */
typedef struct tl_idle_rank {
    const tl_rank_view *view;
    const tl_idle_config *config;
    uint32_t *first_kernel; /* by launch: its first work by (start, uid), TL_NONE */
    int64_t *end_ns;        /* by kernel: its end, cut where that is due; NULL where it is nowhere */
    int64_t *reach_ns;      /* by kernel: the last end on its stream up to there; NULL: no wait knows its stream */
    tl_idle_call *name;     /* by name, and of calls without one: made on demand, see tl_idle_call_named */
    TL_VEC(tl_idle_wait) waits;      /* by (start, uid) */
    uint32_t *by_end;                /* waits by end */
    TL_VEC(tl_idle_event_wait) holds; /* by (stream, device, start) */
    TL_VEC(tl_idle_launch) launches; /* by (start, uid) */
    TL_VEC(tl_idle_launch) lost;     /* those whose work is not in the trace; by (start, uid) */
    TL_VEC(tl_idle_noise) noise;     /* by device and time */
    TL_VEC(tl_gap_annotation) gap_annotations; /* those of one gap lie together */
    uint32_t ntracks;                /* of threads that launch: above all their tracks */
    uint32_t main_track;             /* thread that counts where nothing is launched; TL_NONE without any */
    size_t nops[TL_ANNOTATION + 1];  /* operators, Python functions and annotations */
} tl_idle_rank;

/* Fills all of the rank but for noise and gap_annotations. */
void tl_idle_prepare(tl_idle_rank *k);
void tl_idle_free(tl_idle_rank *k);

/* What a call of that name is. */
const tl_idle_call *tl_idle_classify_call(tl_idle_rank *k, size_t name);
static inline const tl_idle_call *tl_idle_call_named(tl_idle_rank *k, uint32_t name)
{
    size_t at = name != TL_NO_NAME ? name : k->view->names->n;
    return k->name[at].rule != NULL ? &k->name[at] : tl_idle_classify_call(k, at);
}

/* Whether a call of that name queues a graph, or a graph or a kernel. */
static inline bool tl_idle_launches_graph(const tl_idle_call *name)
{
    return name->rule->does == TL_DOES_LAUNCH_GRAPH;
}

static inline bool tl_idle_launches(const tl_idle_call *name)
{
    return name->rule->does == TL_DOES_LAUNCH || tl_idle_launches_graph(name);
}

/* What kind of wait the call, of such a name, is; TL_SYNC_NONE for one that does not wait for the device. */
uint8_t tl_idle_wait_kind(const tl_idle_rank *k, size_t call, const tl_idle_call *name);

/* The launch that the call is, TL_NONE for one without device work. */
uint32_t tl_idle_launch_of_call(const tl_rank_view *view, size_t call);

/* Notes a call that launches, or begins or ends a capture; those of a thread in order.  Once all are there, finds those
 * whose work is lost.  Their rows of table health, by step; and the time of a gap into which they fall, in one of these
 * rows. */
void tl_idle_take_launch(tl_idle_rank *k, uint32_t call);
void tl_idle_lost_find(tl_idle_rank *k);
void tl_idle_lost_rows(const tl_idle_rank *k, tl_table *health);
void tl_idle_lost_time(const tl_idle_rank *k, const tl_gap *gap, tl_table *health);

/* -------------------------------------------------------------------------------------------- the gaps of a device */

/* A macro gap beside its row. */
typedef struct tl_idle_gap {
    uint32_t prev, next; /* kernels */
    uint32_t launch;     /* of next, TL_NONE */
    uint32_t track;      /* the thread whose doing counts; TL_NONE: there is none */
} tl_idle_gap;

/* One device of a rank. */
typedef struct tl_idle_device {
    int32_t device;           /* -1: not known */
    size_t first, n;          /* its kernels in the view */
    TL_VEC(tl_idle_gap) gaps; /* in order of time */
    size_t first_row;         /* of its rows in the gap table */
    size_t first_noise;       /* of its in the rank's noise */
    tl_idle sums;             /* as far as the timeline tells */
} tl_idle_device;

/* End of the work, cut where the next of its stream begins once the ends are found. */
static inline int64_t tl_idle_end(const tl_idle_rank *k, size_t kernel)
{
    return k->end_ns != NULL ? k->end_ns[kernel] : k->view->kernels[kernel].end_ns;
}

void tl_idle_find_ends(tl_idle_rank *k);

/* Finds the gaps: rows with times, ids, steps and the work around them, and the rank's noise. */
void tl_idle_gaps(tl_idle_rank *k, tl_idle_device *d, tl_table *gaps);

/* Whether the work after the gap is a node of a graph, and not the first of its launch. */
bool tl_idle_is_later_node(tl_idle_rank *k, const tl_idle_gap *g);

/* Makes what tl_idle_drain searches in. */
void tl_idle_drain_prepare(tl_idle_rank *k);

/* How the device ran dry before each of its gaps: fills drain_type and the sync columns of their rows. */
void tl_idle_drain(const tl_idle_rank *k, const tl_idle_device *d, tl_gap *rows);

/* Whether the work after the gap waited for an event of another stream, by the calls between its launch and the one
 * before it on its stream. */
bool tl_idle_held_by_event(const tl_idle_rank *k, const tl_idle_device *d, const tl_idle_gap *g);

/* What the host did during all gaps of the device: fills the columns of calls and operators.  rows: of the gap table,
 * one for each gap. */
void tl_idle_doing(tl_idle_rank *k, const tl_idle_device *d, tl_gap *rows);

/* --------------------------------------------------------------------------------------------- waits for other ranks
 *
 * When was a host busy waiting for other ranks, as far as names of operators, frames and annotations tell?
 *
 *     worker of Gloo    ........[ gloo:all_reduce           ]           the thread has nothing to do until
 *     thread            [ aten::mm ].........................[ aten::add ]      the collective is over
 *     held                          ^^^^^^^^^^^^^^^^^^^^^^^^^
 *
 *     thread            [ c10d::allreduce_ [launch of communication] ]  nothing: the device communicates, and waits
 *
 * A collective of hosts runs on no device, so that nothing else in a trace shows who waits in it.  Backends have
 * threads of their own for them.  A thread that goes on before such a collective ends did not wait for it; one whose
 * Python functions are in the trace waits where one of them does. */

/* What an operator, frame or annotation is. */
typedef enum tl_host_wait_kind {
    TL_HOST_WAIT_NONE,
    TL_HOST_WAIT_ASYNC,      /* a collective of hosts, from its call until it is done; the host may do other things */
    TL_HOST_WAIT_BLOCKING,   /* one in which the host stays */
    TL_HOST_WAIT_FOR_OTHERS, /* a wait for something that other ranks have a part in; the host stays */
    TL_HOST_WAIT_UNKNOWN     /* of stretches: nothing that is known, up to the next operator or call */
} tl_host_wait_kind;

/* A stretch in which a thread does nothing, or nothing but wait. */
typedef struct tl_host_stretch {
    int64_t start_ns, end_ns;
    uint32_t op; /* index into the view's ops; TL_NONE where it is free */
    uint8_t wait_kind;
} tl_host_stretch;

/* The stretches of one thread: held[first, first + n), disjoint and in order of time. */
typedef struct tl_thread_stretches {
    uint32_t track;
    size_t first, n;
} tl_thread_stretches;

/* Zero-initialise; tl_host_waits_free ends it. */
typedef struct tl_host_waits {
    TL_VEC(tl_host_stretch) held;
    TL_VEC(tl_thread_stretches) threads; /* by track */
    TL_VEC(tl_host_stretch) asyncs;      /* collectives that leave the host free, of all threads; by end */
    TL_VEC(uint32_t) ops;           /* indices: collectives of hosts that lie in no other of their kind and thread */
} tl_host_waits;

void tl_host_waits_find(const tl_rank_view *view, tl_host_waits *out);
void tl_host_waits_free(tl_host_waits *host_waits);

/* The parts of the gaps of all devices of the rank that may be waiting for others: rows of gap_peer, and one for each
 * collective of hosts.  After the labels of all gaps. */
void tl_idle_peers(tl_idle_rank *k, const tl_idle_device *devices, size_t n, tl_tables *out);

/* --------------------------------------------------------------------------------------------------------- tallies */

/* Time by name (and class of call), in order of first addition. */
typedef struct tl_idle_tally_entry {
    uint32_t name, next; /* next: another entry of the name, TL_NONE */
    uint8_t call;        /* tl_call_class, or 0 for an operator */
    int64_t ns;
} tl_idle_tally_entry;

/* tl_idle_tally_make starts one and tl_idle_tally_free ends it. */
typedef struct tl_idle_tally {
    tl_idle_tally_entry *v;
    size_t n, cap;
    uint32_t *slot; /* by name, and one for TL_NO_NAME: its first entry, TL_NONE */
    uint32_t nnames;
} tl_idle_tally;

void tl_idle_tally_make(tl_idle_tally *tally, const tl_names *names);
void tl_idle_tally_free(tl_idle_tally *tally);
void tl_idle_tally_clear(tl_idle_tally *tally);

static inline uint32_t *tl_idle_slot(const tl_idle_tally *tally, uint32_t name)
{
    return &tally->slot[name != TL_NO_NAME ? name : tally->nnames];
}

/* Adds to what is under the name and class. */
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

/* The entry with the most time, of equals the first; there is one. */
static inline const tl_idle_tally_entry *tl_idle_tally_largest(const tl_idle_tally *tally)
{
    const tl_idle_tally_entry *most = tally->v;
    for (size_t i = 1; i < tally->n; i++)
        most = tally->v[i].ns > most->ns ? &tally->v[i] : most;
    return most;
}

/* ------------------------------------------------------------------------------------------------------------ sums */

/* 100 part / whole; NaN where whole is 0. */
double tl_idle_pct(int64_t part, int64_t whole);

/* Adds the rows of the devices (and of all together) to idle, idle_summary and idle_annotation. */
void tl_idle_sums(tl_idle_rank *k, const tl_idle_device *devices, size_t n, tl_tables *out);

/* The class of a gap in words: a cell dominant_op of idle_summary. */
void tl_idle_say_class(const tl_names *names, const tl_gap *gap, char *cell, size_t size);

/* Adds the measures of a row to those of a sum. */
void tl_idle_add(tl_idle *sum, const tl_idle *row);

/* Over the ranks: the classes of gaps of all of them, and the sums of the job. */
void tl_idle_reduce(tl_tables *job);

#endif
