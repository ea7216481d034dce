/* execution.h - rows of execution traces: their nodes, with the times of the linked events. */
#ifndef TLMPI_JOB_READ_EXECUTION_H
#define TLMPI_JOB_READ_EXECUTION_H

#include "tlmpi/job/read/plan.h"
#include "tlmpi/model/table.h"
#include "tlmpi/model/view.h"
#include "tlmpi/trace/read/reader.h"

/* The ids that link an event of the host to nodes of an execution trace; -1: absent. */
typedef struct tl_record {
    int64_t external, function, pid;
    uint32_t event, uid;
} tl_record;

/* The records of a trace, ascending by event.  Zero-initialise; free(records.v) ends it. */
typedef struct tl_records {
    TL_VEC(tl_record) v;
} tl_records;

/* Whether an execution trace belongs to the item. */
bool tl_executions_are_of(const tl_plan *plan, const tl_plan_item *item);

/* Returns a hook that fills the records while a trace is read. */
tl_entry_hook tl_executions_hook(tl_records *records);

/* Links the nodes of the item's execution traces to the events of its trace, and adds rows of tables side_file and
 * execution_node.  The nodes' names are added to the trace's names. */
void tl_executions_link(const tl_plan *plan, const tl_plan_item *item, const tl_records *records, tl_trace *trace,
                        const tl_rank_view *view, tl_tables *out);

/* Adds rows of the item's execution traces without nodes, for a trace that cannot be read or is not analysed.  item
 * NULL: this proc's share of the execution traces without an item. */
void tl_executions_list(const tl_plan *plan, const tl_plan_item *item, tl_tables *out);

#endif
