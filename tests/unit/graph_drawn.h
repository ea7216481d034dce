/* graph_drawn.h - dependency graphs of drawings: of a rank, and of several ranks that meet.
 *
 *     graph_job *j = graph_job_of(draw("host:      a.b......",
 *                                      "compute 7: .AAA.....",
 *                                      "comm 9:    ....RRRRR", NULL),
 *                                 draw(...), NULL);
 *
 * The n-th comm of one letter is one collective of all ranks that have it.  Nodes are told by kind and by when they are
 * done, in columns; a column is a microsecond, or as many as a drawing is stretched to.
 */
#ifndef TLMPI_TESTS_GRAPH_DRAWN_H
#define TLMPI_TESTS_GRAPH_DRAWN_H

#include "draw.h"
#include "replayed.h"
#include "tlmpi/analysis/verdict/graph.h"
#include "unit.h"
#include <stdarg.h>
#include <stdlib.h>

/* --------------------------------------------------------------------------------------------------------- one rank */

/* A column of the drawing becomes so many microseconds. */
static inline drawing *stretched(drawing *d, int64_t us)
{
    for (size_t i = 0; i < d->view.nkernels; i++) {
        d->kernels[i].start_ns *= us;
        d->kernels[i].end_ns *= us;
        d->kernels[i].launch_ns *= d->kernels[i].launch_ns != TL_TIME_UNKNOWN ? us : 1;
    }
    for (size_t i = 0; i < d->view.nlaunches; i++) {
        d->launches[i].start_ns *= us;
        d->launches[i].end_ns *= us;
    }
    for (size_t i = 0; i < d->view.nsteps; i++) {
        d->steps[i].start_ns *= us;
        d->steps[i].end_ns *= us;
    }
    for (size_t i = 0; i < d->view.calls.n; i++) {
        d->call_columns.start_ns[i] *= us;
        d->call_columns.dur_ns[i] *= us;
    }
    return d;
}

static inline tl_rank_graph graph_of_rank(const drawing *d)
{
    tl_host_calls *calls = NULL;
    tl_host_spans spans = { 0 };
    tl_rank_graph g = { 0 };
    tl_host_calls_find(&d->view, true, &calls);
    tl_host_spans_find(&spans, &d->view);
    tl_rank_graph_make(&d->view, calls, &spans, true, &g);
    tl_host_spans_free(&spans);
    tl_host_calls_free(calls);
    return g;
}

/* The graph of a drawing that nobody needs any longer. */
static inline tl_rank_graph drawn_graph(drawing *d)
{
    tl_rank_graph g = graph_of_rank(d);
    drawing_free(d);
    return g;
}

/* Of [first, end) the only node of that kind that is done then; TL_NONE where there is none, or there are several. */
static inline uint32_t node_among(const tl_node *nodes, uint32_t first, uint32_t end, tl_node_kind kind, int64_t done_ns)
{
    uint32_t found = TL_NONE, n = 0;
    for (uint32_t v = first; v < end; v++)
        if (nodes[v].kind == kind && nodes[v].done_ns == done_ns) {
            found = v;
            n++;
        }
    return n == 1 ? found : TL_NONE;
}

static inline uint32_t node_at(const tl_rank_graph *g, tl_node_kind kind, int64_t done_us)
{
    uint32_t v = node_among(g->nodes, 0, (uint32_t)g->nnodes, kind, done_us * US);
    CU_ASSERT_NOT_EQUAL(v, TL_NONE);
    return v != TL_NONE ? v : 0;
}

static inline size_t count_nodes(const tl_rank_graph *g, tl_node_kind kind)
{
    size_t n = 0;
    for (size_t v = 0; v < g->nnodes; v++)
        n += g->nodes[v].kind == kind;
    return n;
}

/* The edge between two nodes; NULL: there is none. */
static inline const tl_edge *edge_of(const tl_rank_graph *g, uint32_t from, uint32_t to)
{
    for (uint32_t e = g->nodes[to].first_edge; e < g->nodes[to + 1].first_edge; e++)
        if (g->edges[e].from == from)
            return &g->edges[e];
    return NULL;
}

/* ... and its least time in microseconds, -1000000: there is none. */
enum { NO_EDGE = -1000000 };

