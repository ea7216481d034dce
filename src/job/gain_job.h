/* gain_job.h - the job as a replay wants it: programs, what joins them, and who stands for ranks without a trace. */
#ifndef TLMPI_JOB_GAIN_JOB_H
#define TLMPI_JOB_GAIN_JOB_H

#include "gains.h"
#include "tlmpi/analysis/absent.h"
#include "tlmpi/analysis/whatif.h"

/* Zero-initialise; tl_gain_job_free ends it. */
typedef struct tl_gain_job {
    tl_program *programs; /* [nranks + nabsent]; their arrays belong to others */
    int64_t *offsets;     /* [the same] */
    tl_whatif_member *members;
    tl_whatif_collective *collectives;
    uint32_t *row_of;     /* [ncollectives]: its first row */
    size_t nmembers, ncollectives;
    tl_absent absent;
} tl_gain_job;

/* Fills *job, with_absent or as if nobody were missing.  TL_ENOMEM. */
tl_status tl_gain_job_make(const tl_gain_input *input, tl_tables *tables, bool with_absent, tl_gain_job *job,
                           tl_error *err);
void tl_gain_job_free(tl_gain_job *job);

#endif
