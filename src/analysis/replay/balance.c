/* balance.c - what is nobody's fault: roles of unlike work, and hosts that are slower than their devices. */
#include "parts.h"
#include "tlmpi/base/stats.h"
#include <stdlib.h>

static bool computes(const tl_baseline *b, uint32_t node)
{
    return b->graph->nodes[node].part == TL_PART_COMPUTE && b->graph->nodes[node].kind == TL_NODE_WORK && !b->cut[b->step_of[node]];
}

static int64_t computed_by(const tl_baseline *b, uint32_t rank)
{
    int64_t ns = 0;
    for (uint32_t v = b->graph->first_node[rank]; v < b->graph->first_node[rank + 1]; v++)
        ns += computes(b, v) ? b->graph->nodes[v].work_ns : 0;
    return ns;
}

/* What is usual of each role: ns[nroles].  False when memory is out. */
static bool find_usual(const tl_baseline *b, int64_t *ns)
{
    int64_t *scratch = tl_malloc((b->graph->nranks + 1) * sizeof *scratch);
    for (uint32_t q = 0; scratch != NULL && q < b->nroles; q++) {
        for (uint32_t i = 0; i < b->roles[q].n; i++)
            scratch[i] = computed_by(b, b->members[b->roles[q].first + i]);
        ns[q] = tl_usual(scratch, b->roles[q].n);
    }
    free(scratch);
    return scratch != NULL;
}

bool tl_balance(const tl_baseline *b, tl_changes *scenario, uint32_t *most, double *times)
{
    const tl_graph *g = b->graph;
    int64_t *usual_ns = tl_calloc(b->nroles + 1, sizeof *usual_ns);
    double sum = 0, nranks = 0;
    bool ok = usual_ns != NULL && find_usual(b, usual_ns);

    *most = TL_NONE;
    for (uint32_t q = 0; ok && q < b->nroles; q++) {
        double n = usual_ns[q] > 0 ? b->roles[q].n : 0;
        sum += (double)usual_ns[q] * n;
        nranks += n;
        *most = n > 0 && (*most == TL_NONE || usual_ns[q] > usual_ns[*most]) ? q : *most;
    }
    double own = *most != TL_NONE ? b->roles[*most].n : 0;
    if (nranks <= own)
        *most = TL_NONE;
    if (ok && *most != TL_NONE)
        tl_changes_reset(g, scenario);
    for (size_t r = 0; ok && *most != TL_NONE && r < g->nranks; r++) {
        double to = usual_ns[b->role_of[r]] > 0 ? sum / nranks / (double)usual_ns[b->role_of[r]] : 1;
        for (uint32_t v = g->first_node[r]; v < g->first_node[r + 1]; v++)
            if (computes(b, v))
                scenario->work_ns[v] = (int64_t)((double)g->nodes[v].work_ns * to);
    }
    if (ok && *most != TL_NONE)
        *times = (double)usual_ns[*most] / ((sum - (double)usual_ns[*most] * own) / (nranks - own));
    free(usual_ns);
    return ok;
}

void tl_free_hosts(const tl_baseline *b, tl_changes *scenario)
{
    tl_changes_reset(b->graph, scenario);
    for (size_t v = 0; v < b->graph->nnodes; v++)
        if (b->graph->nodes[v].part == TL_PART_HOST)
            scenario->work_ns[v] = 0;
}
