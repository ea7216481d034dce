/* behave.h - which kernels communicate, though no rule knows their names?
 *
 *     rank 0   [GEMM  ][my_exchange      ]
 *     rank 1   [GEMM        ][my_exchange]     begins apart, ends together: it waits for the other rank
 *
 * An ordinary kernel takes as long as its work does, however late other ranks are: what begins apart ends apart, and
 * what ends together has begun together.  A kernel whose beginnings lie apart by far more than its ends depends on what
 * other ranks do, if what it may have waited for on its own device lies apart as far.  Clocks may be off by any
 * constant: beginnings and ends are compared around their own medians.  Beginnings that always lie equally far apart
 * count only if the recorded ends agree within the error of clocks.
 *
 * Each rank gives a few sightings of its largest kernels of unknown name; all of them together decide.
 */
#ifndef TLMPI_ANALYSIS_BEHAVE_H
#define TLMPI_ANALYSIS_BEHAVE_H

#include "tlmpi/model/view.h"

/* One kernel of a rank. */
typedef struct tl_behaviour {
    uint64_t name_key; /* content key of its name */
    uint64_t item;     /* the same on all ranks for the k-th kernel of that name in one step on one of its streams */
    int64_t start_ns;
    int64_t begin_ns;  /* its start, or the end of what it may have waited for on its own device: from then on nothing
                        * else explains its end */
    int64_t end_ns;
    int32_t rank;
    int32_t stream_order; /* which of the streams with that name: each stream may serve another group of ranks */
} tl_behaviour;

typedef TL_VEC(tl_behaviour) tl_behaviours;

/* Appends the rank's sightings: some tens of each name of kernels that takes enough of its time, the same ones on all
 * ranks.  Names are looked at that no rule knows (collective of tl_kernel); if no kernel communicates by its name, all
 * are. */
void tl_behaviours_collect(const tl_rank_view *view, tl_behaviours *out);

/* Finds the names whose kernels communicate, ascending by key.  Sorts `all`, the sightings of all ranks.  The caller
 * frees *names. */
void tl_behaviours_decide(tl_behaviour *all, size_t n, tl_behaving **names, size_t *nnames);

#endif
