/* summary_tables.h - a summary of some tables; those that are not given are empty. */
#ifndef TESTS_UNIT_SUMMARY_TABLES_H
#define TESTS_UNIT_SUMMARY_TABLES_H

#include "tlmpi/report/summary.h"

static inline void print_tables(FILE *out, tl_summary s)
{
    const struct {
        const tl_table **table, empty;
    } all[] = { { &s.ranks, { .schema = &tl_rank_schema } },
                { &s.breakdown, { .schema = &tl_breakdown_schema } },
                { &s.steps, { .schema = &tl_step_schema } },
                { &s.idle, { .schema = &tl_idle_schema } },
                { &s.classes, { .schema = &tl_idle_summary_schema } },
                { &s.stragglers, { .schema = &tl_straggler_schema } },
                { &s.phases, { .schema = &tl_phase_schema } },
                { &s.memory, { .schema = &tl_memory_category_schema } },
                { &s.side_files, { .schema = &tl_side_file_schema } },
                { &s.kernels, { .schema = &tl_kernel_ranks_schema } } };
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
        if (*all[i].table == NULL)
            *all[i].table = &all[i].empty;
    tl_print_summary(out, &s);
}

#endif
