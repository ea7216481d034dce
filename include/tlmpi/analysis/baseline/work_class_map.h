/* work_class_map.h - a rank's work as the job compares it, kept on the proc that read the rank: its steps as the job
 * numbers and cuts them, and its kinds of work.
 *
 * Proc 0 asks CELLS, with the steps; the answer has the rank's work of each kind in each step.  Kinds are numbered in
 * the order in which the rank first has them.
 */
#ifndef TLMPI_ANALYSIS_BASELINE_WORK_CLASS_MAP_H
#define TLMPI_ANALYSIS_BASELINE_WORK_CLASS_MAP_H

#include "tlmpi/analysis/graph.h"
#include "tlmpi/base/hash.h"
#include "tlmpi/base/sort.h"

/* What is compared: of ranks the time of the device's kernels, and of its copies, which are far steadier; the work of
 * the host; the number of kernels, and of waits of the host for the device; of links the transfer time. */
typedef enum tl_family {
    TL_FAMILY_DEVICE,
    TL_FAMILY_COPY,
    TL_FAMILY_HOST,
    TL_FAMILY_ADDITIONAL,
    TL_FAMILY_WAIT,
    TL_NFAMILIES,
    TL_FAMILY_TRANSFER = TL_NFAMILIES
} tl_family;

/* How a rank's step is cut into segments. */
typedef struct tl_step_cut {
    uint32_t first, n; /* segment in which the step begins; number of collectives launched in it */
} tl_step_cut;

typedef struct tl_work_kind {
    uint64_t key;      /* as in tl_work_class */
    uint32_t family;   /* tl_family; kinds of DEVICE serve ADDITIONAL as well */
    uint32_t computes; /* 1: compute kernels */
} tl_work_kind;

/* What a rank has of one of its kinds in one step. */
typedef struct tl_work_cell {
    int64_t ns;
    int64_t blocks;      /* thread blocks of the pieces' grids, summed; below 0: those of some piece are unknown */
    uint32_t kind, step; /* their numbers */
    uint32_t pieces;     /* more than 0 */
} tl_work_cell;

/* Zero-initialise; tl_work_class_map_free ends it. */
typedef struct tl_work_class_map {
    size_t nsteps, first_whole, last_whole; /* as of tl_baseline */
    int32_t *steps;                         /* [nsteps] numbers, ascending */
    bool *cut;                              /* [nsteps] */
    tl_step_cut *cuts;                      /* [nsteps] */
    bool *comparable;                       /* [nsteps] all ranks of its role launch the same number of collectives */
    tl_work_kind *kinds;                    /* [nkinds] */
    size_t nkinds, kind_room;
    tl_map kind_of; /* by family and key: the rank's own key, or that of the job's class */
    uint32_t *as;   /* [nkinds] the first kind of the same class; NULL: each kind is a class of its own */
    size_t nhost_pieces, first_piece;    /* pieces of host work, and the first of them in `pieces` */
    const struct tl_host_pieces *pieces; /* of all ranks that are held here, once they are compared; else NULL */
} tl_work_class_map;

void tl_work_class_map_free(tl_work_class_map *class_map);

/* Returns the index of a step; 0 for a number that is no step, as of a meeting of ranks with other numbers. */
static inline size_t tl_step_index(const int32_t *steps, size_t nsteps, int32_t number)
{
    size_t s = tl_index_of(steps, nsteps, number);
    return s < nsteps ? s : 0;
}

/* Joins the kinds that have the same key of a class of the job: from then on the first of them stands for all.
 * keys[nkinds]. */
void tl_kinds_merge(tl_work_class_map *class_map, const uint64_t *keys);

/* Returns the kind of a node's work, DEVICE or HOST; TL_NONE: the node has none.  Device work of 0 ns counts as a
 * piece, too. */
uint32_t tl_kind_of(const tl_work_class_map *class_map, const tl_node *node);

/* Returns the kind with that family and key; TL_NONE: the rank has none. */
uint32_t tl_kind_find(const tl_work_class_map *class_map, tl_work_kind kind);

/* Returns the kind of a wait; TL_NONE: the rank has none. */
uint32_t tl_kind_of_wait(const tl_work_class_map *class_map, const tl_node *node);

/* Returns the stretch of its step that a node of the rank is in, numbered alike on all ranks of the role; UINT32_MAX:
 * the ranks' numbers of stretches differ.  A cut step before the whole ones is counted from its end, as if the rank
 * repeated its first whole step; a cut step after the whole ones from its beginning, as if it repeated its last. */
uint32_t tl_segment_of(const tl_work_class_map *class_map, const tl_node *node);

/* Whether the node is a kernel that computes, in a full step. */
static inline bool tl_computes(const tl_work_class_map *f, const tl_node *node)
{
    return node->activity == TL_ACTIVITY_COMPUTE && node->kind == TL_NODE_WORK &&
           !f->cut[tl_step_index(f->steps, f->nsteps, node->step)];
}

/* Whether the node is host work with a position in the sequence: before a launch, also before one that waits. */
static inline bool tl_is_host_piece(const tl_node *node)
{
    return node->key != 0 && node->work_ns > 0 && (node->kind == TL_NODE_LAUNCH || node->kind == TL_NODE_WAIT_BEGIN);
}

/* The answer to CELLS, and the class map of the rank from then on. */
void tl_cells_answer(const tl_open_rank *rank, tl_work_class_map *class_map, tl_bytes *in, tl_bytes *out);

/* The pieces of host work of some ranks, in the order in which they were added.  Pieces at the same position, in the
 * sequence of a step of a role, are compared.  Zero-initialise; tl_host_pieces_free ends it. */
typedef struct tl_host_pieces {
    tl_map number_of;           /* of a position; empty once they are compared */
    TL_VEC(uint64_t) positions; /* by number */
    TL_VEC(uint32_t) numbers;   /* by piece: that of its position */
    /* By piece: its time; once they are compared, by number: the median of all pieces at the position, 0 if there is
     * one alone. */
    TL_VEC(int64_t) ns;
} tl_host_pieces;

void tl_host_pieces_add(tl_host_pieces *pieces, uint64_t position, int64_t ns);

/* Adds the pieces of a rank. */
void tl_host_pieces_list(const tl_open_rank *rank, tl_work_class_map *class_map, uint32_t role, tl_host_pieces *pieces);

void tl_host_pieces_compare(tl_host_pieces *pieces);
void tl_host_pieces_free(tl_host_pieces *pieces);

#endif
