/* gains.h - what repairs would gain: the programs of all ranks, joined by their matched collectives, replayed. */
#ifndef TLMPI_JOB_GAINS_H
#define TLMPI_JOB_GAINS_H

#include "attribute.h"
#include "links.h"
#include "tlmpi/analysis/verdict.h"

/* On proc 0.  The job as it was recorded. */
typedef struct tl_gain_input {
    const tl_late_row *rows; /* in order of collectives */
    size_t nrows;
    const int32_t *ranks, *roles; /* nranks, ascending by rank */
    size_t nranks;
    const tl_programs *programs; /* ascending by rank; those of `ranks` are among them */
    const tl_job_links *links;   /* a row each in table link */
} tl_gain_input;

/* Fills tables whatif and critical_path, gain_ns in table link, and gain_ns and slowdown in the rows of table straggler: for all its ranks
 * that stand out in some step, and those with most blame.  Where the model does not give the measured time, they stay 0
 * and 1, and only `unchanged` is in whatif, and critical_path is empty.  *gains is for the verdict.  TL_ENOMEM. */
tl_status tl_gains_find(const tl_gain_input *input, tl_tables *tables, tl_verdict_gains *gains, tl_error *err);

#endif
