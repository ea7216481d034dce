/* frame.h - a rank's work as it is compared, where the rank was read: how the job numbers and cuts its steps, and which
 * kinds of work it has.
 *
 * The job asks CELLS, with the steps, and gets what the rank has of each kind in each that has any of it.  Kinds are numbered in
 * the order in which the rank has them first.
 */
#ifndef TLMPI_ANALYSIS_BASELINE_FRAME_H
#define TLMPI_ANALYSIS_BASELINE_FRAME_H

#include "tlmpi/analysis/graph.h"
#include "tlmpi/base/hash.h"
#include "tlmpi/base/sort.h"

/* What is compared: of ranks how long their device takes for pieces of work, what their host does, how many pieces of
 * work the device has, and how many waits for the device the host has; of links what data take. */
typedef enum tl_family {
    TL_FAMILY_DEVICE,
    TL_FAMILY_HOST,
    TL_FAMILY_ADDITIONAL,
    TL_FAMILY_WAIT,
    TL_NFAMILIES,
    TL_FAMILY_TRANSFER = TL_NFAMILIES
} tl_family;

/* How a rank's step is cut into segments. */
typedef struct tl_step_cut {
    uint32_t first, n; /* the segment in which the step begins, collectives launched in it */
} tl_step_cut;

typedef struct tl_work_kind {
    uint64_t key;      /* as of tl_work_class */
    uint32_t family;   /* tl_family; those of DEVICE are ADDITIONAL's as well */
    uint32_t computes; /* 1: it is a kernel that does */
} tl_work_kind;

/* What a rank has of one of its kinds in one step. */
typedef struct tl_work_cell {
    int64_t ns;
    int64_t blocks;      /* of the pieces' grids, together; below 0: of some not known */
    uint32_t kind, step; /* their numbers */
    uint32_t pieces;     /* more than 0 */
} tl_work_cell;

/* Zero-initialise; tl_frame_free ends it. */
typedef struct tl_frame {
    size_t nsteps, first_whole, last_whole; /* as of tl_baseline */
    int32_t *steps;                         /* [nsteps] numbers, ascending */
    bool *cut;                              /* [nsteps] */
    tl_step_cut *cuts;                      /* [nsteps] */
    bool *comparable;                       /* [nsteps] all of its role launch as many collectives */
    tl_work_kind *kinds;                    /* [nkinds] */
    size_t nkinds, kind_room;
    tl_map kind_of;       /* by family and key, a rank's own or that of a class of the job */
    uint32_t *as;         /* [nkinds] the first kind of the same class; NULL: as it is */
    int64_t *baseline_ns; /* by placed node: what the same piece of host work takes its role; 0: it is alone */
    size_t nhost_pieces;
} tl_frame;

void tl_frame_free(tl_frame *frame);

/* The index of a step; of what is none of them, as a meeting of ranks with other numbers, 0. */
static inline size_t tl_step_index(const int32_t *steps, size_t nsteps, int32_t number)
{
    size_t s = tl_index_of(steps, nsteps, number);
    return s < nsteps ? s : 0;
}

/* The job's classes: kinds with the same key are one from then on, the first of them. */
void tl_kinds_join(tl_frame *frame, const uint64_t *keys);

/* The kind of a node's work, DEVICE or HOST; TL_NONE: it has none.  What takes no time is a piece of work of the
 * device, too. */
uint32_t tl_kind_of(const tl_frame *frame, const tl_node *node);

/* The kind with that family and key; TL_NONE: the rank has none. */
uint32_t tl_kind_find(const tl_frame *frame, tl_work_kind kind);

/* The kind of a wait; likewise. */
uint32_t tl_kind_of_wait(const tl_frame *frame, const tl_node *node);

/* The stretch of its step that a node of the rank is in, the same on all ranks of the role; UINT32_MAX: they differ.
 * What is before the whole steps is counted from its end, as if it were what the rank does in the first of them, again
 * and again; what is after them from its beginning. */
uint32_t tl_segment_of(const tl_frame *frame, const tl_node *node);

/* Whether it is a kernel that computes, in a full step. */
static inline bool tl_computes(const tl_frame *f, const tl_node *node)
{
    return node->activity == TL_ACTIVITY_COMPUTE && node->kind == TL_NODE_WORK &&
           !f->cut[tl_step_index(f->steps, f->nsteps, node->step)];
}

/* Whether it is work of a host that has a position in the sequence: before a launch, or a call that waits for one. */
static inline bool tl_is_host_piece(const tl_node *node)
{
    return node->key != 0 && node->work_ns > 0 && (node->kind == TL_NODE_LAUNCH || node->kind == TL_NODE_WAIT_BEGIN);
}

/* The answer to CELLS, and the frame of the rank from then on. */
void tl_cells_answer(const tl_open_rank *rank, tl_frame *frame, tl_bytes *in, tl_bytes *out);

/* A piece of host work at its position in the sequence of a step, of a role. */
typedef struct tl_host_piece {
    uint64_t position; /* the same for the same piece */
    int64_t ns;        /* what it takes; then what is usual of it */
    int32_t proc;      /* free for who sends it */
    uint32_t held;     /* which rank it is of, there, ... */
    uint32_t at;       /* ... and which of its placed nodes */
} tl_host_piece;

typedef TL_VEC(tl_host_piece) tl_host_pieces;

/* Appends those of a rank; its frame gets room for what is usual of them. */
void tl_host_pieces_list(const tl_open_rank *rank, tl_frame *frame, uint32_t role, uint32_t held, tl_host_pieces *out);

/* Of all that have the same positions: what is usual. */
void tl_host_pieces_compare(tl_host_pieces *pieces);

#endif
