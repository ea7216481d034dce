/* hand_graph.h - graphs of jobs made by hand: ranks that do the same in each step, on a host and a device, and then
 * meet.
 *
 *     step      host  [ launch a ]--[ launch r ]
 *               device             [ a: device_ns ][ r ]     r: all ranks meet; the next step's host begins when it is done
 *
 * What a rank's host and device take in a step is asked of two functions; the rest follows.
 */
#ifndef TLMPI_TESTS_HAND_GRAPH_H
#define TLMPI_TESTS_HAND_GRAPH_H

#include "served_ranks.h"
#include "tlmpi/analysis/verdict/stragglers.h"
#include "unit.h"
#include <stdlib.h>

enum { HAND_RANKS = 16, HAND_STEPS = 16, HAND_NODES = 4 }; /* LAUNCH, WORK, ARRIVAL, END of each rank and step */
enum { HAND_TRANSFER_NS = 1000 };

typedef int64_t hand_work(size_t rank, size_t step);

typedef struct hand_job {
    size_t nranks, nsteps;
    int32_t ranks[HAND_RANKS];
    tl_late_row rows[HAND_RANKS];
    served_ranks served; /* final */
    tl_job_graph graph;
    tl_baseline baseline;
    tl_findings judgement;
} hand_job;

/* The node of a rank and step. */
static inline tl_node *hand_node(const hand_job *h, size_t rank, size_t step, uint32_t which)
{
    return &served_rank(&h->served.asker, rank)->final.graph.nodes[step * HAND_NODES + which];
}

/* When what happens in each step is done: launches and work by rank and step, meetings by step. */
typedef struct hand_times {
    int64_t launched[HAND_RANKS * HAND_STEPS], worked[HAND_RANKS * HAND_STEPS], met[HAND_STEPS];
} hand_times;

/* The first host's work of all has to wait for something: a BEGIN would, here it is a source, and no evidence. */
static inline tl_node hand_node_of(const hand_job *h, const hand_times *t, size_t rank, size_t step, uint32_t which)
{
    size_t at = rank * h->nsteps + step;
    tl_node node = { .step = (int32_t)step, .segment = (uint32_t)step, .done_ns = t->worked[at] };
    switch (which) {
    case 0:
        node.kind = TL_NODE_LAUNCH;
        node.activity = TL_ACTIVITY_HOST;
        node.key = 1;
        node.done_ns = t->launched[at];
        node.work_ns = step > 0 ? t->launched[at] - t->met[step - 1] : 0;
        break;
    case 1:
        node.kind = TL_NODE_WORK;
        node.key = 2;
        node.work_ns = t->worked[at] - t->launched[at];
        break;
    case 2:
        node.kind = TL_NODE_ARRIVAL;
        break;
    default:
        node.kind = TL_NODE_END;
        node.done_ns = t->met[step];
    }
    return node;
}

/* Each node waits for the one before, an END for its meeting. */
static inline void hand_rank(hand_job *h, const hand_times *t, size_t rank)
{
    tl_job_rank *of = &h->graph.ranks[rank];
    tl_served_rank *served = &h->served.server.ranks[rank];
    tl_rank_graph *g = &served->final.graph;
    *served = (tl_served_rank){ .rank = (int32_t)rank,
                                .final.graph = {
                                    .rank = (int32_t)rank, .nnodes = h->nsteps * HAND_NODES, .ncomms = h->nsteps } };
    *of = (tl_job_rank){ .nnodes = g->nnodes,
                         .ports = room_for(h->nsteps, sizeof *of->ports),
                         .nports = h->nsteps,
                         .steps = room_for(h->nsteps, sizeof *of->steps),
                         .nsteps = h->nsteps,
                         .start_ns = t->launched[rank * h->nsteps] };
    g->nodes = room_for(g->nnodes, sizeof *g->nodes);
    g->edges = room_for(g->nnodes, sizeof *g->edges);
    for (uint32_t v = 0; v < g->nnodes; v++) {
        uint32_t step = v / HAND_NODES, which = v % HAND_NODES;
        g->nodes[v] = hand_node_of(h, t, rank, step, which);
        g->nodes[v].first_edge = (uint32_t)g->nedges;
        if (v > 0)
            g->edges[g->nedges++] = (tl_edge){ .from = which == 3 ? (uint32_t)g->nnodes + step : v - 1 };
    }
    g->nodes[g->nnodes] = (tl_node){ .first_edge = (uint32_t)g->nedges };
    for (uint32_t s = 0; s < h->nsteps; s++) {
        of->steps[s] = (int32_t)s;
        of->ports[s] = (tl_rank_port){ .arrived_ns = t->worked[rank * h->nsteps + s],
                                       .meeting_done_ns = t->met[s],
                                       .arrival = s * HAND_NODES + 2,
                                       .meeting = s,
                                       .segment = s,
                                       .step = (int32_t)s,
                                       .awaited = true };
    }
    served->final.ports = copy_of_array(of->ports, h->nsteps, sizeof *of->ports);
}

