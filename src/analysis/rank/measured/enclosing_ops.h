/* enclosing_ops.h - finds the operators and annotations around an instant, or around a call.  Private to the room. */
#ifndef TLMPI_ANALYSIS_MEASURED_ENCLOSING_OPS_H
#define TLMPI_ANALYSIS_MEASURED_ENCLOSING_OPS_H

#include "tlmpi/model/view.h"

typedef struct tl_instant {
    int64_t at_ns, until_ns; /* start and end of a call; equal for an instant */
    uint32_t track;
    uint32_t op, annotation; /* innermost op of each kind around it on its thread: indices into ops; TL_NONE */
    uint32_t stack;          /* name id of all operators around it, from the outermost, as "a > b"; TL_NO_NAME: none */
} tl_instant;

/* Fills op and annotation of the n instants, whose order is arbitrary and kept; and stack, whose text may be added to
 * names (NULL: no stacks).  only, by op: TL_NONE: the op is ignored, else it counts as an operator; NULL: no op is
 * ignored. */
void tl_instants_find_ops(const tl_rank_view *view, const uint32_t *only, tl_instant *instants, size_t n,
                          tl_names *names);

/* Returns the name id of an op; TL_NO_NAME for TL_NONE. */
static inline uint32_t tl_op_name(const tl_rank_view *view, uint32_t op)
{
    return op != TL_NONE ? view->ops.name[op] : TL_NO_NAME;
}

#endif
