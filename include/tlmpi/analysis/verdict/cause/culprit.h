/* culprit.h - which ranks and links hold the job up?
 *
 * Combines the verdict on each rank and link, the gain of its repair and the waiting charged to it into table culprit,
 * the only table that reports print the answer from.  Ranks that only gain together are one culprit; a slow link is one
 * culprit, and the ranks at its ends are none.  Each culprit has its steps, cost, cause and confidence.  Code that
 * judges ranks by another method fills the same input tables, or culprit itself.  May use the model alone.
 */
#ifndef TLMPI_ANALYSIS_VERDICT_CAUSE_CULPRIT_H
#define TLMPI_ANALYSIS_VERDICT_CAUSE_CULPRIT_H

#include "tlmpi/analysis/analysis.h"

/* Fills table culprit anew from the other tables of the job, after their reduction.  An empty table is no error: what
 * it would tell stays unknown. */
void tl_culprits_find(tl_tables *job);

/* Calls tl_culprits_find, as the last of all reductions. */
extern const tl_analysis tl_culprit_analysis;

#endif
