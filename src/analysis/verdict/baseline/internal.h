/* internal.h - the parts of tl_baseline_make, in the order in which they run. */
#ifndef ANALYSIS_BASELINE_INTERNAL_H
#define ANALYSIS_BASELINE_INTERNAL_H

#include "tlmpi/analysis/verdict/baseline.h"
#include "tlmpi/base/hash.h"

/* Each call fills the fields of `out` that its comment names. */

/* cells.c: returns the class of a family, role and key, a new one if `out` has none.  First all its steps are added,
 * then tl_class_make_room allocates its cells. */
uint32_t tl_class_at(tl_baseline *out, tl_family family, uint32_t role, uint64_t key);
void tl_class_add_step(tl_work_class *class, uint32_t step);
void tl_class_make_room(tl_baseline *out, tl_work_class *class);

/* cells.c: returns the median over the members of a class's k-th step, ns.  scratch[nranks]: room. */
int64_t tl_class_middle(const tl_baseline *b, const tl_work_class *class, size_t k, int64_t *scratch);

/* A rank's answer to CELLS.  kinds[baseline.nkinds of the rank], cells[n]. */
typedef struct tl_cells_of_rank {
    tl_work_kind *kinds;
    tl_work_cell *cells;
    size_t n;
} tl_cells_of_rank;

/* cells.c: cuts, comparable, classes, class_of_kind, nkinds, compute_ns. */
void tl_baseline_cells(tl_baseline *out);

/* host_pieces.c: fills the median host pieces in the class maps of ranks, on their procs. */
void tl_baseline_host_pieces(const tl_baseline *baseline);

/* own.c: heavy. */
void tl_baseline_own(tl_baseline *out);

/* As tl_baseline_of, tl_excess and tl_lateness, for a class of links; tl_lateness_of_links adds to late_ns. */
int64_t tl_baseline_of_link(const tl_baseline *b, const tl_work_class *class, size_t member, const bool *on,
                            int64_t *own_ns, int64_t *scratch);
void tl_excess_of_links(const tl_baseline *b, const tl_work_class *class, double *late_ns, int64_t *scratch);
void tl_lateness_of_links(const tl_baseline *b, const tl_work_class *class, double *late_ns, int64_t *scratch);

#endif
