/* breakdown.c - where did the time of each rank go?
 *
 *     compute   ..[====]....[===========]......
 *     comm      .....[=======]....[==]..[==]...      [==] under compute: overlapped; the rest is exposed
 *     copy      [====]....................[==].      exposed where neither computes nor communicates
 *               |<----------- wall ---------->|
 *
 *     wall = compute + comm_exposed + copy_exposed + idle,   to the nanosecond
 *
 * A set of instants counts once, on however many streams.  A step's row looks through a window: device work is cut to
 * the step, and wall runs from the first start to the last end of what is left.
 *
 * Of the whole trace it is also told what ran at once, in all combinations.
 *
 * Steps and devices both come from the trace, and a small file can name thousands of each: nothing here takes the time
 * or the room of their product.
 *
 *     steps    |   4   |   5   |   6   |   7   |   8   |   9   |
 *     work     ....[========================]..................
 *              measured  covered whole  measured   nothing
 */
#include "device_work.h"
#include "tlmpi/analysis/time.h"
#include "tlmpi/base/hash.h"
#include "tlmpi/base/sort.h"
#include "tlmpi/base/stats.h"
#include "tlmpi/model/health_table.h"
#include "tlmpi/model/tables.h"
#include <stdlib.h>

static void add_to(tl_breakdown *sum, const tl_breakdown *row)
{
    sum->wall_ns = tl_ns_add(sum->wall_ns, row->wall_ns);
    sum->busy_ns = tl_ns_add(sum->busy_ns, row->busy_ns);
    sum->compute_ns = tl_ns_add(sum->compute_ns, row->compute_ns);
    sum->comm_ns = tl_ns_add(sum->comm_ns, row->comm_ns);
    sum->comm_exposed_ns = tl_ns_add(sum->comm_exposed_ns, row->comm_exposed_ns);
    sum->comm_waiting_ns = tl_ns_add(sum->comm_waiting_ns, row->comm_waiting_ns);
    sum->comm_transfer_ns = tl_ns_add(sum->comm_transfer_ns, row->comm_transfer_ns);
    sum->comm_unknown_ns = tl_ns_add(sum->comm_unknown_ns, row->comm_unknown_ns);
    sum->copy_ns = tl_ns_add(sum->copy_ns, row->copy_ns);
    sum->copy_exposed_ns = tl_ns_add(sum->copy_exposed_ns, row->copy_exposed_ns);
    sum->idle_ns = tl_ns_add(sum->idle_ns, row->idle_ns);
}

/* The first step from `from` on that ends after the instant. */
static size_t first_ending_after(const tl_rank_view *view, size_t from, int64_t at_ns)
{
    size_t low = from;
    TL_BISECT(low, view->nsteps, mid, view->steps[mid].end_ns <= at_ns);
    return low;
}

/* How many devices have each mix (device_work.h) from here on; the running sum over the steps tells it for a step. */
typedef struct mixes {
    uint32_t n[TL_WORK_MIXES];
} mixes;

/* A rank being worked on. */
typedef struct rank_rows {
    const tl_rank_view *view;
    tl_work_scratch scratch;
    tl_breakdown *sums;        /* over devices: the whole trace, then each step */
    mixes *runs;               /* for each step: devices whose run begins there, less those whose run has ended */
    bool several;              /* devices have rows of their own */
    tl_table devices, by_step; /* whole traces; steps in which the device worked, as long as they are not too many */
    size_t most_by_step;
    bool too_many;
    int64_t mix_ns[TL_WORK_MIXES];
} rank_rows;

/* Rows by device and step that every rank may have, however little room is left. */
#define FEW_ROWS 16384u

static void add_step_row(rank_rows *r, const tl_breakdown *row)
{
    if (!r->several || r->too_many || row->wall_ns == 0)
        return;
    if (r->by_step.n < r->most_by_step) {
        tl_table_append(&r->by_step, row, 1);
        return;
    }
    r->too_many = true;
    tl_table_free(&r->by_step);
}

static tl_breakdown row_of(const rank_rows *r, int32_t device, size_t step)
{
    return (tl_breakdown){ .rank = r->view->rank, .device = device, .step = r->view->steps[step].number };
}

