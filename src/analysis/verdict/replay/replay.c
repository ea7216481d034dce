/* replay.c - times of all nodes of a net: the longest path to each, in one pass. */
#include "tlmpi/analysis/verdict/replay.h"
#include "tlmpi/base/mem.h"
#include "tlmpi/base/stats.h"
#include <stdlib.h>

void tl_net_new(size_t n, size_t nedges, size_t nends, size_t nsteps, tl_net *out)
{
    *out = (tl_net){ .n = n,
                     .nedges = nedges,
                     .nends = nends,
                     .nsteps = nsteps,
                     .nlanes = 1,
                     .own_ns = tl_malloc((n + 1) * sizeof *out->own_ns),
                     .first_edge = tl_malloc((n + 1) * sizeof *out->first_edge),
                     .from = tl_malloc((nedges + 1) * sizeof *out->from),
                     .lag_ns = tl_malloc((nedges + 1) * sizeof *out->lag_ns),
                     .first_end = tl_malloc((n + 1) * sizeof *out->first_end),
                     .end_step = tl_malloc((nends + 1) * sizeof *out->end_step),
                     .end_ns = tl_malloc((nends + 1) * sizeof *out->end_ns) };
}

void tl_net_free(tl_net *net)
{
    free(net->order);
    free(net->own_ns);
    free(net->first_edge);
    free(net->from);
    free(net->lag_ns);
    free(net->first_end);
    free(net->end_step);
    free(net->end_ns);
    *net = (tl_net){ 0 };
}

int64_t tl_net_replay(const tl_net *net, int64_t *done_ns)
{
    int64_t last = INT64_MIN;
    for (size_t k = 0; k < net->n; k++) {
        size_t v = net->order != NULL ? net->order[k] : k;
        uint32_t e = net->first_edge[v], end = net->first_edge[v + 1];
        int64_t since = e == end ? 0 : INT64_MIN;
        for (; e < end; e++)
            since = tl_ns_max(since, done_ns[net->from[e]] + net->lag_ns[e]);
        done_ns[v] = since + net->own_ns[v];
        for (uint32_t i = net->first_end[v]; i < net->first_end[v + 1]; i++)
            last = tl_ns_max(last, done_ns[v] + net->end_ns[i]);
    }
    return last;
}

void tl_net_step_ends(const tl_net *net, const int64_t *done_ns, int64_t *end_ns)
{
    for (size_t s = 0; s < net->nsteps; s++)
        end_ns[s] = INT64_MIN;
    for (size_t v = 0; v < net->n; v++)
        for (uint32_t i = net->first_end[v]; i < net->first_end[v + 1]; i++)
            if (net->end_step[i] < net->nsteps)
                end_ns[net->end_step[i]] = tl_ns_max(end_ns[net->end_step[i]], done_ns[v] + net->end_ns[i]);
    for (size_t s = 1; s < net->nsteps; s++)
        end_ns[s] = tl_ns_max(end_ns[s], end_ns[s - 1]);
}

int64_t tl_net_whole_ns(const tl_net *net, const tl_baseline *b, const int64_t *done_ns, int64_t start_ns,
                        int64_t last_ns)
{
    int64_t whole_ns = last_ns - start_ns, *ends_ns = NULL;
    for (size_t s = 0; s < b->nsteps; s++) {
        if (!b->left_out[s])
            continue;
        if (ends_ns == NULL) {
            ends_ns = tl_malloc(b->nsteps * sizeof *ends_ns);
            tl_net_step_ends(net, done_ns, ends_ns);
        }
        whole_ns -= ends_ns[s] - (s > 0 ? ends_ns[s - 1] : start_ns);
    }
    free(ends_ns);
    return whole_ns;
}
