/* peers.h - steps of ranks, cut into what can be compared. */
#ifndef ANALYSIS_USUAL_PEERS_H
#define ANALYSIS_USUAL_PEERS_H

#include "tlmpi/analysis/usual.h"

/* One step of one rank: cells [first, first + n). */
typedef struct tl_block {
    int32_t role;
    uint32_t rank;
    int64_t step; /* what lies before the first step is part of the one before it, as far as it was recorded; what
                   * lies behind the last of the one behind; INT64_MIN without steps */
    bool last;              /* of its rank */
    bool no_front, no_back; /* its first, its last cell is not whole: the recording begins or ends in it */
    uint64_t structure;     /* which collectives in which order */
    size_t first, n;
    int64_t work_ns, host_ns;
    int64_t beside_ns;      /* of its work, what is not compute: between stages */
    uint64_t does;          /* as in tl_segment, of all of them */
} tl_block;

/* Fills the cells and steps of the graph, and *blocks, rank by rank, which the caller frees; work is without what contention
 * makes it take longer, which tl_whatif_add_contended adds when all is compared.  False when memory is out. */
bool tl_whatif_cut(tl_whatif *w, tl_block **blocks, size_t *nblocks);
void tl_whatif_add_contended(tl_whatif *w);

/* Compares whole steps of ranks that nobody shares a role with against those of other ranks that compute the same, at least
 * two: a step that takes longer than in the middle of these has a surplus, beside what its rank's other steps tell.  Takes
 * all blocks; they are done with.  False when memory is out. */
bool tl_whatif_compare_stages(tl_whatif *w, tl_block *blocks, size_t n);

/* Compares the kernels that stages of a pipeline have in common: what a whole stage needs too long for, one rank or all,
 * is no longer expected of it.  Only where the roles are several.  False when memory is out. */
bool tl_whatif_compare_kinds(tl_whatif *w, const tl_block *blocks, size_t n);

/* The same for hosts: how often those of a stage wait for the device, and how long they take to launch as much. */
bool tl_whatif_compare_pace(tl_whatif *w, const tl_block *blocks, size_t n);

/* Steps of one rank with the same collectives in the same order. */
bool tl_blocks_alike(const tl_block *a, const tl_block *b);

/* Raises what is expected of steps that were compared with other steps of their rank alone, by as much as such ranks work
 * more in the step than they usually do.  v: those that are alike lie together.  False when memory is out. */
bool tl_whatif_compare_growth(tl_whatif *w, const tl_block *v, size_t n);

/* Compares one block against n >= 2 others that are alike and have been compared with each other.  False when memory is out. */
bool tl_whatif_compare_partly(tl_whatif *w, const tl_block *b, const tl_block *v, size_t n);

#endif
