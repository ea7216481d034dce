/* withhold.h - how much of each rank's collectives the clocks hide, and the verdicts that they do not carry. */
#ifndef TLMPI_JOB_WITHHOLD_H
#define TLMPI_JOB_WITHHOLD_H

#include "tlmpi/analysis/late_rows.h"
#include "judging.h"
#include "tlmpi/model/tables.h"

/* Once all verdicts are there (analysis/withhold.h).  TL_ENOMEM. */
tl_status tl_job_withhold(const tl_verdict_input *job, const tl_late_row *rows, size_t nrows, tl_tables *tables,
                          tl_error *err);

#endif
