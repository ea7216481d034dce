/* steps.h - the steps of the job, and how long each took. */
#ifndef TLMPI_JOB_STEPS_H
#define TLMPI_JOB_STEPS_H

#include "tlmpi/analysis/late_rows.h"
#include "tlmpi/model/table.h"

/* A step of the job. */
typedef struct tl_job_step {
    int32_t number;
    int64_t ns; /* its duration, of the devices where it is known, else of hosts, the median over ranks; > 0 */
} tl_job_step;

/* Where the step stands among n whose numbers ascend; n: it is none of them. */
size_t tl_job_step_index(const tl_job_step *steps, size_t n, int32_t number);

/* On proc 0.  The steps that ranks mark, ascending, *n of them; without marks those that the rows were numbered by
 * (unmarked.h), else one that is all of the time, number -1.
 * marked[nmarked], ascending: ranks whose marks count.  rows: arrivals of the job, in order of collectives.  The caller
 * frees the result.  NULL when memory is out. */
tl_job_step *tl_job_steps_list(tl_tables *tables, const int32_t *marked, size_t nmarked, const tl_late_row *rows,
                               size_t nrows, size_t *n);

/* Whether every rank's collectives, matched with others, are known from half a step on before its first one of the
 * first step: whatever kept ranks from beginning to record at one instant, they have met since.  False also when memory
 * is out. */
bool tl_job_begun(const tl_job_step *steps, size_t nsteps, const int32_t *ranks, size_t nranks, const tl_late_row *rows,
                  size_t nrows);

/* Whether recordings end in turn within the last step: of a group some ranks have more collectives in it than others.
 * False also when memory is out. */
bool tl_job_ends_in_turn(const tl_job_step *steps, size_t nsteps, const tl_late_row *rows, size_t nrows);

#endif
