/* blame_tables.c - the schemas of blame_tables.h and culprit_table.h, and the words of their enums. */
#include "tlmpi/model/blame_tables.h"
#include "tlmpi/model/culprit_table.h"

const char *const tl_activity_labels[] = { TL_ACTIVITY_VALUES(TL_VALUE_LABEL) NULL };

const char *const tl_verdict_labels[] = { TL_VERDICT_VALUES(TL_VALUE_LABEL) NULL };

const char *const tl_cause_labels[] = { TL_CAUSE_VALUES(TL_VALUE_LABEL) NULL };

bool tl_cause_is_of_host(tl_cause cause)
{
    return cause == TL_CAUSE_HOST_LATE || cause == TL_CAUSE_INPUT || cause == TL_CAUSE_GC ||
           cause == TL_CAUSE_SYNC_DRAIN || cause == TL_CAUSE_ALLOCATOR;
}

const char *const tl_excess_labels[] = { TL_EXCESS_VALUES(TL_VALUE_LABEL) NULL };

const char *const tl_against_labels[] = { TL_AGAINST_VALUES(TL_VALUE_LABEL) NULL };

const char *const tl_pattern_labels[] = { TL_PATTERN_VALUES(TL_VALUE_LABEL) NULL };

const char *const tl_steps_from_labels[] = { TL_STEPS_FROM_VALUES(TL_VALUE_LABEL) NULL };

const char *const tl_link_evidence_labels[] = { TL_EVIDENCE_VALUES(TL_VALUE_LABEL) NULL };

const char *const tl_scenario_labels[] = { TL_SCENARIO_VALUES(TL_VALUE_LABEL) NULL };

const char *const tl_path_labels[] = {
    [TL_ACTIVITY_COMPUTE] = "compute",
    [TL_ACTIVITY_H2D] = "h2d",
    [TL_ACTIVITY_COPY] = "copy",
    [TL_ACTIVITY_COMM] = "communication",
    [TL_ACTIVITY_HOST] = "host",
    [TL_ACTIVITY_INPUT] = "input",
    [TL_ACTIVITY_GC] = "gc",
    [TL_ACTIVITY_SYNC] = "sync_drain",
    [TL_ACTIVITY_ALLOCATOR] = "allocator",
    [TL_ACTIVITY_DEVICE] = "latency",
    [TL_NACTIVITIES] = "before",
    NULL,
};

TL_TABLE_DEFINE(blame, TL_BLAME_FIELDS, TL_SCOPE_JOB, "waits charged to ranks",
                "Who made whom wait, in which steps, and by what?");
TL_TABLE_DEFINE(blame_step, TL_BLAME_STEP_FIELDS, TL_SCOPE_JOB, "charges by rank and step",
                "In which steps did a rank hold the others up?");
TL_TABLE_DEFINE(straggler, TL_STRAGGLER_FIELDS, TL_SCOPE_JOB, "verdict on each rank",
                "Who holds the job up, in which steps, why, and what does it cost?");
TL_TABLE_DEFINE_RARE_AS(
    excess_row, "excess", TL_EXCESS_FIELDS, TL_SCOPE_JOB, "where a straggler spends more than its peers",
    "In which kernels, operators and annotations does a rank that is named spend more than its peers?");
TL_TABLE_DEFINE_AS(whatif_row, "whatif", TL_WHATIF_FIELDS, TL_SCOPE_JOB, "simulated repairs",
                   "What would the job take if a rank, a host or a cause were repaired?");
TL_TABLE_DEFINE_AS(path_row, "critical_path", TL_PATH_FIELDS, TL_SCOPE_JOB, "critical path across ranks",
                   "Which ranks' work, hosts and transfers decided when the job ended?");
TL_TABLE_DEFINE_AS(slow_link_row, "link", TL_SLOW_LINK_FIELDS, TL_SCOPE_JOB, "slow links",
                   "Between which ranks do data move slowly, and what does it cost?");

tl_whatif_row *tl_whatif_row_of(const tl_table *whatif, tl_scenario_kind scenario, int32_t rank)
{
    TL_ROWS (tl_whatif_row, row, whatif)
        if (row->scenario == scenario && row->rank == rank)
            return row;
    return NULL;
}

const char *const tl_culprit_kind_labels[] = { TL_CULPRIT_KIND_VALUES(TL_VALUE_LABEL) NULL };

TL_TABLE_DEFINE(
    culprit, TL_CULPRIT_FIELDS, TL_SCOPE_JOB, "who holds the job up",
    "Which rank, host, link, or which ranks together, in which steps, why, at what cost, and how sure is that?");
