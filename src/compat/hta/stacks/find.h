/* find.h - what an operator launches, and how often the same.
 *
 *     host    [ aten::linear      ]   [ aten::linear     ]      the operator, at the smallest depth it is found at
 *              [ launch ][ launch ]    [ launch ][ launch]
 *     streams      [ memset ][ gemm ]      [ memset ][ gemm ]     aten::linear|memset|gemm, twice
 *
 * All rows whose name has the operator's in it are candidates, in the graph or not.
 */
#ifndef TLMPI_COMPAT_HTA_STACKS_FIND_H
#define TLMPI_COMPAT_HTA_STACKS_FIND_H

#include "graph.h"

typedef struct tl_hta_pattern {
    uint32_t name;           /* symbol of the operator's row */
    const uint32_t *kernels; /* symbols of what it launches, by start */
    size_t nkernels;
    uint64_t count;
    double kernel_dur_sum, dur; /* of all its occurrences */
} tl_hta_pattern;

/* tl_hta_patterns_free ends it. */
typedef struct tl_hta_patterns {
    const tl_hta_symbols *symbols;
    tl_hta_pattern *v; /* the most frequent first, then by text */
    size_t n;
    uint64_t marked;   /* rows in occurrences of the first few of them */
    uint32_t *kernels; /* those of all patterns */
} tl_hta_patterns;

/* Those with that many kernels at least, marked of the first `top`. */
tl_hta_patterns tl_hta_patterns_find(const tl_hta_graph *graph, const tl_hta_symbols *symbols, const char *op,
                                     uint32_t min_kernels, size_t top);

void tl_hta_patterns_free(tl_hta_patterns *patterns);

#endif
