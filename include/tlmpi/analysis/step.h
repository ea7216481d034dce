/* step.h - which are the steps of the job?
 *
 * From the marks of ranks, and where there are none from collectives that return.  May use wait and graph.
 */
#ifndef TLMPI_ANALYSIS_STEP_H
#define TLMPI_ANALYSIS_STEP_H

#include "tlmpi/analysis/graph.h"
#include "tlmpi/analysis/wait.h"
#include "tlmpi/model/table.h"

/* ----------------------------------------------------------------------------------------------------------- marked */

/* The ranks whose own marks tell their steps. */

/* On proc 0.  The ranks that have rows in table step, ascending, in *marked, which the caller frees in any case; but
 * for those that number steps otherwise than the ranks that they meet. */
void tl_marked_list(const tl_table *steps, const tl_late_row *rows, size_t nrows, int32_t **marked, size_t *n);

/* --------------------------------------------------------------------------------------------------------- unmarked */

/* Steps that are not marked: of a job that nobody marks from the order in which its collectives return, of
 * ranks that mark none from the collectives in which they meet those that do.
 *
 *     rank 0   [a][b]....[c] | [a][b]....[c] | [a][b]....[c]     a, b, c: kind, size and group
 *                             0               1               2
 *
 *     rank 0   |4  [a][b]....[c] |5  [a][b]....[c] |6  [a][b]       ProfilerStep#4 ...
 *     rank 1       [a][b]....[c]     [a][b]....[c]     [a][b]       none
 *                             4                 5
 */

/* On proc 0.  Numbers the steps from 0 on, in the rows (in order of collectives); what lies before the first whole step
 * or after the last keeps -1.  *nsteps: how many; 0 where nothing returns, and nothing is changed. */
void tl_unmarked_number(tl_late_row *rows, size_t nrows, const tl_rank_graphs *graphs, size_t *nsteps);

/* On proc 0, where ranks have marks, those in marked[nmarked], ascending, and others none.  Gives the collectives in
 * which ranks without marks meet alone the step of the next whose step is known.  *follow: whether a rank without marks
 * meets any with; if not, nothing is changed. */
void tl_unmarked_follow(tl_late_row *rows, size_t nrows, const int32_t *marked, size_t nmarked,
                        const tl_rank_graphs *graphs, bool *follow);

#endif
