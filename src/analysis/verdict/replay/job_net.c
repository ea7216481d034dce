/* job_net.c - joins folded ranks and all meetings into one net, in topological order. */
#include "tlmpi/analysis/verdict/replay.h"
#include "tlmpi/base/mem.h"
#include "tlmpi/base/stats.h"
#include "tlmpi/base/topological_order.h"
#include <stdlib.h>

/* The net under construction.  Order of nodes: the origin, the nodes of all folded ranks but for their origins,
 * meetings. */
typedef struct assembling {
    const tl_baseline *b;
    const tl_folded *folded;
    const tl_folded *changed;
    tl_job_net *out;
    tl_net *net;          /* out's */
    size_t end_of_origin; /* index of the origin's next end */
} assembling;

static const tl_folded *folded_of(const assembling *a, size_t rank)
{
    return tl_folded_of(a->folded, a->changed, rank);
}

static void allocate(assembling *a)
{
    const tl_job_graph *g = a->b->graph;
    size_t n = 1, nedges = 0, nends = g->nmeetings;
    a->out->base = tl_malloc((g->nranks + 1) * sizeof *a->out->base);
    for (size_t r = 0; r < g->nranks; r++) {
        const tl_net *net = &folded_of(a, r)->net;
        a->out->base[r] = (uint32_t)n - 1; /* the rank's node 0, its origin, is the job's node 0 */
        n += net->n - 1;
        nedges += net->nedges + g->ranks[r].nports;
        nends += net->nends;
    }
    a->out->meetings = (uint32_t)n;
    n += g->nmeetings;
    nedges += g->meetings[g->nmeetings].first_edge;
    tl_mem_indexable(n);
    tl_mem_indexable(nedges);
    a->out->done_ns = tl_malloc((n + 1) * sizeof *a->out->done_ns);
    tl_net_new(n, nedges, nends, a->b->nsteps, a->net);
}

/* ------------------------------------------------------------------------------------------------------------ nodes */

static void put_edge(tl_net *net, uint32_t from, int64_t lag_ns)
{
    net->from[net->nedges] = from;
    net->lag_ns[net->nedges++] = lag_ns;
}

static void put_end(tl_net *net, size_t at, uint32_t step, int64_t ns)
{
    net->end_step[at] = step;
    net->end_ns[at] = ns;
}

static void begin_node(assembling *a, size_t v, int64_t own_ns, int64_t done_ns)
{
    a->net->own_ns[v] = own_ns;
    a->net->first_edge[v] = (uint32_t)a->net->nedges;
    a->net->first_end[v] = (uint32_t)a->net->nends;
    a->out->done_ns[v] = done_ns;
}

/* Adds the net of a folded rank.  meets[n]: the meeting that each node waits for; TL_NONE: none. */
static void put_net(assembling *a, size_t rank, const tl_net *of, const int64_t *done_ns, const uint32_t *meets)
{
    tl_net *net = a->net;
    uint32_t base = a->out->base[rank];
    for (uint32_t i = 0; i < of->first_end[1]; i++)
        put_end(net, a->end_of_origin++, of->end_step[i], of->end_ns[i]);
    for (uint32_t v = 1; v < of->n; v++) {
        begin_node(a, base + v, of->own_ns[v], done_ns[v]);
        for (uint32_t e = of->first_edge[v]; e < of->first_edge[v + 1]; e++)
            put_edge(net, of->from[e] > 0 ? base + of->from[e] : 0, of->lag_ns[e]);
        if (meets[v] != TL_NONE)
            put_edge(net, a->out->meetings + meets[v], 0);
        for (uint32_t i = of->first_end[v]; i < of->first_end[v + 1]; i++)
            put_end(net, net->nends++, of->end_step[i], of->end_ns[i]);
    }
}

static void put_rank(assembling *a, size_t rank)
{
    const tl_folded *folded = folded_of(a, rank);
    const tl_job_rank *of = &a->b->graph->ranks[rank];
    uint32_t *meets = tl_malloc_none(folded->net.n);
    tl_net own = { 0 };
    int64_t *done_ns = NULL;
    for (size_t p = 0; p < of->nports; p++)
        if (folded->end_node[p] != TL_NONE)
            meets[folded->end_node[p]] = of->ports[p].meeting;
    if (folded->packed.v != NULL)
        tl_folded_unpack(folded, &own, &done_ns);
    put_net(a, rank, done_ns != NULL ? &own : &folded->net, done_ns != NULL ? done_ns : folded->done_ns, meets);
    tl_net_free(&own);
    free(done_ns);
    free(meets);
}

