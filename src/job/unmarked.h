/* unmarked.h - steps of a job that nobody marks, from the order in which its collectives return.
 *
 *     rank 0   [a][b]....[c] | [a][b]....[c] | [a][b]....[c]     a, b, c: kind, size and group
 *                             0               1               2
 */
#ifndef TLMPI_JOB_UNMARKED_H
#define TLMPI_JOB_UNMARKED_H

#include "attribute.h"

/* On proc 0.  Numbers the steps from 0 on, in the rows (in order of collectives) and in the segments of programs; what
 * lies before the first whole step or after the last keeps -1.  *nsteps: how many; 0 where nothing returns, and nothing
 * is changed.  False when memory is out. */
bool tl_unmarked_number(tl_late_row *rows, size_t nrows, tl_programs *programs, size_t *nsteps);

#endif
