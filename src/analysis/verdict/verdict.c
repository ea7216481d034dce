/* verdict.c - the passes of tl_verdict_find: folded ranks, unchanged replay, candidates, elimination, untraced ranks.
 */
#include "internal.h"
#include "tlmpi/base/stats.h"
#include <math.h>
#include <stdlib.h>

void tl_change_put(tl_asked *asked, size_t rank, tl_change change, const uint32_t *plans, size_t nplans)
{
    tl_bytes_put(&asked->in[rank], &change, sizeof change);
    tl_bytes_put_list(&asked->in[rank], plans, nplans, sizeof *plans);
}

/* Folds a rank without a graph to its origin alone. */
static void empty_folded(size_t nsteps, tl_folded *out)
{
    out->done_ns = tl_calloc(1, sizeof *out->done_ns);
    tl_net_new(1, 0, 0, nsteps, &out->net);
    out->net.own_ns[0] = 0;
    out->net.first_edge[0] = out->net.first_edge[1] = 0;
    out->net.first_end[0] = out->net.first_end[1] = 0;
}

static void fold_ranks(const tl_baseline *b, tl_findings *out)
{
    tl_asked asked;
    tl_asked_new(out->nranks, &asked);
    for (size_t r = 0; r < out->nranks; r++)
        if (tl_job_graph_has(b->graph, r))
            tl_change_put(&asked, r, (tl_change){ .kind = TL_CHANGE_NONE }, NULL, 0);
    tl_ask_ranks(b->asker, TL_ASK_CHANGE, &asked);
    for (size_t r = 0; r < out->nranks; r++) {
        uint8_t lane;
        if (tl_job_graph_has(b->graph, r)) {
            tl_bytes_get(&asked.out[r], &lane, sizeof lane);
            tl_changed_get(&out->folded[r], &asked.out[r]);
        } else
            empty_folded(b->nsteps, &out->folded[r]);
        tl_bytes_free(&asked.out[r]);
    }
    tl_asked_free(&asked);
}

/* Returns the largest difference, ns, between a node's time in the unchanged replay and its measured time. */
static int64_t error_of(const tl_job_net *job_net, const int64_t *done_ns)
{
    int64_t most = 0;
    for (size_t v = 1; v < job_net->net.n; v++)
        most = tl_ns_max(most, tl_ns_max(tl_ns_between(done_ns[v], job_net->done_ns[v]),
                                         tl_ns_between(job_net->done_ns[v], done_ns[v])));
    return most;
}

static void time_steps(const tl_baseline *b, tl_findings *out)
{
    tl_job_net job_net = { 0 };
    bool any = false;
    tl_job_net_make(b, out->folded, NULL, &job_net);
    int64_t *done_ns = tl_malloc((job_net.net.n + 1) * sizeof *done_ns);
    out->end_ns = tl_net_replay(&job_net.net, done_ns);
    out->error_ns = error_of(&job_net, done_ns);
    out->start_ns = INT64_MAX;
    for (size_t r = 0; r < out->nranks; r++)
        if (tl_job_graph_has(b->graph, r)) {
            out->start_ns = tl_ns_min(out->start_ns, b->graph->ranks[r].start_ns);
            any = true;
        }
    out->start_ns = any ? out->start_ns : out->end_ns;
    out->time_ns = out->end_ns - out->start_ns;
    out->whole_ns = tl_net_whole_ns(&job_net.net, b, done_ns, out->start_ns, out->end_ns);
    tl_net_step_ends(&job_net.net, done_ns, out->step_ns);
    for (size_t s = b->nsteps; s-- > 0;)
        out->step_ns[s] -= s > 0 ? out->step_ns[s - 1] : out->start_ns;
    free(done_ns);
    tl_job_net_free(&job_net);
}

void tl_verdict_find(const tl_baseline *b, const tl_verdict_options *options, tl_findings *out)
{
    size_t n = b->graph->nranks, cells = n * b->nsteps;
    *out = (tl_findings){ .nsteps = b->nsteps, .nranks = n };
    out->folded = tl_arena_zeroed(&out->arena, n, sizeof *out->folded);
    out->step_ns = tl_arena_zeroed(&out->arena, b->nsteps, sizeof *out->step_ns);
    out->z = tl_arena_zeroed(&out->arena, cells, sizeof *out->z);
    out->late_ns = tl_arena_zeroed(&out->arena, cells, sizeof *out->late_ns);
    out->rank_ns = tl_arena_take(&out->arena, n, sizeof *out->rank_ns);
    out->rank_step_ns = tl_arena_zeroed(&out->arena, cells, sizeof *out->rank_step_ns);
    out->causes = tl_arena_take(&out->arena, n, sizeof *out->causes);

    for (size_t r = 0; r < n; r++) {
        out->rank_ns[r] = -1;
        out->causes[r] = (tl_rank_cause){ TL_CAUSE_UNKNOWN, TL_CAUSE_UNKNOWN, NAN };
    }
    fold_ranks(b, out);
    time_steps(b, out);
    tl_candidates_find(b, options, out);
    tl_backward_elimination(b, options->least_cost, out);
    tl_untraced_find(b, options, out);
}

void tl_findings_free(tl_findings *j)
{
    for (size_t u = 0; u < j->candidates.n; u++)
        free(j->candidates.v[u].on);
    for (size_t u = 0; u < j->slight.n; u++)
        free(j->slight.v[u].on);
    free(j->candidates.v);
    free(j->slight.v);
    free(j->untraced.v);
    for (size_t r = 0; j->folded != NULL && r < j->nranks; r++)
        tl_folded_free(&j->folded[r]);
    tl_arena_free(&j->arena);
    *j = (tl_findings){ 0 };
}