/* A step in which something begins or ends. */
static void one_step(rank_rows *r, const tl_work *w, int32_t device, size_t step)
{
    const tl_step_window *window = &r->view->steps[step];
    tl_breakdown row = row_of(r, device, step);
    tl_work_measure_in(w, window->start_ns, window->end_ns, &r->scratch, &row);
    add_to(&r->sums[step + 1], &row);
    add_step_row(r, &row);
}

/* Steps [from, to) in which nothing does. */
static void run_of_steps(rank_rows *r, const tl_work *w, int32_t device, size_t from, size_t to)
{
    unsigned mix = tl_work_mix_at(w, r->view->steps[from].start_ns);
    if (mix == 0)
        return;
    r->runs[from].n[mix]++;
    r->runs[to].n[mix]--;
    for (size_t i = from; i < to && r->several && !r->too_many; i++) {
        tl_breakdown row = row_of(r, device, i);
        tl_mix_measure(mix, r->view->steps[i].end_ns - r->view->steps[i].start_ns, &row);
        add_step_row(r, &row);
    }
}

static void device_rows(rank_rows *r, const tl_work *w, int32_t device)
{
    const tl_rank_view *view = r->view;
    tl_breakdown row = { .rank = view->rank, .device = device, .step = -1 };
    tl_work_measure(w, &r->scratch, &row);
    if (r->several)
        tl_table_append(&r->devices, &row, 1);

    add_to(&r->sums[0], &row);
    tl_work_add_mixes(w, r->mix_ns);
    for (size_t i = 0, to; i < view->nsteps; i = to) {
        int64_t edge = tl_work_next_edge(w, view->steps[i].start_ns);
        to = first_ending_after(view, i, edge);
        if (to > i)
            run_of_steps(r, w, device, i, to);
        else
            one_step(r, w, device, to++);
    }
}

/* To the sums of the steps, what the runs through them are. */
static void add_runs(rank_rows *r)
{
    mixes now = { { 0 } };
    for (size_t i = 0; i < r->view->nsteps; i++) {
        const tl_step_window *step = &r->view->steps[i];
        for (unsigned mix = 1; mix < TL_WORK_MIXES; mix++) {
            tl_breakdown row = { 0 };
            now.n[mix] += r->runs[i].n[mix];
            int64_t ns;
            if (__builtin_mul_overflow((int64_t)now.n[mix], step->end_ns - step->start_ns, &ns))
                ns = INT64_MAX;
            tl_mix_measure(mix, ns, &row);
            add_to(&r->sums[i + 1], &row);
        }
    }
}

static void add_mixes(tl_table *table, int32_t rank, const int64_t ns[TL_WORK_MIXES])
{
    int64_t all_ns = 0;

    for (unsigned mix = 0; mix < TL_WORK_MIXES; mix++)
        all_ns = tl_ns_add(all_ns, ns[mix]);
    for (unsigned mix = 0; mix < TL_WORK_MIXES; mix++) {
        const tl_mix row = { rank, (uint8_t)mix, ns[mix], (double)ns[mix] / (double)all_ns };
        if (ns[mix] != 0)
            tl_table_append(table, &row, 1);
    }
}

static void rank_rows_start(rank_rows *r, const tl_rank_view *view)
{
    const tl_kernel *k = view->kernels;
    size_t ndevices = 0;

    for (size_t i = 0; i < view->nkernels; i++)
        ndevices += i == 0 || k[i].device != k[i - 1].device;
    *r = (rank_rows){ .view = view,
                      .several = ndevices > 1,
                      .devices = { .schema = &tl_breakdown_schema },
                      .by_step = { .schema = &tl_breakdown_schema } };
    r->most_by_step = view->nkernels + view->nsteps + ndevices;
    if (r->most_by_step < FEW_ROWS)
        r->most_by_step = FEW_ROWS;
    r->sums = tl_calloc(view->nsteps + 1, sizeof *r->sums);
    r->runs = tl_calloc(view->nsteps + 1, sizeof *r->runs);
    for (size_t i = 0; i <= view->nsteps; i++) {
        r->sums[i].rank = view->rank;
        r->sums[i].device = -1;
        r->sums[i].step = i > 0 ? view->steps[i - 1].number : -1;
    }
}

static void rank_rows_free(rank_rows *r)
{
    tl_work_scratch_free(&r->scratch);
    tl_table_free(&r->devices);
    tl_table_free(&r->by_step);
    free(r->sums);
    free(r->runs);
}

