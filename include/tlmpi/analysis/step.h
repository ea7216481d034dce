/* step.h - which are the steps of the job, and how long did each take?
 *
 * From the marks of ranks, and where there are none from collectives that return.  May use wait and graph.
 */
#ifndef TLMPI_ANALYSIS_STEP_H
#define TLMPI_ANALYSIS_STEP_H

#include "tlmpi/analysis/program/programs.h"
#include "tlmpi/analysis/wait.h"
#include "tlmpi/model/table.h"

/* ------------------------------------------------------------------------------------------------------------ steps */

/* The steps of the job, and how long each took. */

/* A step of the job. */
typedef struct tl_job_step {
    int32_t number;
    int64_t ns; /* its duration, > 0: the median over ranks, of the devices where it is known, else of the hosts */
} tl_job_step;

/* The index of the step with this number among n steps whose numbers ascend; n where there is none. */
size_t tl_job_step_index(const tl_job_step *steps, size_t n, int32_t number);

/* On proc 0.  The steps that ranks mark, ascending, *n of them; without marks those that the rows were numbered by
 * (below), else one that is all of the time, number -1.
 * marked[nmarked], ascending: ranks whose marks count.  rows: arrivals of the job, in order of collectives.  The caller
 * frees the result.  NULL when memory is out. */
tl_job_step *tl_job_steps_list(tl_tables *tables, const int32_t *marked, size_t nmarked, const tl_late_row *rows,
                               size_t nrows, size_t *n);

/* Whether every rank's collectives, matched with others, are known from half a step on before its first one of the
 * first step: whatever kept ranks from beginning to record at one instant, they have met since.  False also when memory
 * is out. */
bool tl_job_begun(const tl_job_step *steps, size_t nsteps, const int32_t *ranks, size_t nranks, const tl_late_row *rows,
                  size_t nrows);

/* Whether recordings end one after the other within the last step, so that some ranks of a group have more collectives in it
 * than others. False also when memory is out. */
bool tl_job_ends_in_turn(const tl_job_step *steps, size_t nsteps, const tl_late_row *rows, size_t nrows);

/* ----------------------------------------------------------------------------------------------------------- marked */

/* The ranks whose own marks tell their steps. */

/* On proc 0.  The ranks that have rows in table step, ascending, in *marked, which the caller frees in any case; but for
 * those that number steps otherwise than the ranks that they meet.  False when memory is out. */
bool tl_marked_list(const tl_table *steps, const tl_late_row *rows, size_t nrows, int32_t **marked, size_t *n);

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
