/* hand_graph.h - graphs of jobs made by hand: ranks that do the same in each step, on a host and a device, and then meet.
 *
 *     step      host  [ launch a ]--[ launch r ]
 *               device             [ a: device_ns ][ r ]     r: all ranks meet; the next step's host begins when it is done
 *
 * What a rank's host and device take in a step is asked of two functions; the rest follows.
 */
#ifndef TLMPI_TESTS_HAND_GRAPH_H
#define TLMPI_TESTS_HAND_GRAPH_H

#include "src/analysis/graph/join.h"
#include "tlmpi/analysis/verdict.h"
#include "unit.h"
#include <stdlib.h>

enum { HAND_RANKS = 16, HAND_STEPS = 16, HAND_NODES = 4 }; /* LAUNCH, WORK, ARRIVAL, END of each rank and step */
enum { HAND_TRANSFER_NS = 1000 };

typedef int64_t hand_work(size_t rank, size_t step);

typedef struct hand_job {
    size_t nranks, nsteps;
    int32_t ranks[HAND_RANKS];
    tl_late_row rows[HAND_RANKS];
    tl_graph graph;
    tl_baseline baseline;
    tl_findings judgement;
} hand_job;

static inline uint32_t hand_node(const hand_job *h, size_t rank, size_t step, uint32_t which)
{
    return (uint32_t)((rank * h->nsteps + step) * HAND_NODES) + which;
}

static inline void hand_edge(tl_graph *g, uint32_t from)
{
    g->from[g->nedges] = from;
    g->lag_ns[g->nedges++] = 0;
}

/* Nodes in order of numbers: their edges, with work and times, from what is known of each step. */
static inline void hand_fill(hand_job *h, const int64_t *launched_ns, const int64_t *worked_ns, const int64_t *met_ns)
{
    tl_graph *g = &h->graph;
    uint32_t first_meeting = (uint32_t)(h->nranks * h->nsteps * HAND_NODES);
    for (uint32_t v = 0; v < first_meeting; v++) {
        size_t rank = v / (h->nsteps * HAND_NODES), step = v / HAND_NODES % h->nsteps, at = rank * h->nsteps + step;
        int64_t before = step > 0 ? met_ns[step - 1] : 0;
        tl_node node = { .first_edge = (uint32_t)g->nedges, .step = (int32_t)step, .segment = (uint32_t)step };
        switch (v % HAND_NODES) {
        case 0:
            node.kind = TL_NODE_LAUNCH;
            node.part = TL_PART_HOST;
            node.key = 1;
            node.done_ns = launched_ns[at];
            node.work_ns = launched_ns[at] - before;
            if (step > 0)
                hand_edge(g, v - 1); /* END of the step before */
            break;
        case 1:
            node.kind = TL_NODE_WORK;
            node.key = 2;
            node.done_ns = worked_ns[at];
            node.work_ns = worked_ns[at] - launched_ns[at];
            hand_edge(g, v - 1);
            break;
        case 2:
            node.kind = TL_NODE_ARRIVAL;
            node.done_ns = worked_ns[at];
            hand_edge(g, v - 1);
            break;
        default:
            node.kind = TL_NODE_END;
            node.done_ns = met_ns[step];
            hand_edge(g, first_meeting + (uint32_t)step);
        }
        g->nodes[v] = node;
    }
    for (uint32_t step = 0; step < h->nsteps; step++) {
        g->nodes[first_meeting + step] = (tl_node){ .done_ns = met_ns[step], .work_ns = HAND_TRANSFER_NS, .key = step,
                                                    .first_edge = (uint32_t)g->nedges, .step = (int32_t)step,
                                                    .kind = TL_NODE_MEETING };
        for (size_t r = 0; r < h->nranks; r++)
            hand_edge(g, hand_node(h, r, step, 2));
    }
    g->nodes[g->nnodes] = (tl_node){ .first_edge = (uint32_t)g->nedges };
}

/* The first host's work of all has to wait for something: a BEGIN would, here it is a source, and no evidence. */
static inline hand_job *hand_new(size_t nranks, size_t nsteps, hand_work *host_ns, hand_work *device_ns)
{
    hand_job *h = calloc(1, sizeof *h);
    int64_t launched[HAND_RANKS * HAND_STEPS], worked[HAND_RANKS * HAND_STEPS], met[HAND_STEPS], before = 0;
    if (h == NULL || nranks > HAND_RANKS || nsteps > HAND_STEPS)
        abort();
    h->nranks = nranks;
    h->nsteps = nsteps;
    for (size_t s = 0; s < nsteps; s++) {
        met[s] = 0;
        for (size_t r = 0; r < nranks; r++) {
            launched[r * nsteps + s] = before + host_ns(r, s);
            worked[r * nsteps + s] = launched[r * nsteps + s] + device_ns(r, s);
            met[s] = worked[r * nsteps + s] > met[s] ? worked[r * nsteps + s] : met[s];
        }
        before = met[s] += HAND_TRANSFER_NS;
    }
    tl_graph *g = &h->graph;
    g->nranks = nranks;
    g->nmeetings = nsteps;
    g->nnodes = nranks * nsteps * HAND_NODES + nsteps;
    g->first_node = calloc(nranks + 2, sizeof *g->first_node);
    g->nodes = calloc(g->nnodes + 1, sizeof *g->nodes);
    g->from = calloc(2 * g->nnodes + nranks * nsteps, sizeof *g->from);
    g->lag_ns = calloc(2 * g->nnodes + nranks * nsteps, sizeof *g->lag_ns);
    if (g->first_node == NULL || g->nodes == NULL || g->from == NULL || g->lag_ns == NULL)
        abort();
    for (size_t r = 0; r <= nranks; r++)
        g->first_node[r] = (uint32_t)(r * nsteps * HAND_NODES);
    for (size_t r = 0; r < nranks; r++) {
        h->ranks[r] = (int32_t)r;
        h->rows[r] = (tl_late_row){ .rank = (int32_t)r, .group = 0, .peer = -1, .kind = TL_ALL_REDUCE, .fits = 1 };
    }
    hand_fill(h, launched, worked, met);
    if (!tl_graph_order(g))
        abort();
    return h;
}

static inline void hand_baseline(hand_job *h)
{
    tl_error err;
    CU_ASSERT_EQUAL_FATAL(tl_baseline_make(&h->graph, h->ranks, h->rows, h->nranks, &h->baseline, &err), TL_OK);
}

static inline void hand_judge(hand_job *h, double alpha, double least_cost)
{
    const tl_verdict_options options = { alpha, least_cost };
    tl_error err;
    hand_baseline(h);
    CU_ASSERT_EQUAL_FATAL(tl_verdict_find(&h->baseline, &options, &h->judgement, &err), TL_OK);
    CU_ASSERT_EQUAL(h->judgement.error_ns, 0);
}

static inline void hand_free(hand_job *h)
{
    tl_findings_free(&h->judgement);
    tl_baseline_free(&h->baseline);
    tl_graph_free(&h->graph);
    free(h);
}

/* The unit of a rank and family; NULL: there is none. */
static inline const tl_unit *hand_unit(const hand_job *h, uint32_t rank, tl_family family)
{
    for (size_t u = 0; u < h->judgement.units.n; u++)
        if (h->judgement.units.v[u].rank == rank && h->judgement.units.v[u].family == family)
            return &h->judgement.units.v[u];
    return NULL;
}

#endif
