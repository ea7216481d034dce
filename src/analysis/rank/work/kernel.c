/* kernel.c - the device time of each kernel name, on each rank and over all; and the device time of user annotations.
 *
 *     device   [ a ][  b  ][ a ]..[b]        a: 2 kernels, b: 2; rows in order of total time
 *
 *     host     [forward ]
 *     stream        [ k ]..[ l ]
 *                   [forward   ]             range that the profiler writes: includes the wait between kernels
 */
#include "internal.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

static void kernel_per_rank(const tl_rank_view *view, const tl_config *config, tl_tables *out)
{
    tl_table *table = tl_tables_get(out, &tl_kernel_row_schema);
    size_t from = table->n, n = view->nkernels;
    tl_arena arena = { 0 };
    tl_map map = { 0 };           /* (name, kind) -> group */
    TL_VEC(uint32_t) one = { 0 }; /* by group: one of its kernels */
    uint32_t *group_of = tl_arena_take(&arena, n, sizeof *group_of), *order = tl_arena_take(&arena, n, sizeof *order);
    int64_t *ns = tl_arena_take(&arena, n, sizeof *ns), all_ns = 0;
    (void)config;

    for (uint32_t i = 0; i < n; i++) {
        const tl_kernel *k = &view->kernels[i];
        uint64_t key = (uint64_t)k->name * TL_NKINDS + k->kind;
        group_of[i] = tl_map_number(&map, key, one.n);
        all_ns = tl_ns_add(all_ns, k->end_ns - k->start_ns);
        if (group_of[i] == one.n)
            tl_vec_push(&one, i);
    }
    size_t *first = tl_arena_take(&arena, one.n + 1, sizeof *first);
    tl_group_rows(group_of, n, one.n, first, order);
    for (size_t i = 0; i < n; i++)
        ns[i] = view->kernels[order[i]].end_ns - view->kernels[order[i]].start_ns;
    tl_table_reserve(table, one.n);
    for (size_t g = 0; g < one.n; g++) {
        const tl_kernel *k = &view->kernels[one.v[g]];
        const tl_spread d = tl_spread_of(ns + first[g], first[g + 1] - first[g]);
        *(tl_kernel_row *)tl_table_add(table) =
            (tl_kernel_row){ .rank = view->rank,
                             .name = k->name,
                             .kind = k->kind,
                             .unclassified = k->unclassified,
                             .count = (int64_t)(first[g + 1] - first[g]),
                             .total_ns = d.total,
                             .mean_ns = d.mean,
                             .std_ns = d.std,
                             .min_ns = d.min,
                             .p25_ns = d.p25,
                             .median_ns = d.median,
                             .p75_ns = d.p75,
                             .max_ns = d.max,
                             .share = all_ns > 0 ? (double)d.total / (double)all_ns : NAN };
    }
    tl_rows_sort_and_number(table, from, view->names, "total_ns", NULL);
    free(one.v);
    tl_map_free(&map);
    tl_arena_free(&arena);
}

static void add_sum(void *arg, const tl_over_ranks *of, tl_table *out)
{
    const int64_t *all_ns = arg;
    const tl_kernel_row *first = of->rows[0].row;
    tl_kernel_ranks *sum = tl_table_add(out);

    *sum = (tl_kernel_ranks){
        .name = first->name,           .kind = first->kind,       .unclassified = first->unclassified,
        .fastest_rank = of->fastest_rank, .fastest_ns = of->fastest_ns, TL_OF_ALL_RANKS(of)
    };
    for (int32_t i = 0; i < of->ranks; i++)
        sum->total_ns = tl_ns_add(sum->total_ns, ((const tl_kernel_row *)of->rows[i].row)->total_ns);
    sum->mean_ns = (double)sum->total_ns / (double)sum->count;
    sum->share = *all_ns > 0 ? (double)sum->total_ns / (double)*all_ns : NAN;
    memcpy(sum->apart_ranks, of->outlier_ranks, sizeof sum->apart_ranks);
}

static void kernel_reduce(tl_tables *job)
{
    const tl_table *kernels = tl_tables_get(job, &tl_kernel_row_schema);
    tl_table *out = tl_tables_get(job, &tl_kernel_ranks_schema);
    tl_named_row *rows = tl_malloc((kernels->n + 1) * sizeof *rows);
    int64_t all_ns = 0;
    size_t n = 0;

    TL_ROWS (const tl_kernel_row, row, kernels) {
        all_ns = tl_ns_add(all_ns, row->total_ns);
        rows[n++] = (tl_named_row){ row, row->name, row->rank, row->kind, row->count, row->mean_ns, row->std_ns };
    }
    tl_over_ranks_each(rows, n, add_sum, &all_ns, out);
    tl_rows_sort_and_number(out, 0, job->names, "total_ns", NULL);
    free(rows);
}

TL_TABLE_DEFINE_AS(kernel_row, "kernel", TL_KERNEL_FIELDS, TL_SCOPE_RANK, "device work by name",
                   "Which kernels take the time on a rank, and how long do they take?");

const tl_analysis tl_kernel_analysis = { .per_rank = kernel_per_rank, .reduce = kernel_reduce };

TL_ORDER_BY(by_name, tl_device_range, name)

static void annotation_device_per_rank(const tl_rank_view *view, const tl_config *config, tl_tables *out)
{
    tl_table *table = tl_tables_get(out, &tl_annotation_device_schema);
    size_t first = table->n, n = view->nranges;
    uint32_t *order = tl_sorted_index(n, by_name, view->ranges);
    int64_t *ns = tl_malloc((n + 1) * sizeof *ns);
    (void)config;

    TL_GROUPS (from, to, order, n, by_name, view->ranges) {
        for (size_t i = from; i < to; i++)
            ns[i - from] = view->ranges[order[i]].dur_ns;
        const tl_spread d = tl_spread_of(ns, to - from);
        *(tl_annotation_device *)tl_table_add(table) = (tl_annotation_device){ .rank = view->rank,
                                                                               .count = (int64_t)(to - from),
                                                                               .total_ns = d.total,
                                                                               .std_ns = d.std,
                                                                               .min_ns = d.min,
                                                                               .max_ns = d.max,
                                                                               .name = view->ranges[order[from]].name };
    }
    tl_rows_sort_and_number(table, first, view->names, "total_ns", NULL);
    free(order);
    free(ns);
}

TL_TABLE_DEFINE(annotation_device, TL_ANNOTATION_DEVICE_FIELDS, TL_SCOPE_RANK, "user annotations on the device",
                "How long did the device take for what each user annotation launched, as the profiler mirrors it?");

const tl_analysis tl_annotation_device_analysis = { .per_rank = annotation_device_per_rank };
