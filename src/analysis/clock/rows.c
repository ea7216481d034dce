/* rows.c - the rows of table clock. */
#include "tlmpi/analysis/clock.h"
#include "tlmpi/base/mem.h"
#include "tlmpi/base/quantile.h"
#include "tlmpi/base/sort.h"
#include "tlmpi/base/stats.h"
#include "tlmpi/model/coll_tables.h"
#include "tlmpi/model/tables.h"
#include <stdlib.h>
#include <string.h>

bool tl_clock_rows_begin(const tl_rank_clock *rank_clocks, size_t nrank_clocks, const tl_table *ranks, tl_table *table)
{
    const tl_rank *row = (const tl_rank *)(const void *)ranks->rows;
    for (size_t i = 0; i < nrank_clocks; i++, row++) {
        while (row->rank != rank_clocks[i].rank)
            row++;
        tl_clock *clock = tl_table_add(table);
        if (clock == NULL)
            return false;
        clock->rank = row->rank;
        memcpy(clock->host, row->host, sizeof clock->host);
    }
    return true;
}

void tl_clock_rows_launches(const tl_membership *memberships, size_t n, tl_table *table)
{
    for (size_t i = 0; i < n; i++) {
        const tl_membership *s = &memberships[i];
        size_t at = tl_table_from_rank(table, s->rank);
        tl_clock *row = at < table->n ? tl_table_row(table, at) : NULL;
        if (row == NULL || row->rank != s->rank)
            continue;
        row->before_launch += s->nbefore;
        row->before_launch_ns = tl_ns_max(row->before_launch_ns, s->before_ns);
    }
}

/* What the ends of the ranks of a clock leave open, in the middle; INT64_MAX: none tells. */
static int64_t sigma_of(const tl_table *rows, const tl_rank_clock *rank_clocks, size_t nrank_clocks, int32_t clock,
                        const int64_t *sigma, int64_t *room)
{
    size_t n = 0;
    for (size_t i = 0; i < nrank_clocks; i++)
        if (rank_clocks[i].clock == clock && ((const tl_clock *)tl_table_row(rows, i))->anchors > 0)
            room[n++] = sigma[i];
    return n > 0 ? tl_median(room, n) : INT64_MAX;
}

static int by_rank(const void *a, const void *b)
{
    const tl_clock_scatter *x = a, *y = b;
    return TL_COMPARE(x->rank, y->rank);
}

tl_status tl_clocks_fill(tl_clock_scatter *scatter, size_t n, tl_rank_clock *rank_clocks, size_t nrank_clocks,
                         tl_table *table, tl_error *err)
{
    tl_arena arena = { 0 };
    int64_t *sigma = tl_arena_zeroed(&arena, nrank_clocks, sizeof *sigma);
    int64_t *room = tl_arena_zeroed(&arena, nrank_clocks, sizeof *room);
    int64_t *of_clock = tl_arena_zeroed(&arena, nrank_clocks, sizeof *of_clock);

    if (arena.failed) {
        tl_arena_free(&arena);
        return tl_fail_memory(err, "the clocks");
    }
    if (n > 0)
        qsort(scatter, n, sizeof *scatter, by_rank);
    for (size_t i = 0, k = 0; i < nrank_clocks; i++) {
        tl_clock *row = tl_table_row(table, i);
        while (k < n && scatter[k].rank < rank_clocks[i].rank)
            k++;
        if (k < n && scatter[k].rank == rank_clocks[i].rank) {
            row->anchors = scatter[k].ends;
            sigma[i] = scatter[k].sigma_ns;
        }
    }
    for (size_t i = 0; i < nrank_clocks; i++) {
        size_t clock = (size_t)rank_clocks[i].clock;
        tl_clock *row = tl_table_row(table, i);
        if (i == 0 || of_clock[clock] == 0)
            of_clock[clock] =
                1 +
                tl_ns_min(sigma_of(table, rank_clocks, nrank_clocks, rank_clocks[i].clock, sigma, room), INT64_MAX - 1);
        row->clock = rank_clocks[i].clock;
        row->component = rank_clocks[i].component;
        row->offset_ns = rank_clocks[i].offset_ns;
        row->drift_ppb = rank_clocks[i].drift_ppb;
        row->applied = rank_clocks[i].applied;
        row->bound_ns = rank_clocks[i].sigma_ns < INT64_MAX ? rank_clocks[i].sigma_ns : -1;
        rank_clocks[i].sigma_ns = tl_ns_min(rank_clocks[i].sigma_ns, of_clock[clock] - 1);
        /* Ranks of nobody knows which host whose clocks are possible as recorded may well share one. */
        if (rank_clocks[i].host < 0 && !rank_clocks[i].applied)
            rank_clocks[i].sigma_ns = 0;
        row->sigma_ns = rank_clocks[i].sigma_ns < INT64_MAX - 1 ? rank_clocks[i].sigma_ns : -1;
    }
    tl_arena_free(&arena);
    return TL_OK;
}
