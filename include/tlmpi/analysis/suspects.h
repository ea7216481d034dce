/* suspects.h - whose charges are worth a question. */
#ifndef TLMPI_ANALYSIS_SUSPECTS_H
#define TLMPI_ANALYSIS_SUSPECTS_H

#include "tlmpi/model/blame_tables.h"
#include "tlmpi/model/table.h"

/* Whether a rank stands out enough to be a suspect: flagged in some step, and charged no less than 30 % of what any
 * rank is. */
bool tl_verdict_suspects(const tl_straggler *row, const tl_table *straggler);

#endif
