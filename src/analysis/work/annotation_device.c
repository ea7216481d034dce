/* annotation_device.c - how long did devices take for what user annotations launched?
 *
 *     host     [forward ]
 *     stream        [ k ]..[ l ]
 *                   [forward   ]      a range, which the profiler writes: the wait in it counts, too
 */
#include "places.h"
#include "tlmpi/analysis/work.h"
#include "tlmpi/base/group.h"
#include "tlmpi/base/stats.h"
#include <stdlib.h>

static int by_name(const void *ranges, uint32_t a, uint32_t b)
{
    const tl_device_range *v = ranges;
    return TL_COMPARE(v[a].name, v[b].name);
}

/* The n ranges of one name; room for n durations. */
static void add_row(const tl_rank_view *view, const uint32_t *order, size_t n, int64_t *ns, tl_table *table)
{
    tl_annotation_device *row = tl_table_add(table);

    for (size_t i = 0; i < n; i++)
        ns[i] = view->ranges[order[i]].dur_ns;
    const tl_spread d = tl_spread_of(ns, n);
    *row = (tl_annotation_device){ .rank = view->rank,
                                   .count = (int64_t)n,
                                   .total_ns = d.total,
                                   .std_ns = d.std,
                                   .min_ns = d.min,
                                   .max_ns = d.max,
                                   .name = view->ranges[order[0]].name };
}

static void add_rows(const tl_rank_view *view, tl_arena *arena, tl_table *table)
{
    static const char *const measures[] = { "total_ns", NULL };
    size_t first = table->n, n = view->nranges;
    uint32_t *order = tl_sorted_index(n, by_name, view->ranges);
    int64_t *ns = tl_arena_take(arena, n, sizeof *ns);

    for (size_t from = 0, to; from < n; from = to) {
        to = tl_group_end(order, from, n, by_name, view->ranges);
        add_row(view, order + from, to - from, ns, table);
    }
    free(order);
    tl_places_number(table, first, view->names, measures);
}

static void annotation_device_per_rank(const tl_rank_view *view, const tl_config *config, tl_tables *out)
{
    tl_arena arena = { 0 };
    (void)config;
    if (view->nranges != 0)
        add_rows(view, &arena, tl_tables_get(out, &tl_annotation_device_schema));
    tl_arena_free(&arena);
}

TL_TABLE_DEFINE(annotation_device, TL_ANNOTATION_DEVICE_FIELDS, TL_SCOPE_RANK, "user annotations on the device",
                "How long did the device take for what each user annotation launched, as the profiler mirrors it?");

static const tl_schema *const tables[] = { &tl_annotation_device_schema, NULL };

const tl_analysis tl_annotation_device_analysis = {
    .name = "annotation_device",
    .question = "How long did devices take for what user annotations launched?",
    .tables = tables,
    .per_rank = annotation_device_per_rank,
};
