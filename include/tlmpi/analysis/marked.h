/* marked.h - the ranks whose own marks tell their steps. */
#ifndef TLMPI_JOB_MARKED_H
#define TLMPI_JOB_MARKED_H

#include "tlmpi/analysis/late_rows.h"

/* On proc 0.  The ranks that have rows in table step, ascending, in *marked, which the caller frees in any case; but for
 * those that number steps otherwise than the ranks that they meet.  False when memory is out. */
bool tl_marked_list(const tl_table *steps, const tl_late_row *rows, size_t nrows, int32_t **marked, size_t *n);

#endif
