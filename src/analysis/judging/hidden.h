/* hidden.h - how much of each rank's collectives the clocks hide, and the verdicts that they do not carry. */
#ifndef ANALYSIS_JUDGING_HIDDEN_H
#define ANALYSIS_JUDGING_HIDDEN_H

#include "tlmpi/analysis/wait.h"
#include "judging.h"
#include "tlmpi/model/tables.h"

/* Once all verdicts are there (withhold.h).  TL_ENOMEM. */
tl_status tl_job_withhold(const tl_verdict_input *job, const tl_late_row *rows, size_t nrows, tl_tables *tables,
                          tl_error *err);

#endif
