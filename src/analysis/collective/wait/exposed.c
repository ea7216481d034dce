/* exposed.c - exposed communication by group and kind of collective, and how much of it is waiting.
 *
 *     compute    [=====]......[===]......
 *     tensor     ....[====]..............      exposed: 3, of tensor parallelism
 *     pipeline   ............[======]....      exposed: 4; in 2 of them the receiver waits
 *
 *     exposed = waiting + transfer + unknown,   to the nanosecond
 */
#include "tlmpi/analysis/collective/wait.h"
#include "tlmpi/base/group.h"
#include "tlmpi/base/stats.h"
#include "tlmpi/model/coll_tables.h"
#include "tlmpi/model/facts.h"
#include "tlmpi/model/tables.h"
#include <math.h>

/* ---------------------------------------------------------------------------------------------------- of some ranks */

TL_SORT_BY(by_part, tl_exposed_part, rank, device, step, group, kind, doubt)

static void add_part(void *to, const void *of)
{
    tl_exposed_part *sum = to;
    const tl_exposed_part *part = of;
    sum->exposed_ns = tl_ns_add(sum->exposed_ns, part->exposed_ns);
    sum->waiting_ns = tl_ns_add(sum->waiting_ns, part->waiting_ns);
    sum->unknown_ns = tl_ns_add(sum->unknown_ns, part->unknown_ns);
}

static tl_exposed_part part_of(const tl_exposure *x, const tl_peer_answer *a)
{
    static const tl_peer_answer nobody = {
        .open_ns = INT64_MAX, .group = -1, .kind = TL_COLL_UNKNOWN, .doubt = TL_COMM_DOUBT_UNMATCHED
    };
    a = a != NULL ? a : &nobody;
    tl_exposed_part part = { .exposed_ns = x->ns,
                             .waiting_ns = tl_exposure_within(x, a->wait_ns),
                             .rank = x->rank,
                             .device = x->device,
                             .step = x->step,
                             .group = a->group,
                             .kind = a->kind };
    part.unknown_ns = tl_exposure_within(x, tl_ns_sum(a->wait_ns, a->open_ns)) - part.waiting_ns;
    part.doubt = part.unknown_ns > 0 ? a->doubt : TL_COMM_DOUBT_NONE;
    return part;
}

void tl_exposed_sum(const tl_exposure *exposures, size_t nexposures, const tl_peer_answer *answers, size_t nanswers,
                    tl_exposed_parts *out)
{
    enum { MANY = 4096 };
    size_t first = out->n, united = 0;

    for (size_t i = 0; i < nexposures; i++) {
        const tl_exposure *x = &exposures[i];
        tl_vec_push(out, part_of(x, tl_peer_answer_of(answers, nanswers, x->rank, x->uid)));
        size_t n = out->n - first;
        if (n > 2 * united + MANY || i + 1 == nexposures) { /* at most twice the merged size + MANY */
            united = tl_merge_equal(out->v + first, n, sizeof *out->v, by_part, add_part);
            out->n = first + united;
        }
    }
}

/* -------------------------------------------------------------------------------------------------------- entering */

TL_SORT_BY(by_reason, tl_exposed, rank, step, group, parallelism, kind, unknown_why)

static void add_row(void *to, const void *of)
{
    tl_row_add(&tl_exposed_schema, to, of);
}

/* Merges the rows from `first` on that differ in unknown_why alone, and keeps the reason with the most unknown time, of
 * equals the first. */
static void merge_reasons(tl_table *table, size_t first)
{
    tl_exposed *rows = tl_table_row(table, first), *last = NULL;
    size_t n = tl_merge_equal(rows, table->n - first, sizeof *rows, by_reason, add_row);
    int64_t most_ns = 0;

    for (size_t i = 0; i < n; i++) {
        const tl_exposed row = rows[i];
        bool same = last != NULL && TL_ORDER(last, &row, rank, step, group, parallelism, kind) == 0;
        last = same ? last : last == NULL ? rows : last + 1;
        most_ns = same ? most_ns : 0;
        if (same)
            add_row(last, &row);
        else
            *last = row;
        if (row.unknown_ns > most_ns) {
            most_ns = row.unknown_ns;
            last->unknown_why = row.unknown_why;
        }
    }
    table->n = n > 0 ? first + (size_t)(last - rows) + 1 : first;
}

