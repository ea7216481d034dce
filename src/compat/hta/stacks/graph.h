/* graph.h - HTA's call graph of a rank: each row of the host with what it stands in, and the work that it launched.
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
#ifndef TLMPI_COMPAT_HTA_STACKS_GRAPH_H
#define TLMPI_COMPAT_HTA_STACKS_GRAPH_H

#include "nest.h"

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
tl_hta_graph tl_hta_graph_of(const tl_hta_frame *frame, const tl_hta_symbols *symbols);
void tl_hta_graph_free(tl_hta_graph *graph);

/* Columns of a graph, and their cells for a row at its position. */
#define TL_HTA_GRAPH_HEADER                                                                                            \
    "depth,height,parent,num_kernels,kernel_dur_sum,kernel_span,first_kernel_start,last_kernel_end"
void tl_hta_graph_cells(const tl_hta_graph *graph, size_t at, tl_csv *csv);

#endif
