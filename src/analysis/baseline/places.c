/* places.c - what the same piece of host work usually takes: that before the launch at one place of one program. */
#include "parts.h"
#include "tlmpi/base/sort.h"
#include <stdlib.h>

static int by_place(const void *context, uint32_t x, uint32_t y)
{
    const tl_baseline *b = context;
    const tl_node *nodes = b->graph->nodes;
    return nodes[x].key != nodes[y].key ? TL_COMPARE(nodes[x].key, nodes[y].key) : TL_COMPARE(b->step_of[x], b->step_of[y]);
}

/* A piece of the host before a launch, or a call that waits for one. */
static bool is_placed(const tl_node *node)
{
    return node->key != 0 && (node->kind == TL_NODE_LAUNCH || node->kind == TL_NODE_WAIT_BEGIN);
}

/* The pieces of a role; with v NULL only how many. */
static size_t list(const tl_baseline *b, uint32_t role, uint32_t *v)
{
    const tl_graph *g = b->graph;
    size_t n = 0;
    for (size_t i = 0; i < b->roles[role].n; i++) {
        uint32_t rank = b->members[b->roles[role].first + i];
        for (uint32_t node = g->first_node[rank]; node < g->first_node[rank + 1]; node++) {
            if (!is_placed(&g->nodes[node]) || b->class_of[node] == TL_NONE)
                continue;
            if (v != NULL)
                v[n] = node;
            n++;
        }
    }
    return n;
}

bool tl_usual_of_pieces(const tl_baseline *b, uint32_t role, int64_t *usual_ns)
{
    const tl_node *nodes = b->graph->nodes;
    size_t n = list(b, role, NULL);
    uint32_t *v = tl_malloc((n + 1) * sizeof *v);
    int64_t *ns = tl_malloc((n + 1) * sizeof *ns);
    bool ok = v != NULL && ns != NULL && list(b, role, v) == n && tl_sort_index(v, n, by_place, b);

    for (size_t i = 0, to; ok && i < n; i = to) {
        for (to = i; to < n && by_place(b, v[i], v[to]) == 0; to++)
            ns[to - i] = nodes[v[to]].work_ns;
        int64_t usual = to - i > 1 ? tl_usual(ns, to - i) : 0;
        for (size_t k = i; k < to; k++)
            usual_ns[v[k]] = usual;
    }
    free(v);
    free(ns);
    return ok;
}
