/* verdict.c - the verdict from beginning to end: lateness, significance, cost, choice. */
#include "parts.h"
#include "tlmpi/base/stats.h"
#include <stdlib.h>

/* Unchanged, every node has to be done when it was. */
static int64_t error_of(const tl_graph *g, const int64_t *done_ns)
{
    int64_t most = 0;
    for (size_t v = 0; v < g->nnodes; v++)
        most = tl_ns_max(most, tl_ns_max(tl_ns_between(done_ns[v], g->nodes[v].done_ns),
                                         tl_ns_between(g->nodes[v].done_ns, done_ns[v])));
    return most;
}

static bool time_steps(const tl_baseline *b, tl_findings *out)
{
    const tl_graph *g = b->graph;
    int64_t *done_ns = tl_malloc((g->nnodes + 1) * sizeof *done_ns);
    if (done_ns == NULL)
        return false;
    int64_t end = tl_replay(g, NULL, done_ns);
    out->error_ns = error_of(g, done_ns);
    out->start_ns = INT64_MAX;
    for (uint32_t v = 0; v < g->first_node[g->nranks]; v++)
        out->start_ns = tl_ns_min(out->start_ns, g->nodes[v].done_ns);
    out->time_ns = g->nnodes > 0 ? end - out->start_ns : 0;
    tl_replay_step_ends(b, done_ns, out->step_ns);
    for (size_t s = b->nsteps; s-- > 0;)
        out->step_ns[s] -= s > 0 ? out->step_ns[s - 1] : out->start_ns;
    free(done_ns);
    return true;
}

tl_status tl_verdict_find(const tl_baseline *b, const tl_verdict_options *options, tl_findings *out, tl_error *err)
{
    size_t n = b->graph->nranks, cells = n * b->nsteps + 1;
    *out = (tl_findings){ .nsteps = b->nsteps,
                           .step_ns = tl_calloc(b->nsteps + 1, sizeof *out->step_ns),
                           .z = tl_calloc(cells, sizeof *out->z),
                           .late_ns = tl_calloc(cells, sizeof *out->late_ns),
                           .rank_ns = tl_malloc((n + 1) * sizeof *out->rank_ns),
                           .rank_step_ns = tl_calloc(cells, sizeof *out->rank_step_ns) };
    bool ok = out->step_ns != NULL && out->z != NULL && out->late_ns != NULL && out->rank_ns != NULL &&
              out->rank_step_ns != NULL;

    for (size_t r = 0; ok && r < n; r++)
        out->rank_ns[r] = -1;
    ok = ok && time_steps(b, out) && tl_units_find(b, options->alpha, out) &&
         tl_units_choose(b, options->least_cost, out);
    return ok ? TL_OK : tl_fail_memory(err, "the verdict");
}

void tl_findings_free(tl_findings *j)
{
    for (size_t u = 0; u < j->units.n; u++)
        free(j->units.v[u].on);
    free(j->units.v);
    free(j->step_ns);
    free(j->z);
    free(j->late_ns);
    free(j->rank_ns);
    free(j->rank_step_ns);
    *j = (tl_findings){ 0 };
}
