/* critical_path.h - the chain of work and waits that HTA holds to decide how long a part of a rank's trace took.
 *
 *     host     [ aten::mm           )[ aten::add            )...
 *               [ launch a ]          [ launch b ]   [ sync   ]
 *     stream 7     |------->[   a   ]------->[   b   ]-----|
 *                  launch delay       kernel delay    synchronisation
 *
 * A row that counts has two nodes, its start and its end.  Edges lead from what comes before to what comes after it, and
 * weigh the time between, or nothing where they are mere dependencies.  The path is the heaviest chain of edges.
 */
#ifndef COMPAT_HTA_CRITICAL_PATH_H
#define COMPAT_HTA_CRITICAL_PATH_H

#include "frame.h"

/* What HTA looks up in all of a rank, for each region of it.  tl_hta_rank_calls_free ends it. */
typedef struct tl_hta_rank_calls {
    const tl_hta_frame *frame;
    tl_arena arena;
    const char *loader; /* a text in the names of rows that load data; NULL: none */
    size_t *first;      /* the queue lengths of an index are length[first[index]] up to length[first[index + 1]] */
    int64_t *length;
    tl_map
        source; /* correlation of a cudaEventRecord -> index of the last kernel launched before on its stream, or 0 */
    tl_map target;   /* index of a cudaStreamWaitEvent -> index of the next kernel its thread launches on its stream */
    const char *why; /* HTA gives up the rank, because ...; NULL: it does not, and the rest is set */
} tl_hta_rank_calls;

tl_hta_rank_calls tl_hta_rank_calls_of(const tl_hta_frame *frame, const char *loader);
void tl_hta_rank_calls_free(tl_hta_rank_calls *calls);

typedef enum tl_hta_edge_kind {
    TL_HTA_OPERATOR,     /* within a row of the host, or a kernel */
    TL_HTA_DEPENDENCY,   /* between rows of the host */
    TL_HTA_LAUNCH_DELAY, /* from a launch to its kernel */
    TL_HTA_KERNEL_DELAY, /* from a kernel to the next one of the stream */
    TL_HTA_SYNC,         /* from a kernel to what waits for it */
    TL_HTA_NEDGE_KINDS
} tl_hta_edge_kind;

/* "operator", ... */
extern const char *const tl_hta_edge_labels[TL_HTA_NEDGE_KINDS];

/* What an edge stands for in the sums of a path. */
typedef enum tl_hta_binding {
    TL_HTA_BY_NOTHING,
    TL_HTA_BY_HOST,
    TL_HTA_BY_LOADING,
    TL_HTA_BY_COMMUNICATION,
    TL_HTA_BY_COMPUTE,
    TL_HTA_BY_KERNEL_DELAY,
    TL_HTA_BY_LAUNCH_DELAY,
    TL_HTA_NBINDINGS
} tl_hta_binding;

typedef struct tl_hta_moment {
    double ts;
    uint32_t row; /* position in the clip */
    bool end;
} tl_hta_moment;

#define TL_HTA_NO_EVENT INT64_C(-1)

typedef struct tl_hta_edge {
    uint32_t from, to; /* nodes */
    tl_hta_edge_kind kind;
    tl_hta_binding binding;
    double weight; /* us; may be below 0 */
    int64_t event; /* index of the row that the time counts for; TL_HTA_NO_EVENT */
} tl_hta_edge;

/* Edges that weigh -1 or less count nothing. */
static inline double tl_hta_edge_counts(const tl_hta_edge *edge)
{
    return edge->weight <= -1 ? 0 : edge->weight;
}

/* A part of a trace: from the first to the last of some rows with a text in their names, in row order. */
typedef struct tl_hta_region {
    const char *annotation; /* "": the whole trace */
    tl_range instances;     /* from 0 on */
    bool launch_edges;      /* each launch has an edge to its kernel, of weight 0 where it is no launch delay */
} tl_hta_region;

/* The graph of a region and its heaviest path.  tl_hta_path_graph_free ends it. */
typedef struct tl_hta_path_graph {
    tl_hta_frame clip;           /* the rows of the region, ascending index */
    TL_VEC(tl_hta_moment) nodes; /* in the order of time */
    TL_VEC(tl_hta_edge) edges;   /* one at most from a node to another, as HTA met them first */
    TL_VEC(uint32_t) met;        /* nodes with edges, as HTA met them first */
    tl_arena arena;
    size_t *first_out;
    uint32_t *out;  /* edges by the node that they leave, as HTA met them first */
    uint32_t *path; /* edges */
    size_t npath;
    double length;       /* of the path, us */
    char why[600];       /* HTA gives up, because ...: then only the clip may be used */
    const char *invalid; /* there is no path, because ...; NULL: there is one, of one edge at least */
} tl_hta_path_graph;

tl_hta_path_graph tl_hta_path_graph_of(const tl_hta_rank_calls *calls, const tl_hta_region *region);
void tl_hta_path_graph_free(tl_hta_path_graph *graph);

/* The length of the heaviest path with these weights of the edges, NaN where they make a circle.  Its edges go into `path`,
 * which has room for all nodes with edges, and their number into *npath.  Of equal ways into a node that by the edge that HTA
 * met first counts, of equal ends the first to become free. */
double tl_hta_longest_path(const tl_hta_path_graph *graph, const double *weight, uint32_t *path, size_t *npath);

static inline const tl_hta_row *tl_hta_row_of_node(const tl_hta_path_graph *graph, uint32_t node)
{
    return &graph->clip.rows.v[graph->nodes.v[node].row];
}

/* The node from which the path's edge k leads; of k == npath, where the path ends. */
static inline uint32_t tl_hta_node_of_path(const tl_hta_path_graph *graph, size_t k)
{
    return k < graph->npath ? graph->edges.v[graph->path[k]].from : graph->edges.v[graph->path[k - 1]].to;
}

#endif
