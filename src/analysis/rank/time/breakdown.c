/* breakdown.c - where did the time of each rank go?
 *
 *     compute   ..[====]....[===========]......
 *     comm      .....[=======]....[==]..[==]...      [==] under compute: overlapped; the rest is exposed
 *     copy      [====]....................[==].      exposed where no compute and no comm runs
 *               |<----------- wall ---------->|
 *     changes   ^ ^  ^ ^     ^^   ^  ^  ^  ^ ^ ^     between two changes, the set of running kinds (mix) is constant
 *
 *     wall = compute + comm_exposed + copy_exposed + idle,   to the nanosecond
 *
 * Time between two windows of the recording does not count.  An instant counts once, on any number of streams.  A
 * step's row covers a window: device work is clipped to the step, and wall runs from the first start to the last end of
 * the clipped work.
 *
 * Steps and devices both come from the trace, and a small file can name thousands of each: time and memory must not
 * grow with their product.  A run of steps in which the mix does not change is added as one.
 *
 *     steps    |   4   |   5   |   6   |   7   |   8   |   9   |
 *     work     ....[========================]..................
 *              measured  covered whole  measured   nothing
 */
#include "tlmpi/analysis/rank/time.h"
#include "tlmpi/base/group.h"
#include "tlmpi/base/hash.h"
#include "tlmpi/base/stats.h"
#include "tlmpi/model/health_table.h"
#include <math.h>

/* Kinds of work that run at an instant, as bits. */
enum {
    COMPUTE = 1,
    COMM = 2,
    COPY = 4,
    NKINDS = 3,
    NMIXES = 1 << NKINDS,
    INSTANT = NMIXES, /* work of length 0: counts only for the extent of wall */
    FEW_ROWS = 16384  /* rows by device and step that a rank may always have */
};

/* ------------------------------------------------------------------------------------------------- work of a device */

/* From at_ns to the next change, the device's mix is this one. */
typedef struct change {
    int64_t at_ns;
    unsigned mix; /* 0: idle */
} change;

/* The changes of one device's mix, from the first start to the last end of its work. */
typedef struct work {
    TL_VEC(change) changes;  /* ascending; the last one is the end */
    int64_t busy_to[NKINDS]; /* during construction: by kind, the last end of work that has begun */
    int64_t now;             /* during construction: end of the known changes */
    int64_t seams_ns;        /* sum of the time from the last end before a seam to the first start after it */
} work;

static void change_to(work *w, int64_t at_ns, unsigned mix)
{
    if (w->changes.n == 0 || w->changes.v[w->changes.n - 1].mix != mix)
        tl_vec_push(&w->changes, (change){ at_ns, mix });
}

/* Appends changes until to_ns, before which no other work begins. */
static void work_until(work *w, int64_t to_ns)
{
    for (int64_t until; w->now < to_ns; w->now = until) {
        unsigned mix = 0;
        until = to_ns;
        for (unsigned kind = 0; kind < NKINDS; kind++) {
            if (w->busy_to[kind] <= w->now)
                continue;
            mix |= 1u << kind;
            until = tl_ns_min(until, w->busy_to[kind]);
        }
        change_to(w, w->now, mix);
    }
}

/* Returns the changes of n > 0 kernels of one device. */
static work changes_of(const tl_rank_view *view, const tl_kernel *kernels, size_t n)
{
    uint32_t *order = tl_sorted_index(n, tl_kernel_by_start, kernels);
    int64_t first_ns = kernels[order[0]].start_ns, last_ns = first_ns;
    work w = { .busy_to = { first_ns, first_ns, first_ns }, .now = first_ns };

    for (size_t i = 0; i < n; i++) {
        const tl_kernel *k = &kernels[order[i]];
        unsigned kind = k->kind == TL_COMPUTE ? 0 : k->kind == TL_COMM ? 1 : 2;
        if (k->start_ns > last_ns && tl_is_seam(view, last_ns, k->start_ns))
            w.seams_ns += k->start_ns - last_ns;
        work_until(&w, k->start_ns);
        if (k->end_ns == k->start_ns)
            change_to(&w, k->start_ns, INSTANT);
        w.busy_to[kind] = tl_ns_max(w.busy_to[kind], k->end_ns);
        last_ns = tl_ns_max(last_ns, k->end_ns);
    }
    work_until(&w, last_ns);
    tl_vec_push(&w.changes, (change){ last_ns, 0 });
    free(order);
    return w;
}

/* Returns the index of the first change at or after at_ns. */
static size_t next_change(const work *w, int64_t at_ns)
{
    size_t low = 0;
    TL_BISECT(low, w->changes.n, mid, w->changes.v[mid].at_ns < at_ns);
    return low;
}

