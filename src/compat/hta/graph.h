/* graph.h - the rows of a rank by thread, the nesting of the rows of a thread, and HTA's call graph: host rows with
 * their parents, and the device work that they launched.
 *
 *     host    [ ProfilerStep#5                      ]      depth 0, height 3, 2 kernels
 *              [ aten::mm        ][ aten::add      ]       depth 1, height 2
 *               [ launch ]         [ launch ]              depth 2, height 1
 *     stream             [ gemm ]            [ add ]       depth 3, height 0: under their launches
 *
 * The graph has the rows without a stream, by thread; threads of devices (all rows on streams above 0, or pid or tid 0)
 * are left out.  Of device work the graph has the rows on streams above 0 with a launch.  If exactly one thread has
 * profiler steps (main) and exactly one other thread runs autograd functions (backward), the outermost rows of the
 * backward thread become children of the backward passes of the main thread, or without these of its steps.
 */
#ifndef COMPAT_HTA_GRAPH_H
#define COMPAT_HTA_GRAPH_H

#include "frame.h"

/* Rows of one pid and tid. */
typedef struct tl_hta_thread {
    const tl_track *track;
    const uint32_t *at; /* positions of the rows, ascending */
    size_t n;           /* at least 1 */
} tl_hta_thread;

/* Threads in pandas' order of groups.  tl_hta_threads_free ends it. */
typedef struct tl_hta_threads {
    uint32_t *order; /* positions of rows by track */
    tl_hta_thread *v;
    size_t n, cap;
} tl_hta_threads;

tl_hta_threads tl_hta_threads_of(const tl_hta_frame *frame);
void tl_hta_threads_free(tl_hta_threads *threads);

#define TL_HTA_TOP UINT32_MAX /* the parent of an outermost row */

typedef enum tl_hta_nesting {
    /* Rows of length 0 at one time are siblings; a negative length counts as 0. */
    TL_HTA_SIBLINGS,
    /* Rows of length 0 at one time nest; a row of negative length ends before it starts.  Sorted by numpy first. */
    TL_HTA_NESTED
} tl_hta_nesting;

/* The node of a row.  All but parent and depth are set by tl_hta_graph_of. */
typedef struct tl_hta_node {
    uint32_t parent;       /* position of the parent; TL_HTA_TOP: none */
    int32_t depth;         /* -1: the row is not nested */
    uint32_t height;       /* 0 for device work; for a host row 1 more than its highest child, at least 1 */
    uint32_t nkernels;     /* kernels launched within the row */
    double kernel_dur_sum; /* us */
    double first_kernel_start, last_kernel_end; /* us; only if nkernels > 0; as in HTA, the end is not aligned */
} tl_hta_node;

/* tl_hta_nest_free ends it. */
typedef struct tl_hta_nest {
    const tl_hta_row *rows; /* rows of the frame */
    tl_hta_nesting way;
    tl_hta_node *node; /* by position of a row */
    uint32_t *opened;  /* positions of the nested rows, parents before children */
    size_t nopened;

    /* TL_HTA_NESTED: a row of length 0 and a row of negative length meet at one time, where HTA fails. */
    bool clash;
    uint32_t clash_of, clash_with; /* tl_hta_row.index of these two rows */
} tl_hta_nest;

/* Returns a nest of the frame in which no row is nested yet. */
tl_hta_nest tl_hta_nest_make(const tl_hta_frame *frame, tl_hta_nesting way);
void tl_hta_nest_free(tl_hta_nest *nest);

/* Nests the n rows at the positions at[0 .. n), which ascend, by time, and adds the rows to nest->opened. */
void tl_hta_nest_rows(tl_hta_nest *nest, const uint32_t *at, size_t n);

/* A thread of the host. */
typedef struct tl_hta_stack {
    const tl_hta_thread *thread;
    bool main, backward;
    int64_t root;    /* -|tid|, the parent of the outermost rows; of the main thread, if all have moved there */
    size_t from, to; /* the thread's rows are opened[from .. to) */
} tl_hta_stack;

/* tl_hta_graph_free ends it. */
typedef struct tl_hta_graph {
    const tl_hta_frame *frame;
    tl_hta_threads threads;
    tl_hta_nest nest; /* of the host rows; device work has nodes under its launches */
    tl_hta_stack *stack;
    size_t nstacks;
    char why[160]; /* why HTA cannot make the graph, and then no other field is valid; "": it can */
} tl_hta_graph;

/* The frame must outlive the graph. */
tl_hta_graph tl_hta_graph_of(const tl_hta_frame *frame);
void tl_hta_graph_free(tl_hta_graph *graph);

/* Columns of the graph; tl_hta_graph_cells adds the cells of the row at position `at`. */
#define TL_HTA_GRAPH_HEADER                                                                                            \
    "depth,height,parent,num_kernels,kernel_dur_sum,kernel_span,first_kernel_start,last_kernel_end"
void tl_hta_graph_cells(const tl_hta_graph *graph, size_t at, tl_csv *csv);

#endif
