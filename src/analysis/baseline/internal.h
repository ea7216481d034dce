/* internal.h - the pieces of a baseline, in the order in which they are made. */
#ifndef ANALYSIS_BASELINE_INTERNAL_H
#define ANALYSIS_BASELINE_INTERNAL_H

#include "tlmpi/analysis/baseline.h"
#include "tlmpi/base/hash.h"

/* Each call fills the fields of `out` that its comment names. */

/* roles.c: roles, members, role_of, index_in_role, talks. */
void tl_baseline_roles(const int32_t *ranks, const tl_late_row *rows, size_t nrows, tl_baseline *out);

/* cells.c: the class of a family, role and key among those of `out`, a new one if it is new.  It gets its steps, then
 * room for what its members have in them. */
uint32_t tl_class_at(tl_baseline *out, tl_family family, uint32_t role, uint64_t key);
void tl_class_add_step(tl_work_class *class, uint32_t step);
void tl_class_make_room(tl_baseline *out, tl_work_class *class);

/* cells.c: returns what the rank in the middle of a class has in the class's k-th step, ns.  scratch[nranks]: room. */
int64_t tl_class_middle(const tl_baseline *b, const tl_work_class *class, size_t k, int64_t *scratch);

/* What a rank has answered to CELLS: kinds, as many as baseline.nkinds says, and what it has of them. */
typedef struct tl_cells_of_rank {
    tl_work_kind *kinds;
    tl_work_cell *cells;
    size_t n;
} tl_cells_of_rank;

/* alike.c: kinds of work that are compared get the same key. */
void tl_kinds_alike(const tl_baseline *baseline, tl_cells_of_rank *ranks);

/* amount.c: the amounts of a class; until then these are its blocks, below 0 where some are not known. */
void tl_class_amounts(const tl_baseline *baseline, tl_work_class *class);

/* cells.c: cuts, alike, classes, class_of_kind, nkinds, compute_ns. */
void tl_baseline_cells(tl_baseline *out);

/* host_pieces.c: what is usual of pieces of hosts, in the class maps of ranks. */
void tl_baseline_host_pieces(const tl_baseline *baseline);

/* own.c: heavy. */
void tl_baseline_own(tl_baseline *out);

/* links.c: links, link_members, link_of; sorts among the roles and their members. */
void tl_baseline_links(const tl_link_input *input, tl_baseline *out);

/* As tl_baseline_of, tl_excess and tl_lateness have it, of a class of links; the last adds to late_ns. */
int64_t tl_baseline_of_link(const tl_baseline *b, const tl_work_class *class, size_t member, const bool *on,
                            int64_t *own_ns, int64_t *scratch);
void tl_excess_of_links(const tl_baseline *b, const tl_work_class *class, double *late_ns, int64_t *scratch);
void tl_lateness_of_links(const tl_baseline *b, const tl_work_class *class, double *late_ns, int64_t *scratch);

#endif
