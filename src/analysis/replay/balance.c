/* balance.c - losses that no single rank causes: roles of unlike work, and hosts that are slower than their devices. */
#include "tlmpi/analysis/replay.h"
#include "tlmpi/base/mem.h"
#include <math.h>
#include <stdlib.h>

/* What is usual of each role: ns[nroles]. */
static void find_baseline(const tl_baseline *b, int64_t *ns)
{
    int64_t *scratch = tl_malloc((b->graph->nranks + 1) * sizeof *scratch);
    for (uint32_t q = 0; q < b->nroles; q++) {
        for (uint32_t i = 0; i < b->roles[q].n; i++)
            scratch[i] = b->compute_ns[b->members[b->roles[q].first + i]];
        ns[q] = tl_baseline_median(scratch, b->roles[q].n);
    }
    free(scratch);
}

void tl_balance_find(const tl_baseline *b, tl_balance *out)
{
    int64_t *baseline_ns = tl_calloc(b->nroles + 1, sizeof *baseline_ns);
    double sum = 0, nranks = 0;
    *out = (tl_balance){ .most = TL_NONE, .times = NAN, .to = tl_malloc((b->nroles + 1) * sizeof *out->to) };
    find_baseline(b, baseline_ns);

    for (uint32_t q = 0; q < b->nroles; q++) {
        double n = baseline_ns[q] > 0 ? b->roles[q].n : 0;
        sum += (double)baseline_ns[q] * n;
        nranks += n;
        out->most = n > 0 && (out->most == TL_NONE || baseline_ns[q] > baseline_ns[out->most]) ? q : out->most;
    }
    double own = out->most != TL_NONE ? b->roles[out->most].n : 0;
    if (nranks <= own)
        out->most = TL_NONE;
    for (uint32_t q = 0; q < b->nroles; q++)
        out->to[q] = baseline_ns[q] > 0 ? sum / nranks / (double)baseline_ns[q] : 1;
    if (out->most != TL_NONE)
        out->times = (double)baseline_ns[out->most] / ((sum - (double)baseline_ns[out->most] * own) / (nranks - own));
    free(baseline_ns);
}

void tl_balance_rank(double to, tl_changes *c)
{
    for (uint32_t v = 0; v < c->open.n; v++) {
        const tl_node *node = &c->open.nodes[v];
        if (tl_computes(c->class_map, node))
            c->less_ns[v] = node->work_ns - (int64_t)((double)node->work_ns * to);
    }
}

void tl_free_host(tl_changes *c)
{
    for (uint32_t v = 0; v < c->open.n; v++)
        if ((1U << c->open.nodes[v].activity & TL_HOST_ACTIVITIES) != 0)
            c->less_ns[v] = c->open.nodes[v].work_ns;
}