/* Adds ns of time with this mix to the columns: the definition of each.  wall_ns and idle_ns are filled by measure. */
static void add_mix(tl_breakdown *row, unsigned mix, int64_t ns)
{
    row->busy_ns = tl_ns_add(row->busy_ns, mix != 0 ? ns : 0);
    row->compute_ns = tl_ns_add(row->compute_ns, mix & COMPUTE ? ns : 0);
    row->comm_ns = tl_ns_add(row->comm_ns, mix & COMM ? ns : 0);
    row->comm_exposed_ns = tl_ns_add(row->comm_exposed_ns, (mix & (COMM | COMPUTE)) == COMM ? ns : 0);
    row->copy_ns = tl_ns_add(row->copy_ns, mix & COPY ? ns : 0);
    row->copy_exposed_ns = tl_ns_add(row->copy_exposed_ns, mix == COPY ? ns : 0);
}

/* Fills the measures of work clipped to [from_ns, to_ns). */
static void measure(const work *w, int64_t from_ns, int64_t to_ns, tl_breakdown *row)
{
    size_t i = next_change(w, from_ns);
    int64_t first = INT64_MAX, last = INT64_MIN;

    for (i = i > 0 ? i - 1 : 0; i + 1 < w->changes.n && w->changes.v[i].at_ns < to_ns; i++) {
        unsigned mix = w->changes.v[i].mix;
        int64_t start = tl_ns_max(w->changes.v[i].at_ns, from_ns), end = tl_ns_min(w->changes.v[i + 1].at_ns, to_ns);
        if (mix == 0 || (start >= end && mix != INSTANT))
            continue;
        first = tl_ns_min(first, start);
        last = tl_ns_max(last, end);
        if (mix != INSTANT)
            add_mix(row, mix, end - start);
    }
    row->wall_ns = first <= last ? last - first : 0;
    row->idle_ns = row->wall_ns - row->busy_ns;
}

static void add_to_sum(tl_breakdown *sum, const tl_breakdown *row)
{
    tl_row_add(&tl_breakdown_schema, sum, row);
    sum->flop += row->flop;
    sum->peak_ns += row->peak_ns;
}

/* ------------------------------------------------------------------------------------------- floating-point operations
 *
 *     kernel      [    6 GFLOP      ]          spread evenly over its time
 *     steps    |   4   |   5   |   6   |
 *                  2       3       1
 */

/* Parts of the names of kernels that multiply matrices. */
static const char *const computes[] = { "gemm",     "Cijk_",  "nvjet", "cutlass", "fmha",       "flash", "attn",
                                        "ttention", "conv2d", "dgrad", "wgrad",   "triton_tem", NULL };

static bool is_computing(tl_text name)
{
    const char *const *part = computes;
    if (tl_text_starts(name, "void at::native::") || tl_text_has(name, "fbgemm")) /* most names, and a library */
        return false;
    while (*part != NULL && !tl_text_has(name, *part))
        part++;
    return *part != NULL;
}

static void add_part(tl_breakdown *sum, double flop, double ns_each, double part)
{
    sum->flop += part * flop;
    sum->peak_ns += part * flop * ns_each;
}

/* Adds the operations of a rank to the sums of the whole trace and of the steps; NaN: unknown, as without shapes. */
static void add_flop(const tl_rank_view *view, const tl_peaks *peaks, tl_breakdown *sums)
{
    enum { UNKNOWN, COMPUTES, NOT };
    uint8_t *of_name = tl_calloc(view->names->n + 1, 1);
    const tl_pace pace = tl_pace_of(peaks, view->device_name);
    size_t near = 0;

    for (size_t i = 0; i <= view->nsteps && view->nflops == 0; i++)
        add_part(&sums[i], NAN, 0, 1);
    for (size_t i = 0; i < view->nkernels && view->nflops > 0; i++) {
        const tl_kernel *k = &view->kernels[i];
        const tl_flop *f = tl_flop_of(view, k->launch, &near);
        double flop = f != NULL ? (double)f->flop / view->launches[f->launch].nkernels : 0;
        const double ns_each = f != NULL ? pace.ns[f->precision] : 0;
        if (f == NULL && k->kind == TL_COMPUTE && k->name != TL_NO_NAME) {
            if (of_name[k->name] == UNKNOWN)
                of_name[k->name] = is_computing(tl_names_text(view->names, k->name)) ? COMPUTES : NOT;
            flop = of_name[k->name] == COMPUTES ? NAN : 0;
        }
        if (flop == 0)
            continue;
        const int64_t end_ns = tl_ns_max(k->end_ns, k->start_ns + 1);
        size_t step = 0;
        add_part(&sums[0], flop, ns_each, 1);
        TL_BISECT(step, view->nsteps, mid, view->steps[mid].end_ns <= k->start_ns);
        for (; step < view->nsteps && view->steps[step].start_ns < end_ns; step++) {
            const tl_step_window *w = &view->steps[step];
            const int64_t in_ns = tl_ns_min(end_ns, w->end_ns) - tl_ns_max(k->start_ns, w->start_ns);
            add_part(&sums[step + 1], flop, ns_each, (double)in_ns / (double)(end_ns - k->start_ns));
        }
    }
    free(of_name);
}

