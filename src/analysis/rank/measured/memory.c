/* memory.c - how much memory did a rank have?
 *
 *     allocated     ____/^^^^\__/^^\____
 *                   |   |          |
 *               first   peak    last         of each device, and of the host
 */
#include "enclosing_ops.h"
#include "tlmpi/analysis/rank/measured.h"
#include "tlmpi/base/stats.h"
#include "tlmpi/model/work_tables.h"
#include <stdlib.h>

/* Returns the row of a device from its n events; *peak: the instant of its peak. */
static tl_memory_row sum_up(const tl_rank_view *view, const tl_memory *v, size_t n, tl_instant *peak)
{
    tl_memory_row row = { .rank = view->rank,
                          .device = v->device,
                          .events = (int64_t)n,
                          .first_bytes = -1,
                          .peak_bytes = -1,
                          .last_bytes = -1,
                          .reserved_bytes = -1,
                          .peak_ns = TL_TIME_UNKNOWN,
                          .peak_step = -1 };

    for (size_t i = 0; i < n; i++) {
        row.reserved_bytes = tl_ns_max(row.reserved_bytes, v[i].reserved);
        if (v[i].allocated < 0)
            continue;
        row.first_bytes = row.first_bytes < 0 ? v[i].allocated : row.first_bytes;
        row.last_bytes = v[i].allocated;
        if (v[i].allocated <= row.peak_bytes)
            continue;
        row.peak_bytes = v[i].allocated;
        row.peak_ns = v[i].at_ns;
        row.peak_step = tl_step_at(view->steps, view->nsteps, v[i].at_ns);
        *peak = (tl_instant){ .at_ns = v[i].at_ns, .until_ns = v[i].at_ns, .track = v[i].track };
    }
    return row;
}

static void add_rows(const tl_rank_view *view, tl_table *table)
{
    TL_VEC(tl_instant) peaks = { 0 };

    for (size_t i = 0, n; i < view->nmemory; i += n) {
        for (n = 1; i + n < view->nmemory && view->memory[i + n].device == view->memory[i].device; n++)
            ;
        tl_vec_push(&peaks, (tl_instant){ .track = TL_NONE });
        const tl_memory_row row = sum_up(view, view->memory + i, n, &peaks.v[peaks.n - 1]);
        tl_table_append(table, &row, 1);
    }
    tl_instants_find_ops(view, NULL, peaks.v, peaks.n, NULL);
    for (size_t i = 0; i < peaks.n; i++) {
        tl_memory_row *row = tl_table_row(table, i);
        row->peak_operator = tl_op_name(view, peaks.v[i].op);
        row->peak_annotation = tl_op_name(view, peaks.v[i].annotation);
    }
    free(peaks.v);
}

/* Adds each event, with the ops around it, three times: rows are sorted by quantity. */
static void add_series(const tl_rank_view *view, tl_table *table)
{
    tl_instant *around = tl_malloc(view->nmemory * sizeof *around);

    for (size_t i = 0; i < view->nmemory; i++)
        around[i] = (tl_instant){ .at_ns = view->memory[i].at_ns,
                                  .until_ns = view->memory[i].at_ns,
                                  .track = view->memory[i].track };
    tl_instants_find_ops(view, NULL, around, view->nmemory, NULL);
    for (int what = TL_SERIES_MEMORY_GIVEN; what <= TL_SERIES_MEMORY_RESERVED; what++)
        for (size_t i = 0; i < view->nmemory; i++) {
            const tl_memory *m = &view->memory[i], *before = i > 0 && m[-1].device == m->device ? m - 1 : NULL;
            int64_t changed =
                before != NULL && before->allocated >= 0 && m->allocated >= 0 ? m->allocated - before->allocated : 0;
            int64_t value = what == TL_SERIES_MEMORY_RESERVED    ? m->reserved
                            : what == TL_SERIES_MEMORY_ALLOCATED ? m->allocated
                            : m->bytes != INT64_MIN              ? m->bytes
                                                                 : changed;
            const tl_series_row row = { .rank = view->rank,
                                        .what = (uint8_t)what,
                                        .device = m->device,
                                        .stream = -1,
                                        .name = TL_NO_NAME,
                                        .time_ns = m->at_ns,
                                        .value = (double)value,
                                        .step = tl_step_at(view->steps, view->nsteps, m->at_ns),
                                        .operator= tl_op_name(view, around[i].op),
                                        .annotation = tl_op_name(view, around[i].annotation) };
            if (what == TL_SERIES_MEMORY_GIVEN || value >= 0)
                tl_table_append(table, &row, 1);
        }
    free(around);
}

static void memory_per_rank(const tl_rank_view *view, const tl_config *config, tl_tables *out)
{
    add_rows(view, tl_tables_get(out, &tl_memory_row_schema));
    if (config->series && view->nmemory > 0)
        add_series(view, tl_tables_get(out, &tl_series_row_schema));
}

TL_TABLE_DEFINE_RARE_AS(memory_row, "memory", TL_MEMORY_FIELDS, TL_SCOPE_RANK, "memory of devices",
                        "How much memory did a rank have at most, and in which operator?");

const tl_analysis tl_memory_analysis = { .needs = TL_NEEDS_HOST, .per_rank = memory_per_rank };

/* -------------------------------------------------------------------------------------------------------- timelines */

/* What takes the memory of a rank, by category, at the peak and over time?
 *
 *     activation    ______/^^^^\___/^^\__
 *     parameter     ^^^^^^^^^^^^^^^^^^^^^^
 *     total         ^^^^^^/^^^^\^^^/^^\^^      peak: the first time that the total is largest
 */

void tl_memory_peaks_begin(tl_memory_category rows[TL_MEMORY_KINDS], int32_t file, int32_t rank)
{
    for (int i = 0; i < TL_MEMORY_KINDS; i++)
        rows[i] = (tl_memory_category){
            .file = file, .category = (uint8_t)i, .rank = rank, .peak_bytes = INT64_MIN, .peak_ns = TL_TIME_UNKNOWN
        };
}

void tl_memory_peaks_add(tl_memory_category rows[TL_MEMORY_KINDS], int64_t time_ns,
                         const int64_t bytes[TL_MEMORY_KINDS])
{
    bool peak = bytes[TL_MEMORY_KINDS - 1] > rows[TL_MEMORY_KINDS - 1].peak_bytes;

    for (int i = 0; i < TL_MEMORY_KINDS; i++) {
        rows[i].last_bytes = bytes[i];
        rows[i].first_bytes = time_ns < 0 ? bytes[i] : rows[i].first_bytes;
        rows[i].at_peak_bytes = peak ? bytes[i] : rows[i].at_peak_bytes;
        if (bytes[i] <= rows[i].peak_bytes)
            continue;
        rows[i].peak_bytes = bytes[i];
        rows[i].peak_ns = time_ns;
    }
}

TL_TABLE_DEFINE_RARE(memory_category, TL_MEMORY_CATEGORY_FIELDS, TL_SCOPE_JOB, "memory by category",
                     "What takes the memory: parameters, activations, gradients ..., at most and at the peak?");

TL_TABLE_DEFINE_RARE(memory_timeline, TL_MEMORY_TIMELINE_FIELDS, TL_SCOPE_JOB, "memory by category over time",
                     "How much memory did each category have at each time?");
