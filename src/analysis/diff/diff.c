/* diff.c - the comparison from its tables to its verdict. */
#include "internal.h"
#include "tlmpi/model/blame_tables.h"
#include "tlmpi/model/culprit_table.h"
#include "tlmpi/model/health_table.h"
#include "tlmpi/model/idle_tables.h"
#include "tlmpi/model/path_tables.h"
#include "tlmpi/model/work_tables.h"
#include <stdlib.h>

static const tl_schema *const tables[NTABLES] = {
    [TABLE_FOUND] = &tl_diff_found_schema,         [TABLE_RUN] = &tl_diff_run_schema,
    [TABLE_STEP] = &tl_diff_step_schema,           [TABLE_BREAKDOWN] = &tl_diff_breakdown_schema,
    [TABLE_KERNEL] = &tl_diff_kernel_schema,       [TABLE_OPERATOR] = &tl_diff_operator_schema,
    [TABLE_CALL_PATH] = &tl_diff_call_path_schema, [TABLE_COLLECTIVE] = &tl_diff_collective_schema,
    [TABLE_IDLE] = &tl_diff_idle_schema,
};

const tl_schema *const *tl_diff_schemas(size_t *n)
{
    *n = NTABLES;
    return tables;
}

const tl_schema *const *tl_diff_reads(size_t *n)
{
    static const tl_schema *const reads[] = {
        &tl_rank_schema,       &tl_step_schema,         &tl_health_schema,     &tl_breakdown_schema,
        &tl_exposed_schema,    &tl_group_row_schema,    &tl_blame_schema,      &tl_blame_step_schema,
        &tl_kernel_row_schema, &tl_operator_row_schema, &tl_copy_row_schema,   &tl_idle_summary_schema,
        &tl_culprit_schema,    &tl_path_sum_schema,     &tl_launch_row_schema,
    };
    *n = sizeof reads / sizeof reads[0];
    return reads;
}

tl_diff *tl_diff_new(const tl_diff_input *input)
{
    tl_diff *diff = tl_calloc(1, sizeof *diff);
    diff->input = *input;
    for (size_t i = 0; i < NTABLES; i++)
        diff->tables[i].schema = tables[i];
    tl_diff_sides_init(diff);
    return diff;
}

void tl_diff_free(tl_diff *diff)
{
    if (diff == NULL)
        return;
    for (size_t i = 0; i < NTABLES; i++)
        tl_table_free(&diff->tables[i]);
    for (int i = A; i <= B; i++) {
        tl_diff_side_free(&diff->side[i]);
        free(diff->stack[i].v);
    }
    for (int i = 0; i < NWORKS; i++)
        tl_diff_works_free(&diff->of[i]);
    TL_EACH (unit, u, diff->units) {
        free(u->ranks[A].v);
        free(u->ranks[B].v);
    }
    free(diff->units.v);
    TL_EACH (series, s, diff->series)
        free(s->step);
    free(diff->series.v);
    tl_map_free(&diff->series_of);
    tl_names_free(&diff->names);
    free(diff);
}

void tl_diff_compare(tl_diff *diff)
{
    tl_diff_steps(diff);
    tl_diff_read_works(diff);
    tl_diff_runs(diff);
    tl_diff_verdict(diff);
}

const tl_table *tl_diff_table(const tl_diff *diff, const tl_schema *schema)
{
    for (size_t i = 0; i < NTABLES; i++)
        if (tables[i] == schema)
            return &diff->tables[i];
    return NULL;
}

tl_text tl_diff_name(void *diff, uint32_t id)
{
    return tl_names_text(&((tl_diff *)diff)->names, id);
}

tl_diff_basis tl_diff_basis_of(const tl_diff *diff)
{
    return diff->basis;
}
