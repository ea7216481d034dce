/* stacks.h - tables of what stands within what: HTA's call graph with what it finds in it, its older call stacks, and the
 * nodes of an execution trace that rows belong to. */
#ifndef TLMPI_COMPAT_HTA_STACKS_H
#define TLMPI_COMPAT_HTA_STACKS_H

#include "tlmpi/compat/hta/frame/job.h"

tl_hta_table tl_hta_call_graphs, tl_hta_frequent_patterns, tl_hta_cupti_counters, tl_hta_call_stacks;
tl_hta_table tl_hta_execution_trace_links; /* of the job's, where there is one */

#endif
