/* culprit.h - which ranks and links hold the job up, all in all?
 *
 * From the verdict on each rank and each link, the gain of their repair and the waiting charged to them: table culprit,
 * the only one that reports print of it.  Ranks that only gain together are one culprit; a slow link is one culprit,
 * and the ranks at its ends are none; each has its steps, its cost, its cause, and how sure that is.  Code that judges
 * ranks in another way fills the same tables, or culprit itself.  May use the model alone.
 */
#ifndef TLMPI_ANALYSIS_CULPRIT_H
#define TLMPI_ANALYSIS_CULPRIT_H

#include "tlmpi/analysis/analysis.h"

/* Fills table culprit anew from the other tables of the job, which have been reduced.  An empty table is no error: its
 * question stays unanswered. */
void tl_culprits_find(tl_tables *job);

/* The same, as the last of all reductions. */
extern const tl_analysis tl_culprit_analysis;

#endif
