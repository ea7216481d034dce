/* places.c - what the same piece of host work usually takes: that before the launch at one place of one program. */
#include "parts.h"
#include "tlmpi/base/sort.h"
#include <stdlib.h>

typedef struct placed {
    uint64_t place;
    uint32_t role, step, node;
} placed;

static int by_place(const void *a, const void *b)
{
    const placed *x = a, *y = b;
    if (x->place != y->place)
        return TL_COMPARE(x->place, y->place);
    if (x->role != y->role)
        return TL_COMPARE(x->role, y->role);
    return x->step != y->step ? TL_COMPARE(x->step, y->step) : TL_COMPARE(x->node, y->node);
}

/* A piece of the host before a launch, or a call that waits for one. */
static bool is_placed(const tl_node *node)
{
    return node->key != 0 && (node->kind == TL_NODE_LAUNCH || node->kind == TL_NODE_WAIT_BEGIN);
}

static size_t list(const tl_baseline *b, placed *v)
{
    const tl_graph *g = b->graph;
    size_t n = 0;
    for (size_t r = 0; r < g->nranks; r++)
        for (uint32_t node = g->first_node[r]; node < g->first_node[r + 1]; node++)
            if (is_placed(&g->nodes[node]) && b->class_of[node] != TL_NONE)
                v[n++] = (placed){ g->nodes[node].key, b->role_of[r], b->step_of[node], node };
    if (n > 1)
        qsort(v, n, sizeof *v, by_place);
    return n;
}

bool tl_baseline_places(tl_baseline *out)
{
    const tl_graph *g = out->graph;
    size_t nhost = 0;
    for (uint32_t v = 0; v < g->first_node[g->nranks]; v++)
        nhost += is_placed(&g->nodes[v]);
    placed *v = tl_malloc((nhost + 1) * sizeof *v);
    int64_t *ns = tl_malloc((nhost + 1) * sizeof *ns);
    out->usual_ns = tl_calloc(g->nnodes + 1, sizeof *out->usual_ns);
    bool ok = v != NULL && ns != NULL && out->usual_ns != NULL;
    size_t n = ok ? list(out, v) : 0;

    for (size_t i = 0, to; i < n; i = to) {
        for (to = i; to < n && v[to].place == v[i].place && v[to].role == v[i].role && v[to].step == v[i].step; to++)
            ns[to - i] = g->nodes[v[to].node].work_ns;
        int64_t usual = to - i > 1 ? tl_usual(ns, to - i) : 0;
        for (size_t k = i; k < to; k++)
            out->usual_ns[v[k].node] = usual;
    }
    free(v);
    free(ns);
    return ok;
}
