/* baseline.h - what should a piece of a step have taken?
 *
 * From the graph of the job: what the other ranks of a role need for the same piece; where nobody is of the role, what its own
 * other steps took, or stages that run the same kernels.  For transfers what those like them take.  Work counts without
 * what kernels take longer because communication runs beside them.  May use the graph.
 */
#ifndef TLMPI_ANALYSIS_USUAL_H
#define TLMPI_ANALYSIS_USUAL_H

#include "tlmpi/analysis/program/graph.h"

/* Fills cells, steps and medians, which need collective_of.  False when memory is out. */
bool tl_whatif_compare(tl_whatif *w);

/* The parts of one cell. */
void tl_whatif_cell_parts(const tl_whatif *w, uint32_t rank, const tl_cell *cell, tl_parts *sum);

/* Fills like_ns and tail_ns, which need took_ns and transfer_ns.  False when memory is out. */
bool tl_whatif_compare_links(tl_whatif *w);
bool tl_whatif_find_tails(tl_whatif *w);

/* Sets work_less and host_less for ranks that are repaired together. */
void tl_whatif_look_outside(tl_whatif *w, const uint8_t *repaired);

/* Sets beside_part.  What kernels that ran so long beside communication would not have taken without it.
 * After the unchanged replay: from now on replays reckon with it.  In one, when the end of a comm is known.  False when memory
 * is out. */
bool tl_whatif_find_contention(tl_whatif *w);
int64_t tl_whatif_contended(const tl_whatif *w, int64_t beside_ns);
bool tl_whatif_keep_lengths(tl_whatif *w);
void tl_whatif_give_back(tl_whatif *w, uint32_t comm);

#endif
