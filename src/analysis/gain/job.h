/* job.h - the job as a replay wants it: programs, what joins them, and who stands for ranks without a trace. */
#ifndef ANALYSIS_GAIN_JOB_H
#define ANALYSIS_GAIN_JOB_H

#include "tlmpi/analysis/gain.h"
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

/* For whom others stand in. */
typedef enum tl_standing_in { TL_STAND_IN_ALWAYS, TL_STAND_IN_WHOLE_STEPS, TL_STAND_IN_NEVER } tl_standing_in;

/* Fills *job; as if nobody were missing where nobody stands in.  TL_ENOMEM. */
tl_status tl_gain_job_make(const tl_gain_input *input, tl_tables *tables, tl_standing_in standing_in, tl_gain_job *job,
                           tl_error *err);
void tl_gain_job_free(tl_gain_job *job);

#endif
