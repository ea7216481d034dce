/* culprit.h - who holds the job up, all in all?
 *
 * From the verdict on each rank and each link, what their repair gains and what others waited for them: table culprit,
 * which is all that reports print of it.  Ranks that only gain together are one culprit, a link is one and not the
 * ranks at its ends; each with its steps, its cost, its cause, and how sure that is.  Whoever judges ranks fills the
 * other tables, or this one.  May use the model alone.
 */
#ifndef TLMPI_ANALYSIS_CULPRIT_H
#define TLMPI_ANALYSIS_CULPRIT_H

#include "tlmpi/analysis/analysis.h"

/* Fills table culprit anew from the other tables of the job, which have been reduced; one that is empty is a question
 * that cannot be answered, no error.  TL_ENOMEM: the table is then as it was. */
void tl_culprits_find(tl_tables *job);

/* The same, as the last of all reductions. */
extern const tl_analysis tl_culprit_analysis;

#endif
