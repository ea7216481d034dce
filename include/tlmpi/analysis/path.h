/* path.h - the critical path of a job as rows of its table. */
#ifndef TLMPI_JOB_PATH_H
#define TLMPI_JOB_PATH_H

#include "tlmpi/analysis/whatif.h"
#include "tlmpi/model/table.h"

/* Appends the path of the unchanged job to table critical_path, in key order: a row for each activity of all ranks, and of
 * each rank that has any of it.  ranks[nranks] are the numbers of the replay's ranks, with those that have no trace.
 * TL_ENOMEM; TL_EINPUT where the job cannot be replayed. */
tl_status tl_path_find(tl_whatif *whatif, const int32_t *ranks, size_t nranks, tl_table *table, tl_error *err);

#endif
