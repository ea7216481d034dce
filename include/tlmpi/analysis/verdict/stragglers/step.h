/* step.h - which are the steps of the job?
 *
 * From the step marks of ranks, else from collectives that repeat.  May use wait and graph.
 */
#ifndef TLMPI_ANALYSIS_VERDICT_STRAGGLERS_STEP_H
#define TLMPI_ANALYSIS_VERDICT_STRAGGLERS_STEP_H

#include "tlmpi/analysis/collective/wait.h"
#include "tlmpi/analysis/verdict/graph.h"
#include "tlmpi/model/table.h"

/* ----------------------------------------------------------------------------------------------------------- marked */

/* The ranks whose own marks give their steps. */

/* On proc 0.  Fills *marked, ascending, with the ranks that have rows in table step; a rank is left out if its step
 * numbers mostly disagree with those of the ranks that it meets in one of its groups.  The caller frees *marked in any
 * case. */
void tl_marked_list(const tl_table *steps, const tl_late_row *rows, size_t nrows, int32_t **marked, size_t *n);

/* --------------------------------------------------------------------------------------------------------- unmarked */

/* Steps without marks.  If no rank has marks, steps follow from the order in which the job's collectives repeat; if
 * some ranks have marks, the other ranks take the steps of the collectives in which they meet the marked ranks.
 *
 *     rank 0   [a][b]....[c] | [a][b]....[c] | [a][b]....[c]     a, b, c: kind, size and group
 *                             0               1               2
 *
 *     rank 0   |4  [a][b]....[c] |5  [a][b]....[c] |6  [a][b]       ProfilerStep#4 ...
 *     rank 1       [a][b]....[c]     [a][b]....[c]     [a][b]       none
 *                             4                 5
 */

/* On proc 0.  Numbers the steps from 0 on, in the rows (in order of collectives); what lies before the first whole step
 * or after the last keeps -1.  *nsteps: number of steps; 0 if no collective repeats, and nothing is changed. */
void tl_unmarked_number(tl_late_row *rows, size_t nrows, const tl_rank_graphs *graphs, size_t *nsteps);

/* On proc 0, if the ranks marked[nmarked], ascending, have marks and others have none.  A collective in which only
 * unmarked ranks meet gets the step of the next collective with a known step.  *follow: whether an unmarked rank meets
 * any marked one; if not, nothing is changed. */
void tl_unmarked_follow(tl_late_row *rows, size_t nrows, const int32_t *marked, size_t nmarked,
                        const tl_rank_graphs *graphs, bool *follow);

#endif
