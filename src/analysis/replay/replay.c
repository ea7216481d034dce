/* replay.c - the longest path through the graph, in one pass. */
#include "tlmpi/analysis/replay.h"
#include "tlmpi/base/stats.h"
#include <stdlib.h>

void tl_changes_reset(const tl_graph *g, tl_changes *scenario)
{
    for (size_t v = 0; v < g->nnodes; v++) {
        scenario->work_ns[v] = g->nodes[v].work_ns;
        scenario->gone[v] = false;
    }
}

bool tl_changes_new(const tl_graph *g, tl_changes *out)
{
    out->work_ns = tl_malloc((g->nnodes + 1) * sizeof *out->work_ns);
    out->gone = tl_malloc((g->nnodes + 1) * sizeof *out->gone);
    if (out->work_ns == NULL || out->gone == NULL)
        return false;
    tl_changes_reset(g, out);
    return true;
}

void tl_changes_free(tl_changes *scenario)
{
    free(scenario->work_ns);
    free(scenario->gone);
    free(scenario->usual_ns);
    free(scenario->known);
    *scenario = (tl_changes){ 0 };
}

int64_t tl_replay(const tl_graph *g, const tl_changes *scenario, int64_t *done_ns)
{
    int64_t last = INT64_MIN;
    for (size_t i = 0; i < g->nnodes; i++) {
        uint32_t v = g->order[i], e = g->nodes[v].first_edge, end = g->nodes[v + 1].first_edge;
        int64_t since = e == end ? 0 : INT64_MIN;
        end -= scenario != NULL && scenario->gone[v];
        for (; e < end; e++) {
            int64_t at = done_ns[g->from[e]] + g->lag_ns[e];
            since = at > since ? at : since;
        }
        done_ns[v] = since + (scenario != NULL ? scenario->work_ns[v] : g->nodes[v].work_ns) + g->rest_ns[v];
        last = tl_ns_max(last, done_ns[v]);
    }
    return last;
}

void tl_replay_step_ends(const tl_baseline *b, const int64_t *done_ns, int64_t *end_ns)
{
    uint32_t n = b->graph->first_node[b->graph->nranks];
    for (size_t s = 0; s < b->nsteps; s++)
        end_ns[s] = INT64_MIN;
    for (uint32_t v = 0; v < n; v++)
        end_ns[b->step_of[v]] = tl_ns_max(end_ns[b->step_of[v]], done_ns[v]);
    for (size_t s = 1; s < b->nsteps; s++)
        end_ns[s] = tl_ns_max(end_ns[s], end_ns[s - 1]);
}
