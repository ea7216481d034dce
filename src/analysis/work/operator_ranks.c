/* operator_ranks.c - which operators and annotations take the time over all ranks, and on which rank the longest? */
#include "internal.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

_Static_assert(sizeof(tl_operator_row) == sizeof(tl_annotation_row) &&
                   sizeof(tl_operator_ranks) == sizeof(tl_annotation_ranks),
               "the same columns");

static void add_sum(void *arg, const tl_over_ranks *of, tl_table *out)
{
    const int64_t *all_ns = arg;
    const tl_operator_row *first = of->rows[0].row, *most = first;
    double host_ns = 0;
    tl_operator_ranks *sum = tl_table_add(out);

    *sum = (tl_operator_ranks){ .name = first->name, TL_OF_ALL_RANKS(of) };
    for (int32_t i = 0; i < of->ranks; i++) {
        const tl_operator_row *row = of->rows[i].row;
        sum->host_ns = tl_ns_add(sum->host_ns, row->host_ns);
        sum->device_ns = tl_ns_add(sum->device_ns, row->device_ns);
        sum->device_self_ns = tl_ns_add(sum->device_self_ns, row->device_self_ns);
        host_ns += row->count > 0 ? row->mean_ns * (double)row->count : 0;
        most = row->device_ns > most->device_ns ? row : most;
    }
    sum->mean_ns = sum->count > 0 ? host_ns / (double)sum->count : NAN;
    sum->share = *all_ns > 0 ? (double)sum->device_ns / (double)*all_ns : NAN;
    sum->most_rank = most->rank;
    memcpy(sum->apart_ranks, of->outlier_ranks, sizeof sum->apart_ranks);
}

/* Fills the table over ranks of operators or of annotations. */
static void fill_table(const tl_table *from, const tl_names *names, tl_table *to)
{
    tl_named_row *rows = tl_malloc((from->n + 1) * sizeof *rows);
    int64_t all_ns = 0;
    size_t n = 0;

    TL_ROWS (const tl_operator_row, row, from) {
        all_ns = tl_ns_add(all_ns, row->device_self_ns);
        rows[n++] = (tl_named_row){ row, row->name, row->rank, 0, row->count, row->mean_ns, row->std_ns };
    }
    tl_over_ranks_each(rows, n, add_sum, &all_ns, to);
    tl_rows_sort_and_number(to, 0, names, "device_ns", "host_ns");
    free(rows);
}

static void operator_ranks_reduce(tl_tables *job)
{
    fill_table(tl_tables_get(job, &tl_operator_row_schema), job->names, tl_tables_get(job, &tl_operator_ranks_schema));
    fill_table(tl_tables_get(job, &tl_annotation_row_schema), job->names,
               tl_tables_get(job, &tl_annotation_ranks_schema));
}

TL_TABLE_DEFINE(annotation_ranks, TL_HOST_WORK_RANKS_FIELDS, TL_SCOPE_JOB, "user annotations over all ranks",
                "Which user annotations take the time over all ranks, and on which rank do they take longest?");

const tl_analysis tl_operator_ranks_analysis = { .reduce = operator_ranks_reduce };
