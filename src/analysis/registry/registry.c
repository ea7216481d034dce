/* registry.c - the list.  A new analysis is one line in each of the two. */
#include "tlmpi/analysis/registry.h"
#include "tlmpi/analysis/culprit.h"
#include "tlmpi/analysis/idle.h"
#include "tlmpi/analysis/match.h"
#include "tlmpi/analysis/measured.h"
#include "tlmpi/analysis/pattern.h"
#include "tlmpi/analysis/time.h"
#include "tlmpi/analysis/wait.h"
#include "tlmpi/analysis/work.h"
#include "tlmpi/model/blame_tables.h"
#include "tlmpi/model/coll_tables.h"
#include "tlmpi/model/culprit_table.h"
#include "tlmpi/model/health_table.h"
#include "tlmpi/model/idle_tables.h"
#include "tlmpi/model/parameters.h"
#include "tlmpi/model/path_tables.h"
#include "tlmpi/model/phase_tables.h"
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

/* Each table and what it is about, in the order of the lists that users read. */
#define TABLES(T)                                                                                                      \
    T(tl_culprit_schema, "verdict")                                                                                    \
    T(tl_straggler_schema, "verdict")                                                                                  \
    T(tl_excess_row_schema, "verdict")                                                                                 \
    T(tl_whatif_row_schema, "verdict")                                                                                 \
    T(tl_blame_schema, "verdict")                                                                                      \
    T(tl_blame_step_schema, "verdict")                                                                                 \
    T(tl_slow_link_row_schema, "verdict")                                                                              \
    T(tl_path_row_schema, "verdict")                                                                                   \
    T(tl_breakdown_schema, "time")                                                                                     \
    T(tl_step_schema, "time")                                                                                          \
    T(tl_path_sum_schema, "time")                                                                                      \
    T(tl_mix_schema, "time")                                                                                           \
    T(tl_rank_path_row_schema, "time")                                                                                 \
    T(tl_kernel_ranks_schema, "work")                                                                                  \
    T(tl_kernel_row_schema, "work")                                                                                    \
    T(tl_operator_ranks_schema, "work")                                                                                \
    T(tl_operator_row_schema, "work")                                                                                  \
    T(tl_annotation_ranks_schema, "work")                                                                              \
    T(tl_annotation_row_schema, "work")                                                                                \
    T(tl_annotation_device_schema, "work")                                                                             \
    T(tl_call_tree_schema, "work")                                                                                     \
    T(tl_launch_row_schema, "work")                                                                                    \
    T(tl_launch_step_schema, "work")                                                                                   \
    T(tl_queue_row_schema, "work")                                                                                     \
    T(tl_copy_row_schema, "work")                                                                                      \
    T(tl_pattern_row_schema, "work")                                                                                   \
    T(tl_counter_row_schema, "work")                                                                                   \
    T(tl_memory_row_schema, "work")                                                                                    \
    T(tl_interval_schema, "work")                                                                                      \
    T(tl_series_row_schema, "work")                                                                                    \
    T(tl_idle_summary_schema, "idle")                                                                                  \
    T(tl_idle_schema, "idle")                                                                                          \
    T(tl_gap_schema, "idle")                                                                                           \
    T(tl_gap_peer_schema, "idle")                                                                                      \
    T(tl_idle_annotation_schema, "idle")                                                                               \
    T(tl_stream_idle_schema, "idle")                                                                                   \
    T(tl_exposed_schema, "communication")                                                                              \
    T(tl_bandwidth_schema, "communication")                                                                            \
    T(tl_collective_row_schema, "communication")                                                                       \
    T(tl_arrival_schema, "communication")                                                                              \
    T(tl_group_row_schema, "communication")                                                                            \
    T(tl_bubble_schema, "communication")                                                                               \
    T(tl_health_schema, "quality")                                                                                     \
    T(tl_rank_schema, "quality")                                                                                       \
    T(tl_clock_schema, "quality")                                                                                      \
    T(tl_quality_schema, "quality")                                                                                    \
    T(tl_parameter_schema, "quality")                                                                                  \
    T(tl_phase_verdict_schema, "phases")                                                                               \
    T(tl_phase_schema, "phases")                                                                                       \
    T(tl_phase_step_schema, "phases")                                                                                  \
    T(tl_phase_file_schema, "phases")                                                                                  \
    T(tl_memory_file_schema, "side files")                                                                             \
    T(tl_memory_category_schema, "side files")                                                                         \
    T(tl_memory_timeline_schema, "side files")                                                                         \
    T(tl_execution_trace_schema, "side files")                                                                         \
    T(tl_execution_node_schema, "side files")

#define SCHEMA(schema, about) &(schema),
#define ABOUT(schema, about)  about,

static const tl_schema *const schemas[] = { TABLES(SCHEMA) };
static const char *const about[] = { TABLES(ABOUT) };

const tl_schema *const *tl_all_schemas(size_t *n)
{
    *n = sizeof schemas / sizeof schemas[0];
    return schemas;
}

const char *tl_table_about(const char *name, size_t *place)
{
    for (size_t i = 0; i < sizeof schemas / sizeof schemas[0]; i++) {
        size_t n = strlen(schemas[i]->name);
        if (strncmp(schemas[i]->name, name, n) != 0 || (name[n] != '\0' && strcmp(name + n, "_index") != 0))
            continue;
        *place = i;
        return about[i];
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
