/* size.h - sizes of messages that no arguments tell, from the shapes of tensors. */
#ifndef TLMPI_TRACE_VIEW_SIZE_H
#define TLMPI_TRACE_VIEW_SIZE_H

#include "comm.h"
#include "tlmpi/base/hash.h"

/* What shapes say of a message.  -1 and 0 where they do not. */
typedef struct tl_comm_size {
    int64_t in_nelems, out_nelems;
    uint32_t event; /* of the operator that says it, the outermost of several; TL_NONE */
    uint8_t dtype;  /* tl_dtype */
    uint8_t from;   /* tl_size_from */
} tl_comm_size;

/* Of the operators around the launch (NULL: nobody has) those that name this kind of collective, or none: the innermost
 * first, fact by fact, until it is known. */
tl_comm_size tl_comm_size_of(const tl_comm_evidence *evidence, const tl_launch *launch, tl_collective kind);

/* Fills in elements, type and bytes.  Of an all-gather each rank of the group, below 1 where that is not known, gives as
 * much as this one. */
void tl_size_put(tl_coll *coll, const tl_comm_size *size, int64_t group_size);

/* Takes what is told back where one operator told it of several.  False when memory is out. */
bool tl_sizes_part(tl_coll *colls, const tl_comm_size *sizes, size_t n);

#endif
