/* comm_only.h - when did a device do nothing but communicate?
 *
 *     stream 7     [ A  ]..............[ B ]
 *     stream 20    ....[ 1    ]....[ 2    ]
 *     pieces            |  1 |     |2|
 *
 * What the device waits in a collective shows as work: the kernel runs until the last rank has come.  How much of a
 * piece was waiting is known when ranks are matched.
 */
#ifndef TLMPI_ANALYSIS_COMM_ONLY_H
#define TLMPI_ANALYSIS_COMM_ONLY_H

#include "tlmpi/base/mem.h"
#include "tlmpi/model/view.h"

/* Communication without compute beside it. */
typedef struct tl_comm_piece {
    int64_t start_ns, end_ns;
    uint32_t kernel; /* of the communication that runs the one that ends last: index into the kernels */
} tl_comm_piece;

typedef TL_VEC(tl_comm_piece) tl_comm_pieces;

/* The pieces of the kernels order[0, n), which are in order of start, behind those that *out has; they are disjoint,
 * and in order of time.  False when memory is out. */
bool tl_comm_only(const tl_kernel *kernels, const uint32_t *order, size_t n, tl_comm_pieces *out);

/* The same as it travels: ns of a stretch of one kernel's time, which is counted from its start.  Compute may part a
 * kernel into any number of pieces; one with more than TL_EXPOSURES_MOST has as many stretches of equal length, in
 * which the pieces are taken to be spread evenly. */
enum { TL_EXPOSURES_MOST = 16 };

typedef struct tl_exposure {
    int64_t from_ns, to_ns;
    int64_t ns; /* of a piece: all of it */
    int32_t rank, device;
    uint32_t uid; /* of the kernel */
    uint32_t padding;
} tl_exposure;

/* How much of it lies in the first wait_ns of the kernel. */
int64_t tl_exposure_within(const tl_exposure *exposure, int64_t wait_ns);

/* Of all ranks that a proc has read.  Zero-initialise; free(v) ends it. */
typedef TL_VEC(tl_exposure) tl_exposures;

/* Appends those of each device of the rank.  False when memory is out. */
bool tl_exposures_add(const tl_rank_view *view, tl_exposures *out);

#endif
