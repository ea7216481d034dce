/* exposed.c - of which groups and kinds is the communication that nothing hides, and how much of it is waiting?
 *
 *     compute    [=====]......[===]......
 *     tensor     ....[====]..............      exposed: 3, of tensor parallelism
 *     pipeline   ............[======]....      exposed: 4, of which the receiver waited 2
 */
#include "tlmpi/analysis/wait.h"
#include "tlmpi/base/sort.h"
#include "tlmpi/base/stats.h"
#include "tlmpi/model/coll_tables.h"
#include "tlmpi/model/tables.h"
#include <math.h>
#include <stdlib.h>

/* ---------------------------------------------------------------------------------------------------- of some ranks */

static int by_place(const void *a, const void *b)
{
    const tl_exposed *x = a, *y = b;
    if (x->rank != y->rank)
        return TL_COMPARE(x->rank, y->rank);
    if (x->step != y->step)
        return TL_COMPARE(x->step, y->step);
    if (x->group != y->group)
        return TL_COMPARE(x->group, y->group);
    return x->parallelism != y->parallelism ? TL_COMPARE(x->parallelism, y->parallelism) : TL_COMPARE(x->kind, y->kind);
}

/* Rows of one place become one, from `first` on. */
static void unite(tl_table *table, size_t first)
{
    size_t kept = first;
    if (table->n > first)
        qsort(tl_table_row(table, first), table->n - first, table->schema->row_size, by_place);
    for (size_t i = first; i < table->n; i++) {
        const tl_exposed *row = tl_table_row(table, i);
        tl_exposed *last = kept > first ? tl_table_row(table, kept - 1) : NULL;
        if (last != NULL && by_place(last, row) == 0) {
            last->exposed_ns = tl_ns_add(last->exposed_ns, row->exposed_ns);
            last->waiting_ns = tl_ns_add(last->waiting_ns, row->waiting_ns);
        } else {
            *(tl_exposed *)tl_table_row(table, kept++) = *row;
        }
    }
    table->n = kept;
}

bool tl_exposed_sum(const tl_exposure *exposures, size_t nexposures, const tl_peer_answer *answers, size_t nanswers,
                    tl_table *exposed)
{
    enum { MANY = 4096 };
    size_t first = exposed->n, united = 0;

    for (size_t i = 0; i < nexposures; i++) {
        const tl_exposure *x = &exposures[i];
        const tl_peer_answer *a = tl_peer_answer_of(answers, nanswers, x->rank, x->uid);
        tl_exposed row = { .rank = x->rank,
                           .step = x->step,
                           .group = a != NULL ? a->group : -1,
                           .kind = a != NULL ? a->kind : TL_COLL_UNKNOWN,
                           .exposed_ns = x->ns,
                           .waiting_ns = a != NULL && a->waited ? tl_exposure_within(x, a->wait_ns) : 0 };
        if (row.step != -1 && !tl_table_append(exposed, &row, 1))
            return false;
        row.step = -1;
        if (!tl_table_append(exposed, &row, 1))
            return false;
        if (exposed->n - first > 2 * united + MANY) { /* so that there are never many more of them than places */
            unite(exposed, first);
            united = exposed->n - first;
        }
    }
    unite(exposed, first);
    return true;
}

/* ------------------------------------------------------------------------------------------------------- of the job */

static uint8_t parallelism_of(const tl_table *groups, int32_t group)
{
    size_t low = 0;
    TL_BISECT(low, groups->n, i, ((const tl_group_row *)tl_table_row(groups, i))->group < group);
    const tl_group_row *row = low < groups->n ? tl_table_row(groups, low) : NULL;
    return row != NULL && row->group == group ? row->parallelism : TL_PARALLEL_UNKNOWN;
}

/* Of the rank, or of the job, in the step; 0 where there is none. */
static int64_t wall_of(const tl_table *breakdown, int32_t rank, int32_t step)
{
    const tl_breakdown *row = tl_table_row(breakdown, 0);
    size_t low = 0;
    TL_BISECT(low, breakdown->n, i,
              row[i].rank < rank ||
                  (row[i].rank == rank && (row[i].device < -1 || (row[i].device == -1 && row[i].step < step))));
    bool found = low < breakdown->n && row[low].rank == rank && row[low].device == -1 && row[low].step == step;
    return found ? row[low].wall_ns : 0;
}

static double share_of(int64_t ns, int64_t wall_ns)
{
    return wall_ns > 0 ? (double)ns / (double)wall_ns : NAN;
}

/* A copy of each row for the job. */
static bool add_job(tl_table *table)
{
    size_t n = table->n;
    for (size_t i = 0; i < n; i++) {
        tl_exposed row = *(const tl_exposed *)tl_table_row(table, i);
        row.rank = row.group = -1;
        if (!tl_table_append(table, &row, 1))
            return false;
    }
    unite(table, n);
    return true;
}

