/* internal.h - the tree of calling contexts while it grows.
 *
 * Private to the room.
 */
#ifndef TLMPI_ANALYSIS_TREE_INTERNAL_H
#define TLMPI_ANALYSIS_TREE_INTERNAL_H

#include "tlmpi/base/hash.h"
#include "tlmpi/base/mem.h"
#include "tlmpi/model/tree_table.h"
#include "tlmpi/model/view.h"

/* A path: what it ends with, below its parent. */
typedef struct tl_node {
    uint32_t parent, name;
    uint32_t forward;       /* node of the forward pass; TL_NONE */
    uint32_t child, follow; /* used last: a child of it, and after it one of its parent's; TL_NONE */
    uint32_t depth;
    uint8_t kind; /* tl_tree_kind */
    int64_t count, host_ns, called_ns;
    int64_t launches, kernels, device_ns,
        device_self_ns; /* with what is below it once all is there, but for the last */
} tl_node;

/* Node 0 is around all others, and has no row.  A node stands after its parent. */
typedef struct tl_tree {
    TL_VEC(tl_node) nodes;
    tl_map places; /* hash of a path's end -> node */
} tl_tree;

/* Fills an empty tree from what the host did and launched. */
void tl_tree_grow(tl_tree *tree, const tl_rank_view *view);

#endif