static inline int64_t lag_us(const tl_rank_graph *g, uint32_t from, uint32_t to)
{
    const tl_edge *e = edge_of(g, from, to);
    return e != NULL ? e->lag_ns / US : NO_EDGE;
}

static inline size_t count_edges_to(const tl_rank_graph *g, uint32_t to)
{
    return g->nodes[to + 1].first_edge - g->nodes[to].first_edge;
}

/* ------------------------------------------------------------------------------------------------------------ a job */

enum { GRAPH_RANKS = 6, GRAPH_ROWS = 128 };

typedef struct graph_job {
    drawing *drawn[GRAPH_RANKS];
    int32_t ranks[GRAPH_RANKS], marked[GRAPH_RANKS];
    size_t nranks, nmarked, nrows;
    tl_rank_graphs graphs; /* each rank's own */
    served_ranks served;       /* as the graph is final */
    tl_late_row rows[GRAPH_ROWS];
    tl_job_graph graph;
    tl_baseline baseline;
    tl_open_rank open[GRAPH_RANKS]; /* those that have been asked for */
} graph_job;

/* Rows of the nth comm of a letter; whether any rank has one. */
static inline bool graph_job_meet(graph_job *j, char letter, size_t nth, int64_t number)
{
    size_t before = j->nrows;
    for (size_t r = 0; r < j->nranks; r++) {
        const tl_rank_view *view = &j->drawn[r]->view;
        size_t seen = 0;
        for (size_t i = 0; i < view->nkernels; i++) {
            const tl_kernel *k = &view->kernels[i];
            if (k->kind != TL_COMM || k->correlation != letter - 'A' + 'a' || seen++ != nth)
                continue;
            j->rows[j->nrows++] = (tl_late_row){ .collective = number, .start_ns = k->start_ns, .end_ns = k->end_ns,
                                                 .rank = j->ranks[r], .step = k->step, .uid = k->uid, .group = 0, .peer = -1,
                                                 .kind = TL_ALL_REDUCE, .bytes = 1000, .fits = 1 };
        }
    }
    return j->nrows > before;
}

/* All but tl_job_graph_make, for those who change rows before. */
static inline graph_job *graph_job_drawn(drawing *first, va_list more)
{
    graph_job *j = calloc(1, sizeof *j);
    int64_t number = 0;
    if (j == NULL)
        abort();
    for (drawing *d = first; d != NULL; d = va_arg(more, drawing *)) {
        tl_vec_room(&j->graphs.of);
        j->ranks[j->nranks] = j->marked[j->nranks] = (int32_t)j->nranks;
        d->view.rank = (int32_t)j->nranks;
        j->graphs.of.v[j->graphs.of.n++] = graph_of_rank(d);
        j->drawn[j->nranks++] = d;
    }
    j->nmarked = j->nranks;
    for (char letter = 'A'; letter <= 'Z'; letter++)
        for (size_t nth = 0; graph_job_meet(j, letter, nth, number); nth++)
            number++;
    return j;
}

static inline tl_job_graph_input graph_job_input(const graph_job *j)
{
    return (tl_job_graph_input){ .graphs = &j->graphs, .ranks = j->ranks, .nranks = j->nranks, .marked = j->marked,
                             .nmarked = j->nmarked, .rows = j->rows, .nrows = j->nrows };
}

static inline void graph_job_baseline(graph_job *j)
{
    tl_baseline_make(&j->graph, &j->served.asker, j->ranks, j->rows, j->nrows, &j->baseline);
}

/* Unchanged, each node is done when it was. */
static inline void graph_job_is_exact(const graph_job *j)
{
    tl_baseline b;
    tl_baseline_make(&j->graph, &j->served.asker, j->ranks, j->rows, j->nrows, &b);
    expect_exact(&b);
    tl_baseline_free(&b);
}

static inline void graph_job_make(graph_job *j)
{
    tl_job_graph_input in = graph_job_input(j);
    serve_ranks(&j->graphs, j->ranks, &j->served);
    tl_job_graph_make(&in, &j->served.asker, &j->graph);
    graph_job_is_exact(j);
}

