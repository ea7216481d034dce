/* execution.h - the execution traces that lie beside a trace, or alone: their nodes with what their events cost. */
#ifndef TLMPI_JOB_READ_EXECUTION_H
#define TLMPI_JOB_READ_EXECUTION_H

#include "tlmpi/job/read/plan.h"
#include "tlmpi/model/table.h"
#include "tlmpi/model/view.h"
#include "tlmpi/trace/read/reader.h"

/* The ids by which nodes of an execution trace know an event of the host; -1 where absent. */
typedef struct tl_record {
    int64_t external, function, pid;
    uint32_t event, uid;
} tl_record;

/* The records of a trace, in the order of its events.  Zero-initialise; free(records.v) ends it. */
typedef struct tl_records {
    TL_VEC(tl_record) v;
} tl_records;

/* Whether an execution trace belongs to the item. */
bool tl_executions_are_of(const tl_plan *plan, const tl_plan_item *item);

/* Takes the records of a trace while it is read. */
tl_entry_hook tl_executions_hook(tl_records *records);

/* Links the nodes of the item's execution traces to the events of its trace: rows of both tables.  The trace's names
 * get those of nodes. */
void tl_executions_link(const tl_plan *plan, const tl_plan_item *item, const tl_records *records, tl_trace *trace,
                        const tl_rank_view *view, tl_tables *out);

/* Adds the rows of the item's execution traces, but no row of a node: the trace cannot be read, or nothing is
 * analysed.  item NULL: execution traces without an item, this proc's share of them. */
void tl_executions_list(const tl_plan *plan, const tl_plan_item *item, tl_tables *out);

#endif
