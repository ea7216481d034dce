/* rank.c - builds the graph of one rank. */
#include "build.h"
#include "tlmpi/analysis/rank/time.h"
#include "tlmpi/base/sort.h"
#include "tlmpi/base/span.h"
#include "tlmpi/base/stats.h"
#include <stdlib.h>

uint32_t tl_graph_node(tl_graph_build *b, tl_node node)
{
    tl_mem_indexable(b->nodes.n);
    tl_vec_push(&b->nodes, node);
    return (uint32_t)b->nodes.n - 1;
}

void tl_graph_edge(tl_graph_build *b, uint32_t from, uint32_t to, int64_t lag_ns, uint64_t vote)
{
    if (vote != 0)
        tl_vec_push(&b->votes, (tl_draft_vote){ vote, b->edges.n });
    tl_vec_push(&b->edges, (tl_draft_edge){ lag_ns, from, to });
}

/* Fills out->edges, grouped by the node that they lead to, then in the order in which they were added; and
 * out->votes. */
static void group_edges(tl_graph_build *b, tl_rank_graph *out)
{
    size_t n = b->nodes.n, vote = 0;
    uint32_t *next = tl_calloc(n + 2, sizeof *next);
    out->edges = tl_malloc((b->edges.n + 1) * sizeof *out->edges);
    out->votes = tl_malloc((b->votes.n + 1) * sizeof *out->votes);
    for (size_t e = 0; e < b->edges.n; e++)
        next[b->edges.v[e].to + 1]++;
    for (size_t v = 0; v < n; v++)
        next[v + 1] += next[v];
    for (size_t v = 0; v <= n; v++)
        b->nodes.v[v].first_edge = next[v];
    for (size_t e = 0; e < b->edges.n; e++) {
        const tl_draft_edge *edge = &b->edges.v[e];
        bool certain = vote == b->votes.n || b->votes.v[vote].edge != e;
        if (!certain)
            out->votes[vote] = b->votes.v[vote].vote;
        out->edges[next[edge->to]++] = (tl_edge){ edge->lag_ns, edge->from, certain ? 0 : (uint32_t)++vote };
    }
    out->nedges = b->edges.n;
    out->nvotes = b->votes.n;
    free(next);
}

/* Adds the end entries of nodes and pauses, and moves all lists to *out. */
static void move_lists(tl_graph_build *b, tl_rank_graph *out)
{
    tl_graph_node(b, (tl_node){ 0 });
    tl_vec_room(&b->pauses);
    b->nodes.n--;
    b->pauses.v[b->pauses.n] = (tl_pause){ .first_release = (uint32_t)b->releases.n };
    group_edges(b, out);
    out->nfalse = tl_key_unique(b->false_votes.v, b->false_votes.n);
    out->nodes = b->nodes.v;
    out->nnodes = b->nodes.n;
    out->comms = b->comms.v;
    out->ncomms = b->comms.n;
    out->pauses = b->pauses.v;
    out->npauses = b->pauses.n;
    out->releases = b->releases.v;
    out->nreleases = b->releases.n;
    out->false_votes = b->false_votes.v;
}

static void extend_span(tl_span *s, int64_t start_ns, int64_t end_ns)
{
    s->start_ns = tl_ns_min(s->start_ns, start_ns);
    s->end_ns = tl_ns_max(s->end_ns, end_ns);
}

/* Whether the span and the sum of work of the recording are within the limits that keep sums of times from
 * overflowing. */
static bool has_times(const tl_rank_view *view, const tl_host_calls *calls)
{
    tl_span s = { INT64_MAX, INT64_MIN };
    int64_t work = 0;
    for (size_t i = 0; i < view->nkernels; i++) {
        extend_span(&s, view->kernels[i].start_ns, view->kernels[i].end_ns);
        work = tl_ns_add(work, tl_ns_between(view->kernels[i].end_ns, view->kernels[i].start_ns));
    }
    for (size_t l = 0; l < view->nlaunches; l++)
        extend_span(&s, view->launches[l].start_ns, view->launches[l].end_ns);
    for (size_t i = 0; i < calls->waits.n; i++)
        extend_span(&s, calls->waits.v[i].start_ns, calls->waits.v[i].end_ns);
    if (calls->begin_ns < INT64_MAX)
        extend_span(&s, calls->begin_ns, calls->begin_ns);
    if (view->nkernels > 0 && view->nsteps > 0)
        extend_span(&s, view->steps[0].start_ns, view->steps[0].start_ns);
    return view->nkernels == 0 ||
           (tl_ns_between(s.end_ns, s.start_ns) <= TL_GRAPH_MAX_NS && work <= TL_GRAPH_MAX_WORK_NS);
}