static inline void hand_meetings(hand_job *h, const hand_times *t)
{
    tl_job_graph *g = &h->graph;
    g->nmeetings = h->nsteps;
    g->meetings = room_for(h->nsteps, sizeof *g->meetings);
    g->edges = room_for(h->nsteps * h->nranks, sizeof *g->edges);
    for (uint32_t s = 0; s <= h->nsteps; s++)
        g->meetings[s].first_edge = s * (uint32_t)h->nranks;
    for (uint32_t s = 0; s < h->nsteps; s++) {
        g->meetings[s].done_ns = t->met[s];
        g->meetings[s].work_ns = HAND_TRANSFER_NS;
        g->meetings[s].collective = s;
        g->meetings[s].step = (int32_t)s;
        for (uint32_t r = 0; r < h->nranks; r++)
            g->edges[s * h->nranks + r] = (tl_meeting_edge){ .rank = r, .of = s };
    }
}

static inline hand_job *hand_new(size_t nranks, size_t nsteps, hand_work *host_ns, hand_work *device_ns)
{
    hand_job *h = room_for(1, sizeof *h);
    hand_times t = { { 0 }, { 0 }, { 0 } };
    int64_t before = 0;
    if (nranks > HAND_RANKS || nsteps > HAND_STEPS)
        abort();
    h->nranks = h->graph.nranks = nranks;
    h->nsteps = nsteps;
    for (size_t s = 0; s < nsteps; s++) {
        for (size_t r = 0, at = s; r < nranks; r++, at += nsteps) {
            t.launched[at] = before + host_ns(r, s);
            t.worked[at] = t.launched[at] + device_ns(r, s);
            t.met[s] = t.worked[at] > t.met[s] ? t.worked[at] : t.met[s];
        }
        before = t.met[s] += HAND_TRANSFER_NS;
    }
    h->graph.ranks = room_for(nranks, sizeof *h->graph.ranks);
    h->served.server = (tl_rank_server){ .ranks = room_for(nranks, sizeof *h->served.server.ranks), .n = nranks };
    h->served.asker = tl_rank_server_asker(&h->served.server);
    h->served.asker.ranks = h->ranks;
    for (size_t r = 0; r < nranks; r++) {
        hand_rank(h, &t, r);
        h->ranks[r] = (int32_t)r;
        h->rows[r] = (tl_late_row){ .rank = (int32_t)r, .group = 0, .peer = -1, .kind = TL_ALL_REDUCE, .fits = 1 };
    }
    hand_meetings(h, &t);
    return h;
}

/* A group of ranks: "c 0 1 2" of collectives, "p 0 2" of sends and receives. */
static inline size_t hand_group(tl_late_row *rows, int32_t group, const char *line)
{
    int32_t ranks[8];
    size_t n = 0;
    for (const char *p = line + 1; *p != 0; p++)
        if (*p != ' ')
            ranks[n++] = *p - '0';
    for (size_t i = 0; i < n; i++)
        rows[i] = (tl_late_row){ .rank = ranks[i], .group = group, .fits = 1, .collective = group,
                                 .kind = line[0] == 'p' ? TL_SEND_RECV : TL_ALL_REDUCE,
                                 .peer = line[0] == 'p' ? ranks[1 - i] : -1 };
    return n;
}

static inline void hand_baseline(hand_job *h)
{
    tl_baseline_make(&h->graph, &h->served.asker, h->ranks, h->rows, h->nranks, &h->baseline);
}

static inline void hand_judge(hand_job *h, double alpha, double least_cost)
{
    const tl_verdict_options options = { alpha, least_cost };
    hand_baseline(h);
    tl_verdict_find(&h->baseline, &options, &h->judgement);
    CU_ASSERT_EQUAL(h->judgement.error_ns, 0);
}

static inline void hand_free(hand_job *h)
{
    tl_findings_free(&h->judgement);
    tl_baseline_free(&h->baseline);
    tl_job_graph_free(&h->graph);
    served_ranks_free(&h->served);
    free(h);
}

/* The unit of a rank and family; NULL: there is none. */
static inline const tl_candidate *hand_candidate(const hand_job *h, uint32_t rank, tl_family family)
{
    for (size_t u = 0; u < h->judgement.candidates.n; u++)
        if (h->judgement.candidates.v[u].rank == rank && h->judgement.candidates.v[u].family == family)
            return &h->judgement.candidates.v[u];
    return NULL;
}

#endif