static tl_breakdown *breakdown_of(const tl_table *breakdown, int32_t rank, int32_t device, int32_t step)
{
    tl_breakdown *row = tl_table_row(breakdown, 0);
    size_t low = 0;
    TL_BISECT(low, breakdown->n, i,
              row[i].rank < rank ||
                  (row[i].rank == rank && (row[i].device < device || (row[i].device == device && row[i].step < step))));
    bool found = low < breakdown->n && row[low].rank == rank && row[low].device == device && row[low].step == step;
    return found ? &row[low] : NULL;
}

static void add_to_breakdown(tl_breakdown *row, const tl_exposed_part *part)
{
    if (row == NULL)
        return;
    row->comm_waiting_ns = tl_ns_add(row->comm_waiting_ns, part->waiting_ns);
    row->comm_transfer_ns = tl_ns_add(row->comm_transfer_ns, part->exposed_ns - part->waiting_ns - part->unknown_ns);
}

void tl_exposed_enter(const tl_exposed_part *parts, size_t n, tl_table *exposed, tl_table *breakdown)
{
    for (size_t i = 0; i < n; i++) {
        const tl_exposed_part *part = &parts[i];
        tl_exposed row = { .rank = part->rank,
                           .step = part->step,
                           .group = part->group,
                           .kind = part->kind,
                           .exposed_ns = part->exposed_ns,
                           .waiting_ns = part->waiting_ns,
                           .transfer_ns = part->exposed_ns - part->waiting_ns - part->unknown_ns,
                           .unknown_ns = part->unknown_ns,
                           .unknown_why = part->doubt };
        for (bool whole = row.step == -1;; whole = true) { /* one row for the step, one for the whole trace */
            tl_table_append(exposed, &row, 1);
            add_to_breakdown(breakdown_of(breakdown, row.rank, -1, row.step), part);
            if (part->device != -1)
                add_to_breakdown(breakdown_of(breakdown, row.rank, part->device, row.step), part);
            if (whole)
                break;
            row.step = -1;
        }
    }
    merge_reasons(exposed, 0);
    TL_ROWS (tl_breakdown, row, breakdown)
        row->comm_unknown_ns = row->comm_exposed_ns - row->comm_waiting_ns - row->comm_transfer_ns;
}

/* ------------------------------------------------------------------------------------------------------- of the job */

/* Returns the wall time of the rank (-1: of the job) in the step, ns; 0: no row. */
static int64_t wall_of(const tl_table *breakdown, int32_t rank, int32_t step)
{
    const tl_breakdown *row = breakdown_of(breakdown, rank, -1, step);
    return row != NULL ? row->wall_ns : 0;
}

static void exposed_reduce(tl_tables *job)
{
    tl_table *table = tl_tables_get(job, &tl_exposed_schema);
    const tl_table *groups = tl_tables_get(job, &tl_group_row_schema),
                   *breakdown = tl_tables_get(job, &tl_breakdown_schema);

    size_t n = table->n;
    for (size_t i = 0; i < n; i++) { /* adds a copy of each row for the job */
        tl_exposed *row = tl_table_row(table, i);
        const tl_group_row *group = tl_group_of(groups, row->group);
        row->parallelism = group != NULL ? group->parallelism : TL_PARALLEL_UNKNOWN;
        tl_exposed of_job = *row;
        of_job.rank = of_job.group = -1;
        tl_table_append(table, &of_job, 1);
    }
    merge_reasons(table, n);
    tl_table_sort(table);
    TL_ROWS (tl_exposed, row, table) {
        int64_t wall_ns = wall_of(breakdown, row->rank, row->step);
        row->share = wall_ns > 0 ? (double)row->exposed_ns / (double)wall_ns : NAN;
    }
}

const tl_analysis tl_exposed_analysis = { .reduce = exposed_reduce };
