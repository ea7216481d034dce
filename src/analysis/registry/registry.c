/* registry.c - the list.  A new analysis is one line in each of the two. */
#include "tlmpi/analysis/collective/match.h"
#include "tlmpi/analysis/collective/wait.h"
#include "tlmpi/analysis/rank/idle.h"
#include "tlmpi/analysis/rank/measured.h"
#include "tlmpi/analysis/rank/time.h"
#include "tlmpi/analysis/rank/work.h"
#include "tlmpi/analysis/rank/work/pattern.h"
#include "tlmpi/analysis/registry.h"
#include "tlmpi/analysis/verdict/cause/culprit.h"
#include "tlmpi/model/blame_tables.h"
#include "tlmpi/model/coll_tables.h"
#include "tlmpi/model/culprit_table.h"
#include "tlmpi/model/health_table.h"
#include "tlmpi/model/idle_tables.h"
#include "tlmpi/model/parameters.h"
#include "tlmpi/model/path_tables.h"
#include "tlmpi/model/phase_tables.h"
#include "tlmpi/model/side_table.h"
#include "tlmpi/model/tables.h"
#include "tlmpi/model/tree_table.h"
#include <string.h>

const tl_analysis *const tl_analyses[] = {
    &tl_step_analysis,
    &tl_breakdown_analysis,
    &tl_arrival_analysis,
    &tl_group_analysis,
    &tl_exposed_analysis, /* needs groups and breakdown */
    &tl_bandwidth_analysis,
    &tl_quality_analysis,
    &tl_idle_analysis,
    &tl_stream_idle_analysis,
    &tl_kernel_analysis,
    &tl_operator_analysis,
    &tl_operator_ranks_analysis, /* needs operators */
    &tl_annotation_device_analysis,
    &tl_tree_analysis,
    &tl_pattern_analysis,
    &tl_counter_analysis,
    &tl_memory_analysis,
    &tl_launch_analysis,
    &tl_queue_analysis,
    &tl_copy_analysis,
    &tl_series_analysis,
    &tl_interval_analysis,
    &tl_culprit_analysis, /* reads what the others have reduced */
    NULL,
};

/* In the order of the lists that users read. */
static const tl_schema *const schemas[] = {
    &tl_culprit_schema,
    &tl_straggler_schema,
    &tl_excess_row_schema,
    &tl_whatif_row_schema,
    &tl_blame_schema,
    &tl_blame_step_schema,
    &tl_slow_link_row_schema,
    &tl_path_row_schema,
    &tl_breakdown_schema,
    &tl_step_schema,
    &tl_path_sum_schema,
    &tl_rank_path_row_schema,
    &tl_kernel_ranks_schema,
    &tl_kernel_row_schema,
    &tl_operator_ranks_schema,
    &tl_operator_row_schema,
    &tl_annotation_ranks_schema,
    &tl_annotation_row_schema,
    &tl_annotation_device_schema,
    &tl_call_tree_schema,
    &tl_launch_row_schema,
    &tl_queue_row_schema,
    &tl_copy_row_schema,
    &tl_pattern_row_schema,
    &tl_counter_row_schema,
    &tl_memory_row_schema,
    &tl_interval_schema,
    &tl_series_row_schema,
    &tl_idle_summary_schema,
    &tl_idle_schema,
    &tl_gap_schema,
    &tl_gap_peer_schema,
    &tl_idle_annotation_schema,
    &tl_stream_idle_schema,
    &tl_exposed_schema,
    &tl_bandwidth_schema,
    &tl_collective_row_schema,
    &tl_arrival_schema,
    &tl_group_row_schema,
    &tl_health_schema,
    &tl_rank_schema,
    &tl_clock_schema,
    &tl_quality_schema,
    &tl_parameter_schema,
    &tl_phase_verdict_schema,
    &tl_phase_schema,
    &tl_phase_step_schema,
    &tl_side_file_schema,
    &tl_memory_category_schema,
    &tl_memory_timeline_schema,
    &tl_execution_node_schema,
};

/* What tables are about, from the first one on. */
static const struct {
    const tl_schema *first;
    const char *about;
} subjects[] = {
    { &tl_culprit_schema, "verdict" },       { &tl_breakdown_schema, "time" },
    { &tl_kernel_ranks_schema, "work" },     { &tl_idle_summary_schema, "idle" },
    { &tl_exposed_schema, "communication" }, { &tl_health_schema, "quality" },
    { &tl_phase_verdict_schema, "phases" },  { &tl_side_file_schema, "side files" },
};

const tl_schema *const *tl_all_schemas(size_t *n)
{
    *n = sizeof schemas / sizeof schemas[0];
    return schemas;
}

const char *tl_table_about(const char *name, size_t *place)
{
    size_t subject = 0;
    for (size_t i = 0; i < sizeof schemas / sizeof schemas[0]; i++) {
        size_t n = strlen(schemas[i]->name);
        if (subject + 1 < sizeof subjects / sizeof subjects[0] && schemas[i] == subjects[subject + 1].first)
            subject++;
        if (strncmp(schemas[i]->name, name, n) != 0 || (name[n] != '\0' && strcmp(name + n, "_index") != 0))
            continue;
        *place = i;
        return subjects[subject].about;
    }
    *place = SIZE_MAX;
    return "";
}

const tl_schema *tl_rare_schema(const char *name)
{
    for (size_t i = 0; i < sizeof schemas / sizeof schemas[0]; i++)
        if (schemas[i]->rare && strcmp(schemas[i]->name, name) == 0)
            return schemas[i];
    return NULL;
}
