/* work_class_map.h - a rank's work by class and step, kept on the proc that read the rank: its steps as the job numbers
 * and cuts them, and its kinds of work.
 *
 * Proc 0 asks CELLS, with the steps; the answer has the rank's work of each kind in each step.  Kinds are numbered in
 * order of first appearance.
 */
#ifndef TLMPI_ANALYSIS_VERDICT_BASELINE_WORK_CLASS_MAP_H
#define TLMPI_ANALYSIS_VERDICT_BASELINE_WORK_CLASS_MAP_H

#include "tlmpi/analysis/verdict/graph.h"
#include "tlmpi/base/hash.h"
#include "tlmpi/base/sort.h"

/* Families of compared work.  Of ranks: time of the device's kernels; of its copies; of the host's work; additional
 * kernels; waits of the host for the device.  Of links: transfer time. */
typedef enum tl_family {
    TL_FAMILY_DEVICE,
    TL_FAMILY_COPY,
    TL_FAMILY_HOST,
    TL_FAMILY_ADDITIONAL,
    TL_FAMILY_WAIT,
    TL_NFAMILIES,
    TL_FAMILY_TRANSFER = TL_NFAMILIES
} tl_family;

/* The range of a step in the rank's segments (stretches between launches of collectives). */
typedef struct tl_step_cut {
    uint32_t first, n; /* segment in which the step begins; number of collectives launched in the step */
} tl_step_cut;

typedef struct tl_work_kind {
    uint64_t key;      /* as in tl_work_class */
    uint32_t family;   /* tl_family; kinds of DEVICE serve ADDITIONAL as well */
    uint32_t computes; /* 1: compute kernels */
} tl_work_kind;

/* A rank's work of one kind in one step. */
typedef struct tl_work_cell {
    int64_t ns;
    int64_t blocks;      /* thread blocks in the grids of the pieces, summed; below 0: unknown for some piece */
    uint32_t kind, step; /* indices */
    uint32_t pieces;     /* more than 0 */
} tl_work_cell;

/* Zero-initialise; tl_work_class_map_free ends it. */
typedef struct tl_work_class_map {
    size_t nsteps;
    int32_t *steps;      /* [nsteps] numbers, ascending */
    bool *cut;           /* [nsteps] */
    tl_step_cut *cuts;   /* [nsteps] */
    bool *comparable;    /* [nsteps] all ranks of its role launch the same number of collectives */
    tl_work_kind *kinds; /* [nkinds] */
    size_t nkinds, kind_room;
    tl_map kind_of;                   /* by family and key: the rank's own key, or that of the class in the job */
    uint32_t *as;                     /* [nkinds] the first kind of the same class; NULL: each kind is its own class */
    size_t nhost_pieces, first_piece; /* number of the rank's pieces of host work, and the first of them in
                                          * `pieces` */
    const struct tl_host_pieces *pieces; /* of all ranks of this proc, after tl_host_pieces_compare; before, NULL */
} tl_work_class_map;

void tl_work_class_map_free(tl_work_class_map *class_map);

/* Returns the index of a step number; 0 if the number is not among steps, as for a collective whose ranks number steps
 * differently. */
static inline size_t tl_step_index(const int32_t *steps, size_t nsteps, int32_t number)
{
    size_t s = tl_index_of(steps, nsteps, number);
    return s < nsteps ? s : 0;
}

/* Unites the kinds that belong to the same class of the job: the first kind stands for all of them.  keys[nkinds]: of
 * the classes. */
void tl_kinds_merge(tl_work_class_map *class_map, const uint64_t *keys);

/* Returns the kind of a node's work on the device or the host; TL_NONE: the node has none.  Device work of 0 ns counts
 * as a piece. */
uint32_t tl_kind_of(const tl_work_class_map *class_map, const tl_node *node);

/* Returns the kind with that family and key; TL_NONE: the rank has none. */
uint32_t tl_kind_find(const tl_work_class_map *class_map, tl_work_kind kind);

/* Returns the kind of a wait; TL_NONE: the rank has none. */
uint32_t tl_kind_of_wait(const tl_work_class_map *class_map, const tl_node *node);

/* Returns the segment of its step that a node lies in, numbered alike on all ranks of the role; UINT32_MAX: the ranks'
 * numbers of segments differ.  A cut step before the whole ones is counted from its end, as a repetition of the first
 * whole step; a cut step after them from its beginning, as a repetition of the last. */
uint32_t tl_segment_of(const tl_work_class_map *class_map, const tl_node *node);

/* Whether the node is a compute kernel in a step that is not cut. */
static inline bool tl_computes(const tl_work_class_map *f, const tl_node *node)
{
    return node->activity == TL_ACTIVITY_COMPUTE && node->kind == TL_NODE_WORK &&
           !f->cut[tl_step_index(f->steps, f->nsteps, node->step)];
}

/* Whether the node is host work before a launch or before a wait; such pieces are compared by position in their
 * sequence. */
static inline bool tl_is_host_piece(const tl_node *node)
{
    return node->key != 0 && node->work_ns > 0 && (node->kind == TL_NODE_LAUNCH || node->kind == TL_NODE_WAIT_BEGIN);
}

/* Answers CELLS, and builds the rank's class map. */
void tl_cells_answer(const tl_open_rank *rank, tl_work_class_map *class_map, tl_bytes *in, tl_bytes *out);

/* The pieces of host work of some ranks, in the order in which they were added.  Pieces at the same position in the
 * sequence of a role's step are compared.  Zero-initialise; tl_host_pieces_free ends it. */
typedef struct tl_host_pieces {
    tl_map number_of;           /* of a position; empty after tl_host_pieces_compare */
    TL_VEC(uint64_t) positions; /* by number */
    TL_VEC(uint32_t) numbers;   /* by piece: number of its position */
    /* By piece: its time.  After tl_host_pieces_compare, by position number: the median of the pieces there, 0 if there
     * is only one. */
    TL_VEC(int64_t) ns;
} tl_host_pieces;

void tl_host_pieces_add(tl_host_pieces *pieces, uint64_t position, int64_t ns);

/* Adds the pieces of a rank. */
void tl_host_pieces_list(const tl_open_rank *rank, tl_work_class_map *class_map, uint32_t role, tl_host_pieces *pieces);

void tl_host_pieces_compare(tl_host_pieces *pieces);
void tl_host_pieces_free(tl_host_pieces *pieces);

#endif
