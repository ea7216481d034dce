/* local.h - the work of a rank between its collectives, by activity and by name: the quantities in which ranks are
 * compared.
 *
 *     stream   [ A ]..xxxx...yyy...[ B ]..zz..[ A ]..         A, B: collectives of two groups
 *                   |<---------------------->|                its time since the last A, by activity, to the nanosecond
 *
 * By name, step by step: kernels and copies by device time; operators, frames, annotations and calls by the idle time
 * that they cover.
 *
 * From the view of one rank.  May use time.
 */
#ifndef TLMPI_ANALYSIS_RANK_WORK_LOCAL_H
#define TLMPI_ANALYSIS_RANK_WORK_LOCAL_H

#include "tlmpi/analysis/rank/time.h"
#include "tlmpi/base/mem.h"
#include "tlmpi/model/participant.h"

/* Fills `previous` and the members from `work_between_collectives` on of this rank's n participants.  A participant is
 * ready when it is launched and the compute launched before it has ended, even if its stream is busy.  Time before the
 * first device work counts from the beginning of the rank's first step. */
void tl_work_between_collectives(const tl_rank_view *view, const tl_activity *activity, tl_participant *parts,
                                 size_t n);

typedef enum tl_named_work_kind {
    TL_NAMED_WORK, /* kernels, copies and memsets: their device time; size: blocks of their grids, bytes of copies */
    TL_NAMED_COMM, /* communication: size: bytes of the messages */
    TL_NAMED_HOST, /* operators, frames, annotations and calls: the idle time that they cover */
    TL_NAMED_SPAN, /* operators, frames and annotations of threads that launch: their own time, without the spans
                     * inside them, between the last launch of another thread and one of their own */
    TL_NAMED_WAIT  /* waits for the device, by the operator that waits, else the call: the idle time after them,
                     * before the host launches again; size: their duration, ns */
} tl_named_work_kind;

/* One name in one step of one rank. */
typedef struct tl_named_work {
    int64_t ns;
    int64_t size;       /* see tl_named_work_kind; an unknown size counts 0 */
    int32_t rank, step; /* step -1: outside all steps */
    uint32_t name;      /* id in tl_work_by_name.names */
    uint32_t count;     /* number of kernels; of spans that cover idle time; of all waits */
    uint32_t depth;     /* of spans: largest number of enclosing operators; calls are deepest */
    uint8_t kind;       /* tl_named_work_kind */
    uint8_t activity;   /* tl_activity_kind: of work COMPUTE, H2D or COPY; of spans the cause of idle time that their
                         * name tells */
    uint8_t frame;      /* 1: a Python function */
} tl_named_work;

/* Largest number of names kept for each kind and step, by time. */
enum { TL_WORK_BY_NAME_MAX = 32 };

/* The work by name of all ranks that a proc has read.  Zero-initialise; tl_work_by_name_free ends it. */
typedef struct tl_work_by_name {
    TL_VEC(tl_named_work) rows;
    tl_names names; /* normalised: without addresses */
} tl_work_by_name;

/* Appends the work by name of one rank.  The host does not cause idle time of TL_ACTIVITY_DEVICE: no name covers it. */
void tl_work_by_name_collect(const tl_rank_view *view, const tl_activity *activity, tl_work_by_name *work_by_name);
void tl_work_by_name_free(tl_work_by_name *work_by_name);

#endif
