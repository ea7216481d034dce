/* critical_path.h - HTA's critical path: the chain of work and waits that decides how long a part of a rank's trace
 * takes.
 *
 *     host     [ aten::mm           )[ aten::add            )...
 *               [ launch a ]          [ launch b ]   [ sync   ]
 *     stream 7     |------->[   a   ]------->[   b   ]-----|
 *                  launch delay       kernel delay    synchronisation
 *
 * A row in the graph has two nodes, its start and its end.  An edge leads from a node to a node that depends on it; its
 * weight is the time between, us, or 0 for a mere dependency.  The critical path is the heaviest chain of edges.
 */
#ifndef COMPAT_HTA_CRITICAL_PATH_H
#define COMPAT_HTA_CRITICAL_PATH_H

#include "frame.h"

/* Data of a whole rank that the graph of each of its regions needs.  tl_hta_rank_calls_free ends it. */
typedef struct tl_hta_rank_calls {
    const tl_hta_frame *frame;
    tl_arena arena;
    const char *loader; /* text in the names of rows that load data; NULL: no row loads data */
    size_t *first;      /* by index of a row: its queue lengths are length[first[index] .. first[index + 1]) */
    int64_t *length;    /* kernels */
    tl_map source;      /* by correlation of a cudaEventRecord: index of its stream's last kernel before; 0: none */
    tl_map target;      /* by index of a cudaStreamWaitEvent: index of its thread's next kernel on its stream */
    const char *why;    /* why HTA cannot analyse the rank; NULL: it can, and the other fields are set */
} tl_hta_rank_calls;

tl_hta_rank_calls tl_hta_rank_calls_of(const tl_hta_frame *frame, const char *loader);
void tl_hta_rank_calls_free(tl_hta_rank_calls *calls);

typedef enum tl_hta_edge_kind {
    TL_HTA_OPERATOR,     /* within a host row, or a kernel */
    TL_HTA_DEPENDENCY,   /* between host rows */
    TL_HTA_LAUNCH_DELAY, /* from a launch to its kernel */
    TL_HTA_KERNEL_DELAY, /* from a kernel to the next one of the stream */
    TL_HTA_SYNC,         /* from a kernel to the call or kernel that waits for its end */
    TL_HTA_NEDGE_KINDS
} tl_hta_edge_kind;

/* Labels of the edge kinds: "operator", ... */
extern const char *const tl_hta_edge_labels[TL_HTA_NEDGE_KINDS];

/* The bottleneck that an edge counts for in the sums of a path. */
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

/* A node: the start or the end of a row. */
typedef struct tl_hta_moment {
    double ts;    /* us */
    uint32_t row; /* position in the clip */
    bool end;
} tl_hta_moment;

#define TL_HTA_NO_EVENT INT64_C(-1)

typedef struct tl_hta_edge {
    uint32_t from, to; /* nodes */
    tl_hta_edge_kind kind;
    tl_hta_binding binding;
    double weight; /* us; may be below 0 */
    int64_t event; /* index of the row that the edge's time counts for; TL_HTA_NO_EVENT: none */
} tl_hta_edge;

/* Returns the weight that counts in a path: 0 for edges that weigh -1 or less. */
static inline double tl_hta_edge_counts(const tl_hta_edge *edge)
{
    return edge->weight <= -1 ? 0 : edge->weight;
}

/* A part of a trace: the time spanned by the rows number instances.first to instances.last, in row order, among the
 * rows with `annotation` in their names. */
typedef struct tl_hta_region {
    const char *annotation; /* "": the whole trace */
    tl_range instances;     /* counted from 0 */
    bool launch_edges;      /* each launch has an edge to its kernel, of weight 0 if it is no launch delay */
} tl_hta_region;

/* The graph of a region and its heaviest path.  tl_hta_path_graph_free ends it. */
typedef struct tl_hta_path_graph {
    const tl_hta_frame *frame;   /* of the whole rank */
    tl_hta_frame clip;           /* the rows of the region, ascending index */
    TL_VEC(tl_hta_moment) nodes; /* in order of time */
    TL_VEC(tl_hta_edge) edges;   /* at most one for each pair of nodes, in HTA's order of insertion */
    TL_VEC(uint32_t) met;        /* nodes with edges, in the order of their first edges */
    tl_arena arena;
    size_t *first_out; /* the edges that leave node k are out[first_out[k] .. first_out[k + 1]) */
    uint32_t *out;     /* edges, in HTA's order of insertion */
    uint32_t *path;    /* edges of the path */
    size_t npath;
    double length;       /* length of the path, us */
    char why[600];       /* why HTA fails, and then only the clip is valid; "": HTA does not fail */
    const char *invalid; /* why there is no path; NULL: there is a path of at least one edge */
} tl_hta_path_graph;

tl_hta_path_graph tl_hta_path_graph_of(const tl_hta_rank_calls *calls, const tl_hta_region *region);
void tl_hta_path_graph_free(tl_hta_path_graph *graph);

/* Returns the length of the heaviest path, us, with the edges of collectives and of other device work weighted by these
 * factors; NaN if the edges have a cycle.  Sets path[0 .. *npath), unless NULL, to the edges of the path; `path` has
 * room for g->met.n edges.  Ties between ways to a node: the edge inserted first; ties between ends: the node first in
 * topological order. */
double tl_hta_longest_path(const tl_hta_path_graph *graph, double collectives, double others, uint32_t *path,
                           size_t *npath);

static inline const tl_hta_row *tl_hta_row_of_node(const tl_hta_path_graph *graph, uint32_t node)
{
    return &graph->clip.rows.v[graph->nodes.v[node].row];
}

/* Returns the node at the start of the path's edge k; for k == npath the end of the path. */
static inline uint32_t tl_hta_node_of_path(const tl_hta_path_graph *graph, size_t k)
{
    return k < graph->npath ? graph->edges.v[graph->path[k]].from : graph->edges.v[graph->path[k - 1]].to;
}

#endif