/* ----------------------------------------------------------------------------------------------------------- a rank */

/* By mix: number of devices; in rank_rows.runs, its change from step to step. */
typedef struct mixes {
    uint32_t n[NMIXES];
} mixes;

/* The rows of a rank under construction. */
typedef struct rank_rows {
    const tl_rank_view *view;
    tl_breakdown *sums;        /* over devices: [0] the whole trace, [i + 1] step i */
    mixes *runs;               /* by step: devices whose run with a constant mix begins there, less those whose run has
                                * ended */
    bool several;              /* devices have rows of their own */
    tl_table devices, by_step; /* rows of whole traces; rows of steps in which the device worked, unless too_many */
    size_t most_by_step;
    bool too_many;
} rank_rows;

static void add_step_row(rank_rows *r, const tl_breakdown *row)
{
    if (!r->several || r->too_many || row->wall_ns == 0)
        return;
    r->too_many = r->by_step.n >= r->most_by_step;
    if (r->too_many)
        tl_table_free(&r->by_step);
    else
        tl_table_append(&r->by_step, row, 1);
}

static tl_breakdown row_of(const rank_rows *r, int32_t device, size_t step)
{
    return (tl_breakdown){ .rank = r->view->rank, .device = device, .step = r->view->steps[step].number };
}

static void add_device_rows(rank_rows *r, const work *w, int32_t device)
{
    const tl_rank_view *view = r->view;
    tl_breakdown row = { .rank = view->rank, .device = device, .step = -1 };

    measure(w, INT64_MIN, INT64_MAX, &row);
    row.wall_ns -= w->seams_ns;
    row.idle_ns -= w->seams_ns;
    if (r->several)
        tl_table_append(&r->devices, &row, 1);
    add_to_sum(&r->sums[0], &row);
    for (size_t i = 0, to; i < view->nsteps; i = to) {
        size_t at = next_change(w, view->steps[i].start_ns);
        int64_t change_ns = at < w->changes.n ? w->changes.v[at].at_ns : INT64_MAX;
        unsigned mix = at > 0 ? w->changes.v[at - 1].mix : 0;
        to = i; /* the first step that ends after the change: nothing begins or ends in the steps before it */
        TL_BISECT(to, view->nsteps, mid, view->steps[mid].end_ns <= change_ns);
        if (to == i) {
            row = row_of(r, device, i);
            measure(w, view->steps[i].start_ns, view->steps[i].end_ns, &row);
            add_to_sum(&r->sums[++to], &row);
            add_step_row(r, &row);
            continue;
        }
        r->runs[i].n[mix] += mix != 0;
        r->runs[to].n[mix] -= mix != 0;
        for (size_t s = i; mix != 0 && s < to && r->several && !r->too_many; s++) {
            row = row_of(r, device, s);
            row.wall_ns = view->steps[s].end_ns - view->steps[s].start_ns;
            add_mix(&row, mix, row.wall_ns);
            add_step_row(r, &row);
        }
    }
}

/* Adds the runs with a constant mix to the sums of their steps. */
static void add_runs(rank_rows *r)
{
    mixes now = { { 0 } };
    for (size_t i = 0; i < r->view->nsteps; i++) {
        const tl_step_window *step = &r->view->steps[i];
        for (unsigned mix = 1; mix < NMIXES; mix++) {
            tl_breakdown *sum = &r->sums[i + 1];
            int64_t ns;
            now.n[mix] += r->runs[i].n[mix];
            if (now.n[mix] == 0)
                continue;
            if (__builtin_mul_overflow((int64_t)now.n[mix], step->end_ns - step->start_ns, &ns))
                ns = INT64_MAX;
            sum->wall_ns = tl_ns_add(sum->wall_ns, ns);
            add_mix(sum, mix, ns);
        }
    }
}

