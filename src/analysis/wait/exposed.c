/* exposed.c - exposed communication by group and kind of collective, and how much of it is waiting.
 *
 *     compute    [=====]......[===]......
 *     tensor     ....[====]..............      exposed: 3, of tensor parallelism
 *     pipeline   ............[======]....      exposed: 4; in 2 of them the receiver waits
 *
 *     exposed = waiting + transfer + unknown,   to the nanosecond
 */
#include "tlmpi/analysis/wait.h"
#include "tlmpi/base/sort.h"
#include "tlmpi/base/stats.h"
#include "tlmpi/model/coll_tables.h"
#include "tlmpi/model/tables.h"
#include <math.h>
#include <stdlib.h>

/* ---------------------------------------------------------------------------------------------------- of some ranks */

static int by_part(const void *a, const void *b)
{
    const tl_exposed_part *x = a, *y = b;
    if (x->rank != y->rank)
        return TL_COMPARE(x->rank, y->rank);
    if (x->device != y->device)
        return TL_COMPARE(x->device, y->device);
    if (x->step != y->step)
        return TL_COMPARE(x->step, y->step);
    if (x->group != y->group)
        return TL_COMPARE(x->group, y->group);
    return x->kind != y->kind ? TL_COMPARE(x->kind, y->kind) : TL_COMPARE(x->doubt, y->doubt);
}

/* Parts of one place become one, from `first` on. */
static void unite_parts(tl_exposed_parts *parts, size_t first)
{
    size_t kept = first;
    if (parts->n > first)
        qsort(parts->v + first, parts->n - first, sizeof *parts->v, by_part);
    for (size_t i = first; i < parts->n; i++) {
        const tl_exposed_part *part = &parts->v[i];
        tl_exposed_part *last = kept > first ? &parts->v[kept - 1] : NULL;
        if (last == NULL || by_part(last, part) != 0) {
            parts->v[kept++] = *part;
            continue;
        }
        last->exposed_ns = tl_ns_add(last->exposed_ns, part->exposed_ns);
        last->waiting_ns = tl_ns_add(last->waiting_ns, part->waiting_ns);
        last->unknown_ns = tl_ns_add(last->unknown_ns, part->unknown_ns);
    }
    parts->n = kept;
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
        tl_vec_room(out);
        out->v[out->n++] = part_of(x, tl_peer_answer_of(answers, nanswers, x->rank, x->uid));
        if (out->n - first > 2 * united + MANY) { /* so that there are never many more of them than places */
            unite_parts(out, first);
            united = out->n - first;
        }
    }
    unite_parts(out, first);
}

/* -------------------------------------------------------------------------------------------------------- entering */

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

static int by_place_and_reason(const void *a, const void *b)
{
    int order = by_place(a, b);
    return order != 0 ? order : TL_COMPARE(((const tl_exposed *)a)->unknown_why, ((const tl_exposed *)b)->unknown_why);
}

/* Rows of one place become one, from `first` on, with the reason of most of what is unknown; of equals the first. */
static void unite(tl_table *table, size_t first)
{
    size_t kept = first;
    int64_t reason_ns = 0, most_ns = 0;
    uint8_t reason = TL_COMM_DOUBT_NONE;

    if (table->n > first)
        qsort(tl_table_row(table, first), table->n - first, table->schema->row_size, by_place_and_reason);
    for (size_t i = first; i < table->n; i++) {
        const tl_exposed row = *(const tl_exposed *)tl_table_row(table, i);
        tl_exposed *last = kept > first ? tl_table_row(table, kept - 1) : NULL;
        bool same = last != NULL && by_place(last, &row) == 0;
        reason_ns = tl_ns_add(row.unknown_ns, same && row.unknown_why == reason ? reason_ns : 0);
        reason = row.unknown_why;
        most_ns = same ? most_ns : 0;
        if (same) {
            last->exposed_ns = tl_ns_add(last->exposed_ns, row.exposed_ns);
            last->waiting_ns = tl_ns_add(last->waiting_ns, row.waiting_ns);
            last->transfer_ns = tl_ns_add(last->transfer_ns, row.transfer_ns);
            last->unknown_ns = tl_ns_add(last->unknown_ns, row.unknown_ns);
        } else {
            last = tl_table_row(table, kept++);
            *last = row;
        }
        if (reason_ns > most_ns) {
            most_ns = reason_ns;
            last->unknown_why = reason;
        }
    }
    table->n = kept;
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
    row->comm_transfer_ns =
        tl_ns_add(row->comm_transfer_ns, part->exposed_ns - part->waiting_ns - part->unknown_ns);
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
        for (bool whole = row.step == -1;; whole = true) { /* once for the step, once for all of the trace */
            tl_table_append(exposed, &row, 1);
            add_to_breakdown(breakdown_of(breakdown, row.rank, -1, row.step), part);
            if (part->device != -1)
                add_to_breakdown(breakdown_of(breakdown, row.rank, part->device, row.step), part);
            if (whole)
                break;
            row.step = -1;
        }
    }
    unite(exposed, 0);
    for (size_t i = 0; i < breakdown->n; i++) {
        tl_breakdown *row = tl_table_row(breakdown, i);
        row->comm_unknown_ns = row->comm_exposed_ns - row->comm_waiting_ns - row->comm_transfer_ns;
    }
}

