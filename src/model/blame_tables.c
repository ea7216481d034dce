/* blame_tables.c - the schemas of blame_tables.h and culprit_table.h, and the words of their enums. */
#include "tlmpi/model/blame_tables.h"
#include "tlmpi/model/culprit_table.h"

TL_LABELS_DEFINE(activity, TL_ACTIVITY_VALUES);
TL_LABELS_DEFINE(verdict, TL_VERDICT_VALUES);
TL_LABELS_DEFINE(cause, TL_CAUSE_VALUES);

bool tl_cause_is_of_host(tl_cause cause)
{
    return cause == TL_CAUSE_HOST_LATE || cause == TL_CAUSE_INPUT || cause == TL_CAUSE_GC ||
           cause == TL_CAUSE_SYNC_DRAIN || cause == TL_CAUSE_ALLOCATOR;
}

TL_LABELS_DEFINE(excess, TL_EXCESS_VALUES);
TL_LABELS_DEFINE(against, TL_AGAINST_VALUES);
TL_LABELS_DEFINE(pattern, TL_PATTERN_VALUES);
TL_LABELS_DEFINE(steps_from, TL_STEPS_FROM_VALUES);
TL_LABELS_DEFINE(link_evidence, TL_EVIDENCE_VALUES);
TL_LABELS_DEFINE(scenario, TL_SCENARIO_VALUES);
TL_LABELS_DEFINE(path, TL_PATH_VALUES);

TL_TABLE_DEFINE(blame, TL_BLAME_FIELDS, TL_SCOPE_JOB, "waits charged to ranks",
                "Which rank made which other ranks wait, in which steps, and why?");
TL_TABLE_DEFINE(blame_step, TL_BLAME_STEP_FIELDS, TL_SCOPE_JOB, "charges by rank and step",
                "In which steps did other ranks wait for a rank?");
TL_TABLE_DEFINE(straggler, TL_STRAGGLER_FIELDS, TL_SCOPE_JOB, "verdict on each rank",
                "Who holds the job up, in which steps, why, and what does it cost?");
TL_TABLE_DEFINE_RARE_AS(
    excess_row, "excess", TL_EXCESS_FIELDS, TL_SCOPE_JOB, "where a straggler spends more than its peers",
    "In which kernels, operators and annotations does a straggler spend more time than its peers?");
TL_TABLE_DEFINE_AS(whatif_row, "whatif", TL_WHATIF_FIELDS, TL_SCOPE_JOB, "simulated repairs",
                   "How long would the job take if a rank, a host or a cause were repaired?");
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

TL_LABELS_DEFINE(culprit_kind, TL_CULPRIT_KIND_VALUES);

TL_TABLE_DEFINE(
    culprit, TL_CULPRIT_FIELDS, TL_SCOPE_JOB, "who holds the job up",
    "Which rank, host or link holds the job up, in which steps, why, at what cost, and how sure is the answer?");
