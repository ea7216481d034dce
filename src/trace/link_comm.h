/* link_comm.h - what the launching operator says about a kernel that no rule names. */
#ifndef TLMPI_TRACE_LINK_COMM_H
#define TLMPI_TRACE_LINK_COMM_H

#include "tlmpi/model/view.h"
#include "tlmpi/trace/reader.h"
#include <stdbool.h>

/* Host time inside communication operators of one thread; overlapping ones are one. */
typedef struct tl_comm_op {
    uint32_t track;
    uint8_t collective;
    int64_t start_ns, end_ns;
} tl_comm_op;

/* Start with trace and base_ns set; tl_comm_evidence_free ends it. */
typedef struct tl_comm_evidence {
    const tl_trace *trace;
    int64_t base_ns;
    tl_comm_op *ops;            /* by (track, start), disjoint; made when first asked for */
    size_t n, cap;
    bool made, no_memory;
} tl_comm_evidence;

/* The collective in whose operator (record_param_comms, c10d::..., nccl:...) the call was made; TL_COLL_UNKNOWN where the
 * operator does not say which; TL_COLL_NONE when it was made in none. */
tl_collective tl_comm_launched(tl_comm_evidence *evidence, const tl_launch *launch);

void tl_comm_evidence_free(tl_comm_evidence *evidence);

#endif
