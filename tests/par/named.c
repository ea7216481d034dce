/* named.c - tlmpi with tables of every scope but EVENT that name what ran: the registry of the program, and they.
 *
 *     named_rank, named_collective, named_job     what a rank has counted; rows travel as those of the scope do
 *     named_sum                                   what proc 0 makes of named_rank, and a name of its own
 *
 * golden/names.py looks at what comes of them.
 */
#include "tlmpi/analysis/rank/time.h"
#include "tlmpi/base/mem.h"
#include "tlmpi/model/tables.h"
#include <stdlib.h>

#define NAMED_FIELDS(F, T)                                                                                             \
    F(T, I32, rank, KEY, "", "traced rank; -1: sum over all ranks")                                                    \
    F(T, I32, host, KEY, "", "1: operators; 0: device work, without a name waits")                                     \
    F(T, NAME, name, KEY, "", "name")                                                                                  \
    F(T, I64, count, MEASURE, "", "how many")                                                                          \
    F(T, I64, total_ns, MEASURE, "ns", "their durations")
TL_TABLE(named, NAMED_FIELDS);
static const tl_field fields[] = { NAMED_FIELDS(TL_FIELD_ENTRY, tl_named) };

#define NAMED(word, scope)                                                                                             \
    {                                                                                                                  \
        word, "names", "what was how often?", scope, fields, sizeof fields / sizeof fields[0], sizeof(tl_named), false \
    }
static const tl_schema rank_schema = NAMED("named_rank", TL_SCOPE_RANK);
static const tl_schema collective_schema = NAMED("named_collective", TL_SCOPE_COLLECTIVE);
static const tl_schema job_schema = NAMED("named_job", TL_SCOPE_JOB);
static const tl_schema sum_schema = NAMED("named_sum", TL_SCOPE_JOB);
static const tl_schema *const tables[] = { &rank_schema, &collective_schema, &job_schema, &sum_schema, NULL };

static void count(tl_named *row, int32_t rank, int32_t host, uint32_t name, int64_t n, int64_t ns)
{
    *row = (tl_named){ rank, host, name, row->count + n, row->total_ns + ns };
}

/* The rows that count anything, the last first: they are put in order when they are gathered. */
static void add_rows(tl_table *table, const tl_named *rows, size_t n)
{
    for (size_t i = n; i-- > 0;)
        if (rows[i].count != 0)
            tl_table_append(table, &rows[i], 1);
}

static void per_rank(const tl_rank_view *view, const tl_config *config, tl_tables *out)
{
    (void)config;
    size_t n = view->names->n;
    tl_named *rows = tl_calloc(2 * n + 1, sizeof *rows);

    for (size_t i = 0; i < view->nkernels; i++) {
        const tl_kernel *k = &view->kernels[i];
        count(&rows[k->name], view->rank, 0, k->name, 1, k->end_ns - k->start_ns);
    }
    for (size_t i = 0; i < view->ops.n; i++)
        if (view->ops.kind[i] == TL_OP)
            count(&rows[n + view->ops.name[i]], view->rank, 1, view->ops.name[i], 1, view->ops.dur_ns[i]);
    count(&rows[2 * n], view->rank, 0, TL_NO_NAME, (int64_t)view->nsyncs, 0);
    for (size_t t = 0; tables[t] != &sum_schema; t++)
        add_rows(tl_tables_get(out, tables[t]), rows, 2 * n + 1);
    free(rows);
}

static void reduce(tl_tables *job)
{
    static const char whole[] = "all of the job";
    const tl_table *ranks = tl_tables_get(job, &rank_schema);
    uint32_t all = tl_names_intern(job->names, whole, sizeof whole - 1);
    size_t n = job->names->n;
    tl_named *rows = tl_calloc(2 * n, sizeof *rows);

    for (size_t i = 0; i < ranks->n; i++) {
        const tl_named *r = tl_table_row(ranks, i);
        if (r->name != TL_NO_NAME)
            count(&rows[r->host ? n + r->name : r->name], -1, r->host, r->name, r->count, r->total_ns);
        count(&rows[all], -1, 0, all, r->count, r->total_ns);
    }
    tl_table *sums = tl_tables_get(job, &sum_schema);
    add_rows(sums, rows, 2 * n);
    tl_table_sort(sums);
    free(rows);
}

static const tl_analysis named_analysis = { .needs = TL_NEEDS_HOST, .per_rank = per_rank, .reduce = reduce };

/* The list of the program, each of its two with more in it: before event tables, whose names come first in /names
 * nevertheless. */
#define tl_step_analysis tl_step_analysis, &named_analysis
#define tl_step_schema   tl_step_schema, &rank_schema, &collective_schema, &job_schema, &sum_schema
#include "../../src/analysis/registry/registry.c"