static void breakdown_per_rank(const tl_rank_view *view, const tl_config *config, tl_tables *out)
{
    tl_table *table = tl_tables_get(out, &tl_breakdown_schema);
    size_t ndevices = 0;
    for (size_t i = 0; i < view->nkernels; i = tl_device_end(view, i))
        ndevices++;
    rank_rows r = { .view = view,
                    .several = ndevices > 1,
                    .devices = { .schema = &tl_breakdown_schema },
                    .by_step = { .schema = &tl_breakdown_schema },
                    .most_by_step = view->nkernels + view->nsteps + ndevices,
                    .sums = tl_calloc(view->nsteps + 1, sizeof *r.sums),
                    .runs = tl_calloc(view->nsteps + 1, sizeof *r.runs) };

    r.most_by_step = r.most_by_step > FEW_ROWS ? r.most_by_step : FEW_ROWS;
    for (size_t i = 0; i <= view->nsteps; i++)
        r.sums[i] = (tl_breakdown){ .rank = view->rank, .device = -1, .step = i > 0 ? view->steps[i - 1].number : -1 };
    for (size_t from = 0, to; from < view->nkernels; from = to) {
        to = tl_device_end(view, from);
        work w = changes_of(view, view->kernels + from, to - from);
        add_device_rows(&r, &w, view->kernels[from].device);
        free(w.changes.v);
    }
    add_runs(&r);
    add_flop(view, &config->peaks, r.sums);
    TL_ROWS (tl_breakdown, row, &r.devices)
        row->flop = row->peak_ns = NAN;
    TL_ROWS (tl_breakdown, row, &r.by_step)
        row->flop = row->peak_ns = NAN;
    tl_table_append(table, r.devices.rows, r.devices.n);
    tl_table_append(table, r.by_step.rows, r.by_step.n);
    tl_table_append(table, r.sums, view->nsteps + 1);
    tl_table_sort(table);
    tl_table_free(&r.devices);
    tl_table_free(&r.by_step);
    free(r.sums);
    free(r.runs);
}

/* Adds a row TL_WHOLE_STEPS for each rank, over the steps that are not left out, if some are. */
static void add_whole_steps(tl_table *table, const tl_table *health)
{
    tl_table sums = { .schema = &tl_breakdown_schema };
    tl_map left_out = { 0 };

    TL_ROWS (const tl_health, row, health)
        if (row->rank == -1 && row->done == TL_REMEDY_LEFT_OUT)
            tl_map_put(&left_out, (uint64_t)row->step, 0);
    TL_ROWS (const tl_breakdown, row, table) {
        tl_breakdown *sum = sums.n > 0 ? tl_table_row(&sums, sums.n - 1) : NULL;
        if (left_out.n == 0 || row->device != -1 || row->step < 0 ||
            tl_map_get(&left_out, (uint64_t)row->step) != TL_MAP_NONE)
            continue;
        if (sum == NULL || sum->rank != row->rank) {
            sum = tl_table_add(&sums);
            *sum = (tl_breakdown){ .rank = row->rank, .device = -1, .step = TL_WHOLE_STEPS };
        }
        add_to_sum(sum, row);
    }
    tl_table_append(table, sums.rows, sums.n);
    tl_table_free(&sums);
    tl_map_free(&left_out);
}

/* Adds rows of the whole job: the sums over ranks, for the whole trace and for each step. */
static void breakdown_reduce(tl_tables *job)
{
    tl_table *table = tl_tables_get(job, &tl_breakdown_schema);
    tl_table sums = { .schema = &tl_breakdown_schema };
    tl_map index_of = { 0 };

    add_whole_steps(table, tl_tables_get(job, &tl_health_schema));
    TL_ROWS (const tl_breakdown, row, table) {
        uint64_t key = (uint64_t)(int64_t)row->step;
        if (row->device != -1)
            continue;
        const uint32_t at = tl_map_number(&index_of, key, sums.n);
        if (at == sums.n)
            *(tl_breakdown *)tl_table_add(&sums) = (tl_breakdown){ .rank = -1, .device = -1, .step = row->step };
        add_to_sum(tl_table_row(&sums, at), row);
    }
    tl_table_append(table, sums.rows, sums.n);
    tl_table_sort(table);
    TL_ROWS (tl_breakdown, row, table) {
        const double wall_ns = row->wall_ns > 0 ? (double)row->wall_ns : NAN;
        row->tflop_per_s = row->flop / wall_ns / 1e3;
        row->peak_share = row->peak_ns / wall_ns;
    }
    tl_table_free(&sums);
    tl_map_free(&index_of);
}

const tl_analysis tl_breakdown_analysis = { .per_rank = breakdown_per_rank, .reduce = breakdown_reduce };
