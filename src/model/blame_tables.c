/* blame_tables.c - the schemas of blame_tables.h and culprit_table.h, and the words of their enums. */
#include "tlmpi/model/blame_tables.h"
#include "tlmpi/model/culprit_table.h"

const char *const tl_activity_labels[] = {
    [TL_ACTIVITY_COMPUTE] = "compute",
    [TL_ACTIVITY_H2D] = "h2d",
    [TL_ACTIVITY_COPY] = "copy",
    [TL_ACTIVITY_COMM] = "other_group",
    [TL_ACTIVITY_HOST] = "host_late",
    [TL_ACTIVITY_INPUT] = "input",
    [TL_ACTIVITY_GC] = "gc",
    [TL_ACTIVITY_SYNC] = "sync_drain",
    [TL_ACTIVITY_ALLOCATOR] = "allocator",
    [TL_ACTIVITY_DEVICE] = "device",
    [TL_NACTIVITIES] = "unknown",
    NULL,
};

const char *const tl_verdict_labels[] = {
    [TL_VERDICT_OK] = "ok",
    [TL_VERDICT_STRAGGLER] = "straggler",
    [TL_VERDICT_INCONCLUSIVE] = "inconclusive",
    NULL,
};

const char *const tl_cause_labels[] = {
    [TL_CAUSE_UNKNOWN] = "unknown",
    [TL_CAUSE_COMPUTE_SLOW] = "compute_slow",
    [TL_CAUSE_THROTTLED] = "throttled",
    [TL_CAUSE_MORE_WORK] = "more_work",
    [TL_CAUSE_HOST_LATE] = "host_late",
    [TL_CAUSE_INPUT] = "input",
    [TL_CAUSE_H2D] = "h2d",
    [TL_CAUSE_GC] = "gc",
    [TL_CAUSE_SYNC_DRAIN] = "sync_drain",
    [TL_CAUSE_ALLOCATOR] = "allocator",
    [TL_CAUSE_SLOW_LINK] = "slow_link",
    [TL_CAUSE_OTHER_GROUP] = "other_group",
    [TL_CAUSE_MIXED] = "mixed",
    [TL_CAUSE_COPY] = "copy",
    NULL,
};

bool tl_cause_is_of_host(tl_cause cause)
{
    return cause == TL_CAUSE_HOST_LATE || cause == TL_CAUSE_INPUT || cause == TL_CAUSE_GC ||
           cause == TL_CAUSE_SYNC_DRAIN || cause == TL_CAUSE_ALLOCATOR;
}

const char *const tl_excess_labels[] = { [TL_EXCESS_WORK] = "work", [TL_EXCESS_HOST] = "host", NULL };

const char *const tl_cause_from_labels[] = {
    [TL_CAUSE_FROM_NOTHING] = "nothing",
    [TL_CAUSE_FROM_GAIN] = "gain",
    NULL,
};

const char *const tl_pattern_labels[] = {
    [TL_PATTERN_NONE] = "none",
    [TL_PATTERN_PERSISTENT] = "persistent",
    [TL_PATTERN_BOUNDED] = "bounded",
    [TL_PATTERN_SPORADIC] = "sporadic",
    [TL_PATTERN_DRIFTING] = "drifting",
    [TL_PATTERN_ONE_OFF] = "one_off",
    NULL,
};

const char *const tl_steps_from_labels[] = {
    [TL_STEPS_MARKED] = "marks",
    [TL_STEPS_MET] = "others",
    [TL_STEPS_RETURNED] = "return",
    [TL_STEPS_NONE] = "nothing",
    NULL,
};

const char *const tl_link_evidence_labels[] = {
    [TL_LINK_BY_GROUPS] = "groups",
    [TL_LINK_BY_STEPS] = "steps",
    NULL,
};

const char *const tl_scenario_labels[] = {
    [TL_SCENARIO_UNCHANGED] = "unchanged",
    [TL_SCENARIO_IDEAL] = "ideal",
    [TL_SCENARIO_LINKS] = "links",
    [TL_SCENARIO_RANK] = "rank",
    [TL_SCENARIO_HOST] = "host",
    [TL_SCENARIO_CAUSE] = "cause",
    [TL_SCENARIO_SUSPECTS] = "suspects",
    [TL_SCENARIO_GROUPS] = "groups",
    [TL_SCENARIO_BALANCED] = "balanced",
    [TL_SCENARIO_HOST_FREE] = "host_free",
    NULL,
};

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
TL_TABLE_DEFINE_RARE_AS(excess_row, "excess", TL_EXCESS_FIELDS, TL_SCOPE_JOB, "where a straggler spends more than its peers",
                     "In which kernels, operators and annotations does a rank that is named spend more than its peers?");
TL_TABLE_DEFINE_AS(whatif_row, "whatif", TL_WHATIF_FIELDS, TL_SCOPE_JOB, "simulated repairs",
                   "What would the job take if a rank, a host or a cause were repaired?");
TL_TABLE_DEFINE_AS(path_row, "critical_path", TL_PATH_FIELDS, TL_SCOPE_JOB, "critical path across ranks",
                   "Which ranks' work, hosts and transfers decided when the job ended?");
TL_TABLE_DEFINE_AS(slow_link_row, "link", TL_SLOW_LINK_FIELDS, TL_SCOPE_JOB, "slow links",
                   "Between which ranks do data move slowly, and what does it cost?");

tl_whatif_row *tl_whatif_row_of(const tl_table *whatif, tl_scenario_kind scenario, int32_t rank)
{
    for (size_t i = 0; i < whatif->n; i++) {
        tl_whatif_row *row = tl_table_row(whatif, i);
        if (row->scenario == scenario && row->rank == rank)
            return row;
    }
    return NULL;
}

const char *const tl_culprit_kind_labels[] = {
    [TL_CULPRIT_RANK] = "rank",
    [TL_CULPRIT_HOST] = "host",
    [TL_CULPRIT_SEVERAL] = "several",
    [TL_CULPRIT_UNTRACED] = "untraced",
    [TL_CULPRIT_LINK] = "link",
    [TL_CULPRIT_NOBODY] = "none",
    [TL_CULPRIT_INCONCLUSIVE] = "inconclusive",
    [TL_CULPRIT_UNMATCHED] = "unmatched",
    [TL_CULPRIT_SILENCE] = "no_communication",
    [TL_CULPRIT_ONE_RANK] = "one_rank",
    [TL_CULPRIT_NO_WORK] = "no_device_work",
    NULL,
};

TL_TABLE_DEFINE(
    culprit, TL_CULPRIT_FIELDS, TL_SCOPE_JOB, "who holds the job up",
    "Which rank, host, link, or which ranks together, in which steps, why, at what cost, and how sure is that?");
