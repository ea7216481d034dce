/* graph.h - the rows of a rank by thread, which row of a thread stands within which, and HTA's call graph: each row of the host
 * with what it stands in, and the work that it launched.
 *
 *     host    [ ProfilerStep#5                      ]      depth 0, height 3, 2 kernels
 *              [ aten::mm        ][ aten::add      ]       depth 1, height 2
 *               [ launch ]         [ launch ]              depth 2, height 1
 *     stream             [ gemm ]            [ add ]       depth 3, height 0: under their launches
 *
 * Rows without a stream, by thread.  Threads of devices (all rows on streams above 0, or pid or tid 0) have none; of
 * device work only that on streams above 0 with a launch is there.  Where one thread has profiler steps and one other
 * runs autograd's functions, the outermost rows of this one stand in the backward passes, or else in the steps, of that
 * one.
 */
#ifndef COMPAT_HTA_GRAPH_H
#define COMPAT_HTA_GRAPH_H

#include "frame.h"

/* Rows of one pid and tid. */
typedef struct tl_hta_thread {
    const tl_track *track;
    const uint32_t *at; /* positions of its rows, ascending */
    size_t n;           /* one at least */
} tl_hta_thread;

/* In the order in which pandas groups them.  tl_hta_threads_free ends it. */
typedef struct tl_hta_threads {
    uint32_t *order; /* positions of rows by track */
    tl_hta_thread *v;
    size_t n, cap;
} tl_hta_threads;

tl_hta_threads tl_hta_threads_of(const tl_hta_frame *frame);
void tl_hta_threads_free(tl_hta_threads *threads);

#define TL_HTA_TOP UINT32_MAX /* in no other row */

typedef enum tl_hta_nesting {
    TL_HTA_SIBLINGS, /* rows of no length at one time stand side by side; one below 0 counts as 0.  Sorted as they are */
    TL_HTA_NESTED    /* they stand within each other; one below 0 ends before it starts.  Sorted by numpy before */
} tl_hta_nesting;

/* tl_hta_nest_free ends it. */
typedef struct tl_hta_nest {
    const tl_hta_row *rows; /* of the frame */
    tl_hta_nesting way;
    uint32_t *parent; /* of a row at its position: the position of the row it stands in; TL_HTA_TOP */
    int32_t *depth;   /* of such a row; -1: it was not nested */
    uint32_t *opened; /* positions, as they were opened: a row comes after the one it stands in */
    size_t nopened;

    /* NESTED: a row of no length and one below 0 meet at one time, where HTA gives up. */
    bool clash;
    uint32_t clash_of, clash_with; /* indices of such rows */
} tl_hta_nest;

/* Of a frame, none of its rows nested yet. */
tl_hta_nest tl_hta_nest_make(const tl_hta_frame *frame, tl_hta_nesting way);
void tl_hta_nest_free(tl_hta_nest *nest);

/* Nests the n rows at these positions, in ascending order, by their times alone.  Adds them to opened. */
void tl_hta_nest_rows(tl_hta_nest *nest, const uint32_t *at, size_t n);

/* A row at its position in the frame. */
typedef struct tl_hta_node {
    uint32_t parent; /* a position; TL_HTA_TOP */
    int32_t depth;   /* -1: the row is not in the graph */
    uint32_t height; /* of what stands in it; device work 0, a row of the host at least 1 */
    uint32_t nkernels;
    double kernel_dur_sum;
    double first_kernel_start, last_kernel_end; /* only with kernels; as HTA has it, the end is not aligned */
} tl_hta_node;

/* A thread of the host. */
typedef struct tl_hta_stack {
    const tl_hta_thread *thread;
    uint32_t label_row; /* position of the row whose name the thread has where it is neither of these two */
    bool main, backward;
    int64_t own_root; /* -|tid|: what its outermost rows stand in */
    int64_t root;     /* that of the other thread, where all its rows have moved there */
    size_t from, to;  /* its rows in `opened` */
} tl_hta_stack;

/* tl_hta_graph_free ends it. */
typedef struct tl_hta_graph {
    const tl_hta_frame *frame;
    tl_hta_threads threads;
    tl_hta_node *node; /* one for each row of the frame */
    tl_hta_stack *stack;
    size_t nstacks;
    uint32_t *opened; /* positions of the host's rows that are in the graph: each after what it stands in */
    size_t nopened;
    char why[160]; /* HTA can make no graph of this rank, because ...: then nothing else is set */
} tl_hta_graph;

/* The frame must outlive the graph. */
tl_hta_graph tl_hta_graph_of(const tl_hta_frame *frame);
void tl_hta_graph_free(tl_hta_graph *graph);

/* Columns of a graph, and their cells for a row at its position. */
#define TL_HTA_GRAPH_HEADER                                                                                            \
    "depth,height,parent,num_kernels,kernel_dur_sum,kernel_span,first_kernel_start,last_kernel_end"
void tl_hta_graph_cells(const tl_hta_graph *graph, size_t at, tl_csv *csv);

#endif
