/* charges.h - what ranks waited for in matched collectives, charged to those who came late. */
#ifndef TLMPI_JOB_CHARGES_H
#define TLMPI_JOB_CHARGES_H

#include "tlmpi/analysis/late_rows.h"
#include "tlmpi/base/status.h"
#include "tlmpi/model/table.h"

typedef struct tl_charge_input {
    const tl_late_row *rows; /* in the order of collectives */
    size_t nrows;
    const int32_t *ranks; /* ascending; those of the rows are among them */
    size_t nranks;
} tl_charge_input;

/* On proc 0.  Table blame gets its rows; late_counts[nranks]: in how many collectives each rank came last.  TL_ENOMEM. */
tl_status tl_job_charge(const tl_charge_input *in, int64_t *late_counts, tl_tables *tables, tl_error *err);

#endif
