/* drawn_runs.h - runs that are drawn for comparisons: ranks, steps and kernels of known times. */
#ifndef TLMPI_TESTS_DRAWN_RUNS_H
#define TLMPI_TESTS_DRAWN_RUNS_H

#include "tlmpi/analysis/diff.h"
#include "tlmpi/model/blame_tables.h"
#include "tlmpi/model/culprit_table.h"
#include "tlmpi/model/health_table.h"
#include "tlmpi/model/idle_tables.h"
#include "tlmpi/model/path_tables.h"
#include "tlmpi/model/tables.h"
#include "tlmpi/model/work_tables.h"
#include "unit.h"

#include <math.h>
#include <stdlib.h>

#define US INT64_C(1000)

/* A run: tables, and the names that its rows have. */
typedef struct run {
    tl_tables tables;
    tl_names names;
    tl_table intervals;
} run;

static inline tl_text name_of(void *names, uint32_t id)
{
    return tl_names_text(names, id);
}

static inline run *new_run(void)
{
    size_t n;
    const tl_schema *const *schemas = tl_diff_reads(&n);
    run *r = calloc(1, sizeof *r);
    CU_ASSERT_TRUE_FATAL(r != NULL);
    tl_tables_init(&r->tables, schemas, n);
    r->intervals.schema = &tl_interval_schema;
    return r;
}

static inline void free_run(run *r)
{
    tl_tables_free(&r->tables);
    tl_names_free(&r->names);
    tl_table_free(&r->intervals);
    free(r);
}

static inline void put(run *r, const tl_schema *schema, const void *row)
{
    tl_table_append(tl_tables_get(&r->tables, schema), row, 1);
}

static inline uint32_t name(run *r, const char *text)
{
    return tl_names_intern(&r->names, text, strlen(text));
}

/* A step of a rank, in us: of its window `outside` is before and after the device work. */
typedef struct drawn {
    int64_t compute, waiting, transfer, copy, idle, outside;
} drawn;

static inline void put_step(run *r, int32_t rank, int32_t number, int64_t start_us, drawn d)
{
    int64_t wall = d.compute + d.waiting + d.transfer + d.copy + d.idle;
    tl_step step = { .rank = rank, .step = number, .start_ns = start_us * US,
                     .end_ns = (start_us + wall + d.outside) * US };
    tl_breakdown b = { .rank = rank, .device = -1, .step = number, .wall_ns = wall * US, .busy_ns = (wall - d.idle) * US,
                       .compute_ns = d.compute * US, .comm_ns = (d.waiting + d.transfer) * US,
                       .comm_exposed_ns = (d.waiting + d.transfer) * US, .comm_waiting_ns = d.waiting * US,
                       .comm_transfer_ns = d.transfer * US, .copy_ns = d.copy * US, .copy_exposed_ns = d.copy * US,
                       .idle_ns = d.idle * US };
    tl_exposed e = { .rank = rank, .step = number, .group = 0, .parallelism = TL_PARALLEL_WORLD, .kind = TL_ALL_REDUCE,
                     .exposed_ns = b.comm_exposed_ns, .waiting_ns = b.comm_waiting_ns, .transfer_ns = b.comm_transfer_ns };
    put(r, &tl_step_schema, &step);
    put(r, &tl_breakdown_schema, &b);
    put(r, &tl_exposed_schema, &e);
}

/* Ranks of so many steps; step k of rank r is `d`, jittered by a few us in compute. */
static inline run *ranks_of(int32_t nranks, size_t nsteps, drawn d, uint64_t seed)
{
    run *r = new_run();
    tl_group_row group = { .group = 0, .ranks = "0-1", .size = 2, .parallelism = TL_PARALLEL_WORLD };
    put(r, &tl_group_row_schema, &group);
    for (int32_t rank = 0; rank < nranks; rank++) {
        tl_rank row = { .rank = rank, .devices = 1, .device_name = "GPU", .world_size = nranks };
        tl_breakdown whole = { .rank = rank, .device = -1, .step = -1, .wall_ns = 1000 * US, .busy_ns = 900 * US };
        put(r, &tl_rank_schema, &row);
        put(r, &tl_breakdown_schema, &whole);
        for (size_t s = 0; s < nsteps; s++) {
            drawn jittered = d;
            jittered.compute += (int64_t)unit_below(&seed, 5);
            put_step(r, rank, (int32_t)s, (int64_t)s * 10000, jittered);
        }
    }
    return r;
}

