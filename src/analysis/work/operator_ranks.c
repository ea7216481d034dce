/* operator_ranks.c - which operators and annotations take the time over all ranks, and on which rank do they take longest? */
#include "over_ranks.h"
#include "tlmpi/analysis/work.h"
#include "tlmpi/base/quantile.h"
#include "tlmpi/base/stats.h"
#include <math.h>
#include <string.h>

_Static_assert(sizeof(tl_operator_row) == sizeof(tl_annotation_row) &&
                   sizeof(tl_operator_ranks) == sizeof(tl_annotation_ranks),
               "the same columns");

static void add_sum(void *arg, const tl_over_ranks *of, tl_table *out)
{
    const int64_t *all_ns = arg;
    const tl_operator_row *first = of->rows[0], *most = first;
    double host_ns = 0;
    tl_operator_ranks *sum = tl_table_add(out);

    *sum = (tl_operator_ranks){ .name = first->name, TL_OF_ALL_RANKS(of) };
    for (int32_t i = 0; i < of->ranks; i++) {
        const tl_operator_row *row = of->rows[i];
        sum->host_ns = tl_ns_add(sum->host_ns, row->host_ns);
        sum->device_ns = tl_ns_add(sum->device_ns, row->device_ns);
        sum->device_self_ns = tl_ns_add(sum->device_self_ns, row->device_self_ns);
        host_ns += row->count > 0 ? row->mean_ns * (double)row->count : 0;
        most = row->device_ns > most->device_ns ? row : most;
        of->room[i] = row->device_ns;
    }
    sum->mean_ns = sum->count > 0 ? host_ns / (double)sum->count : NAN;
    sum->share = *all_ns > 0 ? (double)sum->device_ns / (double)*all_ns : NAN;
    sum->median_device_ns = tl_lower_median(of->room, (size_t)of->ranks);
    sum->most_rank = most->rank;
    sum->most_device_ns = most->device_ns;
    sum->std_rank_ns = of->std_ns;
    sum->apart = of->apart;
    memcpy(sum->apart_ranks, of->apart_ranks, sizeof sum->apart_ranks);
}

static void tabulate(tl_tables *job, const tl_schema *from, const tl_schema *to)
{
    static const char *const measures[] = { "device_ns", "host_ns", NULL };
    const tl_table *rows = tl_tables_get(job, from);
    int64_t all_ns = 0;

    for (size_t i = 0; i < rows->n; i++)
        all_ns = tl_ns_add(all_ns, ((const tl_operator_row *)tl_table_row(rows, i))->device_self_ns);
    tl_over_ranks_add(rows, job->names, add_sum, &all_ns, measures, tl_tables_get(job, to));
}

static void operator_ranks_reduce(tl_tables *job)
{
    tabulate(job, &tl_operator_row_schema, &tl_operator_ranks_schema);
    tabulate(job, &tl_annotation_row_schema, &tl_annotation_ranks_schema);
}

TL_TABLE_DEFINE(operator_ranks, TL_HOST_WORK_RANKS_FIELDS, TL_SCOPE_JOB, "operators of the host over all ranks",
                "Which operators take the time over all ranks, and on which rank do they take longest?");
TL_TABLE_DEFINE(annotation_ranks, TL_HOST_WORK_RANKS_FIELDS, TL_SCOPE_JOB, "user annotations over all ranks",
                "Which user annotations take the time over all ranks, and on which rank do they take longest?");

static const tl_schema *const tables[] = { &tl_operator_ranks_schema, &tl_annotation_ranks_schema, NULL };

const tl_analysis tl_operator_ranks_analysis = {
    .name = "operator_ranks",
    .question = "Which operators and annotations take the time over all ranks?",
    .tables = tables,
    .reduce = operator_ranks_reduce,
};