/* ------------------------------------------------------------------------------------------------------- of the job */

static uint8_t parallelism_of(const tl_table *groups, int32_t group)
{
    size_t low = 0;
    TL_BISECT(low, groups->n, i, ((const tl_group_row *)tl_table_row(groups, i))->group < group);
    const tl_group_row *row = low < groups->n ? tl_table_row(groups, low) : NULL;
    return row != NULL && row->group == group ? row->parallelism : TL_PARALLEL_UNKNOWN;
}

/* Returns the wall time of the rank, or of the job, in the step; 0 without a row. */
static int64_t wall_of(const tl_table *breakdown, int32_t rank, int32_t step)
{
    const tl_breakdown *row = breakdown_of(breakdown, rank, -1, step);
    return row != NULL ? row->wall_ns : 0;
}

static double share_of(int64_t ns, int64_t wall_ns)
{
    return wall_ns > 0 ? (double)ns / (double)wall_ns : NAN;
}

/* A copy of each row for the job. */
static void add_job(tl_table *table)
{
    size_t n = table->n;
    for (size_t i = 0; i < n; i++) {
        tl_exposed row = *(const tl_exposed *)tl_table_row(table, i);
        row.rank = row.group = -1;
        tl_table_append(table, &row, 1);
    }
    unite(table, n);
}

static bool is_pipeline(const tl_exposed *row)
{
    return row->parallelism == TL_PARALLEL_PIPELINE &&
           (row->kind == TL_SEND || row->kind == TL_RECV || row->kind == TL_SEND_RECV);
}

/* The rows are in the order of their keys, so those of a rank and step lie together. */
static void add_bubbles(const tl_table *exposed, const tl_table *breakdown, tl_table *bubbles)
{
    for (size_t i = 0; i < exposed->n; i++) {
        const tl_exposed *row = tl_table_row(exposed, i);
        tl_bubble *last = bubbles->n > 0 ? tl_table_row(bubbles, bubbles->n - 1) : NULL;
        if (!is_pipeline(row) || row->rank == -1)
            continue;
        if (last == NULL || last->rank != row->rank || last->step != row->step) {
            last = tl_table_add(bubbles);
            *last = (tl_bubble){ .rank = row->rank,
                                 .step = row->step,
                                 .wall_ns = wall_of(breakdown, row->rank, row->step) };
        }
        last->bubble_ns = tl_ns_add(last->bubble_ns, row->waiting_ns);
        last->unknown_ns = tl_ns_add(last->unknown_ns, row->unknown_ns);
    }
}

static int by_step(const void *a, const void *b)
{
    const tl_bubble *x = a, *y = b;
    return x->rank != y->rank ? TL_COMPARE(x->rank, y->rank) : TL_COMPARE(x->step, y->step);
}

/* Sums over the ranks, before their rows. */
static void add_job_bubbles(tl_table *bubbles)
{
    size_t n = bubbles->n, kept = n;
    for (size_t i = 0; i < n; i++) {
        tl_bubble row = *(const tl_bubble *)tl_table_row(bubbles, i);
        row.rank = -1;
        tl_table_append(bubbles, &row, 1);
    }
    if (n == 0)
        return;
    qsort(tl_table_row(bubbles, n), n, bubbles->schema->row_size, by_step);
    for (size_t i = n; i < 2 * n; i++) {
        const tl_bubble *row = tl_table_row(bubbles, i);
        tl_bubble *last = kept > n ? tl_table_row(bubbles, kept - 1) : NULL;
        if (last != NULL && last->step == row->step) {
            last->bubble_ns = tl_ns_add(last->bubble_ns, row->bubble_ns);
            last->unknown_ns = tl_ns_add(last->unknown_ns, row->unknown_ns);
            last->wall_ns = tl_ns_add(last->wall_ns, row->wall_ns);
        } else {
            *(tl_bubble *)tl_table_row(bubbles, kept++) = *row;
        }
    }
    bubbles->n = kept;
    tl_table_sort(bubbles);
}

static void exposed_reduce(tl_tables *job)
{
    tl_table *table = tl_tables_get(job, &tl_exposed_schema), *bubbles = tl_tables_get(job, &tl_bubble_schema);
    const tl_table *groups = tl_tables_get(job, &tl_group_row_schema),
                   *breakdown = tl_tables_get(job, &tl_breakdown_schema);

    for (size_t i = 0; i < table->n; i++) {
        tl_exposed *row = tl_table_row(table, i);
        row->parallelism = parallelism_of(groups, row->group);
    }
    add_job(table);
    tl_table_sort(table);
    for (size_t i = 0; i < table->n; i++) {
        tl_exposed *row = tl_table_row(table, i);
        row->share = share_of(row->exposed_ns, wall_of(breakdown, row->rank, row->step));
    }
    add_bubbles(table, breakdown, bubbles);
    add_job_bubbles(bubbles);
}

TL_TABLE_DEFINE(bubble, TL_BUBBLE_FIELDS, TL_SCOPE_JOB, "pipeline bubble",
                "How long did the ranks of a pipeline wait for the stages next to them?");

static const tl_schema *const tables[] = { &tl_exposed_schema, &tl_bubble_schema, NULL };

const tl_analysis tl_exposed_analysis = {
    .name = "exposed",
    .question = "What does communication cost that nothing hides?",
    .tables = tables,
    .reduce = exposed_reduce,
};
