/* values.c - what the words of enumerations mean. */
#include "tlmpi/analysis/registry.h"

#include "tlmpi/model/blame_tables.h"
#include "tlmpi/model/coll_tables.h"
#include "tlmpi/model/culprit_table.h"
#include "tlmpi/model/diff_tables.h"
#include "tlmpi/model/health_table.h"
#include "tlmpi/model/idle_tables.h"
#include "tlmpi/model/measured_tables.h"
#include "tlmpi/model/parameters.h"
#include "tlmpi/model/path_tables.h"
#include "tlmpi/model/phase_tables.h"
#include "tlmpi/model/side_table.h"
#include "tlmpi/model/tables.h"
#include "tlmpi/model/tree_table.h"
#include "tlmpi/model/work_tables.h"

typedef struct meanings {
    const char *const *labels;
    const char *docs[TL_NCHECKS + 1]; /* by value, to a NULL */
} meanings;

static const meanings all[] = {
    { tl_rank_status_labels, { TL_STATUS_VALUES(TL_VALUE_MEANING) } },
    { tl_rank_from_labels,
      { "the trace says its rank", "from the file's name", "from the order of the files' names" } },
    { tl_diff_part_labels, { TL_DIFF_PART_VALUES(TL_VALUE_MEANING) } },
    { tl_diff_change_labels, { TL_DIFF_CHANGE_VALUES(TL_VALUE_MEANING) } },
    { tl_defect_labels, { TL_DEFECTS(TL_DEFECT_MEANING) } },
    { tl_remedy_labels, { TL_REMEDY_VALUES(TL_VALUE_MEANING) } },
    { tl_kind_labels, { TL_KIND_VALUES(TL_VALUE_MEANING) } },
    { tl_collective_labels, { TL_COLL_VALUES(TL_VALUE_MEANING) } },
    { tl_stream_wait_labels, { TL_STREAM_WAIT_VALUES(TL_VALUE_MEANING) } },
    { tl_counted_by_labels, { TL_COUNTED_BY_VALUES(TL_VALUE_MEANING) } },
    { tl_activity_labels, { TL_ACTIVITY_VALUES(TL_VALUE_MEANING) } },
    { tl_path_labels,
      { "kernels that compute", "copies from host to device", "other copies and memsets",
        "communication once the last rank that has a trace had come",
        "work of hosts, in no call that another activity stands for", "hosts that waited for input",
        "hosts that collected garbage", "hosts that waited for their device",
        "hosts that allocated or freed device memory", "latency of launches, waits for events",
        "before the first event of the path's first rank" } },
    { tl_bound_labels, { TL_BOUND_VALUES(TL_VALUE_MEANING) } },
    { tl_verdict_labels, { TL_VERDICT_VALUES(TL_VALUE_MEANING) } },
    { tl_cause_labels, { TL_CAUSE_VALUES(TL_VALUE_MEANING) } },
    { tl_against_labels, { TL_AGAINST_VALUES(TL_VALUE_MEANING) } },
    { tl_excess_labels, { TL_EXCESS_VALUES(TL_VALUE_MEANING) } },
    { tl_pattern_labels, { TL_PATTERN_VALUES(TL_VALUE_MEANING) } },
    { tl_steps_from_labels, { TL_STEPS_FROM_VALUES(TL_VALUE_MEANING) } },
    { tl_link_evidence_labels, { TL_EVIDENCE_VALUES(TL_VALUE_MEANING) } },
    { tl_scenario_labels, { TL_SCENARIO_VALUES(TL_VALUE_MEANING) } },
    { tl_culprit_kind_labels, { TL_CULPRIT_KIND_VALUES(TL_VALUE_MEANING) } },
    { tl_confidence_labels, { TL_CONFIDENCE_VALUES(TL_VALUE_MEANING) } },
    { tl_coll_state_labels, { TL_COLL_STATE_VALUES(TL_VALUE_MEANING) } },
    { tl_suspicion_labels, { TL_SUSPICION_VALUES(TL_VALUE_MEANING) } },
    { tl_skew_class_labels, { TL_SKEW_VALUES(TL_VALUE_MEANING) } },
    { tl_comm_doubt_labels, { TL_COMM_DOUBT_VALUES(TL_VALUE_MEANING) } },
    { tl_wait_state_labels, { TL_WAIT_STATE_VALUES(TL_VALUE_MEANING) } },
    { tl_node_span_labels, { TL_NODES_VALUES(TL_VALUE_MEANING) } },
    { tl_check_labels, { TL_CHECK_VALUES(TL_VALUE_MEANING) } },
    { tl_match_rule_labels, { TL_RULE_VALUES(TL_VALUE_MEANING) } },
    { tl_memory_category_labels,
      { "weights of the model", "what the optimizer keeps", "of the training step", "needed for a while",
        "kept for backward", "of parameters", "what autograd keeps of its own", "of no category",
        "all of them together" } },
    { tl_side_kind_labels, { TL_SIDE_KIND_VALUES(TL_VALUE_MEANING) } },
    { tl_side_status_labels, { TL_SIDE_STATUS_VALUES(TL_VALUE_MEANING) } },
    { tl_size_from_labels, { TL_SIZE_FROM_VALUES(TL_VALUE_MEANING) } },
    { tl_parallelism_labels, { TL_PARALLEL_VALUES(TL_VALUE_MEANING) } },
    { tl_series_labels, { TL_SERIES_VALUES(TL_VALUE_MEANING) } },
    { tl_drain_labels, { TL_DRAIN_VALUES(TL_VALUE_MEANING) } },
    { tl_tree_kind_labels, { TL_TREE_KIND_VALUES(TL_VALUE_MEANING) } },
    { tl_wait_labels, { TL_WAIT_VALUES(TL_VALUE_MEANING) } },
    { tl_doing_labels, { TL_DOING_VALUES(TL_VALUE_MEANING) } },
    { tl_call_labels, { TL_CALL_VALUES(TL_VALUE_MEANING) } },
    { tl_peer_labels, { TL_PEER_VALUES(TL_VALUE_MEANING) } },
    { tl_queued_labels, { TL_QUEUED_VALUES(TL_VALUE_MEANING) } },
    { tl_phase_holds_labels, { TL_HOLDS_VALUES(TL_VALUE_MEANING) } },
    { tl_phase_answer_labels, { TL_PHASE_ANSWER_VALUES(TL_VALUE_MEANING) } },
    { tl_execution_link_labels, { TL_EXECUTION_LINK_VALUES(TL_VALUE_MEANING) } },
    { tl_execution_by_labels, { TL_EXECUTION_BY_VALUES(TL_VALUE_MEANING) } },
    { tl_parameter_labels, { TL_PARAMETER_VALUES(TL_VALUE_MEANING) } },
};

const char *const *tl_values_of(const char *const *labels)
{
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (all[i].labels == labels)
            return all[i].docs;
    return NULL;
}
