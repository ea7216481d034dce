/* enclosing_ops.h - what the host is in at an instant, or in a call.  Private to the room. */
#ifndef TLMPI_ANALYSIS_MEASURED_ENCLOSING_OPS_H
#define TLMPI_ANALYSIS_MEASURED_ENCLOSING_OPS_H

#include "tlmpi/model/view.h"

typedef struct tl_instant {
    int64_t at_ns, until_ns; /* of a call its start and end, else one instant */
    uint32_t track;
    uint32_t op, annotation; /* around it on its thread, the innermost: indices into ops; TL_NONE */
    uint32_t stack;          /* all operators around it, the outermost first, as "a > b"; TL_NO_NAME: there is none */
} tl_instant;

/* Fills op and annotation of the n instants, which are in any order and stay so; and stack, with names to which its
 * text may be added (NULL: without stacks).  only: NULL, or by op: ops that have TL_NONE are not there, and all others
 * are operators. */
void tl_instants_find_ops(const tl_rank_view *view, const uint32_t *only, tl_instant *instants, size_t n,
                          tl_names *names);

/* The name of an op, TL_NO_NAME for TL_NONE. */
static inline uint32_t tl_op_name(const tl_rank_view *view, uint32_t op)
{
    return op != TL_NONE ? view->ops.name[op] : TL_NO_NAME;
}

#endif