static inline run *steps_of(size_t nsteps, drawn d, uint64_t seed)
{
    return ranks_of(2, nsteps, d, seed);
}

/* Launches that the steps of the run have in turn; each takes up to 1 us more or less, and the next as much less or
 * more. */
static inline void put_kernel(run *r, int32_t rank, tl_kind kind, const char *text, int64_t count, int64_t each_us)
{
    const tl_table *steps = tl_tables_get(&r->tables, &tl_step_schema);
    const uint32_t id = name(r, text);
    int32_t nsteps = steps->n > 0 ? ((const tl_step *)tl_table_row(steps, steps->n - 1))->step + 1 : 0;
    tl_kernel_row all = { .rank = rank, .kind = (uint8_t)kind, .name = id };
    put(r, &tl_kernel_row_schema, &all);
    for (int32_t i = 0; i < (int32_t)count; i++) {
        int64_t more_ns = (int64_t)(((uint64_t)(i / 2 + 3 * rank) * 2654435761U + (uint64_t)each_us) % 2001) - 1000;
        tl_interval launch = { .rank = rank, .kind = (uint8_t)kind, .step = nsteps > 0 ? i % nsteps : -1, .name = id, .operator = TL_NO_NAME,
                               .duration_ns = each_us * US + (i % 2 == 0 ? more_ns : -more_ns) };
        tl_table_append(&r->intervals, &launch, 1);
    }
}

/* All launches of the run have this operator around them. */
static inline void put_operator(run *r, const char *text)
{
    TL_ROWS (tl_interval, row, &r->intervals)
        row->operator = name(r, text);
}

/* A comparison that has taken the launches of both runs. */
static inline tl_diff *begin(run *a, run *b)
{
    tl_diff_input input = { .side = { { .path = "a", .tables = &a->tables, .name = name_of, .name_arg = &a->names },
                                      { .path = "b", .tables = &b->tables, .name = name_of, .name_arg = &b->names } } };
    tl_diff *diff = tl_diff_new(&input);
    TL_ROWS (const tl_interval, row, &a->intervals)
        tl_diff_take(diff, 0, &tl_interval_schema, row);
    TL_ROWS (const tl_interval, row, &b->intervals)
        tl_diff_take(diff, 1, &tl_interval_schema, row);
    return diff;
}

static inline tl_diff *compare(run *a, run *b)
{
    tl_diff *diff = begin(a, b);
    tl_diff_compare(diff);
    return diff;
}

static inline void end(tl_diff *diff, run *a, run *b)
{
    tl_diff_free(diff);
    free_run(a);
    free_run(b);
}

static inline const tl_diff_found *found(const tl_diff *diff, size_t i)
{
    const tl_table *t = tl_diff_table(diff, &tl_diff_found_schema);
    CU_ASSERT_TRUE_FATAL(i < t->n);
    return tl_table_row(t, i);
}

static inline size_t nfound(const tl_diff *diff)
{
    return tl_diff_table(diff, &tl_diff_found_schema)->n;
}

static inline bool is_named(tl_diff *diff, uint32_t id, const char *text)
{
    return tl_text_is(tl_diff_name(diff, id), text);
}

static const drawn plain = { .compute = 500, .waiting = 50, .transfer = 100, .copy = 50, .idle = 100, .outside = 200 };

static inline const tl_diff_kernel *kernel_of(tl_diff *diff, const char *text)
{
    TL_ROWS (const tl_diff_kernel, row, tl_diff_table(diff, &tl_diff_kernel_schema))
        if (is_named(diff, row->name, text))
            return row;
    return NULL;
}

static inline void put_node(tl_diff *diff, int side, run *r, int32_t depth, tl_tree_kind kind, const char *text, int64_t us)
{
    tl_call_tree row = { .rank = 0, .depth = depth, .kind = (uint8_t)kind, .count = 7, .device_ns = 7 * us * US,
                         .steps_count = 6, .steps_ns = 6 * us * US, .name = name(r, text) };
    tl_diff_take(diff, side, &tl_call_tree_schema, &row);
}

#endif