static void put_meeting(assembling *a, uint32_t m)
{
    const tl_job_graph *g = a->b->graph;
    const tl_meeting *meeting = &g->meetings[m];
    begin_node(a, a->out->meetings + m, meeting->work_ns + tl_meeting_rest_ns(g, m), meeting->done_ns);
    for (uint32_t e = meeting->first_edge; e < meeting[1].first_edge; e++) {
        const tl_meeting_edge *edge = &g->edges[e];
        uint32_t from = edge->rank != TL_NONE
                            ? a->out->base[edge->rank] + folded_of(a, edge->rank)->arrival_node[edge->of]
                            : a->out->meetings + edge->of;
        put_edge(a->net, from, edge->lag_ns);
    }
    put_end(a->net, a->net->nends++, (uint32_t)a->b->nsteps, 0);
}

static void put_all(assembling *a)
{
    tl_net *net = a->net;
    net->nedges = net->nends = a->end_of_origin = 0;
    /* the job's origin, which replaces the origins of all ranks */
    begin_node(a, 0, 0, 0);
    for (size_t r = 0; r < a->b->graph->nranks; r++)
        a->net->nends += folded_of(a, r)->norigin; /* ends of the rank's origin, added by put_net */
    for (size_t r = 0; r < a->b->graph->nranks; r++)
        put_rank(a, r);
    for (uint32_t m = 0; m < a->b->graph->nmeetings; m++)
        put_meeting(a, m);
    net->first_edge[net->n] = (uint32_t)net->nedges;
    net->first_end[net->n] = (uint32_t)net->nends;
}

/* ------------------------------------------------------------------------------------------------------------ order */

/* Returns the begin of a node by its edges and the measured times, ns. */
static int64_t begin_of(const assembling *a, uint32_t v)
{
    int64_t ns = INT64_MIN;
    for (uint32_t e = a->net->first_edge[v]; e < a->net->first_edge[v + 1]; e++)
        ns = tl_ns_max(ns, a->out->done_ns[a->net->from[e]] + a->net->lag_ns[e]);
    return ns;
}

/* Disables the dropped edges of cycles: they keep their indices but delay no node.  Times of nodes stay the same. */
static void disable_edges(assembling *a, const bool *dropped)
{
    tl_net *net = a->net;
    for (uint32_t v = 1; v < net->n; v++) {
        uint32_t first = net->first_edge[v], end = net->first_edge[v + 1], left = end - first;
        int64_t before = begin_of(a, v);
        for (uint32_t e = first; e < end; e++) {
            left -= dropped[e];
            net->from[e] = dropped[e] ? 0 : net->from[e];
            net->lag_ns[e] = dropped[e] ? INT64_MIN / 2 : net->lag_ns[e];
        }
        if (left == 0 && end > first)
            net->lag_ns[first] = 0;
        if (left < end - first)
            net->own_ns[v] += before - begin_of(a, v);
    }
}

void tl_job_net_make(const tl_baseline *b, const tl_folded *folded, const tl_folded *changed, tl_job_net *out)
{
    assembling a = { .b = b, .folded = folded, .changed = changed, .out = out, .net = &out->net };
    bool again = out->net.order != NULL && !out->cut;
    if (!again) {
        tl_job_net_free(out);
        allocate(&a);
    }
    put_all(&a);
    if (!again) {
        tl_net *net = a.net;
        size_t ndropped = 0;
        net->order = tl_malloc((net->n + 1) * sizeof *net->order);
        bool *dropped = tl_malloc(net->nedges + 1);
        tl_topological_order(net->n, net->first_edge, net->from, a.out->done_ns, net->order, dropped, &ndropped);
        a.out->cut = ndropped > 0;
        if (a.out->cut)
            disable_edges(&a, dropped);
        free(dropped);
    }
}

void tl_job_net_free(tl_job_net *job_net)
{
    tl_net_free(&job_net->net);
    free(job_net->done_ns);
    free(job_net->base);
    *job_net = (tl_job_net){ 0 };
}