static bool is_pipeline(const tl_exposed *row)
{
    return row->parallelism == TL_PARALLEL_PIPELINE &&
           (row->kind == TL_SEND || row->kind == TL_RECV || row->kind == TL_SEND_RECV);
}

/* The rows are in the order of their keys, so those of a rank and step lie together. */
static bool add_bubbles(const tl_table *exposed, const tl_table *breakdown, tl_table *bubbles)
{
    for (size_t i = 0; i < exposed->n; i++) {
        const tl_exposed *row = tl_table_row(exposed, i);
        tl_bubble *last = bubbles->n > 0 ? tl_table_row(bubbles, bubbles->n - 1) : NULL;
        if (!is_pipeline(row) || row->rank == -1)
            continue;
        if (last == NULL || last->rank != row->rank || last->step != row->step) {
            last = tl_table_add(bubbles);
            if (last == NULL)
                return false;
            *last = (tl_bubble){ .rank = row->rank,
                                 .step = row->step,
                                 .wall_ns = wall_of(breakdown, row->rank, row->step) };
        }
        last->bubble_ns = tl_ns_add(last->bubble_ns, row->waiting_ns);
    }
    return true;
}

static int by_step(const void *a, const void *b)
{
    const tl_bubble *x = a, *y = b;
    return x->rank != y->rank ? TL_COMPARE(x->rank, y->rank) : TL_COMPARE(x->step, y->step);
}

/* Sums over the ranks, before their rows. */
static bool add_job_bubbles(tl_table *bubbles)
{
    size_t n = bubbles->n, kept = n;
    for (size_t i = 0; i < n; i++) {
        tl_bubble row = *(const tl_bubble *)tl_table_row(bubbles, i);
        row.rank = -1;
        if (!tl_table_append(bubbles, &row, 1))
            return false;
    }
    if (n == 0)
        return true;
    qsort(tl_table_row(bubbles, n), n, bubbles->schema->row_size, by_step);
    for (size_t i = n; i < 2 * n; i++) {
        const tl_bubble *row = tl_table_row(bubbles, i);
        tl_bubble *last = kept > n ? tl_table_row(bubbles, kept - 1) : NULL;
        if (last != NULL && last->step == row->step) {
            last->bubble_ns = tl_ns_add(last->bubble_ns, row->bubble_ns);
            last->wall_ns = tl_ns_add(last->wall_ns, row->wall_ns);
        } else {
            *(tl_bubble *)tl_table_row(bubbles, kept++) = *row;
        }
    }
    bubbles->n = kept;
    for (size_t i = 0; i < kept; i++) {
        tl_bubble *row = tl_table_row(bubbles, i);
        row->share = share_of(row->bubble_ns, row->wall_ns);
    }
    return tl_table_sort(bubbles);
}

static tl_status exposed_reduce(tl_tables *job, tl_error *err)
{
    tl_table *table = tl_tables_get(job, &tl_exposed_schema), *bubbles = tl_tables_get(job, &tl_bubble_schema);
    const tl_table *groups = tl_tables_get(job, &tl_group_row_schema),
                   *breakdown = tl_tables_get(job, &tl_breakdown_schema);

    for (size_t i = 0; i < table->n; i++) {
        tl_exposed *row = tl_table_row(table, i);
        row->parallelism = parallelism_of(groups, row->group);
    }
    bool ok = add_job(table) && tl_table_sort(table);
    for (size_t i = 0; ok && i < table->n; i++) {
        tl_exposed *row = tl_table_row(table, i);
        row->transfer_ns = row->exposed_ns - row->waiting_ns;
        row->share = share_of(row->exposed_ns, wall_of(breakdown, row->rank, row->step));
    }
    ok = ok && add_bubbles(table, breakdown, bubbles) && add_job_bubbles(bubbles);
    return ok ? TL_OK : tl_fail_memory(err, "exposed communication by group");
}

TL_TABLE_DEFINE(exposed, TL_EXPOSED_FIELDS, TL_SCOPE_JOB, "exposed communication by group and kind",
                "What does communication cost that nothing hides: of which groups and kinds, waiting or transfer?");
TL_TABLE_DEFINE(bubble, TL_BUBBLE_FIELDS, TL_SCOPE_JOB, "pipeline bubble",
                "How long did the ranks of a pipeline wait for the stages next to them?");

static const tl_schema *const tables[] = { &tl_exposed_schema, &tl_bubble_schema, NULL };

const tl_analysis tl_exposed_analysis = {
    .name = "exposed",
    .question = "What does communication cost that nothing hides?",
    .tables = tables,
    .reduce = exposed_reduce,
};
