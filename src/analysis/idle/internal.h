/* internal.h - what the files of the idle classification share.
 *
 *     idle.c     the order of it all, and the label
 *     gaps.c     the timeline of a device -> its gaps, and the work before and after each
 *     call.c     a call -> what it is, by its name, and what it waits for
 *     calls.c    all calls -> waits for the device, waits of streams for events, launches
 *     lost.c     launches whose work is not in the trace
 *     drain.c    how the device ran dry
 *     doing.c    what the host did, thread by thread;  tally.c: time by name
 *     meet.c     when hosts waited for other ranks;  peers.c: which parts of gaps that may be
 *     sums.c     gaps -> sums, and by their two axes;  summary.c: by class;  job.c: over ranks;  stats.c: of lengths
 *     places.c   in which annotations the time of a class was
 */
#ifndef ANALYSIS_IDLE_INTERNAL_H
#define ANALYSIS_IDLE_INTERNAL_H

#include "tlmpi/analysis/analysis.h"
#include "tlmpi/base/below.h"
#include "tlmpi/base/mem.h"
#include "tlmpi/base/stats.h"
#include "tlmpi/model/health_table.h"
#include "tlmpi/model/idle_tables.h"

/* What a call is, as far as its name tells. */
typedef struct tl_idle_call {
    uint8_t call;          /* tl_call_class, as if it were no wait: alloc, launch or other */
    uint8_t wait;          /* tl_sync_kind of a call that always waits: device, stream, event, implicit */
    bool implicit_if_long; /* an allocation, which waits for the device when it lasts */
    bool copy, async;      /* a copy; one whose name says that it does not wait */
    uint8_t direction;     /* tl_sync_kind of a copy whose name says where to: H2D, D2H */
    bool graph, kernel;    /* launches one */
    int8_t captures;       /* 1: from then on launches are captured into a graph, -1: no longer */
    bool recorded;         /* the work of some such call is in the trace */
    bool stream_waits;     /* makes a stream wait for an event */
    bool plain;            /* none of these: it tells nothing of how a device ran dry */
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
typedef struct tl_idle_hold {
    int32_t device, stream; /* device -1: not known */
    int64_t start_ns;       /* of the call */
} tl_idle_hold;

/* A call that queues work, or one that begins or ends a capture. */
typedef struct tl_idle_launch {
    int64_t start_ns;
    uint32_t call, uid;
    uint32_t nkernels; /* its work in the trace */
    bool known;        /* device work has its correlation */
    bool lost;
} tl_idle_launch;

/* Waits by their ends, see drain.c. */
typedef struct tl_idle_ends {
    uint32_t *wait;  /* by (device, end), where `apart` is set; else by end */
    tl_below latest; /* over wait */
    bool apart;
} tl_idle_ends;

/* A gap that is too short to be classified. */
typedef struct tl_idle_noise {
    int64_t start_ns, duration_ns;
    int32_t device, step;
} tl_idle_noise;

/* A part of a gap in an annotation. */
typedef struct tl_idle_place {
    size_t gap; /* its row in the gap table */
    uint32_t name;
    int64_t ns;
} tl_idle_place;

/* One rank, while it is worked on. */
typedef struct tl_idle_rank {
    const tl_rank_view *view;
    const tl_idle_config *config;
    uint32_t *first_kernel; /* by launch: its first work by (start, uid), TL_NONE */
    int64_t *end_ns;        /* by kernel: its end, cut where that is due; NULL where it is nowhere */
    int64_t *reach_ns;      /* by kernel: the last end on its stream up to there */
    tl_idle_call *name;     /* by name: what a call of it is; made on demand, see tl_idle_look_at */
    uint8_t *name_known;
    TL_VEC(tl_idle_wait) waits;     /* by (start, uid) */
    tl_idle_ends of_all, of_device; /* of_device: unmade where devices make no difference */
    TL_VEC(tl_idle_hold) holds;     /* by (stream, device, start) */
    TL_VEC(tl_idle_launch) launches; /* on proc's own memory until the lost ones are found; by (start, uid) */
    TL_VEC(tl_idle_launch) lost;     /* those whose work is not in the trace; by (start, uid) */
    TL_VEC(tl_idle_noise) noise;    /* by device and time */
    TL_VEC(tl_idle_place) places;   /* those of one gap lie together */
    uint32_t main_track;            /* thread that counts where nothing is launched; TL_NONE without any */
    size_t nops[TL_ANNOTATION + 1]; /* operators, Python functions and annotations */
} tl_idle_rank;

/* What a call with that name is; looked at once a name. */
const tl_idle_call *tl_idle_look_at(tl_idle_rank *k, uint32_t name);
static inline const tl_idle_call *tl_idle_call_named(tl_idle_rank *k, uint32_t name)
{
    return name != TL_NO_NAME && k->name_known[name] ? &k->name[name] : tl_idle_look_at(k, name);
}

/* What kind of wait the call, of such a name, is; TL_SYNC_NONE for one that does not wait for the device. */
uint8_t tl_idle_wait_kind(const tl_idle_rank *k, uint32_t call, const tl_idle_call *name);

/* The launch that the call is, TL_NONE for one without device work. */
uint32_t tl_idle_launch_of_call(const tl_rank_view *view, uint32_t call);

/* The copy on the device that the call queued, or NULL. */
const tl_kernel *tl_idle_copy_of_call(const tl_idle_rank *k, uint32_t call);

/* Whether that launch is of a graph. */
bool tl_idle_is_graph(tl_idle_rank *k, uint32_t launch);

/* Fills waits, holds, lost and what else belongs to the whole rank. */
void tl_idle_prepare(tl_idle_rank *k);
void tl_idle_free(tl_idle_rank *k);

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

/* Where a search in order of time has come to. */
typedef struct tl_idle_cursor {
    size_t at;
    bool begun;
} tl_idle_cursor;

/* One device of a rank. */
typedef struct tl_idle_device {
    int32_t device;                /* -1: not known */
    size_t first, n;               /* its kernels in the view */
    TL_VEC(tl_idle_gap) gaps;      /* in order of time */
    size_t step;                   /* steps that begin at or before the gap that is looked at */
    tl_idle_cursor of_any, of_own; /* in the waits for no device that is known, and for this one; see drain.c */
    size_t first_row;              /* of its rows in the gap table */
    size_t first_noise;            /* of its in the rank's noise */
    tl_idle sums;                  /* as far as the timeline tells */
} tl_idle_device;

/* End of the work, cut where the next of its stream begins once the ends are found. */
static inline int64_t tl_idle_end(const tl_idle_rank *k, uint32_t kernel)
{
    return k->end_ns != NULL ? k->end_ns[kernel] : k->view->kernels[kernel].end_ns;
}

void tl_idle_find_ends(tl_idle_rank *k);

/* Whether a launch whose work is lost was queued after the work before the gap, which ends at hi, and no later than the
 * work after it. */
bool tl_idle_misses_work(const tl_idle_rank *k, const tl_idle_gap *g, int64_t hi);

/* Finds the gaps: rows with times, ids, steps and the work around them, and the rank's noise. */
void tl_idle_gaps(tl_idle_rank *k, tl_idle_device *d, tl_table *gaps);

/* How the device ran dry before the gap: fills drain_type and the sync columns.  Gaps in order of time. */
void tl_idle_drain(const tl_idle_rank *k, tl_idle_device *d, const tl_idle_gap *g, tl_gap *row);

/* Makes what tl_idle_drain searches in. */
void tl_idle_drain_prepare(tl_idle_rank *k);

/* Whether the work after the gap is a node of a graph, and not the first of its launch. */
bool tl_idle_is_later_node(tl_idle_rank *k, const tl_idle_gap *g);

/* Whether the work waited for an event of another stream, by the calls between its launch and the one before it on its
 * stream. */
bool tl_idle_held(const tl_idle_rank *k, const tl_idle_device *d, const tl_idle_gap *g);

/* What the host did during all gaps of the device: fills the columns of calls and operators.  rows: of the gap table,
 * one for each gap. */
void tl_idle_doing(tl_idle_rank *k, const tl_idle_device *d, tl_gap *rows);

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

/* tl_idle_tally_make starts one and tl_idle_tally_free ends it, also after a failure. */
typedef struct tl_idle_tally {
    tl_idle_tally_entry *v;
    size_t n, cap;
    uint32_t *slot; /* by name, and one for TL_NO_NAME: its first entry, TL_NONE */
    uint32_t nnames;
} tl_idle_tally;

void tl_idle_tally_make(tl_idle_tally *tally, const tl_names *names);
void tl_idle_tally_free(tl_idle_tally *tally);

static inline uint32_t *tl_idle_slot(const tl_idle_tally *tally, uint32_t name)
{
    return &tally->slot[name != TL_NO_NAME ? name : tally->nnames];
}

/* Adds to what is under the name and class. */
void tl_idle_tally_more(tl_idle_tally *tally, uint32_t name, uint8_t call, int64_t ns);
static inline void tl_idle_tally_add(tl_idle_tally *tally, uint32_t name, uint8_t call, int64_t ns)
{
    uint32_t *first = tl_idle_slot(tally, name);
    if (*first == TL_NONE && tally->n < tally->cap) {
        *first = (uint32_t)tally->n;
        tally->v[tally->n++] = (tl_idle_tally_entry){ name, TL_NONE, call, ns };
        return;
    }
    if (*first == TL_NONE || tally->v[*first].call != call) {
        tl_idle_tally_more(tally, name, call, ns);
        return;
    }
    tally->v[*first].ns = tl_ns_add(tally->v[*first].ns, ns);
}

/* The entry with the most time, of equals the first; there is one. */
static inline const tl_idle_tally_entry *tl_idle_tally_largest(const tl_idle_tally *tally)
{
    const tl_idle_tally_entry *most = tally->v;
    for (size_t i = 1; i < tally->n; i++)
        most = tally->v[i].ns > most->ns ? &tally->v[i] : most;
    return most;
}

/* Empties it. */
void tl_idle_tally_clear(tl_idle_tally *tally);

/* Fills the columns of calls: the class with the most time, and the largest call of that class. */
void tl_idle_tally_calls(const tl_idle_tally *tally, tl_gap *row);

/* Fills those of operators. */
void tl_idle_tally_ops(const tl_idle_tally *tally, tl_gap *row);

/* ------------------------------------------------------------------------------------------------------------ sums */

/* Adds the rows of the devices (and of all together) to idle and idle_summary. */
void tl_idle_sums(tl_idle_rank *k, const tl_idle_device *devices, size_t n, tl_tables *out);

/* The class of a gap in words: a cell dominant_op of idle_summary. */
void tl_idle_say_class(const tl_names *names, const tl_gap *gap, char *cell, size_t size);

/* Adds the measures of a row to those of a sum. */
void tl_idle_add(tl_idle *sum, const tl_idle *row);

/* Over the ranks: the classes of gaps of all of them, and the sums of the job. */
void tl_idle_reduce(tl_tables *job);

#endif