static void breakdown_per_rank(const tl_rank_view *view, const tl_config *config, tl_tables *out)
{
    (void)config;
    tl_table *table = tl_tables_get(out, &tl_breakdown_schema);
    const tl_kernel *k = view->kernels;
    rank_rows r;
    rank_rows_start(&r, view);

    for (size_t from = 0, to; from < view->nkernels; from = to) {
        tl_work w;
        for (to = from; to < view->nkernels && k[to].device == k[from].device; to++)
            ;
        tl_work_collect(&w, k + from, to - from);
        device_rows(&r, &w, k[from].device);
        tl_work_free(&w);
    }
    add_runs(&r);
    tl_table_append(table, r.devices.rows, r.devices.n);
    tl_table_append(table, r.by_step.rows, r.by_step.n);
    tl_table_append(table, r.sums, view->nsteps + 1);
    tl_table_sort(table);
    add_mixes(tl_tables_get(out, &tl_mix_schema), view->rank, r.mix_ns);
    rank_rows_free(&r);
}

/* Adds a row for each rank over all steps that every rank has whole, where the others are left out. */
static void add_whole_steps(tl_table *table, const tl_table *health)
{
    tl_table sums = { .schema = &tl_breakdown_schema };
    tl_map left_out = { 0 };
    bool any = false;

    for (size_t i = 0; i < health->n; i++) {
        const tl_health *row = tl_table_row(health, i);
        bool is = row->rank == -1 && row->done == TL_REMEDY_LEFT_OUT;
        any = any || is;
        if (is)
            tl_map_put(&left_out, (uint64_t)row->step, 0);
    }
    for (size_t i = 0; any && i < table->n; i++) {
        const tl_breakdown *row = tl_table_row(table, i);
        tl_breakdown *sum = sums.n > 0 ? tl_table_row(&sums, sums.n - 1) : NULL;
        if (row->device != -1 || row->step < 0 || tl_map_get(&left_out, (uint64_t)row->step) != TL_MAP_NONE)
            continue;
        if (sum == NULL || sum->rank != row->rank) {
            const tl_breakdown empty = { .rank = row->rank, .device = -1, .step = TL_WHOLE_STEPS };
            tl_table_append(&sums, &empty, 1);
            sum = tl_table_row(&sums, sums.n - 1);
        }
        if (sum != NULL)
            add_to(sum, row);
    }
    tl_table_append(table, sums.rows, sums.n);
    tl_table_free(&sums);
    tl_map_free(&left_out);
}

/* Rows of the whole job: for the whole trace and for each step the sum over ranks. */
static void breakdown_reduce(tl_tables *job)
{
    tl_table *table = tl_tables_get(job, &tl_breakdown_schema), *mix_rows = tl_tables_get(job, &tl_mix_schema);
    int64_t mix_ns[TL_WORK_MIXES] = { 0 };
    tl_table sums = { .schema = &tl_breakdown_schema };
    tl_map index_of = { 0 };
    add_whole_steps(table, tl_tables_get(job, &tl_health_schema));

    for (size_t i = 0; i < table->n; i++) {
        const tl_breakdown *row = tl_table_row(table, i);
        if (row->device != -1)
            continue;
        uint32_t at = tl_map_get(&index_of, (uint64_t)(int64_t)row->step);
        if (at == TL_MAP_NONE) {
            tl_breakdown empty = { .rank = -1, .device = -1, .step = row->step };
            at = (uint32_t)sums.n;
            tl_table_append(&sums, &empty, 1);
            tl_map_put(&index_of, (uint64_t)(int64_t)row->step, at);
        }
        add_to(tl_table_row(&sums, at), row);
    }
    for (size_t i = 0; i < mix_rows->n; i++) {
        const tl_mix *row = tl_table_row(mix_rows, i);
        mix_ns[row->running] = tl_ns_add(mix_ns[row->running], row->time_ns);
    }
    tl_table_append(table, sums.rows, sums.n);
    tl_table_sort(table);
    add_mixes(mix_rows, -1, mix_ns);
    tl_table_sort(mix_rows);
    tl_table_free(&sums);
    tl_map_free(&index_of);
}

static const tl_schema *const tables[] = { &tl_breakdown_schema, &tl_mix_schema, NULL };

const tl_analysis tl_breakdown_analysis = {
    .name = "breakdown",
    .question = "Where did the time of each rank go?",
    .tables = tables,
    .per_rank = breakdown_per_rank,
    .reduce = breakdown_reduce,
};
