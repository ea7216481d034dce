/* nodes.h - the nodes of an execution trace (PyTorch's, of schema 1.0): the operators of a run without times.
 *
 *     { "schema": "1.0.1", "pid": 563677, ..., "nodes": [ { "name": "aten::rand", "id": 4, "rf_id": 2, ... }, ... ] }
 *
 * The file is read as a stream; of a node only what links it and is shown is kept.
 */
#ifndef TLMPI_COMPAT_HTA_STACKS_NODES_H
#define TLMPI_COMPAT_HTA_STACKS_NODES_H

#include "tlmpi/base/mem.h"
#include "tlmpi/base/status.h"
#include "tlmpi/model/names.h"

enum {
    TL_EXEC_NAME,
    TL_EXEC_SCHEMA,
    TL_EXEC_INPUT_SHAPES,
    TL_EXEC_INPUT_TYPES,
    TL_EXEC_OUTPUT_SHAPES,
    TL_EXEC_OUTPUT_TYPES,
    TL_EXEC_NTEXTS
};

typedef struct tl_exec_node {
    int64_t id, rf_id;              /* rf_id: the External id of its row in the trace */
    uint32_t texts[TL_EXEC_NTEXTS]; /* JSON as it is written; TL_NO_NAME: absent */
} tl_exec_node;

/* Zero-initialise; tl_exec_free ends it. */
typedef struct tl_exec {
    TL_VEC(tl_exec_node) nodes; /* those with both ids, in file order */
    tl_names texts;
    bool has_pid;
    int64_t pid;
    bool found;   /* it has nodes at its outermost level: it is an execution trace */
    bool damaged; /* it is no JSON from a place on, ends early, or has a node that is too long */
} tl_exec;

/* What can be read of the file.  TL_EINPUT: it cannot be opened; TL_ENOMEM. */
tl_status tl_exec_read(const char *path, tl_exec *exec, tl_error *err);
void tl_exec_free(tl_exec *exec);

#endif