static void add_comm(tl_graph_build *b, const tl_kernel *k, tl_graph_kernel *p)
{
    tl_node node = { .done_ns = k->start_ns, .segment = p->segment, .step = p->step, .kind = TL_NODE_ARRIVAL };
    p->start = tl_graph_node(b, node);
    node.done_ns = k->end_ns;
    node.work_ns = k->end_ns - k->start_ns; /* until the job's graph replaces it by the wait for the meeting */
    node.kind = TL_NODE_END;
    node.activity = TL_ACTIVITY_COMM;
    p->end = tl_graph_node(b, node);
    tl_vec_push(&b->comms, (tl_node_comm){ k->start_ns, k->uid, p->start, p->segment, p->nwork });
    tl_graph_edge(b, p->start, p->end, 0, 0);
}

/* Adds the nodes of kernels, with edges from their launch and from the kernel before on their stream. */
static void add_work(tl_graph_build *b)
{
    for (size_t i = 0; i < b->view->nkernels; i++) {
        const tl_kernel *k = &b->view->kernels[i];
        tl_graph_kernel *p = &b->placed[i];
        if (k->kind == TL_COMM) {
            add_comm(b, k, p);
            continue;
        }
        p->start = p->end =
            tl_graph_node(b, (tl_node){ .done_ns = k->end_ns,
                                        .work_ns = k->end_ns - k->start_ns,
                                        .key = p->name,
                                        .segment = p->segment,
                                        .step = p->step,
                                        .kind = TL_NODE_WORK,
                                        .activity = (uint8_t)tl_activity_of_work(b->view, k),
                                        .blocks = k->kind == TL_COMPUTE ? tl_blocks_rounded(k->blocks) : 0 });
    }
    for (size_t i = 0; i < b->view->nkernels; i++) {
        const tl_kernel *k = &b->view->kernels[i];
        uint32_t launch = b->placed[i].launch != TL_NONE ? b->launched[b->placed[i].launch] : TL_NONE;
        /* a kernel that begins before the previous one of its stream ended keeps that overlap in every replay */
        if (i > 0 && tl_same_stream(k, k - 1))
            tl_graph_edge(b, b->placed[i - 1].end, b->placed[i].start,
                          tl_ns_min(0, tl_ns_between(k->start_ns, k[-1].end_ns)), 0);
        if (launch != TL_NONE)
            tl_graph_edge(b, launch, b->placed[i].start,
                          tl_ns_min(b->latency_ns, tl_ns_between(k->start_ns, b->nodes.v[launch].done_ns)), 0);
    }
}

void tl_rank_graph_make(const tl_rank_view *view, const tl_host_calls *calls, const tl_host_spans *spans, bool named,
                        tl_rank_graph *out)
{
    *out = (tl_rank_graph){ .rank = view->rank };
    if (!has_times(view, calls))
        return;

    tl_graph_build b = { .view = view, .calls = calls, .spans = spans };
    tl_graph_hosts *hosts = NULL;
    tl_graph_place(&b);
    hosts = tl_graph_host(&b);
    add_work(&b);
    tl_graph_released(&b, hosts);
    tl_graph_depend(&b);
    out->nsteps = b.view->nsteps;
    out->steps = tl_malloc((out->nsteps + 1) * sizeof *out->steps);
    for (size_t s = 0; s < out->nsteps; s++) {
        out->steps[s] = b.view->steps[s];
        out->steps[s].start_ns = tl_ns_between(out->steps[s].start_ns, b.lag_ns);
        out->steps[s].end_ns = tl_ns_between(out->steps[s].end_ns, b.lag_ns);
    }
    if (named)
        out->labels = tl_graph_labels_of(&b, hosts);
    tl_graph_hosts_free(hosts); /* freed before group_edges copies the edges */
    tl_arena_free(&b.arena);
    move_lists(&b, out);
    free(b.edges.v);
    free(b.votes.v);
}

void tl_rank_graph_free(tl_rank_graph *graph)
{
    free(graph->nodes);
    free(graph->edges);
    free(graph->votes);
    free(graph->keys);
    free(graph->bytes);
    free(graph->comms);
    free(graph->pauses);
    free(graph->releases);
    free(graph->false_votes);
    free(graph->steps);
    tl_node_labels_free(graph->labels);
    *graph = (tl_rank_graph){ .rank = graph->rank };
}

void tl_rank_graphs_room(tl_rank_graphs *graphs)
{
    size_t bytes = 0;
    for (size_t i = 0; i < graphs->of.n; i++)
        bytes += tl_rank_graph_plain_bytes(&graphs->of.v[i]);
    if (bytes > TL_GRAPHS_PLAIN_BYTES)
        tl_rank_graph_pack(&graphs->of.v[graphs->of.n - 1]);
    tl_vec_room(&graphs->of);
}

void tl_rank_graphs_free(tl_rank_graphs *graphs)
{
    for (size_t i = 0; i < graphs->of.n; i++)
        tl_rank_graph_free(&graphs->of.v[i]);
    free(graphs->of.v);
    *graphs = (tl_rank_graphs){ 0 };
}
