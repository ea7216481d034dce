/* execution.h - the nodes of an execution trace (the operators of a run without times, as PyTorch's
 * ExecutionTraceObserver writes them), and the rows of a profiler trace of the same run that belong to them.
 *
 *     { "schema": "1.0.1", "pid": 563677, ...,
 *       "nodes": [ { "name": "aten::rand", "id": 4, "rf_id": 2, "parent": 3, "input_shapes": ... }, ... ] }
 *     { "schema": "1.1.1-chakra.0.0.4", "pid": 563677, ...,
 *       "nodes": [ { "id": 4, "name": "aten::rand", "ctrl_deps": 3, "inputs": { "shapes": ... },
 *                    "attrs": [ { "name": "rf_id", "value": 2 }, ... ] }, ... ] }
 *
 * The file is read as a stream; of a node, only its links and the texts to show are kept.  Input: the path of a file.
 * May use text and the names of model.
 */
#ifndef TLMPI_TRACE_READ_EXECUTION_H
#define TLMPI_TRACE_READ_EXECUTION_H

#include "tlmpi/base/hash.h"
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

/* Which texts are kept, one bit each; the name always is. */
#define TL_EXEC_ALL_TEXTS ((1u << TL_EXEC_NTEXTS) - 1)

typedef struct tl_exec_node {
    int64_t id, rf_id, parent;      /* rf_id: the number of the node's rows in the trace; parent: -1: unknown */
    uint32_t texts[TL_EXEC_NTEXTS]; /* JSON as written; TL_NO_NAME: absent */
} tl_exec_node;

/* Zero-initialise; tl_exec_free ends it. */
typedef struct tl_exec {
    TL_VEC(tl_exec_node) nodes; /* nodes with both ids, in file order */
    tl_map by_rf;               /* rf_id -> index of its node */
    int64_t without_id;         /* number of nodes that lack an id and are left out */
    tl_names texts;
    bool has_pid;
    int64_t pid;
    bool found;      /* the outermost object has nodes: the file is an execution trace */
    bool damaged;    /* the text stops being JSON somewhere, is cut, goes on after its end, or has a node that is too
                      * long */
    bool cut;        /* damaged because the text ends early */
    char fault[256]; /* where, and what was expected there */
} tl_exec;

/* Reads the file as far as possible.  texts: bits of TL_EXEC_...  TL_EINPUT: the file cannot be opened. */
tl_status tl_exec_read(const char *path, unsigned texts, tl_exec *exec, tl_error *err);
void tl_exec_free(tl_exec *exec);

/* Whether the file begins as an execution trace; false if it cannot be opened. */
bool tl_exec_is(const char *path);

/* ----------------------------------------------------------------------------------------------- which rows are theirs
 *
 * A row of the host of one of these categories belongs to the node whose rf_id is its number. */

static inline bool tl_exec_links(tl_text category)
{
    return tl_text_is(category, "cpu_op") || tl_text_is(category, "user_annotation");
}

/* Returns the index of the node with that rf_id; of several, the last; TL_MAP_NONE: none. */
static inline uint32_t tl_exec_node_of(const tl_exec *exec, int64_t rf_id)
{
    return tl_map_get(&exec->by_rf, (uint64_t)rf_id);
}

/* Whether the node stands for a thread or the process, as a parent of operators. */
bool tl_exec_is_frame(const tl_exec *exec, const tl_exec_node *node);

#endif
