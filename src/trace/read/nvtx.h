/* nvtx.h - converts ranges of NVTX and roctx, as profilers record them, to operators and annotations of PyTorch.
 *
 *     "aten::add, seq = 7, op_id = 9"       operator aten::add of emit_nvtx; an arrow for each seq links the forward
 *                                           operator to the backward operator
 *     "ncclAllReduce" and a payload         annotation nccl:all_reduce, with bytes and communicator
 *     "iteration 5"                         annotation
 */
#ifndef TLMPI_TRACE_READ_NVTX_H
#define TLMPI_TRACE_READ_NVTX_H

#include "sqlite.h"

typedef struct tl_nvtx tl_nvtx;

/* Reads the database's descriptions of payloads.  tl_nvtx_free ends the result. */
tl_nvtx *tl_nvtx_new(const tl_db *db);
void tl_nvtx_free(tl_nvtx *nvtx);

/* Completes the entry of a row that is a range of that name; false: the range has no end or no name. */
bool tl_nvtx_fill(tl_nvtx *nvtx, tl_db_reading *reading, const tl_db_row *row, tl_text name, tl_fields *entry);

#endif