static inline graph_job *graph_job_unmade(drawing *first, ...)
{
    va_list more;
    va_start(more, first);
    graph_job *j = graph_job_drawn(first, more);
    va_end(more);
    return j;
}

static inline graph_job *graph_job_of(drawing *first, ...)
{
    va_list more;
    va_start(more, first);
    graph_job *j = graph_job_drawn(first, more);
    va_end(more);
    graph_job_make(j);
    return j;
}

static inline void graph_job_free(graph_job *j)
{
    for (size_t r = 0; r < j->nranks; r++)
        tl_open_free(&j->open[r]);
    tl_baseline_free(&j->baseline);
    tl_job_graph_free(&j->graph);
    tl_rank_graphs_free(&j->graphs);
    served_ranks_free(&j->served);
    for (size_t r = 0; r < j->nranks; r++)
        drawing_free(j->drawn[r]);
    free(j);
}

static inline const tl_open_rank *job_open(graph_job *j, size_t rank)
{
    if (j->open[rank].of == NULL)
        tl_rank_open(&served_rank(&j->served.asker, rank)->final, &j->open[rank]);
    return &j->open[rank];
}

/* A node of a rank. */
static inline uint32_t job_node(graph_job *j, size_t rank, tl_node_kind kind, int64_t done_us)
{
    const tl_open_rank *o = job_open(j, rank);
    uint32_t v = node_among(o->nodes, 0, o->n, kind, done_us * US);
    CU_ASSERT_NOT_EQUAL(v, TL_NONE);
    return v != TL_NONE ? v : 0;
}

static inline const tl_node *job_at(graph_job *j, size_t rank, tl_node_kind kind, int64_t done_us)
{
    return &job_open(j, rank)->nodes[job_node(j, rank, kind, done_us)];
}

static inline int64_t job_lag_us(graph_job *j, size_t rank, uint32_t from, uint32_t to)
{
    const tl_open_rank *o = job_open(j, rank);
    for (uint32_t e = o->nodes[to].first_edge; e < o->nodes[to + 1].first_edge; e++)
        if (o->edges[e].from == from)
            return o->edges[e].lag_ns / US;
    return NO_EDGE;
}

/* The only meeting that is done then. */
static inline uint32_t job_meeting(const graph_job *j, int64_t done_us)
{
    uint32_t found = 0, n = 0;
    for (uint32_t m = 0; m < j->graph.nmeetings; m++)
        if (j->graph.meetings[m].done_ns == done_us * US) {
            found = m;
            n++;
        }
    CU_ASSERT_EQUAL(n, 1);
    return found;
}

/* From a meeting to the END of a rank that is done then. */
static inline int64_t lag_to_end_us(graph_job *j, uint32_t meeting, size_t rank, int64_t done_us)
{
    uint32_t end = job_node(j, rank, TL_NODE_END, done_us), port = tl_rank_port_of(job_open(j, rank), end);
    bool met = port != TL_NONE && j->graph.ranks[rank].ports[port].meeting == meeting;
    return met ? job_lag_us(j, rank, job_open(j, rank)->n + port, end) : NO_EDGE;
}

/* To a meeting from a port of a rank, or, the rank being TL_NONE, from another meeting. */
static inline int64_t lag_to_meeting_us(const graph_job *j, uint32_t rank, uint32_t of, uint32_t meeting)
{
    const tl_meeting *m = &j->graph.meetings[meeting];
    for (uint32_t e = m->first_edge; e < m[1].first_edge; e++)
        if (j->graph.edges[e].rank == rank && j->graph.edges[e].of == of)
            return j->graph.edges[e].lag_ns / US;
    return NO_EDGE;
}

/* From the ARRIVAL of a rank that is done then. */
static inline int64_t lag_of_arrival_us(graph_job *j, uint32_t rank, int64_t done_us, uint32_t meeting)
{
    uint32_t arrival = job_node(j, rank, TL_NODE_ARRIVAL, done_us);
    const tl_job_rank *of = &j->graph.ranks[rank];
    for (uint32_t p = 0; p < of->nports; p++)
        if (of->ports[p].arrival == arrival)
            return lag_to_meeting_us(j, rank, p, meeting);
    return NO_EDGE;
}

#endif
