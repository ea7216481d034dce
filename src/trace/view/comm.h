/* comm.h - what the operators around a launch, or before it, say about the communication that it queues. */
#ifndef TLMPI_TRACE_VIEW_COMM_H
#define TLMPI_TRACE_VIEW_COMM_H

#include "tlmpi/model/view.h"
#include "tlmpi/trace/read/reader.h"
#include <stdbool.h>

/* A communication operator on the host: record_param_comms, c10d::..., nccl:... */
typedef struct tl_comm_op {
    int64_t start_ns, end_ns;
    uint32_t track;
    uint32_t event;
    uint32_t around;    /* the operator that was open when this one began, TL_NONE */
    uint8_t collective; /* as its name says; TL_COLL_UNKNOWN where it does not */
    bool coalesced;     /* it says no more than that several were launched together */
    int32_t own, other; /* "nccl:send 0->1": the numbers of this rank and of the other; -1 where it names none */
} tl_comm_op;

/* The two ends of a piece of communication, as operators tell. */
typedef struct tl_comm_ends {
    bool sends, receives;
    bool several;     /* to several ranks, or from several */
    int32_t src, dst; /* ranks, as arguments say; -1 */
    int32_t own;      /* the number by which annotations call this rank: its own, or its place in the group; -1 */
    int32_t from, to; /* the same of the others */
} tl_comm_ends;

/* Start with trace and base_ns set; tl_comm_evidence_free ends it. */
typedef struct tl_comm_evidence {
    const tl_trace *trace;
    int64_t base_ns;
    tl_comm_op *ops; /* by (track, start, -end) */
    size_t n, cap;
    struct tl_comm_moment { /* launches of communication, by (track, start) */
        int64_t start_ns;
        uint32_t track;
    } * moments;
    size_t nmoments;
} tl_comm_evidence;

/* What the operators around a call say, the innermost first. */
typedef struct tl_comm_call {
    bool in_operator;         /* there is one */
    tl_collective collective; /* TL_COLL_UNKNOWN where none tells */
    bool coalesced;           /* one of them says no more than that several were launched together */
    const tl_coll_args *args; /* of the innermost that has any, or NULL; of a batch those of its first */
    tl_comm_ends ends;
} tl_comm_call;

/* Communication without a recorded launch: no operator tells anything of it. */
extern const tl_comm_call tl_comm_not_launched;

/* Finds the operators; needs the columns of the events, and what follows does not. */
void tl_comm_collect(tl_comm_evidence *evidence);

tl_comm_call tl_comm_launched(const tl_comm_evidence *evidence, const tl_launch *launch);

/* The innermost operator that began before the call on its thread and may still be open, the others by their `around`;
 * TL_NONE. */
uint32_t tl_comm_around(const tl_comm_evidence *evidence, const tl_launch *launch);

/* Which launches queue communication: those of the view's kernels of kind TL_COMM.  To be called before
 * tl_comm_batched. */
void tl_comm_moments(tl_comm_evidence *evidence, const tl_rank_view *view);

/* Adds what the sends and receives say that stand before the launch, and launched nothing themselves: those since the
 * launch of communication before it on its thread.
 *
 *     [send 1->2][recv 1<-2][coalesced [launch]]
 */
void tl_comm_batched(const tl_comm_evidence *evidence, const tl_launch *launch, tl_comm_call *call);

void tl_comm_evidence_free(tl_comm_evidence *evidence);

#endif
