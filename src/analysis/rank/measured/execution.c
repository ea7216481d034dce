/* execution.c - what did the nodes of an execution trace cost?
 *
 *     node 4    [aten::rand              ]
 *     node 5      [aten::empty]
 *     launch         |1          |2            1: of node 5 itself; 2: of node 4 itself; node 4 with its child has both
 *
 * Events without a node are ignored: work launched in one belongs to the node around it.
 */
#include "enclosing_ops.h"
#include "tlmpi/analysis/rank/measured.h"
#include "tlmpi/base/mem.h"
#include "tlmpi/base/stats.h"

/* Adds to each node's row its own runs, host time and work.  launches: each with the innermost op that has a node. */
static void add_own(const tl_rank_view *view, const uint32_t *node_of, const tl_instant *launches,
                    tl_execution_node *rows)
{
    for (size_t i = 0; i < view->ops.n; i++) {
        if (node_of[i] == TL_NONE)
            continue;
        tl_execution_node *row = &rows[node_of[i]];
        int64_t start_ns = view->ops.start_ns[i];
        row->start_ns = row->runs++ == 0 ? start_ns : tl_ns_min(row->start_ns, start_ns);
        row->host_ns = tl_ns_add(row->host_ns, view->ops.dur_ns[i]);
    }
    for (size_t i = 0; i < view->nkernels; i++) {
        const tl_kernel *k = &view->kernels[i];
        uint32_t op = k->launch != TL_NONE ? launches[k->launch].op : TL_NONE;
        if (op == TL_NONE)
            continue;
        tl_execution_node *row = &rows[node_of[op]];
        row->kernels_self++;
        row->device_self_ns = tl_ns_add(row->device_self_ns, k->end_ns - k->start_ns);
    }
}

/* Adds each node's kernels and device time to its parent once all its own children are added.  Nodes that are each
 * other's parents are never complete: their sums go no further.  missing[n]: children yet to be added, 0 at the start.
 */
static void add_children(const uint32_t *parent_of, uint32_t *missing, tl_execution_node *rows, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        rows[i].kernels = rows[i].kernels_self;
        rows[i].device_ns = rows[i].device_self_ns;
        if (parent_of[i] != TL_NONE)
            missing[parent_of[i]]++;
    }
    for (size_t i = 0; i < n; i++) {
        size_t at = i;
        if (missing[i] != 0) /* it has children that are not added yet, or was added with its children */
            continue;
        do {
            uint32_t to = parent_of[at];
            missing[at] = UINT32_MAX;
            if (to == TL_NONE)
                break;
            rows[to].kernels += rows[at].kernels;
            rows[to].device_ns = tl_ns_add(rows[to].device_ns, rows[at].device_ns);
            missing[to]--;
            at = to;
        } while (missing[at] == 0);
    }
}

void tl_execution_sum_up(const tl_rank_view *view, const uint32_t *node_of, const uint32_t *parent_of,
                         tl_execution_node *rows, size_t n)
{
    tl_arena arena = { 0 };
    tl_instant *launches = tl_arena_take(&arena, view->nlaunches, sizeof *launches);
    uint32_t *missing = tl_arena_zeroed(&arena, n, sizeof *missing);
    for (size_t i = 0; i < view->nlaunches; i++)
        launches[i] = (tl_instant){ .at_ns = view->launches[i].start_ns,
                                    .until_ns = view->launches[i].end_ns,
                                    .track = view->launches[i].track };
    tl_instants_find_ops(view, node_of, launches, view->nlaunches, NULL);
    add_own(view, node_of, launches, rows);
    add_children(parent_of, missing, rows, n);
    tl_arena_free(&arena);
}

TL_TABLE_DEFINE_RARE(execution_node, TL_EXECUTION_NODE_FIELDS, TL_SCOPE_EVENT, "nodes of execution traces",
                     "What did each node of an execution trace cost on the host, and the work that it launched?");
