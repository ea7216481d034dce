/* rows.c - the rows of table clock. */
#include "tlmpi/analysis/collective/clock.h"
#include "tlmpi/model/coll_tables.h"
#include "tlmpi/model/tables.h"
#include <string.h>

void tl_clock_rows_begin(const tl_rank_clock *rank_clocks, size_t nrank_clocks, const tl_table *ranks, tl_table *table)
{
    const tl_rank *row = (const tl_rank *)(const void *)ranks->rows;
    for (size_t i = 0; i < nrank_clocks; i++, row++) {
        while (row->rank != rank_clocks[i].rank)
            row++;
        tl_clock *clock = tl_table_add(table);
        clock->rank = row->rank;
        memcpy(clock->host, row->host, sizeof clock->host);
    }
}

void tl_clock_rows_fill(const tl_rank_clock *rank_clocks, size_t nrank_clocks, const tl_clock_end *ends, size_t nends,
                        tl_table *table)
{
    for (size_t i = 0; i < nrank_clocks; i++) {
        tl_clock *row = tl_table_row(table, i);
        row->clock = rank_clocks[i].clock;
        row->component = rank_clocks[i].component;
        row->offset_ns = rank_clocks[i].offset_ns;
        row->drift_ppb = rank_clocks[i].drift_ppb;
        row->step_ns = rank_clocks[i].step_ns;
        row->applied = rank_clocks[i].applied;
        row->sigma_ns = rank_clocks[i].sigma_ns < INT64_MAX ? rank_clocks[i].sigma_ns : -1;
    }
    for (size_t i = 0; i < nends; i++) {
        size_t at = tl_table_from_rank(table, ends[i].rank);
        tl_clock *row = at < table->n ? tl_table_row(table, at) : NULL;
        if (row != NULL && row->rank == ends[i].rank)
            row->anchors += ends[i].n;
    }
}
