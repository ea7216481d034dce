/* link_comm.h - what the operators around a launch say about the communication that it queues. */
#ifndef TLMPI_TRACE_LINK_COMM_H
#define TLMPI_TRACE_LINK_COMM_H

#include "tlmpi/model/view.h"
#include "tlmpi/trace/reader.h"
#include <stdbool.h>

/* A communication operator on the host: record_param_comms, c10d::..., nccl:... */
typedef struct tl_comm_op {
    int64_t start_ns, end_ns;
    uint32_t track;
    uint32_t event;
    uint32_t around;    /* the operator that was open when this one began, TL_NONE */
    uint8_t collective; /* as its name says; TL_COLL_UNKNOWN where it does not */
} tl_comm_op;

/* Start with trace and base_ns set; tl_comm_evidence_free ends it. */
typedef struct tl_comm_evidence {
    const tl_trace *trace;
    int64_t base_ns;
    tl_comm_op *ops; /* by (track, start, -end); made when first asked for */
    size_t n, cap;
    bool made, no_memory;
} tl_comm_evidence;

/* What the operators around a call say, the innermost first. */
typedef struct tl_comm_call {
    bool in_operator;         /* there is one */
    tl_collective collective; /* TL_COLL_UNKNOWN where none tells */
    const tl_coll_args *args; /* of the innermost that has any, or NULL */
} tl_comm_call;

tl_comm_call tl_comm_launched(tl_comm_evidence *evidence, const tl_launch *launch);

void tl_comm_evidence_free(tl_comm_evidence *evidence);

#endif
