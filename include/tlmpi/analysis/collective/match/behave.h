/* behave.h - finds kernels that communicate although their names are unknown.
 *
 *     rank 0   [GEMM  ][my_exchange      ]
 *     rank 1   [GEMM        ][my_exchange]     begins apart, ends together: it waits for the other rank
 *
 * The duration of a computing kernel does not depend on other ranks: if two ranks begin it apart, they end it apart.  A
 * kernel whose beginnings lie apart by far more than its ends waits for other ranks, unless what it waits for on its
 * own device explains its end.  Clocks may be off by any constant: beginnings and ends are compared around their
 * medians. Beginnings that always lie equally far apart count only if the recorded ends agree within the clock error.
 *
 * Each rank contributes a few sightings of its largest kernels of unknown name; the sightings of all ranks decide.
 */
#ifndef TLMPI_ANALYSIS_COLLECTIVE_MATCH_BEHAVE_H
#define TLMPI_ANALYSIS_COLLECTIVE_MATCH_BEHAVE_H

#include "tlmpi/model/view.h"

/* One kernel of a rank. */
typedef struct tl_behaviour {
    uint64_t name_key; /* content key of its name */
    uint64_t item;     /* the same on all ranks for the k-th kernel of that name in one step on one of its streams */
    int64_t start_ns;
    int64_t begin_ns; /* its start or, if later, the end of what it may have waited for on its own device */
    int64_t end_ns;
    int32_t rank;
    int32_t stream_order; /* ordinal of its stream among those with the name: each may serve another group */
} tl_behaviour;

typedef TL_VEC(tl_behaviour) tl_behaviours;

/* Appends the rank's sightings: about TL_SAMPLES of each name that takes enough of its time, the same ones on all
 * ranks.  Only unknown names (collective of tl_kernel) are sampled; if no kernel communicates by its name, all are. */
void tl_behaviours_collect(const tl_rank_view *view, tl_behaviours *out);

/* Finds the names whose kernels communicate, ascending by key.  Sorts `all`, the sightings of all ranks.  The caller
 * frees *names. */
void tl_behaviours_decide(tl_behaviour *all, size_t n, tl_behaving **names, size_t *nnames);

#endif
