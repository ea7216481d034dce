/* causes.h - for each suspect, proc 0 asks the procs that have read it and its peers what these did in the steps in
 * which the suspect stands out: what took it longer than its peers is the cause. */
#ifndef JOB_ATTRIBUTE_CAUSES_H
#define JOB_ATTRIBUTE_CAUSES_H

#include "tlmpi/analysis/cause.h"
#include "tlmpi/base/status.h"
#include "tlmpi/model/table.h"

/* Collective.  work_by_name: of the ranks that this proc has read.  On proc 0 the table straggler gets causes, their
 * shares and dominant work: all ranks that it names, and of others that stand out as many as make that 8 together.  One
 * after the other, each against no more than 64 peers.  The same status and message on every proc. */
tl_status tl_causes_find(const tl_work_by_name *work_by_name, const tl_cause_input *input, tl_tables *tables,
                         tl_error *err);

#endif
