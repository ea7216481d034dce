/* unmarked.h - steps that are not marked: of a job that nobody marks from the order in which its collectives return, of
 * ranks that mark none from the collectives in which they meet those that do.
 *
 *     rank 0   [a][b]....[c] | [a][b]....[c] | [a][b]....[c]     a, b, c: kind, size and group
 *                             0               1               2
 *
 *     rank 0   |4  [a][b]....[c] |5  [a][b]....[c] |6  [a][b]       ProfilerStep#4 ...
 *     rank 1       [a][b]....[c]     [a][b]....[c]     [a][b]       none
 *                             4                 5
 */
#ifndef TLMPI_JOB_UNMARKED_H
#define TLMPI_JOB_UNMARKED_H

#include "tlmpi/analysis/late_rows.h"
#include "tlmpi/analysis/graph/programs.h"

/* On proc 0.  Numbers the steps from 0 on, in the rows (in order of collectives) and in the segments of programs; what
 * lies before the first whole step or after the last keeps -1.  *nsteps: how many; 0 where nothing returns, and nothing
 * is changed.  False when memory is out. */
bool tl_unmarked_number(tl_late_row *rows, size_t nrows, tl_programs *programs, size_t *nsteps);

/* On proc 0, where ranks have marks, those in marked[nmarked], ascending, and others none.  Gives what ranks without
 * marks do alone the step of the next collective whose step is known, and cuts the steps of all programs at collectives,
 * so that ranks with marks and without can be compared.  *follow: whether a rank without marks meets any with; if not,
 * nothing is changed.  False when memory is out. */
bool tl_unmarked_follow(tl_late_row *rows, size_t nrows, const int32_t *marked, size_t nmarked, tl_programs *programs,
                        bool *follow);

#endif
